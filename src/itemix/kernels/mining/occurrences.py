"""Sparse data with very many items, seen from each of its items: what `projection` does, by way of an index.

`projection` reads all rows in order for a range of roots, with a table of all pairs of that range. Both are
small as long as items are few; with tens of thousands of them there are thousands of ranges, and nearly all
of each table stays empty. Here each root asks for its own rows, so that the work is that of the pairs that
occur. A row that is asked for is seldom in the cache, which is why this is not the way for fewer items.

Shapes as in `projection`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import kernel
from itemix.kernels.mining.projection import Companions, ProjectedRows, RankRows


class RowIndex(NamedTuple):
    """The rows that hold each rank.

    Attributes
    ----------
    start : array of int64, shape (F + 1,)
        Where the list of each rank starts.
    rows : array of int32, shape (nnz,)
        The rows of all lists, ascending in each.
    """

    start: np.ndarray
    rows: np.ndarray


@kernel
def index_rows(row_start: np.ndarray, ranks: np.ndarray, n_ranks: int) -> RowIndex:
    """List the rows that hold each rank."""
    start = np.zeros(n_ranks + 1, dtype=np.int64)
    for p in range(len(ranks)):
        start[np.int64(ranks[p]) + 1] += 1
    for r in range(n_ranks):
        start[r + 1] += start[r]
    fill = start[:-1].copy()
    rows = np.empty(len(ranks), dtype=np.int32)
    for t in range(len(row_start) - 1):
        for p in range(row_start[t], row_start[t + 1]):
            rows[fill[ranks[p]]] = t
            fill[ranks[p]] += 1
    return RowIndex(start, rows)


@kernel
def pair_bounds(row_start: np.ndarray, ranks: np.ndarray, n_ranks: int) -> np.ndarray:
    """How many pairs of each root with a more frequent item its rows hold (F,) int64, repeated ones too."""
    bounds = np.zeros(n_ranks, dtype=np.int64)
    for t in range(len(row_start) - 1):
        for p in range(row_start[t], row_start[t + 1]):
            bounds[ranks[p]] += p - row_start[t]
    return bounds


@kernel
def count_pairs(
    first_root: int,
    stop_root: int,
    rows: RankRows,
    min_count: int,
    index: RowIndex,
    bounds: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count each root of a range with every more frequent item; returns what `projection.count_pairs` does.

    `bounds` (F,) int64 is what `pair_bounds` returns.
    """
    row_start, ranks, weights = rows
    index_start, index_rows = index
    n_roots = stop_root - first_root
    room, most = 0, 0
    for root in range(first_root, stop_root):
        # A pair that counts must occur so often; with weights, once may do.
        room += min(bounds[root] if len(weights) else bounds[root] // min_count, root)
        most = max(most, min(bounds[root], root))
    sizes = np.zeros(n_roots, dtype=np.int64)
    companions = np.empty(room, dtype=np.int32)
    counts = np.empty(room, dtype=np.int64)
    table = np.zeros(stop_root, dtype=np.int64)
    seen = np.empty(most, dtype=np.int32)
    c = 0
    for root in range(first_root, stop_root):
        n_seen = _count_with(
            root,
            row_start,
            ranks,
            weights,
            index_rows[index_start[root] : index_start[root + 1]],
            table,
            seen,
        )
        n_kept = 0
        for s in range(n_seen):
            if table[seen[s]] >= min_count:
                companions[c + n_kept] = seen[s]
                n_kept += 1
            else:
                table[seen[s]] = 0
        companions[c : c + n_kept].sort()
        for k in range(c, c + n_kept):
            counts[k] = table[companions[k]]
            table[companions[k]] = 0
        sizes[root - first_root] = n_kept
        c += n_kept
    return sizes, companions[:c].copy(), counts[:c].copy()


@kernel
def _count_with(
    root: int,
    row_start: np.ndarray,
    ranks: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    table: np.ndarray,
    seen: np.ndarray,
) -> int:
    """Add the rows of a root to `table`, list the ranks that it had not counted yet, and say how many."""
    n_seen = 0
    for t in rows:
        weight = weights[t] if len(weights) else 1
        p = row_start[t]
        while ranks[p] < root:
            if table[ranks[p]] == 0:
                seen[n_seen] = ranks[p]
                n_seen += 1
            table[ranks[p]] += weight
            p += 1
    return n_seen


@kernel
def deliver(
    first_root: int,
    stop_root: int,
    companions: Companions,
    bounds: np.ndarray,
    rows: RankRows,
    min_companions: int,
    like: np.ndarray,
    index: RowIndex,
) -> ProjectedRows:
    """Write the rows of each root of a range in terms of its companions, as `projection.deliver` does."""
    n_roots = stop_root - first_root
    spans = np.zeros((n_roots, 2), dtype=np.int64)
    place = np.full(len(companions.start) - 1, -1, dtype=np.int32)
    if len(rows.weights):
        nothing = np.empty(0, dtype=like.dtype)
        _deliver_rows(first_root, companions, rows, index, min_companions, place, spans, nothing)
    else:
        # Where rows count once, `entry_bounds` says how many entries there can be: one pass is enough.
        for k in range(n_roots):
            spans[k, 1] = bounds[first_root + k]
    total = 0
    for k in range(n_roots):
        size = spans[k, 1]
        spans[k, 0], spans[k, 1] = total, total
        total += size
    entries = np.empty(total, dtype=like.dtype)
    if total > 0:
        _deliver_rows(first_root, companions, rows, index, min_companions, place, spans, entries)
    return ProjectedRows(spans, entries, rows.weights)


@kernel
def _deliver_rows(
    first_root: int,
    companions: Companions,
    rows: RankRows,
    index: RowIndex,
    min_companions: int,
    place: np.ndarray,
    spans: np.ndarray,
    entries: np.ndarray,
) -> None:
    """Move spans[:, 1] on by what the rows of each root take; write it there where `entries` has room.

    `place` (F,) int32 is -1 before and after: the place of each companion of a root among them.
    """
    companion_start, companion_ranks = companions.start, companions.ranks
    row_start, ranks = rows.start, rows.ranks
    index_start, index_rows = index
    are_numbered = len(rows.weights) > 0
    for k in range(len(spans)):
        root = first_root + k
        first, stop = companion_start[root], companion_start[root + 1]
        if stop - first < min_companions:
            continue
        for c in range(first, stop):
            place[companion_ranks[c]] = c - first
        at = spans[k, 1]
        for j in range(index_start[root], index_start[root + 1]):
            t = index_rows[j]
            n_before, n_after = 0, 0
            for p in range(row_start[t], row_start[t + 1]):
                n_before += ranks[p] < root and place[ranks[p]] >= 0
                n_after += ranks[p] > root and place[ranks[p]] >= 0
            if n_before < min_companions:
                continue
            if len(entries) == 0:
                at += 1 + n_before + n_after
                continue
            entries[at] = ~t if are_numbered else -1
            at += 1
            for p in range(row_start[t], row_start[t + 1]):
                if place[ranks[p]] >= 0:
                    entries[at] = place[ranks[p]]
                    at += 1
        spans[k, 1] = at
        for c in range(first, stop):
            place[companion_ranks[c]] = -1
