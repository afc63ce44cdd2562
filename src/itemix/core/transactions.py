"""Transactions: the data, as compressed rows of item codes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
import numpy.typing as npt

from itemix._checks import as_generator, check_whole
from itemix._runtime import interruptible
from itemix.core import encoding, frames
from itemix.core.compressed import CompressedRows, each_transaction
from itemix.core.description import Description
from itemix.core.items import Items, Label
from itemix.core.sets import as_position, as_positions
from itemix.errors import InvalidInputError
from itemix.immutable import protected
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import EllipsisType

    import pandas as pd
    from scipy import sparse

_TOP_ITEMS = 5


class Transactions(CompressedRows):
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

    __slots__ = ()

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
        return cls(*frames.encode_onehot_frame(frame))

    @classmethod
    def from_long(cls, frame: Any, transaction: Label, item: Label) -> Transactions:  # noqa: ANN401 - as above
        """Make transactions from a long data frame with a row for each (transaction, item) pair."""
        return cls(*frames.encode_long_frame(frame, transaction, item))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of transactions and of items, as of the matrix that they stand for."""
        return self.n_transactions, self.n_items

    @overload
    def __getitem__(self, chosen: int) -> list[Label]: ...
    @overload
    def __getitem__(self, chosen: slice | npt.ArrayLike | tuple[Any, EllipsisType]) -> Transactions: ...
    def __getitem__(self, chosen: Any) -> list[Label] | Transactions:
        """Return one transaction as the names of its items; of a slice, positions or a mask, transactions.

        They are in the order of the positions, over the same items, each a row of its own. ``[chosen, ...]``
        is the same, which is how scikit-learn asks for the rows of a fold.
        """
        if isinstance(chosen, tuple):
            if len(chosen) != 2 or chosen[1] is not Ellipsis:
                raise InvalidInputError(
                    f"expected transactions to take, as in tx[0] or tx[[0, 1]], got {chosen!r}; for items "
                    "try select_items()"
                )
            chosen = chosen[0]
        rows = self._row_of_each_transaction()
        if isinstance(chosen, int | np.integer):
            row = rows[as_position(chosen, len(rows))]
            return self._items.names(self._indices[self._indptr[row] : self._indptr[row + 1]])
        rows = rows[chosen if isinstance(chosen, slice) else as_positions(chosen, len(rows))]
        indptr, indices = csr.gather_rows(self._indptr, self._indices, protected(rows))
        return Transactions.from_canonical(indptr, indices, self._items, source=self._source)

    def describe(self) -> Description:
        """Summarise the data; the result prints as a table."""
        counts = self.item_counts()
        lengths = self.lengths()
        top = np.argsort(-counts, kind="stable")[:_TOP_ITEMS].tolist()
        return Description(
            n_transactions=self.n_transactions,
            n_rows=self.n_rows,
            n_items=self.n_items,
            n_items_used=int((counts > 0).sum()),
            n_ones=self.n_ones,
            density=self.density,
            length_min=int(lengths.min()) if len(lengths) else 0,
            length_mean=self.n_ones / max(self.n_transactions, 1),
            length_max=int(lengths.max(initial=0)),
            top_items={self._items[i]: float(counts[i] / self.n_transactions) for i in top if counts[i]},
            source=self._source,
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
        if not isinstance(fraction, float | np.floating) or not 0 < fraction < 1:
            raise InvalidInputError(f"expected a fraction between 0 and 1, got {fraction!r}; try 0.5")
        shuffled = as_generator(random_state).permutation(self._row_of_each_transaction())
        cut = round(fraction * len(shuffled))
        return self._take(shuffled[:cut]), self._take(shuffled[cut:])

    def sample(
        self, n: int, *, replace: bool = False, random_state: int | np.random.Generator | None = None
    ) -> Transactions:
        """Draw n transactions at random, with or without replacement."""
        if check_whole("n", n, 10) < 0 or (n > self.n_transactions and not (replace and self.n_transactions)):
            hint = (
                "try replace=True for a larger one" if self.n_transactions else "there are none to draw from"
            )
            raise InvalidInputError(
                f"expected a sample of 0 to {self.n_transactions:,} transactions, got {n!r}; {hint}"
            )
        rng = as_generator(random_state)
        return self._take(rng.choice(self._row_of_each_transaction(), size=n, replace=replace))

    def select_items(self, items: Iterable[Label] | Label) -> Transactions:
        """Keep only some items (in the order of their codes); all transactions stay, empty ones too."""
        return self._with_items(self._items.codes(items))

    def drop_items(self, items: Iterable[Label] | Label) -> Transactions:
        """Leave out some items; all transactions stay, empty ones too."""
        return self._with_items(
            np.setdiff1d(np.arange(self.n_items, dtype=np.int32), self._items.codes(items))
        )

    def align_items(self, items: Items | Iterable[Label]) -> Transactions:
        """Give the items the codes they have in another list; those of the list that do not occur are added.

        Raises
        ------
        UnknownItemError
            If a transaction has an item that is not in the list.
        """
        wanted = items if isinstance(items, Items) else Items(items)
        if wanted == self._items:
            return self
        used = np.flatnonzero(self.item_counts())
        new_code = np.full(self.n_items, -1, dtype=np.int32)
        new_code[used] = [wanted.code(self._items[int(code)]) for code in used]
        return Transactions(
            self._indptr, new_code[self._indices], wanted, self._multiplicities, source=self._source
        )

    def drop_empty(self) -> Transactions:
        """Leave out the transactions without any item."""
        return self._subset(np.flatnonzero(self.lengths()))

    def rename_items(self, items: Iterable[Label]) -> Transactions:
        """Give the items other names, in the order of their codes."""
        names = Items(items)
        if len(names) != self.n_items:
            raise InvalidInputError(
                f"expected {self.n_items:,} names, one for each item, got {len(names):,}; "
                "pass the names in the order of .items"
            )
        return Transactions.from_canonical(
            self._indptr, self._indices, names, self._multiplicities, source=self._source
        )

    def holding(self, itemset: Iterable[Label] | Label) -> Transactions:
        """Return the transactions that hold all items of an itemset.

        Raises
        ------
        UnknownItemError
            If an item is not one of `items`.
        """
        wanted = protected(self._items.codes(itemset))
        return self._subset(np.flatnonzero(csr.rows_with_all(self._indptr, self._indices, wanted)))

    @interruptible()
    def merge_identical(self) -> Transactions:
        """Store identical transactions once, with their number: same counts, fewer rows."""
        group, first = csr.group_equal_rows(self._indptr, self._indices)
        multiplicities = np.bincount(group, weights=self._repeats(), minlength=len(first)).astype(np.int64)
        indptr, indices = csr.gather_rows(self._indptr, self._indices, protected(first))
        return Transactions.from_canonical(indptr, indices, self._items, multiplicities, source=self._source)

    def to_lists(self) -> list[list[Label]]:
        """Return the transactions as lists of item names."""
        return list(self)

    def to_scipy(self) -> sparse.csr_array:
        """Return the transactions x items matrix as a SciPy sparse array of uint8."""
        from scipy import sparse

        rows = protected(self._row_of_each_transaction())
        indptr, indices = csr.gather_rows(self._indptr, self._indices, rows)
        ones = np.ones(len(indices), dtype=np.uint8)
        return sparse.csr_array((ones, indices, indptr), shape=(self.n_transactions, self.n_items))

    def to_numpy(self) -> npt.NDArray[np.bool_]:
        """Return the transactions x items matrix as a dense boolean array: for small data."""
        return np.asarray(self.to_scipy().toarray(), dtype=np.bool_)

    def to_long(self, transaction: str = "transaction", item: str = "item") -> pd.DataFrame:
        """Return a long pandas data frame with a row for each (transaction, item) pair.

        Transactions are numbered from 0; those without any item have no row.
        """
        import pandas as pd

        matrix = self.to_scipy()
        numbers = np.repeat(np.arange(self.n_transactions), np.diff(matrix.indptr))
        return pd.DataFrame({transaction: numbers, item: self._items.labels[matrix.indices]})

    def to_dataframe(self) -> pd.DataFrame:
        """Return a one-hot pandas data frame with sparse boolean columns, as mlxtend takes it."""
        import pandas as pd

        sparse_frames = cast("Any", pd.DataFrame.sparse)
        frame: pd.DataFrame = sparse_frames.from_spmatrix(self.to_scipy(), columns=list(self._items))
        return frame.astype(pd.SparseDtype(bool, fill_value=False))

    def _row_of_each_transaction(self) -> npt.NDArray[np.int64]:
        return each_transaction(self, np.arange(self.n_rows))

    def _subset(self, rows: npt.NDArray[np.int64]) -> Transactions:
        indptr, indices = csr.gather_rows(self._indptr, self._indices, protected(rows))
        multiplicities = None if self._multiplicities is None else self._multiplicities[rows]
        return Transactions.from_canonical(indptr, indices, self._items, multiplicities, source=self._source)

    def _take(self, rows: npt.NDArray[np.int64]) -> Transactions:
        rows = np.sort(rows)
        multiplicities = None
        if self._multiplicities is not None:
            rows, multiplicities = np.unique(rows, return_counts=True)
        indptr, indices = csr.gather_rows(self._indptr, self._indices, protected(rows))
        return Transactions.from_canonical(indptr, indices, self._items, multiplicities, source=self._source)

    def _with_items(self, kept: npt.NDArray[np.int32]) -> Transactions:
        new_code = np.full(self.n_items, -1, dtype=np.int32)
        new_code[kept] = np.arange(len(kept), dtype=np.int32)
        indptr, indices = csr.select_items(self._indptr, self._indices, protected(new_code))
        items = Items(self._items.labels[kept])
        return Transactions.from_canonical(indptr, indices, items, self._multiplicities, source=self._source)


def as_transactions(source: Any) -> Transactions:  # noqa: ANN401 - whatever users have
    """Return transactions as they are, or make them of lists, a column of lists, a one-hot frame or a matrix.

    Raises
    ------
    InvalidInputError
        If the source is none of these.
    """
    if isinstance(source, Transactions):
        return source
    if isinstance(source, str | bytes | os.PathLike):
        raise InvalidInputError(
            f"expected transactions, got the name {source!r}; read the file first: read_transactions(...)"
        )
    if hasattr(source, "fit"):
        raise InvalidInputError(
            f"expected transactions or a fitted model, got {type(source).__name__} before fit; fit it first"
        )
    if hasattr(source, "columns"):
        return Transactions.from_dataframe(source)
    if encoding.is_matrix(source):
        return Transactions.from_matrix(source)
    if hasattr(source, "__iter__"):
        if not isinstance(source, Iterator) and isinstance(next(iter(source), None), Transactions):
            raise InvalidInputError(
                "expected transactions, got chunks of them; give each one to partial_fit, or all of them to "
                "verify= of mine"
            )
        return Transactions.from_lists(source)
    raise InvalidInputError(
        f"expected transactions, a data frame, a matrix or a list of lists, got {type(source).__name__}; "
        "try Transactions.from_lists"
    )
