"""Itemsets of a mixture, by writing out every product."""

from itertools import combinations


def probable_sets(weights, probs, threshold):
    """Return every set of codes of at least a probability, with it: sum_k pi_k prod_i phi_ki."""
    found = {}
    n_items = probs.shape[1]
    for length in range(1, n_items + 1):
        for codes in combinations(range(n_items), length):
            probability = 0.0
            for k in range(len(weights)):
                product = weights[k]
                for i in codes:
                    product *= probs[k, i]
                probability += product
            if probability >= threshold * (1 - 1e-9):
                found[frozenset(codes)] = probability
    return found
