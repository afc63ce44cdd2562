"""Corrected mixtures, said slowly: shifts of log-odds in a dictionary, subsets one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def shifts_of(residuals):
    """Return the shift of each set of a trie, by its path: ranks from the rarest to the most probable."""
    first, item = residuals.trie
    found = {}

    def visit(node, path):
        for child in range(first[node], first[node + 1]):
            own = (*path, int(item[child]))
            found[own] = float(residuals.shift[child])
            visit(child, own)

    visit(0, ())
    return found


def tilted(phi, shift):
    """Shift the log-odds of probabilities."""
    with np.errstate(divide="ignore"):
        odds = np.where(phi < 1, phi / np.where(phi < 1, 1 - phi, 1.0), np.inf) * np.exp(shift)
    return np.where(np.isinf(odds), 1.0, odds / (1 + np.where(np.isinf(odds), 1.0, odds)))


def estimate(path, weights, table, shifts, n_pivots):
    """Return the probability of a path before it is lowered."""
    product = weights.copy()
    for j, rank in enumerate(path):
        shift = sum(shifts.get((*path[:used], rank), 0.0) for used in range(1, min(j, n_pivots) + 1))
        product = product * tilted(table[rank], shift)
    return min(product.sum(), 1.0)


def lowered(path, weights, table, shifts, n_pivots):
    """Return the least estimate of a set and of those that taking away pivots leads to."""
    if not path:
        return 1.0
    without = [path[:j] + path[j + 1 :] for j in range(min(n_pivots, len(path)))]
    return min(
        [estimate(path, weights, table, shifts, n_pivots)]
        + [lowered(other, weights, table, shifts, n_pivots) for other in without]
    )


def all_probabilities(model):
    """Return the probability of every itemset of a corrected mixture, by its frozenset of codes."""
    code_of = np.argsort(model.ranks)
    table = model.tilted.probs.T[code_of]
    shifts = shifts_of(model.correction.residuals)
    found = {}
    for n in range(model.n_items + 1):
        for ranks in combinations(range(model.n_items), n):
            path = tuple(reversed(ranks))
            value = lowered(path, model.mixture.weights, table, shifts, model.n_pivots)
            found[frozenset(int(code_of[r]) for r in ranks)] = value
    return found


def further(path, shifts, stored):
    """Return the lowest sum of shifts that pivots before the last item of a path add to its own, at most 0.

    It is -inf where a path of fewer pivots is not stored, so that nobody would look for its shift.
    """
    if len(path) < 2:
        return 0.0
    pivots, last = path[:-1], path[-1]
    deeper = [other for other in stored if other[: len(pivots)] == pivots and len(other) > len(path)]
    if any((*pivots, other[-1]) not in stored for other in deeper):
        return -np.inf
    sums = [
        sum(shifts.get((*other[:n], last), 0.0) for n in range(len(path), len(other)))
        for other in deeper
        if other[-1] == last
    ]
    return min([0.0, *sums])
