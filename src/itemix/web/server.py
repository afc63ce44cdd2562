"""The server: bind a port, say where it is, answer until it is stopped."""

from __future__ import annotations

import contextlib
import socket
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import uvicorn

from itemix.errors import InvalidInputError
from itemix.web.connections import Connection, ConnectionLimits
from itemix.web.views import about, ask, dependencies, model, patterns, rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.applications import Starlette

    from itemix.web.served import Served

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
        Where from `bound_socket`.
    on_ready : function, optional
        Called once requests are answered.
    """
    # The event loop gets its turn sooner where threads are busy with Python code.
    sys.setswitchinterval(_SECONDS_OF_A_TURN)
    with contextlib.suppress(KeyboardInterrupt):
        make_server(app, on_ready).run(sockets=[listening])


def make_server(
    app: Starlette,
    on_ready: Callable[[], object] | None = None,
    limits: ConnectionLimits | None = None,
) -> uvicorn.Server:
    """Return the server of an application; parameters as in `serve`, and what connections may take."""
    protocol: Any = partial(Connection, limits=limits or ConnectionLimits())
    config = uvicorn.Config(
        app,
        http=protocol,
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="off",
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
    """Ask one question of each kind, so that whatever has to be compiled or read is."""
    threshold = about.about(served, about.AboutQuestion())["first_min_support"]
    item = served.model.items[int(served.model.item_probabilities.argmax())]
    for target in get_args(patterns.Target):
        patterns.itemsets(
            served, patterns.ItemsetsQuestion(min_support=threshold, target=target, include=(item,))
        )
    rules.rules(served, rules.RulesQuestion(min_support=threshold, left=(item,)))
    dependencies.dependencies(served, dependencies.DependenciesQuestion(items=(item,)))
    ask.query(served, ask.QueryQuestion(present=(item,), level=0.9))
    ask.influences(served, ask.InfluencesQuestion(present=(item,)))
    ask.recommend(served, ask.RecommendQuestion(basket=(item,)))
    if served.components is not None:
        model.components(served, model.ComponentsQuestion())
        model.component(served, model.ComponentQuestion())
