"""First responsibilities for EM of trees: of a mixture without trees, spread-out seeds, labels or a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.inference.em import EM
from itemix.inference.loop import Settings, run
from itemix.inference.start import random_labels, require_components, seeded_labels, starter
from itemix.kernels import csr
from itemix.models.events import require_same_items
from itemix.models.expectation import Rows
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.inference.tree_mixture import Start
    from itemix.inference.tree_rows import TreeRows

METHODS = ("mixture", "k-means++", "random")
_SOFTNESS = 0.2
_BERNOULLI = Settings(max_iter=30, tol=1e-3)

Floats = npt.NDArray[np.float64]
Init = str | Mixture | TreeMixture


def tree_starter(init: Init, rows: TreeRows, n_components: int) -> Start:
    """Return the function that makes first responsibilities from a random generator.

    Parameters
    ----------
    init : {"mixture", "k-means++", "random"}, Mixture or TreeMixture
        A Bernoulli mixture fitted by a few iterations of EM, spread-out transactions, random labels, or a
        model of as many components.
    rows : TreeRows
        The data.
    n_components : int
        The number of components.

    Raises
    ------
    InvalidInputError
        If `init` is none of these, or does not fit the data.
    """
    if isinstance(init, Mixture | TreeMixture):
        _check_model(init, rows, n_components)
        return lambda _: _of_model(init, rows)
    if init == "mixture":
        return lambda rng: _of_model(_bernoulli(rows, n_components, rng), rows)
    if init == "k-means++":
        return lambda rng: _of_labels(seeded_labels(rows.merged, n_components, rng), n_components)
    if init == "random":
        return lambda rng: _of_labels(random_labels(rows.merged.n_rows, n_components, rng), n_components)
    raise InvalidInputError(
        f"expected init to be one of {list(METHODS)}, a Mixture or a TreeMixture, got {init!r}; try 'mixture'"
    )


def _check_model(model: Mixture | TreeMixture, rows: TreeRows, n_components: int) -> None:
    require_same_items(model.items, rows.merged.items)
    require_components(model, n_components)


def _bernoulli(rows: TreeRows, n_components: int, rng: np.random.Generator) -> Mixture:
    data = Rows(rows.merged, rows.workers)
    algorithm = EM(data, starter("k-means++", rows.merged, data, n_components))
    result = run(algorithm, rows.n_transactions, _BERNOULLI, rng)
    if result.interrupted:
        raise KeyboardInterrupt
    return algorithm.finish(result.state).mixture


def _of_model(model: Mixture | TreeMixture, rows: TreeRows) -> Callable[[int, int], Floats]:
    def shares(first: int, last: int) -> Floats:
        taken = csr.gather_rows(rows.merged.indptr, rows.merged.indices, np.arange(first, last))
        return model.responsibilities(Transactions.from_canonical(*taken, rows.merged.items))

    return shares


def _of_labels(labels: npt.NDArray[np.int64], n_components: int) -> Callable[[int, int], Floats]:
    """Most of a row goes to the component of its label, the rest to all."""

    def shares(first: int, last: int) -> Floats:
        resp = np.full((last - first, n_components), _SOFTNESS / n_components)
        resp[np.arange(last - first), labels[first:last]] += 1.0 - _SOFTNESS
        return resp

    return shares
