import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive

from itemix import InvalidInputError, UnknownItemError
from itemix.core.items import Items
from itemix.core.sets import Sets, as_positions, readonly

ITEMS = Items("abcdef")
lists = st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=10)


@given(lists)
def test_names_in_and_out(family):
    """Sets of names come back as they went in, one by one and all together."""
    sets = Sets.from_names(family, ITEMS)
    assert len(sets) == len(family)
    assert list(sets) == [tuple(names) for names in family]
    assert [sets[s] for s in range(len(sets))] == list(sets)
    assert sets.lengths.tolist() == [len(names) for names in family]
    assert sets.to_frozensets().tolist() == [frozenset(names) for names in family]
    assert sets.to_arrow().to_pylist() == [list(names) for names in family]


def test_equal_frozensets_are_one_object():
    """Rules repeat their sides many times: each distinct set is made once."""
    made = Sets.from_names(["ab", "c", "ba"], ITEMS).to_frozensets()
    assert made[0] is made[2]


@given(lists, st.data())
def test_parts_put_together(family, data):
    """Parts put one after the other are the whole, and taking is indexing."""
    sets = Sets.from_names(family, ITEMS)
    cut = data.draw(st.integers(0, len(family)))
    assert Sets.concatenate([sets.part(0, cut), sets.part(cut, len(family))]) == sets
    positions = data.draw(st.lists(st.integers(0, len(family) - 1)) if family else st.just([]))
    assert list(sets.take(np.array(positions, dtype=np.int64))) == [tuple(family[p]) for p in positions]


@given(lists)
def test_unique(family):
    """Of equal sets the first stays, whatever the order of the items."""
    expected = []
    for names in family:
        if set(names) not in map(set, expected):
            expected.append(names)
    assert list(Sets.from_names(family, ITEMS).unique()) == [tuple(names) for names in expected]


@given(lists, st.permutations(range(6)))
def test_sorted_within(family, rank):
    """Items are put in the order of their rank, set by set."""
    ordered = Sets.from_names(family, ITEMS).sorted_within(np.array(rank))
    assert list(ordered) == [tuple(sorted(names, key=lambda n: rank[ITEMS.code(n)])) for names in family]


@given(st.lists(st.sets(st.sampled_from("abcdef")).map(sorted), unique_by=tuple, max_size=12), st.data())
def test_largest(family, data):
    """The sets without a proper superset in their group, in any family and any order."""
    n = len(family)
    group = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), dtype=np.int64)
    assert Sets.from_names(family, ITEMS).largest(group).tolist() == naive.largest(family, group)


def test_equality():
    """Sets are equal if items and order are; they are not equal to anything else."""
    sets = Sets.from_names(["ab"], ITEMS)
    assert sets == Sets.from_names(["ab"], ITEMS)
    assert sets != Sets.from_names(["ba"], ITEMS)
    assert sets != Sets.from_names(["ab"], Items("ab"))
    assert sets != [("a", "b")]


def test_unknown_names():
    """Names are looked up, with the nearest ones in the message."""
    with pytest.raises(UnknownItemError, match="expected one of 6 known items, got 'z'"):
        Sets.from_names([["z"]], ITEMS)


def test_arrow_columns_with_gaps():
    """A list that is missing, or a name that is not known, is refused."""
    import pyarrow as pa

    for column in ([["a"], None], [["a"], ["z"]], [["a", None]]):
        with pytest.raises(
            InvalidInputError, match="expected only the 6 known items in the sets, got 1 other"
        ):
            Sets.from_arrow(pa.chunked_array([column]), ITEMS)


def test_positions():
    """Positions, negative ones and masks, as NumPy takes them."""
    assert as_positions([2, -3], 3).tolist() == [2, 0]
    assert as_positions([True, False, True], 3).tolist() == [0, 2]
    assert as_positions([], 3).tolist() == []
    with pytest.raises(IndexError):
        as_positions([3], 3)


def test_readonly():
    """What is the caller's is copied before it is made read-only, unless it is handed over."""
    mine = np.arange(3.0)
    assert readonly(mine, np.float64) is not mine
    assert mine.flags.writeable
    assert readonly(mine, np.float64, copy=False) is mine
    assert not mine.flags.writeable
    assert readonly(mine, np.float64) is mine
