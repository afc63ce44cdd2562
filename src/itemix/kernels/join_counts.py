"""Count the joins of a trie in a block of transactions, depth first over bitsets.

The trie is that of `candidates`; a node of the first level is a root, and root r is node 1 + r. `wanted`
(n_joins,) bool says which joins are to be counted, `below` (n_nodes,) int64 how many of them there are at and
under each node; what is found is added to `counts` (n_joins,) int64. Each root has its own joins, so threads
that take different roots never write the same place.

Dense data comes as bitsets over all rows, a root a row; sparse data as the rows of each root in terms of its
children (see `projection`). `row_of` (n_items,) int32 says in which row of bits an item is.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.bitsets import count_common, grown, intersect
from itemix.kernels.control import RUNNING, STOP
from itemix.kernels.jit import kernel
from itemix.kernels.projection import pack_entries

# Columns of the stack: a node, its row of bits, and the sibling and the child that are next.
_NODE, _ROW, _SIBLING, _CHILD = 0, 1, 2, 3


@kernel
def add_pairs(
    companion_start: np.ndarray,
    companions: np.ndarray,
    pair_counts: np.ndarray,
    rank_of: np.ndarray,
    first: np.ndarray,
    item: np.ndarray,
    join_start: np.ndarray,
    wanted: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """Add the counts of pairs to the joins of roots, and return those of the nodes of the second level.

    The companions of a root are the roots it occurs with, ascending; `rank_of` (n_items,) int32 says which
    root an item is.
    """
    n_roots = len(companion_start) - 1
    start = first[1]
    of_nodes = np.zeros(first[1 + n_roots] - start, dtype=np.int64)
    for root in range(n_roots):
        child = first[1 + root]
        for c in range(companion_start[root], companion_start[root + 1]):
            join = join_start[1 + root] + companions[c]
            if wanted[join]:
                counts[join] += pair_counts[c]
            while child < first[2 + root] and rank_of[item[child]] < companions[c]:
                child += 1
            if child < first[2 + root] and rank_of[item[child]] == companions[c]:
                of_nodes[child - start] = pair_counts[c]
    return of_nodes


@kernel
def count_dense(
    control: np.ndarray,
    first_root: int,
    stop_root: int,
    depth: int,
    bits: np.ndarray,
    planes: np.ndarray,
    plane_words: np.ndarray,
    row_of: np.ndarray,
    first: np.ndarray,
    item: np.ndarray,
    join_start: np.ndarray,
    wanted: np.ndarray,
    below: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Count what is below a range of roots, in bitsets over all rows; `depth` is the longest set's length."""
    arena = grown(bits, len(bits) + depth)
    stack = np.empty((depth + 1, 4), dtype=np.int64)
    for root in range(first_root, stop_root):
        _count_below(
            1 + root, root, 1, len(bits), stack, arena, planes, plane_words, row_of, first, item, join_start,
            wanted, below, counts, control,
        )  # fmt: skip


@kernel
def count_projected(
    control: np.ndarray,
    first_root: int,
    stop_root: int,
    depth: int,
    spans: np.ndarray,
    entries: np.ndarray,
    weights: np.ndarray,
    n_items: int,
    first: np.ndarray,
    item: np.ndarray,
    join_start: np.ndarray,
    wanted: np.ndarray,
    below: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Count what is below a range of roots, pairs excepted; `spans` and `entries` as `deliver` gives them."""
    stack = np.empty((depth + 1, 4), dtype=np.int64)
    row_of = np.zeros(n_items, dtype=np.int32)
    for root in range(first_root, stop_root):
        start, stop = spans[root - first_root]
        if start == stop:
            continue
        begin, end = first[1 + root], first[2 + root]
        arena, planes, plane_words = pack_entries(entries[start:stop], end - begin, depth, weights)
        for child in range(begin, end):
            row_of[item[child]] = child - begin
        for child in range(begin, end):
            _count_below(
                child, child - begin, begin, end - begin, stack, arena, planes, plane_words, row_of, first,
                item, join_start, wanted, below, counts, control,
            )  # fmt: skip


@kernel
def _count_below(
    node: int,
    row: int,
    first_sibling: int,
    free_row: int,
    stack: np.ndarray,
    arena: np.ndarray,
    planes: np.ndarray,
    plane_words: np.ndarray,
    row_of: np.ndarray,
    first: np.ndarray,
    item: np.ndarray,
    join_start: np.ndarray,
    wanted: np.ndarray,
    below: np.ndarray,
    counts: np.ndarray,
    control: np.ndarray,
) -> None:
    """Count the joins of a node and of all below it; the rows of the arena from `free_row` on are written."""
    if below[node] == 0:
        return
    depth = 0
    stack[0, _NODE], stack[0, _ROW], stack[0, _SIBLING], stack[0, _CHILD] = (
        node, row, first_sibling, first[node]
    )  # fmt: skip
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
            common = intersect(arena, own, other, free_row + depth, planes, plane_words)
            if wanted[join]:
                counts[join] += common
            if common > 0:
                depth += 1
                stack[depth, _NODE], stack[depth, _ROW] = child, free_row + depth - 1
                stack[depth, _SIBLING], stack[depth, _CHILD] = first[v], first[child]
        elif wanted[join]:
            counts[join] += count_common(arena, own, other, planes, plane_words)
