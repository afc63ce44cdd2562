"""Decorators that compile kernels, and machine instructions that Numba does not offer.

Kernels are cached on disk, run without the GIL and without blanket fast-math. Numba keeps compiled code
beside the source, or in the user's cache. Many containers let it write to neither; the code then goes to a
private folder among the temporary files. If that fails too, it is not kept.

The instructions (popcount, trailing_zeros, fetch_add and others) are plain Python functions, so that kernels
also run with ``NUMBA_DISABLE_JIT=1``. In compiled code overloads take their place.
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
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

F = TypeVar("F", bound=Callable[..., object])

_OWNER_ONLY = 0o700
BLOCK = 16
_ADVICE = "set NUMBA_CACHE_DIR to a folder that this user may write to"


def kernel(function: F) -> F:
    """Compile a function for this machine on its first call, and keep the result on disk."""
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile a small function that LLVM should put into its callers."""
    return _compiled(function, forceinline=True)


def fused(function: F) -> F:
    """Compile as `inlined`, for formulas: a product that is added to a sum is not rounded before.

    Infinities and NaN are treated as usual, and sums keep their order.
    """
    return _compiled(function, forceinline=True, fastmath={"contract"})


def reducing(function: F) -> F:
    """Compile as `inlined`, for a sum over an array. Its order is any, but fixed when it is compiled."""
    return _compiled(function, forceinline=True, fastmath={"reassoc"})


def summing(function: F) -> F:
    """Compile a small function whose sums may be taken in another order, so that they become vector code.

    The order is fixed when the function is compiled. Infinities and NaN are treated as usual.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def _compiled(function: F, **options: Any) -> F:  # noqa: ANN401 - options of Numba
    compile_it = functools.partial(numba.njit, nogil=True, error_model="numpy", **options)
    try:
        return cast("F", compile_it(cache=True)(function))
    except RuntimeError:  # Numba has found no folder that it may write to
        return cast("F", compile_it(cache=_cache_among_temporary_files())(function))


@functools.cache
def _cache_among_temporary_files() -> bool:
    """Let Numba keep compiled code in a private temporary folder. Say so, and return whether it can."""
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
    """Return a folder that only this user can read or write. Make it if it does not exist.

    Code may have been compiled before into a folder that is now read-only. Numba does not use such a folder,
    so a new private folder starts as a copy of it.

    Raises
    ------
    OSError
        If the folder cannot be made, or if it belongs to somebody else: we would run their code.
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


def popcount(word: np.uint64) -> int:
    """Count the bits set in a 64-bit word."""
    return int(word).bit_count()


def trailing_zeros(word: np.uint64) -> int:
    """Return the position of the lowest bit set in a 64-bit word that is not 0."""
    return (int(word) & -int(word)).bit_length() - 1


def bits_of(number: float) -> np.int64:
    """Return the 64 bits of a floating-point number as an integer."""
    return np.float64(number).view(np.int64)


def float_of(bits: int | np.int64) -> np.float64:
    """Return the floating-point number that has these 64 bits."""
    return np.int64(bits).view(np.float64)


def flag_bits(flags: np.ndarray, start: int) -> np.uint64:
    """Return 64 bits that say which of the bytes from `start` on are not 0, lowest bit first."""
    return np.uint64(np.packbits(flags[start : start + 64], bitorder="little").view(np.uint64)[0])


def copy_block(target: np.ndarray, to: int, source: np.ndarray, start: int) -> None:
    """Copy BLOCK elements of an int32 array, all read before the first is written."""
    target[to : to + BLOCK] = source[start : start + BLOCK].copy()


def fetch_add(array: np.ndarray, position: int, amount: int) -> int:
    """Add to one element of an int64 array and return its old value, atomically."""
    before = int(array[position])
    array[position] += amount
    return before


@intrinsic
def _popcount(typingctx: Any, word: Any) -> Any:  # noqa: ANN401 - Numba's types
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@overload(popcount)
def _compiled_popcount(word: Any) -> Any:  # noqa: ANN401 - Numba's types
    def compiled(word: Any) -> Any:  # noqa: ANN401 - the signature must be the outer one's
        return _popcount(word)  # type: ignore[call-arg] # Numba passes the context

    return compiled


@intrinsic
def _trailing_zeros(typingctx: Any, word: Any) -> Any:  # noqa: ANN401 - Numba's types
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        return builder.cttz(args[0], cgutils.true_bit)

    return types.int64(types.uint64), codegen


@overload(trailing_zeros)
def _compiled_trailing_zeros(word: Any) -> Any:  # noqa: ANN401 - Numba's types
    def compiled(word: Any) -> Any:  # noqa: ANN401 - the signature must be the outer one's
        return _trailing_zeros(word)  # type: ignore[call-arg] # as above

    return compiled


@intrinsic
def _bits_of(typingctx: Any, number: Any) -> Any:  # noqa: ANN401 - Numba's types
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@overload(bits_of)
def _compiled_bits_of(number: Any) -> Any:  # noqa: ANN401 - Numba's types
    def compiled(number: Any) -> Any:  # noqa: ANN401 - the signature must be the outer one's
        return _bits_of(number)  # type: ignore[call-arg] # as above

    return compiled


@intrinsic
def _float_of(typingctx: Any, bits: Any) -> Any:  # noqa: ANN401 - Numba's types
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@overload(float_of)
def _compiled_float_of(bits: Any) -> Any:  # noqa: ANN401 - Numba's types
    def compiled(bits: Any) -> Any:  # noqa: ANN401 - the signature must be the outer one's
        return _float_of(bits)  # type: ignore[call-arg] # as above

    return compiled


@intrinsic
def _flag_bits(typingctx: Any, flags: Any, start: Any) -> Any:  # noqa: ANN401 - Numba's types
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        block = ir.VectorType(ir.IntType(8), 64)
        pointer = _element(context, builder, signature.args[0], *args)
        found = builder.load(builder.bitcast(pointer, block.as_pointer()), align=1)
        is_set = builder.icmp_unsigned("!=", found, ir.Constant(block, None))
        return builder.bitcast(is_set, ir.IntType(64))

    return types.uint64(flags, types.intp), codegen


@overload(flag_bits)
def _compiled_flag_bits(flags: Any, start: Any) -> Any:  # noqa: ANN401 - Numba's types
    def compiled(flags: Any, start: Any) -> Any:  # noqa: ANN401 - the signature must be the outer one's
        return _flag_bits(flags, start)  # type: ignore[call-arg] # as above

    return compiled


@intrinsic
def _copy_block(typingctx: Any, target: Any, to: Any, source: Any, start: Any) -> Any:  # noqa: ANN401
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        block = ir.VectorType(ir.IntType(32), BLOCK).as_pointer()
        read, write = (
            builder.bitcast(_element(context, builder, signature.args[k], args[k], args[k + 1]), block)
            for k in (2, 0)
        )
        builder.store(builder.load(read, align=4), write, align=4)
        return context.get_dummy_value()

    return types.void(target, types.intp, source, types.intp), codegen


@overload(copy_block)
def _compiled_copy_block(target: Any, to: Any, source: Any, start: Any) -> Any:  # noqa: ANN401
    def compiled(target: Any, to: Any, source: Any, start: Any) -> Any:  # noqa: ANN401 - as above
        return _copy_block(target, to, source, start)  # type: ignore[call-arg] # as above

    return compiled


def _element(context: Any, builder: Any, array_type: Any, array: Any, position: Any) -> Any:  # noqa: ANN401
    struct = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, [position])  # type: ignore[no-untyped-call]


@intrinsic
def _fetch_add(typingctx: Any, array: Any, position: Any, amount: Any) -> Any:  # noqa: ANN401
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        pointer = _element(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", pointer, args[2], "monotonic")

    return types.int64(array, types.intp, types.int64), codegen


@overload(fetch_add)
def _compiled_fetch_add(array: Any, position: Any, amount: Any) -> Any:  # noqa: ANN401
    def compiled(array: Any, position: Any, amount: Any) -> Any:  # noqa: ANN401 - as above
        return _fetch_add(array, position, amount)  # type: ignore[call-arg] # as above

    return compiled
