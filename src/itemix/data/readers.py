"""Read transactions from files of any usual shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.data.formats.basket import read_basket
from itemix.data.formats.fimi import read_fimi
from itemix.data.recognise import FORMATS, Recognised, recognise, sniff_delimiter
from itemix.data.source import PathOrStream, open_source
from itemix.errors import InvalidInputError
from itemix.transactions import Transactions

if TYPE_CHECKING:
    from itemix.data.source import Source
    from itemix.encoding import Encoded


def read_transactions(
    path: PathOrStream,
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> Transactions:
    """Read transactions from a file; its format is recognised, and said in ``.source``."""
    with open_source(path) as source:
        found = recognise(source, encoding, delimiter)
        if format:
            found = Recognised(format, found.delimiter, has_header=found.has_header)
        if found.format == "fimi":
            encoded = read_fimi(source)
        else:
            encoded = read_basket(source, encoding=encoding, delimiter=found.delimiter)
        said = f"{source.label} ({FORMATS[found.format]}{', gzip' if source.gzipped else ''})"
        return Transactions(*encoded, source=said)
