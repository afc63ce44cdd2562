"""Itemsets and rules as tables: data frames, Arrow tables, and files in Parquet, CSV and JSON lines.

Both are a few columns of sets and of numbers over the same items. `TableColumns` holds these, so that every
format is written only once, and `Tabular` gives all formats to a class.

The extension of a file tells its format. Each file says what it is in a header (see `header_of`), so that
reading gives equal values back: Parquet in its metadata, CSV in a first line that starts with #, JSON lines
under the key "itemix" of the first row. Sets are lists in Parquet and JSON lines, and JSON lists in CSV. All
else is plain, for other tools to read.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, as_arrow, joined, lists_joined, names_as_arrow
from itemix._files import Held, as_path, checked_target, hold, is_stream, replacing
from itemix.core.display import ROWS_SHOWN
from itemix.core.items import Items, as_labels
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError, MissingExtraError, MissingFileError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from itemix._files import PathLike
    from itemix.core.display import Table

T = TypeVar("T")

FORMAT_VERSION = 1
_METADATA_KEY = b"itemix"
_ROWS_AT_ONCE = 50_000
_LONGEST_LINE = 1 << 24
_GZIP_MAGIC = b"\x1f\x8b"
_EXTENSION_BY_HEAD = {b"P": ".parquet", b"#": ".csv", b"{": ".jsonl"}


@dataclass(frozen=True)
class TableColumns:
    """The columns of a result, each of sets or of numbers (int64 or float64), and facts about all of them."""

    kind: str
    items: Items
    values: dict[str, Sets | npt.NDArray[Any]]
    facts: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values.values())))

    def parts(self, n_rows: int) -> Iterator[TableColumns]:
        """Yield the columns in parts of at most n_rows rows; without rows, one empty part."""
        for start in range(0, max(self.n_rows, 1), n_rows):
            values = {
                name: column.part(start, start + n_rows)
                if isinstance(column, Sets)
                else column[start : start + n_rows]
                for name, column in self.values.items()
            }
            yield TableColumns(self.kind, self.items, values, self.facts)

    def sets(self, name: str) -> Sets:
        """Return a column of sets."""
        column = self.values[name]
        if not isinstance(column, Sets):
            raise InvalidInputError(f"expected sets in column {name!r}, got numbers; write the file again")
        return column

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers."""
        column = self.values[name]
        if isinstance(column, Sets):
            raise InvalidInputError(f"expected numbers in column {name!r}, got sets; write the file again")
        return column


def header_of(columns: TableColumns) -> dict[str, Any]:
    """Return the header of a file, to be written as JSON in its first line or its metadata."""
    return {
        "kind": columns.kind,
        "version": FORMAT_VERSION,
        "rows": columns.n_rows,
        "columns": {name: _type_of(values) for name, values in columns.values.items()},
        **columns.facts,
        "items": columns.items.labels.tolist(),
    }


def items_of(header: Any, kind: str) -> Items:  # noqa: ANN401 - what a file says
    """Check the header of a file and return its items.

    Raises
    ------
    InvalidInputError
        If the file is not one of ours, of another kind, or of a later version.
    """
    if not isinstance(header, dict) or not {"kind", "version", "rows", "columns", "items"} <= header.keys():
        raise InvalidInputError(f"expected {kind} written by itemix, got another file; write it with .save()")
    if header["kind"] != kind:
        raise InvalidInputError(
            f"expected {kind}, got {header['kind']}; try itemix.{str(header['kind']).capitalize()}.load"
        )
    if header["version"] != FORMAT_VERSION:
        raise InvalidInputError(
            f"expected a file of version {FORMAT_VERSION}, got version {header['version']}; update itemix"
        )
    return Items(header["items"])


def facts_of(header: dict[str, Any]) -> dict[str, Any]:
    """Return the facts in a header: all that is not about the format."""
    return {key: header[key] for key in header.keys() - {"kind", "version", "rows", "columns", "items"}}


def to_pandas(columns: TableColumns) -> pd.DataFrame:
    """Make a pandas data frame, with frozensets of names in the columns of sets."""
    import pandas as pd

    return pd.DataFrame(
        {
            name: values.to_frozensets() if isinstance(values, Sets) else values.copy()
            for name, values in columns.values.items()
        }
    )


def to_arrow(columns: TableColumns) -> pa.Table:
    """Make an Arrow table, with lists of names in the columns of sets, and the header in its metadata."""
    import pyarrow as pa

    table = pa.table(
        {
            name: values.to_arrow() if isinstance(values, Sets) else as_arrow(values)
            for name, values in columns.values.items()
        }
    )
    return table.replace_schema_metadata({_METADATA_KEY: json.dumps(header_of(columns))})


def header_in(schema: pa.Schema) -> Any:  # noqa: ANN401 - what a table says
    """Return the header of an Arrow table, or None if `to_arrow` did not make it."""
    metadata = schema.metadata or {}
    return json.loads(metadata[_METADATA_KEY]) if _METADATA_KEY in metadata else None


def from_arrow(table: pa.Table, kind: str) -> TableColumns:
    """Take the columns back out of an Arrow table that `to_arrow` made.

    Raises
    ------
    InvalidInputError
        If the table was made by something else, or is not complete.
    """
    if not hasattr(table, "schema"):
        raise InvalidInputError(
            f"expected an Arrow table, got {type(table).__name__}; write it with to_arrow()"
        )
    header = header_in(table.schema)
    items = items_of(header, kind)
    values: dict[str, Sets | npt.NDArray[Any]] = {}
    for name, expected in header["columns"].items():
        if name not in table.column_names:
            raise InvalidInputError(f"expected a column {name!r}, got {table.column_names}; write it again")
        column = table.column(name)
        values[name] = (
            Sets.from_arrow(column, items) if expected == "sets" else column.to_numpy().astype(expected)
        )
    return checked(TableColumns(kind, items, values, facts_of(header)), header)


def checked(columns: TableColumns, header: dict[str, Any]) -> TableColumns:
    """Check that all rows are there, and return the columns.

    Raises
    ------
    InvalidInputError
        If a column has more or fewer rows than the header says.
    """
    for name, values in columns.values.items():
        if len(values) != header["rows"]:
            raise InvalidInputError(
                f"expected {header['rows']:,} rows, got {len(values):,} in column {name!r}; "
                "the file was cut or edited: write it again"
            )
    return columns


def to_polars(columns: TableColumns) -> pl.DataFrame:
    """Make a polars data frame, with lists of names in the columns of sets.

    Raises
    ------
    MissingExtraError
        If polars is not installed.
    """
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError(
            "expected polars to be installed, got no such package; try pip install itemix[polars]"
        ) from None
    return pl.DataFrame(to_arrow(columns))


def from_mlxtend(frame: pd.DataFrame, items: Items | None) -> TableColumns:
    """Take itemsets out of a data frame with mlxtend's columns support and itemsets.

    Within a set, the items come most frequent first, as far as the frame has their supports.

    Raises
    ------
    InvalidInputError
        If it is not a data frame, or one of the two columns is missing, or holds something else.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise InvalidInputError(
            f"expected itemsets or a pandas data frame of them, got {type(frame).__name__}; try itemix.mine"
        )
    missing = [name for name in ("support", "itemsets") if name not in frame.columns]
    if missing:
        raise InvalidInputError(
            f"expected a column {missing[0]!r}, got {list(frame.columns)[:8]}; "
            "pass a frame like that of mlxtend.frequent_patterns.fpgrowth"
        )
    cells = frame["itemsets"].tolist()
    odd = next((cell for cell in cells if isinstance(cell, str) or not isinstance(cell, Iterable)), None)
    if odd is not None:
        raise InvalidInputError(
            f"expected sets of names in the column 'itemsets', got {odd!r}; try frozenset({{'milk'}})"
        )
    if items is None:
        items = Items(np.sort(as_labels(list(set().union(*cells)))))
    sets = Sets.from_names(cells, items)
    support = _numbers_of(frame, "support", np.float64)
    single = np.flatnonzero(sets.lengths == 1)
    support_of_item = np.zeros(len(items))
    support_of_item[sets.codes[sets.offsets[single]]] = support[single]
    rank = np.empty(len(items), dtype=np.int64)
    rank[np.argsort(-support_of_item, kind="stable")] = np.arange(len(items))
    more = {
        name: _numbers_of(frame, name, dtype)
        for name, dtype in (("count", np.int64), ("lower", np.float64), ("upper", np.float64))
        if name in frame.columns
    }
    return TableColumns(
        "itemsets", items, {"support": support, "itemsets": sets.sorted_within(rank), **more}, {}
    )


def _numbers_of(frame: pd.DataFrame, name: str, dtype: type) -> npt.NDArray[Any]:
    try:
        return frame[name].to_numpy(dtype=dtype)
    except (ValueError, TypeError):
        raise InvalidInputError(
            f"expected numbers in the column {name!r}, got {frame[name].iloc[0]!r} and more; convert it"
        ) from None


def _type_of(values: Sets | npt.NDArray[Any]) -> str:
    return "sets" if isinstance(values, Sets) else str(values.dtype)


def in_arrow_memory(content: bytes) -> pa.BufferReader:
    """Copy bytes into Arrow's own memory.

    Arrow's threads may free what they have read after Python has begun to shut down. A Python object must not
    be touched then: the process would abort.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return pa.BufferReader(sink.getvalue())


class _Format(NamedTuple):
    write: Callable[[TableColumns, IO[bytes]], None]
    read: Callable[[IO[bytes], str], TableColumns]
    read_header: Callable[[IO[bytes]], Any]


def check_path(path: PathLike) -> None:
    """Check that a file of this name can be written; call it before long work, to fail early.

    Raises
    ------
    InvalidInputError
        If the extension is not known or the folder does not exist.
    """
    _format_of(path)
    checked_target(path)


def write(columns: TableColumns, path: PathLike) -> None:
    """Write columns to a file; an old file stays until the new one is complete.

    Raises
    ------
    InvalidInputError
        If the extension is not known or the folder does not exist.
    """
    chosen, is_gzip = _format_of(path)
    with replacing(path) as temporary, temporary.open("wb") as raw:
        # Without a name and a time in the gzip header, the same itemsets give the same bytes.
        stream: Any = gzip.GzipFile("", "wb", 6, raw, mtime=0) if is_gzip else contextlib.nullcontext(raw)
        with stream as binary:
            try:
                chosen.write(columns, binary)
            except UnicodeEncodeError as error:
                raise InvalidInputError(
                    f"expected item names that are valid Unicode, got {error.object!r}; rename that item"
                ) from None


def read(path: PathLike | Held, kind: str, make: Callable[[TableColumns], T]) -> T:
    """Read columns that `write` has written, and make a value of them.

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
            return make(chosen.read(binary, kind))
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}") from None
    except (FileNotFoundError, IsADirectoryError):
        raise MissingFileError(
            f"expected a file of {kind}, got {str(name)!r}, which is not a file; check the name"
        ) from None
    except (EOFError, zlib.error, ValueError, KeyError, TypeError, gzip.BadGzipFile) as error:
        reason = " ".join(str(error).split())[:120]
        raise InvalidInputError(
            f"{name}: expected {kind} written by itemix, got a damaged file ({reason}); write it again"
        ) from None


def kind_of(path: PathLike | Held) -> str | None:
    """Return the kind of a file, "itemsets" or "rules", or None if `write` did not write it."""
    try:
        chosen, is_gzip = _format_of(path)
        with _opened(path, is_gzip) as binary:
            header = chosen.read_header(binary)
    except (OSError, EOFError, zlib.error, ValueError):
        return None
    kind = header.get("kind") if isinstance(header, dict) else None
    return kind if isinstance(kind, str) else None


def may_be_ours(head: bytes) -> bool:
    """Whether the first bytes of a stream are those of a format that `write` writes."""
    return head[:1] in _EXTENSION_BY_HEAD


@contextlib.contextmanager
def _opened(source: PathLike | Held, is_gzip: bool) -> Iterator[IO[bytes]]:
    """Open a file, or the bytes of a stream, and unpack them."""
    with io.BytesIO(source.data) if isinstance(source, Held) else Path(source).open("rb") as raw:
        stream: Any = gzip.GzipFile(fileobj=raw) if is_gzip else contextlib.nullcontext(raw)
        with stream as binary:
            yield binary


def _format_of(source: PathLike | Held) -> tuple[_Format, bool]:
    """Return the format and whether it is gzipped, by the name of a file or the first byte of a stream."""
    formats = {
        ".parquet": _Format(_write_parquet, _read_parquet, _parquet_header),
        ".csv": _Format(_write_csv, _read_csv, _csv_header),
        ".jsonl": _Format(_write_jsonl, _read_jsonl, lambda stream: _jsonl_start(stream)[1]),
    }
    extension, is_gzip = _by_head(source) if isinstance(source, Held) else _by_name(source)
    return formats[extension], is_gzip


def _by_name(path: PathLike) -> tuple[str, bool]:
    name = as_path(path).name.lower()
    plain = name.removesuffix(".gz")
    extension = Path(plain).suffix
    is_gzip = plain != name
    if extension not in _EXTENSION_BY_HEAD.values() or (is_gzip and extension == ".parquet"):
        raise InvalidInputError(
            f"expected a name that ends in .parquet, .csv, .jsonl, .csv.gz or .jsonl.gz, got "
            f"{Path(path).name or str(path)!r}; rename it"
        )
    return extension, is_gzip


def _by_head(held: Held) -> tuple[str, bool]:
    is_gzip = held.data.startswith(_GZIP_MAGIC)
    head = b""
    with contextlib.suppress(OSError, EOFError, zlib.error), _opened(held, is_gzip) as binary:
        head = binary.read(1)
    if not may_be_ours(head):
        raise InvalidInputError(
            f"expected itemsets or rules written by itemix, got {held.name}, which is something else; write "
            "them with save"
        )
    return _EXTENSION_BY_HEAD[head], is_gzip


def _write_parquet(columns: TableColumns, stream: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(to_arrow(columns), stream, compression="zstd")


def _read_parquet(stream: IO[bytes], kind: str) -> TableColumns:
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(in_arrow_memory(stream.read()))
    except OSError as error:  # pyarrow raises this where compressed pages are damaged
        raise ValueError(error) from None
    return from_arrow(table, kind)


def _parquet_header(stream: IO[bytes]) -> Any:  # noqa: ANN401 - what a file says
    import pyarrow.parquet as pq

    return header_in(pq.read_schema(in_arrow_memory(stream.read())))


def _write_csv(columns: TableColumns, stream: IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    stream.write(b"# " + _as_json(header_of(columns)) + b"\n")
    is_first = True
    for part in columns.parts(_ROWS_AT_ONCE):
        cells = {
            name: _sets_as_json(values) if isinstance(values, Sets) else as_arrow(values)
            for name, values in part.values.items()
        }
        pa_csv.write_csv(pa.table(cells), stream, pa_csv.WriteOptions(include_header=is_first))
        is_first = False


def _read_csv(stream: IO[bytes], kind: str) -> TableColumns:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    header = _csv_header(stream)
    items = items_of(header, kind)
    types = {name: pa.string() if of == "sets" else of for name, of in header["columns"].items()}
    body = stream.read()
    if not body.endswith(b"\n"):
        raise ValueError("its last line is not complete")
    table = pa_csv.read_csv(
        in_arrow_memory(body),
        read_options=pa_csv.ReadOptions(block_size=_LONGEST_LINE),
        convert_options=pa_csv.ConvertOptions(column_types=types, include_columns=list(types)),
    )
    rows = table.to_batches(max_chunksize=_ROWS_AT_ONCE)
    values = {
        name: Sets.from_names(_json_lists([batch.column(name).to_pylist() for batch in rows]), items)
        if of == "sets"
        else table.column(name).to_numpy()
        for name, of in header["columns"].items()
    }
    return checked(TableColumns(kind, items, values, facts_of(header)), header)


def _csv_header(stream: IO[bytes]) -> Any:  # noqa: ANN401 - as above
    first_line = stream.readline()
    return json.loads(first_line[1:]) if first_line.startswith(b"#") else None


def _write_jsonl(columns: TableColumns, stream: IO[bytes]) -> None:
    header = b'"itemix": ' + _as_json(header_of(columns))
    if columns.n_rows == 0:
        stream.write(b"{" + header + b"}\n")
        return
    for part in columns.parts(_ROWS_AT_ONCE):
        cells: list[Any] = []
        for name, values in part.values.items():
            text = _sets_as_json(values) if isinstance(values, Sets) else _numbers_as_json(values)
            cells += [f"{', ' if cells else '{'}{json.dumps(name)}: ", text]
        lines = joined(*cells, "}").to_pylist()
        block = "\n".join(lines).encode()
        if header:
            first, newline, rest = block.partition(b"\n")
            block = first[:-1] + b", " + header + b"}" + newline + rest
            header = b""
        stream.write(block + b"\n")


def _read_jsonl(stream: IO[bytes], kind: str) -> TableColumns:
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


def _as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _sets_as_json(sets: Sets) -> pa.Array:
    """Write each set as a JSON list; each name is written once, and then joined."""
    import pyarrow as pa

    names = names_as_arrow(json.dumps(name, ensure_ascii=False) for name in sets.items)
    offsets = as_arrow(sets.offsets.astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, names.take(as_arrow(sets.codes)))
    return joined("[", lists_joined(lists, ", "), "]")


def _numbers_as_json(values: npt.NDArray[Any]) -> pa.Array:
    """Write numbers as JSON. It has neither NaN nor infinity: both are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(as_arrow(values), pa.string())
    is_number = np.isfinite(values)
    return texts if is_number.all() else pc.if_else(as_arrow(is_number), texts, "null")


def _json_lists(parts: Iterable[list[str]]) -> Iterator[list[Any]]:
    """Read JSON lists, many of them in one call."""
    for cells in parts:
        yield from json.loads(f"[{','.join(cells)}]")


class Tabular(Immutable, ABC):
    """A result with columns of sets and of numbers: a subclass names the columns, and gets all formats."""

    __slots__ = ()
    _kind: str

    @abstractmethod
    def _as_columns(self) -> TableColumns:
        """Return everything that a file must hold."""

    @classmethod
    @abstractmethod
    def _from_columns(cls, columns: TableColumns) -> Self:
        """Make the value again from what `_as_columns` returned."""

    @abstractmethod
    def table(self, n: int = ROWS_SHOWN) -> Table:
        """Return the first n rows as a table of text, for people."""

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame with mlxtend's columns and a few more; sets are frozensets of names."""
        return to_pandas(self._as_columns())

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with the columns of `to_pandas`; sets are lists of names."""
        return to_arrow(self._as_columns())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with the columns of `to_pandas`; sets are lists of names.

        Raises
        ------
        MissingExtraError
            If polars is not installed.
        """
        return to_polars(self._as_columns())

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Self:
        """Take the value back out of a table that `to_arrow` made.

        Raises
        ------
        InvalidInputError
            If the table was made by something else or is not complete.
        """
        return cls._from_columns(from_arrow(table, cls._kind))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .parquet, .csv, .jsonl, .csv.gz or .jsonl.gz file, for `load` to give back.

        In CSV the sets are JSON lists, and the first line is a comment that starts with # (pandas reads it
        with ``comment="#"``). In JSON lines, NaN and infinity are null.

        Raises
        ------
        InvalidInputError
            If the extension is another one, or the folder does not exist.
        """
        write(self._as_columns(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Held) -> Self:
        """Read what `save` has written: the value is equal to the one that was saved.

        Raises
        ------
        InvalidInputError
            If there is no such file, it is damaged, or it was not written by `save`.
        """
        return read(path, cls._kind, cls._from_columns)
