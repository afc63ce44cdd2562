"""The search of `mine` in a model: options, the k most probable sets, limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix._arrays import ranks_by, without_noise
from itemix._checks import as_written
from itemix._runtime import still_wanted
from itemix.core.itemsets import Itemsets
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.kernels.mining import prefix
from itemix.kernels.mining.prefix import PathShifts, RankedMixture
from itemix.kernels.mining.records import SearchLimits
from itemix.kernels.models.corrected import ShiftTrie
from itemix.mining.search import (
    UNBOUNDED,
    Records,
    Search,
    SearchStopped,
    SetColumns,
    most_sets,
    readonly_view,
    trial_size,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemix._typing import Codes, Floats
    from itemix.kernels.mining.records import ThreadRecords
    from itemix.mining.search import SearchOptions
    from itemix.models.base import Model
    from itemix.models.corrected import CorrectedMixture, Residuals
    from itemix.models.mixture import Mixture


# A probability this much (of itself) under the threshold is taken for it: sums of products round.
ROUNDING = 1e-9
# The k most probable sets are looked for down to this probability where no threshold is given.
_LOWEST = 1e-12
_CLOSE_ENOUGH = 1 + 1e-6


class ModelSearch(ABC):
    """One search in a model: the items that may be in a set, and what the included ones leave of it."""

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
        self._rank_of = ranks_by(model.item_probabilities)
        self._own, self._item_joint = self._joint()
        self._item_joint[np.concatenate([options.include, options.exclude])] = -1.0

    @abstractmethod
    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        """Return the probability of the included items, and that of each item with them."""

    @abstractmethod
    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> SetColumns:
        """Return the probable sets of the items of `order`, which are sorted by probability."""

    def frequent(self, threshold: float) -> SetColumns:
        """Return the sets of at least a probability, those of the target and of the lengths asked for."""
        most = self._options.max_itemsets
        try:
            return self._of_target(threshold, UNBOUNDED if most is None else most)
        except SearchStopped as stop:
            # Closed and maximal sets are chosen among those of every length.
            ways = ("max_len", "top_k") if self._options.target == "all" else ("top_k",)
            raise TooManyItemsetsError(
                f"expected {most_sets(most)}, got {stop.n_found:,} and more; "
                + self._options.fewer(f"{threshold:.4g}" if threshold < 1 else None, *ways),
                stop.n_found,
            ) from None

    def top(self, threshold: float, k: int) -> SetColumns:
        """Return the k most probable sets, among those of at least a probability."""
        if self._options.target == "maximal":
            return self.frequent(threshold).best(k)
        low, high = max(threshold, _LOWEST), 1.0
        while high > _CLOSE_ENOUGH * low:
            middle = float(np.sqrt(low * high))
            try:
                found = self._of_target(middle, trial_size(k))
            except SearchStopped:
                low = middle
                continue
            if found.n_sets >= k:
                return found.best(k)
            high = middle
        return self.frequent(low).best(k)

    def _of_target(self, threshold: float, max_itemsets: int) -> SetColumns:
        options = self._options
        if options.target == "all":
            return self._find(threshold, max_itemsets, options.min_len, options.max_len)
        # Under a model almost every set is closed, so all sets are found first and the target among them.
        found = self._find(threshold, max_itemsets, 1, UNBOUNDED)
        sets = Itemsets(found.offsets, found.codes, found.values, self._model.items, check=False)
        chosen = sets.closed() if options.target == "closed" else sets.maximal()
        columns = SetColumns(chosen.offsets, chosen.codes, chosen.support)
        fitting = (columns.lengths >= options.min_len) & (columns.lengths <= options.max_len)
        return columns.take(np.flatnonzero(fitting))

    def _find(self, threshold: float, max_itemsets: int, min_len: int, max_len: int) -> SetColumns:
        n_included = len(self._options.include)
        lowest = threshold * (1 - ROUNDING)
        limits = SearchLimits(
            min_count=0,
            min_len=max(1, min_len - n_included),
            max_len=max_len - n_included,
            max_itemsets=max_itemsets,
            max_bytes=self._options.max_bytes,
        )
        found = SetColumns.empty(np.float64) if limits.max_len < 1 else self._search_items(lowest, limits)
        if n_included == 0:
            return found
        if self._own >= lowest and min_len <= n_included <= max_len:
            found = found.join(SetColumns.of_nothing(self._own))
        return found.with_items(self._options.include, self._rank_of)

    def _search_items(self, lowest: float, limits: SearchLimits) -> SetColumns:
        probable = np.flatnonzero(self._item_joint >= lowest)
        order = probable[np.argsort(-without_noise(self._item_joint[probable]), kind="stable")]
        return (
            self._search(order.astype(np.int32), lowest, limits)
            if len(order)
            else SetColumns.empty(np.float64)
        )


def min_probability(min_support: object) -> float:
    """Return the threshold for a model, which has no transactions to count.

    Raises
    ------
    InvalidInputError
        If it is not a fraction in (0, 1].
    """
    if isinstance(min_support, float | np.floating) and 0 < min_support <= 1:
        return as_written(min_support)
    raise InvalidInputError(
        f"expected min_support as a fraction in (0, 1], for a model has no transactions to count, got "
        f"{min_support!r}; try 0.01"
    )


# The search of `mine` in a mixture, corrected or not: a vector of products at each level, in threads.


class MixtureSearch(ModelSearch):
    """One search in a mixture."""

    _model: Mixture

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.weights * self._model.probs[:, self._options.include].prod(axis=1)
        return float(self._start.sum()), self._start @ self._model.probs

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> SetColumns:
        search = Search(self._n_threads, self._on_progress)
        parts = self._run(search, order, lowest, limits, self._model, None)
        return Records.of(parts, len(order), limits.min_len).columns(search, order)

    def _run(  # noqa: PLR0917 - a search, what it is over, and what for
        self,
        search: Search,
        order: npt.NDArray[np.int32],
        lowest: float,
        limits: SearchLimits,
        mixture: Mixture,
        residuals: Residuals | None,
    ) -> list[ThreadRecords]:
        arrays = self._start, mixture.probs.T[order], self._item_joint[order]
        ranked = RankedMixture(*map(readonly_view, arrays))
        shifts = _path_shifts(mixture.ranks[order], residuals)
        queue = np.array([len(order)], dtype=np.int64)
        job = partial(prefix.search, search.shared, limits, queue, lowest, ranked, shifts)
        return search.run([job] * self._n_threads, len(order))


class CorrectedSearch(MixtureSearch):
    """One search in a corrected mixture, of sets that need not hold certain items."""

    _model: CorrectedMixture  # type: ignore[assignment]

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.tilted.weights
        return 1.0, self._model.item_probabilities.copy()

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> SetColumns:
        model = self._model
        search = Search(self._n_threads, self._on_progress)
        # Sets are lowered to their subsets, so the short ones are needed too.
        every = limits._replace(min_len=1)
        parts = self._run(search, order, lowest, every, model.tilted, model.correction.residuals)
        if model.n_pivots > 0:
            parts = Records.of(parts, len(order), min_len=1).lowered(search, model.n_pivots, lowest)
        return Records.of(parts, len(order), limits.min_len).columns(search, order)


def _path_shifts(ranks: npt.NDArray[np.int32], residuals: Residuals | None) -> PathShifts:
    """Return the ranks of the items and the residuals below them as the kernel reads them."""
    if residuals is None:
        trie, n_pivots = ShiftTrie(np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1)), 0
    else:
        trie, n_pivots = residuals.shift_trie, residuals.order - 1
    return PathShifts(readonly_view(ranks), ShiftTrie(*map(readonly_view, trie)), n_pivots)


# The search of `mine` in any model: level by level, asking the model for many sets at once.
#
# A set of ranks is a row in falling order: its first column is its root, the least probable item. Rows
# sorted by their columns are then sets in colexicographic order, and two rows that differ in the last column
# only join to a set of one item more, again in this order.


# So many sets are asked for at a time.
_BLOCK = 1 << 18


class LevelSearch(ModelSearch):
    """One search in a model of which only the probabilities of sets are known."""

    def _joint(self) -> tuple[float, Floats]:
        model, include = self._model, self._options.include
        own = 1.0
        if len(include):
            offsets = np.array([0, len(include)], dtype=np.int64)
            own = float(model.probabilities_of_codes(offsets, include)[0])
        alone = np.arange(model.n_items, dtype=np.int32)[:, None]
        return own, self._probabilities_of(alone, alone[:, 0])

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> SetColumns:
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
        self, roots: Codes, order: npt.NDArray[np.int32], lowest: float, max_len: int
    ) -> Iterator[tuple[Codes, Floats]]:
        """Yield the probable sets below some roots, of one item, of two, and so on."""
        yield roots[:, None], self._item_joint[order[roots]]
        if max_len == 1:
            return
        below = np.concatenate([np.arange(root, dtype=np.int32) for root in roots])
        candidates = np.stack([np.repeat(roots, roots), below], axis=1)
        sets, values = self._probable(candidates, order, lowest)
        while len(sets):
            yield sets, values
            length = sets.shape[1] + 1
            if length > max_len:
                return
            parts = [self._probable(block, order, lowest) for block in joins(sets)]
            sets = np.concatenate([part[0] for part in parts] or [np.empty((0, length), np.int32)])
            values = np.concatenate([part[1] for part in parts] or [np.empty(0)])

    def _probable(
        self, candidates: Codes, order: npt.NDArray[np.int32], lowest: float
    ) -> tuple[Codes, Floats]:
        still_wanted()
        values = self._probabilities_of(candidates, order)
        kept = values >= lowest
        return candidates[kept], values[kept]

    def _probabilities_of(self, sets: Codes, code_of: npt.NDArray[np.int32]) -> Floats:
        """Return the probabilities of sets of one length, with the included items."""
        include = self._options.include
        codes = np.concatenate([code_of[sets], np.tile(include, (len(sets), 1))], axis=1)
        offsets = codes.shape[1] * np.arange(len(codes) + 1, dtype=np.int64)
        return self._model.probabilities_of_codes(offsets, codes.astype(np.int32).ravel())


def _root_blocks(n_roots: int) -> Iterator[Codes]:
    """Yield the roots in ranges that have few enough pairs each."""
    first = 0
    while first < n_roots:
        last, n_pairs = first + 1, first
        while last < n_roots and n_pairs + last <= _BLOCK:
            n_pairs += last
            last += 1
        yield np.arange(first, last, dtype=np.int32)
        first = last


def joins(sets: Codes) -> Iterator[Codes]:
    """Yield the sets of one item more that two sets join to, some at a time, in order."""
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


def _columns(found: dict[int, list[tuple[Codes, Floats]]], order: npt.NDArray[np.int32]) -> SetColumns:
    """Return all sets as columns, the shorter first, the items of a set from the most probable on."""
    if not found:
        return SetColumns.empty(np.float64)
    lengths = [np.zeros(1, dtype=np.int64)]
    codes: list[npt.NDArray[np.int32]] = []
    values: list[Floats] = []
    for length in sorted(found):
        sets = np.concatenate([part[0] for part in found[length]])
        lengths.append(np.full(len(sets), length, dtype=np.int64))
        codes.append(order[sets[:, ::-1]].ravel())
        values.extend(part[1] for part in found[length])
    return SetColumns(np.cumsum(np.concatenate(lengths)), np.concatenate(codes), np.concatenate(values))
