"""Slow, obvious twins of kernels/models/corrected.py, on dictionaries of sets of ranks."""


def lowered(family, values, n_pivots):
    """Lower sets, the shorter ones first, to their parents and to the sets without one pivot; -1 if none."""
    low, found = {}, []
    for ranks, value in zip(family, values, strict=True):
        without = [ranks[1:], *(ranks[:j] + ranks[j + 1 :] for j in range(len(ranks))[-n_pivots:])]
        least = min([value, *(low.get(subset, -1.0) for subset in without if subset)])
        found.append(-1.0 if len(ranks) > 1 and ranks in low else least)
        low.setdefault(ranks, least)
    return found
