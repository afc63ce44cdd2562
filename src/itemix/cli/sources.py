"""What SOURCE names: a file, standard input, or a data set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from itemix.cli.completing import DATASET_PREFIX
from itemix.cli.output import note
from itemix.errors import InvalidInputError, MissingFileError

if TYPE_CHECKING:
    from itemix.cli.options import Output, Reading
    from itemix.itemsets import Itemsets
    from itemix.transactions import Transactions


def read_source(source: str, reading: Reading, output: Output) -> Transactions:
    """Return the transactions that a source names, and say on standard error what they are.

    Raises
    ------
    InvalidInputError
        If there are none.
    """
    transactions = _named_dataset(source) if source.startswith(DATASET_PREFIX) else _file(source, reading)
    note(summary(transactions), output)
    return transactions


def summary(transactions: Transactions) -> str:
    """Say what was read, and how much of it there is."""
    n, n_items = transactions.n_transactions, transactions.n_items
    return f"{transactions.source}: {n:,} transactions, {n_items:,} items"


def read_itemsets(source: str) -> Itemsets | None:
    """Return the itemsets that a file holds, or None if it is no such file."""
    if not _is_file(source) or _kind_of(source) != "itemsets":
        return None
    from itemix.itemsets import Itemsets

    return Itemsets.load(source)


def _named_dataset(source: str) -> Transactions:
    from itemix.data import datasets

    name, _, part = source.removeprefix(DATASET_PREFIX).partition(":")
    return datasets.load(name, part or None)


def _file(source: str, reading: Reading) -> Transactions:
    from itemix.data.readers import read_transactions

    if source == "-":
        if sys.stdin.isatty():
            sys.stderr.write("reading standard input; Ctrl-D ends it\n")
    elif _is_file(source):
        _refuse_results(source)
    elif not Path(source).exists():
        _hint_at_dataset(source)
    return read_transactions(source, **reading.as_arguments(), progress=True)


def _is_file(source: str) -> bool:
    return source != "-" and Path(source).is_file()


def _refuse_results(path: str) -> None:
    kind = _kind_of(path)
    if kind is not None:
        hint = f"try itemix rules {path}" if kind == "itemsets" else "name the data that they are of"
        raise InvalidInputError(f"expected transactions, got {path!r}, which holds {kind}; {hint}")


def _hint_at_dataset(source: str) -> None:
    from itemix.data.registry import CATALOGUE

    if source.lower() in CATALOGUE:
        raise MissingFileError(
            f"expected a file to read, got no such file {source!r}; for the data set of this name write "
            f"{DATASET_PREFIX}{source.lower()}"
        )


def _kind_of(path: str) -> str | None:
    from itemix.table_files import kind_of

    return kind_of(path)
