"""Estimates that fall: no itemset is left more probable than a subset of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from itemix.kernels import monotone
from itemix.threads import Workers

# So many sets of one length are worth a thread of their own.
_SETS_IN_A_BLOCK = 20_000


def lower_to_subsets(  # noqa: PLR0917 - the columns of a family, then what to do with it
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    rank_of: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    n_pivots: int,
    workers: Workers | None = None,
) -> npt.NDArray[np.float64]:
    """Return the estimates of sets, each lowered to those of its subsets without one of its pivots.

    The sets are sorted by length, then colexicographically by `rank_of` their codes; pivots are the items of
    the `n_pivots` highest ranks. Equivalent to low[I] = min(value[I], low[I - {p}] for each pivot p of I);
    that is enough where taking away another item cannot lower an estimate. A set has -1 if such a subset, or
    the set without its item of the lowest rank, is not among them.
    """
    if len(values) == 0:
        return values.copy()
    lengths = np.diff(offsets)
    starts = np.searchsorted(lengths, np.arange(1, int(lengths[-1]) + 2))
    family = _Family((offsets, codes, rank_of), values, n_pivots, int(starts[1]))
    for before, start, stop in zip(starts, starts[1:], starts[2:], strict=False):
        family.lower(int(before), int(start), int(stop), workers or Workers())
    return family.low


class _Family:
    """Sets on their way to be lowered, the shorter ones first."""

    def __init__(
        self,
        sets: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]],
        values: npt.NDArray[np.float64],
        n_pivots: int,
        n_single: int,
    ) -> None:
        n = len(values)
        offsets, codes, rank_of = (_readonly_view(array) for array in sets)
        self._sets, self._rank_of = (offsets, codes), rank_of
        self._n_single = n_single
        self.low = values.copy()
        self._tail = np.empty(n, dtype=np.int32)
        self._tail[:n_single] = rank_of[codes[offsets[:n_single]]]
        self._without = np.full((n, n_pivots), -1, dtype=np.int32)
        self._children = np.zeros((n, 2), dtype=np.int32)

    def lower(self, before: int, start: int, stop: int, workers: Workers) -> None:
        """Lower the sets of one length, start to stop, to the shorter ones."""
        cuts = self._cuts(start, stop)

        def block(b: int) -> None:
            places = self._n_single, before, start, cuts[b], cuts[b + 1]
            results = self.low, self._without, self._children
            monotone.lower_level(*self._sets, self._rank_of, self._tail, *places, *results)

        workers.map(block, len(cuts) - 1)

    def _cuts(self, start: int, stop: int) -> list[int]:
        """Cut a range of sets where another parent begins."""
        cuts = [start] if start < stop else []
        while cuts and cuts[-1] + _SETS_IN_A_BLOCK < stop:
            cuts.append(monotone.next_parent(*self._sets, cuts[-1] + _SETS_IN_A_BLOCK, stop))
        return [*cuts, stop] if cuts and cuts[-1] < stop else cuts or [start]


def _readonly_view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view, so that the kernel is compiled for one kind of array only."""
    view = array.view()
    view.setflags(write=False)
    return view
