"""Queries of a mixture: against sums over all transactions, and by what they promise."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix import BernoulliMixture, Transactions
from itemix.errors import InvalidInputError
from itemix.mining import query
from itemix.models.mixture import Mixture

NAMES = ["bread", "butter", "milk", "tea"]


def random_mixture(seed=0, n_components=3):
    """Return a mixture over four items."""
    rng = np.random.default_rng(seed)
    return Mixture(rng.dirichlet(np.ones(n_components)), rng.random((n_components, 4)), NAMES)


def naive_information(model, left, right):
    """Return the mutual information of two items in bits, cell by cell."""
    total = 0.0
    for x, y in itertools.product([True, False], repeat=2):
        present = [name for name, held in ((left, x), (right, y)) if held]
        absent = [name for name, held in ((left, x), (right, y)) if not held]
        cell = model.probability(present, absent=absent)
        p, q = (model.probability(name) for name in (left, right))
        total += cell * np.log2(cell / ((p if x else 1 - p) * (q if y else 1 - q)))
    return total


@given(st.integers(0, 200), st.sampled_from(["both", "positive", "negative"]))
def test_dependencies_are_ranked_by_mutual_information(seed, sign):
    """All pairs come strongest first, with the values of the definition, of the sign asked for."""
    model = random_mixture(seed)
    found = query.dependencies(model, 10, sign=sign)
    expected = {}
    for left, right in itertools.combinations(NAMES, 2):
        leverage = model.probability([left, right]) - model.probability(left) * model.probability(right)
        if sign == "both" or (leverage > 0) == (sign == "positive"):
            expected[left, right] = naive_information(model, left, right)
    assert {(d.item, d.other) for d in found} == set(expected)
    values = [d.information for d in found]
    assert values == sorted(values, reverse=True)
    for d in found:
        assert d.information == pytest.approx(expected[d.item, d.other], abs=1e-12)
        assert d.probability == pytest.approx(model.probability([d.item, d.other]))
        assert d.lift == pytest.approx(query.lift(model, [d.item, d.other]))
        assert d.leverage == pytest.approx(d.probability - d.expected)


def test_dependencies_of_some_items():
    """Pairs with at least one of the items, each once."""
    found = query.dependencies(random_mixture(1), 10, items=["milk", "tea"])
    pairs = [frozenset((d.item, d.other)) for d in found]
    assert len(pairs) == len(set(pairs)) == 5
    assert query.dependencies(random_mixture(1), 2) == query.dependencies(random_mixture(1), 6)[:2]


def test_rule_measures_are_those_of_the_probabilities():
    """Confidence, lift and the others of a rule follow from the model's probabilities."""
    model = random_mixture(3)
    found = query.rule_measures(model, ["bread", "tea"], "milk")
    joint = model.probability(["bread", "tea", "milk"])
    assert found["support"] == pytest.approx(joint)
    assert found["confidence"] == pytest.approx(model.probability("milk", given=["bread", "tea"]))
    assert found["lift"] == pytest.approx(found["confidence"] / model.probability("milk"))
    assert found["leverage"] == pytest.approx(
        joint - model.probability(["bread", "tea"]) * model.probability("milk")
    )
    with pytest.raises(InvalidInputError, match="expected different items on the two sides of a rule"):
        query.rule_measures(model, ["bread"], ["bread", "milk"])


def test_a_repulsion_is_found():
    """Items of different components avoid each other: the strongest negative pair says so."""
    model = Mixture([0.5, 0.5], [[0.9, 0.9, 0.05, 0.5], [0.05, 0.1, 0.9, 0.5]], NAMES)
    worst = query.dependencies(model, 1, sign="negative")[0]
    assert {worst.item, worst.other} == {"bread", "milk"}
    assert worst.lift < 1


@given(st.integers(0, 200), st.sets(st.sampled_from(NAMES), max_size=3))
def test_recommendations_are_conditional_probabilities(seed, basket):
    """Each item that is not in the basket comes with its probability given the basket, highest first.

    A complete basket holds nothing but its items: all others, except the one asked for, are absent.
    """
    model = random_mixture(seed)
    for complete in (True, False):
        found = query.recommend(model, sorted(basket), n=10, complete=complete)
        assert {r.item for r in found} == set(NAMES) - basket
        for r in found:
            others = [name for name in NAMES if name not in {r.item, *basket}] if complete else []
            chance = model.probability(r.item, given=sorted(basket), given_absent=others)
            assert r.probability == pytest.approx(chance)
            assert r.lift == pytest.approx(r.probability / model.probability(r.item))
        assert [r.probability for r in found] == sorted((r.probability for r in found), reverse=True)


def test_the_order_of_a_basket_does_not_matter():
    """Nor does an item that is named twice."""
    model = random_mixture(6)
    for complete in (True, False):
        expected = query.recommend(model, ["bread", "tea"], complete=complete)
        assert query.recommend(model, ["tea", "bread", "tea"], complete=complete) == expected


def test_a_basket_that_is_ruled_out_as_a_whole():
    """What must be with it is certain; if nothing alone can complete it, it is taken as incomplete."""
    model = Mixture([0.5, 0.5], [[1.0, 1.0, 0.0, 0.5], [0.0, 0.5, 1.0, 0.5]], NAMES)
    found = query.recommend(model, ["bread"])
    assert [(r.item, r.probability) for r in found] == [("butter", 1.0), ("milk", 0.0), ("tea", 0.0)]
    model = Mixture([1.0], [[1.0, 1.0, 1.0, 0.5]], NAMES)
    assert query.recommend(model, ["bread"]) == query.recommend(model, ["bread"], complete=False)
    model = Mixture([0.5, 0.5], [[0.5, 0.5, 0.0, 0.5], [0.0, 0.5, 0.5, 0.0]], NAMES)
    with pytest.raises(InvalidInputError, match="condition of positive probability"):
        query.recommend(model, ["bread", "milk"])


@given(st.integers(0, 100), st.integers(1, 12))
def test_the_best_columns_are_those_of_a_stable_sort(seed, n):
    """Also with ties, and with many columns."""
    rng = np.random.default_rng(seed)
    for scores in (rng.integers(0, 4, (5, 9)) * 1.0, rng.random((4, 80)), rng.integers(0, 9, (4, 80)) * 1.0):
        expected = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        np.testing.assert_array_equal(query.best_columns(scores, n), expected)


def test_corrected_mixtures_complete_baskets_by_their_mixture():
    """The correction says nothing about whole transactions."""
    data = random_mixture(4).sample(300, random_state=0)
    fitted = BernoulliMixture(1, correction=2, random_state=0).fit(data)
    assert fitted.corrected_ is not None
    found = query.recommend_many(fitted.corrected_, [["bread"], []], 3)
    expected = query.recommend_many(fitted.mixture_, [["bread"], []], 3)
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own, other)
    few = query.recommend(fitted.corrected_, ["bread"], 1)[0]
    assert few.probability == pytest.approx(expected[1][0, 0])


def test_unwanted_items_are_not_recommended():
    """They are left out; in an incomplete basket, items known to be absent change the probabilities."""
    model = random_mixture(4)
    assert "milk" not in {r.item for r in query.recommend(model, "bread", n=5, absent="milk")}
    found = query.recommend(model, "bread", n=5, absent="milk", complete=False)
    assert [r.item for r in found if r.item == "milk"] == []
    assert found[0].probability == pytest.approx(
        model.probability(found[0].item, given="bread", given_absent="milk")
    )


def test_many_baskets_get_what_each_gets_alone():
    """Bulk recommendations are the single ones; baskets may be names or transactions."""
    model = random_mixture(2, n_components=4)
    baskets = [["bread"], [], ["milk", "tea"], ["bread", "butter", "milk"]]
    codes, chances = query.recommend_many(model, baskets, n=2)
    for basket, some_codes, some_chances in zip(baskets, codes, chances, strict=True):
        single = query.recommend(model, basket, n=2)
        assert [NAMES[c] for c in some_codes if c >= 0] == [r.item for r in single]
        np.testing.assert_allclose(some_chances[: len(single)], [r.probability for r in single])
    assert codes[3, 1] == -1
    assert chances[3, 1] == 0
    merged = Transactions([0, 1, 1], [0], NAMES, [2, 1])
    codes, _ = query.recommend_many(model, merged, n=2)
    assert codes.shape == (3, 2)
    np.testing.assert_array_equal(codes[0], codes[1])


@given(st.integers(0, 200), st.sets(st.sampled_from(NAMES)), st.booleans())
def test_an_explanation_adds_up(seed, basket, partial):
    """The contributions of all items and the weight make up the component's share of the evidence."""
    model = random_mixture(seed)
    found = query.explain(model, sorted(basket), n=10, partial=partial)
    assert found.probability == pytest.approx(found.responsibilities.max())
    absent = [] if partial else sorted(set(NAMES) - basket)
    event = model.probability(sorted(basket), absent=absent)
    independent = np.prod([model.probability(name) for name in sorted(basket)])
    independent *= np.prod([1 - model.probability(name) for name in absent])
    total = sum(c.evidence for c in found.contributions)
    weight = model.weights[found.component]
    assert np.log(found.probability) == pytest.approx(np.log(weight) + total + np.log(independent / event))
    assert {c.item for c in found.contributions if c.present} == basket
    evidence = [c.evidence for c in found.contributions]
    assert evidence == sorted(evidence, reverse=True)


def test_bad_questions_are_refused():
    """Impossible baskets, unknown signs and items of probability zero are errors."""
    model = Mixture([1.0], [[0.5, 0.0, 0.5, 0.5]], NAMES)
    with pytest.raises(
        InvalidInputError, match="expected sign to be one of 'both', 'positive', 'negative', got 'up'"
    ):
        query.dependencies(model, sign="up")
    with pytest.raises(InvalidInputError, match="expected items that the model allows"):
        query.lift(model, ["butter"])
    with pytest.raises(InvalidInputError, match="condition of positive probability"):
        query.recommend(model, ["butter"])
    with pytest.raises(InvalidInputError, match=r"rules out \(\['butter'\]\)"):
        query.recommend_many(model, [["milk"], ["butter"]])
    with pytest.raises(InvalidInputError, match="expected n as a whole number of 0 or more, got -1; try 5"):
        query.recommend(model, ["milk"], n=-1)
