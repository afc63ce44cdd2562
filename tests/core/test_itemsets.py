"""Itemsets as a value: its columns, looking up in it, how it is shown, and data frames of it."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from five_baskets import BASKETS, names
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import lattice as naive

from itemix import InvalidInputError, Itemsets, Transactions, UnknownItemError, rules


def test_columns(itemsets):
    """The value is columnar, and its arrays are read-only."""
    assert len(itemsets) == 7
    assert itemsets.offsets.tolist() == [0, 1, 2, 3, 5, 7, 9, 12]
    assert itemsets.codes[:5].tolist() == [3, 1, 0, 3, 1]
    assert itemsets.support[:3].tolist() == [0.8, 0.6, 0.4]
    assert itemsets.count[:3].tolist() == [4, 3, 2]
    assert itemsets.lengths.tolist() == [1, 1, 1, 2, 2, 2, 3]
    assert (itemsets.n_transactions, itemsets.min_support, itemsets.target) == (5, 0.2, "all")
    assert list(itemsets.items) == ["beer", "bread", "caviar", "milk"]
    for column in (itemsets.offsets, itemsets.codes, itemsets.support, itemsets.count):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_arrays_of_the_caller_are_copied():
    """What the caller does to its arrays afterwards changes nothing, and they stay writable."""
    support = np.array([0.5])
    itemsets = Itemsets([0, 1], [0], support, ["a"])
    support[0] = 0.1
    assert itemsets.support[0] == 0.5


def test_iteration_and_positions(itemsets):
    """Sets come as tuples of names with support and count; positions and slices work as in a list."""
    assert list(itemsets)[3] == (("milk", "bread"), 0.6, 3)
    assert itemsets[3] == list(itemsets)[3]
    assert itemsets[-1].items == ("milk", "bread", "beer")
    assert names(itemsets[1:3]) == [{"bread"}, {"beer"}]
    with pytest.raises(IndexError, match="expected a position below 7, got 7"):
        itemsets[7]


def test_iteration_over_many():
    """Iteration goes through all parts, also beyond one chunk."""
    n = 10_000
    itemsets = Itemsets(np.arange(n + 1), np.arange(n), np.full(n, 0.5), np.arange(n))
    assert [itemset.items[0] for itemset in itemsets] == list(range(n))
    assert itemsets[0].count is None


@pytest.mark.parametrize("position", ["milk", None, 1.0])
def test_odd_positions(itemsets, position):
    """The message says what may stand in square brackets, of itemsets and rules."""
    message = r"expected a position, a slice, a list of positions or a mask, got .*; try \[0\] or \[:10\]"
    for value in (itemsets, rules(itemsets, min_threshold=0.1)):
        with pytest.raises(InvalidInputError, match=message):
            value[position]
    assert itemsets[np.int64(-1)] == itemsets[len(itemsets) - 1]


def test_several_positions_are_taken(itemsets):
    """Square brackets take slices, positions and masks, of itemsets and rules; `head` takes the first."""
    for value in (itemsets, rules(itemsets, min_threshold=0.1)):
        frequent = value.support >= 0.4
        assert 0 < frequent.sum() < len(value)
        assert value[frequent] == value[pd.Series(frequent)] == value.take(frequent)
        assert value[[1, 0]] == value.take([1, 0])
        assert value.head(2) == value[:2] == value[range(2)]
        assert value.head(99) == value
        with pytest.raises(
            InvalidInputError, match="expected a list of positions, or True or False for each of"
        ):
            value[[True, False]]
        with pytest.raises(InvalidInputError, match="expected n as a whole number of 0 or more"):
            value.head(-1)


def test_lookup(itemsets):
    """A set is found whatever the order and kind of its names."""
    assert itemsets.support_of(["bread", "milk"]) == 0.6
    assert itemsets.support_of("beer") == 0.4
    assert itemsets.find({"beer", "milk"}) == 4
    assert ("milk", "beer") in itemsets
    assert ["caviar"] not in itemsets
    assert ["truffles"] not in itemsets
    assert itemsets.find(["caviar"]) is None
    assert itemsets.positions([0, 2, 3], [1, 3, 2]).tolist() == [3, -1]


def test_lookup_of_what_is_not_there(itemsets):
    """The messages say what was looked for and what to try."""
    with pytest.raises(
        InvalidInputError, match=r"expected one of these 7 itemsets, got \['caviar'\]; mine with"
    ):
        itemsets.support_of(["caviar"])
    with pytest.raises(
        UnknownItemError, match="expected one of 4 known items, got 'mlik'; did you mean 'milk'"
    ):
        itemsets.find(["mlik"])


def test_empty_family():
    """No itemset is a legal answer to every question."""
    empty = Itemsets([0], [], [], ["a"], count=[], n_transactions=3)
    assert (
        len(empty.closed()) == len(empty.maximal()) == len(empty.top()) == len(empty.filter(min_len=1)) == 0
    )
    assert list(empty) == []
    assert ["a"] not in empty
    assert repr(empty) == "Itemsets: 0 itemsets, of 3 transactions"
    assert len(empty.to_pandas()) == 0


def test_equality(itemsets):
    """Equal means the same sets, order, numbers and items."""
    assert itemsets == naive.as_itemsets(BASKETS, 1, items=["beer", "bread", "caviar", "milk"], target=None)
    assert itemsets != itemsets.filter(min_len=2)
    assert itemsets != naive.as_itemsets(BASKETS, 1)
    assert itemsets != Itemsets(itemsets.offsets, itemsets.codes, itemsets.support, itemsets.items)
    assert itemsets != "itemsets"
    assert pickle.loads(pickle.dumps(itemsets)) == copy.deepcopy(itemsets) == itemsets  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"offsets": [0, 2]},
            r"expected offsets that ascend from 0 to the number of codes \(3\), got others",
        ),
        ({"offsets": [0, 3, 2, 3]}, "expected offsets that ascend"),
        ({"offsets": []}, "expected offsets that ascend"),
        ({"codes": [0, 0, 2]}, "expected item codes from 0 to 1, got 0 to 2; codes are positions"),
        ({"codes": [0, -1, 1]}, "expected item codes from 0 to 1, got -1 to 1"),
        ({"codes": [0, 1, 1]}, r"expected distinct items in every set, got \['b', 'b'\] at position 1"),
        ({"support": [0.5]}, "expected 2 values in support, one for each itemset, got 1"),
        ({"count": [1, 2, 3]}, "expected 2 values in count, one for each itemset, got 3"),
        ({"lower": [0.1]}, "expected 2 values in lower"),
        ({"support": [0.5, 1.5]}, "expected supports from 0 to 1, got 0 to 1.5; divide counts"),
        ({"support": [0.5, -0.5]}, "expected supports from 0 to 1, got -0.5 to 0.5"),
        ({"support": [0.5, np.nan]}, "expected supports from 0 to 1, got nan"),
        (
            {"offsets": [0, 1, 2], "codes": [0, 0]},
            r"expected every itemset once, got \{'a'\} again at position 1",
        ),
        ({"target": "some"}, "expected a target that is one of all, closed, maximal, generators, got 'some'"),
        ({"items": ["a", "a"]}, "expected distinct item names"),
    ],
)
def test_wrong_columns(changes, message):
    """The constructor says what is wrong."""
    columns = {
        "offsets": [0, 1, 3],
        "codes": [0, 0, 1],
        "support": [0.5, 0.4],
        "items": ["a", "b"],
        **changes,
    }
    with pytest.raises(InvalidInputError, match=message):
        Itemsets(**columns)


def test_repr(itemsets):
    """On a terminal: a title with total and threshold, a few aligned rows, and how many more there are."""
    assert repr(itemsets) == (
        "Itemsets: 7 itemsets, support >= 20%, of 5 transactions\n"
        "  support  count  itemset\n"
        "   0.8000      4  {milk}\n"
        "   0.6000      3  {bread}\n"
        "   0.4000      2  {beer}\n"
        "   0.6000      3  {milk, bread}\n"
        "   0.2000      1  {milk, beer}\n"
        "   0.2000      1  {bread, beer}\n"
        "   0.2000      1  {milk, bread, beer}"
    )
    assert itemsets.table(2).as_text().endswith("\n... 5 more")
    assert repr(itemsets.closed()).startswith("Itemsets: 4 closed itemsets, support >= 20%")


def test_repr_of_model_itemsets():
    """Itemsets from a model show their intervals and no counts."""
    itemsets = Itemsets([0, 1], [0], [0.5], ["a"], lower=[0.4], upper=[0.61])
    assert repr(itemsets) == (
        "Itemsets: 1 itemset\n  support   lower   upper  itemset\n   0.5000  0.4000  0.6100  {a}"
    )


def test_html(itemsets):
    """In a notebook: a table in which no name can become markup."""
    hostile = Itemsets([0, 1], [0], [0.5], ["<img src=x onerror=alert(1)>"])
    assert "<img" not in hostile._repr_html_()
    assert "&lt;img src=x" in hostile._repr_html_()
    assert itemsets._repr_html_().count("<tr>") == 8


def test_to_pandas(itemsets):
    """The frame has mlxtend's columns first, then ours."""
    frame = itemsets.to_pandas()
    assert list(frame.columns) == ["support", "itemsets", "length", "count"]
    assert frame["itemsets"].tolist() == names(itemsets)
    assert frame.dtypes.astype(str).tolist() == ["float64", "object", "int64", "int64"]
    frame.loc[0, "support"] = 0.0
    assert itemsets.support[0] == 0.8
    model = Itemsets([0, 1], [0], [0.5], ["a"], lower=[0.4], upper=[0.6]).to_pandas()
    assert list(model.columns) == ["support", "itemsets", "length", "lower", "upper"]


def test_from_pandas_gives_back_to_pandas(itemsets):
    """A frame that went out comes back equal."""
    back = Itemsets.from_pandas(itemsets.to_pandas(), items=itemsets.items, n_transactions=5)
    assert back == itemsets


def test_from_pandas_counts_where_it_can():
    """With the number of transactions, counts follow from supports; items are those that occur."""
    frame = pd.DataFrame({"support": [0.28, 0.2], "itemsets": [{"b"}, ("b", "a")]})
    itemsets = Itemsets.from_pandas(frame, n_transactions=25)
    assert itemsets.count.tolist() == [7, 5]
    assert list(itemsets.items) == ["a", "b"]
    assert list(itemsets)[1].items == ("b", "a")
    assert Itemsets.from_pandas(frame).count is None
    assert Itemsets.from_pandas(frame).n_transactions is None


@pytest.mark.parametrize("use_colnames", [True, False])
def test_mlxtend_frames(use_colnames):
    """What mlxtend mines is what it would be here."""
    from mlxtend.frequent_patterns import fpgrowth

    onehot = pd.DataFrame(
        {name: [name in basket for basket in BASKETS] for name in ("beer", "bread", "milk")}
    )
    theirs = Itemsets.from_pandas(fpgrowth(onehot, 0.2, use_colnames=use_colnames), n_transactions=5)
    ours = naive.as_itemsets(BASKETS, 1)
    mapped = {frozenset(i.items): i.count for i in ours}
    code_of = {0: "beer", 1: "bread", 2: "milk", "beer": "beer", "bread": "bread", "milk": "milk"}
    assert {frozenset(code_of[n] for n in i.items): i.count for i in theirs} == mapped


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            {"itemsets": [{"a"}]},
            r"expected a column 'support', got \['itemsets'\]; pass a frame like that of mlxtend",
        ),
        ({"support": [1.0]}, "expected a column 'itemsets', got"),
        ({"support": [1.0], "itemsets": ["ab"]}, "expected sets of names in the column 'itemsets', got 'ab'"),
        ({"support": [1.0], "itemsets": [3]}, "expected sets of names in the column 'itemsets', got 3"),
        ({"support": [3.0], "itemsets": [{"a"}]}, "expected supports from 0 to 1, got 0 to 3"),
        ({"support": [1.0], "itemsets": [["a", "a"]]}, "expected distinct items in every set"),
        ({"support": [1.0, 1.0], "itemsets": [{"a"}, {"a"}]}, "expected every itemset once"),
        ({"support": [1.0], "itemsets": [{"a", 1}]}, "all strings or all integers"),
        (
            {"support": ["x"], "itemsets": [{"a"}]},
            "expected numbers in the column 'support', got 'x' and more; convert it",
        ),
    ],
)
def test_wrong_frames(frame, message):
    """The messages say what a frame of itemsets is."""
    with pytest.raises(InvalidInputError, match=message):
        Itemsets.from_pandas(pd.DataFrame(frame))


@pytest.mark.parametrize("what", [[["a"]], None, 7, Transactions.from_lists([["a"]])])
def test_other_things_are_no_frames(what):
    """What is neither itemsets nor a frame has to be mined first."""
    message = r"expected itemsets or a pandas data frame of them, got \w+; try itemix.mine"
    with pytest.raises(InvalidInputError, match=message):
        Itemsets.from_pandas(what)
    with pytest.raises(InvalidInputError, match=message):
        rules(what)
    with pytest.raises(InvalidInputError, match=r"expected an Arrow table, got \w+; write it with to_arrow"):
        Itemsets.from_arrow(what)


def test_counts_are_whole_numbers():
    """A count that is missing is no count, and is not made one."""
    with pytest.raises(InvalidInputError, match="expected an array of int64, got array"):
        Itemsets([0, 1], [0], [0.5], ["a"], count=np.array([np.nan]), n_transactions=4)


def naive_measures(rows, names, n):
    """The measures of a set by their definitions."""
    counts = [sum(item in row for row in rows) for item in names]
    both, either = (sum(test(item in row for item in names) for row in rows) for test in (all, any))
    return {
        "lift": both / n / np.prod([count / n for count in counts]),
        "all_confidence": both / max(counts),
        "bond": both / either,
    }


@settings(max_examples=40)
@given(st.lists(st.sets(st.sampled_from("abcde"), min_size=1), min_size=1, max_size=10))
def test_measures(rows):
    """Lift, all-confidence and bond are their definitions: by subsets, by data, and without counts."""
    itemsets = naive.as_itemsets(rows, 1)
    data = Transactions.from_lists([*map(sorted, rows)])
    without = Itemsets(itemsets.offsets, itemsets.codes, itemsets.support, itemsets.items)
    for name in ("lift", "all_confidence", "bond"):
        expected = pytest.approx([naive_measures(rows, names, len(rows))[name] for names in itemsets.sets])
        assert itemsets.measure(name).tolist() == expected
        assert itemsets.measure(name, data=data.merge_identical()).tolist() == expected
        assert without.measure(name).tolist() == expected
        assert itemsets.closed().measure(name, data=data).tolist() == pytest.approx(
            [naive_measures(rows, names, len(rows))[name] for names in itemsets.closed().sets]
        )


def test_measures_are_columns(itemsets, tmp_path):
    """A measure that was asked for is in tables, frames and files, and stays where sets are taken."""
    measured = itemsets.with_measures("bond", "lift")
    assert measured.measures == ("lift", "bond")
    assert itemsets.measures == ()
    assert measured.table(1).headers == ("support", "lift", "bond", "count", "itemset")
    assert measured.head(2).measure("bond").tolist() == itemsets.measure("bond").tolist()[:2]
    assert "bond" in measured.to_pandas()
    measured.save(tmp_path / "x.parquet")
    assert Itemsets.load(tmp_path / "x.parquet") == measured != itemsets
    assert len(Itemsets([0], [], [], ["a"]).with_measures("lift", "bond", "all_confidence")) == 0


def test_measures_that_cannot_be_computed(itemsets):
    """The message says which support is missing."""
    with pytest.raises(InvalidInputError, match="supports of all items of the itemsets, got none of 'milk'"):
        itemsets.filter(min_len=2).measure("lift")
    with pytest.raises(
        InvalidInputError, match=r"all subsets of the itemsets for their bond, got not all of "
    ):
        itemsets.filter(min_len=2).measure("bond")
    with pytest.raises(
        InvalidInputError, match="expected name to be one of 'lift', 'all_confidence', 'bond'"
    ):
        itemsets.measure("cosine")


@settings(max_examples=40)
@given(st.lists(st.sets(st.sampled_from("abcde"), min_size=1), min_size=1, max_size=10))
def test_generators(rows):
    """No subset of a generator is in the same transactions, not even the empty one."""
    itemsets = naive.as_itemsets(rows, 1)
    counts = {frozenset(i.items): i.count for i in itemsets} | {frozenset(): len(rows)}
    expected = [
        names for names in counts if names and all(counts[names - {x}] > counts[names] for x in names)
    ]
    found = itemsets.generators()
    assert [frozenset(names) for names in found.sets] == expected
    assert found.target == "generators"
    without = Itemsets(itemsets.offsets, itemsets.codes, itemsets.support, itemsets.items)
    assert without.generators().sets == found.sets
    with pytest.raises(InvalidInputError, match="got the closed ones, which lack the generators; mine with"):
        itemsets.closed().generators()
