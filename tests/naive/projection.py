"""Slow, obvious twins of kernels/mining/projection.py and kernels/mining/projection.py, on lists of ranks.

A row is a list of codes (or of ranks); rows may come with weights, one by default.
"""

from collections import Counter
from itertools import combinations

import numpy as np


def as_rows(rows):
    """Turn lists of codes into row pointers and codes."""
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return indptr, np.array([code for row in rows for code in row], dtype=np.int32)


def in_order(rows, row_order):
    """Take rows in an order; an empty one means as they are."""
    return [rows[t] for t in row_order] if len(row_order) else rows


def holders(rows, row_order, rank_of, n_ranks):
    """For each rank, the positions of the rows that hold it."""
    held = [{rank_of[code] for code in row} for row in in_order(rows, row_order)]
    return [{b for b, ranks in enumerate(held) if rank in ranks} for rank in range(n_ranks)]


def rows_of_ranks(rows, row_order, rank_of):
    """[(position, ascending ranks)] of the rows with at least two items that have a rank."""
    ranked = [sorted({rank_of[code] for code in row} - {-1}) for row in in_order(rows, row_order)]
    return [(b, ranks) for b, ranks in enumerate(ranked) if len(ranks) >= 2]


def frequent_pairs(rows, weights, n_ranks, min_count):
    """For each rank, [(companion, count)] of the lower ranks that are frequent with it."""
    counts = Counter()
    for row, weight in zip(rows, weights, strict=True):
        for companion, root in combinations(row, 2):
            counts[root, companion] += weight
    found = [[] for _ in range(n_ranks)]
    for (root, companion), count in sorted(counts.items()):
        if count >= min_count:
            found[root].append((companion, count))
    return found


def from_both_sides(pairs):
    """List each pair at both of its items, companions ascending."""
    found = [list(companions) for companions in pairs]
    for root, companions in enumerate(pairs):
        for companion, count in companions:
            found[companion].append((root, count))
    return [sorted(companions) for companions in found]


def delivered(root, companions, rows, min_companions):
    """[(row number, places among the companions)] of the rows of a root with enough companions before it."""
    found = []
    for t, row in enumerate(rows):
        places = [place for place, companion in enumerate(companions) if companion in row]
        if root in row and sum(companions[place] < root for place in places) >= min_companions:
            found.append((t, places))
    return found


def as_entries(delivered_rows, *, are_numbered):
    """Flatten delivered rows: the complement of a row's number (or -1), then its places."""
    return [entry for t, places in delivered_rows for entry in (~t if are_numbered else -1, *places)]
