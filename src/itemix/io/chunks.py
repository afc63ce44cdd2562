"""Read a file of transactions in chunks, as often as needed, for it may be far larger than memory."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._checks import as_path, check_flag, check_whole
from itemix._runtime import interruptible
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.inputs import is_standard_input, is_stream
from itemix.io.arrow import LAYOUTS, arrow_pieces
from itemix.io.csv import basket_pieces
from itemix.io.cutting import cut
from itemix.io.detect import recognise
from itemix.io.fimi import fimi_pieces
from itemix.io.gathering import FileItems, gathered
from itemix.io.jsonl import jsonl_pieces
from itemix.io.names import named
from itemix.io.onehot import onehot_pieces
from itemix.io.progress import byte_progress
from itemix.io.read import checked_options, said_of
from itemix.io.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from itemix.core.encoding import Encoded
    from itemix.core.items import Items, Label
    from itemix.io.detect import Recognised
    from itemix.io.options import ReadOptions
    from itemix.io.source import PathOrStream, Source

CHUNK_BYTES = 1 << 26


class NotInChunksError(InvalidInputError):
    """The file must be read as a whole: transactions may be spread over it, or its end says what is in it."""


@interruptible()
def read_chunks(
    path: str | os.PathLike[str],
    *,
    chunk_bytes: int = CHUNK_BYTES,
    format: str | None = None,  # noqa: A002 - the word that users know
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool | None = None,
    transaction: str | None = None,
    item: str | None = None,
    names: PathOrStream | Mapping[Label, str] | None = None,
    progress: bool = False,
) -> Chunks:
    r"""Read a file that may be far larger than memory, in chunks and as often as needed.

    The file is read once at the beginning, to check it and to find its items; all chunks have the same ones,
    those that `read_transactions` would give. It is read again each time that the chunks are gone through.

    Parameters
    ----------
    path : str or path
        The file. Long tables, in which a transaction may be spread over the file, are not read in chunks, nor
        are Parquet and Arrow files that are gzipped as a whole.
    chunk_bytes : int
        How much memory a chunk may take, in bytes: 8 for each transaction and 4 for each item in it. A chunk
        has at least one transaction. Reading takes some 100 MB besides, and what is done with a chunk may
        take several times its size.
    format, encoding, delimiter, header, transaction, item, names
        As in `read_transactions`.
    progress : bool
        Whether to show a bar on the terminal during the first reading.

    Returns
    -------
    Chunks
        Can be gone through again and again, each time in `Transactions`: for `partial_fit`, for ``verify=``
        of `mine` and for ``correct``.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If the file cannot be read as what it is or should be, or not in chunks.

    Examples
    --------
    >>> import itemix
    >>> from pathlib import Path
    >>> _ = Path("baskets.csv").write_text("milk,bread\nmilk\nbread,beer\n")
    >>> chunks = itemix.read_chunks("baskets.csv", chunk_bytes=32)
    >>> chunks
    Chunks(3 x 3, from baskets.csv (basket CSV))
    >>> [chunk.to_lists() for chunk in chunks]
    [[['bread', 'milk'], ['milk']], [['beer', 'bread']]]
    """
    size = check_whole("chunk_bytes", chunk_bytes, CHUNK_BYTES, least=1)
    file = _File(
        _readable_again(path),
        checked_options(
            path,
            format,
            encoding=encoding,
            delimiter=delimiter,
            header=header,
            transaction=transaction,
            item=item,
        ),
        format,
    )
    with (
        byte_progress(path) if check_flag("progress", progress) else nullcontext() as on_bytes,
        file.open(on_bytes) as content,
    ):
        known, n_transactions = gathered(content.pieces, content.declared, is_text=content.is_text)
        source = content.said
    if names is not None:
        nothing = Transactions([0], np.empty(0, dtype=np.int32), known.items)
        known = known.renamed(named(nothing, names, encoding).items)
    return Chunks(file, known, n_transactions, source, size)


class Chunks:
    """A file of transactions in chunks, read anew each time that they are gone through: see `read_chunks`.

    Attributes
    ----------
    items : Items
        The items of the file, and of each chunk.
    n_transactions : int
        The number of transactions in the file.
    n_items : int
        The number of items.
    source : str
        The name of the file and what it was read as.
    """

    def __init__(self, file: _File, known: FileItems, n_transactions: int, source: str, size: int) -> None:
        self._file = file
        self._known = known
        self._size = size
        self.n_transactions = n_transactions
        self.source = source

    @property
    def items(self) -> Items:
        """The items of the file, and of each chunk."""
        return self._known.items

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self._known.items)

    def __repr__(self) -> str:
        return f"Chunks({self.n_transactions:,} x {self.n_items:,}, from {self.source})"

    def __iter__(self) -> Iterator[Transactions]:
        """Read the file from its beginning; there is at least one chunk.

        Raises
        ------
        InvalidInputError
            If the file is not what it was.
        """
        chunks = self._read()
        while True:
            with interruptible():  # not while others work on the chunk
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk

    def _read(self) -> Iterator[Transactions]:
        n_read = 0
        with self._file.open() as content:
            known = (self._known.renumbered(piece, self._file.name) for piece in content.pieces)
            make = Transactions.from_canonical if content.is_canonical else Transactions
            for indptr, codes in cut(known, self._size):
                n_read += len(indptr) - 1
                yield make(indptr, codes, self._known.items, source=self.source)
        if n_read != self.n_transactions:
            raise InvalidInputError(
                f"expected {self.n_transactions:,} transactions in {self._file.name}, as before, got "
                f"{n_read:,}; wait until nobody writes to the file, and call read_chunks again"
            )


class _Content(NamedTuple):
    """What a file holds: rows in pieces, and the items where the file has a list of them."""

    pieces: Iterator[Encoded]
    said: str
    declared: Items | None = None
    is_text: bool = False
    is_canonical: bool = False


@dataclass(frozen=True)
class _File:
    """Where a file is, and how it is to be read."""

    path: str | os.PathLike[str]
    options: ReadOptions
    format: str | None

    @property
    def name(self) -> str:
        return Path(self.path).name

    @contextmanager
    def open(self, on_bytes: Callable[[int], None] | None = None) -> Iterator[_Content]:
        with open_source(self.path, on_bytes) as source:
            yield self._content(source, recognise(source, self.options, self.format))

    def _content(self, source: Source, found: Recognised) -> _Content:
        if found.format == "long":
            raise NotInChunksError(_spread(source))
        if found.format in ("parquet", "arrow"):
            return self._table(source, found)
        said, encoding = said_of(source, found), self.options.encoding
        if found.format == "fimi":
            return _Content(fimi_pieces(source, encoding), said, is_canonical=True)
        if found.format == "jsonl":
            return _Content(jsonl_pieces(source, self.options), said)
        if found.format == "basket":
            return _Content(basket_pieces(source, found, encoding=encoding), said, is_text=True)
        items, pieces = onehot_pieces(source, found, self.options)
        return _Content(pieces, said, items)

    def _table(self, source: Source, found: Recognised) -> _Content:
        if source.gzipped:
            raise NotInChunksError(
                f"expected a Parquet or Arrow file that is not gzipped, to read it in chunks, got "
                f"{source.label}; unpack it with gunzip first"
            )
        layout = self.format if self.format in LAYOUTS else None
        declared, pieces, layout = arrow_pieces(
            source, self.options, parquet=found.format == "parquet", layout=layout
        )
        if layout == "long":
            raise NotInChunksError(_spread(source))
        return _Content(pieces, said_of(source, found, layout), declared)


def _spread(source: Source) -> str:
    return (
        "expected whole transactions in lines or rows, to read them in chunks, got the long table "
        f"{source.label}; write one list for each transaction, as JSONL or Parquet"
    )


def _readable_again(path: object) -> str | os.PathLike[str]:
    """Return the path of what can be read again and again; what is not there is found out on opening."""
    if not isinstance(path, str | os.PathLike) or is_standard_input(path):
        got = "standard input" if is_standard_input(path) else type(path).__name__
        raise InvalidInputError(
            f"expected the path of a file, which can be read again and again, got {got}; save it as a file "
            "first"
        )
    if is_stream(as_path(path)):
        raise InvalidInputError(
            f"expected a file that can be read again and again, got {str(path)!r} which is none; save it as "
            "a file first"
        )
    return path
