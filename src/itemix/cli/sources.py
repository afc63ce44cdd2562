"""What SOURCE names: a file of transactions, of a model or of itemsets, standard input, or a data set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from itemix.cli import models
from itemix.cli.completing import DATASET_PREFIX
from itemix.cli.fetching import load_dataset
from itemix.cli.output import note
from itemix.errors import InvalidInputError, MissingFileError

if TYPE_CHECKING:
    from itemix.cli.options import Reading
    from itemix.data.chunks import Chunks
    from itemix.itemsets import Itemsets
    from itemix.mining.rules import Rules
    from itemix.storage.stored import StoredModel
    from itemix.transactions import Transactions


def read_source(source: str, reading: Reading, *, quiet: bool) -> Transactions:
    """Return the transactions that a source names, and say on standard error what they are.

    Raises
    ------
    InvalidInputError
        If there are none.
    """
    is_named = source.startswith(DATASET_PREFIX)
    transactions = _named_dataset(source, quiet) if is_named else _file(source, reading, quiet)
    note(summary(transactions), quiet=quiet)
    return transactions


def read_for_passes(source: str, reading: Reading, *, quiet: bool) -> Transactions | Chunks:
    """Return the transactions that a source names, in chunks if it is a file that can be read in chunks."""
    from itemix.data.chunks import NotInChunksError, read_chunks

    if not Path(source).is_file() or source.startswith(DATASET_PREFIX):
        return read_source(source, reading, quiet=quiet)
    _refuse_results(source)
    try:
        chunks = read_chunks(source, **reading.as_arguments(), progress=not quiet)
    except NotInChunksError:
        return read_source(source, reading, quiet=quiet)
    note(summary(chunks), quiet=quiet)
    return chunks


def read_model_or_data(source: str, reading: Reading, *, quiet: bool) -> StoredModel | Transactions:
    """Return the model or the transactions that a source names, and say on standard error what it is."""
    if not models.is_model(source):
        return read_source(source, reading, quiet=quiet)
    from itemix.storage.stored import StoredModel

    model = StoredModel(source)
    note(models.summary(model), quiet=quiet)
    return model


def summary(transactions: Transactions | Chunks) -> str:
    """Say what was read, and how much of it there is."""
    from itemix.display import plural

    sizes = (plural(transactions.n_transactions, "transaction"), plural(transactions.n_items, "item"))
    return f"{transactions.source}: {', '.join(sizes)}"


def read_result(source: str) -> Itemsets | Rules | None:
    """Return the itemsets or rules that a file holds, or None if it is no such file."""
    kind = _kind_of(source)
    if kind == "itemsets":
        from itemix.itemsets import Itemsets

        return Itemsets.load(source)
    if kind == "rules":
        from itemix.mining.rules import Rules

        return Rules.load(source)
    return None


def _named_dataset(source: str, quiet: bool) -> Transactions:
    from itemix.data.registry import CATALOGUE

    name, _, part = source.removeprefix(DATASET_PREFIX).partition(":")
    if part and name in CATALOGUE and part not in CATALOGUE[name].parts:
        parts = [f"{DATASET_PREFIX}{name}:{known}" for known in CATALOGUE[name].parts]
        raise InvalidInputError(
            f"expected {' or '.join(parts) or 'a data set that has parts'}, got {source!r}; for all of it "
            f"write {DATASET_PREFIX}{name}"
        )
    return load_dataset(name, part or None, quiet=quiet)


def _file(source: str, reading: Reading, quiet: bool) -> Transactions:
    from itemix.data.readers import read_transactions

    if source == "-":
        if not quiet and sys.stdin is not None and sys.stdin.isatty():
            sys.stderr.write("reading standard input; Ctrl-D ends it\n")
    elif Path(source).is_file():
        _refuse_results(source)
    elif not Path(source).exists():
        _hint_at_dataset(source)
    return read_transactions(source, **reading.as_arguments(), progress=not quiet)


def _refuse_results(path: str) -> None:
    kind = "a model" if models.is_model(path) else _kind_of(path)
    if kind is not None:
        hint = f"try itemix rules {path}" if kind == "itemsets" else "name the data behind it"
        raise InvalidInputError(f"expected transactions, got {path!r}, which holds {kind}; {hint}")


def _hint_at_dataset(source: str) -> None:
    from itemix.data.registry import CATALOGUE

    if source.lower() in CATALOGUE:
        raise MissingFileError(
            f"expected a file to read, got no such file {source!r}; for the data set of this name write "
            f"{DATASET_PREFIX}{source.lower()}"
        )


def _kind_of(source: str) -> str | None:
    """Return what a file of results holds, or None if it is another file, or none."""
    from itemix.table_files import kind_of

    return kind_of(source) if Path(source).is_file() else None
