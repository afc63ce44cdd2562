"""Rows of item codes in compressed form (CSR): sort, deduplicate, count, gather, compare.

Shapes: `indptr` (N + 1,) int64, `indices` (nnz,) int32; row t holds indices[indptr[t]:indptr[t + 1]].
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel


@kernel
def is_canonical(indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Whether every row ascends strictly.

    Equivalent to all((np.diff(row) > 0).all() for row in rows).
    """
    for t in range(len(indptr) - 1):
        for j in range(indptr[t] + 1, indptr[t + 1]):
            if indices[j] <= indices[j - 1]:
                return False
    return True


@kernel
def canonical_rows(indptr: np.ndarray, indices: np.ndarray, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort the codes of every row and drop repeated ones, by transposing twice: no comparison is made.

    Equivalent to [np.unique(row) for row in rows].
    """
    n_rows = len(indptr) - 1
    starts = np.zeros(n_items + 1, dtype=np.int64)
    for j in range(len(indices)):
        starts[indices[j] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    by_item = np.empty(len(indices), dtype=np.int64)
    fill = starts[:-1].copy()
    for t in range(n_rows):
        for j in range(indptr[t], indptr[t + 1]):
            i = indices[j]
            by_item[fill[i]] = t
            fill[i] += 1
    ends = indptr[:-1].copy()
    out = np.empty(len(indices), dtype=np.int32)
    for i in range(n_items):
        for j in range(starts[i], starts[i + 1]):
            t = by_item[j]
            if ends[t] == indptr[t] or out[ends[t] - 1] != i:
                out[ends[t]] = i
                ends[t] += 1
    out_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    position = 0
    for t in range(n_rows):
        for j in range(indptr[t], ends[t]):
            out[position] = out[j]
            position += 1
        out_indptr[t + 1] = position
    return out_indptr, out[:position].copy()


@kernel
def item_counts(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray, n_items: int) -> np.ndarray:
    """How often each item occurs; `weights` (N,) int64 or empty for ones.

    Equivalent to X.T @ weights.
    """
    counts = np.zeros(n_items, dtype=np.int64)
    if len(weights) == 0:
        for j in range(len(indices)):
            counts[indices[j]] += 1
    else:
        for t in range(len(indptr) - 1):
            for j in range(indptr[t], indptr[t + 1]):
                counts[indices[j]] += weights[t]
    return counts


@kernel
def select_items(
    indptr: np.ndarray, indices: np.ndarray, new_code: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rename codes by `new_code` (n_items,) int32 and drop those renamed to -1; rows keep their order."""
    out_indptr = np.zeros(len(indptr), dtype=np.int64)
    kept = 0
    for j in range(len(indices)):
        kept += new_code[indices[j]] >= 0
    out = np.empty(kept, dtype=np.int32)
    position = 0
    for t in range(len(indptr) - 1):
        for j in range(indptr[t], indptr[t + 1]):
            code = new_code[indices[j]]
            if code >= 0:
                out[position] = code
                position += 1
        out_indptr[t + 1] = position
    return out_indptr, out


@kernel
def gather_rows(indptr: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take some rows, in the given order.

    Equivalent to X[rows].
    """
    out_indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    for k in range(len(rows)):
        out_indptr[k + 1] = out_indptr[k] + indptr[rows[k] + 1] - indptr[rows[k]]
    out = np.empty(out_indptr[-1], dtype=np.int32)
    for k in range(len(rows)):
        start = indptr[rows[k]]
        for j in range(out_indptr[k + 1] - out_indptr[k]):
            out[out_indptr[k] + j] = indices[start + j]
    return out_indptr, out


@kernel
def rows_with_all(indptr: np.ndarray, indices: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Whether each row holds all of the ascending codes `wanted`; rows ascend.

    Equivalent to X[:, wanted].all(axis=1).
    """
    n_rows = len(indptr) - 1
    found = np.zeros(n_rows, dtype=np.bool_)
    for t in range(n_rows):
        k = 0
        for j in range(indptr[t], indptr[t + 1]):
            if k == len(wanted):
                break
            if indices[j] == wanted[k]:
                k += 1
            elif indices[j] > wanted[k]:
                break
        found[t] = k == len(wanted)
    return found


@kernel
def group_equal_rows(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find equal rows: the group of each row (N,), and the first row of each group, in order of appearance.

    Equivalent to numbering the distinct rows of a list by a dictionary.
    """
    n_rows = len(indptr) - 1
    size = 8
    while size < 2 * n_rows:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    group = np.empty(n_rows, dtype=np.int64)
    first = np.empty(n_rows, dtype=np.int64)
    n_groups = 0
    for t in range(n_rows):
        key = np.uint64(14695981039346656037)
        for j in range(indptr[t], indptr[t + 1]):
            key = (key ^ np.uint64(indices[j])) * np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
        slot = np.int64(key & np.uint64(size - 1))
        while True:
            g = table[slot]
            if g < 0:
                table[slot] = n_groups
                first[n_groups] = t
                group[t] = n_groups
                n_groups += 1
                break
            s = first[g]
            length = indptr[t + 1] - indptr[t]
            same = length == indptr[s + 1] - indptr[s]
            j = 0
            while same and j < length:
                same = indices[indptr[t] + j] == indices[indptr[s] + j]
                j += 1
            if same:
                group[t] = g
                break
            slot = (slot + 1) & (size - 1)
    return group, first[:n_groups].copy()
