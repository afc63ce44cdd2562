"""Who may ask, and what a browser may do with the answer."""

from __future__ import annotations

import hmac
import ipaddress
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from itemix.web.errors import refusal

if TYPE_CHECKING:
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
    """Lets those in who know the token; the page itself and /health are open, they hold nothing secret."""

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
    """Refuses requests for other hosts than this one: a foreign page may point its own name at us."""

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
