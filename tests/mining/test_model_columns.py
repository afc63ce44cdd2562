"""Tables of categories: no set, offer or rule has two values of one column."""

from itertools import combinations, groupby

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.prefix import probable_sets

import itemix
from itemix import Mixture, Transactions, mine
from itemix.core.binning import Bins
from itemix.core.items import Items
from itemix.mining import query
from itemix.mining.model import LevelSearch, without_rivals


@st.composite
def mixtures_of_tables(draw):
    """Draw a mixture over the items of a table, which may give two values of a column a chance."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    column_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = rng.permutation(len(column_of))
    names = [f"c{column_of[code]}={code}" for code in order]
    items = Items(names, bins=Bins({f"c{j}": None for j in range(len(sizes))}), column_of=column_of[order])
    probs = rng.random((draw(st.integers(1, 4)), len(names)))
    probs[rng.random(probs.shape) < 0.2] = 1.0
    return Mixture(rng.dirichlet(np.ones(len(probs))), probs, items)


def columns(items, names):
    """The columns of some items."""
    return [items.column(name) for name in names]


def expected_sets(mixture, threshold, include=()):
    """All sets of enough probability with one value of a column at most, by writing out every product."""
    found = probable_sets(mixture.weights, mixture.probs, threshold)
    named = {frozenset(mixture.items.names(sorted(codes))): p for codes, p in found.items()}
    return {
        names: p
        for names, p in named.items()
        if len(set(columns(mixture.items, names))) == len(names) and set(include) <= names
    }


@given(mixtures_of_tables(), st.sampled_from([0.02, 0.2, 0.6]), st.data())
def test_no_set_has_two_values_of_a_column(mixture, threshold, data):
    """Mining a mixture gives all probable sets but these, also with included items and a limit."""
    include = data.draw(st.lists(st.sampled_from(list(mixture.items)), max_size=2, unique=True))
    expected = expected_sets(mixture, threshold, include)
    options = {"include": include, "max_itemsets": max(len(expected), 1)}
    found = {frozenset(names): p for names, p, _ in mine(mixture, threshold, **options)}
    assert found.keys() == expected.keys()
    assert all(found[names] == pytest.approx(expected[names]) for names in found)


@given(mixtures_of_tables(), st.sampled_from([0.02, 0.2]))
def test_nor_has_one_that_is_found_level_by_level(mixture, threshold):
    """The search for any model gives the same as that for mixtures."""
    from itemix.mining import model as searches

    chosen = mine(mixture, threshold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searches, "MixtureSearch", LevelSearch)
        found = mine(mixture, threshold)
    assert found.sets == chosen.sets
    assert np.allclose(found.support, chosen.support)


def test_bits_of_pairs_of_one_column_are_cleared():
    """Equivalent to comparing the columns of each pair, beyond one block of rows as well."""
    column_of = np.random.default_rng(0).integers(0, 40, 700)
    full = np.full((700, 88), 255, dtype=np.uint8)
    bits = np.unpackbits(without_rivals(full, column_of), axis=1, bitorder="little")[:, :700]
    assert np.array_equal(bits.astype(bool), column_of[:, None] != column_of)


@given(mixtures_of_tables(), st.data())
def test_no_second_value_of_a_column_is_recommended(mixture, data):
    """Neither for one basket nor for many; all other items are still offered."""
    by_column = groupby(sorted(mixture.items), key=mixture.items.column)
    values = [list(names) for _, names in by_column]
    basket = [data.draw(st.sampled_from(names)) for names in values if data.draw(st.booleans())]
    rest = {name for names in values for name in names if not set(basket) & set(names)}
    n = len(mixture.items)
    assert {offer.item for offer in query.recommend(mixture, basket, n)} == rest
    assert {offer.item for offer in query.recommend(mixture, basket, n, complete=False)} == rest
    codes, _ = query.recommend_many(mixture, [basket, []], n)
    assert set(mixture.items.names(codes[0][codes[0] >= 0])) == rest
    assert len(codes[1][codes[1] >= 0]) == n


def test_rules_recommend_no_second_value_either():
    """A rule does not apply where the row has another value of the column that it concludes."""
    frame = pd.DataFrame({"sex": ["f", "f", "f", "m"], "deck": ["A", "A", "A", "B"], "big": [1, 1, 0, 0]})
    tx = Transactions.from_table(pd.concat([frame] * 10))
    rules = itemix.rules(mine(tx, 0.25), metric="support", min_threshold=0.1)
    offers = rules.recommend(["deck=A", "sex=m"], 20)
    assert offers
    assert {tx.items.column(name) for offer in offers for name in offer.items} == {"big"}
    scored = itemix.evaluate_recommendations(rules, tx, k=2, train=tx)
    assert {row[1] for row in scored.table().rows} == {"1.0000"}, "of two values left, one is the right one"


@given(mixtures_of_tables())
def test_dependencies_are_between_columns(mixture):
    """That two values of a column exclude each other is no news; all other pairs are ranked."""
    pairs = query.dependencies(mixture, 100)
    n_pairs = sum(
        mixture.items.column(a) != mixture.items.column(b) for a, b in combinations(mixture.items, 2)
    )
    assert len(pairs) == n_pairs
    assert all(mixture.items.column(pair.item) != mixture.items.column(pair.other) for pair in pairs)


def test_many_offers_show_as_a_table():
    """A row for each basket, with its id; in a notebook, too."""
    tx = Transactions.from_lists([["a", "b"], ["a"], ["b", "c"]], ids=["x", "y", "z"])
    offers = itemix.BernoulliMixture(1, random_state=0).fit(tx).recommend_many(tx, 1)
    lines = repr(offers).splitlines()
    assert lines[0] == "Recommendations for 3 baskets"
    assert [line.split()[0] for line in lines[1:]] == ["id", "x", "y", "z"]
    assert "<table" in offers._repr_html_()
