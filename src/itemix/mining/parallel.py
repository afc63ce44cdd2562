"""What the searches over data and over models share: threads that can be stopped."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._runtime import still_wanted
from itemix.kernels.mining import control

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

R = TypeVar("R")

_WAKE_SECONDS = 0.1


class SearchStopped(Exception):  # noqa: N818 - caught by the caller, never seen by users
    """The search went past its limits."""

    def __init__(self, n_found: int) -> None:
        super().__init__(n_found)
        self.n_found = n_found


@dataclass
class Search:
    """The threads of one search, and what they share."""

    n_threads: int
    on_progress: Callable[[int, int], None] | None
    shared: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(4, dtype=np.int64))

    def run(self, jobs: Sequence[Callable[[], R]], n_roots: int) -> list[R]:
        """Run jobs in threads and return their results in order; Ctrl-C stops all of them."""
        with ThreadPoolExecutor(self.n_threads) as pool:
            futures: list[Future[R]] = [pool.submit(job) for job in jobs]
            pending = set(futures)
            try:
                while pending:
                    _, pending = wait(pending, timeout=_WAKE_SECONDS, return_when=FIRST_COMPLETED)
                    still_wanted()
                    if self.on_progress is not None:
                        self.on_progress(int(self.shared[control.N_ROOTS_DONE]), n_roots)
            except BaseException:
                self.shared[control.STOP] = control.CANCELLED
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        if self.shared[control.STOP] == control.TOO_MANY:
            raise SearchStopped(int(self.shared[control.N_FOUND]))
        return [future.result() for future in futures]


def readonly_view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view in C order, so that kernels are compiled for one kind of array only."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
