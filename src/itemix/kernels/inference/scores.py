"""Scores of single components of a collapsed mixture, for a point inside or outside, and of all their points.

Shapes and formulas as in `components`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from itemix.kernels.inference.components import UNLISTED, Index, PriorTables, Tables
from itemix.kernels.jit import inlined, kernel
from itemix.kernels.vectors import log_ratio

if TYPE_CHECKING:
    import numpy as np


@inlined
def own_score(prior: PriorTables, tables: Tables, items: np.ndarray, k: Index) -> float:
    """Score the point's own component k as it is without the point."""
    n = float(tables.sizes[k])
    score: float = tables.base_out[k]
    for first in range(0, len(items), prior.block):
        top = bottom = 1.0
        for j in range(first, min(first + prior.block, len(items))):
            i = items[j]
            c = float(tables.counts[i, k])
            top *= (c - 1.0) + prior.beta[i]
            bottom *= (n - 1.0 - c) + prior.gamma[i] if c < n else 1.0
        score += log_ratio(top, bottom)
    return score


@inlined
def outside_score(prior: PriorTables, tables: Tables, items: np.ndarray, k: Index) -> float:
    """Score component k for a point outside it."""
    n = float(tables.sizes[k])
    score: float = tables.base[k]
    for first in range(0, len(items), prior.block):
        top = bottom = 1.0
        for j in range(first, min(first + prior.block, len(items))):
            i = items[j]
            c = float(tables.counts[i, k])
            top *= c + prior.beta[i]
            bottom *= (n - c) + prior.gamma[i]
        score += log_ratio(top, bottom)
    return score


@inlined
def _log_item(prior: PriorTables, i: Index, n: int, c: int) -> float:
    """Return by how much c points with item i among n change the joint log-probability of a component."""
    b, g = prior.beta[i], prior.gamma[i]
    present = math.lgamma(c + b) - math.lgamma(b)
    return present + math.lgamma(n - c + g) - math.lgamma(n + g)


@kernel
def log_component(prior: PriorTables, tables: Tables, k: Index) -> float:
    """Return the joint log-probability of the points of component k and of their being together.

    The joint log-probability of all labels and data is the sum of this over the components, and
    log(Gamma(alpha) / Gamma(N + alpha)).
    """
    n = tables.sizes[k]
    value: float = prior.growth[n]
    for j in range(tables.n_listed[k]):
        i = tables.listed[k, j]
        if tables.counts[i, k]:
            value += _log_item(prior, i, n, tables.counts[i, k])
    return value


@kernel
def log_union(prior: PriorTables, tables: Tables, a: Index, b: Index) -> float:
    """Return what `log_component` would be if components a and b were one."""
    n = tables.sizes[a] + tables.sizes[b]
    value: float = prior.growth[n]
    for j in range(tables.n_listed[a]):
        i = tables.listed[a, j]
        c = tables.counts[i, a] + tables.counts[i, b]
        if c:
            value += _log_item(prior, i, n, c)
    for j in range(tables.n_listed[b]):
        i = tables.listed[b, j]
        if tables.place[i, a] == UNLISTED and tables.counts[i, b]:
            value += _log_item(prior, i, n, tables.counts[i, b])
    return value
