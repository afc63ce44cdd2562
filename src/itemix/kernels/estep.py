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

from itemix.kernels.jit import inlined, kernel

NEGLIGIBLE = 1e-8
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
_EXPONENT_SHIFT = np.int64(52)
_EXPONENT_BIAS = np.int64(1023)
_LOWEST = -700.0


@inlined
def _add_rows(
    indices: np.ndarray, start: int, stop: int, odds: np.ndarray, base: np.ndarray, score: np.ndarray
) -> None:
    """Score the components for one row: base plus the odds of the items that are present."""
    for k in range(len(base)):
        score[k] = base[k]
    for j in range(start, stop):
        i = indices[j]
        for k in range(len(base)):
            score[k] += odds[i, k]


@inlined
def _exclude_missing(
    indices: np.ndarray,
    start: int,
    stop: int,
    required_ptr: np.ndarray,
    required: np.ndarray,
    held: np.ndarray,
    score: np.ndarray,
) -> None:
    """Set the score of components to -inf that require an item which the row does not hold."""
    for j in range(start, stop):
        held[indices[j]] = True
    for k in range(len(score)):
        if required_ptr[k + 1] - required_ptr[k] > stop - start:
            score[k] = -np.inf
            continue
        for j in range(required_ptr[k], required_ptr[k + 1]):
            if not held[required[j]]:
                score[k] = -np.inf
                break
    for j in range(start, stop):
        held[indices[j]] = False


@inlined
def _highest(score: np.ndarray) -> float:
    """Return the maximum, in four lanes: one would wait for each comparison."""
    K = len(score)
    a = b = c = d = -np.inf
    k = 0
    while k + 4 <= K:
        a = score[k] if score[k] > a else a
        b = score[k + 1] if score[k + 1] > b else b
        c = score[k + 2] if score[k + 2] > c else c
        d = score[k + 3] if score[k + 3] > d else d
        k += 4
    while k < K:
        a = score[k] if score[k] > a else a
        k += 1
    return max(a, b, c, d)


@inlined
def _total(values: np.ndarray) -> float:
    """Return the sum, in four lanes."""
    K = len(values)
    a = b = c = d = 0.0
    k = 0
    while k + 4 <= K:
        a += values[k]
        b += values[k + 1]
        c += values[k + 2]
        d += values[k + 3]
        k += 4
    while k < K:
        a += values[k]
        k += 1
    return (a + b) + (c + d)


@inlined
def _exp_of_difference(
    score: np.ndarray, highest: float, shifted: np.ndarray, shifted_bits: np.ndarray, out: np.ndarray
) -> None:
    """Write exp(score - highest) to `out`, without a call or a branch so that it becomes vector code.

    x = n ln 2 + r with |r| < 0.35; exp(r) is its series to the twelfth power (error below 2e-16), and 2^n is
    put into the exponent bits. `shifted_bits` is `shifted` seen as integers.
    """
    K = len(score)
    for k in range(K):
        x = max(np.float64(score[k]) - highest, _LOWEST)
        shifted[k] = x * _LOG2_E + _ROUND
        n = shifted[k] - _ROUND
        r = (x - n * _LN2_HIGH) - n * _LN2_LOW
        p = 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        out[k] = p * r + 1.0
    for k in range(K):
        shifted_bits[k] = (shifted_bits[k] + _EXPONENT_BIAS) << _EXPONENT_SHIFT
    for k in range(K):
        out[k] = out[k] * shifted[k] if np.float64(score[k]) - highest > _LOWEST else 0.0


@inlined
def _normalise(score: np.ndarray, shifted: np.ndarray, shifted_bits: np.ndarray, resp: np.ndarray) -> float:
    """Turn scores into responsibilities and return their log-sum-exp.

    A row that no component allows gets -inf and equal responsibilities.
    """
    highest = np.float64(_highest(score))
    if highest == -np.inf:
        for k in range(len(score)):
            resp[k] = 1.0 / len(score)
        return -np.inf
    _exp_of_difference(score, highest, shifted, shifted_bits, resp)
    total = _total(resp)
    for k in range(len(score)):
        resp[k] /= total
    return highest + math.log(total)


@inlined
def _add_counts(
    indices: np.ndarray,
    start: int,
    stop: int,
    weight: float,
    resp: np.ndarray,
    kept: np.ndarray,
    sizes: np.ndarray,
    item_counts: np.ndarray,
) -> None:
    """Add one row's responsibilities to the counts of its items, leaving out negligible ones."""
    n_kept = 0
    mass = 0.0
    for k in range(len(resp)):
        if resp[k] > NEGLIGIBLE:
            kept[n_kept] = k
            n_kept += 1
            mass += resp[k]
    scale = weight / mass
    if 4 * n_kept < len(resp):
        for m in range(n_kept):
            sizes[kept[m]] += resp[kept[m]] * scale
        for j in range(start, stop):
            i = indices[j]
            for m in range(n_kept):
                item_counts[i, kept[m]] += resp[kept[m]] * scale
    else:
        for k in range(len(resp)):
            resp[k] = resp[k] * scale if resp[k] > NEGLIGIBLE else 0.0
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
    score = np.empty(K, dtype=odds.dtype)
    resp = np.empty(K, dtype=np.float64)
    shifted = np.empty(K, dtype=np.float64)
    shifted_bits = shifted.view(np.int64)
    kept = np.empty(K, dtype=np.int64)
    held = np.zeros(odds.shape[0] if len(required) else 0, dtype=np.bool_)
    bound = 0.0
    for t in range(first, last):
        start, stop = indptr[t], indptr[t + 1]
        _add_rows(indices, start, stop, odds, base, score)
        if len(required):
            _exclude_missing(indices, start, stop, required_ptr, required, held, score)
        value = _normalise(score, shifted, shifted_bits, resp)
        weight = np.float64(weights[t]) if len(weights) else 1.0
        bound += weight * value
        _add_counts(indices, start, stop, weight, resp, kept, sizes, item_counts)
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
    score = np.empty(K, dtype=odds.dtype)
    one = np.empty(K, dtype=np.float64)
    shifted = np.empty(K, dtype=np.float64)
    shifted_bits = shifted.view(np.int64)
    held = np.zeros(odds.shape[0] if len(required) else 0, dtype=np.bool_)
    for t in range(first, last):
        start, stop = indptr[t], indptr[t + 1]
        _add_rows(indices, start, stop, odds, base, score)
        if len(required):
            _exclude_missing(indices, start, stop, required_ptr, required, held, score)
        values[t - first] = _normalise(score, shifted, shifted_bits, one)
        if len(resp):
            for k in range(K):
                resp[t - first, k] = one[k]


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
