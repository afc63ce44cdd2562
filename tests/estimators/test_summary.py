"""Summaries: what was put into data is taken once, and what follows from it is no news."""

import numpy as np
import pytest

import itemix
from itemix.errors import InvalidInputError

NAMES = list("abcdefgh")


def with_sets(n=3000, seed=0):
    """Independent items, with {a, b} and {c, d, e} far more often than that."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n, 8)) < 0.15
    rows[:300, [0, 1]] = True
    rows[300:500, [2, 3, 4]] = True
    return itemix.Transactions.from_matrix(rows, items=NAMES)


def test_a_summary_takes_what_was_put_in_and_stops():
    """Two sets, and none of the many supersets and subsets that follow from them."""
    data = with_sets()
    summary = itemix.summarise(data, min_support=0.01)
    assert [set(names) for names in list(summary.sets)[:2]] == [set("cde"), set("ab")]
    assert len(summary) <= 4
    assert summary.is_complete
    assert "nothing else contradicts" in repr(summary)
    single = itemix.BayesianMixture(1).fit(data)
    assert len(itemix.mine(data, 0.01)) > 3 * len(summary)
    assert summary.gain[0] > summary.gain[1] > 100
    assert np.allclose(summary.expected[0], single.probability(summary.sets[0]))
    assert np.allclose(summary.support * data.n_transactions, summary.count)
    one = itemix.summarise(data, 1, min_support=0.01)
    assert one.sets[0] == summary.sets[0]
    assert not one.is_complete


def test_independent_items_need_no_summary():
    """On data that is what it is compared with, nothing is taken."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = itemix.Transactions.from_matrix(rng.random((2000, 8)) < rng.uniform(0.05, 0.5, 8), items=NAMES)
        assert len(itemix.summarise(data, min_support=0.01)) == 0


def test_a_model_may_know_something_already():
    """What the model has learned from other data is not taken."""
    train, test = with_sets(6000).split(0.5, random_state=0)
    model = itemix.DirichletProcessMixture(8, random_state=0).fit(train)
    known = itemix.summarise(test, model=model, min_support=0.01)
    assert len(known) < len(itemix.summarise(test, min_support=0.01))
    with pytest.raises(InvalidInputError, match="training transactions"):
        itemix.summarise(train, model=model, min_support=0.01)
    em = itemix.BernoulliMixture(1, random_state=0, correction=100.0).fit(train)
    with pytest.raises(InvalidInputError, match="expected a mixture with a posterior, got CorrectedMixture"):
        itemix.summarise(test, model=em, min_support=0.01)
    with pytest.raises(InvalidInputError, match="expected n as a whole number"):
        itemix.summarise(test, 0)
