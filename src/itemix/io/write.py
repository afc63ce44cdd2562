"""`write_transactions`: transactions to a file, which `read_transactions` reads back."""

from __future__ import annotations

import gzip
import json
import warnings
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from itemix._files import as_path, checked_target, is_regular, replacing
from itemix._runtime import interruptible
from itemix.core.encoding import share_of_lists
from itemix.core.items import MOST_DIGITS, labels_from_text
from itemix.core.rows import LEAST_LISTS
from itemix.core.transactions import as_transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.io.arrow import IDS_KEY, ITEMS_KEY
from itemix.io.detect import BINARY_ENDING, DELIMITERS, ReadOptions, checked_delimiter, recognise
from itemix.io.source import open_source

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from itemix._typing import TransactionsLike
    from itemix.core.items import Items, Label
    from itemix.core.transactions import Transactions

# Engines split Parquet files at row groups.
_ROWS_IN_A_GROUP = 1 << 16
ENDINGS = {
    ".dat": "fimi", ".fimi": "fimi",
    ".csv": "basket", ".tsv": "basket",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip

_AS_TEXT = ("fimi", "basket", "long", "onehot")
# Columns of the items themselves.
_NO_IDS = ("item", "items")
_ROWS_AT_A_TIME = 20_000
_GZIP_LEVEL = 6


@interruptible()
def write_transactions(
    transactions: TransactionsLike,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    delimiter: str | None = None,
) -> None:
    """Write transactions to a file, in the format that its ending names; ``.gz`` compresses it.

    An old file stays as it was until the new one is complete.

    Parameters
    ----------
    transactions : Transactions, data frame, matrix or list of lists
        The data to write; a row that stands for several transactions is written several times.
    path : str or path
        The file to write. The endings are ``.dat`` (FIMI), ``.csv`` and ``.tsv`` (basket CSV), ``.jsonl``,
        ``.parquet`` and ``.arrow`` or ``.feather``, each also with ``.gz``.
    format : {"fimi", "basket", "long", "onehot", "parquet", "arrow", "jsonl"}, optional
        The format, if the ending does not name it.
    delimiter : str, optional
        The character between the cells of CSV: by default a comma, and a tab for ``.tsv``.

    Raises
    ------
    InvalidInputError
        If the format cannot hold the data. FIMI has only integers for items, long CSV no empty transactions,
        CSV no names with blanks at their ends, FIMI and CSV no integers below 0 or of more than 18 digits.
    OutputError
        If the file cannot be written.

    Warns
    -----
    UserWarning
        If `read_transactions` would read the file as something else, unless it is told the format.

    Notes
    -----
    Parquet, Arrow and one-hot CSV keep all items. The other formats keep those that occur.

    Parquet, Arrow, JSONL and long CSV keep the `ids` of transactions; FIMI, basket and one-hot CSV have none.
    In JSONL, ``transaction="id"`` reads them back. Long CSV keeps them if no two transactions share one.
    """
    transactions = as_transactions(transactions)
    target = as_path(path)
    kind = _format_by_ending(target) if format is None else format
    if not isinstance(kind, str) or kind not in _WRITERS:
        raise InvalidInputError(
            f"expected a format, one of {', '.join(_WRITERS)}, got {kind!r}; leave it out to go by the ending"
        )
    _refuse_loss(transactions, kind)
    mark = checked_delimiter(delimiter) or ("\t" if ".tsv" in target.suffixes else ",")
    with replacing(target) as temporary:
        with temporary.open("wb") as file:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as compressed:
                    _WRITERS[kind](transactions, cast("IO[bytes]", compressed), mark)
            else:
                _WRITERS[kind](transactions, file, mark)
        problem = _unlike(temporary, transactions, kind, mark) if is_regular(temporary) else None
        if kind not in ("parquet", "arrow") and BINARY_ENDING.search(target.name):
            problem = f"which has another format than its name says; read it with format={kind!r}"
    if problem is not None:
        warnings.warn(
            f"expected a file that is read back as it was written, got {target.name}, {problem}", stacklevel=2
        )


def _unlike(path: Path, transactions: Transactions, kind: str, delimiter: str) -> str | None:
    """Say why a file would be read back as something else, or None if it would not."""
    if kind not in _AS_TEXT:
        return None
    labels = transactions.items.labels
    written = labels if kind == "onehot" else labels[np.unique(transactions.indices)]
    if labels.dtype.kind != "i" and labels_from_text(written.tolist()).dtype.kind == "i":
        return "whose names would be taken for whole numbers; write .parquet"
    try:
        with open_source(path) as source:
            found = recognise(source, ReadOptions(may_be_lists=True))
    except InvalidInputError:
        return f"which is not recognised; read it with format={kind!r}"
    problem = None
    # A basket file with one number in each line is the same as FIMI; '-1' is a name, but no number there.
    is_same = kind == "basket" and found.format == "fimi" and labels.dtype.kind == "i"
    is_same = is_same and transactions.lengths().max() <= 1
    if found.format != kind and not is_same:
        problem = f"which is taken for {found.format}; read it with format={kind!r}"
    elif found.has_lists or _seems_listed(transactions, kind):
        problem = f"whose names are taken for lists; read it with format={kind!r}"
    elif kind == "onehot" and found.header_lines == 0:
        problem = f"whose names are taken for cells; read it with format={kind!r} and header=True"
    elif kind != "fimi" and found.delimiter not in (None, delimiter) and len(labels) > 1:
        problem = f"which is split at {found.delimiter!r}; read it with delimiter={delimiter!r}"
    return problem


def _seems_listed(transactions: Transactions, kind: str) -> bool:
    """Whether a long file has one item in each transaction, whose names may be taken for lists."""
    if kind != "long" or transactions.lengths().max(initial=0) > 1:
        return False
    names = [str(transactions.items[code]) for code in transactions.indices.tolist()]
    return share_of_lists(names) >= LEAST_LISTS


def check_path(path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002 - as above
    """Check that a file of this name can be written; call it before long work, to fail early.

    Raises
    ------
    InvalidInputError
        If neither the format nor the ending is known, or the folder does not exist.
    """
    if format is None:
        _format_by_ending(Path(path))
    checked_target(path)


def _format_by_ending(path: Path) -> str:
    endings = [ending.lower() for ending in path.suffixes]
    ending = endings[-2] if len(endings) > 1 and endings[-1] == ".gz" else "".join(endings[-1:])
    if ending not in ENDINGS:
        raise InvalidInputError(
            f"expected a file name that ends in one of {', '.join(ENDINGS)} (also with .gz), "
            f"got {path.name!r}; rename it, or name a format="
        )
    return ENDINGS[ending]


def _refuse_loss(transactions: Transactions, kind: str) -> None:
    items = transactions.items
    if kind in ("jsonl", "onehot") and transactions.n_transactions == 0:
        raise InvalidInputError(
            f"expected at least one transaction for {kind} files, got none; write .parquet"
        )
    if kind == "onehot" and transactions.n_items == 0:
        raise InvalidInputError("expected at least one item for onehot files, got none; write .parquet")
    if kind in ("fimi", "basket") and transactions.n_ones == 0:
        raise InvalidInputError(
            f"expected at least one item for {kind} files, got only empty transactions; write .parquet"
        )
    if kind == "fimi" and not items.are_integers:
        raise InvalidInputError(
            f"expected integer item names for FIMI, got {items[0]!r}; write .csv or .parquet"
        )
    _refuse_names(items, kind)
    n_empty = int((transactions.lengths() == 0).sum()) if kind == "long" else 0
    if n_empty:
        raise InvalidInputError(
            f"expected no empty transactions for long CSV, got {n_empty:,}; try drop_empty(), or .parquet"
        )


def _refuse_names(items: Items, kind: str) -> None:
    """Refuse names that would be read back as other names, or not at all."""
    if items.are_integers:
        wrong = items.labels[(items.labels < 0) | (items.labels >= 10**MOST_DIGITS)]
        if kind in _AS_TEXT and len(wrong):
            raise InvalidInputError(
                f"expected item codes of 0 or more with at most {MOST_DIGITS} digits for {kind} files, got "
                f"{wrong[0]}; write .parquet or .jsonl"
            )
        return
    try:
        "".join(items.labels).encode()
    except UnicodeEncodeError:
        unfit = next(name for name in items.labels if any("\ud800" <= c <= "\udfff" for c in name))
        raise InvalidInputError(
            f"expected item names that are valid Unicode, got {unfit!r}; rename that item"
        ) from None
    unfit = next(filter(_is_unfit_for_csv, items), None) if kind in _AS_TEXT else None
    if unfit is not None:
        raise InvalidInputError(
            f"expected names without blanks at their ends for CSV, got {unfit!r}; write .parquet"
        )


def _is_unfit_for_csv(label: Label) -> bool:
    name = str(label)
    return not name or name != name.strip() or "\0" in name or name.startswith("\ufeff")


def _write_fimi(transactions: Transactions, file: IO[bytes], _: str) -> None:
    for rows in _blocks_of_names(transactions, str):
        file.write("".join([" ".join(row) + "\n" for row in rows]).encode())


def _write_basket(transactions: Transactions, file: IO[bytes], delimiter: str) -> None:
    for rows in _blocks_of_names(transactions, partial(_as_cell, delimiter)):
        file.write("".join([delimiter.join(row) + "\n" for row in rows]).encode())


def _write_long(transactions: Transactions, file: IO[bytes], delimiter: str) -> None:
    as_cell = partial(_as_cell, delimiter)
    keys = _ids_as_text(transactions, as_cell)
    file.write(delimiter.join([*map(as_cell, keys), "item\n"]).encode())
    before = [delimiter.join(cells) for cells in zip(*keys.values(), strict=True)]
    number = 0
    for rows in _blocks_of_names(transactions, as_cell):
        own = before[number : number + len(rows)]
        lines = [f"{key}{delimiter}{name}\n" for key, row in zip(own, rows, strict=True) for name in row]
        file.write("".join(lines).encode())
        number += len(rows)


def _id_columns(transactions: Transactions, name: str) -> dict[str, pa.Array]:
    """Return the ids of all transactions, one column of a name or one for each field; nothing without ids."""
    import pyarrow as pa

    ids = transactions.ids
    if ids is None:
        return {}
    parts = {name: ids}
    if pa.types.is_struct(ids.type):
        parts = {field.name: part for field, part in zip(ids.type, ids.flatten(), strict=True)}
    rows = pa.array(each_transaction(transactions, np.arange(transactions.n_rows)))
    return {f"{key}_id" if key in _NO_IDS else key: part.take(rows) for key, part in parts.items()}


def _ids_as_text(transactions: Transactions, as_cell: Callable[[Label], str]) -> dict[str, list[str]]:
    """Return the ids of transactions as cells by column; their numbers where ids do not tell them apart."""
    numbers = {"transaction": [str(number) for number in range(transactions.n_transactions)]}
    columns = _id_columns(transactions, "transaction")
    if not columns:
        return numbers
    texts = {name: [str(value) for value in ids.to_pylist()] for name, ids in columns.items()}
    is_clean = not any(map(_is_unfit_for_csv, chain(texts, *texts.values())))
    if not is_clean or len(set(zip(*texts.values(), strict=True))) < transactions.n_transactions:
        return numbers
    return {name: list(map(as_cell, cells)) for name, cells in texts.items()}


def _write_onehot(transactions: Transactions, file: IO[bytes], delimiter: str) -> None:
    header = [_as_cell(delimiter, label) for label in transactions.items]
    file.write((delimiter.join(header) + "\n").encode())
    line = np.full(2 * transactions.n_items, ord(delimiter), dtype=np.uint8)
    line[::2], line[-1:] = ord("0"), ord("\n")
    repeats = transactions.multiplicities
    for t in range(transactions.n_rows):
        ones = 2 * transactions.indices[transactions.indptr[t] : transactions.indptr[t + 1]]
        line[ones] = ord("1")
        file.write(line.tobytes() * (1 if repeats is None else int(repeats[t])))
        line[ones] = ord("0")


def _write_jsonl(transactions: Transactions, file: IO[bytes], _: str) -> None:
    def as_json(label: object) -> str:
        return json.dumps(label, ensure_ascii=False, default=str)

    keys = [
        [f"{as_json(name)}: {as_json(value)}, " for value in ids.to_pylist()]
        for name, ids in _id_columns(transactions, "id").items()
    ]
    number = 0
    for rows in _blocks_of_names(transactions, as_json):
        lists = [f"[{', '.join(row)}]" for row in rows]
        if keys:
            own = zip(*(column[number : number + len(rows)] for column in keys), strict=True)
            lists = [f'{{{"".join(key)}"items": {row}}}' for key, row in zip(own, lists, strict=True)]
        file.write("".join([f"{row}\n" for row in lists]).encode())
        number += len(rows)


def _write_parquet(transactions: Transactions, file: IO[bytes], _: str) -> None:
    from pyarrow import parquet

    parquet.write_table(_as_table(transactions), file, compression="zstd", row_group_size=_ROWS_IN_A_GROUP)


def _write_arrow(transactions: Transactions, file: IO[bytes], _: str) -> None:
    import pyarrow as pa

    table = _as_table(transactions)
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


_WRITERS: dict[str, Callable[[Transactions, IO[bytes], str], None]] = {
    "fimi": _write_fimi,
    "basket": _write_basket,
    "long": _write_long,
    "onehot": _write_onehot,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "jsonl": _write_jsonl,
}


def _as_cell(delimiter: str, label: Label) -> str:
    """Return a name as a cell of CSV, in quotes if it holds a possible delimiter."""
    name = str(label)
    if any(mark in name for mark in f'{delimiter}{DELIMITERS}"\n\r'):
        name = '"' + name.replace('"', '""') + '"'
    return name


def _as_table(transactions: Transactions) -> pa.Table:
    """Return a table with a list column, which knows the names of all items, and with columns of ids."""
    import pyarrow as pa

    table, columns = transactions.to_arrow(), _id_columns(transactions, "id")
    known = {ITEMS_KEY: json.dumps(transactions.items.labels.tolist()).encode()}
    if columns:
        known[IDS_KEY] = json.dumps(list(columns)).encode()
    table = table.cast(pa.schema([table.schema.field("items").with_metadata(known)]))
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table


def _blocks_of_names(
    transactions: Transactions, as_text: Callable[[Label], str]
) -> Iterator[list[list[str]]]:
    """Yield the transactions as lists of names, many at a time."""
    names = [as_text(label) for label in transactions.items]
    repeats = transactions.multiplicities
    for start in range(0, transactions.n_rows, _ROWS_AT_A_TIME):
        stop = min(start + _ROWS_AT_A_TIME, transactions.n_rows)
        ends = transactions.indptr[start : stop + 1]
        flat = [names[code] for code in transactions.indices[ends[0] : ends[-1]].tolist()]
        bounds = (ends - ends[0]).tolist()
        rows = [flat[a:b] for a, b in pairwise(bounds)]
        if repeats is not None:
            rows = [row for row, n in zip(rows, repeats[start:stop].tolist(), strict=True) for _ in range(n)]
        yield rows
