from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix.kernels import jit
from itemix.kernels.jit import (
    BLOCK,
    bits_of,
    copy_block,
    fetch_add,
    flag_bits,
    float_of,
    popcount,
    trailing_zeros,
)

jit.load_numba()
words = st.integers(1, 2**64 - 1)


@numba.njit
def compiled_bits(word):
    """Call what kernels call."""
    return popcount(word), trailing_zeros(word)


@numba.njit
def compiled_copy(target, to, source, start):
    """Call what kernels call."""
    copy_block(target, to, source, start)


@numba.njit
def compiled_flags(flags, start):
    """Call what kernels call."""
    return flag_bits(flags, start)


@numba.njit(nogil=True)
def compiled_additions(array, position, amount, n_times):
    """Call what kernels call, often."""
    before = fetch_add(array, position, amount)
    for _ in range(n_times - 1):
        fetch_add(array, position, amount)
    return before


@numba.njit
def compiled_views(number, word):
    """Call what kernels call."""
    return bits_of(number), float_of(word)


@given(st.floats(allow_nan=False), st.integers(-(2**63), 2**52))
def test_bits_as_numbers(number, word):
    """Bits and numbers are views of each other, compiled and not."""
    for bits, value in (compiled_views(number, word), (bits_of(number), float_of(word))):
        assert bits == np.array(number).view(np.int64)
        np.testing.assert_array_equal(value, np.array(word).view(np.float64))


@given(words)
def test_bits(word):
    """Ones are counted and the lowest is found, compiled and not."""
    digits = f"{word:b}"
    expected = digits.count("1"), len(digits) - 1 - digits.rindex("1")
    assert compiled_bits(np.uint64(word)) == expected
    assert (jit.popcount(np.uint64(word)), jit.trailing_zeros(np.uint64(word))) == expected


def test_no_bits():
    """A word of zeros has no ones."""
    assert compiled_bits(np.uint64(0))[0] == jit.popcount(np.uint64(0)) == 0


@pytest.mark.parametrize("copy", [jit.copy_block, compiled_copy], ids=["python", "compiled"])
@pytest.mark.parametrize(("to", "start"), [(0, 20), (7, 3), (3, 7)])
def test_block(copy, to, start):
    """A block is copied whole, also where it overlaps its source."""
    values = np.arange(40, dtype=np.int32)
    expected = values.copy()
    expected[to : to + BLOCK] = values[start : start + BLOCK].copy()
    copy(values, to, values, start)
    assert np.array_equal(values, expected)


@given(st.lists(st.sampled_from([0, 0, 1, 128, 255]), min_size=80, max_size=80), st.integers(0, 16))
def test_flags(values, start):
    """Bytes that are not 0 become bits, the first the lowest, compiled and not."""
    flags = np.array(values, dtype=np.uint8)
    expected = sum(1 << j for j in range(64) if values[start + j])
    assert compiled_flags(flags, start) == jit.flag_bits(flags, start) == expected


def test_additions_return_what_was_there():
    """An addition changes one place and returns its old value, compiled and not."""
    for add in (jit.fetch_add, lambda *arguments: compiled_additions(*arguments, 1)):
        array = np.array([5, 7, 9], dtype=np.int64)
        assert add(array, 1, -3) == 7
        assert array.tolist() == [5, 4, 9]


def test_no_addition_is_lost():
    """Additions of several threads all arrive."""
    array = np.zeros(1, dtype=np.int64)
    n_times = 10**6 if isinstance(compiled_additions, numba.core.registry.CPUDispatcher) else 100
    with ThreadPoolExecutor(4) as pool:
        for _ in range(8):
            pool.submit(compiled_additions, array, 0, 3, n_times)
    assert array[0] == 8 * 3 * n_times


@jit.kernel
def made_in_place(n, shape, value, like):
    """Make arrays as kernels do."""
    filled = np.full(shape, value)
    if n > 0:
        filled[0, 0] = value + n
    return np.zeros(n), np.zeros((n, 2), dtype=np.uint8), filled, np.full(n, 7, like.dtype), np.empty(1 << 3)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_arrays_made_in_place_are_those_of_numpy(n):
    """Kernels make arrays by instructions of ours; they have the shapes, types and contents of NumPy's."""
    like = np.zeros(1, dtype=np.int16)
    made = made_in_place(n, (n, 3), -np.inf, like)
    expected = [np.zeros(n), np.zeros((n, 2), np.uint8), np.full((n, 3), -np.inf), np.full(n, 7, np.int16)]
    for array, other in zip(made[:-1], expected, strict=True):
        np.testing.assert_array_equal(array, other, strict=True)
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert (made[-1].shape, made[-1].dtype) == ((8,), np.float64)


def test_arrays_that_are_too_large_are_refused():
    """Sizes below zero and beyond all memory are errors, as Numba's own are."""
    like = np.zeros(1, dtype=np.int16)
    with pytest.raises(ValueError, match="negative dimensions"):
        made_in_place(-1, (1, 1), 0.0, like)
    with pytest.raises(ValueError, match="array is too big"):
        made_in_place(1, (2**40, 2**40), 0.0, like)


@jit.kernel
def compared_in_place(a, b, c):
    """Compare as kernels do."""
    return max(a, b), min(a, b), max(a, b, c), min(a, b, c), int(a), int(a > b)


numbers_or_none = st.floats(-1e15, 1e15) | st.just(np.nan)


only_compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compares compiled code with Python's")


@only_compiled
@given(st.tuples(st.floats(-1e15, 1e15), numbers_or_none, numbers_or_none))
def test_numbers_compared_in_place_are_those_of_python(numbers):
    """The order of comparisons is Python's too, which shows where a number is none."""
    found = compared_in_place(*numbers)
    np.testing.assert_array_equal(found, compared_in_place.__wrapped__(*numbers))


@only_compiled
def test_types_are_those_that_numbers_have_together():
    """Whole numbers stay whole, whatever their widths; with a fraction among them they become floats."""
    found = compared_in_place(np.int32(3), np.int64(2**40), np.uint8(1))
    assert found == (2**40, 3, 2**40, 1, 3, 0)
    assert [type(value) for value in found] == [int] * 6
    assert compared_in_place(2, 2.5, 1) == (2.5, 2.0, 2.5, 1.0, 2, 0)
