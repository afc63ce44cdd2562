"""Threads over kernels that release the GIL: work in blocks, results in the order of the blocks."""

from __future__ import annotations

import operator
import os
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Self, TypeVar

from itemix import _runtime
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

R = TypeVar("R")

_MOST_THREADS = 1024


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for: None is one, -1 all processors, -2 all but one.

    Raises
    ------
    InvalidInputError
        If it is zero or not a whole number.
    """
    if n_jobs is None:
        return 1
    try:
        number = 0 if isinstance(n_jobs, bool) else operator.index(n_jobs)
    except TypeError:
        number = 0
    if number == 0:
        raise InvalidInputError(
            f"expected n_jobs as a number of threads, got {n_jobs!r}; try -1 for all processors"
        )
    if number > 0:
        return min(number, _MOST_THREADS)
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, available + 1 + number)


class Workers:
    """A pool of threads, or no thread at all where one is enough.

    Parameters
    ----------
    n_threads : int
        How many threads work at a time. The result never depends on it.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self._n_helpers = n_threads - 1
        self._pool = ThreadPoolExecutor(self._n_helpers) if n_threads > 1 else None

    def map(self, function: Callable[[int], R], n_blocks: int) -> list[R]:
        """Return function(0), ..., function(n_blocks - 1), in this order; the calling thread works too."""
        if self._pool is None or n_blocks == 1:
            return [self._checked(function, block) for block in range(n_blocks)]
        results: dict[int, R] = {}
        blocks = iter(range(n_blocks))

        def work() -> None:
            for block in blocks:
                results[block] = self._checked(function, block)

        helpers = [self._pool.submit(work) for _ in range(min(self._n_helpers, n_blocks - 1))]
        try:
            work()
        finally:
            for _ in blocks:  # after an error nobody takes another one
                pass
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
        for helper in begun:
            helper.result()
        return [results[block] for block in range(n_blocks)]

    @staticmethod
    def _checked(function: Callable[[int], R], block: int) -> R:
        _runtime.still_wanted()
        return function(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
