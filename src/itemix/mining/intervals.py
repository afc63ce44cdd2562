"""Credible intervals of probabilities, from the posterior of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.events import Names, encode_sets, no_sets, require_consistent
from itemix.itemsets import Itemsets
from itemix.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Floats = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """A probability with the ends of its credible interval."""

    probability: float
    lower: float
    upper: float


def interval(
    posteriors: Posterior | Sequence[Posterior],
    itemset: Names,
    *,
    absent: Names = (),
    given: Names = (),
    given_absent: Names = (),
    level: float = 0.9,
) -> Interval:
    """Return the probability of an itemset with its credible interval; parameters as in `intervals`."""
    found = intervals(
        posteriors, [itemset], absent=[absent], given=given, given_absent=given_absent, level=level
    )
    return Interval(*(float(column[0]) for column in found))


def intervals(
    posteriors: Posterior | Sequence[Posterior],
    itemsets: Itemsets | Iterable[Names],
    *,
    absent: Iterable[Names] | None = None,
    given: Names = (),
    given_absent: Names = (),
    level: float = 0.9,
) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities of many itemsets and the ends of their credible intervals, shape (n,) each.

    Mean and variance are exact for the posterior and cost K steps an itemset; the ends are those of the Beta
    distribution with that mean and variance. Of a conditional probability the variance is that of the ratio
    to first order.

    Parameters
    ----------
    posteriors : Posterior or sequence of Posterior
        The distribution of the parameters; several (the samples of a chain) are averaged.
    itemsets, absent, given, given_absent
        As in `Mixture.probabilities`.
    level : float
        The probability inside the interval, between 0 and 1.
    """
    from scipy.special import betaincinv

    if not 0 < level < 1:
        raise InvalidInputError(f"expected a level between 0 and 1, got {level!r}; try 0.9")
    samples = [posteriors] if isinstance(posteriors, Posterior) else list(posteriors)
    mean, variance = _mean_and_variance(samples, itemsets, absent, given, given_absent)
    spread = (mean > 0) & (mean < 1) & (variance > 1e-14 * mean * mean)
    strength = np.divide(mean * (1 - mean), variance, out=np.full_like(mean, np.inf), where=spread) - 1
    lower, upper = mean.copy(), mean.copy()
    usable = spread & (strength > 0)
    a, b = mean[usable] * strength[usable], (1 - mean[usable]) * strength[usable]
    lower[usable] = betaincinv(a, b, (1 - level) / 2)
    upper[usable] = betaincinv(a, b, (1 + level) / 2)
    return mean, lower, upper


def with_intervals(itemsets: Itemsets, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Itemsets:
    """Return itemsets with the ends of an interval for each support, shape (n,) each."""
    return Itemsets(
        itemsets.offsets,
        itemsets.codes,
        itemsets.support,
        itemsets.items,
        count=itemsets.count,
        n_transactions=itemsets.n_transactions,
        lower=lower,
        upper=upper,
        min_support=itemsets.min_support,
        target=itemsets.target,
        check=False,
    )


def _mean_and_variance(
    samples: Sequence[Posterior],
    itemsets: Itemsets | Iterable[Names],
    absent: Iterable[Names] | None,
    given: Names,
    given_absent: Names,
) -> tuple[Floats, Floats]:
    items = samples[0].items
    present = encode_sets(items, itemsets)
    against = no_sets(len(present[0]) - 1) if absent is None else encode_sets(items, absent)
    condition = items.codes(given), items.codes(given_absent)
    require_consistent(items, present, against, *condition)
    moments = np.mean([p.moments(present, against, *condition) for p in samples], axis=0)
    whole = np.mean([p.moments(no_sets(1), no_sets(1), *condition) for p in samples], axis=0)[0]
    mean_f, mean_g = moments[:, 0], whole[0]
    var_f, var_g = moments[:, 1] - mean_f**2, whole[1] - mean_g**2
    covariance = moments[:, 2] - mean_f * mean_g
    ratio = mean_f / mean_g
    variance = (var_f - 2 * ratio * covariance + ratio**2 * var_g) / mean_g**2
    return ratio, np.maximum(variance, 0.0)
