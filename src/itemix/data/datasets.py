"""Data sets by name: ``itemix.datasets.load("mushroom")``.

The folder that the environment variable ITEMIX_DATA names is looked at first; what is not there is downloaded
from its official source and kept in the user's cache. Both are checked.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from itemix._checks import did_you_mean, nearest
from itemix.core.transactions import Transactions
from itemix.data import fetch
from itemix.data.catalogue import CATALOGUE, DatasetInfo
from itemix.data.synthetic import grocery_store, paper_data
from itemix.errors import DatasetUnavailableError, InvalidInputError
from itemix.io.read import named, read_titles, read_transactions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from itemix.core.items import Label

__all__ = ["DatasetInfo", "available", "info", "load"]

# Anonymous Microsoft Web data: plain files of codes with a table of titles, or the file as UCI has it.

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


def available() -> list[str]:
    """Return the names of all data sets."""
    return list(CATALOGUE)


def info(name: str) -> DatasetInfo:
    """Return what is known of a data set: its size, whom to cite, its licence, where it comes from.

    Raises
    ------
    InvalidInputError
        If there is no such data set; the message offers the nearest names.
    """
    if not isinstance(name, str) or name not in CATALOGUE:
        hint = did_you_mean(nearest(name, CATALOGUE), "datasets.available() lists them")
        raise InvalidInputError(
            f"expected the name of one of {len(CATALOGUE)} data sets, got {name!r}; {hint}"
        )
    return CATALOGUE[name]


def load(name: str, part: str | None = None) -> Transactions:
    """Return a data set, all of it or one part.

    Parameters
    ----------
    name : str
        One of `available()`.
    part : str, optional
        One of ``info(name).parts``, such as "train" or "test". By default all parts, one after the other.

    Raises
    ------
    InvalidInputError
        If there is no such data set or part.
    DatasetUnavailableError
        If the data set is not on this machine and cannot be downloaded, or the file is another one.

    Examples
    --------
    >>> import itemix
    >>> itemix.datasets.load("grocery_store").n_transactions
    5000
    """
    entry = info(name)
    if part is not None and part not in entry.parts:
        parts = f"one of {', '.join(entry.parts)}" if entry.parts else "no part (there are none)"
        raise InvalidInputError(f"expected {parts} for {name}, got part={part!r}; leave it out to load all")
    if not entry.files:
        return grocery_store() if name == "grocery_store" else paper_data(name)
    if entry.made_of is not None and fetch.find_local(entry.files["all"]) is None:
        whole = load(entry.made_of)
    else:
        whole = _stacked([_load_file(entry, key) for key in ([part] if part else entry.files)])
    said = name if part is None else f"{name}, {part}"
    return Transactions.from_canonical(whole.indptr, whole.indices, whole.items, source=said)


def _load_file(entry: DatasetInfo, part: str) -> Transactions:
    file = entry.files[part]
    local = fetch.find_local(file)
    path = local or fetch.download(entry.name, file)
    titles = None
    if entry.name == "msweb":
        transactions, titles = read_msweb(path)
    else:
        transactions = read_transactions(path)
    wrong = _difference(entry, part, transactions)
    if wrong and local is not None:
        raise DatasetUnavailableError(
            f"expected {entry.name} in {str(local)!r}, got a file with {wrong}; replace it, or read it by "
            "its own name as any other file"
        )
    if wrong:
        fetch.forget(path)
        raise DatasetUnavailableError(
            f"expected {entry.name} at {file.url}, got a file with {wrong}; try again later, or fetch it "
            "by hand and read it as any other file"
        )
    if titles is None:
        return transactions
    return named(transactions.align_items(sorted(titles)), titles)


def _difference(entry: DatasetInfo, part: str, transactions: Transactions) -> str | None:
    """Say how a file differs from what is known of it."""
    known = entry.files[part].fingerprint
    if known is not None:
        found = fetch.fingerprint(transactions)
        return None if found == known else f"other transactions (checksum {found[:12]}, not {known[:12]})"
    if transactions.n_items != entry.n_items:
        return f"{transactions.n_items:,} items, not {entry.n_items:,}"
    if part == "all" and transactions.n_transactions != entry.n_transactions:
        return f"{transactions.n_transactions:,} transactions, not {entry.n_transactions:,}"
    return None


def _stacked(parts: Sequence[Transactions]) -> Transactions:
    """Put parts with the same items one after the other."""
    starts = np.cumsum([0, *(len(part.indices) for part in parts)])
    pointers = [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Transactions.from_canonical(
        np.concatenate([np.zeros(1, dtype=np.int64), *pointers]),
        np.concatenate([part.indices for part in parts]),
        parts[0].items,
    )
