"""What the terminal shows while a model is fitted."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.inference.run import Callback, Report


@contextmanager
def watching(method: str, n_transactions: int, *, quiet: bool) -> Iterator[list[Callback]]:
    """Yield what a fit is to call after every iteration: nothing, unless there is a terminal to show it on.

    Shown are the iterations of all starts or chains, the bound or the joint log-probability a transaction,
    the number of components, and the time until the last iteration, before which a fit may well converge.
    """
    if quiet or not sys.stderr.isatty():
        yield []
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn(method),
        BarColumn(bar_width=24),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("at most"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        done: dict[int, int] = {}

        def show(report: Report) -> None:
            done[report.restart] = report.iteration
            start = f"start {report.restart + 1} of {report.n_restarts}, " if report.n_restarts > 1 else ""
            bar.update(
                task,
                total=report.n_restarts * report.max_iter,
                completed=sum(done.values()),
                description=f"{start}iteration {report.iteration}, {report.bound / n_transactions:.4f} a "
                f"transaction, {report.n_components} components",
            )

        yield [show]
