"""Digamma and log-gamma, and the tables that variational inference makes of them (eqs. etan to taudp).

Both are free of branches and calls, so that loops over the components become vector code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import fused, kernel
from itemix.kernels.vectors import log_ratio

_HALF_LOG_TWO_PI = 0.9189385332046727


class ItemPriors(NamedTuple):
    """The Beta priors of the items, and how rows store them.

    Attributes
    ----------
    beta, gamma : array of float64, shape (D,)
        The parameters for presence and for absence.
    flipped : array of bool, shape (D,)
        Which items are stored by their absence.
    """

    beta: np.ndarray
    gamma: np.ndarray
    flipped: np.ndarray


@fused
def digamma_and_log_gamma(x: float) -> tuple[float, float]:
    """Return both functions of x from 0 to 1e15: ten steps of the recurrence, then the asymptotic series.

    With y = x (x + 9) the product of the ten steps is y (y + 8) (y + 14) (y + 18) (y + 20), and the sum of
    their inverses is its derivative divided by it.
    Equivalent to scipy.special.psi(x), scipy.special.gammaln(x).
    """
    y = x * (x + 9.0)
    a, a_slope = y * (y + 8.0), 2.0 * y + 8.0
    b, b_slope = (y + 14.0) * (y + 18.0), 2.0 * y + 32.0
    c, c_slope = a * b, a_slope * b + a * b_slope
    product = c * (y + 20.0)
    shift = (2.0 * x + 9.0) * (c_slope * (y + 20.0) + c) / product
    z = x + 10.0
    inverse = 1.0 / z
    square = inverse * inverse
    log_z = log_ratio(z, 1.0)
    psi = 691.0 / 32760.0
    psi = 1.0 / 132.0 - square * psi
    psi = 1.0 / 240.0 - square * psi
    psi = 1.0 / 252.0 - square * psi
    psi = 1.0 / 120.0 - square * psi
    psi = 1.0 / 12.0 - square * psi
    psi = log_z - 0.5 * inverse - square * psi
    gamma = 691.0 / 360360.0
    gamma = 1.0 / 1188.0 - square * gamma
    gamma = 1.0 / 1680.0 - square * gamma
    gamma = 1.0 / 1260.0 - square * gamma
    gamma = 1.0 / 360.0 - square * gamma
    gamma = 1.0 / 12.0 - square * gamma
    gamma = (z - 0.5) * log_z - z + _HALF_LOG_TWO_PI + inverse * gamma
    return psi - shift, gamma - log_ratio(product, 1.0)


@kernel
def digamma_and_log_gamma_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both functions of every value (n,)."""
    psi = np.empty_like(values)
    gamma = np.empty_like(values)
    for j in range(len(values)):
        psi[j], gamma[j] = digamma_and_log_gamma(values[j])
    return psi, gamma


@kernel
def beta_tables(
    sizes: np.ndarray,
    item_counts: np.ndarray,
    priors: ItemPriors,
    first: int,
    last: int,
    odds: np.ndarray,
    base: np.ndarray,
) -> float:
    """Write the E-step's tables of items first to last; return KL(q(phi) || p(phi)) over them.

    Shapes: `sizes` (K,), `item_counts` and `odds` (D, K); `base` (K,) is added to.
    eta = beta + counts, nu = gamma + sizes - counts; E[ln phi] = psi(eta) - psi(eta + nu). A flipped item is
    stored by its absence.
    """
    beta, gamma, flipped = priors
    K = len(sizes)
    psi_total = np.empty(K, dtype=np.float64)
    log_gamma_total = np.empty(K, dtype=np.float64)
    divergence = np.zeros(K, dtype=np.float64)
    strength = -1.0
    for i in range(first, last):
        b, g = beta[i], gamma[i]
        if b + g != strength:
            strength = b + g
            for k in range(K):
                psi_total[k], log_gamma_total[k] = digamma_and_log_gamma(strength + sizes[k])
        log_beta = (
            digamma_and_log_gamma(b)[1] + digamma_and_log_gamma(g)[1] - digamma_and_log_gamma(strength)[1]
        )
        sign = -1.0 if flipped[i] else 1.0
        for k in range(K):
            held = item_counts[i, k]
            missing = max(sizes[k] - held, 0.0)
            psi_eta, log_gamma_eta = digamma_and_log_gamma(b + held)
            psi_nu, log_gamma_nu = digamma_and_log_gamma(g + missing)
            kept = log_beta - (log_gamma_eta + log_gamma_nu - log_gamma_total[k])
            divergence[k] += kept + held * psi_eta + missing * psi_nu - (held + missing) * psi_total[k]
            odds[i, k] = sign * (psi_eta - psi_nu)
            base[k] += (psi_eta if sign < 0.0 else psi_nu) - psi_total[k]
    return float(divergence.sum())
