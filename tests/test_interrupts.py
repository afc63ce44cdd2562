"""Ctrl-C where it meets a kernel."""

import ctypes
import importlib
import os
import signal
import sys
import threading
import weakref

import llvmlite.binding
import numpy as np
import pytest

from itemix import interrupts
from itemix.interrupts import interruptible
from itemix.kernels import csr

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX timer")

N_INTERRUPTS = 40
ROWS = np.arange(0, 300_001, 3), np.tile(np.array([3, 1, 2], dtype=np.int32), 100_000)


def sort_forever():
    """Spend nearly all time in a kernel that returns two arrays."""
    while True:
        csr.canonical_rows(*ROWS)


@interruptible()
def sort_until_interrupted(seconds):
    """Have an interrupt sent after some time."""
    main = threading.main_thread().ident
    threading.Timer(seconds, signal.pthread_kill, [main, signal.SIGINT]).start()
    sort_forever()


def test_an_interrupt_in_a_kernel_is_an_interrupt():
    """Ctrl-C while the main thread is in a kernel raises KeyboardInterrupt, every time, and harms nothing."""
    csr.canonical_rows(*ROWS)
    tracer = sys.gettrace()
    for k in range(N_INTERRUPTS):
        with pytest.raises(KeyboardInterrupt) as caught:
            sort_until_interrupted(0.005 + 0.0003 * k)
        assert caught.traceback[-1].frame.f_globals.get("__name__") != "numba.core.serialize"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert sys.gettrace() is tracer
    assert csr.canonical_rows(*ROWS)[0][-1] == len(ROWS[1])


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("_raw_object_cache_notify", "llvmlite/binding/executionengine.py"),
        ("_raw_object_cache_getbuffer", "llvmlite/binding/executionengine.py"),
        ("cb", "<frozen importlib._bootstrap>"),
        ("__init__", "llvmlite/binding/ffi.py"),
        ("__call__", "weakref.py"),
        ("remove", "weakref.py"),
        ("_remove", "_weakrefset.py"),
    ],
)
def test_an_interrupt_in_a_callback_is_not_lost(name, file):
    """C calls these functions and drops what they raise: the interrupt comes one line later."""
    source = compile(f"def {name}(*_):\n    signal.raise_signal(signal.SIGINT)\n    return 0\n", file, "exec")
    places = {"signal": signal}
    exec(source, places)  # noqa: S102 - a function in a file of that name
    tracer = sys.gettrace()
    reached = []
    with pytest.raises(KeyboardInterrupt):
        have_called_from_c(places[name], reached)
    assert reached == []
    assert sys.gettrace() is tracer


@interruptible()
def have_called_from_c(function, reached):
    """Have C call a function, and note that it has come back."""
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(function)
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(), 2, ctypes.sizeof(ctypes.c_int), callback)
    reached.append(function)


def test_the_names_of_callbacks_are_those_of_their_libraries():
    """Another version of a library may call them otherwise."""
    engine = llvmlite.binding.ExecutionEngine
    code = [engine._raw_object_cache_notify.__code__, engine._raw_object_cache_getbuffer.__code__]
    code += [llvmlite.binding.ffi.OutputString.__init__.__code__]
    code += [weakref.finalize.__call__.__code__]
    for function in (
        importlib._bootstrap._get_module_lock,
        weakref.WeakValueDictionary.__init__,
        weakref.WeakKeyDictionary.__init__,
        weakref.WeakSet.__init__,
    ):
        code += [inner for inner in function.__code__.co_consts if hasattr(inner, "co_name")]
    for place in code:
        assert place.co_filename.endswith(interrupts._CALLED_FROM_C[place.co_name])


def test_handlers_of_others_stay():
    """A program that has a handler of its own keeps it; so does a thread, which cannot have one."""
    called = []
    before = signal.signal(signal.SIGINT, lambda *_: called.append(1))
    try:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert called == [1]
    thread = threading.Thread(target=interruptible()(lambda: called.append(2)))
    thread.start()
    thread.join()
    assert called == [1, 2]


def test_other_errors_stay_what_they_are():
    """A SystemError that no interrupt has caused is handed through."""
    with pytest.raises(SystemError, match="something else"), interruptible():
        raise SystemError("something else")
