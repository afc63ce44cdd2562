"""Calibration: from the score of an item for a basket to its probability, learned from what came of scores.

A logistic regression on score and size of the basket is a straight line in log-odds. Scores seldom keep to
it: a high one says less in a large basket, and low ones are all alike. So the line may bend at a few knots,
between which it is straight, and bends in another way in small baskets than in large ones. It always rises
with the score, so that no order changes. Where there are few cases, it stays near the logistic regression.
Scores that are farther out than all of these cases are no surer than the farthest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._arrays import Immutable, owned
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix._typing import Floats, Ints

# Log-odds are cut off at this distance from zero.
FARTHEST = 30.0
_MOST_KNOTS = 12
_CASES_OF_A_KNOT = 20
# Examples are counted in bins: this many of the score, and bins of log(1 + size) that are this wide.
_BINS = 100
_BIN_OF_SIZE = 0.2
_MOST_SORTED = 100_000
# The least slope, as a part of that of the logistic regression.
_LEAST_SLOPE = 1e-3
# How much the log-odds usually bend away from the straight line from one knot to the next.
_USUAL_BEND = 0.5
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Calibration(Immutable):
    """A surface over score and size of the basket, straight between its knots: an immutable value.

    Parameters
    ----------
    scores : array, shape (n,)
        The knots of the score, rising; two or more. Beyond them the outer slopes go on.
    sizes : array, shape (m,)
        The knots of log(1 + size of the basket), rising; one or more. Beyond them nothing changes.
    log_odds : array, shape (m, n)
        The log-odds at the knots, rising with the score.
    """

    scores: Floats
    sizes: Floats
    log_odds: Floats

    def __post_init__(self) -> None:
        for name in ("scores", "sizes", "log_odds"):
            object.__setattr__(self, name, owned(getattr(self, name), np.float64))
        arrays = self.scores, self.sizes, self.log_odds
        if not (
            self.scores.ndim == self.sizes.ndim == 1
            and self.log_odds.shape == (len(self.sizes), len(self.scores))
            and len(self.scores) > 1
            and len(self.sizes) > 0
            and all(np.isfinite(array).all() for array in arrays)
            and all((np.diff(array) > 0).all() for array in arrays[:2])
            and (np.diff(self.log_odds, axis=1) > 0).all()
        ):
            raise InvalidInputError(
                "expected a calibration that rises with the score, got knots that do not; learn it again"
            )

    def probabilities(self, scores: Floats, sizes: Ints) -> Floats:
        """Return the probability of items, given their scores (n, D) and the sizes of the baskets (n,)."""
        position, share = _between(self.sizes, np.log1p(sizes))
        above = np.minimum(position + 1, len(self.sizes) - 1)
        share = np.clip(share, 0.0, 1.0)[:, None]
        own = (1 - share) * self.log_odds[position] + share * self.log_odds[above]
        segment, along = _between(self.scores, scores)
        low = np.take_along_axis(own, segment, axis=1)
        odds = low + along * np.take_along_axis(np.diff(own, axis=1), segment, axis=1)
        np.clip(odds, -FARTHEST, FARTHEST, out=odds)
        chances: Floats = 1 / (1 + np.exp(-odds))
        return chances


def _between(knots: Floats, values: Floats) -> tuple[Ints, Floats]:
    """Return the knot before each value, and how far it is on the way to the next one."""
    if len(knots) == 1:
        return np.zeros(values.shape, dtype=np.int64), np.zeros(values.shape)
    position = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 2)
    return position, (values - knots[position]) / np.diff(knots)[position]


class Examples(NamedTuple):
    """Scores of items that are in a basket, or are not, given the rest of it."""

    scores: Floats
    sizes: Ints
    weights: Floats


class _Cells(NamedTuple):
    """Examples that are alike, counted together: their mean score and log(1 + size)."""

    scores: Floats
    sizes: Floats
    present: Floats
    absent: Floats

    def total(self) -> Floats:
        return self.present + self.absent

    def quantiles(self, values: Floats, n: int) -> Floats:
        """Return up to n distinct quantiles from 1% to 99%; present and absent examples weigh half each."""
        order = np.argsort(values, kind="stable")
        share = self.present / self.present.sum() + self.absent / self.absent.sum()
        reached = np.cumsum(share[order]) / 2
        last = len(values) - 1
        chosen = np.minimum(np.searchsorted(reached, np.linspace(0.01, 0.99, n)), last)
        return np.unique(values[order[chosen]])


def calibrate(present: Examples, absent: Examples) -> Calibration:
    """Return the calibration that makes probabilities of the scores of held-out items."""
    cells = _counted(present, absent)
    n_knots = int(np.clip(len(present.scores) // _CASES_OF_A_KNOT, 2, _MOST_KNOTS))
    scores = cells.quantiles(cells.scores, n_knots)
    if len(scores) < 2:  # all scores are alike
        scores = scores[0] + np.array([0.0, 1.0])
    sizes = cells.quantiles(cells.sizes, 2 if n_knots < _MOST_KNOTS else 3)
    straight = _logistic(cells)
    return Calibration(*_levelled(scores, sizes, _bent(cells, scores, sizes, straight), cells, straight[1]))


def _levelled(
    scores: Floats, sizes: Floats, log_odds: Floats, cells: _Cells, slope: float
) -> tuple[Floats, Floats, Floats]:
    """Return the knots and log-odds of a calibration that hardly rises beyond the scores of the examples.

    Nothing is known from there on. A basket of one item scores like no other where all have forty.
    """
    farthest = np.array([cells.scores.min(), cells.scores.max()])
    away = np.maximum(scores[0] - farthest, farthest - scores[-1]) > _ROUNDING * (scores[-1] - scores[0])
    known = np.unique(np.concatenate([scores, farthest[away]]))
    segment, along = _between(scores, known)
    odds = log_odds[:, segment] + along * np.diff(log_odds, axis=1)[:, segment]
    step = _LEAST_SLOPE * slope
    return (
        np.concatenate([[known[0] - 1], known, [known[-1] + 1]]),
        sizes,
        np.hstack([odds[:, :1] - step, odds, odds[:, -1:] + step]),
    )


def _counted(present: Examples, absent: Examples) -> _Cells:
    """Count the examples in cells. A present one counts as one case, and absent ones in proportion."""
    both = np.concatenate([present.scores, absent.scores])
    sizes = np.log1p(np.concatenate([present.sizes, absent.sizes]))
    weights = np.concatenate([present.weights, absent.weights])
    weights *= len(present.scores) / present.weights.sum()
    levels = np.linspace(0, 1, _BINS // 2 + 1)[1:-1]
    few = (part.scores[:: 1 + len(part.scores) // _MOST_SORTED] for part in (present, absent))
    edges = np.unique([np.quantile(scores, levels) for scores in few])
    by_size = np.round(sizes / _BIN_OF_SIZE).astype(np.int64)
    cell = np.searchsorted(edges, both) * (by_size.max() + 1) + by_size
    is_there = np.arange(len(both)) < len(present.scores)
    total, there, score, size = (
        np.bincount(cell, values).astype(np.float64)
        for values in (weights, np.where(is_there, weights, 0.0), weights * both, weights * sizes)
    )
    used = total > 0
    score, size = score[used] / total[used], size[used] / total[used]
    return _Cells(score, size, there[used], np.maximum(total - there, 0.0)[used])


def _logistic(cells: _Cells) -> Floats:
    """Return the logistic regression of presence on 1, score and log(1 + size); its slope is positive."""
    columns = np.stack([np.ones(len(cells.scores)), cells.scores, cells.sizes], axis=1)
    # At the start, the mean of all scores has the share of present examples as its probability.
    total = cells.total()
    share = cells.present.sum() / total.sum()
    start = np.array([np.log(share / (1 - share)) - np.average(cells.scores, weights=total), 1.0, 0.0])
    return _likeliest(columns, cells, start, [(-1e3, 1e3), (0.01, 1e3), (-1e3, 1e3)])


def _bent(cells: _Cells, scores: Floats, sizes: Floats, straight: Floats) -> Floats:
    """Return the log-odds at the knots.

    The unknowns are the log-odds at the first score of each size, and the steps from each score to the next.
    Their distance from the straight line has a normal prior: it changes by about a half from knot to knot.
    That is worth about four cases, since each case of a rare event counts as a unit of information.
    """
    m, n = len(sizes), len(scores)
    knots = straight[0] + straight[1] * scores + straight[2] * sizes[:, None]
    start = np.hstack([knots[:, :1], np.diff(knots, axis=1)]).ravel()
    summed = np.kron(np.eye(m), np.tril(np.ones((n, n))))
    steps = np.eye(m * n)[np.arange(m * n) % n > 0]
    to_next_size = np.kron(np.diff(np.eye(m), axis=0), np.eye(n)) @ summed
    least = np.full((m, n), -np.inf)
    least[:, 1:] = _LEAST_SLOPE * straight[1] * np.diff(scores)
    found = _likeliest(
        _hats(cells.scores, cells.sizes, scores, sizes) @ summed,
        cells,
        start,
        [(low, np.inf) for low in least.ravel()],
        np.vstack([steps, to_next_size]) / _USUAL_BEND,
    )
    log_odds: Floats = (summed @ found).reshape(m, n)
    return log_odds


def _hats(at_scores: Floats, at_sizes: Floats, scores: Floats, sizes: Floats) -> Floats:
    """Return how much each knot counts at each of some points, shape (n_points, n_sizes * n_scores)."""
    m, n = len(sizes), len(scores)
    segment, along = _between(scores, at_scores)
    position, share = _between(sizes, at_sizes)
    share = np.clip(share, 0.0, 1.0)
    hats = np.zeros((len(at_scores), m * n))
    rows = np.arange(len(at_scores))
    for step, part in ((0, 1 - share), (1, share)):
        row = np.minimum(position + step, m - 1) * n + segment
        hats[rows, row] += part * (1 - along)
        hats[rows, row + 1] += part * along
    return hats


def _likeliest(
    columns: Floats,
    cells: _Cells,
    start: Floats,
    bounds: list[tuple[float, float]],
    held: Floats | None = None,
) -> Floats:
    """Return the likeliest weights of columns in log-odds; rows of `held` hold them near the start."""
    from scipy.optimize import minimize

    total = cells.total()

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = columns @ weights
        value = total @ np.logaddexp(0.0, odds) - cells.present @ odds
        slope = (total / (1 + np.exp(np.clip(-odds, -700.0, 700.0))) - cells.present) @ columns
        if held is not None:
            away = held @ (weights - start)
            value += away @ away / 2
            slope += away @ held
        return float(value), slope

    found: Floats = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 2000, "maxfun": 5000, "ftol": 1e-12, "gtol": 1e-6},
    ).x
    return found
