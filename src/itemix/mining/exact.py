"""The exact miner: lay out the data, run the kernels in threads, put the result together."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from itemix.kernels import assemble, bitsets, closed, control, eclat, maximal, prepare, projection, sorting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix.transactions import Transactions

R = TypeVar("R")

# Above this density, bitsets over all transactions beat the projections of each item.
_DENSE = 0.1
_WAKE_SECONDS = 0.1
# Pairs are counted for as many roots at a time as a table of this size holds.
_PAIR_TABLE_ENTRIES = 1 << 25
_RANGES_PER_THREAD = 4


class Columns(NamedTuple):
    """Itemsets as columns, in the order that `Itemsets` states."""

    offsets: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


class _Pairs(NamedTuple):
    """The frequent companions of each root: their ranks, and how often they occur with it."""

    start: npt.NDArray[np.int64]
    companions: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


Found: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]


class SearchStopped(Exception):  # noqa: N818 - caught by the caller, never seen by users
    """The search went past its limits."""

    def __init__(self, n_found: int) -> None:
        super().__init__(n_found)
        self.n_found = n_found


@dataclass(frozen=True)
class Limits:
    """What to find, and when to stop."""

    min_count: int
    min_len: int
    max_len: int
    max_itemsets: int
    max_bytes: int

    def as_array(self) -> npt.NDArray[np.int64]:
        """Return the limits in the order in which kernels read them."""
        return _readonly(
            np.array([self.min_count, self.min_len, self.max_len, self.max_itemsets, self.max_bytes])
        )


@dataclass
class _Search:
    """The threads of one search, and what they share."""

    n_threads: int
    on_progress: Callable[[int, int], None] | None
    shared: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(4, dtype=np.int64))

    def run(self, jobs: Sequence[Callable[[], R]], n_roots: int) -> list[R]:
        """Run jobs in threads and return their results in order; Ctrl-C stops all of them."""
        with ThreadPoolExecutor(self.n_threads) as pool:
            futures: list[Future[R]] = [pool.submit(job) for job in jobs]
            pending = set(futures)
            try:
                while pending:
                    _, pending = wait(pending, timeout=_WAKE_SECONDS, return_when=FIRST_COMPLETED)
                    if self.on_progress is not None:
                        self.on_progress(int(self.shared[control.N_ROOTS_DONE]), n_roots)
            except BaseException:
                self.shared[control.STOP] = control.CANCELLED
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        if self.shared[control.STOP] == control.TOO_MANY:
            raise SearchStopped(int(self.shared[control.N_FOUND]))
        return [future.result() for future in futures]


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
        return Columns(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
    data = _Layout.of(tx, code_of, counts[code_of])
    search = _Search(n_threads, on_progress)
    kernel = {"all": eclat.search, "closed": closed.search, "maximal": maximal.search}[target]
    if data.is_dense:
        parts = _search_dense(search, kernel, data, limits)
    else:
        parts = _search_sparse(search, kernel, data, limits, both_sides=target != "all")
    if target == "all":
        return _assemble_records(search, parts, code_of, limits.min_len)
    return _assemble_sets(parts, code_of)


@dataclass(frozen=True)
class _Layout:
    """Transactions over ranks: bitsets over all rows for dense data, rows of ranks for sparse data."""

    rank_counts: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]
    planes: npt.NDArray[np.uint64]
    plane_words: npt.NDArray[np.int64]
    row_start: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int32]
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
        row_order, weights = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
        if tx.multiplicities is not None:
            row_order = np.argsort(-tx.multiplicities, kind="stable")
            weights = tx.multiplicities[row_order]
        rows = _readonly(tx.indptr), _readonly(tx.indices), _readonly(row_order), _readonly(rank_of)
        bits, planes = np.empty((0, 0), dtype=np.uint64), np.empty((0, 0), dtype=np.uint64)
        plane_words, row_start, ranks = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
        if rank_counts.sum() >= _DENSE * tx.n_transactions * len(code_of):
            bits = prepare.pack_bitsets(*rows, len(code_of))
            if len(weights):
                planes, plane_words = bitsets.multiplicity_planes(_readonly(weights), bits.shape[1])
        else:
            row_start, ranks, kept = prepare.rows_of_ranks(*rows, len(code_of))
            if len(weights):
                weights = weights[kept]
        arrays = (rank_counts, bits, planes, plane_words, row_start, ranks, weights)
        return cls(*(_readonly(array) for array in arrays))


def _search_dense(
    search: _Search, kernel: Callable[..., Found], data: _Layout, limits: Limits
) -> list[Found]:
    n_roots = len(data.rank_counts)
    queue = np.array([n_roots], dtype=np.int64)
    pairs = (
        _readonly(np.empty(0, np.int64)),
        _readonly(np.empty(0, np.int32)),
        _readonly(np.empty(0, np.int64)),
    )
    nothing = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int32)
    layout = data.rank_counts, data.bits, data.planes, data.plane_words

    def job() -> Found:
        return kernel(search.shared, limits.as_array(), queue, 0, *layout, *pairs, *nothing, data.weights)

    return search.run([job] * search.n_threads, n_roots)


def _search_sparse(
    search: _Search, kernel: Callable[..., Found], data: _Layout, limits: Limits, *, both_sides: bool
) -> list[Found]:
    n_roots = len(data.rank_counts)
    pairs = _count_pairs(search, data, limits.min_count)
    if both_sides:
        pairs = _with_both_sides(pairs)
    pairs = _Pairs(*(_readonly(array) for array in pairs))
    layout = data.rank_counts, data.bits, data.planes, data.plane_words

    def job(first: int, stop: int) -> Found:
        min_companions = 1 if both_sides else 2
        rows = projection.deliver(
            first, stop, *pairs, data.row_start, data.ranks, data.weights, min_companions
        )
        queue = np.array([stop], dtype=np.int64)
        return kernel(search.shared, limits.as_array(), queue, first, *layout, *pairs, *rows, data.weights)

    ranges = _ranges(np.diff(pairs.start) + 1, search.n_threads)
    return search.run([partial(job, first, stop) for first, stop in ranges], n_roots)


def _count_pairs(search: _Search, data: _Layout, min_count: int) -> _Pairs:
    n_roots = len(data.rank_counts)
    rows = data.row_start, data.ranks, data.weights
    n_tables = int(np.ceil(n_roots * n_roots / 2 / _PAIR_TABLE_ENTRIES))
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


def _assemble_records(
    search: _Search, parts: list[Found], code_of: npt.NDArray[np.int32], min_len: int
) -> Columns:
    n_lengths = max(assemble.longest_record(keys) for keys, _, _ in parts) + 1
    histogram = np.zeros((len(code_of), n_lengths), dtype=np.int64)
    for keys, _, segments in parts:
        histogram += assemble.length_histogram(keys, segments, n_lengths)
    histogram[:, : min(min_len, n_lengths)] = 0
    totals = histogram.sum(axis=0)
    lengths = np.arange(n_lengths)
    length_start = np.cumsum(totals) - totals
    code_start = np.cumsum(totals * lengths) - totals * lengths
    positions = np.zeros((len(code_of) + 1, n_lengths), dtype=np.int64)
    positions[1:] = np.cumsum(histogram, axis=0)
    positions += length_start
    positions[:, :min_len] = -1
    n_sets, n_codes = int(totals.sum()), int((totals * lengths).sum())
    out = np.empty(n_sets + 1, np.int64), np.empty(n_codes, np.int32), np.empty(n_sets, np.int64)
    out[0][-1] = n_codes

    places = positions, length_start, code_start, code_of
    search.run([partial(assemble.place_records, *part, *places, *out) for part in parts], len(code_of))
    return Columns(*out)


def _assemble_sets(parts: list[Found], code_of: npt.NDArray[np.int32]) -> Columns:
    n_codes = np.cumsum([0] + [len(ranks) for _, ranks, _ in parts])
    ends = np.concatenate([part[0] + shift for part, shift in zip(parts, n_codes, strict=False)])
    ranks = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[2] for part in parts])
    order = sorting.colex_order(ends, ranks, len(code_of))
    offsets, codes = sorting.gather_sets(ends, ranks, order, code_of)
    return Columns(offsets, codes, counts[order])


def _readonly(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view in C order, so that kernels are compiled for one kind of array only."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
