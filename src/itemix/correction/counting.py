"""Which short itemsets to count, and their counts: those that data or model hold for frequent."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.core.sets import Sets
from itemix.correction.fitting import SetCounts
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining.mine import mine
from itemix.mining.streams import Stream
from itemix.mining.supports import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itemix.core.items import Items
    from itemix.core.transactions import Transactions
    from itemix.models.mixture import Mixture

# Counts below this say little: the standard error of their logarithm is a third.
FEWEST = 10
_STEPS = 6
# How many products of components and pairs of items are looked at; about a second's worth.
_MOST_PRODUCTS = 2e9


class AlignedChunks:
    """Data in chunks that are read again and again, with the items of a model.

    Parameters
    ----------
    data : transactions in any form, chunks of them, or a function
        See `itemix.mining.streams.Stream`.
    items : Items
        Those of the model; chunks are matched with them by name, and need not hold all of them.
    """

    def __init__(self, data: Any, items: Items) -> None:  # noqa: ANN401 - whatever users have
        self._stream = Stream(data)
        self._items = items

    def read(self) -> Iterator[Transactions]:
        """Read the data once, and leave out chunks that hold nothing."""
        for chunk in self._stream.chunks():
            if chunk.n_transactions > 0:
                yield chunk.align_items(self._items)

    @cached_property
    def _totals(self) -> tuple[int, npt.NDArray[np.int64], Transactions | None]:
        n_transactions, item_counts = 0, np.zeros(len(self._items), dtype=np.int64)
        only: Transactions | None = None
        for chunk in self.read():
            only = chunk if n_transactions == 0 else None
            n_transactions += chunk.n_transactions
            item_counts += chunk.item_counts()
        if n_transactions == 0:
            raise InvalidInputError("expected transactions to count, got none; pass those of the fit")
        return n_transactions, item_counts, only

    @property
    def at_once(self) -> Transactions | AlignedChunks:
        """The data as transactions, if that is one chunk."""
        only = self._totals[2]
        return self if only is None else only

    @property
    def n_transactions(self) -> int:
        """The number of transactions."""
        return self._totals[0]

    def item_counts(self) -> npt.NDArray[np.int64]:
        """Return how many transactions hold each item, shape (n_items,)."""
        return self._totals[1]

    def count(self, sets: Sets) -> SetCounts:
        """Count some itemsets in all of the data."""
        return reduce(add, (count_sets(sets, chunk) for chunk in self.read()))


def likely_sets(
    mixture: Mixture, transactions: Transactions | AlignedChunks, max_len: int, max_size: int
) -> Sets:
    """Return the itemsets of up to `max_len` items that the data or the mixture holds for frequent.

    Frequent is what occurs ten times, or more often if that would be more than `max_size` sets; to the
    mixture also more often if it has so many items and components that all pairs would take long. With a set
    all its subsets are there, and all items alone.
    """
    everything = np.arange(mixture.n_items, dtype=np.int32)
    families = [Sets.from_lengths(np.ones(mixture.n_items, dtype=np.int64), everything, mixture.items)]
    threshold, counted = _frequent(mixture, transactions, max_len, max_size)
    if counted is not None:
        families.append(counted)
    probability = max(threshold / transactions.n_transactions, _least_probability(mixture))
    # A mixture that expects far more than there is in the data says little of use.
    with suppress(TooManyItemsetsError):
        families.append(mine(mixture, probability, max_len=max_len, max_itemsets=max_size).sets)
    return Sets.concatenate(families).unique()


def _least_probability(mixture: Mixture) -> float:
    """Return a threshold at which no more pairs of items are looked at than can be."""
    n_items = int((2 * _MOST_PRODUCTS / mixture.n_components) ** 0.5)
    if n_items >= mixture.n_items:
        return 0.0
    return float(np.sort(mixture.item_probabilities)[-n_items - 1])


def _frequent(
    mixture: Mixture, transactions: Transactions | AlignedChunks, max_len: int, max_size: int
) -> tuple[int, Sets | None]:
    """Return the lowest count from ten on with at most `max_size` frequent sets, and these.

    The threshold is halved in its logarithm: the number of sets grows with powers of it. In chunks, the sets
    are found by way of the mixture, in a few passes over the data.
    """
    find = partial(mine, transactions)
    if isinstance(transactions, AlignedChunks):
        find = partial(mine, mixture, verify=transactions.read)
    low, high = min(FEWEST, transactions.n_transactions), transactions.n_transactions
    best = None
    threshold = low
    for _ in range(_STEPS):
        try:
            best = find(min_support=threshold, max_len=max_len, max_itemsets=max_size).sets
            high = threshold
        except TooManyItemsetsError:
            low = threshold
        if low == high:
            break
        threshold = round((low * high) ** 0.5)
    return high, best


def families(
    mixture: Mixture, transactions: Transactions, orders: Sequence[int], max_size: int
) -> dict[int, Sets]:
    """Return the likely sets of up to each number of items, see `likely_sets`."""
    found: dict[int, Sets] = {}
    longer: Sets | None = None
    for order in sorted(orders, reverse=True):
        if longer is not None and len(longer) < max_size:
            # There was room for all sets from the lowest count on: the shorter ones are among them.
            found[order] = longer.take(np.flatnonzero(longer.lengths <= order))
        else:
            longer = found[order] = likely_sets(mixture, transactions, order, max_size)
    return found


def count_sets(sets: Sets, transactions: Transactions) -> SetCounts:
    """Count some itemsets in data, or in a chunk of it."""
    return SetCounts(sets, count(sets, transactions), transactions.n_transactions)
