"""Chow and Liu's tree, and mixtures of such trees by EM.

Of all trees over the items, Chow and Liu's makes the data most probable. The log-likelihood of a tree is that
of independent items plus, for each edge, the number of transactions times the mutual information of its two
items. So the best tree is the maximum spanning tree of these gains (Chow and Liu 1968). An edge costs one
parameter more, and is left out if it gains less than `cost`. The result may be several trees, or single
items.

A mixture of trees is learned by EM (Meila and Jordan 2000), with a prior that lets components share what all
of them show. The state is a tree for each component and the components' weights, over the items as `TreeRows`
stores them. A step counts the pairs of items in each component and learns its best tree from these. Each
component also gets pseudo-transactions: `smoothing` of independent items, and `pooling` of the whole data.
The pairwise probabilities of both are consistent, so the tree of the counts with them is the most probable
one a posteriori, and the posterior never falls (see docs/equations.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._typing import Floats
from itemix.core.transactions import Transactions, weights_of
from itemix.errors import InvalidInputError
from itemix.inference.em import EM
from itemix.inference.loop import Info, Settings, run
from itemix.inference.start import random_labels, require_components, seeded_labels, starter
from itemix.kernels import csr
from itemix.kernels.mining.layouts import RowIndex
from itemix.kernels.models import pairs, trees
from itemix.models.base import require_same_items
from itemix.models.counts import Rows, merged_if_worth_it
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture, shares, tables_of_trees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix._runtime import Workers

METHODS = ("mixture", "k-means++", "random")

_BYTES_OF_PAIRS = 128_000_000
_MOST_PARTNERS = 64
_FEWEST_PARTNERS = 8
_FREQUENT = 32
_CELLS_IN_A_BLOCK = 4_000_000
_ROWS_AT_A_TIME = 4096
_BYTES_OF_COPIES = 48_000_000
_BYTES_OF_PLACES = 96_000_000
_BYTES_A_PARTNER = 65
_BYTES_A_CELL = 130
_SOFTNESS = 0.2
_BERNOULLI = Settings(max_iter=30, tol=1e-3)

TreeInit = str | Mixture | TreeMixture
Start = Callable[[np.random.Generator], Callable[[int, int], Floats]]


class CandidatePairs(NamedTuple):
    """The pairs of items that may become edges, listed by their larger item.

    Attributes
    ----------
    starts : array of int, shape (n_items + 1,)
        The first pair of each larger item.
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
        """Return the positions of some pairs, all of which must be listed."""
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
        The number of transactions.
    singles : array, shape (n_components, n_items)
        How many of them hold each item.
    pairs : array, shape (n_components, n_pairs)
        How many of them hold each pair.
    """

    sizes: Floats
    singles: Floats
    pairs: Floats

    @classmethod
    def zeros(cls, n_components: int, index: CandidatePairs) -> PairCounts:
        """Return counts of zero."""
        n_items = len(index.starts) - 1
        return cls(
            np.zeros(n_components),
            np.zeros((n_components, n_items)),
            np.zeros((n_components, len(index.others))),
        )


def candidate_pairs(data: Transactions, n_components: int) -> CandidatePairs:
    """Return the pairs that may become edges of trees.

    These are all pairs, if counting them for each component takes no more than 128 MB. With too many items
    for that, they are the 8 to 64 partners of each item with the highest mutual information over all data,
    among the items that it occurs with and the 32 most frequent ones. The best tree of these is close to the
    best of all.
    """
    n_items = data.n_items
    if 8 * n_components * (n_items * (n_items - 1) // 2) <= _BYTES_OF_PAIRS:
        codes = np.arange(n_items, dtype=np.int64)
        others = np.arange(n_items * (n_items - 1) // 2) - np.repeat(codes * (codes - 1) // 2, codes)
        return CandidatePairs(np.concatenate([[0], np.cumsum(codes)]), others.astype(np.int32))
    return _strongest_pairs(data, _n_partners(n_items, n_components))


def _n_partners(n_items: int, n_components: int) -> int:
    n_kept = _BYTES_OF_PAIRS // (8 * n_components * n_items)
    return max(_FEWEST_PARTNERS, min(_MOST_PARTNERS, n_kept))


def bytes_of_trees(n_items: int, n_components: int) -> float:
    """Return about how many bytes a fit of trees takes at its peak, as measured with many items."""
    return n_items * (_BYTES_A_PARTNER * _n_partners(n_items, n_components) + _BYTES_A_CELL * n_components)


def _strongest_pairs(data: Transactions, n_kept: int) -> CandidatePairs:
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
    return CandidatePairs(starts.astype(np.int64), (key % n_items).astype(np.int32))


def learn_tree(
    singles: Floats, pair_counts: Floats, total: float, index: CandidatePairs, cost: float
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Return the best tree of some counts: parents (D,), -1 for roots, and probabilities (D, 2).

    Parameters
    ----------
    singles, pair_counts : arrays, shapes (n_items,) and (n_pairs,)
        How often items and pairs occur.
    total : float
        In how many transactions; above zero.
    index : CandidatePairs
        The pairs.
    cost : float
        How much log-likelihood an edge must gain.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import minimum_spanning_tree

    n_items = len(singles)
    gains = np.empty(len(index.others))
    pairs.edge_gains(singles, pair_counts, total, *index, cost, gains)
    gaining = np.flatnonzero(gains)
    larger = (np.searchsorted(index.starts, gaining, side="right") - 1).astype(np.int32)
    # SciPy takes a weight of zero for no edge. All of these are below zero.
    graph = sparse.coo_array((-gains[gaining], (larger, index.others[gaining])), shape=(n_items, n_items))
    forest = minimum_spanning_tree(graph.tocsr()).tocoo()
    one, other = forest.row.astype(np.int32), forest.col.astype(np.int32)
    parents = np.empty(n_items, dtype=np.int32)
    trees.root_edges(one, other, parents)
    return parents, _probabilities(singles, pair_counts, total, index, parents)


def _probabilities(
    singles: Floats, pair_counts: Floats, total: float, index: CandidatePairs, parents: npt.NDArray[np.int32]
) -> Floats:
    """Return the share of transactions, without and with its parent, that hold each item, shape (D, 2)."""
    probs = np.repeat((singles / total)[:, None], 2, axis=1)
    child = np.flatnonzero(parents >= 0).astype(np.int32)
    parent = parents[child]
    both = pair_counts[index.places(np.maximum(child, parent), np.minimum(child, parent))]
    probs[child, 0] = (singles[child] - both) / (total - singles[parent])
    probs[child, 1] = both / singles[parent]
    return np.clip(probs, 0.0, 1.0)


class TreeRows:
    """Transactions made ready for counting pairs many times.

    Identical rows are merged, and frequent items are flipped: stored by their absence. The mutual information
    of two items stays the same if one of them is flipped, and a tree over flipped items is still a tree. So
    trees are learned over flipped items, with fewer pairs to count, and flipped back at the end.

    Parameters
    ----------
    transactions : Transactions
        The data.
    n_components : int
        The number of components to count pairs for.
    workers : Workers
        The threads that work on it; the result does not depend on their number.

    Attributes
    ----------
    merged : Transactions
        The data as it was given, with identical rows merged if that saves a fifth or more and the copy is no
        larger than 48 MB.
    stored : Transactions
        The same rows with the `flipped` items stored by their absence.
    flipped : array of bool, shape (n_items,)
        The items that more than half of the transactions hold; none if a copy would be too large.
    index : CandidatePairs
        The pairs that are counted.
    """

    def __init__(self, transactions: Transactions, n_components: int, workers: Workers) -> None:
        fits = 4 * len(transactions.indices) < _BYTES_OF_COPIES
        self.merged = merged_if_worth_it(transactions) if fits else transactions
        frequent = 2 * transactions.item_counts() > transactions.n_transactions
        self.flipped = frequent if fits else np.zeros_like(frequent)
        self.stored = self._flip_items()
        self.workers = workers
        self.index: CandidatePairs = candidate_pairs(self.stored, n_components)
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

    def _flip_items(self) -> Transactions:
        data = self.merged
        if not self.flipped.any():
            return data
        rows = csr.canonical_rows(*csr.flip_items(data.indptr, data.indices, self.flipped))
        return Transactions.from_canonical(*rows, data.items, data.multiplicities)

    def turn(self, parents: npt.NDArray[np.int32], probs: Floats) -> Floats:
        """Return the probabilities of trees over flipped items for the items themselves, or the other way."""
        out = np.where((self.flipped[parents] & (parents >= 0))[:, :, None], probs[:, :, ::-1], probs)
        return np.where(self.flipped[:, None], 1.0 - out, out)

    def blocks(self, n_components: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows; responsibilities are held for one range at a time."""
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
        """Return the expected counts and the log-likelihood of trees over flipped items."""
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


class Trees(NamedTuple):
    """The state of EM: trees and their weights, over the items as they are stored.

    Attributes
    ----------
    weights : array, shape (n_components,)
        The probability of each component.
    parents, probs : arrays, shapes (n_components, n_items) and (n_components, n_items, 2)
        See `itemix.models.trees.TreeMixture`.
    """

    weights: Floats
    parents: npt.NDArray[np.int32]
    probs: Floats


@dataclass(frozen=True)
class TreePrior:
    """The prior of each component: pseudo-transactions, and the cost of an edge.

    Attributes
    ----------
    smoothing : float
        How many pseudo-transactions of independent items each component gets; they count for its weight too.
    pooling : float
        How many pseudo-transactions of the whole data each component gets.
    edge_cost : float
        How much log-likelihood an edge must gain.
    """

    smoothing: float
    pooling: float
    edge_cost: float

    def counts(self, overall: PairCounts, rows: TreeRows) -> PairCounts:
        """Return the counts of the pseudo-transactions."""
        n, singles, pairs = overall.sizes[0], overall.singles[0], overall.pairs[0]
        if self.smoothing + self.pooling == 0:
            return PairCounts.zeros(1, rows.index)
        base = (singles + self.smoothing / 2) / (n + self.smoothing)
        together = base[rows.index.larger] * base[rows.index.others]
        return PairCounts(
            np.array([self.smoothing + self.pooling]),
            self.smoothing * base[None] + self.pooling / n * singles,
            self.smoothing * together[None] + self.pooling / n * pairs,
        )


class TreeEM:
    """The most probable mixture of trees by expectation and maximisation.

    Parameters
    ----------
    rows : TreeRows
        The data.
    n_components : int
        The number of components.
    prior : TreePrior
        The prior of each component.
    start : callable
        Takes a random generator and returns a function that gives the first responsibilities of a range of
        rows.
    """

    def __init__(self, rows: TreeRows, n_components: int, prior: TreePrior, start: Start) -> None:
        self.rows = rows
        self.n_components = n_components
        self.prior = prior
        self._start = start
        self._overall = rows.overall()
        self._extra = prior.counts(self._overall, rows)

    def init(self, rng: np.random.Generator) -> Trees:
        """Return the trees of the first responsibilities."""
        shares = self._start(rng)
        counts = PairCounts.zeros(self.n_components, self.rows.index)
        for first, last in self.rows.blocks(self.n_components):
            self.rows.count(first, shares(first, last), counts)
        return self.maximise(counts)

    def step(self, state: Trees) -> tuple[Trees, Info]:
        """Count under the trees and learn the next; the bound is the log-posterior of those that went in."""
        counts, value = self.rows.expect(*state)
        bound = value + self._log_prior(state)
        return self.maximise(counts), Info(bound, int(np.count_nonzero(state.weights)))

    def maximise(self, counts: PairCounts) -> Trees:
        """Return the best trees of some counts."""
        index, cost = self.rows.index, self.prior.edge_cost

        def component(k: int) -> tuple[npt.NDArray[np.int32], Floats]:
            total = float(counts.sizes[k] + self._extra.sizes[0])
            singles, pairs = (
                counts.singles[k] + self._extra.singles[0],
                counts.pairs[k] + self._extra.pairs[0],
            )
            if total == 0:
                total = float(self._overall.sizes[0])
                singles, pairs = self._overall.singles[0], self._overall.pairs[0]
            # Sums in different orders differ by rounding errors, so an item's can exceed the total a little.
            return learn_tree(np.minimum(singles, total), pairs, total, index, cost)

        found = self.rows.workers.map(component, self.n_components)
        sizes = counts.sizes + self.prior.smoothing
        parents, probs = (np.array(parts) for parts in zip(*found, strict=True))
        return Trees(sizes / sizes.sum(), parents, probs)

    def finish(self, state: Trees) -> TreeMixture:
        """Return the trees over the items themselves, not flipped."""
        probs = self.rows.turn(state.parents, state.probs)
        return TreeMixture(state.weights, state.parents, probs, self.rows.merged.items)

    def _log_prior(self, state: Trees) -> float:
        """Return the log-probability of the trees under the prior, up to a constant."""
        from scipy.special import xlog1py, xlogy

        size, singles, pairs = self._extra.sizes[0], self._extra.singles[0], self._extra.pairs[0]
        value = float(xlogy(self.prior.smoothing, state.weights).sum())
        k, child = np.nonzero(state.parents >= 0)
        parent = state.parents[k, child]
        both = pairs[self.rows.index.places(np.maximum(child, parent), np.minimum(child, parent))]
        with_parent = np.zeros(state.probs.shape[:2])
        of_parent = np.zeros_like(with_parent)
        with_parent[k, child], of_parent[k, child] = both, singles[parent]
        for x, (held, seen) in enumerate(
            [(singles - with_parent, size - of_parent), (with_parent, of_parent)]
        ):
            probs = state.probs[:, :, x]
            value += float((xlogy(held, probs) + xlog1py(np.maximum(seen - held, 0.0), -probs)).sum())
        return value - self.prior.edge_cost * len(child)


def tree_starter(init: TreeInit, rows: TreeRows, n_components: int) -> Start:
    """Return the function that makes first responsibilities from a random generator.

    Parameters
    ----------
    init : {"mixture", "k-means++", "random"}, Mixture or TreeMixture
        A Bernoulli mixture fitted by a few iterations of EM, spread-out transactions, random labels, or a
        model with this number of components.
    rows : TreeRows
        The data.
    n_components : int
        The number of components.

    Raises
    ------
    InvalidInputError
        If `init` is none of these, or does not fit the data.
    """
    if isinstance(init, Mixture | TreeMixture):
        _check_model(init, rows, n_components)
        return lambda _: _of_model(init, rows)
    if init == "mixture":
        return lambda rng: _of_model(bernoulli_start(rows, n_components, rng), rows)
    if init == "k-means++":
        return lambda rng: _of_labels(seeded_labels(rows.merged, n_components, rng), n_components)
    if init == "random":
        return lambda rng: _of_labels(random_labels(rows.merged.n_rows, n_components, rng), n_components)
    raise InvalidInputError(
        f"expected init to be one of {list(METHODS)}, a Mixture or a TreeMixture, got {init!r}; try 'mixture'"
    )


def _check_model(model: Mixture | TreeMixture, rows: TreeRows, n_components: int) -> None:
    require_same_items(model.items, rows.merged.items)
    require_components(model, n_components)


def bernoulli_start(rows: TreeRows, n_components: int, rng: np.random.Generator) -> Mixture:
    """Return a Bernoulli mixture, fitted by a few iterations of EM."""
    data = Rows(rows.merged, rows.workers)
    algorithm = EM(data, starter("k-means++", rows.merged, data, n_components))
    result = run(algorithm, rows.n_transactions, _BERNOULLI, rng)
    if result.interrupted:
        raise KeyboardInterrupt
    return algorithm.finish(result.state).mixture


def _of_model(model: Mixture | TreeMixture, rows: TreeRows) -> Callable[[int, int], Floats]:
    def shares(first: int, last: int) -> Floats:
        taken = csr.gather_rows(rows.merged.indptr, rows.merged.indices, np.arange(first, last))
        return model.responsibilities(Transactions.from_canonical(*taken, rows.merged.items))

    return shares


def _of_labels(labels: npt.NDArray[np.int64], n_components: int) -> Callable[[int, int], Floats]:
    """Return responsibilities that give most of a row to the component of its label, the rest to all."""

    def shares(first: int, last: int) -> Floats:
        resp = np.full((last - first, n_components), _SOFTNESS / n_components)
        resp[np.arange(last - first), labels[first:last]] += 1.0 - _SOFTNESS
        return resp

    return shares
