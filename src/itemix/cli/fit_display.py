"""What the terminal shows while a model is fitted."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, Task

    from itemix.inference.loop import Callback, Report


_WIDE = 120


@contextmanager
def watching(method: str, n_transactions: int, *, quiet: bool) -> Iterator[list[Callback]]:
    """Yield what a fit is to call after every iteration: nothing, unless there is a terminal to show it on.

    Shown are the iterations of all starts or chains, the bound or the joint log-probability a transaction,
    the number of components, and the time until the last iteration, before which a fit may well converge;
    and what the fit does before and after them.
    """
    if quiet or not sys.stderr.isatty():
        yield []
        return
    with _progress(method) as bar:
        yield [_Display(bar, n_transactions)]


class _Display:
    """A line of the terminal that follows a fit."""

    def __init__(self, bar: Progress, n_transactions: int) -> None:
        self._bar = bar
        self._n_transactions = n_transactions
        self._task = bar.add_task("starting", total=None)
        self._done: dict[int, int] = {}

    def __call__(self, report: Report) -> None:
        from itemix.core.display import plural

        self._done[report.restart] = report.iteration
        start = f"start {report.restart + 1} of {report.n_restarts}, " if report.n_restarts > 1 else ""
        self._bar.update(
            self._task,
            total=report.n_restarts * report.max_iter,
            completed=sum(self._done.values()),
            description=f"{start}iteration {report.iteration}, {report.bound / self._n_transactions:.4f} a "
            f"transaction, {plural(report.n_components, 'component')}",
        )

    def stage(self, text: str) -> None:
        for task in self._bar.tasks:
            task.total = None  # no bar: nobody knows how long it takes
        self._bar.update(self._task, description=text, refresh=True)


def _progress(method: str) -> Progress:
    """Make a line that fits: in a narrow terminal the bar is short and the words are cut, not the time."""
    from rich.console import Console
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
            return Text.assemble("at most ", super().render(task), " left") if known else Text()

    console = Console(stderr=True)
    columns = (
        TextColumn(method),
        BarColumn(bar_width=24 if console.width >= _WIDE else 4, table_column=Column(no_wrap=True)),
        Words("", table_column=Column()),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TimeLeft(table_column=Column(no_wrap=True)),
    )
    return Progress(*columns, console=console, transient=True)
