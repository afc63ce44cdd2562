"""The exact miner: lay out the data, run the kernels in threads, put the result together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.kernels import bitsets, closed, eclat, maximal, prepare, projection, sorting
from itemix.mining.columns import Columns
from itemix.mining.parallel import Found, Limits, Search, assemble_records, readonly_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.transactions import Transactions

# Above this density, bitsets over all transactions beat the projections of each item.
_DENSE = 0.1
# Pairs are counted, and rows delivered, for as many roots at a time as an array of this size holds.
_ENTRIES_AT_A_TIME = 1 << 19
_RANGES_PER_THREAD = 4


class _Pairs(NamedTuple):
    """The frequent companions of each root: their ranks, and how often they occur with it."""

    start: npt.NDArray[np.int64]
    companions: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


def mine_exact(
    tx: Transactions,
    target: str,
    limits: Limits,
    n_threads: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> Columns:
    """Mine transactions exactly.

    Raises
    ------
    SearchStopped
        If there are more itemsets than the limits allow.
    """
    counts = tx.item_counts()
    frequent = np.flatnonzero(counts >= limits.min_count)
    code_of = frequent[np.argsort(-counts[frequent], kind="stable")].astype(np.int32)
    if len(code_of) == 0:
        return Columns.empty()
    data = _Layout.of(tx, code_of, counts[code_of])
    search = Search(n_threads, on_progress)
    kernel = {"all": eclat.search, "closed": closed.search, "maximal": maximal.search}[target]
    if data.is_dense:
        parts = _search_dense(search, kernel, data, limits)
    else:
        parts = _search_sparse(search, kernel, data, limits, both_sides=target != "all")
    if target == "all":
        return assemble_records(search, parts, code_of, limits.min_len)
    return _assemble_sets(parts, code_of)


@dataclass(frozen=True)
class _Layout:
    """Transactions over ranks: bitsets over all rows for dense data, rows of ranks for sparse data."""

    rank_counts: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]
    planes: npt.NDArray[np.uint64]
    plane_words: npt.NDArray[np.int64]
    row_start: npt.NDArray[np.int64]
    ranks: npt.NDArray[Any]
    weights: npt.NDArray[Any]

    @property
    def is_dense(self) -> bool:
        return len(self.bits) > 0

    @classmethod
    def of(
        cls, tx: Transactions, code_of: npt.NDArray[np.int32], rank_counts: npt.NDArray[np.int64]
    ) -> _Layout:
        rank_of = np.full(tx.n_items, -1, dtype=np.int32)
        rank_of[code_of] = np.arange(len(code_of), dtype=np.int32)
        # The type says whether rows are weighted: kernels are compiled once for each.
        row_order = np.empty(0, dtype=np.int64)
        weights: npt.NDArray[Any] = np.empty(0, dtype=np.int32)
        if tx.multiplicities is not None:
            row_order = np.argsort(-tx.multiplicities, kind="stable")
            weights = tx.multiplicities[row_order]
        rows = (
            readonly_view(tx.indptr),
            readonly_view(tx.indices),
            readonly_view(row_order),
            readonly_view(rank_of),
        )
        bits, planes = np.empty((0, 0), dtype=np.uint64), np.empty((0, 0), dtype=np.uint64)
        plane_words, row_start = np.empty(0, np.int64), np.empty(0, np.int64)
        # Half the memory, and half the time to read it, where ranks are small; they mostly are.
        ranks = np.empty(0, np.uint16 if len(code_of) <= np.iinfo(np.uint16).max else np.int32)
        if rank_counts.sum() >= _DENSE * tx.n_transactions * len(code_of):
            bits = prepare.pack_bitsets(*rows, len(code_of))
            if len(weights):
                planes, plane_words = bitsets.multiplicity_planes(readonly_view(weights), bits.shape[1])
        else:
            row_start, ranks, kept = prepare.rows_of_ranks(*rows, ranks)
            if len(weights):
                weights = weights[kept]
        arrays = (rank_counts, bits, planes, plane_words, row_start, ranks, weights)
        return cls(*(readonly_view(array) for array in arrays))


def _search_dense(search: Search, kernel: Callable[..., Found], data: _Layout, limits: Limits) -> list[Found]:
    n_roots = len(data.rank_counts)
    queue = np.array([n_roots], dtype=np.int64)
    pairs = (
        readonly_view(np.empty(0, np.int64)),
        readonly_view(np.empty(0, np.int32)),
        readonly_view(np.empty(0, np.int64)),
    )
    nothing = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int32)
    layout = data.rank_counts, data.bits, data.planes, data.plane_words

    def job() -> Found:
        return kernel(search.shared, limits.as_array(), queue, 0, *layout, *pairs, *nothing, data.weights)

    return search.run([job] * search.n_threads, n_roots)


def _search_sparse(
    search: Search, kernel: Callable[..., Found], data: _Layout, limits: Limits, *, both_sides: bool
) -> list[Found]:
    n_roots = len(data.rank_counts)
    pairs = _count_pairs(search, data, limits.min_count)
    if both_sides:
        pairs = _with_both_sides(pairs)
    pairs = _Pairs(*(readonly_view(array) for array in pairs))
    min_companions = 1 if both_sides else 2
    bounds = readonly_view(projection.entry_bounds(*pairs, min_companions))
    layout = data.rank_counts, data.bits, data.planes, data.plane_words

    def job(first: int, stop: int) -> Found:
        rows = projection.deliver(
            first,
            stop,
            pairs.start,
            pairs.companions,
            bounds,
            data.row_start,
            data.ranks,
            data.weights,
            min_companions,
        )
        queue = np.array([stop], dtype=np.int64)
        return kernel(search.shared, limits.as_array(), queue, first, *layout, *pairs, *rows, data.weights)

    n_entries = bounds.sum() / (data.weights.mean() if len(data.weights) else 1)
    ranges = _ranges(bounds + 1, search.n_threads, at_least=math.ceil(n_entries / _ENTRIES_AT_A_TIME))
    return search.run([partial(job, first, stop) for first, stop in ranges], n_roots)


def _count_pairs(search: Search, data: _Layout, min_count: int) -> _Pairs:
    n_roots = len(data.rank_counts)
    rows = data.row_start, data.ranks, data.weights
    n_tables = math.ceil(n_roots * n_roots / 2 / _ENTRIES_AT_A_TIME)
    # A root's table is as long as its rank, and its time about as its count times its rank.
    bounds = _ranges(data.rank_counts * np.arange(1, n_roots + 1), search.n_threads, at_least=n_tables)
    parts = search.run(
        [partial(projection.count_pairs, *bound, *rows, min_count) for bound in bounds], n_roots
    )
    sizes, companions, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Pairs(np.concatenate([[0], np.cumsum(sizes)]), companions, counts)


def _with_both_sides(pairs: _Pairs) -> _Pairs:
    """List each frequent pair at both of its items; companions ascend."""
    start, companions, counts = pairs
    roots = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    # Roots come in order, so the pairs seen from the other side are already sorted by root within a
    # companion.
    by_companion = np.argsort(companions, kind="stable")
    left = np.concatenate([roots, companions[by_companion]])
    right = np.concatenate([companions, roots[by_companion]])
    both = np.concatenate([counts, counts[by_companion]])
    order = np.argsort(left, kind="stable")
    sizes = np.bincount(left, minlength=len(start) - 1)
    return _Pairs(np.concatenate([[0], np.cumsum(sizes)]), right[order], both[order])


def _ranges(work: npt.NDArray[np.int64], n_threads: int, at_least: int = 1) -> list[tuple[int, int]]:
    """Cut roots into ranges of about equal work; the result of a search does not depend on them."""
    n_parts = max(at_least, 1 if n_threads == 1 else n_threads * _RANGES_PER_THREAD)
    done = np.cumsum(work, dtype=np.float64)
    cuts = np.searchsorted(done, done[-1] * np.arange(1, n_parts) / n_parts)
    bounds = np.unique(np.concatenate([[0], cuts, [len(work)]]))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def _assemble_sets(parts: list[Found], code_of: npt.NDArray[np.int32]) -> Columns:
    n_codes = np.cumsum([0] + [len(ranks) for _, ranks, _ in parts])
    ends = np.concatenate([part[0] + shift for part, shift in zip(parts, n_codes, strict=False)])
    ranks = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[2] for part in parts])
    order = sorting.colex_order(ends, ranks, len(code_of))
    offsets, codes = sorting.gather_sets(ends, ranks, order, code_of)
    return Columns(offsets, codes, counts[order])
