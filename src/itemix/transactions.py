"""Transactions: the data, as compressed rows of item codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix import encoding
from itemix.errors import InvalidInputError
from itemix.items import Items, Label
from itemix.kernels import csr

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse


class Transactions:
    """Transactions over a fixed set of items: an immutable value.

    Rows are stored compressed (CSR): the codes of row t are ``indices[indptr[t]:indptr[t + 1]]``, ascending
    and distinct. A row may stand for several identical transactions (see `merge_identical`).

    Parameters
    ----------
    indptr : array of int, shape (n_rows + 1,)
        Where each row starts in `indices`.
    indices : array of int, shape (nnz,)
        Item codes; they are sorted and repeated ones dropped where needed.
    items : Items or iterable of str or int
        The name of each code.
    multiplicities : array of int, shape (n_rows,), optional
        How many identical transactions each row stands for; by default one.
    source : str, optional
        Where the data came from and how it was read, for people.

    See Also
    --------
    from_lists, from_dataframe, from_long, from_matrix : the usual ways to make one.
    itemix.read_transactions : read a file.
    """

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
        pointers = np.ascontiguousarray(indptr, dtype=np.int64)
        codes = _as_codes(indices, len(self._items))
        if (
            len(pointers) == 0
            or pointers[0] != 0
            or pointers[-1] != len(codes)
            or (np.diff(pointers) < 0).any()
        ):
            raise InvalidInputError(
                f"expected row pointers that ascend from 0 to the number of codes ({len(codes):,}), got others; "
                "try Transactions.from_lists"
            )
        if not csr.is_canonical(pointers, codes):
            pointers, codes = csr.canonical_rows(pointers, codes, len(self._items))
        self._indptr = _frozen(pointers, indptr)
        self._indices = _frozen(codes, indices)
        self._multiplicities = _as_multiplicities(multiplicities, len(pointers) - 1)
        n_rows = len(pointers) - 1
        self._n_transactions = n_rows if self._multiplicities is None else int(self._multiplicities.sum())
        self._source = source

    @classmethod
    def from_lists(cls, transactions: Iterable[Iterable[Label]]) -> Transactions:
        """Make transactions from lists of item names.

        Examples
        --------
        >>> import itemix
        >>> itemix.Transactions.from_lists([["milk", "bread"], ["milk"]])
        Transactions(2 x 2, 3 ones, density 75%)
        """
        return cls(*encoding.encode_lists(transactions))

    @classmethod
    def from_matrix(cls, matrix: Any, items: Iterable[Label] | None = None) -> Transactions:  # noqa: ANN401
        """Make transactions from a 0/1 matrix (NumPy or SciPy sparse), a row for each transaction.

        Without `items`, the names are the column numbers.
        """
        return cls(*encoding.encode_matrix(matrix, items))

    @classmethod
    def from_dataframe(cls, frame: Any) -> Transactions:  # noqa: ANN401 - pandas, polars, pyarrow
        """Make transactions from a one-hot data frame (pandas, polars or pyarrow), a column for each item."""
        return cls(*encoding.encode_onehot_frame(frame))

    @classmethod
    def from_long(cls, frame: Any, transaction: str, item: str) -> Transactions:  # noqa: ANN401 - as above
        """Make transactions from a long data frame with a row for each (transaction, item) pair."""
        return cls(*encoding.encode_long_frame(frame, transaction, item))

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
    def density(self) -> float:
        """The fraction of ones in the transactions x items matrix."""
        cells = self.n_transactions * self.n_items
        return float(self.item_counts().sum() / cells) if cells else 0.0

    def __len__(self) -> int:
        return self._n_transactions

    def __iter__(self) -> Iterator[list[Label]]:
        """Iterate over the transactions as lists of item names."""
        repeats = self._multiplicities
        for t in range(self.n_rows):
            names = self._items.names(self._indices[self._indptr[t] : self._indptr[t + 1]])
            for _ in range(1 if repeats is None else int(repeats[t])):
                yield list(names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transactions):
            return NotImplemented
        return (
            self._items == other._items
            and np.array_equal(self._indptr, other._indptr)
            and np.array_equal(self._indices, other._indices)
            and np.array_equal(self._weights(), other._weights())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rows = "" if self._multiplicities is None else f" in {self.n_rows:,} distinct rows"
        source = f", from {self._source}" if self._source else ""
        size = f"{self.n_transactions:,} x {self.n_items:,}{rows}"
        ones = int(self.item_counts().sum())
        return f"Transactions({size}, {ones:,} ones, density {100 * self.density:.3g}%{source})"

    def item_counts(self) -> npt.NDArray[np.int64]:
        """Return how many transactions hold each item, shape (n_items,)."""
        return csr.item_counts(self._indptr, self._indices, self._weights(), self.n_items)

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
        held = csr.rows_with_all(self._indptr, self._indices, self._items.codes(itemset))
        return int(held.sum() if self._multiplicities is None else self._multiplicities[held].sum())

    def support(self, itemset: Iterable[Label] | Label) -> float:
        """Return the fraction of transactions that hold all items of an itemset."""
        if self.n_transactions == 0:
            raise InvalidInputError(
                "expected at least one transaction, got none; support is a fraction of them"
            )
        return self.count(itemset) / self.n_transactions

    def describe(self) -> Description:
        """Summarise the data; the result prints as a table."""
        counts = self.item_counts()
        lengths = np.repeat(self.lengths(), self._repeats())
        top = np.argsort(-counts, kind="stable")[:5]
        return Description(
            n_transactions=self.n_transactions,
            n_rows=self.n_rows,
            n_items=self.n_items,
            n_items_used=int((counts > 0).sum()),
            n_ones=int(counts.sum()),
            density=self.density,
            length_min=int(lengths.min()) if len(lengths) else 0,
            length_mean=float(lengths.mean()) if len(lengths) else 0.0,
            length_max=int(lengths.max(initial=0)),
            top_items={
                self._items[int(i)]: counts[i] / max(self.n_transactions, 1) for i in top if counts[i]
            },
        )

    def split(
        self, fraction: float = 0.5, *, random_state: int | np.random.Generator | None = None
    ) -> tuple[Transactions, Transactions]:
        """Split at random into two parts, the first with the given fraction; both keep order and items.

        Raises
        ------
        InvalidInputError
            If the fraction is not between 0 and 1.
        """
        if not 0 < fraction < 1:
            raise InvalidInputError(f"expected a fraction between 0 and 1, got {fraction!r}; try 0.5")
        shuffled = np.random.default_rng(random_state).permutation(self._row_of_each_transaction())
        cut = round(fraction * len(shuffled))
        return self._take(shuffled[:cut]), self._take(shuffled[cut:])

    def sample(
        self, n: int, *, replace: bool = False, random_state: int | np.random.Generator | None = None
    ) -> Transactions:
        """Draw n transactions at random, with or without replacement."""
        if n < 0 or (n > self.n_transactions and not replace):
            raise InvalidInputError(
                f"expected a sample of 0 to {self.n_transactions:,} transactions, got {n!r}; "
                "try replace=True for a larger one"
            )
        rng = np.random.default_rng(random_state)
        return self._take(rng.choice(self._row_of_each_transaction(), size=n, replace=replace))

    def select_items(self, items: Iterable[Label] | Label) -> Transactions:
        """Keep only some items (in the order of their codes); all transactions stay, empty ones too."""
        return self._with_items(self._items.codes(items))

    def drop_items(self, items: Iterable[Label] | Label) -> Transactions:
        """Leave out some items; all transactions stay, empty ones too."""
        return self._with_items(
            np.setdiff1d(np.arange(self.n_items, dtype=np.int32), self._items.codes(items))
        )

    def rename_items(self, items: Iterable[Label]) -> Transactions:
        """Give the items other names, in the order of their codes."""
        names = Items(items)
        if len(names) != self.n_items:
            raise InvalidInputError(
                f"expected {self.n_items:,} names, one for each item, got {len(names):,}; "
                "pass the names in the order of .items"
            )
        return Transactions(self._indptr, self._indices, names, self._multiplicities, source=self._source)

    def merge_identical(self) -> Transactions:
        """Store identical transactions once, with their number: same counts, fewer rows."""
        group, first = csr.group_equal_rows(self._indptr, self._indices)
        multiplicities = np.bincount(group, weights=self._repeats(), minlength=len(first)).astype(np.int64)
        indptr, indices = csr.gather_rows(self._indptr, self._indices, first)
        return Transactions(indptr, indices, self._items, multiplicities, source=self._source)

    def to_lists(self) -> list[list[Label]]:
        """Return the transactions as lists of item names."""
        return list(self)

    def to_scipy(self) -> sparse.csr_array:
        """Return the transactions x items matrix as a SciPy sparse array of uint8."""
        from scipy import sparse

        rows = self._row_of_each_transaction()
        indptr, indices = csr.gather_rows(self._indptr, self._indices, rows)
        ones = np.ones(len(indices), dtype=np.uint8)
        return sparse.csr_array((ones, indices, indptr), shape=(self.n_transactions, self.n_items))

    def to_dataframe(self) -> pd.DataFrame:
        """Return a one-hot pandas data frame with sparse boolean columns, as mlxtend takes it."""
        import pandas as pd

        matrix = self.to_scipy().astype(bool)
        return pd.DataFrame.sparse.from_spmatrix(matrix, columns=list(self._items)).astype(
            pd.SparseDtype(bool, False)
        )

    def _weights(self) -> npt.NDArray[np.int64]:
        return np.empty(0, dtype=np.int64) if self._multiplicities is None else self._multiplicities

    def _repeats(self) -> npt.NDArray[np.int64]:
        return np.ones(self.n_rows, dtype=np.int64) if self._multiplicities is None else self._multiplicities

    def _row_of_each_transaction(self) -> npt.NDArray[np.int64]:
        return np.repeat(np.arange(self.n_rows), self._repeats())

    def _take(self, rows: npt.NDArray[np.int64]) -> Transactions:
        rows = np.sort(rows)
        multiplicities = None
        if self._multiplicities is not None:
            rows, multiplicities = np.unique(rows, return_counts=True)
        indptr, indices = csr.gather_rows(self._indptr, self._indices, rows)
        return Transactions(indptr, indices, self._items, multiplicities)

    def _with_items(self, kept: npt.NDArray[np.int32]) -> Transactions:
        new_code = np.full(self.n_items, -1, dtype=np.int32)
        new_code[kept] = np.arange(len(kept), dtype=np.int32)
        indptr, indices = csr.select_items(self._indptr, self._indices, new_code)
        return Transactions(indptr, indices, Items(self._items.labels[kept]), self._multiplicities)


@dataclass(frozen=True)
class Description:
    """What `Transactions.describe` says of the data."""

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

    def __str__(self) -> str:
        lines = [
            f"transactions   {self.n_transactions:,}"
            + (f" ({self.n_rows:,} rows stored)" if self.n_rows != self.n_transactions else ""),
            f"items          {self.n_items:,}"
            + (f" ({self.n_items_used:,} occur)" if self.n_items_used != self.n_items else ""),
            f"ones           {self.n_ones:,} (density {100 * self.density:.3g}%)",
            f"basket length  {self.length_min} to {self.length_max}, mean {self.length_mean:.2f}",
            "most frequent  " + ", ".join(f"{name} {100 * f:.1f}%" for name, f in self.top_items.items()),
        ]
        return "\n".join(lines)


def _as_codes(indices: npt.ArrayLike, n_items: int) -> npt.NDArray[np.int32]:
    values = np.asarray(indices)
    if values.size == 0:
        return np.empty(0, dtype=np.int32)
    if values.dtype.kind not in "iu":
        raise InvalidInputError(
            f"expected integer item codes, got {values.dtype}; try Transactions.from_lists"
        )
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= n_items:
        raise InvalidInputError(
            f"expected item codes from 0 to {n_items - 1:,}, got {low if low < 0 else high:,}; "
            "codes are positions in items: try Transactions.from_lists"
        )
    return np.ascontiguousarray(values, dtype=np.int32)


def _as_multiplicities(values: npt.ArrayLike | None, n_rows: int) -> npt.NDArray[np.int64] | None:
    if values is None:
        return None
    array = np.array(values)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu" or (array < 1).any():
        raise InvalidInputError(
            f"expected a positive whole number for each of the {n_rows:,} rows, got {array.shape} of "
            f"{array.dtype}; leave out multiplicities if every row is one transaction"
        )
    return _frozen(array.astype(np.int64))


def _frozen(array: npt.NDArray[Any], original: object = None) -> npt.NDArray[Any]:
    """Make an array read-only, after a copy where it is the caller's own writable memory."""
    if array is original and array.flags.writeable:
        array = array.copy()
    array.setflags(write=False)
    return array
