"""Connections: how long the head of a request may be, how long one is waited for, how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from itemix.web.errors import refusal
from itemix.web.middleware import RAW_HEADERS

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True)
class ConnectionLimits:
    """What requests may take before anybody looks at them.

    Parameters
    ----------
    head_bytes : int
        The longest head: the address and all headers.
    seconds : float
        The longest that a request may take to arrive.
    connections : int
        The most connections at a time.
    """

    head_bytes: int = 1 << 16
    seconds: float = 30.0
    connections: int = 512


class _HeadTooLongError(Exception):
    """Ends the parsing of a request."""


class Connection(HttpToolsProtocol):
    """A connection as uvicorn has it, within limits.

    Past the most connections, the one that has been waiting for its request for longest is closed: half-sent
    requests make room for whole ones.
    """

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **more: Any) -> None:  # noqa: ANN401 - uvicorn's
        super().__init__(*arguments, **more)
        self._limits = limits
        self._is_in_head = self._is_arriving = False
        self._n_begun = self._head_bytes = 0
        self.waiting_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        self._start_timer()
        if len(self.connections) > self._limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request, or of several."""
        was_in_head, was_arriving, self._n_begun = self._is_in_head, self._is_arriving, 0
        super().data_received(data)
        if self.transport.is_closing():
            return
        # The piece is part of one head, and of nothing else, if no other request ends or begins in it.
        if self._is_in_head and (was_in_head or not was_arriving) and self._n_begun == (not was_in_head):
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.head_bytes:
                self._refuse_head()
        if not self._is_arriving:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._is_in_head = self._is_arriving = True
        self._n_begun += 1
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        """Answer a request whose head is there."""
        self._is_in_head = False
        head_bytes = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if head_bytes > self._limits.head_bytes:
            self._refuse_head()
            raise _HeadTooLongError
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request."""
        self._is_arriving = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self.waiting_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the shape of all refusals."""
        self.refuse(400, "invalid_request", "expected an HTTP request, got something else; check the address")

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self._limits.seconds, self._refuse_to_wait)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse_head(self) -> None:
        most = self._limits.head_bytes
        message = f"expected an address and headers of at most {most:,} bytes, got more; try POST"
        self.refuse(431, "too_large", message)

    def _refuse_to_wait(self) -> None:
        message = f"expected a request within {self._limits.seconds:g} s, got a part of it; send it at once"
        self.refuse(408, "too_slow", message)

    def _make_room(self) -> None:
        """Close the connection that has waited for its request for longest; it may be this one."""
        most = self._limits.connections
        others = [other for other in self.connections if isinstance(other, Connection)]
        still_open = [other for other in others if not other.transport.is_closing()]
        if len(still_open) <= most:
            return
        waiting = [other for other in still_open if other.is_waiting]
        oldest = min(waiting, key=lambda other: other.waiting_since, default=self)
        oldest.refuse(503, "too_busy", f"expected at most {most:,} connections, got more; try again later")

    @property
    def is_waiting(self) -> bool:
        """Whether no request of this connection is being answered."""
        return self._is_arriving or self.cycle is None or self.cycle.response_complete

    def refuse(self, status: int, code: str, message: str) -> None:
        """Answer, if that is still possible, and close the connection."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            response = refusal(status, code, message)
            headers = *response.raw_headers, *RAW_HEADERS, (b"connection", b"close")
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
            lines += [name + b": " + value for name, value in headers]
            self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self.transport.close()
