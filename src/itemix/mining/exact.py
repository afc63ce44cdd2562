"""The exact miner: lay out the data, run the kernels in threads, put the result together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from itemix.kernels import sorting
from itemix.kernels.mining import closed, eclat, maximal, projection
from itemix.kernels.mining.projection import Companions, ProjectedRows
from itemix.mining.columns import Columns
from itemix.mining.layout import Layout, count_pairs, deliver, entry_ranges
from itemix.mining.parallel import Search, readonly_view
from itemix.mining.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.transactions import Transactions
    from itemix.kernels.mining.closed import ThreadSets
    from itemix.kernels.mining.control import SearchLimits

Part = TypeVar("Part")


def mine_exact(
    tx: Transactions,
    target: str,
    limits: SearchLimits,
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
    rank_of = np.full(tx.n_items, -1, dtype=np.int32)
    rank_of[code_of] = np.arange(len(code_of), dtype=np.int32)
    data = Layout.of(tx, rank_of, counts[code_of])
    search = Search(n_threads, on_progress)
    if target == "all":
        records = _search(search, eclat.search, data, limits, both_sides=False)
        return Records.of(records, len(code_of), limits.min_len).columns(search, code_of)
    kernel = closed.search if target == "closed" else maximal.search
    return _assemble_sets(_search(search, kernel, data, limits, both_sides=True), code_of)


def _search(
    search: Search, kernel: Callable[..., Part], data: Layout, limits: SearchLimits, *, both_sides: bool
) -> list[Part]:
    """Let threads run a kernel; searches of whole sets look at companions on both sides of a root."""
    if data.is_dense:
        return _search_dense(search, kernel, data, limits)
    return _search_sparse(search, kernel, data, limits, both_sides=both_sides)


def _search_dense(
    search: Search, kernel: Callable[..., Part], data: Layout, limits: SearchLimits
) -> list[Part]:
    n_roots = len(data.rank_counts)
    queue = np.array([n_roots], dtype=np.int64)
    none, no_ranks = readonly_view(np.empty(0, np.int64)), readonly_view(np.empty(0, np.int32))
    companions = Companions(none, no_ranks, none)
    projected = ProjectedRows(np.empty((0, 2), dtype=np.int64), data.no_entries, data.rows.weights)

    def job() -> Part:
        return kernel(search.shared, limits, queue, 0, data.rank_counts, data.bits, companions, projected)

    return search.run([job] * search.n_threads, n_roots)


def _search_sparse(
    search: Search, kernel: Callable[..., Part], data: Layout, limits: SearchLimits, *, both_sides: bool
) -> list[Part]:
    n_roots = len(data.rank_counts)
    pairs = count_pairs(search, data, limits.min_count)
    if both_sides:
        pairs = _with_both_sides(pairs)
    companions = Companions(*map(readonly_view, pairs))
    min_companions = 1 if both_sides else 2
    bounds = readonly_view(projection.entry_bounds(companions, min_companions))

    def job(first: int, stop: int) -> Part:
        rows = deliver(data, companions, bounds, (first, stop), min_companions)
        queue = np.array([stop], dtype=np.int64)
        return kernel(search.shared, limits, queue, first, data.rank_counts, data.bits, companions, rows)

    jobs = [partial(job, *bound) for bound in entry_ranges(data, bounds, search.n_threads)]
    return search.run(jobs, n_roots)


def _with_both_sides(pairs: Companions) -> Companions:
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
    return Companions(np.concatenate([[0], np.cumsum(sizes)]), right[order], both[order])


def _assemble_sets(parts: list[ThreadSets], code_of: npt.NDArray[np.int32]) -> Columns:
    n_codes = np.cumsum([0] + [len(part.ranks) for part in parts])
    ends = np.concatenate([part.ends + shift for part, shift in zip(parts, n_codes, strict=False)])
    ranks = np.concatenate([part.ranks for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    order = sorting.colex_order(ends, ranks, len(code_of))
    offsets, codes = sorting.gather_sets(ends, ranks, order, code_of)
    return Columns(offsets, codes, counts[order])
