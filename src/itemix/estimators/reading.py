"""What estimators take: Transactions, lists of names, arrays, sparse matrices and data frames alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from itemix.errors import InvalidInputError
from itemix.transactions import Transactions

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from itemix.items import Items


def read_input(
    estimator: BaseEstimator,
    X: Any,  # noqa: ANN401 - whatever users have
    *,
    items: Items | None = None,
) -> Transactions:
    """Return X as transactions, and let scikit-learn check or learn its features.

    Parameters
    ----------
    estimator : estimator
        Whose features are learned (`items` is None) or checked.
    X : Transactions, list of lists of str, array, sparse matrix or data frame
        The data, binary.
    items : Items, optional
        The fitted model's items, which name the columns of a matrix.
    """
    if _is_lists_of_names(X):
        X = Transactions.from_lists(X) if items is None else _with_items(X, items)
    if isinstance(X, Transactions):
        if items is None:
            estimator.n_features_in_ = X.n_items
            if hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_
        return _not_empty(X)
    reset = items is None
    if hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        frame = Transactions.from_dataframe(X)
        return _not_empty(frame if items is None else frame.rename_items(items))
    matrix = validate_data(estimator, X, reset=reset, accept_sparse=True, dtype="numeric")
    return Transactions.from_matrix(matrix, items=items)


def _is_lists_of_names(X: object) -> bool:
    if not isinstance(X, list | tuple) or not X:
        return False
    first = next((row for row in X if isinstance(row, list | tuple | set | frozenset) and row), None)
    return first is not None and isinstance(next(iter(first)), str)


def _with_items(X: Any, items: Items) -> Transactions:  # noqa: ANN401 - a list of lists
    lengths = [len(row) for row in X]
    codes = [items.code(name) for row in X for name in row]
    return Transactions(np.concatenate([[0], np.cumsum(lengths)]), np.array(codes, dtype=np.int32), items)


def _not_empty(transactions: Transactions) -> Transactions:
    if transactions.n_transactions == 0:
        raise InvalidInputError("expected at least one transaction, got none; check how the data was read")
    if transactions.n_items == 0:
        raise InvalidInputError("expected at least one item, got none; check how the data was read")
    return transactions
