"""`read_transactions`: transactions from a file of any usual format, and names for their item codes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from itemix._checks import check_flag
from itemix._files import refuse_repeated
from itemix._runtime import interruptible
from itemix.core.binning import TableOptions
from itemix.core.encoding import in_canonical_order
from itemix.core.rows import RowOptions
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError
from itemix.io.arrow import LAYOUTS, read_arrow, read_arrow_table
from itemix.io.detect import (
    ReadOptions,
    checked_delimiter,
    find_column,
    pair_of_columns,
    recognise,
    said_of_columns,
)
from itemix.io.fimi import read_fimi
from itemix.io.source import PathOrStream, byte_progress, csv_rows, encoding_of, open_source
from itemix.io.text import read_basket, read_jsonl, read_long, read_onehot, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from itemix._typing import TransactionsLike
    from itemix.core.binning import BinsLike
    from itemix.core.encoding import Encoded
    from itemix.core.items import Label
    from itemix.io.detect import Recognised
    from itemix.io.source import Source

FORMATS = {
    "fimi": "FIMI",
    "basket": "basket CSV",
    "long": "long CSV",
    "onehot": "one-hot CSV",
    "table": "table CSV",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "jsonl": "JSONL",
}
CODE_COLUMNS = ("code", "item", "itemid", "id", "productid", "sku", "number", "key")
NAME_COLUMNS = (
    "name", "label", "labels", "title", "itemname", "productname", "description", "itemdescription",
    "product",
)  # fmt: skip


@interruptible()
def read_transactions(
    path: PathOrStream,
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool | None = None,
    transaction: str | Sequence[str] | None = None,
    item: str | None = None,
    where: str | Iterable[str] | None = None,
    drop_missing: bool | Iterable[str] = False,
    upper: bool = False,
    strip: bool = True,
    counts: str | None = None,
    quantity: str | None = None,
    columns: Iterable[str] | None = None,
    drop: Iterable[str] | None = None,
    bins: BinsLike = "quantile",
    missing: str = "skip",
    names: PathOrStream | Mapping[Label, str] | None = None,
    progress: bool = False,
) -> Transactions:
    r"""Read transactions from a file; its format is recognised, and named in ``.source`` of the result.

    Parameters
    ----------
    path : str, path or file object
        The file to read; "-" is standard input. A stream, such as a pipe, is read only once. Gzip is
        recognised by its first bytes and unpacked.
    format : {"fimi", "basket", "long", "onehot", "table", "parquet", "arrow", "jsonl"}, optional
        The format, if it should not be recognised. "table" is one of categories and numbers, a row for each
        transaction; it is read only if it is asked for. For Parquet and Arrow files "long", "onehot" and
        "table" name the layout.
    encoding : str
        The encoding of text files; an open text file has its own.
    delimiter : str, optional
        One ASCII character between the cells of CSV: by default comma, semicolon, tab or ``|``, whichever is
        there.
    header : bool, optional
        Whether the first line of CSV has the names of the columns, if that should not be recognised. A basket
        CSV has none by default.
    transaction, item : str, optional
        The columns of a long table, if they have no usual names such as ``order_id`` and ``product``. Several
        columns together may tell transactions apart, as ``["member", "date"]``. `item` also names the list
        column of Parquet, Arrow and JSONL, and `transaction` a column of another table that is not an item.
    where, drop_missing, upper, strip, counts, quantity
        Of long tables and of tables of categories: which rows remain, how names are cleaned, and how often a
        transaction counts. See `Transactions.from_long`.
    columns, drop, bins, missing
        Of a table of categories and numbers: see `Transactions.from_table`.
    names : path, file object or mapping, optional
        The names of item codes: a mapping, or a CSV file with a column of codes and one of names. Items
        without a name keep their code. If several share a name, their codes are added to it.
    progress : bool
        Whether to show a bar on the terminal while reading.

    Returns
    -------
    Transactions
        Items are in ascending order of their names; those of a one-hot table keep the order of its columns.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If the file cannot be read, or not in this format; the message says where.

    Examples
    --------
    >>> import io, itemix
    >>> itemix.read_transactions(io.BytesIO(b"milk,bread\nmilk\n")).to_lists()
    [['bread', 'milk'], ['milk']]
    """
    refuse_repeated(path, names)
    options = checked_options(
        path,
        format,
        encoding=encoding,
        delimiter=delimiter,
        header=header,
        transaction=transaction,
        item=item,
        table=TableOptions.checked(columns=columns, drop=drop, bins=bins, missing=missing),
        rows=RowOptions.checked(
            where=where,
            drop_missing=drop_missing,
            upper=upper,
            strip=strip,
            counts=counts,
            quantity=quantity,
        ),
    )
    with (
        byte_progress(path) if check_flag("progress", progress) else nullcontext() as on_bytes,
        open_source(path, on_bytes) as source,
    ):
        found = recognise(source, options, format)
        refuse_rows(source, found, options, format)
        encoded, description = _read(source, found, options, format)
    if found.format == "fimi" or format == "table":
        transactions = Transactions.from_canonical(*encoded, source=description)
    else:
        transactions = Transactions(*in_canonical_order(encoded), source=description)
    return transactions if names is None else named(transactions, names, encoding)


def transactions_of(source: TransactionsLike) -> Transactions:
    """Return transactions in any form that `as_transactions` takes, or those of a file.

    Raises
    ------
    InvalidInputError
        If the source is none of these, or the file cannot be read.
    """
    return read_transactions(source) if isinstance(source, str | os.PathLike) else as_transactions(source)


def checked_options(
    path: PathOrStream,
    format: str | None,  # noqa: A002 - the word that users know
    *,
    encoding: str,
    delimiter: str | None,
    header: bool | None,
    transaction: str | Sequence[str] | None,
    item: str | None,
    table: TableOptions,
    rows: RowOptions,
) -> ReadOptions:
    """Check the options for a file and return them.

    Raises
    ------
    InvalidInputError
        If the format is unknown, or another option is of a wrong kind.
    """
    if format is not None and (not isinstance(format, str) or format not in FORMATS):
        raise InvalidInputError(
            f"expected a format, one of {', '.join(FORMATS)}, got {format!r}; "
            "leave it out to have it recognised"
        )
    if header is not None:
        check_flag("header", header)
    if table != TableOptions() and format != "table":
        raise InvalidInputError(
            f"expected format='table' with columns=, drop=, bins= or missing=, got {format!r}; say "
            "format='table' if each row is a transaction"
        )
    key = transaction[0] if isinstance(transaction, list | tuple) and len(transaction) == 1 else transaction
    table = table._replace(transaction=key)
    mark = checked_delimiter(delimiter)
    return ReadOptions(
        encoding_of(path, encoding), mark, header, key, item, table, rows, format not in LAYOUTS
    )


def description_of(
    source: Source, found: Recognised, layout: str | None = None, columns: str | None = None
) -> str:
    """Return the name of a file, and in brackets its format, layout and columns."""
    parts = (
        FORMATS[found.format],
        "lists in cells" if found.has_lists else None,
        LAYOUTS[layout] if layout else None,
        columns,
        "gzip" if source.gzipped else None,
    )
    return f"{source.label} ({', '.join(part for part in parts if part)})"


def refuse_rows(source: Source, found: Recognised, options: ReadOptions, wanted: str | None) -> None:
    """Refuse conditions on rows and weights where the format has no columns.

    Raises
    ------
    InvalidInputError
        If there are some all the same.
    """
    rows = options.rows
    if found.format in ("onehot", "jsonl"):
        rows = rows._replace(counts=None, quantity=None)
    if wanted == "table" or found.format in ("long", "parquet", "arrow") or rows == RowOptions():
        return
    raise InvalidInputError(
        "expected a long table, or format='table', with where=, drop_missing=, upper=, counts= and the like, "
        f"got {source.label}, which is {FORMATS[found.format]}; name its columns with transaction= and item="
    )


def _read(source: Source, found: Recognised, options: ReadOptions, wanted: str | None) -> tuple[Encoded, str]:
    """Return the rows of a file, and its description."""
    is_binary = found.format in ("parquet", "arrow")
    if wanted == "table":
        read = read_arrow_table if is_binary else read_table
        encoded, left_out = read(source, found, options)
        return encoded, description_of(source, found, "table" if is_binary else None, left_out)
    if is_binary:
        layout = wanted if wanted in LAYOUTS else None
        encoded, layout, said = read_arrow(source, options, parquet=found.format == "parquet", layout=layout)
        return encoded, description_of(source, found, layout, said)
    if found.format == "long":
        encoded, said = read_long(source, found, options)
        said = ", ".join(part for part in (chosen_columns(found, options), said) if part)
        return encoded, description_of(source, found, columns=said)
    return _READERS_OF_TEXT[found.format](source, found, options), description_of(source, found)


_READERS_OF_TEXT: dict[str, Callable[[Source, Recognised, ReadOptions], Encoded]] = {
    "fimi": lambda source, found, options: read_fimi(source, options.encoding),
    "jsonl": lambda source, found, options: read_jsonl(source, options),
    "onehot": read_onehot,
    "basket": read_basket,
}


def chosen_columns(found: Recognised, options: ReadOptions) -> str | None:
    """Say which columns of a long table are read, if there was a choice."""
    if len(found.columns) == 2 or (options.transaction is not None and options.item is not None):
        return None
    transaction, item = pair_of_columns(found.columns, options)
    return said_of_columns(transaction, item)


def named(
    transactions: Transactions, names: PathOrStream | Mapping[Label, str], encoding: str = "utf-8"
) -> Transactions:
    """Give the items names by their codes; an item without a name keeps its code, as a string.

    If a name is also the code of an item without a name, the code of the named item is added to it.

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
    """Return the name of each code; if several codes share a name, each is added to its name.

    Missing and blank names do not count.

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
    """Return a name that no other item has: with its code if it is taken."""
    return f"{name} ({code})" if name in taken else name


def _is_missing(name: object) -> bool:
    return name is None or name != name  # noqa: PLR0124 - NaN: pandas has it for a missing name


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
    """Return the column of the codes, that of the names, and the first row below the header."""
    header = rows[0]
    code = find_column(header, CODE_COLUMNS)
    name = find_column([column for column in header if column != code], NAME_COLUMNS)
    if code is not None and name is not None:
        return header.index(code), header.index(name), 1
    is_header = len(rows) > 1 and rows[1][0].isdigit() and not header[0].isdigit()
    return 0, 1, 1 if is_header else 0
