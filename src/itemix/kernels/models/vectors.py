"""Vector code over the components: loops without a call or a branch, which the compiler turns into SIMD.

Numba compiles `math.log` and `math.exp` to calls, one element at a time. These loops take eight at a time on
a machine with AVX-512. A remainder after the last whole vector is slow, so callers fill arrays up to `padded`
elements.
"""

from __future__ import annotations

import math

import numpy as np

from itemix.kernels.jit import bits_of, float_of, fused, inlined, reducing

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
def total(values: np.ndarray) -> float:
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
