"""A few threads for the work of views; the event loop stays free for quick answers."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import ClientDisconnect

from itemix._runtime import deadline
from itemix.web.limits import Deadline, TooSlowError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

R = TypeVar("R")

_WORKERS = 4


def make_pool() -> ThreadPoolExecutor:
    """Return the threads of an application."""
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix="view")


async def in_thread(request: Request, work: Callable[[], R], seconds: float) -> R:
    """Do some work in a thread, as long as it may take and somebody waits for it.

    Raises
    ------
    TooSlowError
        If the time is over.
    ClientDisconnect
        If the client is gone.
    """
    limit = Deadline(seconds)
    loop = asyncio.get_running_loop()
    running = loop.run_in_executor(request.app.state.pool, partial(_until, limit, work))
    gone = loop.create_task(_disconnect(request))
    try:
        done, _ = await asyncio.wait((running, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if running in done:
            return running.result()
        raise ClientDisconnect if gone in done else TooSlowError(seconds)
    finally:
        # Work that waits for a thread never begins; work that runs ends when it next asks.
        limit.call_off()
        running.cancel()
        gone.cancel()


def _until(limit: Deadline, work: Callable[[], R]) -> R:
    with deadline(limit):
        limit()
        return work()


async def _disconnect(request: Request) -> None:
    """Return when the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
