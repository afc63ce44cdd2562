"""What makes values immutable: arrays that nobody else can write to, also after pickling and copying."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError

S = TypeVar("S", bound=np.generic)


class Immutable:
    """A value whose arrays are read-only, and stay so in pickles and copies, where NumPy forgets it."""

    __slots__ = ()

    def __setstate__(self, state: Any) -> None:  # noqa: ANN401 - what was pickled
        parts = state if isinstance(state, tuple) else (state,)
        for part in parts:
            for name, value in (part or {}).items():
                _protect(value)
                object.__setattr__(self, name, value)


def owned(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return values as a read-only, contiguous array, copied where someone else could write to it.

    Raises
    ------
    InvalidInputError
        If they are no array of numbers.
    """
    try:
        array = np.ascontiguousarray(values, dtype=dtype)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"expected an array of numbers, got {values!r:.60}; give numbers in rows of equal length"
        ) from None
    return protected(array.copy() if is_shared(array, values) else array)


def protected(array: npt.NDArray[S]) -> npt.NDArray[S]:
    """Make a new array read-only."""
    array.setflags(write=False)
    return array


def is_shared(array: npt.NDArray[Any], original: object) -> bool:
    """Tell whether someone else could write to the memory of an array that was made from `original`.

    Nobody can where it is new, or read-only and its own. A read-only view is as much another's as any.
    """
    if array is original:
        return array.base is not None or array.flags.writeable
    lends = hasattr(original, "__array__") and not isinstance(original, np.ndarray)
    return array.base is not None or lends


def _protect(value: object) -> None:
    """Make arrays read-only, also those in tuples and dictionaries."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, dict | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            _protect(part)
