"""EM for the Bernoulli mixture (Algorithm 1 and the appendix of the paper).

The state is the Counts of the last E-step. The M-step is eqs. pi and phi. A component that has lost all its
transactions keeps weight zero, and the items' overall frequencies as its probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itemix.inference.loop import Fitted, Info
from itemix.models.counts import Rows, tables_of_mixture
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix._typing import Floats
    from itemix.models.counts import Counts


@dataclass(frozen=True)
class EM:
    """Maximum likelihood by expectation and maximisation.

    Attributes
    ----------
    rows : Rows
        The data.
    start : callable
        Returns the first Counts from a random generator.
    """

    rows: Rows
    start: Callable[[np.random.Generator], Counts]

    def init(self, rng: np.random.Generator) -> Counts:
        """Return the first counts."""
        return self.start(rng)

    def step(self, state: Counts) -> tuple[Counts, Info]:
        """Do an M-step and an E-step; the bound is the log-likelihood of the M-step's mixture."""
        weights, probs = maximise(state)
        tables = tables_of_mixture(weights, probs, self.rows.flipped, self.rows.workers)
        counts, bound = self.rows.expected_counts(tables)
        return counts, Info(bound, int(np.count_nonzero(state.sizes)))

    def measured(self, state: Counts) -> Counts:
        """Return the state as it is: EM does not measure how sure its counts are."""
        return state

    def state_of(self, counts: Counts) -> Counts:
        """Return the state that continues from counts."""
        return counts

    def finish(self, state: Counts) -> Fitted:
        """Return the mixture of the last counts."""
        weights, probs = maximise(state)
        return Fitted(Mixture(weights, probs.T, self.rows.items), state)


def maximise(counts: Counts) -> tuple[Floats, Floats]:
    """Return weights (K,) and item-major probabilities (D, K) (eqs. pi and phi)."""
    weights = counts.sizes / counts.n_transactions
    held = counts.item_counts.T
    overall = held.sum(axis=1, keepdims=True) / counts.n_transactions
    empty = counts.sizes == 0
    probs = held / np.where(empty, 1.0, counts.sizes)
    probs[:, empty] = overall
    return weights, np.clip(probs, 0.0, 1.0, out=probs)
