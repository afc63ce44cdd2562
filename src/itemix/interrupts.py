"""Ctrl-C where it meets code that C calls, and that is not expected to fail.

A signal that comes while the main thread is in a kernel waits until Python code runs again, and the first
such code is Numba's own, which makes Python objects of the kernel's arrays: an exception there becomes a
SystemError, or the end of the process. In a callback of the compiler, of an import, or of an object that is
gone, it is printed and forgotten; and an object of the compiler that is half made complains when it is thrown
away. So it is raised one line after all these.
"""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_CALLED_FROM_C = {
    "_numba_unpickle": "serialize.py",  # Numba hands over the result of a kernel
    "_raw_object_cache_notify": "executionengine.py",  # llvmlite has compiled something
    "_raw_object_cache_getbuffer": "executionengine.py",  # llvmlite asks for something compiled before
    "cb": "<frozen importlib._bootstrap>",  # a lock of an import is not needed any more
    "__init__": "ffi.py",  # llvmlite makes an object that owns memory
    "__call__": "weakref.py",  # an object is gone, and what was to be done then is done
    "remove": "weakref.py",  # an object is gone, and a dictionary forgets it
    "_remove": "_weakrefset.py",  # an object is gone, and a set forgets it
}
"""The functions, and how the name of the file ends that each is in."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt wherever it comes; works as a decorator too."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except SystemError as error:  # a debugger was in the way of `interrupt`
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__
        if cause is None:
            raise
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; out of code that C calls, at the next line of who called C.

    Raises
    ------
    KeyboardInterrupt
        Now, or at the next line.
    """
    caller = _caller_of_c(frame)
    if caller is None or sys.gettrace() is not None:
        signal.default_int_handler(number, frame)
    sys.settrace(_nothing)
    _trace(caller, _raise)


def _caller_of_c(frame: FrameType | None) -> FrameType | None:
    """Return who called the C code that has called one of these functions, None if none of them runs."""
    while frame is not None:
        file = _CALLED_FROM_C.get(frame.f_code.co_name)
        if file is not None and frame.f_code.co_filename.endswith(file):
            return frame.f_back
        frame = frame.f_back
    return None


def _nothing(frame: FrameType, event: str, argument: object) -> None:
    """Trace no function that is called from now on."""


def _raise(frame: FrameType, event: str, argument: object) -> None:
    sys.settrace(None)
    _trace(frame, None)
    raise KeyboardInterrupt


def _trace(frame: FrameType | None, function: Callable[[FrameType, str, object], None] | None) -> None:
    """Have the next line of a frame, or of whoever it returns to, call a function first."""
    while frame is not None:
        frame.f_trace = function
        frame = frame.f_back
