"""Choose how a mixture is corrected, if at all, on held-out halves of the training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.correction.counting import FEWEST, count_sets, likely_sets
from itemix.correction.fitting import fit_residuals, with_item_frequencies
from itemix.expectation import Rows, tables_of_mixture
from itemix.mining.search import mine
from itemix.mixture import Mixture
from itemix.threads import Workers

if TYPE_CHECKING:
    from itemix.corrected import CorrectedMixture
    from itemix.model import Model
    from itemix.sets import Sets
    from itemix.transactions import Transactions

Floats = npt.NDArray[np.float64]

ORDERS = (2, 3, 4, 5)
SHRINKAGES = (0.0, 30.0)
MAX_SIZE = 100_000
_N_JUDGED = 3000
_N_FREQUENT = 30_000
# A simpler correction is preferred if its error is larger by no more than this much of itself.
_AS_GOOD = 1.005


@dataclass(frozen=True)
class Candidate:
    """A way to correct: order 0 is none. `error` is the mean relative error of held-out supports."""

    order: int
    shrinkage: float
    error: float


@dataclass(frozen=True)
class Choice:
    """How a mixture is corrected best, and what all the ways came to."""

    candidates: tuple[Candidate, ...]
    excess_variance: float

    @property
    def best(self) -> Candidate:
        """The first candidate whose error is as good as the lowest one; they go from simple to rich."""
        lowest = min(candidate.error for candidate in self.candidates)
        return next(c for c in self.candidates if c.error <= _AS_GOOD * lowest)


def choose(mixture: Mixture, transactions: Transactions, rng: np.random.Generator) -> Choice:
    """Correct by the counts of one half of the data in several ways, and compare with the other half."""
    known, held_out = transactions.split(0.5, random_state=rng)
    sets, truth = _judged(held_out, rng)
    plain = _of_half(mixture, known)
    candidates = [Candidate(0, 0.0, _error(plain, sets, truth))]
    for order in ORDERS:
        for shrinkage in SHRINKAGES:
            model = correct(plain, known, order, shrinkage)
            candidates.append(Candidate(order, shrinkage, _error(model, sets, truth)))
    return Choice(tuple(candidates), 0.0)


def correct(
    mixture: Mixture, transactions: Transactions, order: int, shrinkage: float, max_size: int = MAX_SIZE
) -> CorrectedMixture:
    """Return a mixture corrected by the counts of itemsets of up to `order` items."""
    tilted = with_item_frequencies(mixture, transactions.item_counts(), transactions.n_transactions)
    sets = likely_sets(tilted, transactions, order, max_size)
    return fit_residuals(tilted, count_sets(sets, transactions), shrinkage=shrinkage)


def _of_half(mixture: Mixture, transactions: Transactions) -> Mixture:
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


def _judged(held_out: Transactions, rng: np.random.Generator) -> tuple[Sets, Floats]:
    """Return some of the frequent itemsets of held-out data, with their supports."""
    frequent = mine(held_out, min(2 * FEWEST, held_out.n_transactions), top_k=_N_FREQUENT)
    chosen = np.sort(rng.permutation(len(frequent))[:_N_JUDGED])
    return frequent.sets.take(chosen), frequent.support[chosen]


def _error(model: Model, sets: Sets, truth: Floats) -> float:
    estimates = model.probabilities_of_codes(sets.offsets, sets.codes)
    return float(np.mean(np.abs(estimates - truth) / truth))
