"""`mine`: frequent itemsets of transactions."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.itemsets import Itemsets
from itemix.kernels import sorting
from itemix.mining.exact import Columns, Limits, SearchStopped, mine_exact
from itemix.mining.options import UNBOUNDED, SearchOptions, min_count
from itemix.mining.progress import search_progress
from itemix.threads import count_threads
from itemix.transactions import as_transactions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from itemix.items import Label
    from itemix.transactions import Transactions

# A search for the k most frequent sets gives up on a threshold after this many times k sets.
_TRIAL_FACTOR = 4
_TRIAL_AT_LEAST = 10_000


def mine(
    source: Any,  # noqa: ANN401 - transactions in any form
    min_support: float | None = None,
    *,
    target: str = "all",
    min_len: int = 1,
    max_len: int | None = None,
    include: Iterable[Label] | Label | None = None,
    exclude: Iterable[Label] | Label | None = None,
    top_k: int | None = None,
    max_itemsets: int | None = None,
    n_jobs: int | None = -1,
    progress: bool | Callable[[int, int], None] = False,
) -> Itemsets:
    """Find the frequent itemsets of transactions, exactly.

    Parameters
    ----------
    source : Transactions, data frame, matrix or list of lists
        The transactions; anything else than `Transactions` is converted first.
    min_support : float or int, optional
        A float in (0, 1] is a fraction of the transactions, an int a number of them. Frequent means support
        >= `min_support`. May be left out with `top_k`.
    target : {"all", "closed", "maximal"}, default "all"
        All frequent itemsets; those without a superset of the same support; those without a frequent
        superset.
    min_len, max_len : int, optional
        Bounds of the number of items. They choose among the sets of the target: a closed set longer than
        `max_len` is left out, not replaced by a shorter one.
    include : names, optional
        Items that every returned set must hold. Also chooses among the sets of the target.
    exclude : names, optional
        Items that are left out of the data before mining; closed and maximal are meant without them.
    top_k : int, optional
        Return only the k sets with the highest support (among those of at least `min_support`, if given).
        Where sets tie for the last places, the first in the order of the result are taken.
    max_itemsets : int, optional
        The most sets to return (of maximal ones with `top_k`, the most to look through). By default, as many
        as half of the free memory holds.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors. The result does not depend on it.
    progress : bool or function, default False
        True shows a bar on standard error if it is a terminal; a function is told (done, total) now and then.

    Returns
    -------
    Itemsets
        Sorted by length, and within a length in colexicographic order of the items ranked by support.

    Raises
    ------
    InvalidInputError
        If an option has no meaning.
    UnknownItemError
        If an item to include or exclude is not in the data.
    TooManyItemsetsError
        If there are more than `max_itemsets` sets, or more than memory holds; raised before it is gone.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread"], ["milk", "butter"], ["milk", "bread", "butter"], ["bread"]]
    >>> itemix.mine(baskets, 0.5).to_pandas()[["support", "itemsets"]]
       support               itemsets
    0     0.75     frozenset({bread})
    1     0.75      frozenset({milk})
    2     0.50    frozenset({butter})
    3     0.50  frozenset({milk, bread})
    4     0.50  frozenset({milk, butter})
    """
    tx = as_transactions(source)
    if min_support is None and top_k is None:
        raise InvalidInputError("expected min_support or top_k, got neither; try min_support=0.01")
    threshold = 1 if min_support is None else min_count(min_support, tx.n_transactions)
    options = SearchOptions.checked(
        tx.items,
        target=target,
        min_len=min_len,
        max_len=max_len,
        include=include,
        exclude=exclude,
        top_k=top_k,
        max_itemsets=max_itemsets,
    )
    n_threads = count_threads(n_jobs)
    with search_progress(progress) as on_progress:
        search = _Exact(tx, options, n_threads, on_progress)
        columns = (
            search.frequent(threshold) if options.top_k is None else search.top(threshold, options.top_k)
        )
    n = max(tx.n_transactions, 1)
    is_whole = min_len == 1 and all(option is None for option in (max_len, include, exclude, top_k))
    return Itemsets(
        columns.offsets,
        columns.codes,
        columns.counts / n,
        tx.items,
        count=columns.counts,
        n_transactions=tx.n_transactions,
        min_support=threshold / n,
        target=target if is_whole else None,
        check=False,
    )


class _Exact:
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
        counts = tx.item_counts()
        self._rank_of = np.empty(tx.n_items, dtype=np.int32)
        self._rank_of[np.argsort(-counts, kind="stable")] = np.arange(tx.n_items, dtype=np.int32)
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
            limit = (
                "itemsets that fit into half of the free memory"
                if most is None
                else f"at most max_itemsets={most:,} itemsets"
            )
            raise TooManyItemsetsError(
                f"expected {limit}, got {stop.n_found:,} and more; try a higher min_support than "
                f"{threshold:,} transactions, max_len=, target='closed' or 'maximal', or top_k=",
                stop.n_found,
            ) from None

    def top(self, threshold: int, k: int) -> Columns:
        """Return the k sets of the highest counts, among those of at least a count."""
        if self._options.target == "maximal":
            return _best(self.frequent(threshold), k)
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
            return _best(self._find(low, _trial(k)), k)
        except SearchStopped:
            return _best(self._shortest(low, k), k)

    def _has_at_least(self, threshold: int, k: int) -> bool:
        try:
            return len(self._find(threshold, _trial(k)).counts) >= k
        except SearchStopped:
            return True

    def _shortest(self, threshold: int, k: int) -> Columns:
        """Return sets of at least a count with the k best among them, where many tie for the last places.

        Of those that tie the shortest come first, so lengths are tried until there are enough of them. Of the
        sets above the threshold, fewer than k, none is missing.
        """
        above = self._find(threshold + 1, _trial(k))
        lengths = np.diff(above.offsets)
        for max_len in count(self._options.min_len):
            found = self.frequent(threshold, max_len)
            longer = np.flatnonzero(lengths > max_len)
            if len(found.counts) + len(longer) >= k:
                break
        return _joined(found, _taken(above, longer))

    def _find(self, threshold: int, max_itemsets: int, max_len: int = UNBOUNDED) -> Columns:
        options = self._options
        n_included = len(options.include)
        max_len = min(options.max_len, max_len)
        with_own = options.min_len <= n_included <= max_len and self._included_is_one(threshold)
        limits = Limits(
            min_count=threshold,
            min_len=max(1, options.min_len - n_included),
            max_len=max_len - n_included,
            max_itemsets=max_itemsets - with_own,
            max_bytes=options.max_bytes,
        )
        if limits.max_len < 1 or self._tx.n_transactions < threshold:
            found = Columns(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
        else:
            found = mine_exact(self._tx, options.target, limits, self._n_threads, self._on_progress)
            if len(self._code_of) < len(self._rank_of):
                found = found._replace(codes=self._code_of[found.codes])
        return found if n_included == 0 else self._with_included(found, with_own=with_own)

    def _with_included(self, found: Columns, *, with_own: bool) -> Columns:
        """Add the included items to every set, and their own set where it is one of the target."""
        include = self._options.include
        n, m = len(found.counts), len(include)
        lengths = np.diff(found.offsets)
        owner = np.concatenate([np.repeat(np.arange(n), lengths), np.repeat(np.arange(n), m)])
        codes = np.concatenate([found.codes, np.tile(include, n)])
        counts = found.counts
        if with_own:
            owner = np.concatenate([owner, np.full(m, n)])
            codes = np.concatenate([codes, include])
            counts = np.concatenate([counts, [self._tx.n_transactions]])
        ranks = self._rank_of[codes]
        by_set = np.lexsort((ranks, owner))
        ends = np.cumsum(np.bincount(owner, minlength=len(counts)))
        code_of = np.empty(len(self._rank_of), dtype=np.int32)
        code_of[self._rank_of] = np.arange(len(code_of), dtype=np.int32)
        order = sorting.colex_order(ends, ranks[by_set], len(code_of))
        return Columns(*sorting.gather_sets(ends, ranks[by_set], order, code_of), counts[order])

    def _included_is_one(self, threshold: int) -> bool:
        n = self._tx.n_transactions
        most = int(self._tx.item_counts().max(initial=0))
        others = {"all": n + 1, "closed": n, "maximal": threshold}[self._options.target]
        return n >= threshold and most < others


def _trial(k: int) -> int:
    """How many sets a search for k of them may find before it gives up on a threshold."""
    return max(_TRIAL_FACTOR * k, _TRIAL_AT_LEAST)


def _best(columns: Columns, k: int) -> Columns:
    """Return the k sets of the highest counts, in the order they have; the first of those that tie."""
    return _taken(columns, np.sort(np.argsort(-columns.counts, kind="stable")[:k]))


def _taken(columns: Columns, chosen: npt.NDArray[np.int64]) -> Columns:
    lengths = np.diff(columns.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    at: npt.NDArray[np.int64] = np.repeat(columns.offsets[chosen] - offsets[:-1], lengths) + np.arange(
        offsets[-1]
    )
    return Columns(offsets, columns.codes[at], columns.counts[chosen])


def _joined(first: Columns, second: Columns) -> Columns:
    return Columns(
        np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]),
        np.concatenate([first.codes, second.codes]),
        np.concatenate([first.counts, second.counts]),
    )
