"""Ctrl-C on the command line: the program ends at once, whatever it is doing, and says so in one line.

No exception is raised, so none can be lost or shown: half-written files are removed, and the process ends. A
thread that waits for the signal does this, because the main thread may be in a kernel or in the compiler, and
hears of a signal only afterwards.

A fit that has something to keep is asked to stop instead. A second Ctrl-C before it goes on ends the process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Self

    from itemix.inference.loop import Report

# Codes that the program ends with.
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"
_ending = threading.Lock()
_keeping = threading.Event()
_asked = threading.Event()
_taken: list[int] = []


def watch() -> None:
    """Let Ctrl-C end this process from now on."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # it was started with signals ignored, as in the background of a script
    signal.signal(signal.SIGINT, _handle)
    if os.name == "posix":
        pipe, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        threading.Thread(target=_wait, args=[pipe], daemon=True).start()


def leave_to_server() -> None:
    """Let Ctrl-C be a KeyboardInterrupt again: a server needs it to end what it has begun."""
    if signal.getsignal(signal.SIGINT) is _handle:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(-1)


def end() -> None:
    """End the process with one line and code 130, and leave no half-written file."""
    if not _ending.acquire(blocking=False):
        return  # the other thread does it
    try:
        if "itemix._files" in sys.modules:  # else nothing was written
            sys.modules["itemix._files"].remove_unfinished()
        os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + b"itemix: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


class Keeping:
    """A callback of a fit: once there is something to keep, the first Ctrl-C lets the fit keep it."""

    def __init__(self) -> None:
        self._n_stages = 0

    def __enter__(self) -> Self:
        return self

    def __call__(self, report: Report) -> None:
        """Hear of an iteration: its state can be kept."""
        _asked.clear()
        _keeping.set()

    def stage(self, text: str) -> None:
        """Hear of work apart from iterations. From the second stage on, the first candidate has its score."""
        _asked.clear()
        self._n_stages += 1
        if self._n_stages > 1:
            _keeping.set()

    def __exit__(self, *_: object) -> None:
        from itemix._runtime import forget

        _keeping.clear()
        forget()


def _handle(number: int, frame: FrameType | None) -> None:
    if not _keeping.is_set():
        end()
        return
    from itemix._runtime import note

    _taken.append(number)
    note(number, frame)


def _wait(pipe: int) -> None:
    """Read a byte for each signal, and end the process unless a fit handles it."""
    n_heard = 0
    while number := os.read(pipe, 1):
        if number[0] != signal.SIGINT:
            continue
        n_heard += 1
        is_handled = _keeping.is_set() or len(_taken) >= n_heard
        if _asked.is_set() or not is_handled:
            end()
        _asked.set()
