"""One E-step for EM and both variational methods (eqs. tau, Sk, taudp), and the tables it reads.

Tables are item-major: `probs` and `odds` (D, K), `base` (K,). So a row adds contiguous K-vectors. `flipped`
(D,) bool marks the items that rows store by their absence.

Rows in lexicographic order share their first items with their neighbours. The scores of a shared prefix are
summed once, and so are the responsibilities of its items. The work grows with the prefix tree, not with the
ones in the data.

Probabilities of 0 and 1 are exact. With p = 0 the odds of a present item are -inf, and a sum never meets
+inf. With p = 1 the item counts 0 in the odds and in the base, and the component requires it: a row without
it cannot come from that component.

If less than an eighth of the components come near the best one, responsibilities below `NEGLIGIBLE` are left
out of the counts, and the others are scaled to sum to one.

Vectors over the components are filled up to whole machine vectors; scores are filled up with -inf.

Code over the components is made of loops without a call or a branch, which the compiler turns into SIMD.
Numba compiles `math.log` and `math.exp` to calls, one element at a time; the loops here take eight at a time
on a machine with AVX-512. A remainder after the last whole vector is slow, so callers fill arrays up to
`padded` elements.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np

from itemix.kernels.jit import bits_of, float_of, fused, inlined, kernel, reducing

WIDTH = 8
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
_EXPONENT_SHIFT = np.int64(52)
_EXPONENT_BIAS = np.int64(1023)
_SIGN_SHIFT = np.int64(63)
_ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
_LOWEST = -700.0
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
_ONE = np.int64(0x3FF0000000000000)  # the exponent bits of 1.0
_TWO_52 = np.int64(0x4330000000000000)  # those of 2^52, whose last bit counts one
_SQRT2 = math.sqrt(2.0)
_LN2 = math.log(2.0)


@inlined
def padded(n: int) -> int:
    """Return the next multiple of the width of a vector."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


@inlined
def highest(values: np.ndarray) -> float:
    """Return the maximum of numbers that are not NaN.

    The compiler makes vector code only for the maximum of integers. So the numbers are compared by their bits
    as integers; for those below zero the bits are flipped, which puts them in order.
    """
    top = np.int64(-0x8000000000000000)
    for k in range(len(values)):
        bits = bits_of(values[k])
        top = max(top, bits ^ ((bits >> _SIGN_SHIFT) & _ALL_BUT_SIGN))
    return float_of(top ^ ((top >> _SIGN_SHIFT) & _ALL_BUT_SIGN))


@reducing
def sum_of(values: np.ndarray) -> float:
    """Return the sum of finite numbers."""
    found = 0.0
    for k in range(len(values)):
        found += values[k]
    return found


@inlined
def count_above(values: np.ndarray, least: float) -> int:
    """Return how many values are above `least`."""
    n = 0
    for k in range(len(values)):
        n += 1 if values[k] > least else 0
    return n


@fused
def exp_of_difference(score: np.ndarray, highest: float, out: np.ndarray) -> None:
    """Write exp(score - highest) to `out`; 0 below exp(-700).

    x = n ln 2 + r with |r| < 0.35. exp(r) is its series to the twelfth power (error below 2e-16), and 2^n
    goes into the exponent bits.
    """
    for k in range(len(score)):
        x = max(np.float64(score[k]) - highest, _LOWEST)
        shifted = x * _LOG2_E + _ROUND
        n = shifted - _ROUND
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
        p = p * r + 1.0
        power = float_of((bits_of(shifted) + _EXPONENT_BIAS) << _EXPONENT_SHIFT)
        out[k] = p * power if x > _LOWEST else 0.0


@fused
def log_ratio(top: float, bottom: float) -> float:
    """Return log(top / bottom) of two positive normal numbers.

    Both are split into exponent and mantissa. One of the mantissas x and y is doubled if needed, so that s =
    (x - y) / (x + y) has |s| < 0.172. The logarithm of x / y is 2 (s + s^3 / 3 + ... + s^19 / 19), with an
    error below 1e-16.
    """
    a, b = bits_of(top), bits_of(bottom)
    x, y = float_of((a & _MANTISSA) | _ONE), float_of((b & _MANTISSA) | _ONE)
    # AVX2 cannot convert integers to floats; for one below 2^52 reading the bits does the same.
    exponent = float_of((a >> _EXPONENT_SHIFT) | _TWO_52) - float_of((b >> _EXPONENT_SHIFT) | _TWO_52)
    up = x > _SQRT2 * y
    down = y > _SQRT2 * x
    y = 2.0 * y if up else y
    x = 2.0 * x if down else x
    exponent = exponent + (1.0 if up else 0.0) - (1.0 if down else 0.0)
    s = (x - y) / (x + y)
    q = s * s
    p = 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    p = p * q + 1.0
    return 2.0 * s * p + exponent * _LN2


@fused
def add_log_ratio(top: np.ndarray, bottom: np.ndarray, out: np.ndarray) -> None:
    """Add log(top / bottom) to `out`."""
    for k in range(len(out)):
        out[k] += log_ratio(top[k], bottom[k])


NEGLIGIBLE = 1e-8
_FAR = 40.0  # exp(-40) is below half a unit in the last place of 1
# One exponential outside a vector, or one scattered count, takes as long as this many inside a vector.
_FEW = 8
_TINY = 2.2250738585072014e-308
_HALF_LOG_TWO_PI = 0.9189385332046727


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
        _tables_of_item(probs[i], flipped[i], odds[i], base, n_required)


@fused
def _tables_of_item(
    probs: np.ndarray, flipped: bool, odds: np.ndarray, base: np.ndarray, n_required: np.ndarray
) -> None:
    """Write the tables of one item.

    The vector loop has no branches, so a probability of 0 is replaced by the least normal number, and the
    absence that p = 1 rules out by 1.
    """
    for k in range(len(base)):
        p = 1.0 - probs[k] if flipped else probs[k]
        q = probs[k] if flipped else 1.0 - probs[k]
        held = max(p, _TINY)
        missing = max(q, _TINY) if q > 0.0 else 1.0
        ratio = log_ratio(held, missing)
        odds[k] = ratio if p > 0.0 else -np.inf
        base[k] += log_ratio(missing, 1.0)
        n_required[k] += 0 if q > 0.0 else 1


@kernel
def mark_required(probs: np.ndarray, flipped: np.ndarray, required: np.ndarray) -> None:
    """Write 1 to required (D, K) where every row of a component stores the item, 0 elsewhere.

    Equivalent to required = where(flipped, probs == 0, probs == 1).
    """
    for i in range(len(probs)):
        certain = 0.0 if flipped[i] else 1.0
        for k in range(probs.shape[1]):
            required[i, k] = 1.0 if probs[i, k] == certain else 0.0


class ItemPriors(NamedTuple):
    """The Beta priors of the items, and how rows store them.

    Attributes
    ----------
    beta, gamma : array of float64, shape (D,)
        The parameters for presence and for absence.
    flipped : array of bool, shape (D,)
        Which items are stored by their absence.
    """

    beta: np.ndarray
    gamma: np.ndarray
    flipped: np.ndarray


@fused
def digamma_and_log_gamma(x: float) -> tuple[float, float]:
    """Return both functions of x from 0 to 1e15: ten steps of the recurrence, then the asymptotic series.

    There are no branches and no calls, so that loops over the components become vector code. With
    y = x (x + 9) the product of the ten steps is y (y + 8) (y + 14) (y + 18) (y + 20). The sum of their
    inverses is the derivative of that product divided by it.
    Equivalent to scipy.special.psi(x), scipy.special.gammaln(x).
    """
    y = x * (x + 9.0)
    a, a_slope = y * (y + 8.0), 2.0 * y + 8.0
    b, b_slope = (y + 14.0) * (y + 18.0), 2.0 * y + 32.0
    c, c_slope = a * b, a_slope * b + a * b_slope
    product = c * (y + 20.0)
    shift = (2.0 * x + 9.0) * (c_slope * (y + 20.0) + c) / product
    z = x + 10.0
    inverse = 1.0 / z
    square = inverse * inverse
    log_z = log_ratio(z, 1.0)
    psi = 691.0 / 32760.0
    psi = 1.0 / 132.0 - square * psi
    psi = 1.0 / 240.0 - square * psi
    psi = 1.0 / 252.0 - square * psi
    psi = 1.0 / 120.0 - square * psi
    psi = 1.0 / 12.0 - square * psi
    psi = log_z - 0.5 * inverse - square * psi
    gamma = 691.0 / 360360.0
    gamma = 1.0 / 1188.0 - square * gamma
    gamma = 1.0 / 1680.0 - square * gamma
    gamma = 1.0 / 1260.0 - square * gamma
    gamma = 1.0 / 360.0 - square * gamma
    gamma = 1.0 / 12.0 - square * gamma
    gamma = (z - 0.5) * log_z - z + _HALF_LOG_TWO_PI + inverse * gamma
    return psi - shift, gamma - log_ratio(product, 1.0)


@kernel
def digamma_and_log_gamma_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both functions of every value (n,)."""
    psi = np.empty_like(values)
    gamma = np.empty_like(values)
    for j in range(len(values)):
        psi[j], gamma[j] = digamma_and_log_gamma(values[j])
    return psi, gamma


@kernel
def beta_tables(
    sizes: np.ndarray,
    item_counts: np.ndarray,
    priors: ItemPriors,
    first: int,
    last: int,
    odds: np.ndarray,
    base: np.ndarray,
) -> float:
    """Write the E-step's tables of items first to last; return KL(q(phi) || p(phi)) over them.

    Shapes: `sizes` (K,), `item_counts` and `odds` (D, K); `base` (K,) is added to.
    eta = beta + counts, nu = gamma + sizes - counts; E[ln phi] = psi(eta) - psi(eta + nu) (eqs. etan to
    taudp).
    """
    beta, gamma, flipped = priors
    K = len(sizes)
    psi_total = np.empty(K, dtype=np.float64)
    log_gamma_total = np.empty(K, dtype=np.float64)
    divergence = np.zeros(K, dtype=np.float64)
    strength = -1.0
    for i in range(first, last):
        b, g = beta[i], gamma[i]
        if b + g != strength:
            strength = b + g
            for k in range(K):
                psi_total[k], log_gamma_total[k] = digamma_and_log_gamma(strength + sizes[k])
        log_beta = (
            digamma_and_log_gamma(b)[1] + digamma_and_log_gamma(g)[1] - digamma_and_log_gamma(strength)[1]
        )
        sign = -1.0 if flipped[i] else 1.0
        for k in range(K):
            held = item_counts[i, k]
            missing = max(sizes[k] - held, 0.0)
            psi_eta, log_gamma_eta = digamma_and_log_gamma(b + held)
            psi_nu, log_gamma_nu = digamma_and_log_gamma(g + missing)
            kept = log_beta - (log_gamma_eta + log_gamma_nu - log_gamma_total[k])
            divergence[k] += kept + held * psi_eta + missing * psi_nu - (held + missing) * psi_total[k]
            odds[i, k] = sign * (psi_eta - psi_nu)
            base[k] += (psi_eta if sign < 0.0 else psi_nu) - psi_total[k]
    return float(divergence.sum())


class ScoreTables(NamedTuple):
    """The tables by which a model scores rows.

    Attributes
    ----------
    odds : array of float64, shape (D, K)
        log p(stored) - log p(not stored).
    base : array of float64, shape (K,)
        Log-weight plus the sum of log p(not stored).
    required : array of float32, shape (D, K), or (0, K)
        One where a component requires an item, zero elsewhere. No rows if no component requires anything.
    n_required : array of float32, shape (K,)
        How many items each component requires.
    """

    odds: np.ndarray
    base: np.ndarray
    required: np.ndarray
    n_required: np.ndarray

    @classmethod
    def without_requirements(cls, odds: np.ndarray, base: np.ndarray) -> Self:
        """Make tables that require nothing, for models without a probability of one."""
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
    """Sum the table's vectors over the items that the next row shares: prefix[d] is for the first d items.

    prefix[:here + 1] is known already from the rows before.
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
    """Set the score to -inf for components that require an item that the row lacks."""
    for k in range(len(lacking)):
        score[k] = score[k] if lacking[k] == 0.0 else -np.inf


@inlined
def _exponentials(score: np.ndarray, K: int, top: float, out: np.ndarray) -> tuple[float, float]:
    """Write exp(score - top) to `out`; return their sum, and the scores' log-sum-exp.

    If no component allows the row, they are all one, and the log-sum-exp is -inf.
    """
    if top == -np.inf:
        for k in range(len(score)):
            out[k] = 1.0 if k < K else 0.0
        return float(K), -np.inf
    exp_of_difference(score, top, out)
    total = sum_of(out)
    return total, top + math.log(total)


@inlined
def _square(resp: np.ndarray, total: float) -> float:
    """Square exponentials that are to be divided by their total, and return the square of the total."""
    for k in range(len(resp)):
        resp[k] *= resp[k]
    return total * total


@inlined
def _keep_near(
    score: np.ndarray, K: int, top: float, near: np.ndarray, resp: np.ndarray
) -> tuple[int, float, float]:
    """Write the few components that can matter, and the exponentials of their scores.

    Return how many there are, the sum of their exponentials, and the log-sum-exp of all scores.
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
    """Count the waiting responsibilities for the prefixes that the next row does not share, longest first.

    waiting[d] sums the responsibilities of n_waiting[d] rows that have the first d items in common.
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
    score = np.full(padded(K), -np.inf)
    resp = np.empty(len(score), dtype=np.float64)
    near = np.empty(K, dtype=np.int64)
    lacking = np.empty(K if len(required) else 0, dtype=np.float32)
    deepest = 0
    if len(shared):
        for t in range(first + 1, last):
            deepest = max(deepest, shared[t])
    prefix = np.empty((deepest + 1, K), dtype=np.float64)
    for k in range(K):
        prefix[0, k] = base[k]
    prefix_lacks = np.empty((deepest + 1, len(lacking)), dtype=np.float32)
    for k in range(len(lacking)):
        prefix_lacks[0, k] = -n_required[k]
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
        top = highest(score)
        if 0 < _FEW * count_above(score, top - _FAR) < K:
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
    score = np.full(padded(K), -np.inf)
    one = np.empty(len(score), dtype=np.float64)
    lacking = np.empty(K if len(required) else 0, dtype=np.float32)
    none_held = -n_required
    for t in range(first, last):
        start, stop = indptr[t], indptr[t + 1]
        _add_items(indices, start, stop, odds, base, score)
        if len(required):
            _add_items(indices, start, stop, required, none_held, lacking)
            _exclude(lacking, score)
        total, values[t - first] = _exponentials(score, K, highest(score), one)
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
