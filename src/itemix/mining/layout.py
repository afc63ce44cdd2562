"""Transactions laid out for searches over ranks: bitsets, or rows of ranks with the pairs in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.kernels import bitsets
from itemix.kernels.bitsets import Bitsets
from itemix.kernels.mining import projection
from itemix.kernels.mining.projection import Companions, ProjectedRows, RankRows, RowIndex
from itemix.mining.search import readonly_view

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions
    from itemix.mining.search import Search

    PairsFound = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]

# Above this density, bitsets over all transactions are faster than projections of each item.
_DENSE = 0.1
# Pairs are counted, and rows delivered, for as many roots at a time as an array of this size holds.
_BYTES_AT_A_TIME = 1 << 21
# Each delivery reads all rows. So it takes at least this part of their size: else time grows with its square.
_PART_AT_A_TIME = 1 / 3
_RANGES_PER_THREAD = 4
# With more items than this, the rows of each item are looked up in an index.
_MANY_ITEMS = 6144


@dataclass(frozen=True)
class Layout:
    """Transactions over ranks: bitsets over all rows for dense data, rows of ranks for sparse data."""

    rank_counts: npt.NDArray[np.int64]
    bits: Bitsets
    rows: RankRows
    index: RowIndex | None

    @property
    def is_dense(self) -> bool:
        """Whether these are bitsets."""
        return len(self.bits.rows) > 0

    @property
    def no_entries(self) -> npt.NDArray[Any]:
        """An empty array of the type of the entries in which rows are delivered."""
        # Rows without weights need no row numbers, so that ranks of 16 bits are enough.
        is_small = self.rows.weights.dtype == np.int32 and len(self.rank_counts) <= np.iinfo(np.int16).max
        return np.empty(0, dtype=np.int16 if is_small else np.int32)

    @classmethod
    def of(
        cls, tx: Transactions, rank_of: npt.NDArray[np.int32], rank_counts: npt.NDArray[np.int64]
    ) -> Layout:
        """Lay out transactions, given the rank of each item (-1: left out) and how often each rank occurs."""
        # The type tells whether rows have weights (int64) or not (int32). Kernels are compiled for each.
        row_order = np.empty(0, dtype=np.int64)
        weights: npt.NDArray[Any] = np.empty(0, dtype=np.int32)
        if tx.multiplicities is not None:
            row_order = np.argsort(-tx.multiplicities, kind="stable")
            weights = tx.multiplicities[row_order]
        data = (
            readonly_view(tx.indptr),
            readonly_view(tx.indices),
            readonly_view(row_order),
            readonly_view(rank_of),
        )
        bits, planes = np.empty((0, 0), dtype=np.uint64), np.empty((0, 0), dtype=np.uint64)
        plane_words, row_start = np.empty(0, np.int64), np.empty(0, np.int64)
        # Small ranks take half the memory, and half the time to read it. Most are small.
        ranks = np.empty(0, np.uint16 if len(rank_counts) <= np.iinfo(np.uint16).max else np.int32)
        if is_dense(rank_counts, tx.n_transactions):
            bits = projection.pack_bitsets(*data, len(rank_counts))
            if len(weights):
                planes, plane_words = bitsets.multiplicity_planes(readonly_view(weights), bits.shape[1])
        else:
            row_start, ranks, kept = projection.rows_of_ranks(*data, ranks)
            if len(weights):
                weights = weights[kept]
        rows = RankRows(*map(readonly_view, (row_start, ranks, weights)))
        index = None
        if len(row_start) and len(rank_counts) > _MANY_ITEMS:
            found = projection.index_rows(rows.start, rows.ranks, len(rank_counts))
            index = RowIndex(*map(readonly_view, found))
        bitset = Bitsets(*map(readonly_view, (bits, planes, plane_words)))
        return cls(readonly_view(rank_counts), bitset, rows, index)


def is_dense(rank_counts: npt.NDArray[np.int64], n_transactions: int) -> bool:
    """Whether bitsets over all transactions are the better layout."""
    return bool(rank_counts.sum() >= _DENSE * n_transactions * len(rank_counts))


def count_pairs(search: Search, data: Layout, min_count: int) -> Companions:
    """Count the pairs of sparse data, and keep those that occur at least `min_count` times."""
    n_roots = len(data.rank_counts)
    if data.index is not None:
        return _indexed_pairs(search, data, data.index, min_count)
    n_tables = math.ceil(n_roots * n_roots / 2 * data.rows.weights.itemsize / _BYTES_AT_A_TIME)
    # The table of a root is as long as its rank, and its time grows with its count times its rank.
    bounds = ranges(data.rank_counts * np.arange(1, n_roots + 1), search.n_threads, at_least=n_tables)
    parts = search.run(
        [partial(projection.count_pairs, *bound, data.rows, min_count) for bound in bounds], n_roots
    )
    return _joined(parts)


def _indexed_pairs(search: Search, data: Layout, index: RowIndex, min_count: int) -> Companions:
    rows = data.rows
    work = projection.pair_bounds(rows.start, rows.ranks, len(data.rank_counts))
    n_tables = math.ceil(work.sum() * rows.weights.itemsize / _BYTES_AT_A_TIME)
    bounds = ranges(work + 1, search.n_threads, at_least=n_tables)
    room = readonly_view(work)
    jobs = [partial(projection.count_indexed_pairs, *bound, rows, min_count, index, room) for bound in bounds]
    return _joined(search.run(jobs, len(work)))


def _joined(parts: list[PairsFound]) -> Companions:
    sizes, ranks, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Companions(np.concatenate([[0], np.cumsum(sizes)]), ranks, counts)


def deliver(
    data: Layout,
    companions: Companions,
    bounds: npt.NDArray[np.int64],
    roots: tuple[int, int],
    min_companions: int,
) -> ProjectedRows:
    """Write the rows of each root of a range in terms of its companions; see `projection.deliver`."""
    arguments = *roots, companions, bounds, data.rows, min_companions, data.no_entries
    if data.index is None:
        return projection.deliver(*arguments)
    return projection.deliver_indexed(*arguments, data.index)


def ranges(work: npt.NDArray[np.int64], n_threads: int, at_least: int = 1) -> list[tuple[int, int]]:
    """Cut roots into ranges of about equal work; the result of a search does not depend on them."""
    n_parts = max(at_least, 1 if n_threads == 1 else n_threads * _RANGES_PER_THREAD)
    done = np.cumsum(work, dtype=np.float64)
    cuts = np.searchsorted(done, done[-1] * np.arange(1, n_parts) / n_parts)
    bounds = np.unique(np.concatenate([[0], cuts, [len(work)]]))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def entry_ranges(data: Layout, bounds: npt.NDArray[np.int64], n_threads: int) -> list[tuple[int, int]]:
    """Cut roots into ranges whose rows are delivered at a time; `bounds` as in `projection.entry_bounds`."""
    weights = data.rows.weights
    n_entries = bounds.sum() / (weights.mean() if len(weights) else 1)
    n_bytes = n_entries * data.no_entries.itemsize
    at_a_time = max(_BYTES_AT_A_TIME, _PART_AT_A_TIME * data.rows.ranks.nbytes)
    return ranges(bounds + 1, n_threads, at_least=math.ceil(n_bytes / at_a_time))
