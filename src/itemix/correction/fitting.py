"""Correct a mixture: item frequencies first, then the residuals of short itemsets, by their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.corrected import CorrectedMixture
from itemix.kernels import residuals as kernels
from itemix.kernels import sorting
from itemix.mixture import Mixture
from itemix.residuals import Residuals, Trie

if TYPE_CHECKING:
    from itemix.sets import Sets

# A residual is kept if the data speaks against the model by this much: the log-likelihood ratio, whose mean
# is 1 where the model is right.
MIN_GAIN = 2.0


class SetCounts(NamedTuple):
    """How often some itemsets occur; counts of chunks of the data add up.

    `sets` holds all items alone, and with every set its subsets without one item.
    """

    sets: Sets
    counts: npt.NDArray[np.int64]
    n_transactions: int

    def __add__(self, other: SetCounts) -> SetCounts:  # type: ignore[override]
        """Return the counts of both parts of the data."""
        return SetCounts(self.sets, self.counts + other.counts, self.n_transactions + other.n_transactions)


def with_item_frequencies(mixture: Mixture, counts: npt.NDArray[np.int64], n_transactions: int) -> Mixture:
    """Return the mixture with the log-odds of each item shifted so that its probability is its frequency.

    Items that the data holds always or never are left as they are.
    """
    probs = np.ascontiguousarray(mixture.probs.T)
    for item in np.flatnonzero((counts > 0) & (counts < n_transactions)):
        shift = kernels.solve_shift(mixture.weights, probs[item], 0.0, counts[item] / n_transactions)
        kernels.tilt(probs[item], shift, probs[item])
    return Mixture(mixture.weights, np.clip(probs.T, 0.0, 1.0), mixture.items)


def fit_residuals(
    mixture: Mixture, known: SetCounts, *, shrinkage: float = 0.0, min_gain: float = MIN_GAIN
) -> CorrectedMixture:
    """Return a mixture corrected by the counts of itemsets.

    Parameters
    ----------
    mixture : Mixture
        What to correct; its item probabilities should be the items' frequencies.
    known : SetCounts
        How often itemsets occur.
    shrinkage : float
        For how many observations the model counts against the data, in each conditional frequency.
    min_gain : float
        How large the log-likelihood ratio of a residual is to be; 0 keeps all.
    """
    trie, counts = _as_trie(mixture, known)
    table = np.empty((mixture.n_items, mixture.n_components))
    table[mixture.ranks] = mixture.probs.T
    shift = kernels.fit_shifts(*trie, counts, mixture.weights, table, shrinkage, min_gain)
    return CorrectedMixture(mixture, Residuals(trie, shift).pruned())


def _as_trie(mixture: Mixture, known: SetCounts) -> tuple[Trie, npt.NDArray[np.int64]]:
    """Return the itemsets as a trie by the mixture's ranks, and the count of each node."""
    sets, D = known.sets, mixture.n_items
    lengths = np.diff(sets.offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    ranks = mixture.ranks[sets.codes]
    ranks = ranks[np.lexsort((ranks, owner))]
    order = sorting.colex_order(sets.offsets[1:], ranks, D)
    offsets, ranks = sorting.gather_sets(sets.offsets[1:], ranks, order, np.arange(D, dtype=np.int32))
    counts = np.concatenate([[known.n_transactions], known.counts[order]])
    item = np.concatenate([[-1], ranks[offsets[:-1]]]).astype(np.int32)
    n_children = kernels.count_children(offsets, ranks)
    first = 1 + np.concatenate([[0], np.cumsum(n_children)])
    return Trie(first, item), counts
