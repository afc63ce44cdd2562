"""Chow and Liu's tree: of all trees over the items, the one under which the data is most probable.

The likelihood of a tree is that of independent items and, for each edge, the number of transactions times
the mutual information of its two items: the best tree is the maximum spanning tree of these gains (Chow and
Liu 1968). An edge has one parameter more than none, and is left out if it gains less than `cost`: the result
may be several trees, or single items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.core.compressed import weights_of
from itemix.kernels import csr
from itemix.kernels.inference import pairs
from itemix.kernels.mining.occurrences import RowIndex
from itemix.kernels.models import trees

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions

Floats = npt.NDArray[np.float64]

_BYTES_OF_PAIRS = 128_000_000
_MOST_PARTNERS = 64
_FEWEST_PARTNERS = 8
_FREQUENT = 32


class Pairs(NamedTuple):
    """The pairs of items that may become edges, listed by their larger item (see `itemix.kernels.inference.pairs`).

    Attributes
    ----------
    starts : array of int, shape (n_items + 1,)
        Where the pairs of each larger item start.
    others : array of int, shape (n_pairs,)
        The smaller item of each pair.
    """

    starts: npt.NDArray[np.int64]
    others: npt.NDArray[np.int32]

    @property
    def is_complete(self) -> bool:
        """Whether all pairs are listed."""
        n_items = len(self.starts) - 1
        return len(self.others) == n_items * (n_items - 1) // 2

    @property
    def larger(self) -> npt.NDArray[np.int32]:
        """The larger item of each pair, shape (n_pairs,)."""
        n_items = len(self.starts) - 1
        return np.repeat(np.arange(n_items, dtype=np.int32), np.diff(self.starts))

    def places(self, larger: npt.NDArray[np.int32], smaller: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Return where some pairs, all of which are listed, stand."""
        n_items = len(self.starts) - 1
        if self.is_complete:
            return self.starts[larger] + smaller
        key = self.larger.astype(np.int64) * n_items + self.others
        return np.searchsorted(key, larger.astype(np.int64) * n_items + smaller)


class PairCounts(NamedTuple):
    """How often items and pairs occur, a row for each component; they may be fractions.

    Attributes
    ----------
    sizes : array, shape (n_components,)
        The transactions.
    singles : array, shape (n_components, n_items)
        Those that hold an item.
    pairs : array, shape (n_components, n_pairs)
        Those that hold a pair.
    """

    sizes: Floats
    singles: Floats
    pairs: Floats

    @classmethod
    def zeros(cls, n_components: int, index: Pairs) -> PairCounts:
        """Return counts of nothing."""
        n_items = len(index.starts) - 1
        return cls(
            np.zeros(n_components),
            np.zeros((n_components, n_items)),
            np.zeros((n_components, len(index.others))),
        )


def candidate_pairs(data: Transactions, n_components: int) -> Pairs:
    """Return the pairs that trees are looked for among.

    All, where counting them for each component takes no more than 128 MB. Where items are too many for that,
    each item's 8 to 64 partners of the highest mutual information over all data, among the items that it
    occurs with and the 32 most frequent ones: the best tree of these is near to the best of all.
    """
    n_items = data.n_items
    if 8 * n_components * (n_items * (n_items - 1) // 2) <= _BYTES_OF_PAIRS:
        codes = np.arange(n_items, dtype=np.int64)
        others = np.arange(n_items * (n_items - 1) // 2) - np.repeat(codes * (codes - 1) // 2, codes)
        return Pairs(np.concatenate([[0], np.cumsum(codes)]), others.astype(np.int32))
    n_kept = _BYTES_OF_PAIRS // (8 * n_components * n_items)
    return _strongest_pairs(data, max(_FEWEST_PARTNERS, min(_MOST_PARTNERS, n_kept)))


def _strongest_pairs(data: Transactions, n_kept: int) -> Pairs:
    n_items = data.n_items
    singles = data.item_counts().astype(np.float64)
    rows = np.repeat(np.arange(data.n_rows, dtype=np.int32), data.lengths())
    index = RowIndex(*csr.rows_of_pairs(data.indices, rows, n_items))
    frequent = np.argsort(-singles, kind="stable")[:_FREQUENT].astype(np.int32)
    partners = np.empty((n_items, n_kept), dtype=np.int32)
    total = float(data.n_transactions)
    pairs.strongest_partners(
        data.indptr, data.indices, weights_of(data), index, singles, total, frequent, partners
    )
    item, place = np.nonzero(partners >= 0)
    partner = partners[item, place]
    key = np.unique(np.maximum(item, partner) * np.int64(n_items) + np.minimum(item, partner))
    starts = np.searchsorted(key, np.arange(n_items + 1, dtype=np.int64) * n_items)
    return Pairs(starts.astype(np.int64), (key % n_items).astype(np.int32))


def learn_tree(
    singles: Floats, pair_counts: Floats, total: float, index: Pairs, cost: float
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Return the best tree of some counts: parents (D,), -1 for roots, and probabilities (D, 2).

    Parameters
    ----------
    singles, pair_counts : arrays, shapes (n_items,) and (n_pairs,)
        How often items and pairs occur, in how many transactions (`total`, above zero).
    total : float
        The number of transactions.
    index : Pairs
        Which pairs these are.
    cost : float
        How much log-likelihood an edge must gain.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import minimum_spanning_tree

    n_items = len(singles)
    gains = np.empty(len(index.others))
    pairs.edge_gains(singles, pair_counts, total, *index, cost, gains)
    gaining = np.flatnonzero(gains)
    larger = np.searchsorted(index.starts, gaining, side="right") - 1
    # To SciPy a weight of zero is no edge; all of these are below zero.
    graph = sparse.coo_array((-gains[gaining], (larger, index.others[gaining])), shape=(n_items, n_items))
    forest = minimum_spanning_tree(graph.tocsr()).tocoo()
    one, other = forest.row.astype(np.int32), forest.col.astype(np.int32)
    parents = np.empty(n_items, dtype=np.int32)
    trees.root_edges(one, other, parents)
    return parents, _probabilities(singles, pair_counts, total, index, parents)


def _probabilities(
    singles: Floats, pair_counts: Floats, total: float, index: Pairs, parents: npt.NDArray[np.int32]
) -> Floats:
    """Return the part of the transactions without and with the parent that hold an item, shape (D, 2)."""
    probs = np.repeat((singles / total)[:, None], 2, axis=1)
    child = np.flatnonzero(parents >= 0).astype(np.int32)
    parent = parents[child]
    both = pair_counts[index.places(np.maximum(child, parent), np.minimum(child, parent))]
    probs[child, 0] = (singles[child] - both) / (total - singles[parent])
    probs[child, 1] = both / singles[parent]
    return np.clip(probs, 0.0, 1.0)
