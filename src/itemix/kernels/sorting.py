"""Put itemsets in order: by length, then colexicographically by rank.

Radix sort from the least to the most significant position, once for each length: no two sets are compared.

Shapes: set s holds ranks[ends[s - 1]:ends[s]] (from 0 for the first), ascending int32.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel


@kernel
def colex_order(ends: np.ndarray, ranks: np.ndarray, n_ranks: int) -> np.ndarray:
    """Return the order (n,) int64 that sorts sets by length, then by their last, last but one, ... rank.

    Equivalent to sorted(range(n), key=lambda s: (len(sets[s]), sets[s][::-1])).
    """
    n = len(ends)
    longest = 0
    for s in range(n):
        longest = max(longest, ends[s] - (ends[s - 1] if s > 0 else 0))
    length_start = np.zeros(longest + 2, dtype=np.int64)
    for s in range(n):
        length_start[ends[s] - (ends[s - 1] if s > 0 else 0) + 1] += 1
    for length in range(longest + 1):
        length_start[length + 1] += length_start[length]
    order = np.empty(n, dtype=np.int64)
    fill = length_start.copy()
    for s in range(n):
        length = ends[s] - (ends[s - 1] if s > 0 else 0)
        order[fill[length]] = s
        fill[length] += 1
    other = np.empty(n, dtype=np.int64)
    bucket = np.zeros(n_ranks + 1, dtype=np.int64)
    for length in range(1, longest + 1):
        start, stop = length_start[length], length_start[length + 1]
        if stop - start < 2:
            continue
        for position in range(length):
            bucket[:] = 0
            for j in range(start, stop):
                bucket[ranks[ends[order[j]] - length + position] + 1] += 1
            for r in range(n_ranks):
                bucket[r + 1] += bucket[r]
            for j in range(start, stop):
                r = ranks[ends[order[j]] - length + position]
                other[start + bucket[r]] = order[j]
                bucket[r] += 1
            for j in range(start, stop):
                order[j] = other[j]
    return order


@kernel
def gather_sets(
    ends: np.ndarray, ranks: np.ndarray, order: np.ndarray, code_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Take sets in an order and name their ranks: offsets (n + 1,) int64 and codes int32."""
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    codes = np.empty(len(ranks), dtype=np.int32)
    for j in range(len(order)):
        s = order[j]
        start = ends[s - 1] if s > 0 else 0
        at = offsets[j]
        for k in range(ends[s] - start):
            codes[at + k] = code_of[ranks[start + k]]
        offsets[j + 1] = at + ends[s] - start
    return offsets, codes
