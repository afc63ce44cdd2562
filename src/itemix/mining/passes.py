"""Candidates, and passes over data that count them, chunk by chunk; the data may be far larger than memory.

`Candidates` is a trie of sets with their joins. A `Reader` reads the data once for each round of candidates,
and a `CountingPass` adds up what each chunk counts.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix.core.items import Items
from itemix.core.transactions import Transactions, row_blocks, weights_of
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.io.partitions import Partitions
from itemix.kernels import lattice
from itemix.kernels.mining import candidates as join_counts
from itemix.kernels.mining import layouts
from itemix.kernels.mining.candidates import RULED_OUT, UNKNOWN, JoinCounts, count_sets
from itemix.kernels.mining.layouts import Companions
from itemix.mining.exact import Layout, count_pairs, deliver, entry_ranges, is_dense, ranges
from itemix.mining.search import Search, SearchStopped, SetColumns, readonly_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from itemix._typing import Codes, Floats, Hashes, Ints, Marks
    from itemix.core.items import Label
    from itemix.core.sets import Sets
    from itemix.io.chunks import Stream

# Bitsets over so many rows stay in the cache while they are intersected. Rows of ranks may be more.
_DENSE_ROWS = 1 << 16
_SPARSE_ROWS = 1 << 20
# A row with fewer children of a root adds to no set of three items.
_MIN_CHILDREN = 2
# A join while its level is made has a count, a hash, an expected count and marks; a node is without its path.
_BYTES_PER_JOIN = 40
_BYTES_PER_NODE = 80


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

    def add(self, own: StreamTotals, numbers: Codes) -> None:
        """Add the totals of a chunk, which are by its own items, given the numbers of these."""
        self.n_transactions += own.n_transactions
        self.n_holding += own.n_holding
        self.item_counts = _added(self.item_counts, numbers, own.item_counts)
        self.held_counts = _added(self.held_counts, numbers, own.held_counts)


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
    parts : Partitions or None
        The same data, if its parts are to be counted where they lie.
    """

    stream: Stream
    include: Sequence[Label]
    exclude: Sequence[Label]
    n_threads: int
    on_progress: Callable[[int, int], None] | None
    parts: Partitions | None = None

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
        if self.parts is None:
            for chunk in self.stream.chunks():
                numbers = numbering.of(chunk.items)
                held, own = _held(chunk, self.include, self.exclude)
                counting.add(held, numbers)
                totals.add(own, numbers)
                self._tell(totals, n_expected)
        else:
            numbers = numbering.of(self.parts.items)
            for own, counts in self.parts.map(self._count_of_part(candidates, numbers)):
                counting.add_counts(counts)
                totals.add(own, numbers)
                self._tell(totals, n_expected)
        if n_expected not in (None, totals.n_transactions):
            raise InvalidInputError(
                f"expected {n_expected:,} transactions in every pass, got {totals.n_transactions:,}; "
                "pass a function that opens the data anew"
            )
        return counting.finished(totals.held_counts), totals

    def _tell(self, totals: StreamTotals, n_expected: int | None) -> None:
        if self.on_progress is not None:
            self.on_progress(totals.n_transactions, n_expected or totals.n_transactions)

    def _count_of_part(
        self, candidates: Candidates, numbers: Codes
    ) -> Callable[[Transactions], tuple[StreamTotals, Ints]]:
        """Return the function that counts the candidates in a part, where it lies."""
        is_here = self.parts is not None and self.parts.parts.is_here
        return partial(
            _counted_part,
            candidates=candidates,
            numbers=numbers,
            include=self.include,
            exclude=self.exclude,
            n_threads=self.n_threads if is_here else 1,
        )


def _held(
    chunk: Transactions, include: Sequence[Label], exclude: Sequence[Label]
) -> tuple[Transactions, StreamTotals]:
    """Return the transactions that hold all included items, and the totals of the chunk, by its own items."""
    held = chunk
    if include:
        is_known = len(known_codes(chunk.items, include)) == len(include)
        held = chunk.holding(include) if is_known else chunk.sample(0)
    counts = held.item_counts()
    counts[known_codes(chunk.items, [*include, *exclude])] = 0
    return held, StreamTotals(chunk.item_counts(), counts, chunk.n_transactions, held.n_transactions)


def _counted_part(
    part: Transactions,
    *,
    candidates: Candidates,
    numbers: Codes,
    include: Sequence[Label],
    exclude: Sequence[Label],
    n_threads: int,
) -> tuple[StreamTotals, Ints]:
    """Count the candidates in a part: return its totals, and the new counts."""
    counting = CountingPass(candidates, n_threads)
    held, totals = _held(part, include, exclude)
    counting.add(held, numbers)
    return totals, counting.new_counts


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
        self._wanted = np.flatnonzero(wanted)
        self._counts = np.where(wanted, 0, candidates.counts)
        self._joins = JoinCounts(first, candidates.item, candidates.join_start, wanted, below, self._counts)
        self._work = below[1 : 1 + len(roots)]
        self._root_of = np.full(int(roots.max(initial=-1)) + 2, -1, dtype=np.int32)
        self._root_of[roots] = np.arange(len(roots), dtype=np.int32)

    def finished(self, item_counts: Ints) -> Candidates:
        """Return the candidates with all counts, given those of single items."""
        self._counts[: len(self._work)] = item_counts[self._candidates.roots]
        return replace(self._candidates, counts=self._counts)

    @property
    def new_counts(self) -> Ints:
        """How often each candidate occurred that had not been counted before."""
        return self._counts[self._wanted]

    def add_counts(self, new: Ints) -> None:
        """Add the new counts of another pass for the same candidates."""
        self._counts[self._wanted] += new

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
        bounds = readonly_view(layouts.entry_bounds(pairs, _MIN_CHILDREN))
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


def count(sets: Sets, data: Transactions | Partitions, *, may_lack: bool = False) -> Ints:
    """Count how many transactions hold each set; items are matched by name.

    Sets with an item that the data does not have are counted as 0 if it `may_lack` items.

    Raises
    ------
    UnknownItemError
        If the data does not have an item of the sets, and may not lack any.
    """
    if isinstance(data, Partitions):
        of_part = partial(count, sets, may_lack=may_lack)
        return sum(data.map(of_part), start=np.zeros(len(sets), dtype=np.int64))
    code_in_data = np.arange(len(sets.items), dtype=np.int32)
    if sets.items != data.items:
        used = np.unique(sets.codes)
        known = data.items if may_lack else ()
        code_in_data[used] = [
            data.n_items if may_lack and name not in known else data.items.code(name)
            for name in sets.items.names(used)
        ]
    rows = data.indptr, data.indices, weights_of(data)
    return count_sets(*rows, sets.offsets, code_in_data[sets.codes], data.n_items + 1)
