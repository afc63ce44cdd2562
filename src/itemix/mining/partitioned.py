"""The exact search in transactions in parts: each part proposes sets, and all parts count these.

A part proposes the sets that are frequent in it. A set that is frequent in all parts together is frequent in
at least one of them. So the sets that are frequent in some part are candidates, and all frequent sets are
among them (Savasere, Omiecinski and Navathe 1995). The first pass mines every part. The second counts, in
each part, the candidates that were not frequent there; it is left out if there are none. A candidate that
cannot reach the threshold, even if it just missed it in all other parts, is not counted at all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._arrays import ranks_by
from itemix._runtime import Workers
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.core.transactions import Transactions, row_blocks, weights_of
from itemix.errors import TooManyItemsetsError
from itemix.kernels import lattice
from itemix.kernels.mining.counts import count_sets
from itemix.kernels.mining.records import SearchLimits
from itemix.mining.exact import ExactSearch, mine_exact
from itemix.mining.search import UNBOUNDED, SearchStopped, SetColumns, too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix._typing import Codes, Ints
    from itemix.io.partitions import Partitions
    from itemix.mining.search import SearchOptions

# Memory of a candidate: in the results of the parts, in the union, and in order.
_BYTES_PER_CANDIDATE = 200
# Parts that are worked on in this process are put together up to this size: small ones propose more.
_TOGETHER_BYTES = 1 << 24
# Parts that propose too much, as those of sorted data do, are put together up to this many times the size.
_LARGER = 8
# After this many rows we look for Ctrl-C.
_ROWS_AT_ONCE = 1 << 16
# This share of the threshold may be spent on parts that are too small to be mined.
_SPENT_ON_SMALL = 0.1
# The k most frequent sets of a sample of this size say where to look for those of all transactions.
_TRIED = 20_000
_LOWERED = 0.9


def mined_parts(data: Partitions) -> Partitions | Transactions:
    """Return transactions in the parts in which they are mined, or the only part if it is here."""
    large = data.put_together(_TOGETHER_BYTES)
    return next(iter(large)) if large.parts.is_here and len(large.sizes) == 1 else large


def wanted_sets(
    found: SetColumns, options: SearchOptions, item_counts: Ints, n: int, *, n_holding: int, least: int
) -> SetColumns:
    """Return the sets that were asked for, in the order of mining.

    Parameters
    ----------
    found : SetColumns
        All sets that are frequent in the transactions with all included items, without these items.
    options : SearchOptions
        Which sets are wanted; `top_k` does not count here.
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
        self._part_bytes = max(_TOGETHER_BYTES, 1)
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
        while True:
            shares = _shares(self._data.sizes, least - 1)
            try:
                union, totals = self._propose(shares)
                break
            except SearchStopped as stop:
                if not self._has_larger_parts():
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

    def _has_larger_parts(self) -> bool:
        """Put parts together that propose too much, if they are here and memory has room for them."""
        while self._part_bytes < self._options.max_bytes // _LARGER:
            self._part_bytes *= _LARGER
            larger = self._data.put_together(self._part_bytes)
            if len(larger.sizes) < len(self._data.sizes):
                self._data = larger
                return True
        return False

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
        ordered = chosen.with_items(np.empty(0, np.int32), ranks_by(totals.held_counts))
        missing = union.missing(ordered.values)
        if any(map(len, missing)):
            count = partial(_counted, work=self._work, candidates=ordered)
            for number, counts in enumerate(self._data.map(count, missing)):
                union.counts[ordered.values[missing[number]]] += counts
                self._tell(len(shares) + number + 1, len(shares))
        counts = union.counts[ordered.values]
        return ordered._replace(values=counts).take(np.flatnonzero(counts >= least))

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


def _counted(part: Transactions, wanted: Ints, work: _Work, candidates: SetColumns) -> Ints:
    """Return how often some of the candidates, which are in the order of mining, occur in a part."""
    if len(wanted) == 0:
        return np.empty(0, dtype=np.int64)
    # From the last to the first, each begins with its rarest item, and goes on as the one before it.
    sets = candidates.take(wanted)
    offsets, codes = len(sets.codes) - sets.offsets[::-1], np.ascontiguousarray(sets.codes[::-1])
    held = work.held(part)
    blocks = row_blocks(held, min(math.ceil(held.n_rows / work.n_threads), _ROWS_AT_ONCE))
    total = np.zeros(sets.n_sets, dtype=np.int64)
    with Workers(work.n_threads) as workers:
        while own := list(islice(blocks, work.n_threads)):

            def count(number: int, own: Sequence[Transactions] = own) -> Ints:
                rows = own[number].indptr, own[number].indices, weights_of(own[number])
                return count_sets(*rows, offsets, codes, part.n_items)

            for counts in workers.map(count, len(own)):
                total += counts
    return total[::-1]


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
