"""Itemsets as plain columns, on their way from a search to `Itemsets`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.kernels import csr, sorting
from itemix.ranking import without_noise


class Columns(NamedTuple):
    """Itemsets as columns, with a count or a probability each."""

    offsets: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    values: npt.NDArray[Any]

    @classmethod
    def empty(cls, dtype: type = np.int64) -> Columns:
        """Return no itemsets."""
        return cls(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, dtype))

    @classmethod
    def of_nothing(cls, value: float) -> Columns:
        """Return the set of no items, with its value."""
        return cls(np.zeros(2, np.int64), np.empty(0, np.int32), np.array([value]))

    @property
    def n_sets(self) -> int:
        """The number of itemsets."""
        return len(self.values)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items of each set."""
        return np.diff(self.offsets)

    def take(self, chosen: npt.NDArray[np.int64]) -> Columns:
        """Return the sets at some positions, in that order."""
        return Columns(*csr.gather_rows(self.offsets, self.codes, chosen), self.values[chosen])

    def best(self, k: int) -> Columns:
        """Return the k sets of the highest values, in the order they have; the first of those that tie."""
        return self.take(np.sort(np.argsort(-without_noise(self.values), kind="stable")[:k]))

    def join(self, other: Columns) -> Columns:
        """Return these sets and behind them the other ones."""
        return Columns(
            np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.values, other.values]),
        )

    def with_items(self, items: npt.NDArray[np.int32], rank_of: npt.NDArray[np.int32]) -> Columns:
        """Add some items to every set, and sort sets and items by `rank_of`, as mining does."""
        ends = self.offsets[1:] + len(items) * np.arange(1, self.n_sets + 1)
        ranks = np.empty(len(self.codes) + len(items) * self.n_sets, dtype=np.int32)
        is_added = np.zeros(len(ranks), dtype=np.bool_)
        is_added[(ends[:, None] - 1 - np.arange(len(items))).ravel()] = True
        ranks[is_added] = np.tile(rank_of[items], self.n_sets)
        ranks[~is_added] = rank_of[self.codes]
        csr.sort_rows(ranks, ends, self.n_sets)
        code_of = np.empty(len(rank_of), dtype=np.int32)
        code_of[rank_of] = np.arange(len(code_of), dtype=np.int32)
        order = sorting.colex_order(ends, ranks, len(code_of))
        return Columns(*sorting.gather_sets(ends, ranks, order, code_of), self.values[order])
