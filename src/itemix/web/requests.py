"""From a request to a model and a question."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from starlette.exceptions import HTTPException

from itemix.errors import InvalidInputError
from itemix.web.questions import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from itemix.web.served import Served

MAX_BODY = 1 << 18


class Given(NamedTuple):
    """What a request gives: the name of a model, and values by the names of parameters."""

    model: str | None
    values: dict[str, object]
    is_text: bool


async def read_request(request: Request) -> Given:
    """Read the parameters from the address, or from a body that is a JSON object.

    Raises
    ------
    InvalidInputError
        If the body is no such object.
    HTTPException
        If it is too large.
    """
    values: dict[str, object] = {}
    if request.method == "POST":
        values = _object_of(await _body_of(request))
    else:
        for name in request.query_params:
            values[name] = request.query_params.getlist(name)
    for name, value in request.path_params.items():
        values[name] = value if request.method == "POST" else [str(value)]
    return Given(_model_name(values.pop("model", None)), values, request.method != "POST")


def chosen_model(models: Sequence[Served], name: str | None) -> Served:
    """Return a model by its name; the first if there is no name.

    Raises
    ------
    HTTPException
        If there is no such model.
    """
    if name is None:
        return models[0]
    for served in models:
        if served.name == name:
            return served
    known = ", ".join(repr(served.name) for served in models[:5])
    raise HTTPException(404, f"expected one of the models {known}, got {shown(name)}; see /models")


async def _body_of(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(
                413, f"expected a body of at most {MAX_BODY:,} bytes, got a larger one; ask for less"
            )
    return bytes(body)


def _object_of(body: bytes) -> dict[str, object]:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0][:100]
        raise InvalidInputError(
            f"expected a JSON object, got a body that is no JSON ({reason}); check it"
        ) from None
    if not isinstance(values, dict):
        raise InvalidInputError(f'expected a JSON object, got {shown(values)}; try {{"present": []}}')
    return values


def _model_name(value: object) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is not None and not isinstance(value, str):
        raise InvalidInputError(f"expected model as one name, got {shown(value)}; see /models")
    return value
