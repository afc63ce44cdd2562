"""The E-step's tables of a mixture, zeros and ones among its probabilities included.

Shapes: item-major, see `estep`: `probs` and `odds` (D, K), `base` (K,); `flipped` (D,) bool marks the items
that rows store by their absence.
"""

from __future__ import annotations

import math

import numpy as np

from itemix.kernels.jit import kernel


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
def mark_required(probs: np.ndarray, flipped: np.ndarray, required: np.ndarray) -> None:
    """Write 1 to required (D, K) where a component never goes without an item as it is stored, 0 elsewhere.

    Equivalent to required = where(flipped, probs == 0, probs == 1).
    """
    for i in range(len(probs)):
        certain = 0.0 if flipped[i] else 1.0
        for k in range(probs.shape[1]):
            required[i, k] = 1.0 if probs[i, k] == certain else 0.0
