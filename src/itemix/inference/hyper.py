"""Sampling of hyperparameters: the concentration alpha, and the strength beta_i + gamma_i of the Beta priors.

Both have a Gamma prior of shape 1 and rate 0.1, and are drawn by slice sampling of their logarithm (Neal
2003).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from itemix.inference.priors import Prior

_SHAPE, _RATE = 1.0, 0.1
_WIDTH = 1.0
_MOST_STEPS = 20


def draw_alpha(
    prior: Prior, sizes: npt.NDArray[np.int64], n_components: int | None, rng: np.random.Generator
) -> Prior:
    """Return the prior with a new alpha, drawn given the sizes of the components that are not empty.

    `n_components` is None for the Dirichlet process.
    """
    from scipy.special import gammaln

    n = int(sizes.sum())

    def log_density(log_alpha: float) -> float:
        alpha = math.exp(log_alpha)
        value = math.lgamma(alpha) - math.lgamma(n + alpha) + _log_gamma_prior(log_alpha)
        if n_components is None:
            return value + len(sizes) * log_alpha
        share = alpha / n_components
        return value + float((gammaln(sizes + share) - gammaln(share)).sum())

    return replace(prior, alpha=math.exp(slice_draw(log_density, math.log(prior.alpha), rng)))


def draw_strength(
    prior: Prior, sizes: npt.NDArray[np.int64], item_counts: npt.NDArray[np.int32], rng: np.random.Generator
) -> Prior:
    """Return the prior with beta and gamma times one new factor, drawn given counts (K,) and (D, K)."""
    from scipy.special import betaln

    # Where most counts are 0, items of the same prior have the same terms, one for each component.
    kinds, kind_of = np.unique(np.column_stack([prior.beta, prior.gamma]), axis=0, return_inverse=True)
    kind_of = kind_of.ravel()
    items, components = np.nonzero(item_counts)
    present = item_counts[items, components]
    absent = sizes[components] - present
    n_zeros = np.bincount(kind_of)[:, None] - _counts_of_pairs(
        kind_of[items], components, len(kinds), len(sizes)
    )

    def log_density(log_factor: float) -> float:
        beta, gamma = math.exp(log_factor) * kinds.T
        before = betaln(beta, gamma)
        zeros = betaln(beta[:, None], sizes + gamma[:, None]) - before[:, None]
        kind = kind_of[items]
        others = betaln(present + beta[kind], absent + gamma[kind]) - before[kind]
        return float((n_zeros * zeros).sum() + others.sum()) + _log_gamma_prior(log_factor + log_strength)

    log_strength = math.log(prior.strength)
    factor = math.exp(slice_draw(log_density, 0.0, rng))
    return replace(prior, beta=factor * prior.beta, gamma=factor * prior.gamma)


def _counts_of_pairs(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], n_rows: int, n_columns: int
) -> npt.NDArray[np.int64]:
    """Return how often each pair occurs, shape (n_rows, n_columns)."""
    return np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns).reshape(n_rows, n_columns)


def _log_gamma_prior(log_value: float) -> float:
    """Return the log-density of the logarithm of a Gamma variable, up to a constant."""
    return _SHAPE * log_value - _RATE * math.exp(log_value)


def slice_draw(log_density: Callable[[float], float], x: float, rng: np.random.Generator) -> float:
    """Draw once by slice sampling: a Markov step from x that leaves the density invariant.

    The interval is stepped out by 1 at a time, at most 20 times in all, and shrunk until it holds a draw.
    """
    level = log_density(x) + math.log1p(-rng.random())
    low = x - _WIDTH * rng.random()
    high = low + _WIDTH
    down = int(_MOST_STEPS * rng.random())
    up = _MOST_STEPS - 1 - down
    while down > 0 and log_density(low) > level:
        low -= _WIDTH
        down -= 1
    while up > 0 and log_density(high) > level:
        high += _WIDTH
        up -= 1
    while True:
        draw = low + (high - low) * rng.random()
        if log_density(draw) > level or draw == x:
            return draw
        if draw < x:
            low = draw
        else:
            high = draw
