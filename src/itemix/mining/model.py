"""The search in a model: the sets that are probable enough under it.

Any model can be searched level by level, by asking it for the probabilities of many sets at once. In a
mixture, kernels search depth first, with a vector of products at each level. A corrected mixture is
searched in its transactions and in its base.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from itemix._arrays import ranks_by, without_noise
from itemix._runtime import still_wanted
from itemix.core.itemsets import Itemsets
from itemix.core.sets import Sets
from itemix.errors import TooManyItemsetsError
from itemix.kernels.mining import prefix
from itemix.kernels.mining.prefix import RankedMixture
from itemix.kernels.mining.records import SearchLimits
from itemix.mining.exact import ExactSearch
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
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemix._typing import Array, Codes, Floats
    from itemix.kernels.mining.records import ThreadRecords
    from itemix.mining.search import SearchOptions
    from itemix.models.base import Model

# A probability that is below the threshold by no more than this part still counts: sums of products round.
ROUNDING = 1e-9
# Without a threshold, the k most probable sets are looked for down to this probability.
_LOWEST = 1e-12
_CLOSE_ENOUGH = 1 + 1e-6
# The model is asked for this many sets at a time.
_BLOCK = 1 << 18
# A search in the transactions of a corrected mixture alone may go down to this part of the threshold.
_NEARLY = 0.75
# If all pairs have at least this many terms, a matrix product rules out most of them, some rows at a time.
_MANY_PRODUCTS = 1 << 24
_PAIR_ROWS = 512
_SMALLEST_ROOT = 1e-18


def model_search(
    model: Model, options: SearchOptions, n_threads: int, on_progress: Callable[[int, int], None] | None
) -> ModelSearch:
    """Return the quickest search that the model allows."""
    kind: type[ModelSearch] = LevelSearch
    if isinstance(model, Mixture):
        kind = MixtureSearch
    elif isinstance(model, CorrectedMixture):
        kind = CorrectedSearch
    return kind(model, options, n_threads, on_progress)


class ModelSearch(ABC):
    """One search in a model."""

    def __init__(
        self,
        model: Model,
        options: SearchOptions,
        n_threads: int,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self._model = model
        self._options = options
        self._n_threads = n_threads
        self._on_progress = on_progress
        self._running = n_threads, on_progress
        self._rank_of = ranks_by(model.item_probabilities)
        self._own, self._item_joint = self._joint()
        # No transaction holds two values of one column of a table.
        rivals = model.items.of_same_columns(options.include)
        self._item_joint[np.concatenate([options.include, options.exclude, rivals])] = -1.0
        columns = model.items.column_of
        if columns is not None and len(np.unique(columns[options.include])) < len(options.include):
            self._own, self._item_joint[:] = 0.0, -1.0

    @abstractmethod
    def _joint(self) -> tuple[float, Floats]:
        """Return the probability of the included items, and that of each item with them."""

    @abstractmethod
    def _probable(self, threshold: float, max_itemsets: int, min_len: int, max_len: int) -> SetColumns:
        """Return all sets with at least this probability, with the included items."""

    def find(self, threshold: float, max_itemsets: int | None) -> SetColumns:
        """Return the sets of the target with at least this probability, of the lengths that were asked for.

        Raises
        ------
        TooManyItemsetsError
            If there are more than `max_itemsets`, or than memory holds.
        """
        options = self._options
        most = UNBOUNDED if max_itemsets is None else max_itemsets
        try:
            if options.target == "all":
                return self._probable(threshold, most, options.min_len, options.max_len)
            found = self._probable(threshold, most, 1, UNBOUNDED)
        except SearchStopped as stop:
            # Closed and maximal sets are chosen among those of every length.
            ways = ("max_len", "top_k") if options.target == "all" else ("top_k",)
            advice = options.fewer(f"{threshold:.4g}" if threshold < 1 else None, *ways)
            raise too_many(stop.n_found, max_itemsets, advice) from None
        # Almost every set is closed under a model. So all sets are found first, and then those of the target.
        sets = Itemsets(found.offsets, found.codes, found.values, self._model.items, check=False)
        of_target = {"closed": sets.closed, "maximal": sets.maximal, "generators": sets.generators}
        chosen = of_target[options.target]()
        columns = SetColumns(chosen.offsets, chosen.codes, chosen.support)
        fitting = (columns.lengths >= options.min_len) & (columns.lengths <= options.max_len)
        return columns.take(np.flatnonzero(fitting))

    def top(self, threshold: float, k: int) -> SetColumns:
        """Return the k most probable sets, among those of at least the threshold."""
        if self._options.target == "maximal":
            return self.find(threshold, self._options.max_itemsets).best(k)
        low, high = max(threshold, _LOWEST, self._surely_reached(k)), 1.0
        while high > _CLOSE_ENOUGH * low:
            middle = float(np.sqrt(low * high))
            try:
                found = self.find(middle, trial_size(k))
            except TooManyItemsetsError:
                low = middle
                continue
            if found.n_sets >= k:
                return found.best(k)
            high = middle
        return self.find(low, self._options.max_itemsets).best(k)

    def _surely_reached(self, k: int) -> float:
        """Return a probability that k sets surely reach, because that many single items do."""
        options, length = self._options, len(self._options.include) + 1
        if options.target != "all" or not options.min_len <= length <= options.max_len:
            return 0.0
        return float(np.partition(self._item_joint, -k)[-k]) if k <= len(self._item_joint) else 0.0


class RootSearch(ModelSearch):
    """One search from single items on."""

    @abstractmethod
    def _search(self, order: Codes, lowest: float, limits: SearchLimits) -> SetColumns:
        """Return the probable sets of the items of `order`, which are sorted by probability."""

    def _probable(self, threshold: float, max_itemsets: int, min_len: int, max_len: int) -> SetColumns:
        n_included = len(self._options.include)
        lowest = threshold * (1 - ROUNDING)
        limits = SearchLimits(
            min_count=0,
            min_len=max(1, min_len - n_included),
            max_len=max_len - n_included,
            max_itemsets=max_itemsets,
            max_bytes=self._options.max_bytes,
        )
        items = np.flatnonzero(self._item_joint >= lowest)
        order = items[np.argsort(-without_noise(self._item_joint[items]), kind="stable")].astype(np.int32)
        found = SetColumns.empty(np.float64)
        if limits.max_len >= 1 and len(order):
            found = self._search(order, lowest, limits)
        if n_included == 0:
            return found
        if self._own >= lowest and min_len <= n_included <= max_len:
            found = found.join(SetColumns.of_nothing(self._own))
        return found.with_items(self._options.include, self._rank_of)


class MixtureSearch(RootSearch):
    """One search in a mixture."""

    _model: Mixture

    def _joint(self) -> tuple[float, Floats]:
        self._start = self._model.weights * self._model.probs[:, self._options.include].prod(axis=1)
        return float(self._start.sum()), self._start @ self._model.probs

    def _search(self, order: Codes, lowest: float, limits: SearchLimits) -> SetColumns:
        search = Search(self._n_threads, self._on_progress)
        parts = search.run(self._jobs(search, order, lowest, limits), len(order))
        return Records.of(parts, len(order), limits.min_len).columns(search, order)

    def _jobs(
        self, search: Search, order: Codes, lowest: float, limits: SearchLimits
    ) -> list[Callable[[], ThreadRecords]]:
        """Return the jobs of the threads, which take roots from one queue and search below them."""
        table = np.ascontiguousarray(self._model.probs[:, order].T)
        may_pair = self._may_pair(order, table, lowest, limits)
        arrays = self._start, table, self._item_joint[order], may_pair
        ranked = RankedMixture(*map(readonly_view, arrays))
        queue = np.array([len(order)], dtype=np.int64)
        job = partial(prefix.search, search.shared, limits, queue, lowest, ranked)
        return [job] * self._n_threads

    def _may_pair(self, order: Codes, table: Floats, lowest: float, limits: SearchLimits) -> Array:
        """Return the pairs of items that may be probable enough, as `RankedMixture` has them."""
        F, K = table.shape
        is_small = F * F * K < _MANY_PRODUCTS or limits.max_len == 1
        found = every_pair(F) if is_small else probable_pairs(self._start, table, lowest)
        columns = self._model.items.column_of
        return found if columns is None else without_rivals(found, columns[order])


class CorrectedSearch(ModelSearch):
    """One search in a corrected mixture: in its transactions and in its base.

    A mean of two numbers reaches the threshold only if one of them does. So the sets that are frequent among
    the transactions and those that are probable under the base are put together, and the mean decides.
    """

    _model: CorrectedMixture

    def _joint(self) -> tuple[float, Floats]:
        include = self._options.include
        own = float(np.exp(self._model.log_probability_of_codes(include, include[:0])))
        if own == 0:
            return own, np.zeros(self._model.n_items)
        return own, own * self._model.items_given(include, include[:0])

    def _probable(self, threshold: float, max_itemsets: int, min_len: int, max_len: int) -> SetColumns:
        model, lowest = self._model, threshold * (1 - ROUNDING)
        options = replace(self._options, target="all", min_len=min_len, max_len=max_len, top_k=None)
        n, exact = model.transactions.n_transactions, ExactSearch(model.transactions, options, *self._running)
        base = model_search(model.base, options, *self._running)
        if max_itemsets < UNBOUNDED:
            # Sets that reach the threshold by the transactions or the base alone may be too many already.
            exact.find(_least_count(lowest * model.n_seen), max_itemsets)
            if lowest * model.n_seen < model.worth:
                base.find(lowest * model.n_seen / model.worth, max_itemsets)
        # No set is more probable under the base than its most probable item.
        most = float(model.base.item_probabilities.max(initial=0.0))
        least = lowest * model.n_seen - model.worth * most
        if least >= _NEARLY * lowest * n:
            found = self._corrected(exact.find(_least_count(least), None), lowest)
        else:
            found = self._corrected(
                exact.find(_least_count(lowest * n), None), lowest, base.find(lowest, None)
            )
        if found.n_sets > max_itemsets:
            raise SearchStopped(found.n_sets)
        return found.with_items(options.include[:0], self._rank_of)

    def _corrected(self, seen: SetColumns, lowest: float, expected: SetColumns | None = None) -> SetColumns:
        """Return the sets that reach the threshold: of those with their counts, and those of the base."""
        model = self._model
        under_base = model.base.probabilities_of_codes(seen.offsets, seen.codes)
        found = seen._replace(values=model.blend(seen.values, under_base))
        if expected is not None:
            own, others = (Sets(c.offsets, c.codes, model.items, check=False) for c in (seen, expected))
            expected = expected.take(np.flatnonzero(own.find(others) < 0))
            counts = model.count(expected.offsets, expected.codes)
            found = found.join(expected._replace(values=model.blend(counts, expected.values)))
        return found.take(np.flatnonzero(found.values >= lowest))


def _least_count(count: float) -> int:
    """Return the least whole number of transactions that is enough."""
    return max(math.ceil(count), 1)


def every_pair(n_items: int) -> Array:
    """Return bits for pairs of items, as `RankedMixture` has them, all of which are 1."""
    return np.full((n_items, (n_items + 7) // 8), 255, dtype=np.uint8)


def without_rivals(bits: Array, columns: Codes) -> Array:
    """Return the bits of pairs without those of two values of one column, given the column of each item."""
    kept = bits.copy()
    for first in range(0, len(columns), _PAIR_ROWS):
        differ = columns[first : first + _PAIR_ROWS, None] != columns
        kept[first : first + _PAIR_ROWS] &= np.packbits(differ, axis=1, bitorder="little")
    return kept


def probable_pairs(weights: Floats, table: Floats, lowest: float) -> Array:
    """Return a bit for each pair of items. It is 0 only if the pair is less probable than `lowest`.

    One matrix product in single precision finds almost all such pairs. Its terms are 0 or more, so that the
    sum of K of them is wrong by fewer than K + 8 roundings. A pair that is this close gets a 1.

    Parameters
    ----------
    weights : array of float, shape (K,)
        The weights of the components.
    table : array of float, shape (F, K)
        The item probabilities, by item.
    lowest : float
        The least probability that is enough.

    Returns
    -------
    array of uint8, shape (F, ceil(F / 8))
        Bit i of row j, lowest first, for items i < j. The other bits have no meaning.
    """
    F, K = table.shape
    roots = table.astype(np.float32)
    roots *= np.sqrt(weights).astype(np.float32)
    # Products of smaller numbers could be denormal, and such numbers are slow.
    roots[roots < _SMALLEST_ROOT] = 0.0
    rounding = (K + 8) * float(np.finfo(np.float32).eps)
    enough = np.float32(lowest * (1 - rounding) - K * _SMALLEST_ROOT)
    bits = np.zeros((F, (F + 7) // 8), dtype=np.uint8)
    for first in range(0, F, _PAIR_ROWS):
        still_wanted()
        last = min(first + _PAIR_ROWS, F)
        found = roots[first:last] @ roots[:last].T >= enough
        bits[first:last, : (last + 7) // 8] = np.packbits(found, axis=1, bitorder="little")
    return bits


class LevelSearch(RootSearch):
    """One search level by level, in any model: it only has to know the probabilities of sets.

    A set of ranks is a row in falling order: its first column is its root, the least probable item. Rows
    sorted by their columns are then sets in colexicographic order. Two rows that differ only in the last
    column join to a set with one more item, again in this order.
    """

    def _joint(self) -> tuple[float, Floats]:
        model, include = self._model, self._options.include
        own = 1.0
        if len(include):
            offsets = np.array([0, len(include)], dtype=np.int64)
            own = float(model.probabilities_of_codes(offsets, include)[0])
        alone = np.arange(model.n_items, dtype=np.int32)[:, None]
        return own, self._probabilities_of(alone, alone[:, 0])

    def _search(self, order: Codes, lowest: float, limits: SearchLimits) -> SetColumns:
        found: dict[int, list[tuple[Codes, Floats]]] = {}
        n_found = n_bytes = 0
        for roots in _root_blocks(len(order)):
            for sets, values in self._levels(roots, order, lowest, limits.max_len):
                length = sets.shape[1]
                if length < limits.min_len:
                    continue
                found.setdefault(length, []).append((sets, values))
                n_found += len(sets)
                n_bytes += sets.nbytes + values.nbytes
                if n_found > limits.max_itemsets or n_bytes > limits.max_bytes:
                    raise SearchStopped(n_found)
            if self._on_progress is not None:
                self._on_progress(int(roots[-1]) + 1, len(order))
        return _columns(found, order)

    def _levels(
        self, roots: Codes, order: Codes, lowest: float, max_len: int
    ) -> Iterator[tuple[Codes, Floats]]:
        """Yield the probable sets below some roots: those of one item, of two, and so on."""
        yield roots[:, None], self._item_joint[order[roots]]
        if max_len == 1:
            return
        below = np.concatenate([np.arange(root, dtype=np.int32) for root in roots])
        candidates = np.stack([np.repeat(roots, roots), below], axis=1)
        sets, values = self._kept(candidates, order, lowest)
        while len(sets):
            yield sets, values
            length = sets.shape[1] + 1
            if length > max_len:
                return
            parts = [self._kept(block, order, lowest) for block in joins(sets)]
            sets = np.concatenate([part[0] for part in parts] or [np.empty((0, length), np.int32)])
            values = np.concatenate([part[1] for part in parts] or [np.empty(0)])

    def _kept(self, candidates: Codes, order: Codes, lowest: float) -> tuple[Codes, Floats]:
        still_wanted()
        columns = self._model.items.column_of
        if columns is not None:  # the sets that were joined differ in the last two items
            candidates = candidates[columns[order[candidates[:, -1]]] != columns[order[candidates[:, -2]]]]
        values = self._probabilities_of(candidates, order)
        kept = values >= lowest
        return candidates[kept], values[kept]

    def _probabilities_of(self, sets: Codes, code_of: Codes) -> Floats:
        """Return the probabilities of sets of one length, with the included items."""
        include = self._options.include
        codes = np.concatenate([code_of[sets], np.tile(include, (len(sets), 1))], axis=1)
        offsets = codes.shape[1] * np.arange(len(codes) + 1, dtype=np.int64)
        return self._model.probabilities_of_codes(offsets, codes.astype(np.int32).ravel())


def _root_blocks(n_roots: int) -> Iterator[Codes]:
    """Yield the roots in ranges, each with few enough pairs."""
    first = 0
    while first < n_roots:
        last, n_pairs = first + 1, first
        while last < n_roots and n_pairs + last <= _BLOCK:
            n_pairs += last
            last += 1
        yield np.arange(first, last, dtype=np.int32)
        first = last


def joins(sets: Codes) -> Iterator[Codes]:
    """Yield the joins of any two sets, which have one more item, some at a time and in order."""
    starts_group = np.ones(len(sets), dtype=bool)
    starts_group[1:] = (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)
    index = np.arange(len(sets))
    group = np.maximum.accumulate(np.where(starts_group, index, 0))
    n_partners = index - group
    ends = np.cumsum(n_partners)
    first = 0
    while first < len(sets):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        counts = n_partners[first:last]
        larger = np.repeat(index[first:last], counts)
        position = np.arange(len(larger)) - np.repeat(np.cumsum(counts) - counts, counts)
        smaller = group[larger] + position
        if len(larger):
            yield np.concatenate([sets[larger], sets[smaller, -1:]], axis=1)
        first = last


def _columns(found: dict[int, list[tuple[Codes, Floats]]], order: Codes) -> SetColumns:
    """Return all sets as columns, short sets first, and in each set the most probable item first."""
    if not found:
        return SetColumns.empty(np.float64)
    lengths = [np.zeros(1, dtype=np.int64)]
    codes: list[Codes] = []
    values: list[Floats] = []
    for length in sorted(found):
        sets = np.concatenate([part[0] for part in found[length]])
        lengths.append(np.full(len(sets), length, dtype=np.int64))
        codes.append(order[sets[:, ::-1]].ravel())
        values.extend(part[1] for part in found[length])
    return SetColumns(np.cumsum(np.concatenate(lengths)), np.concatenate(codes), np.concatenate(values))
