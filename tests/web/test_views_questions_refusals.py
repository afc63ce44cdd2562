"""Bad requests get a 4xx of one shape with one clear line, and the server stays up."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from itemix.errors import InvalidInputError
from itemix.web.app import VIEWS, make_app
from itemix.web.served import Limits, Served
from itemix.web.views import MAX_BODY


def refused(response, status, code):
    """Check the shape of a refusal, and return its message."""
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["code"] == code
    assert "\n" not in error["message"]
    assert 10 < len(error["message"]) < 400
    return error["message"]


@pytest.mark.parametrize(
    ("address", "code", "message"),
    [
        ("/query?present=salso", "unknown_item", "expected one of 92 known items, got 'salso'; did you mean"),
        ("/query", "invalid_request", "expected items that are present or absent, got none"),
        ("/query?present=salsa&absent=salsa", "invalid_request", "got 'salsa' as both"),
        ("/query?present=salsa&level=2", "invalid_request", "expected level as a number from 0.5 to 0.999"),
        ("/itemsets", "invalid_request", "expected min_support, got none"),
        ("/itemsets?min_support=x", "invalid_request", "expected min_support as a number above 0 to 1, got"),
        ("/itemsets?min_support=nan", "invalid_request", "expected min_support as a number above 0 to 1"),
        ("/itemsets?min_support=0.1&limit=1000000000", "invalid_request", "from 0 to 1,000, got 1000000000"),
        ("/itemsets?min_support=0.1&limit=99999999999999999999", "invalid_request", "from 0 to 1,000"),
        ("/itemsets?min_support=0.1&target=some", "invalid_request", "expected target to be one of all"),
        ("/itemsets?min_support=0.1&limt=3", "invalid_request", "got 'limt'; leave it out"),
        ("/itemsets?min_support=0.1&include=%3Cscript%3E", "unknown_item", "got '<script>'"),
        ("/rules?min_support=0.01&min_threshold=0&max_right=9", "too_many", "expected at most 2,000 rules"),
        ("/components?model=plain&limit=0", "invalid_request", "expected limit as a whole number from 1"),
        ("/components/7", "invalid_request", "expected a component from 1 to 6, got 7"),
        ("/recommend?basket=salsa&basket=%00", "unknown_item", r"got '\x00'"),
    ],
)
def test_bad_questions(client, address, code, message):
    """What is wrong is said in one line that names it."""
    assert message in refused(client.get(address), 400, code)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "got a body that is no JSON"),
        (b"{", "got a body that is no JSON"),
        (b'{"present": ["salsa"]', "got a body that is no JSON"),
        (b"\xff\xfe\x00", "got a body that is no JSON"),
        (b"[" * 100_000, "got a body that is no JSON"),
        (b'"salsa"', "expected a JSON object, got 'salsa'"),
        (b'[{"present": []}]', "expected a JSON object"),
        (b'{"present": "salsa", "level": NaN}', "expected level as a number"),
        (b'{"present": {"salsa": 1}}', "expected present as a list of item names"),
        (b'{"present": [["salsa"]]}', "expected present as a list of item names"),
        (b'{"present": ["salsa"], "model": ["a", "b"]}', "expected model as one name"),
    ],
)
def test_bad_bodies(client, body, message):
    """Broken JSON and JSON of other types are told apart."""
    assert message in refused(client.post("/query", content=body), 400, "invalid_request")


def test_a_large_body_is_not_read(client):
    """The size of a body is limited."""
    message = refused(client.post("/query", content=b"x" * (MAX_BODY + 1)), 413, "too_large")
    assert "expected a body of at most" in message


def test_unknown_addresses_models_and_methods(client):
    """404 and 405 have the same shape."""
    assert "/openapi.json" in refused(client.get("/nothing"), 404, "not_found")
    assert "got '/static/../app.py'" in refused(client.get("/static/%2e%2e/app.py"), 404, "not_found")
    assert "see /models" in refused(client.get("/itemsets?model=none&min_support=0.1"), 404, "not_found")
    assert "got DELETE" in refused(client.delete("/itemsets"), 405, "method_not_allowed")


def test_answers_that_take_too_long_are_given_up(model):
    """The time of an answer is limited whatever it spends it on."""
    served = Served("slow", model, limits=Limits(seconds=1e-5))
    with TestClient(make_app([served]), base_url="http://127.0.0.1") as asking:
        refused(asking.get("/itemsets?min_support=0.01"), 503, "too_slow")


def test_bugs_are_not_shown(served):
    """What should not happen is answered with the same shape and without a traceback."""
    served.fitted = None
    app = make_app([served])
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as asking:
        served.model = None
        message = refused(asking.get("/query?present=salsa"), 500, "internal_error")
    assert "Traceback" not in message


def test_models_need_different_names(model):
    """Two models of one name could not be told apart."""
    with pytest.raises(InvalidInputError, match="expected models of different names"):
        make_app([Served("a", model), Served("a", model)])


def test_what_is_no_model_is_not_served():
    """Only models can be served."""
    with pytest.raises(InvalidInputError, match="expected a model to serve as 'x', got list; fit one first"):
        Served("x", [])


def test_data_of_other_items_is_refused(model):
    """Data must have something in common with the model."""
    import itemix

    with pytest.raises(InvalidInputError, match="expected data with items of the model, got none of its 92"):
        Served("x", model, data=itemix.Transactions.from_lists([["nail", "hammer"]]))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.path)
def test_every_field_refuses_what_it_is_not(client, view):
    """Whatever the type of a field is, a value of another one is refused by a line that names the field."""
    path = view.path.replace("{number:int}", "1")
    for name in view.question.model_fields.keys() - {"number"}:
        message = refused(client.post(path, json={name: {"a": 1}}), 400, "invalid_request")
        assert message.startswith("expected ")
        assert name in message or "min_support" in message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
PARAMETERS = [
    "present",
    "given",
    "limit",
    "min_support",
    "level",
    "sort",
    "search",
    "include",
    "left",
    "model",
]


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    view=st.sampled_from(VIEWS),
    body=st.dictionaries(st.sampled_from(PARAMETERS), JSON, max_size=4) | JSON,
)
def test_no_body_breaks_the_server(client, view, body):
    """Whatever JSON is sent, the answer is an answer or a refusal, never a failure."""
    path = view.path.replace("{number:int}", "1")
    response = client.post(path, content=json.dumps(body).encode("utf-8", "surrogatepass"))
    assert response.status_code < 500
    if response.status_code >= 400:
        assert response.json()["error"]["message"]
