"""Ctrl-C where it meets a kernel."""

import os
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from itemix import _runtime
from itemix._runtime import Workers, interruptible
from itemix.cli import ctrl_c
from itemix.kernels import csr

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX timer")

N_INTERRUPTS = 40
ROWS = np.arange(0, 300_001, 3), np.tile(np.array([3, 1, 2], dtype=np.int32), 100_000)


def sort_forever():
    """Spend nearly all time in a kernel that returns two arrays."""
    while True:
        _runtime.still_wanted()
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
    for k in range(N_INTERRUPTS):
        with pytest.raises(KeyboardInterrupt) as caught:
            sort_until_interrupted(0.005 + 0.0003 * k)
        assert not caught.traceback[-1].frame.f_globals["__name__"].startswith("numba")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert csr.canonical_rows(*ROWS)[0][-1] == len(ROWS[1])


def foreign(function, *arguments):
    """Call a function from a module that is none of itemix's, as this one."""
    return function(*arguments)


def test_an_interrupt_elsewhere_comes_at_the_next_check():
    """Other libraries are left to end what they do; then the interrupt comes, once."""
    reached = []
    with interruptible():
        foreign(signal.raise_signal, signal.SIGINT)
        reached.append("after")
        with pytest.raises(KeyboardInterrupt):
            _runtime.still_wanted()
        _runtime.still_wanted()
    assert reached == ["after"]


def test_an_interrupt_nobody_has_checked_comes_at_the_end():
    """Work that ends before the next check is interrupted all the same."""
    with pytest.raises(KeyboardInterrupt), interruptible():
        foreign(signal.raise_signal, signal.SIGINT)
    with interruptible():
        _runtime.still_wanted()


def test_a_second_interrupt_comes_at_once():
    """Whoever presses Ctrl-C twice does not want to wait."""
    reached = []

    @interruptible()
    def pressed_twice():
        foreign(signal.raise_signal, signal.SIGINT)
        reached.append("after the first")
        foreign(signal.raise_signal, signal.SIGINT)
        reached.append("after the second")

    with pytest.raises(KeyboardInterrupt):
        pressed_twice()
    assert reached == ["after the first"]


@pytest.mark.parametrize(
    ("module", "is_raised"), [("itemix.somewhere", True), ("itemix.kernels.x", False), ("itemixer", False)]
)
def test_an_interrupt_in_our_own_code_comes_at_once(module, is_raised):
    """Code of the library may be interrupted anywhere; kernels are the compiler's."""
    places = {"__name__": module, "signal": signal, "reached": []}
    exec("def press():\n    signal.raise_signal(signal.SIGINT)\n    reached.append(1)", places)  # noqa: S102
    with pytest.raises(KeyboardInterrupt), interruptible():
        places["press"]()
    assert places["reached"] == ([] if is_raised else [1])


@pytest.mark.parametrize("n_threads", [1, 2])
def test_workers_check(n_threads):
    """An interrupt during a block comes before the next."""
    done = []

    def work(block):
        done.append(block)
        if threading.current_thread() is threading.main_thread():
            foreign(signal.raise_signal, signal.SIGINT)
        time.sleep(0.001)

    with interruptible(), Workers(n_threads) as workers, pytest.raises(KeyboardInterrupt):
        workers.map(work, 1000)
    assert len(done) < 500


def test_only_the_main_thread_checks():
    """A thread of somebody else's does not take an interrupt away from the main thread."""
    with interruptible():
        foreign(signal.raise_signal, signal.SIGINT)
        thread = threading.Thread(target=_runtime.still_wanted)
        thread.start()
        thread.join()
        with pytest.raises(KeyboardInterrupt):
            _runtime.still_wanted()


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


def test_no_private_names_of_other_libraries():
    """What other libraries call their own functions is theirs to change."""
    source = Path(_runtime.__file__).read_text() + Path(ctrl_c.__file__).read_text()
    assert not re.findall(r"(?:numba|llvmlite|importlib|weakref)\.\w+|settrace|f_trace", source)
