"""Choose how a mixture is corrected, if at all, on held-out halves of the training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.correction.counting import FEWEST, count_sets, families
from itemix.correction.fitting import fit_correction
from itemix.mining.mine import mine
from itemix.mining.supports import count
from itemix.models.expectation import Rows, tables_of_mixture
from itemix.models.mixture import Mixture
from itemix.threads import Workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.core.itemsets import Itemsets
    from itemix.core.sets import Sets
    from itemix.core.transactions import Transactions
    from itemix.models.base import Model

Floats = npt.NDArray[np.float64]

ORDERS = (2, 3, 4, 5)
# How far residuals are believed: as if the model had been seen to be right so many times, or at once.
_SHRINKAGES = (30.0, 0.0)
# Halves of the data cannot tell ways apart whose errors differ by less; with all of it richer ones gain most.
_AS_GOOD = 1.02
MAX_SIZE = 100_000
_N_HALVINGS = 3
# With so many transactions one division into halves tells enough.
_PLENTY = 20_000
_N_COUNTED = 30_000
_N_JUDGED = 2_000
_N_FREQUENT = 300_000


class Way(NamedTuple):
    """A way to correct: the longest itemsets that count (0: no correction), and shrinkage."""

    order: int
    shrinkage: float = 0.0


_WAYS = (Way(0), *(Way(order, shrinkage) for order in ORDERS for shrinkage in _SHRINKAGES))


@dataclass(frozen=True)
class Choice:
    """The ways to correct that were tried, and what came of them.

    Attributes
    ----------
    ways : tuple of Way
        How many items the itemsets had, and how they were shrunk, of each way; the richer ones later.
    errors : array of float, shape (n,)
        The root mean squared relative errors to be expected of supports, with all of the data.
    excess : array of float, shape (n,)
        By how much the squared errors exceed the variance of counts, in units of it.
    """

    ways: tuple[Way, ...]
    errors: Floats
    excess: Floats

    @property
    def position(self) -> int:
        """Where the chosen way stands: the richest one whose error is as good as the lowest."""
        return int(np.flatnonzero(self.errors <= _AS_GOOD * self.errors.min())[-1])

    @property
    def best(self) -> Way:
        """The chosen way."""
        return self.ways[self.position]

    @property
    def excess_variance(self) -> float:
        """The excess variance of the chosen way."""
        return float(self.excess[self.position])


def choose(mixture: Mixture, transactions: Transactions, rng: np.random.Generator) -> Choice:
    """Correct by the counts of each half of the data in several ways, and compare with the other half.

    Where no itemset is frequent enough to be judged by, only the mixture as it is can be chosen.
    """
    frequent = mine(transactions, 4 * FEWEST, top_k=_N_FREQUENT)
    if len(frequent) == 0:
        return Choice(_WAYS[:1], np.zeros(1), np.zeros(1))
    n_halvings = _N_HALVINGS if transactions.n_transactions < _PLENTY else 1
    halvings = [_verdicts(mixture, transactions, frequent, rng) for _ in range(n_halvings)]
    errors, excess = np.maximum(np.mean(halvings, axis=0), 0.0).T
    return Choice(_WAYS, np.sqrt(errors), excess)


def _verdicts(
    mixture: Mixture, transactions: Transactions, frequent: Itemsets, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Return what each way to correct comes to with one division into halves."""
    halves = transactions.split(0.5, random_state=rng)
    judge = _Judge.of(frequent, halves, rng)
    plain = [_of_part(mixture, half) for half in halves]
    likely = [families(own, half, ORDERS, _N_COUNTED) for own, half in zip(plain, halves, strict=True)]
    verdicts = [judge.verdict(plain)]
    for order in ORDERS:
        counted = [count_sets(sets[order], half) for sets, half in zip(likely, halves, strict=True)]
        for shrinkage in _SHRINKAGES:
            pairs = zip(plain, counted, strict=True)
            models = [fit_correction(own, known, shrinkage=shrinkage) for own, known in pairs]
            verdicts.append(judge.verdict(models))
    return verdicts


def _of_part(mixture: Mixture, transactions: Transactions) -> Mixture:
    """Return the mixture with its parameters estimated anew from a part of the data it was fitted to.

    Otherwise it would know the held-out part, and no correction by the other part could be better.
    """
    with Workers(1) as workers:
        rows = Rows(transactions, workers)
        probs = np.ascontiguousarray(mixture.probs.T)
        counts, _ = rows.expected_counts(tables_of_mixture(mixture.weights, probs, rows.flipped))
    # Each component brings itself along as one transaction, so that none is left without any.
    sizes = counts.sizes + 1.0
    return Mixture(
        sizes / sizes.sum(),
        np.clip((counts.item_counts + mixture.probs) / sizes[:, None], 0.0, 1.0),
        mixture.items,
    )


class _Judge(NamedTuple):
    """Some frequent itemsets, with their supports in all of the data and in each half."""

    sets: Sets
    support: Floats
    halves: Floats
    n_transactions: int

    @classmethod
    def of(cls, frequent: Itemsets, halves: Sequence[Transactions], rng: np.random.Generator) -> _Judge:
        chosen = np.sort(rng.permutation(len(frequent))[:_N_JUDGED])
        sets = frequent.sets.take(chosen)
        counted = [count(sets, half) / half.n_transactions for half in halves]
        n_transactions = sum(half.n_transactions for half in halves)
        return cls(sets, frequent.support[chosen], np.array(counted), n_transactions)

    def verdict(self, models: Sequence[Model]) -> tuple[float, float]:
        """Return the mean squared relative error and the excess variance of models like the halves' ones."""
        estimates = np.array([m.probabilities_of_codes(self.sets.offsets, self.sets.codes) for m in models])
        own, counts = self._squares(estimates), self._squares(self.halves)
        variance = np.maximum(self.support * (1 - self.support), 1e-12) / self.n_transactions
        excess = float(np.mean((own - counts) / variance))
        # Counts of all data have just the variance of a frequency; what they seem to have more is chance.
        return float(np.mean((own - counts + variance) / self.support**2)), excess

    def _squares(self, estimates: Floats) -> Floats:
        """Return the squared errors of estimates to be expected with all of the data, up to a constant.

        Those of each half are taken against the other. Of the variance among the halves' estimates, half of
        the square of their difference, all of the data leaves half.
        """
        across = ((estimates - self.halves[::-1]) ** 2).mean(axis=0)
        among = (estimates[0] - estimates[1]) ** 2 / 2
        squares: Floats = across - among / 2
        return squares
