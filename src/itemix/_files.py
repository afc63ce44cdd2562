"""Writing files so that nothing is lost: to a temporary name first, renamed when it is complete and on disk.

Whoever writes a temporary file holds a lock on it, which the system takes away from a process that was
killed. So the next write to the same name can tell what is left over from what another process is writing.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from itemix._checks import as_path
from itemix.errors import InvalidInputError, ItemixError, OutputError

if sys.platform != "win32":  # it has no such locks: there, what a kill has left stays
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME_KEPT = 32
_TOKEN_BYTES = 4
_UNFINISHED: set[Path] = set()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure.

    An old file stays as it was until the new one is complete and on disk, also when the disk is full or the
    power fails. What a killed process has left of an earlier write is removed. What is no plain file (a
    terminal, a pipe) is written directly.

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


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written, links followed; call it first where the work before is long.

    Raises
    ------
    InvalidInputError
        If the folder of `path` does not exist, or `path` is itself a folder, or no name of a file.
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
        if sys.platform == "win32":  # it renames no open file
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
    # The ending stays, since it tells some writers the format and the compression.
    return f".{target.name[:_NAME_KEPT]}-{token}.tmp{''.join(target.suffixes[-2:])}"


def _new_temporary(target: Path) -> tuple[Path, int]:
    """Make a temporary file, and return it with the descriptor that holds its lock."""
    while True:
        temporary = target.with_name(_temporary_name(target, secrets.token_hex(_TOKEN_BYTES)))
        opened = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        _lock(opened, wait=True)
        if sys.platform == "win32" or os.fstat(opened).st_nlink > 0:
            return temporary, opened
        os.close(opened)  # another writer was quicker, and took the file for one that is left over


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
    """Lock an open file, and return whether that was possible: not everywhere are there locks."""
    with suppress(OSError):
        if sys.platform != "win32":
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
    return False


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file on disk too, where folders can be synced."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
