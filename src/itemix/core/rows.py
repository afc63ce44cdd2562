"""The rows of a table: which of them remain, which transactions they belong to, and how often these count.

A long table has a row for each pair of a transaction and an item. In other tables each row is a transaction.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itemix._arrays import GrowingArray
from itemix._checks import check_flag
from itemix.core.conditions import Condition, parsed
from itemix.core.encoding import (
    Encoded,
    check_column,
    labels_of,
    names_in_cell,
    number_values,
    share_of_lists,
    sorted_by_label,
)
from itemix.core.items import labels_from_text
from itemix.errors import InvalidInputError
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa

    from itemix._typing import Codes, Floats, Ints, Marks
    from itemix.core.items import Label

    Columns = Mapping[str, Callable[[], pa.ChunkedArray]]
    Key = Label | Sequence[Label] | None

LEAST_LISTS = 0.25
"""Cells of text in a file are lists if at least this share of them has a comma, or all are in braces."""

_MOST_WEIGHT = 2.0**53
# The names of batches are not put together before there are this many.
_FEW_NAMES = 1 << 14
_WHOLE = r"^(0|[1-9][0-9]{0,17})$"


class RowOptions(NamedTuple):
    """Which rows of a table remain, how names are cleaned, and what says how often a transaction counts.

    Attributes
    ----------
    where : tuple of Condition
        Conditions, all of which must hold.
    drop_missing : bool or tuple of str
        Whether rows without a transaction or an item are left out; or the columns that must have a value.
    upper, strip : bool
        Whether names of items are put in upper case, and blanks around them are left out.
    counts : str or None
        The column with the number of transactions that a transaction stands for.
    quantity : str or None
        The column whose sum over a transaction is how often it counts.
    """

    where: tuple[Condition, ...] = ()
    drop_missing: bool | tuple[str, ...] = False
    upper: bool = False
    strip: bool = True
    counts: str | None = None
    quantity: str | None = None

    @classmethod
    def checked(
        cls,
        *,
        where: str | Iterable[str] | None = None,
        drop_missing: bool | Iterable[str] = False,
        upper: bool = False,
        strip: bool = True,
        counts: Label | None = None,
        quantity: Label | None = None,
    ) -> RowOptions:
        """Check the options that can be checked without the table.

        Raises
        ------
        InvalidInputError
            If one has no meaning.
        """
        if counts is not None and quantity is not None:
            raise InvalidInputError(
                f"expected counts or quantity, got both {counts!r} and {quantity!r}; leave one out"
            )
        needed: bool | tuple[str, ...]
        if isinstance(drop_missing, str):
            needed = (drop_missing,)
        elif isinstance(drop_missing, list | tuple):
            needed = tuple(map(str, drop_missing))
        else:
            needed = check_flag("drop_missing", drop_missing)
        return cls(
            parsed(where),
            needed,
            check_flag("upper", upper),
            check_flag("strip", strip),
            None if counts is None else str(counts),
            None if quantity is None else str(quantity),
        )

    @property
    def weight(self) -> str | None:
        """The column that says how often a transaction counts."""
        return self.counts if self.quantity is None else self.quantity

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read because of these options."""
        needed = self.drop_missing if isinstance(self.drop_missing, tuple) else ()
        weight = () if self.weight is None else (self.weight,)
        return tuple(dict.fromkeys([*(condition.column for condition in self.where), *needed, *weight]))

    def check_columns(self, names: Sequence[str]) -> None:
        """Check that the columns are there.

        Raises
        ------
        InvalidInputError
            If one is not.
        """
        for condition in self.where:
            check_column(condition.column, names, "where")
        for name in self.drop_missing if isinstance(self.drop_missing, tuple) else ():
            check_column(name, names, "drop_missing")
        if self.weight is not None:
            check_column(self.weight, names, "counts" if self.quantity is None else "quantity")

    def kept(self, columns: Columns, keys: Sequence[str]) -> tuple[Marks | None, RowsGone]:
        """Return which rows remain, None for all; and how many were left out for what reason.

        Parameters
        ----------
        columns
            The columns of the table.
        keys : sequence of str
            The columns without which a row says nothing.
        """
        needed = keys if self.drop_missing is True else self.drop_missing or ()
        conditions = [*self.where, *(Condition(name, "is not missing") for name in needed)]
        kept: Marks | None = None
        reasons: dict[str, int] = {}
        for condition in conditions:
            held = condition.holds(columns[condition.column]())
            before = held | True if kept is None else kept
            kept = before & held
            is_gap = condition.operator == "is not missing"
            why = f"without {condition.column!r}" if is_gap else f"by {str(condition)!r}"
            reasons[why] = reasons.get(why, 0) + int(before.sum() - kept.sum())
        gone = RowsGone(0 if kept is None else len(kept), reasons)
        return (kept if gone.n_gone else None), gone


class RowsGone(NamedTuple):
    """How many of the rows of a table were left out, and why.

    Attributes
    ----------
    n_rows : int
        How many rows there were; 0 if all rows are kept anyway.
    reasons : dict of str to int
        How many were left out by each condition, or because a column has no value there.
    """

    n_rows: int
    reasons: dict[str, int]

    @property
    def n_gone(self) -> int:
        """How many rows were left out."""
        return sum(self.reasons.values())

    @property
    def said(self) -> str:
        """Both in words, or nothing if no row was left out."""
        shown = ", ".join(f"{n:,} {why}" for why, n in self.reasons.items() if n)
        return f"without {self.n_gone:,} of {self.n_rows:,} rows: {shown}" if shown else ""

    def and_those_of(self, other: RowsGone) -> RowsGone:
        """Return the numbers of two parts of a table, added up."""
        reasons = {why: n + self.reasons.get(why, 0) for why, n in other.reasons.items()}
        return RowsGone(self.n_rows + other.n_rows, reasons)


class LongRows(NamedTuple):
    """A long table as rows of item codes, before its items have names.

    Attributes
    ----------
    indptr, indices : arrays
        The rows, as in `Encoded`.
    names : Arrow array
        The name of each code.
    multiplicities : array or None
        How often each transaction counts.
    ids : Arrow array
        The ids of the transactions.
    said : str
        Which rows went.
    """

    indptr: Ints
    indices: Codes
    names: pa.Array
    multiplicities: Ints | None
    ids: pa.Array
    said: str

    def encoded(self, *, is_text: bool = False) -> Encoded:
        """Name the items, in ascending order of their names; in text, whole numbers are integers.

        Raises
        ------
        InvalidInputError
            If the names are neither strings nor integers.
        """
        labels = labels_from_text(self.names.to_pylist()) if is_text else labels_of(self.names)
        found = sorted_by_label(self.indptr, self.indices, labels)
        return found._replace(multiplicities=self.multiplicities, ids=self.ids)


def long_rows(
    columns: Columns,
    transaction: Key,
    item: Label,
    rows: RowOptions,
    *,
    is_text: bool = False,
    may_be_lists: bool = False,
) -> LongRows:
    """Group the rows of a long table; transactions come in the order of their first appearance.

    Parameters
    ----------
    columns
        A function for each column of the table, which returns it.
    transaction : label or sequence of labels
        The column, or columns together, that tell transactions apart.
    item : label
        The column of items.
    rows : RowOptions
        Which rows remain, and how often a transaction counts.
    is_text : bool
        Whether whole numbers are written as text.
    may_be_lists : bool
        Whether cells such as "milk,bread" are lists, if each row is a transaction of its own.

    Raises
    ------
    InvalidInputError
        If a value is missing.
    """
    keys = [str(name) for name in as_columns(transaction)]
    name = str(item)
    marks, gone = rows.kept(columns, [*keys, name])
    said = gone.said
    kept = {column: kept_of(columns[column](), marks) for column in (*keys, name)}
    found = number_rows(kept, keys, name, rows, is_text=is_text)
    weights = None
    if rows.weight is not None:
        values = kept_of(columns[rows.weight](), marks)
        weights = weights_of_groups(values, rows, found.of_rows, len(found.ids))
    may_be_lists = may_be_lists and found.n_items is None and len(found.of_rows) == len(found.ids)
    if may_be_lists and hold_lists(found.codes, found.names):
        said = ", ".join(part for part in (f"lists in the cells of {name!r}", said) if part)
        return LongRows(*_listed(found.codes, found.names), weights, found.ids, said)
    return LongRows(*found.gathered(), found.names, weights, found.ids, said)


class NumberedRows(NamedTuple):
    """The rows of a long table, or of a batch of one, as numbers.

    Attributes
    ----------
    of_rows : array
        The number of each row's transaction, by first appearance.
    ids : Arrow array
        The ids of the transactions.
    codes : array
        The number of each item, by first appearance.
    names : Arrow array
        The names of the items.
    n_items : array or None
        How many items each row has; None if each has one.
    """

    of_rows: Codes
    ids: pa.Array
    codes: Codes
    names: pa.Array
    n_items: Ints | None = None

    def gathered(self) -> tuple[Ints, Codes]:
        """Return the codes of each transaction, as compressed rows."""
        of_items = self.of_rows if self.n_items is None else np.repeat(self.of_rows, self.n_items)
        return csr.rows_of_pairs(of_items.astype(np.int64), self.codes, len(self.ids))


def number_rows(
    columns: Mapping[str, pa.ChunkedArray],
    keys: Sequence[str],
    item: str,
    rows: RowOptions,
    *,
    is_text: bool = False,
) -> NumberedRows:
    """Give numbers to the transactions and items of rows of a long table, and clean the names.

    Raises
    ------
    InvalidInputError
        If a value is missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    of_rows, ids = _numbered_keys({key: columns[key] for key in keys}, is_text=is_text)
    column, n_items = columns[item], None
    if (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)) and not column.null_count:
        n_items = pc.list_value_length(column).cast(pa.int64()).to_numpy()
        column = pc.list_flatten(column)
    codes, names = _cleaned(item, "item", column, rows)
    return NumberedRows(of_rows, ids, codes, names, n_items)


def clean_batch(
    batch: pa.Table, keys: Sequence[str], item: str, rows: RowOptions
) -> tuple[pa.Table, RowsGone]:
    """Return what remains of a batch of a long table: its transactions and items, in the rows that are kept.

    Each batch is cleaned by itself, so that the whole table need not be in memory. Also say which rows were
    left out.
    """
    import pyarrow as pa

    columns = {name: partial(batch.column, name) for name in batch.column_names}
    marks, gone = rows.kept(columns, [*keys, item])
    kept = batch.select([*keys, item])
    return (kept if marks is None else kept.filter(pa.array(marks))), gone


def hold_lists(codes: Codes, names: pa.Array) -> bool:
    """Whether enough cells of a column hold lists, given the distinct cells and the number of each row's."""
    if not len(names) or not _is_text(names.type):
        return False
    counts = np.bincount(codes, minlength=len(names))
    return share_of_lists(names.to_pylist(), counts) >= LEAST_LISTS


def _listed(codes: Codes, cells: pa.Array) -> tuple[Ints, Codes, pa.Array]:
    """Return the rows of the names in cells that hold lists, and the names."""
    import pyarrow as pa

    code_of: dict[str, int] = {}
    lists = [
        [code_of.setdefault(name, len(code_of)) for name in names_in_cell(cell)] for cell in cells.to_pylist()
    ]
    rows = [lists[code] for code in codes.tolist()]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
    indices = np.array([code for row in rows for code in row], dtype=np.int32)
    return indptr, indices, pa.array(list(code_of), pa.string())


class GrowingRows:
    """Rows of items that come batch by batch, with names of their own: four bytes for each item.

    The names of batches are put together whenever their number may have doubled.
    """

    def __init__(self) -> None:
        self._codes, self._indptr = GrowingArray(np.int32), GrowingArray(np.int64)
        self._indptr.extend(np.zeros(1, dtype=np.int64))
        self._names: list[pa.Array] = []
        self._n_names = self._n_merged = self._n_done = 0

    def reserve(self, n_rows: int, n_codes: int) -> None:
        """Make room for this many rows and items in all."""
        self._indptr.reserve(n_rows + 1)
        self._codes.reserve(n_codes)

    def add(self, indptr: Ints, codes: Codes, names: pa.Array) -> None:
        """Append rows; codes are positions in the names, which are distinct."""
        self._indptr.extend(indptr[1:], plus=len(self._codes))
        self._codes.extend(codes, plus=self._n_names)
        self._names.append(names)
        self._n_names += len(names)
        if self._n_names > 2 * self._n_merged + _FEW_NAMES:
            self._merge()

    def add_lists(self, lengths: Ints, values: pa.Array, rows: RowOptions) -> None:
        """Append transactions, given the number of items of each and the names of all.

        Raises
        ------
        InvalidInputError
            If a name is missing.
        """
        if values.null_count:
            raise InvalidInputError(
                f"expected item names in every list, got {values.null_count:,} missing values; drop them "
                "first"
            )
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self.add(indptr, *_cleaned("items", "item", values, rows))

    def _merge(self) -> None:
        import pyarrow as pa

        if len(self._names) > 1:
            numbers, names = number_values(pa.chunked_array(self._names))
            self._codes.renumber(numbers, self._n_done)
            self._names = [names]
        self._n_names = self._n_merged = sum(map(len, self._names))
        self._n_done = len(self._codes)

    def finished(self) -> Encoded:
        """Return all rows, with their items in ascending order of the names.

        Raises
        ------
        InvalidInputError
            If the names are neither strings nor integers.
        """
        self._merge()
        labels = labels_of(self._names[0]) if self._names else np.empty(0, dtype=object)
        return sorted_by_label(self._indptr.finish(), self._codes.finish(), labels)


def as_columns(names: Any) -> tuple[Any, ...]:  # noqa: ANN401 - one label or several
    """Return one name or several as a tuple; None is no name."""
    if names is None:
        return ()
    return tuple(names) if isinstance(names, list | tuple) else (names,)


def kept_of(column: pa.ChunkedArray, marks: Marks | None) -> pa.ChunkedArray:
    """Return the entries of a column in the rows that remain."""
    import pyarrow as pa

    return column if marks is None else column.filter(pa.array(marks))


def ids_of_rows(columns: Mapping[str, pa.ChunkedArray], *, is_text: bool) -> pa.Array | None:
    """Return the ids of transactions that have a row each; None if no column has them."""
    import pyarrow as pa

    parts = [_ids(name, column, is_text=is_text) for name, column in columns.items()]
    ids = [values.take(pa.array(codes)) for codes, values in parts]
    if len(ids) > 1:
        return pa.StructArray.from_arrays(ids, names=list(columns))
    return ids[0] if ids else None


def with_columns_beside(
    encoded: Encoded,
    columns: Mapping[str, pa.ChunkedArray],
    keys: Sequence[str],
    rows: RowOptions,
    *,
    is_text: bool,
) -> Encoded:
    """Give rows their ids and weights, which stand in columns beside the items.

    Where an id is missing, no row has one: the column may be there for another reason.

    Raises
    ------
    InvalidInputError
        If a weight is no positive whole number.
    """
    weights = None
    if rows.weight is not None:
        weights = weights_of_groups(columns[rows.weight], rows, None, len(encoded.indptr) - 1)
    ids = None
    if not any(_lacks_values(columns[key]) for key in keys):
        ids = ids_of_rows({key: columns[key] for key in keys}, is_text=is_text)
    return encoded._replace(multiplicities=weights, ids=ids)


def _lacks_values(column: pa.ChunkedArray) -> bool:
    """Whether a value is missing or blank."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count or pa.types.is_null(column.type):
        return True
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not _is_text(kind):
        return False
    return bool(pc.any(pc.equal(pc.utf8_trim_whitespace(column.cast(kind)), "")).as_py())


def ids_are_whole(ids: pa.Array) -> list[bool]:
    """Tell for each field of ids whether all of them are whole numbers that are written as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = ids.flatten() if pa.types.is_struct(ids.type) else [ids]
    return [
        _is_text(field.type) and bool(pc.all(pc.match_substring_regex(field, _WHOLE)).as_py())
        for field in fields
    ]


def ids_as_numbers(ids: pa.Array, whole: Sequence[bool]) -> pa.Array:
    """Return ids with some fields, of whole numbers in text, as numbers."""
    import pyarrow as pa

    if not pa.types.is_struct(ids.type):
        return ids.cast(pa.int64()) if whole[0] else ids
    names = [field.name for field in ids.type]
    fields = [
        part.cast(pa.int64()) if is_whole else part
        for part, is_whole in zip(ids.flatten(), whole, strict=True)
    ]
    return pa.StructArray.from_arrays(fields, names=names)


def _numbered_keys(columns: Mapping[str, pa.ChunkedArray], *, is_text: bool) -> tuple[Codes, pa.Array]:
    """Return the number of each row's transaction, by first appearance, and the ids of the transactions."""
    import pandas as pd
    import pyarrow as pa

    parts = [_ids(name, column, is_text=is_text) for name, column in columns.items()]
    if len(parts) == 1:
        return parts[0]
    number = parts[0][0].astype(np.int64)
    for codes, ids in parts[1:]:
        number, _ = pd.factorize(number * len(ids) + codes)
        number = number.astype(np.int64)
    _, first = np.unique(number, return_index=True)
    fields = [ids.take(pa.array(codes[first])) for codes, ids in parts]
    return number.astype(np.int32), pa.StructArray.from_arrays(fields, names=list(columns))


def _ids(name: str, column: pa.ChunkedArray, *, is_text: bool) -> tuple[Codes, pa.Array]:
    """Return the number of each row's id, by first appearance, and the distinct ids.

    Raises
    ------
    InvalidInputError
        If one is missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    codes, values = _cleaned(name, "transaction", column, RowOptions())
    if is_text and pc.all(pc.match_substring_regex(values, _WHOLE)).as_py():
        values = values.cast(pa.int64())
    return codes, values


def _cleaned(name: str, role: str, column: pa.ChunkedArray, rows: RowOptions) -> tuple[Codes, pa.Array]:
    """Return the number of each entry by first appearance, and the distinct values, which are cleaned."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_missing = column.null_count
    if not n_missing:
        codes, values = number_values(column)
        if not _is_text(values.type) or not (rows.strip or rows.upper):
            return codes, values
        clean = pc.utf8_trim_whitespace(values) if rows.strip else values
        clean = (pc.utf8_upper(clean) if rows.upper else clean).dictionary_encode()
        codes, values = clean.indices.to_numpy().astype(np.int32)[codes], clean.dictionary
        empty = pc.index(values, pa.scalar("", values.type)).as_py()
        n_missing = int((codes == empty).sum()) if empty >= 0 else 0
        if not n_missing:
            return codes, values
    raise InvalidInputError(
        f"expected a value in every row of the {role} column {name!r}, got {n_missing:,} missing; fill them "
        "in, or leave those rows out with drop_missing=True"
    )


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def weights_of_groups(column: pa.ChunkedArray, rows: RowOptions, group: Codes | None, n: int) -> Ints:
    """Return how often each transaction counts, given the weights of rows and which transaction each is in.

    Raises
    ------
    InvalidInputError
        If a weight is no positive whole number, or the rows of a transaction disagree.
    """
    name = str(rows.weight)
    numbers = _whole_numbers(name, column)
    sums: Ints | Floats
    if group is None:
        sums = numbers
    elif rows.quantity is not None:
        sums = np.bincount(group, weights=numbers, minlength=n)
    else:
        sums = np.zeros(n)
        sums[group] = numbers
        differs = sums[group] != numbers
        if differs.any():
            raise InvalidInputError(
                f"expected one count for all rows of a transaction in column {name!r}, got "
                f"{numbers[differs.argmax()]:g} and {sums[group[differs.argmax()]]:g}; for sums use quantity="
            )
    if (sums < 1).any():
        raise InvalidInputError(
            f"expected a count of at least 1 for each transaction, got {sums.min():g} from column {name!r}; "
            f"try where='{name} > 0'"
        )
    whole: Ints = sums.astype(np.int64)
    return whole


def _whole_numbers(name: str, column: pa.ChunkedArray) -> Floats:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    numbers: Floats
    try:
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        numbers = np.array([np.nan])
    wrong = ~(np.abs(numbers) <= _MOST_WEIGHT) | (numbers != np.floor(numbers))
    if wrong.any():
        got = "a missing value, or words" if np.isnan(numbers).any() else f"{numbers[wrong.argmax()]:g}"
        raise InvalidInputError(
            f"expected whole numbers in column {name!r}, got {got}; multiply fractions by a common factor "
            "and round them"
        )
    return numbers
