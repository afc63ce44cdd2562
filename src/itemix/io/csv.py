"""Basket CSV: one transaction a line, item names separated by a delimiter, quoted where they need it."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix._arrays import CELLS_OF_A_BATCH
from itemix.core.encoding import Encoded, sorted_by_label
from itemix.core.items import Items, as_labels
from itemix.io.text import csv_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from itemix.io.detect import Recognised
    from itemix.io.source import Source

    Part = tuple[list[str], bool]

_ABSENT = -1
MOST_DIGITS = 18
"""Longer numbers are names."""


def read_basket(source: Source, found: Recognised, *, encoding: str) -> Encoded:
    """Read baskets; blanks around names and empty cells are left out, an empty line is an empty transaction.

    Raises
    ------
    InvalidInputError
        If the quotes do not match; the message names the line.
    """
    indptr, codes, names = _encoded(_parts(source, found, encoding))
    return sorted_by_label(indptr, codes, labels_from_text(names))


def basket_pieces(source: Source, found: Recognised, *, encoding: str) -> Iterator[Encoded]:
    """Read baskets piece by piece, each with items of its own, which are text even if all are numbers.

    Raises
    ------
    InvalidInputError
        As in `read_basket`.
    """
    parts = _parts(source, found, encoding)
    while (first := next(parts, None)) is not None:
        indptr, codes, names = _encoded(chain([first], _batch(parts)))
        yield Encoded(indptr, codes, Items(names))
    yield Encoded(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), Items([]))


def _batch(parts: Iterator[Part]) -> Iterator[Part]:
    """Yield the parts of some rows: those that have about so many cells in all."""
    n_cells = 0
    for cells, is_whole in parts:
        yield cells, is_whole
        n_cells += 1 + len(cells)
        if is_whole and n_cells >= CELLS_OF_A_BATCH:
            return


def _parts(source: Source, found: Recognised, encoding: str) -> Iterator[Part]:
    parts = csv_parts(source, encoding, found.delimiter or ",")
    if found.header_lines:
        next((is_whole for _, is_whole in parts if is_whole), None)
    return parts


def _encoded(parts: Iterable[Part]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], list[str]]:
    """Return where the transactions begin, the codes of their items, and the names in the order of codes."""
    names: dict[str, int] = {}
    code_of = _CodeOfCell(names)
    codes = array("i")
    indptr = array("q", [0])
    for cells, is_whole in parts:
        codes.extend(map(code_of.__getitem__, cells))
        if is_whole:
            indptr.append(len(codes))
    present = np.frombuffer(codes, dtype=np.int32) != _ABSENT
    kept = np.concatenate([[0], np.cumsum(present)])
    return (
        kept[np.frombuffer(indptr, dtype=np.int64)],
        np.frombuffer(codes, dtype=np.int32)[present],
        list(names),
    )


def labels_from_text(names: list[str]) -> npt.NDArray[Any]:
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
        and len(name) <= MOST_DIGITS
    )
