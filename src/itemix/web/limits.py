"""The limits of an answer in size and time, the threads that work on answers, and the form of refusals."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from itemix._runtime import deadline, still_wanted
from itemix.errors import ItemixError, TooManyItemsetsError, UnknownItemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Lock

    from starlette.requests import Request


MAX_ROWS = 1_000
"""The most rows of one page."""

_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True)
class Limits:
    """What one answer may cost.

    Parameters
    ----------
    max_itemsets : int
        The most itemsets that a search may find.
    max_rules : int
        The most rules that they may be split into.
    seconds : float
        The longest that an answer may take.
    download_seconds : float
        The longest that a file may take.
    """

    max_itemsets: int = 1_000_000
    max_rules: int = 1_000_000
    seconds: float = 10.0
    download_seconds: float = 120.0


class TooSlowError(ItemixError, TimeoutError):
    """An answer took longer than it may."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"expected an answer within {seconds:g} s, got none; raise min_support, or ask for less at once"
        )


class ThresholdTooLowError(TooManyItemsetsError):
    """More itemsets than allowed reach a threshold; `lowest` is one that is high enough."""

    def __init__(self, threshold: float, max_itemsets: int, lowest: float) -> None:
        super().__init__(
            f"expected at most {max_itemsets:,} itemsets, got more at min_support={threshold:.4g}; "
            f"the lowest that is possible is {lowest:g}"
        )
        self.lowest = lowest


class Deadline:
    """A check that long loops call: it ends them when the time is over, or when nobody waits any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def call_off(self) -> None:
        """Say that nobody waits any more."""
        self._end = -math.inf

    def __call__(self) -> None:
        """Raise TooSlowError if the answer is not wanted any more."""
        if time.monotonic() > self._end:
            raise TooSlowError(self._seconds)


@contextmanager
def held(lock: Lock) -> Iterator[None]:
    """Hold a lock; wait for it as long as the answer is wanted."""
    while not lock.acquire(timeout=_SECONDS_BETWEEN_LOOKS):
        still_wanted()
    try:
        yield
    finally:
        lock.release()


def rounded_up(value: float, digits: int) -> float:
    """Round a positive number up to some significant digits, as people write thresholds."""
    unit = digits - 1 - math.floor(math.log10(value))
    return float(f"{math.ceil(value * 10.0**unit) / 10.0**unit:.{digits}g}")


# Every refusal has one form: {"error": {"code": ..., "message": ...}}.

_LOG = logging.getLogger("itemix.web")

_CODES: tuple[tuple[type[ItemixError], int, str], ...] = (
    (UnknownItemError, 400, "unknown_item"),
    (TooManyItemsetsError, 400, "too_many"),
    (TooSlowError, 503, "too_slow"),
    (ItemixError, 400, "invalid_request"),
)
_CODE_OF_STATUS = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def refusal(status: int, code: str, message: str, **more: float) -> JSONResponse:
    """Return the answer to a request that is refused; the message is one line."""
    content = {"error": {"code": code, "message": " ".join(message.split()), **more}}
    return JSONResponse(content, status, headers={"cache-control": "no-store"})


async def of_library(request: Request, error: Exception) -> JSONResponse:
    """Answer an error that the library has raised on purpose."""
    status, code = next((status, code) for kind, status, code in _CODES if isinstance(error, kind))
    more = {"lowest_min_support": error.lowest} if isinstance(error, ThresholdTooLowError) else {}
    return refusal(status, code, str(error), **more)


async def of_http(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that the framework refuses: no such address, no such method."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    detail = error.detail if isinstance(error, HTTPException) else str(error)
    if status == 404 and detail == "Not Found":
        detail = f"expected one of the addresses in /openapi.json, got {request.url.path[:100]!r}; check it"
    if status == 405:
        detail = f"expected another method for {request.url.path}, got {request.method}; see /openapi.json"
    return refusal(status, _CODE_OF_STATUS.get(status, "invalid_request"), detail)


async def of_bug(request: Request, error: Exception) -> JSONResponse:
    """Answer what should not have happened; the log has more."""
    _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return refusal(500, "internal_error", "expected an answer, got a mistake of itemix; see the server's log")


async def of_nobody(request: Request, error: Exception) -> Response:
    """Answer a client that is gone: nobody reads it, but the metrics count it, with the status of nginx."""
    return Response(status_code=499)


HANDLERS = {ItemixError: of_library, ClientDisconnect: of_nobody, HTTPException: of_http, Exception: of_bug}


R = TypeVar("R")

# Views work in a few threads, so that the event loop stays free for quick answers.
_WORKERS = 4


def make_pool() -> ThreadPoolExecutor:
    """Return the threads of an application."""
    return ThreadPoolExecutor(_WORKERS, thread_name_prefix="view")


async def in_thread(request: Request, work: Callable[[], R], seconds: float) -> R:
    """Do some work in a thread, until its time is over or nobody waits for it any more.

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
