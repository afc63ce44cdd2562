"""A slow, obvious twin of `itemix.evaluate_recommendations`: one basket, one item at a time."""

import math

import numpy as np


def evaluate(recommend, baskets, k, n_items):
    """Hit rate, NDCG and their standard errors, and coverage, if every item of a basket is left out in turn.

    `recommend` takes a list of names and returns a list of names, best first.
    """
    hits, gains, named = [], [], set()
    for basket in baskets:
        if len(basket) < 2:
            continue
        own = []
        for item in basket:
            found = recommend([name for name in basket if name != item])[:k]
            named |= set(found)
            rank = found.index(item) + 1 if item in found else None
            own.append((rank is not None, 0.0 if rank is None else 1 / math.log2(rank + 1)))
        hits.append(np.mean([hit for hit, _ in own]))
        gains.append(np.mean([gain for _, gain in own]))
    return {
        "n_baskets": len(hits),
        "hit_rate": np.mean(hits),
        "hit_rate_error": np.std(hits, ddof=1) / math.sqrt(len(hits)),
        "ndcg": np.mean(gains),
        "ndcg_error": np.std(gains, ddof=1) / math.sqrt(len(gains)),
        "coverage": len(named) / n_items,
    }
