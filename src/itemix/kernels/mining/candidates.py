"""Tries of sets to count, level by level, with all that two of their sets join to.

A set is a path of falling item numbers, and the sets of a trie are its nodes. Node 0 is the empty set; nodes
are numbered level by level, and the children of node v, first[v] to first[v + 1], add the items `item`, in
ascending order. Two siblings join to a set of one item more: the *joins* of node v are those with the
siblings before it, in order, numbers join_start[v] to join_start[v + 1]; the joins of node 0 are the items
alone. A node is itself a join of its parent, number `join_of`. Every set with all subsets among the nodes is
a join.

`counts` (n_joins,) int64 says how often each join occurs in the data; or UNKNOWN; or RULED_OUT, where a
subset of one item less is not in the trie.

Sets are hashed as in `lattice`. A table of hashes (a power of two,) uint64 says whether a hash is in it. Two
sets of the same hash are taken for one another, which can only make a set be counted without need.

A level as it grows is `rows` (m, length) int32, the paths of its nodes; `group` (m,) int64, the first sibling
of each; `hashes` (m,) uint64; `old` (m,) int64, the same node in an older trie, or -1.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import inlined, kernel
from itemix.kernels.models.corrected import child_of

UNKNOWN, RULED_OUT = -1, -2


@kernel
def hash_table(hashes: np.ndarray) -> np.ndarray:
    """Make the table of some hashes, at most half full; 0 marks an empty place."""
    size = 8
    while size < 2 * len(hashes):
        size *= 2
    table = np.zeros(size, dtype=np.uint64)
    for j in range(len(hashes)):
        slot = np.int64(hashes[j] & np.uint64(size - 1))
        while table[slot] != np.uint64(0):
            slot = (slot + 1) & (size - 1)
        table[slot] = hashes[j]
    return table


@inlined
def _is_in(table: np.ndarray, h: np.uint64) -> bool:
    slot = np.int64(h & np.uint64(len(table) - 1))
    while table[slot] != np.uint64(0):
        if table[slot] == h:
            return True
        slot = (slot + 1) & (len(table) - 1)
    return False


@kernel
def join_level(
    rows: np.ndarray,
    group: np.ndarray,
    hashes: np.ndarray,
    old: np.ndarray,
    keys: np.ndarray,
    proposed: np.ndarray,
    old_join_start: np.ndarray,
    old_counts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the counts of the joins of a level as far as an older trie has them, their hashes, and marks.

    A join is marked if it is a row of `proposed` (p, length + 1) int32, which are sorted. Where its count is
    not known and it is not marked, its subsets are looked for.

    Equivalent to {v | w: old.get(v | w, UNKNOWN)} for siblings w before v, RULED_OUT without all its subsets.
    """
    n_joins = 0
    for v in range(len(rows)):
        n_joins += v - group[v]
    counts = np.empty(n_joins, dtype=np.int64)
    join_hashes = np.empty(n_joins, dtype=np.uint64)
    is_proposed = np.zeros(n_joins, dtype=np.bool_)
    table = np.empty(0, dtype=np.uint64)
    last = rows.shape[1] - 1
    join, at = 0, 0
    for v in range(len(rows)):
        for w in range(group[v], v):
            h = hashes[v] ^ keys[rows[w, last]]
            counts[join], join_hashes[join] = UNKNOWN, h
            if old[v] >= 0 and old[w] >= 0:
                counts[join] = max(UNKNOWN, old_counts[old_join_start[old[v] + 1] + old[w] - old[v]])
            sign = 1
            while at < len(proposed) and sign > 0:
                sign = _compare(rows, v, w, proposed, at)
                at += sign >= 0
            is_proposed[join] = sign == 0
            if counts[join] == UNKNOWN and sign != 0:
                if len(table) == 0:
                    table = hash_table(hashes)
                if not _has_subsets(table, h, rows[v], keys):
                    counts[join] = RULED_OUT
            join += 1
    return counts, join_hashes, is_proposed


@inlined
def _compare(rows: np.ndarray, v: int, w: int, proposed: np.ndarray, at: int) -> int:
    """Return 0 if the join of two nodes is a proposed row, -1 if it comes before it, 1 if behind it."""
    length = rows.shape[1]
    for p in range(length):
        if rows[v, p] != proposed[at, p]:
            return -1 if rows[v, p] < proposed[at, p] else 1
    added = rows[w, length - 1]
    if added == proposed[at, length]:
        return 0
    return -1 if added < proposed[at, length] else 1


@inlined
def _has_subsets(table: np.ndarray, h: np.uint64, row: np.ndarray, keys: np.ndarray) -> bool:
    """Whether a join is in a table without each of its items but the two last, which are known to be."""
    for p in range(len(row) - 1):
        if not _is_in(table, h ^ keys[row[p]]):
            return False
    return True


@kernel
def expected_counts(
    counts: np.ndarray, group: np.ndarray, values: np.ndarray, prefix_values: np.ndarray
) -> np.ndarray:
    """Return the counts of joins or, where unknown, what they are if the two last items are independent.

    `values` (m,) float64 are the counts, or expected counts, of the nodes, `prefix_values` (m,) those of
    their parents. Equivalent to value[v] * value[w] / value[parent].
    """
    expected = np.empty(len(counts), dtype=np.float64)
    join = 0
    for v in range(len(group)):
        for w in range(group[v], v):
            expected[join] = counts[join]
            if counts[join] == UNKNOWN and prefix_values[v] > 0:
                expected[join] = values[v] * values[w] / prefix_values[v]
            join += 1
    return expected


@kernel
def next_level(
    rows: np.ndarray,
    group: np.ndarray,
    old: np.ndarray,
    chosen: np.ndarray,
    old_first: np.ndarray,
    old_item: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Make nodes of the chosen joins of a level; `chosen` (n_joins,) bool.

    Returns their rows, groups and old nodes, the node that each is a child of, and how many children each
    node of the level has.
    """
    length = rows.shape[1]
    n = 0
    for join in range(len(chosen)):
        n += chosen[join]
    new_rows = np.empty((n, length + 1), dtype=np.int32)
    new_group = np.empty(n, dtype=np.int64)
    new_old = np.empty(n, dtype=np.int64)
    parent = np.empty(n, dtype=np.int64)
    sizes = np.zeros(len(rows), dtype=np.int64)
    join, at = 0, 0
    for v in range(len(rows)):
        begin = at
        for w in range(group[v], v):
            if chosen[join]:
                added = rows[w, length - 1]
                for p in range(length):
                    new_rows[at, p] = rows[v, p]
                new_rows[at, length] = added
                new_group[at], parent[at], new_old[at] = begin, v, -1
                if old[v] >= 0:
                    new_old[at] = child_of(old_first, old_item, old[v], added)
                at += 1
            join += 1
        sizes[v] = at - begin
    return new_rows, new_group, new_old, parent, sizes


@kernel
def unknown_below(first: np.ndarray, join_start: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """How many joins of each node and of those below it are unknown, (n_nodes,) int64."""
    n_nodes = len(first) - 1
    below = np.zeros(n_nodes, dtype=np.int64)
    for v in range(n_nodes - 1, -1, -1):
        for j in range(join_start[v], join_start[v + 1]):
            below[v] += counts[j] == UNKNOWN
        for child in range(first[v], first[v + 1]):
            below[v] += below[child]
    return below


@kernel
def frequent_nodes(
    first: np.ndarray, item: np.ndarray, join_of: np.ndarray, counts: np.ndarray, min_count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the nodes of at least a count as ends, items and counts of sets, level by level.

    With a frequent set its prefixes must be frequent nodes too.
    """
    n_nodes = len(first) - 1
    place = np.full(n_nodes, -1, dtype=np.int64)
    length = np.zeros(n_nodes, dtype=np.int64)
    n_sets, n_items = 0, 0
    for v in range(n_nodes):
        for child in range(first[v], first[v + 1]):
            if counts[join_of[child]] >= min_count:
                place[child], length[child] = n_sets, length[v] + 1
                n_sets += 1
                n_items += length[child]
    ends = np.empty(n_sets, dtype=np.int64)
    items = np.empty(n_items, dtype=np.int32)
    found = np.empty(n_sets, dtype=np.int64)
    at = 0
    for v in range(n_nodes):
        for child in range(first[v], first[v + 1]):
            if place[child] < 0:
                continue
            for p in range(length[v]):
                items[at + p] = items[ends[place[v]] - length[v] + p]
            at += length[child]
            items[at - 1] = item[child]
            ends[place[child]], found[place[child]] = at, counts[join_of[child]]
    return ends, items, found
