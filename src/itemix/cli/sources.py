"""The sources of commands: files of transactions, models, itemsets or rules, standard input, data sets."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from itemix._files import Held, is_regular, is_stream
from itemix.cli.options import DATASET_PREFIX
from itemix.cli.output import note
from itemix.errors import InvalidInputError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.cli.options import Reading
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.data.catalogue import DatasetInfo
    from itemix.fitted import FittedModel
    from itemix.io.chunks import Chunks
    from itemix.io.source import Source
    from itemix.mining.rules import Rules

SUFFIX = ".itemix"
NOT_YET = "not yet"


class Opened(NamedTuple):
    """A source that was opened.

    Attributes
    ----------
    name : str
        As it was typed.
    kind : str or None
        What it holds: "model", "itemsets", "rules", or None for transactions.
    content : str or Source
        Where to read it: the path of a regular file, or the one handle of a stream.
    """

    name: str
    kind: str | None
    content: str | Source


@contextmanager
def opened(source: str, *, quiet: bool) -> Iterator[Opened]:
    """Open a source once, and find out what it holds; only a regular file can be opened again."""
    if source.startswith(DATASET_PREFIX) or not is_stream(source):
        yield Opened(source, _kind_of_file(source), source)
        return
    from itemix.io.source import open_source

    if source == "-" and not quiet and sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write("reading standard input; Ctrl-D ends it\n")
    with open_source(source) as stream:
        yield _looked_at(source, stream)


def read_source(source: str, reading: Reading, *, quiet: bool, beside: object = None) -> Transactions:
    """Return the transactions that a source names, and say on standard error what they are.

    Parameters
    ----------
    source
        A file, standard input or a data set.
    reading
        The options. A table is cut into bins as that of `beside` was, unless they say how.
    quiet
        Whether to say nothing.
    beside : FittedModel, Model, Itemsets, Rules or Transactions, optional
        What the transactions are for.

    Raises
    ------
    InvalidInputError
        If there are none.
    """
    with opened(source, quiet=quiet) as found:
        return read_data(found, reading.cut_like(beside), quiet=quiet)


def read_data(source: Opened, reading: Reading, *, quiet: bool) -> Transactions:
    """Return the transactions of a source, and say on standard error what they are.

    Raises
    ------
    InvalidInputError
        If it holds something else.
    """
    _refuse_results(source)
    is_named = source.name.startswith(DATASET_PREFIX)
    transactions = _named_dataset(source.name, quiet) if is_named else _file(source, reading, quiet)
    note(source_summary(transactions), quiet=quiet)
    return transactions


def read_for_passes(
    source: str, reading: Reading, *, quiet: bool, beside: object = None
) -> Transactions | Chunks:
    """Return the transactions that a source names, in chunks if it is a file that can be read in chunks."""
    from itemix.io.chunks import read_chunks
    from itemix.io.long import NotInChunksError

    reading = reading.cut_like(beside)
    if not is_regular(source) or source.startswith(DATASET_PREFIX):
        return read_source(source, reading, quiet=quiet)
    with opened(source, quiet=quiet) as found:
        _refuse_results(found)
    try:
        chunks = read_chunks(source, **reading.as_arguments(), progress=not quiet)
    except NotInChunksError:
        return read_source(source, reading, quiet=quiet)
    note(source_summary(chunks), quiet=quiet)
    return chunks


def read_model_or_data(source: Opened, reading: Reading, *, quiet: bool) -> FittedModel | Transactions:
    """Return the model or the transactions of a source, and say on standard error what it is."""
    if source.kind != "model":
        return read_data(source, reading, quiet=quiet)
    if reading.where:
        raise InvalidInputError(
            f"expected conditions only on the rows of a table, got {reading.where[0]!r} with the model "
            f"{source.name!r}; leave --where out"
        )
    model = read_model(source)
    note(model_summary(source.name, model), quiet=quiet)
    return model


def read_model(source: Opened) -> FittedModel:
    """Return the model of a source.

    Raises
    ------
    ModelFileError
        If it holds something else.
    """
    from itemix.files import read_fitted

    return read_fitted(whole(source))


def of_group(source: Any, group: str | None) -> Any:  # noqa: ANN401 - a model, or anything else
    """Return the model of a group, or what is there if none is named.

    Raises
    ------
    InvalidInputError
        If it is no model that was fitted with groups.
    """
    from itemix.fitted import FittedModel

    if group is None:
        return source
    if not isinstance(source, FittedModel):
        raise InvalidInputError(
            "expected a model that was fitted with groups, got something else; try itemix fit --groups COLUMN"
        )
    return source.group(group)


def source_summary(transactions: Transactions | Chunks) -> str:
    """Say what was read, and how much of it there is."""
    from itemix.core.display import plural

    sizes = (plural(transactions.n_transactions, "transaction"), plural(transactions.n_items, "item"))
    return f"{transactions.source}: {', '.join(sizes)}"


def read_result(source: Opened) -> Itemsets | Rules | None:
    """Return the itemsets or rules of a source, or None if it holds something else."""
    if source.kind == "itemsets":
        from itemix.core.itemsets import Itemsets

        return Itemsets.load(whole(source))
    if source.kind == "rules":
        from itemix.mining.rules import Rules

        return Rules.load(whole(source))
    return None


def whole(source: Opened) -> str | Held:
    """Return where all of a source can be read at once: its path, or its bytes."""
    content = source.content
    return content if isinstance(content, str) else Held(content.label, content.look_at_all())


def _named_dataset(source: str, quiet: bool) -> Transactions:
    from itemix.data.catalogue import CATALOGUE

    name, _, part = source.removeprefix(DATASET_PREFIX).partition(":")
    if part and name in CATALOGUE and part not in CATALOGUE[name].parts:
        parts = [f"{DATASET_PREFIX}{name}:{known}" for known in CATALOGUE[name].parts]
        raise InvalidInputError(
            f"expected {' or '.join(parts) or 'a data set that has parts'}, got {source!r}; for all of it "
            f"write {DATASET_PREFIX}{name}"
        )
    return load_dataset(name, part or None, quiet=quiet)


def _file(source: Opened, reading: Reading, quiet: bool) -> Transactions:
    from itemix.io.read import read_transactions

    if isinstance(source.content, str) and not Path(source.name).exists():
        _hint_at_dataset(source.name)
    return read_transactions(source.content, **reading.as_arguments(), progress=not quiet)


def _refuse_results(source: Opened) -> None:
    if source.kind is not None:
        kind = "a model" if source.kind == "model" else source.kind
        hint = f"try itemix rules {source.name}" if kind == "itemsets" else "name the data behind it"
        raise InvalidInputError(f"expected transactions, got {source.name!r}, which holds {kind}; {hint}")


def _hint_at_dataset(source: str) -> None:
    from itemix.data.catalogue import CATALOGUE

    if source.lower() in CATALOGUE:
        raise MissingFileError(
            f"expected a file to read, got no such file {source!r}; for the data set of this name write "
            f"{DATASET_PREFIX}{source.lower()}"
        )


def _kind_of_file(path: str) -> str | None:
    """Return what a file holds, or None if itemix has not written it, or there is no such file."""
    from itemix.core.table_files import kind_of

    if is_model(path):
        return "model"
    return kind_of(path) if is_regular(path) else None


def _looked_at(name: str, stream: Source) -> Opened:
    """Find out what a stream holds from its first bytes; if these do not tell, from all of them."""
    from itemix.core.table_files import kind_of, may_be_ours
    from itemix.files.container import begins_like_model

    if name.endswith(SUFFIX) or begins_like_model(stream.head):
        return Opened(name, "model", stream)
    kind = kind_of(Held(stream.label, stream.look_at_all())) if may_be_ours(stream.head) else None
    return Opened(name, kind, stream)


# Models: which files hold one, and what to say about it.


def is_model(source: str) -> bool:
    """Whether a source is a file with a model, or is called like one."""
    from itemix.files.container import is_model_file

    return source.endswith(SUFFIX) or is_model_file(source)


def model_summary(source: str, model: FittedModel) -> str:
    """Say what a file holds."""
    from itemix.core.display import joined, plural

    components, structure, *correction = model.parts
    n = model.n_transactions
    parts = [
        "a model" if model.method is None else model.method,
        components,
        structure,
        "" if model.groups is None else plural(model.groups.n_groups, "group"),
        plural(model.value.n_items, "item"),
        *correction,
        "" if n is None else f"fitted on {plural(n, 'transaction')}",
    ]
    return f"{Path(source).name}: {joined(parts)}"


# Data sets by name: where they are, and how to get them.


def where_is(entry: DatasetInfo) -> str:
    """Say where a data set is now."""
    from itemix.data import datasets
    from itemix.data.catalogue import CATALOGUE

    files = list(entry.files.values())
    if not files:
        return "built in"
    if all(datasets.find_local(file) for file in files):
        return datasets.DATA_VARIABLE
    if entry.made_of is not None:
        return where_is(CATALOGUE[entry.made_of])
    paths = [datasets.cached_path(entry.name, file) for file in files]
    return "downloaded" if all(path is not None and path.exists() for path in paths) else NOT_YET


def load_dataset(name: str, part: str | None, *, quiet: bool = False) -> Transactions:
    """Return a data set, and say so if it has to be downloaded first."""
    from itemix.data import datasets

    entry = datasets.info(name)
    if where_is(entry) == NOT_YET:
        note(f"downloading {name} from {entry.page}", quiet=quiet)
    return datasets.load(name, part)
