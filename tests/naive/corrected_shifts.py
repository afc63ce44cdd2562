"""Slow, obvious twins of the kernels that fit a correction: sets by their paths, shifts by halving."""

from __future__ import annotations

from naive.corrected import tilted

FARTHEST = 40.0


def solve_shift(weights, phi, target):
    """Return the shift of log-odds under which the weighted sum is the target, by halving."""
    low, high = -FARTHEST, FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        if weights @ tilted(phi, middle) > target:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def count_children(paths):
    """Return how many of some paths add one item to the empty path, and to each of them."""
    return [sum(other[:-1] == path for other in paths) for path in [(), *paths]]


def conditional_weights(path, weights, table, shifts):
    """Return the probability of each component given the items of a path, all of them pivots."""
    product = weights.copy()
    for j, rank in enumerate(path):
        product = product * tilted(table[rank], shift_before(path[:j], rank, shifts))
    return product / product.sum()


def shift_before(pivots, rank, shifts):
    """Return the sum of the shifts of an item with the first pivots of a path, from one pivot on."""
    return sum(shifts.get((*pivots[:n], rank), 0.0) for n in range(1, len(pivots) + 1))


def fit_shifts(counts, weights, table, shrinkage):
    """Return the shift of each path; `counts` are those of the paths, the shorter first."""
    shifts = {}
    for path, count in counts.items():
        shifts[path] = 0.0
        parent = path[:-1]
        if len(path) < 2 or counts[parent] == 0:
            continue
        given = conditional_weights(parent, weights, table, shifts)
        before = shift_before(parent[:-1], path[-1], shifts)
        expected = given @ tilted(table[path[-1]], before)
        target = (count + shrinkage * expected) / (counts[parent] + shrinkage)
        shifts[path] = solve_shift(given, table[path[-1]], target) - before
    return shifts
