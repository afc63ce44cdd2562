"""How kernels are compiled: cached on disk, without the GIL, without blanket fast-math."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function for the machine at hand on its first call, and keep the result on disk."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: F) -> F:
    """Compile a small function that LLVM should put into its callers."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function))


def _inlined_with(flags: set[str], function: F) -> F:
    compile_it = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True, fastmath=flags)
    return cast("F", compile_it(function))


def fused(function: F) -> F:
    """Compile as `inlined`, for formulas: a product and the sum that takes it up are rounded once.

    Nothing is assumed of infinities and NaN, and no order is changed.
    """
    return _inlined_with({"contract"}, function)


def reducing(function: F) -> F:
    """Compile as `inlined`, for one sum of an array, in any order that is fixed when it is compiled."""
    return _inlined_with({"reassoc"}, function)


def summing(function: F) -> F:
    """Compile a small function whose sums may be taken in another order, so that they become vector code.

    The order is fixed when the function is compiled; nothing is assumed of infinities and NaN.
    """
    flags = {"reassoc", "contract"}
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=flags)(function))
