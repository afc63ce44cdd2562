"""A bar on the terminal that says how much of a search is done."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from itemix._checks import check_flag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def search_progress(
    shown: bool | Callable[[int, int], None], noun: str = "items"
) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function to be told (done, total) of something, or None where nothing is to be shown.

    True draws on standard error if it is a terminal; a function is handed through.
    """
    if callable(shown):
        yield shown
        return
    if not check_flag("progress", shown) or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("mining"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(noun),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("mining", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
