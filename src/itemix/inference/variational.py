"""Variational inference for the finite and the truncated Dirichlet process mixture (Algorithms 3 and 5).

The state is the Counts of the last E-step: with the prior they are q(pi) or q(v), and q(phi) (eqs. rhok,
rho1k, rho2k, etan, nun). A step makes the expected logs of these, does an E-step with them (eqs. Sk and
taudp), and has the evidence lower bound on the way: the rows' log-sum-exps less the divergences of q(v) and
q(phi) from their priors.

Sticks are broken in the order of the sizes, which raises the bound: the part of it that the order changes is
-sum_k ln(alpha + sizes after k). Only the last stick, which is one, can make an exception of a few
hundredths; then a state keeps its order, so that the bound never falls, and `finish` sorts.

The hyperparameters can be learned (empirical Bayes): between two steps they are set to what raises the bound
most with the factors as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.inference import empirical
from itemix.inference.loop import Fitted, Info
from itemix.kernels.inference import special
from itemix.kernels.inference.estep import ScoreTables
from itemix.models.expectation import Rows, item_blocks
from itemix.models.posterior import sums_behind

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.inference.priors import Prior
    from itemix.models.counts import Counts

Floats = npt.NDArray[np.float64]

_HOLDS_TRANSACTIONS = 0.5


@dataclass(frozen=True)
class State:
    """What the next step needs.

    Attributes
    ----------
    counts : Counts
        The expected counts of the last E-step.
    prior : Prior
        The hyperparameters, which may be learned.
    """

    counts: Counts
    prior: Prior


@dataclass(frozen=True)
class Variational:
    """Mean-field variational inference.

    Attributes
    ----------
    rows : Rows
        The data.
    prior : Prior
        Hyperparameters; its `weights` choose between the finite model and the Dirichlet process.
    start : callable
        Returns the first Counts from a random generator.
    learn_alpha, learn_strength : bool
        Whether to learn alpha, and a common factor of beta and gamma.
    """

    rows: Rows
    prior: Prior
    start: Callable[[np.random.Generator], Counts]
    learn_alpha: bool = False
    learn_strength: bool = False

    def init(self, rng: np.random.Generator) -> State:
        """Return the first counts, with the prior as it was given."""
        return State(_ordered(self.start(rng), self.prior), self.prior)

    def step(self, state: State) -> tuple[State, Info]:
        """Do one update of all factors; the bound is that of the factors which the state gives."""
        counts, bound = self.expect(state)
        prior = state.prior
        if self.learn_alpha:
            prior = empirical.best_alpha(prior, state.counts.sizes)
        if self.learn_strength:
            prior = empirical.best_strength(prior, state.counts)
        n_components = int((state.counts.sizes > _HOLDS_TRANSACTIONS).sum())
        return State(_ordered(counts, prior), prior), Info(bound, n_components)

    def expect(self, state: State) -> tuple[Counts, float]:
        """Return the next expected counts, components in the same order, and the bound."""
        tables, divergence = self.tables(state)
        counts, value = self.rows.expected_counts(tables)
        return counts, value - divergence

    def measured(self, state: State) -> State:
        """Return a state that also knows how sure its counts are, by one more E-step."""
        tables, _ = self.tables(state)
        squares, _ = self.rows.expected_counts(tables, squared=True)
        return replace(state, counts=state.counts.with_squares(squares))

    def state_of(self, counts: Counts) -> State:
        """Return the state that goes on from counts."""
        return State(counts, self.prior)

    def finish(self, state: State) -> Fitted:
        """Return the posterior and its predictive mixture (eqs. BayesianPredict, DPPredict)."""
        counts = state.counts
        if state.prior.weights == "sticks":
            counts = counts.take(_by_size(counts.sizes))
        posterior = state.prior.posterior(counts, self.rows.items)
        return Fitted(posterior.mixture(), counts, posterior, state.prior)

    def tables(self, state: State) -> tuple[ScoreTables, float]:
        """Return the E-step's tables, and the divergence of q(v) and q(phi) from their priors."""
        counts, prior = state.counts, state.prior
        log_weights, divergence = expected_log_weights(prior, counts.sizes)
        n_items, n_components = counts.n_items, counts.n_components
        held = np.ascontiguousarray(counts.item_counts.T)
        odds = np.empty((n_items, n_components))
        priors = special.ItemPriors(prior.beta, prior.gamma, self.rows.flipped)
        cuts = item_blocks(n_items, n_components)

        def block(b: int) -> tuple[float, Floats]:
            base = np.zeros(n_components)
            value = special.beta_tables(counts.sizes, held, priors, cuts[b], cuts[b + 1], odds, base)
            return value, base

        base = log_weights
        for value, part in self.rows.workers.map(block, len(cuts) - 1):
            divergence += value
            base = base + part
        return ScoreTables.without_requirements(odds, base), divergence


def _ordered(counts: Counts, prior: Prior) -> Counts:
    if prior.weights == "dirichlet":
        return counts
    order = _by_size(counts.sizes)
    as_is, by_size = (stick_evidence(prior, sizes) for sizes in (counts.sizes, counts.sizes[order]))
    return counts.take(order) if by_size > as_is else counts


def stick_evidence(prior: Prior, sizes: Floats) -> float:
    """Return the part of the bound that the order of the sticks changes, at the best q(v) for these sizes."""
    a, b = (values[:-1] for values in prior.sticks(len(sizes)))
    first, second = a + sizes[:-1], b + sums_behind(sizes)[:-1]
    logs = [special.digamma_and_log_gamma_of(values)[1] for values in (first, second, first + second)]
    return float((logs[0] + logs[1] - logs[2]).sum())


def _by_size(sizes: Floats) -> npt.NDArray[np.intp]:
    return np.argsort(-sizes, kind="stable")


def expected_log_weights(prior: Prior, sizes: Floats) -> tuple[Floats, float]:
    """Return E[ln pi] (K,) under q(v), and KL(q(v) || p(v)).

    Equations rhok, rho1k and rho2k give q; the first lines of Sk and taudp are the expectation.
    """
    if len(sizes) == 1:
        return np.zeros(1), 0.0
    a, b, held, later = (values[:-1] for values in (*prior.sticks(len(sizes)), sizes, sums_behind(sizes)))
    psi_a, log_gamma_a = special.digamma_and_log_gamma_of(a + held)
    psi_b, log_gamma_b = special.digamma_and_log_gamma_of(b + later)
    psi_total, log_gamma_total = special.digamma_and_log_gamma_of(a + held + b + later)
    prior_a, prior_b, prior_total = (special.digamma_and_log_gamma_of(x)[1] for x in (a, b, a + b))
    divergence = (
        (prior_a + prior_b - prior_total)
        - (log_gamma_a + log_gamma_b - log_gamma_total)
        + held * (psi_a - psi_total)
        + later * (psi_b - psi_total)
    ).sum()
    log_stick = np.append(psi_a - psi_total, 0.0)
    log_left = np.concatenate([[0.0], np.cumsum(psi_b - psi_total)])
    return log_stick + log_left, float(divergence)
