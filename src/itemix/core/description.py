"""A summary of transactions for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itemix.core.items import Label


@dataclass(frozen=True)
class Description:
    """What `Transactions.describe` says of the data; it prints as a table.

    Attributes
    ----------
    n_transactions : int
        The number of transactions.
    n_rows : int
        The number of stored rows.
    n_items : int
        The number of items.
    n_items_used : int
        The number of items that occur.
    n_ones : int
        The number of (transaction, item) pairs.
    density : float
        The fraction of ones in the transactions x items matrix.
    length_min : int
        The fewest items of a transaction.
    length_mean : float
        The items of a transaction on average.
    length_max : int
        The most items of a transaction.
    top_items : dict of Label to float
        The most frequent items and their supports.
    source : str or None
        Where the data came from.
    """

    n_transactions: int
    n_rows: int
    n_items: int
    n_items_used: int
    n_ones: int
    density: float
    length_min: int
    length_mean: float
    length_max: int
    top_items: dict[Label, float]
    source: str | None = None

    def __str__(self) -> str:
        rows = f" ({self.n_rows:,} rows stored)" if self.n_rows != self.n_transactions else ""
        used = f" ({self.n_items_used:,} occur)" if self.n_items_used != self.n_items else ""
        top = ", ".join(f"{name} {100 * support:.1f}%" for name, support in self.top_items.items())
        lines = [
            f"transactions   {self.n_transactions:,}{rows}",
            f"items          {self.n_items:,}{used}",
            f"ones           {self.n_ones:,} (density {100 * self.density:.3g}%)",
            f"basket length  {self.length_min} to {self.length_max}, mean {self.length_mean:.2f}",
            f"most frequent  {top or 'none'}",
        ]
        return "\n".join([f"source         {self.source}", *lines] if self.source else lines)
