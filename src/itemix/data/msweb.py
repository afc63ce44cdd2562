"""Anonymous Microsoft Web data: plain files of codes with a table of titles, or the file as UCI has it."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.io.names import read_titles
from itemix.io.read import read_transactions

if TYPE_CHECKING:
    from pathlib import Path

    from itemix.core.items import Label

_TITLES = "items.csv"


def read_msweb(path: Path) -> tuple[Transactions, dict[Label, str]]:
    """Return the visits by the codes of areas, and the titles of all areas, also of those never visited.

    Raises
    ------
    InvalidInputError
        If a file is not as it should be.
    """
    if path.suffix in (".dat", ".gz"):
        titles = read_titles(path.with_name(_TITLES))
        return read_transactions(path), {int(code): title for code, title in titles}
    return read_uci(path)


def read_uci(path: Path) -> tuple[Transactions, dict[Label, str]]:
    """Read the format of UCI: lines ``A,code,1,"title","/url"``, then ``C,"user",user`` and ``V,code,1``.

    Raises
    ------
    InvalidInputError
        If a visit comes before the first visitor, or a line has too few cells.
    """
    titles: dict[Label, str] = {}
    visits: list[list[int]] = []
    with path.open(encoding="latin-1", newline="") as lines:
        for number, row in enumerate(csv.reader(lines), start=1):
            kind = row[0] if row else ""
            try:
                if kind == "A":
                    titles[int(row[1])] = row[3].strip()
                elif kind == "C":
                    visits.append([])
                elif kind == "V":
                    visits[-1].append(int(row[1]))
            except (IndexError, ValueError):
                raise InvalidInputError(
                    f"expected lines of areas, visitors and visits, got {','.join(row)!r} in line {number:,} "
                    f"of {path.name}; download it again"
                ) from None
    return Transactions.from_lists(visits), titles
