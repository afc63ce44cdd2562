"""Which short itemsets to count, and their counts: those that data or model hold for frequent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.correction.fitting import SetCounts
from itemix.errors import TooManyItemsetsError
from itemix.mining.search import mine
from itemix.mining.supports import count
from itemix.sets import Sets

if TYPE_CHECKING:
    from itemix.mixture import Mixture
    from itemix.transactions import Transactions

# Counts below this say little: the standard error of their logarithm is a third.
FEWEST = 10
_STEPS = 6


def likely_sets(mixture: Mixture, transactions: Transactions, max_len: int, max_size: int) -> Sets:
    """Return the itemsets of up to `max_len` items that the data or the mixture holds for frequent.

    Frequent is what occurs ten times, or more often if that would be more than `max_size` sets. With a set
    all its subsets are there, and all items alone.
    """
    everything = np.arange(mixture.n_items, dtype=np.int32)
    singles = Sets.from_lengths(np.ones(mixture.n_items, dtype=np.int64), everything, mixture.items)
    n = transactions.n_transactions
    low, high = min(FEWEST, n), n
    best = singles
    # The threshold is halved in its logarithm: the number of sets grows with powers of it.
    for step in range(_STEPS):
        threshold = low if step == 0 else round((low * high) ** 0.5)
        try:
            found = _frequent(mixture, transactions, threshold, max_len, max_size)
        except TooManyItemsetsError:
            low = threshold
            continue
        best = Sets.concatenate([singles, found]).unique()
        if step == 0:
            break
        high = threshold
    return best


def _frequent(
    mixture: Mixture, transactions: Transactions, threshold: int, max_len: int, max_size: int
) -> Sets:
    counted = mine(transactions, threshold, max_len=max_len, max_itemsets=max_size)
    probability = threshold / transactions.n_transactions
    expected = mine(mixture, probability, max_len=max_len, max_itemsets=max_size)
    return Sets.concatenate([counted.sets, expected.sets]).unique()


def count_sets(sets: Sets, transactions: Transactions) -> SetCounts:
    """Count some itemsets in data, or in a chunk of it."""
    return SetCounts(sets, count(sets, transactions), transactions.n_transactions)
