"""Itemsets chosen among others: by support, length and items, the first ones, the closed and the maximal."""

import numpy as np
import pytest
from five_baskets import names
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive

from itemix import InvalidInputError, Itemsets, rules

baskets = st.lists(st.sets(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12).filter(any)


@given(baskets, st.data())
def test_filter(baskets, data):
    """Filtering is what a list comprehension would do."""
    itemsets = naive.as_itemsets(baskets, 1, items="abcdef")
    some = st.none() | st.lists(st.sampled_from("abcdef"), max_size=2)
    include, exclude = data.draw(some), data.draw(some)
    min_len, max_len = data.draw(st.none() | st.integers(0, 4)), data.draw(st.none() | st.integers(0, 4))
    counts = st.none() | st.integers(0, len(baskets))
    low, high = data.draw(counts), data.draw(counts)
    bounds = {"min_support": low, "max_support": high, "min_len": min_len, "max_len": max_len}
    if any(
        low is not None and high is not None and low > high for low, high in [(low, high), (min_len, max_len)]
    ):
        with pytest.raises(InvalidInputError, match=r"expected min_\w+ <= max_\w+, got .* and .*; lower"):
            itemsets.filter(**bounds)
        return
    kept = itemsets.filter(**bounds, include=include, exclude=exclude)
    expected = [
        (items, support, count)
        for items, support, count in itemsets
        if (low is None or count >= low)
        and (high is None or count <= high)
        and (min_len is None or len(items) >= min_len)
        and (max_len is None or len(items) <= max_len)
        and set(include or []) <= set(items)
        and not set(exclude or []) & set(items)
    ]
    assert [tuple(itemset) for itemset in kept] == expected


def test_filter_by_fraction_and_by_name(itemsets):
    """A float is a fraction, met exactly; a single name is one item."""
    assert names(itemsets.filter(min_support=0.6)) == [{"milk"}, {"bread"}, {"milk", "bread"}]
    assert names(itemsets.filter(min_support=0.1 + 0.2 + 0.3)) == [{"milk"}, {"bread"}, {"milk", "bread"}]
    assert names(itemsets.filter(max_support=0.4, include="beer", max_len=1)) == [{"beer"}]


@pytest.mark.parametrize("value", [-0.1, 1.5, "a", True, float("nan")])
def test_filter_by_a_wrong_support(itemsets, value):
    """The message says what a support is."""
    with pytest.raises(
        InvalidInputError, match=r"expected min_support as a fraction (from 0 to 1|\(0.01\), a percentage)"
    ):
        itemsets.filter(min_support=value)


def test_filter_by_count_needs_counts():
    """Itemsets from a model have no counts."""
    itemsets = Itemsets([0, 1], [0], [0.5], ["a"])
    with pytest.raises(
        InvalidInputError, match=r"expected max_support as a fraction .*, got the count 3; try 0.1"
    ):
        itemsets.filter(max_support=3)


def test_bounds_are_numbers(itemsets):
    """Lengths and numbers of itemsets are whole, supports are not negative."""
    with pytest.raises(InvalidInputError, match="expected min_len as a whole number, got 'two'; try 2"):
        itemsets.filter(min_len="two")
    with pytest.raises(InvalidInputError, match=r"expected max_len as a whole number, got 1.5; try 2"):
        itemsets.filter(max_len=1.5)
    with pytest.raises(InvalidInputError, match="expected n as a whole number of 0 or more, got 'ten'"):
        itemsets.top("ten")
    for call in (itemsets.top, itemsets.table, rules(itemsets).top, rules(itemsets).table):
        with pytest.raises(
            InvalidInputError, match="expected n as a whole number of 0 or more, got -1; try 10"
        ):
            call(-1)
    with pytest.raises(InvalidInputError, match=r"expected min_support as a fraction from 0 to 1 .* got -1"):
        itemsets.filter(min_support=-1)


def test_what_stays_known_of_a_family(itemsets):
    """A higher threshold leaves all (or all closed) itemsets of that threshold, anything else only some."""
    assert itemsets.filter(min_support=0.4).target == "all"
    assert itemsets.filter(min_support=0.4).min_support == 0.4
    assert itemsets.filter(min_support=0.1).min_support == 0.2
    assert itemsets.filter().target == "all"
    assert itemsets.closed().filter(min_support=3).target == "closed"
    assert itemsets.closed().filter(min_support=3) == itemsets.filter(min_support=3).closed()
    assert itemsets.closed().closed().target == "closed"
    assert itemsets.closed().maximal().target == "maximal"
    assert itemsets.maximal().filter(min_support=0.4).target is None
    assert itemsets.maximal().closed().target is None
    assert itemsets.filter(max_len=2).target is None
    assert itemsets.filter(max_len=2).closed().target is None
    assert itemsets.take([0]).target is None


def test_top(itemsets):
    """The most frequent come first, ties keep their order."""
    assert [i.count for i in itemsets.top(3)] == [4, 3, 3]
    assert names(itemsets.top(3)) == [{"milk"}, {"bread"}, {"milk", "bread"}]
    assert names(itemsets.top(1, min_len=2)) == [{"milk", "bread"}]
    assert len(itemsets.top(100)) == 7
    assert len(itemsets.top(0)) == 0


def test_take(itemsets):
    """Positions, negative ones and masks choose, as in NumPy."""
    assert names(itemsets.take([2, -7])) == [{"beer"}, {"milk"}]
    assert names(itemsets.take(itemsets.lengths == 3)) == [{"milk", "bread", "beer"}]
    assert len(itemsets.take([])) == 0
    with pytest.raises(IndexError):
        itemsets.take([7])


@given(baskets)
def test_closed_and_maximal(baskets):
    """Closed and maximal sets are those of the definition, also of closed sets, in any order."""
    itemsets = naive.as_itemsets(baskets, 1)
    sets = names(itemsets)
    closed = [s for s, keep in zip(sets, naive.largest(sets, itemsets.count), strict=True) if keep]
    maximal = [s for s, keep in zip(sets, naive.largest(sets, [0] * len(sets)), strict=True) if keep]
    assert names(itemsets.closed()) == closed
    assert names(itemsets.maximal()) == maximal
    assert names(itemsets.closed().maximal()) == maximal
    assert names(itemsets.maximal().closed()) == maximal
    backwards = itemsets.take(np.arange(len(itemsets))[::-1])
    assert names(backwards.closed()) == closed[::-1]
    assert names(backwards.filter(min_len=2).maximal()) == [s for s in maximal[::-1] if len(s) > 1]


@given(baskets)
def test_closed_sets_of_a_model(baskets):
    """Without counts, supports that differ by rounding only count as the same."""
    exact = naive.as_itemsets(baskets, 1)
    wobble = 1 + 1e-13 * np.arange(len(exact))
    model = Itemsets(exact.offsets, exact.codes, exact.support / wobble, exact.items)
    assert names(model.closed()) == names(exact.closed())


def test_chains_of_close_supports_stay_apart():
    """Supports that really differ keep their sets apart."""
    itemsets = Itemsets([0, 1, 3], [0, 0, 1], [0.5, 0.5 * (1 - 1e-6)], ["a", "b"])
    assert len(itemsets.closed()) == 2
    assert len(itemsets.maximal()) == 1


def test_the_empty_set_is_a_set():
    """The empty set may be among them: it is in every other."""
    itemsets = Itemsets([0, 0, 1, 2], [0, 1], [1.0, 1.0, 0.5], ["a", "b"], count=[4, 4, 2], n_transactions=4)
    assert names(itemsets.closed()) == [{"a"}, {"b"}]
    assert names(itemsets.maximal()) == [{"a"}, {"b"}]
    assert itemsets.support_of([]) == 1.0
