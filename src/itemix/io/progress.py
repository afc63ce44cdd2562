"""A bar on the terminal that says how much of a file has been read."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from itemix.inputs import is_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemix.io.source import PathOrStream


@contextmanager
def byte_progress(path: PathOrStream) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to be told of bytes that were read; it draws on standard error, if a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    known = isinstance(path, str | os.PathLike) and is_regular(path)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        name = Path(path).name if isinstance(path, str | os.PathLike) else "the stream"
        task = bar.add_task(f"reading {name}", total=Path(path).stat().st_size if known else None)  # type: ignore[arg-type]
        yield lambda n_bytes: bar.advance(task, n_bytes)
