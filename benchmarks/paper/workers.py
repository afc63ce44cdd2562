"""Doing tasks: in this process, or in two at a time; what is timed is done alone."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

from .scales import TIMED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .scales import Task
    from .store import Record

_ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> None:
    """Let the libraries of this process and of those that it starts use one thread each."""
    for name in _ONE_THREAD:
        os.environ[name] = "1"


def results(tasks: Sequence[Task], n_processes: int) -> Iterator[tuple[Task, Record]]:
    """Do tasks and yield each with its record as it comes."""
    from .measures import measure

    together = [task for task in tasks if task.part not in TIMED]
    alone = [task for task in tasks if task.part in TIMED]
    if n_processes == 1:
        yield from ((task, measure(task)) for task in together)
    elif together:
        with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
            waiting = {pool.submit(measure, task): task for task in together}
            try:
                yield from ((waiting[done], done.result()) for done in as_completed(waiting))
            finally:
                pool.shutdown(cancel_futures=True)
    yield from ((task, measure(task)) for task in alone)
