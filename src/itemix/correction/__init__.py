"""Correcting a mixture by the counts of short itemsets: which of them, how strongly, and whether at all."""
