"""Slow, obvious twins of EM and variational inference: one line of NumPy or SciPy for each equation."""

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln, logsumexp, psi


def em_step(matrix, sizes, item_counts):
    """Return the next counts and the log-likelihood of the mixture of the given ones (appendix)."""
    weights, probs = sizes / sizes.sum(), item_counts / sizes[:, None]
    scores = np.empty((len(matrix), len(sizes)))
    with np.errstate(divide="ignore"):
        for t, row in enumerate(matrix):
            factors = np.where(row, probs, 1 - probs)
            scores[t] = np.log(weights) + np.log(factors).sum(axis=1)
    total = logsumexp(scores, axis=1)
    resp = np.exp(scores - total[:, None])
    return resp.sum(axis=0), resp.T @ matrix, total.sum()


def beta_entropy(a, b):
    """Return the differential entropy of Beta(a, b)."""
    return betaln(a, b) - (a - 1) * psi(a) - (b - 1) * psi(b) + (a + b - 2) * psi(a + b)


def variational_step(matrix, sizes, item_counts, alpha, beta, gamma, *, sticks):
    """Return the responsibilities and the evidence lower bound, term by term as E_q[ln p] - E_q[ln q]."""
    K = len(sizes)
    eta, nu = beta + item_counts, gamma + sizes[:, None] - item_counts
    log_phi, log_not = psi(eta) - psi(eta + nu), psi(nu) - psi(eta + nu)
    if sticks:
        rho1 = 1 + sizes[:-1]
        rho2 = alpha + np.array([sizes[k + 1 :].sum() for k in range(K - 1)])
        log_v, log_w = psi(rho1) - psi(rho1 + rho2), psi(rho2) - psi(rho1 + rho2)
        log_pi = np.append(log_v, 0.0) + np.array([log_w[:k].sum() for k in range(K)])
        weights_part = ((alpha - 1) * log_w).sum() - (K - 1) * betaln(1, alpha)
        weights_part += beta_entropy(rho1, rho2).sum()
    else:
        rho = alpha / K + sizes
        log_pi = psi(rho) - psi(rho.sum())
        weights_part = gammaln(alpha) - K * gammaln(alpha / K) + ((alpha / K - 1) * log_pi).sum()
        weights_part += stats.dirichlet(rho).entropy() if K > 1 else 0.0
    scores = log_pi + matrix @ log_phi.T + (1 - matrix) @ log_not.T
    resp = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    data_part = (resp * scores).sum() - (resp * np.log(np.maximum(resp, 1e-300))).sum()
    item_part = ((beta - 1) * log_phi + (gamma - 1) * log_not - betaln(beta, gamma)).sum()
    item_part += beta_entropy(eta, nu).sum()
    return resp, data_part + item_part + weights_part


def known_shares(matrix, resp, probs, strength):
    """Return how much is known of each item's probability, one transaction after the other, shape (K, D)."""
    known = np.ones_like(probs)
    for k, shares in enumerate(resp.T):
        for i, column in enumerate(matrix.T):
            told = sum(tau**2 * (x - probs[k, i]) ** 2 for tau, x in zip(shares, column, strict=True))
            most = sum(tau * (x - probs[k, i]) ** 2 for tau, x in zip(shares, column, strict=True))
            if most > 0:
                known[k, i] = (strength + shares.sum() * told / most) / (strength + shares.sum())
    return known
