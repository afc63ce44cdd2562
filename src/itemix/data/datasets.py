"""Data sets by name: ``itemix.datasets.load("mushroom")``.

A data set is looked for in the folder that the environment variable ITEMIX_DATA names. If it is not there, it
is downloaded from its official source and kept in the user's cache. Both are checked.
"""

from __future__ import annotations

import csv
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from itemix._checks import did_you_mean, nearest
from itemix._files import replacing
from itemix.core.transactions import Transactions
from itemix.data.catalogue import CATALOGUE, DatasetInfo
from itemix.data.synthetic import grocery_store, paper_data
from itemix.errors import DatasetUnavailableError, InvalidInputError, OutputError
from itemix.io.read import named, read_titles, read_transactions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.core.items import Label
    from itemix.data.catalogue import DataFile

__all__ = ["DatasetInfo", "available", "info", "load"]

DATA_VARIABLE = "ITEMIX_DATA"
_TIMEOUT_S = 30
_TITLES = "items.csv"


def available() -> list[str]:
    """Return the names of all data sets."""
    return list(CATALOGUE)


def info(name: str) -> DatasetInfo:
    """Return the facts about a data set: its size, whom to cite, its licence, where it comes from.

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
        If the data set is not on this machine and cannot be downloaded, or the file has other content.

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
    if entry.made_of is not None and find_local(entry.files["all"]) is None:
        whole = load(entry.made_of)
    else:
        whole = _stacked([_load_file(entry, key) for key in ([part] if part else entry.files)])
    said = name if part is None else f"{name}, {part}"
    return Transactions.from_canonical(whole.indptr, whole.indices, whole.items, source=said)


def _load_file(entry: DatasetInfo, part: str) -> Transactions:
    file = entry.files[part]
    local = find_local(file)
    path = local or download(entry.name, file)
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
        forget(path)
        raise DatasetUnavailableError(
            f"expected {entry.name} at {file.url}, got a file with {wrong}; try again later, or fetch it "
            "by hand and read it as any other file"
        )
    if titles is None:
        return transactions
    return named(transactions.align_items(sorted(titles)), titles)


def _difference(entry: DatasetInfo, part: str, transactions: Transactions) -> str | None:
    """Say how a file differs from what the catalogue says of it; None if it does not."""
    known = entry.files[part].fingerprint
    if known is not None:
        found = fingerprint(transactions)
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


def find_local(file: DataFile) -> Path | None:
    """Return the file in the folder that ITEMIX_DATA names, plain or gzipped, if it is there.

    Raises
    ------
    InvalidInputError
        If ITEMIX_DATA does not name a folder.
    """
    name = os.environ.get(DATA_VARIABLE)
    if not name:
        return None
    folder = Path(name)
    if not folder.is_dir():
        raise InvalidInputError(
            f"expected {DATA_VARIABLE} to name a folder, got {name!r}; correct it, or unset it to download"
        )
    candidates = (folder / file.local, folder / f"{file.local}.gz")
    return next((path for path in candidates if path.is_file()), None)


def cache_folder() -> Path:
    """Return the folder where downloads are kept: ``datasets`` in the user's cache of itemix."""
    import pooch

    return Path(pooch.os_cache("itemix")) / "datasets"


def cached_path(name: str, file: DataFile) -> Path | None:
    """Return the path of a file after its download, or None if it cannot be downloaded."""
    return cache_folder() / name / file.url.rpartition("/")[2] if file.url else None


def download(name: str, file: DataFile) -> Path:
    """Return the downloaded file; a file that is there already is checked, not downloaded again.

    The checksum of the first download is kept in a note beside the file. Later the file must have the same.

    Raises
    ------
    DatasetUnavailableError
        If it cannot be downloaded, or has another checksum than before.
    """
    import requests
    from pooch import HTTPDownloader, file_hash

    url, path = file.url, cached_path(name, file)
    if url is None or path is None:
        raise DatasetUnavailableError(
            f"expected {name} at {file.local!r} in the folder that {DATA_VARIABLE} names, got no such file; "
            "it cannot be downloaded"
        )
    note = checksum_note(path)
    known = note.read_text().strip() if note.exists() else None
    try:
        if not (path.exists() and known in (None, file_hash(str(path)))):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary:
                HTTPDownloader(timeout=_TIMEOUT_S)(url, str(temporary), None)
                if known not in (None, got := file_hash(str(temporary))):
                    raise ValueError(f"a file with the checksum {got}, not {known}")  # noqa: TRY301 - told below
    except (requests.RequestException, OSError, ValueError) as error:
        raise DatasetUnavailableError(
            f"expected to download {name} from {url}, got {_reason(error)}; fetch that file by hand and save "
            f"it as {str(path)!r}, or set {DATA_VARIABLE} to a folder with {file.local!r}"
        ) from None
    if known is None:
        with replacing(note) as temporary:
            temporary.write_text(f"{file_hash(str(path))}\n")
    return path


def checksum_note(path: Path) -> Path:
    """Return the path of the note with the checksum of a download."""
    return path.with_name(f"{path.name}.sha256")


def forget(path: Path) -> None:
    """Remove a download that is not what it should be, with its note."""
    path.unlink(missing_ok=True)
    checksum_note(path).unlink(missing_ok=True)


def fingerprint(transactions: Transactions) -> str:
    """Return a checksum of the transactions, which does not depend on blanks or compression of the file.

    It is the SHA-256 of the names of the items that occur, one a line, of the row pointers (64 bits) and of
    the item codes (32 bits), little endian.
    """
    used = transactions.items.names(np.flatnonzero(transactions.item_counts()))
    kept = transactions.select_items(used)
    digest = hashlib.sha256("\n".join(map(str, used)).encode())
    digest.update(kept.indptr.astype("<i8").tobytes())
    digest.update(kept.indices.astype("<i4").tobytes())
    return digest.hexdigest()


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, OutputError):  # its cause is what went wrong while the file was written
        error = cast("Exception", error.__cause__)
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, requests.Timeout):
        return f"no answer in {_TIMEOUT_S} s"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"status {error.response.status_code}"
    return str(error).splitlines()[0].rstrip(".")


def read_msweb(path: Path) -> tuple[Transactions, dict[Label, str]]:
    """Read the Anonymous Microsoft Web data; return the visits by codes of areas, and all titles of areas.

    The file is either plain, with a table of titles beside it, or in the format of UCI.

    Raises
    ------
    InvalidInputError
        If a file is not in its format.
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
