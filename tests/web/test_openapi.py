"""The OpenAPI file is true: every route, every parameter and every answer is as it says."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Mount

import itemix.web
from itemix.web.app import FILES, VIEWS
from itemix.web.downloads import FORMATS
from itemix.web.questions import Choice, Names, Number, Text, Whole

DOCUMENT = json.loads((Path(itemix.web.__file__).parent / "openapi.json").read_text(encoding="utf-8"))

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
    "/rules": {"min_support": 0.05, "points": 3},
}


def documented_path(path):
    """Return a path as OpenAPI writes it."""
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def resolved(schema):
    """Return what a reference leads to."""
    while "$ref" in schema:
        parts = schema["$ref"].removeprefix("#/").split("/")
        schema = DOCUMENT
        for part in parts:
            schema = schema[part]
    return schema


def parameters_of(path):
    """Return the documented parameters of a GET request by name."""
    listed = [resolved(entry) for entry in DOCUMENT["paths"][path]["get"].get("parameters", ())]
    return {entry["name"]: entry for entry in listed}


def test_every_route_is_documented(app):
    """The file has the paths and methods of the application, and no others."""
    routes = {
        (documented_path(route.path), method.lower())
        for route in app.routes
        if not isinstance(route, Mount)
        for method in route.methods - {"HEAD"}
    }
    documented = {(path, method) for path, entry in DOCUMENT["paths"].items() for method in entry}
    assert documented == routes


def schema_of(field):
    """Return the schema of a field, as its rule and its default imply it."""
    rule = field.metadata["rule"]
    schema = {
        Whole: lambda: {"type": "integer", "minimum": rule.low, "maximum": rule.high},
        Number: lambda: {
            "type": "number",
            "exclusiveMinimum" if rule.is_open else "minimum": rule.low,
            "maximum": rule.high,
        },
        Choice: lambda: {"type": "string", "enum": list(rule.choices)},
        Text: lambda: {"type": "string", "maxLength": 200},
        Names: lambda: {"type": "array", "items": {"$ref": "#/components/schemas/Item"}, "maxItems": 200},
    }[type(rule)]()
    return schema | ({"default": field.default} if field.default not in (None, (), "") else {})


QUESTIONS = {documented_path(view.path): view.question for view in VIEWS} | {
    f"/{file.name}.{extension}": file.question for file in FILES for extension in FORMATS
}


@pytest.mark.parametrize("path", QUESTIONS)
def test_every_parameter_is_documented(path):
    """Names, types, bounds, choices and defaults are those of the code."""
    documented = parameters_of(path)
    fields = {field.name: field for field in dataclasses.fields(QUESTIONS[path])}
    assert documented.keys() == {*fields, "model"}
    for name, field in fields.items():
        assert documented[name]["schema"] == schema_of(field), name
        assert documented[name]["description"]
        assert documented[name]["in"] == ("path" if f"{{{name}}}" in path else "query")


@pytest.mark.parametrize("path", EXAMPLES)
def test_bodies_have_the_parameters_of_addresses(path):
    """POST takes what GET takes."""
    body = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    by_name = {name: resolved(schema) for name, schema in body["properties"].items()}
    expected = {name: p["schema"] for name, p in parameters_of(path).items() if p["in"] == "query"}
    assert by_name == expected
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


def test_the_file_is_served(client):
    """The file that is tested is the one that is served."""
    assert client.get("/openapi.json").json() == DOCUMENT
