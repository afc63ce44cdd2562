"""Draws of the generators follow the distributions that they are named after."""

import numpy as np
import pytest
from scipy import stats

from itemix.data import synthetic


def rng():
    """A fixed generator."""
    return synthetic.generator(7)


@pytest.mark.parametrize("mean", [0.0, 0.3, 4.0, 60.0, 500.0])
def test_poisson(mean):
    """The numbers are those of the Poisson distribution, by a test of their cumulated frequencies."""
    drawn = synthetic.poisson(rng(), mean, 20_000)
    values = np.unique(drawn)
    below = np.searchsorted(np.sort(drawn), values, side="right") / len(drawn)
    assert np.abs(below - stats.poisson.cdf(values, mean)).max() < 0.012


def test_exponential():
    """Mean and variance are one."""
    drawn = synthetic.exponential(rng(), 40_000)
    assert drawn.min() >= 0
    assert (drawn.mean(), drawn.var()) == pytest.approx((1, 1), abs=0.03)


def test_a_generator_is_used_as_it_is():
    """A seed starts anew, a generator goes on."""
    one = rng()
    assert synthetic.generator(one) is one
    assert rng().random() == one.random() != one.random()
