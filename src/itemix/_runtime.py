"""The runtime of a process: its memory, Ctrl-C, threads, and the progress of long work.

Ctrl-C is a KeyboardInterrupt in our own code, never inside another library. A signal that comes during a
kernel waits until Python code runs again. The first such code is Numba's own, which makes Python objects of
the kernel's arrays: an exception there becomes a SystemError, or ends the process. In a callback of the
compiler or of an import it is printed and forgotten. So Ctrl-C is raised at once where it meets code of this
library. Anywhere else it is noted, and `still_wanted` raises it, which every long loop calls between two
kernels. A second Ctrl-C is raised wherever it comes.

A server has no Ctrl-C for a single answer. There, whoever waits for a thread's work gives it a `deadline`: a
function that `still_wanted` calls in that thread, and that raises an error to end the work.

Threads run kernels that release the GIL. They work in blocks, and results come in the order of the blocks.

Progress is a bar on a terminal, a line in a notebook, and lines of text elsewhere. Whoever works opens it
with `progress_of` and tells it how far the work is. A thread of its own redraws it, so that the clock runs
while nothing is told. Elsewhere means a pipe, a file or a log: there a line comes after ten seconds, and then
ever more rarely, so that short work says nothing and long work is not silent.
"""

from __future__ import annotations

import html
import operator
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from itemix.errors import InvalidInputError, NotEnoughMemoryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import Task
    from rich.text import Text

R = TypeVar("R")

# When free memory was last measured, and how much there was.
_free: list[tuple[float, int]] = []
_SECONDS_IT_HOLDS = 0.1
_IF_UNKNOWN = 4 << 30
# Version 1 of control groups writes a number near 2^63 for "no limit".
_NO_LIMIT = 1 << 60
_LEAST_REFUSED = 1 << 30
_MOST_THREADS = 1024

_noted = threading.Event()
_ask: ContextVar[Callable[[], None] | None] = ContextVar("_ask", default=None)


def require_memory(n_bytes: float, what: str, advice: str) -> None:
    """Refuse work for which there is not enough memory, before it begins.

    Less than a gigabyte is never refused: free memory is not known so exactly, and it may still be enough.

    Raises
    ------
    NotEnoughMemoryError
        If the work needs more than this process may still take.
    """
    if n_bytes < _LEAST_REFUSED:
        return
    free = free_memory()
    if n_bytes > free:
        raise NotEnoughMemoryError(
            f"expected {n_bytes / 2**30:,.1f} GiB of memory for {what}, got {free / 2**30:,.1f} GiB; {advice}"
        )


def free_memory() -> int:
    """Return about how many bytes of memory this process may still take; asked at most ten times a second.

    The answer is in a dozen files, and reading them takes as long as a small search.
    """
    now = time.monotonic()
    if not _free or now - _free[0][0] > _SECONDS_IT_HOLDS:
        _free[:] = [(now, measured_free_memory())]
    return _free[0][1]


def measured_free_memory(root: Path = Path("/")) -> int:
    """Return about how many bytes of memory this process may still take, read from the files below a root.

    It is the least of three: what the machine has free, what ``ulimit`` leaves, and what the control groups
    of the process leave. Files that are cached in memory count as free: the system gives them up when asked.
    Where the system does not say (it is not Linux), a few gigabytes are assumed.
    """
    kilobytes = _field(root / "proc/meminfo", "MemAvailable:")
    free = _IF_UNKNOWN if kilobytes is None else 1024 * kilobytes
    return max(0, min([free, *_left_by_limits(root / "proc/self"), *_left_by_groups(root)]))


def _left_by_limits(process: Path) -> Iterator[int]:
    """Yield what the limits of the process leave: for addresses (``ulimit -v``) and data (``ulimit -d``)."""
    for limit, used in (("Max address space", "VmSize:"), ("Max data size", "VmData:")):
        most = _field(process / "limits", limit)
        if most is not None:
            yield most - 1024 * (_field(process / "status", used) or 0)


def _left_by_groups(root: Path) -> Iterator[int]:
    """Yield what the control group of the process and all groups above it leave, in both versions."""
    text = _text(root / "proc/self/cgroup") or "0::/\n0:memory:/"
    mounted = root / "sys/fs/cgroup"
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        group = Path(path.strip("/"))
        for inner in (group, *group.parents):
            if not controllers:
                for folder in (mounted / inner, mounted / "unified" / inner):
                    for limit in ("memory.max", "memory.high"):
                        yield from _left_by_group(folder, limit, "memory.current", "")
            elif "memory" in controllers.split(","):
                yield from _left_by_group(
                    mounted / "memory" / inner, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"
                )


def _left_by_group(folder: Path, limit: str, usage: str, prefix: str) -> Iterator[int]:
    most = _field(folder / limit, "")
    if most is not None and most < _NO_LIMIT:
        cached = sum(
            _field(folder / "memory.stat", f"{prefix}{kind}_file ") or 0 for kind in ("active", "inactive")
        )
        yield most - max(0, (_field(folder / usage, "") or 0) - cached)


def _text(file: Path) -> str | None:
    try:
        return file.read_text()
    except OSError:
        return None


def _field(file: Path, name: str) -> int | None:
    """Return the number after a name at the beginning of a line, or None if there is no such number."""
    _, found, rest = f"\n{_text(file) or ''}".partition(f"\n{name}")
    words = rest.split(maxsplit=1) if found else []
    return int(words[0]) if words and words[0].isdigit() else None


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the work inside, at a place where that is safe; works as a decorator too.

    Programs that have a handler of their own keep it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
        _raise_noted()
    finally:
        _noted.clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def note(number: int, frame: FrameType | None) -> None:
    """Handle Ctrl-C: raise it in code of this library, or if one is noted already; note it elsewhere.

    Raises
    ------
    KeyboardInterrupt
        Now, or in `still_wanted`.
    """
    if _noted.is_set() or _is_ours(frame):
        _noted.clear()
        signal.default_int_handler(number, frame)
    _noted.set()


@contextmanager
def deadline(ask: Callable[[], None]) -> Iterator[None]:
    """Let a function end the work of this thread: its loops call it, and it raises an error to end them."""
    before = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(before)


def still_wanted() -> None:
    """End work that nobody waits for any more: raise a Ctrl-C that was noted, or the error of a deadline.

    Raises
    ------
    KeyboardInterrupt
        If one was noted; only the main thread raises it.
    """
    _raise_noted()
    ask = _ask.get()
    if ask is not None:
        ask()


def _raise_noted() -> None:
    if _noted.is_set() and threading.current_thread() is threading.main_thread():
        _noted.clear()
        raise KeyboardInterrupt


def forget() -> None:
    """Forget a Ctrl-C that came after the work was done."""
    _noted.clear()


def _is_ours(frame: FrameType | None) -> bool:
    """Return whether code of this library runs. Kernels do not count: the compiler calls them."""
    name = "" if frame is None else str(frame.f_globals.get("__name__"))
    return name.startswith("itemix.") and not name.startswith("itemix.kernels.")


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for: None is one, -1 all processors, -2 all but one.

    Raises
    ------
    InvalidInputError
        If it is zero or not a whole number.
    """
    if n_jobs is None:
        return 1
    try:
        number = 0 if isinstance(n_jobs, bool) else operator.index(n_jobs)
    except TypeError:
        number = 0
    if number == 0:
        raise InvalidInputError(
            f"expected n_jobs as a number of threads, got {n_jobs!r}; try -1 for all processors"
        )
    if number > 0:
        return min(number, _MOST_THREADS)
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, available + 1 + number)


class Workers:
    """A pool of threads, or no thread at all where one is enough.

    Parameters
    ----------
    n_threads : int
        How many threads work at a time. The result never depends on it.
    """

    def __init__(self, n_threads: int = 1) -> None:
        self._n_helpers = n_threads - 1
        self._pool = ThreadPoolExecutor(max(self._n_helpers, 1))  # starts no thread before it needs one

    def __reduce__(self) -> tuple[type[Workers], tuple[int]]:
        return Workers, (self._n_helpers + 1,)

    def map(self, function: Callable[[int], R], n_blocks: int) -> list[R]:
        """Return function(0), ..., function(n_blocks - 1), in this order; the calling thread works too."""
        results: dict[int, R] = {}
        blocks = iter(range(n_blocks))
        n_helpers = min(self._n_helpers, n_blocks - 1)
        helpers = [self._pool.submit(_work, function, blocks, results) for _ in range(n_helpers)]
        try:
            for block in blocks:
                still_wanted()
                results[block] = function(block)
        finally:
            for _ in blocks:  # after an error, leave no block for the others
                pass
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
        for helper in begun:
            helper.result()
        return [results[block] for block in range(n_blocks)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _work(function: Callable[[int], R], blocks: Iterator[int], results: dict[int, R]) -> None:
    """Work on the next block until none is left; all threads take from the same iterator."""
    for block in blocks:
        results[block] = function(block)


# The seconds between lines where there is neither a terminal nor a notebook.
WAITS = (10.0, 20.0, 30.0)
_MOST_SECONDS_BETWEEN = 60.0
_SECONDS_OF_A_TICK = 1.0
_LEAST_SECONDS_BETWEEN = 0.2
_WIDE = 120


class Progress:
    """How far some work is: what is done now, and how much of all.

    Parameters
    ----------
    name : str
        What the work is called.
    at_most : bool, default False
        Whether the work may well end before all is done.
    """

    def __init__(self, name: str, *, at_most: bool = False) -> None:
        self.name = name
        self.at_most = at_most
        self.text = ""
        self.done = 0.0
        self.total: float | None = None
        self._began = time.monotonic()

    def tell(self, text: str, done: float = 0, total: float | None = None) -> None:
        """Say in words and as a number how far the work is; no total means that it is not known."""
        self.text, self.done, self.total = text, done, total
        self._draw()

    def seconds(self) -> float:
        """Return how long it has been open."""
        return time.monotonic() - self._began

    def _draw(self) -> None:
        """Show what was told."""

    def close(self) -> None:
        """Close it; a bar disappears."""


@contextmanager
def progress_of(name: str, *, shown: bool = True, at_most: bool = False) -> Iterator[Progress | None]:
    """Show the progress of the work inside; yield what to tell it to, or None if nothing is to be shown."""
    if not shown:
        yield None
        return
    kind = _OnTerminal if sys.stderr.isatty() else _InNotebook if _is_notebook() else _InLines
    progress = kind(name, at_most=at_most)
    try:
        yield progress
    finally:
        progress.close()


def _is_notebook() -> bool:
    """Whether a notebook shows what is displayed."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


class _OnTerminal(Progress):
    """A bar, which rich redraws ten times a second."""

    def __init__(self, name: str, *, at_most: bool = False) -> None:
        super().__init__(name, at_most=at_most)
        from rich.console import Console

        self._bar = make_bar(Console(stderr=True), name, at_most=at_most)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def _draw(self) -> None:
        task = self._bar.tasks[0]
        if self.total is None or self.done < self.total:
            task.finished_time = None  # rich stops the clock for good when all is done
        task.total = self.total
        self._bar.update(self._task, description=self.text, completed=self.done)

    def close(self) -> None:
        self._bar.stop()


class _Ticking(Progress):
    """Progress that a thread of its own shows again and again; a subclass says how often."""

    def __init__(self, name: str, *, at_most: bool = False) -> None:
        super().__init__(name, at_most=at_most)
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()

    def _waits(self) -> Iterator[float]:
        return repeat(_SECONDS_OF_A_TICK)

    def _tick(self) -> None:
        for seconds in self._waits():
            if self._is_over.wait(seconds):
                return
            with self._lock:
                if not self._is_over.is_set():
                    self._show()

    def _show(self) -> None:
        """Show how far the work is now."""

    def close(self) -> None:
        with self._lock:
            self._is_over.set()


class _InLines(_Ticking):
    """Lines of text, ever more rarely."""

    def _waits(self) -> Iterator[float]:
        return chain(WAITS, repeat(_MOST_SECONDS_BETWEEN))

    def _show(self) -> None:
        share = f" ({self.done / self.total:.0%})" if self.total else ""
        words = f": {self.text}" if self.text else ""
        sys.stderr.write(f"{self.name}{words}{share}, {in_words(self.seconds())}\n")
        sys.stderr.flush()


class _InNotebook(_Ticking):
    """A line of HTML, which needs no widgets; it is empty when the work is done."""

    def __init__(self, name: str, *, at_most: bool = False) -> None:
        self._handle: Any = None
        self._last = -1.0
        super().__init__(name, at_most=at_most)

    def _draw(self) -> None:
        if self.seconds() - self._last >= _LEAST_SECONDS_BETWEEN:
            with self._lock:
                self._show()

    def _show(self) -> None:
        from IPython.display import HTML, display

        self._last = self.seconds()
        if self._last < _LEAST_SECONDS_BETWEEN:
            return
        if self._handle is None:
            self._handle = display(HTML(self.as_html()), display_id=True)
        else:
            self._handle.update(HTML(self.as_html()))

    def as_html(self) -> str:
        """Write the line: a bar, words and the clock."""
        amount = f'value="{self.done:g}" max="{self.total:g}"' if self.total else ""
        return (
            f'<div style="font-variant-numeric: tabular-nums">{html.escape(self.name)} '
            f'<progress {amount} style="width: 12em; vertical-align: middle"></progress> '
            f"{html.escape(self.text)} <span style='opacity: 0.7'>{in_words(self.seconds())}</span></div>"
        )

    def close(self) -> None:
        super().close()
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))


def in_words(seconds: float) -> str:
    """Write seconds as people do: '12 s', '3 min 20 s', '1 h 5 min'."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def make_bar(console: Console, name: str, *, at_most: bool = False) -> RichProgress:
    """Make the line for a terminal; a narrow one has a short bar and cuts the words, not the time."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class Words(TextColumn):
        """Words that stay on their line."""

        def render(self, task: Task) -> Text:
            return Text(task.description, no_wrap=True, overflow="ellipsis")

    class TimeLeft(TimeRemainingColumn):
        """The time that is left, where that is known."""

        def render(self, task: Task) -> Text:
            known = task.total is not None and task.time_remaining is not None
            before = "at most " if at_most else ""
            return Text.assemble(before, super().render(task), " left") if known else Text()

    columns = (
        TextColumn(name),
        BarColumn(bar_width=24 if console.width >= _WIDE else 4, table_column=Column(no_wrap=True)),
        Words("", table_column=Column()),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TimeLeft(table_column=Column(no_wrap=True)),
    )
    return Progress(*columns, console=console, transient=True)
