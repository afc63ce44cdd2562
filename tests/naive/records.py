"""Slow, obvious twins of kernels/mining/records.py and kernels/lattice.py, on lists.

A record is (length, rank, count), in depth-first order: its set is the last rank of each length up to its
own.
"""

from itertools import pairwise

import numpy as np

from itemix.kernels.mining.records import LENGTH_SHIFT, RANK_MASK


def as_keys(records):
    """Pack the lengths and ranks of records."""
    return np.array([(length << LENGTH_SHIFT) + rank for length, rank, _ in records], dtype=np.uint32)


def as_records(keys, counts):
    """Unpack records."""
    pairs = zip(keys.tolist(), counts.tolist(), strict=True)
    return [(key >> LENGTH_SHIFT, key & RANK_MASK, count) for key, count in pairs]


def as_sets(records):
    """[(ranks, count)] of records, the last rank first."""
    path, found = {}, []
    for length, rank, count in records:
        path[length] = rank
        found.append((tuple(path[k] for k in range(length, 0, -1)), count))
    return found


def as_ends(sets):
    """Turn sets into where each of them ends, and the ranks of all."""
    ends = np.cumsum([len(ranks) for ranks in sets], dtype=np.int64)
    return ends, np.array([rank for ranks in sets for rank in ranks], dtype=np.int32)


def from_ends(ends, ranks):
    """Turn ends and ranks into sets."""
    return [tuple(ranks[a:b].tolist()) for a, b in pairwise([0, *ends.tolist()])]


def colex(ranks):
    """Return the key that sorts ascending ranks by length, then by the last rank, the last but one, ..."""
    return len(ranks), ranks[::-1]
