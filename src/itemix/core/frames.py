"""From data frames (pandas, polars, pyarrow) and Arrow columns to compressed rows of item codes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.arrow import as_arrow
from itemix.core.encoding import Encoded, check_binary, not_binary, sorted_by_label
from itemix.core.items import Items, as_labels
from itemix.errors import InvalidInputError
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals.stable.v1 as nw
    import pyarrow as pa

    from itemix.core.items import Label

_COLUMNS_SHOWN = 8


def encode_onehot_frame(frame: Any) -> Encoded:  # noqa: ANN401 - pandas, polars, pyarrow
    """Encode a one-hot data frame, a column for each item; sparse pandas columns are not densified.

    Raises
    ------
    InvalidInputError
        If it is no data frame, two columns share a name, or a value is not 0 or 1.
    """
    table = _as_narwhals(frame)
    native = table.to_native()
    if hasattr(native, "iloc"):
        items = Items(list(native.columns))
        columns = [_ones_of_pandas(native.iloc[:, j], name) for j, name in enumerate(native.columns)]
    else:
        items = Items(table.columns)
        columns = [_ones_of_column(table[name], name) for name in table.columns]
    lengths = np.array([len(rows) for rows in columns], dtype=np.int64)
    rows = np.concatenate([np.empty(0, dtype=np.int64), *columns])
    codes = np.repeat(np.arange(len(items), dtype=np.int32), lengths)
    return Encoded(*csr.rows_of_pairs(rows, codes, table.shape[0]), items)


def encode_long_frame(frame: Any, transaction: Label, item: Label) -> Encoded:  # noqa: ANN401 - as above
    """Encode a long data frame with a row for each (transaction, item) pair.

    Raises
    ------
    InvalidInputError
        If it is no data frame, a column is not there, or a value is missing.
    """
    table = _as_narwhals(frame)
    for role, name in (("transaction", transaction), ("item", item)):
        check_column(name, table.columns, role)
    check_different(transaction, item)
    return encode_arrow_pairs(_as_arrow(table, transaction), _as_arrow(table, item))


def check_column(name: Label, columns: Sequence[str], role: str) -> None:
    """Refuse a column that is not there.

    Raises
    ------
    InvalidInputError
        If it is not there; the message says which are.
    """
    if name not in columns:
        raise InvalidInputError(
            f"expected a column {name!r}, got {columns_shown(columns)}; name the right one with {role}="
        )


def check_different(transaction: Label, item: Label) -> None:
    """Refuse one column for both.

    Raises
    ------
    InvalidInputError
        If the two are the same.
    """
    if transaction == item:
        raise InvalidInputError(
            f"expected different columns of transactions and items, got {item!r} for both; name another one "
            "with item="
        )


def columns_shown(columns: Sequence[str]) -> str:
    """Return the names of columns for a message, the first few of them."""
    if not columns:
        return "no columns"
    shown = ", ".join(repr(column) for column in columns[:_COLUMNS_SHOWN])
    return f"columns {shown}{', ...' if len(columns) > _COLUMNS_SHOWN else ''}"


def encode_arrow_pairs(
    transactions: pa.Array | pa.ChunkedArray, items: pa.Array | pa.ChunkedArray
) -> Encoded:
    """Encode pairs of transaction id and item; transactions come in the order of their first appearance.

    Raises
    ------
    InvalidInputError
        If a value is missing, or the items are neither strings nor integers.
    """
    for role, column in (("transaction", transactions), ("item", items)):
        if column.null_count:
            raise InvalidInputError(
                f"expected a value in every row of the {role} column, got {column.null_count:,} missing; "
                "drop those rows first"
            )
    rows, ids = number_values(transactions)
    codes, labels = number_values(items)
    indptr, indices = csr.rows_of_pairs(rows.astype(np.int64), codes, len(ids))
    return sorted_by_label(indptr, indices, labels_of(labels))


def encode_arrow_values(lengths: npt.NDArray[np.int64], values: pa.Array | pa.ChunkedArray) -> Encoded:
    """Encode the item names of all transactions, one after the other, and how many each has.

    Raises
    ------
    InvalidInputError
        If a name is missing, or the names are neither strings nor integers.
    """
    if values.null_count:
        raise InvalidInputError(
            f"expected item names in every list, got {values.null_count:,} missing values; drop them first"
        )
    codes, labels = number_values(values)
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return sorted_by_label(indptr, codes, labels_of(labels))


def number_values(column: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Return the number of each entry, by first appearance, and the values in that order.

    Equivalent to pandas.factorize(column).

    Raises
    ------
    InvalidInputError
        If the entries are lists, or of another type that cannot be compared.
    """
    import pyarrow as pa

    chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if pa.types.is_null(chunks.type):  # no entries, and so no type
        chunks = chunks.cast(pa.string())
    if not pa.types.is_dictionary(chunks.type):
        try:
            chunks = chunks.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise InvalidInputError(
                f"expected strings or numbers in every column, got {chunks.type}; write them as strings"
            ) from None
    array = chunks.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0)
    codes = array.indices.cast(pa.int64()).to_numpy()
    values = array.dictionary
    if pa.types.is_string_view(values.type):  # what polars writes, and few functions of Arrow take
        values = values.cast(pa.large_string())
    numbered, order = csr.number_by_appearance(codes, len(values))
    return numbered, values.take(as_arrow(order))


def labels_of(values: pa.Array) -> npt.NDArray[Any]:
    """Return Arrow values as labels of items.

    Raises
    ------
    InvalidInputError
        If they are neither strings nor integers.
    """
    import pyarrow as pa

    return as_labels(values.to_numpy() if pa.types.is_integer(values.type) else values.to_pylist())


def _as_narwhals(frame: Any) -> nw.DataFrame[Any]:  # noqa: ANN401 - any data frame
    import narwhals.stable.v1 as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(frame, eager_only=True)
    except DuplicateError:
        repeated = next(name for name, count in Counter(_names_of(frame)).items() if count > 1)
        raise InvalidInputError(
            f"expected distinct column names, got {repeated!r} more than once; rename one of them"
        ) from None
    except TypeError:
        raise InvalidInputError(
            f"expected a pandas, polars or pyarrow data frame, got {type(frame).__name__}; "
            "for lists use from_lists, for arrays from_matrix"
        ) from None


def _as_arrow(table: nw.DataFrame[Any], name: Any) -> pa.Array | pa.ChunkedArray:  # noqa: ANN401 - pandas has numbers too
    import pyarrow as pa

    try:
        return table.get_column(name).to_arrow()  # for pandas, table[0] would be a row
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(
            f"expected values of one type in column {name!r}, got several ({reason}); try astype(str) on it"
        ) from None


def _names_of(frame: Any) -> list[Any]:  # noqa: ANN401 - any data frame
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def _ones_of_pandas(column: Any, name: object) -> npt.NDArray[np.int64]:  # noqa: ANN401 - a pandas series
    import pandas as pd

    if isinstance(column.dtype, pd.SparseDtype) and column.dtype.fill_value == 0:
        stored = np.asarray(column.array.sp_values)
        check_binary(stored, name)
        present: npt.NDArray[np.int64] = column.array.sp_index.to_int_index().indices[stored != 0]
        return present.astype(np.int64)
    if column.hasnans:
        raise InvalidInputError(not_binary(None, name))
    return _ones_of_values(column.to_numpy(), name)


def _ones_of_column(column: nw.Series[Any], name: str) -> npt.NDArray[np.int64]:
    if column.null_count():
        raise InvalidInputError(not_binary(None, name))
    return _ones_of_values(column.to_numpy(), name)


def _ones_of_values(values: npt.NDArray[Any], name: object) -> npt.NDArray[np.int64]:
    check_binary(values, name)
    return np.flatnonzero(values).astype(np.int64)
