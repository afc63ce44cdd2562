"""Maximal frequent itemsets, depth first over bitsets.

A set is maximal if no superset is frequent. A branch is left as soon as all it could still reach lies in a
known set, or as soon as one item outside of it could be added to all of it. If all extensions of a set are
frequent together, they are taken at once. Threads do not need each other's sets: whether a set is maximal is
checked in the data, by trying the items that the branches of other threads begin with.

Known sets are kept as bits, one word for 64 sets. Each level of the search keeps those that hold all members
of its set. These are few, so a level lists only the words that have any bit left.

The arguments and the result are those of `closed.search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import fetch_add, kernel
from itemix.kernels.mining.closed import (
    CurrentSet,
    ThreadSets,
    all_items,
    companions_of,
    flip,
    has,
    lies_in_another,
    no_sets,
    transposed,
    with_room,
    write_set,
)
from itemix.kernels.mining.eclat import Walk
from itemix.kernels.mining.layouts import (
    WORD_BITS,
    Bitsets,
    Companions,
    ProjectedRows,
    count_common,
    grown,
    intersect,
    pack_entries,
)
from itemix.kernels.mining.records import N_ROOTS_DONE, RUNNING, STOP, SearchLimits, report

# Known sets only save work, so no more of them are kept than this many words hold.
_MOST_WORDS = 1 << 17
_FIRST_WORDS = 8
_FIRST_LEVELS = 8

# Extensions of a level are ext[START:END], rarest first. Those from CURSOR to STOP_AT are still to be
# visited, each with those after it. ROWS is how much of the arena is in use, MEMBERS the size of the set.
_START, _END, _CURSOR, _STOP_AT, _ROWS, _MEMBERS = 0, 1, 2, 3, 4, 5
_ITEM, _EXT_COUNT, _ROW = 0, 1, 2
_DEPTH, _N_SETS, _N_CODES, _N_MEMBERS, _N_KNOWN, _HAS_FORGOTTEN = 0, 1, 2, 3, 4, 5
_DONE, _OUT_FULL, _EXT_FULL, _ARENA_FULL, _KNOWN_FULL, _LEVELS_FULL = 0, 1, 2, 3, 4, 5


class Known(NamedTuple):
    """The last sets found, numbered from 0.

    Attributes
    ----------
    holders : array of uint64, shape (n_items, words)
        Which of them hold an item.
    covers, places : array of uint64 and of int64, shape (n_levels, words)
        Which of them hold all members of a level: the words with any bit, and their places in `holders`.
    sizes : array of int64, shape (n_levels,)
        How many such words a level has.
    is_done : array of bool, shape (n_items,)
        Which roots were searched. All their sets were noted, though some may be forgotten.
    """

    holders: np.ndarray
    covers: np.ndarray
    places: np.ndarray
    sizes: np.ndarray
    is_done: np.ndarray


@kernel
def nothing_known(n_items: int) -> Known:
    """Return room for the first sets."""
    shape = _FIRST_LEVELS, _FIRST_WORDS
    return Known(
        np.zeros((n_items, _FIRST_WORDS), dtype=np.uint64),
        np.zeros(shape, dtype=np.uint64),
        np.zeros(shape, dtype=np.int64),
        np.zeros(_FIRST_LEVELS, dtype=np.int64),
        np.zeros(n_items, dtype=np.bool_),
    )


@kernel
def with_more_levels(known: Known) -> Known:
    """Return the same sets with room for twice as many levels."""
    n_levels = len(known.sizes)
    sizes = np.zeros(2 * n_levels, dtype=np.int64)
    for level in range(n_levels):
        sizes[level] = known.sizes[level]
    return Known(known.holders, grown(known.covers, 0), grown(known.places, 0), sizes, known.is_done)


@kernel
def with_more_sets(known: Known) -> tuple[Known, int]:
    """Make room for more sets, by wider arrays or by forgetting the older half of the sets.

    Also returns how many sets are forgotten.
    """
    words = known.holders.shape[1]
    is_wider = 2 * known.holders.size <= _MOST_WORDS
    n_forgotten = 0 if is_wider else words // 2
    wide = 2 * words if is_wider else words
    holders = np.zeros((len(known.holders), wide), dtype=np.uint64)
    for i in range(len(holders)):
        for w in range(words - n_forgotten):
            holders[i, w] = known.holders[i, n_forgotten + w]
    covers = np.zeros((len(known.sizes), wide), dtype=np.uint64)
    places = np.zeros((len(known.sizes), wide), dtype=np.int64)
    sizes = np.zeros(len(known.sizes), dtype=np.int64)
    for level in range(len(sizes)):
        for k in range(known.sizes[level]):
            if known.places[level, k] >= n_forgotten:
                covers[level, sizes[level]] = known.covers[level, k]
                places[level, sizes[level]] = known.places[level, k] - n_forgotten
                sizes[level] += 1
    return Known(holders, covers, places, sizes, known.is_done), WORD_BITS * n_forgotten


@kernel
def cover_all(known: Known, n_sets: int) -> None:
    """Let all sets cover level 0, which has no members yet."""
    known.sizes[0] = (n_sets + WORD_BITS - 1) // WORD_BITS
    for k in range(known.sizes[0]):
        known.covers[0, k], known.places[0, k] = ~np.uint64(0), k


@kernel
def narrow(known: Known, level: int, to_level: int, members: np.ndarray, start: int, stop: int) -> None:
    """Let the sets that cover `level` and hold members[start:stop] cover `to_level`."""
    n = 0
    for k in range(known.sizes[level]):
        cover, place = known.covers[level, k], known.places[level, k]
        for m in range(start, stop):
            cover &= known.holders[members[m], place]
        known.covers[to_level, n], known.places[to_level, n] = cover, place
        n += cover != 0
    known.sizes[to_level] = n


@kernel
def note(known: Known, number: int, members: np.ndarray, n_members: int, last_level: int) -> None:
    """Add a set, numbered after all others, which covers all levels up to `last_level`."""
    word = number // WORD_BITS
    bit = np.uint64(1) << np.uint64(number % WORD_BITS)
    for m in range(n_members):
        known.holders[members[m], word] |= bit
    for level in range(last_level + 1):
        k = known.sizes[level] - 1
        if k < 0 or known.places[level, k] != word:
            k += 1
            known.covers[level, k], known.places[level, k] = 0, word
            known.sizes[level] = k + 1
        known.covers[level, k] |= bit


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
) -> ThreadSets:
    """Find the maximal sets of the roots this thread gets."""
    n_items = len(root_counts)
    n_rows = len(bits.rows)
    found = no_sets(n_items)
    ext = np.empty((4 * n_items + 16, 3), dtype=np.int64)
    walk = Walk(np.zeros((n_items + 2, 6), dtype=np.int64), ext, np.zeros(6, dtype=np.int64))
    state = walk.state
    arena = Bitsets(grown(bits.rows, 2 * n_rows + 2), bits.planes.copy(), bits.plane_words.copy())
    current = all_items(n_items, transposed(bits.rows, n_rows), n_rows)
    known = nothing_known(n_items)

    while control[STOP] == RUNNING:
        root = fetch_add(queue, 0, -1) - 1
        if root < first_root:
            break
        n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        cover_all(known, state[_N_KNOWN])
        if n_rows > 0:
            _open_root(walk, root_counts, root)
        else:
            current = companions_of(companions, root, current)
            arena = pack_entries(projected, root - first_root, len(current.base_items), 2)
            if len(found.ends) == state[_N_SETS] or len(found.ranks) < state[_N_CODES] + n_items:
                found = with_room(found)
            if state[_N_KNOWN] == WORD_BITS * known.holders.shape[1]:
                known = _with_more_known(known, state)
            _open_projected_root(walk, current, companions, root, root_counts[root], known, found, limits)
        state[_DEPTH] = 0
        status = _OUT_FULL
        while status != _DONE:
            status = _descend(root, walk, arena, current, known, found, control, limits)
            if status == _OUT_FULL:
                found = with_room(found)
            elif status == _EXT_FULL:
                walk = Walk(walk.levels, grown(walk.ext, 2 * len(walk.ext)), walk.state)
            elif status == _ARENA_FULL:
                arena = Bitsets(grown(arena.rows, 2 * len(arena.rows) + 2), arena.planes, arena.plane_words)
            elif status == _KNOWN_FULL:
                known = _with_more_known(known, state)
            elif status == _LEVELS_FULL:
                known = with_more_levels(known)
            report(state[_N_SETS] - n_sets, state[_N_CODES] - n_codes, control, limits)
            n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        for m in range(state[_N_MEMBERS]):
            flip(current.outside, current.places[current.members[m]])
        state[_N_MEMBERS] = 0
        known.is_done[root] = True
        fetch_add(control, N_ROOTS_DONE, 1)
    n_sets, n_codes = state[_N_SETS], state[_N_CODES]
    return ThreadSets(found.ends[:n_sets], found.ranks[:n_codes], found.counts[:n_sets])


@kernel
def _with_more_known(known: Known, state: np.ndarray) -> Known:
    more, n_forgotten = with_more_sets(known)
    state[_N_KNOWN] -= n_forgotten
    state[_HAS_FORGOTTEN] |= n_forgotten > 0
    return more


@kernel
def _open_root(walk: Walk, root_counts: np.ndarray, root: int) -> None:
    """List a root and the items before it, rarest first. Only the root is visited."""
    levels, ext = walk.levels, walk.ext
    for i in range(root + 1):
        item = root - i
        ext[i, _ITEM], ext[i, _EXT_COUNT], ext[i, _ROW] = item, root_counts[item], item
    levels[0, _START], levels[0, _END], levels[0, _CURSOR], levels[0, _STOP_AT] = 0, root + 1, 0, 1
    levels[0, _ROWS], levels[0, _MEMBERS] = len(root_counts), 0


@kernel
def _open_projected_root(
    walk: Walk,
    current: CurrentSet,
    companions: Companions,
    root: int,
    root_count: int,
    known: Known,
    found: ThreadSets,
    limits: SearchLimits,
) -> None:
    """List the extensions of a root from the counts of its companions; write it if it has none."""
    levels, ext, state = walk
    members, base_items, places, outside, _ = current
    counts = companions.counts[companions.start[root] : companions.start[root + 1]]
    members[0], n_members, n_new = root, 1, 0
    is_elsewhere, n_outside = False, 0
    for b in range(len(base_items)):
        if counts[b] == root_count:
            is_elsewhere |= base_items[b] > root
            members[n_members] = base_items[b]
            n_members += 1
            continue
        n_outside += 1
        if base_items[b] < root:
            ext[n_new, _ITEM], ext[n_new, _EXT_COUNT], ext[n_new, _ROW] = base_items[b], counts[b], b
            n_new += 1
    if is_elsewhere:
        n_members, n_new = 0, 0
    for m in range(n_members):
        flip(outside, places[members[m]])
    narrow(known, 0, 0, members, 0, n_members)
    _sort_by_count(ext, 0, n_new)
    levels[0, _START], levels[0, _END], levels[0, _CURSOR], levels[0, _STOP_AT] = 0, n_new, 0, n_new
    levels[0, _ROWS], levels[0, _MEMBERS] = len(base_items), n_members
    state[_N_MEMBERS] = n_members
    if n_members > 0 and n_outside == 0:
        _remember(members, n_members, root_count, 0, known, found, state, limits)


@kernel
def _descend(
    root: int,
    walk: Walk,
    arena: Bitsets,
    current: CurrentSet,
    known: Known,
    found: ThreadSets,
    control: np.ndarray,
    limits: SearchLimits,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there."""
    levels, ext, state = walk
    bits, planes, plane_words = arena
    members, _, places, outside, masks = current
    min_count = limits.min_count
    depth, n_members = state[_DEPTH], state[_N_MEMBERS]
    status = _DONE
    while depth >= 0 and control[STOP] == RUNNING:
        while n_members > levels[depth, _MEMBERS]:
            n_members -= 1
            flip(outside, places[members[n_members]])
        j, end, used = levels[depth, _CURSOR], levels[depth, _END], levels[depth, _ROWS]
        if j == levels[depth, _STOP_AT] or _is_covered(known, depth, ext, j, end):
            depth -= 1
            continue
        if state[_N_SETS] == len(found.ends) or state[_N_CODES] + len(members) > len(found.ranks):
            status = _OUT_FULL
            break
        if end + end - j > len(ext):
            status = _EXT_FULL
            break
        if used + end - j + 1 > len(bits):
            status = _ARENA_FULL
            break
        if state[_N_KNOWN] == WORD_BITS * known.holders.shape[1]:
            status = _KNOWN_FULL
            break
        if depth + 2 > len(known.sizes):
            status = _LEVELS_FULL
            break
        levels[depth, _CURSOR] = j + 1
        count, row = ext[j, _EXT_COUNT], ext[j, _ROW]
        members[n_members] = ext[j, _ITEM]
        n_members += 1
        n_new = 0
        for i in range(j + 1, end):
            common = intersect(bits, row, ext[i, _ROW], used + n_new, planes, plane_words)
            if common == count:
                members[n_members] = ext[i, _ITEM]
                n_members += 1
            elif common >= min_count:
                new = end + n_new
                ext[new, _ITEM], ext[new, _EXT_COUNT], ext[new, _ROW] = ext[i, _ITEM], common, used + n_new
                n_new += 1
        for m in range(levels[depth, _MEMBERS], n_members):
            flip(outside, places[members[m]])
        narrow(known, depth, depth + 1, members, levels[depth, _MEMBERS], n_members)
        if _is_covered(known, depth + 1, ext, end, end + n_new):
            continue
        # Some item outside of the set occurs wherever the set does: it could be added to all of the branch.
        if lies_in_another(bits, row, masks, outside, 0):
            continue
        all_row, all_count = row, count
        for i in range(end, end + n_new):
            all_count = intersect(bits, all_row, ext[i, _ROW], used + n_new, planes, plane_words)
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
            flip(outside, places[ext[i, _ITEM]])
            n_members += 1
        first = 0 if state[_HAS_FORGOTTEN] else root + 1
        if not _can_add(arena, all_row, min_count, current, known, first):
            _remember(members, n_members, all_count, depth, known, found, state, limits)
    state[_DEPTH], state[_N_MEMBERS] = depth, n_members
    return status


@kernel
def _is_covered(known: Known, level: int, ext: np.ndarray, start: int, stop: int) -> bool:
    """Whether a known set holds all members of a level and all extensions ext[start:stop]."""
    for k in range(known.sizes[level]):
        cover, place = known.covers[level, k], known.places[level, k]
        i = start
        while cover and i < stop:
            cover &= known.holders[ext[i, _ITEM], place]
            i += 1
        if cover:
            return True
    return False


@kernel
def _can_add(arena: Bitsets, row: int, min_count: int, current: CurrentSet, known: Known, first: int) -> bool:
    """Whether a set stays frequent with some item outside of it, from the item `first` on.

    If no set was forgotten (`first` > 0), roots that this thread has searched are skipped: a known set would
    have covered the branch.
    """
    bits, planes, plane_words = arena
    base_items, outside, is_done = current.base_items, current.outside, known.is_done
    for b in range(len(base_items) - 1, -1, -1):
        item = base_items[b]
        if item < first:
            break
        if first > 0 and is_done[item]:
            continue
        if has(outside, b) and count_common(bits, row, b, planes, plane_words) >= min_count:
            return True
    return False


@kernel
def _remember(
    members: np.ndarray,
    n_members: int,
    count: int,
    depth: int,
    known: Known,
    found: ThreadSets,
    state: np.ndarray,
    limits: SearchLimits,
) -> None:
    """Write a maximal set if its length is wanted, and note it for later branches."""
    note(known, state[_N_KNOWN], members, n_members, depth)
    state[_N_KNOWN] += 1
    if limits.min_len <= n_members <= limits.max_len:
        write_set(members, n_members, count, found, state)


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
