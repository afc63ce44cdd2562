"""Deadlines: long loops ask now and then whether their answer is still wanted.

Whoever waits for an answer says how to ask, for the thread that works on it. A loop asks between two calls of
its kernels, so that work ends soon after nobody waits for it any more.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ask: ContextVar[Callable[[], None] | None] = ContextVar("_ask", default=None)


@contextmanager
def deadline(ask: Callable[[], None]) -> Iterator[None]:
    """Have the loops of this thread call a function, which raises an error to end them."""
    before = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(before)


def still_wanted() -> None:
    """Raise the error of whoever waits for this thread, if the answer is not wanted any more."""
    ask = _ask.get()
    if ask is not None:
        ask()
