"""Ctrl-C where it meets a kernel.

A signal that comes while the main thread is in a kernel waits until Python code runs again, and the first
such code is Numba's own, which makes Python objects of the kernel's arrays. Numba does not expect it to fail:
an exception there becomes a SystemError, or the end of the process. So it is raised one line later.
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

# What Numba calls when it hands over the result of a kernel.
_HANDING_OVER = "_numba_unpickle"


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt also where it meets a kernel; works as a decorator too."""
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
    """Raise KeyboardInterrupt; out of the code that hands over a result, at the next line of its caller.

    Raises
    ------
    KeyboardInterrupt
        Now, or at the next line.
    """
    caller = _caller_of_kernel(frame)
    if caller is None or sys.gettrace() is not None:
        signal.default_int_handler(number, frame)
    sys.settrace(_nothing)
    _trace(caller, _raise)


def _caller_of_kernel(frame: FrameType | None) -> FrameType | None:
    """Return who called the kernel whose result is being handed over, None if there is no such kernel."""
    while frame is not None:
        if frame.f_code.co_name == _HANDING_OVER:
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
