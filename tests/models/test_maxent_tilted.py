"""TiltedMixture against the sum over all transactions, and what makes it the nearest distribution."""

from itertools import combinations, product

import numpy as np
import pytest

from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.models.maxent import TiltedMixture
from itemix.models.mixture import Mixture

D = 6
ITEMS = Items("abcdef")
EVERY = np.array(list(product([False, True], repeat=D)))


def as_sets(rows):
    """Return sets of codes."""
    return Sets(np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.int32), ITEMS)


def holding(codes):
    """Return which of all transactions hold a set."""
    return EVERY[:, list(codes)].all(axis=1)


def chances(mixture):
    """Return the probability of each of all transactions."""
    cells = np.where(EVERY[None], mixture.probs[:, None], 1 - mixture.probs[:, None])
    return mixture.weights @ cells.prod(axis=2)


@pytest.mark.parametrize("n_components", [1, 3])
@pytest.mark.parametrize("n_sets", [1, 4, 8])
def test_a_tilted_mixture_is_the_nearest_that_knows_its_sets(n_components, n_sets):
    """It has the given probabilities, the form of an I-projection, and all others are sums over cells."""
    rng = np.random.default_rng(10 * n_components + n_sets)
    q = Mixture(rng.dirichlet(np.ones(n_components)), rng.uniform(0.1, 0.8, (n_components, D)), ITEMS)
    other = chances(q) * rng.gamma(2, size=len(EVERY))
    other /= other.sum()
    pool = [list(codes) for length in (2, 3) for codes in combinations(range(D), length)]
    known = [pool[i] for i in rng.choice(len(pool), n_sets, replace=False)] + [[i] for i in range(D)]
    wanted = np.array([other[holding(codes)].sum() for codes in known])
    first = TiltedMixture(q, as_sets(known[:1]), wanted[:1])
    tilted = TiltedMixture(q, as_sets(known), wanted, first)
    p = chances(q) * np.exp(sum(t * holding(codes) for t, codes in zip(tilted.tilts, known, strict=True)))
    assert np.isclose(np.log(p.sum()), tilted.log_total)
    p /= p.sum()
    asked = [list(codes) for length in (1, 2, 3, 4) for codes in combinations(range(D), length)]
    assert np.allclose(tilted.probabilities_of_sets(as_sets(asked)), [p[holding(c)].sum() for c in asked])
    assert np.allclose(tilted.probabilities_of_sets(as_sets(known)), wanted, rtol=1e-5)
    assert np.isclose(tilted.gain(wanted), other @ np.log(p / chances(q)), rtol=1e-5)
