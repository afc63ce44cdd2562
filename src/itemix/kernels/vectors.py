"""Vector code over the components: loops without a call or a branch, which the compiler turns into SIMD.

Numba compiles `math.log` and `math.exp` to calls, one element at a time; these loops take several at a time.
"""

from __future__ import annotations

import math

import numpy as np

from itemix.kernels.jit import inlined

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
_EXPONENT_SHIFT = np.int64(52)
_EXPONENT_BIAS = np.int64(1023)
_LOWEST = -700.0
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
_ONE = np.int64(0x3FF0000000000000)  # the exponent bits of 1.0
_SQRT2 = math.sqrt(2.0)
_LN2 = math.log(2.0)


@inlined
def highest(score: np.ndarray) -> float:
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
def total(values: np.ndarray) -> float:
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
def exp_of_difference(
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
def add_log_ratio(top: np.ndarray, bottom: np.ndarray, exponent: np.ndarray, out: np.ndarray) -> None:
    """Add log(top / bottom) to `out`; both are overwritten.

    Both are split into exponent and mantissa; with s = (x - y) / (x + y) of the mantissas, |s| < 0.172, the
    logarithm of x / y is 2 (s + s^3 / 3 + ... + s^19 / 19), whose error is below 1e-16.
    """
    K = len(out)
    top_bits = top.view(np.int64)
    bottom_bits = bottom.view(np.int64)
    for k in range(K):
        exponent[k] = (top_bits[k] >> _EXPONENT_SHIFT) - (bottom_bits[k] >> _EXPONENT_SHIFT)
    for k in range(K):
        top_bits[k] = (top_bits[k] & _MANTISSA) | _ONE
        bottom_bits[k] = (bottom_bits[k] & _MANTISSA) | _ONE
    for k in range(K):
        x = top[k]
        y = bottom[k]
        e = np.float64(exponent[k])
        if x > _SQRT2 * y:
            y *= 2.0
            e += 1.0
        elif y > _SQRT2 * x:
            x *= 2.0
            e -= 1.0
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
        out[k] += 2.0 * s * p + e * _LN2
