"""The search of `mine` in a mixture, corrected or not: a vector of products at each level, in threads."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from itemix.kernels import prefix
from itemix.mining.model_search import ModelSearch
from itemix.mining.parallel import Search, readonly_view
from itemix.mining.records import Records

if TYPE_CHECKING:
    from itemix.corrected import CorrectedMixture
    from itemix.mining.columns import Columns
    from itemix.mining.parallel import Found, Limits
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
        search = Search(self._n_threads, self._on_progress)
        parts = self._run(search, order, lowest, limits, self._model, None)
        return Records.of(parts, len(order), limits.min_len).columns(search, order)

    def _run(  # noqa: PLR0917 - a search, what it is over, and what for
        self,
        search: Search,
        order: npt.NDArray[np.int32],
        lowest: float,
        limits: Limits,
        mixture: Mixture,
        residuals: Residuals | None,
    ) -> list[Found]:
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
        return search.run([job] * self._n_threads, len(order))


class CorrectedSearch(MixtureSearch):
    """One search in a corrected mixture, of sets that need not hold certain items."""

    _model: CorrectedMixture  # type: ignore[assignment]

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.tilted.weights
        return 1.0, self._model.item_probabilities.copy()

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: Limits) -> Columns:
        model = self._model
        search = Search(self._n_threads, self._on_progress)
        # Sets are lowered to their subsets, so the short ones are needed too.
        every = replace(limits, min_len=1)
        parts = self._run(search, order, lowest, every, model.tilted, model.correction.residuals)
        if model.n_pivots > 0:
            parts = Records.of(parts, len(order), min_len=1).lowered(search, model.n_pivots, lowest)
        return Records.of(parts, len(order), limits.min_len).columns(search, order)


def _trie(ranks: npt.NDArray[np.int32], residuals: Residuals | None) -> Trie:
    """Return the ranks of the items and the residuals below them as the kernel reads them."""
    if residuals is None:
        first, item, shift = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1)
    else:
        (first, item), shift = residuals.trie, residuals.shift
    return readonly_view(ranks), readonly_view(first), readonly_view(item), readonly_view(shift)
