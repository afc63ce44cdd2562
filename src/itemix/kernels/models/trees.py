"""Mixtures of trees: order of the items, probabilities of sets and of items given sets, row scores, draws.

Shapes: item i of component k has the parent parents[k, i] (-1: none, a root) and is present with probability
cond[k, i, x] if its parent is absent (x = 0) or present (x = 1); a root has its own probability twice.
`parents`, `order`, `rank` (K, D) int32; order[k] lists the items, each after its parent, and rank[k] gives
their positions in that list; `cond` (K, D, 2), `marginal` (K, D), `weights` (K,).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itemix.kernels.jit import kernel

if TYPE_CHECKING:
    from itemix.kernels.models.probability import AskedSets

NEGLIGIBLE = 1e-8


@kernel
def order_trees(
    parents: np.ndarray, cond: np.ndarray, order: np.ndarray, rank: np.ndarray, marginal: np.ndarray
) -> bool:
    """Write the order, ranks and item probabilities of every tree; return whether none has a cycle.

    The trees of a forest come one after the other.
    """
    K, D = parents.shape
    starts = np.empty(D + 2, dtype=np.int64)
    child = np.empty(D, dtype=np.int32)
    for k in range(K):
        starts[:] = 0
        for i in range(D):
            starts[parents[k, i] + 2] += 1
        for i in range(D + 1):
            starts[i + 1] += starts[i]
        fill = starts[:-1].copy()
        for i in range(D):
            p = parents[k, i] + 1
            child[fill[p]] = i
            fill[p] += 1
        n_placed = 0
        for root in range(starts[0], starts[1]):
            head = n_placed
            order[k, n_placed] = child[root]
            n_placed += 1
            while head < n_placed:
                i = order[k, head]
                rank[k, i] = head
                p = parents[k, i]
                if p < 0:
                    marginal[k, i] = cond[k, i, 0]
                else:
                    q = marginal[k, p]
                    marginal[k, i] = (1.0 - q) * cond[k, i, 0] + q * cond[k, i, 1]
                for c in range(starts[i + 1], starts[i + 2]):
                    order[k, n_placed] = child[c]
                    n_placed += 1
                head += 1
        if n_placed < D:
            return False
    return True


@kernel
def root_edges(one: np.ndarray, other: np.ndarray, parents: np.ndarray) -> None:
    """Write the parents of the items to `parents` (D,), from the edges of a forest.

    `one`, `other` (E,) are the ends of the edges. The root of each tree is its lowest item.
    """
    D = len(parents)
    starts = np.zeros(D + 1, dtype=np.int64)
    for e in range(len(one)):
        starts[one[e] + 1] += 1
        starts[other[e] + 1] += 1
    for i in range(D):
        starts[i + 1] += starts[i]
    fill = starts[:-1].copy()
    ends = np.empty(2 * len(one), dtype=np.int32)
    for e in range(len(one)):
        ends[fill[one[e]]] = other[e]
        fill[one[e]] += 1
        ends[fill[other[e]]] = one[e]
        fill[other[e]] += 1
    parents[:] = -2
    queue = np.empty(D, dtype=np.int32)
    for root in range(D):
        if parents[root] != -2:
            continue
        parents[root] = -1
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            head += 1
            for a in range(starts[i], starts[i + 1]):
                j = ends[a]
                if parents[j] == -2:
                    parents[j] = i
                    queue[tail] = j
                    tail += 1


@kernel
def itemset_probabilities(
    asked: AskedSets,
    weights: np.ndarray,
    parents: np.ndarray,
    rank: np.ndarray,
    cond: np.ndarray,
    marginal: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the probability of every set into `out`.

    Belief propagation between the items of a set: the item that is last in the order sends its message to its
    parent, until one item is left, whose own probability ends the sum. Equivalent to
    sum(weights[k] * P(tree k agrees with the set)).
    """
    present_ptr, present, absent_ptr, absent = asked
    K, D = parents.shape
    stamp = np.full(D, -1, dtype=np.int64)
    codes = np.empty(D, dtype=np.int32)
    node = np.empty(D, dtype=np.int32)
    off, on = np.empty(D), np.empty(D)
    for s in range(len(present_ptr) - 1):
        n_present = 0
        for j in range(present_ptr[s], present_ptr[s + 1]):
            if stamp[present[j]] != s:
                stamp[present[j]] = s
                codes[n_present] = present[j]
                n_present += 1
        n_known = n_present
        for j in range(absent_ptr[s], absent_ptr[s + 1]):
            if stamp[absent[j]] != s:
                stamp[absent[j]] = s
                codes[n_known] = absent[j]
                n_known += 1
        found = 0.0
        for k in range(K):
            value = weights[k]
            n_left = n_known
            for m in range(n_known):
                node[m] = codes[m]
                off[m] = 0.0 if m < n_present else 1.0
                on[m] = 1.0 - off[m]
            while n_left > 0 and value > 0.0:
                last = 0
                for m in range(1, n_left):
                    if rank[k, node[m]] > rank[k, node[last]]:
                        last = m
                i = node[last]
                p = parents[k, i]
                if n_left == 1 or p < 0:
                    q = marginal[k, i]
                    value *= (1.0 - q) * off[last] + q * on[last]
                    merged = True
                else:
                    low = (1.0 - cond[k, i, 0]) * off[last] + cond[k, i, 0] * on[last]
                    high = (1.0 - cond[k, i, 1]) * off[last] + cond[k, i, 1] * on[last]
                    merged = False
                    for m in range(n_left):
                        if node[m] == p:
                            off[m] *= low
                            on[m] *= high
                            merged = True
                            break
                    if not merged:
                        node[last] = p
                        off[last] = low
                        on[last] = high
                if merged:
                    n_left -= 1
                    node[last] = node[n_left]
                    off[last] = off[n_left]
                    on[last] = on[n_left]
            found += value
        out[s] = found


@kernel
def items_given(
    asked: AskedSets,
    weights: np.ndarray,
    parents: np.ndarray,
    order: np.ndarray,
    cond: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the probability of each item given each set to `out` (n, D), and log P(set) to `values` (n,).

    One pass goes from the leaves to the roots and one back, scaled so that sets of any length can be given.
    If a set is impossible, its value is -inf and its row stays as it is.
    """
    present_ptr, present, absent_ptr, absent = asked
    K, D = parents.shape
    off, on = np.empty((K, D)), np.empty((K, D))
    posterior = np.empty((K, D))
    share = np.empty(K)
    for s in range(len(present_ptr) - 1):
        top = -np.inf
        for k in range(K):
            for i in range(D):
                off[k, i] = 1.0
                on[k, i] = 1.0
            for j in range(present_ptr[s], present_ptr[s + 1]):
                off[k, present[j]] = 0.0
            for j in range(absent_ptr[s], absent_ptr[s + 1]):
                on[k, absent[j]] = 0.0
            value = math.log(weights[k]) if weights[k] > 0.0 else -np.inf
            for m in range(D - 1, -1, -1):
                i = order[k, m]
                if off[k, i] == 1.0 and on[k, i] == 1.0:
                    continue  # carries no information
                low = (1.0 - cond[k, i, 0]) * off[k, i] + cond[k, i, 0] * on[k, i]
                high = (1.0 - cond[k, i, 1]) * off[k, i] + cond[k, i, 1] * on[k, i]
                p = parents[k, i]
                scale = low if p < 0 else max(low, high)
                if scale == 0.0:
                    value = -np.inf
                    break
                value += math.log(scale)
                if p >= 0:
                    off[k, p] *= low / scale
                    on[k, p] *= high / scale
            share[k] = value
            top = max(top, value)
        if top == -np.inf:
            values[s] = top
            continue
        total = 0.0
        for k in range(K):
            share[k] = math.exp(share[k] - top)
            total += share[k]
        values[s] = top + math.log(total)
        for i in range(D):
            out[s, i] = 0.0
        for k in range(K):
            if share[k] == 0.0:
                continue
            for m in range(D):
                i = order[k, m]
                p = parents[k, i]
                q = 0.0 if p < 0 else posterior[k, p]
                found = 0.0
                for x in range(2):
                    chance = 1.0 - q if x == 0 else q
                    if chance > 0.0:
                        here = cond[k, i, x] * on[k, i]
                        both = (1.0 - cond[k, i, x]) * off[k, i] + here
                        found += chance * here / both if both > 0.0 else 0.0
                posterior[k, i] = found
                out[s, i] += share[k] / total * found


@kernel
def row_scores(
    indptr: np.ndarray,
    indices: np.ndarray,
    first: int,
    base: np.ndarray,
    single: np.ndarray,
    pair: np.ndarray,
    parent: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the scores of the rows from `first` on to `out` (n, K), which make up their log-probability.

    A tree is log-linear in the items of a row: base (K,) for the empty row, single (D, K) for each item it
    holds, pair (D, K) for each item it holds together with its parent (D, K), D for no parent. The tables are
    item-major, so that the work grows with the items of a row only. Equivalent to base + X @ single +
    sum_i X[:, i] * X[:, parent[i]] * pair[i].
    """
    K = len(base)
    held = np.zeros(len(single) + 1)
    for m in range(len(out)):
        begin, end = indptr[first + m], indptr[first + m + 1]
        score = out[m]
        for k in range(K):
            score[k] = base[k]
        for a in range(begin, end):
            held[indices[a]] = 1.0
        for a in range(begin, end):
            i = indices[a]
            for k in range(K):
                score[k] += single[i, k] + pair[i, k] * held[parent[i, k]]
        for a in range(begin, end):
            held[indices[a]] = 0.0


@kernel
def share_rows(scores: np.ndarray, values: np.ndarray) -> None:
    """Turn the scores of each row (n, K) into responsibilities, and write the log-sum-exps to `values` (n,).

    Shares below `NEGLIGIBLE` become 0 and the others sum to one; if all scores are -inf, shares are equal.
    """
    n, K = scores.shape
    for m in range(n):
        score = scores[m]
        top = -np.inf
        for k in range(K):
            top = max(top, score[k])
        if top == -np.inf:
            values[m] = top
            for k in range(K):
                score[k] = 1.0 / K
            continue
        total = 0.0
        for k in range(K):
            score[k] = math.exp(score[k] - top)
            total += score[k]
        values[m] = top + math.log(total)
        kept = 0.0
        for k in range(K):
            if score[k] < NEGLIGIBLE * total:
                score[k] = 0.0
            kept += score[k]
        for k in range(K):
            score[k] /= kept


@kernel
def draw_rows(
    labels: np.ndarray,
    uniform: np.ndarray,
    parents: np.ndarray,
    order: np.ndarray,
    cond: np.ndarray,
    out: np.ndarray,
) -> None:
    """Draw a row of `out` (n, D) bool from the tree of each label, by uniform numbers (n, D)."""
    D = out.shape[1]
    for m in range(len(labels)):
        k = labels[m]
        for a in range(D):
            i = order[k, a]
            p = parents[k, i]
            x = 1 if p >= 0 and out[m, p] else 0
            out[m, i] = uniform[m, i] < cond[k, i, x]
