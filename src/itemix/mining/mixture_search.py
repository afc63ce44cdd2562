"""The search of `mine` in a mixture: a vector of products at each level, in threads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from itemix.kernels import prefix
from itemix.mining.model_search import ModelSearch
from itemix.mining.parallel import Search, assemble_records, readonly_view

if TYPE_CHECKING:
    import numpy.typing as npt

    from itemix.mining.columns import Columns
    from itemix.mining.parallel import Limits
    from itemix.mixture import Mixture


class MixtureSearch(ModelSearch):
    """One search in a mixture."""

    _model: Mixture

    def _joint(self) -> tuple[float, npt.NDArray[np.float64]]:
        self._start = self._model.weights * self._model.probs[:, self._options.include].prod(axis=1)
        return float(self._start.sum()), self._start @ self._model.probs

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: Limits) -> Columns:
        search = Search(self._n_threads, self._on_progress)
        arrays = self._item_joint[order], self._model.probs.T[order], self._start
        tables = tuple(readonly_view(array) for array in arrays)
        queue = np.array([len(order)], dtype=np.int64)
        job = partial(prefix.search, search.shared, limits.as_array(), queue, lowest, *tables)
        parts = search.run([job] * self._n_threads, len(order))
        return assemble_records(search, parts, order, limits.min_len)
