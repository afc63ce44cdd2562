"""Files of results, in Parquet, CSV, JSON and Excel's format; all write and read `TableColumns`.

The extension of a file tells its format. Parquet and JSON lines say what they are in a header (see
`header_of`), in the metadata and under the key "itemix" of the first row, so that reading gives equal values
back. CSV, JSON and Excel files are plain, for other tools to open. They are recognised by their first columns
(`FIRST_COLUMNS`), and do not have the items that are in no set. Where it is asked for, CSV has a header too,
in a first line that starts with #.

A cell of CSV or Excel holds a set as `milk, bread`. A name is in quotes, as in CSV, where it could be taken
for something else: see `quoted`. Sets are lists in Parquet and JSON.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import re
import zlib
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._arrays import as_arrow, in_arrow_memory, joined, lists_joined, names_as_arrow
from itemix._files import Held, as_path, checked_target, hold, is_stream, replacing
from itemix.core.items import Items, as_labels
from itemix.core.sets import Sets
from itemix.core.tables import (
    Column,
    TableColumns,
    checked,
    facts_of,
    from_arrow,
    header_in,
    header_of,
    items_of,
    refuse_other_kind,
    to_arrow,
)
from itemix.errors import InvalidInputError, MissingExtraError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from itemix._files import PathLike

T = TypeVar("T")

_ROWS_AT_ONCE = 50_000
_LONGEST_LINE = 1 << 24
_LONGEST_HEAD = 256
_EXCEL_ROWS = (1 << 20) - 1
_EXCEL_LETTERS = (1 << 15) - 1
_ROWS_MEASURED = 1000
_NUMBER_WIDTH = 10
_FILTER_WIDTH = 3
_MOST_WIDTH = 100
_NOT_IN_EXCEL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_GZIP_MAGIC = b"\x1f\x8b"
_ENDINGS = (".parquet", ".csv", ".jsonl", ".json", ".xlsx")
_PACKED = (".csv", ".jsonl", ".json")
_EXTENSION_BY_HEAD = {b"PAR1": ".parquet", b"PK": ".xlsx", b"#": ".csv", b"{": ".jsonl", b"[": ".json"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

SETS_AS = ("names", "json", "columns")
# The columns that a plain file of each kind begins with: what it is recognised by.
FIRST_COLUMNS = {
    "itemsets": ("support", "itemsets", "length"),
    "rules": ("antecedents", "consequents", "antecedent support"),
}


class FileLayout(NamedTuple):
    """How plain files are laid out.

    Attributes
    ----------
    sets : {"names", "json", "columns"}
        How CSV or Excel holds a set: ``milk, bread`` or ``["milk", "bread"]`` in a cell, or, of a table, the
        values in its columns.
    metadata : bool
        Whether CSV begins with a comment that says what the file is.
    """

    sets: str = "names"
    metadata: bool = False


PLAIN = FileLayout()


class _Format(NamedTuple):
    write: Callable[[TableColumns, IO[bytes], FileLayout], None]
    read: Callable[[IO[bytes], str, Mapping[str, str]], TableColumns]
    # Returns the header, or the names of the columns if there is none.
    look: Callable[[IO[bytes]], dict[str, Any] | list[str] | None]


def check_path(path: PathLike) -> None:
    """Check that a file of this name can be written; call it before long work, to fail early.

    Raises
    ------
    InvalidInputError
        If the extension is not known or the folder does not exist.
    MissingExtraError
        If it is a file for Excel, and openpyxl is not installed.
    """
    extension, _ = _by_name(path)
    if extension == ".xlsx":
        _openpyxl()
    checked_target(path)


def write(
    columns: TableColumns, path: PathLike, layout: FileLayout = PLAIN, *, extension: str | None = None
) -> None:
    """Write columns to a file; an old file stays until the new one is complete.

    The format is that of an extension, by default the one that the path has.

    Raises
    ------
    InvalidInputError
        If the extension is not known, the folder does not exist, or the format cannot hold the columns.
    """
    checked_layout(layout)
    if extension is None:
        extension, is_gzip = _by_name(path)
    else:
        is_gzip = extension in _PACKED and as_path(path).name.lower().endswith(".gz")
    with replacing(path) as temporary, temporary.open("wb") as raw:
        # Without a name and a time in the gzip header, the same itemsets give the same bytes.
        stream: Any = gzip.GzipFile("", "wb", 6, raw, mtime=0) if is_gzip else contextlib.nullcontext(raw)
        with stream as binary:
            write_to(binary, columns, extension, layout)


def write_to(stream: IO[bytes], columns: TableColumns, extension: str, layout: FileLayout = PLAIN) -> None:
    """Write columns to a stream, in the format of an extension."""
    try:
        _formats()[extension].write(columns, stream, layout)
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"expected item names that are valid Unicode, got {error.object!r}; rename that item"
        ) from None


def checked_layout(layout: FileLayout) -> FileLayout:
    """Check how a file is to be laid out.

    Raises
    ------
    InvalidInputError
        If sets are to be something else than names or JSON.
    """
    if layout.sets not in SETS_AS:
        raise InvalidInputError(
            f"expected sets to be one of {', '.join(SETS_AS)}, got {layout.sets!r}; try 'names'"
        )
    if layout.sets == "columns" and layout.metadata:
        raise InvalidInputError(
            "expected sets as names or json, to read the file back, got sets='columns' with metadata; leave "
            "one of them out"
        )
    return layout


def _spread(columns: TableColumns) -> dict[str, list[tuple[str, int]]]:
    """Return for each column of sets the columns of the table that its items come from: header and number.

    Raises
    ------
    InvalidInputError
        If the items come from no table.
    """
    bins, column_of = columns.items.bins, columns.items.column_of
    if bins is None or column_of is None:
        raise InvalidInputError(
            "expected items of a table of categories, with sets='columns', got others; try sets='names'"
        )
    sides = {name: values for name, values in columns.values.items() if isinstance(values, Sets)}
    names = list(bins)
    used = {name: np.unique(column_of[values.codes]).tolist() for name, values in sides.items()}
    taken = columns.values.keys() - sides.keys()
    is_plain = len(sides) == 1 and not any(taken & {names[number] for number in own} for own in used.values())
    return {
        name: [(names[number] if is_plain else f"{name} {names[number]}", number) for number in numbers]
        for name, numbers in used.items()
    }


def _in_columns(part: TableColumns, spread: dict[str, list[tuple[str, int]]]) -> TableColumns:
    """Return columns with those of a table in the place of sets; cells are empty where a set has none."""
    column_of = part.items.column_of
    values: dict[str, Column] = {}
    for name, column in part.values.items():
        if not isinstance(column, Sets) or column_of is None:
            values[name] = column
            continue
        rows = np.repeat(np.arange(len(column)), column.lengths)
        prefixes = [f"{header}=" for header in part.items.bins or ()]
        for header, number in spread[name]:
            here = column_of[column.codes] == number
            cells = np.full(len(column), "", dtype=object)
            found = part.items.names(column.codes[here])
            cells[rows[here]] = [str(label).removeprefix(prefixes[number]) for label in found]
            values[header] = cells
    return TableColumns(part.kind, part.items, values, part.facts, part.percents)


def _parts(columns: TableColumns, layout: FileLayout, n_rows: int) -> Iterator[TableColumns]:
    """Yield the columns in parts, laid out as they are written."""
    spread = _spread(columns) if layout.sets == "columns" else None
    for part in columns.parts(n_rows):
        yield part if spread is None else _in_columns(part, spread)


def read(path: PathLike | Held, kind: str, types: Mapping[str, str], make: Callable[[TableColumns], T]) -> T:
    """Read columns that `write` has written, and make a value of them.

    Parameters
    ----------
    path : path or Held
        The file, or all bytes of a stream.
    kind : str
        What it must hold.
    types : dict of str
        The type of each column that there may be, for files that do not say it: "sets", "object" for texts,
        or the name of a dtype.
    make : function
        Makes the value of the columns.

    Raises
    ------
    InvalidInputError
        If there is no such file, or it is damaged, of another kind or not one of ours.
    """
    source = path if isinstance(path, Held) or not is_stream(as_path(path)) else hold(path)
    name = source.name if isinstance(source, Held) else source
    chosen, is_gzip = _format_of(source)
    try:
        with _opened(source, is_gzip) as binary:
            return make(chosen.read(binary, kind, types))
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}") from None
    except (FileNotFoundError, IsADirectoryError):
        raise MissingFileError(
            f"expected a file of {kind}, got {str(name)!r}, which is not a file; check the name"
        ) from None
    except (EOFError, zlib.error, ValueError, KeyError, TypeError, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise InvalidInputError(
            f"{name}: expected {kind} written by itemix, got a damaged file ({reason}); write it again"
        ) from None


def kind_of(path: PathLike | Held) -> str | None:
    """Return the kind of a file, such as "itemsets" or "rules", or None if `write` did not write it."""
    try:
        chosen, is_gzip = _format_of(path)
        with _opened(path, is_gzip) as binary:
            found = chosen.look(binary)
    except (OSError, EOFError, zlib.error, ValueError, KeyError, MissingExtraError):
        return None
    if isinstance(found, list):
        return _kind_by_columns(found)
    kind = found.get("kind") if isinstance(found, dict) else None
    return kind if isinstance(kind, str) else None


def _kind_by_columns(names: Sequence[str]) -> str | None:
    """Return the kind of a plain file by the names of its columns."""
    return next((kind for kind, first in FIRST_COLUMNS.items() if tuple(names[: len(first)]) == first), None)


def may_be_ours(head: bytes) -> bool:
    """Whether the first bytes of a stream are those of a format that `write` writes."""
    return _extension_of(head) is not None


def _extension_of(head: bytes) -> str | None:
    """Return the extension of the format that begins like this."""
    head = head.removeprefix(_BYTE_ORDER_MARK)
    if head.startswith(tuple(",".join(first).encode() for first in FIRST_COLUMNS.values())):
        return ".csv"
    if head[:1] == b"[" and not head[1:].lstrip().startswith((b"{", b"]")):
        return None  # a list of lists: transactions
    return next((found for start, found in _EXTENSION_BY_HEAD.items() if head.startswith(start)), None)


@contextlib.contextmanager
def _opened(source: PathLike | Held, is_gzip: bool) -> Iterator[IO[bytes]]:
    """Open a file, or the bytes of a stream, and unpack them."""
    with io.BytesIO(source.data) if isinstance(source, Held) else Path(source).open("rb") as raw:
        stream: Any = gzip.GzipFile(fileobj=raw) if is_gzip else contextlib.nullcontext(raw)
        with stream as binary:
            yield binary


def _formats() -> dict[str, _Format]:
    return {
        ".parquet": _Format(_write_parquet, _read_parquet, _parquet_header),
        ".csv": _Format(_write_csv, _read_csv, _csv_start),
        ".jsonl": _Format(_write_jsonl, _read_jsonl, lambda stream: _jsonl_start(stream)[1]),
        ".json": _Format(_write_json, _read_json, _json_start),
        ".xlsx": _Format(_write_excel, _read_excel, _excel_start),
    }


def _format_of(source: PathLike | Held) -> tuple[_Format, bool]:
    """Return the format and whether it is gzipped, by the name of a file or the first bytes of a stream."""
    extension, is_gzip = _by_head(source) if isinstance(source, Held) else _by_name(source)
    return _formats()[extension], is_gzip


def _by_name(path: PathLike) -> tuple[str, bool]:
    name = as_path(path).name.lower()
    plain = name.removesuffix(".gz")
    extension = Path(plain).suffix
    is_gzip = plain != name
    if extension not in _ENDINGS or (is_gzip and extension not in _PACKED):
        raise InvalidInputError(
            "expected a name that ends in .parquet, .csv, .jsonl, .json, .xlsx, .csv.gz, .jsonl.gz or "
            f".json.gz, got {Path(path).name or str(path)!r}; rename it"
        )
    return extension, is_gzip


def _by_head(held: Held) -> tuple[str, bool]:
    is_gzip = held.data.startswith(_GZIP_MAGIC)
    head = b""
    with contextlib.suppress(OSError, EOFError, zlib.error), _opened(held, is_gzip) as binary:
        head = binary.read(_LONGEST_HEAD)
    extension = _extension_of(head)
    if extension is None:
        raise InvalidInputError(
            f"expected itemsets or rules written by itemix, got {held.name}, which is something else; write "
            "them with save"
        )
    return extension, is_gzip


def _write_parquet(columns: TableColumns, stream: IO[bytes], layout: FileLayout) -> None:
    import pyarrow.parquet as pq

    pq.write_table(to_arrow(columns), stream, compression="zstd")


def _read_parquet(stream: IO[bytes], kind: str, types: Mapping[str, str]) -> TableColumns:
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(in_arrow_memory(stream.read()))
    except (OSError, NotImplementedError) as error:  # damaged pages, or types that we never write
        raise ValueError(error) from None
    return from_arrow(table, kind)


def _parquet_header(stream: IO[bytes]) -> Any:  # noqa: ANN401 - what a file says
    import pyarrow.parquet as pq

    return header_in(pq.read_schema(in_arrow_memory(stream.read())))


def _write_csv(columns: TableColumns, stream: IO[bytes], layout: FileLayout) -> None:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    if layout.metadata:
        stream.write(b"# " + _as_json(header_of(columns)) + b"\n")
    is_first = True
    for part in _parts(columns, layout, _ROWS_AT_ONCE):
        if is_first:
            stream.write(",".join(map(_as_header, part.values)).encode() + b"\n")
            is_first = False
        cells = [_as_cells(values, layout, columns) for values in part.values.values()]
        table = pa.table(cells, names=list(part.values))
        pa_csv.write_csv(table, stream, pa_csv.WriteOptions(include_header=False))


def _as_header(name: str) -> str:
    """Return the name of a column as CSV has it, on one line."""
    name = " ".join(name.splitlines()) if "\n" in name or "\r" in name else name
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name


def _as_cells(values: Column, layout: FileLayout, columns: TableColumns) -> pa.Array:
    """Return a column as CSV holds it: sets as texts, NaN as nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, Sets):
        return _sets_as_json(values) if layout.sets == "json" else _sets_as_names(values, columns)
    cells = as_arrow(values)
    if layout.sets == "columns" and values.dtype == object:
        return pc.if_else(as_arrow(values != ""), cells, pa.nulls(len(values), cells.type))
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return cells
    return pc.if_else(as_arrow(~np.isnan(values)), cells, pa.nulls(len(values), cells.type))


def _read_csv(stream: IO[bytes], kind: str, types: Mapping[str, str]) -> TableColumns:
    header = _csv_start(stream)
    if header is None or isinstance(header, list):
        body = ",".join(map(_as_header, header or ())).encode() + b"\n" + stream.read()
        return _of_cells(kind, types, header or [], _csv_cells(body, types, header or []))
    items = items_of(header, kind)
    cells = _csv_cells(stream.read(), header["columns"], list(header["columns"]))
    values: dict[str, Column] = {
        name: Sets.from_names(chain.from_iterable(_sets_of_texts(column, items)), items)
        if isinstance(column, list)
        else column
        for name, column in cells.items()
    }
    return checked(TableColumns(kind, items, values, facts_of(header)), header)


def _csv_cells(body: bytes, types: Mapping[str, str], names: Iterable[str]) -> dict[str, Any]:
    """Return the columns of CSV whose types are known: arrays, and lists of batches of texts for sets."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    if not body.endswith(b"\n"):
        raise ValueError("its last line is not complete")
    known = {name: types[name] for name in names if name in types}
    if not known:
        return {}
    arrow_types = {name: pa.string() if of in ("sets", "object") else of for name, of in known.items()}
    table = pa_csv.read_csv(
        in_arrow_memory(body),
        read_options=pa_csv.ReadOptions(block_size=_LONGEST_LINE),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(column_types=arrow_types, include_columns=list(known)),
    )
    rows = table.to_batches(max_chunksize=_ROWS_AT_ONCE)
    return {
        name: [batch.column(name).to_pylist() for batch in rows]
        if of == "sets"
        else table.column(name).to_numpy()
        for name, of in known.items()
    }


def _csv_start(stream: IO[bytes]) -> dict[str, Any] | list[str] | None:
    """Return the header of CSV if it has one, or the names of its columns."""
    first_line = stream.readline().removeprefix(_BYTE_ORDER_MARK)
    if not first_line.endswith(b"\n"):
        return None
    if first_line.startswith(b"#"):
        found: dict[str, Any] = json.loads(first_line[1:])
        return found
    return next(csv.reader([first_line.decode().strip()]), [])


def _of_cells(
    kind: str, types: Mapping[str, str], names: Sequence[str], cells: Mapping[str, Any]
) -> TableColumns:
    """Make columns of a file that does not say what it holds; its items are those that occur.

    Columns of sets are lists of batches of texts, or of batches of lists of names.
    """
    known = {name: of for name, of in types.items() if name in cells}
    refuse_other_kind(_kind_by_columns(names) or kind, kind)
    needed = [name for name, of in types.items() if of == "sets"] or types
    if not any(name in known for name in needed):
        wanted = ", ".join(FIRST_COLUMNS.get(kind, tuple(types)))
        got = ", ".join(repr(name)[:40] for name in names[:5]) or "none"
        raise InvalidInputError(
            f"expected {kind} written by itemix, with the columns {wanted}, got {got}; write it with "
            ".save(), or mine transactions first: itemix.mine(path, 0.01)"
        )
    parsed = {
        name: list(chain.from_iterable(_sets_of_texts(cells[name], None)))
        for name, of in known.items()
        if of == "sets"
    }
    found = set(chain.from_iterable(chain.from_iterable(parsed.values())))
    if any(isinstance(name, _Plain) for name in found):
        is_whole = all(isinstance(name, _Plain) and _is_whole(name) for name in found)
        plain: Callable[[Any], Any] = int if is_whole else str
        parsed = {column: [list(map(plain, cell)) for cell in sets] for column, sets in parsed.items()}
        found = set(map(plain, found))
    items = Items(np.sort(as_labels(list(found))))
    values: dict[str, Column] = {
        name: Sets.from_names(parsed[name], items) if of == "sets" else np.asarray(cells[name], dtype=of)
        for name, of in known.items()
    }
    columns = TableColumns(kind, items, values, {})
    return checked(columns, {"rows": columns.n_rows})


def _write_jsonl(columns: TableColumns, stream: IO[bytes], layout: FileLayout) -> None:
    header = b'"itemix": ' + _as_json(header_of(columns))
    if columns.n_rows == 0:
        stream.write(b"{" + header + b"}\n")
        return
    for part in columns.parts(_ROWS_AT_ONCE):
        block = "\n".join(_rows_as_json(part)).encode()
        if header:
            first, newline, rest = block.partition(b"\n")
            block = first[:-1] + b", " + header + b"}" + newline + rest
            header = b""
        stream.write(block + b"\n")


def _read_jsonl(stream: IO[bytes], kind: str, types: Mapping[str, str]) -> TableColumns:
    first_row, header = _jsonl_start(stream)
    items = items_of(header, kind)
    parts: dict[str, list[Any]] = {name: [] for name in header["columns"]}
    rows = [first_row] if first_row else []
    while rows:
        for name, of in header["columns"].items():
            cells = [row[name] for row in rows]
            parts[name].append(cells if of == "sets" else np.array(cells, dtype=of))
        rows = json.loads(b"[" + b",".join(islice(stream, _ROWS_AT_ONCE)) + b"]")
    values = {
        name: Sets.from_names(chain.from_iterable(parts[name]), items)
        if of == "sets"
        else np.concatenate([np.empty(0, dtype=of), *parts[name]])
        for name, of in header["columns"].items()
    }
    return checked(TableColumns(kind, items, values, facts_of(header)), header)


def _jsonl_start(stream: IO[bytes]) -> tuple[Any, Any]:
    """Return the first row, and the header that it carries."""
    first_row = json.loads(stream.readline() or b"null")
    header = first_row.pop("itemix", None) if isinstance(first_row, dict) else None
    return first_row, header


def _write_json(columns: TableColumns, stream: IO[bytes], layout: FileLayout) -> None:
    before = b"[\n"
    for part in columns.parts(_ROWS_AT_ONCE) if columns.n_rows else ():
        stream.write(before + ",\n".join(_rows_as_json(part)).encode())
        before = b",\n"
    stream.write(b"\n]\n" if columns.n_rows else b"[]\n")


def _read_json(stream: IO[bytes], kind: str, types: Mapping[str, str]) -> TableColumns:
    rows = json.load(stream)
    names = list(rows[0]) if rows else FIRST_COLUMNS.get(kind, tuple(types))
    cells = {name: [row[name] for row in rows] for name in names}
    for name, of in types.items():
        if of == "sets" and name in cells:
            cells[name] = [cells[name]]
    return _of_cells(kind, types, names, cells)


def _json_start(stream: IO[bytes]) -> list[str] | None:
    """Return the names in the first row."""
    text = stream.read(_ROWS_AT_ONCE).decode(errors="ignore").lstrip()
    if not text.startswith("["):
        return None
    start = len(text) - len(text[1:].lstrip())
    row, _ = json.JSONDecoder().raw_decode(text, start)
    return list(row) if isinstance(row, dict) else None


def _rows_as_json(columns: TableColumns) -> list[str]:
    """Write each row as a JSON object."""
    cells: list[Any] = []
    for name, values in columns.values.items():
        text = _sets_as_json(values) if isinstance(values, Sets) else _values_as_json(values)
        cells += [f"{', ' if cells else '{'}{json.dumps(name)}: ", text]
    rows: list[str] = joined(*cells, "}").to_pylist()
    return rows


def _as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _values_as_json(values: npt.NDArray[Any]) -> pa.Array:
    """Write numbers, truth values or texts as JSON. It has neither NaN nor infinity: both are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if values.dtype == object:
        return names_as_arrow(json.dumps(text, ensure_ascii=False) for text in values)
    texts = pc.cast(as_arrow(values), pa.string())
    is_number = np.isfinite(values)
    return texts if is_number.all() else pc.if_else(as_arrow(is_number), texts, "null")


# Excel's format


def _openpyxl() -> Any:  # noqa: ANN401 - the module
    """Return openpyxl.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(
            "expected openpyxl to be installed for files of Excel, got no such package; try pip install "
            "itemix[excel], or write .csv"
        ) from None
    return openpyxl


def _write_excel(columns: TableColumns, stream: IO[bytes], layout: FileLayout) -> None:
    """Write one sheet: names of columns that stay in view, a filter, widths that fit, percentages."""
    openpyxl = _openpyxl()
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils import get_column_letter

    if columns.n_rows > _EXCEL_ROWS:
        raise InvalidInputError(
            f"expected at most {_EXCEL_ROWS:,} rows, which is what a sheet of Excel can hold, got "
            f"{columns.n_rows:,}; write .csv or .parquet"
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(columns.kind[:31])
    first = next(_parts(columns, layout, _ROWS_MEASURED))
    for position, (name, values) in enumerate(first.values.items(), start=1):
        texts = _excel_cells(values, layout, columns)
        longest = max((len(cell) for cell in texts if isinstance(cell, str)), default=_NUMBER_WIDTH)
        width = min(max(longest, len(name) + _FILTER_WIDTH), _MOST_WIDTH)
        sheet.column_dimensions[get_column_letter(position)].width = width + 1
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(first.values))}{columns.n_rows + 1}"
    bold = openpyxl.styles.Font(bold=True)
    heads = [WriteOnlyCell(sheet, name) for name in first.values]
    for head in heads:
        head.font, head.data_type = bold, "s"
    sheet.append(heads)
    styles = [_excel_style(sheet, name, values, columns) for name, values in first.values.items()]
    for part in _parts(columns, layout, _ROWS_AT_ONCE) if columns.n_rows else ():
        cells = [_excel_cells(values, layout, columns) for values in part.values.values()]
        for row in zip(*cells, strict=True):
            drawn = []
            for value, style in zip(row, styles, strict=True):
                cell = WriteOnlyCell(sheet, value)
                if isinstance(value, str):
                    cell.data_type = "s"  # never a formula
                else:
                    cell._style = style  # noqa: SLF001 - one style for a column, as number_format would set
                drawn.append(cell)
            sheet.append(drawn)
    book.save(stream)


def _excel_style(sheet: Any, name: str, values: Column, columns: TableColumns) -> Any:  # noqa: ANN401 - openpyxl's
    """Return the style of the numbers of a column."""
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, 0)
    if name in columns.percents:
        cell.number_format = "0.00%"
    elif not isinstance(values, Sets) and values.dtype.kind in "iu":
        cell.number_format = "#,##0"
    elif not isinstance(values, Sets) and values.dtype.kind == "f" and not name.endswith("_value"):
        cell.number_format = "0.0000"
    return cell._style  # noqa: SLF001 - as above


def _excel_cells(values: Column, layout: FileLayout, columns: TableColumns) -> list[Any]:
    """Return a column as Excel can hold it: texts without control characters, NaN as nothing."""
    if not isinstance(values, Sets) and values.dtype != object:
        cells = values.tolist()
        if values.dtype.kind != "f" or np.isfinite(values).all():
            return list(cells)
        return [cell if np.isfinite(cell) else None if np.isnan(cell) else str(cell) for cell in cells]
    texts = (
        values.tolist() if not isinstance(values, Sets) else _as_cells(values, layout, columns).to_pylist()
    )
    longest = max(texts, key=len, default="")
    if len(longest) > _EXCEL_LETTERS:
        raise InvalidInputError(
            f"expected at most {_EXCEL_LETTERS:,} letters in a cell, which is what Excel can hold, got "
            f"{len(longest):,}; write .csv or .parquet"
        )
    return [
        _NOT_IN_EXCEL.sub(lambda found: found[0].encode("unicode_escape").decode(), text) for text in texts
    ]


def _read_excel(stream: IO[bytes], kind: str, types: Mapping[str, str]) -> TableColumns:
    rows = _excel_rows(stream)
    names = [str(name) for name in next(rows, ())]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))
    cells: dict[str, Any] = {}
    for name in names:
        column = columns.get(name, [])
        if types.get(name) == "sets":
            cells[name] = [["" if cell is None else str(cell) for cell in column]]
        else:
            cells[name] = ["" if cell is None and types.get(name) == "object" else cell for cell in column]
    return _of_cells(kind, types, names, cells)


def _excel_start(stream: IO[bytes]) -> list[str]:
    """Return the names of the columns of the first sheet."""
    return [str(name) for name in next(_excel_rows(stream), ())]


def _excel_rows(stream: IO[bytes]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the first sheet."""
    openpyxl = _openpyxl()
    from xml.etree.ElementTree import ParseError
    from zipfile import BadZipFile

    try:
        book = openpyxl.load_workbook(io.BytesIO(stream.read()), read_only=True)
        yield from book.worksheets[0].iter_rows(values_only=True)
    except (BadZipFile, ParseError, IndexError, AttributeError) as error:
        raise ValueError(error) from None


# Sets as texts


class _Plain(str):
    """A name that was not in quotes: it may be a number."""

    __slots__ = ()


_WHOLE = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
_IN_QUOTES = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)')


def quoted(name: object) -> str:
    """Write a name for a list of names, in quotes where it could be taken for something else.

    So are names with commas, quotes, line ends or blanks at their ends, those that begin like JSON lists, and
    the empty one. Quotes within are doubled, as in CSV.
    """
    text = str(name)
    is_odd = not text or text != text.strip() or text[0] == "[" or any(mark in text for mark in ',"\n\r')
    return '"' + text.replace('"', '""') + '"' if is_odd else text


def _sets_as_names(sets: Sets, columns: TableColumns) -> pa.Array:
    """Write each set as its names with commas between them."""
    import pyarrow as pa

    texts = map(str, sets.items) if sets.items.are_integers else _quoted_names(sets.items, columns)
    offsets = as_arrow(sets.offsets.astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, names_as_arrow(texts).take(as_arrow(sets.codes)))
    return lists_joined(lists, ", ")


def _quoted_names(items: Items, columns: TableColumns) -> list[str]:
    """Write names for lists of names, all of them in quotes if the ones that occur are like whole numbers."""
    families = [values for values in columns.values.values() if isinstance(values, Sets)]
    used = np.unique(np.concatenate([np.unique(family.codes) for family in families]))
    if all(map(_is_whole, map(str, items.names(used)))):
        return [f'"{name}"' if _is_whole(str(name)) else quoted(name) for name in items]
    return [quoted(name) for name in items]


def _is_whole(name: str) -> bool:
    """Whether a name is written like a whole number of 64 bits."""
    return _WHOLE.fullmatch(name) is not None and -(2**63) <= int(name) < 2**63


def _sets_as_json(sets: Sets) -> pa.Array:
    """Write each set as a JSON list; each name is written once, and then joined."""
    import pyarrow as pa

    names = names_as_arrow(json.dumps(name, ensure_ascii=False) for name in sets.items)
    offsets = as_arrow(sets.offsets.astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, names.take(as_arrow(sets.codes)))
    return joined("[", lists_joined(lists, ", "), "]")


def _sets_of_texts(batches: Iterable[list[Any]], items: Items | None) -> Iterator[list[list[Any]]]:
    """Yield the names in batches of cells: JSON lists, many of them in one call, or names with commas.

    With items, plain names are those of the items.
    """
    for cells in batches:
        if not all(isinstance(cell, str) for cell in cells):
            yield cells  # lists of names already
        elif all(cell.startswith("[") for cell in cells):
            yield json.loads(f"[{','.join(cells)}]")
        else:
            parsed = [_names_in(cell) for cell in cells]
            yield (
                parsed if items is None else [[items[items.code(name)] for name in names] for names in parsed]
            )


def _names_in(cell: str) -> list[str]:
    """Return the names of a set that was written as `milk, bread`; those in quotes are str, others _Plain."""
    if not cell.strip():
        return []
    if '"' not in cell:
        return [_Plain(name.strip()) for name in cell.split(",")]
    names: list[str] = []
    position, after = 0, ","
    while after == ",":
        found = _IN_QUOTES.match(cell, position)
        if found is None:
            raise ValueError(f"quotes that do not match in {cell[:60]!r}")
        in_quotes, plain, after = found.groups()
        names.append(_Plain(plain.strip()) if in_quotes is None else in_quotes.replace('""', '"'))
        position = found.end()
    return names
