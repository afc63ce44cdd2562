"""What an answer may cost: its size and its time."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from itemix._runtime import still_wanted
from itemix.errors import ItemixError, TooManyItemsetsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Lock

MAX_ROWS = 1_000
"""The most rows of one page."""

_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True)
class Limits:
    """What one answer may cost.

    Parameters
    ----------
    max_itemsets : int
        The most itemsets that a search may find.
    max_rules : int
        The most rules that they may be split into.
    seconds : float
        The longest that an answer may take.
    download_seconds : float
        The longest that a file may take.
    """

    max_itemsets: int = 1_000_000
    max_rules: int = 1_000_000
    seconds: float = 10.0
    download_seconds: float = 120.0


class TooSlowError(ItemixError, TimeoutError):
    """An answer took longer than it may."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"expected an answer within {seconds:g} s, got none; raise min_support, or ask for less at once"
        )


class ThresholdTooLowError(TooManyItemsetsError):
    """More itemsets than allowed reach a threshold; `lowest` is one that is high enough."""

    def __init__(self, threshold: float, max_itemsets: int, lowest: float) -> None:
        super().__init__(
            f"expected at most {max_itemsets:,} itemsets, got more at min_support={threshold:.4g}; "
            f"the lowest that is possible is {lowest:g}"
        )
        self.lowest = lowest


class Deadline:
    """What long loops ask: it ends them when the time is over, or when nobody waits any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def call_off(self) -> None:
        """Say that nobody waits any more."""
        self._end = -math.inf

    def __call__(self) -> None:
        """Raise TooSlowError if the answer is not wanted any more."""
        if time.monotonic() > self._end:
            raise TooSlowError(self._seconds)


@contextmanager
def held(lock: Lock) -> Iterator[None]:
    """Wait for a lock as long as the answer is wanted, and hold it."""
    while not lock.acquire(timeout=_SECONDS_BETWEEN_LOOKS):
        still_wanted()
    try:
        yield
    finally:
        lock.release()


def rounded_up(value: float, digits: int) -> float:
    """Round a positive number up to some significant digits, as people write thresholds."""
    unit = digits - 1 - math.floor(math.log10(value))
    return float(f"{math.ceil(value * 10.0**unit) / 10.0**unit:.{digits}g}")
