"""Correct a mixture: item frequencies first, then the residuals of short itemsets, by their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.kernels import sorting
from itemix.kernels.models import corrected as kernels
from itemix.models.corrected import CorrectedMixture, Correction
from itemix.models.residuals import Residuals, Trie

if TYPE_CHECKING:
    from itemix.core.sets import Sets
    from itemix.models.mixture import Mixture

Floats = npt.NDArray[np.float64]


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


def item_shifts(mixture: Mixture, counts: npt.NDArray[np.int64], n_transactions: int) -> Floats:
    """Return the shifts of log-odds under which each item's probability is its frequency, shape (n_items,).

    Items that the data holds always or never are left as they are.
    """
    shifts = np.zeros(mixture.n_items)
    probs = np.ascontiguousarray(mixture.probs.T)
    for item in np.flatnonzero((counts > 0) & (counts < n_transactions)):
        shifts[item] = kernels.solve_shift(mixture.weights, probs[item], 0.0, counts[item] / n_transactions)
    return shifts


def with_item_frequencies(mixture: Mixture, counts: npt.NDArray[np.int64], n_transactions: int) -> Mixture:
    """Return a mixture in which the probability of each item is its frequency in the data."""
    shifts = item_shifts(mixture, counts, n_transactions)
    return Correction(shifts, Residuals.of_nothing(mixture.n_items), n_transactions).tilted(mixture)


def fit_correction(mixture: Mixture, known: SetCounts, *, shrinkage: float = 0.0) -> CorrectedMixture:
    """Return a mixture corrected by the counts of itemsets.

    Parameters
    ----------
    mixture : Mixture
        What to correct.
    known : SetCounts
        How often itemsets occur.
    shrinkage : float
        For how many observations the model counts against the data, in each conditional frequency.
    """
    is_single = np.diff(known.sets.offsets) == 1
    item_counts = np.zeros(mixture.n_items, dtype=np.int64)
    item_counts[known.sets.codes[known.sets.offsets[:-1][is_single]]] = known.counts[is_single]
    shifts = item_shifts(mixture, item_counts, known.n_transactions)
    nothing = Residuals.of_nothing(mixture.n_items)
    tilted = Correction(shifts, nothing, known.n_transactions).tilted(mixture)
    trie, counts = _as_trie(tilted, known)
    table = np.empty((tilted.n_items, tilted.n_components))
    table[tilted.ranks] = tilted.probs.T
    shift = kernels.fit_shifts(*trie, counts, tilted.weights, table, shrinkage)
    residuals = Residuals(trie, shift).pruned()
    return CorrectedMixture(mixture, Correction(shifts, residuals, known.n_transactions))


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
