"""One E-step for EM and both variational methods (eqs. tau, Sk, taudp).

Tables are item-major, so that a row adds contiguous K-vectors.

Rows that lie in lexicographic order share their first items with their neighbours. Scores of a shared prefix
are summed once, and so are the responsibilities that go to its items: what is paid for is the prefix tree,
not the ones of the data.

Zeros and ones among the probabilities are exact. Present where p = 0: the odds are -inf, and a sum never
meets +inf. Absent where p = 1: the item counts 0 in the odds and the base and is one that the component
requires; a row without one of them cannot come from it.

Where less than an eighth of the components come near the best one, responsibilities below `NEGLIGIBLE` do
not enter the counts, and those that do are scaled to sum to one.

Vectors over the components are filled up to whole machine vectors: scores with -inf.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np

from itemix.kernels import vectors
from itemix.kernels.jit import inlined, kernel

NEGLIGIBLE = 1e-8
_FAR = 40.0  # exp(-40) is below half a unit in the last place of 1
# An exponential by itself, and counts that are not neighbours, take as long as this many in a vector.
_FEW = 8


class ScoreTables(NamedTuple):
    """What a model scores a row by.

    Attributes
    ----------
    odds : array of float64, shape (D, K)
        log p(stored) - log p(not stored).
    base : array of float64, shape (K,)
        Log-weight plus the sum of log p(not stored).
    required : array of float32, shape (D, K), or (0, K)
        One where a component requires an item, zero elsewhere; no rows where none requires any.
    n_required : array of float32, shape (K,)
        How many items each requires.
    """

    odds: np.ndarray
    base: np.ndarray
    required: np.ndarray
    n_required: np.ndarray

    @classmethod
    def without_requirements(cls, odds: np.ndarray, base: np.ndarray) -> Self:
        """Make tables that require nothing: no probability of one is behind them."""
        n_components = len(base)
        return cls(odds, base, np.empty((0, n_components), np.float32), np.zeros(n_components, np.float32))


class PrefixRows(NamedTuple):
    """Rows in an order in which they share their first items with their neighbours.

    Attributes
    ----------
    indptr, indices : array of int64, shape (N + 1,), and of int32, shape (nnz,)
        The rows in compressed form.
    shared : array of int32, shape (N,) or (0,)
        How many first items each row shares with the row before it; empty if that is not known.
    weights : array of int64, shape (N,) or (0,)
        How many transactions each row stands for; empty where each stands for one.
    """

    indptr: np.ndarray
    indices: np.ndarray
    shared: np.ndarray
    weights: np.ndarray


@inlined
def _add_prefix(
    indices: np.ndarray, start: int, here: int, ahead: int, table: np.ndarray, prefix: np.ndarray
) -> None:
    """Sum the table's vectors over the first items that the next row shares too: prefix[d] is that of d.

    prefix[:here + 1] is there already, from rows before.
    """
    for d in range(here, ahead):
        i = indices[start + d]
        for k in range(table.shape[1]):
            prefix[d + 1, k] = prefix[d, k] + table[i, k]


@inlined
def _add_items(
    indices: np.ndarray, start: int, stop: int, table: np.ndarray, base: np.ndarray, out: np.ndarray
) -> None:
    """Write the base plus the table's vectors of some items of a row, four items in one pass."""
    K = table.shape[1]
    for k in range(K):
        out[k] = base[k]
    j = start
    while j + 4 <= stop:
        a, b, c, d = indices[j], indices[j + 1], indices[j + 2], indices[j + 3]
        for k in range(K):
            out[k] += (table[a, k] + table[b, k]) + (table[c, k] + table[d, k])
        j += 4
    while j < stop:
        a = indices[j]
        for k in range(K):
            out[k] += table[a, k]
        j += 1


@inlined
def _exclude(lacking: np.ndarray, score: np.ndarray) -> None:
    """Make the score -inf of components that require more items than the row holds of them."""
    for k in range(len(lacking)):
        score[k] = score[k] if lacking[k] == 0.0 else -np.inf


@inlined
def _exponentials(score: np.ndarray, K: int, top: float, out: np.ndarray) -> tuple[float, float]:
    """Write exp(score - top) to `out`; return their sum, and the scores' log-sum-exp.

    For a row that no component allows they are all one, and the log-sum-exp is -inf.
    """
    if top == -np.inf:
        for k in range(len(score)):
            out[k] = 1.0 if k < K else 0.0
        return float(K), -np.inf
    vectors.exp_of_difference(score, top, out)
    total = vectors.total(out)
    return total, top + math.log(total)


@inlined
def _square(resp: np.ndarray, total: float) -> float:
    """Square what is to be divided by a total, and return the square of the total."""
    for k in range(len(resp)):
        resp[k] *= resp[k]
    return total * total


@inlined
def _keep_near(
    score: np.ndarray, K: int, top: float, near: np.ndarray, resp: np.ndarray
) -> tuple[int, float, float]:
    """Write the few components that can matter, and the exponentials of their scores.

    Return how many they are, their sum, and the scores' log-sum-exp.
    """
    n_near = 0
    total = 0.0
    for k in range(K):
        if score[k] > top - _FAR:
            near[n_near] = k
            resp[n_near] = math.exp(score[k] - top)
            total += resp[n_near]
            n_near += 1
    n_kept = 0
    mass = 0.0
    for m in range(n_near):
        if resp[m] > NEGLIGIBLE * total:
            near[n_kept] = near[m]
            resp[n_kept] = resp[m]
            mass += resp[m]
            n_kept += 1
    return n_kept, mass, top + math.log(total)


@inlined
def _share_out_near(share: float, n_near: int, near: np.ndarray, resp: np.ndarray, sizes: np.ndarray) -> None:
    """Do what `_share_out` does, for a few components."""
    for m in range(n_near):
        resp[m] *= share
        sizes[near[m]] += resp[m]


@inlined
def _count_near(
    indices: np.ndarray,
    start: int,
    stop: int,
    n_near: int,
    near: np.ndarray,
    resp: np.ndarray,
    item_counts: np.ndarray,
) -> None:
    """Do what `_count_all` does, for a few components."""
    for j in range(start, stop):
        i = indices[j]
        for m in range(n_near):
            item_counts[i, near[m]] += resp[m]


@inlined
def _share_out(share: float, resp: np.ndarray, sizes: np.ndarray) -> None:
    """Scale the exponentials of a row to its responsibilities, and add them to the sizes."""
    for k in range(len(sizes)):
        one = resp[k] * share
        resp[k] = one
        sizes[k] += one


@inlined
def _count_all(indices: np.ndarray, start: int, stop: int, resp: np.ndarray, item_counts: np.ndarray) -> None:
    """Add the responsibilities of a row to the counts of some of its items."""
    for j in range(start, stop):
        i = indices[j]
        for k in range(item_counts.shape[1]):
            item_counts[i, k] += resp[k]


@inlined
def _leave_prefix(
    indices: np.ndarray,
    start: int,
    depth: int,
    ahead: int,
    waiting: np.ndarray,
    n_waiting: np.ndarray,
    item_counts: np.ndarray,
) -> None:
    """Count what waits below the prefixes that the next row does not share: the last items first.

    waiting[d] holds the responsibilities of n_waiting[d] rows that have the first d items in common.
    """
    for d in range(depth, ahead, -1):
        if n_waiting[d]:
            i = indices[start + d - 1]
            for k in range(item_counts.shape[1]):
                item_counts[i, k] += waiting[d, k]
            for k in range(item_counts.shape[1]):
                waiting[d - 1, k] += waiting[d, k]
                waiting[d, k] = 0.0
            n_waiting[d - 1] += n_waiting[d]
            n_waiting[d] = 0


@kernel
def expected_counts(
    rows: PrefixRows,
    first: int,
    last: int,
    tables: ScoreTables,
    squared: bool,
    sizes: np.ndarray,
    item_counts: np.ndarray,
) -> float:
    """Add the expected counts of rows first to last into `sizes` (K,) and `item_counts` (D, K).

    Return the weighted sum of the rows' log-sum-exps. Equivalent to S = base + X @ odds; R = softmax(S), or
    its squares if `squared`; sizes += R.sum(0); item_counts += X.T @ R; logsumexp(S, axis=1).sum().
    """
    indptr, indices, shared, weights = rows
    odds, base, required, n_required = tables
    K = len(base)
    score = np.full(vectors.padded(K), -np.inf)
    resp = np.empty(len(score), dtype=np.float64)
    near = np.empty(K, dtype=np.int64)
    lacking = np.empty(K if len(required) else 0, dtype=np.float32)
    deepest = 0
    if len(shared):
        for t in range(first + 1, last):
            deepest = max(deepest, shared[t])
    prefix = np.empty((deepest + 1, K), dtype=np.float64)
    prefix[0] = base
    prefix_lacks = np.empty((deepest + 1, len(lacking)), dtype=np.float32)
    prefix_lacks[0] = -n_required[: len(lacking)]
    waiting = np.zeros((deepest + 1, K), dtype=np.float64)
    n_waiting = np.zeros(deepest + 1, dtype=np.int64)
    bound = 0.0
    here = 0
    for t in range(first, last):
        start, stop = indptr[t], indptr[t + 1]
        weight = np.float64(weights[t]) if len(weights) else 1.0
        ahead = int(shared[t + 1]) if len(shared) and t + 1 < last else 0
        depth = max(here, ahead)
        _add_prefix(indices, start, here, ahead, odds, prefix)
        _add_items(indices, start + depth, stop, odds, prefix[depth], score)
        if len(required):
            _add_prefix(indices, start, here, ahead, required, prefix_lacks)
            _add_items(indices, start + depth, stop, required, prefix_lacks[depth], lacking)
            _exclude(lacking, score)
        top = vectors.highest(score)
        if 0 < _FEW * vectors.count_above(score, top - _FAR) < K:
            n_near, total, value = _keep_near(score, K, top, near, resp)
            if squared:
                total = _square(resp[:n_near], total)
            _share_out_near(weight / total, n_near, near, resp, sizes)
            _count_near(indices, start, stop, n_near, near, resp, item_counts)
        else:
            total, value = _exponentials(score, K, top, resp)
            if squared:
                total = _square(resp, total)
            _share_out(weight / total, resp, sizes)
            _count_all(indices, start + depth, stop, resp, item_counts)
            if depth:
                n_waiting[depth] += 1
                for k in range(K):
                    waiting[depth, k] += resp[k]
        _leave_prefix(indices, start, depth, ahead, waiting, n_waiting, item_counts)
        here = ahead
        bound += weight * value
    return bound


@kernel
def row_responsibilities(
    indptr: np.ndarray,
    indices: np.ndarray,
    first: int,
    last: int,
    tables: ScoreTables,
    values: np.ndarray,
    resp: np.ndarray,
) -> None:
    """Write the log-sum-exp of rows first to last into `values` and, if it has rows, their resp (n, K)."""
    odds, base, required, n_required = tables
    K = len(base)
    score = np.full(vectors.padded(K), -np.inf)
    one = np.empty(len(score), dtype=np.float64)
    lacking = np.empty(K if len(required) else 0, dtype=np.float32)
    none_held = -n_required
    for t in range(first, last):
        start, stop = indptr[t], indptr[t + 1]
        _add_items(indices, start, stop, odds, base, score)
        if len(required):
            _add_items(indices, start, stop, required, none_held, lacking)
            _exclude(lacking, score)
        total, values[t - first] = _exponentials(score, K, vectors.highest(score), one)
        if len(resp):
            for k in range(K):
                resp[t - first, k] = one[k] / total


@kernel
def label_counts(
    indptr: np.ndarray,
    indices: np.ndarray,
    rows: np.ndarray,
    labels: np.ndarray,
    sizes: np.ndarray,
    item_counts: np.ndarray,
) -> None:
    """Add the counts of transactions that each belong to one component: `rows`, `labels` (n,) int64.

    Equivalent to an E-step whose responsibilities are one-hot.
    """
    for m in range(len(labels)):
        t, k = rows[m], labels[m]
        sizes[k] += 1.0
        for j in range(indptr[t], indptr[t + 1]):
            item_counts[indices[j], k] += 1.0
