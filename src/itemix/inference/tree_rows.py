"""Transactions made ready for counting pairs again and again."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.core.transactions import Transactions
from itemix.inference.trees import PairCounts, Pairs, candidate_pairs
from itemix.kernels import csr
from itemix.kernels.inference import layout, pairs
from itemix.models.expectation import merged_if_worth_it
from itemix.models.tree_tables import shares, tables_of_trees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.threads import Workers

Floats = npt.NDArray[np.float64]

_CELLS_IN_A_BLOCK = 4_000_000
_ROWS_AT_A_TIME = 4096
_BYTES_OF_COPIES = 48_000_000
_BYTES_OF_PLACES = 96_000_000


class TreeRows:
    """Identical rows merged, and frequent items stored by their absence.

    The mutual information of two items is the same if one of them is turned round, and a tree over items
    turned round is a tree again: all that is learned is learned in these terms, with fewer pairs to count,
    and turned back at the end.

    Parameters
    ----------
    transactions : Transactions
        The data.
    n_components : int
        For how many components pairs are counted.
    workers : Workers
        The threads that work on it; the result does not depend on their number.

    Attributes
    ----------
    merged : Transactions
        The data as it was given, identical rows merged where that saves a fifth or more and the copy is no
        larger than 48 MB.
    stored : Transactions
        The same rows with the `flipped` items turned round.
    flipped : array of bool, shape (n_items,)
        The items that more than half of the transactions hold; none where a copy would be too large.
    index : Pairs
        The pairs that are counted.
    """

    def __init__(self, transactions: Transactions, n_components: int, workers: Workers) -> None:
        fits = 4 * len(transactions.indices) < _BYTES_OF_COPIES
        self.merged = merged_if_worth_it(transactions) if fits else transactions
        frequent = 2 * transactions.item_counts() > transactions.n_transactions
        self.flipped = frequent if fits else np.zeros_like(frequent)
        self.stored = self._turned()
        self.workers = workers
        self.index: Pairs = candidate_pairs(self.stored, n_components)
        most = 0 if self.index.is_complete else _BYTES_OF_PLACES // 4
        self._ends, self._places = pairs.list_pairs(
            self.stored.indptr, self.stored.indices, *self.index, most
        )
        repeats = self.merged.multiplicities
        self._multiplicities = np.ones(self.merged.n_rows) if repeats is None else repeats

    @property
    def n_transactions(self) -> int:
        """The number of transactions."""
        return self.merged.n_transactions

    def _turned(self) -> Transactions:
        data = self.merged
        if not self.flipped.any():
            return data
        turned = csr.canonical_rows(*layout.flip_items(data.indptr, data.indices, self.flipped))
        return Transactions.from_canonical(*turned, data.items, data.multiplicities)

    def turn(self, parents: npt.NDArray[np.int32], probs: Floats) -> Floats:
        """Return the probabilities of trees over the items turned round, in terms of the items, or back."""
        out = np.where((self.flipped[parents] & (parents >= 0))[:, :, None], probs[:, :, ::-1], probs)
        return np.where(self.flipped[:, None], 1.0 - out, out)

    def blocks(self, n_components: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows for which responsibilities are held at a time."""
        step = max(_ROWS_AT_A_TIME, _CELLS_IN_A_BLOCK // n_components)
        return pairwise([*range(0, self.stored.n_rows, step), self.stored.n_rows])

    def overall(self) -> PairCounts:
        """Return the counts of all transactions, as one component."""
        counts = PairCounts.zeros(1, self.index)
        self.count(0, np.ones((self.stored.n_rows, 1)), counts)
        return counts

    def count(self, first: int, resp: Floats, counts: PairCounts) -> None:
        """Add the rows from `first` on to counts, shared among the components by `resp` (n, K)."""
        data, multiplicities = self.stored, self._multiplicities[first : first + len(resp)]

        def component(k: int) -> None:
            weights = resp[:, k] * multiplicities
            counts.sizes[k] += weights.sum()
            own = first, weights, counts.singles[k], counts.pairs[k]
            if len(self._ends):
                pairs.count_listed(data.indptr, data.indices, self._ends, self._places, *own)
            else:
                starts, others = self.index
                pairs.count_pairs(data.indptr, data.indices, starts, others, *own)

        self.workers.map(component, resp.shape[1])

    def expect(
        self, weights: Floats, parents: npt.NDArray[np.int32], probs: Floats
    ) -> tuple[PairCounts, float]:
        """Return the expected counts and the log-likelihood of trees over the items turned round."""
        tables = tables_of_trees(weights, parents, probs)
        data = self.stored
        counts = PairCounts.zeros(len(weights), self.index)
        value = 0.0
        for first, last in self.blocks(len(weights)):
            cuts = [*range(first, last, _ROWS_AT_A_TIME), last]
            values = np.empty(last - first)

            def part(b: int, cuts: list[int] = cuts, values: Floats = values, first: int = first) -> Floats:
                own = values[cuts[b] - first : cuts[b + 1] - first]
                return shares(data, cuts[b], tables, own)

            self.count(first, np.concatenate(self.workers.map(part, len(cuts) - 1)), counts)
            value += float(self._multiplicities[first:last] @ values)
        return counts, value
