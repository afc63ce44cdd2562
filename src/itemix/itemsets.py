"""Itemsets: the columnar result of mining data or a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.items import Items, Label
from itemix.kernels import lattice

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl
    import pyarrow as pa

_ROWS_SHOWN = 10


class Itemset(NamedTuple):
    """One itemset with its support, as iteration yields it."""

    items: tuple[Label, ...]
    support: float
    count: int | None


class Itemsets:
    """Itemsets with their supports: an immutable, columnar value.

    Set s holds the codes ``codes[offsets[s]:offsets[s + 1]]``; names are built only when asked for. Mining
    returns sets sorted by length and, within a length, in colexicographic order of the items ranked by support
    (most frequent first): a set comes before another if the rarest item in which they differ is the more
    frequent one. Within a set the items come most frequent first. The order does not depend on the threads.

    Parameters
    ----------
    offsets : array of int, shape (n + 1,)
        Where each set starts in `codes`.
    codes : array of int, shape (total length,)
        Item codes.
    support : array of float, shape (n,)
        The fraction of transactions that hold the set, or its probability under a model.
    items : Items
        The name of each code.
    count : array of int, shape (n,), optional
        The number of transactions that hold the set; None if it comes from a model.
    n_transactions : int, optional
        The number of transactions behind the supports; None if they come from a model.
    lower, upper : array of float, shape (n,), optional
        Ends of an interval for each support.
    """

    __slots__ = ("_codes", "_count", "_index", "_items", "_lower", "_n_transactions", "_offsets", "_support", "_upper")

    def __init__(
        self,
        offsets: npt.ArrayLike,
        codes: npt.ArrayLike,
        support: npt.ArrayLike,
        items: Items | Iterable[Label],
        *,
        count: npt.ArrayLike | None = None,
        n_transactions: int | None = None,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
    ) -> None:
        self._offsets = _readonly(offsets, np.int64)
        self._codes = _readonly(codes, np.int32)
        self._support = _readonly(support, np.float64)
        self._items = items if isinstance(items, Items) else Items(items)
        self._count = None if count is None else _readonly(count, np.int64)
        self._lower = None if lower is None else _readonly(lower, np.float64)
        self._upper = None if upper is None else _readonly(upper, np.float64)
        self._n_transactions = n_transactions
        self._index: npt.NDArray[np.int64] | None = None
        self._check()

    def _check(self) -> None:
        n = len(self._offsets) - 1
        if n < 0 or self._offsets[0] != 0 or self._offsets[-1] != len(self._codes):
            raise InvalidInputError(
                f"expected offsets from 0 to the number of codes ({len(self._codes):,}), got others; "
                "try itemix.mine to make itemsets"
            )
        for name in ("support", "count", "lower", "upper"):
            column = getattr(self, f"_{name}")
            if column is not None and len(column) != n:
                raise InvalidInputError(
                    f"expected {n:,} values in {name}, one for each itemset, got {len(column):,}; "
                    "all columns must have the same length"
                )
        if len(self._codes) and not 0 <= int(self._codes.min()) <= int(self._codes.max()) < len(self._items):
            raise InvalidInputError(
                f"expected item codes from 0 to {len(self._items) - 1:,}, got others; codes are positions in items"
            )

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each set starts in `codes`, shape (n + 1,)."""
        return self._offsets

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """The item codes of all sets, one after the other."""
        return self._codes

    @property
    def support(self) -> npt.NDArray[np.float64]:
        """The support of each set, a fraction or a probability."""
        return self._support

    @property
    def count(self) -> npt.NDArray[np.int64] | None:
        """The number of transactions that hold each set, or None from a model."""
        return self._count

    @property
    def lower(self) -> npt.NDArray[np.float64] | None:
        """The lower end of each support's interval, if there is one."""
        return self._lower

    @property
    def upper(self) -> npt.NDArray[np.float64] | None:
        """The upper end of each support's interval, if there is one."""
        return self._upper

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._items

    @property
    def n_transactions(self) -> int | None:
        """The number of transactions behind the supports, or None from a model."""
        return self._n_transactions

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items of each set, shape (n,)."""
        return np.diff(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, position: int) -> Itemset:
        if not -len(self) <= position < len(self):
            raise IndexError(f"expected a position below {len(self):,}, got {position}")
        position %= len(self)
        codes = self._codes[self._offsets[position] : self._offsets[position + 1]]
        count = None if self._count is None else int(self._count[position])
        return Itemset(tuple(self._items.names(codes)), float(self._support[position]), count)

    def __iter__(self) -> Iterator[Itemset]:
        for position in range(len(self)):
            yield self[position]

    def __contains__(self, itemset: object) -> bool:
        return self.find(itemset) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Itemsets):
            return NotImplemented
        return (
            self._n_transactions == other._n_transactions
            and self._items == other._items
            and all(
                _same(getattr(self, name), getattr(other, name))
                for name in ("_offsets", "_codes", "_support", "_count", "_lower", "_upper")
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def find(self, itemset: object) -> int | None:
        """Return the position of an itemset, or None if it is not among them.

        Raises
        ------
        UnknownItemError
            If an item is not one of `items`.
        """
        position = int(self.positions(np.array([0, 0]), self._items.codes(itemset), single=True)[0])
        return None if position < 0 else position

    def positions(
        self, offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], *, single: bool = False
    ) -> npt.NDArray[np.int64]:
        """Return where each of several sets of codes stands among these, -1 for those that do not."""
        if single:
            offsets = np.array([0, len(codes)], dtype=np.int64)
        if self._index is None:
            self._index = lattice.build_index(self._offsets, self._codes)
        return lattice.find_sets(self._offsets, self._codes, self._index, offsets, codes)

    def support_of(self, itemset: object) -> float:
        """Return the support of an itemset.

        Raises
        ------
        InvalidInputError
            If the itemset is not among these, so that its support is not known here.
        """
        position = self.find(itemset)
        if position is None:
            raise InvalidInputError(
                f"expected one of these {len(self):,} itemsets, got {itemset!r}; "
                "mine with a lower min_support, or ask Transactions.support"
            )
        return float(self._support[position])

    def take(self, positions: npt.ArrayLike) -> Itemsets:
        """Return the itemsets at some positions, in that order."""
        chosen = np.asarray(positions)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        offsets, codes = lattice.gather_sets(self._offsets, self._codes, chosen.astype(np.int64))
        columns = {
            name: None if column is None else column[chosen]
            for name, column in (("count", self._count), ("lower", self._lower), ("upper", self._upper))
        }
        return Itemsets(
            offsets, codes, self._support[chosen], self._items, n_transactions=self._n_transactions, **columns
        )

    def filter(
        self,
        *,
        min_support: float | None = None,
        max_support: float | None = None,
        min_len: int | None = None,
        max_len: int | None = None,
        include: Iterable[Label] | Label | None = None,
        exclude: Iterable[Label] | Label | None = None,
    ) -> Itemsets:
        """Return the itemsets that meet all conditions, in the same order.

        Parameters
        ----------
        min_support, max_support : float, optional
            Bounds of the support, inclusive.
        min_len, max_len : int, optional
            Bounds of the number of items, inclusive.
        include : names, optional
            Items that must all be in the set.
        exclude : names, optional
            Items none of which may be in the set.
        """
        kept = np.ones(len(self), dtype=bool)
        if min_support is not None:
            kept &= self._support >= min_support
        if max_support is not None:
            kept &= self._support <= max_support
        if min_len is not None:
            kept &= self.lengths >= min_len
        if max_len is not None:
            kept &= self.lengths <= max_len
        if include is not None:
            wanted = self._items.codes(include)
            kept &= lattice.count_members(self._offsets, self._codes, wanted, len(self._items)) == len(wanted)
        if exclude is not None:
            unwanted = self._items.codes(exclude)
            kept &= lattice.count_members(self._offsets, self._codes, unwanted, len(self._items)) == 0
        return self.take(kept)

    def top(self, n: int = 10, *, min_len: int = 1) -> Itemsets:
        """Return the n itemsets with the highest support, highest first; ties keep their order."""
        eligible = np.flatnonzero(self.lengths >= min_len)
        order = np.argsort(-self._support[eligible], kind="stable")[: max(n, 0)]
        return self.take(eligible[order])

    def closed(self) -> Itemsets:
        """Return the closed itemsets: those with no superset here of the same support.

        Exact if these are all frequent itemsets. Supports that differ by less than one part in 10^9 count as
        the same, for supports that come from a model.
        """
        return self.take(lattice.mark_closed(self._offsets, self._codes, self._support, self._lookup()))

    def maximal(self) -> Itemsets:
        """Return the maximal itemsets: those with no superset here (exact if these are all frequent ones)."""
        return self.take(lattice.mark_maximal(self._offsets, self._codes, self._lookup()))

    def _lookup(self) -> npt.NDArray[np.int64]:
        if self._index is None:
            self._index = lattice.build_index(self._offsets, self._codes)
        return self._index

    def __repr__(self) -> str:
        from itemix.display import itemsets_as_text

        return itemsets_as_text(self, _ROWS_SHOWN)
