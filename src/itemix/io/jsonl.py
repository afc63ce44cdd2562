"""JSONL: a list of item names in each line, or an object with such a list in one field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from itemix._arrays import in_batches
from itemix.core.encoding import Encoded, check_column, columns_shown, encode_lists
from itemix.errors import InvalidInputError
from itemix.io.detect import LIST_NAMES, find_column
from itemix.io.source import text_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.core.items import Label
    from itemix.io.detect import ReadOptions
    from itemix.io.source import Source

_LINE_SHOWN = 40


def read_jsonl(source: Source, options: ReadOptions) -> Encoded:
    """Read lists of item names; empty lines are left out, an empty list is an empty transaction.

    Raises
    ------
    InvalidInputError
        If a line is not JSON, or holds no list of names; the message names the line.
    """
    return encode_lists(_lists(source, options))


def jsonl_pieces(source: Source, options: ReadOptions) -> Iterator[Encoded]:
    """Read lists of item names piece by piece, each with items of its own.

    Raises
    ------
    InvalidInputError
        As in `read_jsonl`.
    """
    return map(encode_lists, in_batches(_lists(source, options)))


def _lists(source: Source, options: ReadOptions) -> Iterator[list[Label]]:
    field = options.item
    kinds: set[type] = set()
    checked = False
    for number, line in enumerate(text_lines(source, options.encoding), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            where = f"in line {number:,} of {source.label}"
            raise InvalidInputError(
                f"expected JSON in every line, got {_shortened(line)} ({_problem(error)}) {where}; write one "
                "list per line"
            ) from None
        if not checked:
            _check_fields(value, options)
            checked = True
        if isinstance(value, dict):
            field = field or _list_field(value, number, source.label)
            value = value.get(field)
        new = set(map(type, value)) if isinstance(value, list) else {object}
        if not new <= {str, int}:
            where = f" in field {field!r}" if field else ""
            raise InvalidInputError(
                f"expected a list of item names (strings or whole numbers){where}, got {_shortened(line)} in "
                f'line {number:,} of {source.label}; write one list per line, such as ["milk", "bread"]'
            )
        kinds |= new
        if len(kinds) > 1:
            raise InvalidInputError(
                f"expected item names that are all strings or all whole numbers, got both by line "
                f"{number:,} of {source.label}; put all of them in quotes"
            )
        yield value


def _check_fields(value: object, options: ReadOptions) -> None:
    """Check that the first value has the fields that were named; a plain list has none."""
    fields = list(value) if isinstance(value, dict) else []
    for role, name in (("transaction", options.transaction), ("item", options.item)):
        if name is not None:
            check_column(name, fields, role)


def _list_field(value: dict[str, Any], number: int, label: str) -> str:
    names = [name for name, content in value.items() if isinstance(content, list)]
    found = names[0] if len(names) == 1 else find_column(names, LIST_NAMES)
    if found is None:
        raise InvalidInputError(
            f"expected one field with a list of items, got {columns_shown(list(value))} in line {number:,} "
            f"of {label}; name the field with item="
        )
    return found


def _problem(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else "a number of too many digits"


def _shortened(line: str) -> str:
    text = line.strip()
    return repr(text if len(text) <= _LINE_SHOWN else f"{text[:_LINE_SHOWN]}...")
