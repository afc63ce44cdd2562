"""Counts: how many transactions each component holds, and how often each item occurs in them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.immutable import Immutable, owned

# Sums of many shares are not exact.
_ROUNDING = 1e-4


class Counts(Immutable):
    """Expected or sampled counts of the components: an immutable value that adds up.

    Counts are what threads, machines and parts of a stream sum: ``Counts(part 1) + Counts(part 2)`` are the
    counts of both parts together, and `sum` adds many.

    Parameters
    ----------
    sizes : array of float, shape (n_components,)
        The number of transactions of each component (the paper's sum of tau, or N_k).
    item_counts : array of float, shape (n_components, n_items)
        How many of them hold each item.
    squares : Counts, optional
        The same sums, of the squares of the shares in which transactions belong to the components: the less
        sure it is where they belong, the smaller these are. None if each belongs to one component only, where
        shares and their squares are the same.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, a count is negative or not finite, or an item's is above the component's size.
    """

    __slots__ = ("_item_counts", "_sizes", "_squares")

    def __init__(
        self, sizes: npt.ArrayLike, item_counts: npt.ArrayLike, squares: Counts | None = None
    ) -> None:
        self._sizes = owned(sizes, np.float64)
        self._item_counts = owned(item_counts, np.float64)
        self._squares = squares
        if self._sizes.ndim != 1 or self._item_counts.ndim != 2 or len(self._sizes) != len(self._item_counts):
            raise InvalidInputError(
                f"expected sizes (K,) and item_counts (K, D), got shapes {self._sizes.shape} and "
                f"{self._item_counts.shape}; give a row of item counts for each component"
            )
        if not (np.isfinite(self._sizes).all() and np.isfinite(self._item_counts).all()):
            raise InvalidInputError("expected finite counts, got NaN or infinity; check what produced them")
        if self._sizes.min(initial=0) < 0 or self._item_counts.min(initial=0) < 0:
            raise InvalidInputError("expected counts of zero or more, got a negative one; counts cannot fall")
        most = self._item_counts.max(axis=1, initial=0)
        if (most > self._sizes + _ROUNDING * (1 + self._sizes)).any():
            k = int((most - self._sizes).argmax())
            raise InvalidInputError(
                f"expected item counts of at most the size of the component, got {most[k]:.6g} of "
                f"{self._sizes[k]:.6g}; count each item once a transaction"
            )
        if squares is not None and squares.item_counts.shape != self._item_counts.shape:
            raise InvalidInputError(
                f"expected squares of the same shape as the counts, {self._item_counts.shape}, got "
                f"{squares.item_counts.shape}; give those of the same components and items"
            )

    @property
    def sizes(self) -> npt.NDArray[np.float64]:
        """The number of transactions of each component, shape (K,)."""
        return self._sizes

    @property
    def item_counts(self) -> npt.NDArray[np.float64]:
        """How many transactions of each component hold each item, shape (K, D)."""
        return self._item_counts

    @property
    def squares(self) -> Counts | None:
        """The same sums of squared shares; None if every transaction belongs to one component only."""
        return self._squares

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self._sizes)

    @property
    def n_items(self) -> int:
        """The number of items."""
        return int(self._item_counts.shape[1])

    @property
    def n_transactions(self) -> float:
        """The number of transactions in all components together."""
        return float(self._sizes.sum())

    def __add__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self._item_counts.shape != other._item_counts.shape:
            raise InvalidInputError(
                f"expected counts of the same components and items, got shapes {self._item_counts.shape} and "
                f"{other._item_counts.shape}; add counts of one model only"
            )
        squares = None
        if self._squares is not None or other._squares is not None:
            squares = (self._squares or self) + (other._squares or other)
        return Counts(self._sizes + other._sizes, self._item_counts + other._item_counts, squares)

    def __radd__(self, other: object) -> Counts:
        """Let `sum` begin with zero."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def scaled(self, factor: float) -> Counts:
        """Return the counts of `factor` times as many transactions."""
        squares = None if self._squares is None else self._squares.scaled(factor)
        return Counts(self._sizes * factor, self._item_counts * factor, squares)

    def with_squares(self, squares: Counts | None) -> Counts:
        """Return the same counts with these sums of squared shares, or with None, without any."""
        return Counts(self._sizes, self._item_counts, squares)

    def take(self, components: npt.ArrayLike) -> Counts:
        """Return the counts of some components, in the given order."""
        chosen = np.asarray(components)
        squares = None if self._squares is None else self._squares.take(chosen)
        return Counts(self._sizes[chosen], self._item_counts[chosen], squares)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            np.array_equal(self._sizes, other._sizes)
            and np.array_equal(self._item_counts, other._item_counts)
            and self._squares == other._squares
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shape = f"{self.n_components:,} components, {self.n_items:,} items"
        return f"Counts({shape}, {self.n_transactions:,.6g} transactions)"
