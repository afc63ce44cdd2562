"""The progress of long work: a bar on a terminal, a line in a notebook, lines of text elsewhere.

Whoever works opens it with `progress_of` and tells it how far the work is. A thread of its own redraws it, so
that the clock runs while nothing is told. Elsewhere means a pipe, a file or a log: there a line comes after
ten seconds, and then ever more rarely, so that short work says nothing and long work is not silent.
"""

from __future__ import annotations

import html
import sys
import threading
import time
from contextlib import contextmanager
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import Task
    from rich.text import Text

# After so many seconds each, a line is written where there is neither a terminal nor a notebook.
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
        """End it; nothing of a bar is left."""


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
    """Progress that a thread shows again, after seconds that it says itself."""

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
