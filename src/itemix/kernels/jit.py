"""Kernels: functions that Numba compiles for the machine at hand, or that run as the Python they are.

Numba is imported, and code compiled or loaded, when a kernel is first called for work that is worth it.
Loading compiled code takes longer than many small jobs, and compiling it takes a minute. So a process does
its first steps in plain Python, for about as long as loading would take (`spare_seconds`): a kernel marked
`linear` runs as Python on small arrays, and the plain search of `mining/exact.py` stands in for the others.
The results are the same. Meanwhile another process compiles. The variable ITEMIX_COMPILE turns this off: with
``later`` no process is started, and with ``now`` nothing runs as Python and no message speaks of compiling.

Compiled code is kept in the user's cache, in a folder for each kind of machine and each state of the sources,
so that it outlives a reinstallation. Many containers let nobody write there; the code then goes to a
private folder among the temporary files. If that fails too, it is not kept.

The instructions (popcount, trailing_zeros, fetch_add and others) are plain Python functions. In compiled code
`kernels/compiler.py` has others in their place.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.util
import math
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

F = TypeVar("F", bound="Callable[..., object]")

_OWNER_ONLY = 0o700
BLOCK = 16
_ADVICE = "set NUMBA_CACHE_DIR to a folder that this user may write to"
# What a process may spend on plain Python: about what it takes to load kernels, or a part of compiling them.
_SECONDS_IF_COMPILED = 0.3
_SECONDS_IF_NOT = 2.5
_SECONDS_OF_A_PART = 300
_SECONDS_BETWEEN_TRIES = 3600
_SECONDS_BETWEEN_LINES = 5.0
_VARIABLE = "ITEMIX_COMPILE"
_OF_FITS = ("estep", "gibbs", "pairs")
# A step of a linear kernel takes about half of this in plain Python.
_SECONDS_PER_STEP = 2e-7


def kernel(function: F) -> F:
    """Compile a function for this machine on its first call, and keep the result on disk."""
    return _as_kernel(function)


def linear(function: F) -> F:
    """Compile as `kernel`, but run as plain Python on small arrays while nothing is loaded.

    For kernels that take about one step for each element of their arrays.
    """
    return _as_kernel(function, steps=_n_elements)


def counted(steps: Callable[..., float]) -> Callable[[F], F]:
    """Compile as `linear`, with another number of steps: a function of the same arguments says how many."""
    return functools.partial(_as_kernel, steps=steps)


def inlined(function: F) -> F:
    """Compile a small function that LLVM should put into its callers."""
    return _as_kernel(function, forceinline=True)


def fused(function: F) -> F:
    """Compile as `inlined`, for formulas: a product that is added to a sum is not rounded before.

    Infinities and NaN are treated as usual, and sums keep their order.
    """
    return _as_kernel(function, forceinline=True, fastmath={"contract"})


def reducing(function: F) -> F:
    """Compile as `inlined`, for a sum over an array. Its order is any, but fixed when it is compiled."""
    return _as_kernel(function, forceinline=True, fastmath={"reassoc"})


def summing(function: F) -> F:
    """Compile a small function whose sums may be taken in another order, so that they become vector code.

    The order is fixed when the function is compiled. Infinities and NaN are treated as usual.
    """
    return _as_kernel(function, fastmath={"reassoc", "contract"})


def _as_kernel(function: F, *, steps: Callable[..., float] | None = None, **options: Any) -> F:  # noqa: ANN401
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return function
    return cast("F", Kernel(function, options, steps))


class Kernel:
    """A function that is compiled when it is needed.

    Python calls one compiled version, other kernels another one, which needs no wrapper around it.
    """

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], steps: Callable[..., float] | None
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._options = options
        self._steps = steps
        self._compiled: Any = None
        self._inner: Any = None

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401 - as the function
        """Call the compiled function, or the Python function while that is as quick."""
        if self._compiled is not None:
            return self._compiled(*arguments)
        if _in_plain.depth:
            return self._function(*arguments)
        if self._steps is not None and _spare.allows(self._steps(*arguments) * _SECONDS_PER_STEP, self):
            return self._as_python(arguments)
        return self._dispatcher()(*arguments)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of Numba's dispatcher
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._dispatcher(), name)

    @property
    def _numba_type_(self) -> Any:  # noqa: ANN401 - Numba asks for it where a kernel calls this one
        if self._inner is None:
            self._inner = self._made(is_inner=True)
        return self._inner._numba_type_

    def is_compiled(self) -> bool:
        """Whether there is compiled code, here or on disk."""
        return self._compiled is not None or self.is_on_disk()

    def is_on_disk(self, *, inner: bool = False) -> bool:
        """Whether compiled code is kept, for Python to call or else for other kernels."""
        place, own = _place(self._function), f"{self.__name__}{'.inner' if inner else ''}-"
        for folder in (*_folders(), _private_path()[0]):
            try:
                if any(file.name.startswith(own) for file in (folder / place).iterdir()):
                    return True
            except OSError:  # it does not exist, or is not for this user
                continue
        return False

    def _as_python(self, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401 - as the function
        began = time.thread_time()
        _in_plain.depth += 1
        try:
            with np.errstate(all="ignore"):  # as in compiled code
                found = self._function(*arguments)
        finally:
            _in_plain.depth -= 1
            _spare.spend(time.thread_time() - began)
        return found.item() if isinstance(found, np.generic) else found

    def _dispatcher(self) -> Any:  # noqa: ANN401 - Numba's dispatcher
        with _lock:
            if self._compiled is None:
                compilations.expect(self)
                self._compiled = self._made(is_inner=False)
            return self._compiled

    def _made(self, *, is_inner: bool) -> Any:  # noqa: ANN401 - Numba's dispatcher
        with _lock:
            compiler, folder = _compiler(), code_folder()
            place = None if folder is None else folder / _place(self._function)
            return compiler.compiled(self._function, self._options, place, is_inner=is_inner)


class _InPlain(threading.local):
    depth = 0


class SpareTime:
    """The time that this process may still spend on plain Python, before compiled code pays."""

    def __init__(self) -> None:
        self._spent = 0.0

    def left(self, kernel: Any) -> float:  # noqa: ANN401 - a kernel; a function without Numba
        """Return the seconds that may be spent in the place of a kernel; 0 where it is loaded."""
        if not isinstance(kernel, Kernel) or kernel._compiled is not None or not _is_lazy():  # noqa: SLF001
            return 0.0
        if kernel.is_compiled():
            most = 0.0 if _compiler.cache_info().currsize else _SECONDS_IF_COMPILED
        else:
            most = _SECONDS_IF_NOT
            compile_in_background(part_of(kernel.__module__))
        return max(0.0, most - self._spent)

    def allows(self, seconds: float, kernel: Kernel) -> bool:
        """Whether work of about that many seconds may be done in plain Python."""
        return seconds <= _SECONDS_IF_NOT and seconds <= self.left(kernel)

    def end(self) -> None:
        """Leave no time for plain Python."""
        self._spent = float("inf")

    def spend(self, seconds: float) -> None:
        """Note how long plain Python has taken."""
        self._spent += seconds


_in_plain = _InPlain()
_spare = SpareTime()
_lock = threading.RLock()


def spare_seconds(kernel: object) -> float:
    """Return how long plain Python may take in the place of a kernel, for the caller to `spend`."""
    return _spare.left(kernel)


def spend(seconds: float) -> None:
    """Note how long plain Python has taken in the place of a kernel."""
    _spare.spend(seconds)


def use_compiled_code() -> None:
    """Run nothing as Python from now on: for programs that go on for long, and for what is timed."""
    _spare.end()


def _is_lazy() -> bool:
    return os.environ.get(_VARIABLE) != "now"


def part_of(module: str) -> str:
    """Return the part of `itemix warmup` that compiles a module of kernels."""
    if module.rpartition(".")[2] in _OF_FITS:
        return "inference"
    return "models" if ".models." in module else "mining"


@functools.cache
def compile_in_background(part: str) -> None:
    """Start a process of the lowest priority that compiles a part, if none has been started.

    One process at a time, at most one an hour for each part until it succeeds, and none where compiled code
    cannot be kept. If anything goes wrong, the kernels are compiled when they are needed.
    """
    if os.environ.get(_VARIABLE) or not sys.executable:
        return
    try:
        mark = mark_of(part)
        if mark is None or any(_is_fresh(other, part) for other in mark.parent.glob("warmup-*")):
            return
        mark.unlink(missing_ok=True)
        mark.touch(exist_ok=False)
        import subprocess

        detached: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            detached = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NO_WINDOW}
        process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "itemix", "warmup", part],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {_VARIABLE: "background"},
            **detached,
        )
        process.returncode = 0  # nobody waits for it, and Python would warn of that
    except OSError:
        return


def mark_of(part: str) -> Path | None:
    """Return the file that says that a part is being compiled, or has been if it holds a byte."""
    folder = next(_folders(), None)
    if folder is None or not _is_writable(folder / _machine()):
        return None
    sources = Path(__file__).parent.rglob("*.py")
    state = hashlib.sha256(b"".join(source.read_bytes() for source in sorted(sources))).hexdigest()
    return folder / _machine() / f"warmup-{part}-{state[:16]}"


def _is_fresh(mark: Path, part: str) -> bool:
    """Whether a process is compiling now, or has tried or compiled this part."""
    found = mark.stat()
    seconds = time.time() - found.st_mtime
    if not mark.name.startswith(f"warmup-{part}-"):
        return found.st_size == 0 and seconds < _SECONDS_OF_A_PART
    return (found.st_size > 0 and mark == mark_of(part)) or seconds < _SECONDS_BETWEEN_TRIES


def _n_elements(*arguments: Any) -> int:  # noqa: ANN401 - of a kernel
    """Count the elements of all arrays."""
    n = 0
    for value in arguments:
        if isinstance(value, np.ndarray):
            n += value.size
        elif isinstance(value, tuple):
            n += _n_elements(*value)
    return n


class Compilations:
    """What has been compiled in this process; says in one line that it takes a while, and why.

    The line counts the functions of the kernels that are wanted so far. A terminal and a notebook show it in
    place; elsewhere it is written again every few seconds.
    """

    def __init__(self) -> None:
        self.is_quiet = False
        self.seconds = 0.0
        self._wanted: list[Kernel] = []
        self._awaited: set[str] = set()
        self._done: set[str] = set()
        self._depth = 0
        self._began = 0.0
        self._said = -math.inf
        self._collects = True

    def expect(self, kernel: Kernel) -> None:
        """Expect a kernel to be compiled, and those that it calls, if they are not on disk."""
        self._wanted.append(kernel)

    def begin(self) -> None:
        """Note that a function is being compiled, maybe because another one calls it."""
        for kernel in self._wanted:
            if not kernel.is_on_disk():
                called = _with_callees(kernel, {})
                self._awaited |= {name for name, other in called.items() if not other.is_on_disk(inner=True)}
        self._wanted.clear()
        if self._depth == 0:
            self._began = time.perf_counter()
            # Compilers make objects that stay. Looking for garbage among them would take a tenth of the time.
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1
        self._say()

    def end(self, name: str) -> None:
        """Note that a function has been compiled, and its name with that of its module; none of Numba's."""
        self._depth -= 1
        if name:
            self._done.add(name)
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began
            if self._collects:
                gc.enable()
        self._say()

    @staticmethod
    def _in_place(out: object) -> bool:
        if type(out).__module__.startswith("ipykernel"):
            return True
        return out is sys.__stderr__ is not None and sys.__stderr__.isatty()

    def _say(self) -> None:
        out = cast("Any", sys.stderr)
        if self.is_quiet or out is None or not _is_lazy():
            return
        n_done, n = len(self._done), len(self._awaited | self._done)
        line = f"itemix: compiling for this machine, once ({n_done} of {n})"
        now = time.monotonic()
        if self._in_place(out):
            out.write(f"\r{line}" if self._depth else f"\r{' ' * len(line)}\r")
            out.flush()
        elif now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            out.write(f"{line}\n")
            out.flush()


compilations = Compilations()


def _with_callees(kernel: Kernel, found: dict[str, Kernel]) -> dict[str, Kernel]:
    """Return a kernel and all that it calls, by name."""
    function = kernel._function  # noqa: SLF001 - of this module
    name = f"{function.__module__}.{function.__name__}"
    if name not in found:
        found[name] = kernel
        named = [function.__globals__.get(word) for word in function.__code__.co_names]
        modules = [value for value in named if isinstance(value, ModuleType)]
        named += [getattr(module, word, None) for module in modules for word in function.__code__.co_names]
        for value in named:
            if isinstance(value, Kernel):
                _with_callees(value, found)
    return found


before_loading: list[Callable[[], None]] = []
"""Functions that are called before Numba is imported for the first kernel."""


@functools.cache
def _compiler() -> Any:  # noqa: ANN401 - a module
    """Import Numba, and teach it the instructions."""
    for function in before_loading:
        function()
    from itemix.kernels import compiler

    instructions = (popcount, trailing_zeros, bits_of, float_of, flag_bits, copy_block, fetch_add)
    compiler.teach({function.__name__: function for function in instructions})
    compiler.listen(compilations.begin, compilations.end)
    return compiler


def load_numba() -> None:
    """Import Numba now, with the instructions that kernels use."""
    _compiler()


@functools.cache
def _state_of(module: str) -> str:
    """Return a hash of the sources of a module of kernels, and of those that it imports."""
    source = Path(sys.modules[module].__file__ or "").read_bytes()
    state = hashlib.sha256(source)
    for line in re.findall(rb"^from (itemix\.kernels\S*) import (.*)", source, re.MULTILINE):
        package, names = (part.decode() for part in line)
        for other in (package, *(f"{package}.{name.strip()}" for name in names.split(","))):
            if other in sys.modules and other not in ("itemix.kernels", module):
                state.update(_state_of(other).encode())
    return state.hexdigest()[:16]


def _place(function: Callable[..., Any]) -> str:
    """Return the name of the folder for the compiled code of a function's module, in its present state."""
    module = function.__module__
    return f"{_machine()}/{module.rpartition('.')[2]}-{_state_of(module)}"


@functools.cache
def _machine() -> str:
    """Return a name for the processor, Python and Numba: code for another one is never looked at."""
    parts = [sys.implementation.cache_tag or "", sys.platform, str(sys.maxsize)]
    for package in ("numba", "llvmlite"):
        found = importlib.util.find_spec(package)
        for folder in (found.submodule_search_locations if found else None) or ():
            parts.append((Path(folder) / "_version.py").read_text(encoding="utf-8"))
    parts.append((Path(__file__).parent / "compiler.py").read_text(encoding="utf-8"))
    parts += [os.environ.get(f"NUMBA_{name}", "") for name in ("CPU_NAME", "CPU_FEATURES", "OPT")]
    parts += [] if os.environ.get("NUMBA_CPU_NAME") else _processor()
    return f"compiled-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def _processor() -> list[str]:
    """Return what tells processors apart, where the system says it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            first = list(iter(lines.readline, "\n"))
    except (OSError, ValueError):
        return [os.environ.get("PROCESSOR_IDENTIFIER", "")]
    return [line for line in first if line.startswith(("model", "flags", "Features", "CPU"))]


def _folders() -> Iterator[Path]:
    """Yield where compiled code may be kept: what the user has chosen, or the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
        return
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home raises an error if there is none
    if not home.is_absolute():
        return
    usual = {"darwin": home / "Library/Caches", "win32": home / "AppData/Local"}
    yield Path(os.environ.get("XDG_CACHE_HOME") or usual.get(sys.platform, home / ".cache")) / "itemix"


@functools.cache
def code_folder() -> Path | None:
    """Return the folder in which compiled code is kept, make it if needed; None if there is none.

    Says so if it is not the usual one.
    """
    chosen = next(_folders(), None)
    if chosen is not None and _is_writable(chosen):
        return chosen
    try:
        folder = _private_folder(chosen)
    except OSError as error:
        why = error.strerror or error
        sys.stderr.write(
            f"itemix: compiled code is not kept, and every run compiles anew: {why}; {_ADVICE}\n"
        )
        return None
    sys.stderr.write(f"itemix: compiled code is kept in {folder} for now; {_ADVICE}\n")
    return folder


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _private_path() -> tuple[Path, int | None]:
    """Return where the private folder among the temporary files is, and the number of its user."""
    user = os.getuid() if hasattr(os, "getuid") else None
    return Path(tempfile.gettempdir()) / f"itemix-{'user' if user is None else user}", user


def _private_folder(chosen: Path | None) -> Path:
    """Return a folder that only this user can read or write. Make it if it does not exist.

    Code may have been compiled before into a folder that is now read-only: a new private folder starts as a
    copy of it.

    Raises
    ------
    OSError
        If the folder cannot be made, or if it belongs to somebody else: we would run their code.
    """
    folder, user = _private_path()
    if not os.path.lexists(folder):
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}-"))
        if chosen is not None and chosen.is_dir():
            shutil.copytree(chosen, made, dirs_exist_ok=True, copy_function=shutil.copyfile)
            for inner in (made, *made.rglob("*/")):
                inner.chmod(_OWNER_ONLY)
        try:
            made.rename(folder)
        except OSError:  # another process was quicker
            shutil.rmtree(made)
    found = folder.lstat()
    if user is not None and (found.st_uid, found.st_mode) != (user, stat.S_IFDIR | _OWNER_ONLY):
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
