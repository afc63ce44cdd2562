import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernels.layouts import as_companions, as_rank_rows, no_entries
from naive import layouts as naive

from itemix._arrays import protected
from itemix.kernels.mining import layouts

# Enough items for their bits to need a second word.
N_RANKS = 70

rows_of_few = st.sets(st.integers(0, 7), min_size=2).map(sorted)
rows_of_many = st.sets(st.integers(0, N_RANKS - 1) | st.integers(60, 68), min_size=2, max_size=8).map(sorted)


@st.composite
def weighted_rows(draw):
    """Rows of at least two ranks, descending weights or none, and both as kernels take them."""
    rows = draw(st.lists(rows_of_few, max_size=12) | st.lists(rows_of_many, max_size=12))
    weights = None
    if draw(st.booleans()):
        weights = sorted(draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows))))[::-1]
    return rows, weights or [1] * len(rows), as_rank_rows(rows, weights)


@given(weighted_rows(), st.integers(1, 6), st.integers(0, N_RANKS), st.integers(0, N_RANKS))
def test_pairs(data, min_count, cut, other_cut):
    """The frequent pairs of a range of roots, each root with the ranks below it."""
    rows, weights, arrays = data
    first, stop = sorted([cut, other_cut])
    expected = naive.frequent_pairs(rows, weights, N_RANKS, min_count)[first:stop]
    index, pair_bounds = indexed(arrays), protected(layouts.pair_bounds(*arrays[:2], N_RANKS))
    for found in (
        layouts.count_pairs(first, stop, arrays, min_count),
        layouts.count_indexed_pairs(first, stop, arrays, min_count, index, pair_bounds),
    ):
        sizes, companions, counts = (column.tolist() for column in found)
        assert sizes == [len(pairs) for pairs in expected]
        assert list(zip(companions, counts, strict=True)) == [pair for pairs in expected for pair in pairs]


def indexed(arrays):
    """The index of the rows of each rank."""
    return layouts.RowIndex(*map(protected, layouts.index_rows(*arrays[:2], N_RANKS)))


@given(weighted_rows())
def test_rows_are_indexed(data):
    """Every rank with the rows that hold it, ascending; and how many pairs with lower ranks these hold."""
    rows, _, arrays = data
    start, found = indexed(arrays)
    bounds = layouts.pair_bounds(*arrays[:2], N_RANKS)
    for rank in range(N_RANKS):
        assert found[start[rank] : start[rank + 1]].tolist() == [
            t for t, row in enumerate(rows) if rank in row
        ]
        assert bounds[rank] == sum(row.index(rank) for row in rows if rank in row)


@given(weighted_rows(), st.integers(1, 3), st.booleans(), st.integers(0, N_RANKS), st.integers(0, N_RANKS))
def test_rows_are_delivered(data, min_count, both_sides, cut, other_cut):
    """Each root of a range gets its rows, in terms of its companions on one side or on both."""
    rows, weights, arrays = data
    pairs = naive.frequent_pairs(rows, weights, N_RANKS, min_count)
    if both_sides:
        pairs = naive.from_both_sides(pairs)
    first, stop = sorted([cut, other_cut])
    min_companions = 1 if both_sides else 2
    companions = as_companions(pairs)
    bounds = protected(layouts.entry_bounds(companions, min_companions))
    like = no_entries(weights if len(arrays.weights) else None)
    arguments = first, stop, companions, bounds, arrays, min_companions, like
    check_delivered(layouts.deliver(*arguments), rows, pairs, arguments)
    check_delivered(layouts.deliver_indexed(*arguments, indexed(arrays)), rows, pairs, arguments)


def check_delivered(delivered, rows, pairs, arguments):
    """Compare what a kernel has delivered to a range of roots with the twin."""
    spans, entries, array = delivered
    first, stop, _, bounds, arrays, min_companions, like = arguments
    assert entries.dtype == like.dtype
    assert np.array_equal(array, arrays.weights)
    for root, (start, end) in zip(range(first, stop), spans, strict=True):
        companions = [rank for rank, _ in pairs[root]]
        expected = naive.delivered(root, companions, rows, min_companions)
        assert entries[start:end].tolist() == naive.as_entries(expected, are_numbered=len(array) > 0)
        assert end - start <= bounds[root]
    assert all(spans[k, 1] <= spans[k + 1, 0] for k in range(len(spans) - 1))
    assert len(spans) == 0 or spans[-1, 1] <= len(entries)


@given(weighted_rows(), st.integers(1, 7))
def test_entries_are_packed(data, root):
    """Delivered rows become bitsets over the rows of the root, with the digits of their weights."""
    rows, weights, arrays = data
    companions = [rank for rank in range(8) if rank != root]
    found = naive.delivered(root, companions, rows, 1)
    entries = np.array(naive.as_entries(found, are_numbered=True), dtype=np.int32)
    spans = np.array([[0, 0], [0, len(entries)]])
    projected = layouts.ProjectedRows(spans, entries, arrays.weights)
    bits, planes, plane_words = layouts.pack_entries(projected, 1, len(companions), 3)
    assert bits.shape == (len(companions) + 3, layouts.padded_words(len(found)))
    held = [{b for b, (_, places) in enumerate(found) if place in places} for place in range(len(companions))]
    assert [naive.as_positions(row) for row in bits[: len(companions)]] == held
    kept = [weights[t] for t, _ in found] if len(arrays.weights) else []
    assert [naive.as_positions(plane) for plane in planes] == naive.planes(kept)
    assert len(plane_words) == len(planes)


def test_many_rows():
    """Over a thousand rows of one root: bits beyond the first cache line, weights beyond the first words."""
    rows = [[0, 1, 2, 3] if t % 3 else [0, 2, 3] for t in range(1500)]
    weights = list(range(1500, 0, -1))
    pairs = naive.frequent_pairs(rows, weights, 4, 1)
    companions = as_companions(pairs)
    bounds = protected(layouts.entry_bounds(companions, 2))
    ranks = as_rank_rows(rows, weights)
    projected = layouts.deliver(3, 4, companions, bounds, ranks, 2, no_entries(weights))
    bits, planes, plane_words = layouts.pack_entries(projected, 0, 3, 1)
    counts = [layouts.count_bits(bits, i, planes, plane_words) for i in range(3)]
    assert counts == [count for _, count in pairs[3]]
