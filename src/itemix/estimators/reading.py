"""What estimators take: Transactions, lists of names, arrays, sparse matrices and data frames alike."""

from __future__ import annotations

import os
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from itemix.core.encoding import as_array
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from itemix.core.items import Items

_EMPTY = "expected at least one {0}, got {1} while a minimum of 1 is required; check how the data was read"


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
        lists = Transactions.from_lists(X)
        X = lists if items is None else lists.align_items(items)
    if isinstance(X, Transactions):
        if items is None:
            estimator.n_features_in_ = X.n_items
            if hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_
        return _not_empty(X)
    if isinstance(X, list | tuple) and not X:
        raise InvalidInputError(_EMPTY.format("transaction", "none"))
    reset = items is None
    if X is None or isinstance(X, str | bytes | os.PathLike | Number) or not hasattr(X, "__len__"):
        return as_transactions(X)  # which says what was expected
    if hasattr(X, "columns"):
        if items is not None and not items.are_integers and not hasattr(estimator, "feature_names_in_"):
            # Fitted to named items that were no columns: the names say which is which, not their order.
            return _not_empty(Transactions.from_dataframe(X)).align_items(items)
        _check_features(estimator, X, reset=reset)
        frame = Transactions.from_dataframe(X)
        return _not_empty(frame if items is None else frame.rename_items(items))
    matrix = _as_matrix(X)
    _check_features(estimator, matrix, reset=reset)
    return Transactions.from_matrix(matrix, items=items)


def _check_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> None:  # noqa: ANN401 - as above
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except ValueError as error:  # other columns, or another number of them
        raise InvalidInputError(f"{error}; give the columns that the model was fitted to") from None


def _is_lists_of_names(X: object) -> bool:
    if not isinstance(X, list | tuple) or not X:
        return False
    first = next((row for row in X if isinstance(row, list | tuple | set | frozenset) and row), None)
    return first is not None and isinstance(next(iter(first)), str)


class _NotNumbersError(InvalidInputError, TypeError):
    """A matrix holds things that are no numbers; scikit-learn's checks ask for a TypeError."""


def _as_matrix(X: Any) -> Any:  # noqa: ANN401 - an array or a sparse matrix
    """Return a matrix of numbers with at least a row and a column, or say what is wrong with it.

    The words that scikit-learn's own checks of estimators look for are all here.
    """
    matrix = X if hasattr(X, "tocsr") else as_array(X)
    if len(matrix.shape) != 2:
        raise InvalidInputError(
            f"expected a matrix with a row for each transaction, got {len(matrix.shape)} dimension(s). "
            "Reshape your data: X.reshape(1, -1) makes it one transaction"
        )
    if matrix.shape[0] == 0:
        raise InvalidInputError(_EMPTY.format("transaction", f"0 sample(s) (shape={matrix.shape})"))
    if matrix.shape[1] == 0:
        raise InvalidInputError(_EMPTY.format("item", f"0 feature(s) (shape={matrix.shape})"))
    if matrix.dtype.kind == "c":
        raise InvalidInputError(
            "expected only 0 and 1 (or False and True), got complex numbers (Complex data not supported); "
            "try X.real"
        )
    if matrix.dtype.kind == "O":
        odd = next((value for value in matrix.flat if not isinstance(value, Number | np.bool_ | None)), 0)
        if not isinstance(odd, Number):
            raise _NotNumbersError(
                f"expected only 0 and 1 (or False and True), got {odd!r}; every argument must be no string "
                "but a number: try Transactions.from_lists for lists of names"
            )
        matrix = matrix.astype(np.float64)
    values = np.asarray(matrix.data if hasattr(matrix, "tocsr") else matrix)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InvalidInputError(
            "expected only 0 and 1 (or False and True), got a missing value (NaN) or inf; try 0 in its "
            "place, if the item was absent"
        )
    return matrix


def _not_empty(transactions: Transactions) -> Transactions:
    if transactions.n_transactions == 0:
        raise InvalidInputError(_EMPTY.format("transaction", "none"))
    if transactions.n_items == 0:
        raise InvalidInputError(_EMPTY.format("item", "none"))
    return transactions
