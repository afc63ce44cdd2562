"""Five baskets, in which tests of itemsets find theirs."""

BASKETS = [["milk", "bread"], ["milk", "bread", "beer"], ["milk", "bread"], ["beer"], ["milk"]]


def names(itemsets):
    """Take the sets alone."""
    return [frozenset(itemset.items) for itemset in itemsets]
