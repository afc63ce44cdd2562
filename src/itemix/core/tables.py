"""Itemsets and rules in files: Parquet, CSV and JSON lines, told apart by the extension.

Each file says what it is in a header (see `exchange.header_of`), so that reading gives equal values back:
Parquet in its metadata, CSV in a first line that starts with #, JSON lines under the key "itemix" of the
first row. Sets are lists in Parquet and JSON lines, and JSON lists in CSV. All else is plain, for other tools
to read.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import zlib
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._checks import as_path
from itemix._files import checked_target, replacing
from itemix.arrow import as_arrow, joined, lists_joined, names_as_arrow
from itemix.core import exchange
from itemix.core.exchange import Columns
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError, MissingFileError
from itemix.inputs import Held, hold, is_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from itemix.inputs import PathLike

T = TypeVar("T")

_ROWS_AT_ONCE = 50_000
_LONGEST_LINE = 1 << 24
_GZIP_MAGIC = b"\x1f\x8b"
_EXTENSION_BY_HEAD = {b"P": ".parquet", b"#": ".csv", b"{": ".jsonl"}


class _Format(NamedTuple):
    write: Callable[[Columns, IO[bytes]], None]
    read: Callable[[IO[bytes], str], Columns]
    read_header: Callable[[IO[bytes]], Any]


def check_path(path: PathLike) -> None:
    """Check that a file of this name can be written; call it first where the work before is long.

    Raises
    ------
    InvalidInputError
        If the extension is not known or the folder does not exist.
    """
    _format_of(path)
    checked_target(path)


def write(columns: Columns, path: PathLike) -> None:
    """Write columns to a file; an old file stays until the new one is complete.

    Raises
    ------
    InvalidInputError
        If the extension is not known or the folder does not exist.
    """
    chosen, is_gzip = _format_of(path)
    with replacing(path) as temporary, temporary.open("wb") as raw:
        # No name and no time in the gzip header: the same itemsets give the same bytes.
        stream: Any = gzip.GzipFile("", "wb", 6, raw, mtime=0) if is_gzip else contextlib.nullcontext(raw)
        with stream as binary:
            try:
                chosen.write(columns, binary)
            except UnicodeEncodeError as error:
                raise InvalidInputError(
                    f"expected item names that are valid Unicode, got {error.object!r}; rename that item"
                ) from None


def read(path: PathLike | Held, kind: str, make: Callable[[Columns], T]) -> T:
    """Read columns that `write` has written, and make the value that they are of.

    Raises
    ------
    InvalidInputError
        If there is no such file, or it is damaged, of another kind or not one of ours.
    """
    source = _held_if_stream(path)
    name = source.name if isinstance(source, Held) else source
    chosen, is_gzip = _format_of(source)
    try:
        with _opened(source, is_gzip) as binary:
            return make(chosen.read(binary, kind))
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}") from None
    except (FileNotFoundError, IsADirectoryError):
        raise MissingFileError(
            f"expected a file of {kind}, got {str(name)!r}, which is none; check the name"
        ) from None
    except (EOFError, zlib.error, ValueError, KeyError, TypeError, gzip.BadGzipFile) as error:
        reason = " ".join(str(error).split())[:120]
        raise InvalidInputError(
            f"{name}: expected {kind} written by itemix, got a damaged file ({reason}); write it again"
        ) from None


def kind_of(path: PathLike | Held) -> str | None:
    """Return what `write` has written to a file, "itemsets" or "rules", or None if it is another file."""
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


def _held_if_stream(path: PathLike | Held) -> PathLike | Held:
    return path if isinstance(path, Held) or not is_stream(as_path(path)) else hold(path)


@contextlib.contextmanager
def _opened(source: PathLike | Held, is_gzip: bool) -> Iterator[IO[bytes]]:
    """Open a file, or the bytes of a stream, and unpack them."""
    with io.BytesIO(source.data) if isinstance(source, Held) else Path(source).open("rb") as raw:
        stream: Any = gzip.GzipFile(fileobj=raw) if is_gzip else contextlib.nullcontext(raw)
        with stream as binary:
            yield binary


def _format_of(source: PathLike | Held) -> tuple[_Format, bool]:
    """Return the format, and whether it is packed: by the name of a file, or the first byte of a stream."""
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


def _write_parquet(columns: Columns, stream: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(exchange.to_arrow(columns), stream, compression="zstd")


def _read_parquet(stream: IO[bytes], kind: str) -> Columns:
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(exchange.in_arrow_memory(stream.read()))
    except OSError as error:  # what pyarrow calls damage to the compressed pages
        raise ValueError(error) from None
    return exchange.from_arrow(table, kind)


def _parquet_header(stream: IO[bytes]) -> Any:  # noqa: ANN401 - what a file says
    import pyarrow.parquet as pq

    return exchange.header_in(pq.read_schema(exchange.in_arrow_memory(stream.read())))


def _write_csv(columns: Columns, stream: IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    stream.write(b"# " + _as_json(exchange.header_of(columns)) + b"\n")
    is_first = True
    for part in columns.parts(_ROWS_AT_ONCE):
        cells = {
            name: _sets_as_json(values) if isinstance(values, Sets) else as_arrow(values)
            for name, values in part.values.items()
        }
        pa_csv.write_csv(pa.table(cells), stream, pa_csv.WriteOptions(include_header=is_first))
        is_first = False


def _read_csv(stream: IO[bytes], kind: str) -> Columns:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    header = _csv_header(stream)
    items = exchange.items_of(header, kind)
    types = {name: pa.string() if of == "sets" else of for name, of in header["columns"].items()}
    body = stream.read()
    if not body.endswith(b"\n"):
        raise ValueError("its last line is not complete")
    table = pa_csv.read_csv(
        exchange.in_arrow_memory(body),
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
    return exchange.checked(Columns(kind, items, values, exchange.facts_of(header)), header)


def _csv_header(stream: IO[bytes]) -> Any:  # noqa: ANN401 - as above
    first_line = stream.readline()
    return json.loads(first_line[1:]) if first_line.startswith(b"#") else None


def _write_jsonl(columns: Columns, stream: IO[bytes]) -> None:
    header = b'"itemix": ' + _as_json(exchange.header_of(columns))
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


def _read_jsonl(stream: IO[bytes], kind: str) -> Columns:
    first_row, header = _jsonl_start(stream)
    items = exchange.items_of(header, kind)
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
    return exchange.checked(Columns(kind, items, values, exchange.facts_of(header)), header)


def _jsonl_start(stream: IO[bytes]) -> tuple[Any, Any]:
    """Return the first row, and the header that it carries."""
    first_row = json.loads(stream.readline() or b"null")
    header = first_row.pop("itemix", None) if isinstance(first_row, dict) else None
    return first_row, header


def _as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _sets_as_json(sets: Sets) -> pa.Array:
    """Write each set as a JSON list, by joining the names after each was written once."""
    import pyarrow as pa

    names = names_as_arrow(json.dumps(name, ensure_ascii=False) for name in sets.items)
    offsets = as_arrow(sets.offsets.astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, names.take(as_arrow(sets.codes)))
    return joined("[", lists_joined(lists, ", "), "]")


def _numbers_as_json(values: npt.NDArray[Any]) -> pa.Array:
    """Write numbers as JSON, which has neither NaN nor infinity: both are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(as_arrow(values), pa.string())
    is_number = np.isfinite(values)
    return texts if is_number.all() else pc.if_else(as_arrow(is_number), texts, "null")


def _json_lists(parts: Iterable[list[str]]) -> Iterator[list[Any]]:
    """Read JSON lists, many of them in one call."""
    for cells in parts:
        yield from json.loads(f"[{','.join(cells)}]")
