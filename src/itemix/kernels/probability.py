"""Probabilities of many itemsets under one mixture, and their moments under a posterior (eq. predict).

Shapes: set s asks for the items present[present_ptr[s]:present_ptr[s + 1]] and against the items
absent[absent_ptr[s]:absent_ptr[s + 1]]; no item is in both. Tables are item-major (D, K). An item named
twice counts once.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel


@kernel
def itemset_probabilities(
    present_ptr: np.ndarray,
    present: np.ndarray,
    absent_ptr: np.ndarray,
    absent: np.ndarray,
    weights: np.ndarray,
    probs: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the probability of every set into `out`.

    Equivalent to sum(weights * prod(probs[present], 0) * prod(1 - probs[absent], 0)) for every set.
    """
    K = len(weights)
    product = np.empty(K, dtype=np.float64)
    stamp = np.full(len(probs), -1, dtype=np.int64)
    for s in range(len(present_ptr) - 1):
        for k in range(K):
            product[k] = weights[k]
        for j in range(present_ptr[s], present_ptr[s + 1]):
            i = present[j]
            if stamp[i] != 2 * s:
                stamp[i] = 2 * s
                for k in range(K):
                    product[k] *= probs[i, k]
        for j in range(absent_ptr[s], absent_ptr[s + 1]):
            i = absent[j]
            if stamp[i] != 2 * s + 1:
                stamp[i] = 2 * s + 1
                for k in range(K):
                    product[k] *= 1.0 - probs[i, k]
        a = b = c = d = 0.0
        k = 0
        while k + 4 <= K:
            a += product[k]
            b += product[k + 1]
            c += product[k + 2]
            d += product[k + 3]
            k += 4
        while k < K:
            a += product[k]
            k += 1
        out[s] = (a + b) + (c + d)


@kernel
def itemset_moments(
    present_ptr: np.ndarray,
    present: np.ndarray,
    absent_ptr: np.ndarray,
    absent: np.ndarray,
    given: np.ndarray,
    given_absent: np.ndarray,
    mean: np.ndarray,
    second: np.ndarray,
    sticks: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write E[f], E[f^2] and E[f g] of every set into `out` (n, 3), g being the probability of the condition.

    f = sum_k pi_k f_k is the probability of condition and set together. `mean` and `second` (D, K) are the
    first two moments of the item probabilities, `sticks` (4, K) E[v], E[v^2], E[v (1 - v)], E[(1 - v)^2].
    From the last component backwards, what lies behind stick k is R_k = v f_k + (1 - v) R_(k+1), of
    independent parts.
    """
    K = mean.shape[1]
    g1, g2 = np.ones(K), np.ones(K)
    known = np.zeros(len(mean), dtype=np.bool_)
    for i in given:
        known[i] = True
        for k in range(K):
            g1[k] *= mean[i, k]
            g2[k] *= second[i, k]
    for i in given_absent:
        known[i] = True
        for k in range(K):
            g1[k] *= 1.0 - mean[i, k]
            g2[k] *= 1.0 - 2.0 * mean[i, k] + second[i, k]
    e1, e2 = np.empty(K), np.empty(K)
    stamp = np.full(len(mean), -1, dtype=np.int64)
    for s in range(len(present_ptr) - 1):
        for k in range(K):
            e1[k] = 1.0
            e2[k] = 1.0
        for j in range(present_ptr[s], present_ptr[s + 1]):
            i = present[j]
            if stamp[i] != s and not known[i]:
                stamp[i] = s
                for k in range(K):
                    e1[k] *= mean[i, k]
                    e2[k] *= second[i, k]
        for j in range(absent_ptr[s], absent_ptr[s + 1]):
            i = absent[j]
            if stamp[i] != s and not known[i]:
                stamp[i] = s
                for k in range(K):
                    e1[k] *= 1.0 - mean[i, k]
                    e2[k] *= 1.0 - 2.0 * mean[i, k] + second[i, k]
        f = ff = g = fg = 0.0
        for back in range(K):
            k = K - 1 - back
            v, v2, vw, w2 = sticks[0, k], sticks[1, k], sticks[2, k], sticks[3, k]
            f_k = e1[k] * g1[k]
            fg = v2 * e1[k] * g2[k] + vw * (f_k * g + g1[k] * f) + w2 * fg
            ff = v2 * e2[k] * g2[k] + 2.0 * vw * f_k * f + w2 * ff
            f = v * f_k + (1.0 - v) * f
            g = v * g1[k] + (1.0 - v) * g
        out[s, 0] = f
        out[s, 1] = ff
        out[s, 2] = fg
