"""Split and merge moves: whole groups of points change component at once, which single moves hardly ever do.

Shapes as in `gibbs`. A move picks a point i and tosses a coin. Either it picks another point j of the same
component and tries to split that component in two, or it picks a point j of another component and tries to
merge the two (Jain and Neal 2004; the launch state is allocated in sequence, as by Dahl 2003).

Both build the same launch state: i and j start a side each, the other points join a side in random order and
then choose again in a few Gibbs scans restricted to the two sides. A split is the outcome of one more scan.
For a merge, that scan is made to retrace the present labels. The probability of the scan enters the
Metropolis-Hastings ratio, so that the target is exactly that of `gibbs.sweep`.
"""

from __future__ import annotations

import math

import numpy as np

from itemix.kernels.jit import inlined, kernel
from itemix.kernels.models.gibbs import (
    ComponentTables,
    Points,
    PriorTables,
    Slot,
    clear_component,
    empty_slot,
    log_component,
    log_union,
    move_point,
    outside_score,
    own_score,
)


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
    members = np.empty(n, dtype=np.int64)
    side = np.empty(n, dtype=np.int64)
    m = _members(labels, a, a, i, i, members)
    r = int(rng.random() * m)
    j = members[r]
    members[r] = members[m - 1]
    members = members[: m - 1]
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
    _relabel(points, prior, tables, np.array([j]), slot)
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
    a, b = labels[i], labels[j]
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
