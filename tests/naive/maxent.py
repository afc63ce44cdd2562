"""A slow, obvious twin of maximum entropy: scale for one itemset after the other, over all states."""

from itertools import combinations

import numpy as np

from naive.trees import event, states


def max_entropy(n_items, supports, sweeps=5000):
    """Return the probability of every state, in the order of `states`.

    `supports` maps sets of items (tuples) to probabilities strictly between 0 and 1.
    """
    table = states(n_items)
    chances = np.full(len(table), 1.0 / len(table))
    held = {items: event(table, items) for items in supports}
    for _ in range(sweeps):
        error = 0.0
        for items, support in supports.items():
            now = chances[held[items]].sum()
            error = max(error, abs(now - support))
            chances = np.where(held[items], chances * support / now, chances * (1 - support) / (1 - now))
        if error < 1e-13:
            break
    return chances


def frequent_sets(matrix, least, longest):
    """Return the sets of columns of two items or more with their supports, at least some support."""
    n = matrix.shape[1]
    found = {}
    for length in range(2, longest + 1):
        for items in combinations(range(n), length):
            support = matrix[:, items].all(axis=1).mean()
            if support >= least:
                found[items] = support
    return found


def entropy(chances):
    """Return the entropy in nats."""
    positive = chances[chances > 0]
    return float(-(positive * np.log(positive)).sum())


def joined(codes, pairs):
    """Return for each of some codes the least code that a path of pairs among them leads to."""
    reach = {code: {code} for code in codes}
    for _ in codes:
        for a, b in pairs:
            if a in reach and b in reach:
                both = reach[a] | reach[b]
                for code in both:
                    reach[code] = both
    return [min(reach[code]) for code in codes]
