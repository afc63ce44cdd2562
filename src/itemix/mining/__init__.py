"""Search for itemsets in data and models, and rules made from them."""
