"""Basket CSV: one transaction a line, item names separated by a delimiter, quoted where they need it."""

from __future__ import annotations

import csv
from array import array
from typing import TYPE_CHECKING

import numpy as np

from itemix.encoding import Encoded, sorted_by_label
from itemix.errors import InvalidInputError
from itemix.items import as_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from itemix.data.source import Source
    from itemix.items import Label

_ABSENT = -1
_MOST_DIGITS = 18


def read_basket(source: Source, *, encoding: str, delimiter: str, skip_header: bool = False) -> Encoded:
    """Read baskets; blanks around names and empty cells are left out, an empty line is an empty transaction.

    Raises
    ------
    InvalidInputError
        If the quotes do not match; the message names the line.
    """
    names: dict[str, int] = {}
    code_of = _CodeOfCell(names)
    codes = array("i")
    indptr = array("q", [0])
    rows = csv_rows(source, encoding, delimiter)
    if skip_header:
        next(rows, None)
    for row in rows:
        codes.extend(map(code_of.__getitem__, row))
        indptr.append(len(codes))
    present = np.frombuffer(codes, dtype=np.int32) != _ABSENT
    kept = np.concatenate([[0], np.cumsum(present)])
    return sorted_by_label(
        kept[np.frombuffer(indptr, dtype=np.int64)],
        np.frombuffer(codes, dtype=np.int32)[present],
        labels_from_text(list(names)),
    )


def csv_rows(source: Source, encoding: str, delimiter: str) -> Iterator[list[str]]:
    """Split text into rows of cells; quoted cells may hold delimiters and line feeds.

    Raises
    ------
    InvalidInputError
        If the quotes do not match; the message names the line.
    """
    rows = csv.reader(source.lines(encoding), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        yield from rows
    except csv.Error as error:
        raise InvalidInputError(
            f"expected cells with matching quotes, got {error} in line {rows.line_num:,} of {source.label}; "
            "double the quotes that belong to a name"
        ) from None


def labels_from_text(names: list[str]) -> npt.NDArray[np.object_] | npt.NDArray[np.int64]:
    """Return names as labels: integers where all of them are whole numbers without leading zeros."""
    return as_labels([int(name) for name in names] if all(map(_is_code, names)) else names)


class _CodeOfCell(dict[str, int]):
    """The code of the name in a cell; a cell that is seen for the first time is stripped and numbered."""

    def __init__(self, names: dict[str, int]) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, cell: str) -> int:
        name = cell.strip()
        code = self._names.setdefault(name, len(self._names)) if name else _ABSENT
        self[cell] = code
        return code


def _is_code(name: str) -> bool:
    return (
        name.isascii()
        and name.isdigit()
        and (name == "0" or not name.startswith("0"))
        and len(name) <= _MOST_DIGITS
    )
