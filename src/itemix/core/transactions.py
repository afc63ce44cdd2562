"""Transactions: the data, as compressed rows of item codes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from itemix._arrays import as_arrow, frozen, protected
from itemix._checks import as_generator, check_whole
from itemix._runtime import interruptible
from itemix.core import display, encoding
from itemix.core.binning import TableOptions, encode_columns
from itemix.core.items import Items, Label
from itemix.core.rows import RowOptions, as_columns, long_rows
from itemix.core.sets import Sets, as_position, as_positions
from itemix.errors import InvalidInputError
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType

    import pandas as pd
    import pyarrow as pa
    from scipy import sparse

    from itemix._typing import FrameLike, MatrixLike, TransactionsLike
    from itemix.core.binning import Bins, BinsLike

S = TypeVar("S", bound=np.generic)

# Up to this number, counts are exact even when they are added up as floats.
_MOST_TRANSACTIONS = 2**53
_NO_WEIGHTS = protected(np.empty(0, dtype=np.int64))
_TOP_ITEMS = 5


def as_codes(indices: npt.ArrayLike, n_items: int) -> npt.NDArray[np.int32]:
    """Return item codes as int32.

    Raises
    ------
    InvalidInputError
        If they are not integers from 0 to n_items - 1.
    """
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


def as_multiplicities(values: npt.ArrayLike | None, n_rows: int) -> npt.NDArray[np.int64] | None:
    """Return a copy of the number of transactions that each row stands for, as int64.

    Raises
    ------
    InvalidInputError
        If they are not positive whole numbers, one for each row, or their sum is too large to be exact.
    """
    if values is None:
        return None
    array = np.array(values)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu" or (array < 1).any():
        raise InvalidInputError(
            f"expected a positive whole number for each of the {n_rows:,} rows, got {array.shape} of "
            f"{array.dtype}; leave out multiplicities if every row is one transaction"
        )
    total = float(array.sum(dtype=np.float64))
    if total > _MOST_TRANSACTIONS:
        raise InvalidInputError(
            f"expected at most {_MOST_TRANSACTIONS:,} transactions in all, got multiplicities that add up to "
            f"{total:.4g}; divide them by a common factor"
        )
    return array.astype(np.int64)


def as_pointers(indptr: npt.ArrayLike, n_codes: int) -> npt.NDArray[np.int64]:
    """Return row pointers as int64.

    Raises
    ------
    InvalidInputError
        If they do not ascend from 0 to n_codes.
    """
    values = np.asarray(indptr)
    if values.ndim == 1 and values.dtype.kind in "iu" and len(values):
        pointers = np.ascontiguousarray(values, dtype=np.int64)
        if pointers[0] == 0 and pointers[-1] == n_codes and (pointers[1:] >= pointers[:-1]).all():
            return pointers
    raise InvalidInputError(
        f"expected row pointers that ascend from 0 to the number of codes ({n_codes:,}), got others; "
        "try Transactions.from_lists"
    )


@dataclass(frozen=True)
class Description:
    """A summary of transactions; it prints as a table.

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
        The mean number of items of a transaction.
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

    def _repr_html_(self) -> str:
        lines = (line.partition("  ") for line in str(self).splitlines())
        rows = tuple((name, text.strip()) for name, _, text in lines)
        return display.Table("", ("", ""), rows, words=frozenset({""})).as_html()

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
    ids : Arrow array, shape (n_rows,), optional
        What each row is called outside, such as the number of an invoice.
    source : str, optional
        Where the data came from and how it was read, for people.

    See Also
    --------
    from_lists, from_table, from_long, from_dataframe, from_matrix : the usual ways to make one.
    itemix.read_transactions : read a file.
    """

    __slots__ = ("_ids", "_indices", "_indptr", "_items", "_multiplicities", "_n_transactions", "_source")

    def __init__(
        self,
        indptr: npt.ArrayLike,
        indices: npt.ArrayLike,
        items: Items | Iterable[Label],
        multiplicities: npt.ArrayLike | None = None,
        ids: pa.Array | None = None,
        *,
        source: str | None = None,
    ) -> None:
        self._items = items if isinstance(items, Items) else Items(items)
        codes = frozen(as_codes(indices, len(self._items)), indices)
        pointers = frozen(as_pointers(indptr, len(codes)), indptr)
        if not csr.is_canonical(pointers, codes):
            pointers, codes = csr.canonical_rows(pointers, codes)
        self._keep(pointers, codes, as_multiplicities(multiplicities, len(pointers) - 1), source)
        self._ids = as_ids(ids, len(pointers) - 1)

    @classmethod
    def from_lists(
        cls,
        transactions: Iterable[Iterable[Label]] | Mapping[tuple[Label, ...], int],
        *,
        counts: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | pa.Array | None = None,
    ) -> Transactions:
        """Make transactions from lists of item names.

        Parameters
        ----------
        transactions : iterable of lists of str or int, or mapping
            The transactions; a mapping has how often each one was seen, ``{("milk", "bread"): 120}``. Cells
            with names between commas, as ``"milk,bread"``, and sets as arules writes them, as in
            ``"{milk,bread}"``, are lists, too.
        counts : array of int, optional
            How many transactions each one stands for.
        ids : array, optional
            What each transaction is called outside.

        Examples
        --------
        >>> import itemix
        >>> itemix.Transactions.from_lists([["milk", "bread"], ["milk"]])
        Transactions(2 x 2, 3 ones, density 75%)
        """
        if isinstance(transactions, Mapping):
            counts = list(transactions.values()) if counts is None else counts
            transactions = list(transactions)
        return cls(*encoding.encode_lists(encoding.cells_as_lists(transactions))[:3], counts, ids)

    @classmethod
    def from_matrix(
        cls,
        matrix: MatrixLike,
        items: Iterable[Label] | None = None,
        *,
        counts: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | pa.Array | None = None,
    ) -> Transactions:
        """Make transactions from a 0/1 matrix (NumPy or SciPy sparse), a row for each transaction.

        Without `items`, the names are the column numbers. `counts` says how many transactions each row
        stands for, and `ids` what each is called outside.
        """
        return cls(*encoding.encode_matrix(matrix, items)[:3], counts, ids)

    @classmethod
    def from_dataframe(
        cls,
        frame: FrameLike,
        *,
        counts: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | pa.Array | None = None,
    ) -> Transactions:
        """Make transactions from a one-hot data frame (pandas, polars or pyarrow), a column for each item.

        `counts` says how many transactions each row stands for, and `ids` what each is called outside.
        """
        return cls(*encoding.encode_onehot_frame(frame)[:3], counts, ids)

    @classmethod
    def from_long(
        cls,
        frame: FrameLike,
        transaction: Label | Sequence[Label],
        item: Label,
        *,
        where: str | Iterable[str] | None = None,
        drop_missing: bool | Iterable[str] = False,
        upper: bool = False,
        strip: bool = True,
        counts: Label | None = None,
        quantity: Label | None = None,
    ) -> Transactions:
        """Make transactions from a long data frame with a row for each (transaction, item) pair.

        Parameters
        ----------
        frame : data frame
            A pandas, polars or pyarrow table.
        transaction : str, or list of str
            The column that tells transactions apart, or several that do it together, as a member and a day.
            What it holds becomes `ids`.
        item : str
            The column of items; its cells may be lists of them.
        where : str or list of str, optional
            Conditions for rows to remain, as ``"Quantity > 0 and InvoiceNo not starts with C"``. There are
            ``= != < <= > >=``, "in (a, b)", "starts with", "ends with" and "contains", each also with "not"
            before it, "is missing" and "is not missing".
        drop_missing : bool or list of str, default False
            Whether rows without a transaction or an item are left out; or the columns that must have a value.
        upper, strip : bool
            Whether names of items are put in upper case, and blanks around them left out.
        counts : str, optional
            The column that says how many transactions each one stands for.
        quantity : str, optional
            A column whose sum over a transaction is how often it counts.

        Raises
        ------
        InvalidInputError
            If a column is not there, a value is missing, or an option has no meaning.

        Examples
        --------
        >>> import itemix, pandas as pd
        >>> lines = pd.DataFrame({"order": [7, 7, 9], "sku": ["tea", "milk", "tea"], "n": [1, 2, -1]})
        >>> tx = itemix.Transactions.from_long(lines, "order", "sku", where="n > 0")
        >>> tx.to_lists(), tx.ids.to_pylist(), tx.source
        ([['milk', 'tea']], [7], "a table without 1 of 3 rows: 1 by 'n > 0'")
        """
        rows = RowOptions.checked(
            where=where,
            drop_missing=drop_missing,
            upper=upper,
            strip=strip,
            counts=counts,
            quantity=quantity,
        )
        columns, keys = encoding.columns_in_arrow(frame), as_columns(transaction)
        for role, names in (("transaction", keys), ("item", (item,))):
            for name in names:
                encoding.check_column(str(name), list(columns), role)
        encoding.check_different(keys, item)
        rows.check_columns(list(columns))
        found = long_rows(columns, transaction, item, rows)
        return cls(*found.encoded(), source=f"a table {found.said}" if found.said else None)

    @classmethod
    def from_table(
        cls,
        frame: FrameLike,
        *,
        columns: Iterable[str] | None = None,
        drop: Iterable[str] | None = None,
        bins: BinsLike = "quantile",
        missing: str = "skip",
        transaction: Label | Sequence[Label] | None = None,
        where: str | Iterable[str] | None = None,
        drop_missing: bool | Iterable[str] = False,
        counts: Label | None = None,
    ) -> Transactions:
        """Make transactions of a table with categories and numbers: a row each, and items ``column=value``.

        Categories, truth values, and numbers with at most ten different values keep their values. Other
        numbers are cut into bins. In a table of more than a hundred rows, columns that tell nothing are left
        out, unless `columns` or `bins` names them: those that number or name the rows, free text, dates, and
        those with one value for all. `source` says which.

        Parameters
        ----------
        frame : data frame
            A pandas, polars or pyarrow table.
        columns : list of str, optional
            The columns that become items; all by default.
        drop : list of str, optional
            Columns to leave out.
        bins : str, int, list of numbers, mapping or Bins, default "quantile"
            How numbers are cut: "quantile" makes four bins of about as many rows each, "quantile:5" or 5 five
            of them, "width:5" five equally wide ones, "step:10" bins that are 10 wide. A list has the numbers
            at which bins begin; there is a bin below the first, and one from the last on. "value" keeps each
            value. A mapping has one of these for each column that it names, and under "*" for all others. The
            `bins` of other transactions cut in the same way, and choose the same columns.
        missing : {"skip", "item", "refuse"}, default "skip"
            What a missing cell is: no item, an item ``column=missing``, or an error.
        transaction : str, or list of str, optional
            The column of the `ids` of rows, which is no item.
        where, drop_missing : optional
            Which rows remain; see `from_long`. True leaves out all rows with a missing cell.
        counts : str, optional
            The column that says how many transactions each row stands for.

        Raises
        ------
        InvalidInputError
            If a column is not there, its values are neither categories nor numbers, or an option has no
            meaning.

        Examples
        --------
        >>> import itemix, pandas as pd
        >>> people = pd.DataFrame({"sex": ["male", "female"], "age": [22, None], "alone": [True, False]})
        >>> tx = itemix.Transactions.from_table(people, bins={"age": [18, 65]}, missing="item")
        >>> tx.to_lists()
        [['sex=male', 'age=18-64', 'alone=True'], ['sex=female', 'age=missing', 'alone=False']]
        """
        options = TableOptions.checked(
            columns=columns, drop=drop, bins=bins, missing=missing, transaction=transaction
        )
        rows = RowOptions.checked(where=where, drop_missing=drop_missing, counts=counts)
        encoded, left_out = encode_columns(encoding.columns_in_arrow(frame), options, rows)
        return cls.from_canonical(*encoded, source=f"a table {left_out}" if left_out else None)

    @classmethod
    def from_canonical(
        cls,
        indptr: npt.NDArray[np.int64],
        indices: npt.NDArray[np.int32],
        items: Items,
        multiplicities: npt.NDArray[np.int64] | None = None,
        ids: pa.Array | None = None,
        *,
        source: str | None = None,
    ) -> Self:
        """Make transactions of arrays that need no change, without a check and without a copy."""
        self = cls.__new__(cls)
        self._items = items
        self._keep(indptr, indices, multiplicities, source)
        self._ids = ids
        return self

    @classmethod
    def concatenate(cls, parts: Sequence[Transactions]) -> Transactions:
        """Put transactions over the same items one after another.

        Raises
        ------
        InvalidInputError
            If there are none, or the items differ; `align_items` makes them the same.
        """
        if not parts:
            raise InvalidInputError("expected transactions to put together, got none; pass at least one part")
        for part in parts[1:]:
            if part.items != parts[0].items:
                raise InvalidInputError(
                    "expected transactions over the same items, got others; try align_items() first"
                )
        starts = np.cumsum([0, *(len(part.indices) for part in parts)])
        pointers = [part.indptr[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
        multiplicities = None
        if any(part.multiplicities is not None for part in parts):
            multiplicities = np.concatenate([part._repeats() for part in parts])  # noqa: SLF001 - of the same class
        return cls.from_canonical(
            np.concatenate([[0], *pointers]).astype(np.int64),
            np.concatenate([part.indices for part in parts]),
            parts[0].items,
            multiplicities,
            joined_ids([part.ids for part in parts]),
        )

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
    def bins(self) -> Bins | None:
        """How the columns of a table became items, to cut another table alike; None for other data."""
        return self._items.bins

    @property
    def multiplicities(self) -> npt.NDArray[np.int64] | None:
        """How many transactions each row stands for, or None where each row is one."""
        return self._multiplicities

    @property
    def ids(self) -> pa.Array | None:
        """What each row is called outside, an Arrow array, such as the numbers of invoices; or None.

        If several columns tell transactions apart, it has a field for each of them. Rows that stand for
        several transactions have one id.
        """
        return self._ids

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

    @property
    def shape(self) -> tuple[int, int]:
        """The number of transactions and of items."""
        return self.n_transactions, self.n_items

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
        if not isinstance(other, Transactions):
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
            self._ids,
            self._source,
        )

    def _repr_html_(self) -> str:
        """Show the first transactions as a table, for notebooks."""
        n = min(display.ROWS_SHOWN, self.n_transactions)
        first = self[:n]
        sets = Sets(first.indptr, first.indices, self._items, check=False)
        columns = display.columns_of_sets([sets], [""], display.HTML_WIDTH, [""])
        cells = columns or {"items": [display.format_set(names, display.HTML_WIDTH) for names in sets]}
        rows = tuple(zip(map(str, range(n)), *cells.values(), strict=True))
        footer = display.shown_of(n, self.n_transactions)
        return display.Table(repr(self), ("", *cells), rows, footer, words=frozenset(cells)).as_html()

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

    @overload
    def __getitem__(self, chosen: int) -> list[Label]: ...
    @overload
    def __getitem__(self, chosen: slice | npt.ArrayLike | tuple[Any, EllipsisType]) -> Transactions: ...
    def __getitem__(self, chosen: Any) -> list[Label] | Transactions:
        """Return one transaction as a list of names, or several (slice, positions, mask) as `Transactions`.

        Several come in the order of the positions, over the same items, each as a row of its own.
        ``[chosen, ...]`` means the same: scikit-learn asks for the rows of a fold in this way.
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
        ids = self._ids_of(rows)
        return Transactions.from_canonical(indptr, indices, self._items, None, ids, source=self._source)

    def describe(self) -> Description:
        """Return a summary of the data, which prints as a table."""
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

    def align_items(self, items: Items | Iterable[Label], *, drop_unknown: bool = False) -> Transactions:
        """Give the items the codes that they have in a list; items of the list that do not occur are added.

        Parameters
        ----------
        items : Items or iterable of str or int
            The list.
        drop_unknown : bool, default False
            Whether to leave items that are not in the list out of the transactions, which all stay.

        Raises
        ------
        UnknownItemError
            If a transaction has an item that is not in the list, and is not to be left out.
        """
        wanted = items if isinstance(items, Items) else Items(items)
        if wanted == self._items:
            return self
        if drop_unknown:
            known = [name for name in self._items if name in wanted]
            return self.select_items(known).align_items(wanted)
        used = np.flatnonzero(self.item_counts())
        new_code = np.full(self.n_items, -1, dtype=np.int32)
        new_code[used] = [wanted.code(self._items[int(code)]) for code in used]
        codes = new_code[self._indices]
        return Transactions(self._indptr, codes, wanted, self._multiplicities, self._ids, source=self._source)

    def without_codes(self, codes: npt.NDArray[np.int32]) -> Transactions:
        """Leave some items out of all transactions; the others keep their codes."""
        new_code = np.arange(self.n_items, dtype=np.int32)
        new_code[codes] = -1
        indptr, indices = csr.select_items(self._indptr, self._indices, protected(new_code))
        return Transactions.from_canonical(indptr, indices, self._items, self._multiplicities)

    def drop_empty(self) -> Transactions:
        """Leave out the transactions without any item."""
        return self.of_rows(np.flatnonzero(self.lengths()))

    def rename_items(self, items: Iterable[Label] | Mapping[Label, Label]) -> Transactions:
        """Give the items other names: all in the order of their codes, or some as ``{old: new}``.

        Raises
        ------
        InvalidInputError
            If there are not as many names as items, or two items would have the same name.
        UnknownItemError
            If an old name is not one of `items`.
        """
        if isinstance(items, Mapping):
            new = {self._items.code(old): name for old, name in items.items()}
            items = [new.get(code, name) for code, name in enumerate(self._items)]
        names = self._items.renamed(items)
        if len(names) != self.n_items:
            raise InvalidInputError(
                f"expected {self.n_items:,} names, one for each item, got {len(names):,}; "
                "pass the names in the order of .items"
            )
        return Transactions.from_canonical(
            self._indptr, self._indices, names, self._multiplicities, self._ids, source=self._source
        )

    def weighted(self, counts: npt.ArrayLike) -> Transactions:
        """Return the same rows with other multiplicities; rows with a 0 are left out.

        The new numbers replace the `multiplicities` that rows have had.

        Raises
        ------
        InvalidInputError
            If there is not a whole number of 0 or more for each row.
        """
        weights = np.asarray(counts)
        if weights.dtype.kind == "f" and np.isfinite(weights).all() and (weights == np.floor(weights)).all():
            weights = weights.astype(np.int64)
        if weights.shape != (self.n_rows,) or weights.dtype.kind not in "iu" or (weights < 0).any():
            expected = f"expected a whole number of 0 or more for each of the {self.n_rows:,} rows"
            if weights.shape == (self.n_rows,) and weights.dtype.kind in "iuf":
                wrong = weights[~((weights >= 0) & (weights == np.floor(weights)) & (weights < np.inf))][0]
                advice = "leave it out with a 0" if wrong < 0 else "multiply by a common factor, and round"
                raise InvalidInputError(f"{expected}, got {wrong:g}; {advice}")
            raise InvalidInputError(
                f"{expected}, got an array of shape {weights.shape} of {weights.dtype}; try "
                "numpy.ones(tx.n_rows, dtype=int)"
            )
        kept = np.flatnonzero(weights)
        chosen = self.of_rows(kept)
        return Transactions.from_canonical(
            chosen.indptr,
            chosen.indices,
            self._items,
            as_multiplicities(weights[kept], len(kept)),
            chosen.ids,
            source=self._source,
        )

    def holding(self, itemset: Iterable[Label] | Label) -> Transactions:
        """Return the transactions that hold all items of an itemset.

        Raises
        ------
        UnknownItemError
            If an item is not one of `items`.
        """
        wanted = protected(self._items.codes(itemset))
        return self.of_rows(np.flatnonzero(csr.rows_with_all(self._indptr, self._indices, wanted)))

    @interruptible()
    def merge_identical(self) -> Transactions:
        """Store identical transactions as one row with their number: the counts are the same."""
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
        """Return the transactions x items matrix as a dense boolean array, for small data."""
        return np.asarray(self.to_scipy().toarray(), dtype=np.bool_)

    def to_long(self, transaction: str = "transaction", item: str = "item") -> pd.DataFrame:
        """Return a long pandas data frame with a row for each (transaction, item) pair.

        Transactions have their `ids`, those of several columns in as many; without ids they are numbered from
        0. Those without any item have no row.
        """
        import pandas as pd

        matrix = self.to_scipy()
        numbers = np.repeat(np.arange(self.n_transactions), np.diff(matrix.indptr))
        named = self.id_columns(transaction)
        keys = {name: numbers if ids is None else ids[numbers] for name, ids in named.items()}
        return pd.DataFrame({**keys, item: self._items.labels[matrix.indices]})

    def id_columns(self, name: str = "id") -> dict[str, npt.NDArray[Any] | None]:
        """Return the ids of transactions as columns, one of the given name or one for each field.

        Without ids there is one column, None. A row that stands for several transactions gives each its id.
        """
        if self._ids is None:
            return {name: None}
        import pyarrow as pa

        is_composite = pa.types.is_struct(self._ids.type)
        parts = self._ids.flatten() if is_composite else [self._ids]
        names = [field.name for field in self._ids.type] if is_composite else [name]
        arrays = (part.to_numpy(zero_copy_only=False) for part in parts)
        return {key: each_transaction(self, array) for key, array in zip(names, arrays, strict=True)}

    def id_fields(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of ids that have names, a value for each row; none if ids are one column."""
        import pyarrow as pa

        if self._ids is None or not pa.types.is_struct(self._ids.type):
            return {}
        parts = zip(self._ids.type, self._ids.flatten(), strict=True)
        return {field.name: part.to_numpy(zero_copy_only=False) for field, part in parts}

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with a list of names for each transaction, in the column items."""
        import pyarrow as pa

        matrix = self.to_scipy()
        values = as_arrow(self._items.labels).take(as_arrow(matrix.indices))
        lists = pa.LargeListArray.from_arrays(as_arrow(matrix.indptr.astype(np.int64)), values)
        return pa.table([lists], names=["items"])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the transactions over to any library that takes Arrow data, in the column items."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_dataframe(self) -> pd.DataFrame:
        """Return a one-hot pandas data frame with sparse boolean columns, as mlxtend takes it."""
        import pandas as pd

        sparse_frames = cast("Any", pd.DataFrame.sparse)
        frame: pd.DataFrame = sparse_frames.from_spmatrix(self.to_scipy(), columns=list(self._items))
        return frame.astype(pd.SparseDtype(bool, fill_value=False))

    def _row_of_each_transaction(self) -> npt.NDArray[np.int64]:
        return each_transaction(self, np.arange(self.n_rows))

    def of_rows(self, rows: npt.NDArray[np.int64]) -> Transactions:
        """Return some rows, each with all the identical transactions that it stands for."""
        indptr, indices = csr.gather_rows(self._indptr, self._indices, protected(rows))
        multiplicities = None if self._multiplicities is None else self._multiplicities[rows]
        return Transactions.from_canonical(
            indptr, indices, self._items, multiplicities, self._ids_of(rows), source=self._source
        )

    def _take(self, rows: npt.NDArray[np.int64]) -> Transactions:
        rows = np.sort(rows)
        multiplicities = None
        if self._multiplicities is not None:
            rows, multiplicities = np.unique(rows, return_counts=True)
        indptr, indices = csr.gather_rows(self._indptr, self._indices, protected(rows))
        return Transactions.from_canonical(
            indptr, indices, self._items, multiplicities, self._ids_of(rows), source=self._source
        )

    def _ids_of(self, rows: npt.NDArray[np.int64]) -> pa.Array | None:
        return None if self._ids is None else self._ids.take(as_arrow(rows))

    def _with_items(self, kept: npt.NDArray[np.int32]) -> Transactions:
        new_code = np.full(self.n_items, -1, dtype=np.int32)
        new_code[kept] = np.arange(len(kept), dtype=np.int32)
        indptr, indices = csr.select_items(self._indptr, self._indices, protected(new_code))
        items = self._items.take(kept)
        return Transactions.from_canonical(
            indptr, indices, items, self._multiplicities, self._ids, source=self._source
        )

    def _repeats(self) -> npt.NDArray[np.int64]:
        return np.ones(self.n_rows, dtype=np.int64) if self._multiplicities is None else self._multiplicities


def as_transactions(source: TransactionsLike) -> Transactions:
    """Return transactions as they are, or made from lists, a column of lists, a one-hot frame or a matrix.

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
        lists = encoding.lists_of_frame(source)
        if lists is not None:
            return Transactions.from_lists(lists)
        return Transactions.from_dataframe(source)
    if isinstance(source, Mapping):
        return Transactions.from_lists(source)
    if encoding.is_matrix(source):
        return Transactions.from_matrix(source)
    if hasattr(source, "__iter__"):
        if not isinstance(source, Iterator) and isinstance(next(iter(source), None), Transactions):
            raise InvalidInputError(
                f"expected all transactions at once, got parts of them ({type(source).__name__}); mine, "
                "evaluate, and fit of a class by EM or variational inference take itemix.partitions(...), "
                "partial_fit a part at a time, all else a sample: itemix.partitions(...).take(positions)"
            )
        return Transactions.from_lists(source)
    raise InvalidInputError(
        f"expected transactions, a data frame, a matrix or a list of lists, got {type(source).__name__}; "
        "try Transactions.from_lists"
    )


def weights_of(data: Transactions) -> npt.NDArray[np.int64]:
    """Return the multiplicities as kernels take them: an empty array where each row is one transaction."""
    return _NO_WEIGHTS if data.multiplicities is None else data.multiplicities


def each_transaction(data: Transactions, of_rows: npt.NDArray[S]) -> npt.NDArray[S]:
    """Repeat the values of rows, shape (n_rows, ...), for each transaction that a row stands for."""
    return of_rows if data.multiplicities is None else np.repeat(of_rows, data.multiplicities, axis=0)


def row_blocks(transactions: Transactions, n_rows: int) -> Iterator[Transactions]:
    """Yield the rows of transactions, `n_rows` at a time."""
    if transactions.n_rows <= n_rows:
        yield transactions
        return
    for begin in range(0, transactions.n_rows, n_rows):
        indptr = transactions.indptr[begin : begin + n_rows + 1]
        repeats = transactions.multiplicities
        yield Transactions.from_canonical(
            indptr - indptr[0],
            transactions.indices[indptr[0] : indptr[-1]],
            transactions.items,
            None if repeats is None else repeats[begin : begin + n_rows],
        )


def as_ids(ids: npt.ArrayLike | pa.Array | None, n_rows: int) -> pa.Array | None:
    """Return ids as an Arrow array.

    Raises
    ------
    InvalidInputError
        If there is not one for each row.
    """
    if ids is None:
        return None
    import pyarrow as pa

    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    try:
        array = ids if isinstance(ids, pa.Array) else pa.array(ids)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InvalidInputError(
            f"expected ids that are all numbers or all names, got {ids!r:.60}; convert them with str()"
        ) from None
    if len(array) != n_rows:
        raise InvalidInputError(
            f"expected an id for each of the {n_rows:,} rows, got {len(array):,}; leave ids out if there are "
            "none"
        )
    return array


def joined_ids(parts: Sequence[pa.Array | None]) -> pa.Array | None:
    """Return the ids of all parts; None if a part has none, or they are of different types."""
    if any(part is None or part.type != getattr(parts[0], "type", None) for part in parts):
        return None
    import pyarrow as pa

    return pa.concat_arrays(parts)


def _restored(cls: type[Transactions], *parts: Any) -> Transactions:  # noqa: ANN401 - what was pickled
    *arrays, source = parts
    return cls.from_canonical(*arrays, source=source)
