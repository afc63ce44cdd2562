"""Trees as log-linear sums over the items of a row, which is how rows are scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.kernels.models import trees

if TYPE_CHECKING:
    from itemix.core.transactions import Transactions

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


class TreeTables(NamedTuple):
    """The trees as log-linear sums over the items of a row: see `itemix.kernels.models.trees.row_scores`.

    Attributes
    ----------
    base : array, shape (n_components,)
        The log-weight and the log-probability of the empty row.
    single, pair : arrays, shape (n_items, n_components)
        What an item adds, and what it adds together with its parent.
    parent : array of int, shape (n_items, n_components)
        The parents; n_items where there is none.
    """

    base: Floats
    single: Floats
    pair: Floats
    parent: Codes


Sums = tuple[TreeTables, TreeTables | None]


def shares(data: Transactions, first: int, tables: Sums, values: Floats) -> Floats:
    """Return the responsibilities of the rows from `first` on, and write their log-probabilities to `values`.

    Parameters
    ----------
    data : Transactions
        The rows.
    first : int
        The first row; `values` says how many.
    tables : tuple of TreeTables
        What `tables_of_trees` has returned.
    values : array, shape (n,)
        Is written.
    """
    finite, zeros = tables
    scores = np.empty((len(values), len(finite.base)))
    trees.row_scores(data.indptr, data.indices, first, *finite, scores)
    if zeros is not None:
        excluded = np.empty_like(scores)
        trees.row_scores(data.indptr, data.indices, first, *zeros, excluded)
        scores[excluded > 0.5] = -np.inf
    trees.share_rows(scores, values)
    return scores


def tables_of_trees(weights: Floats, parents: Codes, probs: Floats) -> Sums:
    """Return the trees as log-linear sums: of the finite terms, and of the number of factors that are zero.

    The second are None where no probability is 0 or 1.
    """
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
        present, absent = np.log(probs), np.log1p(-probs)
    extreme = (probs == 0) | (probs == 1)
    if not extreme.any():
        return _log_linear(log_weights, parents, present, absent), None
    finite = (np.where(np.isneginf(values), 0.0, values) for values in (present, absent))
    zeros = (np.isneginf(values).astype(np.float64) for values in (present, absent))
    return (
        _log_linear(log_weights, parents, *finite),
        _log_linear(np.zeros_like(log_weights), parents, *zeros),
    )


def _log_linear(start: Floats, parents: Codes, present: Floats, absent: Floats) -> TreeTables:
    """Return the sums over a row's items of terms that stand for each item present and absent (K, D, 2)."""
    K, D = parents.shape
    single = present[:, :, 0] - absent[:, :, 0]
    k, i = np.nonzero(parents >= 0)
    p = parents[k, i]
    # A parent that is present changes the term of each of its children, absent ones too.
    change = (absent[:, :, 1] - absent[:, :, 0])[k, i]
    single += np.bincount(k * D + p, weights=change, minlength=K * D).reshape(K, D)
    pair = np.zeros((K, D))
    pair[k, i] = (present[:, :, 1] - present[:, :, 0])[k, i] - change
    return TreeTables(
        start + absent[:, :, 0].sum(axis=1),
        np.ascontiguousarray(single.T),
        np.ascontiguousarray(pair.T),
        np.ascontiguousarray(np.where(parents >= 0, parents, D).T.astype(np.int32)),
    )
