"""Bytes to text: decoded in blocks, with the line named where that fails."""

from __future__ import annotations

import codecs
import csv
import io
from typing import TYPE_CHECKING, Any

from itemix.data.source import BLOCK_SIZE
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.data.source import Source

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
        yield from io.StringIO(text, newline="")


def line_blocks(source: Source, encoding: str, *, skip: int = 0) -> Iterator[bytes]:
    """Yield blocks of whole lines in UTF-8, each line with its line feed; the first `skip` are left out."""
    for text in _whole_lines(source, encoding):
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
    rows = csv.reader(text_lines(source, encoding), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        yield from rows
    except csv.Error as error:
        raise InvalidInputError(
            f"expected cells with matching quotes, got {error} in line {rows.line_num:,} of {source.label}; "
            "double the quotes that belong to a name"
        ) from None


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
        cut = text.rfind("\n") + 1
        if cut:
            yield "".join([*rest, text[:cut]])
            rest = []
        rest.append(text[cut:])
    yield "".join(rest)


def _other_encoding(encoding: str) -> str:
    return "latin-1" if encoding.lower().replace("-", "").replace("_", "") in _ASCII_LIKE else "utf-8"
