"""From a request to a question, and to the model that it is for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from itemix.errors import InvalidInputError
from itemix.web.questions import Q, read_question, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from itemix.web.served import Served

MAX_BODY = 1 << 18


async def asked_in(request: Request, kind: type[Q]) -> Q:
    """Read a question from the address, or from a body that is a JSON object.

    Raises
    ------
    InvalidInputError
        If it is no such question.
    HTTPException
        If the body is too large.
    """
    values: dict[str, object] = {}
    is_text = request.method != "POST"
    if is_text:
        for name in request.query_params:
            values[name] = request.query_params.getlist(name)
    else:
        values = _object_of(await _body_of(request))
    values |= request.path_params
    return read_question(kind, values, is_text=is_text)


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
