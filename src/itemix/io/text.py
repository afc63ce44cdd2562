"""Text formats with names: basket CSV, long CSV, table CSV, one-hot CSV and JSONL."""

from __future__ import annotations

import json
from array import array
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix._arrays import CELLS_OF_A_BATCH, in_batches
from itemix.core.binning import encode_columns
from itemix.core.encoding import (
    Encoded,
    check_column,
    check_distinct,
    columns_shown,
    concatenated,
    encode_lists,
    names_in_cell,
    sorted_by_label,
)
from itemix.core.items import Items, labels_from_text
from itemix.core.rows import (
    LongRows,
    as_columns,
    ids_of_rows,
    long_rows,
    weights_of_groups,
    with_columns_beside,
)
from itemix.errors import InvalidInputError
from itemix.io.detect import ITEM_NAMES, LIST_NAMES, find_column, pair_of_columns
from itemix.io.long import LongTable
from itemix.io.source import Utf8Stream, csv_parts, line_blocks, text_lines
from itemix.kernels import text as kernels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt
    import pyarrow as pa
    from pyarrow import csv

    from itemix.core.items import Label
    from itemix.io.detect import ReadOptions, Recognised
    from itemix.io.source import Source

    Part = tuple[list[str], bool]


_ABSENT = -1
_BLOCK_SIZE = 1 << 22
_MANY_NAMES = 1 << 16
_TEXT_SHOWN = 40
_CELL_SHOWN = 30
_LINE_SHOWN = 40


# Basket CSV: one transaction a line, item names separated by a delimiter, in quotes where needed.


def read_basket(source: Source, found: Recognised, options: ReadOptions) -> Encoded:
    """Read baskets; blanks around names and empty cells are left out, an empty line is an empty transaction.

    Raises
    ------
    InvalidInputError
        If the quotes do not match; the message names the line.
    """
    indptr, codes, names = _encoded(_parts(source, found, options.encoding))
    return sorted_by_label(indptr, codes, labels_from_text(names))


def basket_pieces(source: Source, found: Recognised, *, encoding: str) -> Iterator[Encoded]:
    """Read baskets piece by piece; a piece has items of its own, which stay text even if all are numbers.

    Raises
    ------
    InvalidInputError
        As in `read_basket`.
    """
    parts = _parts(source, found, encoding)
    while (first := next(parts, None)) is not None:
        indptr, codes, names = _encoded(chain([first], _batch(parts)))
        yield Encoded(indptr, codes, Items(names))
    yield Encoded(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), Items([]))


def _batch(parts: Iterator[Part]) -> Iterator[Part]:
    """Yield the parts of the next rows, up to about `CELLS_OF_A_BATCH` cells in all."""
    n_cells = 0
    for cells, is_whole in parts:
        yield cells, is_whole
        n_cells += 1 + len(cells)
        if is_whole and n_cells >= CELLS_OF_A_BATCH:
            return


def _parts(source: Source, found: Recognised, encoding: str) -> Iterator[Part]:
    parts = csv_parts(source, encoding, found.delimiter or ",")
    if found.header_lines:
        next((is_whole for _, is_whole in parts if is_whole), None)
    return _listed(parts) if found.has_lists else parts


def _listed(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the names in cells that hold lists; a set in braces may have been cut at its commas."""
    for cells, is_whole in parts:
        names: list[str] = []
        for cell in map(str.strip, cells):
            inside = cell[1:] if cell.startswith("{") and "}" not in cell else cell
            inside = cell[:-1] if cell.endswith("}") and "{" not in cell else inside
            names += names_in_cell(inside)
        yield names, is_whole


def _encoded(parts: Iterable[Part]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], list[str]]:
    """Return where the transactions begin, the codes of their items, and the names in the order of codes."""
    code_of = _CodeOfCell()
    codes = array("i")
    indptr = array("q", [0])
    for cells, is_whole in parts:
        codes.extend(map(code_of.__getitem__, cells))
        if is_whole:
            indptr.append(len(codes))
    present = np.frombuffer(codes, dtype=np.int32) != _ABSENT
    kept = np.concatenate([[0], np.cumsum(present)])
    return (
        kept[np.frombuffer(indptr, dtype=np.int64)],
        np.frombuffer(codes, dtype=np.int32)[present],
        code_of.names,
    )


class _CodeOfCell(dict[str, int]):
    """The code of the name in each cell; a cell that is seen for the first time is stripped and numbered."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, cell: str) -> int:
        name = cell.strip()
        if not name:
            code = _ABSENT
        elif name != cell:
            code = self[name]
        else:
            code = len(self.names)
            self.names.append(cell)
        self[cell] = code
        return code


# Long CSV: a header, then a row for each (transaction, item) pair.


def read_long(source: Source, found: Recognised, options: ReadOptions) -> tuple[Encoded, str]:
    """Read a long table; transactions in the order of their first appearance. Also say which rows went.

    Raises
    ------
    InvalidInputError
        If a column is not there, a row is too short or too long, or a value is missing.
    """
    import pyarrow as pa

    rows = _long_rows(source, found, options)
    if len(rows.names) > _MANY_NAMES:
        # Arrow keeps the memory that it no longer needs. Names as objects would come on top of it.
        pa.default_memory_pool().release_unused()
    return rows.encoded(is_text=True), rows.said


def _long_rows(source: Source, found: Recognised, options: ReadOptions) -> LongRows:
    transaction, item, names = _columns_of_long(source, found, options)
    table = _read_columns(source, found, names, options.encoding, "a long CSV table")
    columns = {name: partial(table.column, name) for name in names}
    try:
        return long_rows(
            columns, transaction, item, options.rows, is_text=True, may_be_lists=options.may_be_lists
        )
    except InvalidInputError as error:
        raise InvalidInputError(f"{source.label}: {error}") from None


def _columns_of_long(
    source: Source, found: Recognised, options: ReadOptions
) -> tuple[tuple[str, ...], str, list[str]]:
    """Return the columns of transactions, that of items, and all that are read."""
    transaction, item = pair_of_columns(found.columns, options)
    options.rows.check_columns(found.columns)
    names = list(dict.fromkeys([*transaction, item, *options.rows.columns]))
    for name in names:
        if found.columns.count(name) > 1:
            raise InvalidInputError(
                f"expected one column {name!r}, got {found.columns.count(name)} in {source.label}; rename one"
            )
    return transaction, item, names


def long_table(source: Source, found: Recognised, options: ReadOptions) -> LongTable:
    """Return a long table that is read batch by batch.

    Raises
    ------
    InvalidInputError
        As in `read_long`.
    """
    import pyarrow as pa

    transaction, item, names = _columns_of_long(source, found, options)

    def batches() -> Iterator[pa.Table]:
        with _csv_reader(source, found, names, options.encoding, "a long CSV table") as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])

    return LongTable(source.label, transaction, item, batches(), options, is_text=True)


def _read_columns(
    source: Source, found: Recognised, wanted: Sequence[str], encoding: str, what: str
) -> pa.Table:
    """Return columns of text with the distinct values of each, and their numbers."""
    with _csv_reader(source, found, wanted, encoding, what) as reader:
        return reader.read_all()


@contextmanager
def _csv_reader(
    source: Source, found: Recognised, wanted: Sequence[str], encoding: str, what: str
) -> Iterator[csv.CSVStreamingReader]:
    """Yield a reader of columns of text; what is wrong with the file is an error that says where."""
    import pyarrow as pa
    from pyarrow import csv

    wrong: list[csv.InvalidRow] = []

    def keep(row: csv.InvalidRow) -> str:
        wrong.append(row)
        return "error"

    try:
        yield csv.open_csv(
            Utf8Stream(source, encoding),
            read_options=csv.ReadOptions(
                use_threads=False,  # rows are numbered only without threads
                block_size=_BLOCK_SIZE,
                column_names=list(found.columns),
                skip_rows=found.header_lines,
            ),
            parse_options=csv.ParseOptions(
                delimiter=found.delimiter, newlines_in_values=True, invalid_row_handler=keep
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(wanted),
                column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in wanted},
            ),
        )
    except pa.ArrowInvalid as error:
        raise InvalidInputError(_malformed(source, wrong, error, what)) from None


def _malformed(source: Source, wrong: Sequence[csv.InvalidRow], error: Exception, what: str) -> str:
    if not wrong:
        return f"expected {what}, got {source.label} with this problem: {error}; check its quotes"
    row = wrong[0]
    text = row.text if len(row.text) <= _TEXT_SHOWN else f"{row.text[:_TEXT_SHOWN]}..."
    return (
        f"expected {row.expected_columns} cells in every row, got {row.actual_columns} in row {row.number:,} "
        f"of {source.label} ({text!r}); quote the cells that hold the delimiter, or try format='basket'"
    )


# Table CSV: a header, then a row of categories and numbers for each transaction.


def read_table(source: Source, found: Recognised, options: ReadOptions) -> tuple[Encoded, str]:
    """Read a table of categories and numbers; also say which columns were left out, if any were.

    Raises
    ------
    InvalidInputError
        If a column is not there, or a row is too short or too long.
    """
    check_distinct(name for name in found.columns if name)
    names = [name for name in found.columns if name]  # a column without a name numbers the rows
    wanted = options.table.needed(names, options.rows)
    table = _read_columns(source, found, wanted, options.encoding, "a CSV table")
    columns = {name: partial(table.column, name) for name in names}  # those that are not needed are not read
    return encode_columns(columns, options.table, options.rows, is_text=True)


# One-hot CSV: a header of item names, then a row of 0 and 1 (or false and true) for each transaction.


def read_onehot(source: Source, found: Recognised, options: ReadOptions) -> Encoded:
    """Read a one-hot table; a first column without a name, and those of ids and weights, are not items.

    Raises
    ------
    InvalidInputError
        If a row is too short or too long, a cell is not one of 0, 1, false, true and the like, or a weight is
        no positive whole number.
    """
    import pyarrow as pa

    items, blocks = _onehot_blocks(source, found, options)
    beside: list[pa.Table] = []

    def rows() -> Iterator[Encoded]:
        for block, table in blocks:
            beside.append(table)
            yield block

    encoded = concatenated(rows(), items)
    keys = as_columns(options.transaction)
    if not beside or not beside[0].num_columns:
        return encoded
    columns = _columns_of(pa.concat_tables(beside))
    return with_columns_beside(encoded, columns, keys, options.rows, is_text=True)


def onehot_pieces(source: Source, found: Recognised, options: ReadOptions) -> tuple[Items, Iterator[Encoded]]:
    """Return the items of a one-hot table and its rows, piece by piece; their ids stay text.

    Raises
    ------
    InvalidInputError
        As in `read_onehot`.
    """
    items, blocks = _onehot_blocks(source, found, options)
    keys = as_columns(options.transaction)
    pieces = (
        with_columns_beside(block, _columns_of(table), keys, options.rows, is_text=False)
        for block, table in blocks
    )
    return items, pieces


def _columns_of(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return {name: table.column(name) for name in table.column_names}


def _onehot_blocks(
    source: Source, found: Recognised, options: ReadOptions
) -> tuple[Items, Iterator[tuple[Encoded, pa.Table]]]:
    """Return the items of a one-hot table; and piece by piece its rows, and the columns that are no items."""
    columns = found.columns
    keys = as_columns(options.transaction)
    for key in keys:
        check_column(key, columns, "transaction")
    options.rows.check_columns(columns)
    others = list(dict.fromkeys([*keys, *options.rows.columns]))
    is_item = np.array([name not in others for name in columns])
    is_item[0] &= bool(columns[0])
    names = [name for name, kept in zip(columns, is_item, strict=True) if kept]
    code_of_column = np.where(is_item, np.cumsum(is_item) - 1, -1).astype(np.int32)
    code_of_column.setflags(write=False)
    items = Items(labels_from_text(names))
    blocks = _blocks(source, found, options.encoding, code_of_column, items=items, others=others)
    return items, blocks


def _blocks(
    source: Source,
    found: Recognised,
    encoding: str,
    code_of_column: npt.NDArray[np.int32],
    *,
    items: Items,
    others: Sequence[str],
) -> Iterator[tuple[Encoded, pa.Table]]:
    n_lines = found.header_lines
    delimiter = found.delimiter or ","
    for text in line_blocks(source, encoding, skip=n_lines):
        codes, indptr = np.empty(len(text) // 2 + 1, np.int32), np.zeros(len(text) + 1, np.int64)
        n_codes, n_rows, problem, line, column = kernels.parse(
            np.frombuffer(text, dtype=np.uint8),
            ord(delimiter),
            code_of_column,
            codes,
            indptr[1:],
        )
        if problem != kernels.GOOD:
            where = f"line {n_lines + line + 1:,} of {source.label}"
            cells = text.split(b"\n", line + 1)[line].decode().split(delimiter)
            raise InvalidInputError(_wrong(problem, cells, column, found.columns, where))
        yield Encoded(indptr[: n_rows + 1], codes[:n_codes], items), _columns_in(text, found, others)
        n_lines += text.count(b"\n")


def _columns_in(text: bytes, found: Recognised, names: Sequence[str]) -> pa.Table:
    """Return some columns of lines of CSV, as text."""
    import pyarrow as pa
    from pyarrow import csv

    if not names:
        return pa.table({})
    rows = b"\n".join(line for line in text.split(b"\n") if line.strip())
    try:
        return csv.read_csv(
            pa.BufferReader(rows),
            csv.ReadOptions(use_threads=False, column_names=list(found.columns)),
            csv.ParseOptions(delimiter=found.delimiter or ","),
            csv.ConvertOptions(include_columns=list(names), column_types=dict.fromkeys(names, pa.string())),
        )
    except pa.ArrowInvalid as error:
        raise InvalidInputError(
            f"expected text in column {names[0]!r}, got lines with this problem: {error}; leave it out"
        ) from None


def _wrong(problem: int, cells: Sequence[str], column: int, columns: Sequence[str], where: str) -> str:
    if problem == kernels.BAD_LENGTH:
        return (
            f"expected {len(columns):,} cells in every row, got {len(cells):,} in {where}; "
            "if every line lists the items of a transaction, try format='basket'"
        )
    cell = cells[column].strip()
    shown = (
        repr(cell if len(cell) <= _CELL_SHOWN else f"{cell[:_CELL_SHOWN]}...") if cell else "an empty cell"
    )
    return (
        f"expected only 0 and 1 (or false and true), got {shown} in column {columns[column]!r}, {where}; "
        "name a column that is no item with transaction=, or try format='table' for categories and numbers"
    )


# JSONL: a list of item names in each line, or an object with such a list in one field.


def read_jsonl(source: Source, options: ReadOptions) -> Encoded:
    """Read lists of item names; empty lines are left out, an empty list is an empty transaction.

    Raises
    ------
    InvalidInputError
        If a line is not JSON, or holds no list of names; the message names the line.
    """
    keys, weight = as_columns(options.transaction), options.rows.weight
    found: list[list[Any]] = []
    names = [*keys, *([] if weight is None else [weight])]
    encoded = encode_lists(_lists(source, options, names, found))
    n_rows = len(encoded.indptr) - 1
    if weight is not None:
        counts = [row.pop() for row in found]
        column = _weights_in_json(weight, counts, source, n_rows)
        encoded = encoded._replace(multiplicities=weights_of_groups(column, options.rows, None, n_rows))
    return encoded._replace(ids=_ids_of_values(keys, found, n_rows))


def _weights_in_json(name: str, counts: Sequence[Any], source: Source, n_rows: int) -> pa.ChunkedArray:
    """Return the numbers in a field of JSON.

    Raises
    ------
    InvalidInputError
        If a line has no number there.
    """
    import pyarrow as pa

    odd = next((value for value in counts if type(value) not in (int, float)), None)
    if odd is not None or len(counts) != n_rows or None in counts:
        got = f"{odd!r:.40}" if len(counts) == n_rows else "lines without fields"
        raise InvalidInputError(
            f"expected a whole number in field {name!r} of every line of {source.label}, got {got}; leave it "
            "out"
        )
    return pa.chunked_array([pa.array(counts, pa.float64())])


def _ids_of_values(keys: Sequence[str], found: Sequence[Sequence[Any]], n_rows: int) -> pa.Array | None:
    """Return the ids in fields of JSON; None if one is missing, or is neither a name nor a whole number."""
    import pyarrow as pa

    if not keys or not found or len(found) != n_rows:
        return None
    columns = {}
    for key, values in zip(keys, zip(*found, strict=True), strict=True):
        kinds = set(map(type, values))
        if kinds != {str} and (kinds != {int} or max(map(abs, values)) >= 1 << 63):
            return None
        if kinds == {str} and not all(value.strip() for value in values):
            return None
        try:
            columns[key] = pa.chunked_array([pa.array(values)])
        except UnicodeEncodeError:  # half of a surrogate pair
            return None
    return ids_of_rows(columns, is_text=False)


def jsonl_pieces(source: Source, options: ReadOptions) -> Iterator[Encoded]:
    """Read lists of item names piece by piece; a piece has items of its own.

    Raises
    ------
    InvalidInputError
        As in `read_jsonl`.
    """
    keys = as_columns(options.transaction)
    found: list[list[Any]] = []
    for lists in in_batches(_lists(source, options, keys, found)):
        ids = _ids_of_values(keys, found, len(lists))
        found.clear()
        yield encode_lists(lists)._replace(ids=ids)


def _lists(
    source: Source, options: ReadOptions, noted: Sequence[str] = (), found: list[list[Any]] | None = None
) -> Iterator[list[Label]]:
    """Yield the lists in the lines, and note what is in some fields."""
    field = options.item
    inner: str | None = None
    kinds: set[type] = set()
    checked = False
    for number, line in enumerate(text_lines(source, options.encoding), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            where = f"in line {number:,} of {source.label}"
            raise InvalidInputError(
                f"expected JSON in every line, got {_shortened(line)} ({_problem(error)}) {where}; write one "
                "list per line"
            ) from None
        if not checked:
            field, inner = _checked_fields(value, options)
            checked = True
        if isinstance(value, dict):
            field = field or _list_field(value, number, source.label)
            if found is not None and noted:
                found.append([_at(value, name) for name in noted])
            value = _at(value, field)
            if isinstance(value, list) and value and isinstance(value[0], dict):
                inner = inner or _item_field(value[0], field, number, source.label)
                value = [row.get(inner) if isinstance(row, dict) else None for row in value]
        new = set(map(type, value)) if isinstance(value, list) else {object}
        if not new <= {str, int}:
            where = f" in field {field!r}" if field else ""
            raise InvalidInputError(
                f"expected a list of item names (strings or whole numbers){where}, got {_shortened(line)} in "
                f'line {number:,} of {source.label}; write one list per line, such as ["milk", "bread"]'
            )
        kinds |= new
        if len(kinds) > 1:
            raise InvalidInputError(
                f"expected item names that are all strings or all whole numbers, got both by line "
                f"{number:,} of {source.label}; put all of them in quotes"
            )
        yield value


def _checked_fields(value: object, options: ReadOptions) -> tuple[str | None, str | None]:
    """Check that the first value has the fields that were named; a plain list has none.

    Return the field of the list, and that of the items in its objects, as far as they were named.
    """
    fields = list(value) if isinstance(value, dict) else []
    for name in as_columns(options.transaction):
        if _at(value, name) is None:
            check_column(name, fields, "transaction")
    weight = options.rows.weight
    if weight is not None and _at(value, weight) is None:
        options.rows.check_columns(fields)
    if options.item is None:
        return None, None
    outer, _, inner = options.item.rpartition(".")
    rows = _at(value, outer) if outer and options.item not in fields else None
    if isinstance(rows, list):
        if rows and isinstance(rows[0], dict):
            check_column(inner, list(rows[0]), "item")
        return outer, inner
    if _at(value, options.item) is None:
        check_column(options.item, fields, "item")
    return options.item, None


def _at(value: object, name: str) -> Any:  # noqa: ANN401 - what JSON has
    """Return what is in a field of an object, or of an object in it: "cart.id"; None if there is none."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        outer, _, inner = name.partition(".")
        return _at(value.get(outer), inner) if inner else None
    return None


def _item_field(row: dict[str, Any], field: str | None, number: int, label: str) -> str:
    """Return which field of the objects in a list has the item."""
    found = next(iter(row)) if len(row) == 1 else find_column(list(row), ITEM_NAMES)
    if found is None:
        shown = columns_shown(list(row))
        raise InvalidInputError(
            f"expected a list of item names in field {field!r}, got objects with {shown} in line {number:,} "
            f"of {label}; name the field of the item, as item='{field}.{next(iter(row), 'sku')}'"
        )
    return found


def _list_field(value: dict[str, Any], number: int, label: str) -> str:
    names = [name for name, content in value.items() if isinstance(content, list)]
    found = names[0] if len(names) == 1 else find_column(names, LIST_NAMES)
    if found is None:
        raise InvalidInputError(
            f"expected one field with a list of items, got {columns_shown(list(value))} in line {number:,} "
            f"of {label}; name the field with item="
        )
    return found


def _problem(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else "a number of too many digits"


def _shortened(line: str) -> str:
    text = line.strip()
    return repr(text if len(text) <= _LINE_SHOWN else f"{text[:_LINE_SHOWN]}...")
