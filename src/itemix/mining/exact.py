"""The exact search in transactions: lay out the data, run the kernels in threads, put the result together.

The same search is here in plain Python too, over whole numbers as bitsets. It does small work while no kernel
is loaded: importing Numba and loading compiled code takes longer than most searches in a few thousand
transactions, and compiling takes a minute. When its time is over it gives up, and the kernels take over.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._arrays import ranks_by
from itemix._runtime import still_wanted
from itemix.core.sets import Sets
from itemix.errors import TooManyItemsetsError
from itemix.kernels import jit, lattice
from itemix.kernels.mining import closed, eclat, layouts, maximal
from itemix.kernels.mining.layouts import Bitsets, Companions, ProjectedRows, RankRows, RowIndex
from itemix.kernels.mining.records import BYTES_PER_CODE, BYTES_PER_SET, SearchLimits
from itemix.mining.search import (
    UNBOUNDED,
    Records,
    Search,
    SearchStopped,
    SetColumns,
    readonly_view,
    too_many,
    trial_size,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix._typing import Codes, Ints
    from itemix.core.transactions import Transactions
    from itemix.kernels.mining.closed import ThreadSets
    from itemix.mining.search import SearchOptions

    Extension = tuple[int, int, int]
    PairsFound = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]


Part = TypeVar("Part")

# About what it takes to intersect and count two bitsets: for the call, and for each transaction.
_SECONDS_PER_PAIR = 1.5e-7
_SECONDS_PER_BIT = 4e-11
_MOST_BITS = 2e8
# The search calls itself for each item of a set; Python allows a thousand calls.
_LONGEST = 400


class ExactSearch:
    """One exact search: in the transactions that hold all included items, over the items that are left."""

    def __init__(
        self,
        tx: Transactions,
        options: SearchOptions,
        n_threads: int,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self._options = options
        self._n_threads = n_threads
        self._on_progress = on_progress
        self._rank_of = ranks_by(tx.item_counts())
        self._tx = tx.holding(tx.items.names(options.include)) if len(options.include) else tx
        left_out = np.concatenate([options.include, options.exclude])
        if len(left_out):
            self._tx = self._tx.drop_items(tx.items.names(left_out))
        self._code_of = np.setdiff1d(np.arange(tx.n_items, dtype=np.int32), left_out)

    def find(self, threshold: float, max_itemsets: int | None, max_len: int = UNBOUNDED) -> SetColumns:
        """Return the sets with a count of at least the threshold, if they are not too many.

        Raises
        ------
        TooManyItemsetsError
            If there are more than `max_itemsets`, or than memory holds.
        """
        options, n_included = self._options, len(self._options.include)
        max_len = min(options.max_len, max_len)
        is_shortest = options.target == "generators"
        with_own = options.min_len <= n_included <= max_len and self._included_is_one(threshold)
        limits = SearchLimits(
            min_count=int(threshold),
            min_len=1 if is_shortest else max(1, options.min_len - n_included),
            max_len=max_len - n_included,
            max_itemsets=(UNBOUNDED if max_itemsets is None or is_shortest else max_itemsets) - with_own,
            max_bytes=options.max_bytes,
            rarer_only=is_shortest,
        )
        found = SetColumns.empty()
        if limits.max_len >= 1 and self._tx.n_transactions >= threshold:
            try:
                found = mine_exact(self._tx, options.target, limits, self._n_threads, self._on_progress)
            except SearchStopped as stop:
                than = f"{threshold:,} transactions" if threshold < self._tx.n_transactions else None
                advice = options.fewer(than, "max_len", "target", "top_k")
                raise too_many(stop.n_found, max_itemsets, advice) from None
            if len(self._code_of) < len(self._rank_of):
                found = found._replace(codes=self._code_of[found.codes])
        if is_shortest:
            found = self._generators(found)
            if max_itemsets is not None and found.n_sets > max_itemsets:
                raise too_many(
                    found.n_sets, max_itemsets, options.fewer(f"{threshold:,} transactions", "max_len")
                )
        if n_included == 0:
            return found
        if with_own:
            found = found.join(SetColumns.of_nothing(self._tx.n_transactions))
        return found.with_items(options.include, self._rank_of)

    def _generators(self, found: SetColumns) -> SetColumns:
        """Return the sets without a subset of the same count, of the lengths that were asked for.

        The search has left out sets with the count of one subset, the one that they would have grown from.
        """
        sets = Sets(found.offsets, found.codes, range(len(self._rank_of)), check=False)
        marked = sets.smallest(found.values, self._tx.n_transactions)
        return found.take(np.flatnonzero(marked & (found.lengths >= self._options.min_len)))

    def top(self, threshold: float, k: int) -> SetColumns:
        """Return the k sets with the highest counts, among those of at least the threshold."""
        if self._options.target == "maximal":
            return self.find(threshold, self._options.max_itemsets).best(k)
        low = int(threshold)
        high = max(low, int(self._tx.item_counts().max(initial=0)))
        if len(self._options.include):
            high = max(low, self._tx.n_transactions)
        higher = range(low + 1, high + 1)
        low += bisect_left(higher, True, key=lambda n: not self._has_at_least(n, k))
        try:
            return self.find(low, trial_size(k)).best(k)
        except TooManyItemsetsError:
            return self._shortest(low, k).best(k)

    def _has_at_least(self, threshold: int, k: int) -> bool:
        try:
            return self.find(threshold, trial_size(k)).n_sets >= k
        except TooManyItemsetsError:
            return True

    def _shortest(self, threshold: int, k: int) -> SetColumns:
        """Return enough sets to hold the k best, if many tie for the last places.

        Of sets that tie the shortest come first, so longer ones are added until there are enough. The sets
        above the threshold are fewer than k, and all are returned.
        """
        above = self.find(threshold + 1, trial_size(k))
        lengths = above.lengths
        for max_len in count(self._options.min_len):
            found = self.find(threshold, None, max_len)
            longer = np.flatnonzero(lengths > max_len)
            if found.n_sets + len(longer) >= k:
                break
        return found.join(above.take(longer))

    def _included_is_one(self, threshold: float) -> bool:
        n = self._tx.n_transactions
        most = int(self._tx.item_counts().max(initial=0))
        others = {"closed": n, "maximal": threshold}.get(self._options.target, n + 1)
        return n >= threshold and most < others


def mine_exact(
    tx: Transactions,
    target: str,
    limits: SearchLimits,
    n_threads: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> SetColumns:
    """Mine transactions exactly.

    Raises
    ------
    SearchStopped
        If there are more itemsets than the limits allow.
    """
    counts = tx.item_counts()
    frequent = np.flatnonzero(counts >= limits.min_count)
    code_of = frequent[np.argsort(-counts[frequent], kind="stable")].astype(np.int32)
    if len(code_of) == 0:
        return SetColumns.empty()
    if target in ("all", "generators") and limits.max_len == 1:
        return _single_items(counts, code_of, limits)
    kernels = {"closed": closed.search, "maximal": maximal.search}
    kernel: Callable[..., Any] = kernels.get(target, eclat.search)
    found = mine_plainly(tx, target, limits, code_of, kernel)
    if found is not None:
        return found
    rank_of = np.full(tx.n_items, -1, dtype=np.int32)
    rank_of[code_of] = np.arange(len(code_of), dtype=np.int32)
    data = Layout.of(tx, rank_of, counts[code_of])
    search = Search(n_threads, on_progress)
    if target in ("all", "generators"):
        records = search.run(_jobs(search, eclat.search, data, limits, both_sides=False), len(code_of))
        return Records.of(records, len(code_of), limits.min_len).columns(search, code_of)
    return _assemble_sets(
        search.run(_jobs(search, kernel, data, limits, both_sides=True), len(code_of)), code_of
    )


def _single_items(counts: Ints, code_of: Codes, limits: SearchLimits) -> SetColumns:
    """Return the frequent items alone, which need no search."""
    if len(code_of) > limits.max_itemsets:
        raise SearchStopped(len(code_of))
    if limits.min_len > 1:
        return SetColumns.empty()
    return SetColumns(np.arange(len(code_of) + 1), code_of, counts[code_of])


def _jobs(
    search: Search, kernel: Callable[..., Part], data: Layout, limits: SearchLimits, *, both_sides: bool
) -> list[Callable[[], Part]]:
    """Return the jobs of the threads; closed and maximal searches need companions on both sides of a root."""
    if data.is_dense:
        return _dense_jobs(search, kernel, data, limits)
    return _sparse_jobs(search, kernel, data, limits, both_sides=both_sides)


def _dense_jobs(
    search: Search, kernel: Callable[..., Part], data: Layout, limits: SearchLimits
) -> list[Callable[[], Part]]:
    """Return jobs over bitsets of all rows, which take roots from one queue."""
    queue = np.array([len(data.rank_counts)], dtype=np.int64)
    none, no_ranks = readonly_view(np.empty(0, np.int64)), readonly_view(np.empty(0, np.int32))
    companions = Companions(none, no_ranks, none)
    projected = ProjectedRows(np.empty((0, 2), dtype=np.int64), data.no_entries, data.rows.weights)

    def job() -> Part:
        return kernel(search.shared, limits, queue, 0, data.rank_counts, data.bits, companions, projected)

    return [job] * search.n_threads


def _sparse_jobs(
    search: Search, kernel: Callable[..., Part], data: Layout, limits: SearchLimits, *, both_sides: bool
) -> list[Callable[[], Part]]:
    """Count the pairs, and return jobs over the rows of each root, one job for each range of roots."""
    pairs = count_pairs(search, data, limits.min_count)
    if both_sides:
        pairs = _with_both_sides(pairs)
    companions = Companions(*map(readonly_view, pairs))
    min_companions = 1 if both_sides else 2
    bounds = readonly_view(layouts.entry_bounds(companions, min_companions))

    def job(first: int, stop: int) -> Part:
        rows = deliver(data, companions, bounds, (first, stop), min_companions)
        queue = np.array([stop], dtype=np.int64)
        return kernel(search.shared, limits, queue, first, data.rank_counts, data.bits, companions, rows)

    return [partial(job, *bound) for bound in entry_ranges(data, bounds, search.n_threads)]


def _with_both_sides(pairs: Companions) -> Companions:
    """List each frequent pair at both of its items; companions ascend."""
    start, companions, counts = pairs
    roots = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    # Roots come in order, so a stable sort by companion leaves the pairs of a companion sorted by root.
    by_companion = np.argsort(companions, kind="stable")
    left = np.concatenate([roots, companions[by_companion]])
    right = np.concatenate([companions, roots[by_companion]])
    both = np.concatenate([counts, counts[by_companion]])
    order = np.argsort(left, kind="stable")
    sizes = np.bincount(left, minlength=len(start) - 1)
    return Companions(np.concatenate([[0], np.cumsum(sizes)]), right[order], both[order])


def _assemble_sets(parts: list[ThreadSets], code_of: Codes) -> SetColumns:
    n_codes = np.cumsum([0] + [len(part.ranks) for part in parts])
    ends = np.concatenate([part.ends + shift for part, shift in zip(parts, n_codes, strict=False)])
    ranks = np.concatenate([part.ranks for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    order = lattice.colex_order(ends, ranks, len(code_of))
    offsets, codes = lattice.gather_sets(ends, ranks, order, code_of)
    return SetColumns(offsets, codes, counts[order])


class _GivenUpError(Exception):
    """The search takes too long for plain Python."""


def mine_plainly(
    tx: Transactions, target: str, limits: SearchLimits, code_of: Codes, kernel: object
) -> SetColumns | None:
    """Return the sets that a kernel would find, or None if the kernel is the quicker way.

    `code_of` has the frequent items, most frequent first.

    Raises
    ------
    SearchStopped
        If there are more itemsets than the limits allow.
    """
    seconds = jit.spare_seconds(kernel)
    n_bits = len(code_of) * float(tx.n_rows)
    expected = len(code_of) ** 2 / 2 * (_SECONDS_PER_PAIR + _SECONDS_PER_BIT * tx.n_rows)
    if n_bits > _MOST_BITS or expected > seconds:
        return None
    began = time.thread_time()
    search = _PlainSearch(limits, _counter(tx.multiplicities), began + seconds)
    try:
        extensions = [
            (rank, bits, search.count(bits)) for rank, bits in enumerate(_bitsets(tx, code_of, search.check))
        ]
        if target in ("all", "generators"):
            search.grow((), extensions)
        else:
            search.close(tx.n_transactions, extensions, only_maximal=target == "maximal")
        return search.columns(code_of)
    except _GivenUpError:
        return None
    finally:
        jit.spend(time.thread_time() - began)


def _bitsets(tx: Transactions, code_of: Codes, check: Callable[[], None]) -> list[int]:
    """Return the rows that hold each item, as whole numbers with a bit for each row."""
    rows = np.repeat(np.arange(tx.n_rows), tx.lengths())
    order = np.argsort(tx.indices, kind="stable")
    starts = np.searchsorted(tx.indices[order], np.arange(tx.n_items + 1))
    rows = rows[order]
    found = []
    for code in code_of.tolist():
        check()
        holds = np.zeros(tx.n_rows, dtype=np.uint8)
        holds[rows[starts[code] : starts[code + 1]]] = 1
        found.append(int.from_bytes(np.packbits(holds, bitorder="little").tobytes(), "little"))
    return found


def _counter(multiplicities: Ints | None) -> Callable[[int], int]:
    """Return a function that counts the transactions of a bitset."""
    if multiplicities is None:
        return int.bit_count
    planes = []
    for digit in range(int(multiplicities.max(initial=0)).bit_length()):
        is_set = (multiplicities >> digit & 1).astype(np.uint8)
        planes.append(int.from_bytes(np.packbits(is_set, bitorder="little").tobytes(), "little"))

    def count(bits: int) -> int:
        return sum((bits & plane).bit_count() << digit for digit, plane in enumerate(planes))

    return count


class _PlainSearch:
    """One search: its limits, and what it has found."""

    def __init__(self, limits: SearchLimits, count: Callable[[int], int], until: float) -> None:
        self.count = count
        self._limits = limits
        self._until = until
        # For each length: the ranks of the sets, largest first, and their counts.
        self._found: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        self._n_sets = self._n_codes = 0

    def check(self) -> None:
        """Give up if the time is over, stop if the limits are reached or nobody wants the result."""
        still_wanted()
        n_bytes = BYTES_PER_SET * self._n_sets + BYTES_PER_CODE * self._n_codes
        if self._n_sets > self._limits.max_itemsets or n_bytes > self._limits.max_bytes:
            raise SearchStopped(self._n_sets)
        if time.thread_time() > self._until:
            raise _GivenUpError

    def grow(self, path: tuple[int, ...], extensions: Sequence[Extension]) -> None:
        """Find all frequent sets below a prefix; its extensions ascend by rank.

        Sets grow by items of lower rank, so that sets of one length come in the order of the result.
        """
        self.check()
        if len(path) > _LONGEST:
            raise _GivenUpError
        count, least = self.count, self._limits.min_count
        is_last = len(path) + 1 >= self._limits.max_len
        for position, (rank, bits, n) in enumerate(extensions):
            longer = (*path, rank)
            self._add(longer, n)
            if is_last or position == 0:
                continue
            both = [(other, bits & held) for other, held, _ in extensions[:position]]
            most = n - self._limits.rarer_only
            below = [
                (other, held, n_both) for other, held in both if least <= (n_both := count(held)) <= most
            ]
            if below:
                self.grow(longer, below)

    def close(self, n_transactions: int, extensions: Sequence[Extension], *, only_maximal: bool) -> None:
        """Find all closed or maximal sets, by closures that preserve prefixes.

        An item that a set's transactions all hold belongs to its closure. If its rank is above the last item
        that was added, another branch has the set.
        """
        others = [extension for extension in reversed(extensions) if extension[2] < n_transactions]
        always = tuple(rank for rank, _, n in reversed(extensions) if n == n_transactions)
        if always and (not only_maximal or not others):
            self._add(always, n_transactions)
        self._close(always, others, len(extensions), only_maximal=only_maximal)
        for sets in self._found.values():
            sets.sort()

    def _close(
        self, members: tuple[int, ...], extensions: Sequence[Extension], core: int, *, only_maximal: bool
    ) -> None:
        self.check()
        if len(members) > _LONGEST:
            raise _GivenUpError
        if len(members) >= self._limits.max_len and not only_maximal:
            return
        count, least = self.count, self._limits.min_count
        for rank, bits, n in extensions:
            if rank >= core:
                continue
            both = [(other, bits & held) for other, held, _ in extensions if other != rank]
            counted = [(other, held, count(held)) for other, held in both]
            always = [other for other, _, n_both in counted if n_both == n]
            if always and max(always) > rank:
                continue
            below = [extension for extension in counted if least <= extension[2] < n]
            closed = tuple(sorted((*members, rank, *always), reverse=True))
            if not only_maximal or not below:
                self._add(closed, n)
            self._close(closed, below, rank, only_maximal=only_maximal)

    def _add(self, ranks: tuple[int, ...], n: int) -> None:
        length = len(ranks)
        if self._limits.min_len <= length <= self._limits.max_len:
            self._found.setdefault(length, []).append((ranks, n))
            self._n_sets += 1
            self._n_codes += length

    def columns(self, code_of: Codes) -> SetColumns:
        """Return what was found, in the order of the kernels: by length, then by the last rank."""
        self.check()
        lengths = sorted(self._found)
        sizes = np.repeat(lengths, [len(self._found[length]) for length in lengths]).astype(np.int64)
        sets = list(chain.from_iterable(self._found[length] for length in lengths))
        ranks = np.fromiter(
            chain.from_iterable(reversed(found) for found, _ in sets), np.int64, self._n_codes
        )
        counts = np.fromiter((n for _, n in sets), np.int64, self._n_sets)
        return SetColumns(np.concatenate([[0], np.cumsum(sizes)]), code_of[ranks], counts)


# How transactions are laid out for searches over ranks: as bitsets, or as rows of ranks with their pairs.

# Above this density, bitsets over all transactions are faster than projections of each item.
_DENSE = 0.1
# Pairs are counted, and rows delivered, for as many roots at a time as an array of this size holds.
_BYTES_AT_A_TIME = 1 << 21
# Each delivery reads all rows, so it delivers at least this share of their size. With less at a time, the
# time would grow with the square of the data.
_PART_AT_A_TIME = 1 / 3
_RANGES_PER_THREAD = 4
# With more items than this, the rows of each item are looked up in an index.
_MANY_ITEMS = 6144


@dataclass(frozen=True)
class Layout:
    """Transactions over ranks: bitsets over all rows for dense data, rows of ranks for sparse data."""

    rank_counts: npt.NDArray[np.int64]
    bits: Bitsets
    rows: RankRows
    index: RowIndex | None

    @property
    def is_dense(self) -> bool:
        """Whether these are bitsets."""
        return len(self.bits.rows) > 0

    @property
    def no_entries(self) -> npt.NDArray[Any]:
        """An empty array of the type of the entries in which rows are delivered."""
        # Rows without weights need no row numbers, so that ranks of 16 bits are enough.
        is_small = self.rows.weights.dtype == np.int32 and len(self.rank_counts) <= np.iinfo(np.int16).max
        return np.empty(0, dtype=np.int16 if is_small else np.int32)

    @classmethod
    def of(
        cls, tx: Transactions, rank_of: npt.NDArray[np.int32], rank_counts: npt.NDArray[np.int64]
    ) -> Layout:
        """Lay out transactions, given the rank of each item (-1: left out) and how often each rank occurs."""
        # The type tells whether rows have weights (int64) or not (int32). Kernels are compiled for each.
        row_order = np.empty(0, dtype=np.int64)
        weights: npt.NDArray[Any] = np.empty(0, dtype=np.int32)
        if tx.multiplicities is not None:
            row_order = np.argsort(-tx.multiplicities, kind="stable")
            weights = tx.multiplicities[row_order]
        data = (
            readonly_view(tx.indptr),
            readonly_view(tx.indices),
            readonly_view(row_order),
            readonly_view(rank_of),
        )
        bits, planes = np.empty((0, 0), dtype=np.uint64), np.empty((0, 0), dtype=np.uint64)
        plane_words, row_start = np.empty(0, np.int64), np.empty(0, np.int64)
        # Small ranks take half the memory, and half the time to read it. Most are small.
        ranks = np.empty(0, np.uint16 if len(rank_counts) <= np.iinfo(np.uint16).max else np.int32)
        if is_dense(rank_counts, tx.n_transactions):
            bits = layouts.pack_bitsets(*data, len(rank_counts))
            if len(weights):
                planes, plane_words = layouts.multiplicity_planes(readonly_view(weights), bits.shape[1])
        else:
            row_start, ranks, kept = layouts.rows_of_ranks(*data, ranks)
            if len(weights):
                weights = weights[kept]
        rows = RankRows(*map(readonly_view, (row_start, ranks, weights)))
        index = None
        if len(row_start) and len(rank_counts) > _MANY_ITEMS:
            found = layouts.index_rows(rows.start, rows.ranks, len(rank_counts))
            index = RowIndex(*map(readonly_view, found))
        bitset = Bitsets(*map(readonly_view, (bits, planes, plane_words)))
        return cls(readonly_view(rank_counts), bitset, rows, index)


def is_dense(rank_counts: npt.NDArray[np.int64], n_transactions: int) -> bool:
    """Whether bitsets over all transactions are the better layout."""
    return bool(rank_counts.sum() >= _DENSE * n_transactions * len(rank_counts))


def count_pairs(search: Search, data: Layout, min_count: int) -> Companions:
    """Count the pairs of sparse data, and keep those that occur at least `min_count` times."""
    n_roots = len(data.rank_counts)
    if data.index is not None:
        return _indexed_pairs(search, data, data.index, min_count)
    n_tables = math.ceil(n_roots * n_roots / 2 * data.rows.weights.itemsize / _BYTES_AT_A_TIME)
    # The table of a root is as long as its rank, and its time grows with its count times its rank.
    bounds = ranges(data.rank_counts * np.arange(1, n_roots + 1), search.n_threads, at_least=n_tables)
    parts = search.run(
        [partial(layouts.count_pairs, *bound, data.rows, min_count) for bound in bounds], n_roots
    )
    return _joined(parts)


def _indexed_pairs(search: Search, data: Layout, index: RowIndex, min_count: int) -> Companions:
    rows = data.rows
    work = layouts.pair_bounds(rows.start, rows.ranks, len(data.rank_counts))
    n_tables = math.ceil(work.sum() * rows.weights.itemsize / _BYTES_AT_A_TIME)
    bounds = ranges(work + 1, search.n_threads, at_least=n_tables)
    room = readonly_view(work)
    jobs = [partial(layouts.count_indexed_pairs, *bound, rows, min_count, index, room) for bound in bounds]
    return _joined(search.run(jobs, len(work)))


def _joined(parts: list[PairsFound]) -> Companions:
    sizes, ranks, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Companions(np.concatenate([[0], np.cumsum(sizes)]), ranks, counts)


def deliver(
    data: Layout,
    companions: Companions,
    bounds: npt.NDArray[np.int64],
    roots: tuple[int, int],
    min_companions: int,
) -> ProjectedRows:
    """Write the rows of each root of a range in terms of its companions; see `layouts.deliver`."""
    arguments = *roots, companions, bounds, data.rows, min_companions, data.no_entries
    if data.index is None:
        return layouts.deliver(*arguments)
    return layouts.deliver_indexed(*arguments, data.index)


def ranges(work: npt.NDArray[np.int64], n_threads: int, at_least: int = 1) -> list[tuple[int, int]]:
    """Cut roots into ranges of about equal work; the result of a search does not depend on them."""
    n_parts = max(at_least, 1 if n_threads == 1 else n_threads * _RANGES_PER_THREAD)
    done = np.cumsum(work, dtype=np.float64)
    cuts = np.searchsorted(done, done[-1] * np.arange(1, n_parts) / n_parts)
    bounds = np.unique(np.concatenate([[0], cuts, [len(work)]]))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def entry_ranges(data: Layout, bounds: npt.NDArray[np.int64], n_threads: int) -> list[tuple[int, int]]:
    """Cut roots into ranges whose rows are delivered at a time; `bounds` as in `layouts.entry_bounds`."""
    weights = data.rows.weights
    n_entries = bounds.sum() / (weights.mean() if len(weights) else 1)
    n_bytes = n_entries * data.no_entries.itemsize
    at_a_time = max(_BYTES_AT_A_TIME, _PART_AT_A_TIME * data.rows.ranks.nbytes)
    return ranges(bounds + 1, n_threads, at_least=math.ceil(n_bytes / at_a_time))
