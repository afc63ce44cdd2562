"""Correcting a mixture by the counts of short itemsets: which of them, how strongly, and whether at all."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from itemix.corrected import CorrectedMixture
from itemix.correction.choosing import MAX_SIZE, ORDERS, Choice, Way, choose
from itemix.correction.counting import count_sets, likely_sets
from itemix.correction.fitting import fit_correction, with_item_frequencies
from itemix.errors import InvalidInputError
from itemix.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix.mixture import Mixture

__all__ = ["Choice", "Way", "check_order", "choose", "correct"]


def correct(
    mixture: Mixture,
    transactions: Transactions | Iterable[Transactions],
    order: int | Choice,
    *,
    max_size: int = MAX_SIZE,
) -> CorrectedMixture:
    """Return a mixture corrected by the counts of short itemsets.

    Parameters
    ----------
    mixture : Mixture
        What to correct.
    transactions : Transactions or iterable of Transactions
        The data, or chunks of it with the same items; the itemsets to count are taken from the first chunk.
    order : int or Choice
        Count itemsets of up to this many items, all of them at full strength; or as `choose` has found best.
    max_size : int
        Count at most so many itemsets.

    Raises
    ------
    InvalidInputError
        If the order is not a whole number from 2 to 5, or there is no data.
    """
    way = order.best if isinstance(order, Choice) else Way(check_order(order))
    chunks = iter([transactions] if isinstance(transactions, Transactions) else transactions)
    first = next(chunks, None)
    if first is None or first.n_transactions == 0:
        raise InvalidInputError("expected transactions to count, got none; pass those of the fit")
    sets = likely_sets(with_item_frequencies(mixture, first), first, way.order, max_size)
    counted = reduce(add, (count_sets(sets, chunk) for chunk in chunks), count_sets(sets, first))
    found = fit_correction(mixture, counted, shrinkage=way.shrinkage)
    if not isinstance(order, Choice):
        return found
    correction = replace(found.correction, excess_variance=order.excess_variance)
    return CorrectedMixture(mixture, correction)


def check_order(order: object) -> int:
    """Return the order of a correction, or raise InvalidInputError."""
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order not in ORDERS:
        raise InvalidInputError(
            f"expected correction as None, 'auto' or the number of items of the longest itemsets to count, "
            f"{ORDERS[0]} to {ORDERS[-1]}, got {order!r}; try 'auto'"
        )
    return int(order)
