"""A walk through the transactions of groups, in their order: each is scored by those before it (eq. groups).

The n-th transaction after the first of a group comes from a component of the group's own weights, as far as
these are known by then. An item is taken from the group's memory with probability r_i, and else from the
component k:

    p_ik = r_i m_i + (1 - r_i) phi_ik,    r_i = ties_i u,    u = loyalty n / (n + half),    m_i = c_i / w.

Here c_i is the number of earlier transactions of the group with item i, and w the number of all of them, in
which each counts `fading` times as much as the next one. The log-probability of a transaction x is

    sum_i log(1 - (1 - r_i) phi_ik)                     if it and all before it were empty: its absent term,
    + sum_{c_i > 0} log(1 - r_i m_i / (1 - (1 - r_i) phi_ik))             the items that the group remembers,
    + sum_{i in x} log(p_ik / (1 - p_ik))                                 the items of the transaction.

The absent term sums over all items, but depends on u only. It is read from a curve: its values and slopes at
points that are evenly spaced in log(u + `OFFSET`), with a cubic between two of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel

OFFSET = 1e-3
"""Below this u the points of the curve are about evenly spaced in u, above it in the logarithm of u."""
_BLOCK = 8  # factors that are multiplied before a logarithm: none is below 1e-24


class GroupedRows(NamedTuple):
    """Transactions, sorted by group and in their order within a group.

    Attributes
    ----------
    starts : array of int64, shape (G + 1,)
        Where each group begins in `rows`.
    rows : array of int64, shape (n,)
        The row of each transaction; a row that stands for several comes several times.
    places : array of int64, shape (G + 1,)
        Where the memory of each group begins in `Walked`: room for all items of its rows.
    indptr, indices : array of int64, shape (N + 1,), and of int32, shape (nnz,)
        The items of each row, in compressed form.
    """

    starts: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray


class GroupTables(NamedTuple):
    """The common mixture, and how groups differ from it.

    Attributes
    ----------
    probs : array, shape (D, K)
        Item probabilities, above 0 and below 1.
    weights : array, shape (K,)
        The common weights.
    ties : array, shape (D,)
        How much groups stay with each item: at most 1 / loyalty.
    absent, slopes : array, shape (V, K)
        The curve of the absent term: its values, and its derivatives by log(u + OFFSET).
    concentration, loyalty, half, fading : float
        See `itemix.models.groups.GroupPrior`.
    """

    probs: np.ndarray
    weights: np.ndarray
    ties: np.ndarray
    absent: np.ndarray
    slopes: np.ndarray
    concentration: float
    loyalty: float
    half: float
    fading: float


class Walked(NamedTuple):
    """The results of a walk, to be written.

    Attributes
    ----------
    log_likelihood : array, shape (n,)
        The log-probability of each transaction, given those before it.
    sizes : array, shape (G, K)
        How many transactions of each group came from each component, expected.
    items, counts : array of int32 and of float64, shape (places[-1],)
        The items that each group remembers, and how often it had them. Not written if they are empty.
    n_items : array of int64, shape (G,)
        How many items each group remembers.
    seen, expected : array, shape (D,)
        How many transactions hold each item that their group remembers, and how many should: both are added
        up. Not written if they are empty.
    """

    log_likelihood: np.ndarray
    sizes: np.ndarray
    items: np.ndarray
    counts: np.ndarray
    n_items: np.ndarray
    seen: np.ndarray
    expected: np.ndarray


@kernel
def walk(
    groups: GroupedRows, tables: GroupTables, first: int, last: int, counts: np.ndarray, out: Walked
) -> None:
    """Walk through the groups first, ..., last - 1.

    `counts` (D,) are zeros; they are zeros again afterwards. `tests/naive/groups.py` has the obvious twin.
    """
    starts, rows, places, indptr, indices = groups
    probs, weights, ties, absent, slopes, concentration, loyalty, half, fading = tables
    K, is_counted = len(weights), len(out.seen) > 0
    log_joint, factors, shares = np.empty(K), np.empty(K), np.empty(K)
    longest = 0
    for g in range(first, last):
        longest = max(longest, places[g + 1] - places[g])
    remembered = np.empty(longest, dtype=np.int32)
    for g in range(first, last):
        n_remembered, total = 0, 0.0
        for k in range(K):
            out.sizes[g, k] = 0.0
        for place in range(starts[g], starts[g + 1]):
            row, n = rows[place], float(place - starts[g])
            own = loyalty * n / (n + half)
            _absent_term(absent, slopes, own, log_joint)
            for k in range(K):
                shares[k] = (concentration * weights[k] + out.sizes[g, k]) / (concentration + n)
                log_joint[k] += math.log(shares[k]) if shares[k] > 0 else -np.inf
                factors[k] = 1.0
            n_factors = 0
            if own > 0:
                for j in range(n_remembered):
                    i = remembered[j]
                    rest = 1.0 - own * ties[i]
                    memory = own * ties[i] * counts[i] / total
                    for k in range(K):
                        factors[k] *= 1.0 - memory / (1.0 - rest * probs[i, k])
                    n_factors = _next_factor(n_factors, factors, log_joint)
                    if is_counted:
                        for k in range(K):
                            out.expected[i] += shares[k] * (memory + rest * probs[i, k])
            for j in range(indptr[row], indptr[row + 1]):
                i = indices[j]
                rest = 1.0 - own * ties[i]
                memory = own * ties[i] * counts[i] / total if own > 0 else 0.0
                if is_counted and counts[i] > 0:
                    out.seen[i] += 1.0
                for k in range(K):
                    p = memory + rest * probs[i, k]
                    factors[k] *= p / (1.0 - p)
                n_factors = _next_factor(n_factors, factors, log_joint)
            for k in range(K):
                log_joint[k] += math.log(factors[k])
            out.log_likelihood[place] = _add_shares(log_joint, out.sizes[g])
            for j in range(n_remembered):
                counts[remembered[j]] *= fading
            total = total * fading + 1.0
            for j in range(indptr[row], indptr[row + 1]):
                i = indices[j]
                if counts[i] == 0.0:
                    remembered[n_remembered] = i
                    n_remembered += 1
                counts[i] += 1.0
        out.n_items[g] = n_remembered
        for j in range(n_remembered):
            i = remembered[j]
            if len(out.items) > 0:
                out.items[places[g] + j] = i
                out.counts[places[g] + j] = counts[i]
            counts[i] = 0.0


@inlined
def _absent_term(absent: np.ndarray, slopes: np.ndarray, own: float, out: np.ndarray) -> None:
    """Write the absent term of each component (K,) where the chance of memory is `own`: a cubic."""
    V = len(absent)
    low, high = math.log(OFFSET), math.log(1.0 + OFFSET)
    width = (high - low) / (V - 1)
    place = (math.log(own + OFFSET) - low) / width
    v = min(int(place), V - 2)
    t = place - v
    a, b = (1.0 + 2.0 * t) * (1.0 - t) ** 2, t * t * (3.0 - 2.0 * t)
    c, d = t * (1.0 - t) ** 2 * width, t * t * (t - 1.0) * width
    for k in range(len(out)):
        out[k] = a * absent[v, k] + b * absent[v + 1, k] + c * slopes[v, k] + d * slopes[v + 1, k]


@inlined
def _next_factor(n_factors: int, factors: np.ndarray, log_joint: np.ndarray) -> int:
    """Count a factor; when there are enough of them, add their logarithm and begin anew."""
    if n_factors + 1 < _BLOCK:
        return n_factors + 1
    for k in range(len(factors)):
        log_joint[k] += math.log(factors[k])
        factors[k] = 1.0
    return 0


@inlined
def _add_shares(log_joint: np.ndarray, sizes: np.ndarray) -> float:
    """Add the shares of the components to their sizes, and return the log-sum-exp of `log_joint` (K,)."""
    K = len(log_joint)
    highest, total = -np.inf, 0.0
    for k in range(K):
        highest = max(highest, log_joint[k])
    for k in range(K):
        log_joint[k] = math.exp(log_joint[k] - highest)
        total += log_joint[k]
    for k in range(K):
        sizes[k] += log_joint[k] / total
    return highest + math.log(total)
