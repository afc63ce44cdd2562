"""Names for item codes, from a second file or a mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from itemix.errors import InvalidInputError
from itemix.io.detect import recognise
from itemix.io.options import ReadOptions, find_column
from itemix.io.source import encoding_of, open_source
from itemix.io.text import csv_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.core.items import Label
    from itemix.core.transactions import Transactions
    from itemix.io.source import PathOrStream

CODE_COLUMNS = ("code", "item", "itemid", "id", "productid", "sku", "number", "key")
NAME_COLUMNS = (
    "name", "label", "labels", "title", "itemname", "productname", "description", "itemdescription",
    "product",
)  # fmt: skip


def named(
    transactions: Transactions, names: PathOrStream | Mapping[Label, str], encoding: str = "utf-8"
) -> Transactions:
    """Give the items names by their codes; those without one keep their code, as a string.

    A name that is the code of an item without one gets its own code added to it.

    Raises
    ------
    InvalidInputError
        If a code has two names, none of the items has one, or the file of names cannot be read.
    """
    name_of = read_names(names, encoding)
    items = transactions.items
    if len(items) and not any(str(code) in name_of for code in items):
        known = f"such as {next(iter(name_of))!r}" if name_of else "none at all"
        raise InvalidInputError(
            f"expected names for items such as {str(items[0])!r}, got names for others only, {known}; check "
            "the column of codes"
        )
    codes = [str(code) for code in items]
    nameless = {code for code in codes if code not in name_of}
    return transactions.rename_items(
        [_with_code(name_of[code], code, nameless) if code in name_of else code for code in codes]
    )


def read_names(names: PathOrStream | Mapping[Label, str], encoding: str = "utf-8") -> dict[str, str]:
    """Return the name of each code; where several codes share a name, each is added to its name.

    Missing and blank names are none.

    Raises
    ------
    InvalidInputError
        If a code has two names, or the file has fewer than two columns.
    """
    if isinstance(names, Mapping):
        pairs = [(str(code), "" if _is_missing(name) else str(name)) for code, name in names.items()]
    else:
        pairs = read_titles(names, encoding)
    name_of: dict[str, str] = {}
    for code, name in pairs:
        if not name.strip():
            continue
        if name_of.setdefault(code, name) != name:
            raise InvalidInputError(
                f"expected one name for each item, got {name_of[code]!r} and {name!r} for {code!r}; "
                "drop one of them from the names"
            )
    shared = {name for name, uses in Counter(name_of.values()).items() if uses > 1}
    return {code: _with_code(name, code, shared) for code, name in name_of.items()}


def _with_code(name: str, code: str, taken: set[str]) -> str:
    """Return a name that no other item has: with its code, where it is taken."""
    return f"{name} ({code})" if name in taken else name


def _is_missing(name: object) -> bool:
    return name is None or name != name  # noqa: PLR0124 - NaN, where pandas had no name


def read_titles(path: PathOrStream, encoding: str = "utf-8") -> list[tuple[str, str]]:
    """Return the pairs of code and name in a CSV file, with or without a header.

    Raises
    ------
    InvalidInputError
        If a row has no name.
    """
    with open_source(path) as source:
        encoding = encoding_of(path, encoding)
        found = recognise(source, ReadOptions(encoding), "basket", content="names of items")
        delimiter = found.delimiter
        lines = csv_rows(source, encoding, delimiter or ",")
        rows = [[cell.strip() for cell in row] for row in lines if any(row)]
    code, name, start = _columns(rows)
    for number, row in enumerate(rows, start=1):
        if len(row) <= max(code, name):
            raise InvalidInputError(
                f"expected a code and a name in every row, got {len(row)} cell(s) in row {number:,} of "
                f"{source.label}; separate them by a comma"
            )
    return [(row[code], row[name]) for row in rows[start:]]


def _columns(rows: Sequence[Sequence[str]]) -> tuple[int, int, int]:
    """Return where the codes and the names stand, and the first row that has some."""
    header = rows[0]
    code = find_column(header, CODE_COLUMNS)
    name = find_column([column for column in header if column != code], NAME_COLUMNS)
    if code is not None and name is not None:
        return header.index(code), header.index(name), 1
    is_header = len(rows) > 1 and rows[1][0].isdigit() and not header[0].isdigit()
    return 0, 1, 1 if is_header else 0
