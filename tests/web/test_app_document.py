"""The OpenAPI document is true: every route and every answer is as it says."""

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Mount

from itemix.mining.measures import MEASURES, NEED_COUNTS
from itemix.web.app import document

DOCUMENT = document()

EXAMPLES = {
    "/model": {},
    "/items": {"search": "milk"},
    "/itemsets": {"min_support": 0.05},
    "/components": {},
    "/components/{number}": {},
    "/dependencies": {"limit": 5},
    "/query": {"present": ["salsa"], "given": ["beer"], "level": 0.9},
    "/influences": {"present": ["salsa"]},
    "/recommend": {"basket": ["salsa"]},
    "/overview": {},
    "/map": {"kinds": 2},
    "/what-if": {"basket": ["salsa", "beer"]},
    "/agreement": {"min_support": 0.05, "most": 5},
    "/evidence": {"set": ["salsa"]},
    "/rules": {"min_support": 0.05, "points": 3},
    "/surprises": {"min_support": 0.05, "points": 3},
    "/compare": {"min_support": 0.02},
    "/shifts": {"level": 1.0},
}
NEED_DATA = ("/surprises", "/compare", "/shifts", "/agreement")


def parameters_of(path):
    """Return the documented parameters of a GET request by name."""
    asked = DOCUMENT["paths"][path].get("get", {})
    return {entry["name"]: entry for entry in asked.get("parameters", ())}


def test_every_route_is_documented(app):
    """The document has the paths and methods of the application, and no others."""
    routes = {
        (route.path.replace(":int}", "}"), method.lower())
        for route in app.routes
        if not isinstance(route, Mount)
        for method in route.methods - {"HEAD"}
    }
    documented = {(path, method) for path, entry in DOCUMENT["paths"].items() for method in entry}
    assert documented == routes


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_every_parameter_is_described(path):
    """Each has a line, a type and, where it is a number, its bounds."""
    for name, entry in parameters_of(path).items():
        schema = entry["schema"]
        assert entry["description"], name
        assert entry["in"] == ("path" if f"{{{name}}}" in path else "query")
        if schema["type"] in ("integer", "number"):
            assert "maximum" in schema, name
            assert "minimum" in schema or "exclusiveMinimum" in schema, name


def test_parameters_are_documented_as_they_are_checked():
    """Names, types, bounds, choices and defaults, one of each kind."""
    by_name = parameters_of("/itemsets")
    assert by_name["min_support"]["required"] is True
    assert by_name["min_support"]["schema"] == {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    assert by_name["max_len"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000}
    assert by_name["limit"]["schema"] == {"type": "integer", "minimum": 0, "maximum": 1000, "default": 50}
    assert by_name["target"]["schema"]["enum"] == ["all", "closed", "maximal"]
    assert by_name["include"]["schema"]["maxItems"] == 200
    assert by_name["search"]["schema"]["maxLength"] == 200
    without_counts = {name for name in MEASURES if name not in NEED_COUNTS}
    assert set(parameters_of("/rules")["sort"]["schema"]["enum"]) == without_counts


@pytest.mark.parametrize("path", EXAMPLES)
def test_bodies_have_the_parameters_of_addresses(path):
    """POST takes what GET takes."""
    body = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(body["properties"]) == {
        name for name, entry in parameters_of(path).items() if entry["in"] == "query"
    }
    assert body["additionalProperties"] is False


@pytest.mark.parametrize("name", ["shop", "plain"])
@pytest.mark.parametrize("path", EXAMPLES)
def test_answers_have_the_documented_shape(client, path, name):
    """An answer validates against its schema, which allows nothing else."""
    values = dict(EXAMPLES[path])
    if name == "plain":
        values = {key: ["10"] if isinstance(value, list) else value for key, value in values.items()}
    if name == "plain" and path == "/query":
        del values["given"]
    response = client.get(path.replace("{number}", "1"), params={**values, "model": name})
    if name == "plain" and path in NEED_DATA:
        assert response.status_code == 400
        validate(response.json(), DOCUMENT["components"]["responses"]["Refused"])
        return
    assert response.status_code == 200, response.text
    validate(response.json(), DOCUMENT["paths"][path]["get"]["responses"]["200"])


@pytest.mark.parametrize("path", ["/health", "/models"])
def test_other_answers_have_the_documented_shape(client, path):
    """So do the answers that need no question."""
    validate(client.get(path).json(), DOCUMENT["paths"][path]["get"]["responses"]["200"])


@pytest.mark.parametrize("address", ["/query?present=x", "/itemsets?min_support=1e-9", "/x", "/query"])
def test_refusals_have_the_documented_shape(client, address):
    """Whatever is refused has the one shape of errors."""
    validate(client.get(address).json(), DOCUMENT["components"]["responses"]["Refused"])


def validate(answer, response):
    """Check an answer against the schema of a documented response."""
    schema = {**response["content"]["application/json"]["schema"], "components": DOCUMENT["components"]}
    Draft202012Validator(schema).validate(answer)


def test_the_document_is_served(client):
    """What is tested is what is served, and it is valid JSON schema."""
    assert client.get("/openapi.json").json() == DOCUMENT
