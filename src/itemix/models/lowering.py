"""Estimates that fall: no itemset is left more probable than a subset of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from itemix.kernels.models import monotone


@dataclass(frozen=True)
class Tree:
    """Which sets of a family grow out of which, all of them sorted by length and then colexicographically.

    Attributes
    ----------
    tail : array of int32, shape (n_sets,)
        The lowest rank of each set, which its parent lacks.
    first : array of int32, shape (n_sets + 1,)
        Where the sets start that have a set for parent; they stop where those of the next set start.
    length_start : array of int64, shape (longest + 2,)
        Where the sets of each length start; the last entry is their number.
    """

    tail: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    length_start: npt.NDArray[np.int64]

    @classmethod
    def unlinked(cls, length_start: npt.NDArray[np.int64]) -> Self:
        """Make a tree that is yet to be filled."""
        n = int(length_start[-1])
        return cls(np.empty(n, dtype=np.int32), np.full(n + 1, n, dtype=np.int32), length_start)

    def lower(self, low: npt.NDArray[np.float64], n_pivots: int) -> None:
        """Lower estimates in place to those of the parents and of the sets without one of their pivots.

        Pivots are the items of the `n_pivots` highest ranks of a set. Equivalent to low[I] = min(low[I],
        low[I - {p}] for each pivot p of I), the shorter sets first; that is enough where taking away another
        item cannot lower an estimate. A set has -1 if such a subset, or its parent, is not among them.
        """
        n_single = int(self.length_start[min(2, len(self.length_start) - 1)])
        monotone.lower(self.tail, self.first, n_single, len(self.length_start) - 2, n_pivots, low)


def lower_to_subsets(
    offsets: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    rank_of: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    n_pivots: int,
) -> npt.NDArray[np.float64]:
    """Return the estimates of sets, lowered as `Tree.lower` does.

    The sets are sorted by length, then colexicographically by `rank_of` their codes.
    """
    lengths = np.diff(offsets)
    longest = int(lengths[-1]) if len(lengths) else 0
    tree = Tree.unlinked(np.searchsorted(lengths, np.arange(longest + 2)))
    low = values.copy()
    monotone.link(offsets, codes, rank_of, tree.tail, tree.first, low)
    tree.lower(low, n_pivots)
    return low
