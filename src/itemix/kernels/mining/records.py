"""Records of a depth-first search, what the threads of one search share, and columns made of records.

A record is a length, a last item and a value; the set is the path to it. The records of a root are
contiguous. Columns are sorted by length: roots are written in order, each length to its own stretch of the
result, and no two sets are compared.

`control` (4,) int64 is shared by all threads of a search: why to stop, and how much has been found. Threads
write it with atomic additions. The caller sets STOP to CANCELLED to end a search, and reads N_ROOTS_DONE to
show progress.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import BLOCK, copy_block, fetch_add, kernel
from itemix.kernels.mining.layouts import longer

STOP, N_FOUND, N_CODES, N_ROOTS_DONE = 0, 1, 2, 3
RUNNING, CANCELLED, TOO_MANY = 0, 1, 2

# The key of a record: its length, and the rank of its last item.
LENGTH_SHIFT = 24
RANK_MASK = (1 << LENGTH_SHIFT) - 1
# Memory of an itemset until it is returned: its record, offset, count and support; and of each item in it.
BYTES_PER_SET = 36
BYTES_PER_CODE = 4
# A record that only leads to longer sets is a key and a count, which take the room of this many items.
CODES_PER_STEP = 3


class ThreadRecords(NamedTuple):
    """The records that one thread has found, in depth-first order.

    While the thread searches, the first two arrays have room for more.

    Attributes
    ----------
    keys : array of uint32, shape (n,)
        length * 2^24 + rank.
    values : array, shape (n,)
        The count or the probability of each; counts are of the type of the rows' weights.
    segments : array of int64, shape (F, 2)
        Where the records of each root start and stop; roots that went to other threads have an empty range.
    """

    keys: np.ndarray
    values: np.ndarray
    segments: np.ndarray


class SearchLimits(NamedTuple):
    """Which sets to find, and when to stop.

    Attributes
    ----------
    min_count : int
        How often a set must occur.
    min_len, max_len : int
        How many items a set has.
    max_itemsets : int
        The search stops if it finds more sets than this.
    max_bytes : int
        The search stops if the result takes more memory than this.
    rarer_only : bool
        Whether to leave out sets with the count of the set they have grown from. Eclat looks at it.
    """

    min_count: int
    min_len: int
    max_len: int
    max_itemsets: int
    max_bytes: int
    rarer_only: bool = False


@kernel
def report(n_found: int, n_codes: int, control: np.ndarray, limits: SearchLimits) -> None:
    """Add to the shared totals; stop all threads if they are over the limits."""
    total = fetch_add(control, N_FOUND, n_found) + n_found
    codes = fetch_add(control, N_CODES, n_codes) + n_codes
    if total > limits.max_itemsets or BYTES_PER_SET * total + BYTES_PER_CODE * codes > limits.max_bytes:
        control[STOP] = TOO_MANY


@kernel
def length_histogram(keys: np.ndarray, segments: np.ndarray, n_lengths: int) -> np.ndarray:
    """Count the records of each length in each segment: (n_segments, n_lengths) int64."""
    histogram = np.zeros((len(segments), n_lengths), dtype=np.int64)
    for s in range(len(segments)):
        for j in range(segments[s, 0], segments[s, 1]):
            histogram[s, keys[j] >> LENGTH_SHIFT] += 1
    return histogram


@kernel
def longest_record(keys: np.ndarray) -> int:
    """Return the largest length of the records, 0 if there is none."""
    largest = np.uint32(0)
    for j in range(len(keys)):
        largest = max(largest, keys[j])
    return int(largest >> LENGTH_SHIFT)


@kernel
def place_records(
    records: ThreadRecords,
    positions: np.ndarray,
    length_start: np.ndarray,
    code_start: np.ndarray,
    code_of: np.ndarray,
    out_offsets: np.ndarray,
    out_codes: np.ndarray,
    out_counts: np.ndarray,
) -> None:
    """Write the records of one thread to their places in the columns, most frequent item first.

    Parameters
    ----------
    records : ThreadRecords
        The records.
    positions : (n_roots + 1, longest + 1) int64
        The position, among all sets, of a root's first set of each length; negative for lengths left out.
        They stop where those of the next row start.
    length_start, code_start : (longest + 1,) int64
        The position of the first set of each length, and where its codes start.
    code_of : (F,) int32
        The item code of each rank.
    out_offsets, out_codes, out_counts : int64, int32, int64
        The columns; each thread writes its own places.
    """
    keys, counts, segments = records
    n_lengths = positions.shape[1]
    # The path is kept backwards, at the end of the buffer, so that a set is one stretch of it.
    path = np.zeros(n_lengths + BLOCK, dtype=np.int32)
    at = np.empty(n_lengths, dtype=np.int64)
    block_until = np.empty(n_lengths, dtype=np.int64)
    for s in range(len(segments)):
        for length in range(n_lengths):
            at[length] = positions[s, length]
            # A short set is copied as a whole block, without a loop. The block may run into the codes of the
            # next sets, so the last sets are copied code by code.
            block_until[length] = positions[s + 1, length] - BLOCK if 0 < length <= BLOCK else 0
        for j in range(segments[s, 0], segments[s, 1]):
            length = int(keys[j] >> LENGTH_SHIFT)
            head = n_lengths - length
            path[head] = code_of[keys[j] & RANK_MASK]
            position = at[length]
            if position < 0:
                continue
            at[length] = position + 1
            code = code_start[length] + (position - length_start[length]) * length
            out_offsets[position] = code
            out_counts[position] = counts[j]
            if position < block_until[length]:
                copy_block(out_codes, code, path, head)
            else:
                for k in range(length):
                    out_codes[code + k] = path[head + k]


@kernel
def with_room(found: ThreadRecords, needed: int) -> ThreadRecords:
    """Return the same records with room for more of them."""
    return ThreadRecords(longer(found.keys, needed), longer(found.values, needed), found.segments)
