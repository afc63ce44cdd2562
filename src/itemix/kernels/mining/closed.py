"""Closed frequent itemsets, depth first over bitsets with prefix-preserving closures (as LCM does).

A set is closed if no superset occurs in the same transactions. Every closed set is reached once. A set grows
by an item of lower rank than the last one, and its closure may add more items of lower rank. If the closure
would add an item of higher rank, the branch is left: another branch has that set. The test needs no list of
visited sets. It asks whether some item outside the set occurs in all its transactions.

A few transactions answer most of that. Bitsets say which transactions hold an item; `transposed` turns that
round, to say which items a transaction holds. If one transaction of the set lacks an item, that item is ruled
out. A few transactions rule out most items, 64 at a time. Only the items that are left are compared over
whole rows.

The arguments are those of `eclat.search`. The result is whole sets, since closures have no path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import fetch_add, inlined, kernel, trailing_zeros
from itemix.kernels.mining.eclat import Walk
from itemix.kernels.mining.layouts import (
    WORD_BITS,
    Bitsets,
    Companions,
    ProjectedRows,
    grown,
    intersect,
    is_subset,
    longer,
    pack_entries,
)
from itemix.kernels.mining.records import N_ROOTS_DONE, RUNNING, STOP, SearchLimits, report

# Columns as in `eclat`; MEMBERS is how many items the set has before those of the level.
_START, _SIZE, _CURSOR, _ROWS, _MEMBERS = 0, 1, 2, 3, 4
_ITEM, _EXT_COUNT, _ROW = 0, 1, 2
_DEPTH, _N_SETS, _N_CODES, _N_MEMBERS = 0, 1, 2, 3
_DONE, _OUT_FULL, _EXT_FULL, _ARENA_FULL = 0, 1, 2, 3


class CurrentSet(NamedTuple):
    """The current set of a search, and the items outside of it.

    Attributes
    ----------
    members : array of int32, shape (F,)
        The items of the set; the search knows how many.
    base_items : array of int32, shape (n_base,)
        The items of the first rows of bits, ascending.
    places : array of int64, shape (F,)
        The row of each of these items.
    outside : array of uint64, shape (n_base // 64 + 1,)
        A bit for each of these rows, set if its item is not in the set.
    masks : array of uint64
        These rows as `transposed` or `no_masks` returns them.
    """

    members: np.ndarray
    base_items: np.ndarray
    places: np.ndarray
    outside: np.ndarray
    masks: np.ndarray


@kernel
def transposed(arena: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the first rows transposed: (n_rows // 64 + 1, 64 * words) uint64.

    Bit r % 64 of the element (r // 64, b) is bit b of row r.
    """
    words = arena.shape[1]
    out = np.zeros((n_rows // WORD_BITS + 1, WORD_BITS * words), dtype=np.uint64)
    for v in range(len(out)):
        for w in range(words):
            block = out[v, WORD_BITS * w : WORD_BITS * (w + 1)]
            any_bit = np.uint64(0)
            for k in range(min(WORD_BITS, n_rows - WORD_BITS * v)):
                block[k] = arena[WORD_BITS * v + k, w]
                any_bit |= block[k]
            if any_bit:
                _transpose(block)
    return out


@kernel
def no_masks(n_rows: int) -> np.ndarray:
    """Return no masks, (n_rows // 64 + 1, 0), for rows so short that comparing them is as quick."""
    return np.empty((n_rows // WORD_BITS + 1, 0), dtype=np.uint64)


@inlined
def _transpose(block: np.ndarray) -> None:
    """Exchange bit j of word k with bit k of word j, by exchanging ever smaller squares."""
    step = 32
    mask = np.uint64(0xFFFFFFFF)
    while step:
        shift = np.uint64(step)
        for k in range(WORD_BITS):
            if k & step == 0:
                change = ((block[k] >> shift) ^ block[k + step]) & mask
                block[k] ^= change << shift
                block[k + step] ^= change
        step >>= 1
        mask ^= mask << np.uint64(step)


@kernel
def all_outside(n_rows: int) -> np.ndarray:
    """Return a bit set for each row: (n_rows // 64 + 1,) uint64."""
    outside = np.full(n_rows // WORD_BITS + 1, ~np.uint64(0), dtype=np.uint64)
    outside[-1] = (np.uint64(1) << np.uint64(n_rows % WORD_BITS)) - np.uint64(1)
    return outside


@kernel
def all_items(n_items: int, masks: np.ndarray, n_rows: int) -> CurrentSet:
    """Return the empty set, with all items in rows of bits (n_rows = n_items), or none of them (0)."""
    items = np.arange(n_items, dtype=np.int32)
    return CurrentSet(
        np.empty(n_items, dtype=np.int32), items, np.arange(n_items), all_outside(n_rows), masks
    )


@kernel
def companions_of(companions: Companions, root: int, before: CurrentSet) -> CurrentSet:
    """Return the empty set, with the companions of a root in rows of bits, and after them the root.

    The row of the root is empty. Arrays over all items are reused from the set before.
    """
    items = companions.ranks[companions.start[root] : companions.start[root + 1]].copy()
    n_items = len(items)
    before.places[root] = n_items
    for b in range(n_items):
        before.places[items[b]] = b
    return CurrentSet(before.members, items, before.places, all_outside(n_items + 1), no_masks(n_items + 1))


@inlined
def flip(bits: np.ndarray, position: int) -> None:
    """Flip one bit."""
    bits[position // WORD_BITS] ^= np.uint64(1) << np.uint64(position % WORD_BITS)


@inlined
def has(bits: np.ndarray, position: int) -> bool:
    """Whether one bit is set."""
    return bool((bits[position // WORD_BITS] >> np.uint64(position % WORD_BITS)) & np.uint64(1))


@kernel
def lies_in_another(arena: np.ndarray, row: int, masks: np.ndarray, outside: np.ndarray, first: int) -> bool:
    """Whether all bits of a row are in one of the rows from `first` on that are marked in `outside`.

    `masks` are those rows as `transposed` or `no_masks` returns them.
    """
    from_first = ~np.uint64(0) << np.uint64(first % WORD_BITS)
    for v in range(first // WORD_BITS, len(outside)):
        left = outside[v] & from_first
        from_first = ~np.uint64(0)
        for w in range(masks.shape[1] // WORD_BITS):
            if not left:
                break
            word = arena[row, w]
            if word:
                left &= masks[v, WORD_BITS * w + trailing_zeros(word)]
        while left:
            if is_subset(arena, row, WORD_BITS * v + trailing_zeros(left)):
                return True
            left &= left - np.uint64(1)
    return False


class ThreadSets(NamedTuple):
    """The sets that one thread has found.

    While the thread searches, the arrays have room for more.

    Attributes
    ----------
    ends : array of int64, shape (n,)
        The end of each set in `ranks`.
    ranks : array of int32
        The ranks of all sets, ascending in each.
    counts : array of int64, shape (n,)
        How often each set occurs.
    """

    ends: np.ndarray
    ranks: np.ndarray
    counts: np.ndarray


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
    """Find the closed sets of the roots this thread gets."""
    n_items = len(root_counts)
    n_rows = len(bits.rows)
    found = no_sets(n_items)
    ext = np.empty((4 * n_items + 16, 3), dtype=np.int64)
    walk = Walk(np.zeros((n_items + 2, 5), dtype=np.int64), ext, np.zeros(4, dtype=np.int64))
    state = walk.state
    arena = Bitsets(grown(bits.rows, 2 * n_rows), bits.planes.copy(), bits.plane_words.copy())
    current = all_items(n_items, transposed(bits.rows, n_rows), n_rows)

    while control[STOP] == RUNNING:
        # Rare items have the most extensions: they are taken first, so that the last roots are small.
        root = fetch_add(queue, 0, -1) - 1
        if root < first_root:
            break
        n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        if n_rows > 0:
            _open_root(walk, root_counts, root)
        else:
            current = companions_of(companions, root, current)
            arena = pack_entries(projected, root - first_root, len(current.base_items), 2)
            if len(found.ends) == state[_N_SETS] or len(found.ranks) < state[_N_CODES] + n_items:
                found = with_room(found)
            _open_projected_root(walk, current, companions, root, root_counts[root], found, limits)
        state[_DEPTH] = 0
        status = _OUT_FULL
        while status != _DONE:
            status = _descend(walk, arena, current, found, control, limits)
            if status == _OUT_FULL:
                found = with_room(found)
            elif status == _EXT_FULL:
                walk = Walk(walk.levels, grown(walk.ext, 2 * len(walk.ext)), walk.state)
            elif status == _ARENA_FULL:
                arena = Bitsets(grown(arena.rows, 2 * len(arena.rows)), arena.planes, arena.plane_words)
            report(state[_N_SETS] - n_sets, state[_N_CODES] - n_codes, control, limits)
            n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        for m in range(state[_N_MEMBERS]):
            flip(current.outside, current.places[current.members[m]])
        state[_N_MEMBERS] = 0
        fetch_add(control, N_ROOTS_DONE, 1)
    n_sets, n_codes = state[_N_SETS], state[_N_CODES]
    return ThreadSets(found.ends[:n_sets], found.ranks[:n_codes], found.counts[:n_sets])


@kernel
def no_sets(n_items: int) -> ThreadSets:
    """Return room for the first sets."""
    return ThreadSets(
        np.empty(4096, dtype=np.int64),
        np.empty((1 << 16) + n_items, dtype=np.int32),
        np.empty(4096, dtype=np.int64),
    )


@kernel
def with_room(found: ThreadSets) -> ThreadSets:
    """Return the same sets with room for more of them."""
    return ThreadSets(longer(found.ends, 0), longer(found.ranks, 0), longer(found.counts, 0))


@kernel
def _open_root(walk: Walk, root_counts: np.ndarray, root: int) -> None:
    """List the items before a root and the root itself. Only the root is visited."""
    levels, ext = walk.levels, walk.ext
    for i in range(root + 1):
        ext[i, _ITEM], ext[i, _EXT_COUNT], ext[i, _ROW] = i, root_counts[i], i
    levels[0, _START], levels[0, _SIZE], levels[0, _CURSOR] = 0, root + 1, root
    levels[0, _ROWS], levels[0, _MEMBERS] = len(root_counts), 0


@kernel
def _open_projected_root(
    walk: Walk,
    current: CurrentSet,
    companions: Companions,
    root: int,
    root_count: int,
    found: ThreadSets,
    limits: SearchLimits,
) -> None:
    """Write the closure of a root and list its extensions, using only the counts of its companions."""
    levels, ext, state = walk
    members, base_items, places, outside, _ = current
    counts = companions.counts[companions.start[root] : companions.start[root + 1]]
    members[0], n_members, n_new = root, 1, 0
    is_elsewhere = False
    for b in range(len(base_items)):
        if counts[b] == root_count:
            is_elsewhere |= base_items[b] > root
            members[n_members] = base_items[b]
            n_members += 1
        elif base_items[b] < root:
            ext[n_new, _ITEM], ext[n_new, _EXT_COUNT], ext[n_new, _ROW] = base_items[b], counts[b], b
            n_new += 1
    levels[0, _START], levels[0, _CURSOR], levels[0, _ROWS] = 0, 0, len(base_items)
    levels[0, _SIZE] = 0 if is_elsewhere or n_members >= limits.max_len else n_new
    levels[0, _MEMBERS] = state[_N_MEMBERS] = 0 if is_elsewhere else n_members
    if is_elsewhere:
        return
    for m in range(n_members):
        flip(outside, places[members[m]])
    if limits.min_len <= n_members <= limits.max_len:
        write_set(members, n_members, root_count, found, state)


@kernel
def _descend(
    walk: Walk,
    arena: Bitsets,
    current: CurrentSet,
    found: ThreadSets,
    control: np.ndarray,
    limits: SearchLimits,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there."""
    levels, ext, state = walk
    bits, planes, plane_words = arena
    members, _, places, outside, masks = current
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
        if state[_N_SETS] == len(found.ends) or state[_N_CODES] + len(members) > len(found.ranks):
            status = _OUT_FULL
            break
        if base + j > len(ext):
            status = _EXT_FULL
            break
        if used + j > len(bits):
            status = _ARENA_FULL
            break
        levels[depth, _CURSOR] = j + 1
        # The closure would add an item of higher rank than the one the set grew by: another branch has it.
        if lies_in_another(bits, row, masks, outside, places[item] + 1):
            continue
        members[n_members] = item
        flip(outside, places[item])
        n_members += 1
        n_new = 0
        for i in range(first, first + j):
            common = intersect(bits, row, ext[i, _ROW], used + n_new, planes, plane_words)
            if common == count:
                members[n_members] = ext[i, _ITEM]
                flip(outside, places[ext[i, _ITEM]])
                n_members += 1
            elif common >= limits.min_count:
                new = base + n_new
                ext[new, _ITEM], ext[new, _EXT_COUNT], ext[new, _ROW] = ext[i, _ITEM], common, used + n_new
                n_new += 1
        if limits.min_len <= n_members <= limits.max_len:
            write_set(members, n_members, count, found, state)
        if n_new > 0 and n_members < limits.max_len:
            depth += 1
            levels[depth, _START], levels[depth, _SIZE], levels[depth, _CURSOR] = base, n_new, 0
            levels[depth, _ROWS], levels[depth, _MEMBERS] = used + n_new, n_members
    state[_DEPTH], state[_N_MEMBERS] = depth, n_members
    return status


@kernel
def write_set(members: np.ndarray, n_members: int, count: int, found: ThreadSets, state: np.ndarray) -> None:
    """Append a set to those found, its items ascending."""
    ranks = found.ranks
    start = state[_N_CODES]
    # Members were added from high to low ranks, so they are almost sorted when read backwards.
    for m in range(n_members):
        value = members[n_members - 1 - m]
        k = start + m
        while k > start and ranks[k - 1] > value:
            ranks[k] = ranks[k - 1]
            k -= 1
        ranks[k] = value
    state[_N_CODES] += n_members
    found.ends[state[_N_SETS]], found.counts[state[_N_SETS]] = state[_N_CODES], count
    state[_N_SETS] += 1
