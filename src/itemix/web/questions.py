"""What a request may ask: dataclasses whose fields say what they take, read from an address or from JSON."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.items import Label

Q = TypeVar("Q")

_SMALL = 0.1
MAX_NAMES = 200
MAX_TEXT = 200


@dataclass(frozen=True)
class Rule(ABC):
    """What a field takes."""

    @abstractmethod
    def read(self, name: str, value: object, *, is_text: bool) -> object:
        """Return what a text of an address, or a value of JSON, means; or raise InvalidInputError."""


@dataclass(frozen=True)
class Whole(Rule):
    """A whole number between two bounds."""

    low: int
    high: int

    def read(self, name: str, value: object, *, is_text: bool) -> int:
        """Return the number."""
        if is_text and isinstance(value, str):
            digits = value.strip().removeprefix("-")
            value = int(value) if digits.isascii() and digits.isdigit() and len(digits) < 19 else value
        if not isinstance(value, int) or isinstance(value, bool) or not self.low <= value <= self.high:
            nearest = self.high if isinstance(value, int) and value > self.high else self.low
            raise InvalidInputError(
                f"expected {name} as a whole number from {self.low:,} to {self.high:,}, got {shown(value)}; "
                f"try {name}={nearest}"
            )
        return value


@dataclass(frozen=True)
class Number(Rule):
    """A finite number between two bounds, of which the lower one may be left out."""

    low: float
    high: float
    is_open: bool = False

    def read(self, name: str, value: object, *, is_text: bool) -> float:
        """Return the number."""
        if is_text and isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                value = str(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not self._holds(value):
            low = f"above {self.low:g}" if self.is_open else f"from {self.low:g}"
            raise InvalidInputError(
                f"expected {name} as a number {low} to {self.high:g}, got {shown(value)}; "
                f"try {name}={self._usual(value):g}"
            )
        return float(value)

    def _usual(self, value: object) -> float:
        """Return what to try instead: the bound that was passed, or something small."""
        if isinstance(value, int | float) and value > self.high:
            return self.high
        if isinstance(value, int | float) and not self.is_open:
            return self.low
        return _SMALL if self.low < _SMALL <= self.high else self.high

    def _holds(self, value: float) -> bool:
        if not math.isfinite(value) or value > self.high:
            return False
        return value > self.low if self.is_open else value >= self.low


@dataclass(frozen=True)
class Choice(Rule):
    """One of a few words."""

    choices: tuple[str, ...]

    def read(self, name: str, value: object, *, is_text: bool) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.choices:
            near = get_close_matches(str(value)[:MAX_TEXT], self.choices, n=1, cutoff=0.5) or self.choices
            raise InvalidInputError(
                f"expected {name} to be one of {', '.join(self.choices)}, got {shown(value)}; "
                f"try {name}={near[0]}"
            )
        return value


@dataclass(frozen=True)
class Text(Rule):
    """A short text."""

    def read(self, name: str, value: object, *, is_text: bool) -> str:
        """Return the text."""
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise InvalidInputError(
                f"expected {name} as a text of at most {MAX_TEXT} characters, got {shown(value)}; shorten it"
            )
        return value


@dataclass(frozen=True)
class Names(Rule):
    """Item names: in an address the field is repeated, in JSON it is a list."""

    def read(self, name: str, value: object, *, is_text: bool) -> tuple[Label, ...]:
        """Return the names."""
        values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if len(values) > MAX_NAMES:
            raise InvalidInputError(
                f"expected at most {MAX_NAMES} items in {name}, got {len(values):,}; ask for fewer"
            )
        for label in values:
            if not isinstance(label, str | int) or isinstance(label, bool):
                raise InvalidInputError(
                    f"expected {name} as a list of item names, got {shown(label)} in it; try {name}=[]"
                )
        return tuple(values)  # type: ignore[arg-type] # the loop has seen that all are


def whole(default: int | None, low: int, high: int) -> Any:  # noqa: ANN401 - a field of any type
    """Declare a field that is a whole number."""
    return field(default=default, metadata={"rule": Whole(low, high)})


def number(default: float | None, low: float, high: float, *, is_open: bool = False) -> Any:  # noqa: ANN401 - as above
    """Declare a field that is a number; `is_open` leaves the lower bound out."""
    return field(default=default, metadata={"rule": Number(low, high, is_open)})


def choice(default: str, choices: tuple[str, ...]) -> Any:  # noqa: ANN401 - as above
    """Declare a field that is one of a few words."""
    return field(default=default, metadata={"rule": Choice(choices)})


def text() -> Any:  # noqa: ANN401 - as above
    """Declare a field that is a short text, empty by default."""
    return field(default="", metadata={"rule": Text()})


def names() -> Any:  # noqa: ANN401 - as above
    """Declare a field of item names, none by default."""
    return field(default=(), metadata={"rule": Names()})


def read_question(kind: type[Q], given: Mapping[str, object], *, is_text: bool) -> Q:
    """Make a question of what a request gives.

    Parameters
    ----------
    kind : dataclass
        The question; each field has its rule.
    given : mapping
        Values by name: from an address a list of texts for each name, from JSON the values.
    is_text : bool
        Whether they come from an address.

    Raises
    ------
    InvalidInputError
        If a name is not a field, or a value breaks its rule.
    """
    fields = {entry.name: entry for entry in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in fields:
            raise InvalidInputError(
                f"expected only the parameters {', '.join([*fields, 'model'])}, got {shown(name)}; "
                "leave it out"
            )
        values[name] = _read_field(fields[name], value, is_text)
    return kind(**values)


def _read_field(entry: dataclasses.Field[object], value: object, is_text: bool) -> object:
    rule: Rule = entry.metadata["rule"]
    if value is None and entry.default is None:
        return None
    if is_text and isinstance(value, list) and not isinstance(rule, Names):
        if len(value) != 1:
            raise InvalidInputError(
                f"expected {entry.name} once, got it {len(value)} times; leave out all but one"
            )
        value = value[0]
    return rule.read(entry.name, value, is_text=is_text)


def shown(value: object) -> str:
    """Write a value of a request into a message, on one line and not too long."""
    written = repr(value)
    return written if len(written) <= 60 else f"{written[:57]}..."
