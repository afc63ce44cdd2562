"""Slow, obvious twins of the kernels of rules: textbook definitions on sets of names."""

import math
from itertools import combinations


def splits(itemset):
    """Yield all ways to split a set into two non-empty parts."""
    for size in range(1, len(itemset)):
        for consequent in combinations(sorted(itemset), size):
            yield frozenset(itemset) - set(consequent), frozenset(consequent)


def measure(name, both, a, c, n):
    """Compute a measure by its definition, from supports (and the number of transactions)."""
    cells = [both, a - both, c - both, 1 - a - c + both]
    expected = [a * c, a * (1 - c), (1 - a) * c, (1 - a) * (1 - c)]
    chi = (
        0.0
        if min(a * (1 - a), c * (1 - c)) <= 0
        else sum(n * (seen - e) ** 2 / e for seen, e in zip(cells, expected, strict=True))
    )
    larger = max(both * (1 - a), a * (c - both))
    return {
        "antecedent support": lambda: a,
        "consequent support": lambda: c,
        "support": lambda: both,
        "confidence": lambda: both / a,
        "lift": lambda: both / (a * c),
        "representativity": lambda: 1.0,
        "leverage": lambda: both - a * c,
        "conviction": lambda: math.inf if both == a else a * (1 - c) / (a - both),
        "zhangs_metric": lambda: (both - a * c) / larger if larger > 0 else 0.0,
        "jaccard": lambda: both / (a + c - both),
        "certainty": lambda: (both / a - c) / (1 - c) if c < 1 else 0.0,
        "kulczynski": lambda: (both / a + both / c) / 2,
        "cosine": lambda: both / math.sqrt(a * c),
        "odds_ratio": lambda: _odds_ratio(cells, n),
        "imbalance_ratio": lambda: abs(a - c) / (a + c - both),
        "phi": lambda: math.copysign(math.sqrt(chi / n), both - a * c) if chi else 0.0,
        "mutual_information": lambda: sum(
            seen * math.log2(seen / e) for seen, e in zip(cells, expected, strict=True) if seen * n > 0.5
        ),
        "difference_of_confidence": lambda: both / a - (c - both) / (1 - a) if a < 1 else 0.0,
        "chi_squared": lambda: chi,
        "p_value": lambda: math.erfc(math.sqrt(chi / 2)),
    }[name]()


def _odds_ratio(cells, n):
    both, only_a, only_c, neither = (round(n * cell) for cell in cells)
    if 0 in (only_a + both, only_c + both, only_a + neither, only_c + neither):
        return 1.0
    return both * neither / (only_a * only_c) if only_a * only_c else math.inf if both * neither else 0.0


def fisher(least, draws, hits, total):
    """Sum the hypergeometric distribution from its definition."""
    ways = [
        math.comb(hits, k) * math.comb(total - hits, draws - k) for k in range(least, min(draws, hits) + 1)
    ]
    return sum(ways) / math.comb(total, draws)


def parts(antecedent):
    """Yield all proper subsets of a set, the empty one too."""
    for size in range(len(antecedent)):
        for part in combinations(sorted(antecedent), size):
            yield frozenset(part)


def is_redundant(counts, antecedent, consequent):
    """Whether a more general rule has at least the same confidence; `counts` has the empty set too."""
    confidence = counts[antecedent | consequent] / counts[antecedent]
    return any(counts[part | consequent] / counts[part] >= confidence - 1e-12 for part in parts(antecedent))


def productive_p(counts, antecedent, consequent):
    """Return the largest p-value of the tests of a rule against every more general one."""
    both, draws = counts[antecedent | consequent], counts[antecedent]
    return max(fisher(both, draws, counts[part | consequent], counts[part]) for part in parts(antecedent))


def least_confidence(name, threshold, both, steps=30):
    """Return the least confidence of rules that reach a threshold, of many supports of their sides."""
    sides = [both + (1 - both) * step / steps for step in range(steps + 1)]
    reached = [both / a for a in sides for c in sides if measure(name, both, a, c, 1) >= threshold]
    return min(reached, default=None)


def rules(supports, metric, threshold, n):
    """All rules of sets with known supports (a dictionary) that reach the threshold, as pairs of sets."""
    found = []
    for itemset in supports:
        for antecedent, consequent in splits(itemset):
            a, c = supports[antecedent], supports[consequent]
            if measure(metric, supports[itemset], a, c, n) >= threshold - 1e-12:
                found.append((antecedent, consequent))
    return found


def in_order(rules):
    """Sort pairs of sets, to compare them whatever their order."""
    return sorted((sorted(antecedent), sorted(consequent)) for antecedent, consequent in rules)


def q_values(p_values):
    """Adjust p-values: the smallest false discovery rate at which each test would be rejected."""
    m = len(p_values)
    return [min(q * m / sum(r <= q for r in p_values) for q in p_values if q >= p) for p in p_values]


def recommend(rules_and_scores, basket, n):
    """Find the positions of the n best rules, given as (antecedent, consequent, score), for a basket."""
    best = {}
    for position, (antecedent, consequent, score) in enumerate(rules_and_scores):
        if antecedent <= basket and not consequent & basket:
            candidate = (-score, position)
            best[consequent] = min(best.get(consequent, candidate), candidate)
    return [position for _, position in sorted(best.values())][:n]
