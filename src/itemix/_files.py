"""Files to read and to write: streams that can be read only once, and writes that lose nothing.

Standard input, pipes and devices are streams. A stream is opened once and read to its end from that one
handle. Only a regular file may be looked at before it is read.

A file is written under a temporary name first, and renamed when it is complete and on disk. Whoever writes a
temporary file holds a lock on it, which the system takes away from a process that was killed. So the next
write to the same name can tell what is left over from what another process is writing.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import secrets
import select
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

from itemix.errors import InvalidInputError, ItemixError, OutputError

if sys.platform != "win32":  # Windows has no such locks: there, what a killed process has left stays
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

PathLike: TypeAlias = "str | os.PathLike[str]"

_BLOCK_SIZE = 1 << 20
_STANDARD_INPUT = "/dev/stdin"
# On some systems, a file that is opened by such a name is read from where the handle stands.
_HANDLES = ("/dev/fd/", "/proc/self/fd/")
_NAME_KEPT = 32
_TOKEN_BYTES = 4
_UNFINISHED: set[Path] = set()


class Held(NamedTuple):
    """All bytes of a stream, and its name for messages."""

    name: str
    data: bytes


def as_path(path: object) -> Path:
    """Return the path of a file.

    Raises
    ------
    InvalidInputError
        If it is not a name, or one that no file can have: too long, or with a zero byte.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"expected the name of a file, got {path!r}; try 'baskets.csv'")
    try:
        os.lstat(path)
    except ValueError:
        raise InvalidInputError(
            f"expected a name that a file can have, got {os.fspath(path)!r:.60}; try 'baskets.csv'"
        ) from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInputError(
                f"expected a name that a file can have, got one of {len(os.fspath(path)):,} letters; "
                "try a shorter one"
            ) from None
    return Path(path)


def is_standard_input(path: object) -> bool:
    """Whether a path means standard input: "-" or /dev/stdin."""
    return path == "-" or (isinstance(path, str | os.PathLike) and os.fspath(path) == _STANDARD_INPUT)


def is_regular(path: PathLike) -> bool:
    """Whether a path names a regular file, which may be read again and again."""
    is_handle = is_standard_input(path) or os.fspath(path).startswith(_HANDLES)
    return not is_handle and as_path(path).is_file()


def is_stream(path: PathLike) -> bool:
    """Whether a path names something that can be read only once: standard input, a pipe, a device."""
    if is_standard_input(path):
        return True
    file = as_path(path)
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
    """Refuse a stream that is named twice: to read it again would give nothing, or wait for ever.

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
    """Return what tells one stream from another, or None if the path is not a stream."""
    try:
        if is_standard_input(path):
            status = os.fstat(standard_input().fileno())
        elif is_stream(path):
            status = Path(path).stat()
        else:
            return None
    except (OSError, AttributeError):  # standard input that was replaced by an object without a handle
        return "standard input"
    return status.st_dev, status.st_ino


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure.

    An old file stays as it was until the new one is complete and on disk, also when the disk is full or the
    power fails. What a killed process has left of an earlier write is removed. A target that is not a plain
    file (a terminal, a pipe) is written directly.

    Raises
    ------
    InvalidInputError
        If the folder of `path` does not exist, or `path` is itself a folder.
    OutputError
        If the file cannot be written, for example because the disk is full.
    """
    target = checked_target(path)
    try:
        if target.exists() and not target.is_file():
            yield target
        else:
            yield from _beside(target)
    except OSError as error:
        if isinstance(error, ItemixError):
            raise
        raise OutputError(
            f"expected to write {str(target)!r}, got {error.strerror or error}; "
            "nothing was changed: try another folder, or make room"
        ) from error


@contextmanager
def scratch_file() -> Iterator[IO[bytes]]:
    """Yield a file without a name, which is gone afterwards, however the process ends.

    Raises
    ------
    OutputError
        If the disk is full.
    """
    with room_for_scratch(), new_scratch() as file:
        yield file


def new_scratch() -> IO[bytes]:
    """Return a file without a name, which is gone when it is closed, or with the process."""
    file: Any = tempfile.TemporaryFile(prefix="itemix-")  # noqa: SIM115 - whoever asked for it closes it
    return file  # type: ignore[no-any-return]


@contextmanager
def room_for_scratch() -> Iterator[None]:
    """If the disk is full of temporary files, raise an error that says what helps.

    Raises
    ------
    OutputError
        If it is.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, ItemixError) or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise OutputError(
            f"expected room for temporary files in {tempfile.gettempdir()!r}, got {error.strerror}; make "
            "room, or name another folder in the environment variable TMPDIR"
        ) from error


def mapped(file: IO[bytes], start: int, dtype: npt.DTypeLike, n: int) -> npt.NDArray[Any]:
    """Return a file as an array that is read as needed. The system may take its memory back at any time."""
    import numpy as np

    size = n * np.dtype(dtype).itemsize
    if not size:
        return np.empty(0, dtype=dtype)
    skipped = start % mmap.ALLOCATIONGRANULARITY
    pages = mmap.mmap(file.fileno(), skipped + size, access=mmap.ACCESS_READ, offset=start - skipped)
    return np.frombuffer(pages, dtype, n, skipped)


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return where a file will be written, links followed; call it before long work, to fail early.

    Raises
    ------
    InvalidInputError
        If the folder of `path` does not exist, or `path` is itself a folder, or not a file name.
    """
    target = Path(os.path.realpath(as_path(path)))
    if not target.parent.is_dir():
        raise InvalidInputError(
            f"expected an existing folder to write to, got {str(target.parent)!r}; create it first"
        )
    if target.is_dir():
        raise InvalidInputError(
            f"expected a file to write to, got the folder {str(target)!r}; add a file name"
        )
    return target


def remove_unfinished() -> None:
    """Remove the temporary files of this process, which is about to end."""
    for temporary in tuple(_UNFINISHED):
        with suppress(OSError):
            temporary.unlink()


def _beside(target: Path) -> Iterator[Path]:
    _remove_left_over(target)
    temporary, opened = _new_temporary(target)
    _UNFINISHED.add(temporary)
    try:
        yield temporary
        if target.exists():
            shutil.copymode(target, temporary)
        os.fsync(opened)
        if sys.platform == "win32":  # an open file cannot be renamed there
            os.close(opened)
            opened = -1
        temporary.replace(target)
        _sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    finally:
        _UNFINISHED.discard(temporary)
        if opened >= 0:
            os.close(opened)


def _temporary_name(target: Path, token: str) -> str:
    # The ending stays: some writers choose the format and the compression by it.
    return f".{target.name[:_NAME_KEPT]}-{token}.tmp{''.join(target.suffixes[-2:])}"


def _new_temporary(target: Path) -> tuple[Path, int]:
    """Make a temporary file, and return it with the descriptor that holds its lock."""
    while True:
        temporary = target.with_name(_temporary_name(target, secrets.token_hex(_TOKEN_BYTES)))
        opened = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        _lock(opened, wait=True)
        if sys.platform == "win32" or os.fstat(opened).st_nlink > 0:
            return temporary, opened
        os.close(opened)  # another writer was quicker: it took the file for a left-over one and removed it


def _remove_left_over(target: Path) -> None:
    """Remove the temporary files of writes to the same name, unless somebody still writes them."""
    mark = "0" * 2 * _TOKEN_BYTES
    pattern = re.escape(_temporary_name(target, mark)).replace(mark, f"[0-9a-f]{{{2 * _TOKEN_BYTES}}}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if re.fullmatch(pattern, entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unless_locked(entry.path)


def _remove_unless_locked(path: str) -> None:
    opened = os.open(path, os.O_WRONLY)
    try:
        if _lock(opened, wait=False):
            os.unlink(path)  # noqa: PTH108 - the name as the folder gave it
    finally:
        os.close(opened)


def _lock(opened: int, *, wait: bool) -> bool:
    """Lock an open file, and return whether that was possible: some systems have no locks."""
    with suppress(OSError):
        if sys.platform != "win32":
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
    return False


def _sync_folder(folder: Path) -> None:
    """Write the new name of a file to disk too, where folders can be synced."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
