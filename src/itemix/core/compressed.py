"""Compressed rows of item codes: how transactions are stored, and what can be counted in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from itemix.core.items import Items, Label
from itemix.core.rows import as_codes, as_multiplicities, as_pointers, frozen
from itemix.errors import InvalidInputError
from itemix.immutable import protected
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

S = TypeVar("S", bound=np.generic)

_NO_WEIGHTS = protected(np.empty(0, dtype=np.int64))


class CompressedRows:
    """The arrays of `itemix.Transactions`, which says what they mean; immutable."""

    __slots__ = ("_indices", "_indptr", "_items", "_multiplicities", "_n_transactions", "_source")

    def __init__(
        self,
        indptr: npt.ArrayLike,
        indices: npt.ArrayLike,
        items: Items | Iterable[Label],
        multiplicities: npt.ArrayLike | None = None,
        *,
        source: str | None = None,
    ) -> None:
        self._items = items if isinstance(items, Items) else Items(items)
        codes = frozen(as_codes(indices, len(self._items)), indices)
        pointers = frozen(as_pointers(indptr, len(codes)), indptr)
        if not csr.is_canonical(pointers, codes):
            pointers, codes = csr.canonical_rows(pointers, codes)
        self._keep(pointers, codes, as_multiplicities(multiplicities, len(pointers) - 1), source)

    @classmethod
    def from_canonical(
        cls,
        indptr: npt.NDArray[np.int64],
        indices: npt.NDArray[np.int32],
        items: Items,
        multiplicities: npt.NDArray[np.int64] | None = None,
        *,
        source: str | None = None,
    ) -> Self:
        """Take over arrays that are already as they should be, without a check and without a copy."""
        self = cls.__new__(cls)
        self._items = items
        self._keep(indptr, indices, multiplicities, source)
        return self

    def _keep(
        self,
        indptr: npt.NDArray[np.int64],
        indices: npt.NDArray[np.int32],
        multiplicities: npt.NDArray[np.int64] | None,
        source: str | None,
    ) -> None:
        self._indptr = protected(indptr)
        self._indices = protected(indices)
        self._multiplicities = None if multiplicities is None else protected(multiplicities)
        self._n_transactions = len(indptr) - 1 if multiplicities is None else int(multiplicities.sum())
        self._source = source

    @property
    def indptr(self) -> npt.NDArray[np.int64]:
        """Where each row starts, shape (n_rows + 1,), read-only."""
        return self._indptr

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """The item codes of all rows, shape (nnz,), read-only."""
        return self._indices

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._items

    @property
    def multiplicities(self) -> npt.NDArray[np.int64] | None:
        """How many transactions each row stands for, or None where each row is one."""
        return self._multiplicities

    @property
    def source(self) -> str | None:
        """Where the data came from and how it was read."""
        return self._source

    @property
    def n_rows(self) -> int:
        """The number of stored rows."""
        return len(self._indptr) - 1

    @property
    def n_transactions(self) -> int:
        """The number of transactions: rows counted with their multiplicities."""
        return self._n_transactions

    @property
    def n_items(self) -> int:
        """The number of items, those that never occur included."""
        return len(self._items)

    @property
    def n_ones(self) -> int:
        """The number of (transaction, item) pairs."""
        if self._multiplicities is None:
            return len(self._indices)
        return int(self.lengths() @ self._multiplicities)

    @property
    def density(self) -> float:
        """The fraction of ones in the transactions x items matrix."""
        cells = self.n_transactions * self.n_items
        return self.n_ones / cells if cells else 0.0

    def __len__(self) -> int:
        return self.n_transactions

    def __iter__(self) -> Iterator[list[Label]]:
        """Iterate over the transactions as lists of item names."""
        repeats = self._multiplicities
        for t in range(self.n_rows):
            names = self._items.names(self._indices[self._indptr[t] : self._indptr[t + 1]])
            for _ in range(1 if repeats is None else int(repeats[t])):
                yield list(names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompressedRows):
            return NotImplemented
        return (
            self._items == other._items
            and np.array_equal(self._indptr, other._indptr)
            and np.array_equal(self._indices, other._indices)
            and np.array_equal(self._repeats(), other._repeats())
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (
            type(self),
            self._indptr,
            self._indices,
            self._items,
            self._multiplicities,
            self._source,
        )

    def __repr__(self) -> str:
        rows = "" if self._multiplicities is None else f" in {self.n_rows:,} distinct rows"
        source = f", from {self._source}" if self._source else ""
        size = f"{self.n_transactions:,} x {self.n_items:,}{rows}"
        return f"Transactions({size}, {self.n_ones:,} ones, density {100 * self.density:.3g}%{source})"

    def item_counts(self) -> npt.NDArray[np.int64]:
        """Return how many transactions hold each item, shape (n_items,)."""
        return csr.item_counts(self._indptr, self._indices, weights_of(self), self.n_items)

    def lengths(self) -> npt.NDArray[np.int64]:
        """Return the number of items of each row, shape (n_rows,)."""
        return np.diff(self._indptr)

    def count(self, itemset: Iterable[Label] | Label) -> int:
        """Return how many transactions hold all items of an itemset.

        Raises
        ------
        UnknownItemError
            If an item is not one of `items`.
        """
        wanted = protected(self._items.codes(itemset))
        held = csr.rows_with_all(self._indptr, self._indices, wanted)
        return int(held.sum() if self._multiplicities is None else self._multiplicities[held].sum())

    def support(self, itemset: Iterable[Label] | Label) -> float:
        """Return the fraction of transactions that hold all items of an itemset."""
        if self.n_transactions == 0:
            raise InvalidInputError(
                "expected at least one transaction, got none; support is a fraction of them"
            )
        return self.count(itemset) / self.n_transactions

    def _repeats(self) -> npt.NDArray[np.int64]:
        return np.ones(self.n_rows, dtype=np.int64) if self._multiplicities is None else self._multiplicities


def weights_of(data: CompressedRows) -> npt.NDArray[np.int64]:
    """Return the multiplicities as kernels take them, read-only: none at all where each row is one."""
    return _NO_WEIGHTS if data.multiplicities is None else data.multiplicities


def each_transaction(data: CompressedRows, of_rows: npt.NDArray[S]) -> npt.NDArray[S]:
    """Return what rows have, shape (n_rows, ...), once for each of the transactions that they stand for."""
    return of_rows if data.multiplicities is None else np.repeat(of_rows, data.multiplicities, axis=0)


def _restored(cls: type[CompressedRows], *parts: Any) -> CompressedRows:  # noqa: ANN401 - what was pickled
    *arrays, source = parts
    return cls.from_canonical(*arrays, source=source)
