"""One sweep of collapsed Gibbs sampling (Algorithms 2 and 4), for the finite model and the Dirichlet process.

Shapes as in `components`, which says what is computed. The scores of a row are vectors over the components.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels import vectors
from itemix.kernels.components import Index, PriorTables, Tables, empty_slot, move_point
from itemix.kernels.jit import inlined, kernel
from itemix.kernels.scores import own_score


@inlined
def _multiply_factors(
    prior: PriorTables, tables: Tables, items: np.ndarray, top: np.ndarray, bottom: np.ndarray
) -> None:
    """Write the products of c_i + beta_i and of n - c_i + gamma_i over the items, for all components."""
    counts = tables.counts
    sizes = tables.sizes
    K = len(top)
    for k in range(K):
        top[k] = bottom[k] = 1.0
    j = 0
    while j + 4 <= len(items):
        i0, i1, i2, i3 = items[j], items[j + 1], items[j + 2], items[j + 3]
        b0, b1, b2, b3 = prior.beta[i0], prior.beta[i1], prior.beta[i2], prior.beta[i3]
        g0, g1, g2, g3 = prior.gamma[i0], prior.gamma[i1], prior.gamma[i2], prior.gamma[i3]
        for k in range(K):
            n = sizes[k]
            c0, c1, c2, c3 = counts[i0, k], counts[i1, k], counts[i2, k], counts[i3, k]
            top[k] *= ((c0 + b0) * (c1 + b1)) * ((c2 + b2) * (c3 + b3))
            bottom[k] *= ((n - c0 + g0) * (n - c1 + g1)) * ((n - c2 + g2) * (n - c3 + g3))
        j += 4
    while j < len(items):
        i = items[j]
        b = prior.beta[i]
        g = prior.gamma[i]
        for k in range(K):
            c = counts[i, k]
            top[k] *= c + b
            bottom[k] *= sizes[k] - c + g
        j += 1


@inlined
def _choose(weights: np.ndarray, own: Index, threshold: float) -> Index:
    """Return where the running sum passes the threshold; the own component, likeliest, comes first."""
    if threshold < weights[own]:
        return own
    running = weights[own]
    last = own
    for k in range(len(weights)):
        if k != own and weights[k] > 0.0:
            last = k
            running += weights[k]
            if threshold < running:
                break
    return last


@inlined
def _whole_vectors(n: int, most: int) -> int:
    """Round a number of components up to vectors of eight."""
    return min(most, (n + 7) // 8 * 8)


@inlined
def _n_in_use(sizes: np.ndarray, is_process: bool) -> int:
    """Return how many slots must be looked at: all of them in the finite model."""
    n = len(sizes)
    while is_process and n > 0 and sizes[n - 1] == 0:
        n -= 1
    return _whole_vectors(n, len(sizes))


@inlined
def score_row(
    prior: PriorTables,
    tables: Tables,
    items: np.ndarray,
    own: Index,
    empty: Index,
    work: np.ndarray,
    score: np.ndarray,
) -> float:
    """Write the scores of all components for a row of component `own`, given the labels of all others.

    `empty` is the slot that the Dirichlet process offers for a new component; work (3 K,) is scratch. Return
    the score of staying. A row alone in its component stays by choosing the new one: `own` cannot be chosen.
    Equivalent to log(conditional(t | all others)) plus a constant.
    """
    K = len(score)
    top, bottom, exponent = work[:K], work[K : 2 * K], work[2 * K : 3 * K].view(np.int64)
    for k in range(K):
        score[k] = tables.base[k]
    for start in range(0, len(items), prior.block):
        _multiply_factors(prior, tables, items[start : start + prior.block], top, bottom)
        vectors.add_log_ratio(top, bottom, exponent, score)
    if prior.is_process and tables.sizes[own] == 1:
        score[own] = -np.inf
        return float(score[empty])
    score[own] = own_score(prior, tables, items, own)
    return float(score[own])


@kernel
def sweep(
    indptr: np.ndarray,
    indices: np.ndarray,
    uniforms: np.ndarray,
    prior: PriorTables,
    tables: Tables,
    labels: np.ndarray,
    first: int,
) -> tuple[int, int, float]:
    """Resample labels[first:] in order, each given all others, by one uniform number each.

    The Dirichlet process always offers one empty slot; where none is left, the sweep ends early.
    Return the row reached (N at the end), how many labels changed, and by how much the joint log-probability
    rose. Equivalent to labels[t] = choice(p=conditional(t | all others)) for every t.
    """
    C = len(tables.sizes)
    work = np.empty(3 * C)
    scores = np.empty(C)
    chances = np.empty(C)
    K = _n_in_use(tables.sizes, prior.is_process)
    empty = -1
    if prior.is_process:
        empty = empty_slot(tables.sizes)
        if empty == C:
            return first, 0, 0.0
        K = max(K, _whole_vectors(empty + 1, C))
        tables.base[empty] = prior.size_term[0]
    n_moved = 0
    gain = 0.0
    for t in range(first, len(indptr) - 1):
        items = indices[indptr[t] : indptr[t + 1]]
        own = np.int64(labels[t])
        score, weights, shifted = scores[:K], chances[:K], work[:K]
        before = score_row(prior, tables, items, own, empty, work, score)
        vectors.exp_of_difference(score, vectors.highest(score), shifted, shifted.view(np.int64), weights)
        new = _choose(weights, own, uniforms[t] * vectors.total(weights))
        if new == own or (new == empty and tables.sizes[own] == 1):
            continue
        gain += score[new] - before
        n_moved += 1
        move_point(prior, tables, items, own, -1)
        move_point(prior, tables, items, new, 1)
        labels[t] = new
        if new == empty:
            empty = empty_slot(tables.sizes)
            if empty == C:
                return t + 1, n_moved, gain
            K = max(K, _whole_vectors(empty + 1, C))
            tables.base[empty] = prior.size_term[0]
    if prior.is_process:
        tables.base[empty] = -np.inf
    return len(indptr) - 1, n_moved, gain
