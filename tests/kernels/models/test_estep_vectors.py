"""Vector code against NumPy's functions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from itemix.kernels.models import estep

numbers = arrays(np.float64, st.integers(1, 70), elements=st.floats(-1e9, 1e9) | st.just(-np.inf))


@given(numbers)
def test_the_highest(values):
    """The maximum is found among numbers of either sign and -inf."""
    assert estep.highest(values) == values.max()


@given(arrays(np.float64, st.integers(0, 70), elements=st.floats(0, 1)), st.floats(0, 1))
def test_totals_and_numbers_above(values, least):
    """Sums are those of NumPy to rounding, and values above a least one are counted."""
    np.testing.assert_allclose(estep.sum_of(values), values.sum(), rtol=1e-14)
    assert estep.count_above(values, least) == (values > least).sum()


def test_exponential_is_exact_to_rounding():
    """The vector exponential agrees with the library's over its whole range and is 0 below it."""
    score = np.concatenate([-np.linspace(0, 699, 40_001), [-701.0, -1e6, -np.inf]])
    out = np.empty_like(score)
    estep.exp_of_difference(score, 0.0, out)
    np.testing.assert_allclose(out[:-3], np.exp(score[:-3]), rtol=1e-15)
    assert (out[-3:] == 0).all()


@given(
    st.lists(st.tuples(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300)), min_size=1, max_size=20),
)
def test_log_ratio_is_accurate(pairs):
    """The vector logarithm of a ratio is that of the mathematics to rounding, without overflow between."""
    top, bottom = np.array(pairs).T.copy()
    out = np.ones(len(pairs))
    expected = 1 + np.log(top) - np.log(bottom)
    estep.add_log_ratio(top, bottom, out)
    np.testing.assert_allclose(out, expected, rtol=1e-14, atol=3e-13)


def test_whole_vectors():
    """Arrays are filled up to the next multiple of the width."""
    assert [estep.padded(n) for n in (0, 1, 8, 9, 50)] == [0, 8, 8, 16, 56]
