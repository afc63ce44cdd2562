"""Slow, obvious twins of kernels/mining/layouts.py, on lists of ranks.

A row is a list of codes (or of ranks); rows may come with weights, one by default. A row of bits is a set of
positions.
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


def as_words(positions, n_words):
    """Turn a set of positions into 64-bit words."""
    number = sum(1 << position for position in positions)
    return np.array([(number >> (64 * w)) % 2**64 for w in range(n_words)], dtype=np.uint64)


def as_positions(words):
    """Turn 64-bit words into the set of positions of their ones."""
    number = sum(int(word) << (64 * w) for w, word in enumerate(words))
    return {position for position in range(number.bit_length()) if number >> position & 1}


def as_arena(rows, n_words, n_free=0):
    """Stack sets of positions as rows of words, with some rows of rubbish behind them."""
    rubbish = [np.full(n_words, 0xABCDEF, dtype=np.uint64)] * n_free
    return np.array([as_words(row, n_words) for row in rows] + rubbish).reshape(-1, n_words)


def count(positions, multiplicities=None):
    """Add up the multiplicities of some positions, by default 1 each."""
    return len(positions) if multiplicities is None else sum(multiplicities[p] for p in positions)


def planes(multiplicities):
    """Return the positions whose multiplicity has each binary digit."""
    digits = range(max(multiplicities, default=0).bit_length())
    return [{p for p, number in enumerate(multiplicities) if number >> digit & 1} for digit in digits]
