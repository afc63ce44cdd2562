"""Sources of bytes: a file, a stream or standard input, read once, unpacked if gzipped, and decoded to text.

Text is decoded in blocks. An error names the line where decoding fails.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import os
import re
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from itemix._files import as_path, is_regular, is_standard_input, standard_input, wait_for
from itemix._runtime import progress_of
from itemix.errors import InvalidInputError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


PathOrStream: TypeAlias = "str | os.PathLike[str] | IO[Any] | Source"

HEAD_SIZE = 1 << 16
BLOCK_SIZE = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_ADDRESS = re.compile(r"(https?|ftp|s3|gs):/")
_LONGEST_PART = 1 << 16
_AT_ONCE = 1 << 30
# Codecs of Python that write text as other text, not as bytes of a file.
_NO_ENCODINGS = {"idna", "punycode", "unicode-escape", "raw-unicode-escape"}
_ASCII_LIKE = {"utf8", "ascii", "usascii"}


class Source(io.RawIOBase):
    """A stream of bytes whose beginning can be looked at before it is read.

    Parameters
    ----------
    stream : binary file object
        Where the bytes come from.
    label : str
        Its name, for messages.
    path : Path, optional
        The plain, uncompressed file behind the stream, if there is one.
    size : int, optional
        The number of bytes, if it is known.
    on_bytes : callable, optional
        Called with the number of bytes read since the last call.

    Attributes
    ----------
    head : bytes
        The first bytes: up to `HEAD_SIZE` of them, and more after `look_further`.
    """

    def __init__(
        self,
        stream: IO[bytes],
        label: str,
        *,
        path: Path | None = None,
        size: int = 0,
        on_bytes: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__()
        self._stream = stream
        self.label = label
        self.path = path
        self.size = size
        self.on_bytes = on_bytes
        self.gzipped = False
        self.head = b""
        self.head = self._read_head()
        self._unread = memoryview(self.head)

    def readable(self) -> bool:
        """Return True: streams of Python ask for it."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, read in parts: damaged files ask for far more than there are."""
        if size <= _AT_ONCE:
            return super().read(size) or b""
        parts = []
        while size > 0 and (part := super().read(min(size, _AT_ONCE))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """Fill a buffer as far as there are bytes, and return how many there were."""
        view = memoryview(buffer).cast("B")
        filled = min(len(view), len(self._unread))
        view[:filled] = self._unread[:filled]
        self._unread = self._unread[filled:]
        while filled < len(view):
            got = self._fetch_into(view[filled:])
            if not got:
                break
            filled += got
        return filled

    def look_further(self) -> bool:
        """Make the head twice as long, before anything is read; return whether there were more bytes."""
        more = self._read_head(len(self.head))
        self.head += more
        self._unread = memoryview(self.head)
        return bool(more)

    def look_at_all(self) -> bytes:
        """Take everything into the head, before anything is read, and return it."""
        while self.look_further():
            pass
        return self.head

    def _read_head(self, size: int = HEAD_SIZE) -> bytes:
        buffer = bytearray(size)
        self._unread = memoryview(b"")
        return bytes(buffer[: self.readinto(buffer)])

    def _fetch_into(self, view: memoryview) -> int:
        try:
            while (got := self._stream.readinto(view)) is None:  # type: ignore[attr-defined]
                wait_for(self._stream)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidInputError(
                f"expected a complete gzip file, got {self.label} which is cut short or damaged "
                f"({_first_words(error)}); copy or download it again"
            ) from None
        if self.on_bytes is not None:
            self.on_bytes(got)
        return int(got)


@contextmanager
def open_source(path: PathOrStream, on_bytes: Callable[[int], None] | None = None) -> Iterator[Source]:
    """Open a path, "-" for standard input, or a file object; gzip is recognised by its first bytes.

    A stream is read once, from one handle. A source that is open already stays as it is.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If it is a folder, cannot be opened, or is neither a path nor a file object.
    """
    if isinstance(path, Source):
        path.on_bytes = on_bytes
        yield path
    elif is_standard_input(path):
        yield _gunzipped(Source(_as_binary(standard_input()), "standard input", on_bytes=on_bytes))
    elif isinstance(path, str | os.PathLike):
        if not os.fspath(path):
            raise InvalidInputError("expected a file to read, got an empty name; name a file")
        file = as_path(path)
        with _open_file(file) as stream:
            plain = file if is_regular(file) else None
            size = file.stat().st_size if plain else 0
            yield _gunzipped(Source(stream, file.name, path=plain, size=size, on_bytes=on_bytes))
    elif hasattr(path, "read"):
        _refuse_unreadable(path)
        yield _gunzipped(Source(_as_binary(path), _stream_label(path), on_bytes=on_bytes))
    else:
        raise InvalidInputError(
            f"expected a path or a file object, got {type(path).__name__}; for lists use Transactions"
        )


def _refuse_unreadable(stream: Any) -> None:  # noqa: ANN401 - whatever can read
    is_closed = getattr(stream, "closed", False)
    if is_closed or (hasattr(stream, "readable") and not stream.readable()):
        got = "a closed one" if is_closed else "one for writing"
        raise InvalidInputError(f"expected an open file object to read, got {got}; open it again")


def encoding_of(path: PathOrStream, encoding: str) -> str:
    """Return the encoding of what is read: a text stream knows its own."""
    if isinstance(path, io.TextIOBase):
        return path.encoding or "utf-8"
    return encoding


def _open_file(path: Path) -> IO[bytes]:
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise MissingFileError(
            f"expected a file to read, got no such file {str(path)!r}; {_hint(path)}"
        ) from None
    except IsADirectoryError:
        raise InvalidInputError(_folder_message(path)) from None
    except OSError as error:
        if isinstance(error, PermissionError) and path.is_dir():
            raise InvalidInputError(_folder_message(path)) from None
        raise InvalidInputError(
            f"expected a file that can be read, got {str(path)!r}: {error.strerror}; check its permissions"
        ) from None


def _folder_message(path: Path) -> str:
    inside = sorted(child.name for child in path.iterdir())[:3]
    hint = f"for example {str(path / inside[0])!r}" if inside else "it is empty"
    return f"expected a file to read, got the folder {str(path)!r}; name a file in it, {hint}"


def _hint(path: Path) -> str:
    if _ADDRESS.match(str(path)):
        return "download it first"
    if not path.parent.is_dir():
        return f"there is no folder {str(path.parent)!r} either"
    near = difflib.get_close_matches(path.name, [child.name for child in path.parent.iterdir()], n=1)
    return f"did you mean {str(path.with_name(near[0]))!r}?" if near else "check the name and the folder"


def _gunzipped(source: Source) -> Source:
    if not source.head.startswith(_GZIP_MAGIC):
        return source
    inside = Source(gzip.GzipFile(fileobj=source), source.label)  # type: ignore[arg-type]
    inside.gzipped = True
    return inside


def _as_binary(stream: Any) -> IO[bytes]:  # noqa: ANN401 - whatever can read
    stream = getattr(stream, "buffer", stream)
    if hasattr(stream, "readinto"):
        binary: IO[bytes] = stream
        return binary
    content = stream.read()
    return io.BytesIO(content.encode() if isinstance(content, str) else content)


def _stream_label(stream: IO[Any]) -> str:
    name = getattr(stream, "name", None)
    return Path(name).name if isinstance(name, str) else "a file object"


def _first_words(error: Exception) -> str:
    return str(error).split(" while ")[0].rstrip(".")


def text_blocks(source: Source, encoding: str) -> Iterator[str]:
    """Decode the bytes of a source in blocks; a byte order mark is left out.

    Carriage returns that end lines alone, as on old Macs, become line feeds.

    Raises
    ------
    InvalidInputError
        If the encoding is unknown, or the bytes are not in it: the message names the line.
    """
    decoder = decoder_of(encoding)
    n_bytes = n_lines = 0
    returns_only = False
    while True:
        data = source.read(BLOCK_SIZE) or b""
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            start = n_bytes - (len(error.object) - len(data)) + error.start
            line = n_lines + error.object[: error.start].count(b"\n") + 1
            raise InvalidInputError(
                f"expected {encoding} text, got byte 0x{error.object[error.start]:02x} in line {line:,} "
                f"(byte {start:,}) of {source.label}; try encoding={_other_encoding(encoding)!r}"
            ) from None
        except UnicodeError as error:
            reason = " ".join(str(error).split())
            raise InvalidInputError(
                f"expected {encoding} text, got {source.label} which is not ({reason}); "
                f"try encoding={_other_encoding(encoding)!r}"
            ) from None
        if n_bytes == 0:
            text = text.removeprefix("\ufeff")
            returns_only = "\r" in text and "\n" not in text
        if returns_only:
            text = text.replace("\r", "\n")
        yield text
        n_bytes += len(data)
        n_lines += text.count("\n")
        if not data:
            return


def text_lines(source: Source, encoding: str) -> Iterator[str]:
    """Decode a source line by line; the lines keep their ends."""
    for text in _whole_lines(source, encoding):
        # A StringIO takes four bytes for each character: too much for a line of many megabytes.
        if len(text) > BLOCK_SIZE and _is_one_line(text):
            yield text
        else:
            yield from io.StringIO(text, newline="")


def line_blocks(source: Source, encoding: str, *, skip: int = 0) -> Iterator[bytes]:
    """Yield blocks of whole lines in UTF-8, each line with its line feed; the first `skip` are left out."""
    for text in _whole_lines(source, encoding):
        kept = text
        if skip:
            lines = io.StringIO(text, newline="")
            while skip and lines.readline():
                skip -= 1
            kept = lines.read()
        if kept:
            yield (kept if kept.endswith("\n") else kept + "\n").encode()


def csv_rows(source: Source, encoding: str, delimiter: str) -> Iterator[list[str]]:
    """Split a source into rows of cells; quoted cells may hold delimiters and line feeds.

    Raises
    ------
    InvalidInputError
        If the quotes do not match; the message names the line.
    """
    whole: list[str] = []
    for cells, is_whole in csv_parts(source, encoding, delimiter):
        if is_whole:
            yield [*whole, *cells] if whole else cells
            whole = []
        else:
            whole += cells


def csv_parts(source: Source, encoding: str, delimiter: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the cells of the rows of CSV, long rows in several parts, and whether the row ends with a part.

    Raises
    ------
    InvalidInputError
        As in `csv_rows`.
    """
    parts = _Parts(text_lines(source, encoding), delimiter)
    rows = csv.reader(parts, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in rows:
            # A part ends with a delimiter, and the reader sees one more empty cell after it.
            yield (cells, True) if parts.is_end_of_line else (cells[:-1], False)
    except csv.Error as error:
        where = f"in line {rows.line_num - parts.n_cuts:,} of {source.label}"
        if "field limit" in str(error):
            raise InvalidInputError(
                f"expected cells of at most {csv.field_size_limit():,} characters, got a longer one {where}; "
                "close its quotes, or name the right delimiter="
            ) from None
        raise InvalidInputError(
            f"expected cells with matching quotes, got {error} {where}; double the quotes that belong to a "
            "name"
        ) from None


class _Parts:
    """Lines of text; a long line comes in several parts that each end with a delimiter.

    The cells of a row are all in memory at once, and a part has far fewer of them. `is_end_of_line` says
    whether the last part was the end of its line.
    """

    def __init__(self, lines: Iterator[str], delimiter: str) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self.n_cuts = 0
        self.is_end_of_line = True

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            if len(line) <= _LONGEST_PART:
                yield line
                continue
            self.is_end_of_line = False
            start = 0
            while len(line) - start > _LONGEST_PART:
                end = line.find(self._delimiter, start + _LONGEST_PART) + 1
                if not 0 < end < len(line):
                    break
                self.n_cuts += 1
                yield line[start:end]
                start = end
            self.is_end_of_line = True
            yield line[start:]


def decoder_of(encoding: str) -> codecs.IncrementalDecoder:
    """Return a decoder that refuses bytes that are not in the encoding.

    Raises
    ------
    InvalidInputError
        If there is no such encoding.
    """
    try:
        "".encode(encoding)
        decoder = codecs.getincrementaldecoder(encoding)("strict")
        is_of_files = codecs.lookup(encoding).name not in _NO_ENCODINGS
    except (LookupError, TypeError, ValueError):
        is_of_files = False
    if not is_of_files:
        raise InvalidInputError(
            f"expected the name of a text encoding, got {encoding!r}; try 'utf-8' or 'latin-1'"
        )
    return decoder


def is_plain(source: Source, encoding: str) -> bool:
    """Whether digits, blanks and line feeds are the same bytes as in ASCII, and there are line feeds."""
    is_ascii = "0 \n".encode(encoding) == b"0 \n" and not source.head.startswith(codecs.BOM_UTF8)
    return is_ascii and (b"\n" in source.head or b"\r" not in source.head)


class Utf8Stream(io.RawIOBase):
    """The text of a source as UTF-8 bytes, checked as they are read and without a byte order mark."""

    def __init__(self, source: Source, encoding: str) -> None:
        super().__init__()
        self._blocks = (text.encode() for text in text_blocks(source, encoding))
        self._unread = memoryview(b"")

    def readable(self) -> bool:
        """Return True: streams of Python ask for it."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """Fill a buffer as far as there are bytes, and return how many there were."""
        view = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(view):
            if not self._unread:
                self._unread = memoryview(next(self._blocks, b""))
            n = min(len(view) - filled, len(self._unread))
            if n == 0:
                break
            view[filled : filled + n] = self._unread[:n]
            self._unread = self._unread[n:]
            filled += n
        return filled


def _whole_lines(source: Source, encoding: str) -> Iterator[str]:
    rest: list[str] = []
    for text in text_blocks(source, encoding):
        start, stop = 0, text.rfind("\n") + 1
        if stop and len(rest) > 1:  # a line of several blocks comes by itself
            start = text.find("\n") + 1
            yield "".join([*rest, text[:start]])
            rest = []
        if stop > start:
            yield "".join([*rest, text[start:stop]])
            rest = []
        rest.append(text[stop:])
    yield "".join(rest)


def _is_one_line(text: str) -> bool:
    ends = [text.find(end) for end in "\r\n"]
    return all(end < 0 or end >= len(text) - 2 for end in ends)


def _other_encoding(encoding: str) -> str:
    return "latin-1" if encoding.lower().replace("-", "").replace("_", "") in _ASCII_LIKE else "utf-8"


@contextmanager
def byte_progress(path: PathOrStream) -> Iterator[Callable[[int], None]]:
    """Show how much of a file was read; yield a function to call with numbers of bytes."""
    is_file = isinstance(path, str | os.PathLike)
    total = Path(path).stat().st_size if is_file and is_regular(path) else None  # type: ignore[arg-type]
    n_read = 0
    name = Path(path).name if is_file else "the stream"  # type: ignore[arg-type]
    with progress_of(f"reading {name}") as progress:

        def tell(n_bytes: int) -> None:
            nonlocal n_read
            n_read += n_bytes
            assert progress is not None  # noqa: S101 - it is shown
            progress.tell(_megabytes(n_read, total), n_read, total)

        yield tell


def _megabytes(n_bytes: int, total: int | None) -> str:
    """Write a number of bytes, and of how many."""
    from rich.filesize import pick_unit_and_suffix

    unit, suffix = pick_unit_and_suffix(total or n_bytes, ["bytes", "kB", "MB", "GB", "TB"], 1000)
    digits = 0 if unit == 1 else 1
    whole = f"/{total / unit:,.{digits}f}" if total else ""
    return f"{n_bytes / unit:,.{digits}f}{whole} {suffix}"
