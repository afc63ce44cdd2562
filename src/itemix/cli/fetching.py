"""Data sets by name: where they are, and getting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.cli.output import note

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions
    from itemix.data.catalogue import DatasetInfo

NOT_YET = "not yet"


def where_is(entry: DatasetInfo) -> str:
    """Say where a data set is now."""
    from itemix.data import fetch
    from itemix.data.registry import CATALOGUE

    files = list(entry.files.values())
    if not files:
        return "built in"
    if all(fetch.find_local(file) for file in files):
        return fetch.DATA_VARIABLE
    if entry.made_of is not None:
        return where_is(CATALOGUE[entry.made_of])
    paths = [fetch.cached_path(entry.name, file) for file in files]
    return "downloaded" if all(path is not None and path.exists() for path in paths) else NOT_YET


def load_dataset(name: str, part: str | None, *, quiet: bool = False) -> Transactions:
    """Return a data set, and say so if it has to be downloaded first."""
    from itemix.data import datasets

    entry = datasets.info(name)
    if where_is(entry) == NOT_YET:
        note(f"downloading {name} from {entry.page}", quiet=quiet)
    return datasets.load(name, part)
