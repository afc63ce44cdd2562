"""Evaluation of recommendations: against the twin, the baselines, and what is refused."""

import json

import numpy as np
import pytest
from naive import recommendations as naive
from naive.models import random_mixture

import itemix
from itemix.errors import InvalidInputError


@pytest.fixture(scope="module")
def model():
    """A mixture of nine items."""
    return random_mixture(3)


@pytest.fixture(scope="module")
def baskets(model):
    """Test baskets, some with one item or none."""
    return model.sample(60, random_state=1)


def test_against_the_twin(model, baskets):
    """All items in turn: over all baskets, and over those of each size."""
    found = itemix.evaluate_recommendations(model, baskets, k=2, most_left_out=9)
    fitted = itemix.fitted.FittedModel.of(model)

    def recommend(basket):
        return [r.item for r in fitted.recommend(basket, 2)]

    for row, low, high in zip(found.rows, (2, 2, 3, 5), (99, 2, 4, 9), strict=False):
        own = [basket for basket in baskets.to_lists() if low <= len(basket) <= high]
        expected = naive.evaluate(recommend, own, 2, 9)
        for name, value in expected.items():
            assert getattr(row, name) == pytest.approx(value), name
    assert found.hit_rate == found.score().hit_rate
    assert found.ndcg == found.score("model").ndcg
    assert found.n_left_out == sum(len(basket) for basket in baskets.to_lists() if len(basket) > 1)


def test_rules_against_the_twin(model, baskets):
    """Rules recommend their consequents, the best rule first."""
    rules = itemix.rules(itemix.mine(model, 0.05), metric="confidence", min_threshold=0.1)
    found = itemix.evaluate_recommendations(rules, baskets, k=3, most_left_out=9).score("rules")

    def recommend(basket):
        return list(dict.fromkeys(item for rule in rules.recommend(basket, 3) for item in rule.items))

    for name, value in naive.evaluate(recommend, baskets.to_lists(), 3, 9).items():
        assert getattr(found, name) == pytest.approx(value), name


def test_baselines(model, baskets):
    """Popularity ranks by counts; the regression finds what goes together."""
    train = model.sample(500, random_state=5)
    found = itemix.evaluate_recommendations(model, baskets, k=2, train=train, most_left_out=9)
    order = [train.items[int(i)] for i in np.argsort(-train.item_counts(), kind="stable")]
    expected = naive.evaluate(
        lambda basket: [name for name in order if name not in basket], baskets.to_lists(), 2, 9
    )
    for name, value in expected.items():
        assert getattr(found.score("popularity"), name) == pytest.approx(value), name
    assert found.score("ease").ndcg > found.score("popularity").ndcg
    assert [row.recommender for row in found.rows if row.size == "all"] == ["model", "ease", "popularity"]


def test_a_seed_says_what_is_left_out(model, baskets):
    """The same seed gives the same figures; one item of each basket is left out if that is asked for."""
    one, two, other = (
        itemix.evaluate_recommendations(model, baskets, k=2, most_left_out=1, random_state=seed)
        for seed in (0, 0, 1)
    )
    assert one == two != other
    assert one.n_left_out == one.n_baskets


def test_unknown_items_are_never_found(model):
    """What is left out must be known; what a basket holds besides is passed over."""
    found = itemix.evaluate_recommendations(model, [["i0", "caviar"], ["i1"]], k=9)
    assert (found.n_baskets, found.n_left_out, found.hit_rate) == (1, 2, 0.5)
    assert found.score().hit_rate_error == 0


def test_as_a_table(model, baskets):
    """As text, HTML, JSON and a data frame."""
    found = itemix.evaluate_recommendations(model, baskets, k=2)
    lines = repr(found).splitlines()
    assert lines[0].startswith("Recommendations: ")
    assert "2 recommended" in lines[0]
    assert lines[1].split()[-1] == "recommender"
    assert "<table" in found._repr_html_()
    frame = found.to_pandas()
    assert list(frame.columns)[:3] == ["recommender", "size", "n_baskets"]
    assert frame["n_baskets"].iloc[0] == frame["n_baskets"].iloc[1:].sum()
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["ndcg"] == found.ndcg


@pytest.mark.parametrize(
    ("test", "options", "message"),
    [
        ([["i0"], ["i1"]], {}, "expected test baskets of two items or more, got none of 2"),
        ([["a", "b"]], {}, "expected test baskets with some of 9 known items, got none of them, such as a"),
        ([["i0", "i1"]], {"k": 0}, "expected k as a whole number of 1 or more, got 0; try 10"),
        ([["i0", "i1"]], {"most_left_out": 0}, "expected most_left_out as a whole number of 1 or more"),
    ],
)
def test_bad_input(model, test, options, message):
    """Each gets one line that says what was expected."""
    with pytest.raises(InvalidInputError, match=message):
        itemix.evaluate_recommendations(model, test, **options)
    with pytest.raises(InvalidInputError, match="expected a fitted model, got str"):
        itemix.evaluate_recommendations("model", [["i0", "i1"]])
    with pytest.raises(InvalidInputError, match="expected one of model, got 'ease'; pass train="):
        itemix.evaluate_recommendations(model, [["i0", "i1"]]).score("ease")


def test_where_no_item_occurs_twice_a_regression_finds_nothing():
    """There is nothing to regress on, and no basket to choose a ridge by."""
    alone = itemix.Transactions.from_lists([[2 * i, 2 * i + 1] for i in range(100)])
    model = itemix.IndependentModel().fit(alone)
    assert itemix.evaluate_recommendations(model, alone, train=alone).score("ease").hit_rate == 0
    few = alone[:3]
    assert itemix.evaluate_recommendations(model, few, train=few).n_baskets == 3
