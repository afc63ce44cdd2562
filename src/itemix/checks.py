"""Arguments that are numbers, checked: what was expected, what was got, what to try."""

from __future__ import annotations

import math
from numbers import Integral, Real

from itemix.errors import InvalidInputError


def check_whole(name: str, value: object, example: int) -> int:
    """Return a whole number.

    Raises
    ------
    InvalidInputError
        If it is something else; the message offers the example.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidInputError(f"expected {name} as a whole number, got {value!r}; try {example}")
    return int(value)


def check_number(name: str, value: object, example: float) -> float:
    """Return a number that is not NaN.

    Raises
    ------
    InvalidInputError
        If it is something else; the message offers the example.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise InvalidInputError(f"expected {name} as a number, got {value!r}; try {example}")
    return float(value)
