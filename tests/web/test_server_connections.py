"""What half-sent, endless and too many requests may take, over real sockets."""

import asyncio
import json
import socket
import time
import urllib.request
from contextlib import ExitStack, closing

import pytest
import uvicorn
from uvicorn.server import ServerState

from itemix.web.server import Connection, ConnectionLimits

HEAD = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n"


@pytest.fixture
def address(serve, app):
    """A server that waits for a second, and has room for eight connections."""
    with serve(app, ConnectionLimits(seconds=1.0, connections=8)) as found:
        yield found


def connected(address):
    """Return a connection."""
    return socket.create_connection(address, timeout=10)


def answer_to(client, sent=b""):
    """Send something; return the status and the error of the answer, and see the connection end."""
    client.sendall(sent)
    received = b""
    while piece := client.recv(1 << 16):
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"content-security-policy: default-src 'self'" in head
    return int(head.split()[1]), json.loads(body)["error"]


def health(address):
    """Ask whether the server is up, and return how long that took."""
    began = time.perf_counter()
    with urllib.request.urlopen(f"http://127.0.0.1:{address[1]}/health", timeout=10) as response:
        assert response.status == 200
    return time.perf_counter() - began


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"x: " + b"y" * 70_000 + b"\r\n\r\n",
        HEAD + b"x: y\r\n" * 12_000 + b"\r\n",
        b"GET /health?" + b"y" * 70_000 + b" HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        HEAD + b"x: " + b"y" * 70_000,
    ],
    ids=["long header", "many headers", "long address", "not even complete"],
)
def test_a_long_head_is_refused(address, sent):
    """More than 64 KiB of head get 431 and the end of the connection."""
    with connected(address) as client:
        status, error = answer_to(client, sent)
    assert status == 431
    assert error["code"] == "too_large"
    assert "expected an address and headers of at most 65,536 bytes, got more" in error["message"]


def test_an_endless_head_is_cut_off(address):
    """Nobody reads it to the end, and others do not wait."""
    sent = 0
    with connected(address) as client, pytest.raises(OSError, match=r"(?i)reset|broken pipe"):  # noqa: PT012 - until it breaks
        client.sendall(HEAD + b"x: ")
        while sent < 100 << 20:
            client.sendall(b"y" * (1 << 16))
            sent += 1 << 16
    assert sent < 50 << 20
    assert health(address) < 1


def test_heads_up_to_the_limit_are_read(address):
    """A long head that is allowed is answered, also in pieces, also after another request."""
    body = json.dumps({"present": ["salsa"] * 100}).encode()
    post = b"POST /query HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n" % len(body)
    last = HEAD + b"connection: close\r\nx: " + b"y" * 60_000 + b"\r\n\r\n"
    with connected(address) as client:
        client.sendall(post + body)
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        client.sendall(last[:30_000])
        time.sleep(0.1)
        client.sendall(last[30_000:])
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET", HEAD, b"POST /query HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{"],
    ids=["nothing", "a word", "no end of the head", "half a body"],
)
def test_a_request_that_does_not_arrive_is_given_up(address, sent):
    """Whatever of it has come, the connection is closed when the time is over."""
    began = time.monotonic()
    with connected(address) as client:
        status, error = answer_to(client, sent)
    assert (status, error["code"]) == (408, "too_slow")
    assert "expected a request within 1 s, got a part of it" in error["message"]
    assert 0.9 < time.monotonic() - began < 5


def test_a_slow_drip_does_not_win_time(address):
    """The time is that of the request, not of its last byte."""
    began = time.monotonic()
    with connected(address) as client, pytest.raises(OSError, match=r"(?i)reset|broken pipe|gone"):  # noqa: PT012 - until it breaks
        client.sendall(HEAD)
        while time.monotonic() - began < 5:
            client.sendall(b"x: y\r\n")
            time.sleep(0.1)
    assert time.monotonic() - began < 4


def test_half_sent_requests_make_room(address):
    """Any number of them: the one that has waited for longest goes, and others are answered."""
    with ExitStack() as stack:
        first = stack.enter_context(connected(address))
        first.sendall(HEAD)
        for _ in range(19):
            stack.enter_context(connected(address)).sendall(HEAD)
        assert health(address) < 1
        status, error = answer_to(first)
    assert (status, error["code"]) == (503, "too_busy")
    assert "expected at most 8 connections, got more" in error["message"]


class StillLoop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still, as that of uvloop does while it takes one connection after another."""

    def time(self):
        """Return the same time at every call."""
        return 1.0


class Wire(asyncio.Transport):
    """A connection that notes whether it was closed."""

    closed = False

    def close(self):
        """Close it."""
        self.closed = True

    def is_closing(self):
        """Whether it was closed."""
        return self.closed

    def write(self, data):
        """Send nothing."""


def test_the_first_of_many_at_once_makes_room(app):
    """Connections that come in one turn of the loop, at one time of its clock, go in the order they came."""
    config = uvicorn.Config(app, log_config=None, access_log=False)
    config.load()
    with closing(StillLoop()) as loop:
        state, limits = ServerState(), ConnectionLimits(connections=3)
        wires = [Wire() for _ in range(20)]
        for n, wire in enumerate(wires, 1):
            Connection(config, state, {}, loop, limits=limits).connection_made(wire)
            assert [other.closed for other in wires[:n]] == [True] * (n - 3) + [False] * min(n, 3)


def test_hundreds_of_half_sent_requests_do_not_stop_others(serve, app):
    """With the usual limits."""
    with serve(app) as address, ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(connected(address)).sendall(HEAD)
        assert max(health(address) for _ in range(20)) < 1


def test_what_is_no_http_is_refused_in_the_usual_shape(address):
    """Also what no application gets to see."""
    with connected(address) as client:
        status, error = answer_to(client, b"\x16\x03\x01 hello\r\n\r\n")
    assert (status, error["code"]) == (400, "invalid_request")
