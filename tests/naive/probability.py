"""A slow, obvious twin of the moments of probabilities under a posterior."""

import numpy as np


def product_of_weights(k, m, sticks):
    """E[pi_k pi_m], where pi_k = v_k times 1 - v_j for all j before k; `sticks` as the kernel has them."""
    v, v_squared, v_rest, rest_squared = sticks
    first, second = min(k, m), max(k, m)
    before = np.prod(rest_squared[:first])
    if first == second:
        return before * v_squared[first]
    return before * v_rest[first] * np.prod(1 - v[first + 1 : second]) * v[second]


def moments(present, absent, given, given_absent, held, missing, sticks):
    """E[f], E[f^2], E[f g] and E[h], as sums over all pairs of components."""
    v = sticks[0]
    K = len(v)
    weight = [np.prod(1 - v[:k]) * v[k] for k in range(K)]

    known = {*given, *given_absent}

    def power(items, other_items):
        parts = [np.exp(held[i]) for i in items] + [np.exp(missing[i]) for i in other_items]
        return np.prod([np.ones((2, K)), *parts], axis=0)

    e = power(set(present) - known, set(absent) - known)
    g = power(given, given_absent)
    f = e[0] * g[0]
    pairs = [(k, m, product_of_weights(k, m, sticks)) for k in range(K) for m in range(K)]
    return (
        sum(weight * f),
        sum(p * (e[1, k] * g[1, k] if k == m else f[k] * f[m]) for k, m, p in pairs),
        sum(p * (e[0, k] * g[1, k] if k == m else f[k] * g[0, m]) for k, m, p in pairs),
        sum(weight * g[0] * e[1]),
    )
