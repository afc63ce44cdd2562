import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from itemix import BernoulliMixture, InvalidInputError, Items, Transactions, UnknownItemError
from itemix.core.transactions import as_transactions

ALPHABET = "abcdef"
baskets = st.lists(st.sets(st.sampled_from(ALPHABET)).map(sorted), max_size=12)
itemsets = st.sets(st.sampled_from(ALPHABET), max_size=3)


def transactions_of(lists):
    """Make transactions over all letters, those that do not occur included."""
    return Transactions.from_lists([*lists, ALPHABET]).align_items(ALPHABET)


@st.composite
def values(draw):
    """Transactions over a fixed alphabet, with or without multiplicities, and the same as lists."""
    lists = draw(baskets)
    indptr = np.cumsum([0, *map(len, lists)])
    indices = [ALPHABET.index(name) for row in lists for name in row]
    if not draw(st.booleans()):
        return Transactions(indptr, indices, ALPHABET), lists
    numbers = draw(st.lists(st.integers(1, 4), min_size=len(lists), max_size=len(lists)))
    repeated = [row for row, n in zip(lists, numbers, strict=True) for _ in range(n)]
    multiplicities = np.array(numbers, dtype=np.int64)
    return Transactions(indptr, indices, ALPHABET, multiplicities), repeated


@given(values())
def test_a_value_is_its_lists(value):
    """Lists, length, iteration and sizes all say the same."""
    transactions, lists = value
    assert transactions.to_lists() == list(transactions) == lists
    assert len(transactions) == transactions.n_transactions == len(lists)
    assert transactions.n_ones == sum(map(len, lists))
    assert transactions.n_items == len(ALPHABET)
    cells = len(lists) * len(ALPHABET)
    assert transactions.density == (transactions.n_ones / cells if cells else 0)


@given(values(), itemsets)
def test_counts_are_those_of_the_lists(value, itemset):
    """An itemset is in a transaction that holds all its items; the empty one is in each."""
    transactions, lists = value
    assert transactions.count(itemset) == sum(itemset <= set(row) for row in lists)
    counts = Counter(name for row in lists for name in row)
    assert transactions.item_counts().tolist() == [counts[name] for name in ALPHABET]
    if lists:
        assert transactions.support(itemset) == transactions.count(itemset) / len(lists)


@given(values())
def test_matrices_come_back(value):
    """The matrix has a row for each transaction and gives equal data back."""
    transactions, lists = value
    matrix = transactions.to_scipy()
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.shape == (len(lists), len(ALPHABET))
    assert matrix.dtype == np.uint8
    assert Transactions.from_matrix(matrix, ALPHABET).to_lists() == lists
    matrix.data[:] = 0
    assert transactions.to_lists() == lists


@given(values())
def test_merging_identical_rows_changes_no_count(value):
    """Rows become distinct, in order of their first appearance, and every count stays."""
    transactions, lists = value
    merged = transactions.merge_identical()
    assert merged.n_transactions == len(lists)
    assert merged.item_counts().tolist() == transactions.item_counts().tolist()
    assert Counter(map(tuple, merged)) == Counter(map(tuple, lists))
    assert merged.n_rows == len({tuple(row) for row in lists})
    assert merged.merge_identical() == merged


@given(values(), st.floats(0.1, 0.9), st.integers(0, 5))
def test_a_split_is_a_partition(value, fraction, seed):
    """Both parts together are all transactions, in the old order, the same for the same seed."""
    transactions, lists = value
    first, second = transactions.split(fraction, random_state=seed)
    assert len(first) == round(fraction * len(lists))
    assert Counter(map(tuple, [*first, *second])) == Counter(map(tuple, lists))
    assert first.items == second.items == transactions.items
    again, _ = transactions.split(fraction, random_state=seed)
    assert again == first


def test_a_split_keeps_the_order():
    """Transactions of a part come in the order in which they came before."""
    transactions = Transactions.from_lists([[i] for i in range(100)])
    for part in transactions.split(0.3, random_state=1):
        labels = [row[0] for row in part]
        assert labels == sorted(labels)


@given(values(), st.integers(0, 20), st.booleans())
def test_samples_come_from_the_data(value, n, replace):
    """A sample has the size that was asked for; without replacement no transaction comes twice."""
    transactions, lists = value
    if n > len(lists) and not (replace and lists):
        return
    sample = transactions.sample(n, replace=replace, random_state=0)
    assert len(sample) == n
    drawn, there = Counter(map(tuple, sample)), Counter(map(tuple, lists))
    assert set(drawn) <= set(there)
    assert replace or drawn <= there
    assert sample == transactions.sample(n, replace=replace, random_state=np.random.default_rng(0))


@given(values(), itemsets)
def test_items_are_selected_and_dropped(value, itemset):
    """Selecting some items is dropping the others; transactions stay, empty ones too."""
    transactions, lists = value
    others = [name for name in ALPHABET if name not in itemset]
    selected = transactions.select_items(itemset)
    assert selected == transactions.drop_items(others)
    assert selected.to_lists() == [[name for name in row if name in itemset] for row in lists]
    assert list(selected.items) == sorted(itemset)


@given(values())
def test_empty_transactions_are_dropped(value):
    """Only the empty ones go."""
    transactions, lists = value
    assert transactions.drop_empty().to_lists() == [row for row in lists if row]


@given(values(), itemsets)
def test_transactions_that_hold_an_itemset(value, itemset):
    """They are as many as its count, in the old order."""
    transactions, lists = value
    held = transactions.holding(itemset)
    assert held.to_lists() == [row for row in lists if itemset <= set(row)]
    assert len(held) == transactions.count(itemset)


@given(values(), st.permutations(ALPHABET + "xyz"))
def test_items_are_aligned(value, labels):
    """The same transactions with other codes; items that do not occur may be new."""
    transactions, lists = value
    aligned = transactions.align_items(labels)
    assert list(aligned.items) == labels
    assert [sorted(row) for row in aligned] == lists
    assert aligned.align_items(ALPHABET) == transactions


def test_aligning_needs_all_items_that_occur():
    """An item that occurs must be in the list, one that does not may be left out."""
    transactions = Transactions([0, 1], [0], ["a", "b"])
    assert transactions.align_items(["a"]).to_lists() == [["a"]]
    with pytest.raises(UnknownItemError, match="got 'a'"):
        transactions.align_items(["b"])


def test_unknown_items_may_be_left_out():
    """All transactions stay, with their ids, in the codes of the list; unasked, it is an error."""
    frame = pd.DataFrame({"id": ["x", "y", "y"], "item": ["new", "b", "new"]})
    data = Transactions.from_long(frame, "id", "item")
    known = data.align_items(["a", "b"], drop_unknown=True)
    assert (list(known.items), known.to_lists()) == (["a", "b"], [[], ["b"]])
    assert known.ids.to_pylist() == ["x", "y"]
    with pytest.raises(UnknownItemError, match="expected one of 2 known items, got 'new'"):
        data.align_items(["a", "b"])


@given(values())
def test_matrices_and_long_frames_come_back(value):
    """A dense matrix gives equal transactions, a long frame those that are not empty."""
    transactions, lists = value
    matrix = transactions.to_numpy()
    assert matrix.dtype == bool
    assert Transactions.from_matrix(matrix, transactions.items).to_lists() == transactions.to_lists()
    frame = transactions.to_long("order", "sku")
    assert list(frame.columns) == ["order", "sku"]
    back = Transactions.from_long(frame, "order", "sku")
    assert [sorted(row) for row in back] == [row for row in lists if row]


def test_items_are_renamed():
    """New names in the order of the codes; as many as there are items."""
    transactions = Transactions.from_lists([["a", "b"], ["b"]])
    assert transactions.rename_items(["x", "y"]).to_lists() == [["x", "y"], ["y"]]
    with pytest.raises(InvalidInputError, match="expected 2 names, one for each item, got 1; pass the names"):
        transactions.rename_items(["x"])


@given(values())
def test_copies_are_equal(value):
    """A pickled copy is equal, and read-only as the original."""
    transactions, _ = value
    copy = pickle.loads(pickle.dumps(transactions))  # noqa: S301 - our own bytes
    assert copy == transactions
    assert copy != Transactions.from_lists([["other"]])
    for array in (copy.indptr, copy.indices):
        assert not array.flags.writeable


def test_rows_are_put_right():
    """Codes of a row are sorted and repeated ones dropped; the arrays of the caller stay as they are."""
    indptr, indices = np.array([0, 3, 5]), np.array([2, 0, 2, 1, 0], dtype=np.int32)
    transactions = Transactions(indptr, indices, ["a", "b", "c"])
    assert transactions.to_lists() == [["a", "c"], ["a", "b"]]
    assert indices.tolist() == [2, 0, 2, 1, 0]
    indices[:] = 0
    indptr[:] = 0
    assert transactions.to_lists() == [["a", "c"], ["a", "b"]]


def test_nothing_can_be_changed():
    """A value is immutable, and has no hash since it may be large."""
    transactions = Transactions.from_lists([["a"]])
    with pytest.raises(AttributeError):
        transactions.items = []
    with pytest.raises(ValueError, match="read-only"):
        transactions.indices[0] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(transactions)


def test_multiplicities_of_one_are_none():
    """A row that stands for one transaction is that transaction."""
    assert Transactions([0, 1], [0], ["a"], [1]) == Transactions([0, 1], [0], ["a"])
    assert Transactions([0, 1], [0], ["a"], [2]) != Transactions([0, 1], [0], ["a"])
    assert Transactions([0, 1], [0], ["a"]) != "a"


def test_it_describes_itself():
    """The repr has the sizes, the description the most frequent items."""
    transactions = Transactions.from_lists([["milk", "bread"], ["milk"], [], ["milk"]])
    assert repr(transactions) == "Transactions(4 x 2, 4 ones, density 50%)"
    assert (
        repr(transactions.merge_identical()) == "Transactions(4 x 2 in 3 distinct rows, 4 ones, density 50%)"
    )
    assert str(transactions.describe()) == (
        "transactions   4\n"
        "items          2\n"
        "ones           4 (density 50%)\n"
        "basket length  0 to 2, mean 1.00\n"
        "most frequent  milk 75.0%, bread 25.0%"
    )
    merged = Transactions([0, 1], [0], ["a", "b"], [3], source="a test").describe()
    assert merged.top_items == {"a": 1.0}
    assert str(merged).splitlines()[:3] == [
        "source         a test",
        "transactions   3 (1 rows stored)",
        "items          2 (1 occur)",
    ]


def test_no_transactions_at_all():
    """Nothing has a description too, but no support."""
    nothing = Transactions.from_lists([])
    assert len(nothing) == nothing.n_items == nothing.n_ones == 0
    assert str(nothing.describe()).endswith("most frequent  none")
    with pytest.raises(InvalidInputError, match="expected at least one transaction, got none"):
        nothing.support([])


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5, float("nan"), "half", None])
def test_fractions_lie_between_0_and_1(fraction):
    """A split has two parts."""
    with pytest.raises(InvalidInputError, match=r"expected a fraction between 0 and 1, got .*; try 0.5"):
        Transactions.from_lists([["a"]]).split(fraction)


@pytest.mark.parametrize("seed", ["x", -1, 0.5])
def test_seeds_are_whole_numbers(seed):
    """Or what NumPy makes of them: generators, and None for another sample every time."""
    transactions = Transactions.from_lists([["a"], ["b"]])
    message = (
        r"expected random_state as a whole number of 0 or more, a NumPy Generator or None, got .*; try 0"
    )
    with pytest.raises(InvalidInputError, match=message):
        transactions.split(0.5, random_state=seed)
    with pytest.raises(InvalidInputError, match=message):
        transactions.sample(1, random_state=seed)


@pytest.mark.parametrize("n", [-1, 3])
def test_samples_are_not_larger_than_the_data(n):
    """Unless they are drawn with replacement."""
    transactions = Transactions.from_lists([["a"], ["b"]])
    with pytest.raises(
        InvalidInputError, match=r"expected a sample of 0 to 2 transactions, got .*; try replace=True"
    ):
        transactions.sample(n)


def test_nothing_cannot_be_sampled():
    """With replacement or without, there must be something to draw from."""
    empty = Transactions.from_lists([])
    with pytest.raises(
        InvalidInputError, match="expected a sample of 0 to 0 transactions, got 3; there are none"
    ):
        empty.sample(3, replace=True)


def test_models_are_no_transactions():
    """A model that was not fitted yet is told so."""
    message = "expected transactions or a fitted model, got BernoulliMixture before fit; fit it first"
    with pytest.raises(InvalidInputError, match=message):
        as_transactions(BernoulliMixture())


def test_unknown_items_are_refused():
    """With the nearest names."""
    with pytest.raises(UnknownItemError, match=r"got 'mlik'; did you mean 'milk'\?"):
        Transactions.from_lists([["milk"]]).count(["mlik"])


def test_whatever_users_have_becomes_transactions():
    """Transactions stay as they are; lists, frames and matrices are recognised by what they can do."""
    transactions = Transactions.from_lists([["a", "b"], ["b"]])
    assert as_transactions(transactions) is transactions
    assert as_transactions([["b", "a"], ["b"]]) == transactions
    assert as_transactions(transactions.to_dataframe()) == transactions
    assert as_transactions(pa.table({"a": [1, 0], "b": [1, 1]})) == transactions
    assert as_transactions(transactions.to_scipy()).to_lists() == [[0, 1], [1]]
    assert as_transactions(pd.Series([["b", "a"], ["b"]], index=[7, 9])) == transactions
    assert as_transactions(pl.Series([["b", "a"], ["b"]])) == transactions
    with pytest.raises(InvalidInputError, match=r"expected a matrix with a row for each .*, got 1 dimension"):
        as_transactions(np.array([0, 1]))
    with pytest.raises(
        InvalidInputError, match="expected every transaction to be a list of item names, got 'a'"
    ):
        as_transactions(pd.Series(["a", "b"]))
    with pytest.raises(
        InvalidInputError, match=r"expected transactions, got the name 'a.csv'; read the file first"
    ):
        as_transactions("a.csv")
    with pytest.raises(InvalidInputError, match=r"expected transactions, a data frame, .*, got int; try"):
        as_transactions(5)


def test_items_may_be_shared():
    """Items that are given are kept, not copied."""
    items = Items(["a"])
    assert Transactions([0, 1], [0], items).items is items


@pytest.mark.parametrize("merged", [False, True])
def test_positions(merged):
    """One transaction is a list of names; a slice, positions or a mask give transactions in that order."""
    lists = [["b", "a"], ["c"], [], ["a", "b"], ["c"]]
    tx = Transactions.from_lists(lists)
    tx = tx.merge_identical() if merged else tx
    whole = tx.to_lists()
    assert [tx[i] for i in range(5)] == whole
    assert tx[-1] == whole[-1]
    assert tx[np.int64(1)] == whole[1]
    mask = np.array([True, False, False, True, True])
    for chosen in (slice(1, 4), slice(None, None, -1), [3, 0, 0], np.array([4, -5]), mask, []):
        found = tx[chosen]
        places = np.arange(5)[chosen] if len(np.atleast_1d(chosen)) else []
        assert found.to_lists() == [whole[i] for i in places]
        assert found.items == tx.items
        assert found == tx[chosen, ...]
    assert tx.shape == tx.to_scipy().shape == (5, 3)


def test_no_such_positions():
    """Positions that are not there are an IndexError, what is no position is said to be none."""
    tx = Transactions.from_lists([["a"], ["b"]])
    with pytest.raises(IndexError, match="expected a position below 2, got 2"):
        tx[2]
    with pytest.raises(IndexError, match="out of bounds"):
        tx[[0, 5]]
    for wrong in ("a", [0.5], [True]):
        with pytest.raises(InvalidInputError, match="expected a list of positions, or True or False for"):
            tx[wrong]
    with pytest.raises(InvalidInputError, match=r"expected transactions to take, .*, got \(0, 1\); for"):
        tx[0, 1]


def test_parts_are_put_together():
    """In order, with their multiplicities; only over the same items."""
    data = Transactions.from_lists([["a", "b"], ["a"], ["a"], [], ["b", "c"]])
    parts = [data[[0, 1]], data[[2, 3]].merge_identical(), data[[4]]]
    assert Transactions.concatenate(parts).to_lists() == data.to_lists()
    assert Transactions.concatenate([data]) == data
    with pytest.raises(
        InvalidInputError, match=r"over the same items, got others; try align_items\(\) first"
    ):
        Transactions.concatenate([data, Transactions.from_lists([["a"]])])
    with pytest.raises(InvalidInputError, match="got none; pass at least one part"):
        Transactions.concatenate([])
