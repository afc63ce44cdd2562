"""Market baskets: the grocery store, and stores of one's own with planted rules."""

import numpy as np
import pytest

from itemix import InvalidInputError, UnknownItemError
from itemix.data import grocery
from itemix.data.synthetic import BuyerType, PlantedRule, grocery_store, market_baskets

DELI = ["bread", "wine", "cheese", "olives", "grapes"]


def test_the_store_never_changes():
    """Same seed, same data, on every machine: these are the numbers of the first five thousand baskets."""
    store = grocery_store()
    assert (store.n_transactions, store.n_items, store.n_ones) == (5000, 92, 33_710)
    assert store.to_lists()[0] == ["whole milk", "carrots", "diapers"]
    assert store.count(["tortillas", "salsa"]) == 287
    assert grocery_store() == store
    assert grocery_store(random_state=np.random.Generator(np.random.PCG64(0))) == store
    assert grocery_store(random_state=1) != store


def test_baskets_look_like_baskets():
    """None is empty, they have about seven items, and few have very many."""
    store = grocery_store(20_000)
    lengths = store.lengths()
    assert lengths.min() >= 1
    assert 6 <= lengths.mean() <= 8
    assert 15 <= lengths.max() <= 30


def test_popularity_is_skewed():
    """One item is in a third of the baskets, most are in fewer than one of ten, all occur."""
    store = grocery_store(20_000)
    supports = store.item_counts() / store.n_transactions
    assert 0.3 <= supports.max() <= 0.5
    assert np.median(supports) < 0.1
    assert supports.min() > 0.005


def test_buyers_buy_what_they_came_for():
    """The items of a buyer type go together, those of different types avoid each other."""
    store = grocery_store(20_000)

    def lift(a, b):
        return store.support([a, b]) / (store.support(a) * store.support(b))

    assert lift("charcoal", "sausages") > 3
    assert lift("diapers", "baby food") > 5
    assert lift("diapers", "beer") > 1.5
    assert lift("dog food", "cat food") < 0.5
    for buyer in grocery.BUYER_TYPES[1:]:
        first, second, *_ = sorted(buyer.items, key=buyer.items.get, reverse=True)
        assert lift(first, second) > 1, buyer.name


@pytest.mark.parametrize("rule", grocery.RULES, ids=lambda rule: f"{rule.antecedents} {rule.consequent}")
def test_planted_rules_hold(rule):
    """Whoever has the antecedents has the consequent at least as often as was planted."""
    store = grocery_store(50_000)
    antecedents = list(rule.antecedents)
    confidence = store.support([*antecedents, rule.consequent]) / store.support(antecedents)
    assert confidence > rule.probability - 0.02
    assert confidence > 1.2 * store.support(rule.consequent)


def test_the_plan_is_consistent():
    """Every name that is planted is an item of the store, and items are distinct."""
    assert len(set(grocery.ITEMS)) == len(grocery.ITEMS)
    for buyer in grocery.BUYER_TYPES:
        assert set(buyer.items) <= set(grocery.ITEMS)
    for rule in grocery.RULES:
        assert {*rule.antecedents, rule.consequent} <= set(grocery.ITEMS)


@pytest.mark.parametrize("n", [0, 1, 20_000, 20_001])
def test_any_number_of_baskets(n):
    """They are made in blocks, the last of which may be empty."""
    assert len(grocery_store(n)) == n


@pytest.mark.parametrize("n", [-1, 2.5, "many", True])
def test_other_numbers_are_refused(n):
    """A number of baskets is a whole number."""
    with pytest.raises(
        InvalidInputError, match=r"expected a number of transactions of 0 or more, got .*; try 5000"
    ):
        grocery_store(n)


def test_a_store_of_ones_own_has_what_was_planted():
    """The rules hold with their probability on top of popularity, and buyers buy what they came for."""
    baskets = market_baskets(
        50_000,
        DELI,
        buyer_types=[BuyerType("party", 1, {"wine": 0.6, "olives": 0.6}), BuyerType("daily", 3, {})],
        rules=[PlantedRule(("wine",), "cheese", 0.5), PlantedRule(("wine", "cheese"), "grapes", 0.9)],
    )
    assert list(baskets.items) == DELI
    assert baskets.lengths().min() >= 1
    by_chance = 0.26 * 3**-0.7
    confidence = baskets.support(["wine", "cheese"]) / baskets.support("wine")
    assert confidence == pytest.approx(0.5 + 0.5 * by_chance, abs=0.02)
    assert baskets.support(["wine", "cheese", "grapes"]) > 0.9 * baskets.support(["wine", "cheese"])
    lift = baskets.support(["wine", "olives"]) / (baskets.support("wine") * baskets.support("olives"))
    assert lift > 1.3


def test_without_buyers_and_rules_items_are_independent():
    """Only popularity is left, which falls with the place in the list, and how much a buyer buys."""
    baskets = market_baskets(50_000, ["basket", *DELI])
    supports = baskets.item_counts()[1:] / len(baskets)
    assert supports == pytest.approx(0.26 * np.arange(2, 7) ** -0.7, abs=0.01)
    lift = baskets.support(["wine", "cheese"]) / (baskets.support("wine") * baskets.support("cheese"))
    assert lift == pytest.approx(1 + 1 / 12, abs=0.08)  # the variance of the appetite


def test_stores_are_seeded():
    """Same seed, same baskets; the built-in store is one of them."""
    plan = {"buyer_types": grocery.BUYER_TYPES, "rules": grocery.RULES}
    assert market_baskets(5000, grocery.ITEMS, **plan) == grocery_store()
    assert market_baskets(500, DELI, random_state=3) == market_baskets(500, DELI, random_state=3)
    assert market_baskets(500, DELI, random_state=3) != market_baskets(500, DELI, random_state=4)


@pytest.mark.parametrize(
    ("plan", "error", "message"),
    [
        ({"items": []}, InvalidInputError, "expected at least one item in the store, got none; name some"),
        ({"rules": [PlantedRule(("wine",), "chese", 0.5)]}, UnknownItemError, "did you mean 'cheese'"),
        ({"rules": [PlantedRule(("vine",), "cheese", 0.5)]}, UnknownItemError, "did you mean 'wine'"),
        (
            {"rules": [PlantedRule(("wine",), "cheese", 50)]},
            InvalidInputError,
            "expected a probability in the rule for cheese from 0 to 1, got 50; try 0.5",
        ),
        (
            {"buyer_types": [BuyerType("party", 1, {"wine": -0.1})]},
            InvalidInputError,
            "expected a probability in party from 0 to 1, got -0.1; try 0.5",
        ),
        (
            {"buyer_types": [BuyerType("party", -1, {"wine": 0.1})]},
            InvalidInputError,
            "expected a weight from 0 to 1e.09, got -1; try 1",
        ),
        (
            {"buyer_types": [BuyerType("party", 0, {"wine": 0.1})]},
            InvalidInputError,
            "expected a buyer type of positive weight, got none; try a weight of 1",
        ),
    ],
)
def test_plans_that_make_no_sense_are_refused(plan, error, message):
    """Names must be items of the store, and probabilities probabilities."""
    with pytest.raises(error, match=message):
        market_baskets(10, **{"items": DELI, **plan})
