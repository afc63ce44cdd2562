"""The search of `mine` in a model: options, the k most probable sets, limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from itemix._checks import as_written
from itemix.core.itemsets import Itemsets
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.kernels.mining.control import SearchLimits
from itemix.mining.columns import Columns
from itemix.mining.parallel import SearchStopped
from itemix.mining.search import UNBOUNDED, most_sets, trial_size
from itemix.ranking import ranks_by, without_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from itemix.mining.search import SearchOptions
    from itemix.models.base import Model

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
    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> Columns:
        """Return the probable sets of the items of `order`, which are sorted by probability."""

    def frequent(self, threshold: float) -> Columns:
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

    def top(self, threshold: float, k: int) -> Columns:
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

    def _of_target(self, threshold: float, max_itemsets: int) -> Columns:
        options = self._options
        if options.target == "all":
            return self._find(threshold, max_itemsets, options.min_len, options.max_len)
        # Under a model almost every set is closed, so all sets are found first and the target among them.
        found = self._find(threshold, max_itemsets, 1, UNBOUNDED)
        sets = Itemsets(found.offsets, found.codes, found.values, self._model.items, check=False)
        chosen = sets.closed() if options.target == "closed" else sets.maximal()
        columns = Columns(chosen.offsets, chosen.codes, chosen.support)
        fitting = (columns.lengths >= options.min_len) & (columns.lengths <= options.max_len)
        return columns.take(np.flatnonzero(fitting))

    def _find(self, threshold: float, max_itemsets: int, min_len: int, max_len: int) -> Columns:
        n_included = len(self._options.include)
        lowest = threshold * (1 - ROUNDING)
        limits = SearchLimits(
            min_count=0,
            min_len=max(1, min_len - n_included),
            max_len=max_len - n_included,
            max_itemsets=max_itemsets,
            max_bytes=self._options.max_bytes,
        )
        found = Columns.empty(np.float64) if limits.max_len < 1 else self._search_items(lowest, limits)
        if n_included == 0:
            return found
        if self._own >= lowest and min_len <= n_included <= max_len:
            found = found.join(Columns.of_nothing(self._own))
        return found.with_items(self._options.include, self._rank_of)

    def _search_items(self, lowest: float, limits: SearchLimits) -> Columns:
        probable = np.flatnonzero(self._item_joint >= lowest)
        order = probable[np.argsort(-without_noise(self._item_joint[probable]), kind="stable")]
        return (
            self._search(order.astype(np.int32), lowest, limits) if len(order) else Columns.empty(np.float64)
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
