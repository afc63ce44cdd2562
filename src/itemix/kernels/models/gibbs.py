"""Collapsed Gibbs sampling (Algorithms 2 and 4), of the finite model and of the Dirichlet process.

`sweep` draws each label once, and `split_merge` moves whole groups of points.

Components keep their scores up to date as points move. C is the number of slots for components. A component
of n points, c_i of which hold item i, scores for a point x outside it (eqs. finGibbs, infinGibbs)

    log w(n) + sum_i log(n - c_i + gamma_i) - sum_i log(n + beta_i + gamma_i)        its base, and
    + sum_{i in x} log((c_i + beta_i) / (n - c_i + gamma_i))                         the items of the point,

with w(n) = n + alpha / K in the finite model, and w(n) = n, w(0) = alpha in the Dirichlet process. The second
line is computed for each point: factors are multiplied in blocks, with one logarithm for each block. The base
sums over all items, but a move updates it in time that grows with the items of the point only:

- `PriorTables.size_term` at n is the base if no point holds any item. What is left is the absent term, the
  sum of log((n - c_i + gamma_i) / (n + gamma_i)) over the items that occur in the component.
- Items that most of the component's points hold, and all items of a small component, are *near*: their
  factors are multiplied afresh.
- The other items are *far*. Write n = n0 + d, where n0 was the size when the items were last sorted. The sum
  over the far items is a power series in d. When a point moves, its coefficients change only for the items of
  that point. As |d| <= n0 / 64 and c_i <= n0 / 2 + n0 / 64, the terms after the eighth are below rounding.

A point of the component itself needs the base without that point, which takes the absent term at n - 1. Items
that all n points hold are left out there: the point holds them too, so their factors would cancel.

A split or merge move picks a point i and tosses a coin. Either it picks another point j of the same component
and tries to split that component in two, or it picks a point j of another component and tries to merge the
two (Jain and Neal 2004; the launch state is allocated in sequence, as by Dahl 2003).

Both build the same launch state: i and j start a side each, the other points join a side in random order and
then choose again in a few Gibbs scans restricted to the two sides. A split is the outcome of one more scan.
For a merge, that scan is made to retrace the present labels. The probability of the scan enters the
Metropolis-Hastings ratio, so that the target is exactly that of `sweep`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import fused, inlined, kernel, reducing
from itemix.kernels.models import estep
from itemix.kernels.models.estep import log_ratio

N_TERMS = 8
SMALL = 64  # components below this size have near items only
CHUNK = 256  # far items are summed up in chunks: a product of this many factors near 1 is safe
_STRAY = 64  # items are sorted again when the size has strayed by a 64th
_CERTAIN = 45.0  # even thousands of chances of e^-45 are lost in a uniform number of 53 bits
UNLISTED, _FAR, _NEAR = 0, 1, 2

Slot = int | np.int64


class Points(NamedTuple):
    """The points, and the components they are in.

    Attributes
    ----------
    indptr, indices : array of int64, shape (N + 1,), and of int32, shape (nnz,)
        Their items, in compressed form.
    labels : array of int32, shape (N,)
        The component of each point. Kernels that move points write it.
    """

    indptr: np.ndarray
    indices: np.ndarray
    labels: np.ndarray


class PriorTables(NamedTuple):
    """The hyperparameters, as the kernels need them.

    beta, gamma (D,); size_term (N + 1,), see above; growth (N + 1,): growth[n] is the sum of the first n
    size terms, the joint log-probability of n points without items; block: how many factors may be multiplied
    before a logarithm; is_process: whether this is a Dirichlet process, where empty components are removed.
    """

    beta: np.ndarray
    gamma: np.ndarray
    size_term: np.ndarray
    growth: np.ndarray
    block: int
    is_process: bool


class ComponentTables(NamedTuple):
    """The components of one chain; all of it is written by `move_point`.

    sizes (C,) int64; counts (D, C) int32; base, base_out (C,): the base, and the base for a point of the
    component itself; series (C, N_TERMS + 1), anchor (C,) int64: the far sum and its n0, which is 0 where all
    items are near; listed (C, D) int32, n_listed, n_near (C,) int64: the items that occur, near ones first;
    place (D, C) uint8: whether an item is unlisted, far or near; scratch (2, CHUNK) float64.
    """

    sizes: np.ndarray
    counts: np.ndarray
    base: np.ndarray
    base_out: np.ndarray
    series: np.ndarray
    anchor: np.ndarray
    listed: np.ndarray
    n_listed: np.ndarray
    n_near: np.ndarray
    place: np.ndarray
    scratch: np.ndarray


@fused
def _evaluate(series: np.ndarray, d: float) -> tuple[float, float]:
    """Return series[0] + series[1] d - series[2] d^2 / 2 + series[3] d^3 / 3 - ..., and the same at d - 1."""
    value = value_out = 0.0
    d_out = d - 1.0
    for j in range(N_TERMS, 0, -1):
        term = series[j] / (j if j % 2 else -j)
        value = (value + term) * d
        value_out = (value_out + term) * d_out
    return series[0] + value, series[0] + value_out


@inlined
def clear_component(prior: PriorTables, tables: ComponentTables, k: Slot) -> None:
    """Make component k empty. In the Dirichlet process it can then no longer be chosen."""
    for j in range(tables.n_listed[k]):
        tables.counts[tables.listed[k, j], k] = 0
        tables.place[tables.listed[k, j], k] = UNLISTED
    tables.sizes[k] = tables.n_listed[k] = tables.n_near[k] = tables.anchor[k] = 0
    tables.base[k] = -np.inf if prior.is_process else prior.size_term[0]
    tables.base_out[k] = -np.inf


@inlined
def _refresh_base(prior: PriorTables, tables: ComponentTables, k: Slot) -> None:
    """Compute base[k] and base_out[k] from the counts of the near items and the series of the far ones."""
    n = tables.sizes[k]
    if n == 0:
        clear_component(prior, tables, k)
        return
    term = prior.size_term[n]
    term_out = prior.size_term[n - 1]
    if tables.anchor[k]:
        far, far_out = _evaluate(tables.series[k], float(n - tables.anchor[k]))
        term += far
        term_out += far_out
    top = bottom = top_out = bottom_out = 1.0
    j = in_block = 0
    while j < tables.n_near[k]:
        i = tables.listed[k, j]
        c = tables.counts[i, k]
        if c == 0 and tables.anchor[k] == 0:
            tables.place[i, k] = UNLISTED
            tables.n_near[k] -= 1
            tables.n_listed[k] -= 1
            tables.listed[k, j] = tables.listed[k, tables.n_near[k]]
            continue
        g = prior.gamma[i]
        top *= (n - c) + g
        bottom *= n + g
        bottom_out *= (n - 1) + g
        if c < n:
            top_out *= (n - 1 - c) + g
        j += 1
        in_block += 1
        if in_block == prior.block:
            term += log_ratio(top, bottom)
            term_out += log_ratio(top_out, bottom_out)
            top = bottom = top_out = bottom_out = 1.0
            in_block = 0
    tables.base[k] = term + log_ratio(top, bottom)
    tables.base_out[k] = term_out + log_ratio(top_out, bottom_out)


@reducing
def _sum_powers(series: np.ndarray, new: np.ndarray, old: np.ndarray, n: int) -> float:
    """Add the sum of the n new^-j - old^-j to series[j] for all j > 0; return the product of new / old.

    One loop with a sum for each power, so that it becomes vector code.
    """
    ratio = 1.0
    s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = 0.0
    for m in range(n):
        a, b = 1.0 / new[m], 1.0 / old[m]
        ratio *= new[m] * b
        a2, b2 = a * a, b * b
        a3, b3 = a2 * a, b2 * b
        a4, b4 = a2 * a2, b2 * b2
        s1 += a - b
        s2 += a2 - b2
        s3 += a3 - b3
        s4 += a4 - b4
        s5 += a4 * a - b4 * b
        s6 += a4 * a2 - b4 * b2
        s7 += a4 * a3 - b4 * b3
        s8 += a4 * a4 - b4 * b4
    series[1] += s1
    series[2] += s2
    series[3] += s3
    series[4] += s4
    series[5] += s5
    series[6] += s6
    series[7] += s7
    series[8] += s8
    return ratio


@inlined
def _add_powers(series: np.ndarray, new: np.ndarray, old: np.ndarray, n: int) -> None:
    """Update the series for n factors that change from old to new. Entries after the n-th are overwritten."""
    width = estep.padded(n)
    for m in range(n, width):
        new[m] = old[m] = 1e300
    series[0] += log_ratio(_sum_powers(series, new, old, width), 1.0)


@kernel
def relist(prior: PriorTables, tables: ComponentTables, k: Slot) -> None:
    """Sort the items of component k into near and far, and sum up the far ones around its present size."""
    n = tables.sizes[k]
    is_small = n < SMALL
    series, new, old = tables.series[k], tables.scratch[0], tables.scratch[1]
    series[:] = 0.0
    n_listed = n_near = n_far = 0
    for j in range(tables.n_listed[k]):
        i = tables.listed[k, j]
        c = tables.counts[i, k]
        if c == 0:
            tables.place[i, k] = UNLISTED
            continue
        tables.listed[k, n_listed] = i
        if is_small or 2 * c > n:
            tables.listed[k, n_listed] = tables.listed[k, n_near]
            tables.listed[k, n_near] = i
            tables.place[i, k] = _NEAR
            n_near += 1
        else:
            tables.place[i, k] = _FAR
            new[n_far], old[n_far] = n - c + prior.gamma[i], n + prior.gamma[i]
            n_far += 1
            if n_far == CHUNK:
                _add_powers(series, new, old, n_far)
                n_far = 0
        n_listed += 1
    _add_powers(series, new, old, n_far)
    tables.n_listed[k] = n_listed
    tables.n_near[k] = n_near
    tables.anchor[k] = 0 if is_small else n


@inlined
def move_point_inline(
    prior: PriorTables, tables: ComponentTables, items: np.ndarray, k: Slot, sign: int
) -> None:
    """Do what `move_point` does, inlined: passing all tables would take a fifth of its time."""
    series, new, old = tables.series[k], tables.scratch[0], tables.scratch[1]
    is_small = tables.anchor[k] == 0
    n_far = 0
    for i in items:
        if tables.place[i, k] == UNLISTED:
            tables.listed[k, tables.n_listed[k]] = i
            tables.n_listed[k] += 1
            tables.n_near[k] += is_small
            tables.place[i, k] = _NEAR if is_small else _FAR
        if tables.place[i, k] == _FAR:
            before = tables.anchor[k] - tables.counts[i, k] + prior.gamma[i]
            new[n_far], old[n_far] = before - sign, before
            n_far += 1
            if n_far == CHUNK:
                _add_powers(series, new, old, n_far)
                n_far = 0
        tables.counts[i, k] += sign
    _add_powers(series, new, old, n_far)
    tables.sizes[k] += sign
    n = tables.sizes[k]
    if is_small:
        if n >= SMALL + SMALL // 2:
            relist(prior, tables, k)
    elif _STRAY * abs(n - tables.anchor[k]) > tables.anchor[k]:
        relist(prior, tables, k)
    _refresh_base(prior, tables, k)


@kernel
def move_point(prior: PriorTables, tables: ComponentTables, items: np.ndarray, k: Slot, sign: int) -> None:
    """Add (sign 1) a point with the given items to component k, or take it out (sign -1)."""
    move_point_inline(prior, tables, items, k, sign)


@kernel
def fill(points: Points, prior: PriorTables, tables: ComponentTables, n_slots: int) -> None:
    """Fill `tables`, whose arrays are all zero, from the labels of the points.

    Slots from n_slots on only fill up vectors and can never be chosen.
    """
    indptr, indices, labels = points
    for t in range(len(indptr) - 1):
        k = labels[t]
        tables.sizes[k] += 1
        for j in range(indptr[t], indptr[t + 1]):
            i = indices[j]
            if tables.counts[i, k] == 0:
                tables.listed[k, tables.n_listed[k]] = i
                tables.n_listed[k] += 1
            tables.counts[i, k] += 1
    for k in range(len(tables.sizes)):
        relist(prior, tables, k)
        _refresh_base(prior, tables, k)
        if k >= n_slots:
            tables.base[k] = -np.inf


@inlined
def empty_slot(sizes: np.ndarray) -> int:
    """Return the first empty slot, or the number of slots if none is empty."""
    for k in range(len(sizes)):
        if sizes[k] == 0:
            return k
    return len(sizes)


@inlined
def own_score(prior: PriorTables, tables: ComponentTables, items: np.ndarray, k: Slot) -> float:
    """Score component k for a point in it, as the component is without the point."""
    n = float(tables.sizes[k])
    score: float = tables.base_out[k]
    for first in range(0, len(items), prior.block):
        top = bottom = 1.0
        for j in range(first, min(first + prior.block, len(items))):
            i = items[j]
            c = float(tables.counts[i, k])
            top *= (c - 1.0) + prior.beta[i]
            bottom *= (n - 1.0 - c) + prior.gamma[i] if c < n else 1.0
        score += log_ratio(top, bottom)
    return score


@inlined
def outside_score(prior: PriorTables, tables: ComponentTables, items: np.ndarray, k: Slot) -> float:
    """Score component k for a point outside it."""
    n = float(tables.sizes[k])
    score: float = tables.base[k]
    for first in range(0, len(items), prior.block):
        top = bottom = 1.0
        for j in range(first, min(first + prior.block, len(items))):
            i = items[j]
            c = float(tables.counts[i, k])
            top *= c + prior.beta[i]
            bottom *= (n - c) + prior.gamma[i]
        score += log_ratio(top, bottom)
    return score


@inlined
def _log_item(prior: PriorTables, i: Slot, n: Slot, c: Slot) -> float:
    """Return what item i, held by c of n points, adds to the joint log-probability of a component."""
    b, g = prior.beta[i], prior.gamma[i]
    present = math.lgamma(c + b) - math.lgamma(b)
    return present + math.lgamma(n - c + g) - math.lgamma(n + g)


@kernel
def log_component(prior: PriorTables, tables: ComponentTables, k: Slot) -> float:
    """Return what component k adds to the joint log-probability of labels and data.

    The whole is the sum of this over the components, plus log(Gamma(alpha) / Gamma(N + alpha)).
    """
    n = tables.sizes[k]
    value: float = prior.growth[n]
    for j in range(tables.n_listed[k]):
        i = tables.listed[k, j]
        if tables.counts[i, k]:
            value += _log_item(prior, i, n, np.int64(tables.counts[i, k]))
    return value


@kernel
def log_union(prior: PriorTables, tables: ComponentTables, a: Slot, b: Slot) -> float:
    """Return what `log_component` would be if components a and b were one."""
    n = tables.sizes[a] + tables.sizes[b]
    value: float = prior.growth[n]
    for j in range(tables.n_listed[a]):
        i = tables.listed[a, j]
        c = np.int64(tables.counts[i, a] + tables.counts[i, b])
        if c:
            value += _log_item(prior, i, n, c)
    for j in range(tables.n_listed[b]):
        i = tables.listed[b, j]
        if tables.place[i, a] == UNLISTED and tables.counts[i, b]:
            value += _log_item(prior, i, n, np.int64(tables.counts[i, b]))
    return value


class Slots(NamedTuple):
    """The slots of a point's own component and of a new one.

    own: its component; empty: the slot that the Dirichlet process offers for a new component, -1 for none.
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
    """Return where the running sum passes the threshold. It starts with `own`, the likeliest."""
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
def _n_choices(sizes: np.ndarray, empty: Slot) -> int:
    """Return how many slots can be chosen, in whole vectors; all slots if no empty one is offered (-1)."""
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

    The other arrays (K,) are scratch. They are not in a tuple, because the compiler would then have to assume
    that they overlap. Return the score of staying. If a row is alone in its component and a new one is
    offered, it stays by choosing the new one, and `own` cannot be chosen. Equivalent to
    log(conditional(t | all others)) plus a constant.
    """
    own, empty = slots
    for k in range(len(score)):
        score[k] = tables.base[k]
        sizes[k] = tables.sizes[k]
    for first in range(0, len(items), prior.block):
        last = min(first + prior.block, len(items))
        _multiply_factors(prior, tables.counts, sizes, items, first, last, top, bottom)
        estep.add_log_ratio(top, bottom, score)
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

    The Dirichlet process offers one empty slot. If that slot is not among those looked at, the sweep ends
    early. The caller calls again, with larger tables if needed, and the sweep goes on. If the tables cannot
    grow, the process is truncated: no new component is offered while all slots are in use.
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
    K = _n_choices(tables.sizes, empty)
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
        others = estep.highest(score)
        if stay - others > _CERTAIN:
            continue
        score[own] = stay
        estep.exp_of_difference(score, max(stay, others), weights)
        new = _choose(weights, own, uniforms[t] * estep.sum_of(weights))
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


@inlined
def _items(points: Points, t: Slot) -> np.ndarray:
    return points.indices[points.indptr[t] : points.indptr[t + 1]]


@inlined
def _members(labels: np.ndarray, a: Slot, b: Slot, i: Slot, j: Slot, out: np.ndarray) -> int:
    """Write the points of components a and b other than i and j, and return how many there are."""
    n = 0
    for t in range(len(labels)):
        if labels[t] in (a, b) and t not in (i, j):
            out[n] = t
            n += 1
    return n


@inlined
def _log_chance(score: float, other: float) -> float:
    """Return the log-probability of the first of two choices with the given scores."""
    d = other - score
    return -(d + math.log1p(math.exp(-d))) if d > 0 else -math.log1p(math.exp(d))


@kernel
def _launch(
    points: Points,
    prior: PriorTables,
    sides: ComponentTables,
    members: np.ndarray,
    side: np.ndarray,
    seeds: tuple[Slot, Slot],
    rng: np.random.Generator,
) -> None:
    """Start a side with each seed and let the members join one in random order; `sides` must be empty."""
    for s in range(2):
        move_point(prior, sides, _items(points, seeds[s]), s, 1)
    for m in range(len(members) - 1, 0, -1):
        r = int(rng.random() * (m + 1))
        members[m], members[r] = members[r], members[m]
    for m in range(len(members)):
        items = _items(points, members[m])
        a = outside_score(prior, sides, items, 0)
        b = outside_score(prior, sides, items, 1)
        side[m] = math.log(1.0 - rng.random()) >= _log_chance(a, b)
        move_point(prior, sides, items, side[m], 1)


@kernel
def _scan(
    points: Points,
    prior: PriorTables,
    sides: ComponentTables,
    members: np.ndarray,
    side: np.ndarray,
    targets: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """Let every member choose its side again, or send it to its side in `targets`, if given.

    Return the log-probability of the choices that were made.
    """
    total = 0.0
    for m in range(len(members)):
        items = _items(points, members[m])
        own = np.int64(side[m])
        stay = own_score(prior, sides, items, own)
        leave = outside_score(prior, sides, items, 1 - own)
        log_stay = _log_chance(stay, leave)
        if len(targets):
            new = np.int64(targets[m])
        else:
            new = own if math.log(1.0 - rng.random()) < log_stay else 1 - own
        total += log_stay if new == own else _log_chance(leave, stay)
        if new != own:
            move_point(prior, sides, items, own, -1)
            move_point(prior, sides, items, new, 1)
            side[m] = new
    return total


@kernel
def _choose_slot(tables: ComponentTables, is_process: bool, rng: np.random.Generator) -> tuple[Slot, Slot]:
    """Return a slot for a new component, and from how many it was chosen; 0 if there is none.

    Empty components are distinct in the finite model. In the Dirichlet process they count as one.
    """
    if is_process:
        slot = empty_slot(tables.sizes)
        return slot, np.int64(slot < len(tables.sizes))
    chosen = 0
    n_empty = 0
    for k in range(len(tables.sizes)):
        if tables.sizes[k] == 0 and tables.base[k] > -np.inf:
            n_empty += 1
            if rng.random() * n_empty < 1.0:
                chosen = k
    return chosen, n_empty


@kernel
def _relabel(
    points: Points, prior: PriorTables, tables: ComponentTables, moved: np.ndarray, new: Slot
) -> None:
    """Move some points to component `new`."""
    labels = points.labels
    for t in moved:
        move_point(prior, tables, _items(points, t), np.int64(labels[t]), -1)
        move_point(prior, tables, _items(points, t), new, 1)
        labels[t] = new


@kernel
def _try_split(
    points: Points,
    prior: PriorTables,
    tables: ComponentTables,
    sides: ComponentTables,
    i: Slot,
    n_scans: int,
    rng: np.random.Generator,
) -> float:
    """Try to split the component of point i; return the gain in joint log-probability, 0 if rejected."""
    labels = points.labels
    a = np.int64(labels[i])
    n = tables.sizes[a]
    slot, n_empty = _choose_slot(tables, prior.is_process, rng)
    if n < 2 or n_empty == 0:
        return 0.0
    found = np.empty(n, dtype=np.int64)
    side = np.empty(n, dtype=np.int64)
    last = _members(labels, a, a, i, i, found) - 1
    r = int(rng.random() * (last + 1))
    j = found[r]
    found[r], found[last] = found[last], j
    members = found[:last]
    _launch(points, prior, sides, members, side, (i, j), rng)
    log_q = 0.0
    for _ in range(n_scans + 1):
        log_q = _scan(points, prior, sides, members, side, members[:0], rng)
    gain = log_component(prior, sides, 0) + log_component(prior, sides, 1) - log_component(prior, tables, a)
    log_pairs = math.log((n - 1) / (len(labels) - sides.sizes[0]))
    log_slots = 0.0 if prior.is_process else math.log(n_empty)
    clear_component(prior, sides, 0)
    clear_component(prior, sides, 1)
    if math.log(1.0 - rng.random()) >= gain + log_pairs + log_slots - log_q:
        return 0.0
    _relabel(points, prior, tables, members[side[: len(members)] == 1], slot)
    _relabel(points, prior, tables, found[last : last + 1], slot)
    return gain


@kernel
def _log_retrace(
    points: Points,
    prior: PriorTables,
    tables: ComponentTables,
    sides: ComponentTables,
    i: Slot,
    j: Slot,
    n_scans: int,
    rng: np.random.Generator,
) -> float:
    """Return the log-probability of the scan that would split the union of i's and j's components again."""
    labels = points.labels
    a, b = np.int64(labels[i]), np.int64(labels[j])
    n = tables.sizes[a] + tables.sizes[b]
    members = np.empty(n, dtype=np.int64)
    side = np.empty(n, dtype=np.int64)
    members = members[: _members(labels, a, b, i, j, members)]
    _launch(points, prior, sides, members, side, (i, j), rng)
    for _ in range(n_scans):
        _scan(points, prior, sides, members, side, members[:0], rng)
    targets = np.empty(len(members), dtype=np.int64)
    for m in range(len(members)):
        targets[m] = labels[members[m]] == b
    log_q = _scan(points, prior, sides, members, side, targets, rng)
    clear_component(prior, sides, 0)
    clear_component(prior, sides, 1)
    return log_q


@kernel
def _try_merge(
    points: Points,
    prior: PriorTables,
    tables: ComponentTables,
    sides: ComponentTables,
    i: Slot,
    n_scans: int,
    rng: np.random.Generator,
) -> float:
    """Try to merge the component of point i with another; return the gain, 0 if it is rejected."""
    labels = points.labels
    N = len(labels)
    a = np.int64(labels[i])
    n_a = tables.sizes[a]
    if n_a == N:
        return 0.0
    j = i
    while labels[j] == a:
        j = int(rng.random() * N)
    b = np.int64(labels[j])
    n = n_a + tables.sizes[b]
    gain = log_union(prior, tables, a, b) - log_component(prior, tables, a) - log_component(prior, tables, b)
    log_ratio = gain + math.log((N - n_a) / (n - 1))
    if not prior.is_process:
        log_ratio -= math.log(_choose_slot(tables, prior.is_process, rng)[1] + 1)
    log_uniform = math.log(1.0 - rng.random())
    if log_uniform >= log_ratio:  # the scan's log-probability could only lower it: most merges end here
        return 0.0
    log_ratio += _log_retrace(points, prior, tables, sides, i, j, n_scans, rng)
    if log_uniform >= log_ratio:
        return 0.0
    _relabel(points, prior, tables, np.nonzero(labels == b)[0], a)
    return gain


@kernel
def split_merge(
    points: Points,
    prior: PriorTables,
    tables: ComponentTables,
    sides: ComponentTables,
    n_tries: int,
    n_scans: int,
    can_grow: bool,
    rng: np.random.Generator,
) -> tuple[int, int, float]:
    """Try a number of split and merge moves; `sides` is scratch, empty tables of two slots or more.

    Return how many were tried, how many points there were to split in total, and by how much the joint
    log-probability rose. The Dirichlet process ends early if no slot is left for a new component. If the
    tables cannot grow, it is truncated: it goes on without splits.
    """
    labels = points.labels
    n_points = 0
    gain = 0.0
    for done in range(n_tries):
        if can_grow and prior.is_process and empty_slot(tables.sizes) == len(tables.sizes):
            return done, n_points, gain
        i = int(rng.random() * len(labels))
        if rng.random() < 0.5:
            n_points += tables.sizes[labels[i]]
            gain += _try_split(points, prior, tables, sides, i, n_scans, rng)
        else:
            gain += _try_merge(points, prior, tables, sides, i, n_scans, rng)
    return n_tries, n_points, gain
