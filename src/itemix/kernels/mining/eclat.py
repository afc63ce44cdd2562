"""All frequent itemsets, depth first over bitsets (Eclat).

Each thread runs `search` and takes roots (a root is the rarest item of a set) from a queue until none is
left. It writes records in depth-first order. A set is the path of items from its root to its record, so a
record is only a length, the last item and a count. `records` turns them into columns.

Sets grow from their rarest item towards more frequent ones, and siblings are visited in order of rank. So the
records of all roots, in order of root, are in colexicographic order. If an item occurs in every transaction
of a prefix, it shares the prefix's bitset, and nothing is intersected. If the first few extensions of a
prefix all do so, their subsets are written by counting in binary.

F is the number of frequent items. Dense data comes as bitsets, one row for each item; sparse data as
companions and projected rows (see `layouts`). `control` is described in `records`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import fetch_add, kernel, popcount, trailing_zeros
from itemix.kernels.mining.layouts import (
    Bitsets,
    Companions,
    ProjectedRows,
    count_common,
    grown,
    intersect,
    pack_entries,
)
from itemix.kernels.mining.records import (
    BYTES_PER_SET,
    CODES_PER_STEP,
    LENGTH_SHIFT,
    N_FOUND,
    N_ROOTS_DONE,
    RUNNING,
    STOP,
    TOO_MANY,
    SearchLimits,
    ThreadRecords,
    report,
    with_room,
)

# Columns of `levels`: the extensions of level d are ext[START:START + SIZE], the first RUN of them in every
# transaction of the prefix; CURSOR is the next one to visit; END and ROWS say how much of `ext` and of the
# arena is in use; COUNT is the prefix's own count.
_START, _SIZE, _RUN, _CURSOR, _END, _ROWS, _COUNT = 0, 1, 2, 3, 4, 5, 6
_ITEM, _EXT_COUNT, _ROW = 0, 1, 2
_DEPTH, _N_OUT, _NEEDED = 0, 1, 2
_DONE, _OUT_FULL, _EXT_FULL, _ARENA_FULL = 0, 1, 2, 3
# 2^40 subsets of one prefix are more than any memory holds.
_LONGEST_RUN = 40


class Walk(NamedTuple):
    """The state of a depth-first search. It goes on from there after an array was full.

    Attributes
    ----------
    levels : array of int64, shape (n_levels, n_columns)
        The sets from the root to the current one; each search defines its columns.
    ext : array of int64, shape (n, 3)
        The extensions of all levels, one level after the other: an item, its count, and its row of bits.
    state : array of int64, shape (n_numbers,)
        How deep the search is, and how much has been found.
    """

    levels: np.ndarray
    ext: np.ndarray
    state: np.ndarray


@kernel
def search(
    control: np.ndarray,
    limits: SearchLimits,
    queue: np.ndarray,
    first_root: int,
    root_counts: np.ndarray,
    bits: Bitsets,
    companions: Companions,
    projected: ProjectedRows,
) -> ThreadRecords:
    """Find the frequent itemsets of the roots this thread gets.

    `queue` (1,) int64 is one more than the next root; roots below `first_root` are not in this queue.
    `root_counts` (F,) int64. Data without rows of bits is sparse.
    """
    n_items = len(root_counts)
    dense = len(bits.rows) > 0
    found = ThreadRecords(
        np.empty(1 << 16, dtype=np.uint32),
        np.empty(1 << 16, dtype=projected.weights.dtype),
        np.zeros((n_items, 2), dtype=np.int64),
    )
    ext = np.empty((4 * n_items + 16, 3), dtype=np.int64)
    walk = Walk(np.zeros((n_items + 2, 7), dtype=np.int64), ext, np.zeros(3, dtype=np.int64))
    arena = Bitsets(grown(bits.rows, 2 * len(bits.rows)), bits.planes.copy(), bits.plane_words.copy())

    while control[STOP] == RUNNING:
        # Rare items have the most extensions: they are taken first, so that the last roots are small.
        root = fetch_add(queue, 0, -1) - 1
        if root < first_root:
            break
        n_before = walk.state[_N_OUT]
        n_reported = n_before
        if n_before == len(found.keys):
            found = with_room(found, 0)
        found.keys[n_before] = (1 << LENGTH_SHIFT) + root
        found.values[n_before] = root_counts[root]
        walk.state[_N_OUT] += 1
        if dense:
            if len(arena.rows) < n_items + root:
                arena = Bitsets(grown(arena.rows, n_items + root), arena.planes, arena.plane_words)
            most = root_counts[root] - limits.rarer_only
            n_first = _first_level(arena, root, (limits.min_count, most), n_items, walk.ext)
            used = n_items + n_first
        else:
            used = companions.start[root + 1] - companions.start[root]
            n_first = _first_companions(companions, root, root_counts[root] - limits.rarer_only, walk.ext)
            if n_first > 1:
                arena = pack_entries(projected, root - first_root, used, used)
        if n_first > 0 and limits.max_len > 1:
            _open_level(walk, 1, 0, n_first, n_first, used, root_counts[root], limits.min_len)
            walk.state[_DEPTH] = 1
            status = _OUT_FULL
            while status != _DONE:
                status = _descend(walk, arena, found, control, limits)
                if status == _OUT_FULL:
                    _report(found.keys[n_reported : walk.state[_N_OUT]], control, limits)
                    n_reported = walk.state[_N_OUT]
                    found = with_room(found, walk.state[_NEEDED])
                elif status == _EXT_FULL:
                    walk = Walk(walk.levels, grown(walk.ext, 2 * len(walk.ext)), walk.state)
                elif status == _ARENA_FULL:
                    arena = Bitsets(grown(arena.rows, 2 * len(arena.rows)), arena.planes, arena.plane_words)
        found.segments[root, 0], found.segments[root, 1] = n_before, walk.state[_N_OUT]
        _report(found.keys[n_reported : walk.state[_N_OUT]], control, limits)
        fetch_add(control, N_ROOTS_DONE, 1)
    n_out = walk.state[_N_OUT]
    return ThreadRecords(found.keys[:n_out], found.values[:n_out], found.segments)


@kernel
def _first_level(arena: Bitsets, root: int, bounds: tuple[int, int], n_items: int, ext: np.ndarray) -> int:
    """List the items before `root` whose count with it is within the bounds.

    Their bitsets go after those of the items.
    """
    rows, planes, plane_words = arena
    least, most = bounds
    n_new = 0
    for i in range(root):
        common = intersect(rows, root, i, n_items + n_new, planes, plane_words)
        if least <= common <= most:
            ext[n_new, _ITEM], ext[n_new, _EXT_COUNT], ext[n_new, _ROW] = i, common, n_items + n_new
            n_new += 1
    return n_new


@kernel
def _first_companions(companions: Companions, root: int, most: int, ext: np.ndarray) -> int:
    """List the companions of a root that are with it no more often than the bounds allow.

    Their bitsets are those of its projected rows.
    """
    start, ranks, counts = companions
    n_first = 0
    for j in range(start[root], start[root + 1]):
        if counts[j] <= most:
            ext[n_first, _ITEM], ext[n_first, _EXT_COUNT] = ranks[j], counts[j]
            ext[n_first, _ROW] = j - start[root]
            n_first += 1
    return n_first


@kernel
def _open_level(
    walk: Walk, depth: int, start: int, size: int, end: int, rows: int, count: int, min_len: int
) -> None:
    """Enter a prefix with its extensions ext[start:start + size].

    Extensions with too few others before them to reach `min_len` are not visited.
    """
    levels, ext = walk.levels, walk.ext
    run = 0
    while run < size and ext[start + run, _EXT_COUNT] == count:
        run += 1
    levels[depth, _START], levels[depth, _SIZE], levels[depth, _RUN] = start, size, run
    levels[depth, _CURSOR] = min(size, max(0, min_len - depth - 1))
    levels[depth, _END], levels[depth, _ROWS], levels[depth, _COUNT] = end, rows, count


@kernel
def _descend(
    walk: Walk, arena: Bitsets, found: ThreadRecords, control: np.ndarray, limits: SearchLimits
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there.

    Nothing is allocated here: in a loop that owns arrays, Numba counts references at every turn.
    """
    levels, ext, state = walk
    bits, planes, plane_words = arena
    keys, counts = found.keys, found.values
    depth, n_out = state[_DEPTH], state[_N_OUT]
    status = _DONE
    while depth > 0 and control[STOP] == RUNNING:
        first, run, j = levels[depth, _START], levels[depth, _RUN], levels[depth, _CURSOR]
        prefix_count = levels[depth, _COUNT]
        if j == 0 and run > 1 and depth + run <= limits.max_len:
            n_subsets = (1 << min(run, _LONGEST_RUN)) - 1
            if BYTES_PER_SET * n_subsets > limits.max_bytes or n_subsets > limits.max_itemsets:
                fetch_add(control, N_FOUND, n_subsets)
                control[STOP] = TOO_MANY
                break
            if n_out + n_subsets > len(keys):
                status = _OUT_FULL
                state[_NEEDED] = n_out + n_subsets
                break
            for subset in range(1, n_subsets + 1):
                length = depth + popcount(np.uint64(subset))
                item = ext[first + trailing_zeros(np.uint64(subset)), _ITEM]
                keys[n_out] = (length << LENGTH_SHIFT) + item
                counts[n_out] = prefix_count
                n_out += 1
            levels[depth, _CURSOR] = run
            j = run
        if j == levels[depth, _SIZE]:
            depth -= 1
            continue

        base, used = levels[depth, _END], levels[depth, _ROWS]
        count, row = ext[first + j, _EXT_COUNT], ext[first + j, _ROW]
        length = depth + 1
        is_leaf = j == 0 or length == limits.max_len
        is_shared = count == prefix_count
        if n_out == len(keys):
            status = _OUT_FULL
            state[_NEEDED] = 0
            break
        if not is_leaf and not is_shared:
            if base + j > len(ext):
                status = _EXT_FULL
                break
            if used + j > len(bits):
                status = _ARENA_FULL
                break
        levels[depth, _CURSOR] = j + 1
        keys[n_out] = (length << LENGTH_SHIFT) + ext[first + j, _ITEM]
        counts[n_out] = count
        n_out += 1
        if is_leaf:
            continue
        if is_shared:
            depth += 1
            _open_level(walk, depth, first, j, base, used, count, limits.min_len)
            continue
        n_new = 0
        most = count - limits.rarer_only
        # A set with only one extension is not intersected again: counting is enough.
        keep = j > 1 and length + 1 < limits.max_len
        for i in range(first, first + j):
            new_row = used
            if ext[i, _EXT_COUNT] == prefix_count:
                common, new_row = count, row
            elif keep:
                common = intersect(bits, row, ext[i, _ROW], used, planes, plane_words)
            else:
                common = count_common(bits, row, ext[i, _ROW], planes, plane_words)
            if limits.min_count <= common <= most:
                new = base + n_new
                ext[new, _ITEM], ext[new, _EXT_COUNT], ext[new, _ROW] = ext[i, _ITEM], common, new_row
                n_new += 1
                used += new_row == used
        if n_new > 0:
            depth += 1
            _open_level(walk, depth, base, n_new, base + n_new, used, count, limits.min_len)
    state[_DEPTH], state[_N_OUT] = depth, n_out
    return status


@kernel
def _report(keys: np.ndarray, control: np.ndarray, limits: SearchLimits) -> None:
    """Add some new records to the shared totals."""
    n_found, n_codes = 0, 0
    for s in range(len(keys)):
        length = keys[s] >> LENGTH_SHIFT
        if length >= limits.min_len:
            n_found += 1
            n_codes += length
        else:
            n_codes += CODES_PER_STEP
    report(n_found, n_codes, control, limits)
