"""Writing files so that nothing is lost: to a temporary name first, renamed when complete."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from itemix.checks import as_path
from itemix.errors import InvalidInputError, ItemixError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME_KEPT = 32


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure.

    An old file stays as it was until the new one is complete, also when the disk is full. What is no plain
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


def _beside(target: Path) -> Iterator[Path]:
    # The ending stays, since it tells some writers the format and the compression.
    ending = "".join(target.suffixes[-2:])
    temporary = target.with_name(f".{target.name[:_NAME_KEPT]}-{secrets.token_hex(4)}.tmp{ending}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
