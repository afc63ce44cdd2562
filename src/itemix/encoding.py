"""From lists, matrices and data frames to compressed rows of item codes.

Every function returns `Encoded`: row pointers (N + 1,) int64, codes (nnz,) int32 and the items. Items that
come from values (lists, long tables) are in ascending order of their names, items that come from columns keep
the order of the columns. Rows may be unsorted and may repeat an item: `Transactions` puts that right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.items import Items, Label, as_labels

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw
    import pyarrow as pa


class Encoded(NamedTuple):
    """Rows of item codes, and the names of the codes."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    items: Items


def encode_lists(transactions: Iterable[Iterable[Label]]) -> Encoded:
    """Encode an iterable of transactions, each an iterable of item names."""
    code_of: dict[Any, int] = {}
    codes: list[int] = []
    indptr = [0]
    for position, transaction in enumerate(transactions):
        if isinstance(transaction, str | bytes) or not isinstance(transaction, Iterable):
            raise InvalidInputError(
                f"expected every transaction to be a list of item names, got {transaction!r} "
                f"({type(transaction).__name__}) at position {position}; try [['milk', 'bread'], ['milk']]"
            )
        try:
            codes.extend([code_of.setdefault(item, len(code_of)) for item in transaction])
        except TypeError:
            raise InvalidInputError(
                f"expected item names that are strings or integers, got a nested value in transaction "
                f"{position}; flatten the transaction first"
            ) from None
        indptr.append(len(codes))
    labels = as_labels(list(code_of))
    return sorted_by_label(np.array(indptr, dtype=np.int64), np.array(codes, dtype=np.int64), labels)


def encode_matrix(matrix: Any, items: Iterable[Label] | None = None) -> Encoded:  # noqa: ANN401 - any matrix
    """Encode a 0/1 matrix (NumPy, or SciPy sparse without densifying it), a row for each transaction."""
    from scipy import sparse

    if sparse.issparse(matrix):
        compressed = matrix.tocsr()
        if not compressed.has_canonical_format:
            compressed = compressed.copy()
            compressed.sum_duplicates()
        _check_binary(compressed.data)
        present = compressed.data != 0
        indptr = np.concatenate([[0], np.cumsum(present)])[compressed.indptr]
        indices = compressed.indices[present]
        n_items = matrix.shape[1]
    else:
        dense = np.asarray(matrix)
        if dense.ndim != 2:
            raise InvalidInputError(
                f"expected a matrix with a row for each transaction, got {dense.ndim} dimension(s); "
                "try matrix.reshape(1, -1) for a single transaction"
            )
        _check_binary(dense)
        rows, indices = np.nonzero(dense)
        indptr = np.searchsorted(rows, np.arange(dense.shape[0] + 1))
        n_items = dense.shape[1]
    names = Items(np.arange(n_items)) if items is None else Items(items)
    if len(names) != n_items:
        raise InvalidInputError(
            f"expected a name for each of the {n_items:,} columns, got {len(names):,} names; "
            "pass as many items as the matrix has columns"
        )
    return Encoded(indptr.astype(np.int64), indices.astype(np.int32), names)


def encode_onehot_frame(frame: Any) -> Encoded:  # noqa: ANN401 - pandas, polars, pyarrow
    """Encode a one-hot data frame, a column for each item; sparse pandas columns are not densified."""
    import narwhals.stable.v1 as nw

    table = _as_narwhals(frame)
    native = table.to_native()
    if hasattr(native, "iloc"):
        names: list[Any] = list(native.columns)
        columns = (_present_in_pandas_column(native.iloc[:, j], names[j]) for j in range(len(names)))
    else:
        names = table.columns
        columns = (_present_in_column(nw.from_native(table[name], series_only=True), name) for name in names)
    per_column = list(columns)
    items = Items(names)
    n_rows = table.shape[0]
    lengths = np.array([len(rows) for rows in per_column], dtype=np.int64)
    row_of = np.concatenate(per_column) if per_column else np.empty(0, dtype=np.int64)
    return _rows_from_pairs(row_of, np.repeat(np.arange(len(items)), lengths), n_rows, items)


def encode_long_frame(frame: Any, transaction: str, item: str) -> Encoded:  # noqa: ANN401 - as above
    """Encode a long data frame with a row for each (transaction, item) pair."""
    table = _as_narwhals(frame)
    for name in (transaction, item):
        if name not in table.columns:
            raise InvalidInputError(
                f"expected a column {name!r}, got {_shorten(table.columns)}; name the column with "
                f"{'transaction' if name == transaction else 'item'}="
            )
    return encode_arrow_pairs(table[transaction].to_arrow(), table[item].to_arrow())


def encode_arrow_pairs(
    transactions: pa.Array | pa.ChunkedArray, items: pa.Array | pa.ChunkedArray
) -> Encoded:
    """Encode pairs of transaction id and item; transactions come in the order of their first appearance."""
    for name, column in (("transaction", transactions), ("item", items)):
        if column.null_count:
            raise InvalidInputError(
                f"expected a value in every row of the {name} column, got {column.null_count:,} missing; "
                "drop those rows first"
            )
    rows, ids = _dictionary_codes(transactions)
    codes, labels = _dictionary_codes(items)
    encoded = _rows_from_pairs(rows, codes, len(ids), Items(np.arange(len(labels))))
    return sorted_by_label(encoded.indptr, encoded.indices.astype(np.int64), as_labels(labels.to_pylist()))


def encode_arrow_lists(column: pa.Array | pa.ChunkedArray) -> Encoded:
    """Encode an Arrow column whose every value is a list of item names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    values = pc.list_flatten(array)
    if values.null_count:
        raise InvalidInputError(
            f"expected item names in every list, got {values.null_count:,} missing values; drop them first"
        )
    codes, labels = _dictionary_codes(values)
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return sorted_by_label(indptr, codes, as_labels(labels.to_pylist()))


def sorted_by_label(
    indptr: npt.NDArray[np.int64], codes: npt.NDArray[np.int64], labels: npt.NDArray[Any]
) -> Encoded:
    """Number the items anew, in ascending order of their names."""
    order = np.argsort(labels, kind="stable")
    new_code = np.empty(len(labels), dtype=np.int32)
    new_code[order] = np.arange(len(labels), dtype=np.int32)
    indices = new_code[codes] if len(labels) else np.empty(0, dtype=np.int32)
    return Encoded(indptr, indices, Items(labels[order]))


def _rows_from_pairs(rows: npt.NDArray[Any], codes: npt.NDArray[Any], n_rows: int, items: Items) -> Encoded:
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int64)
    return Encoded(indptr, codes[order].astype(np.int32), items)


def _dictionary_codes(column: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], pa.Array]:
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    used, codes = np.unique(array.indices.to_numpy(zero_copy_only=False), return_inverse=True)
    return codes.astype(np.int64), array.dictionary.take(pa.array(used))


def _as_narwhals(frame: Any) -> nw.DataFrame[Any]:  # noqa: ANN401 - any data frame
    import narwhals.stable.v1 as nw

    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InvalidInputError(
            f"expected a pandas, polars or pyarrow data frame, got {type(frame).__name__}; "
            "for lists use from_lists, for arrays from_matrix"
        ) from None


def _present_in_pandas_column(column: Any, name: object) -> npt.NDArray[np.int64]:  # noqa: ANN401
    import pandas as pd

    if isinstance(column.dtype, pd.SparseDtype) and column.dtype.fill_value == 0:
        stored = np.asarray(column.array.sp_values)
        _check_binary(stored, name)
        present: npt.NDArray[np.int64] = column.array.sp_index.indices[stored != 0].astype(np.int64)
        return present
    if column.hasnans:
        raise InvalidInputError(_not_binary("a missing value", name))
    return _present_in_values(column.to_numpy(), name)


def _present_in_column(column: nw.Series[Any], name: str) -> npt.NDArray[np.int64]:
    if column.null_count():
        raise InvalidInputError(_not_binary("a missing value", name))
    return _present_in_values(column.to_numpy(), name)


def _present_in_values(values: npt.NDArray[Any], name: object) -> npt.NDArray[np.int64]:
    _check_binary(values, name)
    return np.flatnonzero(values).astype(np.int64)


def _check_binary(values: npt.NDArray[Any], column: object = None) -> None:
    if values.dtype == bool:
        return
    if values.dtype.kind not in "iuf" and not _all_bool_objects(values):
        raise InvalidInputError(_not_binary(f"values of type {values.dtype}", column))
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        value = values[wrong].flat[0]
        shown = "a missing value (NaN)" if value != value else repr(value.item())  # noqa: PLR0124 - NaN
        raise InvalidInputError(_not_binary(shown, column))


def _all_bool_objects(values: npt.NDArray[Any]) -> bool:
    return values.dtype == object and all(isinstance(value, bool | np.bool_) for value in values.flat)


def _not_binary(got: str, column: object) -> str:
    where = "" if column is None else f" in column {column!r}"
    return f"expected only 0 and 1 (or False and True), got {got}{where}; try (X > 0) to make it binary"


def _shorten(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return f"columns {shown}{', ...' if len(names) > 8 else ''}"
