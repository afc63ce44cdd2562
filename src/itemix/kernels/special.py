"""Digamma and log-gamma, and the tables that variational inference makes of them (eqs. etan to taudp)."""

from __future__ import annotations

import math

import numpy as np

from itemix.kernels.jit import inlined, kernel

_HALF_LOG_TWO_PI = 0.9189385332046727
_LARGE = 10.0  # from here on the asymptotic series are exact to rounding


@inlined
def digamma_and_log_gamma(x: float) -> tuple[float, float]:
    """Return both functions of x > 0: recurrence up to `_LARGE`, then the asymptotic series.

    Equivalent to scipy.special.psi(x), scipy.special.gammaln(x).
    """
    shift = 0.0
    product = 1.0
    while x < _LARGE:
        shift += 1.0 / x
        product *= x
        x += 1.0
    log_x = math.log(x)
    inverse = 1.0 / x
    square = inverse * inverse
    psi = 691.0 / 32760.0
    psi = 1.0 / 132.0 - square * psi
    psi = 1.0 / 240.0 - square * psi
    psi = 1.0 / 252.0 - square * psi
    psi = 1.0 / 120.0 - square * psi
    psi = 1.0 / 12.0 - square * psi
    psi = log_x - 0.5 * inverse - square * psi
    gamma = 691.0 / 360360.0
    gamma = 1.0 / 1188.0 - square * gamma
    gamma = 1.0 / 1680.0 - square * gamma
    gamma = 1.0 / 1260.0 - square * gamma
    gamma = 1.0 / 360.0 - square * gamma
    gamma = 1.0 / 12.0 - square * gamma
    gamma = (x - 0.5) * log_x - x + _HALF_LOG_TWO_PI + inverse * gamma
    if product != 1.0:
        gamma -= math.log(product)
    return psi - shift, gamma


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
    beta: np.ndarray,
    gamma: np.ndarray,
    flipped: np.ndarray,
    first: int,
    last: int,
    odds: np.ndarray,
    base: np.ndarray,
) -> float:
    """Write the E-step's tables of items first to last; return KL(q(phi) || p(phi)) over them.

    Shapes: `sizes` (K,), `item_counts` and `odds` (D, K), `beta`, `gamma`, `flipped` (D,); `base` (K,) is
    added to.
    eta = beta + counts, nu = gamma + sizes - counts; E[ln phi] = psi(eta) - psi(eta + nu). A flipped item is
    stored by its absence.
    """
    K = len(sizes)
    psi_total = np.empty(K, dtype=np.float64)
    log_gamma_total = np.empty(K, dtype=np.float64)
    strength = -1.0
    divergence = 0.0
    for i in range(first, last):
        if beta[i] + gamma[i] != strength:
            strength = beta[i] + gamma[i]
            for k in range(K):
                psi_total[k], log_gamma_total[k] = digamma_and_log_gamma(strength + sizes[k])
        log_beta = (
            digamma_and_log_gamma(beta[i])[1]
            + digamma_and_log_gamma(gamma[i])[1]
            - digamma_and_log_gamma(strength)[1]
        )
        for k in range(K):
            held = item_counts[i, k]
            missing = max(sizes[k] - held, 0.0)
            psi_eta, log_gamma_eta = digamma_and_log_gamma(beta[i] + held)
            psi_nu, log_gamma_nu = digamma_and_log_gamma(gamma[i] + missing)
            divergence += log_beta - (log_gamma_eta + log_gamma_nu - log_gamma_total[k])
            divergence += held * psi_eta + missing * psi_nu - (held + missing) * psi_total[k]
            if flipped[i]:
                odds[i, k] = psi_nu - psi_eta
                base[k] += psi_eta - psi_total[k]
            else:
                odds[i, k] = psi_eta - psi_nu
                base[k] += psi_nu - psi_total[k]
    return divergence
