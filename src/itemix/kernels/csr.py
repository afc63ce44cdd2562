"""Rows of item codes in compressed form (CSR): sort, deduplicate, count, gather, compare.

Shapes: `indptr` (N + 1,) int64, `indices` (nnz,) int32; row t holds indices[indptr[t]:indptr[t + 1]].

The last part lays rows out for inference: frequent items are stored by their absence, rows are sorted so that
neighbours share prefixes, and distances to chosen rows serve starts that spread out (k-means++).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import counted, kernel, linear

SHORT_ROW = 32
"""Up to this length a row is sorted by insertion."""

HASH_PRIME = 2**31 - 1
HASH_FACTOR = 1_000_003
"""The hash of a row is a polynomial modulo a prime: it never overflows, with or without Numba."""

KEY_BITS = 63
DEEPEST = 128
"""Prefixes are shared up to this length: each level takes two vectors over the components."""


class RowArrays(NamedTuple):
    """Rows in compressed form: indptr (N + 1,) int64, indices (nnz,) int32."""

    indptr: np.ndarray
    indices: np.ndarray


@linear
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
def sort_span(values: np.ndarray, start: int, stop: int) -> None:
    """Sort a part of an array of integers in place, by insertion at falling distances (Shell's sort).

    Numba's own sort takes a second to compile. Equivalent to values[start:stop].sort().
    """
    gap = stop - start
    while gap > 1:
        gap = gap * 5 // 11 if gap > 3 else 1
        for j in range(start + gap, stop):
            value = values[j]
            k = j
            while k >= start + gap and values[k - gap] > value:
                values[k] = values[k - gap]
                k -= gap
            values[k] = value


@counted(lambda _codes, ends, n_rows: 4 * int(ends[n_rows - 1]) if n_rows else 0)
def sort_rows(codes: np.ndarray, ends: np.ndarray, n_rows: int) -> int:
    """Sort each row in place, drop repeated codes, close the gaps, and return how many codes are left.

    Row t is codes[ends[t - 1]:ends[t]]; `ends` (at least n_rows,) int64 is written too.

    Equivalent to [np.unique(row) for row in rows].
    """
    start = 0
    position = 0
    for t in range(n_rows):
        stop = ends[t]
        if stop - start > SHORT_ROW:
            sort_span(codes, start, stop)
        else:
            for j in range(start + 1, stop):
                code = codes[j]
                k = j
                while k > start and codes[k - 1] > code:
                    codes[k] = codes[k - 1]
                    k -= 1
                codes[k] = code
        first = position
        for j in range(start, stop):
            if position == first or codes[position - 1] != codes[j]:
                codes[position] = codes[j]
                position += 1
        start = stop
        ends[t] = position
    return position


@linear
def canonical_rows(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort the codes of every row and drop repeated ones.

    Equivalent to [np.unique(row) for row in rows].
    """
    out = indices.copy()
    out_indptr = indptr.copy()
    size = sort_rows(out, out_indptr[1:], len(indptr) - 1)
    return out_indptr, out[:size].copy()


@linear
def rows_of_pairs(rows: np.ndarray, codes: np.ndarray, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Gather the codes of each row from pairs (row, code) in any order; the codes of a row keep their order.

    Equivalent to [codes[rows == t] for t in range(n_rows)].
    """
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for j in range(len(rows)):
        indptr[rows[j] + 1] += 1
    for t in range(n_rows):
        indptr[t + 1] += indptr[t]
    out = np.empty(len(codes), dtype=np.int32)
    fill = indptr[:-1].copy()
    for j in range(len(rows)):
        out[fill[rows[j]]] = codes[j]
        fill[rows[j]] += 1
    return indptr, out


@linear
def number_by_appearance(values: np.ndarray, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the values 0 to n_values - 1 new numbers, in order of their first appearance.

    Returns the new number of each entry (N,) int32, and the values that occur, in their new order.
    """
    number = np.full(n_values, -1, dtype=np.int32)
    order = np.empty(n_values, dtype=np.int64)
    numbered = np.empty(len(values), dtype=np.int32)
    n_seen = 0
    for j in range(len(values)):
        value = values[j]
        if number[value] < 0:
            number[value] = n_seen
            order[n_seen] = value
            n_seen += 1
        numbered[j] = number[value]
    return numbered, order[:n_seen].copy()


@linear
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


@linear
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


@linear
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


@linear
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
def _holds(rows: RowArrays, t: int, code: int) -> bool:
    """Whether row t holds an item; codes ascend in a row."""
    low, high = rows.indptr[t], rows.indptr[t + 1]
    while low < high:
        middle = (low + high) // 2
        if rows.indices[middle] < code:
            low = middle + 1
        else:
            high = middle
    return bool(low < rows.indptr[t + 1] and rows.indices[low] == code)


@kernel
def _agrees(rows: RowArrays, t: int, present: RowArrays, absent: RowArrays, event: int) -> bool:
    """Whether row t holds all present items of an event and none of its absent ones."""
    for j in range(present.indptr[event], present.indptr[event + 1]):
        if not _holds(rows, t, present.indices[j]):
            return False
    for j in range(absent.indptr[event], absent.indptr[event + 1]):
        if _holds(rows, t, absent.indices[j]):
            return False
    return True


@linear
def matching_rows(
    rows: RowArrays, columns: RowArrays, present: RowArrays, absent: RowArrays, event: int, out: np.ndarray
) -> int:
    """Write the rows that agree with one event to `out` (N,) int64, and return how many they are.

    `columns` are the rows that hold each item, and present and absent items of events come in the same form.
    Only the rows of the rarest present item are looked at. Equivalent to
    np.flatnonzero(X[:, present].all(axis=1) & ~X[:, absent].any(axis=1)).
    """
    rarest = np.int64(-1)
    for j in range(present.indptr[event], present.indptr[event + 1]):
        code = np.int64(present.indices[j])
        size = columns.indptr[code + 1] - columns.indptr[code]
        if rarest < 0 or size < columns.indptr[rarest + 1] - columns.indptr[rarest]:
            rarest = code
    n = 0
    if rarest < 0:
        for t in range(len(rows.indptr) - 1):
            if _agrees(rows, t, present, absent, event):
                out[n] = t
                n += 1
        return n
    for j in range(columns.indptr[rarest], columns.indptr[rarest + 1]):
        t = int(columns.indices[j])
        if _agrees(rows, t, present, absent, event):
            out[n] = t
            n += 1
    return n


@counted(lambda rows, _columns, _weights, _present, _absent, _found, counts: 4 * len(rows[0]) * len(counts))
def count_events(
    rows: RowArrays,
    columns: RowArrays,
    weights: np.ndarray,
    present: RowArrays,
    absent: RowArrays,
    found: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Write how many transactions agree with each event to `counts` (n_events,) int64.

    `weights` (N,) int64 or empty for ones; `found` (N,) int64 is room to work in. Equivalent to
    [weights[matching_rows(event)].sum() for event in events].
    """
    for event in range(len(counts)):
        n = matching_rows(rows, columns, present, absent, event, found)
        total = np.int64(n)
        if len(weights) > 0:
            total = np.int64(0)
            for j in range(n):
                total += weights[found[j]]
        counts[event] = total


@linear
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
        key = np.int64(1)
        for j in range(indptr[t], indptr[t + 1]):
            key = (key * HASH_FACTOR + indices[j] + 1) % HASH_PRIME
        slot = key & (size - 1)
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

    `nearest` (N,) int64 is the Hamming distance to the nearest seed so far, `label` (N,) int64 its number.

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
