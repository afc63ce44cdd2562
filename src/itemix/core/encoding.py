"""From lists and matrices to compressed rows of item codes (data frames: see `itemix.core.frames`).

Every function returns `Encoded`. Items that come from values (lists, long tables) are in ascending order of
their names, items that come from columns keep the order of the columns. Rows may be unsorted and may repeat
an item: `Transactions` puts that right.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.core.items import Items, Label, as_labels
from itemix.errors import InvalidInputError


class Encoded(NamedTuple):
    """Rows of item codes, and the names of the codes.

    Attributes
    ----------
    indptr : (n_rows + 1,) int64
        Where each row starts.
    indices : (nnz,) int32
        The codes of all rows.
    items : Items
        The name of each code.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    items: Items


def encode_lists(transactions: Iterable[Iterable[Label]]) -> Encoded:
    """Encode an iterable of transactions, each an iterable of item names.

    Raises
    ------
    InvalidInputError
        If a transaction is not a list of names, or the names are neither all strings nor all integers.
    """
    if not isinstance(transactions, Iterable):
        raise InvalidInputError(
            f"expected a list of transactions, got {transactions!r}; try [['milk', 'bread'], ['milk']]"
        )
    code_of = _CodeOfItem()
    codes = array("i")
    indptr = array("q", [0])
    for position, transaction in enumerate(transactions):
        if isinstance(transaction, str | bytes) or not isinstance(transaction, Iterable):
            raise InvalidInputError(
                f"expected every transaction to be a list of item names, got {transaction!r} "
                f"({type(transaction).__name__}) at position {position}; try [['milk', 'bread'], ['milk']]"
            )
        names = transaction if isinstance(transaction, Collection) else list(transaction)
        try:
            codes.extend(map(code_of.__getitem__, names))
            if code_of.has_integers:
                _refuse_equals(names)
        except TypeError as error:
            raise InvalidInputError(
                f"expected item names that are strings or integers, got {error} in transaction {position}; "
                "leave missing values out, flatten nested lists, or convert the names with str()"
            ) from None
        indptr.append(len(codes))
    return sorted_by_label(
        np.array(indptr, dtype=np.int64), np.array(codes, dtype=np.int32), as_labels(list(code_of))
    )


def is_matrix(source: Any) -> bool:  # noqa: ANN401 - whatever users have
    """Whether a source is an array of numbers; a column of names, or of lists of them, is none."""
    if not hasattr(source, "shape"):
        return False
    kind = getattr(getattr(source, "dtype", None), "kind", "O")
    return len(source.shape) != 1 or kind in "biufc"


def encode_matrix(matrix: Any, items: Iterable[Label] | None = None) -> Encoded:  # noqa: ANN401 - any matrix
    """Encode a 0/1 matrix (NumPy, or SciPy sparse without densifying it), a row for each transaction.

    Raises
    ------
    InvalidInputError
        If it is not a matrix, a value is not 0 or 1, or the number of names does not fit.
    """
    from scipy import sparse

    if np.ma.is_masked(matrix):
        raise InvalidInputError(not_binary(None))
    if not sparse.issparse(matrix):
        matrix = as_array(matrix)
    if matrix.ndim != 2:
        raise InvalidInputError(
            f"expected a matrix with a row for each transaction, got {matrix.ndim} dimension(s); "
            "try matrix.reshape(1, -1) for a single transaction"
        )
    names = Items(np.arange(matrix.shape[1])) if items is None else Items(items)
    if len(names) != matrix.shape[1]:
        raise InvalidInputError(
            f"expected a name for each of the {matrix.shape[1]:,} columns, got {len(names):,} names; "
            "pass as many items as the matrix has columns"
        )
    indptr, indices = _ones_of_dense(matrix) if isinstance(matrix, np.ndarray) else _ones_of_sparse(matrix)
    return Encoded(indptr, indices, names)


def sorted_by_label(
    indptr: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], labels: npt.NDArray[Any]
) -> Encoded:
    """Return the rows with items numbered anew, in ascending order of their names."""
    order = np.argsort(labels, kind="stable")
    new_code = np.empty(len(labels), dtype=np.int32)
    new_code[order] = np.arange(len(labels), dtype=np.int32)
    return Encoded(indptr, new_code[codes], Items(labels[order]))


def check_binary(values: npt.NDArray[Any], column: object = None) -> None:
    """Refuse values other than 0 and 1, True and False.

    Raises
    ------
    InvalidInputError
        If there is another value; the message names it, and the column where that is given.
    """
    if values.dtype == bool or values.size == 0:
        return
    if values.dtype.kind == "O":
        wrong = np.fromiter((not _is_bit(value) for value in values.flat), bool, values.size)
    elif values.dtype.kind in "iuf":
        wrong = ((values != 0) & (values != 1)).ravel()
    else:
        wrong = np.ones(values.size, dtype=bool)
    first = int(wrong.argmax())
    if wrong[first]:
        raise InvalidInputError(not_binary(values.flat[first], column))


def not_binary(value: object, column: object = None) -> str:
    """Return the message for a value that is neither 0 nor 1; None and NaN are missing ones."""
    value = value.item() if isinstance(value, np.generic) else value
    where = "" if column is None else f" in column {column!r}"
    got, hint = repr(value), "1 and 0 in the place of other values"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        got, hint = "a missing value", "0 in its place, if the item was absent"
    elif isinstance(value, Number):
        hint = "(X > 0) to make it binary"
    return f"expected only 0 and 1 (or False and True), got {got}{where}; try {hint}"


def _is_bit(value: object) -> bool:
    return isinstance(value, Number | np.bool_) and value in (0, 1)


def as_array(matrix: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - whatever NumPy takes
    """Return rows of values as an array.

    Raises
    ------
    InvalidInputError
        If the rows differ in length.
    """
    try:
        return np.asarray(matrix)
    except ValueError:
        raise InvalidInputError(
            "expected a matrix whose rows have the same length, got rows of different lengths; for lists of "
            "names use from_lists"
        ) from None


def _ones_of_dense(matrix: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    check_binary(matrix)
    lengths = np.count_nonzero(matrix, axis=1)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return indptr, np.nonzero(matrix)[1].astype(np.int32)


def _ones_of_sparse(matrix: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:  # noqa: ANN401
    compressed = matrix.tocsr()
    if not compressed.has_canonical_format:
        compressed = compressed.copy()
        compressed.sum_duplicates()
    check_binary(compressed.data)
    present = compressed.data != 0
    ones_before = np.concatenate([[0], np.cumsum(present)]).astype(np.int64)
    return ones_before[compressed.indptr], compressed.indices[present].astype(np.int32)


class _CodeOfItem(dict[Any, int]):
    """The code of an item; one that is seen for the first time is checked and numbered."""

    has_integers = False

    def __missing__(self, item: object) -> int:
        if not isinstance(item, str | int | np.integer):
            raise TypeError(f"{item!r} ({type(item).__name__})")
        self.has_integers |= not isinstance(item, str)
        self[item] = code = len(self)
        return code


def _refuse_equals(names: Collection[Any]) -> None:
    """Refuse what a dictionary takes for an integer that it holds: True and 1.0 for 1."""
    for kind in set(map(type, names)):
        if kind is bool or not issubclass(kind, str | int | np.integer):
            odd = next(name for name in names if type(name) is kind)
            raise TypeError(f"{odd!r} ({kind.__name__})")
