"""EM, and variational inference for the finite and the truncated Dirichlet process mixture.

The state of both is the Counts of the last E-step, and the same E-step serves both. They differ in what they
make of the counts.

EM (Algorithm 1, the appendix of the paper) makes the most probable mixture: eqs. pi and phi. A component
that has lost all its transactions keeps weight zero, and the items' overall frequencies as its probabilities.

Variational inference (Algorithms 3 and 5) makes q(pi) or q(v), and q(phi), with the prior (eqs. rhok, rho1k,
rho2k, etan, nun). A step computes the expected logs of these and does an E-step with them (eqs. Sk and
taudp). That also gives the evidence lower bound: the rows' log-sum-exps minus the divergences of q(v) and
q(phi) from their priors.

Sticks are broken in the order of the sizes, which raises the bound: the part of it that the order changes is
-sum_k ln(alpha + sizes after k). Only the last stick, which is one, can make an exception of a few
hundredths. A state then keeps its order, so that the bound never falls, and `finish` sorts.

The hyperparameters can be learned (empirical Bayes). Between two steps they are set to the values that raise
the bound most, with the factors q(v) and q(phi) fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.inference.loop import Fitted, Info
from itemix.kernels.models import estep
from itemix.kernels.models.estep import ScoreTables
from itemix.models.counts import Counts, Rows, item_blocks, tables_of_mixture
from itemix.models.mixture import Mixture
from itemix.models.posterior import sums_after

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix._typing import Codes, Floats
    from itemix.inference.priors import Prior


@dataclass(frozen=True)
class EM:
    """Maximum likelihood by expectation and maximisation.

    Attributes
    ----------
    rows : Rows
        The data.
    start : callable
        Returns the first Counts from a random generator.
    """

    rows: Rows
    start: Callable[[np.random.Generator], Counts]

    def init(self, rng: np.random.Generator) -> Counts:
        """Return the first counts."""
        return self.start(rng)

    def step(self, state: Counts) -> tuple[Counts, Info]:
        """Do an M-step and an E-step; the bound is the log-likelihood of the M-step's mixture."""
        weights, probs = maximise(state)
        tables = tables_of_mixture(weights, probs, self.rows.flipped, self.rows.workers)
        counts, bound = self.rows.expected_counts(tables)
        return counts, Info(bound, int(np.count_nonzero(state.sizes)))

    def measured(self, state: Counts) -> Counts:
        """Return the state as it is: EM does not measure how sure its counts are."""
        return state

    def state_of(self, counts: Counts) -> Counts:
        """Return the state that continues from counts."""
        return counts

    def finish(self, state: Counts) -> Fitted:
        """Return the mixture of the last counts."""
        weights, probs = maximise(state)
        return Fitted(Mixture(weights, probs.T, self.rows.items), state)


def maximise(counts: Counts) -> tuple[Floats, Floats]:
    """Return weights (K,) and item-major probabilities (D, K) (eqs. pi and phi)."""
    weights = counts.sizes / counts.n_transactions
    held = counts.item_counts.T
    overall = held.sum(axis=1, keepdims=True) / counts.n_transactions
    empty = counts.sizes == 0
    probs = held / np.where(empty, 1.0, counts.sizes)
    probs[:, empty] = overall
    return weights, np.clip(probs, 0.0, 1.0, out=probs)


_RANGE = 7.0  # one step changes a hyperparameter by a factor of at most e^7
_LIMITS = 1e-6, 1e6
_HOLDS_TRANSACTIONS = 0.5


def best_alpha(prior: Prior, sizes: npt.NDArray[np.float64]) -> Prior:
    """Return the prior with the alpha that fits q(v) best.

    For sticks that is (K - 1) / -sum_k E[ln(1 - v_k)]. For a Dirichlet it is found by a search.
    """
    from scipy.special import gammaln, psi

    K = len(sizes)
    if K == 1:
        return prior
    if prior.weights == "sticks":
        later = sums_after(sizes)[:-1]
        log_left = psi(prior.alpha + later) - psi(1 + prior.alpha + sizes[:-1] + later)
        return replace(prior, alpha=float(np.clip((K - 1) / -log_left.sum(), *_LIMITS)))
    rho = prior.alpha / K + sizes
    log_weights = (psi(rho) - psi(rho.sum())).sum()

    def value(alpha: float) -> float:
        return float(gammaln(alpha) - K * gammaln(alpha / K) + alpha / K * log_weights)

    return replace(prior, alpha=_climb(value, prior.alpha))


def best_strength(prior: Prior, counts: Counts) -> Prior:
    """Return the prior with beta and gamma times the factor that fits q(phi) best."""
    from scipy.special import gammaln, psi

    eta, nu = prior.beta_parameters(counts)
    total = psi(eta + nu)
    present, absent = (psi(eta) - total).sum(axis=0), (psi(nu) - total).sum(axis=0)

    def value(factor: float) -> float:
        beta, gamma = factor * prior.beta, factor * prior.gamma
        scale = counts.n_components * (gammaln(beta + gamma) - gammaln(beta) - gammaln(gamma))
        return float((scale + beta * present + gamma * absent).sum())

    factor = _climb(value, 1.0)
    return replace(prior, beta=factor * prior.beta, gamma=factor * prior.gamma)


def best_strengths(prior: Prior, groups: tuple[Codes, ...], counts: Counts) -> Prior:
    """Return the prior with the best factor for each group of items."""
    beta, gamma = prior.beta.copy(), prior.gamma.copy()
    for items in groups:
        own = replace(prior, beta=beta[items], gamma=gamma[items])
        best = best_strength(own, Counts(counts.sizes, counts.item_counts[:, items]))
        beta[items], gamma[items] = best.beta, best.gamma
    return replace(prior, beta=beta, gamma=gamma)


def _climb(value: Callable[[float], float], start: float) -> float:
    """Return where a function of a positive number is highest near the start, or the start itself."""
    from scipy.optimize import minimize_scalar

    middle = math.log(start)
    found = minimize_scalar(
        lambda x: -value(math.exp(x)), bounds=(middle - _RANGE, middle + _RANGE), method="bounded"
    )
    best = float(np.clip(math.exp(found.x), *_LIMITS))
    return best if value(best) > value(start) else start


@dataclass(frozen=True)
class VariationalState:
    """The state of variational inference: all that the next step needs.

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
    learn_alpha : bool
        Whether to learn alpha.
    learned_strengths : tuple of arrays of int
        Items of which to learn a common factor of beta and gamma, for each array one.
    """

    rows: Rows
    prior: Prior
    start: Callable[[np.random.Generator], Counts]
    learn_alpha: bool = False
    learned_strengths: tuple[Codes, ...] = ()

    def init(self, rng: np.random.Generator) -> VariationalState:
        """Return the first counts, with the prior as it was given."""
        return VariationalState(_ordered(self.start(rng), self.prior), self.prior)

    def step(self, state: VariationalState) -> tuple[VariationalState, Info]:
        """Update all factors once; the bound is that of the factors that go in."""
        tables, divergence = self.tables(state)
        counts, value = self.rows.expected_counts(tables)
        prior = state.prior
        if self.learn_alpha:
            prior = best_alpha(prior, state.counts.sizes)
        if self.learned_strengths:
            prior = best_strengths(prior, self.learned_strengths, state.counts)
        n_components = int((state.counts.sizes > _HOLDS_TRANSACTIONS).sum())
        return VariationalState(_ordered(counts, prior), prior), Info(value - divergence, n_components)

    def measured(self, state: VariationalState) -> VariationalState:
        """Return a state that also knows how sure its counts are, by one more E-step."""
        tables, _ = self.tables(state)
        squares, _ = self.rows.expected_counts(tables, squared=True)
        return replace(state, counts=state.counts.with_squares(squares))

    def state_of(self, counts: Counts) -> VariationalState:
        """Return the state that continues from counts."""
        return VariationalState(counts, self.prior)

    def finish(self, state: VariationalState) -> Fitted:
        """Return the posterior and its predictive mixture (eqs. BayesianPredict, DPPredict)."""
        counts = state.counts
        if state.prior.weights == "sticks":
            counts = counts.take(_by_size(counts.sizes))
        posterior = state.prior.posterior(counts, self.rows.items)
        return Fitted(posterior.mixture(), counts, posterior, state.prior)

    def tables(self, state: VariationalState) -> tuple[ScoreTables, float]:
        """Return the E-step's tables, and the divergence of q(v) and q(phi) from their priors."""
        counts, prior = state.counts, state.prior
        log_weights, divergence = expected_log_weights(prior, counts.sizes)
        n_items, n_components = counts.n_items, counts.n_components
        held = np.ascontiguousarray(counts.item_counts.T)
        odds = np.empty((n_items, n_components))
        priors = estep.ItemPriors(prior.beta, prior.gamma, self.rows.flipped)
        cuts = item_blocks(n_items, n_components)

        def block(b: int) -> tuple[float, Floats]:
            base = np.zeros(n_components)
            value = estep.beta_tables(counts.sizes, held, priors, cuts[b], cuts[b + 1], odds, base)
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
    first, second = a + sizes[:-1], b + sums_after(sizes)[:-1]
    logs = [estep.digamma_and_log_gamma_of(values)[1] for values in (first, second, first + second)]
    return float((logs[0] + logs[1] - logs[2]).sum())


def _by_size(sizes: Floats) -> npt.NDArray[np.intp]:
    return np.argsort(-sizes, kind="stable")


def expected_log_weights(prior: Prior, sizes: Floats) -> tuple[Floats, float]:
    """Return E[ln pi] (K,) under q(v), and KL(q(v) || p(v)).

    Equations rhok, rho1k and rho2k give q; the first lines of Sk and taudp are the expectation.
    """
    if len(sizes) == 1:
        return np.zeros(1), 0.0
    a, b, held, later = (values[:-1] for values in (*prior.sticks(len(sizes)), sizes, sums_after(sizes)))
    psi_a, log_gamma_a = estep.digamma_and_log_gamma_of(a + held)
    psi_b, log_gamma_b = estep.digamma_and_log_gamma_of(b + later)
    psi_total, log_gamma_total = estep.digamma_and_log_gamma_of(a + held + b + later)
    prior_a, prior_b, prior_total = (estep.digamma_and_log_gamma_of(x)[1] for x in (a, b, a + b))
    divergence = (
        (prior_a + prior_b - prior_total)
        - (log_gamma_a + log_gamma_b - log_gamma_total)
        + held * (psi_a - psi_total)
        + later * (psi_b - psi_total)
    ).sum()
    log_stick = np.append(psi_a - psi_total, 0.0)
    log_left = np.concatenate([[0.0], np.cumsum(psi_b - psi_total)])
    return log_stick + log_left, float(divergence)
