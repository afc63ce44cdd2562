"""Chunks of a file of transactions that may be far larger than memory, read as often as needed.

A reader gives the rows of a file in pieces, each with items of its own. The first reading collects the items
of the whole file. Each later reading renumbers the pieces by these, and cuts the rows into chunks that take
no more memory than was asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._arrays import GrowingArray
from itemix._checks import check_flag, check_whole
from itemix._files import as_path, is_standard_input, is_stream, scratch_file
from itemix._runtime import interruptible
from itemix.core.binning import TableOptions
from itemix.core.encoding import Encoded, in_canonical_order
from itemix.core.items import Items, labels_from_text
from itemix.core.rows import RowOptions, ids_are_whole, ids_as_numbers
from itemix.core.transactions import Transactions, as_transactions, joined_ids
from itemix.errors import InvalidInputError
from itemix.io.arrow import LAYOUTS, arrow_pieces
from itemix.io.cache import RowsFile, SourceKey, Spool, checked_cache, facts_of
from itemix.io.detect import recognise
from itemix.io.fimi import fimi_pieces
from itemix.io.long import NotInChunksError, SeenIds, SpreadError, pieces_apart, pieces_together
from itemix.io.read import checked_options, chosen_columns, description_of, named, refuse_rows
from itemix.io.source import byte_progress, open_source
from itemix.io.text import basket_pieces, jsonl_pieces, long_table, onehot_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    import pyarrow as pa

    from itemix._typing import ChunksLike
    from itemix.core.binning import BinsLike
    from itemix.core.items import Label
    from itemix.io.detect import ReadOptions, Recognised
    from itemix.io.long import LongTable
    from itemix.io.source import PathOrStream, Source

    Watched = Callable[[], AbstractContextManager[Callable[[int], None] | None]]
    PieceArrays = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], pa.Array | None]

CHUNK_BYTES = 1 << 26
_ROW_BYTES, _CODE_BYTES = 8, 4


@interruptible()
def read_chunks(
    path: str | os.PathLike[str],
    *,
    chunk_bytes: int = CHUNK_BYTES,
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
    cache: bool | str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Chunks:
    r"""Read a file that may be far larger than memory, in chunks and as often as needed.

    The file is read once at the beginning, to check it and to find its items. All chunks have the same items,
    those that `read_transactions` would give. The file is read again for each loop over the chunks.

    Parameters
    ----------
    path : str or path
        The file. In a long table the rows of each transaction must stand together, unless there is a cache.
        Parquet and Arrow files that are gzipped as a whole cannot be read in chunks.
    chunk_bytes : int
        How much memory a chunk may take, in bytes: 8 for each transaction and 4 for each item in it. A chunk
        has at least one transaction. Reading takes another 100 MB or so, and work on a chunk may take several
        times its size. `mine` puts small chunks together, up to 16 MiB. The first reading of a long table
        also takes 8 bytes for each transaction.
    format, encoding, delimiter, header, transaction, item, names
        As in `read_transactions`.
    where, drop_missing, upper, strip
        Of long tables: which rows remain, and how names are cleaned; see `Transactions.from_long`.
    counts, quantity, columns, drop, bins, missing
        Refused in chunks: for tables of categories, and for transactions that count several times, see
        `read_transactions`.
    cache : bool or path, default False
        Whether the rows are kept on disk after the first reading, so that the file is not decoded again. True
        keeps them in a temporary file, which is gone with the chunks, in the folder that the environment
        variable TMPDIR names. With a folder they stay in it, and are used again by the next `read_chunks` of
        this file, if it has the same size and time of change and is read in the same way. The rows take as
        much room as all chunks in memory, and twice that while they are written; a long table whose rows do
        not stand together takes 28 bytes more for each row.
    progress : bool
        Whether to show a bar on the terminal during the first reading.

    Returns
    -------
    Chunks
        An iterable of `Transactions` that can be looped over as often as needed: for `partial_fit`, for
        ``verify=`` of `mine` and for ``correct``.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If the file cannot be read, or not in this format, or not in chunks.

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
    wanted = checked_cache(cache)
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
            table=TableOptions.checked(columns=columns, drop=drop, bins=bins, missing=missing),
            rows=RowOptions.checked(
                where=where,
                drop_missing=drop_missing,
                upper=upper,
                strip=strip,
                counts=counts,
                quantity=quantity,
            ),
        ),
        format,
    )
    is_quiet = not check_flag("progress", progress)

    def watched() -> AbstractContextManager[Callable[[int], None] | None]:
        return nullcontext() if is_quiet else byte_progress(path)

    chunks = _cached(file, size, wanted, watched) if wanted else _first_reading(file, size, watched)
    if names is not None:
        nothing = Transactions([0], np.empty(0, dtype=np.int32), chunks.items)
        chunks = chunks.renamed(named(nothing, names, encoding).items)
    return chunks


def _first_reading(file: _File, size: int, watched: Watched, spool: Spool | None = None) -> Chunks:
    """Read a file once, to check it and to find its items; its pieces go to the spool if there is one."""
    with watched() as on_bytes, file.open(on_bytes, is_first=True) as content:
        sizes: list[int] = []
        pieces = content.pieces if spool is None else spool.passed(content.pieces)
        ids = IdsOfFile(is_text=content.ids_are_text)
        pieces = _measured(ids.looked_at(pieces), size, sizes)
        known, n_transactions = items_of_pieces(pieces, content.declared, is_text=content.is_text)
        said = content.describe()
        return Chunks(file, known, n_transactions, said, size=size, sizes=tuple(sizes), ids=ids)


def _cached(file: _File, size: int, folder: Path | bool, watched: Watched) -> Chunks:
    """Return chunks whose rows are in a cache, which is made if there is none that fits."""
    with open_source(file.path):  # a file that is missing is the usual error
        key = SourceKey.of(file.path, repr((file.options, file.format, size)))
    target = None if isinstance(folder, bool) else key.file_in(folder)
    rows = None if target is None else RowsFile.opened(target, key)
    if rows is not None:
        return Chunks.in_cache(file, rows, size)
    try:
        return _written(file, size, key, target, watched)
    except SpreadError:
        return _written(replace(file, is_spread=True), size, key, target, watched)


def _written(file: _File, size: int, key: SourceKey, target: Path | None, watched: Watched) -> Chunks:
    """Read a file for the first time, and write its rows to the cache.

    Raises
    ------
    InvalidInputError
        If the file changes meanwhile.
    """
    with scratch_file() as scratch:
        spool = Spool(scratch)
        read = _first_reading(file, size, watched, spool)
        if SourceKey.of(file.path, key.reading) != key:
            raise InvalidInputError(
                f"expected a file that stays as it is while it is read, got {file.name} which has changed; "
                "wait until nobody writes to the file, and call read_chunks again"
            )
        facts = facts_of(key, read.items, read.n_transactions, read.source)
        parts = ((part.indptr, part.indices) for part in read.cut(spool, is_canonical=False))
        rows = RowsFile.scratch(parts, facts) if target is None else RowsFile.kept(target, parts, facts)
    return Chunks.in_cache(file, rows, size)


class Chunks:
    """A file of transactions in chunks, read again for each loop over them: see `read_chunks`.

    Attributes
    ----------
    items : Items
        The items of the file, and of each chunk.
    n_transactions : int
        The number of transactions in the file.
    n_items : int
        The number of items.
    source : str
        The name of the file and its format.
    sizes : tuple of int
        The number of transactions of each chunk.
    """

    def __init__(
        self,
        file: _File,
        known: FileItems,
        n_transactions: int,
        source: str,
        *,
        size: int,
        sizes: tuple[int, ...],
        rows: RowsFile | None = None,
        ids: IdsOfFile | None = None,
    ) -> None:
        self.sizes = sizes
        self._ids = ids or IdsOfFile()
        self._rows = rows
        self._file = file
        self._known = known
        self._size = size
        self.n_transactions = n_transactions
        self.source = source

    @classmethod
    def in_cache(cls, file: _File, rows: RowsFile, size: int) -> Chunks:
        """Return chunks whose rows are in a cache: the file is not read again."""
        items = Items(rows.facts["labels"])
        known, n, source = FileItems(items, items.labels), rows.facts["n_transactions"], rows.facts["source"]
        return cls(file, known, n, source, size=size, sizes=rows.sizes, rows=rows)

    def renamed(self, items: Items) -> Chunks:
        """Return the same chunks with other names for the items, in the order of their codes."""
        return Chunks(
            self._file,
            self._known.renamed(items),
            self.n_transactions,
            self.source,
            size=self._size,
            sizes=self.sizes,
            rows=self._rows,
            ids=self._ids,
        )

    @property
    def items(self) -> Items:
        """The items of the file, and of each chunk."""
        return self._known.items

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self._known.items)

    @property
    def chunk_bytes(self) -> int:
        """How much memory a chunk may take, in bytes."""
        return self._size

    @property
    def is_cached(self) -> bool:
        """Whether the rows are kept on disk, so that the file is not read again."""
        return self._rows is not None

    def __repr__(self) -> str:
        return f"Chunks({self.n_transactions:,} x {self.n_items:,}, from {self.source})"

    def __iter__(self) -> Iterator[Transactions]:
        """Read the file from its beginning; there is at least one chunk.

        Raises
        ------
        InvalidInputError
            If the file has changed.
        """
        chunks = self._read()
        while True:
            with interruptible():  # only here, not while the caller works on the chunk
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk

    def _read(self) -> Iterator[Transactions]:
        if self._rows is not None:
            for number in range(len(self.sizes)):
                indptr, codes = self._rows.rows(number)
                yield Transactions.from_canonical(indptr, codes, self.items, source=self.source)
            return
        with self._file.open() as content:
            yield from self.cut(content.pieces, is_canonical=content.is_canonical)

    def cut(self, pieces: Iterable[Encoded], *, is_canonical: bool) -> Iterator[Transactions]:
        """Cut the pieces of the file into chunks, with the items of all of it.

        Raises
        ------
        InvalidInputError
            If the file has changed.
        """
        n_read = 0
        known = (self._known.renumbered(piece, self._file.name) for piece in pieces)
        for indptr, codes, ids in chunks_of_rows(known, self._size):
            n_read += len(indptr) - 1
            rows = Encoded(indptr, codes, self.items, None, self._ids.of(ids))
            rows = rows if is_canonical else in_canonical_order(rows)
            yield Transactions.from_canonical(*rows, source=self.source)
        if n_read != self.n_transactions:
            raise InvalidInputError(
                f"expected {self.n_transactions:,} transactions in {self._file.name}, as before, got "
                f"{n_read:,}; wait until nobody writes to the file, and call read_chunks again"
            )


class _Content(NamedTuple):
    """The content of a file: its rows in pieces, what it is once they were read, and its items if listed."""

    pieces: Iterator[Encoded]
    describe: Callable[[], str]
    declared: Items | None = None
    is_text: bool = False
    ids_are_text: bool = False
    is_canonical: bool = False


@dataclass(frozen=True)
class _File:
    """A file, and how it is to be read."""

    path: str | os.PathLike[str]
    options: ReadOptions
    format: str | None
    is_spread: bool = False  # the rows of a transaction in a long table need not stand together

    @property
    def name(self) -> str:
        return Path(self.path).name

    @contextmanager
    def open(
        self, on_bytes: Callable[[int], None] | None = None, *, is_first: bool = False
    ) -> Iterator[_Content]:
        with open_source(self.path, on_bytes) as source:
            yield self._content(source, recognise(source, self.options, self.format), is_first=is_first)

    def _content(self, source: Source, found: Recognised, *, is_first: bool) -> _Content:
        if self.format == "table":
            raise NotInChunksError(
                f"expected transactions in lines or rows, to read them in chunks, got format='table' for "
                f"{source.label}, whose bins come from all of it; read it whole, or write it as JSONL"
            )
        if self.options.rows.weight is not None:
            raise NotInChunksError(
                f"expected no counts and no quantity, to read in chunks, got column "
                f"{self.options.rows.weight!r} for {source.label}; read it whole"
            )
        refuse_rows(source, found, self.options, self.format)
        if found.format in ("parquet", "arrow"):
            return self._table(source, found, is_first=is_first)
        if found.format == "long":
            table = long_table(source, found, self.options)
            said = partial(_said_of_long, source, found, None, chosen_columns(found, self.options), table)
            pieces = self._pieces_of_long(table, is_first=is_first)
            return _Content(pieces, said, is_text=True, ids_are_text=True)
        description, encoding = partial(description_of, source, found), self.options.encoding
        if found.format == "fimi":
            return _Content(fimi_pieces(source, encoding), description, is_canonical=True)
        if found.format == "jsonl":
            return _Content(jsonl_pieces(source, self.options), description)
        if found.format == "basket":
            return _Content(basket_pieces(source, found, encoding=encoding), description, is_text=True)
        items, pieces = onehot_pieces(source, found, self.options)
        return _Content(pieces, description, items, ids_are_text=True)

    def _pieces_of_long(self, table: LongTable, *, is_first: bool) -> Iterator[Encoded]:
        if self.is_spread:
            return pieces_apart(table)
        return pieces_together(table, SeenIds() if is_first else None)

    def _table(self, source: Source, found: Recognised, *, is_first: bool) -> _Content:
        if source.gzipped:
            raise NotInChunksError(
                f"expected a Parquet or Arrow file that is not gzipped, to read it in chunks, got "
                f"{source.label}; unpack it with gunzip first"
            )
        layout = self.format if self.format in LAYOUTS else None
        content = arrow_pieces(source, self.options, parquet=found.format == "parquet", layout=layout)
        if content.table is not None:
            said = partial(_said_of_long, source, found, content.layout, content.said, content.table)
            return _Content(self._pieces_of_long(content.table, is_first=is_first), said)
        said = partial(description_of, source, found, content.layout, content.said)
        return _Content(content.pieces, said, content.declared)


def _said_of_long(
    source: Source, found: Recognised, layout: str | None, columns: str | None, table: LongTable
) -> str:
    """Describe a long table that has been read: its columns, and the rows that were left out."""
    said = ", ".join(part for part in (columns, table.gone.said) if part)
    return description_of(source, found, layout, said)


def _readable_again(path: object) -> str | os.PathLike[str]:
    """Return the path of a file that can be read again and again; whether it exists is seen on opening."""
    if not isinstance(path, str | os.PathLike) or is_standard_input(path):
        got = "standard input" if is_standard_input(path) else type(path).__name__
        raise InvalidInputError(
            f"expected the path of a file, which can be read again and again, got {got}; save it as a file "
            "first"
        )
    if is_stream(as_path(path)):
        raise InvalidInputError(
            f"expected a file that can be read again and again, got {str(path)!r} which can be read only "
            "once; save it as a file first"
        )
    return path


class IdsOfFile:
    """What the first reading has seen of the ids of a file: whether all have one, and of which type.

    Parameters
    ----------
    is_text : bool
        Whether ids are text even where they are numbers: whole numbers become integers if all are.
    """

    def __init__(self, *, is_text: bool = False) -> None:
        self._is_text = is_text
        self._kind: pa.DataType | None = None
        self._whole: list[bool] = []
        self._is_complete = True

    def looked_at(self, pieces: Iterable[Encoded]) -> Iterator[Encoded]:
        """Yield pieces as they come, and look at their ids."""
        for piece in pieces:
            if len(piece.indptr) > 1 and self._is_complete:
                self._look_at(piece.ids)
            yield piece

    def _look_at(self, ids: pa.Array | None) -> None:
        self._is_complete = ids is not None and self._kind in (None, ids.type)
        if ids is None or not self._is_complete:
            return
        whole = ids_are_whole(ids) if self._is_text else [False]
        self._whole = (
            whole if self._kind is None else [a and b for a, b in zip(self._whole, whole, strict=True)]
        )
        self._kind = ids.type

    def of(self, ids: pa.Array | None) -> pa.Array | None:
        """Return the ids of a chunk as they are in the whole file; None if some of it have none."""
        if ids is None or not self._is_complete:
            return None
        return ids_as_numbers(ids, self._whole) if any(self._whole) else ids


class FileItems:
    """The items of a file, and their names as they are written in it.

    Parameters
    ----------
    items : Items
        The items, by the names that users see.
    written : array of labels
        The name of each item in the pieces of the file.
    """

    def __init__(self, items: Items, written: npt.NDArray[Any]) -> None:
        self.items = items
        self._written = written
        self._order = np.argsort(written, kind="stable")
        self._sorted = written[self._order]

    def renamed(self, items: Items) -> FileItems:
        """Return the same with other names for its items, in the order of their codes."""
        return FileItems(items, self._written)

    def renumbered(self, piece: Encoded, label: str) -> Encoded:
        """Return a piece with the codes of the whole file.

        Raises
        ------
        InvalidInputError
            If the piece has an item that the file did not have in the first reading.
        """
        labels = piece.items.labels
        if not len(labels):
            return piece._replace(items=self.items)
        is_known = np.zeros(len(labels), dtype=bool)
        if labels.dtype == self._sorted.dtype and len(self._sorted):
            places = np.minimum(np.searchsorted(self._sorted, labels), len(self._sorted) - 1)
            is_known = self._sorted[places] == labels
        if not is_known.all():
            raise InvalidInputError(
                f"expected the same items in {label} as before, got also "
                f"{piece.items[int(is_known.argmin())]!r}; wait until nobody writes to the file, and call "
                "read_chunks again"
            )
        new_code = self._order[places].astype(np.int32)
        return piece._replace(indices=new_code[piece.indices], items=self.items)


def items_of_pieces(
    pieces: Iterable[Encoded], declared: Items | None = None, *, is_text: bool = False
) -> tuple[FileItems, int]:
    """Read all pieces, and return their items and the number of transactions.

    Declared items keep their order, others are sorted. Names in text become integers if all of them are.
    """
    n_transactions = 0
    written = _Distinct()
    for piece in pieces:
        n_transactions += len(piece.indptr) - 1
        if declared is None:
            written.add(piece.items.labels)
    if declared is not None:
        return FileItems(declared, declared.labels), n_transactions
    names = written.finished()
    labels = labels_from_text(names.tolist()) if is_text else names
    order = np.argsort(labels, kind="stable")
    return FileItems(Items(labels[order]), names[order]), n_transactions


class _Distinct:
    """The distinct labels among many. They are sorted again whenever their number may have doubled."""

    def __init__(self) -> None:
        self._parts: list[npt.NDArray[Any]] = []
        self._n_sorted = self._n_added = 0

    def add(self, labels: npt.NDArray[Any]) -> None:
        if not len(labels):
            return
        self._parts.append(labels)
        self._n_added += len(labels)
        if self._n_added > self._n_sorted:
            self._parts = [self.finished()]
            self._n_sorted, self._n_added = len(self._parts[0]), 0

    def finished(self) -> npt.NDArray[Any]:
        return np.unique(np.concatenate(self._parts)) if self._parts else np.empty(0, dtype=object)


def chunks_of_rows(pieces: Iterable[Encoded], size: int) -> Iterator[PieceArrays]:
    """Cut the rows of all pieces into chunks of at most `size` bytes, each of at least one row.

    If there are no rows at all, there is one empty chunk.
    """
    chunk = _Chunk(size)
    n_yielded = 0
    for piece in pieces:
        start, stop = 0, len(piece.indptr) - 1
        while start < stop:
            start = chunk.add(piece, start)
            if start < stop:
                yield chunk.finished()
                chunk = _Chunk(size)
                n_yielded += 1
    if len(chunk) or not n_yielded:
        yield chunk.finished()


def _measured(pieces: Iterable[Encoded], size: int, sizes: list[int]) -> Iterator[Encoded]:
    """Yield pieces as they come, and note how many rows each chunk of them will have."""
    room, n_rows = size, 0
    for piece in pieces:
        start, stop = 0, len(piece.indptr) - 1
        while start < stop:
            n, n_bytes = _fitting(piece, start, room, is_empty=n_rows == 0)
            room, n_rows, start = room - n_bytes, n_rows + n, start + n
            if start < stop:
                sizes.append(n_rows)
                room, n_rows = size, 0
        yield piece
    if n_rows or not sizes:
        sizes.append(n_rows)


def _fitting(piece: Encoded, start: int, room: int, *, is_empty: bool) -> tuple[int, int]:
    """Return how many rows from `start` on fit into a chunk, one at least if it is empty, and their bytes."""
    most = max(room // _ROW_BYTES, 1)
    ends = piece.indptr[start : start + most + 1]
    taken = _ROW_BYTES * np.arange(len(ends)) + _CODE_BYTES * (ends - ends[0])
    n = int(np.searchsorted(taken, room, side="right")) - 1
    n = max(n, int(is_empty))
    return n, int(taken[n])


class _Chunk:
    """The rows of a chunk while it is filled, and how much room is left."""

    def __init__(self, size: int) -> None:
        self._codes, self._indptr = GrowingArray(np.int32), GrowingArray(np.int64)
        self._indptr.extend(np.zeros(1, dtype=np.int64))
        self._ids: list[pa.Array | None] = []
        self._room = size

    def __len__(self) -> int:
        return len(self._indptr) - 1

    def add(self, piece: Encoded, start: int) -> int:
        """Append the rows of a piece from `start` on, as far as there is room; return the next row."""
        n, n_bytes = _fitting(piece, start, self._room, is_empty=len(self) == 0)
        first, stop = piece.indptr[start], piece.indptr[start + n]
        self._indptr.extend(piece.indptr[start + 1 : start + n + 1] - first, plus=len(self._codes))
        self._codes.extend(piece.indices[first:stop])
        if n:
            self._ids.append(None if piece.ids is None else piece.ids.slice(start, n))
        self._room -= n_bytes
        return start + n

    def finished(self) -> PieceArrays:
        return self._indptr.finish(), self._codes.finish(), joined_ids(self._ids) if self._ids else None


class Stream:
    """Transactions in chunks that can be read again and again.

    Parameters
    ----------
    data : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks` or `itemix.partitions`, or a list (or anything else that can
        be looped over more than once) of `Transactions`, data frames or matrices. A function is called for
        every pass and returns transactions or chunks of them.

    Attributes
    ----------
    n_transactions : int or None
        The number of transactions, if it is known before they are read.

    Raises
    ------
    InvalidInputError
        If the data is none of these.
    """

    def __init__(self, data: ChunksLike) -> None:
        self.n_transactions: int | None = None
        self._open: Callable[[], ChunksLike]
        if hasattr(data, "sizes"):  # chunks of a file, or partitions
            self.n_transactions = data.n_transactions
            self._open = data.__iter__
            return
        if callable(data):
            self._open = data
            return
        if isinstance(data, Iterator):
            raise InvalidInputError(
                f"expected data that can be read more than once, got {type(data).__name__}; pass a list of "
                "chunks, or a function that returns them anew for each pass"
            )
        if not _holds_chunks(data):
            data = [as_transactions(data)]
        if isinstance(data, list | tuple):
            data = [as_transactions(chunk) for chunk in data]
            self.n_transactions = sum(chunk.n_transactions for chunk in data)
        self._open = lambda: data

    def chunks(self) -> Iterator[Transactions]:
        """Read the data once."""
        opened = self._open()
        if not isinstance(opened, Iterator) and not _holds_chunks(opened):
            opened = [opened]
        for chunk in opened:
            yield as_transactions(chunk)


def _holds_chunks(data: ChunksLike) -> bool:
    """Whether the data is an iterable of chunks, and not one of transactions."""
    if isinstance(data, Transactions | str | bytes) or not isinstance(data, Iterable):
        return False
    if hasattr(data, "columns") or hasattr(data, "shape"):
        return False
    first = next(iter(data), None)
    is_matrix = len(getattr(first, "shape", ())) == 2
    return isinstance(first, Transactions) or hasattr(first, "columns") or is_matrix
