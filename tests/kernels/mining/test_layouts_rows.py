from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import layouts as naive

from itemix.kernels.mining import layouts


@st.composite
def ranked_data(draw):
    """Rows of codes, an order of the rows (or none), and a rank for some of the codes."""
    n_items = draw(st.integers(1, 8))
    rows = draw(st.lists(st.sets(st.integers(0, n_items - 1)).map(sorted), max_size=12))
    row_order = draw(st.just([]) | st.permutations(range(len(rows))))
    n_ranks = draw(st.integers(0, n_items))
    rank_of = draw(st.permutations([*range(n_ranks), *[-1] * (n_items - n_ranks)]))
    return rows, row_order, rank_of, n_ranks


def as_arguments(rows, row_order, rank_of, n_ranks):
    """Make the arrays that the kernels take."""
    orders = np.array(row_order, dtype=np.int64), np.array(rank_of, dtype=np.int32)
    return *naive.as_rows(rows), *orders, n_ranks


@given(ranked_data())
def test_bitsets_of_ranks(data):
    """Bit b of an item's row says whether the b-th row holds it; items without a rank are left out."""
    bits = layouts.pack_bitsets(*as_arguments(*data))
    assert bits.shape == (data[3], layouts.padded_words(len(data[0])))
    assert [naive.as_positions(row) for row in bits] == naive.holders(*data)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
@given(ranked_data())
def test_rows_of_ranks(dtype, data):
    """Rows of ascending ranks; those with fewer than two are left out, and which ones is said."""
    *arrays, _ = as_arguments(*data)
    row_start, ranks, kept = layouts.rows_of_ranks(*arrays, np.empty(0, dtype=dtype))
    expected = naive.rows_of_ranks(*data[:3])
    assert ranks.dtype == dtype
    assert kept.tolist() == ([position for position, _ in expected] if data[1] else [])
    assert [ranks[a:b].tolist() for a, b in pairwise(row_start)] == [row for _, row in expected]


def test_more_rows_than_a_word():
    """Bits of many rows go on in the next word."""
    rows = [[t % 3] for t in range(130)]
    data = rows, [], [1, -1, 0], 2
    bits = layouts.pack_bitsets(*as_arguments(*data))
    assert [naive.as_positions(row) for row in bits] == naive.holders(*data)


@pytest.mark.parametrize("length", [2, 15, 16, 17, 63, 64, 65, 200])
def test_rows_of_any_length_are_sorted(length):
    """Rows ascend, whether they fill a whole number of blocks or not, and where they are sorted otherwise."""
    rank_of = np.random.default_rng(0).permutation(length).astype(np.int32)
    arrays = *naive.as_rows([list(range(length)), [0, 1]]), np.empty(0, dtype=np.int64), rank_of
    row_start, ranks, _ = layouts.rows_of_ranks(*arrays, np.empty(0, dtype=np.uint16))
    assert ranks[row_start[0] : row_start[1]].tolist() == list(range(length))
    assert ranks[row_start[1] :].tolist() == sorted(rank_of[[0, 1]].tolist())
