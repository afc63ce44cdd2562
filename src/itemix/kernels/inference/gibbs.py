"""One sweep of collapsed Gibbs sampling (Algorithms 2 and 4), for the finite model and the Dirichlet process.

Shapes as in `components`, which says what is computed. The scores of a row are vectors over the components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels import vectors
from itemix.kernels.inference.components import (
    ComponentTables,
    Points,
    PriorTables,
    Slot,
    empty_slot,
    move_point_inline,
    own_score,
)
from itemix.kernels.jit import inlined, kernel

_CERTAIN = 45.0  # thousands of chances of e^-45 are nothing to a uniform number of 53 bits


class Slots(NamedTuple):
    """Where a point is, and where a component of its own would be.

    own: its component; empty: the slot that the Dirichlet process offers for a new component, -1 if it offers
    none.
    """

    own: Slot
    empty: Slot


@inlined
def _multiply_factors(
    prior: PriorTables,
    counts: np.ndarray,
    sizes: np.ndarray,
    items: np.ndarray,
    first: int,
    last: int,
    top: np.ndarray,
    bottom: np.ndarray,
) -> None:
    """Write the products of c_i + beta_i and of n - c_i + gamma_i over some items; sizes (K,) are floats."""
    K = len(top)
    for k in range(K):
        top[k] = bottom[k] = 1.0
    j = first
    while j + 4 <= last:
        i0, i1, i2, i3 = items[j], items[j + 1], items[j + 2], items[j + 3]
        b0, b1, b2, b3 = prior.beta[i0], prior.beta[i1], prior.beta[i2], prior.beta[i3]
        g0, g1, g2, g3 = prior.gamma[i0], prior.gamma[i1], prior.gamma[i2], prior.gamma[i3]
        for k in range(K):
            n = sizes[k]
            c0, c1 = np.float64(counts[i0, k]), np.float64(counts[i1, k])
            c2, c3 = np.float64(counts[i2, k]), np.float64(counts[i3, k])
            top[k] *= ((c0 + b0) * (c1 + b1)) * ((c2 + b2) * (c3 + b3))
            bottom[k] *= ((n - c0 + g0) * (n - c1 + g1)) * ((n - c2 + g2) * (n - c3 + g3))
        j += 4
    while j < last:
        i = items[j]
        b = prior.beta[i]
        g = prior.gamma[i]
        for k in range(K):
            c = np.float64(counts[i, k])
            top[k] *= c + b
            bottom[k] *= sizes[k] - c + g
        j += 1


@inlined
def _choose(weights: np.ndarray, own: Slot, threshold: float) -> Slot:
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
def _n_looked_at(sizes: np.ndarray, empty: Slot) -> int:
    """Return how many slots can be chosen, in whole vectors: all where none is offered (empty = -1)."""
    n = len(sizes)
    while n > empty + 1 > 0 and sizes[n - 1] == 0:
        n -= 1
    return min(len(sizes), (n + 7) // 8 * 8)


@inlined
def score_row(
    prior: PriorTables,
    tables: ComponentTables,
    items: np.ndarray,
    slots: Slots,
    score: np.ndarray,
    top: np.ndarray,
    bottom: np.ndarray,
    sizes: np.ndarray,
) -> float:
    """Write the scores (K,) of components for a row of component `own`, given the labels of all others.

    The other arrays (K,) are scratch, one by one rather than in a tuple, where the compiler would have to
    allow for their overlap. Return the score of staying. A row alone in its component stays by choosing the
    new one, if that is offered: `own` cannot be chosen then. Equivalent to log(conditional(t | all others))
    plus a constant.
    """
    own, empty = slots
    for k in range(len(score)):
        score[k] = tables.base[k]
        sizes[k] = tables.sizes[k]
    for first in range(0, len(items), prior.block):
        last = min(first + prior.block, len(items))
        _multiply_factors(prior, tables.counts, sizes, items, first, last, top, bottom)
        vectors.add_log_ratio(top, bottom, score)
    if empty >= 0 and tables.sizes[own] == 1:
        score[own] = -np.inf
        return float(score[empty])
    score[own] = own_score(prior, tables, items, own)
    return float(score[own])


@kernel
def sweep(
    points: Points,
    uniforms: np.ndarray,
    prior: PriorTables,
    tables: ComponentTables,
    first: int,
    can_grow: bool,
) -> tuple[int, int, float]:
    """Resample labels[first:] in order, each given all others, by one uniform number each.

    The Dirichlet process offers one empty slot; where it is not among the vectors of slots looked at, the
    sweep ends early, and goes on when called again, if need be with larger tables. If those cannot grow, the
    process is truncated: no new component is offered while all slots are in use.
    Return the row reached (N at the end), how many labels changed, and by how much the joint log-probability
    rose. Equivalent to labels[t] = choice(p=conditional(t | all others)) for every t.
    """
    indptr, indices, labels = points
    empty = -1
    if prior.is_process:
        empty = empty_slot(tables.sizes)
        if empty == len(tables.sizes):
            if can_grow:
                return first, 0, 0.0
            empty = -1
        else:
            tables.base[empty] = prior.size_term[0]
    K = _n_looked_at(tables.sizes, empty)
    score = np.empty(K)
    weights = np.empty(K)
    top = np.empty(K)
    bottom = np.empty(K)
    sizes = np.empty(K)
    n_moved = 0
    gain = 0.0
    for t in range(first, len(indptr) - 1):
        items = indices[indptr[t] : indptr[t + 1]]
        own = np.int64(labels[t])
        before = score_row(prior, tables, items, Slots(own, empty), score, top, bottom, sizes)
        stay, score[own] = score[own], -np.inf
        others = vectors.highest(score)
        if stay - others > _CERTAIN:
            continue
        score[own] = stay
        vectors.exp_of_difference(score, max(stay, others), weights)
        new = _choose(weights, own, uniforms[t] * vectors.total(weights))
        if new == own or (new == empty and tables.sizes[own] == 1):
            continue
        gain += score[new] - before
        n_moved += 1
        move_point_inline(prior, tables, items, own, -1)
        move_point_inline(prior, tables, items, new, 1)
        labels[t] = new
        if new == empty or (prior.is_process and empty < 0):
            empty = empty_slot(tables.sizes)
            if empty == len(tables.sizes) and not can_grow:
                empty = -1
            elif empty >= K:
                return t + 1, n_moved, gain
            else:
                tables.base[empty] = prior.size_term[0]
    if empty >= 0:
        tables.base[empty] = -np.inf
    return len(indptr) - 1, n_moved, gain
