"""Totals: what priors are made of, and what a stream adds up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from itemix.models.expectation import Rows


@dataclass(frozen=True, eq=False)
class Totals:
    """How often each item occurs, in how many transactions.

    Attributes
    ----------
    item_totals : array of int, shape (n_items,)
        How many transactions hold each item.
    n_transactions : int
        The number of transactions.
    """

    item_totals: npt.NDArray[np.int64]
    n_transactions: int

    @classmethod
    def of(cls, rows: Rows) -> Totals:
        """Return those of rows that are ready for E-steps."""
        return cls(rows.item_totals, rows.n_transactions)

    def __add__(self, other: Totals) -> Totals:
        return Totals(self.item_totals + other.item_totals, self.n_transactions + other.n_transactions)
