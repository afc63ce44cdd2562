"""Collapsed Gibbs sampling, the obvious way: dense 0/1 matrices, one point at a time, everything recounted.

`Model.n_components` is K for the finite model with its Dir(alpha / K) prior, and None for the Dirichlet
process.
"""

import itertools
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln


class Model(NamedTuple):
    """The hyperparameters."""

    alpha: float
    beta: np.ndarray
    gamma: np.ndarray
    n_components: int | None


def log_weights(X, beta, gamma):
    """Log-probability of all rows of one component together, its Bernoulli parameters integrated out."""
    ones = X.sum(axis=0)
    return float((betaln(ones + beta, len(X) - ones + gamma) - betaln(beta, gamma)).sum())


def log_prior(labels, alpha, n_components):
    """Log-probability of the labels (finite model) or of their partition (Dirichlet process)."""
    sizes = np.unique(labels, return_counts=True)[1]
    total = gammaln(alpha) - gammaln(len(labels) + alpha)
    if n_components is None:
        return float(total + len(sizes) * np.log(alpha) + gammaln(sizes).sum())
    a = alpha / n_components
    return float(total + (gammaln(sizes + a) - gammaln(a)).sum())


def log_joint(X, labels, model):
    """Log p(X, z): the quantity whose exponential the samplers visit in proportion."""
    parts = (log_weights(X[labels == k], model.beta, model.gamma) for k in np.unique(labels))
    return log_prior(labels, model.alpha, model.n_components) + sum(parts)


def conditional(X, labels, t, model):
    """Return p(z_t = k | other labels, X) by equation finGibbs, or infinGibbs and newcom.

    The finite model gives K numbers; the process gives one for each label 0..max(labels) (0 where no other
    point has it) and a last one for a new component.
    """
    alpha, beta, gamma, n_components = model
    others = np.delete(np.arange(len(X)), t)
    n_labels = (labels.max() + 1) if n_components is None else n_components
    weights = []
    for k in range(n_labels):
        members = X[others][labels[others] == k]
        n = len(members)
        prior = n if n_components is None else n + alpha / n_components
        weights.append(prior * predictive(members, X[t], beta, gamma))
    if n_components is None:
        weights.append(alpha * predictive(X[:0], X[t], beta, gamma))
    return np.array(weights) / sum(weights)


def predictive(members, x, beta, gamma):
    """Return the probability of a row given the other rows of its component."""
    n = len(members)
    present = (members.sum(axis=0) + beta) / (n + beta + gamma)
    return float(np.prod(np.where(x == 1, present, 1 - present)))


def canonical(labels):
    """Name the blocks of a partition in order of appearance: equal tuples, equal partitions."""
    names = {}
    return tuple(names.setdefault(k, len(names)) for k in labels)


def partition_posterior(X, model):
    """Return the exact posterior over partitions of the rows, as a dictionary from canonical labels."""
    n_components = model.n_components
    n_labels = len(X) if n_components is None else n_components
    logs = {}
    for labels in itertools.product(range(n_labels), repeat=len(X)):
        value = log_joint(X, np.array(labels), model)
        if n_components is None:
            logs[canonical(labels)] = value
        else:
            logs[canonical(labels)] = np.logaddexp(logs.get(canonical(labels), -np.inf), value)
    top = max(logs.values())
    total = sum(np.exp(v - top) for v in logs.values())
    return {labels: float(np.exp(v - top) / total) for labels, v in logs.items()}
