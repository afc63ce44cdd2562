"""Prepare transactions for mining: drop infrequent items, rank the others, lay them out for the search.

Items are ranked by their count: rank 0 is the most frequent one, ties go to the smaller code. The two layouts
are bitsets over all rows (dense data) and rows of ranks (sparse data).

Shapes: `indptr` (N + 1,) int64, `indices` (nnz,) int32, `rank_of` (n_items,) int32 with -1 for dropped items.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.bitsets import WORD_BITS, padded_words
from itemix.kernels.jit import kernel

_LONG_ROW = 64
_LANES = 16


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
    indptr: np.ndarray, indices: np.ndarray, row_order: np.ndarray, rank_of: np.ndarray, like: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of ascending ranks, for the rows (in `row_order`, if given) with at least two frequent items.

    Returns row pointers, ranks (of the type of `like`, in which they must fit), and where `row_order` is
    given which places of it were kept.
    """
    n_rows = len(indptr) - 1
    n_kept, n_ones, longest = 0, 0, 0
    for t in range(n_rows):
        length = 0
        for j in range(indptr[t], indptr[t + 1]):
            length += rank_of[indices[j]] >= 0
        longest = max(longest, length)
        if length >= 2:
            n_kept += 1
            n_ones += length
    row_start = np.zeros(n_kept + 1, dtype=np.int64)
    ranks = np.empty(n_ones, dtype=like.dtype)
    kept = np.empty(n_kept if len(row_order) else 0, dtype=np.int64)
    row = np.empty(longest + _LANES, dtype=like.dtype)
    k, at = 0, 0
    for b in range(n_rows):
        t = row_order[b] if len(row_order) else b
        n = 0
        for j in range(indptr[t], indptr[t + 1]):
            r = rank_of[indices[j]]
            row[n] = r  # written over by the next one where it is none
            n += r >= 0
        if n < 2:
            continue
        _write_sorted(row, n, ranks, at)
        at += n
        row_start[k + 1] = at
        if len(row_order):
            kept[k] = b
        k += 1
    return row_start, ranks, kept


@kernel
def _write_sorted(row: np.ndarray, n: int, out: np.ndarray, start: int) -> None:
    """Write the first n ranks of a row in ascending order; behind them there is room for _LANES more.

    Most rows are short: comparing each rank with all others, several at a time, takes less than the guesses
    of a sort that go wrong.
    """
    if n > _LONG_ROW:
        out[start : start + n] = row[:n]
        out[start : start + n].sort()
        return
    for j in range(_LANES):
        row[n + j] = np.iinfo(row.dtype).max
    for i in range(n):
        place = np.uint16(0)
        for first in range(0, n, _LANES):
            for j in range(_LANES):
                place = np.uint16(place + np.uint16(row[first + j] < row[i]))
        out[start + np.int64(place)] = row[i]
