"""Counts: how many transactions each component holds, and how often each item occurs in them.

`Rows` makes transactions ready for many E-steps and returns their expected counts. Items that more than half
of the transactions hold are stored by their absence (`Rows.flipped`). That is the same likelihood with fewer
additions; tables are built for the same choice. Rows are sorted so that they share their first items with
their neighbours, frequent items first. Blocks of rows depend on the data alone and are summed in order, so
the result is the same for any number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, owned, protected
from itemix._runtime import Workers
from itemix.core.transactions import each_transaction, row_blocks, weights_of
from itemix.errors import InvalidInputError
from itemix.kernels import csr, lattice
from itemix.kernels.models import estep
from itemix.kernels.models.estep import PrefixRows, ScoreTables, log_tables, mark_required

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix._typing import Floats
    from itemix.core.transactions import Transactions

# Sums of many shares are not exact.
_ROUNDING = 1e-4
_MAX_BLOCKS = 16
_ADDITIONS_IN_A_BLOCK = 500_000
_CELLS_IN_A_BLOCK = 20_000
_BYTES_OF_SLABS = 48_000_000
_BYTES_OF_COPIES = 80_000_000
_BYTES_OF_A_ROW = 48  # to sort it, or to find rows equal to it
_WORTH_MERGING = 0.8
_N_KEYS = 2  # how many packed integers of first items rows are sorted by


class Counts(Immutable):
    """Expected or sampled counts of the components: an immutable value that adds up.

    Threads, machines and parts of a stream add up their counts: ``Counts(part 1) + Counts(part 2)`` are the
    counts of both parts together, and `sum` adds many.

    Parameters
    ----------
    sizes : array of float, shape (n_components,)
        The number of transactions of each component (the paper's sum of tau, or N_k).
    item_counts : array of float, shape (n_components, n_items)
        How many of them hold each item.
    squares : Counts, optional
        The same sums with the squares of the shares in which transactions belong to the components. The less
        certain the shares are, the smaller the squares. None if each transaction belongs to one component
        only: its share is 1, and so is the square.

    Raises
    ------
    InvalidInputError
        If shapes do not match, a count is negative or not finite, or an item's count is above the component's
        size.
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
                f"{self._sizes[k]:.6g}; count each item once per transaction"
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
        """Let `sum` start from zero."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def scaled(self, factor: float) -> Counts:
        """Return the counts of `factor` times as many transactions."""
        squares = None if self._squares is None else self._squares.scaled(factor)
        return Counts(self._sizes * factor, self._item_counts * factor, squares)

    def with_squares(self, squares: Counts | None) -> Counts:
        """Return the same counts with these sums of squared shares; None for none."""
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


def tables_of_mixture(
    weights: Floats,
    probs: Floats,
    flipped: npt.NDArray[np.bool_] | None = None,
    workers: Workers | None = None,
) -> ScoreTables:
    """Build the tables of weights (K,) and item-major probabilities (D, K); zeros and ones are exact."""
    n_items, n_components = probs.shape
    stored_by_absence = np.zeros(n_items, dtype=np.bool_) if flipped is None else flipped
    odds = np.empty((n_items, n_components))
    cuts = item_blocks(n_items, n_components)

    def block(b: int) -> tuple[Floats, npt.NDArray[np.int64]]:
        base, n_required = np.zeros(n_components), np.zeros(n_components, dtype=np.int64)
        log_tables(probs, stored_by_absence, cuts[b], cuts[b + 1], odds, base, n_required)
        return base, n_required

    with np.errstate(divide="ignore"):
        base = np.log(weights)
    total_required = np.zeros(n_components, dtype=np.int64)
    for part, n_required in (Workers() if workers is None else workers).map(block, len(cuts) - 1):
        base += part
        total_required += n_required
    if not total_required.any():
        return ScoreTables.without_requirements(odds, base)
    required = np.empty((n_items, n_components), dtype=np.float32)
    mark_required(probs, stored_by_absence, required)
    return ScoreTables(odds, base, required, total_required.astype(np.float32))


def item_blocks(n_items: int, n_components: int) -> npt.NDArray[np.int64]:
    """Cut the items into blocks for tables; their number never depends on the threads."""
    n_blocks = max(1, min(_MAX_BLOCKS, n_items * n_components // _CELLS_IN_A_BLOCK))
    return np.linspace(0, n_items, n_blocks + 1).astype(np.int64)


class Rows:
    """Transactions made ready for many E-steps.

    Parameters
    ----------
    transactions : Transactions
        The data; identical rows are merged if that saves a fifth or more.
    workers : Workers
        The threads that work on it.
    flipped : array of bool, shape (n_items,), optional
        The items that are stored by their absence, where that is not for this data to decide.

    Notes
    -----
    Merging, flipping and sorting make copies, at most two at a time. They are left out if a copy would be
    larger than 80 MB: such data is prepared block by block (`SplitRows`).
    """

    def __init__(
        self,
        transactions: Transactions,
        workers: Workers,
        flipped: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self.items = transactions.items
        self.workers = workers
        self.n_transactions = transactions.n_transactions
        self.item_totals = transactions.item_counts()
        self.flipped = np.zeros(transactions.n_items, dtype=np.bool_)
        self._cuts: dict[int, npt.NDArray[np.int64]] = {}
        self._indptr, self._indices = transactions.indptr, transactions.indices
        self._weights = weights_of(transactions)
        self._shared = protected(np.empty(0, dtype=np.int32))
        if flipped is not None or blocks_to_prepare(transactions) == 1:
            often = 2 * self.item_totals > self.n_transactions
            self._prepare(transactions, often if flipped is None else flipped)

    def _prepare(self, transactions: Transactions, flipped: npt.NDArray[np.bool_]) -> None:
        data = merged_if_worth_it(transactions)
        weights = weights_of(data)
        self.flipped = flipped
        indptr, indices = data.indptr, data.indices
        del data
        if self.flipped.any():
            indptr, indices = map(protected, csr.flip_items(indptr, indices, self.flipped))
        order, self._indptr, self._indices = _in_order(indptr, indices, self.n_items)
        self._weights = protected(weights[order]) if len(weights) else weights
        self._shared = protected(csr.shared_prefixes(self._indptr, self._indices))

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.flipped)

    def expected_counts(self, tables: ScoreTables, *, squared: bool = False) -> tuple[Counts, float]:
        """Return the expected counts and the sum of the rows' log-sum-exps.

        Parameters
        ----------
        tables : ScoreTables
            The model.
        squared : bool
            Sum the squares of responsibilities instead (see `Counts.squares`).
        """
        n_items, n_components = tables.odds.shape
        cuts = self._blocks(n_components)
        rows = PrefixRows(self._indptr, self._indices, self._shared, self._weights)

        def block(b: int) -> tuple[float, Floats, Floats]:
            sizes = np.zeros(n_components)
            slab = np.zeros((n_items, n_components))
            value = estep.expected_counts(rows, cuts[b], cuts[b + 1], tables, squared, sizes, slab)
            return value, sizes, slab

        return self._gather(self.workers.map(block, len(cuts) - 1))

    def _gather(self, parts: list[tuple[float, Floats, Floats]]) -> tuple[Counts, float]:
        value, sizes, slab = parts[0]
        for more, more_sizes, more_slab in parts[1:]:
            value += more
            sizes += more_sizes
            slab += more_slab
        # Sums in different orders differ by rounding errors, so an item's can exceed the size a little.
        np.minimum(slab, sizes, out=slab)
        slab[self.flipped] = sizes - slab[self.flipped]
        return Counts(protected(sizes), protected(slab).T), float(value)

    def _blocks(self, n_components: int) -> npt.NDArray[np.int64]:
        """Cut the rows into blocks of equal work; their number depends on the data, never on the threads."""
        if n_components not in self._cuts:
            self._cuts[n_components] = self._cut(n_components)
        return self._cuts[n_components]

    def _cut(self, n_components: int) -> npt.NDArray[np.int64]:
        cells = max(self.n_items * n_components, 1)
        additions = (len(self._indices) + self.n_items) * n_components
        n_blocks = min(
            _MAX_BLOCKS,
            additions // _ADDITIONS_IN_A_BLOCK,
            _BYTES_OF_SLABS // (8 * cells),
            len(self._indices) // (16 * max(self.n_items, 1)),
        )
        work = self._indptr + np.arange(len(self._indptr))
        goals = np.linspace(0, work[-1], max(int(n_blocks), 1) + 1)
        cuts = np.searchsorted(work, goals)
        cuts[-1] = len(self._indptr) - 1
        return cuts.astype(np.int64)


def blocks_to_prepare(transactions: Transactions) -> int:
    """Return into how many blocks transactions are cut, so that a copy of a block takes 80 MB at most."""
    n_bytes = _BYTES_OF_A_ROW * transactions.n_rows + 4 * len(transactions.indices)
    return max(-(-n_bytes // _BYTES_OF_COPIES), 1)


class SplitRows:
    """The rows of transactions in parts: what `Rows` are for those in memory.

    Every part is made ready where it lies, and its counts are added to those of the others, in order.

    Parameters
    ----------
    data : itemix.Partitions
        The transactions.
    workers : Workers
        The threads that work on a part, where parts are in this process.
    """

    def __init__(self, data: Any, workers: Workers) -> None:  # noqa: ANN401 - it is defined above this layer
        self.items = data.items
        self.workers = workers
        self.n_transactions: int = data.n_transactions
        self.item_totals: npt.NDArray[np.int64] = data.item_counts()
        self.flipped = 2 * self.item_totals > self.n_transactions
        own = workers if data.parts.is_here else Workers()
        self._parts = data.keep(partial(_prepared, workers=own, flipped=self.flipped))

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.flipped)

    def expected_counts(self, tables: ScoreTables, *, squared: bool = False) -> tuple[Counts, float]:
        """Return the expected counts and the sum of the rows' log-sum-exps: see `Rows.expected_counts`."""
        return _total(self._parts.map(partial(_counts_of_part, tables=tables, squared=squared)))


def _prepared(part: Transactions, workers: Workers, flipped: npt.NDArray[np.bool_]) -> list[Rows]:
    """Make a part ready, in blocks if it is large."""
    n_rows = max(-(-part.n_rows // blocks_to_prepare(part)), 1)
    return [Rows(block, workers, flipped) for block in row_blocks(part, n_rows)]


def _counts_of_part(part: list[Rows], tables: ScoreTables, *, squared: bool) -> tuple[Counts, float]:
    return _total(rows.expected_counts(tables, squared=squared) for rows in part)


def _total(found: Iterator[tuple[Counts, float]]) -> tuple[Counts, float]:
    counts, value = next(found)
    for more, more_value in found:
        counts, value = counts + more, value + more_value
    return counts, value


def merged_if_worth_it(transactions: Transactions) -> Transactions:
    """Return transactions with identical rows merged, if that saves a fifth of the rows or more."""
    merged = transactions.merge_identical()
    return merged if merged.n_rows < _WORTH_MERGING * transactions.n_rows else transactions


def _in_order(
    indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32], n_items: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Sort the items of each row by falling frequency, and the rows by their first items.

    Return the order of the rows, and the rows.
    """
    code_of = np.argsort(-np.bincount(indices, minlength=n_items), kind="stable").astype(np.int32)
    rank = np.empty(n_items, dtype=np.int32)
    rank[code_of] = np.arange(n_items, dtype=np.int32)
    ranks = rank[indices]
    csr.sort_rows(ranks, indptr[1:].copy(), len(indptr) - 1)
    keys = csr.prefix_keys(indptr, ranks, int(n_items).bit_length(), _N_KEYS)
    order = np.lexsort(keys[::-1])
    sorted_indptr, sorted_indices = lattice.gather_sets(indptr[1:], ranks, order, code_of)
    return order, protected(sorted_indptr), protected(sorted_indices)


def counts_of_labels(transactions: Transactions, labels: npt.NDArray[Any], n_components: int) -> Counts:
    """Return the counts if each transaction belongs to the component of its label."""
    sizes = np.zeros(n_components)
    slab = np.zeros((transactions.n_items, n_components))
    rows = each_transaction(transactions, np.arange(transactions.n_rows))
    estep.label_counts(transactions.indptr, transactions.indices, rows, labels.astype(np.int64), sizes, slab)
    return Counts(sizes, slab.T)
