"""Timing of searches, ours and pyfim's, in one process and one thread."""

from __future__ import annotations

import os
import platform
import statistics
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import itemix

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix import Mixture, Transactions

    from .store import Record

_REPEATS = 7
_ENOUGH_SECONDS = 10.0


@cache
def machine() -> str:
    """Name the processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, one of them used"


def time_itemix(source: Mixture | Transactions, min_support: float) -> Record:
    """Time our search in a model or in data."""
    call = partial(itemix.mine, source, min_support, n_jobs=1)
    return {"wall_seconds": _median_seconds(call), "n_itemsets": len(call()), "machine": machine()}


def time_pyfim(algorithm: str, data: Transactions, min_support: float) -> Record:
    """Time a search of pyfim: as it is called, and without what is due to Python lists.

    It takes lists and gives lists of tuples. With report="#" it only counts the sets of each length; and at
    a threshold of 100% it does little but read its input.
    """
    import fim

    lists = data.to_lists()
    search = getattr(fim, algorithm)
    percent = 100 * min_support
    called = partial(search, lists, supp=percent, report="a")
    counted = _median_seconds(partial(search, lists, supp=percent, report="#"))
    reading = _median_seconds(partial(search, lists, supp=100, report="#"))
    return {
        "wall_seconds": _median_seconds(called),
        "search_seconds": max(counted - reading, 0.0),
        "reading_seconds": reading,
        "n_itemsets": len(called()),
        "machine": machine(),
    }


def _median_seconds(call: Callable[[], Any]) -> float:
    """Time a call several times, after one that is not timed."""
    call()
    times: list[float] = []
    while len(times) < _REPEATS and sum(times) < _ENOUGH_SECONDS:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)
