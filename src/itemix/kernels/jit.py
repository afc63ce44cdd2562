"""How kernels are compiled: cached on disk, without the GIL, without blanket fast-math.

Numba keeps compiled code beside the source, or in the user's cache; where it may write to neither, as in many
containers, in a private folder among the temporary files; and where there is none, nowhere.
"""

from __future__ import annotations

import functools
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])

_OWNER_ONLY = 0o700
_ADVICE = "set NUMBA_CACHE_DIR to a folder that this user may write to"


def kernel(function: F) -> F:
    """Compile a function for the machine at hand on its first call, and keep the result on disk."""
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile a small function that LLVM should put into its callers."""
    return _compiled(function, forceinline=True)


def fused(function: F) -> F:
    """Compile as `inlined`, for formulas: a product and the sum that takes it up are rounded once.

    Nothing is assumed of infinities and NaN, and no order is changed.
    """
    return _compiled(function, forceinline=True, fastmath={"contract"})


def reducing(function: F) -> F:
    """Compile as `inlined`, for one sum of an array, in any order that is fixed when it is compiled."""
    return _compiled(function, forceinline=True, fastmath={"reassoc"})


def summing(function: F) -> F:
    """Compile a small function whose sums may be taken in another order, so that they become vector code.

    The order is fixed when the function is compiled; nothing is assumed of infinities and NaN.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def _compiled(function: F, **options: Any) -> F:  # noqa: ANN401 - those of Numba
    compile_it = functools.partial(numba.njit, nogil=True, error_model="numpy", **options)
    try:
        return cast("F", compile_it(cache=True)(function))
    except RuntimeError:  # Numba has found no folder that it may write to
        return cast("F", compile_it(cache=_cache_among_temporary_files())(function))


@functools.cache
def _cache_among_temporary_files() -> bool:
    """Have Numba keep compiled code in a private temporary folder; say so, and return whether it can."""
    config: Any = numba.config
    try:
        config.CACHE_DIR = str(_private_folder(config.CACHE_DIR))
    except OSError as error:
        why = error.strerror or error
        sys.stderr.write(
            f"itemix: compiled code is not kept, and every run compiles anew: {why}; {_ADVICE}\n"
        )
        return False
    sys.stderr.write(f"itemix: compiled code is kept in {config.CACHE_DIR} for now; {_ADVICE}\n")
    return True


def _private_folder(compiled: str) -> Path:
    """Return a folder that only this user can read or write; make it where it is not there.

    A new one begins with what was compiled before into a folder that can only be read, if there is one:
    Numba uses no such folder itself.

    Raises
    ------
    OSError
        If there can be none, or the name is taken by somebody else: code from there would be run.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"itemix-{user}"
    if not os.path.lexists(folder):
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}-"))
        if compiled and Path(compiled).is_dir():
            shutil.copytree(compiled, made, dirs_exist_ok=True, copy_function=shutil.copyfile)
            for inner in (made, *made.rglob("*/")):
                inner.chmod(_OWNER_ONLY)
        try:
            made.rename(folder)
        except OSError:  # another process was quicker
            shutil.rmtree(made)
    found = folder.lstat()
    if user != "user" and (found.st_uid, found.st_mode) != (user, stat.S_IFDIR | _OWNER_ONLY):
        raise PermissionError(0, f"{folder} is not a folder of this user alone")
    tempfile.TemporaryFile(dir=folder).close()
    return folder
