"""Tell the format of a file from its first bytes."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.data.source import Source

FORMATS = {
    "fimi": "FIMI",
    "basket": "basket CSV",
    "long": "long CSV",
    "onehot": "one-hot CSV",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "jsonl": "JSONL",
}
DELIMITERS = ",;\t|"

_ROWS_LOOKED_AT = 200
_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_FOREIGN = {
    b"PK\x03\x04": "a zip archive (or spreadsheet)",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\x00": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "an SQLite database",
    b"\x89PNG": "a PNG image",
}
_TRUE = frozenset({"1", "true", "t", "yes", "y"})
_FALSE = frozenset({"0", "false", "f", "no", "n"})
_FIMI_LINE = re.compile(r"[ \t]*(?:-?\d+[ \t]+)*(?:-?\d+)?[ \t]*\r?")

TRANSACTION_NAMES = (
    "transaction", "transactionid", "transactionno", "tid", "basket", "basketid", "order", "orderid", "orderno",
    "invoice", "invoiceno", "invoiceid", "receipt", "receiptid", "session", "sessionid", "visit", "visitid",
    "cart", "cartid", "customer", "customerid", "member", "membernumber", "memberid", "user", "userid", "id",
)  # fmt: skip
ITEM_NAMES = (
    "item", "itemid", "itemname", "itemdescription", "product", "productid", "productname", "sku", "article",
    "articleid", "stockcode", "description", "name", "label", "code", "page", "movie", "movieid", "event",
)  # fmt: skip


@dataclass(frozen=True)
class Recognised:
    """What a file is: a key of `FORMATS`, and for text its delimiter and whether it has a header."""

    format: str
    delimiter: str = ","
    has_header: bool = False


def find_column(columns: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the column with one of some well-known names, whatever its case and punctuation."""
    plain = {re.sub(r"[^a-z0-9]", "", column.lower()): column for column in reversed(columns)}
    return next((plain[name] for name in known if name in plain), None)


def recognise(source: Source, encoding: str, delimiter: str | None, *, long: bool = False) -> Recognised:
    """Tell the format from the first bytes; `long` says that columns of a long table were named.

    Raises
    ------
    InvalidInputError
        If the file is empty, or binary and of no known kind.
    """
    head = source.head
    if not head.strip():
        raise InvalidInputError(
            f"expected transactions, got {source.label} which is empty; check how it was made"
        )
    for magic, name in _BINARY.items():
        if head.startswith(magic):
            return Recognised(name)
    _refuse_binary(source, encoding)
    lines = _whole_lines(head, encoding)
    if lines[0].lstrip().startswith(("[", "{")) and _is_json(lines):
        return Recognised("jsonl")
    if delimiter is None and not long and all(_FIMI_LINE.fullmatch(line) for line in lines):
        return Recognised("fimi")
    delimiter = delimiter or sniff_delimiter(lines)
    return _recognise_csv(lines, delimiter, long=long)


def sniff_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that most lines have outside quotes; a comma where there is none."""
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]
    return max(DELIMITERS, key=lambda mark: sum(mark in line for line in bare))


def is_binary_row(cells: Sequence[str]) -> bool:
    """Whether every cell is one of 0, 1, true, false and the like."""
    return all(cell.strip().lower() in _TRUE or cell.strip().lower() in _FALSE for cell in cells)


def _recognise_csv(lines: Sequence[str], delimiter: str, *, long: bool) -> Recognised:
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return Recognised("basket", delimiter)
    header, body = rows[0], rows[1 : 1 + _ROWS_LOOKED_AT]
    if long:
        return Recognised("long", delimiter, has_header=True)
    if len(header) > 1 and all(len(row) == len(header) for row in body):
        if is_binary_row(header) and all(map(is_binary_row, body)):
            return Recognised("onehot", delimiter)
        skipped = 0 if header[0].strip() else 1
        if body and all(is_binary_row(row[skipped:]) for row in body):
            return Recognised("onehot", delimiter, has_header=True)
        if find_column(header, TRANSACTION_NAMES) and find_column(header, ITEM_NAMES):
            return Recognised("long", delimiter, has_header=True)
    return Recognised("basket", delimiter)


def _refuse_binary(source: Source, encoding: str) -> None:
    for magic, what in _FOREIGN.items():
        if source.head.startswith(magic):
            raise InvalidInputError(
                f"expected {_EXPECTED}, got {what}: {source.label}; unpack or export it first"
            )
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")) and encoding.lower().replace("-", "") == "utf8":
        raise InvalidInputError(f"expected utf-8 text, got UTF-16: {source.label}; try encoding='utf-16'")
    if b"\x00" in source.head and "16" not in encoding and "32" not in encoding:
        raise InvalidInputError(
            f"expected {_EXPECTED}, got a binary file of no known kind: {source.label}; export it as CSV first"
        )


_EXPECTED = "text (FIMI, CSV, JSONL), Parquet or Arrow"


def _whole_lines(head: bytes, encoding: str) -> list[str]:
    text = head.decode(encoding, errors="ignore").removeprefix("\ufeff")
    lines = re.split(r"\r\n|\n|\r", text)
    return lines[:-1] if len(lines) > 1 else lines


def _is_json(lines: Sequence[str]) -> bool:
    first = next(line for line in lines if line.strip())
    try:
        json.loads(first)
    except json.JSONDecodeError:
        return False
    return True
