"""The probability of sets under a corrected mixture: the least estimate of a set and of all its subsets.

Names and shapes as in `residuals`. Taking away an item that is no pivot cannot lower an estimate, so that the
subsets that count have some pivots and then every item that comes after them; and pivots make a difference
only as far as they are a path of the trie. The search goes down these paths. It visits stored sets that lie
in the set, however many subsets that has, and leaves those out of which no estimate comes that is as low as
the lowest so far.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel, summing
from itemix.kernels.models.corrected import ShiftTrie, child_of, tilt

# Estimates are compared with bounds that are rounded in another way.
_ROUNDED = 1.0 + 1e-9


@kernel
def further_shifts(trie: ShiftTrie) -> np.ndarray:
    """Return the lowest shift that more pivots add to that of each node, or 0, shape (n_nodes,).

    It is that of the node's last item, the pivots being put in before it. Where an item has a shift with more
    pivots but is no child of a node, all children of that node have -inf.

    Equivalent to min(0, shift[path + more + last] + further[path + more + last]) over all `more` of one item.
    """
    first, item, shift = trie
    n_nodes = len(item)
    parent = np.zeros(n_nodes, dtype=np.int64)
    for v in range(n_nodes):
        parent[first[v] : first[v + 1]] = v
    further = np.zeros(n_nodes, dtype=np.float64)
    is_unknown = np.zeros(n_nodes, dtype=np.bool_)
    for c in range(n_nodes - 1, 0, -1):
        v = parent[parent[c]]
        while v != 0:
            with_fewer = child_of(first, item, v, item[c])
            if with_fewer >= 0:
                further[with_fewer] = min(further[with_fewer], shift[c] + further[c])
                break
            is_unknown[v] = True
            v = parent[v]
    for v in range(n_nodes):
        if is_unknown[v]:
            further[first[v] : first[v + 1]] = -np.inf
    return further


@kernel
def _multiply(phi: np.ndarray, shift: float, product: np.ndarray, out: np.ndarray) -> None:
    """Write the products with probabilities whose log-odds are shifted; `out` may be `product`."""
    if shift == 0.0:
        for k in range(len(phi)):
            out[k] = product[k] * phi[k]
    else:
        tilted = np.empty(len(phi))
        tilt(phi, shift, tilted)
        for k in range(len(phi)):
            out[k] = product[k] * tilted[k]


@summing
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@kernel
def _go_down(
    path: np.ndarray,
    start: int,
    trie: ShiftTrie,
    further: np.ndarray,
    node: int,
    before: np.ndarray,
    children: np.ndarray,
    shifts: np.ndarray,
) -> tuple[bool, float]:
    """Write the children of a node that add path[start:], and the shifts of these items with and without.

    Returns whether there are such children, and the logarithm of a factor: nothing below the node is lower
    than the mixture's probability times it, for a probability is tilted by s to no less than exp(s) of it.
    """
    first, item, shift = trie
    found, lowest = False, 0.0
    for j in range(start, len(path)):
        child = child_of(first, item, node, path[j])
        children[j] = child
        shifts[j] = before[j]
        least = before[j]
        if child >= 0:
            found = True
            shifts[j] += shift[child]
            least = shifts[j] + further[child]
        lowest += min(least, 0.0)
    return found, lowest


@kernel
def least_probabilities(
    offsets: np.ndarray,
    ranks: np.ndarray,
    weights: np.ndarray,
    table: np.ndarray,
    trie: ShiftTrie,
    further: np.ndarray,
    n_pivots: int,
    out: np.ndarray,
) -> None:
    """Write the probability of each set, the least estimate of it and of its subsets, into `out`.

    Set s holds the ranks ranks[offsets[s]:offsets[s + 1]], ascending; its path is descending. `further` is
    what `further_shifts` returns. Each level of the search is a node that lies in the path, with
    children that do so too. Any of these can be the next pivot. An item that is no child, or a child without
    such children, shifts nothing that comes after it: of those, the first leaves all the others in.

    Equivalent to min(estimate(J) for all subsets J), estimates being those of `path_probabilities`.
    """
    K = len(weights)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    path = np.empty(longest, dtype=np.int64)
    n_levels = n_pivots + 1
    children = np.empty((n_levels, longest), dtype=np.int64)
    shifts = np.empty((n_levels, longest), dtype=np.float64)
    products = np.empty((n_levels, K), dtype=np.float64)
    at = np.zeros(n_levels, dtype=np.int64)
    has_rest = np.zeros(n_levels, dtype=np.bool_)
    after = np.ones((longest + 1, K), dtype=np.float64)
    rest = np.empty(K)
    products[0] = weights
    for s in range(len(offsets) - 1):
        n = offsets[s + 1] - offsets[s]
        for j in range(n):
            path[j] = ranks[offsets[s + 1] - 1 - j]
            children[0, j], shifts[0, j] = 1 + path[j], 0.0
        after[n] = 1.0
        for j in range(n - 1, 0, -1):
            _multiply(table[path[j]], 0.0, after[j + 1], after[j])
        least = 1.0
        depth, at[0], has_rest[0] = 0, 0, False
        while depth >= 0:
            j = at[depth]
            if j == n:
                depth -= 1
                continue
            at[depth] = j + 1
            is_pivot, lowest = False, 0.0
            if children[depth, j] >= 0 and depth < n_pivots:
                is_pivot, lowest = _go_down(
                    path[:n],
                    j + 1,
                    trie,
                    further,
                    children[depth, j],
                    shifts[depth],
                    children[depth + 1],
                    shifts[depth + 1],
                )
            if is_pivot:
                _multiply(table[path[j]], shifts[depth, j], products[depth], products[depth + 1])
                if np.exp(lowest) * _dot(products[depth + 1], after[j + 1]) <= least * _ROUNDED:
                    depth += 1
                    at[depth], has_rest[depth] = j + 1, False
            elif not has_rest[depth]:
                has_rest[depth] = True
                rest[:] = products[depth]
                for i in range(j, n):
                    _multiply(table[path[i]], shifts[depth, i], rest, rest)
                least = min(least, rest.sum())
        out[s] = least
