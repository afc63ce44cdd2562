"""Affinity: which items go together, learned to rank what complete baskets may lack.

Three scores of item i for a basket B are added up, each with a weight:

- linear: the sum of W[j, i] over the items j of B, a ridge regression of each item on all others. It has a
  closed form (EASE: Steck, WWW 2019; with dropout: Steck, NeurIPS 2020).
- logistic: bias[i] + |B| ** -flattening times the sum of V[j, i], a regression of the item's log-odds.
- model: the log-odds of the item for the complete basket under a fitted model, which knows more than pairs.

`inference/affinity.py` learns all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._arrays import Immutable, owned
from itemix.errors import InvalidInputError
from itemix.models.calibration import FARTHEST, Calibration

if TYPE_CHECKING:
    import numpy.typing as npt

    from itemix._typing import Codes, Floats, Ints, Singles


@dataclass(frozen=True, eq=False)
class Affinity(Immutable):
    """Terms of pairs of items and the way from them to probabilities: an immutable value.

    Parameters
    ----------
    offsets : array of int, shape (n_items + 1,)
        Where the terms of each item that a basket holds begin.
    codes : array of int, shape (n_terms,)
        The items that they speak for or against.
    linear, logistic : arrays of float32, shape (n_terms,)
        The terms of both regressions.
    bias : array of float32, shape (n_items,)
        The log-odds of each item in the logistic regression of an empty basket.
    flattening : float
        The logistic terms of a basket are divided by its size to this power.
    scale : float
        Linear scores below this count as small: beyond it, they are taken by their logarithm.
    weights : tuple of three floats
        Those of the linear, the logistic and the model's score; not negative.
    calibration : Calibration
        The way from scores to probabilities, by the size of the basket.
    """

    offsets: Ints
    codes: Codes
    linear: Singles
    logistic: Singles
    bias: Singles
    flattening: float
    scale: float
    weights: tuple[float, float, float]
    calibration: Calibration

    def __post_init__(self) -> None:
        kinds = {"offsets": np.int64, "codes": np.int32} | dict.fromkeys(
            ("linear", "logistic", "bias"), np.float32
        )
        for name, kind in kinds.items():
            object.__setattr__(self, name, owned(getattr(self, name), kind))
        n, D = len(self.codes), len(self.bias)
        if not (
            len(self.offsets) == D + 1
            and len(self.linear) == len(self.logistic) == n == self.offsets[-1]
            and self.offsets[0] == 0
            and (np.diff(self.offsets) >= 0).all()
            and (n == 0 or 0 <= self.codes.min() <= self.codes.max() < D)
        ):
            raise InvalidInputError(
                f"expected terms of pairs of {D:,} items, got offsets and codes that do not fit; "
                "learn them again"
            )
        if not (
            np.isfinite((*self.weights, self.flattening, self.scale)).all()
            and all(np.isfinite(array).all() for array in (self.linear, self.logistic, self.bias))
            and min(self.weights) >= 0 < self.scale
        ):
            raise InvalidInputError(
                "expected finite terms, weights of zero or more and a positive scale, got others; "
                "learn them again"
            )

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.bias)

    @property
    def n_terms(self) -> int:
        """The number of pairs that have terms."""
        return len(self.codes)

    def __repr__(self) -> str:
        return f"Affinity({self.n_items:,} items, {self.n_terms:,} terms)"

    def scores(self, chances: Floats, offsets: Ints, codes: Codes) -> Floats:
        """Return the score of each item for each of some complete baskets, shape (n_baskets, n_items).

        Parameters
        ----------
        chances : array, shape (n_baskets, n_items)
            The probability of each item under the model, given the complete basket.
        offsets, codes : arrays of int
            The baskets as compressed codes.
        """
        from scipy import sparse

        n, D = chances.shape
        baskets = sparse.csr_array((np.ones(len(codes), dtype=np.float32), codes, offsets), shape=(n, D))
        terms = [
            sparse.csr_array((values, self.codes, self.offsets), shape=(D, D))
            for values in (self.linear, self.logistic)
        ]
        return blended(
            ScoreParts(
                (baskets @ terms[0]).toarray(),
                flattened((baskets @ terms[1]).toarray(), np.diff(offsets), self.flattening, self.bias),
                log_odds(chances),
            ),
            self.scale,
            self.weights,
        )

    def combine(self, chances: Floats, offsets: Ints, codes: Codes) -> Floats:
        """Return the calibrated probability of each item for complete baskets; see `scores`."""
        sizes = np.diff(offsets)
        found = self.calibration.probabilities(self.scores(chances, offsets, codes), sizes)
        found[np.repeat(np.arange(len(sizes)), sizes), codes] = 1.0
        return found


class ScoreParts(NamedTuple):
    """The three scores of each item for each basket, before they are weighed."""

    linear: npt.NDArray[np.floating]
    logistic: npt.NDArray[np.floating]
    model: npt.NDArray[np.floating]


def blended(parts: ScoreParts, scale: float, weights: tuple[float, float, float]) -> Floats:
    """Return the weighted sum of the three scores."""
    total: Floats = weights[0] * linked(parts.linear, scale) + weights[1] * parts.logistic
    total += weights[2] * parts.model
    return total


def log_odds(chances: Floats) -> Floats:
    """Return the log-odds of probabilities, none farther from zero than 30."""
    with np.errstate(divide="ignore"):
        odds: Floats = np.clip(np.log(chances) - np.log1p(-chances), -FARTHEST, FARTHEST)
    return odds


def linked(linear: npt.NDArray[np.floating], scale: float) -> npt.NDArray[np.floating]:
    """Return linear scores, those beyond the scale by their logarithm."""
    linked: npt.NDArray[np.floating] = np.copysign(np.log1p(np.abs(linear) / scale), linear)
    return linked


def flattened(
    sums: npt.NDArray[np.floating], sizes: Ints, flattening: float, bias: npt.NDArray[np.floating]
) -> npt.NDArray[np.floating]:
    """Return logistic scores: sums over baskets, divided by a power of the baskets' sizes, plus the bias."""
    if flattening:
        sums *= (np.maximum(sizes, 1) ** -flattening).astype(sums.dtype)[:, None]
    sums += bias
    return sums
