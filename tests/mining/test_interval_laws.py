"""Laws of intervals: what happens and what does not, and the data behind a condition."""

import numpy as np
import pytest
from scipy.special import gammaincinv

from itemix.core.transactions import Transactions
from itemix.correction import correct
from itemix.mining.intervals import interval
from itemix.models.mixture import Mixture
from itemix.models.posterior import Posterior


@pytest.mark.parametrize("seen", [1e-3, 0.05, 0.3, 2.0, 9.0])
def test_ends_of_the_opposite(seen):
    """An item is absent in as much as it is not there, however rare it is: the ends are mirrored."""
    posterior = Posterior([9.0], [0.0], [[seen]], [[9.0]], ["a"])
    there, not_there = interval(posterior, ["a"]), interval(posterior, [], absent=["a"])
    mirrored = [1 - not_there.probability, 1 - not_there.upper, 1 - not_there.lower]
    assert list(there) == pytest.approx(mirrored, abs=1e-12)


@pytest.mark.parametrize("condition", ["given", "given_absent"])
def test_a_condition_leaves_the_data_that_meets_it(condition):
    """Of a corrected model the interval under a condition is that of the transactions which meet it."""
    n_with = {"given": 40, "given_absent": 360}[condition]
    rows = np.zeros((400, 2), dtype=int)
    rows[:n_with, 1] = rows[::2, 0] = 1
    mixture = Mixture([1.0], [[0.5, n_with / 400]], ["a", "b"])
    model = correct(mixture, Transactions.from_matrix(rows, items=["a", "b"]), 2)
    found = interval(model, ["a"], **{condition: ["b"]})
    half = (40 / (1 + model.correction.excess_variance) - 1) / 2
    of_40 = interval(Posterior([1.0], [0.0], [[half]], [[half]], ["a"]), ["a"])
    assert list(found) == pytest.approx(list(of_40), abs=0.01)


def test_ends_of_the_least_probabilities():
    """However small a probability is, it is as sure as its items are; its ends are those of a Gamma."""
    posterior = Posterior([1.0], [0.0], np.full((1, 55), 1e3), np.full((1, 55), 1e7), range(55))
    found = interval(posterior, range(55))
    spread = (1 + 1 / 1e3) ** 55 - 1
    assert found.probability < 1e-200
    ends = gammaincinv(1 / spread, [0.05, 0.95]) * spread
    assert [found.lower, found.upper] / np.float64(found.probability) == pytest.approx(ends, rel=1e-3)
