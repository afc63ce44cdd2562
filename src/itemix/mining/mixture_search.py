"""The search of `mine` in a mixture, corrected or not: a vector of products at each level, in threads."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from itemix.kernels import lattice, prefix
from itemix.lowering import lower_to_subsets
from itemix.mining.columns import Columns
from itemix.mining.model_search import ModelSearch
from itemix.mining.parallel import Search, assemble_records, readonly_view
from itemix.threads import Workers

if TYPE_CHECKING:
    from itemix.corrected import CorrectedMixture
    from itemix.mining.parallel import Limits
    from itemix.mixture import Mixture
    from itemix.residuals import Residuals


Trie: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]


class MixtureSearch(ModelSearch):
    """One search in a mixture."""

    _model: Mixture

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.weights * self._model.probs[:, self._options.include].prod(axis=1)
        return float(self._start.sum()), self._start @ self._model.probs

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: Limits) -> Columns:
        return self._run(order, lowest, limits, self._model, None)

    def _run(
        self,
        order: npt.NDArray[np.int32],
        lowest: float,
        limits: Limits,
        mixture: Mixture,
        residuals: Residuals | None,
    ) -> Columns:
        search = Search(self._n_threads, self._on_progress)
        job = partial(
            prefix.search,
            search.shared,
            limits.as_array(),
            np.array([len(order)], dtype=np.int64),
            lowest,
            readonly_view(self._item_joint[order]),
            readonly_view(mixture.probs.T[order]),
            readonly_view(self._start),
            _trie(mixture.ranks[order], residuals),
            0 if residuals is None else residuals.order - 1,
        )
        parts = search.run([job] * self._n_threads, len(order))
        return assemble_records(search, parts, order, limits.min_len)


class CorrectedSearch(MixtureSearch):
    """One search in a corrected mixture, of sets that need not hold certain items."""

    _model: CorrectedMixture  # type: ignore[assignment]

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.tilted.weights
        return 1.0, self._model.item_probabilities.copy()

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: Limits) -> Columns:
        model = self._model
        # Sets are lowered to their subsets, so the short ones are needed too.
        found = self._run(order, lowest, replace(limits, min_len=1), model.tilted, model.correction.residuals)
        if model.n_pivots == 0:
            return found.take(np.flatnonzero(found.lengths >= limits.min_len))
        with Workers(self._n_threads) as workers:
            sets = found.offsets, found.codes, model.ranks
            low = lower_to_subsets(*sets, found.values, model.n_pivots, workers)
        n_kept = lattice.compact_sets(found.offsets, found.codes, low, lowest)
        n_codes = int(found.offsets[n_kept])
        kept = Columns(found.offsets[: n_kept + 1], found.codes[:n_codes], low[:n_kept])
        return kept if limits.min_len == 1 else kept.take(np.flatnonzero(kept.lengths >= limits.min_len))


def _trie(ranks: npt.NDArray[np.int32], residuals: Residuals | None) -> Trie:
    """Return the ranks of the items and the residuals below them as the kernel reads them."""
    if residuals is None:
        first, item, shift = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1)
    else:
        (first, item), shift = residuals.trie, residuals.shift
    return readonly_view(ranks), readonly_view(first), readonly_view(item), readonly_view(shift)
