"""One E-step for EM and both variational methods (eqs. tau, Sk, taudp).

Shapes: rows in compressed form (`indptr` (N + 1,) int64, `indices` (nnz,) int32), `weights` (N,) int64
multiplicities or empty for ones; tables are item-major, so that a row adds contiguous K-vectors: `odds`
(D, K) is log p(present) - log p(absent), `base` (K,) is the log-weight plus the sum of log p(absent).

Zeros and ones among the probabilities are exact. Present where p = 0: the odds are -inf, and a sum never
meets +inf. Absent where p = 1: the item counts 0 in `odds` and `base` and is listed among the items that
component k requires, `required[required_ptr[k]:required_ptr[k + 1]]`; a row without one of them cannot come
from k.

Responsibilities below `NEGLIGIBLE` do not enter the counts; those that do are scaled to sum to one.
"""

from __future__ import annotations

import math

import numpy as np

from itemix.kernels import vectors
from itemix.kernels.jit import inlined, kernel

NEGLIGIBLE = 1e-8
_FAR = 40.0  # exp(-40) is below half a unit in the last place of 1


@inlined
def _add_rows(
    indices: np.ndarray, start: int, stop: int, odds: np.ndarray, base: np.ndarray, score: np.ndarray
) -> None:
    """Score the components for one row: base plus the odds of its items, four items in one pass."""
    K = len(base)
    for k in range(K):
        score[k] = base[k]
    j = start
    while j + 4 <= stop:
        a, b, c, d = indices[j], indices[j + 1], indices[j + 2], indices[j + 3]
        for k in range(K):
            score[k] += (odds[a, k] + odds[b, k]) + (odds[c, k] + odds[d, k])
        j += 4
    while j < stop:
        a = indices[j]
        for k in range(K):
            score[k] += odds[a, k]
        j += 1


@inlined
def _highest_possible(
    indices: np.ndarray,
    start: int,
    stop: int,
    required_ptr: np.ndarray,
    required: np.ndarray,
    demanding: np.ndarray,
    held: np.ndarray,
    score: np.ndarray,
) -> float:
    """Return the highest score of a component that allows the row; `demanding` lists those that require any.

    The score of a component becomes -inf if it requires an item which the row does not hold. Only those
    within `_FAR` of the highest are looked at: others would not change a sum of exponentials by a rounding
    error.
    """
    top = vectors.highest(score)
    if len(required) == 0:
        return top
    for j in range(start, stop):
        held[indices[j]] = True
    excluded = True
    while excluded:
        excluded = False
        for k in demanding:
            if score[k] > top - _FAR:
                for j in range(required_ptr[k], required_ptr[k + 1]):
                    if not held[required[j]]:
                        score[k] = -np.inf
                        excluded = True
                        break
        if excluded:
            top = vectors.highest(score)
    for j in range(start, stop):
        held[indices[j]] = False
    return top


@inlined
def _count_near(score: np.ndarray, top: float) -> int:
    """Return how many components lie within `_FAR` of the top."""
    n_near = 0
    for k in range(len(score)):
        n_near += 1 if score[k] > top - _FAR else 0
    return n_near


@inlined
def _exponentials(
    score: np.ndarray, top: float, shifted: np.ndarray, shifted_bits: np.ndarray, out: np.ndarray
) -> tuple[float, float]:
    """Write exp(score - top) to `out`; return their sum, and the scores' log-sum-exp.

    For a row that no component allows they are all one, and the log-sum-exp is -inf.
    """
    if top == -np.inf:
        for k in range(len(score)):
            out[k] = 1.0
        return float(len(score)), -np.inf
    vectors.exp_of_difference(score, top, shifted, shifted_bits, out)
    total = vectors.total(out)
    return total, top + math.log(total)


@inlined
def _count_few(
    indices: np.ndarray,
    start: int,
    stop: int,
    weight: float,
    score: np.ndarray,
    top: float,
    near: np.ndarray,
    resp: np.ndarray,
    sizes: np.ndarray,
    item_counts: np.ndarray,
) -> float:
    """Add one row to the counts of the few components that can matter; return its log-sum-exp."""
    n_near = 0
    total = 0.0
    for k in range(len(score)):
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
    for m in range(n_kept):
        resp[m] *= weight / mass
        sizes[near[m]] += resp[m]
    for j in range(start, stop):
        i = indices[j]
        for m in range(n_kept):
            item_counts[i, near[m]] += resp[m]
    return top + math.log(total)


@inlined
def _count_all(
    indices: np.ndarray,
    start: int,
    stop: int,
    weight: float,
    resp: np.ndarray,
    total: float,
    sizes: np.ndarray,
    item_counts: np.ndarray,
) -> None:
    """Add one row to the counts of all components whose share of the total is not negligible."""
    least = NEGLIGIBLE * total
    for k in range(len(resp)):
        resp[k] = resp[k] if resp[k] > least else 0.0
    scale = weight / vectors.total(resp)
    for k in range(len(resp)):
        resp[k] *= scale
        sizes[k] += resp[k]
    for j in range(start, stop):
        i = indices[j]
        for k in range(len(resp)):
            item_counts[i, k] += resp[k]


@kernel
def expected_counts(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    first: int,
    last: int,
    odds: np.ndarray,
    base: np.ndarray,
    required_ptr: np.ndarray,
    required: np.ndarray,
    sizes: np.ndarray,
    item_counts: np.ndarray,
) -> float:
    """Add the expected counts of rows first to last into `sizes` (K,) and `item_counts` (D, K).

    Return the weighted sum of the rows' log-sum-exps. Equivalent to S = base + X @ odds; R = softmax(S);
    sizes += R.sum(0); item_counts += X.T @ R; logsumexp(S, axis=1).sum().
    """
    K = len(base)
    score = np.empty(K, dtype=np.float64)
    resp = np.empty(K, dtype=np.float64)
    shifted = np.empty(K, dtype=np.float64)
    shifted_bits = shifted.view(np.int64)
    near = np.empty(K, dtype=np.int64)
    demanding = np.flatnonzero(required_ptr[1:] > required_ptr[:-1])
    held = np.zeros(odds.shape[0] if len(required) else 0, dtype=np.bool_)
    bound = 0.0
    for t in range(first, last):
        start, stop = indptr[t], indptr[t + 1]
        weight = np.float64(weights[t]) if len(weights) else 1.0
        _add_rows(indices, start, stop, odds, base, score)
        top = _highest_possible(indices, start, stop, required_ptr, required, demanding, held, score)
        if 0 < 4 * _count_near(score, top) < K:
            value = _count_few(indices, start, stop, weight, score, top, near, resp, sizes, item_counts)
        else:
            total, value = _exponentials(score, top, shifted, shifted_bits, resp)
            _count_all(indices, start, stop, weight, resp, total, sizes, item_counts)
        bound += weight * value
    return bound


@kernel
def row_responsibilities(
    indptr: np.ndarray,
    indices: np.ndarray,
    first: int,
    last: int,
    odds: np.ndarray,
    base: np.ndarray,
    required_ptr: np.ndarray,
    required: np.ndarray,
    values: np.ndarray,
    resp: np.ndarray,
) -> None:
    """Write the log-sum-exp of rows first to last into `values` and, if it has rows, their resp (n, K)."""
    K = len(base)
    score = np.empty(K, dtype=np.float64)
    one = np.empty(K, dtype=np.float64)
    shifted = np.empty(K, dtype=np.float64)
    shifted_bits = shifted.view(np.int64)
    demanding = np.flatnonzero(required_ptr[1:] > required_ptr[:-1])
    held = np.zeros(odds.shape[0] if len(required) else 0, dtype=np.bool_)
    for t in range(first, last):
        start, stop = indptr[t], indptr[t + 1]
        _add_rows(indices, start, stop, odds, base, score)
        top = _highest_possible(indices, start, stop, required_ptr, required, demanding, held, score)
        total, values[t - first] = _exponentials(score, top, shifted, shifted_bits, one)
        if len(resp):
            for k in range(K):
                resp[t - first, k] = one[k] / total


@kernel
def log_tables(
    probs: np.ndarray,
    flipped: np.ndarray,
    first: int,
    last: int,
    odds: np.ndarray,
    base: np.ndarray,
    n_required: np.ndarray,
) -> None:
    """Write the odds of items first to last, and add to `base` and to the number of required items (K,).

    Shapes: `probs` and `odds` (D, K). Equivalent to odds = log(p) - log1p(-p); base += log1p(-p).sum(0), with
    p = 1 - probs where an item is flipped.
    """
    for i in range(first, last):
        for k in range(len(base)):
            p = probs[i, k]
            held = math.log(p) if p > 0.0 else -np.inf
            missing = math.log1p(-p) if p < 1.0 else -np.inf
            if flipped[i]:
                held, missing = missing, held
            if missing == -np.inf:
                n_required[k] += 1
                odds[i, k] = held
            else:
                odds[i, k] = held - missing
                base[k] += missing


@kernel
def list_required(
    probs: np.ndarray, flipped: np.ndarray, required_ptr: np.ndarray, required: np.ndarray
) -> None:
    """List the items that each component requires: those it never goes without, as they are stored."""
    fill = required_ptr[:-1].copy()
    for i in range(len(probs)):
        certain = 0.0 if flipped[i] else 1.0
        for k in range(len(fill)):
            if probs[i, k] == certain:
                required[fill[k]] = i
                fill[k] += 1


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


@kernel
def flip_items(indptr: np.ndarray, indices: np.ndarray, flipped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Store the items marked in `flipped` (D,) bool by their absence; rows need not ascend afterwards.

    Equivalent to X[:, flipped] = 1 - X[:, flipped].
    """
    n_rows = len(indptr) - 1
    marked = np.flatnonzero(flipped)
    held = np.zeros(len(flipped), dtype=np.bool_)
    out_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for t in range(n_rows):
        n_marked = 0
        for j in range(indptr[t], indptr[t + 1]):
            n_marked += flipped[indices[j]]
        out_indptr[t + 1] = out_indptr[t] + indptr[t + 1] - indptr[t] + len(marked) - 2 * n_marked
    out = np.empty(out_indptr[-1], dtype=np.int32)
    for t in range(n_rows):
        position = out_indptr[t]
        for j in range(indptr[t], indptr[t + 1]):
            held[indices[j]] = True
            if not flipped[indices[j]]:
                out[position] = indices[j]
                position += 1
        for m in range(len(marked)):
            if not held[marked[m]]:
                out[position] = marked[m]
                position += 1
        for j in range(indptr[t], indptr[t + 1]):
            held[indices[j]] = False
    return out_indptr, out
