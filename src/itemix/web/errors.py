"""One shape for everything that goes wrong: {"error": {"code": ..., "message": ...}}."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from itemix.errors import ItemixError, TooManyItemsetsError, UnknownItemError
from itemix.web.limits import ThresholdTooLowError, TooSlowError

if TYPE_CHECKING:
    from starlette.requests import Request

_LOG = logging.getLogger("itemix.web")

_CODES: tuple[tuple[type[ItemixError], int, str], ...] = (
    (UnknownItemError, 400, "unknown_item"),
    (TooManyItemsetsError, 400, "too_many"),
    (TooSlowError, 503, "too_slow"),
    (ItemixError, 400, "invalid_request"),
)
_CODE_OF_STATUS = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def refusal(status: int, code: str, message: str, **more: Any) -> JSONResponse:  # noqa: ANN401 - what JSON holds
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
    """Answer a client that is gone: nobody reads it, but the metrics count it, as nginx does."""
    return Response(status_code=499)


HANDLERS = {ItemixError: of_library, ClientDisconnect: of_nobody, HTTPException: of_http, Exception: of_bug}
