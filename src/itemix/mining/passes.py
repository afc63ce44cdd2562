"""Passes over data that may be far larger than memory: they count items and candidates chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from itemix.core.items import Items
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.io.chunks import Chunks
from itemix.kernels.mining import candidates as join_counts
from itemix.kernels.mining import projection
from itemix.kernels.mining.candidates import UNKNOWN, JoinCounts
from itemix.kernels.mining.projection import Companions
from itemix.mining.exact import Layout, count_pairs, deliver, entry_ranges, is_dense, ranges
from itemix.mining.search import Search, readonly_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import ChunksLike, Codes, Ints
    from itemix.core.items import Label
    from itemix.mining.candidates import Candidates


# Bitsets over so many rows stay in the cache while they are intersected. Rows of ranks may be more.
_DENSE_ROWS = 1 << 16
_SPARSE_ROWS = 1 << 20
# A row with fewer children of a root adds to no set of three items.
_MIN_CHILDREN = 2


class Stream:
    """Transactions in chunks that can be read again and again.

    Parameters
    ----------
    data : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list (or anything else that can be looped over more
        than once) of `Transactions`, data frames or matrices. A function is called for every pass and returns
        transactions or chunks of them.

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
        if isinstance(data, Chunks):
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


class Numbering:
    """Numbers for item names; a name gets the next number when it first comes up.

    Parameters
    ----------
    names : iterable of names
        The names with the first numbers.
    """

    def __init__(self, names: Iterable[Label]) -> None:
        self._number_of = {name: number for number, name in enumerate(names)}
        self._in_data: dict[Label, int] = {}
        self._items = Items(())
        self._latest: tuple[Items, Codes] | None = None

    def __len__(self) -> int:
        return len(self._number_of)

    def of(self, items: Items) -> Codes:
        """Return the numbers of the items of a chunk; new items get new numbers.

        Raises
        ------
        InvalidInputError
            If the names are strings and those of other chunks are integers, or the other way round.
        """
        if self._latest is None or self._latest[0] != items:
            for name in items:
                self._in_data[name] = self._number_of.setdefault(name, len(self._number_of))
            self._items = Items(self._in_data)
            self._latest = items, np.array([self._in_data[name] for name in items], dtype=np.int32)
        return self._latest[1]

    def items(self) -> tuple[Items, Codes]:
        """Return the items of the data, in the order in which they came up, and their numbers."""
        return self._items, np.array(list(self._in_data.values()), dtype=np.int32)


@dataclass
class StreamTotals:
    """The counts of one pass over the data, by the numbers of the items.

    Attributes
    ----------
    item_counts : array, shape (n_items,)
        How many transactions hold each item.
    held_counts : array, shape (n_items,)
        How many of the transactions with all included items hold each other item; 0 for excluded ones.
    n_transactions : int
        The number of transactions.
    n_holding : int
        How many of them hold all included items.
    """

    item_counts: Ints
    held_counts: Ints
    n_transactions: int = 0
    n_holding: int = 0


@dataclass(frozen=True)
class Reader:
    """Data that is read as often as there are candidates to count in it.

    Attributes
    ----------
    stream : Stream
        The data.
    include : sequence of names
        Only the transactions that hold all of these count, and the other items in them.
    exclude : sequence of names
        Items that are ignored.
    n_threads : int
        The number of threads.
    on_progress : function or None
        Called with (transactions read, transactions in all) after each chunk.
    """

    stream: Stream
    include: Sequence[Label]
    exclude: Sequence[Label]
    n_threads: int
    on_progress: Callable[[int, int], None] | None

    def count(
        self, candidates: Candidates, numbering: Numbering, n_expected: int | None
    ) -> tuple[Candidates, StreamTotals]:
        """Read the data and return the candidates with their counts, and the totals.

        Raises
        ------
        InvalidInputError
            If there are more or fewer transactions than expected.
        """
        totals = StreamTotals(*np.zeros((2, len(numbering)), dtype=np.int64))
        counting = CountingPass(candidates, self.n_threads)
        for chunk in self.stream.chunks():
            numbers = numbering.of(chunk.items)
            totals.n_transactions += chunk.n_transactions
            totals.item_counts = _added(totals.item_counts, numbers, chunk.item_counts())
            held = self._holding(chunk)
            counts = held.item_counts()
            counts[known_codes(chunk.items, [*self.include, *self.exclude])] = 0
            totals.held_counts = _added(totals.held_counts, numbers, counts)
            totals.n_holding += held.n_transactions
            counting.add(held, numbers)
            if self.on_progress is not None:
                self.on_progress(totals.n_transactions, n_expected or totals.n_transactions)
        if n_expected not in (None, totals.n_transactions):
            raise InvalidInputError(
                f"expected {n_expected:,} transactions in every pass, got {totals.n_transactions:,}; "
                "pass a function that opens the data anew"
            )
        return counting.finished(totals.held_counts), totals

    def _holding(self, chunk: Transactions) -> Transactions:
        """Return the transactions that hold all included items."""
        if not self.include:
            return chunk
        is_known = len(known_codes(chunk.items, self.include)) == len(self.include)
        return chunk.holding(self.include) if is_known else chunk.sample(0)


class CountingPass:
    """One pass over the data: candidates, and counts to which each chunk adds.

    Parameters
    ----------
    candidates : Candidates
        The candidates; all joins with unknown counts are counted.
    n_threads : int
        The number of threads; the result does not depend on it.
    """

    def __init__(self, candidates: Candidates, n_threads: int) -> None:
        self._candidates = candidates
        self._n_threads = n_threads
        roots, first = candidates.roots, candidates.first
        below = join_counts.unknown_below(first, candidates.join_start, candidates.counts)
        # The reader of the chunks counts single items: there may be others than the roots.
        wanted = candidates.counts == UNKNOWN
        wanted[: len(roots)] = False
        self._counts = np.where(wanted, 0, candidates.counts)
        self._joins = JoinCounts(first, candidates.item, candidates.join_start, wanted, below, self._counts)
        self._work = below[1 : 1 + len(roots)]
        self._root_of = np.full(int(roots.max(initial=-1)) + 2, -1, dtype=np.int32)
        self._root_of[roots] = np.arange(len(roots), dtype=np.int32)

    def finished(self, item_counts: Ints) -> Candidates:
        """Return the candidates with all counts, given those of single items."""
        self._counts[: len(self._work)] = item_counts[self._candidates.roots]
        return replace(self._candidates, counts=self._counts)

    def add(self, chunk: Transactions, numbers: Codes) -> None:
        """Count a chunk of the data, given the number of each of its items."""
        if not self._work.any():
            return
        rank_of = self._root_of[np.minimum(numbers, len(self._root_of) - 1)]
        dense = is_dense(self._rank_counts(chunk, rank_of), chunk.n_transactions)
        for block in _blocks(chunk, _DENSE_ROWS if dense else _SPARSE_ROWS):
            data = Layout.of(block, rank_of, self._rank_counts(block, rank_of))
            if data.is_dense:
                self._add_dense(data)
            else:
                self._add_sparse(data)

    def _rank_counts(self, block: Transactions, rank_of: Codes) -> Ints:
        counts = np.zeros(len(self._work), dtype=np.int64)
        used = np.flatnonzero(rank_of >= 0)
        counts[rank_of[used]] = block.item_counts()[used]
        return counts

    def _add_dense(self, data: Layout) -> None:
        search = Search(self._n_threads, None)
        depth = self._candidates.depth

        def job(begin: int, stop: int) -> None:
            join_counts.count_dense(search.shared, begin, stop, depth, data.bits, self._root_of, self._joins)

        search.run([partial(job, *bound) for bound in ranges(self._work, self._n_threads)], len(self._work))

    def _add_sparse(self, data: Layout) -> None:
        search = Search(self._n_threads, None)
        pairs = self._companions(count_pairs(search, data, 1))
        bounds = readonly_view(projection.entry_bounds(pairs, _MIN_CHILDREN))
        depth, n_items = self._candidates.depth, len(self._root_of)

        def job(begin: int, stop: int) -> None:
            rows = deliver(data, pairs, bounds, (begin, stop), _MIN_CHILDREN)
            join_counts.count_projected(search.shared, begin, stop, depth, rows, n_items, self._joins)

        jobs = [partial(job, *bound) for bound in entry_ranges(data, bounds, self._n_threads)]
        search.run(jobs, len(self._work))

    def _companions(self, pairs: Companions) -> Companions:
        """Add the counts of pairs, and keep the pairs whose supersets are to be counted."""
        first, item, below = self._joins.first, self._joins.item, self._joins.below
        of_nodes = join_counts.add_pairs(pairs, self._root_of, self._joins)
        start = first[1 : len(self._work) + 2] - first[1]
        nodes = slice(int(first[1]), int(first[1]) + len(of_nodes))
        wanted_below = np.diff(np.append(0, np.cumsum(below[nodes]))[start]) > 0
        kept = np.repeat(wanted_below, np.diff(start))
        sizes = np.where(wanted_below, np.diff(start), 0)
        chosen = np.append(0, np.cumsum(sizes)), self._root_of[item[nodes]][kept], of_nodes[kept]
        return Companions(*map(readonly_view, chosen))


def _blocks(chunk: Transactions, n_rows: int) -> Iterator[Transactions]:
    """Yield the rows of a chunk, `n_rows` at a time."""
    if chunk.n_rows <= n_rows:
        yield chunk
        return
    for begin in range(0, chunk.n_rows, n_rows):
        indptr = chunk.indptr[begin : begin + n_rows + 1]
        repeats = chunk.multiplicities
        yield Transactions.from_canonical(
            indptr - indptr[0],
            chunk.indices[indptr[0] : indptr[-1]],
            chunk.items,
            None if repeats is None else repeats[begin : begin + n_rows],
        )


def known_codes(items: Items, names: Sequence[Label]) -> Codes:
    """Return the codes of those names that are among the items."""
    codes = []
    for name in names:
        with suppress(UnknownItemError):
            codes.append(items.code(name))
    return np.array(codes, dtype=np.int32)


def _added(totals: Ints, numbers: Codes, counts: Ints) -> Ints:
    """Return totals with the counts of some items added; they get longer if there are new numbers."""
    n_items = max(len(totals), int(numbers.max(initial=-1)) + 1)
    longer = np.pad(totals, (0, n_items - len(totals)))
    longer[numbers] += counts
    return longer
