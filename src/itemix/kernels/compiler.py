"""Numba, told what our kernels need: its options, machine instructions it lacks, and where code is kept.

`kernels/jit.py` imports this module when the first kernel is compiled or loaded, and nobody else does: Numba
takes longer to import than most searches take.
"""

from __future__ import annotations

import hashlib
import operator
import pickle
import tempfile
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numba
import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, compiler, event, serialize
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.typing.templates import signature
from numba.cpython.builtins import do_minmax
from numba.extending import lower_builtin, type_callable
from numba.np import arrayobj

if TYPE_CHECKING:
    from collections.abc import Callable

NumbaObject = Any
"""An object of Numba or llvmlite, which have no types: a type, a value in the code, a dispatcher."""

BLOCK = 16
_njit: Any = numba.njit
_Compiler: Any = compiler.Compiler
_Flags: Any = compiler.Flags
_Library: Any = JITCodeLibrary
_arrays: Any = arrayobj
_minmax: Any = do_minmax
_unliteral: Any = types.unliteral
_signature: Any = signature
_result: Any = compiler.CompileResult
_any_types: Any = types.VarArg
_lower: Any = lower_builtin
_CHECKSUM_BYTES = 32


def compiled(
    function: Callable[..., object], options: dict[str, Any], folder: Path | None, *, is_inner: bool
) -> NumbaObject:
    """Return Numba's dispatcher of a function.

    Only kernels call a function that is an inner one. Compiled code is kept in the folder, if there is one.
    """
    needs = {
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": is_inner,
        "pipeline_class": _InnerCompiler if is_inner else _KernelCompiler,
    }
    dispatcher = _njit(nogil=True, error_model="numpy", **needs, **options)(_in_place(function))
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


def _in_place(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function in which arrays are made, and numbers compared, by code in place.

    For each of `np.empty`, `np.zeros`, `np.full`, `max`, `min` and `int` Numba compiles up to four functions,
    and again for each type.
    """
    namespace = function.__globals__ | _BUILTINS
    if namespace.get("np") is np:
        namespace["np"] = _NUMPY
    python = cast("FunctionType", function)
    copy = FunctionType(python.__code__, namespace, python.__name__, python.__defaults__, python.__closure__)
    copy.__module__, copy.__qualname__, copy.__doc__ = python.__module__, python.__qualname__, python.__doc__
    return copy


def listen(begin: Callable[[], None], end: Callable[[str], None]) -> None:
    """Call functions at both ends of each compilation; the second is told the name, if it is one of ours."""

    class Compiling(event.Listener):
        def on_start(self, _event: event.Event) -> None:
            begin()

        def on_end(self, ended: event.Event) -> None:
            function = ended.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__name__}"
            end(name if name.startswith("itemix.") else "")

    event.register("numba:compile", Compiling())  # type: ignore[no-untyped-call]


class _Options(_Flags):  # type: ignore[misc]
    """Numba's options of one function, quicker to compare: it does so for each operator in each kernel."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Flags) and self._values == other._values)

    def __hash__(self) -> int:
        return hash(len(self._values))


class _KernelCode(_Library):  # type: ignore[misc]
    """Machine code of a kernel that Python calls. No other function is ever linked with it."""

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)  # type: ignore[no-untyped-call]
            if environment is not None and not variable.is_declaration:
                self._codegen.set_env(variable.name, environment)

    def saved(self) -> tuple[str, bytes, list[str]]:
        """Return what is kept on disk: its name, the machine code, and the names of what is in it."""
        module = self._final_module
        names = [
            value.name
            for values in (module.functions, module.global_variables)
            for value in values
            if not value.is_declaration
        ]
        return self.name, self._get_compiled_object(), names

    @classmethod
    def loaded(cls, codegen: Any, name: str, code: bytes, names: list[str]) -> _KernelCode:  # noqa: ANN401
        """Return the library that was saved."""
        library = cls(codegen, name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(names)  # noqa: SLF001
        return library


class _InnerCode(_Library):  # type: ignore[misc]
    """Code of a function that only kernels call.

    It is linked into them, and becomes machine code only there. Numba would make machine code of the function
    alone, too, which nobody would run. It is optimized here as Numba does: left to its callers it would be
    compiled in less time still, but to slower code (Gibbs sampling took a quarter longer).
    """

    def finalize(self) -> None:
        linked = {id(library): library for library in self._linking_libraries}
        for library in linked.values():
            if hasattr(library, "_reload_init"):  # since Numba 0.63
                self._reload_init.update(library._reload_init)  # noqa: SLF001
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)  # noqa: SLF001
        self._optimize_final_module()
        self._end()

    def _end(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> _InnerCode:
        """Return what is told of environments."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: only machine code has an environment."""

    def saved(self) -> tuple[str, bytes, list[str]]:
        """Return what is kept on disk: its name, and the code for the kernels that call it."""
        return self.name, self._get_module_for_linking().as_bitcode(), []

    @classmethod
    def loaded(cls, codegen: Any, name: str, code: bytes, _names: list[str]) -> _InnerCode:  # noqa: ANN401
        """Return the library that was saved."""
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(code)
        library._end()
        return library


class _KernelCompiler(_Compiler):  # type: ignore[misc]
    """Numba's compiler, which puts a kernel into a library of ours."""

    library: type = _KernelCode

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:  # noqa: ANN401
        super().__init__(typing, target, library, *others)
        self.state.flags = _Options(self.state.flags)

    def compile_extra(self, function: Callable[..., object]) -> Any:  # noqa: ANN401 - Numba's result
        library = self.library(self.state.targetctx.codegen(), function.__qualname__)
        library.enable_object_caching()
        self.state.library = library
        return super().compile_extra(function)


class _InnerCompiler(_KernelCompiler):
    library = _InnerCode


_LIBRARIES: dict[str, Any] = {library.__name__: library for library in (_KernelCode, _InnerCode)}
_DESCRIBED = ("fndesc", "environment", "signature", "objectmode", "lifted", "reload_init")


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
        kind, saved, described, environments = pickle.loads(payload)  # noqa: S301
        for function in described["reload_init"]:
            function()
        library = _LIBRARIES[kind].loaded(target_context.codegen(), *saved)
        for environment in environments:
            library.codegen.set_env(environment.env_name, environment)
        entry = target_context.get_executable(library, described["fndesc"], described["environment"])
        missing = dict.fromkeys(_result._fields)
        context = {"target_context": target_context, "typing_context": target_context.typing_context}
        kept = {"library": library, "entry_point": entry, "referenced_envs": environments}
        return _result(**missing | context | kept | described)

    def save_overload(self, sig: NumbaObject, data: NumbaObject) -> None:
        """Keep what was compiled for a signature, if that is possible."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        data.fndesc.typemap = data.fndesc.calltypes = None
        described = {name: getattr(data, name) for name in _DESCRIBED}
        environments = tuple(data._find_referenced_environments())  # noqa: SLF001
        parts = (type(data.library).__name__, data.library.saved(), described, environments)
        payload = serialize.dumps(parts)  # type: ignore[no-untyped-call]
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
        _teach(function, partial(_typer, typer), code)


def _teach(function: Callable[..., object], typer: Any, code: Any) -> None:  # noqa: ANN401 - two functions
    type_callable(function)(typer)
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


class _InPlace(NamedTuple):
    """Code that stands in for a function of Python or NumPy, and what tells its type."""

    typer: Any
    code: Any


def _array_type(shape: Any, dtype: Any = types.float64) -> Any:  # noqa: ANN401 - Numba's types
    element = dtype if isinstance(dtype, types.Number) else parse_dtype(dtype)  # type: ignore[no-untyped-call]
    return types.Array(element, parse_shape(shape), "C")  # type: ignore[no-untyped-call]


def _type_of_full(shape: Any, value: Any, dtype: Any = None) -> Any:  # noqa: ANN401
    return _array_type(shape, _unliteral(value) if dtype is None else dtype)


def _new_array(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    sizes = _arrays._parse_shape(context, builder, signature.args[0], args[0])  # noqa: SLF001
    return _arrays._empty_nd_impl(context, builder, signature.return_type, sizes)  # noqa: SLF001


def _empty(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    return _new_array(context, builder, signature, args)._getvalue()  # noqa: SLF001


def _zeros(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    array = _new_array(context, builder, signature, args)
    n_bytes = builder.mul(array.itemsize, array.nitems)
    cgutils.memset(builder, array.data, n_bytes, 0)  # type: ignore[no-untyped-call]
    return array._getvalue()  # noqa: SLF001


def _full(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    array = _new_array(context, builder, signature, args)
    element = signature.return_type.dtype
    value = context.cast(builder, args[1], signature.args[1], element)
    with cgutils.for_range(builder, array.nitems) as loop:
        place = builder.gep(array.data, [loop.index])
        _arrays.store_item(context, builder, signature.return_type, value, place)
    return array._getvalue()  # noqa: SLF001


def _type_of_all(context: Any) -> Any:  # noqa: ANN401
    def typer(first: Any, second: Any, third: Any = None) -> Any:  # noqa: ANN401
        return context.unify_types(first, second, *([] if third is None else [third]))

    return typer


def _best(compared: Any, context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    return _minmax(context, builder, signature.args, args, compared)


def _type_of_whole(number: Any) -> Any:  # noqa: ANN401
    return _unliteral(number) if isinstance(number, types.Integer) else types.intp


def _whole(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    return context.cast(builder, args[0], signature.args[0], signature.return_type)


_OF_NUMPY = {
    "empty": _InPlace(partial(_typer, _array_type), _empty),
    "zeros": _InPlace(partial(_typer, _array_type), _zeros),
    "full": _InPlace(partial(_typer, _type_of_full), _full),
}
_OF_PYTHON = {
    "max": _InPlace(_type_of_all, partial(_best, operator.gt)),
    "min": _InPlace(_type_of_all, partial(_best, operator.lt)),
    "int": _InPlace(partial(_typer, _type_of_whole), _whole),
}


def _stand_in(name: str, in_place: _InPlace) -> Callable[..., object]:
    """Return a function that stands for code in place. It is never called."""

    def function(*_arguments: object) -> None:
        raise NotImplementedError(name)

    _teach(function, *in_place)
    return function


_BUILTINS = {name: _stand_in(name, in_place) for name, in_place in _OF_PYTHON.items()}
_NUMPY = ModuleType("numpy")
_NUMPY.__dict__.update(np.__dict__ | {name: _stand_in(name, code) for name, code in _OF_NUMPY.items()})
