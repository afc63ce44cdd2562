"""The questions that fitted estimators answer, and the data that they take.

`Answers` is for all estimators. `ComponentAnswers` adds which component a transaction belongs to, and
`MixtureAnswers` what a posterior can tell. Data comes as `Transactions`, lists of names, arrays, sparse
matrices or data frames: `read_input` makes transactions of all of them.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from numbers import Number
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from itemix.core.encoding import as_array, lists_of_frame
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError
from itemix.mining import intervals as credible
from itemix.mining import query
from itemix.models.base import Saved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import xarray as xr
    from sklearn.base import BaseEstimator

    from itemix._typing import Floats, MatrixLike, TransactionsLike
    from itemix.core import display
    from itemix.core.items import Items, Label
    from itemix.core.itemsets import Itemsets
    from itemix.correction import Choice
    from itemix.fitted import ComponentsTable, FittedModel
    from itemix.inference.selection import Selection
    from itemix.mining.surprise import Unusual
    from itemix.models.base import Model, Names
    from itemix.models.corrected import CorrectedMixture
    from itemix.models.counts import Counts
    from itemix.models.groups import GroupsTable, SimilarGroup
    from itemix.models.mixture import Mixture
    from itemix.models.posterior import Posterior

T = TypeVar("T")

_ROWS_ASSIGNED = 1 << 16

_EMPTY = "expected at least one {0}, got {1}; check how the data was read"


def read_input(
    estimator: BaseEstimator,
    X: TransactionsLike,
    *,
    items: Items | None = None,
) -> Transactions:
    """Return X as transactions, and let scikit-learn learn or check its features.

    Parameters
    ----------
    estimator : estimator
        Its features are learned if `items` is None, and checked otherwise.
    X : Transactions, list of lists of str, array, sparse matrix or data frame
        The data, binary.
    items : Items, optional
        The fitted model's items, which name the columns of a matrix.
    """
    names = _lists_of_names(X)
    if names is not None:
        lists = Transactions.from_lists(names)
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
    if isinstance(X, str | os.PathLike):
        from itemix.io.read import read_transactions

        return read_input(estimator, read_transactions(X), items=items)
    if X is None or isinstance(X, bytes | Number) or not hasattr(X, "__len__"):
        return as_transactions(X)  # which says what was expected
    if hasattr(X, "columns"):
        if items is not None and not items.are_integers and not hasattr(estimator, "feature_names_in_"):
            # The model was not fitted to columns: match them by name, not by their order.
            return _not_empty(Transactions.from_dataframe(X)).align_items(items)
        _check_features(estimator, X, reset=reset)
        frame = Transactions.from_dataframe(X)
        return _not_empty(frame if items is None else frame.rename_items(items))
    matrix = _as_matrix(X)
    _check_features(estimator, matrix, reset=reset)
    return Transactions.from_matrix(matrix, items=items)


def counted(transactions: Transactions, sample_weight: npt.ArrayLike | None) -> Transactions:
    """Return transactions with these weights; None leaves them as they are.

    Raises
    ------
    InvalidInputError
        If there is not a whole number of 0 or more for each of them, or all are 0.
    """
    if sample_weight is None:
        return transactions
    weighted = transactions.weighted(sample_weight)
    if weighted.n_transactions == 0:
        raise InvalidInputError(
            "expected a sample_weight above zero for at least one transaction, got only zeros; leave it out"
        )
    return weighted


def _check_features(estimator: BaseEstimator, X: TransactionsLike, *, reset: bool) -> None:
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except ValueError as error:  # other columns, or another number of them
        raise InvalidInputError(f"{error}; give the columns that the model was fitted to") from None


def _lists_of_names(X: TransactionsLike) -> Sequence[Any] | None:
    """Return lists of names, also those of a data frame with one column; None for other data."""
    if hasattr(X, "columns"):
        return lists_of_frame(X)
    if not isinstance(X, list | tuple) or not X:
        return None
    first = next((row for row in X if isinstance(row, list | tuple | set | frozenset) and row), None)
    return X if first is not None and isinstance(next(iter(first)), str) else None


class _NotNumbersError(InvalidInputError, TypeError):
    """A matrix holds something other than numbers; scikit-learn's checks ask for a TypeError."""


def _as_matrix(X: TransactionsLike) -> MatrixLike:
    """Return a matrix of numbers with at least a row and a column, or say what is wrong with it.

    The messages have the words that scikit-learn's own checks of estimators look for.
    """
    matrix = X if hasattr(X, "tocsr") else as_array(X)
    if len(matrix.shape) != 2:
        raise InvalidInputError(
            f"expected a matrix with a row for each transaction, got {len(matrix.shape)} dimension(s). "
            "Reshape your data: X.reshape(1, -1) makes it one transaction"
        )
    if matrix.shape[0] == 0:
        raise InvalidInputError(
            _EMPTY.format(
                "transaction", f"0 sample(s) (shape={matrix.shape}) while a minimum of 1 is required"
            )
        )
    if matrix.shape[1] == 0:
        raise InvalidInputError(
            _EMPTY.format("item", f"0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required")
        )
    if matrix.dtype.kind == "c":
        raise InvalidInputError(
            "expected only 0 and 1 (or False and True), got complex numbers (Complex data not supported); "
            "try X.real, or Transactions.from_table for columns of numbers"
        )
    if matrix.dtype.kind == "O":
        odd = next((value for value in matrix.flat if not isinstance(value, Number | np.bool_ | None)), 0)
        if not isinstance(odd, Number):
            raise _NotNumbersError(
                f"expected only 0 and 1 (or False and True), got {odd!r}; every argument must be no string "
                "but a number: try Transactions.from_table for a table of categories, from_lists for lists "
                "of names"
            )
        matrix = matrix.astype(np.float64)
    values = np.asarray(matrix.data if hasattr(matrix, "tocsr") else matrix)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InvalidInputError(
            "expected only 0 and 1 (or False and True), got a missing value (NaN) or inf; try 0 in its "
            "place, if the item was absent, or Transactions.from_table for a table with gaps"
        )
    return matrix


def _not_empty(transactions: Transactions) -> Transactions:
    if transactions.n_transactions == 0:
        raise InvalidInputError(_EMPTY.format("transaction", "none"))
    if transactions.n_items == 0:
        raise InvalidInputError(_EMPTY.format("item", "none"))
    return transactions


class Learned(Generic[T]):
    """An attribute of an estimator that is read from its fitted model.

    Parameters
    ----------
    path : str
        Where it is in the `FittedModel`. If it is None there, the estimator has no such attribute.
    """

    def __init__(self, path: str) -> None:
        self._read = attrgetter(path)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, estimator: None, owner: type) -> Self: ...
    @overload
    def __get__(self, estimator: Answers, owner: type) -> T: ...
    def __get__(self, estimator: Answers | None, owner: type) -> T | Self:
        if estimator is None:
            return self
        fitted = vars(estimator).get("fitted_")
        value: T | None = None if fitted is None else self._read(fitted)
        if value is None:
            reason = "is not fitted" if fitted is None else "has learned no such thing"
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}: it {reason}")
        return value


class Answers(Saved, ABC):
    """Questions to a fitted model; all are answered by `model_`, the value that was learned."""

    fitted_: FittedModel

    @property
    def model_(self) -> Model:
        """The model that answers; with a correction, the corrected mixture."""
        return self._fitted().model

    def _fitted(self) -> FittedModel:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    def _transactions(self, X: TransactionsLike) -> Transactions:
        return read_input(self, X, items=self.model_.items)

    def unusual(
        self,
        X: TransactionsLike,
        *,
        level: float = 0.05,
        n_simulated: int = 10_000,
        random_state: int | np.random.Generator | None = 0,
    ) -> Unusual:
        """Return how unusual each transaction is, and which items make it so; see `FittedModel.unusual`.

        Parameters
        ----------
        X : transactions in any form
            The transactions. Items that the model does not know are left out.
        level : float, default 0.05
            The p value up to which it is told which items are unexpected or missing.
        n_simulated : int, default 10,000
            How many transactions to draw from the model, for p values.
        random_state : int, Generator or None, default 0
            The seed.
        """
        names = _lists_of_names(X)
        data = self._transactions(X) if names is None else Transactions.from_lists(names)
        return self._fitted().unusual(data, level=level, n_simulated=n_simulated, random_state=random_state)

    def score_samples(self, X: TransactionsLike) -> Floats:
        """Return the log-probability of each transaction, shape (n_transactions,)."""
        return self.model_.log_likelihood(self._transactions(X))

    def score(self, X: TransactionsLike, y: object = None) -> float:
        """Return the mean log-probability of the transactions; `y` is ignored."""
        return float(self.score_samples(X).mean())

    def bic(self, X: TransactionsLike) -> float:
        """Return the Bayesian information criterion of the model on X: the lower, the better."""
        data = self._transactions(X)
        model = self.model_
        return float(-2 * model.log_likelihood(data).sum() + model.n_parameters * np.log(len(data)))

    def aic(self, X: TransactionsLike) -> float:
        """Return the Akaike information criterion of the model on X: the lower, the better."""
        model = self.model_
        return float(-2 * model.log_likelihood(self._transactions(X)).sum() + 2 * model.n_parameters)

    def sample(self, n: int = 1, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the model."""
        return self.model_.sample(n, random_state=random_state)

    def summary(self) -> display.Table:
        """Say what was fitted, to what, and how it went: a table that prints, and shows in a notebook."""
        return self._fitted().summary()

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        """Show what scikit-learn shows of an estimator, and below it what was fitted."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        fitted = vars(self).get("fitted_")
        if fitted is not None and "text/html" in bundle:
            bundle["text/html"] += fitted._repr_html_()
        return bundle

    def group(self, label: Label | None) -> FittedModel:
        """Return the model of one group, if it was fitted with groups: see `FittedModel.group`."""
        return self._fitted().group(label)

    def groups_table(self) -> GroupsTable:
        """Return a row for each group, those with most transactions first; see `FittedModel.groups_table`."""
        return self._fitted().groups_table()

    def recommend_groups(
        self, n: int = 5, *, labels: Iterable[Label] | None = None, progress: bool = False
    ) -> query.ManyOffers:
        """Return the n most probable items of the next transaction of each group, as codes and probabilities.

        `labels` names groups, all by default; `progress` says whether to show how far it is. See
        `FittedModel.recommend_groups`.
        """
        return self._fitted().recommend_groups(n, labels=labels, progress=progress)

    def similar_groups(self, label: Label, n: int = 5) -> list[SimilarGroup]:
        """Return the groups that depart from what is common most as one does; see `Groups.similar`."""
        return self._fitted().similar_groups(label, n)

    def probability(
        self,
        itemset: Names,
        *,
        absent: Names = (),
        given: Names = (),
        given_absent: Names = (),
        group: Label | None = None,
    ) -> float:
        """Return the probability of an itemset.

        Parameters
        ----------
        itemset : names
            Items that are present.
        absent : names
            Items that are absent, as part of the same event.
        given, given_absent : names
            Items known to be present, and known to be absent: the probability is conditional on them.
        group : str or int, optional
            The probability in a transaction of this group, of a model that was fitted with groups.
        """
        condition = {"given": given, "given_absent": given_absent}
        return float(self.group(group).model.probabilities([itemset], absent=[absent], **condition)[0])

    def probabilities(
        self,
        itemsets: Itemsets | Iterable[Names],
        *,
        absent: Iterable[Names] | None = None,
        given: Names = (),
        given_absent: Names = (),
        group: Label | None = None,
    ) -> Floats:
        """Return the probabilities of many itemsets, shape (n,); see `Model.probabilities`."""
        model = self.group(group).model
        return model.probabilities(itemsets, absent=absent, given=given, given_absent=given_absent)

    def lift(self, itemset: Names) -> float:
        """Return the probability of an itemset over that of its items if they were independent."""
        return query.lift(self.model_, itemset)

    def rule_measures(self, antecedent: Names, consequent: Names) -> dict[str, float]:
        """Return all measures of the rule antecedent -> consequent, by mlxtend's names."""
        return query.rule_measures(self.model_, antecedent, consequent)

    def dependencies(
        self, n: int = 10, *, sign: query.Sign = "both", items: Names | None = None
    ) -> list[query.Dependency]:
        """Return the pairs of items that depend most on each other; see `itemix.mining.query`."""
        return query.dependencies(self.model_, n, sign=sign, items=items)

    def recommend(
        self,
        basket: Names,
        n: int = 5,
        *,
        absent: Names = (),
        complete: bool = True,
        group: Label | None = None,
    ) -> list[query.Recommendation]:
        """Return the n most probable items that a basket does not hold yet; see `itemix.mining.query`.

        Parameters
        ----------
        basket : names
            The items that the basket holds.
        n : int
            How many items.
        absent : names
            Items that are not wanted.
        complete : bool
            Whether the basket holds nothing else; otherwise items that are not named count as unknown.
        group : str or int, optional
            Whose basket it is, of a model that was fitted with groups.
        """
        return self.group(group).recommend(basket, n, absent=absent, complete=complete)

    def recommend_many(
        self,
        baskets: Transactions | Iterable[Names],
        n: int = 5,
        *,
        complete: bool = True,
        progress: bool = False,
        group: Label | None = None,
    ) -> query.ManyOffers:
        """Return the codes and probabilities of the n best items for many baskets, shape (m, n) each.

        What is returned also has the ids of the baskets, and ``to_pandas()``.
        `progress` says whether to show how far it is, `group` whose baskets all of them are.
        """
        return self.group(group).recommend_many(baskets, n, complete=complete, progress=progress)


class Climb:
    """How the fit went, for estimators that iterate."""

    n_iter_: Learned[int] = Learned("training.n_iter")
    converged_: Learned[bool] = Learned("training.converged")
    lower_bound_: Learned[float] = Learned("training.bound")
    lower_bounds_: Learned[Floats] = Learned("training.bounds")
    selection_: Learned[Selection] = Learned("training.selection")


class ComponentAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Answers):  # type: ignore[misc]
    """Questions to a model with components: which of them a transaction belongs to."""

    components_: Learned[Mixture] = Learned("components")
    n_components_: Learned[int]

    def components_table(self, n_items: int = 6) -> ComponentsTable:
        """Return a row for each component, the largest first: share, size, mean basket, and typical items.

        Parameters
        ----------
        n_items : int, default 6
            How many items tell a component apart from the others.
        """
        return self._fitted().components_table(n_items)

    @abstractmethod
    def predict_proba(self, X: TransactionsLike) -> Floats:
        """Return the probability of each component given each transaction, shape (n_transactions, K)."""

    def predict(self, X: TransactionsLike) -> npt.NDArray[np.int64]:
        """Return the most probable component of each transaction, shape (n_transactions,)."""
        labels: npt.NDArray[np.int64] = self.predict_proba(X).argmax(axis=1)
        return labels

    def fit_predict(self, X: TransactionsLike, y: object = None) -> npt.NDArray[np.int64]:
        """Fit the model and return the most probable component of each transaction."""
        labels: npt.NDArray[np.int64] = self.fit(X, y).predict(X)
        return labels

    def transform(self, X: TransactionsLike) -> Floats:
        """Return the same as `predict_proba`: the probabilities of components are features in a pipeline."""
        return self.predict_proba(X)

    def assign(self, X: TransactionsLike) -> pd.DataFrame:
        """Return the most probable component of each transaction, and how probable it is, as a data frame.

        Its columns are ``id``, ``component`` and ``probability``. The ids are those of the transactions (see
        `Transactions.ids`), in as many columns as they have; without ids, transactions are numbered from 0.
        """
        import pandas as pd

        data = self._transactions(X)
        named = data.id_columns()
        best = np.empty(data.n_transactions, dtype=np.int64)
        probability = np.empty(data.n_transactions)
        for start in range(0, data.n_transactions, _ROWS_ASSIGNED):
            rows = slice(start, start + _ROWS_ASSIGNED)
            chances = self.predict_proba(data[rows])
            best[rows], probability[rows] = chances.argmax(axis=1), chances.max(axis=1)
        keys = {name: np.arange(len(best)) if ids is None else ids for name, ids in named.items()}
        return pd.DataFrame({**keys, "component": best, "probability": probability})

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


class ErrorAnswers(Answers):
    """Questions to a model that may know how sure it is."""

    correction_choice_: Learned[Choice] = Learned("choice")

    @property
    def corrected_(self) -> CorrectedMixture | None:
        """The corrected mixture, which answers all questions about itemsets; None without a correction."""
        return self.fitted_.corrected

    def interval(
        self,
        itemset: Names,
        *,
        absent: Names = (),
        given: Names = (),
        given_absent: Names = (),
        level: float = 0.9,
        n_transactions: int | None = None,
        group: Label | None = None,
    ) -> credible.Interval:
        """Return the probability of an itemset with its credible interval; see `probability`.

        Parameters
        ----------
        itemset, absent, given, given_absent
            As in `probability`.
        level : float
            The probability inside the interval.
        n_transactions : int, optional
            Give the interval of the frequency in this many new transactions instead.
        group : str or int, optional
            The probability in a transaction of this group, of a model that was fitted with groups.
        """
        return credible.interval(
            self.group(group).require_error_source(),
            itemset,
            absent=absent,
            given=given,
            given_absent=given_absent,
            level=level,
            n_transactions=n_transactions,
        )

    def intervals(
        self,
        itemsets: Itemsets | Iterable[Names],
        *,
        absent: Iterable[Names] | None = None,
        given: Names = (),
        given_absent: Names = (),
        level: float = 0.9,
        n_transactions: int | None = None,
        group: Label | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """Return the probabilities of many itemsets, and the lower and upper ends of their intervals."""
        return credible.intervals(
            self.group(group).require_error_source(),
            itemsets,
            absent=absent,
            given=given,
            given_absent=given_absent,
            level=level,
            n_transactions=n_transactions,
        )

    def with_intervals(self, itemsets: Itemsets, *, level: float = 0.9) -> Itemsets:
        """Return itemsets that were mined from the model with the credible interval of each support.

        Parameters
        ----------
        itemsets : Itemsets
            What `itemix.mine` has found in this model.
        level : float
            The probability inside an interval, between 0 and 1.

        Raises
        ------
        InvalidInputError
            If these are not Itemsets, the level is not between 0 and 1, or the model has no posterior.
        """
        return self._fitted().with_intervals(itemsets, level=level)


class MixtureAnswers(Climb, ErrorAnswers, ComponentAnswers):
    """Questions to a fitted mixture: also which component explains a basket, and how sure an answer is."""

    mixture_: Learned[Mixture] = Learned("value")
    posteriors_: Learned[tuple[Posterior, ...]] = Learned("posteriors")
    counts_: Learned[Counts] = Learned("training.counts")
    n_components_: Learned[int] = Learned("components.n_components")
    n_batches_: Learned[int] = Learned("training.n_batches")

    def to_arviz(
        self, n_draws: int = 100, *, random_state: int | np.random.Generator | None = 0
    ) -> xr.DataTree:
        """Return draws from the posterior as ArviZ has them; see `FittedModel.to_arviz`.

        Parameters
        ----------
        n_draws : int, default 100
            How many draws to take for each chain.
        random_state : int, Generator or None, default 0
            The seed.
        """
        return self._fitted().to_arviz(n_draws, random_state=random_state)

    def predict_proba(self, X: TransactionsLike) -> Floats:
        """Return the probability of each component given each transaction, shape (n_transactions, K).

        After sampling it is that of all samples: components of different samples that are one and the same
        are added up.
        """
        labels = self._fitted().component_labels
        return self.mixture_.responsibilities(self._transactions(X), component_labels=labels)

    def predict(self, X: TransactionsLike) -> npt.NDArray[np.int64]:
        """Return the most probable component of each transaction, shape (n_transactions,)."""
        labels = self._fitted().component_labels
        return self.mixture_.labels(self._transactions(X), component_labels=labels)

    def explain(
        self, basket: Names, n: int = 5, *, partial: bool = False, group: Label | None = None
    ) -> query.Explanation:
        """Return the component that explains a basket best, and the items that speak most for it."""
        return self.group(group).explain(basket, n, partial=partial)
