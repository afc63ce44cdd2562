import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix import InvalidInputError, Items, UnknownItemError

names = st.lists(st.text(max_size=5), unique=True, max_size=20)
numbers = st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=20)


@given(st.one_of(names, numbers))
def test_a_code_is_the_position_of_a_name(labels):
    """Names and codes are each other's inverse, whatever the order of the names."""
    items = Items(labels)
    assert list(items) == labels
    assert [items.code(label) for label in labels] == list(range(len(labels)))
    assert items.names(range(len(labels))) == labels
    assert all(label in items for label in labels)
    assert items.codes(labels).tolist() == list(range(len(labels)))


@given(st.one_of(names, numbers))
def test_copies_are_equal(labels):
    """A pickled copy, a slice of all, and items made of items are equal, with equal hashes."""
    items = Items(labels)
    pickled = pickle.loads(pickle.dumps(items))  # noqa: S301 - our own bytes
    for copy in (pickled, items[:], Items(items), Items(np.array(labels, object))):
        assert copy == items
        assert hash(copy) == hash(items)
        assert not copy.labels.flags.writeable


def test_strings_and_integers_differ():
    """The item 1 and the item '1' are not the same, but digits typed on a command line find the integer."""
    items = Items([10, 1, 5])
    assert items != Items(["10", "1", "5"])
    assert items.code("1") == items.code(1) == items.code(np.int64(1)) == 1
    assert "1" not in items
    assert 1 not in Items(["1"])
    assert True not in items
    assert 2**70 not in items


def test_names_look_like_a_sequence():
    """Positions, slices, membership and the repr work as for any sequence."""
    items = Items(["milk", "bread", "beer"])
    assert items[0] == "milk"
    assert items[-1] == "beer"
    assert list(items[1:]) == ["bread", "beer"]
    assert items.index("beer") == 2
    assert repr(items) == "Items(['milk', 'bread', 'beer'], n=3)"
    assert repr(Items(range(1000))) == "Items([0, 1, 2, 3, 4, 5, ...], n=1,000)"
    assert items != ["milk", "bread", "beer"]
    with pytest.raises(IndexError):
        items[3]


def test_a_copy_of_the_labels_is_kept():
    """Changing the array that was handed in changes nothing."""
    labels = np.array([3, 4])
    items = Items(labels)
    labels[0] = 9
    assert list(items) == [3, 4]
    with pytest.raises(ValueError, match="read-only"):
        items.labels[0] = 9


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "a"], r"expected distinct item names, got 'a' more than once; rename one"),
        ([1, 2, 1], r"expected distinct item names, got 1 more than once"),
        (["a", 1], r"expected item names that are all strings or all integers, got 1 \(int\) among them"),
        ([1, 2, "a"], r"got 'a' \(str\) among them; convert the names with str\(\)"),
        (["a", None], r"got None \(NoneType\)"),
        ([1.5], r"got 1.5 \(float\)"),
        ([True], r"got True \(bool\)"),
        ([2**63], r"expected integer item names of at most 64 bits, got 9223372036854775808"),
        (np.array([2**64 - 1], dtype=np.uint64), r"at most 64 bits, got 18446744073709551615"),
    ],
)
def test_bad_names_are_refused(labels, message):
    """Names are distinct, and all strings or all integers of 64 bits."""
    with pytest.raises(InvalidInputError, match=message):
        Items(labels)


@pytest.mark.parametrize(
    ("items", "label", "message"),
    [
        (
            ["whole milk", "bread"],
            "hole milk",
            r"expected one of 2 known items, got 'hole milk'; did you mean 'whole",
        ),
        (["whole milk", "bread"], "MILK", r"did you mean 'whole milk'\?"),
        (["whole milk", "bread"], "zzz", r"got 'zzz'; the first are \['whole milk', 'bread'\]"),
        ([100, 200], 101, r"got 101; did you mean '100'"),
        ([100, 200], ["x"], r"got \['x'\]"),
        ([], "a", r"expected a known item, got 'a'; there are no items at all"),
    ],
)
def test_unknown_items_are_refused_with_the_nearest_names(items, label, message):
    """The error is a KeyError whose message is not put in quotes."""
    with pytest.raises(UnknownItemError, match=message) as caught:
        Items(items).code(label)
    assert isinstance(caught.value, KeyError)
    assert not str(caught.value).startswith('"')


def test_several_codes():
    """Codes ascend and are distinct; one string is one name; anything else must be iterable."""
    items = Items(["c", "a", "b"])
    assert items.codes(["b", "c", "b"]).tolist() == [0, 2]
    assert items.codes("b").tolist() == [2]
    assert items.codes([]).dtype == np.int32
    with pytest.raises(InvalidInputError, match=r"expected item names in a list, got float; try \['milk'"):
        items.codes(1.5)
