"""A slow, obvious twin of `itemix.evaluate`: every set of items, one at a time."""

from itertools import combinations


def every_set(names):
    """Every set of one or more names."""
    return [frozenset(s) for size in range(1, len(names) + 1) for s in combinations(sorted(names), size)]


def support(baskets, itemset):
    """The fraction of baskets that hold a set."""
    return sum(itemset <= set(basket) for basket in baskets) / len(baskets)


def probability(mixture, itemset):
    """The probability of a set under a mixture, 0 if it has an item that the mixture does not know."""
    if not itemset <= set(mixture.items):
        return 0.0
    total = 0.0
    for weight, probs in zip(mixture.weights, mixture.probs, strict=True):
        product = weight
        for name in itemset:
            product *= probs[mixture.items.code(name)]
        total += product
    return total


def criteria(truth, predicted):
    """The paper's criteria, given true supports and predicted ones, both by set.

    `truth` holds the true itemsets only, `predicted` (support, whether it is predicted frequent) of all sets.
    """
    n_missed = sum(not predicted[s][1] for s in truth)
    n_correct = sum(predicted[s][1] for s in truth)
    n_false = sum(is_frequent for s, (_, is_frequent) in predicted.items() if s not in truth)
    differences = [(predicted[s][0] - f) / f for s, f in truth.items()]
    n = len(differences)
    return {
        "n_true": len(truth),
        "n_predicted": n_correct + n_false,
        "false_negative_rate": n_missed / (n_missed + n_correct) if n_missed + n_correct else 0.0,
        "false_positive_rate": n_false / (n_false + n_correct) if n_false + n_correct else 0.0,
        "mean_relative_error": sum(map(abs, differences)) / n if n else None,
        "mean_relative_bias": sum(differences) / n if n else None,
    }


def evaluate(supports, baskets, threshold, names):
    """The criteria over all sets (None) and by length; `supports` gives the predicted support of a set."""
    found = {s: support(baskets, s) for s in every_set(names)}
    truth = {s: f for s, f in found.items() if f >= threshold - 1e-9}
    predicted = {s: (supports(s), supports(s) >= threshold - 1e-9) for s in found}
    results = {None: criteria(truth, predicted)}
    for length in range(1, len(names) + 1):
        own = criteria(
            {s: f for s, f in truth.items() if len(s) == length},
            {s: p for s, p in predicted.items() if len(s) == length},
        )
        if own["n_true"] or own["n_predicted"]:
            results[length] = own
    return results
