"""The probabilities of sets under a mixture, and their moments, against plain sums."""

import numpy as np
import pytest
from naive import estep
from naive import probability as naive

from itemix.kernels.models import probability
from itemix.kernels.models.probability import AskedSets


def drawn_sets(rng, n_items, n=12):
    """Return some present and some absent items for each of n sets; an item may be named twice."""
    sets = []
    for _ in range(n):
        order = rng.permutation(n_items)
        a, b = sorted(rng.integers(0, n_items + 1, 2))
        sets.append((np.tile(order[:a], 2), order[a:b]))
    return sets


def asked(sets):
    """Return sets as the kernels take them."""
    sides = []
    for side in zip(*sets, strict=True):
        ends = np.cumsum([0, *map(len, side)])
        sides += [ends.astype(np.int64), np.concatenate(side).astype(np.int32)]
    return AskedSets(*sides)


@pytest.mark.parametrize("K", [1, 3, 4, 9])
def test_probabilities_are_sums_of_products(K):
    """Also those of an empty set, and with an item that is certain or impossible in a component."""
    rng = np.random.default_rng(K)
    weights, probs = rng.dirichlet(np.ones(K)), rng.random((6, K))
    probs[0, 0], probs[1, -1] = 0.0, 1.0
    sets = [((), ()), *drawn_sets(rng, 6)]
    out = np.empty(len(sets))
    probability.itemset_probabilities(asked(sets), weights, probs, out)
    expected = [estep.itemset_probability(weights, probs.T, *map(set, one)) for one in sets]
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize("K", [1, 2, 5])
@pytest.mark.parametrize("condition", [((), ()), ((1,), (4,))], ids=["alone", "given others"])
def test_moments_are_sums_over_pairs_of_components(K, condition):
    """Items that are given already add nothing to the set."""
    rng = np.random.default_rng(K)
    a, b = rng.uniform(0.5, 5.0, (2, 6, K))

    def log_moments(a, b):
        return np.log(np.stack([a / (a + b), a * (a + 1) / ((a + b) * (a + b + 1))], axis=1))

    r, s = rng.uniform(0.5, 5.0, (2, K))
    both = (r + s) * (r + s + 1)
    sticks = np.stack([r / (r + s), r * (r + 1) / both, r * s / both, s * (s + 1) / both])
    sticks[:, -1] = [1.0, 1.0, 0.0, 0.0]  # the last takes what is left
    sets = drawn_sets(rng, 6)
    held, missing = log_moments(a, b), log_moments(b, a)
    codes = [np.array(side, dtype=np.int32) for side in condition]
    out = np.empty((len(sets), 4))
    probability.itemset_log_moments(asked(sets), *codes, held, missing, sticks, out)
    expected = [naive.moments(*one, *condition, held, missing, sticks) for one in sets]
    np.testing.assert_allclose(np.exp(out), expected, rtol=1e-10)
