"""The server: it binds a port, says where it is, and answers until it is stopped."""

from __future__ import annotations

import contextlib
import gc
import itertools
import socket
import sys
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, get_args

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from itemix.errors import InvalidInputError, ItemixError
from itemix.kernels.jit import use_compiled_code
from itemix.web.app import RAW_HEADERS, refusal
from itemix.web.views import ask, differences, model, patterns, segments

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from starlette.applications import Starlette

    from itemix.web.served import Served


@dataclass(frozen=True)
class ConnectionLimits:
    """What requests may take before they are answered.

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


# The order in which connections began to wait. The loop's clock does not tell it: it stands still while the
# loop takes one connection after another.
_turns = itertools.count(1)


class _HeadTooLongError(Exception):
    """Ends the parsing of a request."""


class Connection(HttpToolsProtocol):
    """A connection as uvicorn has it, within limits.

    When there are too many connections, the one that has waited longest for its request is closed: half-sent
    requests make room for whole ones.
    """

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **more: Any) -> None:  # noqa: ANN401 - uvicorn's
        super().__init__(*arguments, **more)
        self._limits = limits
        self._is_in_head = self._is_arriving = False
        self._n_begun = self._head_bytes = 0
        self.turn = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.turn = next(_turns)
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
        self.turn = next(_turns)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, in the form of all refusals."""
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
        oldest = min(waiting, key=lambda other: other.turn, default=self)
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


_SECONDS_TO_END = 2
_LAST_PORT = 65_535
_SECONDS_OF_A_TURN = 0.0005


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 takes any that is free.

    Raises
    ------
    InvalidInputError
        If the port is taken, or the host is not one of this machine.
    """
    if not 0 <= port <= _LAST_PORT:
        raise _not_free(host, port, ValueError(f"there is none above {_LAST_PORT}"))
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise _not_free(host, port, error) from None
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise _not_free(host, port, error) from None
    return listening


def _not_free(host: str, port: int, error: Exception) -> InvalidInputError:
    reason = getattr(error, "strerror", None) or error
    return InvalidInputError(
        f"expected a free port of this machine, got {host}:{port} ({reason}); try --port 0 for any"
    )


def address_of(listening: socket.socket) -> str:
    """Return the address of the page at a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(app: Starlette, listening: socket.socket, on_ready: Callable[[], object] | None = None) -> None:
    """Answer requests until the process is told to end; Ctrl-C is a usual end.

    Parameters
    ----------
    app : Starlette
        What answers.
    listening : socket
        Where to listen, from `bound_socket`.
    on_ready : function, optional
        Called once requests are answered.
    """
    # What is loaded by now stays, so that the garbage collector, which stops everybody, need not look at it.
    gc.freeze()
    # The event loop gets its turn sooner where threads are busy with Python code.
    sys.setswitchinterval(_SECONDS_OF_A_TURN)
    with contextlib.suppress(KeyboardInterrupt):
        make_server(app, on_ready).run(sockets=[listening])


def make_server(
    app: Starlette,
    on_ready: Callable[[], object] | None = None,
    limits: ConnectionLimits | None = None,
) -> uvicorn.Server:
    """Return the server of an application; parameters as in `serve`, and the limits of connections."""
    protocol: Any = partial(Connection, limits=limits or ConnectionLimits())
    config = uvicorn.Config(
        app,
        http=protocol,
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    return _Server(config, on_ready)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], object] | None) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._on_ready is not None and self.started:
            self._on_ready()


def warm_up(served: Served) -> None:
    """Ask one question of each kind, so that all is compiled and read before the first visitor comes."""
    use_compiled_code()
    threshold = model.about(served, model.AboutQuestion())["first_min_support"]
    item = served.model.items[int(served.model.item_probabilities.argmax())]
    for target in get_args(patterns.Target):
        patterns.itemsets(
            served, patterns.ItemsetsQuestion(min_support=threshold, target=target, include=(item,))
        )
    patterns.rules(served, patterns.RulesQuestion(min_support=threshold, left=(item,)))
    model.dependencies(served, model.DependenciesQuestion(items=(item,)))
    ask.query(served, ask.QueryQuestion(present=(item,), level=0.9))
    ask.influences(served, ask.InfluencesQuestion(present=(item,)))
    ask.recommend(served, ask.RecommendQuestion(basket=(item,)))
    if served.test is not None:
        # A model without a posterior, or data that it was fitted to, is refused: the page says so.
        with contextlib.suppress(ItemixError):
            differences.surprises(served, differences.SurprisesQuestion(min_support=threshold))
        with contextlib.suppress(ItemixError):
            differences.compare(served, differences.CompareQuestion(min_support=threshold))
    if served.components is not None:
        segments.components(served, segments.ComponentsQuestion())
        segments.component(served, segments.ComponentQuestion())
        with contextlib.suppress(ItemixError):  # causes have no map, and neither have very many components
            segments.segment_map(served, segments.MapQuestion())
    model.overview(served, model.OverviewQuestion())
    ask.evidence(served, ask.EvidenceQuestion(set=(item,)))
