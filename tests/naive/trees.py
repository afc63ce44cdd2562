"""Slow, obvious twins of the kernels for trees and pairs: all states, all pairs, all trees."""

from itertools import combinations, product

import numpy as np

from itemix.models.trees import TreeMixture


def states(n_items):
    """Every transaction that there can be, shape (2^D, D)."""
    return np.array(list(product([0, 1], repeat=n_items)), dtype=int).reshape(-1, n_items)


def row_probability(row, weights, parents, probs):
    """The probability of one transaction, factor by factor."""
    total = 0.0
    for k, weight in enumerate(weights):
        value = weight
        for i, x in enumerate(row):
            p = probs[k][i][row[parents[k][i]] if parents[k][i] >= 0 else 0]
            value *= p if x else 1 - p
        total += value
    return total


def state_probabilities(mixture):
    """The probability of every state of a mixture of trees."""
    arrays = mixture.weights, mixture.parents, mixture.probs
    return np.array([row_probability(row, *arrays) for row in states(mixture.n_items)])


def event(table, present, absent=()):
    """Which of the states hold all of some items and none of others."""
    return table[:, list(present)].all(axis=1) & ~table[:, list(absent)].any(axis=1)


def log_linear(matrix, base, single, pair, parent):
    """The score of each row and component, one item at a time."""
    out = np.tile(base, (len(matrix), 1))
    for t, row in enumerate(matrix):
        held = np.append(row, 0)
        for k in range(len(base)):
            for i in np.flatnonzero(row):
                out[t, k] += single[i, k] + held[parent[i, k]] * pair[i, k]
    return out


def shares(scores, negligible):
    """The softmax of one row without its negligible shares, and the log-sum-exp of all its scores."""
    top = max(scores)
    if top == -np.inf:
        return [1 / len(scores)] * len(scores), top
    whole = sum(np.exp(score - top) for score in scores)
    kept = [np.exp(score - top) / whole for score in scores]
    kept = [share if share >= negligible else 0.0 for share in kept]
    return [share / sum(kept) for share in kept], top + np.log(whole)


def pair_counts(matrix, weights):
    """How much weight holds each pair, shape (D, D), each item alone on the diagonal."""
    return matrix.T @ (np.asarray(weights)[:, None] * matrix)


def mutual_information(counts, total, i, j):
    """The mutual information of two items in nats, cell by cell."""
    both, n_i, n_j = counts[i, j], counts[i, i], counts[j, j]
    cells = [
        (both, n_i, n_j),
        (n_i - both, n_i, total - n_j),
        (n_j - both, total - n_i, n_j),
        (total - n_i - n_j + both, total - n_i, total - n_j),
    ]
    return sum(n / total * np.log(n * total / (row * column)) for n, row, column in cells if n > 0)


def spanning_trees(n_items):
    """Every spanning tree, as a list of edges."""
    pairs = list(combinations(range(n_items), 2))
    for edges in combinations(pairs, n_items - 1):
        part = list(range(n_items))
        for a, b in edges:
            old, new = part[a], part[b]
            part = [new if p == old else p for p in part]
        if len(set(part)) == 1:
            yield edges


def fitted_log_likelihood(matrix, edges):
    """The log-likelihood of the data under the best parameters of one tree, by counting."""
    D = matrix.shape[1]
    neighbours = {i: [] for i in range(D)}
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    parents, queue = {0: None}, [0]
    for i in queue:
        for j in neighbours[i]:
            if j not in parents:
                parents[j] = i
                queue.append(j)
    total = 0.0
    for i, p in parents.items():
        groups = [matrix[:, i]] if p is None else [matrix[matrix[:, p] == x, i] for x in (0, 1)]
        for group in groups:
            for x in (0, 1):
                m = (group == x).sum()
                total += m * np.log(m / len(group)) if m else 0.0
    return total


def random_trees(seed, n_components=3, n_items=6, extreme=0.0):
    """A mixture of random forests of items i0, i1, ..., some probabilities 0 and 1."""
    rng = np.random.default_rng(seed)
    parents = np.full((n_components, n_items), -1)
    for k in range(n_components):
        order = rng.permutation(n_items)
        for place in range(1, n_items):
            if rng.random() < 0.8:
                parents[k, order[place]] = order[rng.integers(place)]
    probs = rng.random((n_components, n_items, 2))
    probs[rng.random(probs.shape) < extreme] = 0.0
    probs[rng.random(probs.shape) < extreme] = 1.0
    names = [f"i{i}" for i in range(n_items)]
    return TreeMixture(rng.dirichlet(np.ones(n_components)), parents, probs, names)


def pair_terms_step(basket, weight, matrix, bias, squares, flattening, rate):
    """One step of AdaGrad for one basket; dictionaries of terms and lists are changed in place.

    `matrix` and `squares[0]` have a number for each pair (present item, other item), `bias` and `squares[1]`
    one for each item.
    """
    n = len(basket)
    gradients = []
    for i in range(len(bias)):
        held = i in basket
        scale = (max(n - 1, 1) if held else n) ** -flattening
        total = sum(matrix.get((j, i), 0.0) for j in basket)
        chance = 1 / (1 + np.exp(-bias[i] - scale * total))
        gradients.append((weight * (chance - held), scale))
    for i, (slope, scale) in enumerate(gradients):
        squares[1][i] += slope**2
        bias[i] -= rate * slope / np.sqrt(squares[1][i])
        for j in basket:
            if (j, i) in matrix:
                squares[0][j, i] += (slope * scale) ** 2
                matrix[j, i] -= rate * slope * scale / np.sqrt(squares[0][j, i])
