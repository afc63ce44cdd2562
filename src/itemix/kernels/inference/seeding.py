"""Distances of rows to chosen rows, for starts that spread out (k-means++).

Shapes: rows in compressed form, `nearest` (N,) int64 Hamming distance to the nearest seed so far, `label`
(N,) int64 its number.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel


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
