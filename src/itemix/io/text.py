"""Bytes to text: decoded in blocks, with the line named where that fails."""

from __future__ import annotations

import codecs
import csv
import io
from typing import TYPE_CHECKING, Any

from itemix.errors import InvalidInputError
from itemix.io.source import BLOCK_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.io.source import Source

_LONGEST_PART = 1 << 16
# Codecs of Python that write text in other text, not in bytes of a file.
_NO_ENCODINGS = {"idna", "punycode", "unicode-escape", "raw-unicode-escape"}
_ASCII_LIKE = {"utf8", "ascii", "usascii"}


def text_blocks(source: Source, encoding: str) -> Iterator[str]:
    """Decode the bytes of a source in blocks; a byte order mark is left out.

    Where lines end in carriage returns alone, as on old Macs, they end in line feeds afterwards.

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
    """Split a source into the cells of rows, long rows in several parts, and say with which part a row ends.

    Raises
    ------
    InvalidInputError
        As in `csv_rows`.
    """
    parts = _Parts(text_lines(source, encoding), delimiter)
    rows = csv.reader(parts, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in rows:
            # A part ends with a delimiter, after which the reader sees one more cell that is empty.
            yield (cells, True) if parts.is_end_of_line else (cells[:-1], False)
    except csv.Error as error:
        where = f"in line {parts.n_lines:,} of {source.label}"
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
    """Lines, of which long ones come in several parts that each end with a delimiter.

    All cells of a row are strings that live at once; those of a part are far fewer.
    """

    def __init__(self, lines: Iterator[str], delimiter: str) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._line = ""
        self._start = 0
        self.n_lines = 0

    @property
    def is_end_of_line(self) -> bool:
        """Whether the last part was the end of its line."""
        return self._start == len(self._line)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.is_end_of_line:
            self._line, self._start = next(self._lines), 0
            self.n_lines += 1
        start, self._start = self._start, len(self._line)
        if len(self._line) - start > _LONGEST_PART:
            cut = self._line.find(self._delimiter, start + _LONGEST_PART) + 1
            self._start = cut or len(self._line)
        return self._line[start : self._start]


def decoder_of(encoding: str) -> codecs.IncrementalDecoder:
    """Return a decoder that refuses what is not in the encoding.

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
        """Return True: this is what it is for."""
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
