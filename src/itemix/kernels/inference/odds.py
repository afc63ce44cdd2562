"""The E-step's tables of a mixture, zeros and ones among its probabilities included.

Shapes: item-major, see `estep`: `probs` and `odds` (D, K), `base` (K,); `flipped` (D,) bool marks the items
that rows store by their absence.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import fused, kernel
from itemix.kernels.vectors import log_ratio

_TINY = 2.2250738585072014e-308


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
    """Do one item: zeros and ones take part in the vectors as the least normal number and as one."""
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
    """Write 1 to required (D, K) where a component never goes without an item as it is stored, 0 elsewhere.

    Equivalent to required = where(flipped, probs == 0, probs == 1).
    """
    for i in range(len(probs)):
        certain = 0.0 if flipped[i] else 1.0
        for k in range(probs.shape[1]):
            required[i, k] = 1.0 if probs[i, k] == certain else 0.0
