"""Prepare transactions for mining: drop infrequent items, rank the others, lay them out for the search.

Items are ranked by their count: rank 0 is the most frequent one, ties go to the smaller code. The two layouts
are bitsets over all rows (dense data) and rows of ranks with their transpose (sparse data).

Shapes: `indptr` (N + 1,) int64, `indices` (nnz,) int32, `rank_of` (n_items,) int32 with -1 for dropped items.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.bitsets import WORD_BITS, padded_words
from itemix.kernels.jit import kernel


@kernel
def pack_bitsets(
    indptr: np.ndarray, indices: np.ndarray, row_order: np.ndarray, rank_of: np.ndarray, n_ranks: int
) -> np.ndarray:
    """Bitsets (n_ranks, words) uint64: bit b of row r says that row_order[b] (or b) holds rank r."""
    n_rows = len(indptr) - 1
    bits = np.zeros((n_ranks, padded_words(n_rows)), dtype=np.uint64)
    for b in range(n_rows):
        t = row_order[b] if len(row_order) else b
        word = b // WORD_BITS
        mask = np.uint64(1) << np.uint64(b % WORD_BITS)
        for j in range(indptr[t], indptr[t + 1]):
            r = rank_of[indices[j]]
            if r >= 0:
                bits[r, word] |= mask
    return bits


@kernel
def rows_of_ranks(
    indptr: np.ndarray, indices: np.ndarray, row_order: np.ndarray, rank_of: np.ndarray, n_ranks: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of ascending ranks, for the rows (in `row_order`) with at least two frequent items.

    Transposing twice sorts every row without a comparison. Returns row pointers, ranks, and which rows of
    `row_order` were kept.
    """
    n_rows = len(indptr) - 1
    row_start = np.zeros(n_rows + 1, dtype=np.int64)
    kept = np.empty(n_rows, dtype=np.int64)
    item_start = np.zeros(n_ranks + 1, dtype=np.int64)
    n_kept = 0
    for b in range(n_rows):
        t = row_order[b] if len(row_order) else b
        length = 0
        for j in range(indptr[t], indptr[t + 1]):
            length += rank_of[indices[j]] >= 0
        if length < 2:
            continue
        for j in range(indptr[t], indptr[t + 1]):
            r = rank_of[indices[j]]
            if r >= 0:
                item_start[r + 1] += 1
        row_start[n_kept + 1] = row_start[n_kept] + length
        kept[n_kept] = b
        n_kept += 1
    for r in range(n_ranks):
        item_start[r + 1] += item_start[r]
    rows = np.empty(item_start[n_ranks], dtype=np.int32)
    fill = item_start[:-1].copy()
    for k in range(n_kept):
        t = row_order[kept[k]] if len(row_order) else kept[k]
        for j in range(indptr[t], indptr[t + 1]):
            r = rank_of[indices[j]]
            if r >= 0:
                rows[fill[r]] = k
                fill[r] += 1
    ranks = np.empty(len(rows), dtype=np.int32)
    ends = row_start[:n_kept].copy()
    for r in range(n_ranks):
        for j in range(item_start[r], item_start[r + 1]):
            t = rows[j]
            ranks[ends[t]] = r
            ends[t] += 1
    return row_start[: n_kept + 1].copy(), ranks, kept[:n_kept].copy()
