"""Slow, obvious twins of kernels/lattice.py, on lists of sets."""

from itertools import combinations, pairwise

import numpy as np

from itemix.core.itemsets import Itemsets


def as_arrays(family):
    """Turn lists of codes into offsets and codes."""
    offsets = np.cumsum([0, *map(len, family)]).astype(np.int64)
    return offsets, np.array([code for codes in family for code in codes], dtype=np.int32)


def as_lists(offsets, codes):
    """Turn offsets and codes into lists of codes."""
    return [codes[start:end].tolist() for start, end in pairwise(offsets)]


def find(family, wanted):
    """Where each wanted set first stands in the family, -1 if nowhere."""
    where = {}
    for position, codes in enumerate(family):
        where.setdefault(frozenset(codes), position)
    return [where.get(frozenset(codes), -1) for codes in wanted]


def largest(family, group):
    """Whether each set has no proper superset in its group."""
    sets = [frozenset(codes) for codes in family]
    return [not any(s < t and group[i] == group[j] for j, t in enumerate(sets)) for i, s in enumerate(sets)]


def covered_by_one_more(family, group):
    """Whether each set has a superset in its group with one item more."""
    sets = [frozenset(codes) for codes in family]
    return [
        any(s < t and len(t) == len(s) + 1 and group[i] == group[j] for j, t in enumerate(sets))
        for i, s in enumerate(sets)
    ]


def is_complete(family):
    """Whether every set has all its non-empty subsets with one item less in the family."""
    sets = {frozenset(codes) for codes in family}
    return all(s - {i} in sets for s in sets if len(s) > 1 for i in s)


def mine(transactions, min_count, *, max_len=None):
    """Return (names, count) of all frequent itemsets, in the order that mining promises."""
    baskets = [frozenset(basket) for basket in transactions]
    counts = {name: sum(name in basket for basket in baskets) for name in sorted(set().union(*baskets))}
    ranked = sorted((name for name in counts if counts[name] >= min_count), key=lambda name: -counts[name])
    found = []
    for length in range(1, (len(ranked) if max_len is None else max_len) + 1):
        of_this_length = [
            (ranks, sum(baskets_hold(baskets, [ranked[r] for r in ranks])))
            for ranks in combinations(range(len(ranked)), length)
        ]
        frequent = [(ranks, count) for ranks, count in of_this_length if count >= min_count]
        found += sorted(frequent, key=lambda pair: pair[0][::-1])
    return [(tuple(ranked[r] for r in ranks), count) for ranks, count in found]


def baskets_hold(baskets, names):
    """Whether each basket holds all the names."""
    wanted = frozenset(names)
    return [wanted <= basket for basket in baskets]


def as_itemsets(transactions, min_count, items=None, **options):
    """Mine and make the value: items in ascending order of their names unless they are given."""
    found = mine(transactions, min_count, max_len=options.pop("max_len", None))
    items = list(items or sorted(set().union(*map(set, transactions))))
    offsets, codes = as_arrays([[items.index(name) for name in names] for names, _ in found])
    counts = np.array([count for _, count in found], dtype=np.int64)
    n = len(transactions)
    facts = {"n_transactions": n, "min_support": min_count / n, "target": "all", **options}
    return Itemsets(offsets, codes, counts / n, items, count=counts, **facts)
