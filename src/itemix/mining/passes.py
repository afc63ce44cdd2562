"""Passes over data that may be far larger than memory: they count items and candidates part by part.

`Reader` counts candidates that come from a model, round by round. `PartitionedSearch` mines transactions in
parts exactly: each part proposes the sets that are frequent in it, and all count them. A set that occurs c
times in all parts together occurs in one of them in proportion, or more often. So sets that are frequent in
some part are candidates, and all frequent sets are among them (Savasere, Omiecinski and Navathe 1995). The
first pass mines every part. The second counts, in each part, the candidates that were not frequent there; it
is left out where there are none. A candidate that cannot reach the threshold, even if it just missed it in
all other parts, is not counted at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._arrays import ranks_by
from itemix._runtime import Workers
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.core.transactions import Transactions, as_transactions, weights_of
from itemix.errors import InvalidInputError, TooManyItemsetsError, UnknownItemError
from itemix.io.chunks import Chunks
from itemix.kernels import lattice
from itemix.kernels.mining import candidates as join_counts
from itemix.kernels.mining import projection
from itemix.kernels.mining.candidates import RULED_OUT, UNKNOWN, JoinCounts, count_sets
from itemix.kernels.mining.projection import Companions
from itemix.kernels.mining.records import SearchLimits
from itemix.mining.exact import (
    ExactSearch,
    Layout,
    count_pairs,
    deliver,
    entry_ranges,
    is_dense,
    mine_exact,
    ranges,
)
from itemix.mining.options import UNBOUNDED
from itemix.mining.search import Search, SearchStopped, SetColumns, readonly_view, too_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import ChunksLike, Codes, Floats, Hashes, Ints, Marks
    from itemix.core.items import Label
    from itemix.io.partitions import Partitions
    from itemix.mining.options import SearchOptions


# Bitsets over so many rows stay in the cache while they are intersected. Rows of ranks may be more.
_DENSE_ROWS = 1 << 16
_SPARSE_ROWS = 1 << 20
# Memory of a candidate: in the results of the parts, in the union, and in the trie.
_BYTES_PER_CANDIDATE = 200
# As many items of sets, for each item of a mean transaction, are counted one set after the other.
_FEW = 4000
# So much of the threshold may be spent on parts that are too small to be mined.
_SPENT_ON_SMALL = 0.1
# The k most frequent sets of so many transactions say where to look for those of all.
_TRIED = 20_000
_LOWERED = 0.9
# A row with fewer children of a root adds to no set of three items.
_MIN_CHILDREN = 2
# A join while its level is made has a count, a hash, an expected count and marks; a node is without its path.
_BYTES_PER_JOIN = 40
_BYTES_PER_NODE = 80


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
class Candidates:
    """A trie of sets with their joins, as kernels take it; a pass over the data fills in `counts`.

    Attributes
    ----------
    first, item, join_start, join_of, counts : array
        The trie.
    depth : int
        The number of items of the longest join.
    """

    first: Ints
    item: Codes
    join_start: Ints
    join_of: Ints
    counts: Ints
    depth: int

    @property
    def roots(self) -> Codes:
        """The items that may be part of larger sets, ascending."""
        return self.item[1 : self.first[1]]

    @property
    def n_sets(self) -> int:
        """The number of sets of the trie, the empty one left out."""
        return len(self.item) - 1

    @property
    def n_unknown(self) -> int:
        """The number of joins that must still be counted."""
        return int((self.counts == UNKNOWN).sum())

    @classmethod
    def of_sets(
        cls, sets: SetColumns, *, max_len: int, max_bytes: int, with_border: bool = True
    ) -> Candidates:
        """Make the trie of a family of sets, in the order of mining, with the numbers of items as ranks.

        Sets that come in another order, or without all their subsets, may be left out. Without the border,
        joins that are not in the family are ruled out.

        Raises
        ------
        SearchStopped
            If the joins do not fit into `max_bytes`.
        """
        choice = _Proposed(sets, with_border)
        roots = choice.rows(1)[:, 0]
        keys = lattice.item_keys(int(roots.max(initial=-1)) + 1)
        unknown, new = np.full((2, len(roots)), -1, dtype=np.int64)
        level = _first_level(roots, unknown, new, 1, keys)
        return _grown(level, _EMPTY, choice, keys, max_len=max_len, max_bytes=max_bytes)

    def extended(
        self,
        item_counts: Ints,
        n: int,
        *,
        min_count: int,
        min_expected: float,
        max_len: int,
        max_bytes: int,
    ) -> Candidates:
        """Make the trie of the frequent sets among these, and of those that may well be frequent.

        Parameters
        ----------
        item_counts : array, shape (n_items,)
            How often each item occurs in the data.
        n : int
            The number of transactions.
        min_count : int
            The least count of a frequent set.
        min_expected : float
            The least expected count of a set that is not counted yet, for it to be in the trie.
        max_len : int
            The most items of a join.
        max_bytes : int
            The most memory to use.

        Raises
        ------
        SearchStopped
            If the joins do not fit into `max_bytes`.
        """
        roots = np.flatnonzero(item_counts >= min_count).astype(np.int32)
        is_old = np.isin(roots, self.roots, assume_unique=True)
        old = np.where(is_old, 1 + np.searchsorted(self.roots, roots), -1)
        keys = lattice.item_keys(len(item_counts))
        level = _first_level(roots, item_counts[roots], old, n, keys)
        choice = _Promising(min_count, min_expected)
        return _grown(level, self, choice, keys, max_len=max_len, max_bytes=max_bytes)

    def n_frequent(self, min_count: int) -> int:
        """Return how many sets of the trie occur often enough."""
        return int((self.counts[self.join_of[1:]] >= min_count).sum())

    def frequent(self, min_count: int) -> SetColumns:
        """Return the sets of the trie that occur often enough, each as its path."""
        trie = self.first, self.item, self.join_of, self.counts
        ends, items, counts = join_counts.frequent_nodes(*trie, min_count)
        return SetColumns(np.append(0, ends), items, counts)


_EMPTY = Candidates(
    first=np.ones(2, np.int64),
    item=np.full(1, -1, np.int32),
    join_start=np.zeros(2, np.int64),
    join_of=np.zeros(1, np.int64),
    counts=np.empty(0, np.int64),
    depth=1,
)


class _Level(NamedTuple):
    """The nodes of one length as kernels take them, with their counts, known or expected."""

    rows: Codes
    group: Ints
    hashes: Hashes
    old: Ints
    values: Floats
    prefix_values: Floats


@dataclass(frozen=True)
class _Proposed:
    """The choice of joins that are among the proposed sets: these become nodes."""

    sets: SetColumns
    with_border: bool

    def rows(self, length: int) -> Codes:
        """Return the proposed paths of one length, sorted."""
        start, stop = self.sets.offsets[np.searchsorted(self.sets.lengths, [length, length + 1])]
        return np.ascontiguousarray(self.sets.codes[start:stop].reshape(-1, length)[:, ::-1])

    def chosen(self, level: _Level, counts: Ints, is_proposed: Marks) -> tuple[Marks, Floats]:
        """Mark the joins of a level that become nodes, and return their counts, known or expected."""
        if not self.with_border:
            counts[~is_proposed] = RULED_OUT
        return is_proposed, np.zeros(len(counts))


@dataclass(frozen=True)
class _Promising:
    """The choice of joins that are frequent, or unknown and expected to be nearly so: these become nodes."""

    min_count: int
    min_expected: float

    def rows(self, length: int) -> Codes:
        return np.empty((0, length), dtype=np.int32)

    def chosen(self, level: _Level, counts: Ints, is_proposed: Marks) -> tuple[Marks, Floats]:
        expected = join_counts.expected_counts(counts, level.group, level.values, level.prefix_values)
        return np.where(counts == UNKNOWN, expected >= self.min_expected, counts >= self.min_count), expected


def _first_level(roots: Codes, counts: Ints, old: Ints, n: int, keys: Hashes) -> _Level:
    group = np.zeros(len(roots), dtype=np.int64)
    whole = np.full(len(roots), float(n))
    return _Level(roots[:, None].copy(), group, keys[roots], old, counts.astype(np.float64), whole)


def _grown(
    level: _Level,
    old: Candidates,
    choice: _Proposed | _Promising,
    keys: Hashes,
    *,
    max_len: int,
    max_bytes: int,
) -> Candidates:
    """Make a trie level by level, from the first level on."""
    parts = _CandidateParts(level)
    while len(level.rows) and level.rows.shape[1] < max_len:
        n_joins = np.arange(len(level.rows)) - level.group
        parts.require_room(n_joins, max_bytes)
        rows, group, hashes, older = level[:4]
        proposed = choice.rows(rows.shape[1] + 1)
        counts, joined, marks = join_counts.join_level(
            rows, group, hashes, older, keys, proposed, old.join_start, old.counts
        )
        chosen, values = choice.chosen(level, counts, marks)
        places = np.flatnonzero(chosen)
        rows, group, older, parent, n_children = join_counts.next_level(
            rows, group, older, chosen, old.first, old.item
        )
        parts.add(n_joins, counts, n_children, rows[:, -1], places)
        level = _Level(rows, group, joined[places], older, values[places], level.values[parent])
    return parts.as_candidates(n_leaves=len(level.rows))


class _CandidateParts:
    """The arrays of a trie while it grows, a part for each level; see `Candidates`."""

    def __init__(self, roots: _Level) -> None:
        n_roots = len(roots.rows)
        self._n_joins = [np.array([n_roots])]
        self._counts = [roots.values.astype(np.int64)]
        self._n_children = [np.array([n_roots])]
        self._items = [np.full(1, -1, np.int32), roots.rows[:, 0]]
        self._join_of = [np.arange(-1, n_roots)]
        self._joins_so_far, self._nodes_so_far = n_roots, 0

    def require_room(self, n_joins: Ints, max_bytes: int) -> None:
        """Raise SearchStopped if the trie and another level, with `n_joins` of each node, take more."""
        joins, nodes = self._joins_so_far + int(n_joins.sum()), self._nodes_so_far + len(n_joins)
        if _BYTES_PER_JOIN * joins + _BYTES_PER_NODE * nodes > max_bytes:
            raise SearchStopped(joins)

    def add(self, n_joins: Ints, counts: Ints, n_children: Ints, items: Codes, places: Ints) -> None:
        """Add a level: the joins of its nodes with their counts, and its children, the joins at `places`."""
        self._n_joins.append(n_joins)
        self._counts.append(counts)
        self._n_children.append(n_children)
        self._items.append(items)
        self._join_of.append(self._joins_so_far + places)
        self._joins_so_far += len(counts)
        self._nodes_so_far += len(n_joins)

    def as_candidates(self, n_leaves: int) -> Candidates:
        """Return the trie; its last nodes have neither joins nor children."""
        leaves = np.zeros(n_leaves, dtype=np.int64)
        return Candidates(
            first=_starts(1, [*self._n_children, leaves]),
            item=np.concatenate(self._items),
            join_start=_starts(0, [*self._n_joins, leaves]),
            join_of=np.concatenate(self._join_of),
            counts=np.concatenate(self._counts),
            depth=len(self._counts),
        )


def _starts(first: int, sizes: Sequence[Ints]) -> Ints:
    return np.cumsum(np.concatenate([np.array([first]), *sizes]), dtype=np.int64)


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
        for block in row_blocks(chunk, _DENSE_ROWS if dense else _SPARSE_ROWS):
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


def row_blocks(chunk: Transactions, n_rows: int) -> Iterator[Transactions]:
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


def wanted_sets(
    found: SetColumns, options: SearchOptions, item_counts: Ints, n: int, *, n_holding: int, least: int
) -> SetColumns:
    """Return the sets that were asked for, in the order of mining.

    Parameters
    ----------
    found : SetColumns
        All sets that are frequent in the transactions with all included items, without these items.
    options : SearchOptions
        Which sets are wanted; of `top_k` nothing is known here.
    item_counts : array, shape (n_items,)
        How often each item occurs.
    n, n_holding : int
        How many transactions there are, and how many hold all included items.
    least : int
        The least count of a frequent set.
    """
    if len(options.include) and n_holding >= least:
        found = SetColumns.of_nothing(n_holding).join(found)
    if options.target != "all":
        sets = Sets(found.offsets, found.codes, Items(range(len(item_counts))), check=False)
        group = np.zeros_like(found.values) if options.target == "maximal" else found.values
        chosen = sets.smallest(group, n) if options.target == "generators" else sets.largest(group)
        found = found.take(np.flatnonzero(chosen))
    found = found.with_items(options.include, ranks_by(item_counts))
    fitting = (found.lengths >= options.min_len) & (found.lengths <= options.max_len)
    return found if fitting.all() else found.take(np.flatnonzero(fitting))


class PartitionedSearch:
    """One exact search in transactions in parts; its result is that of `ExactSearch` in all of them.

    Parameters
    ----------
    data : Partitions
        The transactions.
    options : SearchOptions
        Which sets are wanted.
    n_jobs : int or None
        How many threads work on a part, where parts are worked on in this process.
    on_progress : function or None
        Called with (parts done, parts in both passes) after each part.
    """

    def __init__(
        self,
        data: Partitions,
        options: SearchOptions,
        n_jobs: int | None,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self._data = data
        self._options = options
        self._on_progress = on_progress
        max_len = UNBOUNDED
        if options.target == "all" and options.max_len != UNBOUNDED:
            max_len = max(1, options.max_len - len(options.include))
        self._work = _Work(
            options.include, options.exclude, max_len, options.max_bytes, data.n_threads(n_jobs)
        )

    def find(self, threshold: float, max_itemsets: int | None) -> SetColumns:
        """Return the sets with a count of at least the threshold, if they are not too many.

        Raises
        ------
        TooManyItemsetsError
            If there are more than `max_itemsets`, or candidates than memory holds.
        """
        least = int(threshold)
        shares = _shares(self._data.sizes, least - 1)
        try:
            union, totals = self._propose(shares)
        except SearchStopped as stop:
            than = f"{least:,} transactions" if least < self._data.n_transactions else None
            raise TooManyItemsetsError(
                "expected parts whose own frequent sets fit into half of the free memory, got "
                f"{stop.n_found:,} and more; put transactions into fewer or more even parts, or "
                f"{self._options.fewer(than, 'max_len')}",
                stop.n_found,
            ) from None
        found = self._count(union, totals, shares, least)
        found = wanted_sets(
            found,
            self._options,
            totals.item_counts,
            self._data.n_transactions,
            n_holding=totals.n_holding,
            least=least,
        )
        if max_itemsets is not None and found.n_sets > max_itemsets:
            than = f"{least:,} transactions" if least < self._data.n_transactions else None
            advice = self._options.fewer(than, "max_len", "target", "top_k")
            raise too_many(found.n_sets, max_itemsets, advice)
        return found

    def top(self, threshold: float, k: int) -> SetColumns:
        """Return the k sets with the highest counts, among those of at least the threshold.

        Where to look is learned from a sample: the passes over the data are few.
        """
        n = self._data.n_transactions
        sample = self._sample()
        found = ExactSearch(sample, replace(self._options, top_k=k), self._work.n_threads, None).top(1, k)
        lowest = int(found.values.min(initial=1)) if found.n_sets >= k else 1
        tried = max(threshold, int(_LOWERED * lowest * n / max(sample.n_transactions, 1)))
        while True:
            best = self.find(tried, None).best(k)
            if best.n_sets >= k or tried <= threshold:
                return best
            tried = max(threshold, tried // 2)

    def _sample(self) -> Transactions:
        """Return some transactions, evenly spread over all parts."""
        n = self._data.n_transactions
        return self._data.take(np.unique(np.linspace(0, n - 1, min(n, _TRIED)).astype(np.int64)))

    def _propose(self, shares: Sequence[int]) -> tuple[_Union, _Totals]:
        """Mine every part, and put the sets together."""
        union, totals = _Union(self._data.items, self._options.max_bytes), _Totals.none(self._data.n_items)
        for number, local in enumerate(self._data.map(partial(_mined, work=self._work), shares)):
            totals = totals.plus(local.totals)
            union.add(local.found, shares[number] - 1 if shares[number] else local.totals.n_holding)
            self._tell(number + 1, len(shares))
        return union, totals

    def _count(self, union: _Union, totals: _Totals, shares: Sequence[int], least: int) -> SetColumns:
        """Count the candidates in the parts that have not counted them, and return the frequent ones."""
        chosen = union.candidates(totals.held_counts, least)
        rank_of = ranks_by(totals.held_counts)
        ordered = chosen.with_items(np.empty(0, np.int32), rank_of)
        missing = union.missing(ordered.values)
        most = max((int(ordered.lengths[own].sum()) for own in missing), default=0)
        if most:
            found: Iterator[Ints]
            if most <= _FEW * totals.held_counts.sum() / max(totals.n_holding, 1):
                few = [ordered.take(own) for own in missing]
                found = self._data.map(partial(_counted_one_by_one, work=self._work), few)
            else:
                trie = self._trie(ordered._replace(codes=rank_of[ordered.codes]))
                count = partial(_counted, work=self._work, candidates=trie, numbers=rank_of)
                found = self._data.map(count, missing)
            for number, counts in enumerate(found):
                union.counts[ordered.values[missing[number]]] += counts
                self._tell(len(shares) + number + 1, len(shares))
        counts = union.counts[ordered.values]
        return ordered._replace(values=counts).take(np.flatnonzero(counts >= least))

    def _trie(self, numbered: SetColumns) -> Candidates:
        max_bytes = self._options.max_bytes
        try:
            return Candidates.of_sets(numbered, max_len=UNBOUNDED, max_bytes=max_bytes, with_border=False)
        except SearchStopped as stop:
            raise too_many(stop.n_found, None, self._options.fewer(None, "max_len")) from None

    def _tell(self, n_done: int, n_parts: int) -> None:
        if self._on_progress is not None:
            self._on_progress(n_done, 2 * n_parts)


def _shares(sizes: Sequence[int], budget: int) -> list[int]:
    """Return from which count on each part proposes its sets, 0 for parts that propose none.

    A set that occurs in every part less often than that occurs `budget` times at most in all. A small part
    would propose all that occurs in it; so the smallest parts propose nothing, and are counted with all of
    their transactions.
    """
    order = np.argsort(sizes, kind="stable")
    spent = np.cumsum(np.array(sizes, dtype=np.int64)[order])
    n_small = int(np.searchsorted(spent, _SPENT_ON_SMALL * budget, side="right"))
    left = budget - (int(spent[n_small - 1]) if n_small else 0)
    n_others = max(int(spent[-1]) - (budget - left), 1) if len(spent) else 1
    shares = [left * size // n_others + 1 for size in sizes]
    for small in order[:n_small].tolist():
        shares[small] = 0
    return shares


class _Totals(NamedTuple):
    """How often items occur in some transactions, and in those that hold all included items."""

    item_counts: Ints
    held_counts: Ints
    n_holding: int

    @classmethod
    def none(cls, n_items: int) -> _Totals:
        item_counts, held_counts = np.zeros((2, n_items), dtype=np.int64)
        return cls(item_counts, held_counts, 0)

    def plus(self, other: _Totals) -> _Totals:
        """Return the totals of two parts."""
        return _Totals(
            self.item_counts + other.item_counts,
            self.held_counts + other.held_counts,
            self.n_holding + other.n_holding,
        )


class _Local(NamedTuple):
    """What one part has: its totals, and the sets that are frequent in it."""

    totals: _Totals
    found: SetColumns


class _Work(NamedTuple):
    """What every part is asked: which transactions and items count, and how far to go."""

    include: Codes
    exclude: Codes
    max_len: int
    max_bytes: int
    n_threads: int

    def held(self, part: Transactions) -> Transactions:
        """Return the transactions that hold all included items, without these and the excluded ones."""
        held = part.holding(part.items.names(self.include)) if len(self.include) else part
        left_out = np.concatenate([self.include, self.exclude])
        return held.without_codes(left_out) if len(left_out) else held


def _mined(part: Transactions, share: int, work: _Work) -> _Local:
    """Mine a part: return its totals, and the sets that occur in it as often as its share.

    Raises
    ------
    SearchStopped
        If there are too many.
    """
    held = work.held(part)
    totals = _Totals(part.item_counts(), held.item_counts(), held.n_transactions)
    if share == 0 or share > held.n_transactions:
        return _Local(totals, SetColumns.empty())
    limits = SearchLimits(share, 1, work.max_len, work.max_bytes // _BYTES_PER_CANDIDATE, work.max_bytes)
    return _Local(totals, mine_exact(held, "all", limits, work.n_threads))


def _counted(part: Transactions, wanted: Ints, work: _Work, candidates: Candidates, numbers: Codes) -> Ints:
    """Return how often some candidates occur in a part."""
    if len(wanted) == 0:
        return np.empty(0, dtype=np.int64)
    joins = candidates.join_of[1 + wanted]
    counts = np.full(len(candidates.counts), RULED_OUT, dtype=np.int64)
    counts[joins] = UNKNOWN
    counting = CountingPass(replace(candidates, counts=counts), work.n_threads)
    counting.add(work.held(part), numbers)
    found: Ints = counting.finished(np.zeros(len(numbers), dtype=np.int64)).counts[joins]
    return found


def _counted_one_by_one(part: Transactions, sets: SetColumns, work: _Work) -> Ints:
    """Return how often some sets occur in a part; for so few, a trie does not pay."""
    if sets.n_sets == 0:
        return np.empty(0, dtype=np.int64)
    held = work.held(part)
    size = max(math.ceil(held.n_rows / work.n_threads), 1)
    blocks = list(row_blocks(held, size))

    def count(block: int) -> Ints:
        rows = blocks[block].indptr, blocks[block].indices, weights_of(blocks[block])
        return count_sets(*rows, sets.offsets, sets.codes, part.n_items)

    with Workers(work.n_threads) as workers:
        total: Ints = np.sum(workers.map(count, len(blocks)), axis=0)
    return total


class _Union:
    """The sets that are frequent in some part, with their counts in those parts."""

    def __init__(self, items: Items, max_bytes: int) -> None:
        self._sets = Sets(np.zeros(1, np.int64), np.empty(0, np.int32), items)
        self.counts = np.empty(0, dtype=np.int64)
        self._slack = np.empty(0, dtype=np.int64)  # what the parts that know a set would add at most
        self._parts: list[tuple[Codes, int]] = []
        self._max_bytes = max_bytes

    def add(self, found: SetColumns, slack: int) -> None:
        """Add the sets of a part, in which any other set occurs `slack` times at most.

        Raises
        ------
        SearchStopped
            If there are more than memory holds.
        """
        own = Sets(found.offsets, found.codes, self._sets.items, check=False)
        places = self._sets.find(own)
        new = np.flatnonzero(places < 0)
        if len(new):
            places[new] = np.arange(len(self._sets), len(self._sets) + len(new))
            self._sets = Sets.concatenate([self._sets, own.take(new)])
            self.counts = np.append(self.counts, np.zeros_like(new))
            self._slack = np.append(self._slack, np.zeros_like(new))
        self.counts[places] += found.values
        self._slack[places] += slack
        self._parts.append((places.astype(np.int32), slack))
        n_known = sum(len(known) for known, _ in self._parts)
        if _BYTES_PER_CANDIDATE * len(self._sets) + 4 * n_known > self._max_bytes:
            raise SearchStopped(len(self._sets))

    def candidates(self, item_counts: Ints, least: int) -> SetColumns:
        """Return the sets that may occur often enough, given how often items do, with their places as values.

        If a set may, so may all its subsets: they occur at least as often in every part.
        """
        is_single = self._sets.lengths == 1
        self.counts[is_single] = item_counts[self._sets.codes[self._sets.offsets[:-1][is_single]]]
        at_most = self.counts + sum(slack for _, slack in self._parts) - self._slack
        n_rare = lattice.count_members(self._sets.offsets, self._sets.codes, item_counts < least)
        places = np.flatnonzero((at_most >= least) & (n_rare == 0))
        chosen = self._sets.take(places)
        return SetColumns(chosen.offsets, chosen.codes, places)

    def missing(self, places: Ints) -> list[Ints]:
        """Return for each part which of the sets at some places it has not counted, but may hold."""
        is_other = self._sets.lengths[places] > 1
        missing = []
        for known, slack in self._parts:
            is_known = np.zeros(len(self._sets), dtype=np.bool_)
            is_known[known] = True
            missing.append(np.flatnonzero(is_other & ~is_known[places] & (slack > 0)))
        return missing
