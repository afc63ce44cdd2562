"""Where bytes come from: a file, a stream or standard input, read once, gunzipped where needed."""

from __future__ import annotations

import difflib
import gzip
import io
import os
import re
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from itemix._checks import as_path
from itemix.errors import InvalidInputError, MissingFileError
from itemix.inputs import is_regular, is_standard_input, standard_input, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PathOrStream: TypeAlias = "str | os.PathLike[str] | IO[Any] | Source"

HEAD_SIZE = 1 << 16
BLOCK_SIZE = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_ADDRESS = re.compile(r"(https?|ftp|s3|gs):/")


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
    on_bytes : callable, optional
        Told how many bytes have been read since the last call.

    Attributes
    ----------
    head : bytes
        The first bytes, `HEAD_SIZE` of them if there are so many, or more after `look_further`.
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

    def look_further(self) -> bool:
        """Make the head twice as long, before anything is read; return whether there were more bytes."""
        more = self._read_head(len(self.head))
        self.head += more
        self._unread = memoryview(self.head)
        return bool(more)

    def look_at_all(self) -> bytes:
        """Make the head as long as all there is, before anything is read, and return it."""
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

    What is no regular file is read once, from one handle. A source that is open already stays as it is.

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
            f"expected a file that can be read, got {str(path)!r}: {error.strerror}; check its rights"
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
