"""The search of `mine` in transactions: options, the k most frequent sets, limits."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from itemix.errors import TooManyItemsetsError
from itemix.kernels.mining.control import SearchLimits
from itemix.mining.columns import Columns
from itemix.mining.exact import mine_exact
from itemix.mining.parallel import SearchStopped
from itemix.mining.search import UNBOUNDED, most_sets, trial_size
from itemix.ranking import ranks_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.transactions import Transactions
    from itemix.mining.search import SearchOptions


class ExactSearch:
    """One exact search: the data without what is excluded, and with what is included taken for granted."""

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

    def frequent(self, threshold: int, max_len: int = UNBOUNDED) -> Columns:
        """Return the sets of at least a count."""
        most = self._options.max_itemsets if max_len == UNBOUNDED else None
        try:
            return self._find(threshold, UNBOUNDED if most is None else most, max_len)
        except SearchStopped as stop:
            than = f"{threshold:,} transactions" if threshold < self._tx.n_transactions else None
            raise TooManyItemsetsError(
                f"expected {most_sets(most)}, got {stop.n_found:,} and more; "
                + self._options.fewer(than, "max_len", "target", "top_k"),
                stop.n_found,
            ) from None

    def top(self, threshold: int, k: int) -> Columns:
        """Return the k sets of the highest counts, among those of at least a count."""
        if self._options.target == "maximal":
            return self.frequent(threshold).best(k)
        low, high = threshold, max(threshold, int(self._tx.item_counts().max(initial=0)))
        if len(self._options.include):
            high = max(threshold, self._tx.n_transactions)
        while low < high:
            middle = (low + high + 1) // 2
            if self._has_at_least(middle, k):
                low = middle
            else:
                high = middle - 1
        try:
            return self._find(low, trial_size(k)).best(k)
        except SearchStopped:
            return self._shortest(low, k).best(k)

    def _has_at_least(self, threshold: int, k: int) -> bool:
        try:
            return self._find(threshold, trial_size(k)).n_sets >= k
        except SearchStopped:
            return True

    def _shortest(self, threshold: int, k: int) -> Columns:
        """Return sets of at least a count with the k best among them, where many tie for the last places.

        Of those that tie the shortest come first, so lengths are tried until there are enough of them. Of the
        sets above the threshold, fewer than k, none is missing.
        """
        above = self._find(threshold + 1, trial_size(k))
        lengths = above.lengths
        for max_len in count(self._options.min_len):
            found = self.frequent(threshold, max_len)
            longer = np.flatnonzero(lengths > max_len)
            if found.n_sets + len(longer) >= k:
                break
        return found.join(above.take(longer))

    def _find(self, threshold: int, max_itemsets: int, max_len: int = UNBOUNDED) -> Columns:
        options = self._options
        n_included = len(options.include)
        max_len = min(options.max_len, max_len)
        with_own = options.min_len <= n_included <= max_len and self._included_is_one(threshold)
        limits = SearchLimits(
            min_count=threshold,
            min_len=max(1, options.min_len - n_included),
            max_len=max_len - n_included,
            max_itemsets=max_itemsets - with_own,
            max_bytes=options.max_bytes,
        )
        if limits.max_len < 1 or self._tx.n_transactions < threshold:
            found = Columns.empty()
        else:
            found = mine_exact(self._tx, options.target, limits, self._n_threads, self._on_progress)
            if len(self._code_of) < len(self._rank_of):
                found = found._replace(codes=self._code_of[found.codes])
        if n_included == 0:
            return found
        if with_own:
            found = found.join(Columns.of_nothing(self._tx.n_transactions))
        return found.with_items(options.include, self._rank_of)

    def _included_is_one(self, threshold: int) -> bool:
        n = self._tx.n_transactions
        most = int(self._tx.item_counts().max(initial=0))
        others = {"all": n + 1, "closed": n, "maximal": threshold}[self._options.target]
        return n >= threshold and most < others
