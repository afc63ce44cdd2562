"""Probabilities of many itemsets under one mixture, and their moments under a posterior (eq. predict).

Tables are item-major (D, K).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import counted, inlined, kernel

_LARGEST_EXPONENT = 600.0
# Products of up to this many items of a set are kept for the next set.
_MOST_KEPT = 64


class AskedSets(NamedTuple):
    """Sets whose probability is asked for: items that must be present, and items that must be absent.

    Set s has the items present[present_ptr[s]:present_ptr[s + 1]] and lacks the items
    absent[absent_ptr[s]:absent_ptr[s + 1]]. No item is in both, and an item that is named twice counts once.
    The pointers (n + 1,) are int64, the items int32.
    """

    present_ptr: np.ndarray
    present: np.ndarray
    absent_ptr: np.ndarray
    absent: np.ndarray


def _steps(asked: AskedSets, weights: np.ndarray, _probs: np.ndarray, _out: np.ndarray) -> int:
    return (len(asked.present) + len(asked.absent) + len(asked.present_ptr)) * len(weights)


@counted(_steps)
def itemset_probabilities(
    asked: AskedSets,
    weights: np.ndarray,
    probs: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the probability of every set into `out`.

    Equivalent to sum(weights * prod(probs[present], 0) * prod(1 - probs[absent], 0)) for every set.

    Sets that follow one another often end in the same items, as mined ones do: products are kept from the
    last item on, and those of the common end are used again.
    """
    present_ptr, present, absent_ptr, absent = asked
    K, longest = len(weights), 0
    for s in range(len(present_ptr) - 1):
        longest = max(longest, present_ptr[s + 1] - present_ptr[s])
    n_kept = min(longest, _MOST_KEPT)
    products = np.empty((n_kept + 2, K), dtype=np.float64)
    for k in range(K):
        products[0, k] = weights[k]
    depth = 0
    for s in range(len(present_ptr) - 1):
        first, last = present_ptr[s], present_ptr[s + 1]
        if s > 0:
            before = present_ptr[s] - present_ptr[s - 1]
            most = min(depth, before, last - first)
            depth = 0
            while depth < most and present[last - 1 - depth] == present[first - 1 - depth]:
                depth += 1
        row = depth
        for j in range(last - 1 - depth, first - 1, -1):
            source, row = row, min(row + 1, n_kept + 1)
            _multiply(products, source, row, probs, _new_item(present, j, last))
        depth = min(row, n_kept)
        for j in range(absent_ptr[s], absent_ptr[s + 1]):
            i = _new_item(absent, j, absent_ptr[s + 1])
            if i >= 0:
                for k in range(K):
                    products[n_kept + 1, k] = products[row, k] * (1.0 - probs[i, k])
                row = n_kept + 1
        out[s] = _sum(products, row)


@inlined
def _new_item(items: np.ndarray, j: int, last: int) -> int:
    """Return an item of a set, or -1 if it is named again after its place."""
    for later in range(j + 1, last):
        if items[later] == items[j]:
            return -1
    return int(items[j])


@inlined
def _multiply(products: np.ndarray, source: int, out: int, probs: np.ndarray, item: int) -> None:
    """Write a row of products times the probabilities of an item to another row; item -1 changes nothing."""
    for k in range(products.shape[1]):
        products[out, k] = products[source, k] * (probs[item, k] if item >= 0 else 1.0)


@inlined
def _sum(products: np.ndarray, row: int) -> float:
    """Equivalent to products[row].sum()."""
    K = products.shape[1]
    a = b = c = d = 0.0
    k = 0
    while k + 4 <= K:
        a += products[row, k]
        b += products[row, k + 1]
        c += products[row, k + 2]
        d += products[row, k + 3]
        k += 4
    while k < K:
        a += products[row, k]
        k += 1
    return (a + b) + (c + d)


@kernel
def itemset_log_moments(
    asked: AskedSets,
    given: np.ndarray,
    given_absent: np.ndarray,
    held: np.ndarray,
    missing: np.ndarray,
    sticks: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the logarithms of E[f], E[f^2], E[f g] and E[h] of every set into `out` (n, 4).

    g = sum_k pi_k g_k is the probability of the condition, f = sum_k pi_k g_k e_k that of condition and set
    together, and h = sum_k pi_k g_k e_k^2. `held` and `missing` (D, 2, K) are the logarithms of the first two
    moments of the item probabilities and of one minus these; `sticks` (4, K) are E[v], E[v^2], E[v (1 - v)],
    E[(1 - v)^2]. The sums go from the last component backwards: R_k = v f_k + (1 - v) R_(k+1), whose parts
    are independent.
    """
    present_ptr, present, absent_ptr, absent = asked
    K = sticks.shape[1]
    log_g = np.zeros((2, K))
    known = np.zeros(len(held), dtype=np.bool_)
    for i in given:
        known[i] = True
        log_g += held[i]
    for i in given_absent:
        known[i] = True
        log_g += missing[i]
    top_g = log_g[0].max()
    log_e = np.empty((2, K))
    stamp = np.full(len(held), -1, dtype=np.int64)
    for s in range(len(present_ptr) - 1):
        log_e[:] = 0.0
        for j in range(present_ptr[s], present_ptr[s + 1]):
            i = present[j]
            if stamp[i] != s and not known[i]:
                stamp[i] = s
                log_e += held[i]
        for j in range(absent_ptr[s], absent_ptr[s + 1]):
            i = absent[j]
            if stamp[i] != s and not known[i]:
                stamp[i] = s
                log_e += missing[i]
        top_f = (log_e[0] + log_g[0]).max()
        f = ff = g = fg = h = 0.0
        for back in range(K):
            k = K - 1 - back
            v, v2, vw, w2 = sticks[0, k], sticks[1, k], sticks[2, k], sticks[3, k]
            e1, e2, g1, g2 = log_e[0, k], log_e[1, k], log_g[0, k], log_g[1, k]
            f_k, g_k = np.exp(e1 + g1 - top_f), np.exp(g1 - top_g)
            fg = v2 * _scaled(e1 + g2 - top_f - top_g) + vw * (f_k * g + g_k * f) + w2 * fg
            ff = v2 * _scaled(e2 + g2 - 2.0 * top_f) + 2.0 * vw * f_k * f + w2 * ff
            f = v * f_k + (1.0 - v) * f
            g = v * g_k + (1.0 - v) * g
            h = v * _scaled(e2 + g1 - 2.0 * top_f + top_g) + (1.0 - v) * h
        out[s, 0] = np.log(f) + top_f
        out[s, 1] = np.log(ff) + 2.0 * top_f
        out[s, 2] = np.log(fg) + top_f + top_g
        out[s, 3] = np.log(h) + 2.0 * top_f - top_g


@inlined
def _scaled(exponent: float) -> float:
    """Return exp(exponent); if that would overflow, a number so large that nothing else matters."""
    return float(np.exp(min(exponent, _LARGEST_EXPONENT)))
