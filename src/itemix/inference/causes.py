"""Fitting a mixture of several causes: its log-posterior, climbed by quasi-Newton steps (L-BFGS).

The likelihood is exact: every state of the causes is enumerated, for a block of rows at a time. The score of
a state is a sum over the causes that act. So a row costs as much as there are states, however many items it
has. docs/equations.md has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._runtime import still_wanted
from itemix.core.transactions import weights_of
from itemix.inference.loop import Info
from itemix.models.causes import CauseMixture, cause_states

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from itemix._runtime import Workers
    from itemix._typing import Floats, Ints
    from itemix.core.items import Items
    from itemix.core.transactions import Transactions

# The states of a block of rows are computed at once. A block of this many cells stays in the cache.
_CELLS = 1 << 18
# This many starts are tried on a part of the data, for a few steps each, and the best one goes on.
_STARTS = 3
_SHARE_AT_FIRST = 0.15
_ROWS_AT_FIRST = 2_000
_STEPS_AT_FIRST = 60
# In each round the parameters climb to their optimum, and then the strength of the prior is learned anew.
_ROUNDS = 5
_STEPS_OF_A_ROUND = 40
# A cause whose effects are smaller than a tenth by its prior does nothing.
_NOTHING = 100.0
_STRONGEST = 1e6
_WEAKEST = 1e-2
# Precisions of the normal priors of the ties between two causes, and of parameters that are hardly held back.
_OF_TIES = 1.0
_OF_OTHERS = 0.01
_SPREAD = 0.5
_PAIRS_REMEMBERED = 10
_HALVINGS = 30
# A step must gain this share of what the slope promises. A round ends when a step gains less than this for
# each transaction.
_PROMISED = 1e-4
_SETTLED = 1e-5


class Parameters(NamedTuple):
    """The parameters of the climb, or their gradient. A cause that acts is 1/2, one that does not is -1/2.

    With 1 and 0 the baseline and the effects would depend on each other much more, so steps would be shorter.

    Attributes
    ----------
    ties : array, shape (n_causes (n_causes + 1) / 2,)
        The log-odds of causes, then those of pairs of them.
    baseline : array, shape (n_items,)
    effects : array, shape (n_causes, n_items)
    """

    ties: Floats
    baseline: Floats
    effects: Floats

    @property
    def flat(self) -> Floats:
        """All of them in one array."""
        return np.concatenate([self.ties, self.baseline, self.effects.ravel()])

    @classmethod
    def of(cls, flat: Floats, n_causes: int) -> Parameters:
        """Return the parameters that are in one array."""
        n_ties = n_causes * (n_causes + 1) // 2
        n_items = (len(flat) - n_ties) // (n_causes + 1)
        baseline, effects = np.split(flat[n_ties:], [n_items])
        return cls(flat[:n_ties], baseline, effects.reshape(n_causes, n_items))


def _centred_states(n_causes: int) -> Floats:
    """Return all states, shape (2^K, K): 1/2 where a cause acts, -1/2 where it does not."""
    return cause_states(n_causes) - 0.5


def _features(n_causes: int) -> Floats:
    """Return what the log-probability of each state is a sum of, shape (2^K, K (K + 1) / 2)."""
    states = _centred_states(n_causes)
    first, second = np.triu_indices(n_causes, 1)
    return np.concatenate([states, states[:, first] * states[:, second]], axis=1)


@dataclass(frozen=True)
class CauseState:
    """Where a climb is.

    Attributes
    ----------
    at : array, shape (n_parameters,)
        The parameters.
    strengths : array, shape (n_causes,)
        The precision of the normal prior of the effects of each cause.
    value : float
        The log-posterior there.
    gradient : array, shape (n_parameters,)
        Its gradient.
    steps : tuple of pairs of arrays
        The last steps, and how the gradient changed in each.
    """

    at: Floats
    strengths: Floats
    value: float
    gradient: Floats
    steps: tuple[tuple[Floats, Floats], ...] = ()

    @property
    def n_causes(self) -> int:
        """The number of causes."""
        return len(self.strengths)


class CauseRows:
    """Distinct rows of transactions, with how often each occurs."""

    def __init__(self, transactions: Transactions) -> None:
        from scipy.sparse import csr_array

        merged = transactions.merge_identical()
        shape = merged.n_rows, merged.n_items
        held = csr_array((np.ones(len(merged.indices)), merged.indices, merged.indptr), shape=shape)
        self._of(held, weights_of(merged).astype(np.float64), merged.items)

    def _of(self, held: csr_array, weights: Floats, items: Items) -> None:
        self.held, self.weights, self.items = held, weights, items
        self.by_item = held.T.tocsr()
        self.item_counts: Floats = self.by_item @ weights
        self.n_transactions = float(weights.sum())

    def part(self, rng: np.random.Generator) -> CauseRows:
        """Return some of the rows, drawn at random; all if they are few."""
        n = len(self.weights)
        wanted = max(int(_SHARE_AT_FIRST * n), _ROWS_AT_FIRST)
        if wanted >= n:
            return self
        chosen = np.sort(rng.permutation(n)[:wanted])
        part = object.__new__(CauseRows)
        part._of(self.held[chosen], self.weights[chosen], self.items)
        return part


class CauseClimb:
    """The algorithm: see `itemix.inference.loop`.

    Parameters
    ----------
    rows : CauseRows
        The data.
    n_causes : int
        How many causes there are at most.
    workers : Workers
        The threads.
    tell : callable
        Is told in words what is done before the first step.
    """

    def __init__(self, rows: CauseRows, n_causes: int, workers: Workers, tell: Callable[[str], None]) -> None:
        self.rows = rows
        self._n_causes = n_causes
        self._workers = workers
        self._tell = tell

    def init(self, rng: np.random.Generator) -> CauseState:
        """Return a first state: the best of some starts on a part of the rows, and a prior for it."""
        part = _Posterior(self.rows.part(rng), self._workers)
        starts = []
        for number in range(_STARTS):
            self._tell(f"trying starts, {number + 1} of {_STARTS}")
            starts.append(part.climbed_for(part.at(*self._anywhere(rng)), _STEPS_AT_FIRST))
        best = max(starts, key=lambda state: state.value)
        whole = _Posterior(self.rows, self._workers)
        state = whole.at(Parameters.of(best.at, best.n_causes), best.strengths)
        for round_ in range(_ROUNDS):
            self._tell(f"learning the prior, {round_ + 1} of {_ROUNDS}")
            state = whole.with_learned_strengths(whole.climbed_for(state, _STEPS_OF_A_ROUND))
        return state

    def _anywhere(self, rng: np.random.Generator) -> tuple[Parameters, Floats]:
        K = self._n_causes
        effects = _SPREAD * rng.standard_normal((K, len(self.rows.item_counts)))
        return Parameters(np.zeros(K * (K + 1) // 2), _usual_log_odds(self.rows), effects), np.ones(K)

    def step(self, state: CauseState) -> tuple[CauseState, Info]:
        """Do one quasi-Newton step; the log-posterior never falls."""
        return _Posterior(self.rows, self._workers).climbed(state), Info(state.value, state.n_causes)

    def finish(self, state: CauseState) -> CauseMixture:
        """Return the model: its causes bring items rather than take them, and the most frequent is first."""
        K = state.n_causes
        found = Parameters.of(state.at, K)
        ties = np.zeros((K, K))
        first, second = np.triu_indices(K, 1)
        ties[first, second] = ties[second, first] = found.ties[K:]
        np.fill_diagonal(ties, found.ties[:K] - 0.5 * ties.sum(axis=0))
        baseline, effects = found.baseline - 0.5 * found.effects.sum(axis=0), found.effects.copy()
        for k in range(K):
            model = CauseMixture(baseline, effects, ties, self.rows.items)
            if model.causes.probs[k].sum() < model.item_probabilities.sum():
                _turn(k, baseline, effects, ties)
        model = CauseMixture(baseline, effects, ties, self.rows.items)
        order = np.argsort(-model.causes.weights, kind="stable")
        return CauseMixture(baseline, effects[order], ties[np.ix_(order, order)], self.rows.items)


def _turn(k: int, baseline: Floats, effects: Floats, ties: Floats) -> None:
    """Let a cause act where it did not, and not where it did; the distribution stays the same."""
    baseline += effects[k]
    effects[k] *= -1
    others = np.arange(len(ties)) != k
    ties[others, others] += ties[k, others]
    ties[k] *= -1
    ties[others, k] = ties[k, others]


def _only(state: CauseState, causes: Ints) -> Parameters:
    """Return the parameters of some of the causes."""
    K = state.n_causes
    found = Parameters.of(state.at, K)
    first, second = np.triu_indices(K, 1)
    pairs = np.isin(first, causes) & np.isin(second, causes)
    ties = np.concatenate([found.ties[:K][causes], found.ties[K:][pairs]])
    return Parameters(ties, found.baseline, found.effects[causes])


def _usual_log_odds(rows: CauseRows) -> Floats:
    """Return the log-odds of each item, those of half an occurrence more."""
    present = rows.item_counts + 0.5
    usual: Floats = np.log(present) - np.log(rows.n_transactions + 1.0 - present)
    return usual


class _Posterior:
    """The log-posterior of some rows: its value, its gradient, and steps uphill."""

    def __init__(self, rows: CauseRows, workers: Workers) -> None:
        self._rows = rows
        self._workers = workers
        self._centre = _usual_log_odds(rows)

    def at(self, parameters: Parameters, strengths: Floats) -> CauseState:
        """Return the state of a climb that begins at some parameters."""
        value, gradient = self._value(parameters, strengths)
        return CauseState(parameters.flat, strengths, value, gradient.flat)

    def climbed_for(self, state: CauseState, n_steps: int) -> CauseState:
        """Return the state after some steps, or fewer if they gain next to nothing."""
        for _ in range(n_steps):
            still_wanted()
            before, state = state.value, self.climbed(state)
            if state.value - before < _SETTLED * self._rows.n_transactions:
                break
        return state

    def climbed(self, state: CauseState) -> CauseState:
        """Return the state after a step; the same state where no step goes up any more."""
        direction = _newton_direction(state)
        slope = float(direction @ state.gradient)
        size = 1.0 if state.steps else 1.0 / max(1.0, float(np.sqrt(state.gradient @ state.gradient)))
        for _ in range(_HALVINGS):
            at = state.at + size * direction
            value, gradient = self._value(Parameters.of(at, state.n_causes), state.strengths)
            if value >= state.value + _PROMISED * size * slope:
                return self._arrived(state, at, value, gradient.flat)
            size /= 2
        return replace(state, steps=())

    @staticmethod
    def _arrived(state: CauseState, at: Floats, value: float, gradient: Floats) -> CauseState:
        step, change = at - state.at, state.gradient - gradient
        steps = state.steps
        if step @ change > 1e-10 * (change @ change):  # curved as a maximum is
            steps = (*steps, (step, change))[-_PAIRS_REMEMBERED:]
        return CauseState(at, state.strengths, value, gradient, steps)

    def with_learned_strengths(self, state: CauseState) -> CauseState:
        """Return the state with the strengths of the prior under which the data is most probable.

        They are those of MacKay (1992), with a normal approximation of each effect: an effect of which the
        data says little, as those on rare items, says little about the strength. Causes that do nothing are
        left out.
        """
        parameters = Parameters.of(state.at, state.n_causes)
        sizes, _, _, probs = self._expected(parameters)
        states = _centred_states(state.n_causes)
        information = (states**2).T @ (sizes[:, None] * probs * (1 - probs))
        known = (information / (state.strengths[:, None] + information)).sum(axis=1)
        squares = np.maximum((parameters.effects**2).sum(axis=1), 1 / _STRONGEST)
        strengths = np.clip(known / squares, _WEAKEST, _STRONGEST)
        needed = np.flatnonzero(strengths < _NOTHING)
        if len(needed) == 0:
            needed = np.array([int(np.argmin(strengths))])
        return self.at(_only(state, needed), strengths[needed])

    def _value(self, parameters: Parameters, strengths: Floats) -> tuple[float, Parameters]:
        K, n = len(strengths), self._rows.n_transactions
        sizes, acting, log_likelihood, probs = self._expected(parameters)
        features = _features(K)
        expected = sizes[:, None] * probs
        centred = parameters.baseline - self._centre
        precision = np.full(len(parameters.ties), _OF_TIES)
        precision[:K] = _OF_OTHERS
        penalty = (
            (precision * parameters.ties**2).sum()
            + (_OF_OTHERS * centred**2).sum()
            + (strengths[:, None] * parameters.effects**2).sum()
        )
        weights = np.exp(_log_weights(parameters.ties, features))
        gradient = Parameters(
            features.T @ (sizes - n * weights) - precision * parameters.ties,
            self._rows.item_counts - expected.sum(axis=0) - _OF_OTHERS * centred,
            (self._rows.by_item @ acting).T
            - _centred_states(K).T @ expected
            - strengths[:, None] * parameters.effects,
        )
        return log_likelihood - 0.5 * float(penalty), gradient

    def _expected(self, parameters: Parameters) -> tuple[Floats, Floats, float, Floats]:
        """Return what is expected of the states.

        Returns
        -------
        sizes : array, shape (2^K,)
            The expected number of transactions of each state.
        acting : array, shape (n_rows, K)
            For each row and cause, half of the expected number of its transactions in which the cause acts,
            less half of those in which it does not.
        log_likelihood : float
        probs : array, shape (2^K, n_items)
            The probability of each item in each state.
        """
        from scipy.special import expit

        rows, states = self._rows, _centred_states(len(parameters.effects))
        log_odds = states @ parameters.effects + parameters.baseline
        base = _log_weights(parameters.ties, _features(states.shape[1]))
        base -= np.logaddexp(0.0, log_odds).sum(axis=1)
        scores = rows.held @ parameters.effects.T
        acting = np.empty_like(scores)
        n_rows = max(_CELLS // len(states), 1)

        def block(b: int) -> tuple[Floats, float]:
            own = slice(b * n_rows, (b + 1) * n_rows)
            joint = _sums_by_state(scores[own])
            joint += base
            highest = joint.max(axis=1)
            joint -= highest[:, None]
            np.exp(joint, out=joint)
            total, weights = joint.sum(axis=1), rows.weights[own]
            joint *= (weights / total)[:, None]
            sizes = joint.sum(axis=0)
            acting[own] = _sums_by_cause(joint) - 0.5 * weights[:, None]
            return sizes, float((weights * (highest + np.log(total))).sum())

        found = self._workers.map(block, -(-len(scores) // n_rows))
        sizes = np.sum([own for own, _ in found], axis=0)
        log_likelihood = sum(own for _, own in found) + float(rows.item_counts @ parameters.baseline)
        return sizes, acting, log_likelihood, expit(log_odds)


def _sums_by_state(scores: Floats) -> Floats:
    """Return for each row and state the sum of the scores of the causes, shape (n_rows, 2^K).

    Equivalent to ``scores @ _centred_states(K).T``, with one addition for each state.
    """
    n_rows, K = scores.shape
    sums = np.empty((n_rows, 1 << K))
    sums[:, 0] = -0.5 * scores.sum(axis=1)
    for k in range(K):
        n = 1 << k
        np.add(sums[:, :n], scores[:, k, None], out=sums[:, n : 2 * n])
    return sums


def _sums_by_cause(joint: Floats) -> Floats:
    """Return for each row and cause the sum over the states in which it acts, shape (n_rows, K).

    Equivalent to ``joint @ cause_states(K)``, with one addition for each state; `joint` is used up.
    """
    K = joint.shape[1].bit_length() - 1
    sums = np.empty((len(joint), K))
    for k in reversed(range(K)):
        n = 1 << k
        acting = joint[:, n : 2 * n]
        sums[:, k] = acting.sum(axis=1)
        joint[:, :n] += acting
    return sums


def _log_weights(ties: Floats, features: Floats) -> Floats:
    """Return the log-probability of each state."""
    scores = features @ ties
    log_weights: Floats = scores - np.logaddexp.reduce(scores)
    return log_weights


def _newton_direction(state: CauseState) -> Floats:
    """Return the gradient times the inverse curvature that the last steps show (two loops of L-BFGS)."""
    direction = state.gradient.copy()
    if not state.steps:
        return direction
    shares = []
    for step, change in reversed(state.steps):
        share = (step @ direction) / (step @ change)
        direction -= share * change
        shares.append(share)
    step, change = state.steps[-1]
    direction *= (step @ change) / (change @ change)
    for (step, change), share in zip(state.steps, reversed(shares), strict=True):
        direction += step * (share - (change @ direction) / (step @ change))
    return direction
