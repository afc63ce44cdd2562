"""The OpenAPI document: what may be asked at each address and what is answered, from questions and shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

import itemix
from itemix.web import answers
from itemix.web.questions import schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix.web.questions import Question

Json = dict[str, Any]

_ABOUT = (
    "Every answer of the explorer's page comes from here. Parameters go into the address of a GET request, "
    "names of items repeated, or as a JSON object into the body of a POST request. Whatever is refused has "
    "one shape, with a code and one line that says what to do."
)
_REFERENCE = "#/components/schemas/{model}"
_REFUSED = {"$ref": "#/components/responses/Refused"}


class Document:
    """The document, to which addresses are added.

    Parameters
    ----------
    shapes : iterable of types
        The shapes of all answers.
    """

    def __init__(self, shapes: Iterable[Any]) -> None:
        every = (*shapes, answers.Refusal)
        mode: Literal["serialization"] = "serialization"
        by_shape, schemas = TypeAdapter.json_schemas(
            [(shape, mode, TypeAdapter(shape)) for shape in every], ref_template=_REFERENCE
        )
        self._schema_of = {shape: schema for (shape, _), schema in by_shape.items()}
        self._schemas = schemas.get("$defs", {})
        self._paths: Json = {}

    def add_view(self, path: str, summary: str, question: type[Question], shape: object) -> None:
        """Add an address that answers with JSON, to GET and to POST."""
        content = {"application/json": {"schema": self._schema_of[shape]}}
        responses = _responses("The answer.", content)
        parameters = _parameters(question, path)
        in_path = [entry for entry in parameters if entry["in"] == "path"]
        get: Json = {"summary": summary, "parameters": parameters, "responses": responses}
        body = _body(question, {entry["name"] for entry in in_path})
        post: Json = {"summary": "The same, with a JSON body.", "responses": responses, "requestBody": body}
        self._paths[path] = {"get": get, "post": post | ({"parameters": in_path} if in_path else {})}

    def add_file(self, path: str, summary: str, question: type[Question], media_type: str) -> None:
        """Add an address that answers with a file."""
        responses = _responses("The file; itemix reads it back.", {media_type: {}})
        get = {"summary": summary, "parameters": _parameters(question, path), "responses": responses}
        self._paths[path] = {"get": get}

    def add_other(self, path: str, summary: str, media_type: str, shape: object = None) -> None:
        """Add an address where nothing can be asked."""
        content = {media_type: {} if shape is None else {"schema": self._schema_of[shape]}}
        responses = {"200": {"description": "The answer.", "content": content}}
        self._paths[path] = {"get": {"summary": summary, "responses": responses}}

    def as_json(self) -> Json:
        """Return all of it."""
        refused = {"application/json": {"schema": self._schema_of[answers.Refusal]}}
        return {
            "openapi": "3.1.0",
            "info": {
                "title": "itemix",
                "summary": "Questions to models of transactions.",
                "description": _ABOUT,
                "version": itemix.__version__,
                "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
            },
            "paths": self._paths,
            "components": {
                "schemas": self._schemas,
                "responses": {"Refused": {"description": "Refused, and why.", "content": refused}},
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "Where others than this machine can ask.",
                    }
                },
            },
            "security": [{}, {"token": []}],
        }


def _responses(description: str, content: Json) -> Json:
    return {"200": {"description": description, "content": content}, "4XX": _REFUSED, "503": _REFUSED}


def _parameters(question: type[Question], path: str) -> list[Json]:
    return [_parameter(question, name, f"{{{name}}}" in path) for name in question.model_fields]


def _parameter(question: type[Question], name: str, is_in_path: bool) -> Json:
    schema = dict(schema_of(question, name))
    description = schema.pop("description")
    schema.pop("title", None)
    if schema.get("default") is None:
        schema.pop("default", None)
    is_required = is_in_path or question.model_fields[name].is_required()
    entry = {"name": name, "in": "path" if is_in_path else "query", "description": description}
    return entry | ({"required": True} if is_required else {}) | {"schema": schema}


def _body(question: type[Question], left_out: set[str]) -> Json:
    schema = question.model_json_schema()
    schema["properties"] = {
        name: entry for name, entry in schema["properties"].items() if name not in left_out
    }
    return {"required": True, "content": {"application/json": {"schema": schema}}}
