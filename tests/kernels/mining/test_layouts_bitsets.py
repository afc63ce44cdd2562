import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import layouts as naive

from itemix.kernels.mining import layouts

N_BITS = 600
WORDS = 16

positions = st.sets(st.integers(0, N_BITS - 1), max_size=40)
NO_DIGITS = np.empty((0, WORDS), dtype=np.uint64), np.empty(0, dtype=np.int64)


@st.composite
def weighted_rows(draw):
    """Three rows of bits, and multiplicities (descending, or None for ones) with their planes."""
    rows = draw(st.lists(positions, min_size=3, max_size=3))
    if draw(st.booleans()):
        return rows, None, NO_DIGITS
    few = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=5))
    multiplicities = sorted(few + [1] * (N_BITS - len(few)), reverse=True)
    return rows, multiplicities, layouts.multiplicity_planes(np.array(multiplicities), WORDS)


@pytest.mark.parametrize("n_bits", [0, 1, 64, 511, 512, 513, 5000])
def test_words_of_a_row(n_bits):
    """A row has room for all bits, in whole cache lines, and never none at all."""
    words = layouts.padded_words(n_bits)
    assert words * 64 >= max(n_bits, 1)
    assert words % 8 == 0
    assert words * 64 - n_bits <= 512


@given(weighted_rows())
def test_counts(data):
    """Rows and common parts of rows are counted as sets are, with and without multiplicities."""
    (a, b, _), multiplicities, digits = data
    arena = naive.as_arena([a, b], WORDS)
    assert layouts.count_bits(arena, 0, *digits) == naive.count(a, multiplicities)
    assert layouts.count_common(arena, 0, 1, *digits) == naive.count(a & b, multiplicities)


@given(weighted_rows())
def test_intersections(data):
    """An intersection is written and counted; it may take the place of one of its rows."""
    (a, b, c), multiplicities, digits = data
    arena = naive.as_arena([a, b, c], WORDS, n_free=1)
    assert layouts.intersect(arena, 0, 1, 3, *digits) == naive.count(a & b, multiplicities)
    assert naive.as_positions(arena[3]) == a & b
    assert layouts.intersect(arena, 3, 2, 3, *digits) == naive.count(a & b & c, multiplicities)
    assert [naive.as_positions(row) for row in arena] == [a, b, c, a & b & c]


@given(positions, positions)
def test_subsets(a, b):
    """A row is a subset of another as sets are."""
    arena = naive.as_arena([a, b, a | b, a & b], WORDS)
    for i, left in enumerate([a, b, a | b, a & b]):
        for j, right in enumerate([a, b, a | b, a & b]):
            assert layouts.is_subset(arena, i, j) == (left <= right)


@given(st.lists(st.integers(1, 2**40), max_size=150))
def test_planes_of_multiplicities(numbers):
    """Each plane holds one binary digit, and its words end with the last one that is needed."""
    numbers.sort(reverse=True)
    planes, plane_words = layouts.multiplicity_planes(np.array(numbers, dtype=np.int64), 8)
    expected = naive.planes(numbers)
    assert [naive.as_positions(plane) for plane in planes] == expected
    assert plane_words.tolist() == [max(plane, default=-1) // 64 + 1 for plane in expected]


def test_room_grows():
    """What was there is kept, and there is at least twice the room and at least what is asked for."""
    rows = np.arange(6, dtype=np.uint64).reshape(3, 2)
    for asked, size in [(2, 6), (7, 7)]:
        larger = layouts.grown(rows, asked)
        assert larger.shape == (size, 2)
        assert np.array_equal(larger[:3], rows)
    for n, asked, size in [(5, 0, 40), (5, 50, 50), (1 << 20, 0, 1 << 21)]:
        values = np.arange(n, dtype=np.int32)
        longer = layouts.longer(values, asked)
        assert (len(longer), longer.dtype) == (size, np.int32)
        assert np.array_equal(longer[:n], values)
