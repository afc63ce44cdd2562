"""EM for mixtures of trees (Meila and Jordan 2000), with a prior that lets components share what all show.

The state is a tree for each component and the components' weights, over the items as `TreeRows` stores them.
A step counts the pairs of items in each component and learns its best tree from these. Each component also
sees transactions that are not there: `smoothing` of independent items, and `pooling` of the whole data. Both
have pairwise probabilities that agree with each other, so that the tree of the counts with them is the most
probable one a posteriori, and the posterior never falls (see docs/equations.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.inference.loop import Info
from itemix.inference.trees import PairCounts, learn_tree
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from itemix.inference.tree_rows import TreeRows

Floats = npt.NDArray[np.float64]
Start = Callable[[np.random.Generator], Callable[[int, int], Floats]]


class Trees(NamedTuple):
    """What an iteration goes on from, over the items as they are stored.

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
class Prior:
    """What is known of each component beforehand: transactions that are not there, and what an edge costs.

    Attributes
    ----------
    smoothing : float
        How many transactions of independent items each component sees; they count for its weight too.
    pooling : float
        How many transactions of the whole data it sees besides.
    edge_cost : float
        How much log-likelihood an edge must gain to be there.
    """

    smoothing: float
    pooling: float
    edge_cost: float

    def counts(self, overall: PairCounts, rows: TreeRows) -> PairCounts:
        """Return the counts of the transactions that are not there."""
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
    prior : Prior
        What is known of each component.
    start : callable
        Takes a random generator and returns a function that gives the first responsibilities of a range of
        rows.
    """

    def __init__(self, rows: TreeRows, n_components: int, prior: Prior, start: Start) -> None:
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
            # A sum in another order can pass its bound by a rounding error, never by more.
            return learn_tree(np.minimum(singles, total), pairs, total, index, cost)

        found = self.rows.workers.map(component, self.n_components)
        sizes = counts.sizes + self.prior.smoothing
        parents, probs = (np.array(parts) for parts in zip(*found, strict=True))
        return Trees(sizes / sizes.sum(), parents, probs)

    def finish(self, state: Trees) -> TreeMixture:
        """Return the trees over the items as they are."""
        probs = self.rows.turn(state.parents, state.probs)
        return TreeMixture(state.weights, state.parents, probs, self.rows.merged.items)

    def _log_prior(self, state: Trees) -> float:
        """Return the log-probability of the trees beforehand, up to a constant."""
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
