"""Fitting a latent tree: Chow and Liu's tree over the items, and EM for its latent variables on mini-batches.

The tree is the one that makes the data most probable without latent variables (`itemix.inference.trees`); its
variables then become latent (Liu and Van den Broeck 2021). EM begins at a mixture of products: the component
of a row is the state of all its variables. A step is a pass over all rows, batch by batch. The
expected counts of a batch are blended into the mean of those before it, with a weight that falls (stepwise
EM, Cappe and Moulines 2009), and the next parameters follow from the mean. Rows that were held out tell when
to stop, and how much smoothing predicts best.

Messages are in single precision, sums over batches in double precision. A batch is cut into blocks for
threads, and these are summed in order, so that the result does not depend on the number of threads.
docs/equations.md has the equations.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._runtime import require_memory, still_wanted
from itemix.core.transactions import Transactions, weights_of
from itemix.inference.loop import Info
from itemix.inference.trees import bernoulli_start, learn_tree
from itemix.kernels import csr
from itemix.kernels.models import latent
from itemix.kernels.models.latent import LatentTables, SubtreePatterns
from itemix.models.latent import LatentTree, patterns_of_rows, room_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix._runtime import Workers
    from itemix._typing import Array, Codes, Floats
    from itemix.inference.trees import TreeRows
    from itemix.kernels.models.latent import TreeShape

# The data is cut into about so many batches, with so many rows each, and a batch into blocks for threads.
_BATCHES = 25
_FEWEST_ROWS, _MOST_ROWS = 512, 8192
_ROWS_OF_A_BLOCK = 256
_BLOCKS = 8
_CELLS_OF_A_BLOCK = 1 << 24
# The weight of the t-th batch is t to this power, but no less than this part of its share of the data.
_FORGETTING = -0.5
_LEAST_SHARE = 0.5
# Patterns are kept up to this size in all; the others are made again for each pass.
_BYTES_OF_PATTERNS = 512_000_000
# How much of a start is the mixture; the rest is what all rows have in common.
_OF_START = 0.9
# The smoothing changes by this factor from pass to pass, where held-out rows ask for it, within these bounds.
_FACTOR = 1.05
LEAST_SMOOTHING, MOST_SMOOTHING = 0.01, 1000.0
# A fit ends with so many passes over all rows, those that were held out among them.
_LAST_PASSES = 3


class Statistics(NamedTuple):
    """Expected counts: of moves (D, S, S), of states (D, S), and of these with the item present (D, S)."""

    moves: Floats
    states: Floats
    present: Floats

    def blended(self, weight: float, others: Statistics) -> Statistics:
        """Return the mean of these and others, which have some weight."""
        return Statistics(
            *((1 - weight) * own + weight * other for own, other in zip(self, others, strict=True))
        )


class LatentRows:
    """Transactions as batches of rows, and their patterns on the subtrees.

    Parameters
    ----------
    transactions : Transactions
        The data; identical rows are merged and shuffled, always in the same way.
    shape : TreeShape
        The tree.
    workers : Workers
        The threads.
    """

    def __init__(self, transactions: Transactions, shape: TreeShape, workers: Workers) -> None:
        self.shape, self.workers = shape, workers
        merged = transactions.merge_identical()
        n_rows = int(np.clip(merged.n_rows // _BATCHES, _FEWEST_ROWS, _MOST_ROWS))
        n_rows = min(n_rows, max(1, _CELLS_OF_A_BLOCK * _BLOCKS // max(merged.n_items, 1)))
        n_batches = max(1, round(merged.n_rows / n_rows))
        # A row that many transactions have is in every batch, in part: else batches would differ too much.
        repeats = weights_of(merged).astype(np.float32)
        often = np.flatnonzero(repeats >= n_batches) if n_batches > 1 else np.empty(0, dtype=np.int64)
        repeats[often] /= n_batches
        others = np.setdiff1d(np.arange(merged.n_rows), often)
        others = np.random.default_rng(0).permutation(others)
        batches = [np.concatenate([often, part]) for part in np.array_split(others, n_batches)]
        rows = np.concatenate(batches)
        self._data = Transactions(*csr.gather_rows(merged.indptr, merged.indices, rows), merged.items)
        self._weights = repeats[rows]
        self.n_transactions = float(transactions.n_transactions)
        self.item_counts: Floats = transactions.item_counts().astype(np.float64)
        ends = np.concatenate([[0], np.cumsum([len(batch) for batch in batches])])
        self._blocks = [self._cut(first, last) for first, last in pairwise(ends.tolist())]
        self._kept: dict[tuple[int, int], SubtreePatterns] = {}
        self._n_bytes = 0

    @staticmethod
    def _cut(first: int, last: int) -> list[tuple[int, int]]:
        n_blocks = int(np.clip((last - first) // _ROWS_OF_A_BLOCK, 1, _BLOCKS))
        ends = np.linspace(first, last, n_blocks + 1).astype(np.int64).tolist()
        return list(pairwise(ends))

    @property
    def n_batches(self) -> int:
        """The number of batches."""
        return len(self._blocks)

    def _patterns(self, block: tuple[int, int]) -> SubtreePatterns:
        found = self._kept.get(block)
        if found is None:
            first, last = block
            found = patterns_of_rows(self.shape, self._data, first, last - first)
            n_bytes = sum(array.nbytes for array in found)
            if self._n_bytes + n_bytes <= _BYTES_OF_PATTERNS:
                self._kept[block] = found
                self._n_bytes += n_bytes
        return found

    def expect(self, batch: int, tables: LatentTables) -> tuple[Statistics, float, float]:
        """Return the expected counts of a batch, its log-likelihood, and the number of its transactions."""
        S = tables.emissions.shape[1]

        def block(b: int) -> tuple[list[Array], float, float]:
            own = self._blocks[batch][b]
            patterns, values = self._patterns(own), np.empty(own[1] - own[0])
            weights = self._weights[own[0] : own[1]]
            sent = room_for(patterns, S, np.float32)
            latent.send_up(self.shape, tables, patterns, sent, values)
            counts = [np.zeros_like(part) for part in tables]
            latent.send_down(self.shape, tables, patterns, sent, weights, *counts)
            return counts, float(weights @ values), float(weights.sum(dtype=np.float64))

        found = self.workers.map(block, len(self._blocks[batch]))
        sums = Statistics(
            *(
                np.array([counts[part] for counts, _, _ in found]).sum(axis=0, dtype=np.float64)
                for part in (0, 1, 2)
            )
        )
        return sums, sum(value for _, value, _ in found), sum(n for _, _, n in found)

    def log_likelihood(self, tables: LatentTables) -> float:
        """Return the log-likelihood of all rows."""
        S, blocks = tables.emissions.shape[1], [block for batch in self._blocks for block in batch]

        def value(b: int) -> float:
            first, last = blocks[b]
            patterns, values = self._patterns(blocks[b]), np.empty(last - first)
            latent.send_up(self.shape, tables, patterns, room_for(patterns, S, np.float32), values)
            return float(self._weights[first:last] @ values)

        return sum(self.workers.map(value, len(blocks)))


@dataclass(frozen=True)
class LatentState:
    """Where a fit is.

    Attributes
    ----------
    statistics : Statistics
        The mean expected counts, for all rows.
    smoothing : float
        How many pseudo-transactions each state has besides.
    n_steps : int
        How many batches were seen.
    n_passes : int
        How many passes over all rows were done.
    seed : int
        What the order of batches in each pass comes from.
    value : float
        The mean log-likelihood of held-out rows; of the rows themselves if none are held out.
    best : LatentState or None
        The state with the highest such value so far; None if it is this one.
    """

    statistics: Statistics
    smoothing: float
    n_steps: int
    n_passes: int
    seed: int
    value: float
    best: LatentState | None = None

    @property
    def at_best(self) -> LatentState:
        """The best state so far."""
        return self if self.best is None else self.best


class LatentTreeEM:
    """The algorithm: see `itemix.inference.loop`. Its bound is the best value so far, times the transactions.

    Parameters
    ----------
    rows : LatentRows
        The data.
    held_out : LatentRows or None
        What tells when to stop; None to have the likelihood of the data itself tell.
    trees : TreeRows
        The same data, from which the start comes.
    n_states : int
        The number of states of each latent variable.
    smoothing : float or None
        How many pseudo-transactions each state has; None to choose this by the held-out rows.
    includes : bool
        Whether the held-out rows are part of the data, and are learned at the end.
    """

    def __init__(
        self,
        rows: LatentRows,
        held_out: LatentRows | None,
        trees: TreeRows,
        n_states: int,
        smoothing: float | None,
        *,
        includes: bool,
    ) -> None:
        self.rows, self._held_out, self._trees = rows, held_out, trees
        self._n_states = n_states
        self._smoothing = smoothing
        self._includes = includes
        # Half a transaction more with each item, and one without.
        self._usual: Floats = (rows.item_counts + 0.5) / (rows.n_transactions + 1.0)

    def init(self, rng: np.random.Generator) -> LatentState:
        """Return the state after the rows were counted under a mixture as a tree."""
        D, S = len(self._usual), self._n_states
        mixture = bernoulli_start(self._trees, min(S, int(self.rows.n_transactions)), rng)
        weights = np.zeros(S)
        weights[: mixture.n_components] = mixture.weights
        weights = _OF_START * weights + (1 - _OF_START) / S
        emissions = np.repeat(self._usual[:, None], S, axis=1)
        emissions[:, : mixture.n_components] *= 1 - _OF_START
        emissions[:, : mixture.n_components] += _OF_START * mixture.probs.T
        moves = np.broadcast_to(_OF_START * np.eye(S) + (1 - _OF_START) * weights, (D, S, S))
        marginals = np.broadcast_to(weights, (D, S))
        n = self.rows.n_transactions
        # As if so many transactions had been seen in these states.
        first = Statistics(n * marginals[:, :, None] * moves, n * marginals, n * marginals * emissions)
        smoothing = 1.0 if self._smoothing is None else self._smoothing
        state = LatentState(first, smoothing, 0, 0, int(rng.integers(2**31)), -np.inf)
        with single_threaded_blas():
            return replace(state, value=self._value(first, smoothing))

    def step(self, state: LatentState) -> tuple[LatentState, Info]:
        """Do one pass over all rows; the Info describes the state that went in."""
        with single_threaded_blas():
            new = self._passed(state, [self.rows])
            best = new if new.value > state.at_best.value else state.at_best
        bound = state.at_best.value * self.rows.n_transactions
        return replace(new, best=None if best is new else best), Info(bound, self._n_states)

    def finish(self, state: LatentState) -> LatentTree:
        """Return the model of the best state, after some passes over the held-out rows as well."""
        found = state.at_best
        with single_threaded_blas():
            if self._includes and self._held_out is not None:
                for _ in range(_LAST_PASSES):
                    found = self._passed(found, [self.rows, self._held_out])
        transitions, emissions, _ = self._parameters(found.statistics, found.smoothing)
        return LatentTree(self.rows.shape.parents, transitions, emissions, self._trees.merged.items)

    def _passed(self, state: LatentState, parts: list[LatentRows]) -> LatentState:
        """Return the state after a pass over all batches of some rows, in random order."""
        statistics, n_steps = state.statistics, state.n_steps
        n_all = sum(part.n_transactions for part in parts)
        batches = [(part, batch) for part in parts for batch in range(part.n_batches)]
        total = 0.0
        for k in np.random.default_rng([state.seed, state.n_passes]).permutation(len(batches)):
            still_wanted()
            part, batch = batches[k]
            tables = self._tables(statistics, state.smoothing)
            counts, value, n = part.expect(batch, tables)
            n_steps += 1
            weight = max(n_steps**_FORGETTING, _LEAST_SHARE * n / n_all) if len(batches) > 1 else 1.0
            scaled = Statistics(*(self.rows.n_transactions / n * own for own in counts))
            statistics = statistics.blended(weight, scaled)
            total += value
        smoothing, value = state.smoothing, total / n_all
        if self._held_out is not None and len(parts) == 1:
            smoothing, value = self._smoothed(statistics, smoothing)
        return LatentState(statistics, smoothing, n_steps, state.n_passes + 1, state.seed, value)

    def _smoothed(self, statistics: Statistics, smoothing: float) -> tuple[float, float]:
        """Return the smoothing that predicts the held-out rows best, near that of before, and their value."""
        tried = [smoothing]
        if self._smoothing is None:
            tried += [smoothing / _FACTOR, smoothing * _FACTOR]
        tried = [amount for amount in tried if LEAST_SMOOTHING <= amount <= MOST_SMOOTHING]
        values = [self._value(statistics, amount) for amount in tried]
        best = int(np.argmax(values))
        return tried[best], values[best]

    def _value(self, statistics: Statistics, smoothing: float) -> float:
        rows = self.rows if self._held_out is None else self._held_out
        return rows.log_likelihood(self._tables(statistics, smoothing)) / rows.n_transactions

    def _parameters(self, statistics: Statistics, smoothing: float) -> LatentTables:
        """Return the most probable parameters of some counts."""
        moves, states, present = statistics
        S = states.shape[1]
        roots = self.rows.shape.parents < 0
        emissions = (present + smoothing * self._usual[:, None]) / (states + smoothing)
        transitions = moves + smoothing / S
        transitions[roots] = (states[roots] + smoothing / S)[:, None]
        transitions /= transitions.sum(axis=2, keepdims=True)
        emissions = np.clip(emissions, 0.0, 1.0)
        return LatentTables(transitions, emissions, transitions[:, 0])

    def _tables(self, statistics: Statistics, smoothing: float) -> LatentTables:
        """Return parameters in single precision; only the marginals of roots are needed."""
        return LatentTables(
            *(
                np.ascontiguousarray(part, dtype=np.float32)
                for part in self._parameters(statistics, smoothing)
            )
        )


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Have the linear algebra inside use one thread each, so that its sums have one order."""
    import scipy.linalg  # noqa: F401 - which loads what kernels multiply with
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def centred_tree(rows: TreeRows) -> Codes:
    """Return the parents of Chow and Liu's tree; roots are at the centre, so that subtrees are small."""
    counts = rows.overall()
    total = float(counts.sizes[0])
    parents, _ = learn_tree(counts.singles[0], counts.pairs[0], total, rows.index, 0.0)
    return rooted_at_centre(parents)


def rooted_at_centre(parents: Codes) -> Codes:
    """Return the parents of the same forest, where each root is in the middle of the longest path."""
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    D = len(parents)
    child = np.flatnonzero(parents >= 0)
    edges = sparse.coo_array((np.ones(len(child)), (child, parents[child])), shape=(D, D)).tocsr()
    _, labels = connected_components(edges, directed=False)
    out = np.full(D, -1, dtype=np.int32)
    for first in np.unique(labels, return_index=True)[1].tolist():
        end = breadth_first_order(edges, first, directed=False)[0][-1]
        order, before = breadth_first_order(edges, end, directed=False)
        path = [int(order[-1])]
        while before[path[-1]] >= 0:
            path.append(int(before[path[-1]]))
        order, before = breadth_first_order(edges, path[len(path) // 2], directed=False)
        out[order[1:]] = before[order[1:]]
    return out


def require_room_for_states(n_items: int, n_states: int) -> None:
    """Refuse a model that would not fit into memory, before anything is allocated."""
    require_memory(
        _BYTES_A_MOVE * n_items * n_states**2,
        f"{n_states:,} states of {n_items:,} items",
        "lower n_states, or leave out rare items with select_items",
    )


# Counts of the fit, of the best state and of a batch, and parameters.
_BYTES_A_MOVE = 8 * 8
