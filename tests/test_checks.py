"""Numbers that are arguments."""

import numpy as np
import pytest

from itemix import InvalidInputError
from itemix.checks import check_number, check_whole


def test_numbers_pass():
    """Of Python and of NumPy, negative ones and infinity too."""
    assert [check_whole("n", value, 2) for value in (3, np.int8(-3))] == [3, -3]
    assert [check_number("x", value, 0.5) for value in (3, np.float32(0.5), float("inf"))] == [3, 0.5, np.inf]


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
