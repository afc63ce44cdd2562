"""The values: items, sets, transactions, itemsets, and their tables and files."""
