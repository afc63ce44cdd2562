"""Compressed rows as callers hand them in: checked, converted and made read-only.

Kernels are compiled for read-only arrays, so that each is compiled once.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.immutable import is_shared, protected

# Counts are exact also where they are added up as floats.
_MOST_TRANSACTIONS = 2**53

S = TypeVar("S", bound=np.generic)


def as_codes(indices: npt.ArrayLike, n_items: int) -> npt.NDArray[np.int32]:
    """Return item codes as int32.

    Raises
    ------
    InvalidInputError
        If they are not integers from 0 to n_items - 1.
    """
    values = np.asarray(indices)
    if values.size == 0:
        return np.empty(0, dtype=np.int32)
    if values.dtype.kind not in "iu":
        raise InvalidInputError(
            f"expected integer item codes, got {values.dtype}; try Transactions.from_lists"
        )
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= n_items:
        raise InvalidInputError(
            f"expected item codes from 0 to {n_items - 1:,}, got {low if low < 0 else high:,}; "
            "codes are positions in items: try Transactions.from_lists"
        )
    return np.ascontiguousarray(values, dtype=np.int32)


def as_multiplicities(values: npt.ArrayLike | None, n_rows: int) -> npt.NDArray[np.int64] | None:
    """Return a copy of the number of transactions that each row stands for, as int64.

    Raises
    ------
    InvalidInputError
        If they are not positive whole numbers, one for each row, or too many in all to be counted.
    """
    if values is None:
        return None
    array = np.array(values)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu" or (array < 1).any():
        raise InvalidInputError(
            f"expected a positive whole number for each of the {n_rows:,} rows, got {array.shape} of "
            f"{array.dtype}; leave out multiplicities if every row is one transaction"
        )
    total = float(array.sum(dtype=np.float64))
    if total > _MOST_TRANSACTIONS:
        raise InvalidInputError(
            f"expected at most {_MOST_TRANSACTIONS:,} transactions in all, got multiplicities that add up to "
            f"{total:.4g}; divide them by a common factor"
        )
    return array.astype(np.int64)


def as_pointers(indptr: npt.ArrayLike, n_codes: int) -> npt.NDArray[np.int64]:
    """Return row pointers as int64.

    Raises
    ------
    InvalidInputError
        If they do not ascend from 0 to n_codes.
    """
    values = np.asarray(indptr)
    if values.ndim == 1 and values.dtype.kind in "iu" and len(values):
        pointers = np.ascontiguousarray(values, dtype=np.int64)
        if pointers[0] == 0 and pointers[-1] == n_codes and (pointers[1:] >= pointers[:-1]).all():
            return pointers
    raise InvalidInputError(
        f"expected row pointers that ascend from 0 to the number of codes ({n_codes:,}), got others; "
        "try Transactions.from_lists"
    )


def frozen(array: npt.NDArray[S], original: object) -> npt.NDArray[S]:
    """Make an array read-only; a copy, where it may be the memory of a caller's `original`."""
    return protected(array.copy() if is_shared(array, original) else array)
