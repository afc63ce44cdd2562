"""Model: answers that follow from the probabilities of sets are those a mixture gives in its own way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.models import OnlyProbabilities, random_mixture

from itemix.errors import InvalidInputError
from itemix.mining import query
from itemix.mixture import Mixture
from itemix.model import as_model

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
