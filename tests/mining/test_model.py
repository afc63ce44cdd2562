"""Mining a model: the same call, options, order and errors as for data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix import BernoulliMixture, InvalidInputError, Mixture, TooManyItemsetsError, Transactions, mine


def random_transactions(seed, n_rows=60, n_items=9, density=0.5):
    """Return random data with integer names."""
    return Transactions.from_matrix(np.random.default_rng(seed).random((n_rows, n_items)) < density)


OPTIONS = [
    {},
    {"target": "closed"},
    {"target": "maximal"},
    {"min_len": 2, "max_len": 3},
    {"include": [0]},
    {"include": [0, 3], "target": "closed"},
    {"include": [1], "target": "maximal"},
    {"exclude": [0, 1]},
    {"exclude": [2], "include": [4], "min_len": 2},
    {"top_k": 17},
    {"top_k": 5, "min_len": 2},
    {"include": [2], "max_len": 1},
]


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, 0.5]), st.sampled_from(OPTIONS))
def test_data_mined_as_a_mixture_is_data_mined(seed, threshold, options):
    """The empirical mixture gives, in the same order, what the exact miner gives."""
    tx = random_transactions(seed)
    exact = mine(tx, threshold, n_jobs=1, **options)
    model = mine(Mixture.from_transactions(tx), threshold, n_jobs=1, **options)
    assert np.array_equal(model.offsets, exact.offsets)
    assert np.array_equal(model.codes, exact.codes)
    assert np.allclose(model.support, exact.support, rtol=1e-12, atol=0)
    assert model.count is None
    assert model.n_transactions is None


@pytest.mark.data("mushroom/mushroom.dat", "chess/chess.dat", "groceries/groceries.csv")
@pytest.mark.parametrize(
    ("path", "threshold"),
    [("mushroom/mushroom.dat", 0.2), ("chess/chess.dat", 0.7), ("groceries/groceries.csv", 0.01)],
)
def test_real_data_mined_as_a_mixture(data_folder, path, threshold):
    """On real data too, data is a model."""
    from itemix import read_transactions

    tx = read_transactions(data_folder / path)
    exact, model = mine(tx, threshold), mine(Mixture.from_transactions(tx), threshold)
    assert np.array_equal(model.codes, exact.codes)
    assert np.allclose(model.support, exact.support, rtol=1e-10, atol=0)


def test_threads_change_nothing():
    """One and two threads give the same arrays to the last bit."""
    rng = np.random.default_rng(4)
    mixture = Mixture(rng.dirichlet(np.ones(20)), rng.random((20, 14)), range(14))
    one, two = mine(mixture, 0.01, n_jobs=1), mine(mixture, 0.01, n_jobs=2)
    assert len(one) > 1000
    assert one == two


def test_a_fitted_estimator_is_mined_through_its_mixture():
    """An estimator gives what its mixture gives."""
    model = BernoulliMixture(n_components=3, random_state=0, max_iter=20, tol=0.1).fit(random_transactions(1))
    assert mine(model, 0.2) == mine(model.mixture_, 0.2)


def test_one_search_answers_higher_thresholds():
    """What was found at a low threshold holds all that a higher one would give."""
    mixture = Mixture.from_transactions(random_transactions(3))
    assert mine(mixture, 0.1).filter(min_support=0.25) == mine(mixture, 0.25)


def test_top_k_needs_no_threshold():
    """The k most probable sets are those of the highest support."""
    mixture = Mixture([1.0], [[0.9, 0.5, 0.4, 0.1]], ["a", "b", "c", "d"])
    top = mine(mixture, top_k=4)
    assert [items for items, _, _ in top] == [("a",), ("b",), ("c",), ("a", "b")]
    assert len(mine(mixture, top_k=100)) == 15


@pytest.mark.parametrize("value", [0, 1, 20, -0.1, 1.5, "a", True, float("nan")])
def test_a_model_wants_a_fraction(value):
    """A model has no transactions to count, and says so."""
    mixture = Mixture([1.0], [[0.5]], ["a"])
    with pytest.raises(
        InvalidInputError, match=r"fraction in \(0, 1\], since a model has no transactions.*try 0.01"
    ):
        mine(mixture, value)


def test_too_many_itemsets_of_a_model():
    """A model of which every set is probable stops before memory is gone."""
    mixture = Mixture([1.0], [[0.999] * 40], range(40))
    with pytest.raises(
        TooManyItemsetsError, match=r"at most max_itemsets=10,000.*min_support than 0.1.*top_k"
    ):
        mine(mixture, 0.1, max_itemsets=10_000)
