"""The middleware: refusals, who may ask, what a browser may do with the answer, and figures for a monitor."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import time
from typing import TYPE_CHECKING

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.process_collector import ProcessCollector
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from itemix.errors import ItemixError, TooManyItemsetsError, UnknownItemError
from itemix.web.served import ThresholdTooLowError, TooSlowError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


HEADERS = {
    "content-security-policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]", "::1")

_OPEN_PATHS = ("/", "/health", "/openapi.json")
_OPEN_FOLDER = "/static/"


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


# Who may ask.


def is_loopback(host: str) -> bool:
    """Whether a host can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class SecureHeaders:
    """Adds the headers that keep a browser from running anything that is not ours."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *RAW_HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class TokenRequired:
    """Lets in who knows the token; the page itself and /health are open, because they hold nothing secret."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http" or self._may_pass(scope):
            await self._app(scope, receive, send)
            return
        refused = refusal(
            401,
            "unauthorized",
            "expected a header 'Authorization: Bearer TOKEN', got none or another; send it",
        )
        refused.headers["www-authenticate"] = "Bearer"
        await refused(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        path = scope["path"]
        if path in _OPEN_PATHS or path.startswith(_OPEN_FOLDER):
            return True
        given = Headers(scope=scope).get("authorization", "").encode()
        return hmac.compare_digest(given, self._expected)


class KnownHosts:
    """Refuses requests for other hosts than this one: a foreign page may let its own name point to us."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] = LOOPBACK_HOSTS) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "")
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if name.lower() not in self._hosts:
                refused = refusal(
                    400, "wrong_host", f"expected the host 127.0.0.1, got {host[:100]!r}; open that one"
                )
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)


_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The figures of one server: requests by address and status, how long they took, what is loaded."""

    def __init__(self, n_models: int) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "itemix_requests", "Requests by address and status.", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "itemix_request_seconds",
            "Seconds until an answer was complete.",
            ["path"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._running = Gauge(
            "itemix_requests_in_progress", "Requests being answered.", registry=self._registry
        )
        Gauge("itemix_models", "Models that are served.", registry=self._registry).set(n_models)

    def record(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    async def endpoint(self, request: Request) -> Response:
        """Answer with all figures, in the text format of Prometheus."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    def started(self) -> None:
        """Count a request that is being answered."""
        self._running.inc()

    def ended(self) -> None:
        """Count one less."""
        self._running.dec()


class Measured:
    """Counts and times every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500

        async def send_and_see(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        self._metrics.started()
        try:
            await self._app(scope, receive, send_and_see)
        finally:
            self._metrics.ended()
            # Take the path of the route. With that of the request, every address that somebody tries would
            # make a new row.
            path = getattr(scope.get("route"), "path", "none")
            self._metrics.record(path, status, time.perf_counter() - began)
