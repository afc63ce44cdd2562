"""Collapsed Gibbs sampling for the finite model and the Dirichlet process (Algorithms 2 and 4 of the paper).

A step is a sweep that draws every label given all others, then split and merge moves, which take the chain
between modes that single labels cannot leave, and if asked a draw of the hyperparameters. All of them leave
the posterior of the labels invariant. Empty components of the process are removed, which Algorithm 4 forgets.

States are immutable: a step copies the tables. Its random numbers depend on the state's key and iteration.

Items that most transactions hold are flipped: rows list where they are absent, which is the same model with
their beta and gamma exchanged, and takes less time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.inference import collapsed, hyper
from itemix.inference.loop import Fitted, Info
from itemix.kernels.inference import gibbs, splitmerge
from itemix.kernels.inference.components import Points
from itemix.models.counts import Counts
from itemix.models.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.items import Items
    from itemix.core.transactions import Transactions
    from itemix.inference.collapsed import Labels
    from itemix.inference.priors import Prior
    from itemix.kernels.csr import RowArrays
    from itemix.kernels.inference.components import PriorTables, Tables

_FIRST_TRIES = 20
_FEWEST_TRIES, _MOST_TRIES = 10, 100
_LARGEST_RISE = 10
_TUNED_FOR = 30
# Looks at points that moves may take whatever a sweep takes: in the first step, and in each of the others.
_FIRST_LOOKS, _CHEAP_LOOKS = 1_000_000, 300_000
# A look at a point costs about as much as a sweep spends on it with so many components.
_COMPONENTS_PER_LOOK = 16
_N_SCANS = 2
_SPLITS = 0.5  # of the moves; a look at a point is one to split its component
_MOST_COMPONENTS = 50, 500
_MOST_CELLS = 4_000_000
_ROOM = 16


@dataclass(frozen=True)
class State:
    """What the next step needs.

    Attributes
    ----------
    labels : array of int32, shape (n_transactions,)
        The component of each transaction.
    tables : Tables
        The counts of the components, and what the kernels derive from them.
    prior : Prior
        The hyperparameters, which may be sampled too.
    prior_tables : PriorTables
        The kernels' form of them.
    log_joint : float
        The joint log-probability of labels and data.
    key, iteration : int
        Where its random numbers come from.
    n_tries : int
        How many split and merge moves a step tries.
    """

    labels: Labels
    tables: Tables
    prior: Prior
    prior_tables: PriorTables
    log_joint: float
    key: int
    iteration: int
    n_tries: int

    @property
    def n_components(self) -> int:
        """How many components hold any transactions."""
        return int(np.count_nonzero(self.tables.sizes))

    def rng(self) -> np.random.Generator:
        """Return the random numbers of the next step."""
        return np.random.Generator(np.random.Philox(key=self.key, counter=self.iteration << 128))


@dataclass(frozen=True)
class Draw:
    """One posterior sample: the counts of its components by falling size, and its hyperparameters.

    Attributes
    ----------
    sizes : array of int64, shape (n_components,)
        The number of transactions of each component.
    item_counts : array of int32, shape (n_components, n_items)
        How many of them hold each item.
    prior : Prior
        The hyperparameters.
    items : Items
        The name of each item.
    """

    sizes: npt.NDArray[np.int64]
    item_counts: npt.NDArray[np.int32]
    prior: Prior
    items: Items

    def counts(self) -> Counts:
        """Return the counts as a value."""
        return Counts(self.sizes, self.item_counts)

    def posterior(self) -> Posterior:
        """Return the distribution of the parameters given the labels.

        Given the labels, the weights of a Dirichlet process are Dirichlet too: a last component with alpha as
        its size and the prior's probabilities stands for all that have no transaction yet (eq. newcom).
        """
        if self.prior.weights == "dirichlet":
            return self.prior.posterior(self.counts(), self.items)
        beta, gamma = self.prior.beta, self.prior.gamma
        eta = np.vstack([self.item_counts + beta, beta])
        nu = np.vstack([self.sizes[:, None] - self.item_counts + gamma, gamma])
        return Posterior.dirichlet(np.append(self.sizes, self.prior.alpha), eta, nu, self.items)


@dataclass(frozen=True)
class GibbsSampler:
    """Collapsed Gibbs sampling of the labels.

    Attributes
    ----------
    transactions : Transactions
        The data.
    prior : Prior
        Hyperparameters; its `weights` choose between the finite model and the Dirichlet process.
    start : callable
        Returns the first labels from a random generator, a whole number for each transaction.
    n_components : int
        The number of components K of the finite model; the process finds its own.
    split_merge : bool
        Whether a step tries split and merge moves.
    learn_alpha, learn_strength : bool
        Whether alpha, and a common factor of beta and gamma, are sampled too.
    most_components : int
        How many components the process may have at once, rounded up to a multiple of 8. By default between
        50 and 500, the fewer the more items there are, so that memory is bounded: on data of many rare items
        it would go on opening new ones.
    rows, flipped : RowArrays, array of bool, shape (n_items,)
        The data as the kernels read it, and the items that are flipped there.
    """

    transactions: Transactions
    prior: Prior
    start: Callable[[np.random.Generator], npt.NDArray[np.integer]]
    n_components: int = 1
    split_merge: bool = True
    learn_alpha: bool = False
    learn_strength: bool = False
    most_components: int = 0
    rows: RowArrays = field(init=False, repr=False)
    flipped: npt.NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        flipped = 2 * self.transactions.item_counts() > self.transactions.n_transactions
        object.__setattr__(self, "flipped", flipped)
        object.__setattr__(self, "rows", collapsed.expanded_rows(self.transactions, flipped))
        most = self.most_components or np.clip(_MOST_CELLS // max(len(flipped), 1), *_MOST_COMPONENTS)
        object.__setattr__(self, "most_components", int(most))

    def init(self, rng: np.random.Generator) -> State:
        """Return a state with the first labels."""
        labels = self.start(rng).astype(np.int32)
        prior_tables = self._prior_tables(self.prior)
        labels, tables = self._make_tables(labels, prior_tables)
        value = collapsed.log_joint(prior_tables, self.prior.alpha, tables)
        key = int(rng.integers(2**63))
        n_tries = int(np.clip(_FIRST_LOOKS // max(len(labels), 1), 1, _FIRST_TRIES))
        return State(labels, tables, self.prior, prior_tables, value, key, 0, n_tries)

    def step(self, state: State) -> tuple[State, Info]:
        """Draw every label once, and try to split and merge components."""
        rng = state.rng()
        labels = state.labels.copy()
        tables = type(state.tables)(*(array.copy() for array in state.tables))
        labels, tables, gain = self._sweep(state, labels, tables, rng)
        n_tries = state.n_tries
        if self.split_merge:
            labels, tables, more, n_tries = self._split_and_merge(state, labels, tables, rng)
            gain += more
        if self._is_sparse(tables):
            labels, tables = self._make_tables(labels, state.prior_tables)
        after = State(
            labels,
            tables,
            state.prior,
            state.prior_tables,
            state.log_joint + gain,
            state.key,
            state.iteration + 1,
            n_tries,
        )
        return self._with_new_prior(after, rng), Info(state.log_joint, state.n_components)

    def finish(self, state: State) -> Fitted:
        """Return the mixture of the state's labels alone."""
        draw = self.draw(state)
        posterior = draw.posterior()
        return Fitted(posterior.mixture(), draw.counts(), posterior, draw.prior)

    def draw(self, state: State) -> Draw:
        """Return the state's components as a posterior sample."""
        sizes = state.tables.sizes
        kept = np.flatnonzero(sizes) if self._is_process else np.arange(self.n_components)
        kept = kept[np.argsort(-sizes[kept], kind="stable")]
        item_counts = np.ascontiguousarray(self._item_counts(state, kept).T)
        return Draw(sizes[kept], item_counts, state.prior, self.transactions.items)

    @property
    def _is_process(self) -> bool:
        return self.prior.weights == "sticks"

    def _item_counts(self, state: State, kept: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return how many transactions of some components hold each item, shape (D, n)."""
        counts = state.tables.counts[:, kept]
        absent = state.tables.sizes[kept].astype(np.int32) - counts
        return np.where(self.flipped[:, None], absent, counts)

    def _prior_tables(self, prior: Prior) -> PriorTables:
        n_components = None if self._is_process else self.n_components
        flipped = collapsed.flipped_prior(prior, self.flipped)
        return collapsed.prior_tables(flipped, len(self.rows.indptr) - 1, n_components)

    def _make_tables(
        self, labels: Labels, prior_tables: PriorTables, room: int = _ROOM
    ) -> tuple[Labels, Tables]:
        """Fill tables from labels; the process numbers its components anew, without gaps."""
        if not self._is_process:
            n = self.n_components
            return labels, collapsed.make_tables(self.rows, labels, prior_tables, n, n)
        names, numbers = np.unique(labels, return_inverse=True)
        renamed, n = numbers.astype(np.int32), len(names)
        capacity = max(n, min(n + room, self.most_components))
        return renamed, collapsed.make_tables(self.rows, renamed, prior_tables, n, capacity)

    def _can_grow(self, tables: Tables) -> bool:
        return self._is_process and len(tables.sizes) < self.most_components

    def _is_sparse(self, tables: Tables) -> bool:
        """Whether many slots below the last one in use are empty: each costs as much as a component."""
        used = np.flatnonzero(tables.sizes)
        return self._is_process and int(used[-1]) > 1.25 * len(used) + _ROOM

    def _sweep(
        self, state: State, labels: Labels, tables: Tables, rng: np.random.Generator
    ) -> tuple[Labels, Tables, float]:
        uniforms = rng.random(len(labels))
        row, total = 0, 0.0
        while True:
            points = Points(*self.rows, labels)
            row, _, gain = gibbs.sweep(
                points, uniforms, state.prior_tables, tables, row, self._can_grow(tables)
            )
            total += gain
            if row == len(labels):
                return labels, tables, total
            if tables.sizes.all():
                labels, tables = self._make_tables(labels, state.prior_tables, room=len(tables.sizes))

    def _split_and_merge(
        self, state: State, labels: Labels, tables: Tables, rng: np.random.Generator
    ) -> tuple[Labels, Tables, float, int]:
        """Try moves; the first steps tune their number."""
        sides = collapsed.no_tables(state.prior_tables)
        left, seen, total = state.n_tries, 0, 0.0
        while True:
            done, n_points, gain = splitmerge.split_merge(
                Points(*self.rows, labels),
                state.prior_tables,
                tables,
                sides,
                left,
                _N_SCANS,
                self._can_grow(tables),
                rng,
            )
            left, seen, total = left - done, seen + n_points, total + gain
            if left == 0:
                break
            labels, tables = self._make_tables(labels, state.prior_tables, room=len(tables.sizes))
        n_tries = state.n_tries
        if state.iteration < _TUNED_FOR:
            n_tries = _tuned(n_tries, seen, tables.sizes)
        return labels, tables, total, n_tries

    def _with_new_prior(self, state: State, rng: np.random.Generator) -> State:
        if not (self.learn_alpha or self.learn_strength):
            return state
        used = np.flatnonzero(state.tables.sizes)
        sizes = state.tables.sizes[used]
        prior = state.prior
        if self.learn_alpha:
            prior = hyper.draw_alpha(prior, sizes, None if self._is_process else self.n_components, rng)
        if self.learn_strength:
            prior = hyper.draw_strength(prior, sizes, self._item_counts(state, used), rng)
        prior_tables = self._prior_tables(prior)
        labels, tables = self._make_tables(state.labels, prior_tables)
        value = collapsed.log_joint(prior_tables, prior.alpha, tables)
        return State(labels, tables, prior, prior_tables, value, state.key, state.iteration, state.n_tries)


def _tuned(n_tries: int, n_looks: int, sizes: npt.NDArray[np.int64]) -> int:
    """Return how many tries look at all points once, if that takes no longer than a sweep or is cheap."""
    if n_looks == 0:
        return n_tries
    looks = n_looks / n_tries
    n_points = sizes.sum()
    if n_points > _CHEAP_LOOKS:  # the few tries there are may have met small components by chance
        looks = max(looks, _SPLITS * float((sizes / n_points) @ sizes))
    as_a_sweep = n_points * np.count_nonzero(sizes) / _COMPONENTS_PER_LOOK
    aim = min(n_points, max(as_a_sweep, _CHEAP_LOOKS))
    fewest = np.clip(_CHEAP_LOOKS / looks, 1, _FEWEST_TRIES)
    return int(np.clip(round(aim / looks), fewest, min(_LARGEST_RISE * n_tries, _MOST_TRIES)))
