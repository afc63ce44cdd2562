"""Residuals of a mixture: shifts of log-odds, kept in a trie of itemsets (see docs/correction.md).

A set is a path from its rarest item to its most probable one. Its first `n_pivots` items are its pivots p_1,
p_2, ...; the log-odds of every later item i of the path are shifted by the sum over l of the shifts of the
sets {p_1, ..., p_l, i}, l from 1 to the number of pivots before i. With o = exp(shift), phi becomes
phi o / (1 - phi + phi o).

Shapes: items are ranks, 0 the most probable; `table` (D, K) the phi by rank. Node 0 of the trie is the empty
set and node 1 + r the item of rank r; the children of node v, nodes first[v] to first[v + 1], add the items
`item` (ascending, all below the last item of v).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel, summing

# Log-odds are not shifted further than this: beyond it a probability is 0 or 1 for all that counts.
_FARTHEST = 40.0
_MOST_STEPS = 60
_PRECISION = 1e-13


class ShiftTrie(NamedTuple):
    """Itemsets in a trie, each with a shift of log-odds; see the module.

    Attributes
    ----------
    first : array of int64, shape (n_nodes + 1,)
        The first child of each node.
    item : array of int32, shape (n_nodes,)
        The rank that a node adds to its parent.
    shift : array of float64, shape (n_nodes,)
        By how much the log-odds of that item are shifted.
    """

    first: np.ndarray
    item: np.ndarray
    shift: np.ndarray


@inlined
def child_of(first: np.ndarray, item: np.ndarray, node: int, wanted: int) -> int:
    """Return the child of a node that adds an item, or -1."""
    low, high = first[node], first[node + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if item[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and item[low] == wanted else -1


@inlined
def _tilted(phi: float, odds: float) -> float:
    """Return a probability whose odds are multiplied; 0 stays 0 and 1 stays 1, however small the odds are."""
    product = phi * odds
    return product / (1.0 - phi + product)


@kernel
def tilt(phi: np.ndarray, shift: float, out: np.ndarray) -> None:
    """Shift the log-odds of probabilities.

    Equivalent to out[:] = phi * exp(shift) / (1 - phi + phi * exp(shift)).
    """
    odds = np.exp(shift)
    for k in range(len(phi)):
        out[k] = _tilted(phi[k], odds)


@summing
def _weighted(weights: np.ndarray, phi: np.ndarray, shift: float) -> tuple[float, float]:
    """Return sum(w v) and sum(w v (1 - v)), v being the tilted phi: a probability and its derivative."""
    odds = np.exp(shift)
    total, slope = 0.0, 0.0
    for k in range(len(phi)):
        value = _tilted(phi[k], odds)
        total += weights[k] * value
        slope += weights[k] * value * (1.0 - value)
    return total, slope


@kernel
def solve_shift(weights: np.ndarray, phi: np.ndarray, start: float, target: float) -> float:
    """Return the shift under which sum(weights * tilted phi) is the target, by Newton's method, safeguarded.

    Where no shift reaches it (every phi is 0 or 1) the farthest one is returned.
    """
    low, high = -_FARTHEST, _FARTHEST
    shift = start
    for _ in range(_MOST_STEPS):
        value, slope = _weighted(weights, phi, shift)
        if abs(value - target) <= _PRECISION * target:
            break
        if value > target:
            high = shift
        else:
            low = shift
        new = shift - (value - target) / slope if slope > 0.0 else high
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - shift) <= _PRECISION:
            break
        shift = new
    return shift


@kernel
def path_shift(trie: ShiftTrie, nodes: np.ndarray, n_nodes: int, wanted: int) -> float:
    """Return the sum of the shifts of an item below the nodes of some pivots, nodes[:n_nodes]; -1 is none."""
    first, item, shift = trie
    total = 0.0
    for pivot in range(n_nodes):
        if nodes[pivot] < 0:
            break
        found = child_of(first, item, nodes[pivot], wanted)
        if found >= 0:
            total += shift[found]
    return total


@kernel
def fit_shifts(
    first: np.ndarray,
    item: np.ndarray,
    counts: np.ndarray,
    weights: np.ndarray,
    table: np.ndarray,
    shrinkage: float,
) -> np.ndarray:
    """Return the shift of each node, so that the probabilities of the sets are those that were counted.

    `counts` (n_nodes,) are those of the sets, that of node 0 the number of transactions. The conditional
    frequency of the last item given the others is shrunk towards what the model says without this node, which
    counts as `shrinkage` observations.
    """
    n_nodes, K = len(item), len(weights)
    shift = np.zeros(n_nodes, dtype=np.float64)
    trie = ShiftTrie(first, item, shift)
    parent = np.zeros(n_nodes, dtype=np.int64)
    for v in range(n_nodes):
        for c in range(first[v], first[v + 1]):
            parent[c] = v
    path = np.empty(64, dtype=np.int64)
    product, tilted = np.empty(K), np.empty(K)
    for v in range(1, n_nodes):
        if first[v] == first[v + 1] or counts[v] == 0:
            continue
        depth = 0
        u = v
        while u != 0:
            path[depth] = u
            depth += 1
            u = parent[u]
        nodes = path[:depth][::-1].copy()
        product[:] = weights
        for j in range(depth):
            own = path_shift(trie, nodes, j, item[nodes[j]])
            tilt(table[item[nodes[j]]], own, tilted)
            product *= tilted
        total = product.sum()
        if not total > 0.0:
            continue
        product /= total
        for c in range(first[v], first[v + 1]):
            before = path_shift(trie, nodes, depth - 1, item[c])
            expected = _weighted(product, table[item[c]], before)[0]
            if not 0.0 < expected < 1.0:
                continue
            target = (counts[c] + shrinkage * expected) / (counts[v] + shrinkage)
            shift[c] = solve_shift(product, table[item[c]], before, target) - before
    return shift


@kernel
def path_probabilities(
    offsets: np.ndarray,
    ranks: np.ndarray,
    weights: np.ndarray,
    table: np.ndarray,
    trie: ShiftTrie,
    n_pivots: int,
    out: np.ndarray,
) -> None:
    """Write the probability of each set, not yet lowered to those of its subsets, into `out`.

    Set s holds the ranks ranks[offsets[s]:offsets[s + 1]], ascending. What a set shares with the one before
    it, from the rarest item on, is not computed again.
    """
    first, item = trie.first, trie.item
    K = len(weights)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    products = np.empty((longest + 1, K), dtype=np.float64)
    products[0] = weights
    nodes = np.full(longest + 1, -1, dtype=np.int64)
    path = np.full(longest + 1, -1, dtype=np.int64)
    tilted = np.empty(K)
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        j = 0
        while j < n and path[j] == ranks[offsets[s + 1] - 1 - j]:
            j += 1
        while j < n:
            wanted = ranks[offsets[s + 1] - 1 - j]
            path[j] = wanted
            own = path_shift(trie, nodes, min(j, n_pivots), wanted)
            if own == 0.0:
                products[j + 1] = products[j] * table[wanted]
            else:
                tilt(table[wanted], own, tilted)
                products[j + 1] = products[j] * tilted
            if j == 0:
                nodes[0] = 1 + wanted
            elif nodes[j - 1] >= 0:
                nodes[j] = child_of(first, item, nodes[j - 1], wanted)
            else:
                nodes[j] = -1
            j += 1
        if n < longest:
            path[n] = -1
        out[s] = min(products[n].sum(), 1.0)


@kernel
def count_children(offsets: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return how many sets add one item to the end of each set's path, shape (1 + n,); first the empty set's.

    Sets are sorted by length, then colexicographically, and each set's path without its end is among them.
    """
    n = len(offsets) - 1
    counts = np.zeros(n + 1, dtype=np.int64)
    parent = 0
    for s in range(n):
        length = offsets[s + 1] - offsets[s]
        if length == 1:
            counts[0] += 1
            continue
        while not _is_parent(offsets, ranks, parent, s, length):
            parent += 1
        counts[1 + parent] += 1
    return counts


@inlined
def _is_parent(offsets: np.ndarray, ranks: np.ndarray, parent: int, s: int, length: int) -> bool:
    if offsets[parent + 1] - offsets[parent] != length - 1:
        return False
    for j in range(1, length):
        if ranks[offsets[parent + 1] - j] != ranks[offsets[s + 1] - j]:
            return False
    return True
