import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import csr as naive

from itemix.kernels import csr

N_ITEMS = 9
codes = st.integers(0, N_ITEMS - 1)
ragged = st.lists(st.lists(codes, max_size=12), max_size=12)
canonical = ragged.map(naive.canonical_rows)


def read_only(values, dtype):
    """Make an array as the wrappers hand it in."""
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


@given(ragged)
def test_canonical_rows_are_sorted_sets(rows):
    """Rows come out ascending and without repeats, and the check agrees."""
    arrays = naive.as_arrays(rows)
    assert csr.is_canonical(*arrays) == naive.is_canonical(rows)
    result = csr.canonical_rows(*arrays)
    assert naive.as_lists(*result) == naive.canonical_rows(rows)
    assert csr.is_canonical(*(read_only(array, array.dtype) for array in result))


@given(st.lists(st.integers(-5, 300), max_size=80), st.data())
def test_a_part_is_sorted(values, data):
    """A part of an array is sorted in place, and the rest stays as it is."""
    start = data.draw(st.integers(0, len(values)))
    stop = data.draw(st.integers(start, len(values)))
    array = np.array(values, dtype=np.int32)
    csr.sort_span(array, start, stop)
    assert array.tolist() == values[:start] + sorted(values[start:stop]) + values[stop:]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_long_rows_are_sorted_too(dtype):
    """Rows longer than those sorted by insertion take another way to the same result."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 500, size=n).tolist() for n in (csr.SHORT_ROW, csr.SHORT_ROW + 1, 400, 0, 3)]
    flat = np.array([code for row in rows for code in row], dtype=dtype)
    ends = np.cumsum([len(row) for row in rows])
    size = csr.sort_rows(flat, ends, len(rows))
    assert naive.as_lists([0, *ends], flat[:size]) == naive.canonical_rows(rows)


@given(st.lists(st.tuples(st.integers(0, 5), codes), max_size=30))
def test_pairs_are_gathered_by_row(pairs):
    """The codes of a row keep the order in which the pairs came."""
    rows = [row for row, _ in pairs]
    values = [code for _, code in pairs]
    result = csr.rows_of_pairs(np.array(rows, dtype=np.int64), np.array(values, dtype=np.int32), 6)
    assert naive.as_lists(*result) == naive.rows_of_pairs(rows, values, 6)


@given(st.lists(codes, max_size=30))
def test_values_are_numbered_as_they_appear(values):
    """The first value is 0, the next new one 1; a value that does not occur gets no number."""
    numbered, order = csr.number_by_appearance(read_only(values, np.int64), N_ITEMS)
    assert (numbered.tolist(), order.tolist()) == naive.number_by_appearance(values)


@given(canonical, st.data())
def test_items_are_counted_with_weights(rows, data):
    """A row with weight 3 counts three times; without weights each row counts once."""
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    arrays = naive.as_arrays(rows)
    ones = [1] * len(rows)
    plain = csr.item_counts(*arrays, read_only([], np.int64), N_ITEMS)
    weighted = csr.item_counts(*arrays, read_only(weights, np.int64), N_ITEMS)
    assert plain.tolist() == naive.item_counts(rows, ones, N_ITEMS)
    assert weighted.tolist() == naive.item_counts(rows, weights if rows else ones, N_ITEMS)


@given(canonical, st.lists(st.booleans(), min_size=N_ITEMS, max_size=N_ITEMS))
def test_items_are_selected(rows, kept):
    """Dropped items leave no trace, the others get their new codes."""
    new_code = np.where(kept, np.cumsum(kept) - 1, -1)
    result = csr.select_items(*naive.as_arrays(rows), read_only(new_code, np.int32))
    assert naive.as_lists(*result) == naive.select_items(rows, new_code.tolist())


@given(canonical.filter(len), st.data())
def test_rows_are_gathered_in_any_order(rows, data):
    """Rows may come in any order and more than once."""
    wanted = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=10))
    result = csr.gather_rows(*naive.as_arrays(rows), read_only(wanted, np.int64))
    assert naive.as_lists(*result) == [rows[t] for t in wanted]


@given(canonical, st.sets(codes, max_size=4))
def test_rows_with_all_codes_are_found(rows, wanted):
    """The empty set is in every row."""
    found = csr.rows_with_all(*naive.as_arrays(rows), read_only(sorted(wanted), np.int32))
    assert found.tolist() == naive.rows_with_all(rows, wanted)


@given(canonical)
def test_equal_rows_are_grouped(rows):
    """Groups are numbered as they appear."""
    groups, first = csr.group_equal_rows(*naive.as_arrays(rows))
    assert (groups.tolist(), first.tolist()) == naive.group_equal_rows(rows)


def test_many_distinct_rows_stay_apart():
    """Rows whose hashes collide in the table are still told apart."""
    rows = [[i, j] for i in range(150) for j in range(i + 1, 150)]
    groups, first = csr.group_equal_rows(*naive.as_arrays(rows))
    assert groups.tolist() == first.tolist() == list(range(len(rows)))
