"""Writing files so that nothing is lost: to a temporary name first, renamed when complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from itemix.errors import InvalidInputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success, remove it on failure.

    An old file stays as it was until the new one is complete, also when the disk is full.

    Raises
    ------
    InvalidInputError
        If the folder of `path` does not exist, or `path` is itself a folder.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InvalidInputError(
            f"expected an existing folder to write to, got {str(target.parent)!r}; create it first"
        )
    if target.is_dir():
        raise InvalidInputError(
            f"expected a file to write to, got the folder {str(target)!r}; add a file name"
        )
    suffix = "".join(target.suffixes)
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:32]}-", suffix=f".tmp{suffix}", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
