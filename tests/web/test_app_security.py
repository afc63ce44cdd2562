"""Who may ask, and what a browser may do with the answer."""

import pytest
from starlette.testclient import TestClient

from itemix.web.app import is_loopback, make_app
from itemix.web.served import Served


@pytest.fixture
def guarded(model):
    """An application that wants a token."""
    app = make_app([Served("shop", model)], token="secret-token", only_loopback=False)  # noqa: S106 - of a test
    with TestClient(app, base_url="http://shop.example") as asking:
        yield asking


def test_a_token_is_needed(guarded):
    """Without the token, or with another one, nothing is answered."""
    for headers in ({}, {"authorization": "Bearer other"}, {"authorization": "secret-token"}):
        response = guarded.get("/query?present=salsa", headers=headers)
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "unauthorized"
        assert response.headers["www-authenticate"] == "Bearer"
    for path in ("/models", "/metrics", "/itemsets.csv?min_support=0.1", "/nothing"):
        assert guarded.get(path).status_code == 401


def test_the_token_opens(guarded):
    """With the token, everything is answered."""
    headers = {"authorization": "Bearer secret-token"}
    assert guarded.get("/query?present=salsa", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/", "/health", "/openapi.json", "/static/js/main.js"])
def test_what_holds_nothing_secret_is_open(guarded, path):
    """The page itself can be loaded, to be given the token; a monitor may ask whether the server is up."""
    assert guarded.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/", "/query?present=salsa", "/nothing", "/static/js/main.js"])
def test_every_answer_has_a_strict_policy(client, path):
    """No answer lets a browser run or load anything that is not ours."""
    headers = client.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_other_hosts_are_refused(client, host):
    """A foreign page that points its own name at this machine gets nothing."""
    response = client.get("/models", headers={"host": host})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST", "[::1]:8765", "[::1]"])
def test_this_machine_is_known_by_its_names(client, host):
    """The names of this machine are fine, with and without a port."""
    assert client.get("/models", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),  # noqa: S104 - asked about, not bound
        ("::", False),
        ("10.0.0.4", False),
        ("shop.example", False),
    ],
)
def test_loopback(host, expected):
    """Only addresses of this machine itself need no token."""
    assert is_loopback(host) is expected


def test_no_file_names_another_server():
    """Nothing that the page is made of is loaded from elsewhere."""
    from itemix.web.app import HERE

    for path in (HERE / "static").rglob("*"):
        if path.is_file() and path.parent.name != "vendor":  # links to manuals, which nothing follows
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert "http://" not in text, path
            assert "https://" not in text, path
            assert "innerHTML" not in text, path
