"""Collapsed Gibbs sampling for the finite model and the Dirichlet process (Algorithms 2 and 4 of the paper).

A step first sweeps: it draws every label given all others. Then it tries split and merge moves, which take
the chain between modes that single labels cannot leave. If asked, it draws the hyperparameters now and then.
All of these leave the posterior of the labels invariant. Empty components of the process are removed, which
Algorithm 4 forgets.

The hyperparameters are the concentration alpha and the strength beta_i + gamma_i of the Beta priors. Both
have a Gamma prior of shape 1 and rate 0.1, and are drawn by slice sampling of their logarithm (Neal 2003).

States are immutable: a step copies the tables. Its random numbers depend on the state's key and iteration.

Items that most transactions hold are flipped: rows list where they are absent. With their beta and gamma
exchanged this is the same model, and it takes less time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix._arrays import protected
from itemix.inference.loop import Fitted, Info
from itemix.kernels import csr
from itemix.kernels.csr import RowArrays
from itemix.kernels.models import gibbs
from itemix.kernels.models.gibbs import ComponentTables, Points, PriorTables
from itemix.models.counts import Counts
from itemix.models.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix._typing import Codes, Floats
    from itemix.core.items import Items
    from itemix.core.transactions import Transactions
    from itemix.inference.priors import Prior

_VECTOR = 8
_LOG_SAFE = 690.0  # products stay between exp(-690) and exp(690), so that they neither vanish nor overflow
_N_TERMS = 16

# The Gamma prior of hyperparameters, and the slice sampler that draws them.
_SHAPE, _RATE = 1.0, 0.1
_WIDTH = 1.0
_MOST_STEPS = 20
# They are drawn in each of the first steps, while much changes, and then only now and then: it takes as long
# as a sweep.
_DRAWN_AT_FIRST, _DRAWN_EVERY = 10, 5

# How many split and merge moves a step tries. A look is one point of a component that a move tries to split.
_FIRST_TRIES = 20
_FEWEST_TRIES, _MOST_TRIES = 10, 100
_LARGEST_RISE = 10
_TUNED_FOR = 30
# Moves may take this many looks however short a sweep is: in the first step, and in each later one.
_FIRST_LOOKS, _CHEAP_LOOKS = 1_000_000, 300_000
# A look takes about as long as a sweep spends on a point with this many components.
_COMPONENTS_PER_LOOK = 16
_N_SCANS = 2
_SPLITS = 0.5  # the share of splits among the moves

_MOST_COMPONENTS = 50, 500
_MOST_CELLS = 4_000_000
_ROOM = 16
# This many means are computed at a time, so that what they are computed from stays in the cache.
_CELLS_OF_MEANS = 1 << 16


def default_max_components(n_items: int) -> int:
    """Return how many components the process may have: 4,000,000 / n_items, from 50 to 500.

    That bounds the memory: on data with many rare items, under a weak prior, the process would go on opening
    new components.
    """
    return int(np.clip(_MOST_CELLS // max(n_items, 1), *_MOST_COMPONENTS))


def expanded_rows(transactions: Transactions, flipped: npt.NDArray[np.bool_] | None = None) -> RowArrays:
    """Return a row for each transaction; identical transactions get a row each, as each has its own label.

    A row holds a flipped item if the transaction does not.
    """
    indptr, indices = transactions.indptr, transactions.indices
    if transactions.multiplicities is not None:
        each = np.repeat(np.arange(transactions.n_rows), transactions.multiplicities)
        indptr, indices = csr.gather_rows(indptr, indices, each)
    if flipped is not None and flipped.any():
        indptr, indices = csr.flip_items(indptr, indices, flipped)
    return RowArrays(protected(indptr), protected(indices))


def flipped_prior(prior: Prior, flipped: npt.NDArray[np.bool_]) -> Prior:
    """Return the prior with beta and gamma exchanged for flipped items."""
    beta, gamma = np.where(flipped, prior.gamma, prior.beta), np.where(flipped, prior.beta, prior.gamma)
    return replace(prior, beta=beta, gamma=gamma)


def prior_tables(prior: Prior, n_transactions: int, n_components: int | None) -> PriorTables:
    """Return the kernels' form of a prior; `n_components` is None for the Dirichlet process."""
    weight = np.arange(n_transactions + 1, dtype=np.float64)
    if n_components is None:
        weight[0] = prior.alpha
    else:
        weight += prior.alpha / n_components
    absent = sums_of_logs(prior.gamma, n_transactions)
    either = sums_of_logs(prior.beta + prior.gamma, n_transactions)
    size_term = np.log(weight) + absent - either
    growth = np.concatenate([[0.0], np.cumsum(size_term[:-1])])
    block = _safe_block(prior, n_transactions)
    return PriorTables(
        np.array(prior.beta), np.array(prior.gamma), size_term, growth, block, n_components is None
    )


def sums_of_logs(shifts: Floats, n: int) -> Floats:
    """Return sum_i log(m + shifts_i) for m = 0, ..., n.

    Around the mean shift c this is a power series in 1 / (m + c), whose coefficients are the moments of the
    shifts. It is used for all m where it converges at least as fast as powers of 1/8. For smaller m it is the
    plain sum.
    """
    center = float(shifts.mean())
    off = shifts - center
    first = min(n + 1, math.ceil(max(8 * float(np.abs(off).max()) - center, 0.0)))
    direct = [float(np.log(m + shifts).sum()) for m in range(first)]
    x = np.arange(first, n + 1) + center
    series = np.zeros(len(x))
    for j in range(_N_TERMS, 0, -1):
        series = (series + (1 if j % 2 else -1) * float((off**j).sum()) / j) / x
    return np.concatenate([direct, len(shifts) * np.log(x) + series])


def _safe_block(prior: Prior, n_transactions: int) -> int:
    """Return how many factors of a score can be multiplied before a logarithm must be taken."""
    least = min(prior.beta.min(), prior.gamma.min())
    most = n_transactions + max(prior.beta.max(), prior.gamma.max())
    return max(1, int(_LOG_SAFE / max(abs(math.log(least)), abs(math.log(most)), 1.0)))


def make_tables(
    rows: RowArrays, labels: Codes, prior: PriorTables, n_slots: int, capacity: int
) -> ComponentTables:
    """Return the tables of labels, with room for at least `capacity` components.

    The finite model never chooses a slot from n_slots on. In the process all empty slots are room to grow.
    """
    n_items = len(prior.beta)
    C = -(-max(capacity, n_slots) // _VECTOR) * _VECTOR
    tables = ComponentTables(
        sizes=np.zeros(C, dtype=np.int64),
        counts=np.zeros((n_items, C), dtype=np.int32),
        base=np.zeros(C),
        base_out=np.zeros(C),
        series=np.zeros((C, gibbs.N_TERMS + 1)),
        anchor=np.zeros(C, dtype=np.int64),
        listed=np.zeros((C, n_items), dtype=np.int32),
        n_listed=np.zeros(C, dtype=np.int64),
        n_near=np.zeros(C, dtype=np.int64),
        place=np.zeros((n_items, C), dtype=np.uint8),
        scratch=np.zeros((2, gibbs.CHUNK)),
    )
    gibbs.fill(Points(*rows, labels), prior, tables, n_slots)
    return tables


def no_tables(prior: PriorTables) -> ComponentTables:
    """Return tables of two empty components: scratch for split and merge moves."""
    nothing = RowArrays(protected(np.zeros(1, dtype=np.int64)), protected(np.empty(0, dtype=np.int32)))
    return make_tables(nothing, np.empty(0, dtype=np.int32), prior, 2, 2)


def log_joint(prior: PriorTables, alpha: float, tables: ComponentTables) -> float:
    """Return the joint log-probability of labels and data (of partition and data, in the process)."""
    parts = sum(gibbs.log_component(prior, tables, int(k)) for k in np.flatnonzero(tables.sizes))
    return parts + math.lgamma(alpha) - math.lgamma(int(tables.sizes.sum()) + alpha)


def draw_alpha(
    prior: Prior, sizes: npt.NDArray[np.int64], n_components: int | None, rng: np.random.Generator
) -> Prior:
    """Return the prior with a new alpha, drawn given the sizes of the components that are not empty.

    `n_components` is None for the Dirichlet process.
    """
    from scipy.special import gammaln

    n = int(sizes.sum())

    def log_density(log_alpha: float) -> float:
        alpha = math.exp(log_alpha)
        value = math.lgamma(alpha) - math.lgamma(n + alpha) + _log_gamma_prior(log_alpha)
        if n_components is None:
            return value + len(sizes) * log_alpha
        share = alpha / n_components
        return value + float((gammaln(sizes + share) - gammaln(share)).sum())

    return replace(prior, alpha=math.exp(slice_draw(log_density, math.log(prior.alpha), rng)))


def draw_strength(
    prior: Prior, sizes: npt.NDArray[np.int64], item_counts: npt.NDArray[np.int32], rng: np.random.Generator
) -> Prior:
    """Return the prior with beta and gamma times one new factor, drawn given counts (K,) and (D, K)."""
    from scipy.special import betaln

    # Most counts are 0. For these, items with the same prior have the same terms, one for each component.
    kinds, kind_of = np.unique(np.column_stack([prior.beta, prior.gamma]), axis=0, return_inverse=True)
    kind_of = kind_of.ravel()
    items, components = np.nonzero(item_counts)
    present = item_counts[items, components]
    absent = sizes[components] - present
    n_zeros = np.bincount(kind_of)[:, None] - _counts_of_pairs(
        kind_of[items], components, len(kinds), len(sizes)
    )

    def log_density(log_factor: float) -> float:
        beta, gamma = math.exp(log_factor) * kinds.T
        before = betaln(beta, gamma)
        zeros = betaln(beta[:, None], sizes + gamma[:, None]) - before[:, None]
        kind = kind_of[items]
        others = betaln(present + beta[kind], absent + gamma[kind]) - before[kind]
        return float((n_zeros * zeros).sum() + others.sum()) + _log_gamma_prior(log_factor + log_strength)

    log_strength = math.log(prior.strength)
    factor = math.exp(slice_draw(log_density, 0.0, rng))
    return replace(prior, beta=factor * prior.beta, gamma=factor * prior.gamma)


def draw_strengths(
    prior: Prior,
    groups: tuple[Codes, ...],
    sizes: npt.NDArray[np.int64],
    item_counts: npt.NDArray[np.int32],
    rng: np.random.Generator,
) -> Prior:
    """Return the prior with a new factor for each group of items."""
    beta, gamma = prior.beta.copy(), prior.gamma.copy()
    for items in groups:
        own = replace(prior, beta=beta[items], gamma=gamma[items])
        drawn = draw_strength(own, sizes, item_counts[items], rng)
        beta[items], gamma[items] = drawn.beta, drawn.gamma
    return replace(prior, beta=beta, gamma=gamma)


def _counts_of_pairs(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], n_rows: int, n_columns: int
) -> npt.NDArray[np.int64]:
    """Return how often each pair occurs, shape (n_rows, n_columns)."""
    return np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns).reshape(n_rows, n_columns)


def _log_gamma_prior(log_value: float) -> float:
    """Return the log-density of the logarithm of a Gamma variable, up to a constant."""
    return _SHAPE * log_value - _RATE * math.exp(log_value)


def slice_draw(log_density: Callable[[float], float], x: float, rng: np.random.Generator) -> float:
    """Draw once by slice sampling: a Markov step from x that leaves the density invariant.

    The interval is stepped out by 1 at a time, at most 20 times in total, and shrunk until a draw is
    accepted.
    """
    level = log_density(x) + math.log1p(-rng.random())
    low = x - _WIDTH * rng.random()
    high = low + _WIDTH
    down = int(_MOST_STEPS * rng.random())
    up = _MOST_STEPS - 1 - down
    while down > 0 and log_density(low) > level:
        low -= _WIDTH
        down -= 1
    while up > 0 and log_density(high) > level:
        high += _WIDTH
        up -= 1
    while True:
        draw = low + (high - low) * rng.random()
        if log_density(draw) > level or draw == x:
            return draw
        if draw < x:
            low = draw
        else:
            high = draw


@dataclass(frozen=True)
class GibbsState:
    """The state of a chain: all that the next step needs.

    Attributes
    ----------
    labels : array of int32, shape (n_transactions,)
        The component of each transaction.
    tables : ComponentTables
        The counts of the components, and what the kernels derive from them.
    prior : Prior
        The hyperparameters, which may be sampled too.
    prior_tables : PriorTables
        The hyperparameters in the form of the kernels.
    log_joint : float
        The joint log-probability of labels and data.
    key, iteration : int
        They determine the random numbers of the next step.
    n_tries : int
        How many split and merge moves a step tries.
    """

    labels: Codes
    tables: ComponentTables
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

    @property
    def n_components(self) -> int:
        """How many components it has; in the Dirichlet process, all of them hold transactions."""
        return len(self.sizes)

    @property
    def n_components_of_posterior(self) -> int:
        """How many components its posterior has: in the process, one stands for all empty ones."""
        return self.n_components + (self.prior.weights == "sticks")

    def counts(self) -> Counts:
        """Return the counts as a `Counts`."""
        return Counts(self.sizes, self.item_counts)

    def posterior(self) -> Posterior:
        """Return the distribution of the parameters given the labels.

        Given the labels, the weights of a Dirichlet process are Dirichlet too. A last component stands for
        all that have no transaction yet: its size is alpha, and its probabilities are those of the prior (eq.
        newcom).
        """
        if self.prior.weights == "dirichlet":
            return self.prior.posterior(self.counts(), self.items)
        beta, gamma = self.prior.beta, self.prior.gamma
        eta = np.vstack([self.item_counts + beta, beta])
        nu = np.vstack([self.sizes[:, None] - self.item_counts + gamma, gamma])
        return Posterior.dirichlet(np.append(self.sizes, self.prior.alpha), eta, nu, self.items)

    def write_mean_probs(self, out: Floats) -> None:
        """Write ``posterior().mean_probs()`` to an array, without making that posterior: it is large."""
        beta, gamma = self.prior.beta, self.prior.gamma
        n_rows = max(1, _CELLS_OF_MEANS // len(beta))
        for first in range(0, self.n_components, n_rows):
            rows = slice(first, min(first + n_rows, self.n_components))
            eta = self.item_counts[rows] + beta
            nu = self.sizes[rows, None] - self.item_counts[rows] + gamma
            np.divide(eta, eta + nu, out=out[rows])
        out[self.n_components :] = beta / (beta + gamma)


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
    moves_every : int
        Split and merge moves are tried in the first step and then in every n-th; 0 is never.
    learn_alpha : bool
        Whether alpha is sampled too.
    learned_strengths : tuple of arrays of int
        Items of which a common factor of beta and gamma is sampled too, for each array one.
    max_components : int
        How many components the process may have at once, rounded up to a multiple of 8; see
        `default_max_components`.
    rows, flipped : RowArrays, array of bool, shape (n_items,)
        The data as the kernels read it, and the items that are flipped there.
    """

    transactions: Transactions
    prior: Prior
    start: Callable[[np.random.Generator], npt.NDArray[np.integer]]
    n_components: int = 1
    moves_every: int = 1
    learn_alpha: bool = False
    learned_strengths: tuple[Codes, ...] = ()
    max_components: int = 0
    rows: RowArrays = field(init=False, repr=False)
    flipped: npt.NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        flipped = 2 * self.transactions.item_counts() > self.transactions.n_transactions
        object.__setattr__(self, "flipped", flipped)
        object.__setattr__(self, "rows", expanded_rows(self.transactions, flipped))
        most = self.max_components or default_max_components(len(flipped))
        object.__setattr__(self, "max_components", most)

    def init(self, rng: np.random.Generator) -> GibbsState:
        """Return a state with the first labels."""
        labels = self.start(rng).astype(np.int32)
        prior_tables = self._prior_tables(self.prior)
        labels, tables = self._make_tables(labels, prior_tables)
        value = log_joint(prior_tables, self.prior.alpha, tables)
        key = int(rng.integers(2**63))
        n_tries = int(np.clip(_FIRST_LOOKS // max(len(labels), 1), 1, _FIRST_TRIES))
        return GibbsState(labels, tables, self.prior, prior_tables, value, key, 0, n_tries)

    def step(self, state: GibbsState) -> tuple[GibbsState, Info]:
        """Draw every label once, and try to split and merge components."""
        rng = state.rng()
        labels = state.labels.copy()
        tables = type(state.tables)(*(array.copy() for array in state.tables))
        labels, tables, gain = self._sweep(state, labels, tables, rng)
        n_tries = state.n_tries
        if self.moves_every and state.iteration % self.moves_every == 0:
            labels, tables, more, n_tries = self._split_and_merge(state, labels, tables, rng)
            gain += more
        if self._is_sparse(tables):
            labels, tables = self._make_tables(labels, state.prior_tables)
        after = GibbsState(
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

    def finish(self, state: GibbsState) -> Fitted:
        """Return the mixture of the state's labels alone."""
        draw = self.draw(state)
        posterior = draw.posterior()
        return Fitted(posterior.mixture(), draw.counts(), posterior, draw.prior)

    def draw(self, state: GibbsState) -> Draw:
        """Return the state's components as a posterior sample."""
        sizes = state.tables.sizes
        kept = np.flatnonzero(sizes) if self._is_process else np.arange(self.n_components)
        kept = kept[np.argsort(-sizes[kept], kind="stable")]
        item_counts = np.ascontiguousarray(self._item_counts(state, kept).T)
        return Draw(sizes[kept], item_counts, state.prior, self.transactions.items)

    @property
    def _is_process(self) -> bool:
        return self.prior.weights == "sticks"

    def _item_counts(self, state: GibbsState, kept: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return how many transactions of some components hold each item, shape (D, n)."""
        counts = state.tables.counts[:, kept]
        absent = state.tables.sizes[kept].astype(np.int32) - counts
        return np.where(self.flipped[:, None], absent, counts)

    def _prior_tables(self, prior: Prior) -> PriorTables:
        n_components = None if self._is_process else self.n_components
        flipped = flipped_prior(prior, self.flipped)
        return prior_tables(flipped, len(self.rows.indptr) - 1, n_components)

    def _make_tables(
        self, labels: Codes, prior_tables: PriorTables, room: int = _ROOM
    ) -> tuple[Codes, ComponentTables]:
        """Fill tables from labels; components of the process are numbered anew, without gaps."""
        if not self._is_process:
            n = self.n_components
            return labels, make_tables(self.rows, labels, prior_tables, n, n)
        names, numbers = np.unique(labels, return_inverse=True)
        renamed, n = numbers.astype(np.int32), len(names)
        capacity = max(n, min(n + room, self.max_components))
        return renamed, make_tables(self.rows, renamed, prior_tables, n, capacity)

    def _can_grow(self, tables: ComponentTables) -> bool:
        return self._is_process and len(tables.sizes) < self.max_components

    def _is_sparse(self, tables: ComponentTables) -> bool:
        """Whether many slots below the last one in use are empty: each costs as much as a component."""
        used = np.flatnonzero(tables.sizes)
        return self._is_process and int(used[-1]) > 1.25 * len(used) + _ROOM

    def _sweep(
        self, state: GibbsState, labels: Codes, tables: ComponentTables, rng: np.random.Generator
    ) -> tuple[Codes, ComponentTables, float]:
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
        self, state: GibbsState, labels: Codes, tables: ComponentTables, rng: np.random.Generator
    ) -> tuple[Codes, ComponentTables, float, int]:
        """Try moves; the first steps tune their number."""
        sides = no_tables(state.prior_tables)
        left, seen, total = state.n_tries, 0, 0.0
        while True:
            done, n_points, gain = gibbs.split_merge(
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

    def _with_new_prior(self, state: GibbsState, rng: np.random.Generator) -> GibbsState:
        is_due = state.iteration <= _DRAWN_AT_FIRST or state.iteration % _DRAWN_EVERY == 0
        if not is_due or not (self.learn_alpha or self.learned_strengths):
            return state
        used = np.flatnonzero(state.tables.sizes)
        sizes = state.tables.sizes[used]
        prior = state.prior
        if self.learn_alpha:
            prior = draw_alpha(prior, sizes, None if self._is_process else self.n_components, rng)
        if self.learned_strengths:
            prior = draw_strengths(prior, self.learned_strengths, sizes, self._item_counts(state, used), rng)
        prior_tables = self._prior_tables(prior)
        labels, tables = self._make_tables(state.labels, prior_tables)
        value = log_joint(prior_tables, prior.alpha, tables)
        return GibbsState(
            labels, tables, prior, prior_tables, value, state.key, state.iteration, state.n_tries
        )


def _tuned(n_tries: int, n_looks: int, sizes: npt.NDArray[np.int64]) -> int:
    """Return how many tries look at all points once, or at as many as are cheap or take a sweep's time."""
    if n_looks == 0:
        return n_tries
    looks = n_looks / n_tries
    n_points = sizes.sum()
    if n_points > _CHEAP_LOOKS:  # there are few tries, which may have met small components by chance
        looks = max(looks, _SPLITS * float((sizes / n_points) @ sizes))
    as_a_sweep = n_points * np.count_nonzero(sizes) / _COMPONENTS_PER_LOOK
    aim = min(n_points, max(as_a_sweep, _CHEAP_LOOKS))
    fewest = np.clip(_CHEAP_LOOKS / looks, 1, _FEWEST_TRIES)
    return int(np.clip(round(aim / looks), fewest, min(_LARGEST_RISE * n_tries, _MOST_TRIES)))
