"""Rows laid out for inference: frequent items stored by their absence, rows in an order that shares prefixes.

Shapes: rows in compressed form (`indptr` (N + 1,) int64, `indices` (nnz,) int32).
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel

KEY_BITS = 63
DEEPEST = 128  # prefixes are shared up to this length: each level takes two vectors over the components


@kernel
def prefix_keys(indptr: np.ndarray, ranks: np.ndarray, n_bits: int, n_keys: int) -> np.ndarray:
    """Pack the first ranks of each row into integers (n_keys, N), so that lexsort orders rows by them.

    A rank takes n_bits, which must hold all ranks plus one. Equivalent to comparing the rows' first
    n_keys * (KEY_BITS // n_bits) ranks as tuples.
    """
    n_rows = len(indptr) - 1
    n_ranks = KEY_BITS // n_bits
    keys = np.zeros((n_keys, n_rows), dtype=np.int64)
    for t in range(n_rows):
        j = indptr[t]
        for number in range(n_keys):
            key = np.int64(0)
            for _ in range(n_ranks):
                key <<= n_bits
                if j < indptr[t + 1]:
                    key += ranks[j] + 1
                    j += 1
            keys[number, t] = key
    return keys


@kernel
def shared_prefixes(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return how many first items each row shares with the row before it, `DEEPEST` at most, (N,) int32."""
    n_rows = len(indptr) - 1
    shared = np.zeros(n_rows, dtype=np.int32)
    for t in range(1, n_rows):
        before, here = indptr[t - 1], indptr[t]
        most = min(here - before, indptr[t + 1] - here, DEEPEST)
        n = 0
        while n < most and indices[before + n] == indices[here + n]:
            n += 1
        shared[t] = n
    return shared


@kernel
def flip_items(indptr: np.ndarray, indices: np.ndarray, flipped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Store the items marked in `flipped` (D,) bool by their absence; rows need not ascend afterwards.

    Equivalent to X[:, flipped] = 1 - X[:, flipped].
    """
    n_rows = len(indptr) - 1
    marked = np.flatnonzero(flipped)
    held = np.zeros(len(flipped), dtype=np.bool_)
    out_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for t in range(n_rows):
        n_marked = 0
        for j in range(indptr[t], indptr[t + 1]):
            n_marked += flipped[indices[j]]
        out_indptr[t + 1] = out_indptr[t] + indptr[t + 1] - indptr[t] + len(marked) - 2 * n_marked
    out = np.empty(out_indptr[-1], dtype=np.int32)
    for t in range(n_rows):
        position = out_indptr[t]
        for j in range(indptr[t], indptr[t + 1]):
            held[indices[j]] = True
            if not flipped[indices[j]]:
                out[position] = indices[j]
                position += 1
        for m in range(len(marked)):
            if not held[marked[m]]:
                out[position] = marked[m]
                position += 1
        for j in range(indptr[t], indptr[t + 1]):
            held[indices[j]] = False
    return out_indptr, out


# Distances of rows to chosen rows, for starts that spread out (k-means++).
#
# Shapes: rows in compressed form, `nearest` (N,) int64 Hamming distance to the nearest seed so far, `label`
# (N,) int64 its number.


@kernel
def add_seed(
    indptr: np.ndarray,
    indices: np.ndarray,
    n_items: int,
    seed: int,
    number: int,
    nearest: np.ndarray,
    label: np.ndarray,
) -> None:
    """Lower `nearest` to each row's distance from row `seed`, and set `label` to `number` where it fell.

    Equivalent to d = (X != X[seed]).sum(1); label[d < nearest] = number; nearest = minimum(nearest, d).
    """
    held = np.zeros(n_items, dtype=np.bool_)
    for j in range(indptr[seed], indptr[seed + 1]):
        held[indices[j]] = True
    length = indptr[seed + 1] - indptr[seed]
    for t in range(len(indptr) - 1):
        shared = 0
        for j in range(indptr[t], indptr[t + 1]):
            shared += held[indices[j]]
        distance = indptr[t + 1] - indptr[t] + length - 2 * shared
        if distance < nearest[t]:
            nearest[t] = distance
            label[t] = number
