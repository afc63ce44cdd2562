import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.layouts import as_companions, as_rank_rows, no_entries
from naive import candidates as naive
from naive import layouts as naive_layouts

from itemix._arrays import protected
from itemix.kernels.mining import candidates, layouts, records

N_ITEMS = 6


@st.composite
def tries(draw):
    """A trie whose roots are all items, some of its joins not wanted, and both as kernels take them."""
    family = draw(st.sets(st.frozensets(st.integers(0, N_ITEMS - 1), min_size=1, max_size=4), max_size=5))
    nodes = naive.with_parents(family) | {frozenset([item]) for item in range(N_ITEMS)}
    joins, (first, item, join_start, _) = naive.trie(nodes)
    wanted = np.array([len(join) > 1 and draw(st.booleans()) for join in joins])
    below = candidates.unknown_below(first, join_start, np.where(wanted, candidates.UNKNOWN, 0))
    counts = np.zeros(len(joins), dtype=np.int64)
    return joins, candidates.JoinCounts(first, item, join_start, wanted, below, counts)


@st.composite
def weighted_rows(draw):
    """Rows of at least two items, with descending weights or none."""
    rows = draw(st.lists(st.sets(st.integers(0, N_ITEMS - 1), min_size=2).map(sorted), max_size=12))
    some = draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    return rows, sorted(some, reverse=True) if draw(st.booleans()) else None


def expected(joins, wanted, rows, weights, lengths):
    """The counts of those joins that are wanted and of one of the lengths."""
    each = weights or [1] * len(rows)
    counted = [is_wanted and len(join) in lengths for join, is_wanted in zip(joins, wanted, strict=True)]
    return [naive.count_of(join, rows, each) if c else 0 for join, c in zip(joins, counted, strict=True)]


@given(tries(), weighted_rows(), st.integers(0, N_ITEMS))
def test_dense(trie, data, cut):
    """Joins are counted in bitsets over all rows, root by root."""
    joins, arrays = trie
    rows, weights = data
    order, ranks = np.empty(0, dtype=np.int64), np.arange(N_ITEMS, dtype=np.int32)
    bits = layouts.pack_bitsets(*map(protected, (*naive_layouts.as_rows(rows), order, ranks)), N_ITEMS)
    digits = layouts.multiplicity_planes(protected(np.array(weights or [], dtype=np.int64)), bits.shape[1])
    layout = layouts.Bitsets(*map(protected, (bits, *digits)))
    shared = np.zeros(4, dtype=np.int64)
    for part in ((0, cut), (cut, N_ITEMS)):
        candidates.count_dense(shared, *part, 5, layout, ranks, arrays)
    assert arrays.counts.tolist() == expected(joins, arrays.wanted, rows, weights, range(2, 6))


@given(tries(), weighted_rows(), st.integers(0, N_ITEMS))
def test_projected(trie, data, cut):
    """Pairs are counted for all roots, and larger joins in the rows of each root."""
    joins, arrays = trie
    rows, weights = data
    first, item, _, wanted, _, counts = arrays
    each = weights or [1] * len(rows)
    pairs = naive_layouts.frequent_pairs(rows, each, N_ITEMS, 1)
    ranks = np.arange(N_ITEMS, dtype=np.int32)
    of_nodes = candidates.add_pairs(as_companions(pairs), ranks, arrays)
    assert counts.tolist() == expected(joins, wanted, rows, weights, [2])
    second = slice(1 + N_ITEMS, 1 + N_ITEMS + len(of_nodes))
    roots = np.repeat(np.arange(N_ITEMS), np.diff(first[1 : N_ITEMS + 2]))
    assert of_nodes.tolist() == [
        naive.count_of({root, other}, rows, each) for root, other in zip(roots, item[second], strict=True)
    ]
    companions = layouts.Companions(
        protected(first[1 : N_ITEMS + 2] - first[1]),
        protected(item[second].copy()),
        protected(of_nodes),
    )
    bounds = protected(layouts.entry_bounds(companions, 2))
    row_arrays = as_rank_rows(rows, weights)
    shared = np.zeros(4, dtype=np.int64)
    for part in ((0, cut), (cut, N_ITEMS)):
        delivered = layouts.deliver(*part, companions, bounds, row_arrays, 2, no_entries(weights))
        candidates.count_projected(shared, *part, 5, delivered, N_ITEMS, arrays)
    assert counts.tolist() == expected(joins, wanted, rows, weights, range(2, 6))


@pytest.mark.parametrize("state", [records.RUNNING, records.CANCELLED])
def test_counting_can_be_stopped(state):
    """Nothing is counted once the threads are told to stop."""
    nodes = {frozenset([item]) for item in range(3)}
    joins, (first, item, join_start, _) = naive.trie(nodes)
    wanted = np.array([len(join) > 1 for join in joins])
    below = candidates.unknown_below(first, join_start, np.where(wanted, candidates.UNKNOWN, 0))
    counts = np.zeros(len(joins), dtype=np.int64)
    bits = protected(np.ones((3, 8), dtype=np.uint64))
    planes = protected(np.empty((0, 8), dtype=np.uint64)), protected(np.empty(0, dtype=np.int64))
    layout = layouts.Bitsets(bits, *planes)
    shared = np.array([state, 0, 0, 0], dtype=np.int64)
    trie = candidates.JoinCounts(first, item, join_start, wanted, below, counts)
    candidates.count_dense(shared, 0, 3, 2, layout, np.arange(3, dtype=np.int32), trie)
    assert counts.any() == (state == records.RUNNING)
