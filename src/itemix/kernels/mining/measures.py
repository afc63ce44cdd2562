"""Measures of a rule A -> C, from the supports of A and C, of A, and of C (float64 each).

The formulas and their order of operations are those of mlxtend's columns, so that values are equal to the
last bit. `n` is the number of transactions, NaN where it is not known; a measure is NaN where it needs what
is not known.
"""

from __future__ import annotations

import math

import numpy as np

from itemix.kernels.jit import inlined, kernel

(
    ANTECEDENT_SUPPORT,
    CONSEQUENT_SUPPORT,
    SUPPORT,
    CONFIDENCE,
    LIFT,
    REPRESENTATIVITY,
    LEVERAGE,
    CONVICTION,
    ZHANG,
    JACCARD,
    CERTAINTY,
    KULCZYNSKI,
    CHI_SQUARED,
    P_VALUE,
) = range(14)


@inlined
def chi_squared(both: float, a: float, c: float, n: float) -> float:
    """Pearson's statistic of the 2 x 2 table of A and C; 0 where A or C holds always or never."""
    spread = a * (1.0 - a) * c * (1.0 - c)
    if spread <= 0.0:
        return 0.0 * n
    return n * (both - a * c) ** 2 / spread


@inlined
def measure(code: int, both: float, a: float, c: float, n: float) -> float:
    """Compute one measure of one rule."""
    if code == SUPPORT:
        return both
    if code == ANTECEDENT_SUPPORT:
        return a
    if code == CONSEQUENT_SUPPORT:
        return c
    if code == REPRESENTATIVITY:
        return 1.0 if a == a else a  # noqa: PLR0124 - NaN
    if code == LEVERAGE:
        return both - a * c
    if code == ZHANG:
        positive = both * (1.0 - a)
        negative = a * (c - both)
        larger = positive if positive > negative else negative
        return 0.0 if larger == 0.0 else (both - a * c) / larger
    if code == JACCARD:
        return both / (a + c - both)
    if code == CHI_SQUARED:
        return chi_squared(both, a, c, n)
    if code == P_VALUE:
        return math.erfc(math.sqrt(chi_squared(both, a, c, n) / 2.0))
    confidence = both / a
    if code == LIFT:
        return confidence / c
    if code == CONVICTION:
        return np.inf if confidence >= 1.0 else (1.0 - c) / (1.0 - confidence)
    if code == CERTAINTY:
        return 0.0 if c == 1.0 else (confidence - c) / (1.0 - c)
    if code == KULCZYNSKI:
        return (confidence + both / c) / 2.0
    return confidence


@inlined
def least_confidence(code: int, threshold: float, both: float) -> float:
    """Bound from below the confidence of every rule of one itemset whose measure reaches the threshold.

    Confidence falls as the consequent grows, so that a split under the bound ends a branch of the search. The
    bounds follow from support(A and C) <= support(C) <= 1; 0 where there is none.
    """
    bound = 0.0
    if code == CONFIDENCE:
        bound = threshold
    elif code == LIFT:
        bound = threshold * both
    elif code == CONVICTION and threshold > 0.0:
        bound = 1.0 - (1.0 - both) / threshold
    elif code == CERTAINTY and threshold > 0.0:
        bound = threshold + (1.0 - threshold) * both
    elif code == JACCARD:
        bound = threshold
    elif code == KULCZYNSKI:
        bound = 2.0 * threshold - 1.0
    elif code == LEVERAGE:
        bound = both * both / (both - threshold) if threshold < both else np.inf
    return bound * (1.0 - 1e-9)


@kernel
def measure_all(code: int, both: np.ndarray, a: np.ndarray, c: np.ndarray, n: float) -> np.ndarray:
    """Compute one measure of many rules.

    Equivalent to [measure(code, *supports, n) for supports in zip(both, a, c)].
    """
    values = np.empty(len(both), dtype=np.float64)
    for r in range(len(both)):
        values[r] = measure(code, both[r], a[r], c[r], n)
    return values
