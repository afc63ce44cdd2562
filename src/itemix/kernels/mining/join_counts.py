"""Count the joins of a trie in a block of transactions, depth first over bitsets.

The trie is that of `candidates`; a node of the first level is a root, and root r is node 1 + r. Each root has
its own joins, so threads that take different roots never write the same place.

Dense data comes as bitsets over all rows, a root a row; sparse data as the rows of each root in terms of its
children (see `projection`). `row_of` (n_items,) int32 says in which row of bits an item is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.bitsets import Bitsets, count_common, grown, intersect
from itemix.kernels.jit import inlined, kernel
from itemix.kernels.mining.control import RUNNING, STOP
from itemix.kernels.mining.projection import Companions, ProjectedRows, pack_entries

# Columns of the stack: a node, its row of bits, and the sibling and the child that are next.
_NODE, _ROW, _SIBLING, _CHILD = 0, 1, 2, 3


class JoinCounts(NamedTuple):
    """A trie, and the counts of its joins.

    Attributes
    ----------
    first, item, join_start : arrays
        The trie, see `candidates`.
    wanted : array of bool, shape (n_joins,)
        Which joins are to be counted.
    below : array of int64, shape (n_nodes,)
        How many of them there are at and under each node.
    counts : array of int64, shape (n_joins,)
        What is counted is added to these.
    """

    first: np.ndarray
    item: np.ndarray
    join_start: np.ndarray
    wanted: np.ndarray
    below: np.ndarray
    counts: np.ndarray


@kernel
def add_pairs(companions: Companions, rank_of: np.ndarray, joins: JoinCounts) -> np.ndarray:
    """Add the counts of pairs to the joins of roots, and return those of the nodes of the second level.

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
    """Count what is below a range of roots, in bitsets over all rows; `depth` is the longest set's length."""
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
    """Count what is below a range of roots, pairs excepted."""
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
    """Put a node on the stack, of which all siblings from one on and all children are to come."""
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
