"""Intervals of probabilities: from the posterior of the parameters, or from the counts of a correction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from itemix.checks import check_number, check_whole
from itemix.corrected import CorrectedMixture
from itemix.errors import InvalidInputError
from itemix.events import Names, encode_absent, encode_sets, no_sets, require_consistent
from itemix.itemsets import Itemsets
from itemix.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Floats = npt.NDArray[np.float64]
Source: TypeAlias = "Posterior | Sequence[Posterior] | CorrectedMixture"


class Interval(NamedTuple):
    """A probability with the ends of its credible interval."""

    probability: float
    lower: float
    upper: float


def interval(
    source: Source,
    itemset: Names,
    *,
    absent: Names = (),
    given: Names = (),
    given_absent: Names = (),
    level: float = 0.9,
    n_transactions: int | None = None,
) -> Interval:
    """Return the probability of an itemset with its credible interval; parameters as in `intervals`."""
    condition = {"given": given, "given_absent": given_absent}
    found = intervals(
        source, [itemset], absent=[absent], **condition, level=level, n_transactions=n_transactions
    )
    return Interval(*(float(column[0]) for column in found))


def intervals(
    source: Source,
    itemsets: Itemsets | Iterable[Names],
    *,
    absent: Iterable[Names] | None = None,
    given: Names = (),
    given_absent: Names = (),
    level: float = 0.9,
    n_transactions: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities of many itemsets and the ends of their credible intervals, shape (n,) each.

    Mean and variance are exact for the posterior and cost K steps an itemset; the ends are those of the Beta
    distribution with that mean and variance. Of a conditional probability the variance is that of the ratio
    to first order. A corrected mixture is as sure as the counts behind it: its variance is that of a
    frequency in as many transactions, and what its estimates of held-out data were off beyond that.

    Parameters
    ----------
    source : Posterior, sequence of Posterior or CorrectedMixture
        The distribution of the parameters; several (the samples of a chain) are averaged.
    itemsets, absent, given, given_absent
        As in `Mixture.probabilities`.
    level : float
        The probability inside the interval, between 0 and 1.
    n_transactions : int, optional
        Give intervals of the frequency in so many new transactions, which differs by chance too, rather than
        of the probability itself.
    """
    from scipy.special import betaincinv

    if not 0 < check_number("level", level, 0.9) < 1:
        raise InvalidInputError(f"expected a level between 0 and 1, got {level!r}; try 0.9")
    if n_transactions is not None:
        n_transactions = check_whole("n_transactions", n_transactions, 1000, least=1)
    if isinstance(source, CorrectedMixture):
        mean, variance = _of_counts(source, itemsets, absent, given, given_absent)
    else:
        samples = [source] if isinstance(source, Posterior) else list(source)
        mean, variance = _mean_and_variance(samples, itemsets, absent, given, given_absent)
    if n_transactions is not None:
        variance = variance + mean * (1 - mean) / n_transactions
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


def _of_counts(
    model: CorrectedMixture,
    itemsets: Itemsets | Iterable[Names],
    absent: Iterable[Names] | None,
    given: Names,
    given_absent: Names,
) -> tuple[Floats, Floats]:
    mean = model.probabilities(itemsets, absent=absent, given=given, given_absent=given_absent)
    n = model.correction.n_transactions * model.probability(given, absent=given_absent)
    return mean, mean * (1 - mean) * (1 + model.correction.excess_variance) / n


def _mean_and_variance(
    samples: Sequence[Posterior],
    itemsets: Itemsets | Iterable[Names],
    absent: Iterable[Names] | None,
    given: Names,
    given_absent: Names,
) -> tuple[Floats, Floats]:
    items = samples[0].items
    present = encode_sets(items, itemsets)
    against = encode_absent(items, absent, len(present[0]) - 1)
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
