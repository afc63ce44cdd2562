"""Model: answers that follow from the probabilities of sets are those a mixture gives in its own way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.models import OnlyProbabilities, random_mixture

from itemix.core.sets import Sets
from itemix.errors import InvalidInputError
from itemix.mining import query
from itemix.models.base import as_model
from itemix.models.maxent import MaxEntropy
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

CLOSE = {"rtol": 1e-9, "atol": 1e-15}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(9)), st.integers(0, 3), st.integers(0, 3))
def test_conditional_probabilities(seed, order, n_given, n_absent):
    """Given items present and absent, the ratio of two probabilities is the conditional one."""
    mixture = random_mixture(seed)
    names = [f"i{i}" for i in order]
    condition = {"given": names[:n_given], "given_absent": names[n_given : n_given + n_absent]}
    asked, against = [names[6:8], names[7:], []], [[], names[6:7], names[8:]]
    expected = mixture.probabilities(asked, absent=against, **condition)
    found = OnlyProbabilities(mixture).probabilities(asked, absent=against, **condition)
    np.testing.assert_allclose(found, expected, **CLOSE)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_tables_of_conditional_and_pair_probabilities(seed):
    """Pairs, items given a basket, and items given each of many baskets."""
    mixture = random_mixture(seed)
    other = OnlyProbabilities(mixture)
    held, missing = np.array([2, 5], dtype=np.int32), np.array([7], dtype=np.int32)
    np.testing.assert_allclose(other.item_probabilities, mixture.item_probabilities, **CLOSE)
    np.testing.assert_allclose(other.pair_probabilities(held), mixture.pair_probabilities(held), **CLOSE)
    np.testing.assert_allclose(other.items_given(held, missing), mixture.items_given(held, missing), **CLOSE)
    baskets = np.array([0, 2, 2, 3]), np.array([2, 5, 0], dtype=np.int32)
    np.testing.assert_allclose(other.items_given_each(*baskets), mixture.items_given_each(*baskets), **CLOSE)


def test_queries_answer_for_any_model():
    """Dependencies and recommendations are the same whatever kind of model says the probabilities."""
    mixture = random_mixture(5)
    other = OnlyProbabilities(mixture)
    assert [pair[:2] for pair in query.dependencies(other, 20)] == [
        pair[:2] for pair in query.dependencies(mixture, 20)
    ]
    assert [r.item for r in query.recommend(other, ["i1"], 5, absent=["i2"])] == [
        r.item for r in query.recommend(mixture, ["i1"], 5, absent=["i2"])
    ]
    baskets = [["i1"], [], ["i3", "i4"]]
    assert (
        query.recommend_many(other, baskets, 4)[0].tolist()
        == query.recommend_many(mixture, baskets, 4)[0].tolist()
    )


def test_a_condition_that_is_ruled_out():
    """Nothing can be said given what cannot be."""
    model = OnlyProbabilities(Mixture([1.0], [[0.0, 0.5]], ["a", "b"]))
    with pytest.raises(InvalidInputError, match=r"rules out \(\['a', 'not b'\]\); leave out one"):
        model.probability([], given=["a"], given_absent=["b"])


def test_what_is_a_model():
    """A model, or what has learned one."""
    mixture = random_mixture(0)
    assert as_model(mixture) is mixture
    assert as_model([["a"]]) is None


def long_baskets():
    """Return models of 400 rare items of which the last goes with the first, and nearly the same as trees."""
    rng = np.random.default_rng(0)
    probs = np.full((2, 400), 0.001)
    probs[1] = 0.002
    probs[:, 399] = 0.1, 0.4
    mixture = Mixture([0.5, 0.5], probs, range(400))
    one = Mixture([1.0], probs[:1], range(400))
    parents = np.full((2, 400), -1)
    trees = TreeMixture([0.5, 0.5], parents, np.repeat(probs[:, :, None], 2, axis=2), range(400))
    no_pairs = Sets([0], [], mixture.items)
    return mixture, trees, one, MaxEntropy(probs[0], no_pairs, []), rng.permutation(399).tolist()


def test_conditions_far_below_the_least_number():
    """Given 150 items at 0.1 to 0.2%, all models answer, and what is given decides between components."""
    mixture, trees, one, entropy, order = long_baskets()
    basket = order[:150]
    for model in (mixture, trees):
        assert model.probability(basket) == 0
        assert model.probability([399], given=basket) == pytest.approx(0.4)
        assert model.probability([399], given=basket[:20]) == pytest.approx(0.4, abs=1e-5)
        assert model.probabilities([[399], basket[:2], []], given=basket) == pytest.approx([0.4, 1, 1])
        assert query.recommend(model, basket, 1, complete=False)[0][:2] == (399, pytest.approx(0.4))
        codes, chances = query.recommend_many(model, [basket], 1, complete=False)
        assert (codes[0, 0], chances[0, 0]) == (399, pytest.approx(0.4))
        assert query.lift(model, basket) == pytest.approx((2 / 1.5) ** 150 / 2)
    for model in (one, entropy):
        assert model.probability([399], given=basket) == pytest.approx(0.1)
        assert query.lift(model, basket) == pytest.approx(1)
        assert query.recommend(model, basket, 1, complete=False)[0][:2] == (399, pytest.approx(0.1))
        assert query.recommend(model, basket, 1)[0][:2] == (399, pytest.approx(0.1))


def test_far_fewer_items_than_all_are_named():
    """Of a long condition that is ruled out, a message names the first items and counts the others."""
    nothing = Mixture([1.0], [[0.0] * 400], range(400))
    with pytest.raises(
        InvalidInputError, match=r"rules out \(\[0, 1, 2, 3, 4\] and 145 more\); leave"
    ) as caught:
        nothing.condition(range(150))
    assert len(str(caught.value)) < 200
    with pytest.raises(InvalidInputError, match=r"\[0, 1, 2, 3, 4\] and 145 more of probability zero; leave"):
        query.lift(nothing, range(150))


def test_an_explanation_of_a_long_basket():
    """The component that a basket of 150 rare items speaks for is found."""
    mixture, *_, order = long_baskets()
    found = query.explain(mixture, order[:150], partial=True)
    assert (found.component, found.probability) == (1, pytest.approx(1))
    conditional = mixture.condition(order[:150], order[150:200])
    assert conditional.weights == pytest.approx([0, 1])
    assert not np.isnan(query.explain(mixture, order[:150]).responsibilities).any()


def test_a_lift_above_the_largest_number_is_infinite():
    """150 items that always come together, in one transaction of a thousand."""
    model = Mixture([0.001, 0.999], [[1.0] * 150, [0.0] * 150], range(150))
    assert query.lift(model, range(50)) == pytest.approx(1e147)
    assert query.lift(model, range(150)) == np.inf
