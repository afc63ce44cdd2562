"""Hyperparameters that raise the evidence lower bound most, the factors q(v) and q(phi) being as they are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.models.posterior import sums_behind

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.inference.priors import Prior
    from itemix.models.counts import Counts

_RANGE = 7.0  # one step changes a hyperparameter by a factor of at most e^7
_LIMITS = 1e-6, 1e6


def best_alpha(prior: Prior, sizes: npt.NDArray[np.float64]) -> Prior:
    """Return the prior with the alpha that fits q(v) best.

    For sticks that is (K - 1) / -sum_k E[ln(1 - v_k)]; for a Dirichlet it is searched for.
    """
    from scipy.special import gammaln, psi

    K = len(sizes)
    if K == 1:
        return prior
    if prior.weights == "sticks":
        later = sums_behind(sizes)[:-1]
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


def _climb(value: Callable[[float], float], start: float) -> float:
    """Return where a function of a positive number is highest near the start, never lower than there."""
    from scipy.optimize import minimize_scalar

    middle = math.log(start)
    found = minimize_scalar(
        lambda x: -value(math.exp(x)), bounds=(middle - _RANGE, middle + _RANGE), method="bounded"
    )
    best = float(np.clip(math.exp(found.x), *_LIMITS))
    return best if value(best) > value(start) else start
