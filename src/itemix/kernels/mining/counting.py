"""Count many sets in the data at once.

Transactions come as compressed rows (see `csr`), sets as offsets and codes (see `lattice`). Blocks of
transactions are packed into one row of bits for each item that occurs in a set, so that counting a set in a
block is one intersection of few short rows.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.intrinsics import popcount
from itemix.kernels.jit import kernel

_BITS_AT_ONCE = 1 << 22


@kernel
def count_sets(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    offsets: np.ndarray,
    codes: np.ndarray,
    n_items: int,
) -> np.ndarray:
    """How many transactions hold each set; `weights` (N,) int64 or empty for ones.

    Equivalent to [weights[X[:, set].all(axis=1)].sum() for set in family].
    """
    n_rows = len(indptr) - 1
    n_sets = len(offsets) - 1
    counts = np.zeros(n_sets, dtype=np.int64)
    row_of = np.full(n_items, -1, dtype=np.int64)
    n_used = 0
    for j in range(len(codes)):
        if row_of[codes[j]] < 0:
            row_of[codes[j]] = n_used
            n_used += 1
    words = max(min(_BITS_AT_ONCE // (64 * max(n_used, 1)), (n_rows + 63) // 64), 1)
    bits = np.zeros((n_used + 1, words), dtype=np.uint64)
    every = bits[n_used]
    common = np.empty(words, dtype=np.uint64)
    for first in range(0, n_rows, 64 * words):
        last = min(first + 64 * words, n_rows)
        bits[:] = np.uint64(0)
        for t in range(first, last):
            word = (t - first) >> 6
            bit = np.uint64(1) << np.uint64((t - first) & 63)
            every[word] |= bit
            for j in range(indptr[t], indptr[t + 1]):
                r = row_of[indices[j]]
                if r >= 0:
                    bits[r, word] |= bit
        for s in range(n_sets):
            for w in range(words):
                common[w] = every[w]
            for j in range(offsets[s], offsets[s + 1]):
                row = bits[row_of[codes[j]]]
                for w in range(words):
                    common[w] &= row[w]
            total = 0
            if len(weights) == 0:
                for w in range(words):
                    total += popcount(common[w])
            else:
                for w in range(words):
                    left = common[w]
                    while left != np.uint64(0):
                        rest = left & (left - np.uint64(1))
                        total += weights[first + 64 * w + popcount((left ^ rest) - np.uint64(1))]
                        left = rest
            counts[s] += total
    return counts
