"""One-hot CSV: a header of item names, then a row of 0 and 1 (or false and true) for each transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix._arrays import GrowingArray
from itemix.core.encoding import Encoded
from itemix.core.frames import check_column
from itemix.core.items import Items
from itemix.errors import InvalidInputError
from itemix.io.csv import labels_from_text
from itemix.io.text import line_blocks
from itemix.kernels import onehot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from itemix.io.detect import Recognised
    from itemix.io.options import ReadOptions
    from itemix.io.source import Source

_CELL_SHOWN = 30


def read_onehot(source: Source, found: Recognised, options: ReadOptions) -> Encoded:
    """Read a one-hot table; a first column without a name, and `options.transaction`, are no items.

    Raises
    ------
    InvalidInputError
        If a row is too short or too long, or a cell is not one of 0, 1, false, true and the like.
    """
    items, blocks = onehot_pieces(source, found, options)
    codes, indptr = GrowingArray(np.int32), GrowingArray(np.int64)
    indptr.extend(np.zeros(1, dtype=np.int64))
    for block in blocks:
        indptr.extend(block.indptr[1:], plus=len(codes))
        codes.extend(block.indices)
    return Encoded(indptr.finish(), codes.finish(), items)


def onehot_pieces(source: Source, found: Recognised, options: ReadOptions) -> tuple[Items, Iterator[Encoded]]:
    """Return the items of a one-hot table and its rows, piece by piece.

    Raises
    ------
    InvalidInputError
        As in `read_onehot`.
    """
    columns = found.columns
    if options.transaction is not None:
        check_column(options.transaction, columns, "transaction")
    is_item = np.array([name != options.transaction for name in columns])
    is_item[0] &= bool(columns[0])
    names = [name for name, kept in zip(columns, is_item, strict=True) if kept]
    code_of_column = np.where(is_item, np.cumsum(is_item) - 1, -1).astype(np.int32)
    code_of_column.setflags(write=False)
    items = Items(labels_from_text(names))
    return items, _blocks(source, found, options.encoding, code_of_column, items)


def _blocks(
    source: Source, found: Recognised, encoding: str, code_of_column: npt.NDArray[np.int32], items: Items
) -> Iterator[Encoded]:
    n_lines = found.header_lines
    delimiter = found.delimiter or ","
    for text in line_blocks(source, encoding, skip=n_lines):
        codes, indptr = np.empty(len(text) // 2 + 1, np.int32), np.zeros(len(text) + 1, np.int64)
        n_codes, n_rows, problem, line, column = onehot.parse(
            np.frombuffer(text, dtype=np.uint8),
            ord(delimiter),
            code_of_column,
            codes,
            indptr[1:],
        )
        if problem != onehot.GOOD:
            where = f"line {n_lines + line + 1:,} of {source.label}"
            cells = text.split(b"\n", line + 1)[line].decode().split(delimiter)
            raise InvalidInputError(_wrong(problem, cells, column, found.columns, where))
        yield Encoded(indptr[: n_rows + 1], codes[:n_codes], items)
        n_lines += text.count(b"\n")


def _wrong(problem: int, cells: Sequence[str], column: int, columns: Sequence[str], where: str) -> str:
    if problem == onehot.BAD_LENGTH:
        return (
            f"expected {len(columns):,} cells in every row, got {len(cells):,} in {where}; "
            "if every line lists the items of a transaction, try format='basket'"
        )
    cell = cells[column].strip()
    shown = (
        repr(cell if len(cell) <= _CELL_SHOWN else f"{cell[:_CELL_SHOWN]}...") if cell else "an empty cell"
    )
    return (
        f"expected only 0 and 1 (or false and true), got {shown} in column {columns[column]!r}, {where}; "
        "name a column that is no item with transaction=, or try another format="
    )
