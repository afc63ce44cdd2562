"""Ctrl-C while the library works: a KeyboardInterrupt in code of ours, never inside another library.

A signal that comes during a kernel waits until Python code runs again, and the first such code is Numba's
own, which makes Python objects of the kernel's arrays: an exception there becomes a SystemError, or the end
of the process. In a callback of the compiler or of an import it is printed and forgotten. So Ctrl-C is raised
at once where it meets code of this library; anywhere else it is noted, and `still_wanted`, which every long
loop calls between two kernels, raises it. A second Ctrl-C is raised wherever it comes.

A server has no Ctrl-C for a single answer. There, whoever waits for a thread's work gives it a `deadline`: a
function that `still_wanted` calls in that thread, and that raises an error to end the work.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_noted = threading.Event()
_ask: ContextVar[Callable[[], None] | None] = ContextVar("_ask", default=None)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt wherever it comes; works as a decorator too.

    Programs that have a handler of their own keep it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
        _raise_noted()
    finally:
        _noted.clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def note(number: int, frame: FrameType | None) -> None:
    """Handle Ctrl-C: raise it in code of this library, note it elsewhere, unless one is noted already.

    Raises
    ------
    KeyboardInterrupt
        Now, or in `still_wanted`.
    """
    if _noted.is_set() or _is_ours(frame):
        _noted.clear()
        signal.default_int_handler(number, frame)
    _noted.set()


@contextmanager
def deadline(ask: Callable[[], None]) -> Iterator[None]:
    """Have the loops of this thread call a function, which raises an error to end them."""
    before = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(before)


def still_wanted() -> None:
    """End work that nobody waits for any more: raise a Ctrl-C that was noted, or the error of a deadline.

    Raises
    ------
    KeyboardInterrupt
        If one was noted; only the main thread raises it.
    """
    _raise_noted()
    ask = _ask.get()
    if ask is not None:
        ask()


def _raise_noted() -> None:
    if _noted.is_set() and threading.current_thread() is threading.main_thread():
        _noted.clear()
        raise KeyboardInterrupt


def forget() -> None:
    """Forget a Ctrl-C that came when the work was done."""
    _noted.clear()


def _is_ours(frame: FrameType | None) -> bool:
    """Return whether code of this library runs; not that of kernels, which the compiler calls."""
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return name.startswith("itemix.") and not name.startswith("itemix.kernels.")
