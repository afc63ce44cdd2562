"""Corrected mixtures: shifts of log-odds in a trie of itemsets, and probabilities under them.

The method is described in docs/correction.md.

A set is a path from its rarest item to its most probable one. Its first `n_pivots` items are its pivots p_1,
p_2, ...; the log-odds of every later item i of the path are shifted by the sum over l of the shifts of the
sets {p_1, ..., p_l, i}, l from 1 to the number of pivots before i. With o = exp(shift), phi becomes
phi o / (1 - phi + phi o).

Shapes: items are ranks, 0 the most probable; `table` (D, K) the phi by rank. Node 0 of the trie is the empty
set and node 1 + r the item of rank r; the children of node v, nodes first[v] to first[v + 1], add the items
`item` (ascending, all below the last item of v).

The product of these phi, summed over the components, is the estimate of a set. It can be higher than that of
a subset, so the probability of a set is the least estimate of the set and of all its subsets.
`least_probabilities` finds it for any sets by a search in the trie. `link` and `lower` find it for a family
of sets that holds their subsets, as a mining run does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel, summing

# Log-odds are not shifted further than this: beyond it a probability is practically 0 or 1.
_FARTHEST = 40.0
_MOST_STEPS = 60
_PRECISION = 1e-13
# Estimates are compared with bounds that are rounded differently.
_ROUNDED = 1.0 + 1e-9


class ShiftTrie(NamedTuple):
    """Itemsets in a trie, each with a shift of log-odds; see above.

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
    """Return a probability with its odds multiplied; 0 stays 0 and 1 stays 1, however small the odds are."""
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
    """Return sum(w v) and sum(w v (1 - v)) with v the tilted phi: a probability and its derivative."""
    odds = np.exp(shift)
    total, slope = 0.0, 0.0
    for k in range(len(phi)):
        value = _tilted(phi[k], odds)
        total += weights[k] * value
        slope += weights[k] * value * (1.0 - value)
    return total, slope


@kernel
def solve_shift(weights: np.ndarray, phi: np.ndarray, start: float, target: float) -> float:
    """Return the shift that makes sum(weights * tilted phi) the target, by a safeguarded Newton's method.

    If no shift reaches it (every phi is 0 or 1), the farthest one is returned.
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
    """Return the sum of an item's shifts below the nodes of some pivots, nodes[:n_nodes]; -1 is no node."""
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
    """Return the shift of each node that makes the probabilities of the sets those that were counted.

    `counts` (n_nodes,) are those of the sets; the count of node 0 is the number of transactions. The
    conditional frequency of the last item given the others is shrunk towards the model without this node,
    which counts as `shrinkage` observations.
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
    """Write the estimate of each set, not yet lowered to those of its subsets, into `out`.

    Set s holds the ranks ranks[offsets[s]:offsets[s + 1]], ascending. The part that a set shares with the one
    before it, from the rarest item on, is not computed again.
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
    """Return how many sets add one item to the end of each set's path, shape (1 + n,), the empty set first.

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


@kernel
def further_shifts(trie: ShiftTrie) -> np.ndarray:
    """Return the lowest shift that more pivots add to the shift of each node, at most 0, shape (n_nodes,).

    It is for the last item of the node, with more pivots before it. If an item has a shift with more pivots
    but is no child of a node, all children of that node get -inf.

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
    """Write the children of a node that add the items path[start:], -1 for none, and the shifts of the items.

    Returns whether there are such children, and the logarithm of a factor. No estimate below the node is
    lower than the mixture's probability times that factor, because a tilt by s leaves at least exp(s) of a
    probability (s < 0).
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
    what `further_shifts` returns.

    Leaving out an item that is no pivot cannot lower an estimate. So only subsets count that have some pivots
    and then every item after them, and pivots matter only as far as they are a path of the trie. The search
    goes down these paths. It visits only stored sets that lie in the set, however many subsets there are, and
    skips those that cannot lead to an estimate as low as the lowest so far.

    Each level of the search is a node that lies in the path, with children that lie in it too. Each child can
    be the next pivot. An item that is no child, or a child without such children, shifts nothing after it.
    The first such item stands for all of them, because it leaves all the others in.

    Equivalent to min(estimate(J) for all subsets J), with the estimates of `path_probabilities`.
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


@inlined
def _compare_paths(codes: np.ndarray, rank_of: np.ndarray, end: int, other_end: int, length: int) -> int:
    """Return -1, 0 or 1: the first `length` items of a path come before another's, are the same, or after."""
    for j in range(1, length + 1):
        if codes[end - j] != codes[other_end - j]:
            return -1 if rank_of[codes[end - j]] < rank_of[codes[other_end - j]] else 1
    return 0


@kernel
def link(
    offsets: np.ndarray,
    codes: np.ndarray,
    rank_of: np.ndarray,
    tail: np.ndarray,
    first: np.ndarray,
    low: np.ndarray,
) -> None:
    """Write `tail` and `first` of a family, and -1 to `low` of sets that cannot be lowered within it.

    Sets are sorted by length, then colexicographically by rank. Set s holds codes[offsets[s]:offsets[s + 1]],
    their ranks `rank_of[code]` ascending. Its path goes from the last of them (the rarest) to the first. Its
    parent is the set without the end of its path; `tail` (n,) int32 is the rank of that end. The children of
    a set, whose parent it is, stand together: they are the sets first[s] to first[s + 1], `first` (n + 1,)
    int32. `low` (n,) float64 are the estimates, -1 for a set without one.

    A set cannot be lowered if its parent is not in the family or cannot be lowered itself, or if the set
    occurs twice. Sets without a parent come after the children of another set. They do no harm there, because
    they have no value.
    """
    n = len(low)
    parent = 0
    first[0] = 0
    for s in range(n):
        start, stop = offsets[s], offsets[s + 1]
        tail[s] = rank_of[codes[start]]
        length = stop - start
        if length == 1:
            first[0] = s + 1
            continue
        order = 1
        while offsets[parent + 1] - offsets[parent] < length:
            if offsets[parent + 1] - offsets[parent] == length - 1:
                order = _compare_paths(codes, rank_of, offsets[parent + 1], stop, length - 1)
                if order >= 0:
                    break
            parent += 1
            first[parent] = s
        if order != 0:
            low[s] = -1.0
            first[parent] = s + 1
        elif low[parent] < 0.0 or (s > first[parent] and tail[s] == tail[s - 1]):
            low[s] = -1.0
    first[parent + 1 :] = n


@kernel
def lower(
    tail: np.ndarray, first: np.ndarray, n_single: int, longest: int, n_pivots: int, low: np.ndarray
) -> None:
    """Lower each set to its parent and to the sets without one pivot, so that no set exceeds a subset.

    The first three arguments are as in `link`; the pivots of a set are the first n_pivots items of its path.
    The first n_single sets have one item, the last ones `longest`. A set gets no value if a set that it is
    lowered to has none or is not in the family.

    Sets are visited in depth-first order: a set comes after all those that lack one of its items. On the way
    down, the search keeps a range of sets for each pivot: the children of the set without that pivot.
    """
    node = np.zeros(longest + 2, dtype=np.int64)
    cursor = np.zeros(longest + 2, dtype=np.int64)
    stop = np.zeros(longest + 2, dtype=np.int64)
    other = np.zeros((longest + 2, n_pivots, 2), dtype=np.int64)
    for root in range(n_single):
        node[1], cursor[1], stop[1] = root, first[root], first[root + 1]
        # Without its only item a root is the set of no items, whose children are all the roots.
        other[1, 0, 0], other[1, 0, 1] = 0, n_single
        depth = 1
        while depth > 0:
            s, parent = cursor[depth], node[depth]
            if s == stop[depth]:
                depth -= 1
                continue
            cursor[depth] = s + 1
            has_children = first[s] < first[s + 1]
            least = min(low[s], low[parent])
            for pivot in range(min(n_pivots, depth)):
                at, end = other[depth, pivot, 0], other[depth, pivot, 1]
                while at < end and tail[at] < tail[s]:
                    at += 1
                if at < end and tail[at] == tail[s]:
                    least = min(least, low[at])
                    if has_children:
                        other[depth + 1, pivot, 0], other[depth + 1, pivot, 1] = first[at], first[at + 1]
                    at += 1
                else:
                    least = -1.0
                    other[depth + 1, pivot, 0] = other[depth + 1, pivot, 1] = 0
                other[depth, pivot, 0] = at
            low[s] = least
            if has_children:
                depth += 1
                node[depth], cursor[depth], stop[depth] = s, first[s], first[s + 1]
                if depth <= n_pivots:
                    other[depth, depth - 1, 0] = first[parent]
                    other[depth, depth - 1, 1] = first[parent + 1]
