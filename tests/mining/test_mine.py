"""`mine` on transactions: every target and option against counting by hand, and laws."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mining as naive

import itemix
from itemix import Transactions
from itemix.mining.exact import Layout

TARGETS = ("all", "closed", "maximal")
every_target = pytest.mark.parametrize("target", TARGETS)
both_layouts = pytest.mark.parametrize("sparse", [False, True], ids=["bitsets", "projections"])


@st.composite
def transactions(draw, max_size=12):
    """Draw rows with repeated items or with most items, empty ones, items everywhere or always together."""
    rows = draw(st.lists(st.lists(st.sampled_from("abcdef"), max_size=7), max_size=max_size))
    if draw(st.booleans()):
        rows = [sorted(set("abcdef") - set(row)) for row in rows]
    together = draw(st.sets(st.sampled_from("efgh"), max_size=4))
    everywhere = draw(st.sets(st.sampled_from("xy")))
    return [[*row, *(together if together & set(row) else ()), *everywhere] for row in rows]


def with_layout(rows, sparse):
    """Add empty transactions until the data is sparse: counts stay, and it is laid out in another way."""
    return rows + [[]] * (10 * len(rows) if sparse else 0)


def at_most_all(rows, min_count):
    """Return a count that is a threshold for some rows."""
    return min(min_count, max(len(rows), 1))


def pairs(itemsets):
    """Return [(items, count)], in order."""
    return [(itemset.items, itemset.count) for itemset in itemsets]


def as_counts(itemsets):
    """Return {items: count}, whatever the order."""
    return {frozenset(names): count for names, count in pairs(itemsets)}


def variants(rows):
    """Yield the same data, row by row and merged, with the number of threads to use."""
    tx = Transactions.from_lists(rows)
    for n_jobs in (1, 2):
        yield tx, n_jobs
        yield tx.merge_identical(), n_jobs


@both_layouts
@every_target
@settings(max_examples=60)
@given(transactions(), st.integers(1, 6))
def test_equal_to_counting(target, sparse, rows, min_count):
    """The sets, their counts and their order are those of counting by hand; supports are fractions."""
    rows = with_layout(rows, sparse)
    min_count = at_most_all(rows, min_count)
    expected = naive.mine(rows, min_count, target=target)
    for tx, n_jobs in variants(rows):
        found = itemix.mine(tx, min_count, target=target, n_jobs=n_jobs)
        assert pairs(found) == expected
        assert found.support.tolist() == [count / len(rows) for _, count in expected]
        assert (found.n_transactions, found.target) == (len(rows), target)


@st.composite
def options(draw):
    """Options in any combination that has a meaning, and a threshold."""
    names = st.sets(st.sampled_from("abcdefgh"), max_size=2)
    include, exclude = draw(names), draw(names)
    min_len, more = draw(st.integers(1, 4)), draw(st.none() | st.integers(0, 4))
    chosen = {
        "target": draw(st.sampled_from(TARGETS)),
        "min_len": min_len,
        "max_len": None if more is None else min_len + more,
        "include": sorted(include),
        "exclude": sorted(exclude - include),
        "top_k": draw(st.none() | st.integers(1, 12)),
    }
    if chosen["target"] == "generators":
        chosen["include"] = []
    return draw(st.integers(1, 4)), chosen


@both_layouts
@settings(max_examples=80)
@given(transactions(), options())
def test_options_combined(sparse, rows, threshold_and_options):
    """Lengths, items to hold, items left out and the number of sets mean the same together as apart."""
    min_count, chosen = threshold_and_options
    rows = with_layout([*rows, list("abcdefgh")], sparse)
    min_count = at_most_all(rows, min_count)
    expected = naive.mine(rows, min_count, **chosen)
    for tx, n_jobs in variants(rows):
        assert pairs(itemix.mine(tx, min_count, n_jobs=n_jobs, **chosen)) == expected


@given(transactions(), st.integers(1, 5), st.sampled_from(TARGETS))
def test_top_k_needs_no_threshold(rows, k, target):
    """Without a threshold, the k most frequent of all sets that occur."""
    assert pairs(itemix.mine(rows, top_k=k, target=target)) == naive.mine(rows, 1, target=target, top_k=k)


@given(transactions(), st.integers(1, 4))
def test_order(rows, min_count):
    """Shorter sets first; then that set whose rarest item, among those the other lacks, is more frequent."""
    found = itemix.mine(rows, at_most_all(rows, min_count))
    rank = naive.ranks([(frozenset(row), 1) for row in rows])
    for (first, _), (second, _) in pairwise(pairs(found)):
        assert len(first) <= len(second)
        if len(first) == len(second):
            one, other = set(first) - set(second), set(second) - set(first)
            assert max(map(rank.get, one)) < max(map(rank.get, other))
    assert all([rank[i] for i in names] == sorted(rank[i] for i in names) for names, _ in pairs(found))


SEEDS = range(3)


def random_data(seed, sparse):
    """Draw data too large to count by hand: some items copy others, some rows come again."""
    rng = np.random.default_rng(seed)
    shape = (2000, 75) if sparse else (700, 16)
    held = rng.random(shape) < rng.uniform(0.01, 0.08 if sparse else 0.9, size=shape[1])
    held[:, 3] = held[:, 1]
    held[:, 5] = held[:, 1] & held[:, 2]
    held[: len(held) // 4] = held[len(held) // 2 : len(held) // 2 + len(held) // 4]
    return Transactions.from_matrix(held.astype(np.uint8)), 4 if sparse else 20


@both_layouts
@pytest.mark.parametrize("seed", SEEDS)
def test_laws(seed, sparse):
    """What must hold between results of larger data, whatever they are."""
    tx, least = random_data(seed, sparse)
    every = itemix.mine(tx, least)
    counts = as_counts(every)
    assert len(every) > 200
    assert all(tx.count(itemset) == count for itemset, count in list(counts.items())[::7])
    assert itemix.mine(tx, least, target="closed") == every.closed()
    assert itemix.mine(tx, least, target="maximal") == every.maximal()
    assert itemix.mine(tx, 2 * least) == every.filter(min_support=2 * least)
    for length in range(1, 8):
        assert itemix.mine(tx, least, min_len=length) == every.filter(min_len=length)
        assert itemix.mine(tx, least, max_len=length) == every.filter(max_len=length)
    assert all(
        counts[frozenset(part)] >= count
        for itemset, count in counts.items()
        for part in combinations(itemset, len(itemset) - 1)
        if part
    )


@both_layouts
@every_target
@pytest.mark.parametrize("seed", SEEDS)
def test_invariances(seed, sparse, target):
    """Threads, merging and the order of rows change nothing at all; names of items change names only."""
    tx, least = random_data(seed, sparse)
    found = itemix.mine(tx, least, target=target, n_jobs=1)
    shuffled = tx.sample(len(tx), random_state=seed)
    rows = tx.to_lists()
    np.random.default_rng(seed).shuffle(rows)
    for same in (tx, tx.merge_identical(), shuffled, Transactions.from_lists(rows).align_items(tx.items)):
        for n_jobs in (2, 3):
            other = itemix.mine(same, least, target=target, n_jobs=n_jobs)
            assert np.array_equal(other.offsets, found.offsets)
            assert np.array_equal(other.codes, found.codes)
            assert np.array_equal(other.count, found.count)
            assert np.array_equal(other.support, found.support)
    renamed = itemix.mine(tx.rename_items([str(-item) for item in tx.items]), least, target=target)
    assert as_counts(renamed) == {frozenset(str(-i) for i in s): n for s, n in as_counts(found).items()}
    reversed_items = tx.align_items(list(tx.items)[::-1])
    assert as_counts(itemix.mine(reversed_items, least, target=target)) == as_counts(found)


@both_layouts
def test_both_layouts_are_used(sparse):
    """The data of these tests is really laid out in the two ways."""
    for tx, least in (
        random_data(0, sparse),
        (Transactions.from_lists(with_layout([["a", "b"], ["a"]], sparse)), 1),
    ):
        counts = tx.item_counts()
        frequent = np.flatnonzero(counts >= least)
        rank_of = np.full(tx.n_items, -1, dtype=np.int32)
        rank_of[frequent] = np.arange(len(frequent))
        assert Layout.of(tx, rank_of, counts[frequent]).is_dense != sparse


EDGES = {
    "no transaction": ([], 1, {}),
    "one transaction": ([["a", "b"]], 1, {"a": 1, "b": 1, "ab": 1}),
    "empty transactions": ([[], ["a"], []], 1, {"a": 1}),
    "only empty transactions": ([[], []], 1, {}),
    "no frequent item": ([["a"], ["b"]], 2, {}),
    "repeated items": ([["a", "a"], ["a", "b", "a"]], 2, {"a": 2}),
    "in every transaction": ([["a", "b"], ["a"]], 1.0, {"a": 2}),
    "an integer is a count": ([["a", "b"], ["a"]], 1, {"a": 2, "b": 1, "ab": 1}),
    "identical transactions": ([["a", "b"]] * 3, 1.0, {"a": 3, "b": 3, "ab": 3}),
    "exactly met": ([["a"]] * 7 + [["b"]] * 6 + [[]] * 12, 0.28, {"a": 7}),
}


@pytest.mark.parametrize(("rows", "min_support", "expected"), EDGES.values(), ids=EDGES)
@both_layouts
def test_edges(rows, min_support, expected, sparse):
    """Small cases whose answers are plain."""
    if sparse and isinstance(min_support, int):
        rows = with_layout(rows, sparse)
    for tx, n_jobs in variants(rows):
        found = itemix.mine(tx, min_support, n_jobs=n_jobs)
        assert as_counts(found) == {frozenset(names): count for names, count in expected.items()}


@both_layouts
@pytest.mark.parametrize("max_len", [1, 2, 3, 9, 10, None])
def test_items_that_always_come_together(sparse, max_len):
    """Every subset of a run of inseparable items, also where the run is longer than the sets may be."""
    rows = with_layout([[*range(10)], [*range(10)], [9]], sparse)
    assert pairs(itemix.mine(rows, 2, max_len=max_len)) == naive.mine(rows, 2, max_len=max_len)
    for target in ("closed", "maximal"):
        found = itemix.mine(rows, 2, target=target, max_len=max_len)
        assert pairs(found) == naive.mine(rows, 2, target=target, max_len=max_len)


@both_layouts
def test_long_sets(sparse):
    """Sets longer than a block of sixteen items come out whole, and so do those around them."""
    rows = with_layout([[*range(30)]] * 2 + [[*range(0, 30, 2)], [1, 3]], sparse)
    closed = {frozenset(range(30)): 2, frozenset(range(0, 30, 2)): 3, frozenset([1, 3]): 3}
    assert as_counts(itemix.mine(rows, 2, target="closed")) == closed
    assert as_counts(itemix.mine(rows, 2, target="maximal")) == {frozenset(range(30)): 2}
    long = as_counts(itemix.mine(rows, 2, min_len=28))
    parts = [
        frozenset(range(30)) - set(left_out) for n in range(3) for left_out in combinations(range(30), n)
    ]
    assert long == dict.fromkeys(parts, 2)


@pytest.mark.parametrize("k", [1, 15, 16, 60, 700, 20_000])
def test_top_k_of_many_that_tie(k):
    """Where more sets tie than a search would like to find, the shortest of them fill the last places."""
    rows = [[*range(15)]] * 4 + [[20, 21]] * 5 + [[22]]
    tied = [(names, 4) for n in range(1, 16) for names in sorted(combinations(range(15), n), key=reverse)]
    chosen = [((20,), 5), ((21,), 5), ((20, 21), 5), *tied][:k]
    assert pairs(itemix.mine(rows, top_k=k)) == sorted(chosen, key=lambda pair: (len(pair[0]), -pair[1]))


def reverse(names):
    """Return the key that sorts sets by their last name, the last but one, and so on."""
    return names[::-1]


def test_any_form_of_transactions():
    """Lists, data frames and matrices give what the transactions they stand for give."""
    matrix = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]])
    expected = as_counts(itemix.mine(Transactions.from_matrix(matrix, items=["a", "b", "c"]), 2))
    frame = pd.DataFrame(matrix.astype(bool), columns=["a", "b", "c"])
    lists = [["a", "b"], ["a", "c"], ["a", "b", "c"]]
    assert as_counts(itemix.mine(frame, 2)) == as_counts(itemix.mine(lists, 2)) == expected
    assert as_counts(itemix.mine(matrix, 2)) == {
        frozenset("abc".index(i) for i in s): n for s, n in expected.items()
    }


def test_items_to_hold_in_any_form():
    """One name, a list, a generator, an array and a series of names are all names."""
    rows = [["milk", "bread", "jam"], ["milk", "bread"], ["milk"]]
    expected = as_counts(itemix.mine(rows, 1, include=["bread", "milk"]))
    names = ["milk", "bread"]
    for same in (tuple(names), iter(names), np.array(names), pd.Series(names), set(names)):
        assert as_counts(itemix.mine(rows, 1, include=same)) == expected
    assert pairs(itemix.mine(rows, 1, include="jam", max_len=1)) == [(("jam",), 1)]
    for left_out in (["milk", "bread"], np.array(["milk", "bread"])):
        assert as_counts(itemix.mine(rows, 1, exclude=left_out)) == {frozenset(["jam"]): 1}


def test_what_the_result_says_of_itself():
    """The threshold as a fraction, and the target where these are all sets of it."""
    rows = [["a", "b"], ["a"], ["b"], []]
    for min_support, fraction in [(1, 0.25), (0.3, 0.3), (0.5, 0.5)]:
        assert itemix.mine(rows, min_support).min_support == fraction
    assert itemix.mine(rows, 1, target="closed").target == "closed"
    for some in ({"min_len": 2}, {"max_len": 2}, {"include": "a"}, {"exclude": "a"}, {"top_k": 3}):
        assert itemix.mine(rows, 1, **some).target is None
    assert itemix.mine(rows, 1, include=[], exclude=()).target == "all"
