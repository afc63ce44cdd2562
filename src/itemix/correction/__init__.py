"""Correcting a mixture by the counts of short itemsets: which of them, how strongly, and whether at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.correction.choosing import MAX_SIZE, ORDERS, Choice, Way, choose
from itemix.correction.counting import AlignedChunks, likely_sets
from itemix.correction.fitting import fit_correction, with_item_frequencies
from itemix.errors import InvalidInputError
from itemix.models.corrected import CorrectedMixture, Correction
from itemix.models.residuals import Residuals

if TYPE_CHECKING:
    from itemix.models.mixture import Mixture

__all__ = ["Choice", "Way", "check_order", "choose", "correct"]


def correct(
    mixture: Mixture,
    transactions: Any,  # noqa: ANN401 - transactions in any form, or chunks of them
    order: int | Choice,
    *,
    max_size: int = MAX_SIZE,
) -> CorrectedMixture:
    """Return a mixture corrected by the counts of short itemsets.

    Parameters
    ----------
    mixture : Mixture
        What to correct.
    transactions : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list, or anything else that can be gone through more
        than once, of `Transactions`, data frames or matrices; a function is called for every pass and returns
        transactions or chunks of them.
        Their items are matched with those of the mixture by name. The result is that of all data at once.
    order : int or Choice
        Count itemsets of up to this many items, all of them at full strength; or as `choose` has found best,
        which may be that nothing is shifted.
    max_size : int
        Count at most so many itemsets.

    Raises
    ------
    InvalidInputError
        If the order is not a whole number from 2 to 5, there is no data, or it cannot be read more than once.
    UnknownItemError
        If a transaction has an item that the mixture has not.
    """
    way = order.best if isinstance(order, Choice) else Way(check_order(order))
    data = AlignedChunks(transactions, mixture.items)
    excess = order.excess_variance if isinstance(order, Choice) else 0.0
    if way.order == 0:
        nothing = Residuals.of_nothing(mixture.n_items)
        unshifted = Correction(np.zeros(mixture.n_items), nothing, data.n_transactions, excess)
        return CorrectedMixture(mixture, unshifted)
    adjusted = with_item_frequencies(mixture, data.item_counts(), data.n_transactions)
    counted = data.count(likely_sets(adjusted, data.at_once, way.order, max_size))
    found = fit_correction(mixture, counted, shrinkage=way.shrinkage)
    return CorrectedMixture(mixture, replace(found.correction, excess_variance=excess))


def check_order(order: object) -> int:
    """Return the order of a correction, or raise InvalidInputError."""
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order not in ORDERS:
        raise InvalidInputError(
            f"expected correction as None, 'auto' or the number of items of the longest itemsets to count, "
            f"{ORDERS[0]} to {ORDERS[-1]}, got {order!r}; try 'auto'"
        )
    return int(order)
