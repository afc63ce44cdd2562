"""The search of `mine` in a mixture, corrected or not: a vector of products at each level, in threads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.kernels.mining import prefix
from itemix.kernels.mining.prefix import PathShifts, RankedMixture
from itemix.kernels.models.corrected import ShiftTrie
from itemix.mining.model import ModelSearch
from itemix.mining.parallel import Search, readonly_view
from itemix.mining.records import Records

if TYPE_CHECKING:
    from itemix.kernels.mining.control import SearchLimits
    from itemix.kernels.mining.eclat import ThreadRecords
    from itemix.mining.columns import Columns
    from itemix.models.corrected import CorrectedMixture
    from itemix.models.mixture import Mixture
    from itemix.models.residuals import Residuals


class MixtureSearch(ModelSearch):
    """One search in a mixture."""

    _model: Mixture

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.weights * self._model.probs[:, self._options.include].prod(axis=1)
        return float(self._start.sum()), self._start @ self._model.probs

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> Columns:
        search = Search(self._n_threads, self._on_progress)
        parts = self._run(search, order, lowest, limits, self._model, None)
        return Records.of(parts, len(order), limits.min_len).columns(search, order)

    def _run(  # noqa: PLR0917 - a search, what it is over, and what for
        self,
        search: Search,
        order: npt.NDArray[np.int32],
        lowest: float,
        limits: SearchLimits,
        mixture: Mixture,
        residuals: Residuals | None,
    ) -> list[ThreadRecords]:
        arrays = self._start, mixture.probs.T[order], self._item_joint[order]
        ranked = RankedMixture(*map(readonly_view, arrays))
        shifts = _path_shifts(mixture.ranks[order], residuals)
        queue = np.array([len(order)], dtype=np.int64)
        job = partial(prefix.search, search.shared, limits, queue, lowest, ranked, shifts)
        return search.run([job] * self._n_threads, len(order))


class CorrectedSearch(MixtureSearch):
    """One search in a corrected mixture, of sets that need not hold certain items."""

    _model: CorrectedMixture  # type: ignore[assignment]

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.tilted.weights
        return 1.0, self._model.item_probabilities.copy()

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> Columns:
        model = self._model
        search = Search(self._n_threads, self._on_progress)
        # Sets are lowered to their subsets, so the short ones are needed too.
        every = limits._replace(min_len=1)
        parts = self._run(search, order, lowest, every, model.tilted, model.correction.residuals)
        if model.n_pivots > 0:
            parts = Records.of(parts, len(order), min_len=1).lowered(search, model.n_pivots, lowest)
        return Records.of(parts, len(order), limits.min_len).columns(search, order)


def _path_shifts(ranks: npt.NDArray[np.int32], residuals: Residuals | None) -> PathShifts:
    """Return the ranks of the items and the residuals below them as the kernel reads them."""
    if residuals is None:
        trie, n_pivots = ShiftTrie(np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1)), 0
    else:
        trie, n_pivots = residuals.shift_trie, residuals.order - 1
    return PathShifts(readonly_view(ranks), ShiftTrie(*map(readonly_view, trie)), n_pivots)
