"""Slow, obvious twins of kernels/mining/candidates.py, on frozensets of item numbers."""

from itertools import combinations

import numpy as np


def path(itemset):
    """The items of a set in the order of its path, the highest number first."""
    return sorted(itemset, reverse=True)


def by_path(family):
    """Sort sets by length, then by their paths."""
    return sorted(family, key=lambda itemset: (len(itemset), path(itemset)))


def parents(itemset):
    """The two sets that join to a set: without its last item, and without the last but one."""
    last, before = sorted(itemset)[:2]
    return itemset - {last}, itemset - {before}


def with_parents(family):
    """Add to a family the sets that its sets are joined from."""
    nodes, new = set(), set(family)
    while new:
        nodes |= new
        new = {part for itemset in new if len(itemset) > 1 for part in parents(itemset)} - nodes
    return nodes


def joins_of(node, nodes):
    """What a node joins to with the siblings before it, in order; all items alone for the empty set."""
    if not node:
        return by_path(itemset for itemset in nodes if len(itemset) == 1)
    siblings = [w for w in nodes if len(w) == len(node) and path(w)[:-1] == path(node)[:-1]]
    return [node | w for w in by_path(siblings) if min(w) < min(node)]


def has_subsets(itemset, nodes):
    """Whether all subsets of one item less are nodes."""
    return all(frozenset(part) in nodes for part in combinations(itemset, len(itemset) - 1))


def trie(nodes):
    """Return the joins of a family that has all parents, and (first, item, join_start, join_of)."""
    ordered = [frozenset(), *by_path(nodes)]
    joins, join_start, first, item, join_of = [], [0], [1], [-1], [-1]
    for node in ordered:
        children = [c for c in ordered if len(c) == len(node) + 1 and path(c)[:-1] == path(node)]
        first.append(first[-1] + len(children))
        joins += joins_of(node, nodes)
        join_start.append(len(joins))
    for node in ordered[1:]:
        item.append(min(node))
        join_of.append(joins.index(node))
    types = np.int64, np.int32, np.int64, np.int64
    arrays = zip((first, item, join_start, join_of), types, strict=True)
    return joins, tuple(np.array(values, dtype=dtype) for values, dtype in arrays)


def count_of(itemset, rows, weights):
    """How many transactions hold a set."""
    return sum(weight for row, weight in zip(rows, weights, strict=True) if itemset <= set(row))
