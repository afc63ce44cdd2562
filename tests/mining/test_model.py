"""Mining a model: the same call, options, order and errors as for data."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.prefix import probable_sets

from itemix import BernoulliMixture, InvalidInputError, Mixture, TooManyItemsetsError, Transactions, mine
from itemix.mining import model as model_module
from itemix.mining.model import ROUNDING, probable_pairs


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
    {"top_k": 4},
    {"top_k": 3, "include": [1], "exclude": [0]},
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


@pytest.mark.parametrize("value", [0, 1, 20, -0.1, 1.5, "20", True, float("nan")])
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


@st.composite
def wide_mixtures(draw):
    """Draw a mixture with weights and probabilities of 0, tiny ones, and others."""
    n_components, n_items = draw(st.integers(1, 12)), draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.dirichlet(np.full(n_components, 0.3))
    weights[rng.random(n_components) < 0.2] *= draw(st.sampled_from([0.0, 1e-12, 1e-40, 1e-300]))
    probs = rng.beta(0.2, 1.0, (n_components, n_items))
    probs[rng.random(probs.shape) < 0.2] *= draw(st.sampled_from([0.0, 1e-20, 1e-45, 1e-200]))
    probs[rng.random(probs.shape) < 0.1] = 1.0
    return Mixture((weights + 1e-300) / (weights + 1e-300).sum(), probs, range(n_items))


@given(wide_mixtures(), st.data())
def test_wide_mixtures_give_what_the_products_say(mixture, data):
    """Where a matrix product leaves pairs out, no set is missing, also at thresholds that are supports."""
    every = probable_sets(mixture.weights, mixture.probs, 1e-320)
    factor = data.draw(st.sampled_from([1.0, 1 + 2e-9, 1 - 2e-9, 1 + 1e-5, 0.5]))
    threshold = min(1.0, factor * data.draw(st.sampled_from(sorted(every.values()))))
    with patch.object(model_module, "_MANY_PRODUCTS", 0), patch.object(model_module, "_PAIR_ROWS", 3):
        found = mine(mixture, threshold, n_jobs=1)
    expected = {codes: p for codes, p in every.items() if p >= threshold * (1 - ROUNDING)}
    assert {frozenset(items): p for items, p, _ in found} == pytest.approx(expected, rel=1e-12, abs=0)
    assert found == mine(mixture, threshold, n_jobs=1)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25]), st.sampled_from(OPTIONS))
def test_wide_mixtures_keep_all_options(seed, threshold, options):
    """Leaving pairs out changes no result to the last bit, whatever else is asked."""
    rng = np.random.default_rng(seed)
    mixture = Mixture(rng.dirichlet(np.ones(7)), rng.beta(0.5, 0.5, (7, 9)), range(9))
    with patch.object(model_module, "_MANY_PRODUCTS", 0):
        found = mine(mixture, threshold, n_jobs=1, **options)
    assert found == mine(mixture, threshold, n_jobs=1, **options)


@pytest.fixture(scope="module")
def wide_mixture():
    """Return a mixture of many components and items, of which each component favours a few."""
    rng = np.random.default_rng(5)
    probs = np.full((300, 700), 1e-4)
    for favoured in probs:
        favoured[rng.choice(700, 12)] = rng.random(12)
    return Mixture(rng.dirichlet(np.ones(300)), probs, range(700))


def test_wide_mixtures_with_threads(wide_mixture):
    """A mixture wide enough for the matrix product gives the same to the last bit with two threads."""
    one, two = mine(wide_mixture, 1e-4, n_jobs=1), mine(wide_mixture, 1e-4, n_jobs=2)
    assert one == two
    with patch.object(model_module, "_MANY_PRODUCTS", 10**12):
        assert one == mine(wide_mixture, 1e-4, n_jobs=1)
    assert len(one) > 10_000


def test_few_pairs_are_left(wide_mixture):
    """Of the pairs of a wide mixture, those in question are hardly more than the probable ones."""
    table = np.ascontiguousarray(wide_mixture.probs.T)
    bits = np.unpackbits(probable_pairs(wide_mixture.weights, table, 1e-3), axis=1, bitorder="little")
    exact = (table * wide_mixture.weights) @ table.T
    asked = np.tril(np.ones((700, 700), dtype=bool), -1)
    found = bits[:, :700].astype(bool) & asked
    assert found[asked & (exact >= 1e-3)].all()
    assert not found[asked & (exact < 1e-3 * (1 - 1e-4))].any()
