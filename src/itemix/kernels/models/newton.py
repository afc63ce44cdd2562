"""Newton's method for maximum entropy, where iterative scaling is slow: where states have to vanish.

States (2^n,) are numbered by their bits. The sets whose probabilities are known are numbers of the same
kind, `masks` (m,), the empty set among them; `targets` (m,) are their probabilities. The probability of a set
is the sum over the states that hold it. The second derivative for two sets is the probability of their union,
so that all of them are read from one table of sums over supersets.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import inlined, kernel

# A pivot so small (of itself) is zero but for rounding: the set says nothing that the sets before do not.
_NOTHING = 1e-12
# States that are less probable do not count for the length of a step: they may be about to vanish.
_NEGLIGIBLE = 1e-14
_LONGEST_STEP = 2.0
_NEAR = 1e-7
_CLOSE = 1e-13
_MOST_STEPS = 60
_LAST_STEPS = 5


@inlined
def _sum_supersets(table: np.ndarray) -> None:
    """Turn the probabilities of states into those of sets."""
    bit = 1
    while bit < len(table):
        for s in range(len(table)):
            if not s & bit:
                table[s] += table[s | bit]
        bit <<= 1


@inlined
def _sum_subsets(table: np.ndarray) -> None:
    """Add up what is written for the subsets of each set."""
    bit = 1
    while bit < len(table):
        for s in range(len(table)):
            if s & bit:
                table[s] += table[s ^ bit]
        bit <<= 1


@inlined
def _solve(matrix: np.ndarray, values: np.ndarray) -> None:
    """Solve a symmetric system without negative eigenvalues; `values` becomes the solution.

    Unknowns that those before them determine are zero. The upper triangle of `matrix` is overwritten.
    """
    m = len(values)
    for k in range(m):
        pivot = matrix[k, k]
        if pivot == 0.0:
            continue
        for i in range(k + 1, m):
            factor = matrix[k, i] / pivot
            if factor != 0.0:
                whole = matrix[i, i]
                for j in range(i, m):
                    matrix[i, j] -= factor * matrix[k, j]
                if matrix[i, i] <= _NOTHING * whole:
                    matrix[i, i] = 0.0
                values[i] -= factor * values[k]
    for k in range(m - 1, -1, -1):
        if matrix[k, k] == 0.0:
            values[k] = 0.0
            continue
        for j in range(k + 1, m):
            values[k] -= matrix[k, j] * values[j]
        values[k] /= matrix[k, k]


@inlined
def _direction(
    masks: np.ndarray,
    targets: np.ndarray,
    table: np.ndarray,
    sums: np.ndarray,
    matrix: np.ndarray,
    values: np.ndarray,
) -> float:
    """Write the step of the logarithm of each state to `sums`; return by how much the sets are off."""
    m = len(masks)
    for s in range(len(table)):
        sums[s] = table[s]
    _sum_supersets(sums)
    error = 0.0
    for i in range(m):
        values[i] = targets[i] - sums[masks[i]]
        error = max(error, abs(values[i]))
        for j in range(i, m):
            matrix[i, j] = sums[masks[i] | masks[j]]
    _solve(matrix, values)
    for s in range(len(table)):
        sums[s] = 0.0
    for i in range(m):
        sums[masks[i]] = values[i]
    _sum_subsets(sums)
    return error


@kernel
def refine_states(masks: np.ndarray, targets: np.ndarray, table: np.ndarray) -> float:
    """Change the states so that they agree with the sets; return by how much they still do not.

    Steps multiply the states by the exponential of a sum over their subsets, so that entropy stays the
    highest for what is reached. A state that has to vanish shrinks by a factor of e at each; the last steps
    are linear and take it away.
    """
    m = len(masks)
    sums = np.empty(len(table))
    matrix, values = np.empty((m, m)), np.empty(m)
    n_last = 0
    error = np.inf
    for _ in range(_MOST_STEPS):
        error = _direction(masks, targets, table, sums, matrix, values)
        if error < _CLOSE or n_last == _LAST_STEPS:
            break
        is_near = error < _NEAR
        n_last += is_near
        longest = _LONGEST_STEP
        for s in range(len(table)):
            if table[s] > _NEGLIGIBLE:
                longest = max(longest, abs(sums[s]))
        part = 1.0 if is_near else _LONGEST_STEP / longest
        for s in range(len(table)):
            if is_near and table[s] > _NEGLIGIBLE:
                table[s] *= max(1.0 + sums[s], 0.0)
            elif table[s] > 0.0:
                table[s] *= np.exp(min(part * sums[s], _LONGEST_STEP))
    return error
