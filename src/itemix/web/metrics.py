"""What the server tells a monitor: requests by address and status, how long they took, what is loaded."""

from __future__ import annotations

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
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The figures of one server."""

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
            # The path of the route, not of the request: what anybody tries would make a new row each time.
            path = getattr(scope.get("route"), "path", "none")
            self._metrics.record(path, status, time.perf_counter() - began)
