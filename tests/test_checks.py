"""Numbers that are arguments."""

import numpy as np
import pytest

from itemix import InvalidInputError
from itemix._checks import check_counts, check_number, check_whole


def test_numbers_pass():
    """Of Python and of NumPy, negative ones and infinity too."""
    assert [check_whole("n", value, 2) for value in (3, np.int8(-3))] == [3, -3]
    assert [check_number("x", value, 0.5) for value in (3, np.float32(0.5), float("inf"))] == [3, 0.5, np.inf]


def test_counts_go_with_their_supports():
    """Supports may be rounded; counts of other supports are refused, and where they stand is said."""
    support, count = np.array([0.192, 0.5]), np.array([1888, 4917])
    check_counts(support, count, 9835)
    check_counts(support, count, None)
    check_counts(support, None, 9835)
    message = (
        r"expected supports that are count / n_transactions, got support 0\.5 with count 4,916 of 9,835 at"
    )
    with pytest.raises(InvalidInputError, match=message):
        check_counts(support, count - [0, 1], 9835)
    with pytest.raises(InvalidInputError, match="at position 0; correct one"):
        check_counts(np.array([np.nan]), np.array([1]), 5)
    with pytest.raises(
        InvalidInputError, match="expected n_transactions as a whole number of 0 or more, got"
    ):
        check_counts(support, count, "many")


@pytest.mark.parametrize("value", ["3", None, 1.5, True, [3]])
def test_other_things_are_no_whole_numbers(value):
    """The message has the name, the value and an example."""
    with pytest.raises(InvalidInputError, match=r"expected n as a whole number, got .*; try 2"):
        check_whole("n", value, 2)


@pytest.mark.parametrize("value", ["3", None, float("nan"), True, 1j])
def test_other_things_are_no_numbers(value):
    """The message has the name, the value and an example."""
    with pytest.raises(InvalidInputError, match=r"expected x as a number, got .*; try 0.5"):
        check_number("x", value, 0.5)
