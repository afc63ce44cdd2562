"""Long tables that need not fit into memory: a row for each item of a transaction, read batch by batch.

Where the rows of each transaction stand together, transactions come as they are read. Otherwise the rows are
put together on disk. They are written to a temporary file in buckets, by the transaction's fingerprint, so
that all rows of a transaction are in one. Each bucket fits into memory and is grouped there. In the end
transactions are taken from all buckets at once, in the order in which they first appeared.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._files import mapped, scratch_file
from itemix._runtime import still_wanted
from itemix.core.encoding import Encoded, is_braced, labels_of, share_of_lists
from itemix.core.items import Items
from itemix.core.rows import LEAST_LISTS, GrowingRows, RowsGone, clean_batch, number_rows
from itemix.errors import InvalidInputError
from itemix.kernels import lattice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from itemix._typing import Codes, Ints
    from itemix.core.items import Label
    from itemix.core.rows import NumberedRows
    from itemix.io.detect import ReadOptions

    Fingerprints = npt.NDArray[np.uint64]

# Two fingerprints of 64 bits: among 10^12 transactions no two will share both.
_KEYS = ("itemix: buckets.", "itemix: the same")
_MIX = np.uint64(0x9E3779B97F4A7C15)
_N_BUCKETS = 256
_ROWS_AT_ONCE = 1 << 19
_RECORD = np.dtype([("first", "u8"), ("second", "u8"), ("row", "i8"), ("code", "i4")])
# Transactions are put in order by their first rows, one window of this many rows of the table at a time.
_ROWS_IN_A_WINDOW = 1 << 20


class NotInChunksError(InvalidInputError):
    """A file must be read as a whole: transactions are spread over it, or its end says what is in it."""


class SpreadError(NotInChunksError):
    """The rows of a transaction do not stand together."""


class GoneSoFar:
    """Which rows of a long table were left out, as far as it has been read."""

    def __init__(self) -> None:
        self._gone = RowsGone(0, {})

    def add(self, gone: RowsGone) -> None:
        """Add those of a batch."""
        self._gone = self._gone.and_those_of(gone)

    @property
    def said(self) -> str:
        """How many rows were left out and why, in words; empty if none were."""
        return self._gone.said


@dataclasses.dataclass(frozen=True)
class LongTable:
    """A long table that is read batch by batch.

    Attributes
    ----------
    label : str
        The name of the file, for messages.
    transaction : tuple of str
        The columns that tell transactions apart.
    item : str
        The column of items.
    batches : iterator of Arrow tables
        Its rows.
    options : ReadOptions
        Which rows count, and how names are cleaned.
    is_text : bool
        Whether names are text even if they are numbers.
    gone : GoneSoFar
        Which rows did not count.
    """

    label: str
    transaction: tuple[str, ...]
    item: str
    batches: Iterator[pa.Table]
    options: ReadOptions
    is_text: bool = False
    gone: GoneSoFar = dataclasses.field(default_factory=GoneSoFar)

    def cleaned(self) -> Iterator[pa.Table]:
        """Yield the rows that count, batch by batch."""
        cells = _CellsSeen(self)
        for batch in self.batches:
            still_wanted()
            if batch.num_rows:
                kept, gone = clean_batch(batch, self.transaction, self.item, self.options.rows)
                self.gone.add(gone)
                cells.look_at(kept)
                yield kept
        cells.refuse_lists()

    def numbered(self, rows: pa.Table) -> NumberedRows:
        """Give numbers to the transactions and items of some rows.

        Raises
        ------
        InvalidInputError
            If a value is missing.
        """
        columns = {name: rows.column(name) for name in rows.column_names}
        try:
            return number_rows(columns, self.transaction, self.item, self.options.rows)
        except InvalidInputError as error:
            raise InvalidInputError(f"{self.label}: {error}") from None


class _CellsSeen:
    """The cells of the items, as long as each row is a transaction of its own and they may be lists."""

    def __init__(self, table: LongTable) -> None:
        self._table = table
        self._may_be = table.options.may_be_lists
        self._kinds: Counter[str] = Counter()
        self._last: Any = None

    def look_at(self, rows: pa.Table) -> None:
        """Look at some rows."""
        if not self._may_be or not rows.num_rows:
            return
        found = self._table.numbered(rows)
        values = found.names.to_pylist()
        own = found.ids[0], found.ids[len(found.ids) - 1]
        if len(found.ids) < len(found.of_rows) or own[0] == self._last or not isinstance(values[0], str):
            self._may_be = False
            return
        self._last = own[1]
        for value, n in zip(values, np.bincount(found.codes).tolist(), strict=True):
            self._kinds[kind_of_cell(value)] += n

    def refuse_lists(self) -> None:
        """Refuse cells that `read_transactions` would take for lists, now that all rows were seen."""
        counts = list(self._kinds.values())
        if self._may_be and self._kinds and share_of_lists(self._kinds, counts) >= LEAST_LISTS:
            raise NotInChunksError(
                f"expected an item in each row of {self._table.label}, to read it in chunks, got lists in "
                f"the cells of {self._table.item!r}; read it whole, or name its format='long'"
            )


def kind_of_cell(cell: str) -> str:
    """Return a cell of the same kind: a set in braces, names between commas, or one name."""
    inside = "," if "," in cell else ""
    return f"{{{inside}}}" if is_braced(cell) else inside


class SeenIds:
    """The fingerprints of all transactions before: eight bytes for each."""

    def __init__(self) -> None:
        self._parts: list[Fingerprints] = []

    def add(self, fingerprints: Fingerprints) -> int:
        """Add some, and return the place of one that was there before, or -1 if none was."""
        order = np.argsort(fingerprints)
        new = fingerprints[order]
        for part in self._parts:
            places = np.minimum(np.searchsorted(part, new), len(part) - 1)
            is_known = part[places] == new
            if is_known.any():
                return int(order[is_known.argmax()])
        if len(new):
            self._parts.append(new)
        while len(self._parts) > 1 and len(self._parts[-2]) <= 2 * len(self._parts[-1]):
            both = np.concatenate([self._parts.pop(), self._parts.pop()])
            both.sort()
            self._parts.append(both)
        return -1


def pieces_together(table: LongTable, seen: SeenIds | None = None) -> Iterator[Encoded]:
    """Yield the transactions of a long table whose rows stand together, piece by piece.

    Parameters
    ----------
    table : LongTable
        The table.
    seen : SeenIds, optional
        What remembers all transactions, to see that none comes back; not needed if that is known.

    Raises
    ------
    SpreadError
        If a transaction comes back later.
    """
    for found, n_whole in _checked(table, seen):
        indptr, codes = found.gathered()
        indptr = indptr[: n_whole + 1]
        ids = found.ids.slice(0, n_whole)
        yield Encoded(indptr, codes[: indptr[-1]], Items(labels_of(found.names)), ids=ids)


def rows_together(table: LongTable) -> Encoded:
    """Return all transactions of a long table whose rows stand together, with their ids.

    Raises
    ------
    SpreadError
        As in `pieces_together`.
    """
    import pyarrow as pa

    grown, ids = GrowingRows(), []
    for found, n_whole in _checked(table, SeenIds()):
        indptr, codes = found.gathered()
        indptr = indptr[: n_whole + 1]
        grown.add(indptr, codes[: indptr[-1]], found.names)
        ids.append(found.ids.slice(0, n_whole))
    return grown.finished()._replace(ids=pa.concat_arrays(ids) if ids else None)


def _checked(table: LongTable, seen: SeenIds | None) -> Iterator[tuple[NumberedRows, int]]:
    """Yield numbered rows, and how many of their transactions are complete and were not there before."""
    for found, n_whole in _whole_transactions(table):
        steps = np.diff(found.of_rows)
        if (steps < 0).any():
            raise _spread(table, found.ids[int(found.of_rows[int((steps < 0).argmax()) + 1])])
        if seen is not None:
            again = seen.add(_fingerprints(found.ids.slice(0, n_whole))[0])
            if again >= 0:
                raise _spread(table, found.ids[again])
        yield found, n_whole


def _whole_transactions(table: LongTable) -> Iterator[tuple[NumberedRows, int]]:
    """Yield numbered rows, and how many of their transactions are complete: the last one goes on."""
    import pyarrow as pa

    waiting: pa.Table | None = None
    for batch in table.cleaned():
        if not batch.num_rows:
            continue
        rows = batch if waiting is None else pa.concat_tables([waiting, batch])
        found = table.numbered(rows)
        n_whole = len(found.ids) - 1
        waiting = rows.slice(int(np.searchsorted(found.of_rows, n_whole)))
        if n_whole:
            yield found, n_whole
    if waiting is not None:
        found = table.numbered(waiting)
        yield found, len(found.ids)


def _spread(table: LongTable, identity: pa.Scalar) -> SpreadError:
    value = identity.as_py()
    shown = ", ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
    columns = " with ".join(map(repr, table.transaction))
    return SpreadError(
        f"expected the rows of each transaction together, to read {table.label} in chunks, got {shown:.60} "
        f"in column {columns} again after others; try cache=True, which puts them together on disk, or sort "
        "the rows"
    )


def _fingerprints(ids: pa.Array) -> tuple[Fingerprints, Fingerprints]:
    """Return two numbers of 64 bits for each id, which depend on nothing else."""
    import pyarrow as pa

    fields = ids.flatten() if pa.types.is_struct(ids.type) else [ids]
    first = second = np.zeros(len(ids), dtype=np.uint64)
    for field in fields:
        own_first, own_second = (_hashed(field, key) for key in _KEYS)
        first = (first * _MIX) ^ own_first
        second = (second + own_second) * _MIX
    return first, second


def _hashed(values: pa.Array, key: str) -> Fingerprints:
    import pyarrow as pa
    from pandas.util import hash_array

    if pa.types.is_integer(values.type):
        array: npt.NDArray[Any] = values.cast(pa.int64(), safe=False).to_numpy()
    else:
        array = np.array([str(value) for value in values.to_pylist()], dtype=object)
    return hash_array(array, hash_key=key, categorize=False)


def pieces_apart(table: LongTable) -> Iterator[Encoded]:
    """Yield the transactions of a long table whose rows are in any order, as `read_transactions` has them.

    The rows are put together on disk: it takes 28 bytes for each row, and 4 bytes for each item and 24 for
    each transaction, until the last transaction has come.
    """
    names = _Names()
    with scratch_file() as scattered, scratch_file() as grouped:
        parts = _scattered(table, scattered, names)
        buckets = [_grouped(scattered, own, grouped) for own in parts]
        n_rows = sum(stop - start for own in parts for start, stop in own)
        items = names.items()
        yield from _in_order(grouped, buckets, n_rows, items)


class _Names:
    """The names of items, numbered as they come."""

    def __init__(self) -> None:
        self._code_of: dict[Label, int] = {}

    def codes(self, labels: npt.NDArray[Any]) -> Codes:
        """Return the codes of some names."""
        code_of = self._code_of
        return np.array([code_of.setdefault(name, len(code_of)) for name in labels.tolist()], dtype=np.int32)

    def items(self) -> Items:
        """Return all of them."""
        return Items(list(self._code_of))


Spans = list[tuple[int, int]]


def _scattered(table: LongTable, file: IO[bytes], names: _Names) -> list[Spans]:
    """Write all rows to a file, by buckets; return for each bucket which records are its own."""
    spans: list[Spans] = [[] for _ in range(_N_BUCKETS)]
    n_rows = n_written = 0
    waiting: list[npt.NDArray[Any]] = []

    def flush() -> None:
        nonlocal n_written
        records = np.concatenate(waiting) if waiting else np.empty(0, dtype=_RECORD)
        waiting.clear()
        bucket = records["first"] % np.uint64(_N_BUCKETS)
        order = np.argsort(bucket, kind="stable")
        file.write(records[order].data)
        ends = np.searchsorted(bucket[order], np.arange(_N_BUCKETS + 1, dtype=np.uint64)) + n_written
        for own, start, stop in zip(spans, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            if stop > start:
                own.append((start, stop))
        n_written += len(records)

    for batch in table.cleaned():
        if not batch.num_rows:
            continue
        found = table.numbered(batch)
        first, second = _fingerprints(found.ids)
        records = np.empty(len(found.of_rows), dtype=_RECORD)
        records["first"], records["second"] = first[found.of_rows], second[found.of_rows]
        records["row"] = np.arange(n_rows, n_rows + len(records))
        records["code"] = names.codes(labels_of(found.names))[found.codes]
        n_rows += len(records)
        waiting.append(records)
        if sum(map(len, waiting)) >= _ROWS_AT_ONCE:
            flush()
    flush()
    return spans


class _Bucket(NamedTuple):
    """Where the transactions of a bucket are in a file: from which byte on, and how many."""

    start: int
    n_transactions: int
    n_codes: int


def _grouped(scattered: IO[bytes], spans: Spans, file: IO[bytes]) -> _Bucket:
    """Group the rows of a bucket by transaction, and write them in the order of their first rows."""
    still_wanted()
    records = np.concatenate([np.empty(0, dtype=_RECORD), *(_records(scattered, *span) for span in spans)])
    order = np.lexsort((records["second"], records["first"]))  # stable: rows stay in order
    records = records[order]
    is_new = np.ones(len(records), dtype=np.bool_)
    is_new[1:] = (records["first"][1:] != records["first"][:-1]) | (
        records["second"][1:] != records["second"][:-1]
    )
    starts = np.flatnonzero(is_new)
    ends = np.append(starts[1:], len(records))
    by_row = np.argsort(records["row"][starts])
    _, codes = _rows_at(ends, np.ascontiguousarray(records["code"]), by_row)
    bucket = _Bucket(file.tell(), len(starts), len(codes))
    file.write(records["row"][starts[by_row]].data)
    file.write(np.cumsum((ends - starts)[by_row]).data)
    file.write(codes.data)
    return bucket


def _records(file: IO[bytes], start: int, stop: int) -> npt.NDArray[Any]:
    file.seek(start * _RECORD.itemsize)
    return np.frombuffer(file.read((stop - start) * _RECORD.itemsize), dtype=_RECORD)


def _rows_at(ends: Ints, codes: Codes, order: Ints) -> tuple[Ints, Codes]:
    """Return some rows in another order."""
    same = np.arange(int(codes.max(initial=-1)) + 1, dtype=np.int32)
    offsets, gathered = lattice.gather_sets(ends, codes, order, same)
    return offsets, gathered


def _in_order(file: IO[bytes], buckets: Sequence[_Bucket], n_rows: int, items: Items) -> Iterator[Encoded]:
    """Yield the transactions of all buckets in the order in which they first appeared."""
    file.flush()
    opened = [_Opened(file, bucket) for bucket in buckets if bucket.n_transactions]
    for stop in range(_ROWS_IN_A_WINDOW, n_rows + _ROWS_IN_A_WINDOW, _ROWS_IN_A_WINDOW):
        still_wanted()
        parts = [bucket.until(stop) for bucket in opened]
        places = np.concatenate([place for place, _, _ in parts])
        lengths = np.concatenate([length for _, length, _ in parts])
        codes = np.concatenate([own for _, _, own in parts])
        yield Encoded(*_rows_at(np.cumsum(lengths), codes, np.argsort(places)), items)


class _Opened:
    """A bucket in memory that is mapped from a file, and how far it has been read."""

    def __init__(self, file: IO[bytes], bucket: _Bucket) -> None:
        n = bucket.n_transactions
        self._rows = mapped(file, bucket.start, np.int64, n)
        self._ends = mapped(file, bucket.start + 8 * n, np.int64, n)
        self._codes = mapped(file, bucket.start + 16 * n, np.int32, bucket.n_codes)
        self._done = 0

    def until(self, row: int) -> tuple[Ints, Ints, Codes]:
        """Return the first rows, the lengths and the codes of the transactions that begin before a row."""
        start, stop = self._done, int(np.searchsorted(self._rows, row))
        before = self._ends[start - 1] if start else 0
        ends = self._ends[start:stop]
        self._done = stop
        after = ends[-1] if len(ends) else before
        return self._rows[start:stop], np.diff(ends, prepend=before), self._codes[before:after]
