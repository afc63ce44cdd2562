"""The exact search in transactions: lay out the data, run the kernels in threads, put the result together."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from itemix._arrays import ranks_by
from itemix.core.sets import Sets
from itemix.errors import TooManyItemsetsError
from itemix.kernels import lattice
from itemix.kernels.mining import closed, eclat, maximal, projection
from itemix.kernels.mining.projection import Companions, ProjectedRows
from itemix.kernels.mining.records import SearchLimits
from itemix.mining.layout import Layout, count_pairs, deliver, entry_ranges
from itemix.mining.options import UNBOUNDED
from itemix.mining.plain import mine_plainly
from itemix.mining.search import (
    Records,
    Search,
    SearchStopped,
    SetColumns,
    readonly_view,
    too_many,
    trial_size,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix._typing import Codes
    from itemix.core.transactions import Transactions
    from itemix.kernels.mining.closed import ThreadSets
    from itemix.mining.options import SearchOptions


Part = TypeVar("Part")


class ExactSearch:
    """One exact search: in the transactions with all included items, without these and the excluded ones."""

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
    kernel: Callable[..., Any] = {"all": eclat.search, "closed": closed.search, "maximal": maximal.search}[
        target
    ]
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
    bounds = readonly_view(projection.entry_bounds(companions, min_companions))

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
