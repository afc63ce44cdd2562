"""What people see while the experiments run: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from statistics import mean
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .scales import Task
    from .store import Record, Store

Seen = dict[tuple[str, ...], list[float]]


class Outlook:
    """How long what is left will take, from what similar tasks took.

    Parameters
    ----------
    tasks : sequence of Task
        What is to be done.
    store : Store
        What was done before.
    plan : sequence of Task
        All tasks, to find them there.
    """

    def __init__(self, tasks: Sequence[Task], store: Store, plan: Sequence[Task]) -> None:
        self._left = list(tasks)
        self._seen: Seen = defaultdict(list)
        self._began, self._done = time.perf_counter(), 0.0
        for task in plan:
            record = store.get(task)
            if record is not None:
                self._note(task, record)

    def finish(self, task: Task, record: Record) -> None:
        """Take a task off the list."""
        self._left.remove(task)
        self._note(task, record)
        self._done += float(record["seconds"])

    def seconds_left(self) -> float:
        """Return the seconds that the rest will take, at the pace so far."""
        pace = (time.perf_counter() - self._began) / self._done if self._done else 1.0
        return pace * sum(self._expected(task) for task in self._left)

    def _note(self, task: Task, record: Record) -> None:
        for kind in _kinds(task):
            self._seen[kind].append(float(record["seconds"]))

    def _expected(self, task: Task) -> float:
        return next((mean(self._seen[kind]) for kind in _kinds(task) if self._seen[kind]), 1.0)


def _kinds(task: Task) -> list[tuple[str, ...]]:
    """Return what a task is like, from near to far."""
    return [
        (task.part, task.dataset, task.method, str(task.components)),
        (task.part, task.dataset, task.method),
        (task.part, task.method),
        (task.part,),
    ]


@contextmanager
def shown(n_tasks: int, outlook: Outlook) -> Iterator[Callable[[Task, Record], None]]:
    """Show progress; the function that is given is told of each result."""
    if not sys.stderr.isatty():
        yield _log(n_tasks, outlook)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[left]}")) as bar:
        line = bar.add_task("starting", total=n_tasks, left="")

        def tell(task: Task, record: Record) -> None:
            outlook.finish(task, record)
            bar.update(line, advance=1, description=task.key, left=f"{_clock(outlook.seconds_left())} left")

        yield tell


def _log(n_tasks: int, outlook: Outlook) -> Callable[[Task, Record], None]:
    count = iter(range(1, n_tasks + 1))

    def tell(task: Task, record: Record) -> None:
        outlook.finish(task, record)
        left = _clock(outlook.seconds_left())
        said = f"{next(count)} of {n_tasks}  {task.key}  {record['seconds']:.1f} s  {_brief(record)}"
        print(f"{said}  {left} left", file=sys.stderr, flush=True)

    return tell


def _brief(record: dict[str, Any]) -> str:
    if "E" in record:
        return f"E {100 * record['E']:.2f}%"
    return f"test {record['test']:.4f}" if "test" in record else ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
