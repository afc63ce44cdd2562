"""Conditions on columns, as people write them: ``Quantity > 0 and InvoiceNo not starts with C``.

`parsed` reads the text, and `Condition.holds` says for which rows a condition holds. Nothing in the text is
run: it is cut at operators, and the rest are names and values.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itemix.core.encoding import number_values
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

    from itemix._typing import Floats, Marks

MISSING_WORDS = frozenset(
    {"", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "Nan", "None", "n/a", "nan", "null"}
)
"""The words for a missing cell in a table of text."""

_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_TEXT: dict[str, Callable[[str, str], bool]] = {
    "starts with": str.startswith,
    "ends with": str.endswith,
    "contains": operator.contains,
}
# The first alternative that fits is taken, so longer ones come first.
_OPERATOR = re.compile(
    r"\s+(is\s+not\s+missing|is\s+missing|(?:not\s+)?(?:starts\s+with|ends\s+with|contains|in))(?=[\s('\"]|$)"
    r"|\s*(<=|>=|!=|<>|==|=|<|>)",
    re.IGNORECASE,
)
_LARGEST_WHOLE = 2.0**53
_SAME = {"==": "=", "<>": "!="}
_DECIMAL_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?")
_THOUSANDS = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`")
_AND = re.compile(r"\s+and(?:\s+|$)", re.IGNORECASE)
_EXAMPLE = "'Quantity > 0', 'Country in (France, Germany)' or 'InvoiceNo not starts with C'"
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Condition(NamedTuple):
    """One condition on a column.

    Attributes
    ----------
    column : str
        The name of the column.
    operator : str
        One of ``= != < <= > >=``, "in", "starts with", "ends with", "contains" and these after "not", "is
        missing", "is not missing".
    values : tuple of str
        What the column is compared with, as it was written: none with "missing", several with "in".
    """

    column: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f"({', '.join(self.values)})" if self.operator.endswith("in") else " ".join(self.values)
        return f"{self.column} {self.operator} {shown}".rstrip()

    def holds(self, column: Floats | pa.ChunkedArray) -> Marks:
        """Return for which entries of a column the condition holds.

        A missing entry is not equal to anything: only "is missing", ``!=`` and "not ..." hold for it.

        Parameters
        ----------
        column : array of float, or Arrow array
            Numbers, of which NaN is missing, or the column of a table.

        Raises
        ------
        InvalidInputError
            If the value cannot be compared with what is in the column.
        """
        if isinstance(column, np.ndarray):
            return self._of_numbers(column.astype(np.float64), np.isnan(column))
        import pyarrow as pa

        chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
        kind = chunks.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numbers = chunks.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            return self._of_numbers(numbers, np.isnan(numbers))
        missing = chunks.is_null().to_numpy()
        held = np.full(len(chunks), self._of_missing())
        if not missing.all():
            codes, distinct = number_values(chunks.drop_null())
            held[~missing] = np.array(self._of_values(distinct))[codes]
        return held

    @property
    def is_negative(self) -> bool:
        """Whether it is negated: ``!=``, or "not" before another operator."""
        return self.operator.startswith(("not ", "!="))

    def _of_missing(self) -> bool:
        return self.is_negative or self.operator == "is missing"

    def _of_numbers(self, numbers: Floats, missing: Marks) -> Marks:
        if self.operator in ("is missing", "is not missing"):
            return missing if self.operator == "is missing" else ~missing
        if self.operator in ("in", "not in"):
            held = np.isin(numbers, [self._number(value) for value in self.values])
        elif self.operator in _ORDERS:
            with np.errstate(invalid="ignore"):
                held = _ORDERS[self.operator](numbers, self._number(self.values[0]))
            return np.where(missing, self._of_missing(), held)
        else:
            texts = [written(number) for number in numbers.tolist()]
            held = np.array([self._text(text) for text in texts], dtype=np.bool_)
            return np.where(missing, self._of_missing(), held)
        return np.where(missing, self._of_missing(), held != self.is_negative)

    def _of_values(self, distinct: pa.Array) -> list[bool]:
        """Return whether the condition holds for each of some values, none of which is missing."""
        import pyarrow as pa

        if pa.types.is_boolean(distinct.type):
            return [self._truth(value) for value in distinct.to_pylist()]
        texts = [value.strip() if isinstance(value, str) else str(value) for value in distinct.to_pylist()]
        if self.operator in ("is missing", "is not missing"):
            return [(text in MISSING_WORDS) == (self.operator == "is missing") for text in texts]
        present = [text for text in texts if text not in MISSING_WORDS]
        plain = dict(zip(present, plain_numbers(present), strict=True))
        return [
            self._of_missing()
            if text in MISSING_WORDS and text not in self.values
            else self._text(plain.get(text, text))
            for text in texts
        ]

    def _text(self, text: str) -> bool:
        """Whether the condition holds for a text, which may be a number."""
        name = self.operator.removeprefix("not ")
        if name in _TEXT:
            return _TEXT[name](text, self.values[0]) != self.is_negative
        if name == "in":
            return any(_is_equal(text, value) for value in self.values) != self.is_negative
        value = self.values[0]
        if name in ("=", "!="):
            return _is_equal(text, value) != self.is_negative
        number, other = _as_number(value), _as_number(text)
        if number is None:
            return bool(_ORDERS[name](text, value))  # as dates are written, year first
        if other is None:
            raise InvalidInputError(
                f"expected numbers in column {self.column!r}, to compare with {value}, got {text!r:.40}; "
                "compare with = or 'in'"
            )
        return bool(_ORDERS[name](other, number))

    def _truth(self, value: bool) -> bool:
        name = self.operator.removeprefix("not ")
        if self.operator in ("is missing", "is not missing"):
            return self.operator == "is not missing"
        wanted = [_TRUTH.get(text.lower()) for text in self.values]
        if None in wanted or name not in ("=", "!=", "in"):
            raise InvalidInputError(
                f"expected a condition such as '{self.column} = true' on a column of truth values, got "
                f"{str(self)!r}; write it so"
            )
        return (value in wanted) != self.is_negative

    def _number(self, text: str) -> float:
        number = _as_number(text)
        if number is None:
            raise InvalidInputError(
                f"expected a number to compare column {self.column!r} with, got {text!r:.40}; try "
                f"'{self.column} {self.operator} 0'"
            )
        return number


def plain_numbers(texts: Sequence[str]) -> list[str]:
    """Write numbers as programs do, if all texts are such with commas before decimals or between thousands.

    All of them must be written in the same way: 1,234 is more than a thousand, unless another text shows that
    commas stand before decimals.
    """
    if any("," in text for text in texts):
        if all(map(_THOUSANDS.fullmatch, texts)):
            return [text.replace(",", "") for text in texts]
        if all(map(_DECIMAL_COMMA.fullmatch, texts)):
            return [text.replace(".", "").replace(",", ".") for text in texts]
    return list(texts)


def parsed(conditions: str | Iterable[str] | None) -> tuple[Condition, ...]:
    """Read conditions, all of which must hold: one text with "and" between them, or several texts.

    Names and values with blanks, commas or operators in them stand in quotes.

    Raises
    ------
    InvalidInputError
        If a condition has another form.

    Examples
    --------
    >>> from itemix.core.conditions import parsed
    >>> for condition in parsed("Quantity > 0 and Country in (France, 'United Kingdom')"):
    ...     print(condition.column, "|", condition.operator, "|", condition.values)
    Quantity | > | ('0',)
    Country | in | ('France', 'United Kingdom')
    """
    if conditions is None:
        return ()
    texts = [conditions] if isinstance(conditions, str) else list(conditions)
    found: list[Condition] = []
    for text in texts:
        if not isinstance(text, str):
            raise InvalidInputError(f"expected a condition as text, got {text!r:.60}; try {_EXAMPLE}")
        found += [_condition(part, text) for part in _cut(text, _AND)]
    return tuple(found)


def _cut(text: str, mark: re.Pattern[str]) -> list[str]:
    """Cut a text at marks that are not in quotes."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    parts, start = [], 0
    for match in mark.finditer(text):
        if not any(low < match.start() < high for low, high in quoted):
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _condition(part: str, whole: str) -> Condition:
    quoted = _QUOTED.match(part.strip())
    rest = part.strip()
    found = _OPERATOR.search(rest, 0 if quoted is None else quoted.end())
    column = "" if found is None else _bare(rest[: found.start()])
    if found is None or not column:
        raise _wrong(whole)
    name = " ".join((found[1] or found[2]).lower().split())
    name = _SAME.get(name, name)
    text = rest[found.end() :].strip()
    if name.endswith("missing"):
        if text:
            raise _wrong(whole)
        return Condition(column, name)
    if name in ("in", "not in"):
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        values = tuple(_bare(cell) for cell in _cut(text, re.compile(",")))
    else:
        values = (_bare(text),)
    if not text:
        raise _wrong(whole)
    return Condition(column, name, values)


def _wrong(text: str) -> InvalidInputError:
    return InvalidInputError(f"expected a column, an operator and a value, got {text!r:.80}; try {_EXAMPLE}")


def _bare(text: str) -> str:
    """Return a name or value without the quotes around it."""
    text = text.strip()
    match = _QUOTED.fullmatch(text)
    return text if match is None else next(part for part in match.groups() if part is not None)


def _as_number(text: str) -> float | None:
    if not re.fullmatch(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf", text):
        return None
    return float(text)


def _is_equal(text: str, value: str) -> bool:
    if text == value:
        return True
    number = _as_number(value)
    return number is not None and number == _as_number(text)


def written(value: float) -> str:
    """Write a number as people would: 3 for 3.0, and no more digits than it has."""
    number = float(value)
    return str(int(number)) if abs(number) < _LARGEST_WHOLE and number.is_integer() else repr(number)
