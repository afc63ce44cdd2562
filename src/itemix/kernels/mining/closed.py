"""Closed frequent itemsets, depth first over bitsets with prefix-preserving closures (as LCM does).

A set is closed if no superset occurs in the same transactions. Every closed set is reached once: a set
grows by an item of lower rank than the last one; its closure may add items of lower rank still, but where
it would add an item of higher rank the branch is left, because it is another's. The test needs no list of
what was visited: the transactions of the set must not all lie in those of an item outside of it.

The arguments are those of `eclat.search`; what is found are whole sets, since closures have no path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.bitsets import Bitsets, grown, intersect, longer
from itemix.kernels.intrinsics import fetch_add
from itemix.kernels.jit import kernel
from itemix.kernels.mining.control import N_ROOTS_DONE, RUNNING, STOP, SearchLimits, report
from itemix.kernels.mining.eclat import Walk
from itemix.kernels.mining.projection import Companions, ProjectedRows, pack_entries
from itemix.kernels.mining.witnesses import SetAtHand, all_items, companions_of, flip, lies_in_another, turned

# As in `eclat`; MEMBERS is how many items the set has before those of the level.
_START, _SIZE, _CURSOR, _ROWS, _MEMBERS = 0, 1, 2, 3, 4
_ITEM, _EXT_COUNT, _ROW = 0, 1, 2
_DEPTH, _N_SETS, _N_CODES, _N_MEMBERS = 0, 1, 2, 3
_DONE, _OUT_FULL, _EXT_FULL, _ARENA_FULL = 0, 1, 2, 3


class ThreadSets(NamedTuple):
    """The sets that one thread has found.

    While the thread searches, the arrays have room for more.

    Attributes
    ----------
    ends : array of int64, shape (n,)
        Where each set ends.
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
    at_hand = all_items(n_items, turned(bits.rows, n_rows), n_rows)

    while control[STOP] == RUNNING:
        # Rare items have the most extensions: they are taken first, so that the last roots are small.
        root = fetch_add(queue, 0, -1) - 1
        if root < first_root:
            break
        n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        if n_rows > 0:
            _open_root(walk, root_counts, root)
        else:
            at_hand = companions_of(companions, root, at_hand)
            arena = pack_entries(projected, root - first_root, len(at_hand.base_items), 2)
            if len(found.ends) == state[_N_SETS] or len(found.ranks) < state[_N_CODES] + n_items:
                found = with_room(found)
            _open_projected_root(walk, at_hand, companions, root, root_counts[root], found, limits)
        state[_DEPTH] = 0
        status = _OUT_FULL
        while status != _DONE:
            status = _descend(walk, arena, at_hand, found, control, limits)
            if status == _OUT_FULL:
                found = with_room(found)
            elif status == _EXT_FULL:
                walk = Walk(walk.levels, grown(walk.ext, 2 * len(walk.ext)), walk.state)
            elif status == _ARENA_FULL:
                arena = Bitsets(grown(arena.rows, 2 * len(arena.rows)), arena.planes, arena.plane_words)
            report(state[_N_SETS] - n_sets, state[_N_CODES] - n_codes, control, limits)
            n_sets, n_codes = state[_N_SETS], state[_N_CODES]
        for m in range(state[_N_MEMBERS]):
            flip(at_hand.outside, at_hand.places[at_hand.members[m]])
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
    """List the items before a root and the root itself, which alone is to be visited."""
    levels, ext = walk.levels, walk.ext
    for i in range(root + 1):
        ext[i, _ITEM], ext[i, _EXT_COUNT], ext[i, _ROW] = i, root_counts[i], i
    levels[0, _START], levels[0, _SIZE], levels[0, _CURSOR] = 0, root + 1, root
    levels[0, _ROWS], levels[0, _MEMBERS] = len(root_counts), 0


@kernel
def _open_projected_root(
    walk: Walk,
    at_hand: SetAtHand,
    companions: Companions,
    root: int,
    root_count: int,
    found: ThreadSets,
    limits: SearchLimits,
) -> None:
    """Write the closure of a root and list its extensions, from the counts of its companions alone."""
    levels, ext, state = walk
    members, base_items, places, outside, _ = at_hand
    counts = companions.counts[companions.start[root] : companions.start[root + 1]]
    members[0], n_members, n_new = root, 1, 0
    is_anothers = False
    for b in range(len(base_items)):
        if counts[b] == root_count:
            is_anothers |= base_items[b] > root
            members[n_members] = base_items[b]
            n_members += 1
        elif base_items[b] < root:
            ext[n_new, _ITEM], ext[n_new, _EXT_COUNT], ext[n_new, _ROW] = base_items[b], counts[b], b
            n_new += 1
    levels[0, _START], levels[0, _CURSOR], levels[0, _ROWS] = 0, 0, len(base_items)
    levels[0, _SIZE] = 0 if is_anothers or n_members >= limits.max_len else n_new
    levels[0, _MEMBERS] = state[_N_MEMBERS] = 0 if is_anothers else n_members
    if is_anothers:
        return
    for m in range(n_members):
        flip(outside, places[members[m]])
    if limits.min_len <= n_members <= limits.max_len:
        write_set(members, n_members, root_count, found, state)


@kernel
def _descend(
    walk: Walk,
    arena: Bitsets,
    at_hand: SetAtHand,
    found: ThreadSets,
    control: np.ndarray,
    limits: SearchLimits,
) -> int:
    """Search below one root until done, or until an array is full; calling again goes on from there."""
    levels, ext, state = walk
    bits, planes, plane_words = arena
    members, _, places, outside, masks = at_hand
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
        # The closure would add an item of higher rank than the one the set grew by: it is another's.
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
    """Append a set, its items ascending, to what was found."""
    ranks = found.ranks
    start = state[_N_CODES]
    # Members were added from high ranks to low ones: read backwards they are almost sorted.
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
