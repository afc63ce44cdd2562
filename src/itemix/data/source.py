"""Where bytes come from: a file, a stream or standard input, read once, gunzipped where needed."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import os
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from itemix.errors import InvalidInputError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PathOrStream: TypeAlias = "str | os.PathLike[str] | IO[Any]"

HEAD_SIZE = 1 << 16
BLOCK_SIZE = 1 << 21
_GZIP_MAGIC = b"\x1f\x8b"


class Source(io.RawIOBase):
    """A stream of bytes whose beginning can be looked at before it is read.

    Parameters
    ----------
    stream : binary file object
        Where the bytes come from.
    label : str
        What people call it, for messages.
    path : Path, optional
        The plain, uncompressed file behind the stream, if it is one.
    size : int, optional
        The number of bytes, where it is known.

    Attributes
    ----------
    head : bytes
        The first bytes, at most `HEAD_SIZE`.
    """

    def __init__(self, stream: IO[bytes], label: str, *, path: Path | None = None, size: int = 0) -> None:
        super().__init__()
        self._stream = stream
        self.label = label
        self.path = path
        self.size = size
        self.gzipped = False
        self.head = b""
        self.head = self._read_head()
        self._unread = memoryview(self.head)

    def readable(self) -> bool:
        """Return True: this is what it is for."""
        return True

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

    def text_blocks(self, encoding: str) -> Iterator[str]:
        """Decode the bytes in blocks; a byte order mark is left out.

        Raises
        ------
        InvalidInputError
            If the encoding is unknown, or the bytes are not in it: the message names the line.
        """
        decoder = _decoder(encoding)
        n_bytes = n_lines = 0
        first = True
        while True:
            data = self.read(BLOCK_SIZE)
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                start = n_bytes - (len(error.object) - len(data)) + error.start
                line = n_lines + error.object[: error.start].count(b"\n") + 1
                raise InvalidInputError(self._undecodable(encoding, error, start, line)) from None
            if first and text:
                text = text.removeprefix("\ufeff")
                first = False
            n_bytes += len(data)
            n_lines += text.count("\n")
            if text:
                yield text
            if not data:
                return

    def lines(self, encoding: str) -> Iterator[str]:
        """Decode the bytes line by line; the lines keep their ends."""
        rest: list[str] = []
        for text in self.text_blocks(encoding):
            cut = text.rfind("\n") + 1
            if cut:
                yield from io.StringIO("".join([*rest, text[:cut]]), newline="")
                rest = []
            rest.append(text[cut:])
        yield from io.StringIO("".join(rest), newline="")

    def as_seekable(self) -> IO[bytes]:
        """Return a file object that can seek: the file itself, or its bytes in memory."""
        return self.path.open("rb") if self.path else io.BytesIO(self.readall())

    def _read_head(self) -> bytes:
        buffer = bytearray(HEAD_SIZE)
        self._unread = memoryview(b"")
        return bytes(buffer[: self.readinto(buffer)])

    def _fetch_into(self, view: memoryview) -> int:
        try:
            if hasattr(self._stream, "readinto"):
                got: int = self._stream.readinto(view)
                return got
            data = self._stream.read(len(view))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidInputError(
                f"expected a complete gzip file, got {self.label} which is cut short or damaged "
                f"({_first_words(error)}); copy or download it again"
            ) from None
        view[: len(data)] = data
        return len(data)

    def _undecodable(self, encoding: str, error: UnicodeDecodeError, start: int, line: int) -> str:
        other = "latin-1" if encoding.lower().replace("_", "-") in {"utf-8", "utf8", "ascii"} else "utf-8"
        byte = error.object[error.start]
        return (
            f"expected {encoding} text, got byte 0x{byte:02x} in line {line:,} (byte {start:,}) of {self.label}; "
            f"name its encoding, for example encoding={other!r}"
        )


@contextmanager
def open_source(path: PathOrStream, on_bytes: Callable[[int], None] | None = None) -> Iterator[Source]:
    """Open a path, "-" for standard input, or a file object; gzip is recognised by its first bytes.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If it is a folder, cannot be opened, or is not a file.
    """
    if isinstance(path, str) and path == "-":
        yield _gunzipped(Source(sys.stdin.buffer, "standard input"))
    elif isinstance(path, str | os.PathLike):
        file = Path(path)
        with _open_file(file) as stream:
            yield _gunzipped(Source(stream, file.name, path=file, size=file.stat().st_size))
    elif hasattr(path, "read"):
        yield _gunzipped(Source(_as_binary(path), _stream_label(path)))
    else:
        raise InvalidInputError(
            f"expected a path or a file object, got {type(path).__name__}; for data in memory use Transactions"
        )


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
        if path.is_dir():
            raise InvalidInputError(_folder_message(path)) from None
        raise InvalidInputError(
            f"expected a file that can be read, got {str(path)!r}: {error.strerror}; check its permissions"
        ) from None


def _folder_message(path: Path) -> str:
    inside = sorted(child.name for child in path.iterdir())[:3]
    hint = f"for example {str(path / inside[0])!r}" if inside else "it is empty"
    return f"expected a file to read, got the folder {str(path)!r}; name a file in it, {hint}"


def _hint(path: Path) -> str:
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


def _as_binary(stream: IO[Any]) -> IO[bytes]:
    if hasattr(stream, "buffer"):
        binary: IO[bytes] = stream.buffer
        return binary
    return io.BytesIO(stream.read().encode()) if isinstance(stream, io.TextIOBase) else stream


def _stream_label(stream: IO[Any]) -> str:
    name = getattr(stream, "name", None)
    return Path(name).name if isinstance(name, str) else "a file object"


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        return codecs.getincrementaldecoder(encoding)("strict")
    except LookupError:
        raise InvalidInputError(
            f"expected the name of a text encoding, got {encoding!r}; try 'utf-8' or 'latin-1'"
        ) from None


def _first_words(error: Exception) -> str:
    return str(error).split(" while ")[0].rstrip(".")
