"""Closed frequent itemsets, depth first over bitsets with prefix-preserving closures (as LCM does).

A set is closed if no superset occurs in the same transactions. Every closed set is reached once: a set
grows by an item of lower rank than the last one; its closure may add items of lower rank still, but where
it would add an item of higher rank the branch is left, because it is another's. The test needs no list of
what was visited: the transactions of the set must not all lie in those of an item outside of it.

The arguments are those of `eclat.search`; what is found are whole sets, since closures have no path.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.bitsets import grown, intersect, longer
from itemix.kernels.control import (
    MAX_LEN,
    MIN_COUNT,
    MIN_LEN,
    N_ROOTS_DONE,
    RUNNING,
    STOP,
    report,
)
from itemix.kernels.intrinsics import fetch_add
from itemix.kernels.jit import kernel
from itemix.kernels.projection import pack_entries
from itemix.kernels.witnesses import all_outside, flip, lies_in_another, turned, unturned

# As in `eclat`; MEMBERS is how many items the set has before those of the level.
_START, _SIZE, _CURSOR, _ROWS, _MEMBERS = 0, 1, 2, 3, 4
_ITEM, _EXT_COUNT, _ROW = 0, 1, 2
_DEPTH, _N_SETS, _N_CODES, _N_MEMBERS = 0, 1, 2, 3
_DONE, _OUT_FULL, _EXT_FULL, _ARENA_FULL = 0, 1, 2, 3


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
    """Find the closed sets of the roots this thread gets.

    Returns where each set ends (n,) int64, the ranks of all sets int32, each set ascending, and counts int64.
    """
    n_items = len(root_counts)
    dense = bits.shape[0] > 0
    ends = np.empty(4096, dtype=np.int64)
    counts = np.empty(4096, dtype=np.int64)
    codes = np.empty((1 << 16) + n_items, dtype=np.int32)
    ext = np.empty((4 * n_items + 16, 3), dtype=np.int64)
    levels = np.zeros((n_items + 2, 5), dtype=np.int64)
    members = np.empty(n_items, dtype=np.int32)
    state = np.zeros(4, dtype=np.int64)
    arena = grown(bits, 2 * len(bits))
    digits, digit_words = planes.copy(), plane_words.copy()
    # The items that stand in the first rows of the arena, ascending; where each stands, and which of them are
    # outside of the set at hand.
    base_items, places = np.arange(n_items, dtype=np.int32), np.arange(n_items)
    masks, outside = turned(bits, len(bits)), all_outside(len(bits))

    while control[STOP] == RUNNING:
        # Rare items have the most extensions: they are taken first, so that the last roots are small.
        root = fetch_add(queue, 0, -1) - 1
        if root < first_root:
            break
        n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        if dense:
            _open_root(levels, ext, root_counts, root)
        else:
            k = root - first_root
            base_items = companions[companion_start[root] : companion_start[root + 1]].copy()
            base_counts = pair_counts[companion_start[root] : companion_start[root + 1]]
            arena, digits, digit_words = pack_entries(
                entries[spans[k, 0] : spans[k, 1]], len(base_items), 2, weights
            )
            # The root stands behind its companions, in an empty row.
            places[root] = len(base_items)
            for b in range(len(base_items)):
                places[base_items[b]] = b
            masks, outside = unturned(len(base_items) + 1), all_outside(len(base_items) + 1)
            if len(ends) == state[_N_SETS] or len(codes) < state[_N_CODES] + n_items:
                ends, counts, codes = longer(ends, 0), longer(counts, 0), longer(codes, 0)
            _open_projected_root(
                levels, ext, base_items, base_counts, root, root_counts[root], members, places,
                outside, ends, counts, codes, state, limits,
            )  # fmt: skip
        state[_DEPTH] = 0
        status = _OUT_FULL
        while status != _DONE:
            status = _descend(
                levels, ext, arena, digits, digit_words, masks, places, outside, members, ends, counts,
                codes, state, control, limits,
            )  # fmt: skip
            if status == _OUT_FULL:
                ends, counts, codes = longer(ends, 0), longer(counts, 0), longer(codes, 0)
            elif status == _EXT_FULL:
                ext = grown(ext, 2 * len(ext))
            elif status == _ARENA_FULL:
                arena = grown(arena, 2 * len(arena))
            report(state[_N_SETS] - n_sets, state[_N_CODES] - n_codes, control, limits)
            n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        for m in range(state[_N_MEMBERS]):
            flip(outside, places[members[m]])
        state[_N_MEMBERS] = 0
        fetch_add(control, N_ROOTS_DONE, 1)
    return ends[: state[_N_SETS]], codes[: state[_N_CODES]], counts[: state[_N_SETS]]


@kernel
def _open_root(levels: np.ndarray, ext: np.ndarray, root_counts: np.ndarray, root: int) -> None:
    """List the items before a root and the root itself, which alone is to be visited."""
    for i in range(root + 1):
        ext[i, _ITEM], ext[i, _EXT_COUNT], ext[i, _ROW] = i, root_counts[i], i
    levels[0, _START], levels[0, _SIZE], levels[0, _CURSOR] = 0, root + 1, root
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
    places: np.ndarray,
    outside: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
    codes: np.ndarray,
    state: np.ndarray,
    limits: np.ndarray,
) -> None:
    """Write the closure of a root and list its extensions, from the counts of its companions alone."""
    members[0], n_members, n_new = root, 1, 0
    is_anothers = False
    for b in range(len(base_items)):
        if base_counts[b] == root_count:
            is_anothers |= base_items[b] > root
            members[n_members] = base_items[b]
            n_members += 1
        elif base_items[b] < root:
            ext[n_new, _ITEM], ext[n_new, _EXT_COUNT], ext[n_new, _ROW] = base_items[b], base_counts[b], b
            n_new += 1
    levels[0, _START], levels[0, _CURSOR], levels[0, _ROWS] = 0, 0, len(base_items)
    levels[0, _SIZE] = 0 if is_anothers or n_members >= limits[MAX_LEN] else n_new
    levels[0, _MEMBERS] = state[_N_MEMBERS] = 0 if is_anothers else n_members
    if is_anothers:
        return
    for m in range(n_members):
        flip(outside, places[members[m]])
    if limits[MIN_LEN] <= n_members <= limits[MAX_LEN]:
        write_set(members, n_members, root_count, ends, counts, codes, state)


@kernel
def _descend(
    levels: np.ndarray,
    ext: np.ndarray,
    arena: np.ndarray,
    digits: np.ndarray,
    digit_words: np.ndarray,
    masks: np.ndarray,
    places: np.ndarray,
    outside: np.ndarray,
    members: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
    codes: np.ndarray,
    state: np.ndarray,
    control: np.ndarray,
    limits: np.ndarray,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there."""
    min_count, min_len, max_len = limits[MIN_COUNT], limits[MIN_LEN], limits[MAX_LEN]
    depth, n_members = state[_DEPTH], state[_N_MEMBERS]
    status = _DONE
    while depth >= 0 and control[STOP] == RUNNING:
        while n_members > levels[depth, _MEMBERS]:
            n_members -= 1
            flip(outside, places[members[n_members]])
        j = levels[depth, _CURSOR]
        if j == levels[depth, _SIZE]:
            depth -= 1
            continue
        first, used = levels[depth, _START], levels[depth, _ROWS]
        base = first + levels[depth, _SIZE]
        item, count, row = ext[first + j, _ITEM], ext[first + j, _EXT_COUNT], ext[first + j, _ROW]
        if state[_N_SETS] == len(ends) or state[_N_CODES] + len(members) > len(codes):
            status = _OUT_FULL
            break
        if base + j > len(ext):
            status = _EXT_FULL
            break
        if used + j > len(arena):
            status = _ARENA_FULL
            break
        levels[depth, _CURSOR] = j + 1
        # The closure would add an item of higher rank than the one the set grew by: it is another's.
        if lies_in_another(arena, row, masks, outside, places[item] + 1):
            continue
        members[n_members] = item
        flip(outside, places[item])
        n_members += 1
        n_new = 0
        for i in range(first, first + j):
            common = intersect(arena, row, ext[i, _ROW], used + n_new, digits, digit_words)
            if common == count:
                members[n_members] = ext[i, _ITEM]
                flip(outside, places[ext[i, _ITEM]])
                n_members += 1
            elif common >= min_count:
                new = base + n_new
                ext[new, _ITEM], ext[new, _EXT_COUNT], ext[new, _ROW] = ext[i, _ITEM], common, used + n_new
                n_new += 1
        if min_len <= n_members <= max_len:
            write_set(members, n_members, count, ends, counts, codes, state)
        if n_new > 0 and n_members < max_len:
            depth += 1
            levels[depth, _START], levels[depth, _SIZE], levels[depth, _CURSOR] = base, n_new, 0
            levels[depth, _ROWS], levels[depth, _MEMBERS] = used + n_new, n_members
    state[_DEPTH], state[_N_MEMBERS] = depth, n_members
    return status


@kernel
def write_set(
    members: np.ndarray,
    n_members: int,
    count: int,
    ends: np.ndarray,
    counts: np.ndarray,
    codes: np.ndarray,
    state: np.ndarray,
) -> None:
    """Append a set, its items ascending, to what was found."""
    start = state[_N_CODES]
    # Members were added from high ranks to low ones: read backwards they are almost sorted.
    for m in range(n_members):
        value = members[n_members - 1 - m]
        k = start + m
        while k > start and codes[k - 1] > value:
            codes[k] = codes[k - 1]
            k -= 1
        codes[k] = value
    state[_N_CODES] += n_members
    ends[state[_N_SETS]], counts[state[_N_SETS]] = state[_N_CODES], count
    state[_N_SETS] += 1
