"""Tries of candidate sets, grown level by level, and their counts in the data.

A set is a path of falling item numbers, and the sets of a trie are its nodes. Node 0 is the empty set. Nodes
are numbered level by level, and the children of node v, first[v] to first[v + 1], add the items `item`, in
ascending order. Two siblings join to a set of one item more. The *joins* of node v are those with the
siblings before it, in order: numbers join_start[v] to join_start[v + 1]. The joins of node 0 are the single
items. A node is itself a join of its parent, number `join_of`. Every set with all subsets among the nodes is
a join.

`counts` (n_joins,) int64 says how often each join occurs in the data. It is UNKNOWN before counting, and
RULED_OUT if a subset of one item less is not in the trie.

Sets are hashed as in `lattice`. A table of hashes (a power of two,) uint64 says whether a hash is in it. Two
sets with the same hash are taken for the same set. At worst, a set is then counted without need.

A level as it grows is `rows` (m, length) int32, the paths of its nodes; `group` (m,) int64, the first sibling
of each; `hashes` (m,) uint64; `old` (m,) int64, the same node in an older trie, or -1.

Joins are counted in blocks of transactions, depth first over bitsets. A node of the first level is a root,
and root r is node 1 + r. Each root has its own joins, so threads that take different roots never write to the
same place. Dense data comes as bitsets over all rows, one row of bits for each root. Sparse data comes as the
rows of each root in terms of its children (see `layouts`). `row_of` (n_items,) int32 gives the row of bits
of an item.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import counted, inlined, kernel, popcount
from itemix.kernels.lattice import child_of
from itemix.kernels.mining.layouts import (
    Bitsets,
    Companions,
    ProjectedRows,
    count_common,
    grown,
    intersect,
    pack_entries,
)
from itemix.kernels.mining.records import RUNNING, STOP

UNKNOWN, RULED_OUT = -1, -2
# Columns of the stack: a node, its row of bits, and the sibling and the child that are next.
_NODE, _ROW, _SIBLING, _CHILD = 0, 1, 2, 3
_BITS_AT_ONCE = 1 << 22


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
    """Return the counts of the joins of a level that an older trie has, the hashes of all joins, and marks.

    A join is marked if it is a row of `proposed` (p, length + 1) int32, which are sorted. If a join is not
    marked and its count is unknown, it is ruled out unless all its subsets are there.

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
    """Return 0 if the join of two nodes is a proposed row, -1 if it comes before that row, 1 if after."""
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
    """Whether the table has a join without each of its items. For the last two items that is known."""
    for p in range(len(row) - 1):
        if not _is_in(table, h ^ keys[row[p]]):
            return False
    return True


@kernel
def expected_counts(
    counts: np.ndarray, group: np.ndarray, values: np.ndarray, prefix_values: np.ndarray
) -> np.ndarray:
    """Return the counts of joins; where unknown, the expected ones if the last two items are independent.

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
    """Return how many joins are unknown at each node and below it, (n_nodes,) int64."""
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
    """Return the nodes with at least `min_count` as ends, items and counts of sets, level by level.

    The prefixes of a frequent set must be frequent nodes too.
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


class JoinCounts(NamedTuple):
    """A trie, and the counts of its joins.

    Attributes
    ----------
    first, item, join_start : arrays
        The trie, see above.
    wanted : array of bool, shape (n_joins,)
        Which joins to count.
    below : array of int64, shape (n_nodes,)
        How many wanted joins there are at each node and below it.
    counts : array of int64, shape (n_joins,)
        The counts; new ones are added.
    """

    first: np.ndarray
    item: np.ndarray
    join_start: np.ndarray
    wanted: np.ndarray
    below: np.ndarray
    counts: np.ndarray


@kernel
def add_pairs(companions: Companions, rank_of: np.ndarray, joins: JoinCounts) -> np.ndarray:
    """Add the counts of pairs to the joins of roots, and return the counts of the second level's nodes.

    The companions of a root are the roots it occurs with, ascending; `rank_of` (n_items,) int32 says which
    root an item is.
    """
    companion_start, companion_ranks, pair_counts = companions
    first, item, join_start, wanted, _, counts = joins
    n_roots = len(companion_start) - 1
    start = first[1]
    of_nodes = np.zeros(first[1 + n_roots] - start, dtype=np.int64)
    for root in range(n_roots):
        child = first[1 + root]
        for c in range(companion_start[root], companion_start[root + 1]):
            other, count = companion_ranks[c], pair_counts[c]
            join = join_start[1 + root] + other
            if wanted[join]:
                counts[join] += count
            while child < first[2 + root] and rank_of[item[child]] < other:
                child += 1
            if child < first[2 + root] and rank_of[item[child]] == other:
                of_nodes[child - start] = count
    return of_nodes


@kernel
def count_dense(
    control: np.ndarray,
    first_root: int,
    stop_root: int,
    depth: int,
    bits: Bitsets,
    row_of: np.ndarray,
    joins: JoinCounts,
) -> None:
    """Count the joins below a range of roots in bitsets over all rows; `depth` is the most items of a set."""
    n_rows = len(bits.rows)
    arena = Bitsets(grown(bits.rows, n_rows + depth), bits.planes, bits.plane_words)
    stack = np.empty((depth + 1, 4), dtype=np.int64)
    for root in range(first_root, stop_root):
        _put(stack, 0, joins.first, 1 + root, root, 1)
        _count_below(stack, n_rows, arena, row_of, joins, control)


@kernel
def count_projected(
    control: np.ndarray,
    first_root: int,
    stop_root: int,
    depth: int,
    projected: ProjectedRows,
    n_items: int,
    joins: JoinCounts,
) -> None:
    """Count the joins below a range of roots in projected rows, other than pairs."""
    stack = np.empty((depth + 1, 4), dtype=np.int64)
    row_of = np.zeros(n_items, dtype=np.int32)
    spans, first, item = projected.spans, joins.first, joins.item
    for root in range(first_root, stop_root):
        k = root - first_root
        if spans[k, 0] == spans[k, 1]:
            continue
        begin, end = first[1 + root], first[2 + root]
        arena = pack_entries(projected, k, end - begin, depth)
        for child in range(begin, end):
            row_of[item[child]] = child - begin
        for child in range(begin, end):
            _put(stack, 0, first, child, child - begin, begin)
            _count_below(stack, end - begin, arena, row_of, joins, control)


@inlined
def _put(stack: np.ndarray, depth: int, first: np.ndarray, node: int, row: int, sibling: int) -> None:
    """Put a node on the stack: its siblings from `sibling` on and all its children are still to visit."""
    stack[depth, _NODE], stack[depth, _ROW] = node, row
    stack[depth, _SIBLING], stack[depth, _CHILD] = sibling, first[node]


@kernel
def _count_below(
    stack: np.ndarray,
    free_row: int,
    arena: Bitsets,
    row_of: np.ndarray,
    joins: JoinCounts,
    control: np.ndarray,
) -> None:
    """Count the joins of the first node of the stack and of all below it.

    The rows of the arena from `free_row` on are written.
    """
    rows, planes, plane_words = arena
    first, item, join_start, wanted, below, counts = joins
    if below[stack[0, _NODE]] == 0:
        return
    depth = 0
    while depth >= 0 and control[STOP] == RUNNING:
        v, sibling, child = stack[depth, _NODE], stack[depth, _SIBLING], stack[depth, _CHILD]
        if sibling == v:
            depth -= 1
            continue
        stack[depth, _SIBLING] = sibling + 1
        join = join_start[v + 1] + sibling - v
        own, other = stack[depth, _ROW], row_of[item[sibling]]
        is_child = child < first[v + 1] and item[child] == item[sibling]
        stack[depth, _CHILD] = child + is_child
        if is_child and below[child] > 0:
            common = intersect(rows, own, other, free_row + depth, planes, plane_words)
            if wanted[join]:
                counts[join] += common
            if common > 0:
                depth += 1
                _put(stack, depth, first, child, free_row + depth - 1, first[v])
        elif wanted[join]:
            counts[join] += count_common(rows, own, other, planes, plane_words)


def _steps_of_counting(
    indptr: np.ndarray,
    indices: np.ndarray,
    _weights: np.ndarray,
    offsets: np.ndarray,
    codes: np.ndarray,
    _n_items: int,
) -> float:
    return 4 * len(indices) + (len(codes) + 2 * len(offsets)) * len(indptr) / 32


@counted(_steps_of_counting)
def count_sets(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    offsets: np.ndarray,
    codes: np.ndarray,
    n_items: int,
) -> np.ndarray:
    """Return how many transactions hold each set; `weights` (N,) int64 or empty for ones.

    Transactions come as compressed rows (see `csr`), sets as offsets and codes (see `lattice`). A block of
    transactions is packed into one row of bits for each item that occurs in a set. To count a set in a block
    is then one intersection of a few short rows.

    Equivalent to [weights[X[:, set].all(axis=1)].sum() for set in family].
    """
    n_rows = len(indptr) - 1
    n_sets = len(offsets) - 1
    counts = np.zeros(n_sets, dtype=np.int64)
    row_of = np.full(n_items, -1, dtype=np.int64)
    n_used = 0
    for j in range(len(codes)):
        if row_of[codes[j]] < 0:
            row_of[codes[j]] = n_used
            n_used += 1
    words = max(min(_BITS_AT_ONCE // (64 * max(n_used, 1)), (n_rows + 63) // 64), 1)
    bits = np.zeros((n_used + 1, words), dtype=np.uint64)
    every = bits[n_used]
    common = np.empty(words, dtype=np.uint64)
    for first in range(0, n_rows, 64 * words):
        last = min(first + 64 * words, n_rows)
        bits[:] = np.uint64(0)
        for t in range(first, last):
            word = (t - first) >> 6
            bit = np.uint64(1) << np.uint64((t - first) & 63)
            every[word] |= bit
            for j in range(indptr[t], indptr[t + 1]):
                r = row_of[indices[j]]
                if r >= 0:
                    bits[r, word] |= bit
        for s in range(n_sets):
            for w in range(words):
                common[w] = every[w]
            for j in range(offsets[s], offsets[s + 1]):
                row = bits[row_of[codes[j]]]
                for w in range(words):
                    common[w] &= row[w]
            total = 0
            if len(weights) == 0:
                for w in range(words):
                    total += popcount(common[w])
            else:
                for w in range(words):
                    left = common[w]
                    while left != np.uint64(0):
                        rest = left & (left - np.uint64(1))
                        total += weights[first + 64 * w + popcount((left ^ rest) - np.uint64(1))]
                        left = rest
            counts[s] += total
    return counts
