"""Maximal frequent itemsets, depth first over bitsets.

A set is maximal if no superset is frequent. A branch is left as soon as all it could still reach lies in a
set already found, or as soon as one item outside of it could be added to all of it; and where all
extensions of a set are frequent together, they are taken at once. What the branches of other threads have
found is not needed: whether a set is maximal is asked of the data, by trying every item outside of it.

The arguments are those of `closed.search`, and so is what is returned.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.bitsets import count_common, grown, intersect, is_subset, longer
from itemix.kernels.closed import write_set
from itemix.kernels.control import MAX_LEN, MIN_COUNT, MIN_LEN, N_ROOTS_DONE, RUNNING, STOP, report
from itemix.kernels.intrinsics import fetch_add
from itemix.kernels.jit import kernel
from itemix.kernels.projection import pack_entries

# Extensions of a level are ext[START:END], rarest first; those from CURSOR on, before STOP_AT, are still to
# be visited, each with those behind it. ROWS is how much of the arena is in use, MEMBERS the size of the
# set.
_START, _END, _CURSOR, _STOP_AT, _ROWS, _MEMBERS = 0, 1, 2, 3, 4, 5
_ITEM, _EXT_COUNT, _ROW = 0, 1, 2
_DEPTH, _N_SETS, _N_CODES, _N_MEMBERS, _N_HERE = 0, 1, 2, 3, 4
_DONE, _OUT_FULL, _EXT_FULL, _ARENA_FULL, _HOLDERS_FULL, _COVERS_FULL = 0, 1, 2, 3, 4, 5

# Sets found before only save work, so that no more of them are kept in mind than this many words hold.
_WORDS_KEPT = 1 << 17
_LEAST_WORDS = 8


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
    """Find the maximal sets of the roots this thread gets."""
    n_items = len(root_counts)
    dense = bits.shape[0] > 0
    ends = np.empty(4096, dtype=np.int64)
    counts = np.empty(4096, dtype=np.int64)
    codes = np.empty((1 << 16) + n_items, dtype=np.int32)
    ext = np.empty((4 * n_items + 16, 3), dtype=np.int64)
    levels = np.zeros((n_items + 2, 6), dtype=np.int64)
    members = np.empty(n_items, dtype=np.int32)
    inside = np.zeros(n_items, dtype=np.bool_)
    state = np.zeros(5, dtype=np.int64)
    arena = grown(bits, 2 * len(bits) + 2)
    digits, digit_words = planes.copy(), plane_words.copy()
    base_items, base_counts = np.arange(n_items, dtype=np.int32), root_counts.copy()
    # Which of the last sets found here hold an item, as bits; and which hold all members of a level.
    holders = np.zeros((n_items, _LEAST_WORDS), dtype=np.uint64)
    covers = np.zeros((8, _LEAST_WORDS), dtype=np.uint64)

    while control[STOP] == RUNNING:
        root = fetch_add(queue, 0, -1) - 1
        if root < first_root:
            break
        n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        covers[0] = ~np.uint64(0)
        if dense:
            _open_root(levels, ext, root_counts, root)
        else:
            k = root - first_root
            base_items = companions[companion_start[root] : companion_start[root + 1]].copy()
            base_counts = pair_counts[companion_start[root] : companion_start[root + 1]].copy()
            arena, digits, digit_words = pack_entries(
                entries[spans[k, 0] : spans[k, 1]], len(base_items), 2, weights
            )
            if len(ends) == state[_N_SETS] or len(codes) < state[_N_CODES] + n_items:
                ends, counts, codes = longer(ends, 0), longer(counts, 0), longer(codes, 0)
            if state[_N_HERE] == 64 * holders.shape[1]:
                holders, covers = _with_room(holders, covers, state)
            _open_projected_root(
                levels, ext, base_items, base_counts, root, root_counts[root], members, inside, holders,
                covers, ends, counts, codes, state, limits,
            )  # fmt: skip
        state[_DEPTH] = 0
        status = _OUT_FULL
        while status != _DONE:
            status = _descend(
                levels, ext, arena, digits, digit_words, base_items, base_counts, members, inside, holders,
                covers, ends, counts, codes, state, control, limits,
            )  # fmt: skip
            if status == _OUT_FULL:
                ends, counts, codes = longer(ends, 0), longer(counts, 0), longer(codes, 0)
            elif status == _EXT_FULL:
                ext = grown(ext, 2 * len(ext))
            elif status == _ARENA_FULL:
                arena = grown(arena, 2 * len(arena) + 2)
            elif status == _HOLDERS_FULL:
                holders, covers = _with_room(holders, covers, state)
            elif status == _COVERS_FULL:
                covers = grown(covers, 2 * len(covers))
            report(state[_N_SETS] - n_sets, state[_N_CODES] - n_codes, control, limits)
            n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        for m in range(state[_N_MEMBERS]):
            inside[members[m]] = False
        state[_N_MEMBERS] = 0
        fetch_add(control, N_ROOTS_DONE, 1)
    return ends[: state[_N_SETS]], codes[: state[_N_CODES]], counts[: state[_N_SETS]]


@kernel
def _with_room(holders: np.ndarray, covers: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make room for more sets: by wider arrays, or by forgetting the older half of the sets."""
    words = holders.shape[1]
    if 2 * holders.size <= _WORDS_KEPT:
        return _shifted(holders, 0, 2 * words), _shifted(covers, 0, 2 * words)
    state[_N_HERE] = 64 * (words - words // 2)
    return _shifted(holders, words // 2, words), _shifted(covers, words // 2, words)


@kernel
def _shifted(bits: np.ndarray, first: int, words: int) -> np.ndarray:
    """Copy the words from `first` on to the front of rows of so many words; the rest is zeros."""
    out = np.zeros((bits.shape[0], words), dtype=bits.dtype)
    out[:, : bits.shape[1] - first] = bits[:, first:]
    return out


@kernel
def _open_root(levels: np.ndarray, ext: np.ndarray, root_counts: np.ndarray, root: int) -> None:
    """List a root, which alone is to be visited, and the items before it, rarest first."""
    for i in range(root + 1):
        item = root - i
        ext[i, _ITEM], ext[i, _EXT_COUNT], ext[i, _ROW] = item, root_counts[item], item
    levels[0, _START], levels[0, _END], levels[0, _CURSOR], levels[0, _STOP_AT] = 0, root + 1, 0, 1
    levels[0, _ROWS], levels[0, _MEMBERS] = len(root_counts), 0


@kernel
def _open_projected_root(
    levels: np.ndarray,
    ext: np.ndarray,
    base_items: np.ndarray,
    base_counts: np.ndarray,
    root: int,
    root_count: int,
    members: np.ndarray,
    inside: np.ndarray,
    holders: np.ndarray,
    covers: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
    codes: np.ndarray,
    state: np.ndarray,
    limits: np.ndarray,
) -> None:
    """List the extensions of a root from the counts of its companions; write it if it has none."""
    members[0], n_members, n_new = root, 1, 0
    is_anothers, n_outside = False, 0
    for b in range(len(base_items)):
        if base_counts[b] == root_count:
            is_anothers |= base_items[b] > root
            members[n_members] = base_items[b]
            n_members += 1
            continue
        n_outside += 1
        if base_items[b] < root:
            ext[n_new, _ITEM], ext[n_new, _EXT_COUNT], ext[n_new, _ROW] = base_items[b], base_counts[b], b
            n_new += 1
    if is_anothers:
        n_members, n_new = 0, 0
    for m in range(n_members):
        inside[members[m]] = True
    for w in range(covers.shape[1]):
        for m in range(n_members):
            covers[0, w] &= holders[members[m], w]
    _sort_by_count(ext, 0, n_new)
    levels[0, _START], levels[0, _END], levels[0, _CURSOR], levels[0, _STOP_AT] = 0, n_new, 0, n_new
    levels[0, _ROWS], levels[0, _MEMBERS] = len(base_items), n_members
    state[_N_MEMBERS] = n_members
    if n_members > 0 and n_outside == 0:
        _remember(members, n_members, root_count, 0, holders, covers, ends, counts, codes, state, limits)


@kernel
def _descend(
    levels: np.ndarray,
    ext: np.ndarray,
    arena: np.ndarray,
    digits: np.ndarray,
    digit_words: np.ndarray,
    base_items: np.ndarray,
    base_counts: np.ndarray,
    members: np.ndarray,
    inside: np.ndarray,
    holders: np.ndarray,
    covers: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
    codes: np.ndarray,
    state: np.ndarray,
    control: np.ndarray,
    limits: np.ndarray,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there."""
    min_count = limits[MIN_COUNT]
    depth, n_members = state[_DEPTH], state[_N_MEMBERS]
    status = _DONE
    while depth >= 0 and control[STOP] == RUNNING:
        while n_members > levels[depth, _MEMBERS]:
            n_members -= 1
            inside[members[n_members]] = False
        j, end, used = levels[depth, _CURSOR], levels[depth, _END], levels[depth, _ROWS]
        if j == levels[depth, _STOP_AT] or _is_covered(covers, depth, holders, ext, j, end):
            depth -= 1
            continue
        if state[_N_SETS] == len(ends) or state[_N_CODES] + len(members) > len(codes):
            status = _OUT_FULL
            break
        if end + end - j > len(ext):
            status = _EXT_FULL
            break
        if used + end - j + 1 > len(arena):
            status = _ARENA_FULL
            break
        if state[_N_HERE] == 64 * holders.shape[1]:
            status = _HOLDERS_FULL
            break
        if depth + 2 > len(covers):
            status = _COVERS_FULL
            break
        levels[depth, _CURSOR] = j + 1
        count, row = ext[j, _EXT_COUNT], ext[j, _ROW]
        members[n_members] = ext[j, _ITEM]
        n_members += 1
        n_new = 0
        for i in range(j + 1, end):
            common = intersect(arena, row, ext[i, _ROW], used + n_new, digits, digit_words)
            if common == count:
                members[n_members] = ext[i, _ITEM]
                n_members += 1
            elif common >= min_count:
                new = end + n_new
                ext[new, _ITEM], ext[new, _EXT_COUNT], ext[new, _ROW] = ext[i, _ITEM], common, used + n_new
                n_new += 1
        for m in range(levels[depth, _MEMBERS], n_members):
            inside[members[m]] = True
        for w in range(covers.shape[1]):
            cover = covers[depth, w]
            for m in range(levels[depth, _MEMBERS], n_members):
                cover &= holders[members[m], w]
            covers[depth + 1, w] = cover
        if _is_covered(covers, depth + 1, holders, ext, end, end + n_new):
            continue
        if _can_add_always(arena, row, count, base_items, base_counts, inside):
            continue
        all_row, all_count = row, count
        for i in range(end, end + n_new):
            all_count = intersect(arena, all_row, ext[i, _ROW], used + n_new, digits, digit_words)
            all_row = used + n_new
            if all_count < min_count:
                break
        if all_count < min_count:
            _sort_by_count(ext, end, end + n_new)
            depth += 1
            levels[depth, _START], levels[depth, _END], levels[depth, _CURSOR] = end, end + n_new, end
            levels[depth, _STOP_AT] = end + n_new
            levels[depth, _ROWS], levels[depth, _MEMBERS] = used + n_new, n_members
            continue
        for i in range(end, end + n_new):
            members[n_members] = ext[i, _ITEM]
            inside[ext[i, _ITEM]] = True
            n_members += 1
        if not _can_add(arena, all_row, min_count, base_items, inside, digits, digit_words):
            _remember(
                members, n_members, all_count, depth, holders, covers, ends, counts, codes, state, limits
            )
    state[_DEPTH], state[_N_MEMBERS] = depth, n_members
    return status


@kernel
def _is_covered(
    covers: np.ndarray, depth: int, holders: np.ndarray, ext: np.ndarray, start: int, stop: int
) -> bool:
    """Whether one set found before holds all members of a level and all extensions ext[start:stop]."""
    for w in range(covers.shape[1]):
        cover = covers[depth, w]
        i = start
        while cover and i < stop:
            cover &= holders[ext[i, _ITEM], w]
            i += 1
        if cover:
            return True
    return False


@kernel
def _can_add_always(
    arena: np.ndarray,
    row: int,
    count: int,
    base_items: np.ndarray,
    base_counts: np.ndarray,
    inside: np.ndarray,
) -> bool:
    """Whether some item outside of a set occurs wherever the set does: the whole branch is another's then."""
    for b in range(len(base_items)):
        if base_counts[b] >= count and not inside[base_items[b]] and is_subset(arena, row, b):
            return True
    return False


@kernel
def _can_add(
    arena: np.ndarray,
    row: int,
    min_count: int,
    base_items: np.ndarray,
    inside: np.ndarray,
    digits: np.ndarray,
    digit_words: np.ndarray,
) -> bool:
    """Whether a set stays frequent with some item outside of it."""
    for b in range(len(base_items)):
        if not inside[base_items[b]] and count_common(arena, row, b, digits, digit_words) >= min_count:
            return True
    return False


@kernel
def _remember(
    members: np.ndarray,
    n_members: int,
    count: int,
    depth: int,
    holders: np.ndarray,
    covers: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
    codes: np.ndarray,
    state: np.ndarray,
    limits: np.ndarray,
) -> None:
    """Write a maximal set if its length is asked for, and note it for the branches to come."""
    n_here = state[_N_HERE]
    mask = np.uint64(1) << np.uint64(n_here % 64)
    for m in range(n_members):
        holders[members[m], n_here // 64] |= mask
    for d in range(depth + 1):
        covers[d, n_here // 64] |= mask
    state[_N_HERE] += 1
    if limits[MIN_LEN] <= n_members <= limits[MAX_LEN]:
        write_set(members, n_members, count, ends, counts, codes, state)


@kernel
def _sort_by_count(ext: np.ndarray, start: int, stop: int) -> None:
    """Sort extensions by count, rarest first; ties by rank, rarest first."""
    for i in range(start + 1, stop):
        item, count, row = ext[i, _ITEM], ext[i, _EXT_COUNT], ext[i, _ROW]
        k = i
        while k > start and (ext[k - 1, _EXT_COUNT], -ext[k - 1, _ITEM]) > (count, -item):
            ext[k, _ITEM], ext[k, _EXT_COUNT], ext[k, _ROW] = (
                ext[k - 1, _ITEM],
                ext[k - 1, _EXT_COUNT],
                ext[k - 1, _ROW],
            )
            k -= 1
        ext[k, _ITEM], ext[k, _EXT_COUNT], ext[k, _ROW] = item, count, row
