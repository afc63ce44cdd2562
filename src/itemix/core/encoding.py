"""Compressed rows of item codes, made from lists, matrices, data frames (pandas, polars, pyarrow) and Arrow.

All functions that encode return `Encoded`. Items that come from values (lists, long tables) are in ascending
order of their names. Items that come from columns keep the order of the columns. Rows may be unsorted and may
repeat an item: `Transactions` puts that right.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._arrays import GrowingArray, as_arrow, protected, renumber
from itemix.core.items import Items, Label, as_labels
from itemix.errors import InvalidInputError
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals.stable.v1 as nw
    import pyarrow as pa

    from itemix._typing import FrameLike, MatrixLike, TransactionsLike

_COLUMNS_SHOWN = 8
_LONGEST_SHOWN = 60


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
    multiplicities : (n_rows,) int64 or None
        How many transactions each row stands for; None where each is one.
    ids : Arrow array or None
        What the transaction of each row is called; None if nothing says it.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    items: Items
    multiplicities: npt.NDArray[np.int64] | None = None
    ids: pa.Array | None = None


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
    labels = as_labels(code_of)
    del code_of  # it takes more memory than the labels
    return sorted_by_label(np.array(indptr, dtype=np.int64), np.array(codes, dtype=np.int32), labels)


def cells_as_lists(transactions: TransactionsLike) -> TransactionsLike:
    """Return the lists that cells of text hold: names with commas between them, or sets in braces.

    They are taken as such only if there are such cells, and all transactions are text.
    """
    if isinstance(transactions, str | bytes) or not isinstance(transactions, Collection):
        return transactions
    if not all(isinstance(cell, str) for cell in transactions):
        return transactions
    if not any("," in cell or is_braced(cell) for cell in transactions):
        return transactions
    return [names_in_cell(cell) for cell in transactions]


def share_of_lists(cells: Iterable[str], counts: npt.ArrayLike | None = None) -> float:
    """Return the share of the cells that hold lists, one if all of them are in braces.

    `counts` has how often each cell occurs. An empty cell may be a list.
    """
    texts = list(cells)
    if not texts:
        return 0.0
    if all(map(is_braced, texts)):
        return 1.0
    weights = np.ones(len(texts)) if counts is None else np.asarray(counts, dtype=np.float64)
    return float(weights @ [("," in text) for text in texts] / weights.sum())


def is_braced(cell: str) -> bool:
    """Whether a cell is a set as arules writes it, such as ``{milk,bread}``."""
    return cell.strip().startswith("{") and cell.strip().endswith("}")


def names_in_cell(cell: str) -> list[str]:
    """Return the names between the commas of a cell, with or without braces around them."""
    inside = cell.strip()[1:-1] if is_braced(cell) else cell
    return [name for part in inside.split(",") if (name := part.strip())]


def is_matrix(source: TransactionsLike) -> bool:
    """Whether a source is an array of numbers; a column of names, or of lists of names, is not."""
    if not hasattr(source, "shape"):
        return False
    kind = getattr(getattr(source, "dtype", None), "kind", "O")
    return len(source.shape) != 1 or kind in "biufc"


def encode_matrix(matrix: MatrixLike, items: Iterable[Label] | None = None) -> Encoded:
    """Encode a 0/1 matrix with a row for each transaction: NumPy, or SciPy sparse, which stays sparse.

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
    """Renumber the items in ascending order of their names, in place: the codes must be new."""
    order = np.argsort(labels, kind="stable")
    new_code = np.empty(len(labels), dtype=np.int32)
    new_code[order] = np.arange(len(labels), dtype=np.int32)
    renumber(codes, new_code)
    return Encoded(indptr, codes, Items(labels[order]))


def in_canonical_order(encoded: Encoded) -> Encoded:
    """Sort the codes of each row and drop repeated ones, in place: the arrays must be new.

    They are read-only then, so that nobody need copy them.
    """
    indptr, codes = encoded.indptr, encoded.indices
    if codes.flags.writeable and indptr.flags.writeable and not csr.is_canonical(indptr, codes):
        n_codes = csr.sort_rows(codes, indptr[1:], len(indptr) - 1)
        if n_codes < len(codes):
            if codes.flags.owndata:
                codes.resize(n_codes, refcheck=False)
            else:
                codes = codes[:n_codes].copy()
    return encoded._replace(indptr=protected(indptr), indices=protected(codes))


def concatenated(blocks: Iterable[Encoded], items: Items) -> Encoded:
    """Put the rows of blocks with the same items one after the other."""
    codes, indptr = GrowingArray(np.int32), GrowingArray(np.int64)
    indptr.extend(np.zeros(1, dtype=np.int64))
    for block in blocks:
        indptr.extend(block.indptr[1:], plus=len(codes))
        codes.extend(block.indices)
    return Encoded(indptr.finish(), codes.finish(), items)


def check_binary(values: npt.NDArray[Any], column: object = None) -> None:
    """Refuse values other than 0 and 1, True and False.

    Raises
    ------
    InvalidInputError
        If there is another value; the message names it, and the column if it is given.
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
    """Return the message for a value that is neither 0 nor 1; None and NaN count as missing."""
    value = value.item() if isinstance(value, np.generic) else value
    where = "" if column is None else f" in column {column!r}"
    long = "" if column is None else ", or Transactions.from_long if each row is one item of a transaction"
    got = f"{' '.join(repr(value).split()):.60}"
    hint = f"Transactions.from_table, which takes categories, numbers and dates{long}"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        got = "a missing value"
        hint = "0 in its place, if the item was absent, or Transactions.from_table"
    elif isinstance(value, str):
        hint = f"Transactions.from_table, which makes items such as 'sex=female'{long}"
    elif isinstance(value, Number):
        hint = f"Transactions.from_table, which makes items such as 'age=18-30' of numbers{long}"
    return f"expected only 0 and 1 (or False and True), got {got}{where}; try {hint}"


def _is_bit(value: object) -> bool:
    return isinstance(value, Number | np.bool_) and value in (0, 1)


def as_array(matrix: MatrixLike) -> npt.NDArray[Any]:
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


def _ones_of_sparse(matrix: MatrixLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    compressed = matrix.tocsr()
    if not compressed.has_canonical_format:
        compressed = compressed.copy()
        compressed.sum_duplicates()
    check_binary(compressed.data)
    present = compressed.data != 0
    ones_before = np.concatenate([[0], np.cumsum(present)]).astype(np.int64)
    return ones_before[compressed.indptr], compressed.indices[present].astype(np.int32)


class _CodeOfItem(dict[Any, int]):
    """The code of each item; an item that is seen for the first time is checked and numbered."""

    has_integers = False

    def __missing__(self, item: object) -> int:
        if not isinstance(item, str | int | np.integer):
            raise TypeError(f"{item!r} ({type(item).__name__})")
        self.has_integers |= not isinstance(item, str)
        self[item] = code = len(self)
        return code


def _refuse_equals(names: Collection[Any]) -> None:
    """Refuse True and 1.0, which a dictionary takes for the integer 1."""
    for kind in set(map(type, names)):
        if kind is bool or not issubclass(kind, str | int | np.integer):
            odd = next(name for name in names if type(name) is kind)
            raise TypeError(f"{odd!r} ({kind.__name__})")


def encode_onehot_frame(frame: FrameLike) -> Encoded:
    """Encode a one-hot data frame with a column for each item; sparse pandas columns stay sparse.

    Raises
    ------
    InvalidInputError
        If it is not a data frame, two columns share a name, or a value is not 0 or 1.
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


def lists_of_frame(frame: FrameLike) -> list[Any] | None:
    """Return the lists in a data frame of one column, also in cells such as "milk,bread"; None for others.

    A missing cell is an empty list.
    """
    names = _names_of(frame)
    if len(names) != 1:
        return None
    column = _as_narwhals(frame).get_column(names[0])
    if column.dtype.is_numeric() or str(column.dtype) == "Boolean":
        return None
    missing = column.is_null().to_list()
    cells = ["" if gone else _as_list(cell) for cell, gone in zip(column.to_list(), missing, strict=True)]
    if any(isinstance(cell, list) for cell in cells):
        return [cell or [] for cell in cells]
    lists = cells_as_lists(cells)
    return None if lists is cells else list(lists)


def _as_list(cell: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Return a list for what data frames have for one."""
    is_list = isinstance(cell, tuple | set | frozenset | np.ndarray) or hasattr(cell, "to_list")
    return list(cell) if is_list else cell


def check_column(name: Label, columns: Sequence[str], role: str) -> None:
    """Refuse a column that is not there.

    Raises
    ------
    InvalidInputError
        If it is not there; the message lists the columns.
    """
    if name not in columns:
        raise InvalidInputError(
            f"expected a column {name!r}, got {columns_shown(columns)}; name the right one with {role}="
        )


def check_different(transaction: Collection[Label], item: Label) -> None:
    """Refuse one column for both transactions and items.

    Raises
    ------
    InvalidInputError
        If the two are the same.
    """
    if item in transaction:
        raise InvalidInputError(
            f"expected different columns of transactions and items, got {item!r} for both; name another one "
            "with item="
        )


def columns_shown(columns: Sequence[str]) -> str:
    """Return the first few names of columns, for a message."""
    if not columns:
        return "no columns"
    shown = ", ".join(
        repr(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…")
        for name in columns[:_COLUMNS_SHOWN]
    )
    return f"columns {shown}{', ...' if len(columns) > _COLUMNS_SHOWN else ''}"


def number_values(column: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Return the number of each entry, by first appearance, and the values in that order.

    Equivalent to pandas.factorize(column).

    Raises
    ------
    InvalidInputError
        If the entries are lists, or of another type that Arrow cannot compare.
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
    if pa.types.is_string_view(values.type):  # polars writes these, and few functions of Arrow take them
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

    try:
        return as_labels(values.to_numpy() if pa.types.is_integer(values.type) else values.to_pylist())
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"expected item names in UTF-8, got {error.object!r:.60}; write them again in UTF-8"
        ) from None


def check_distinct(columns: Iterable[object]) -> None:
    """Check that no two columns have the same name.

    Raises
    ------
    InvalidInputError
        If two have; the message names the first such name.
    """
    repeated = next((name for name, count in Counter(columns).items() if count > 1), None)
    if repeated is not None:
        raise InvalidInputError(
            f"expected distinct column names, got {repeated!r} more than once; rename one of them"
        )


def _as_narwhals(frame: FrameLike) -> nw.DataFrame[Any]:
    import narwhals.stable.v1 as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(frame, eager_only=True)
    except DuplicateError:
        check_distinct(_names_of(frame))
        raise
    except TypeError:
        raise InvalidInputError(
            f"expected a pandas, polars or pyarrow data frame, got {type(frame).__name__}; "
            "for lists use from_lists, for arrays from_matrix"
        ) from None


def _arrow_column(table: nw.DataFrame[Any], name: Any) -> pa.Array | pa.ChunkedArray:  # noqa: ANN401 - pandas has numbers too
    import pyarrow as pa

    try:
        return table.get_column(name).to_arrow()  # for pandas, table[0] would be a row
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(
            f"expected values of one type in column {name!r}, got several ({reason}); try astype(str) on it"
        ) from None


def names_of_columns(frame: FrameLike) -> list[Any]:
    """Return the names of the columns of a pandas, polars or pyarrow data frame.

    Raises
    ------
    InvalidInputError
        If it is something else, or two columns share a name.
    """
    names = _names_of(_as_narwhals(frame).to_native())
    check_distinct(map(str, names))
    return names


def columns_in_arrow(frame: FrameLike) -> dict[str, Callable[[], pa.ChunkedArray]]:
    """Return a function for each column of a data frame, which returns it in Arrow's memory."""
    return {str(name): partial(column_in_arrow, frame, name) for name in names_of_columns(frame)}


def column_in_arrow(frame: FrameLike, name: Label) -> pa.ChunkedArray:
    """Return a column of a data frame in Arrow's memory.

    Raises
    ------
    InvalidInputError
        If its values have several types.
    """
    import pyarrow as pa

    column = _arrow_column(_as_narwhals(frame), name)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _names_of(frame: FrameLike) -> list[Any]:
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def _ones_of_pandas(column: FrameLike, name: object) -> npt.NDArray[np.int64]:
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
