"""Data for the tests of inference: random, and drawn from a mixture that is easy to tell apart."""

import numpy as np

from itemix import Transactions
from itemix._runtime import Workers
from itemix.inference.start import starter
from itemix.models.counts import Rows
from itemix.models.mixture import Mixture


def random_data(seed, n_rows=60, n_items=6, density=0.4):
    """Return transactions of independent coin flips."""
    rng = np.random.default_rng(seed)
    return Transactions.from_matrix((rng.random((n_rows, n_items)) < density).astype(int))


def planted_mixture():
    """Return three well separated components over nine items."""
    probs = np.full((3, 9), 0.05)
    for k in range(3):
        probs[k, 3 * k : 3 * k + 3] = 0.9
    return Mixture([0.5, 0.3, 0.2], probs, [f"item{i}" for i in range(9)])


def planted_blocks():
    """Return three components over thirty items, which mixtures of trees tell apart too."""
    probs = np.kron(np.eye(3), np.full(10, 0.6)) + 0.1
    return Mixture([0.5, 0.3, 0.2], probs, [f"item{i}" for i in range(30)])


def start_of(data, rows, n_components, init="random"):
    """Return the function that makes first counts."""
    return starter(init, data, rows, n_components)


def rows_of(data, n_threads=1):
    """Return data ready for E-steps."""
    return Rows(data, Workers(n_threads))


def wide_baskets(n_transactions=1500, n_groups=5, seed=0):
    """Return baskets of very different sizes from groups of 60 items each, and the group of each basket."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, n_transactions)
    sizes = np.clip(rng.geometric(0.15, n_transactions), 2, 40)
    baskets = [
        60 * group + rng.choice(60, size, replace=False) for group, size in zip(groups, sizes, strict=True)
    ]
    matrix = np.zeros((n_transactions, 60 * n_groups), dtype=int)
    for row, basket in zip(matrix, baskets, strict=True):
        row[basket] = 1
    return Transactions.from_matrix(matrix), groups
