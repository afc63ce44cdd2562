"""Slow, obvious twins of the E-step and probability kernels: dense matrices, no tricks."""

import numpy as np


def log_joint(matrix, weights, probs):
    """Log-probability of every row and component, shape (N, K), one cell at a time."""
    out = np.empty((len(matrix), len(weights)))
    with np.errstate(divide="ignore"):
        for t, row in enumerate(matrix):
            for k in range(len(weights)):
                factors = [probs[k, i] if x else 1 - probs[k, i] for i, x in enumerate(row)]
                out[t, k] = np.log(weights[k]) + sum(np.log(factors))
    return out


def log_sum_exp(scores):
    """Log of the sum of exponentials of each row; -inf where all are."""
    highest = scores.max(axis=1)
    safe = np.where(np.isneginf(highest), 0.0, highest)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(scores - safe[:, None]).sum(axis=1))


def responsibilities(scores):
    """Softmax of each row; equal shares where every score is -inf."""
    values = log_sum_exp(scores)
    resp = np.full(scores.shape, 1 / scores.shape[1])
    possible = ~np.isneginf(values)
    resp[possible] = np.exp(scores[possible] - values[possible, None])
    return resp


def expected_counts(matrix, multiplicities, scores, power=1):
    """Return sizes (K,), item counts (K, D) and the sum of the rows' log-sum-exps."""
    resp = responsibilities(scores) ** power * np.asarray(multiplicities)[:, None]
    return resp.sum(axis=0), resp.T @ matrix, float((log_sum_exp(scores) * multiplicities).sum())


def label_counts(rows, labels, n_components, n_items):
    """Return how many rows (lists of items) each label has, and how many of these hold each item."""
    sizes = [0] * n_components
    item_counts = [[0] * n_items for _ in range(n_components)]
    for row, label in zip(rows, labels, strict=True):
        sizes[label] += 1
        for item in row:
            item_counts[label][item] += 1
    return sizes, item_counts


def itemset_probability(weights, probs, present, absent=()):
    """Return the probability of one itemset."""
    total = 0.0
    for k in range(len(weights)):
        product = weights[k]
        for i in set(present):
            product *= probs[k, i]
        for i in set(absent):
            product *= 1 - probs[k, i]
        total += product
    return total
