"""TreeMixture: every answer is a sum over all states, and everything that any model does works."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import trees as naive
from naive.models import OnlyProbabilities

import itemix
from itemix import Transactions, TreeMixture
from itemix.errors import InvalidInputError
from itemix.mining import query
from itemix.models.mixture import Mixture

CLOSE = {"rtol": 1e-9, "atol": 1e-15}
seeds = st.integers(0, 10_000)


@settings(max_examples=40)
@given(seeds, st.integers(1, 6), st.integers(1, 3), st.sampled_from([0.0, 0.3]))
def test_log_likelihood_is_the_log_of_the_probability(seed, n_items, n_components, extreme):
    """Of every state, zeros and ones among the probabilities included; all together have probability one."""
    mixture = naive.random_trees(seed, n_components, n_items, extreme)
    table = naive.states(n_items)
    chances = naive.state_probabilities(mixture)
    assert chances.sum() == pytest.approx(1.0)
    found = mixture.log_likelihood(Transactions.from_matrix(table, mixture.items))
    np.testing.assert_allclose(np.exp(found), chances, **CLOSE)
    np.testing.assert_array_equal(np.isneginf(found), chances == 0)
    names = list(mixture.items)
    for row, chance in zip(table, chances, strict=True):
        present, absent = (
            [n for n, x in zip(names, row, strict=True) if x],
            [n for n, x in zip(names, row, strict=True) if not x],
        )
        assert mixture.probability(present, absent=absent) == pytest.approx(chance, rel=1e-9, abs=1e-15)


@settings(max_examples=30)
@given(seeds, st.permutations(range(6)), st.integers(0, 2), st.integers(0, 2))
def test_questions_are_those_of_any_model(seed, order, n_given, n_absent):
    """Conditional probabilities, pairs, and items given baskets follow from the probabilities of sets."""
    mixture = naive.random_trees(seed)
    other = OnlyProbabilities(mixture)
    names = [f"i{i}" for i in order]
    condition = {"given": names[:n_given], "given_absent": names[n_given : n_given + n_absent]}
    asked = [names[4:5], names[4:], []]
    np.testing.assert_allclose(
        mixture.probabilities(asked, **condition), other.probabilities(asked, **condition), **CLOSE
    )
    held, missing = np.array(order[:2], dtype=np.int32), np.array(order[2:3], dtype=np.int32)
    np.testing.assert_allclose(mixture.item_probabilities, other.item_probabilities, **CLOSE)
    np.testing.assert_allclose(mixture.pair_probabilities(held), other.pair_probabilities(held), **CLOSE)
    np.testing.assert_allclose(mixture.items_given(held, missing), other.items_given(held, missing), **CLOSE)
    baskets = np.array([0, 2, 2, 3]), np.array([2, 5, 0], dtype=np.int32)
    np.testing.assert_allclose(mixture.items_given_each(*baskets), other.items_given_each(*baskets), **CLOSE)


def test_mining_finds_all_probable_sets():
    """`mine` returns exactly the sets whose sum over states reaches the threshold, with that sum."""
    mixture = naive.random_trees(7, 3, 7)
    table, chances = naive.states(7), naive.state_probabilities(mixture)
    expected = {}
    for row in table[1:]:
        codes = np.flatnonzero(row)
        chance = chances[naive.event(table, codes)].sum()
        if chance >= 0.2:
            expected[frozenset(f"i{c}" for c in codes)] = chance
    found = itemix.mine(mixture, 0.2)
    frame = found.to_pandas()
    assert dict(zip(frame["itemsets"], frame["support"], strict=True)) == pytest.approx(expected)
    assert len(expected) > 10


def test_a_mixture_without_edges_is_a_mixture_of_products():
    """All items roots: the same answers as a Mixture."""
    rng = np.random.default_rng(0)
    probs, weights = rng.random((3, 5)), rng.dirichlet(np.ones(3))
    trees = TreeMixture(weights, np.full((3, 5), -1), np.stack([probs, probs], axis=2), range(5))
    mixture = Mixture(weights, probs, range(5))
    data = mixture.sample(50, random_state=0)
    np.testing.assert_allclose(trees.log_likelihood(data), mixture.log_likelihood(data))
    np.testing.assert_allclose(trees.responsibilities(data), mixture.responsibilities(data), atol=1e-7)
    assert trees.n_parameters == mixture.n_parameters
    np.testing.assert_allclose(trees.component_probabilities, probs)


def test_samples_have_the_probabilities_of_the_model():
    """Pairs of items occur as often as they should; the same seed draws the same."""
    mixture = naive.random_trees(2, 3, 6)
    data = mixture.sample(40_000, random_state=0)
    observed = naive.pair_counts(data.to_scipy().toarray().astype(float), np.ones(40_000)) / 40_000
    np.testing.assert_allclose(observed, mixture.pair_probabilities(np.arange(6, dtype=np.int32)), atol=0.01)
    assert mixture.sample(5, random_state=1) == mixture.sample(5, random_state=1)
    assert len(mixture.sample(0)) == 0


def test_merged_transactions_count_each():
    """Log-likelihoods and responsibilities are those of the transactions one by one."""
    mixture = naive.random_trees(4)
    data = mixture.sample(60, random_state=0)
    merged = data.merge_identical()
    rows = np.repeat(np.arange(merged.n_rows), merged.multiplicities)
    apart = Transactions.from_matrix(merged.to_scipy(), mixture.items)
    assert merged.n_rows < len(rows)
    np.testing.assert_allclose(mixture.log_likelihood(merged), mixture.log_likelihood(apart))
    np.testing.assert_allclose(mixture.responsibilities(merged), mixture.responsibilities(apart))


def test_long_baskets_do_not_vanish():
    """Given 600 items of probability 1e-3 an item is as probable as its tree says."""
    n = 601
    parents = np.full((1, n), -1)
    parents[0, 600] = 0
    probs = np.full((1, n, 2), 1e-3)
    probs[0, 600] = 0.1, 0.9
    model = TreeMixture([1.0], parents, probs, range(n))
    assert model.items_given(np.arange(600, dtype=np.int32), np.empty(0, dtype=np.int32))[
        600
    ] == pytest.approx(0.9)
    assert query.recommend_many(model, [list(range(600))], 1)[0].tolist() == [[600]]


@given(st.integers(0, 500))
def test_complete_baskets(seed):
    """An item of a complete basket has the odds P(basket with it) / P(basket)."""
    mixture = naive.random_trees(seed, 3, 6)
    offsets, codes = np.array([0, 0, 1, 4, 6]), np.array([2, 0, 3, 5, 1, 4], dtype=np.int32)
    found = mixture.items_completing_each(offsets, codes)
    for b, row in enumerate(found):
        basket = {f"i{c}" for c in codes[offsets[b] : offsets[b + 1]]}
        for i, name in enumerate(mixture.items):
            rest = [other for other in mixture.items if other not in {name, *basket}]
            with_it = mixture.probability(sorted({*basket, name}), absent=rest)
            without = mixture.probability(sorted(basket - {name}), absent=[*rest, name])
            if name in basket:
                assert row[i] == 1
            elif with_it + without > 0:
                assert row[i] == pytest.approx(with_it / (with_it + without), abs=1e-12)


def test_averages():
    """Stacked mixtures average their probabilities."""
    one, two = naive.random_trees(1), naive.random_trees(2, n_components=1)
    both = TreeMixture.stack([one, two])
    asked = [["i0"], ["i1", "i3"]]
    np.testing.assert_allclose(
        both.probabilities(asked), (one.probabilities(asked) + two.probabilities(asked)) / 2
    )
    with pytest.raises(InvalidInputError, match="expected at least one mixture to stack, got none"):
        TreeMixture.stack([])


def test_a_value():
    """Equal, pickled, printed, immutable; edges by name."""
    mixture = naive.random_trees(3, 2, 4)
    assert pickle.loads(pickle.dumps(mixture)) == mixture  # noqa: S301 - our own bytes
    assert mixture != naive.random_trees(4, 2, 4)
    assert mixture != 3
    assert repr(mixture) == f"TreeMixture(2 components, 4 items, {mixture.n_edges} edges)"
    assert not any(a.flags.writeable for a in (mixture.weights, mixture.parents, mixture.probs))
    tree = TreeMixture([1.0], [[-1, 0, 0]], np.full((1, 3, 2), 0.5), ["a", "b", "c"])
    assert tree.edges() == [("a", "b"), ("a", "c")]
    assert tree.n_parameters == 3 + 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parents": [[0.5, 1.0]]}, r"expected parents as whole numbers of shape \(1, 2\)"),
        ({"parents": [-1, 0]}, r"expected parents as whole numbers of shape \(1, 2\)"),
        ({"parents": [[-1, 2]]}, "expected parents from -1 to 1, got -1 to 2"),
        ({"parents": [[1, 0]]}, "expected parents that make a tree, got items that are their own ancestors"),
        ({"probs": [[0.5, 0.5]]}, r"expected probs of shape \(1, 2, 2\)"),
        ({"probs": [[[0.5, 0.5], [0.5, 1.5]]]}, "expected probabilities from 0 to 1"),
        ({"weights": [0.5]}, "expected weights of zero or more that sum to 1"),
    ],
)
def test_what_is_no_tree(change, message):
    """Wrong shapes, codes, circles and probabilities are refused."""
    parts = {"weights": [1.0], "parents": [[-1, 0]], "probs": [[[0.5, 0.5], [0.1, 0.8]]], "items": ["a", "b"]}
    with pytest.raises(InvalidInputError, match=message):
        TreeMixture(**(parts | change))


def test_conditions_that_are_ruled_out():
    """Nothing can be said given what cannot be."""
    tree = TreeMixture([1.0], [[-1, 0]], [[[0.5, 0.5], [0.0, 1.0]]], ["a", "b"])
    with pytest.raises(InvalidInputError, match=r"rules out \(\['a', 'not b'\]\)"):
        query.recommend(tree, ["a"], absent=["b"], complete=False)
    impossible = TreeMixture([1.0], [[-1, 0]], [[[0.0, 0.0], [0.5, 0.5]]], ["a", "b"])
    with pytest.raises(InvalidInputError, match=r"rules out \(\['a'\]\)"):
        query.recommend_many(impossible, [["b"], ["a"]])
    with pytest.raises(InvalidInputError, match="expected n as a whole number of 0 or more, got -1"):
        tree.sample(-1)
