"""The views: each answers one kind of question from a served model, with what JSON can hold.

Here is what they share. Questions are pydantic models, read from an address or from JSON, with messages of
our own. The shapes of answers are typed dictionaries.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)
from starlette.exceptions import HTTPException
from typing_extensions import TypedDict

from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from pydantic_core import ErrorDetails
    from starlette.requests import Request

    from itemix._typing import Floats
    from itemix.web.served import Served


MAX_ROWS = 1_000
"""The most rows of one page."""
MAX_POINTS = 2_000
"""The most points of one picture."""
MAX_LENGTH = 1_000
"""The most items of a set that can be asked for."""
MAX_NAMES = 200
MAX_TEXT = 200
_SMALL = 0.1


def _listed(value: object, info: ValidationInfo) -> object:
    """Return names as a tuple; in JSON a single one needs no list.

    Too many are refused here: pydantic looks at all of them first, which takes it a third of a second.
    """
    if not isinstance(value, list | tuple):
        return (value,)
    if len(value) > MAX_NAMES:
        raise InvalidInputError(
            f"expected at most {MAX_NAMES} items in {info.field_name}, got {len(value):,}; ask for fewer"
        )
    return tuple(value)


def _whole_box(box: tuple[float, ...]) -> tuple[float, ...]:
    if len(box) not in (0, 4):
        raise InvalidInputError(
            f"expected box as four numbers, x from, x to, y from and y to, got {len(box)}; leave it out"
        )
    return box


def in_box(box: tuple[float, ...], x: Floats, y: Floats) -> npt.NDArray[np.bool_]:
    """Whether points lie in a box; in none, all do."""
    if not box:
        return np.ones(len(x), dtype=bool)
    x_from, x_to, y_from, y_to = box
    inside: npt.NDArray[np.bool_] = (x >= x_from) & (x <= x_to) & (y >= y_from) & (y <= y_to)
    return inside


ItemName = Annotated[
    str | int, Field(description="The name of an item: text, or a number where the data has numbers.")
]
ItemNames = Annotated[tuple[ItemName, ...], Field(max_length=MAX_NAMES), BeforeValidator(_listed)]
Box = Annotated[
    tuple[float, ...],
    Field(
        max_length=4, description="A box in the picture: x from, x to, y from, y to; nothing is all of it."
    ),
    BeforeValidator(_listed),
    AfterValidator(_whole_box),
]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Order = Literal["descending", "ascending"]


class Question(BaseModel):
    """The base of all questions: any request may name a model."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: str | None = Field(default=None, description="The model that answers; by default the first.")


Probability = Annotated[float, Field(ge=0, le=1)]


class Answer(TypedDict):
    """The base of all shapes: an answer has no other fields than those named."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]


Q = TypeVar("Q", bound=Question)


def read_question(kind: type[Q], given: Mapping[str, object], *, is_text: bool) -> Q:
    """Make a question of what a request gives.

    Parameters
    ----------
    kind : type of Question
        What is asked.
    given : mapping
        Values by name: from an address a list of texts for each name, from JSON the values.
    is_text : bool
        Whether they come from an address. JSON is taken at its types.

    Raises
    ------
    InvalidInputError
        If a name is not a field, or a value is not what its field takes.
    """
    unknown = next((name for name in given if name not in kind.model_fields), None)
    if unknown is not None:
        known = ", ".join([*(field for field in kind.model_fields if field != "model"), "model"])
        raise InvalidInputError(f"expected only the parameters {known}, got {shown(unknown)}; leave it out")
    values = given
    if is_text:
        singles = _single_fields(kind)
        values = {name: _single(name, value) if name in singles else value for name, value in given.items()}
    try:
        return kind.model_validate(values, strict=not is_text)
    except ValidationError as error:
        raise InvalidInputError(_message(kind, error.errors(include_url=False)[0])) from None


def shown(value: object) -> str:
    """Write a value of a request into a message, on one line and not too long."""
    written = repr(value)
    return written if len(written) <= 60 else f"{written[:57]}..."


@cache
def _single_fields(kind: type[Question]) -> frozenset[str]:
    """Return the names that come once in an address."""
    return frozenset(name for name in kind.model_fields if schema_of(kind, name)["type"] != "array")


def _single(name: str, value: object) -> object:
    """Return the only text of a name that is not repeated in an address."""
    if not isinstance(value, list):
        return value
    if len(value) != 1:
        raise InvalidInputError(f"expected {name} once, got it {len(value)} times; leave out all but one")
    return value[0]


@cache
def schema_of(kind: type[Question], name: str) -> dict[str, Any]:
    """Return the JSON schema of a field, without null where that stands for leaving it out."""
    schema: dict[str, Any] = kind.model_json_schema()["properties"][name]
    if "anyOf" in schema:
        schema = {**schema["anyOf"][0], **{key: value for key, value in schema.items() if key != "anyOf"}}
    return schema


def _message(kind: type[Question], error: ErrorDetails) -> str:
    """Say in one line what was expected, what was got and what to try."""
    name, got = str(error["loc"][0]) if error["loc"] else "", error["input"]
    match error["type"]:
        case "value_error":
            return str(error["ctx"]["error"])
        case "missing":
            return f"expected {name}, got none; try {name}={_SMALL}"
    # A value past a bound was read as a number, so it is shown as one.
    is_past = error["type"] in ("greater_than", "greater_than_equal", "less_than_equal")
    return _message_of_field(name, _number(got) if is_past else got, schema_of(kind, name))


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _message_of_field(name: str, got: object, schema: dict[str, Any]) -> str:
    if name == "model":
        return f"expected model as one name, got {shown(got)}; see /models"
    if "enum" in schema:
        return _message_of_choice(name, got, schema["enum"])
    if schema["type"] == "array":
        members = "numbers" if schema["items"].get("type") == "number" else "item names"
        return f"expected {name} as a list of {members}, got {shown(got)} in it; try {name}=[]"
    if schema["type"] == "string":
        return f"expected {name} as a text of at most {MAX_TEXT} characters, got {shown(got)}; shorten it"
    if schema["type"] == "boolean":
        return f"expected {name} as true or false, got {shown(got)}; try {name}=true"
    return _message_of_number(name, got, schema)


def _message_of_choice(name: str, got: object, choices: list[str]) -> str:
    near = get_close_matches(str(got)[:MAX_TEXT], choices, n=1, cutoff=0.5) or choices
    return f"expected {name} to be one of {', '.join(choices)}, got {shown(got)}; try {name}={near[0]}"


def _message_of_number(name: str, got: object, schema: dict[str, Any]) -> str:
    is_open = "exclusiveMinimum" in schema
    low, high = schema["exclusiveMinimum" if is_open else "minimum"], schema["maximum"]
    if schema["type"] == "integer":
        nearest = high if isinstance(got, int) and got > high else low
        return (
            f"expected {name} as a whole number from {low:,} to {high:,}, got {shown(got)}; "
            f"try {name}={nearest}"
        )
    if isinstance(got, int | float) and got > high:
        nearest = high
    elif isinstance(got, int | float) and not is_open:
        nearest = low
    else:
        nearest = _SMALL if low < _SMALL <= high else high
    bounds = f"{'above' if is_open else 'from'} {low:g} to {high:g}"
    return f"expected {name} as a number {bounds}, got {shown(got)}; try {name}={nearest:g}"


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


def as_list(values: npt.NDArray[Any]) -> list[Any]:
    """Return numbers as a list, with None for NaN and infinity, which JSON does not have."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return [x if finite else None for x, finite in zip(values.tolist(), np.isfinite(values), strict=True)]
    listed: list[Any] = values.tolist()
    return listed


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn columns of the same length into rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
