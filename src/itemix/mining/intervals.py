"""Intervals of probabilities: from the posterior of the parameters, or from the counts of a correction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from itemix._checks import check_level, check_whole
from itemix.core.itemsets import Itemsets
from itemix.models.base import Names, encode_absent, encode_sets, no_sets, require_consistent
from itemix.models.corrected import CorrectedMixture
from itemix.models.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from itemix._typing import Floats

ErrorSource: TypeAlias = "Posterior | Sequence[Posterior] | CorrectedMixture"

# A relative variance up to this is rounding: the probability is certain.
_ROUNDING = 1e-13
# The least a + b of a Beta. A variance that is too large for any Beta would ask for less.
_WEAKEST = 1e-9
# The least parameter of a Beta that is not too skewed, see `ends`.
_SKEWED = 0.2
# If b is more than this many times a, it makes no difference how much more, see `_beta_quantile`.
_FAR = 1e12


class Interval(NamedTuple):
    """A probability with the ends of its credible interval.

    Attributes
    ----------
    probability : float
        The expected probability.
    lower : float
        The lower end of the interval.
    upper : float
        The upper end of the interval.
    """

    probability: float
    lower: float
    upper: float


def interval(
    source: ErrorSource,
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
    source: ErrorSource,
    itemsets: Itemsets | Iterable[Names],
    *,
    absent: Iterable[Names] | None = None,
    given: Names = (),
    given_absent: Names = (),
    level: float = 0.9,
    n_transactions: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities of many itemsets and the ends of their credible intervals, shape (n,) each.

    Mean and variance are exact for the posterior and cost K steps for each itemset. The ends are those of the
    Beta distribution with that mean and variance, moved outwards if the mean would lie outside. The variance
    of a conditional probability is that of the ratio to first order. It is never more than the variance of
    the item's probability in a component that is known only as far as the condition tells. A corrected
    mixture is as sure as its transactions and what the mixture is worth: its probabilities have exactly the
    Beta distribution of a Dirichlet process.

    Parameters
    ----------
    source : Posterior, sequence of Posterior or CorrectedMixture
        The distribution of the parameters; several (the samples of a chain) are averaged.
    itemsets, absent, given, given_absent
        As in `Mixture.probabilities`.
    level : float
        The probability inside the interval, between 0 and 1.
    n_transactions : int, optional
        If given, the intervals are those of the frequency in this many new transactions, which also varies by
        chance, and not those of the probability itself.

    Raises
    ------
    InvalidInputError
        If a number is out of its range, an item is both present and absent, or the condition is impossible.
    UnknownItemError
        If a name is not one of the items.
    """
    level = check_level(level, 0.9)
    if n_transactions is not None:
        n_transactions = check_whole("n_transactions", n_transactions, 1000, least=1)
    mean, spread = moments(source, itemsets, absent, given, given_absent)
    if n_transactions is not None:
        spread = spread + _of_one_transaction(mean) / n_transactions
    return mean, *ends(mean, spread, level)


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


def moments(
    source: ErrorSource,
    itemsets: Itemsets | Iterable[Names],
    absent: Iterable[Names] | None = None,
    given: Names = (),
    given_absent: Names = (),
) -> tuple[Floats, Floats]:
    """Return probabilities and their relative variances, shape (n,) each; parameters as in `intervals`."""
    if isinstance(source, CorrectedMixture):
        return _of_counts(source, itemsets, absent, given, given_absent)
    samples = [source] if isinstance(source, Posterior) else list(source)
    return _of_posteriors(samples, itemsets, absent, given, given_absent)


def ends(mean: Floats, spread: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of probabilities with these means and relative variances."""
    lower, upper = mean.copy(), mean.copy()
    unsure = np.flatnonzero((mean > 0) & (mean < 1) & (spread > _ROUNDING))
    strength = np.maximum(_of_one_transaction(mean[unsure]) / spread[unsure] - 1, _WEAKEST)
    # A Beta that is more skewed than this has its mean in one tail, and its other tail shrinks. So the ends
    # are at least as far out as those of a Beta with the same mean that is just not too skewed.
    least = _SKEWED / np.minimum(mean, 1 - mean)[unsure]
    skewed = strength < least
    for where, s in ((unsure, strength), (unsure[skewed], least[skewed])):
        a, b = mean[where] * s, (1 - mean[where]) * s
        lower[where] = np.minimum(lower[where], _beta_quantile(a, b, (1 - level) / 2))
        upper[where] = np.maximum(upper[where], _beta_quantile(a, b, (1 + level) / 2))
    return lower, upper


def _beta_quantile(a: Floats, b: Floats, q: float) -> Floats:
    from scipy.special import betaincinv

    # With b so far above a, b times a Beta is a Gamma variable whatever b is, and SciPy reaches its limits.
    largest = np.minimum(b, _FAR * np.maximum(a, 1.0))
    found = betaincinv(a, largest, q)
    # SciPy returns the smallest normal number for everything below it.
    found[found <= np.finfo(np.float64).tiny] = 0.0
    ends: Floats = found * (largest / b)
    return ends


def _of_one_transaction(mean: Floats) -> Floats:
    """Return the relative variance of an event in one transaction, the most that a probability can have."""
    return np.divide(1 - mean, mean, out=np.zeros_like(mean), where=mean > 0)


def _of_counts(
    model: CorrectedMixture,
    itemsets: Itemsets | Iterable[Names],
    absent: Iterable[Names] | None,
    given: Names,
    given_absent: Names,
) -> tuple[Floats, Floats]:
    """Return probabilities and their relative variances: those of a Beta distribution."""
    mean = model.probabilities(itemsets, absent=absent, given=given, given_absent=given_absent)
    n = model.n_seen * model.probability(given, absent=given_absent)
    return mean, _of_one_transaction(mean) / (n + 1)


def _of_posteriors(
    samples: Sequence[Posterior],
    itemsets: Itemsets | Iterable[Names],
    absent: Iterable[Names] | None,
    given: Names,
    given_absent: Names,
) -> tuple[Floats, Floats]:
    """Return expected probabilities and their relative variances (see docs/equations.md)."""
    items = samples[0].items
    present = encode_sets(items, itemsets)
    against = encode_absent(items, absent, len(present[0]) - 1)
    condition = items.codes(given), items.codes(given_absent)
    require_consistent(items, present, against, *condition)
    f, ff, fg, h = _averaged([p.log_moments(present, against, *condition) for p in samples]).T
    g, gg = _averaged([p.log_moments(no_sets(1), no_sets(1), *condition) for p in samples])[0, :2]
    of_ratio = np.exp(ff - 2 * f) - 2 * np.exp(fg - f - g) + np.exp(gg - 2 * g)
    of_component = np.expm1(h + g - 2 * f)
    return np.minimum(np.exp(f - g), 1.0), np.minimum(of_ratio, of_component)


def _averaged(logs: list[Floats]) -> Floats:
    """Return the logarithm of the average of numbers, given their logarithms."""
    average: Floats = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    return average
