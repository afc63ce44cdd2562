"""What the generators of synthetic data share: seeds, and draws that every platform makes alike.

Draws are uniform ones, compared, multiplied or looked up in tables; where a function of the system's
mathematical library is needed, its result is rounded, for the last digit differs between platforms.
"""

from __future__ import annotations

import operator

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError

Seed = int | np.random.Generator
Floats = npt.NDArray[np.float64]

LARGEST_MEAN = 500.0
"""The largest mean of a Poisson distribution that is drawn from."""

_DIGITS = 6
_DIGITS_OF_TABLES = 12


def generator(random_state: Seed) -> np.random.Generator:
    """Return a generator whose stream is the same on every platform."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.Generator(np.random.PCG64(random_state))


def check_number(n: object, noun: str, *, least: int = 0, example: int) -> int:
    """Return a whole number of things to make.

    Raises
    ------
    InvalidInputError
        If it is no whole number, or less than `least`.
    """
    if isinstance(n, bool) or not hasattr(n, "__index__") or operator.index(n) < least:
        raise InvalidInputError(f"expected a number of {noun} of {least} or more, got {n!r}; try {example}")
    return operator.index(n)


def check_between(name: str, value: object, low: float, high: float, *, example: float) -> float:
    """Return a number from `low` to `high`.

    Raises
    ------
    InvalidInputError
        If it is no number, or lies outside.
    """
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not low <= float(value) <= high:  # type: ignore[arg-type]
        raise InvalidInputError(f"expected {name} from {low:g} to {high:g}, got {value!r}; try {example:g}")
    return float(value)  # type: ignore[arg-type]


def exponential(rng: np.random.Generator, n: int) -> Floats:
    """Draw n numbers of the exponential distribution of mean 1."""
    drawn: Floats = -np.log(1.0 - rng.random(n))
    return drawn.round(_DIGITS)


def poisson(rng: np.random.Generator, mean: float, n: int) -> npt.NDArray[np.int64]:
    """Draw n numbers of the Poisson distribution of a mean of at most `LARGEST_MEAN`."""
    largest = int(mean + 12 * np.sqrt(mean) + 20)
    factors = mean / np.arange(1, largest + 1)
    shares = np.cumsum(np.exp(-mean) * np.concatenate([[1.0], np.cumprod(factors)]))
    return np.searchsorted(shares.round(_DIGITS_OF_TABLES)[:-1], rng.random(n), side="right")
