"""Parquet and Arrow files: lists, a long, a one-hot or a table of categories, read batch by batch."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._arrays import in_arrow_memory, renumber
from itemix.core.binning import encode_columns
from itemix.core.encoding import (
    Encoded,
    check_column,
    check_distinct,
    columns_shown,
    concatenated,
    encode_onehot_frame,
    names_in_cell,
    number_values,
    share_of_lists,
)
from itemix.core.items import Items
from itemix.core.rows import (
    LEAST_LISTS,
    GrowingRows,
    RowOptions,
    as_columns,
    hold_lists,
    long_rows,
    with_columns_beside,
)
from itemix.errors import InvalidInputError, NotEnoughMemoryError
from itemix.io.detect import LIST_NAMES, find_column, looks_long, pair_of_columns, said_of_columns
from itemix.io.long import LongTable, kind_of_cell, rows_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from pyarrow import parquet

    from itemix.io.detect import ReadOptions, Recognised
    from itemix.io.source import Source

    Batches = Callable[[Sequence[str]], Iterator[pa.RecordBatch]]

LAYOUTS = {"list": "lists", "long": "long", "onehot": "one-hot", "table": "table"}
ITEMS_KEY = b"itemix.items"
"""Metadata of a list column: the names of all items, those that do not occur included, as JSON."""

IDS_KEY = b"itemix.ids"
"""Metadata of a list column: the names of the columns of the ids, as JSON."""

_INDEX_PREFIX = "__index_level_"
_MOST_ROWS, _MOST_CELLS = 1 << 15, 1 << 23
# The size that a damaged file claims is not believed.
_MOST_VALUES_A_BYTE = 64


def read_arrow(
    source: Source, options: ReadOptions, *, parquet: bool, layout: str | None
) -> tuple[Encoded, str, str]:
    """Read a Parquet or an Arrow file; return its rows, its layout, and a few words on how it was read.

    Raises
    ------
    InvalidInputError
        If the file is damaged, or its columns have no known layout.
    """
    with _explained(source, parquet=parquet):
        schema, batches = _opened(source, parquet=parquet)
        layout = layout or _layout_of(schema, options)
        options = _with_own_ids(schema, options, layout)
        if layout == "long":
            encoded, said = _read_pairs(schema, batches, options)
            columns = _said_of_long(schema, options)
            return encoded, layout, ", ".join(part for part in (columns, said) if part)
        _refuse_rows(options, layout)
        return _READERS[layout](schema, batches, options), layout, ""


def _with_own_ids(schema: pa.Schema, options: ReadOptions, layout: str) -> ReadOptions:
    """Return the options with the columns of ids that the list column names, unless others were named."""
    if layout != "list" or options.transaction is not None:
        return options
    known = (schema.field(options.item or _list_column(schema)).metadata or {}).get(IDS_KEY, b"[]")
    try:
        names = [name for name in json.loads(known) if name in schema.names]
    except (ValueError, RecursionError, TypeError):  # damage
        return options
    return replace(options, transaction=names) if names else options


def _refuse_rows(options: ReadOptions, layout: str) -> None:
    """Refuse conditions on rows where a row has all items of a transaction."""
    if options.rows._replace(strip=True, upper=False, counts=None, quantity=None) != RowOptions():
        raise InvalidInputError(
            f"expected a long table, or format='table', for conditions on rows, got {LAYOUTS[layout]}; name "
            "the columns with transaction= and item="
        )


def encode_table(table: pa.Table, options: ReadOptions) -> Encoded:
    """Return the rows of a table in memory: a list column, a long table, or columns of 0 and 1.

    Raises
    ------
    InvalidInputError
        If its columns have no known layout.
    """
    check_distinct(table.column_names)
    layout = _layout_of(table.schema, options)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return iter(table.select(list(columns)).to_batches())

    if layout == "long":
        return _read_pairs(table.schema, batches, options)[0]
    return _READERS[layout](table.schema, batches, options)


class ArrowPieces(NamedTuple):
    """The content of a Parquet or an Arrow file, piece by piece.

    Attributes
    ----------
    layout : str
        A key of `LAYOUTS`.
    said : str
        A few words on how it is read, for people.
    declared : Items or None
        The items that the file declares.
    pieces : iterator of Encoded
        The rows, unless it is a long table.
    table : LongTable or None
        The rows of a long table.
    """

    layout: str
    said: str = ""
    declared: Items | None = None
    pieces: Iterator[Encoded] = iter(())
    table: LongTable | None = None


def arrow_pieces(source: Source, options: ReadOptions, *, parquet: bool, layout: str | None) -> ArrowPieces:
    """Return the content of a Parquet or an Arrow file, piece by piece.

    Raises
    ------
    InvalidInputError
        As in `read_arrow`.
    """
    with _explained(source, parquet=parquet):
        schema, batches = _opened(source, parquet=parquet)
        layout = layout or _layout_of(schema, options)
        options = _with_own_ids(schema, options, layout)
        if layout == "long":
            return _long_pieces(source, schema, batches, options, parquet=parquet)
        _refuse_rows(options, layout)
        for key in as_columns(options.transaction):
            check_column(key, schema.names, "transaction")
        if not all(_may_be_id(schema.field(key).type) for key in as_columns(options.transaction)):
            # Chunks have no ids then: the column need not be one that can be read.
            options = options if layout == "onehot" else replace(options, transaction=None)
        nothing = _READERS[layout](schema, _only(), replace(options, may_be_lists=False))
        declared = nothing.items if len(nothing.items) else None
        pieces = _pieces(source, schema, batches, options, parquet=parquet, layout=layout)
        return ArrowPieces(layout, "", declared, pieces)


def _long_pieces(
    source: Source, schema: pa.Schema, batches: Batches, options: ReadOptions, *, parquet: bool
) -> ArrowPieces:

    def explained() -> Iterator[pa.Table]:
        with _explained(source, parquet=parquet):
            yield from table.batches

    table = _long_table(source.label, schema, batches, options)
    return ArrowPieces("long", _said_of_long(schema, options), table=replace(table, batches=explained()))


def _long_table(label: str, schema: pa.Schema, batches: Batches, options: ReadOptions) -> LongTable:
    import pyarrow as pa

    transaction, item = pair_of_columns(schema.names, options)
    options.rows.check_columns(schema.names)
    wanted = list(dict.fromkeys([*transaction, item, *options.rows.columns]))
    tables = (pa.Table.from_batches([batch]) for batch in batches(wanted))
    return LongTable(label, transaction, item, tables, options)


def _said_of_long(schema: pa.Schema, options: ReadOptions) -> str:
    """Say which columns of a long table are read, if there was a choice."""
    if len(schema.names) == 2 or (options.transaction is not None and options.item is not None):
        return ""
    return said_of_columns(*pair_of_columns(schema.names, options))


def _pieces(
    source: Source, schema: pa.Schema, batches: Batches, options: ReadOptions, *, parquet: bool, layout: str
) -> Iterator[Encoded]:
    items = _item_columns(schema, options) if layout == "onehot" else [options.item or _list_column(schema)]
    columns = [*items, *(key for key in as_columns(options.transaction) if key not in items)]
    options = options if layout == "onehot" else replace(options, may_be_lists=False)
    n_rows = _rows_at_once(columns)
    is_text = layout == "list" and _is_text(schema.field(columns[0]).type)
    seen: Counter[str] = Counter()
    with _explained(source, parquet=parquet):
        for batch in batches(columns):
            for start in range(0, batch.num_rows, n_rows):
                if is_text:
                    cells = batch.column(0).slice(start, n_rows).drop_null().to_pylist()
                    seen.update(kind_of_cell(cell) for cell in cells)
                yield _READERS[layout](schema, _only(batch.slice(start, n_rows)), options)
        if is_text and share_of_lists(seen, list(seen.values())) < LEAST_LISTS:
            raise _unknown_layout(schema)


def _only(*batches: pa.RecordBatch) -> Batches:
    return lambda _: iter(batches)


@contextmanager
def _explained(source: Source, *, parquet: bool) -> Iterator[None]:
    """Turn Arrow's errors into errors that name the file and say what to try."""
    import pyarrow as pa

    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{source.label}: {error}") from None
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise InvalidInputError(
            f"{source.label}: expected columns of numbers or names, got others ({_first_line(error)}); "
            "write them as strings or integers"
        ) from None
    except MemoryError as error:  # damage can ask for more than there is
        reason = f" ({_first_line(error)})" if str(error) else ""
        raise NotEnoughMemoryError(
            f"expected enough memory for {source.label}, got too little{reason}; copy or "
            "download it again if it is not that large, or write it in smaller parts"
        ) from None
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        kind = "Parquet" if parquet else "Arrow"
        raise InvalidInputError(
            f"expected a complete {kind} file, got {source.label} which is cut short or damaged "
            f"({_first_line(error)}); copy or download it again"
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _opened(source: Source, *, parquet: bool) -> tuple[pa.Schema, Batches]:
    schema, batches = (_open_parquet if parquet else _open_ipc)(source)
    check_distinct(schema.names)
    return schema, batches


def _open_parquet(source: Source) -> tuple[pa.Schema, Batches]:
    from pyarrow import parquet

    file = parquet.ParquetFile(_seekable(source))
    return file.schema_arrow, _Sized(file)


class _Sized:
    """The batches of a Parquet file, which says how many values it has."""

    def __init__(self, file: parquet.ParquetFile) -> None:
        self._file = file

    def __call__(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of some columns."""
        return self._file.iter_batches(_rows_at_once(columns), columns=list(columns))  # type: ignore[no-any-return]

    def room(self, column: str) -> tuple[int, int]:
        """Return how many rows there are, and values of a column, if the size of the file allows it."""
        found = self._file.metadata
        n_values = 0
        for number in range(found.num_row_groups):
            group = found.row_group(number)
            own = [group.column(j) for j in range(group.num_columns)]
            n_values += sum(
                min(part.num_values, _MOST_VALUES_A_BYTE * part.total_compressed_size)
                for part in own
                if part.path_in_schema.partition(".")[0] == column
            )
        return min(found.num_rows, n_values), n_values


def _open_ipc(source: Source) -> tuple[pa.Schema, Batches]:
    import pyarrow as pa

    if source.head.startswith(b"ARROW1"):
        file = pa.ipc.open_file(_seekable(source))
        batches = (file.get_batch(i) for i in range(file.num_record_batches))
        return file.schema, lambda columns: (_sound(batch.select(list(columns))) for batch in batches)
    stream = pa.ipc.open_stream(source)
    return stream.schema, lambda columns: (_sound(batch.select(list(columns))) for batch in stream)


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Check that the offsets of a batch stay inside it. Arrow trusts them, and would crash the process."""
    batch.validate(full=True)
    return batch


def _may_be_id(kind: pa.DataType) -> bool:
    """Whether values of a type can be numbered by Arrow."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return not (pa.types.is_nested(kind) or pa.types.is_float16(kind))


def _rows_at_once(columns: Sequence[str]) -> int:
    return max(min(_MOST_ROWS, _MOST_CELLS // max(len(columns), 1)), 1)


def _seekable(source: Source) -> pa.NativeFile:
    import pyarrow as pa

    return pa.memory_map(str(source.path)) if source.path else in_arrow_memory(source.readall())


def _layout_of(schema: pa.Schema, options: ReadOptions) -> str:
    import pyarrow as pa

    if options.item is not None:
        check_column(options.item, schema.names, "item")
        kind = schema.field(options.item).type
        is_alone = options.may_be_lists and len(schema.names) == 1 and _is_text(kind)
        return "list" if is_alone or _is_list(kind) else "long"
    if any(_is_list(field.type) for field in schema):
        return "list"
    if looks_long(schema.names):
        return "long"
    items = [field for field in schema if field.name in _item_columns(schema, options)]
    if options.may_be_lists and len(items) == 1 and _is_text(items[0].type):
        return "list" if options.transaction is None else "long"
    if items and all(
        pa.types.is_boolean(f.type) or pa.types.is_integer(f.type) or pa.types.is_floating(f.type)
        for f in items
    ):
        return "onehot"
    raise _unknown_layout(schema)


def _unknown_layout(schema: pa.Schema) -> InvalidInputError:
    return InvalidInputError(
        f"expected a list column, a long table or columns of 0 and 1, got {columns_shown(schema.names)}; "
        "try format='table' if each row is a transaction, or name the columns with transaction= and item="
    )


def _read_lists(schema: pa.Schema, batches: Batches, options: ReadOptions) -> Encoded:
    import pyarrow as pa
    import pyarrow.compute as pc

    for key in as_columns(options.transaction):
        check_column(key, schema.names, "transaction")
    options.rows.check_columns(schema.names)
    name = options.item or _list_column(schema)
    grown = GrowingRows()
    if isinstance(batches, _Sized):
        grown.reserve(*batches.room(name))
    keys = [key for key in as_columns(options.transaction) if key != name]
    beside = list(dict.fromkeys([*keys, *options.rows.columns]))
    key_chunks: dict[str, list[pa.Array]] = {key: [] for key in beside}
    cells: list[pa.Array] = []
    is_text = _is_text(schema.field(name).type)
    declared = (schema.field(name).metadata or {}).get(ITEMS_KEY)
    clean = RowOptions(strip=False) if declared is not None else options.rows
    for batch in batches([name, *beside]):
        column = batch.column(0)
        if is_text:
            if options.may_be_lists:
                cells.append(column)
            column = _lists_in(column)
        for key in beside:
            key_chunks[key].append(batch.column(key))
        lengths = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int64()).to_numpy()
        grown.add_lists(lengths, pc.list_flatten(column), clean)
    if (
        is_text
        and options.may_be_lists
        and not hold_lists(*number_values(_joined(cells, pa.string()).drop_null()))
    ):
        raise _unknown_layout(schema)
    encoded = grown.finished()
    columns = {key: _joined(key_chunks[key], schema.field(key).type) for key in beside}
    encoded = with_columns_beside(encoded, columns, keys, options.rows, is_text=False)
    return encoded if declared is None else _with_items(encoded, _declared_items(declared))


def _declared_items(declared: bytes) -> Items:
    """Return the items that the metadata of a column lists."""
    try:
        return Items(json.loads(declared))
    except (ValueError, RecursionError):
        raise InvalidInputError(
            f"expected item names in the metadata of the column, got {declared!r:.60}; write the file again"
        ) from None


def _read_pairs(schema: pa.Schema, batches: Batches, options: ReadOptions) -> tuple[Encoded, str]:
    if isinstance(batches, _Sized) and options.rows._replace(strip=True, upper=False) == RowOptions():
        # Transactions that stand together need no second copy. Otherwise, and if anything is wrong, the
        # whole table is looked at.
        with suppress(InvalidInputError):
            found = rows_together(_long_table("", schema, batches, options))
            if found.ids is not None:
                return found, ""
    transaction, item = pair_of_columns(schema.names, options)
    options.rows.check_columns(schema.names)
    wanted = list(dict.fromkeys([*transaction, item, *options.rows.columns]))
    chunks: dict[str, list[pa.Array]] = {name: [] for name in wanted}
    for batch in batches(wanted):
        for name, column in zip(wanted, batch.columns, strict=True):
            chunks[name].append(_dictionary(column) if name in (*transaction, item) else column)
    columns = {name: partial(_joined, chunks[name], schema.field(name).type) for name in wanted}
    rows = long_rows(columns, transaction, item, options.rows, may_be_lists=options.may_be_lists)
    return rows.encoded(), rows.said


def _read_onehot(schema: pa.Schema, batches: Batches, options: ReadOptions) -> Encoded:
    import pyarrow as pa

    for key in as_columns(options.transaction):
        check_column(key, schema.names, "transaction")
    options.rows.check_columns(schema.names)
    names, keys = _item_columns(schema, options), as_columns(options.transaction)
    beside = list(dict.fromkeys([*keys, *options.rows.columns]))
    chunks: dict[str, list[pa.Array]] = {name: [] for name in beside}

    def pieces() -> Iterator[Encoded]:
        for batch in batches([*names, *beside]):
            for name in beside:
                chunks[name].append(batch.column(name))
            yield encode_onehot_frame(pa.table(batch.select(names)))

    encoded = concatenated(pieces(), Items(names))
    columns = {name: _joined(chunks[name], schema.field(name).type) for name in beside}
    return with_columns_beside(encoded, columns, keys, options.rows, is_text=False)


def read_arrow_table(source: Source, found: Recognised, options: ReadOptions) -> tuple[Encoded, str]:
    """Read a table of categories and numbers; also say which columns were left out, if any were.

    Raises
    ------
    InvalidInputError
        If the file is damaged, or its columns are no categories and numbers.
    """
    import pyarrow as pa

    parquet = found.format == "parquet"
    with _explained(source, parquet=parquet):
        schema, batches = _opened(source, parquet=parquet)
        names = [name for name in schema.names if not name.startswith(_INDEX_PREFIX)]
        wanted = options.table.needed(names, options.rows)
        chosen = pa.schema([schema.field(name) for name in wanted])
        table = pa.Table.from_batches(batches(wanted), chosen)
        columns = {name: partial(table.column, name) for name in names}
        return encode_columns(columns, options.table, options.rows)


_READERS = {"list": _read_lists, "onehot": _read_onehot}


def _with_items(encoded: Encoded, items: Items) -> Encoded:
    renumber(encoded.indices, np.array([items.code(label) for label in encoded.items], dtype=np.int32))
    return encoded._replace(items=items)


def _dictionary(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _joined(chunks: list[pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array(chunks) if chunks else pa.chunked_array([], type=kind)


def _item_columns(schema: pa.Schema, options: ReadOptions) -> list[str]:
    others = [*as_columns(options.transaction), *options.rows.columns]
    return [name for name in schema.names if name not in others and not name.startswith(_INDEX_PREFIX)]


def _list_column(schema: pa.Schema) -> str:
    names = [field.name for field in schema if _is_list(field.type)]
    if not names:  # one column of text, with lists in its cells
        names = [field.name for field in schema if _is_text(field.type)]
    found = names[0] if len(names) == 1 else find_column(names, LIST_NAMES)
    if found is None:
        raise InvalidInputError(
            f"expected one list column, got {columns_shown(names) if names else 'none'}; name it with item="
        )
    return found


def _lists_in(column: pa.Array) -> pa.Array:
    """Return the lists that cells of text hold; a missing cell is an empty one."""
    import pyarrow as pa

    return pa.array([names_in_cell(cell or "") for cell in column.to_pylist()], pa.list_(pa.string()))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)  # type: ignore[no-any-return]


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)  # type: ignore[no-any-return]
