"""Choose how a mixture is corrected, if at all, on held-out halves of the training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.correction.counting import FEWEST, count_sets, likely_sets
from itemix.correction.fitting import MIN_GAIN, fit_correction
from itemix.expectation import Rows, tables_of_mixture
from itemix.mining.search import mine
from itemix.mining.supports import count
from itemix.mixture import Mixture
from itemix.threads import Workers

if TYPE_CHECKING:
    from itemix.model import Model
    from itemix.sets import Sets
    from itemix.transactions import Transactions

Floats = npt.NDArray[np.float64]

ORDERS = (2, 3, 4, 5)
# How much the data has to say before a residual is believed: at once, beyond chance, and then only in part.
_CAUTIONS = ((0.0, 0.0), (0.0, MIN_GAIN), (30.0, MIN_GAIN))
MAX_SIZE = 100_000
_N_JUDGED = 3_000
_N_FREQUENT = 30_000
# A simpler correction is preferred if its error is larger by no more than this much of itself.
_AS_GOOD = 1.005


class Way(NamedTuple):
    """A way to correct: the longest itemsets that count (0: no correction), shrinkage, and least gain."""

    order: int
    shrinkage: float = 0.0
    min_gain: float = 0.0


@dataclass(frozen=True)
class Choice:
    """The ways to correct that were tried, from the simplest to the richest, and what they came to.

    `errors` are the mean relative errors of held-out supports; `excess_variance` is by how much of itself the
    squared error of the best way is larger than that of the other half's counts.
    """

    ways: tuple[Way, ...]
    errors: Floats
    excess: Floats

    @property
    def position(self) -> int:
        """Where the chosen way stands: the first whose error is as good as the lowest."""
        return int(np.flatnonzero(self.errors <= _AS_GOOD * self.errors.min())[0])

    @property
    def best(self) -> Way:
        """The chosen way."""
        return self.ways[self.position]

    @property
    def excess_variance(self) -> float:
        """The excess variance of the chosen way."""
        return float(self.excess[self.position])


def choose(mixture: Mixture, transactions: Transactions, rng: np.random.Generator) -> Choice:
    """Correct by the counts of one half of the data in several ways, and compare with the other half."""
    known, held_out = transactions.split(0.5, random_state=rng)
    judge = _Judge.of(known, held_out, rng)
    plain = _of_part(mixture, known)
    ways, verdicts = [Way(0)], [judge.verdict(plain)]
    for order in ORDERS:
        counted = count_sets(likely_sets(plain, known, order, MAX_SIZE), known)
        for shrinkage, min_gain in _CAUTIONS:
            ways.append(Way(order, shrinkage, min_gain))
            verdicts.append(
                judge.verdict(fit_correction(plain, counted, shrinkage=shrinkage, min_gain=min_gain))
            )
    errors, excess = np.array(verdicts).T
    return Choice(tuple(ways), errors, excess)


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
    """Some frequent itemsets of held-out data, their supports there and in the other half."""

    sets: Sets
    truth: Floats
    counted: Floats
    variance: Floats

    @classmethod
    def of(cls, known: Transactions, held_out: Transactions, rng: np.random.Generator) -> _Judge:
        frequent = mine(held_out, min(2 * FEWEST, held_out.n_transactions), top_k=_N_FREQUENT)
        chosen = np.sort(rng.permutation(len(frequent))[:_N_JUDGED])
        sets, truth = frequent.sets.take(chosen), frequent.support[chosen]
        counted = count(sets, known) / known.n_transactions
        both = 1 / known.n_transactions + 1 / held_out.n_transactions
        middle = (counted + truth) / 2
        return cls(sets, truth, counted, np.maximum(middle * (1 - middle), 1e-12) * both)

    def verdict(self, model: Model) -> tuple[float, float]:
        """Return the mean relative error of a model, and its excess variance over that of counting."""
        if len(self.truth) == 0:
            return 0.0, 0.0
        estimates = model.probabilities_of_codes(self.sets.offsets, self.sets.codes)
        squares = (estimates - self.truth) ** 2 - (self.counted - self.truth) ** 2
        return (
            float(np.mean(np.abs(estimates - self.truth) / self.truth)),
            max(0.0, float(np.mean(squares / self.variance))),
        )
