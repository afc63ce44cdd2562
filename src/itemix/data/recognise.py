"""Tell the format of a file from its first bytes."""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from itemix.data.options import looks_long
from itemix.data.source import HEAD_SIZE
from itemix.data.text import decoder_of
from itemix.errors import InvalidInputError
from itemix.kernels.onehot import FALSE_WORDS, TRUE_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.data.options import ReadOptions
    from itemix.data.source import Source

DELIMITERS = ",;\t|"

_EXPECTED = "text (FIMI, CSV, JSONL), Parquet or Arrow"
_ROWS_LOOKED_AT = 200
_MOST = 0.6
_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or spreadsheet",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\x00": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "an SQLite database",
    b"FEA1": "a Feather file of version 1",
}
_YES_OR_NO = frozenset(TRUE_WORDS + FALSE_WORDS)
_JSON_ENDING = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
_TAB_ENDING = re.compile(r"\.tsv(\.gz)?$", re.IGNORECASE)
_FIMI_TEXT = re.compile(r"\s*(?:-?[0-9]+\s+)*(?:-?[0-9]+)?")


class Recognised(NamedTuple):
    """What a file is.

    Attributes
    ----------
    format : str
        A key of `itemix.data.readers.FORMATS`.
    delimiter : str or None
        Of CSV.
    header_lines : int
        How many lines the header of CSV takes: none, or one, or more if its names are of several lines.
    columns : tuple of str
        The names of the columns of CSV; their numbers where it has no header.
    """

    format: str
    delimiter: str | None = None
    header_lines: int = 0
    columns: tuple[str, ...] = ()


def recognise(source: Source, options: ReadOptions, wanted: str | None = None) -> Recognised:
    """Tell the format from the first bytes; `wanted` is the format that the caller asked for.

    Raises
    ------
    InvalidInputError
        If the file is empty, or binary and of no known kind.
    """
    if not source.head.strip():
        raise InvalidInputError(
            f"expected transactions, got {source.label} which is empty; check how it was made"
        )
    for magic, binary in _BINARY.items():
        if source.head.startswith(magic):
            return Recognised(binary)
    if wanted in _BINARY.values():
        raise InvalidInputError(
            f"expected a file in {wanted} format, got {source.label} which does not begin like one; "
            "leave format= out to have it recognised"
        )
    _refuse_foreign(source, options.encoding)
    lines = _first_lines(source, options.encoding)
    name = wanted if wanted is not None else _format_of(source, lines, options)
    if name in ("fimi", "jsonl"):
        return Recognised(name)
    delimiter = options.delimiter or _sniffed_delimiter(lines, source.label)
    rows, first_lines = _split(lines, delimiter)
    layout = name or _layout_of(rows, options)
    header = options.header
    if header is None:
        header = layout == "long" or (layout == "onehot" and _share_of_yes_or_no(rows[0]) < _MOST)
    columns = rows[0] if header else [str(j) for j in range(len(rows[0]))]
    return Recognised(layout, delimiter, first_lines if header else 0, tuple(columns))


def _format_of(source: Source, lines: Sequence[str], options: ReadOptions) -> str | None:
    """Return fimi, jsonl, or None for CSV."""
    if _is_json(lines, certain=_JSON_ENDING.search(source.label) is not None):
        return "jsonl"
    if options.delimiter or options.transaction or options.item or options.header:
        return None
    return "fimi" if _FIMI_TEXT.fullmatch("".join(lines)) else None


def _layout_of(rows: Sequence[Sequence[str]], options: ReadOptions) -> str:
    """Return the layout that most rows have: a few wrong ones should be complained of, not change it."""
    first, body = rows[0], rows[1 : 1 + _ROWS_LOOKED_AT] or rows
    if options.item is not None:
        return "long"
    whole = [row for row in body if len(row) == len(first)]
    if len(first) == 1 or 2 * len(whole) < len(body):
        return "basket"
    share = _share_of_yes_or_no([cell for row in whole for cell in row[0 if first[0] else 1 :]])
    if share < 1 and looks_long(first):
        return "long"
    if share >= _MOST:
        return "onehot"
    return "basket" if options.transaction is None else "long"


def _refuse_foreign(source: Source, encoding: str) -> None:
    wide = "16" in encoding or "32" in encoding
    for magic, what in _FOREIGN.items():
        if source.head.startswith(magic):
            raise InvalidInputError(
                f"expected {_EXPECTED}, got {what}: {source.label}; unpack it, or export it as CSV"
            )
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")) and not wide:
        raise InvalidInputError(
            f"expected {encoding} text, got UTF-16: {source.label}; try encoding='utf-16'"
        )
    if b"\x00" in source.head and not wide:
        raise InvalidInputError(
            f"expected {_EXPECTED}, got a binary file of no known kind: {source.label}; export it as CSV"
        )


def _first_lines(source: Source, encoding: str) -> list[str]:
    """Return the lines at the beginning, without the last one where it may be cut."""
    decoder_of(encoding)
    text = source.head.decode(encoding, errors="ignore").removeprefix("\ufeff")
    lines = list(io.StringIO(text, newline=""))
    return lines[:-1] if len(source.head) == HEAD_SIZE and len(lines) > 1 else lines


def _is_json(lines: Sequence[str], *, certain: bool) -> bool:
    first = next((line for line in lines if line.strip()), "")
    if not first.lstrip().startswith(("[", "{")):
        return False
    try:
        json.loads(first)
    except json.JSONDecodeError:
        return certain
    return True


def _sniffed_delimiter(lines: Sequence[str], label: str) -> str:
    """Return the delimiter that most lines have outside quotes; a comma where there is none."""
    if _TAB_ENDING.search(label):
        return "\t"
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines[:_ROWS_LOOKED_AT]]
    return max(DELIMITERS, key=lambda mark: sum(mark in line for line in bare))


def _split(lines: Sequence[str], delimiter: str) -> tuple[list[list[str]], int]:
    """Return the rows of cells without blanks around them, and how many lines the first row takes."""
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    found: list[list[str]] = []
    first_lines = 1
    with suppress(csv.Error):
        for row in rows:
            if not found:
                first_lines = rows.line_num
            if row:
                found.append([cell.strip() for cell in row])
    return found or [[""]], first_lines


def _share_of_yes_or_no(cells: Sequence[str]) -> float:
    return sum(cell.lower() in _YES_OR_NO for cell in cells) / len(cells)
