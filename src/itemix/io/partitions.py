"""Partitions: transactions in parts that are worked on where they lie, on this machine or on many.

All work on data that outgrows memory or a machine has one form: a function is called for every part, and what
it returns adds up. `PartsOf` is what an engine has to offer for that: two methods, `map` and `keep`. There
are four engines: lists in memory, parts that are read anew, Dask and Spark. `Partitions` are parts of
transactions over the same items, with what is known of all of them together.

Nothing is scheduled here. Dask keeps what is made of a part as a future, and Spark as rows of its cache. Both
make again what a lost worker had.
"""

from __future__ import annotations

import os
import pickle
import time
import warnings
import weakref
import zlib
from abc import ABC, abstractmethod
from functools import partial
from glob import glob
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from itemix._checks import check_flag
from itemix._files import mapped, new_scratch, room_for_scratch
from itemix._runtime import count_threads, interruptible, still_wanted
from itemix.core.items import Items
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import EngineError, InvalidInputError, MissingExtraError, MissingFileError
from itemix.io.arrow import encode_table
from itemix.io.chunks import Chunks
from itemix.io.detect import ReadOptions
from itemix.io.read import read_transactions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    from itemix._typing import Array, Ints

P = TypeVar("P")
K = TypeVar("K")
R = TypeVar("R")

_WAKE_SECONDS = 0.005
# A cluster of fixed size that has had no worker for this long will not get one.
_ALONE_SECONDS = 15.0
_ASK_SECONDS = 1.0
# What is pickled travels through Spark in pieces of this size.
_PIECE_BYTES = 1 << 25
_PIECES = "part long, piece int, content binary"
# Arrays in a scratch file begin at multiples of this, as vector code likes them.
_ALIGNED = 64
_UNCHANGED = "wait until nobody writes to the data, and make the partitions again"


class PartsOf(ABC, Generic[P]):
    """Parts of something, in order: what an engine has to offer.

    Attributes
    ----------
    is_here : bool
        Whether functions run in this process, for one part after the other, and may use all its threads.
        Otherwise they run with one thread each.
    """

    is_here: ClassVar[bool] = False

    @abstractmethod
    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part and yield what it returns, in the order of the parts.

        Parameters
        ----------
        function : callable
            A function that can be pickled.
        each : sequence, optional
            A second argument for each part; without it the function gets the part alone.
        """

    @abstractmethod
    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> PartsOf[K]:
        """Return parts that are what a function makes of these, kept where they were made.

        An engine that loses one makes it again.
        """


class Listed(PartsOf[P]):
    """Parts that are in memory, in this process."""

    is_here = True

    def __init__(self, parts: Iterable[P]) -> None:
        self._parts = list(parts)

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, one after the other."""
        return _called(function, self._parts, each)

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> Listed[K]:
        """Make something of every part, and keep it in memory."""
        return Listed(self.map(make, each))


class Reread(PartsOf[P]):
    """Parts that are read anew whenever they are asked for: no more than one is in memory.

    Parameters
    ----------
    read : callable
        Returns the parts, one after the other.
    on_disk : bool
        Whether what is made of them is kept on disk, and not made anew each time.
    """

    is_here = True

    def __init__(self, read: Callable[[], Iterable[P]], *, on_disk: bool = False) -> None:
        self._read = read
        self._on_disk = on_disk

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, one after the other."""
        return _called(function, self._read(), each)

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> Reread[K]:
        """Return parts that are made whenever they are asked for, or kept on disk."""
        read: Callable[[], Iterable[K]] = partial(self.map, make, each)
        return Reread(OnDisk(read()).__iter__ if self._on_disk else read, on_disk=self._on_disk)


class OnDisk(Generic[P]):
    """Values in a scratch file, whose arrays are mapped into memory one value at a time.

    Parameters
    ----------
    values : iterable
        What to keep; it is pickled.
    """

    def __init__(self, values: Iterable[P]) -> None:
        self._file = new_scratch()
        weakref.finalize(self, self._file.close)
        self._kept: list[tuple[bytes, list[tuple[int, int]]]] = []
        with room_for_scratch():
            for value in values:
                arrays: list[pickle.PickleBuffer] = []
                rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
                self._kept.append((rest, [self._written(array.raw()) for array in arrays]))
            self._file.flush()

    def _written(self, content: memoryview) -> tuple[int, int]:
        start = self._file.tell()
        self._file.write(content)
        self._file.write(b"\0" * (-content.nbytes % _ALIGNED))
        return start, content.nbytes

    def __iter__(self) -> Iterator[P]:
        """Yield the values."""
        for rest, places in self._kept:
            arrays = [mapped(self._file, start, np.uint8, n) for start, n in places]
            yield pickle.loads(rest, buffers=arrays)  # noqa: S301 - our own


def _called(function: Callable[..., R], parts: Iterable[Any], each: Sequence[Any] | None) -> Iterator[R]:
    n_called = 0
    for part in parts:
        still_wanted()
        n_called += 1
        if each is not None and n_called > len(each):
            break
        yield function(part) if each is None else function(part, each[n_called - 1])
    if each is not None and n_called != len(each):
        more = "more" if n_called > len(each) else f"{n_called:,}"
        raise InvalidInputError(
            f"expected {len(each):,} parts in every pass, as before, got {more}; {_UNCHANGED}"
        )


class PartSummary(NamedTuple):
    """What is known of one part.

    Attributes
    ----------
    labels : array
        The names of its items.
    n_transactions : int
        How many transactions it has.
    checksum : int
        A number that changes when the counts of its items do.
    n_bytes : int
        How much memory its rows take.
    """

    labels: Array
    n_transactions: int
    checksum: int
    n_bytes: int

    @classmethod
    def of(cls, part: Transactions) -> PartSummary:
        """Return the summary of a part."""
        names = "\n".join(map(str, part.items.labels.tolist())).encode()
        checksum = zlib.crc32(part.item_counts().tobytes(), zlib.crc32(names))
        n_bytes = part.indptr.nbytes + part.indices.nbytes
        return cls(part.items.labels, part.n_transactions, checksum, n_bytes)


class Partitions:
    """Transactions in parts over the same items: see `itemix.partitions`.

    Parameters
    ----------
    parts : PartsOf of Transactions
        The parts, over any items.

    Attributes
    ----------
    items : Items
        The items of all parts.
    n_transactions : int
        The number of transactions in all parts together.
    sizes : tuple of int
        The number of transactions of each part.
    parts : PartsOf of Transactions
        The parts, over the items of all.
    """

    def __init__(self, parts: PartsOf[Transactions]) -> None:
        summaries = list(parts.map(PartSummary.of))
        self.items = _all_items([summary.labels for summary in summaries])
        self.sizes = tuple(summary.n_transactions for summary in summaries)
        self.n_transactions = sum(self.sizes)
        self._bytes = tuple(summary.n_bytes for summary in summaries)
        self.parts = parts.keep(partial(_aligned, items=self.items), [summary[1:] for summary in summaries])

    @classmethod
    def known(
        cls,
        parts: PartsOf[Transactions],
        items: Items,
        sizes: Sequence[int],
        n_bytes: Sequence[int] | None = None,
    ) -> Self:
        """Return partitions of parts that all have these items, and these sizes, without reading them.

        If it is known how many bytes each part takes at most, small parts can be put together.
        """
        self = cls.__new__(cls)
        self.items, self.sizes, self.parts = items, tuple(sizes), parts
        self.n_transactions = sum(self.sizes)
        self._bytes = tuple(n_bytes or ())
        return self

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.items)

    def __repr__(self) -> str:
        n_parts = len(self.sizes)
        parts = f"{n_parts:,} part{'s' if n_parts != 1 else ''}"
        return f"Partitions({self.n_transactions:,} x {self.n_items:,} in {parts})"

    def __iter__(self) -> Iterator[Transactions]:
        """Bring the parts here, one after the other."""
        return self.map(_as_it_is)

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, and yield what it returns: see `PartsOf.map`."""
        return self.parts.map(function, each)

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> PartsOf[K]:
        """Return what a function makes of every part, kept where it was made: see `PartsOf.keep`."""
        return self.parts.keep(make, each)

    def n_threads(self, n_jobs: int | None) -> int:
        """Return how many threads a function may use for a part."""
        n_threads = count_threads(n_jobs)
        return n_threads if self.parts.is_here else 1

    def put_together(self, n_bytes: int) -> Partitions:
        """Return the same transactions in fewer parts, of up to so many bytes each, if they are here."""
        if not self.parts.is_here or not self._bytes:
            return self
        group, room = [0], n_bytes - self._bytes[0]
        for size in self._bytes[1:]:
            room -= size
            if room < 0:
                room = n_bytes - size
                group.append(group[-1] + 1)
            else:
                group.append(group[-1])
        counts = np.bincount(group).tolist()
        if len(counts) == len(self.sizes):
            return self
        sizes, total = (
            np.bincount(group, weights=own).astype(np.int64).tolist() for own in (self.sizes, self._bytes)
        )
        return Partitions.known(Reread(partial(_joined, self.parts, counts)), self.items, sizes, total)

    def item_counts(self) -> Ints:
        """Return how many transactions hold each item, shape (n_items,)."""
        return sum(self.map(Transactions.item_counts), start=np.zeros(self.n_items, dtype=np.int64))

    def take(self, positions: Ints) -> Transactions:
        """Return the transactions at some positions, ascending, each as a row of its own."""
        ends = np.cumsum([0, *self.sizes])
        cuts = np.searchsorted(positions, ends)
        each = [positions[a:b] - end for a, b, end in zip(cuts, cuts[1:], ends, strict=False)]
        return Transactions.concatenate(list(self.map(_taken, each)))


def _as_it_is(part: Transactions) -> Transactions:
    return part


def _joined(parts: PartsOf[Transactions], counts: Sequence[int]) -> Iterator[Transactions]:
    """Yield the parts, so many together each time."""
    found = parts.map(_as_it_is)
    for n in counts:
        own = list(islice(found, n))
        yield own[0] if len(own) == 1 else Transactions.concatenate(own)
    next(found, None)  # whoever reads them sees that there are no more


def _taken(part: Transactions, positions: Ints) -> Transactions:
    return part[positions]


def _all_items(labels: Sequence[Array]) -> Items:
    """Return the items of all parts: those of the parts if they agree, else all names, sorted."""
    distinct = {id(own): own for own in labels if len(own)}
    named = list(distinct.values())
    if not named:
        return Items(())
    if len({own.dtype for own in named}) > 1:
        raise InvalidInputError(
            "expected names that are all strings or all integers, got parts with both; write them alike"
        )
    if all(np.array_equal(named[0], own) for own in named[1:]):
        return Items(named[0])
    return Items(np.unique(np.concatenate(named)))


def _aligned(part: Transactions, known: tuple[int, int, int], items: Items) -> Transactions:
    """Return a part over the items of all, if it is as it was.

    Raises
    ------
    InvalidInputError
        If it has other transactions, or items that no part had.
    """
    found = PartSummary.of(part)
    if found[1:] != known:
        raise InvalidInputError(
            f"expected the same data in every pass, got a part of {found.n_transactions:,} transactions "
            f"in place of other {known[0]:,}; {_UNCHANGED}"
        )
    return part.align_items(items)


@interruptible()
def partitions(
    source: Any,  # noqa: ANN401 - see below
    *,
    client: Any = None,  # noqa: ANN401 - of Dask, which need not be installed
    cache: bool = False,
    **reading: Any,  # noqa: ANN401 - the options of read_transactions
) -> Partitions:
    """Return transactions in parts, to be mined and fitted where they lie.

    Parameters
    ----------
    source : Chunks, list, or paths of files
        The chunks of `read_chunks`; a list of `Transactions`, data frames or matrices, a part each; or the
        files to read, a part each: a pattern such as ``"sales-*.parquet"``, or a list of paths.
    client : dask.distributed.Client, optional
        The cluster whose workers read the files and keep them. Without one, files are read here and anew in
        each pass, so that one part at a time is in memory.
    cache : bool, default False
        Whether files that are read here are kept on disk as rows, so that later passes need not decode them.
        It is a temporary file, in the folder that the environment variable TMPDIR names. Chunks have a cache
        of their own: see `read_chunks`.
    **reading
        The options of `read_transactions`, for files.

    Returns
    -------
    Partitions
        For `mine`, `fit` and `evaluate`.

    Raises
    ------
    InvalidInputError
        If this is none of these, or the names of items are strings in one part and integers in another.
    MissingFileError
        If there is no such file.

    See Also
    --------
    from_dask, from_spark : the same of the collections of an engine.

    Examples
    --------
    >>> import itemix
    >>> monday = itemix.Transactions.from_lists([["milk", "bread"], ["milk"]])
    >>> tuesday = itemix.Transactions.from_lists([["beer"], ["milk", "beer"]])
    >>> week = itemix.partitions([monday, tuesday])
    >>> week
    Partitions(4 x 3 in 2 parts)
    >>> itemix.mine(week, 0.5)
    Itemsets: 2 itemsets, support >= 50%, of 4 transactions
      support  count  itemset
       0.7500      3  {milk}
       0.5000      2  {beer}
    """
    if isinstance(source, Partitions):
        return source
    if isinstance(source, Chunks):
        parts = Reread(source.__iter__, on_disk=source.is_cached)
        return Partitions.known(parts, source.items, source.sizes, [source.chunk_bytes] * len(source.sizes))
    if isinstance(source, str | os.PathLike):
        return _of_files(_matching(source), reading, client, cache=check_flag("cache", cache))
    if isinstance(source, list | tuple) and source:
        if all(isinstance(part, str | os.PathLike) for part in source):
            return _of_files(source, reading, client, cache=check_flag("cache", cache))
        return Partitions(Listed([as_transactions(part) for part in source]))
    raise InvalidInputError(
        f"expected chunks, a list of transactions, or paths, got {_kind(source)}; "
        "try itemix.partitions([first, second])"
    )


def _kind(source: object) -> str:
    return "an empty list" if isinstance(source, list | tuple) else type(source).__name__


def _matching(pattern: str | os.PathLike[str]) -> list[str]:
    paths = sorted(glob(os.fspath(pattern)))  # noqa: PTH207 - a pattern may be absolute
    if not paths:
        raise MissingFileError(f"expected files that match {os.fspath(pattern)!r}, got none; check the path")
    return paths


def _of_files(
    paths: Sequence[str | os.PathLike[str]],
    reading: dict[str, Any],
    client: Any,  # noqa: ANN401 - see partitions
    *,
    cache: bool,
) -> Partitions:
    read = partial(_read, reading=reading)
    if client is None:
        return Partitions(Reread(partial(map, read, paths), on_disk=cache))
    return Partitions(_DaskParts.made(client, read, [os.path.abspath(path) for path in paths]))  # noqa: PTH100


def _read(path: str | os.PathLike[str], reading: dict[str, Any]) -> Transactions:
    return read_transactions(path, **reading)


@interruptible()
def from_dask(
    data: Any,  # noqa: ANN401 - a Dask collection, which need not be installed
    *,
    transaction: str | None = None,
    item: str | None = None,
    client: Any = None,  # noqa: ANN401 - of Dask
) -> Partitions:
    """Return the transactions of a Dask collection, kept by the workers of a cluster.

    Parameters
    ----------
    data : dask.dataframe.DataFrame or dask.bag.Bag
        A data frame with a column of lists, with columns of 0 and 1, or long, with a row for each item of a
        transaction; or a bag of lists of names.
    transaction, item : str, optional
        The columns of a long table, whose rows are then shuffled so that transactions are whole. `item` alone
        names a column of lists, if there are several.
    client : dask.distributed.Client, optional
        The cluster; by default the one that Dask uses.

    Returns
    -------
    Partitions
        A part for each partition.

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    InvalidInputError
        If there is no cluster, or the data has none of these forms.
    EngineError
        If workers are lost too often.
    """
    _require("dask", "distributed")
    from distributed import get_client

    if not hasattr(data, "to_delayed"):
        raise InvalidInputError(
            f"expected a Dask data frame or bag, got {type(data).__name__}; try itemix.partitions for others"
        )
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise InvalidInputError(
                "expected a Dask cluster to keep the parts, got no client; make one with "
                "dask.distributed.Client()"
            ) from None
    options = ReadOptions(transaction=transaction, item=item)
    if transaction is not None and hasattr(data, "columns"):
        data = data.shuffle(on=transaction)
    raw = client.compute(data.to_delayed())
    return Partitions(_DaskParts(client, raw).keep(partial(_encoded, options=options)))


def _encoded(part: Any, options: ReadOptions) -> Transactions:  # noqa: ANN401 - a data frame, or lists
    """Return the transactions of a part of a Dask collection."""
    if not hasattr(part, "columns"):
        return Transactions.from_lists(part)
    if len(part) == 0:
        return Transactions(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), Items(()))
    import pyarrow as pa

    return Transactions(*encode_table(pa.Table.from_pandas(part, preserve_index=False), options))


class _DaskParts(PartsOf[P]):
    """Parts that are futures of a Dask cluster."""

    def __init__(self, client: Any, futures: Sequence[Any]) -> None:  # noqa: ANN401 - of Dask
        self._client = client
        self._futures = list(futures)

    @classmethod
    def made(cls, client: Any, function: Callable[..., P], each: Sequence[Any]) -> _DaskParts[P]:  # noqa: ANN401
        """Return what a function makes of each of some values, in the cluster."""
        futures = [client.submit(function, own, pure=False) for own in each]
        return cls(client, _waited(futures))

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, in the cluster, and bring what it returns here."""
        futures = self._submitted(function, each)
        try:
            for number in range(len(futures)):
                yield _result(futures[number])
                futures[number] = None  # so that its worker may forget it
        finally:
            self._client.cancel([future for future in futures if future is not None])

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> _DaskParts[K]:
        """Make something of every part, in the cluster, and keep it there."""
        return _DaskParts(self._client, _waited(self._submitted(make, each)))

    def _submitted(self, function: Callable[..., R], each: Sequence[Any] | None) -> list[Any]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")  # candidates are large
            # As a task of its own the function is sent once, and made again if its worker is lost.
            shared = self._client.submit(_same, function, pure=False)
            arguments = [()] * len(self._futures) if each is None else [(own,) for own in each]
            return [
                self._client.submit(_call, shared, part, *own, pure=False)
                for part, own in zip(self._futures, arguments, strict=True)
            ]


def _same(value: P) -> P:
    return value


def _call(function: Callable[..., R], part: object, *own: object) -> R:
    return function(part, *own)


def _waited(futures: list[Any]) -> list[Any]:
    """Wait until all futures are done, and return them; if one fails, or on Ctrl-C, none is left."""
    try:
        for future in futures:
            _wait(future)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return futures


def _wait(future: Any) -> None:  # noqa: ANN401 - of Dask
    _wait_until_done(future)
    if future.status != "finished":
        _result(future)


def _wait_until_done(future: Any) -> None:  # noqa: ANN401 - of Dask
    """Wait for a future; Dask itself waits for ever if it has no worker any more.

    Raises
    ------
    EngineError
        If all workers of a cluster in this process have ended, and it starts no others.
    """
    cluster = getattr(future.client, "cluster", None)
    is_fixed = cluster is not None and getattr(cluster, "_adaptive", None) is None
    last_seen = asked = time.monotonic()
    while not future.done():
        still_wanted()
        time.sleep(_WAKE_SECONDS)
        now = time.monotonic()
        if is_fixed and now - asked > _ASK_SECONDS:
            asked = now
            if future.client.nthreads():
                last_seen = now
            elif now - last_seen > _ALONE_SECONDS:
                raise EngineError(
                    f"expected workers in the Dask cluster, got none for {now - last_seen:.0f} seconds; make "
                    "a new cluster (Ctrl-C in a terminal ends the workers of a LocalCluster too)"
                )


def _result(future: Any) -> Any:  # noqa: ANN401 - of Dask
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    _wait_until_done(future)
    try:
        return future.result()
    except (KilledWorker, CancelledError, CommClosedError, TimeoutError) as error:
        raise EngineError(
            f"expected workers that finish their parts, got {type(error).__name__} "
            f"({str(error).partition(chr(10))[0]}); give workers more memory, or make more and smaller parts"
        ) from error


@interruptible()
def from_spark(
    data: Any,  # noqa: ANN401 - a Spark data frame, which need not be installed
    *,
    transaction: str | None = None,
    item: str | None = None,
) -> Partitions:
    """Return the transactions of a Spark data frame, kept in the cache of the cluster.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        A data frame with a column of lists, with columns of 0 and 1, or long, with a row for each item of a
        transaction.
    transaction, item : str, optional
        The columns of a long table, which is then grouped by transaction. `item` alone names a column of
        lists, if there are several.

    Returns
    -------
    Partitions
        A part for each partition that has rows.

    Raises
    ------
    MissingExtraError
        If Spark is not installed.
    InvalidInputError
        If the data has none of these forms.
    EngineError
        If Spark gives up.
    """
    _require("pyspark", "pyspark")
    if not hasattr(data, "mapInArrow"):
        raise InvalidInputError(
            f"expected a Spark data frame, got {type(data).__name__}; try itemix.partitions for others"
        )
    if transaction is not None and item is not None:
        from pyspark.sql import functions

        data = data.groupBy(transaction).agg(functions.collect_set(item).alias(item)).select(item)
    options = ReadOptions(item=item)
    first: _SparkParts[Transactions] = _SparkParts(
        data.mapInArrow(partial(_encoded_here, options=options), _PIECES).persist()
    )
    return Partitions(first)


class _SparkParts(PartsOf[P]):
    """Parts that are pickled in the rows of a cached Spark data frame."""

    def __init__(self, frame: Any, keys: Sequence[int] | None = None) -> None:  # noqa: ANN401 - of Spark
        self._frame = frame
        self._keys = keys

    def map(self, function: Callable[..., R], each: Sequence[Any] | None = None) -> Iterator[R]:
        """Call a function for every part, in the cluster, and bring what it returns here."""
        rows = _collected(self._frame.mapInArrow(self._work(function, each), _PIECES))
        pieces: dict[int, dict[int, bytes]] = {}
        for row in rows:
            pieces.setdefault(row.part, {})[row.piece] = bytes(row.content)
        if self._keys is None:
            self._keys = sorted(pieces)
        for key in self._keys:
            own = pieces.pop(key)
            value, error = pickle.loads(b"".join(own[n] for n in sorted(own)))  # noqa: S301 - our own
            if error is not None:
                raise error
            yield value

    def keep(self, make: Callable[..., K], each: Sequence[Any] | None = None) -> _SparkParts[K]:
        """Make something of every part, in the cluster, and keep it in its cache."""
        made: _SparkParts[Any] = _SparkParts(
            self._frame.mapInArrow(self._work(make, each), _PIECES).persist(), self._keys
        )
        for _ in made.map(_is_made):
            pass
        return made

    def _work(self, function: Callable[..., R], each: Sequence[Any] | None) -> Callable[..., Any]:
        own = None if each is None else dict(zip(self._keys or (), each, strict=True))
        return partial(_worked, function=function, own=own)


def _is_made(_: object) -> bool:
    return True


def _collected(frame: Any) -> list[Any]:  # noqa: ANN401 - of Spark
    from pyspark.errors import PySparkException

    try:
        rows: list[Any] = frame.collect()
    except PySparkException as error:
        raise _spark_error(error) from error
    except Exception as error:
        if type(error).__module__.startswith("py4j"):
            raise _spark_error(error) from error
        raise
    return rows


def _spark_error(error: Exception) -> EngineError:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return EngineError(
        f"expected Spark to finish its parts, got {type(error).__name__} ({lines[:1]}); "
        "look into its log, give workers more memory, or repartition into more parts"
    )


def _encoded_here(batches: Iterable[pa.RecordBatch], options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Make transactions of the batches of a partition: runs in the workers of Spark."""
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    got = [batch for batch in batches if batch.num_rows]
    if got:
        value, error = None, None
        try:
            value = Transactions(*encode_table(pa.Table.from_batches(got), options))
        except Exception as raised:
            error = raised
        yield from _pieces_of(0 if context is None else context.partitionId(), (value, error))


def _worked(
    batches: Iterable[pa.RecordBatch], function: Callable[..., Any], own: dict[int, Any] | None
) -> Iterator[pa.RecordBatch]:
    """Call a function for the parts that come in pieces: runs in the workers of Spark."""
    pieces: dict[int, dict[int, bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            pieces.setdefault(row["part"], {})[row["piece"]] = row["content"]
    for part in sorted(pieces):
        value, error = pickle.loads(b"".join(pieces[part][n] for n in sorted(pieces[part])))  # noqa: S301
        if error is None:
            try:
                value = function(value) if own is None else function(value, own[part])
            except Exception as raised:
                value, error = None, raised
        yield from _pieces_of(part, (value, error))


def _pieces_of(part: int, value: object) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    content = pickle.dumps(value)
    for piece, start in enumerate(range(0, len(content), _PIECE_BYTES)):
        columns = {
            "part": pa.array([part], pa.int64()),
            "piece": pa.array([piece], pa.int32()),
            "content": pa.array([content[start : start + _PIECE_BYTES]], pa.binary()),
        }
        yield pa.RecordBatch.from_pydict(columns)


def _require(extra: str, module: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        name = "spark" if extra == "pyspark" else extra
        raise MissingExtraError(
            f"expected {extra} to be installed, got none; try python -m pip install 'itemix[{name}]'"
        )
