"""Where input comes from: regular files, and streams, which give each byte only once.

Standard input, pipes and devices are streams. A stream is opened once and read to its end from that one
handle. Only a regular file may be looked at before it is read.
"""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from itemix.errors import InvalidInputError

PathLike: TypeAlias = "str | os.PathLike[str]"

_BLOCK_SIZE = 1 << 20
_STANDARD_INPUT = "/dev/stdin"
# On some systems a file that is opened by such a name goes on where the handle stands.
_HANDLES = ("/dev/fd/", "/proc/self/fd/")


class Held(NamedTuple):
    """All bytes of a stream, and what people call it."""

    name: str
    data: bytes


def is_standard_input(path: object) -> bool:
    """Whether a path means standard input: "-" does, and /dev/stdin."""
    return path == "-" or (isinstance(path, str | os.PathLike) and os.fspath(path) == _STANDARD_INPUT)


def is_regular(path: PathLike) -> bool:
    """Whether a path is that of a regular file, which may be read again and again."""
    is_handle = is_standard_input(path) or os.fspath(path).startswith(_HANDLES)
    return not is_handle and Path(path).is_file()


def is_stream(path: PathLike) -> bool:
    """Whether a path is that of something to be read only once: standard input, a pipe, a device."""
    if is_standard_input(path):
        return True
    file = Path(path)
    return not is_regular(file) and file.exists() and not file.is_dir()


def standard_input() -> IO[bytes]:
    """Return standard input as bytes.

    Raises
    ------
    InvalidInputError
        If it is closed.
    """
    if sys.stdin is None:
        raise InvalidInputError("expected standard input to read, got a closed one; name a file")
    stream: Any = sys.stdin
    binary: IO[bytes] = getattr(stream, "buffer", stream)
    return binary


def hold(path: PathLike) -> Held:
    """Read a stream to its end."""
    if is_standard_input(path):
        return Held("standard input", _read_all(standard_input()))
    with Path(path).open("rb", buffering=0) as stream:
        return Held(str(path), _read_all(stream))


def wait_for(stream: IO[bytes]) -> None:
    """Wait until a stream that does not wait by itself has something to read, or ends."""
    select.select([stream], [], [])


def _read_all(stream: IO[bytes]) -> bytes:
    parts: list[bytes] = []
    while True:
        part: bytes | None = stream.read(_BLOCK_SIZE)
        if part is None:
            wait_for(stream)
        elif part:
            parts.append(part)
        else:
            return b"".join(parts)


def refuse_repeated(*paths: object) -> None:
    """Refuse a stream that is named twice: the second reading would find nothing, or wait for ever.

    Raises
    ------
    InvalidInputError
        If two of the paths name the same stream.
    """
    seen: set[object] = set()
    for path in paths:
        identity = _identity(path) if isinstance(path, str | os.PathLike) else None
        if identity in seen:
            shown = "standard input" if is_standard_input(path) else repr(str(path))
            raise InvalidInputError(
                f"expected each stream once, as it can be read only once, got {shown} a second time; "
                "save it as a file first"
            )
        if identity is not None:
            seen.add(identity)


def _identity(path: PathLike) -> object:
    """Return what tells one stream from another, or None for what is no stream."""
    try:
        if is_standard_input(path):
            status = os.fstat(standard_input().fileno())
        elif is_stream(path):
            status = Path(path).stat()
        else:
            return None
    except (OSError, AttributeError):  # standard input that is no file of the system
        return "standard input"
    return status.st_dev, status.st_ino
