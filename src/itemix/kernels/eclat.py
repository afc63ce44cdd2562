"""All frequent itemsets, depth first over bitsets (Eclat).

Each thread runs `search` and takes roots (a root is the rarest item of a set) from a queue until none is
left. What it finds are records in depth-first order: a set is the path of items from its root to its
record, so a record is only a length, the last item and a count. `assemble` turns records into columns.

Sets grow from their rarest item towards more frequent ones, and siblings are visited in order of rank, so
that the records of all roots, in order of root, are in colexicographic order. Where an item occurs in every
transaction of a prefix, its bitset is the prefix's: it is shared, not intersected; and where the first few
extensions of a prefix all do, their subsets are written by counting in binary.

Shapes: F frequent items; `bits` (F, words) uint64, or (0, 0) for sparse data, whose layout is that of
`projection`. `control` and `limits` are those of the module of that name. A record is a key, uint32:
length * 2^24 + rank, and a count in the type of `weights`.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.bitsets import count_common, grown, intersect, longer
from itemix.kernels.control import (
    BYTES_PER_SET,
    CODES_PER_STEP,
    MAX_BYTES,
    MAX_FOUND,
    MAX_LEN,
    MIN_COUNT,
    MIN_LEN,
    N_FOUND,
    N_ROOTS_DONE,
    RUNNING,
    STOP,
    TOO_MANY,
    report,
)
from itemix.kernels.intrinsics import fetch_add, popcount, trailing_zeros
from itemix.kernels.jit import kernel
from itemix.kernels.projection import pack_entries

LENGTH_SHIFT = 24
RANK_MASK = (1 << LENGTH_SHIFT) - 1

# Columns of `levels`: the extensions of level d are ext[START:START + SIZE], the first RUN of them in every
# transaction of the prefix; CURSOR is the next one to visit; END and ROWS say how much of `ext` and of the
# arena is in use; COUNT is the prefix's own count.
_START, _SIZE, _RUN, _CURSOR, _END, _ROWS, _COUNT = 0, 1, 2, 3, 4, 5, 6
_ITEM, _EXT_COUNT, _ROW = 0, 1, 2
_DEPTH, _N_OUT, _NEEDED = 0, 1, 2
_DONE, _OUT_FULL, _EXT_FULL, _ARENA_FULL = 0, 1, 2, 3
# 2^40 subsets of one prefix are more than any memory holds.
_LONGEST_RUN = 40


@kernel
def search(
    control: np.ndarray,
    limits: np.ndarray,
    queue: np.ndarray,
    first_root: int,
    root_counts: np.ndarray,
    bits: np.ndarray,
    planes: np.ndarray,
    plane_words: np.ndarray,
    companion_start: np.ndarray,
    companions: np.ndarray,
    pair_counts: np.ndarray,
    spans: np.ndarray,
    entries: np.ndarray,
    weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the frequent itemsets of the roots this thread gets.

    `queue` (1,) int64 is one more than the next root; roots below `first_root` are not for this queue.
    Returns the records (keys and counts) and, for each root, where its records start and stop (F, 2); roots
    that went to other threads have an empty range.
    """
    n_items = len(root_counts)
    dense = bits.shape[0] > 0
    segments = np.zeros((n_items, 2), dtype=np.int64)
    out_keys = np.empty(1 << 16, dtype=np.uint32)
    out_counts = np.empty(1 << 16, dtype=weights.dtype)
    ext = np.empty((4 * n_items + 16, 3), dtype=np.int64)
    levels = np.zeros((n_items + 2, 7), dtype=np.int64)
    state = np.zeros(3, dtype=np.int64)
    arena = grown(bits, 2 * len(bits))
    digits, digit_words = planes.copy(), plane_words.copy()

    while control[STOP] == RUNNING:
        # Rare items have the most extensions: they are taken first, so that the last roots are small.
        root = fetch_add(queue, 0, -1) - 1
        if root < first_root:
            break
        n_before = state[_N_OUT]
        n_reported = n_before
        if n_before == len(out_keys):
            out_keys, out_counts = longer(out_keys, 0), longer(out_counts, 0)
        out_keys[n_before] = (1 << LENGTH_SHIFT) + root
        out_counts[n_before] = root_counts[root]
        state[_N_OUT] += 1
        if dense:
            if len(arena) < n_items + root:
                arena = grown(arena, n_items + root)
            n_first = _first_level(arena, root, digits, digit_words, limits[MIN_COUNT], n_items, ext)
            used = n_items + n_first
        else:
            k = root - first_root
            n_first = companion_start[root + 1] - companion_start[root]
            used = n_first
            for i in range(n_first):
                j = companion_start[root] + i
                ext[i, _ITEM], ext[i, _EXT_COUNT], ext[i, _ROW] = companions[j], pair_counts[j], i
            if n_first > 1:
                arena, digits, digit_words = pack_entries(
                    entries[spans[k, 0] : spans[k, 1]], n_first, n_first, weights
                )
        if n_first > 0 and limits[MAX_LEN] > 1:
            _open_level(levels, 1, 0, n_first, n_first, used, root_counts[root], ext, limits[MIN_LEN])
            state[_DEPTH] = 1
            status = _OUT_FULL
            while status != _DONE:
                status = _descend(
                    levels, ext, arena, digits, digit_words, out_keys, out_counts, state, control, limits
                )
                if status == _OUT_FULL:
                    _report(out_keys[n_reported : state[_N_OUT]], control, limits)
                    n_reported = state[_N_OUT]
                    out_keys = longer(out_keys, state[_NEEDED])
                    out_counts = longer(out_counts, state[_NEEDED])
                elif status == _EXT_FULL:
                    ext = grown(ext, 2 * len(ext))
                elif status == _ARENA_FULL:
                    arena = grown(arena, 2 * len(arena))
        segments[root, 0], segments[root, 1] = n_before, state[_N_OUT]
        _report(out_keys[n_reported : state[_N_OUT]], control, limits)
        fetch_add(control, N_ROOTS_DONE, 1)
    return out_keys[: state[_N_OUT]], out_counts[: state[_N_OUT]], segments


@kernel
def _first_level(
    arena: np.ndarray,
    root: int,
    digits: np.ndarray,
    digit_words: np.ndarray,
    min_count: int,
    n_items: int,
    ext: np.ndarray,
) -> int:
    """List the items before `root` that are frequent with it; their bitsets go behind those of the items."""
    n_new = 0
    for i in range(root):
        common = intersect(arena, root, i, n_items + n_new, digits, digit_words)
        if common >= min_count:
            ext[n_new, _ITEM], ext[n_new, _EXT_COUNT], ext[n_new, _ROW] = i, common, n_items + n_new
            n_new += 1
    return n_new


@kernel
def _open_level(
    levels: np.ndarray,
    depth: int,
    start: int,
    size: int,
    end: int,
    rows: int,
    count: int,
    ext: np.ndarray,
    min_len: int,
) -> None:
    """Enter a prefix with its extensions ext[start:start + size].

    Those with too few extensions before them to reach `min_len` are not visited.
    """
    run = 0
    while run < size and ext[start + run, _EXT_COUNT] == count:
        run += 1
    level = levels[depth]
    level[_START], level[_SIZE], level[_RUN] = start, size, run
    level[_CURSOR] = min(size, max(0, min_len - depth - 1))
    level[_END], level[_ROWS], level[_COUNT] = end, rows, count


@kernel
def _descend(
    levels: np.ndarray,
    ext: np.ndarray,
    arena: np.ndarray,
    digits: np.ndarray,
    digit_words: np.ndarray,
    out_keys: np.ndarray,
    out_counts: np.ndarray,
    state: np.ndarray,
    control: np.ndarray,
    limits: np.ndarray,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there.

    Nothing is allocated here: in a loop that owns arrays, Numba counts references at every turn.
    """
    min_count, min_len, max_len = limits[MIN_COUNT], limits[MIN_LEN], limits[MAX_LEN]
    depth, n_out = state[_DEPTH], state[_N_OUT]
    status = _DONE
    while depth > 0 and control[STOP] == RUNNING:
        first, run, j = levels[depth, _START], levels[depth, _RUN], levels[depth, _CURSOR]
        prefix_count = levels[depth, _COUNT]
        if j == 0 and run > 1 and depth + run <= max_len:
            n_subsets = (1 << min(run, _LONGEST_RUN)) - 1
            if BYTES_PER_SET * n_subsets > limits[MAX_BYTES] or n_subsets > limits[MAX_FOUND]:
                fetch_add(control, N_FOUND, n_subsets)
                control[STOP] = TOO_MANY
                break
            if n_out + n_subsets > len(out_keys):
                status = _OUT_FULL
                state[_NEEDED] = n_out + n_subsets
                break
            for subset in range(1, n_subsets + 1):
                length = depth + popcount(np.uint64(subset))
                item = ext[first + trailing_zeros(np.uint64(subset)), _ITEM]
                out_keys[n_out] = (length << LENGTH_SHIFT) + item
                out_counts[n_out] = prefix_count
                n_out += 1
            levels[depth, _CURSOR] = run
            j = run
        if j == levels[depth, _SIZE]:
            depth -= 1
            continue

        base, used = levels[depth, _END], levels[depth, _ROWS]
        count, row = ext[first + j, _EXT_COUNT], ext[first + j, _ROW]
        length = depth + 1
        is_leaf = j == 0 or length == max_len
        is_shared = count == prefix_count
        if n_out == len(out_keys):
            status = _OUT_FULL
            state[_NEEDED] = 0
            break
        if not is_leaf and not is_shared:
            if base + j > len(ext):
                status = _EXT_FULL
                break
            if used + j > len(arena):
                status = _ARENA_FULL
                break
        levels[depth, _CURSOR] = j + 1
        out_keys[n_out] = (length << LENGTH_SHIFT) + ext[first + j, _ITEM]
        out_counts[n_out] = count
        n_out += 1
        if is_leaf:
            continue
        if is_shared:
            depth += 1
            _open_level(levels, depth, first, j, base, used, count, ext, min_len)
            continue
        n_new = 0
        # The only extension of a set is never intersected again: counting it is enough.
        keep = j > 1 and length + 1 < max_len
        for i in range(first, first + j):
            new_row = used
            if ext[i, _EXT_COUNT] == prefix_count:
                common, new_row = count, row
            elif keep:
                common = intersect(arena, row, ext[i, _ROW], used, digits, digit_words)
            else:
                common = count_common(arena, row, ext[i, _ROW], digits, digit_words)
            if common >= min_count:
                new = base + n_new
                ext[new, _ITEM], ext[new, _EXT_COUNT], ext[new, _ROW] = ext[i, _ITEM], common, new_row
                n_new += 1
                used += new_row == used
        if n_new > 0:
            depth += 1
            _open_level(levels, depth, base, n_new, base + n_new, used, count, ext, min_len)
    state[_DEPTH], state[_N_OUT] = depth, n_out
    return status


@kernel
def _report(keys: np.ndarray, control: np.ndarray, limits: np.ndarray) -> None:
    """Add some new records to the shared totals."""
    n_found, n_codes = 0, 0
    for s in range(len(keys)):
        length = keys[s] >> LENGTH_SHIFT
        if length >= limits[MIN_LEN]:
            n_found += 1
            n_codes += length
        else:
            n_codes += CODES_PER_STEP
    report(n_found, n_codes, control, limits)
