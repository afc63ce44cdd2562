"""Numba, told what our kernels need: its options, machine instructions it lacks, and where code is kept.

`kernels/jit.py` imports this module when the first kernel is compiled or loaded, and nobody else does: Numba
takes longer to import than most searches take.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, compiler, event, serialize
from numba.core.caching import NullCache
from numba.core.typing.templates import signature
from numba.extending import lower_builtin, type_callable

if TYPE_CHECKING:
    from collections.abc import Callable

NumbaObject = Any
"""An object of Numba or llvmlite, which have no types: a type, a value in the code, a dispatcher."""

BLOCK = 16
_njit: Any = numba.njit
_signature: Any = signature
_result: Any = compiler.CompileResult
_any_types: Any = types.VarArg
_lower: Any = lower_builtin
_CHECKSUM_BYTES = 32


def compiled(
    function: Callable[..., object], options: dict[str, Any], folder: Path | None, *, is_inner: bool
) -> NumbaObject:
    """Return Numba's dispatcher of a function, which only kernels call if it is an inner one.

    Its compiled code is kept in a folder, if there is one.
    """
    wrappers = {"no_cfunc_wrapper": True, "no_cpython_wrapper": is_inner}
    dispatcher = _njit(nogil=True, error_model="numpy", **wrappers, **options)(function)
    if folder is not None:
        name = f"{function.__name__}{'.inner' if is_inner else ''}"
        dispatcher._cache = SavedCode(name, folder)  # noqa: SLF001 - Numba has no other way
    if is_inner:
        dispatcher.get_call_template = partial(_for_any_number, dispatcher.get_call_template)
    return dispatcher


def _for_any_number(
    get_call_template: Callable[..., Any], args: NumbaObject, kws: NumbaObject
) -> NumbaObject:
    """Compile once for all whole numbers: Numba would compile anew for each one that is written in a call."""
    return get_call_template(tuple(map(types.unliteral, args)), kws)


def listen(begin: Callable[[], None], end: Callable[..., None]) -> None:
    """Call functions at both ends of each compilation; the second one is told whether it was one of ours."""

    class Compiling(event.Listener):
        def on_start(self, _event: event.Event) -> None:
            begin()

        def on_end(self, ended: event.Event) -> None:
            end(is_ours=ended.data["dispatcher"].py_func.__module__.startswith("itemix."))

    event.register("numba:compile", Compiling())  # type: ignore[no-untyped-call]


class SavedCode(NullCache):
    """The compiled code of one function on disk: a file for each signature, with its checksum.

    The name of a file says for which signature and which processor it is. Files are written under another
    name and renamed, so that processes which compile the same function at once do no harm.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folder = folder

    @property
    def cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def load_overload(self, sig: NumbaObject, target_context: NumbaObject) -> NumbaObject:
        """Return what was compiled for a signature, or None."""
        target_context.refresh()
        try:
            content = self._file(sig, target_context.codegen()).read_bytes()
        except OSError:
            return None
        checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        if hashlib.sha256(payload).digest() != checksum:
            return None
        return _result._rebuild(target_context, *pickle.loads(payload))  # noqa: S301, SLF001

    def save_overload(self, sig: NumbaObject, data: NumbaObject) -> None:
        """Keep what was compiled for a signature, if that is possible."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        payload = serialize.dumps(data._reduce())  # type: ignore[no-untyped-call]  # noqa: SLF001
        file = self._file(sig, data.codegen)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as written:
                written.write(hashlib.sha256(payload).digest() + payload)
            Path(written.name).replace(file)
        except OSError:  # a full disk, or a folder that has become read-only
            return

    def _file(self, sig: NumbaObject, codegen: NumbaObject) -> Path:
        key = hashlib.sha256(repr((str(sig), codegen.magic_tuple())).encode()).hexdigest()
        return self._folder / f"{self._name}-{key[:24]}"


def teach(instructions: dict[str, Callable[..., object]]) -> None:
    """Let Numba put machine instructions in the place of Python functions, given by name."""
    for name, function in instructions.items():
        typer, code = _INSTRUCTIONS[name]
        type_callable(function)(partial(_typer, typer))
        _lower(function, _any_types(types.Any))(code)


def _typer(typer: NumbaObject, _context: NumbaObject) -> NumbaObject:
    return typer


def _element(
    context: NumbaObject,
    builder: NumbaObject,
    array_type: NumbaObject,
    array: NumbaObject,
    position: NumbaObject,
) -> NumbaObject:
    struct = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, [position])  # type: ignore[no-untyped-call]


def _popcount(
    _context: NumbaObject, builder: NumbaObject, _signature: NumbaObject, args: NumbaObject
) -> NumbaObject:
    return builder.ctpop(args[0])


def _trailing_zeros(
    _context: NumbaObject, builder: NumbaObject, _signature: NumbaObject, args: NumbaObject
) -> NumbaObject:
    return builder.cttz(args[0], cgutils.true_bit)


def _bits_of(
    _context: NumbaObject, builder: NumbaObject, _signature: NumbaObject, args: NumbaObject
) -> NumbaObject:
    return builder.bitcast(args[0], ir.IntType(64))


def _float_of(
    _context: NumbaObject, builder: NumbaObject, _signature: NumbaObject, args: NumbaObject
) -> NumbaObject:
    return builder.bitcast(args[0], ir.DoubleType())


def _flag_bits(
    context: NumbaObject, builder: NumbaObject, signature: NumbaObject, args: NumbaObject
) -> NumbaObject:
    block = ir.VectorType(ir.IntType(8), 64)
    pointer = _element(context, builder, signature.args[0], *args)
    found = builder.load(builder.bitcast(pointer, block.as_pointer()), align=1)
    is_set = builder.icmp_unsigned("!=", found, ir.Constant(block, None))
    return builder.bitcast(is_set, ir.IntType(64))


def _copy_block(
    context: NumbaObject, builder: NumbaObject, signature: NumbaObject, args: NumbaObject
) -> NumbaObject:
    block = ir.VectorType(ir.IntType(32), BLOCK).as_pointer()
    read, write = (
        builder.bitcast(_element(context, builder, signature.args[k], args[k], args[k + 1]), block)
        for k in (2, 0)
    )
    builder.store(builder.load(read, align=4), write, align=4)
    return context.get_dummy_value()


def _fetch_add(
    context: NumbaObject, builder: NumbaObject, signature: NumbaObject, args: NumbaObject
) -> NumbaObject:
    pointer = _element(context, builder, signature.args[0], args[0], args[1])
    return builder.atomic_rmw("add", pointer, args[2], "monotonic")


# The types of a call, and the code that takes its place.
_INSTRUCTIONS: dict[str, tuple[Any, Any]] = {
    "popcount": (lambda word: _signature(types.int64, types.uint64), _popcount),
    "trailing_zeros": (lambda word: _signature(types.int64, types.uint64), _trailing_zeros),
    "bits_of": (lambda number: _signature(types.int64, types.float64), _bits_of),
    "float_of": (lambda bits: _signature(types.float64, types.int64), _float_of),
    "flag_bits": (lambda flags, start: _signature(types.uint64, flags, types.intp), _flag_bits),
    "copy_block": (
        lambda target, to, source, start: _signature(types.void, target, types.intp, source, types.intp),
        _copy_block,
    ),
    "fetch_add": (
        lambda array, position, amount: _signature(types.int64, array, types.intp, types.int64),
        _fetch_add,
    ),
}
