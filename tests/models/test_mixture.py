"""Mixture: its probabilities against the naive twin, and the laws that hold models together."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import estep as naive

from itemix import Transactions
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.models import mixture as mixture_module
from itemix.models.mixture import Mixture

NAMES = ["bread", "butter", "milk", "tea"]


def random_mixture(seed=0, n_components=3, extreme=0.0, names=NAMES):
    """Return a mixture with some exact zeros and ones."""
    rng = np.random.default_rng(seed)
    probs = rng.random((n_components, len(names)))
    probs[rng.random(probs.shape) < extreme] = 0.0
    probs[rng.random(probs.shape) < extreme] = 1.0
    return Mixture(rng.dirichlet(np.ones(n_components)), probs, names)


def all_rows(n_items):
    """Return every binary row."""
    return np.array(list(itertools.product([0, 1], repeat=n_items)))


def transactions_of(matrix, names=NAMES):
    """Return a matrix as transactions."""
    return Transactions.from_matrix(matrix, items=names)


@given(st.integers(0, 1000), st.integers(1, 6), st.sampled_from([0.0, 0.3]))
def test_log_likelihood_is_a_distribution(seed, n_components, extreme):
    """It equals the naive twin on every row, -inf included, and the probabilities of all rows sum to one."""
    model = random_mixture(seed, n_components, extreme)
    matrix = all_rows(4)
    found = model.log_likelihood(transactions_of(matrix))
    scores = naive.log_joint(matrix, model.weights, model.probs)
    np.testing.assert_allclose(found, naive.log_sum_exp(scores), atol=1e-12)
    assert np.exp(found).sum() == pytest.approx(1)
    resp = model.responsibilities(transactions_of(matrix))
    np.testing.assert_allclose(resp, naive.responsibilities(scores), atol=1e-12)


def test_rows_with_multiplicities_count_as_many():
    """Merged transactions are answered one by one, in the order of the rows."""
    model = random_mixture()
    merged = Transactions.from_lists([["bread"], ["milk"], ["bread"]]).merge_identical()
    data = Transactions(merged.indptr, np.where(merged.indices == 0, 0, 2), NAMES, merged.multiplicities)
    assert model.log_likelihood(data).shape == (3,)
    assert model.responsibilities(data).shape == (3, 3)
    np.testing.assert_array_equal(model.labels(data), model.responsibilities(data).argmax(axis=1))


@given(st.integers(0, 1000), st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_probability_is_the_naive_sum(seed, present, absent):
    """Joint probabilities with present and absent items are the sum over components."""
    model = random_mixture(seed, extreme=0.1)
    absent -= present
    expected = naive.itemset_probability(model.weights, model.probs, present, absent)
    found = model.probability([NAMES[i] for i in present], absent=[NAMES[i] for i in absent])
    assert found == pytest.approx(expected, abs=1e-14)


def test_bulk_probabilities_are_the_single_ones():
    """Many itemsets at once give what each gives alone; an item named twice counts once."""
    model = random_mixture()
    sets = [["milk"], [], ["milk", "milk", "tea"], "bread"]
    bulk = model.probabilities(sets, given=["butter"], given_absent=[])
    singles = [model.probability(s, given="butter") for s in sets]
    np.testing.assert_allclose(bulk, singles)
    assert bulk[1] == pytest.approx(1)
    assert bulk[2] == pytest.approx(model.probability(["milk", "tea"], given=["butter"]))


@given(st.integers(0, 1000), st.integers(1, 30))
def test_a_large_table_answers_the_same(seed, n_sets):
    """Whether rows of some items are made or the whole table is transposed, no bit of an answer differs."""
    rng = np.random.default_rng(seed)
    model = random_mixture(seed, names=range(40))
    lengths = rng.integers(0, 4, (2, n_sets))
    offsets = np.concatenate([np.zeros((2, 1), dtype=np.int64), lengths.cumsum(axis=1)], axis=1)
    present, absent = (rng.integers(low, low + 20, n, dtype=np.int32) for low, n in enumerate(offsets[:, -1]))
    asked = offsets[0], present, offsets[1], absent + np.int32(19)
    with patch.object(mixture_module, "_LARGE_TABLE", 0):
        found = random_mixture(seed, names=range(40)).probabilities_of_codes(*asked)
    np.testing.assert_array_equal(found, model.probabilities_of_codes(*asked))


def test_conditioning_is_bayes_rule():
    """P(A | B) = P(A and B) / P(B), with absent items on both sides; the result is again a mixture."""
    model = random_mixture(5)
    joint = model.probability(["milk", "bread"], absent=["tea", "butter"])
    condition = model.probability(["bread"], absent=["butter"])
    found = model.probability(["milk"], absent=["tea"], given=["bread"], given_absent=["butter"])
    assert found == pytest.approx(joint / condition)
    conditional = model.condition(present=["bread"], absent=["butter"])
    assert conditional.probability("bread") == pytest.approx(1)
    assert conditional.probability("butter") == 0
    assert conditional.items == model.items


def test_marginal_forgets_the_other_items():
    """A marginal answers for its items as the whole model does."""
    model = random_mixture(2)
    small = model.marginal(["tea", "bread"])
    assert list(small.items) == ["bread", "tea"]
    assert small.probability(["bread", "tea"]) == pytest.approx(model.probability(["bread", "tea"]))


def test_the_average_of_models_is_a_model():
    """A stack's probabilities are the average of its parts', weighted if asked."""
    models = [random_mixture(seed, n_components=seed + 1) for seed in range(3)]
    stacked = Mixture.stack(models)
    assert stacked.n_components == 6
    event = ["bread", "tea"]
    parts = [model.probability(event) for model in models]
    assert stacked.probability(event) == pytest.approx(np.mean(parts))
    weighted = Mixture.stack(models, weights=[2, 1, 1])
    assert weighted.probability(event) == pytest.approx(np.average(parts, weights=[2, 1, 1]))


@given(st.integers(0, 100))
def test_data_is_a_model(seed):
    """The empirical mixture's probability of any itemset is its support."""
    rng = np.random.default_rng(seed)
    data = transactions_of((rng.random((12, 4)) < 0.5).astype(int))
    model = Mixture.from_transactions(data)
    for length in range(5):
        for itemset in itertools.combinations(NAMES, length):
            assert model.probability(itemset) == pytest.approx(data.support(itemset), abs=1e-12)


def test_samples_follow_the_model():
    """Frequencies of a large sample are the model's probabilities; seeds repeat; zeros and ones are kept."""
    model = Mixture([0.3, 0.7], [[0.9, 0.5, 0.0, 1.0], [0.1, 0.2, 0.6, 1.0]], NAMES)
    data = model.sample(20_000, random_state=1)
    for itemset in (["bread"], ["bread", "butter"], ["milk", "tea"]):
        assert data.support(itemset) == pytest.approx(model.probability(itemset), abs=0.015)
    assert data.support("tea") == 1
    assert data.support(["bread", "milk"]) == pytest.approx(0.7 * 0.06, abs=0.01)
    assert data == model.sample(20_000, random_state=1)
    assert len(model.sample(0)) == 0


def test_order_of_components_does_not_matter():
    """Permuted components give the same probabilities and likelihoods."""
    model = random_mixture(7, n_components=5)
    other = model.take([3, 1, 4, 0, 2])
    data = transactions_of(all_rows(4))
    np.testing.assert_allclose(model.log_likelihood(data), other.log_likelihood(data), atol=1e-12)


def test_one_component_is_independence():
    """With one component every joint probability is the product of the single ones."""
    model = random_mixture(n_components=1)
    product = np.prod([model.probability(name) for name in NAMES])
    assert model.probability(NAMES) == pytest.approx(product)


def test_size_and_immutability():
    """There are K (D + 1) - 1 free parameters; arrays cannot be written."""
    model = random_mixture()
    assert model.n_parameters == 3 * 5 - 1
    for array in (model.weights, model.probs):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("weights", "probs", "message"),
    [
        ([0.5, 0.6], [[0.5], [0.5]], "that sum to 1, got the sum 1.1"),
        ([-0.5, 1.5], [[0.5], [0.5]], "expected weights of zero or more"),
        ([np.nan, 1.0], [[0.5], [0.5]], "expected weights of zero or more"),
        ([[1.0]], [[0.5]], r"expected weights of shape \(K,\)"),
        ("ab", [[0.5]], "expected an array of numbers, got 'ab'; give numbers in rows of equal length"),
        ([0.5, 0.5], [[0.5], [0.5, 1]], "expected an array of numbers, got"),
        ([1.0], [[0.5, 0.5]], r"expected probs of shape \(1, 1\)"),
        ([1.0], [[1.5]], "expected probabilities from 0 to 1"),
        ([1.0], [[np.nan]], "expected probabilities from 0 to 1"),
    ],
)
def test_bad_parameters_are_refused(weights, probs, message):
    """What is no distribution is an error that says what was expected."""
    with pytest.raises(InvalidInputError, match=message):
        Mixture(weights, probs, ["a"])


def test_bad_questions_are_refused():
    """Unknown items, contradictions and impossible conditions are errors with a hint."""
    model = Mixture([1.0], [[0.5, 0.0, 0.5, 0.5]], NAMES)
    with pytest.raises(UnknownItemError, match="did you mean 'milk'"):
        model.probability(["milc"])
    with pytest.raises(InvalidInputError, match="present or absent, got 'tea' as both"):
        model.probability(["tea"], absent=["tea"])
    with pytest.raises(InvalidInputError, match="present or absent, got 'tea' as both"):
        model.condition(present=["tea"], absent=["tea"])
    with pytest.raises(InvalidInputError, match="condition of positive probability"):
        model.probability(["milk"], given=["butter"])
    with pytest.raises(InvalidInputError, match="absent items for each of the 1 itemsets, got 2"):
        model.probabilities([["milk"]], absent=[[], []])
    with pytest.raises(InvalidInputError, match="expected the model's 4 items, got others, such as"):
        model.log_likelihood(Transactions.from_lists([["cocoa"]]))
    with pytest.raises(
        InvalidInputError, match=r"or another order; try transactions.align_items\(model.mixture_.items\)"
    ):
        model.log_likelihood(Transactions([0, 1], [0], NAMES[::-1]))
    with pytest.raises(InvalidInputError, match="expected at least one mixture"):
        Mixture.stack([])
    with pytest.raises(InvalidInputError, match="weights of zero or more"):
        Mixture.stack([model], weights=[-1])
    with pytest.raises(InvalidInputError, match="expected item names in a list, got float"):
        model.probability(1.5)
    with pytest.raises(InvalidInputError, match="expected n as a whole number of 0 or more, got -1; try 100"):
        model.sample(-1)
    with pytest.raises(InvalidInputError, match="expected at least one transaction"):
        Mixture.from_transactions(Transactions([0], [], NAMES))
