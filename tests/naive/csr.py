"""Slow, obvious twins of kernels/csr.py, on lists of lists of codes."""

from itertools import pairwise

import numpy as np


def as_arrays(rows):
    """Turn lists of codes into read-only row pointers and codes, as the kernels take them."""
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    indices = np.array([code for row in rows for code in row], dtype=np.int32)
    for array in (indptr, indices):
        array.setflags(write=False)
    return indptr, indices


def as_lists(indptr, indices):
    """Turn row pointers and codes into lists of codes."""
    return [indices[start:end].tolist() for start, end in pairwise(indptr)]


def is_canonical(rows):
    """Whether every row ascends strictly."""
    return all(row == sorted(set(row)) for row in rows)


def canonical_rows(rows):
    """Sort each row and drop repeated codes."""
    return [sorted(set(row)) for row in rows]


def rows_of_pairs(rows, codes, n_rows):
    """Gather the codes of each row."""
    return [[code for row, code in zip(rows, codes, strict=True) if row == t] for t in range(n_rows)]


def number_by_appearance(values):
    """Return the number of each value, as they appear, and the values in that order."""
    order = list(dict.fromkeys(values))
    return [order.index(value) for value in values], order


def item_counts(rows, weights, n_items):
    """Count in how many transactions each item is."""
    return [sum(w for row, w in zip(rows, weights, strict=True) if i in row) for i in range(n_items)]


def select_items(rows, new_code):
    """Rename codes, and drop those renamed to -1."""
    return [[new_code[code] for code in row if new_code[code] >= 0] for row in rows]


def rows_with_all(rows, wanted):
    """Whether each row holds all wanted codes."""
    return [set(wanted) <= set(row) for row in rows]


def group_equal_rows(rows):
    """Return the number of each distinct row, as they appear, and where each was first."""
    distinct = list(dict.fromkeys(map(tuple, rows)))
    groups = [distinct.index(tuple(row)) for row in rows]
    return groups, [groups.index(g) for g in range(len(distinct))]


def nearest_seeds(matrix, seeds):
    """Return the Hamming distance of each row to its nearest seed, a row, and the number of that seed."""
    found = []
    for row in matrix:
        distances = [sum(x != y for x, y in zip(row, matrix[seed], strict=True)) for seed in seeds]
        found.append((min(distances), distances.index(min(distances))))
    return [distance for distance, _ in found], [number for _, number in found]
