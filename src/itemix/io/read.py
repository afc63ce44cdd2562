"""Read transactions from files of any usual shape."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from itemix._checks import check_flag
from itemix._runtime import interruptible
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.inputs import refuse_repeated
from itemix.io.arrow import LAYOUTS, read_arrow
from itemix.io.csv import read_basket
from itemix.io.detect import recognise
from itemix.io.fimi import read_fimi
from itemix.io.jsonl import read_jsonl
from itemix.io.long import read_long
from itemix.io.names import named
from itemix.io.onehot import read_onehot
from itemix.io.options import ReadOptions, checked_delimiter, pair_of_columns
from itemix.io.progress import byte_progress
from itemix.io.source import PathOrStream, encoding_of, open_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itemix.core.encoding import Encoded
    from itemix.core.items import Label
    from itemix.io.detect import Recognised
    from itemix.io.source import Source

FORMATS = {
    "fimi": "FIMI",
    "basket": "basket CSV",
    "long": "long CSV",
    "onehot": "one-hot CSV",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "jsonl": "JSONL",
}


@interruptible()
def read_transactions(
    path: PathOrStream,
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool | None = None,
    transaction: str | None = None,
    item: str | None = None,
    names: PathOrStream | Mapping[Label, str] | None = None,
    progress: bool = False,
) -> Transactions:
    r"""Read transactions from a file; its format is recognised, and said in ``.source`` of the result.

    Parameters
    ----------
    path : str, path or file object
        What to read; "-" is standard input. What is no regular file, such as a pipe, is read once. Gzip is
        recognised by its first bytes and undone.
    format : {"fimi", "basket", "long", "onehot", "parquet", "arrow", "jsonl"}, optional
        The format, where it should not be recognised. For Parquet and Arrow files "long" and "onehot" name
        the layout of the table.
    encoding : str
        Of text files; an open text file has its own.
    delimiter : str, optional
        Between the cells of CSV, one ASCII character: by default the one of comma, semicolon, tab and ``|``
        that is there.
    header : bool, optional
        Whether the first line of CSV has the names of the columns, where that should not be recognised. A
        basket CSV has none by default.
    transaction, item : str, optional
        The columns of a long table, where they have no usual names such as ``order_id`` and ``product``.
        `item` is also the list column of Parquet, Arrow and JSONL, and `transaction` also a column of a
        one-hot table that is no item.
    names : path, file object or mapping, optional
        The names of item codes: a mapping, or a CSV file with columns of codes and of names. Items without a
        name keep their code; where several share a name, their codes are added to it.
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
        If the file cannot be read as what it is or should be; the message says where.

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
    )
    with (
        byte_progress(path) if check_flag("progress", progress) else nullcontext() as on_bytes,
        open_source(path, on_bytes) as source,
    ):
        found = recognise(source, options, format)
        encoded, said = _read(source, found, options, format)
    if found.format == "fimi":
        transactions = Transactions.from_canonical(*encoded, source=said)
    else:
        transactions = Transactions(*encoded, source=said)
    return transactions if names is None else named(transactions, names, encoding)


def checked_options(
    path: PathOrStream,
    format: str | None,  # noqa: A002 - the word that users know
    *,
    encoding: str,
    delimiter: str | None,
    header: bool | None,
    transaction: str | None,
    item: str | None,
) -> ReadOptions:
    """Return what was said of a file, if that can be.

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
    return ReadOptions(encoding_of(path, encoding), checked_delimiter(delimiter), header, transaction, item)


def said_of(source: Source, found: Recognised, layout: str | None = None, columns: str | None = None) -> str:
    """Say what a file is called and what it was read as."""
    said = (
        FORMATS[found.format],
        LAYOUTS[layout] if layout else None,
        columns,
        "gzip" if source.gzipped else None,
    )
    return f"{source.label} ({', '.join(part for part in said if part)})"


def _read(source: Source, found: Recognised, options: ReadOptions, wanted: str | None) -> tuple[Encoded, str]:
    """Return what is in the file, and what it was read as."""
    if found.format in ("parquet", "arrow"):
        layout = wanted if wanted in LAYOUTS else None
        encoded, layout = read_arrow(source, options, parquet=found.format == "parquet", layout=layout)
        return encoded, said_of(source, found, layout)
    said = said_of(source, found)
    if found.format == "long":
        return read_long(source, found, options), said_of(source, found, columns=_chosen(found, options))
    if found.format == "fimi":
        return read_fimi(source, options.encoding), said
    if found.format == "jsonl":
        return read_jsonl(source, options), said
    if found.format == "basket":
        return read_basket(source, found, encoding=options.encoding), said
    return read_onehot(source, found, options), said


def _chosen(found: Recognised, options: ReadOptions) -> str | None:
    """Say which columns of a long table are read, where others could have been."""
    if len(found.columns) == 2 or (options.transaction is not None and options.item is not None):
        return None
    transaction, item = pair_of_columns(found.columns, options)
    return f"columns {transaction!r} and {item!r}"
