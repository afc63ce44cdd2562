"""Slow, obvious twins of the exact miner: frozensets, counted one by one."""

from collections import Counter


def mine(
    transactions,
    min_count,
    *,
    target="all",
    min_len=1,
    max_len=None,
    include=(),
    exclude=(),
    top_k=None,
    multiplicities=None,
):
    """Return [(items, count)] of the itemsets asked for, in the order that mining promises."""
    repeats = multiplicities or [1] * len(transactions)
    baskets = [(frozenset(row) - set(exclude), n) for row, n in zip(transactions, repeats, strict=True)]
    counts = frequent(baskets, min_count)
    chosen = {
        itemset: count
        for itemset, count in counts.items()
        if is_of_target(itemset, counts | {frozenset(): sum(repeats)}, target)
        and min_len <= len(itemset) <= (max_len or len(itemset))
        and set(include) <= itemset
    }
    return in_order(best(chosen, top_k, baskets), baskets)


def frequent(baskets, min_count):
    """Count every itemset of at least `min_count` transactions, growing sets one item at a time."""
    items = frozenset().union(*(basket for basket, _ in baskets))
    found, grown = {}, {frozenset([item]) for item in items}
    while grown:
        counted = {itemset: count_of(itemset, baskets) for itemset in grown}
        kept = {itemset: count for itemset, count in counted.items() if count >= min_count}
        found |= kept
        single = [item for item in items if frozenset([item]) in found]
        grown = {itemset | {item} for itemset in kept for item in single if item not in itemset}
    return found


def count_of(itemset, baskets):
    """How many transactions hold an itemset."""
    return sum(n for basket, n in baskets if itemset <= basket)


def is_of_target(itemset, counts, target):
    """Whether a frequent itemset is closed, maximal or a generator, from all counts, {} too."""
    if target == "generators":
        return all(counts[itemset - {item}] > counts[itemset] for item in itemset)
    items = frozenset().union(*counts) - itemset
    larger = [counts[itemset | {item}] for item in items if itemset | {item} in counts]
    if target == "maximal":
        return not larger
    return target == "all" or counts[itemset] not in larger


def best(counts, top_k, baskets):
    """Keep the k highest counts; of those that tie for the last places, the first in order."""
    ranked = sorted(in_order(counts, baskets), key=lambda pair: -pair[1])
    return {frozenset(names): count for names, count in ranked[:top_k]}


def in_order(counts, baskets):
    """Sort by length, then by the rarest item, the next rarest and so on; items most frequent first."""
    rank = ranks(baskets)
    listed = [(tuple(sorted(itemset, key=rank.get)), count) for itemset, count in counts.items()]
    return sorted(listed, key=lambda pair: (len(pair[0]), [rank[item] for item in reversed(pair[0])]))


def ranks(baskets):
    """Return numbers for the items, the most frequent first; of equally frequent ones, the first by name."""
    counts = Counter()
    for basket, n in baskets:
        for item in basket:
            counts[item] += n
    ordered = sorted(counts, key=lambda item: (-counts[item], item))
    return {item: place for place, item in enumerate(ordered)}
