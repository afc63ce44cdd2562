"""How well predictions do on unseen data: the paper's criteria of itemsets, and those of recommendations.

`evaluate` compares a prediction with the itemsets of a test set. The floor is the same for the exact supports
in the training data: the error that exact mining itself makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from itemix._checks import check_flag
from itemix._runtime import progress_of
from itemix.core import display
from itemix.core.display import format_name, format_percent, format_set, plural
from itemix.core.itemsets import Itemsets
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError
from itemix.evaluation.recommendations import RecommendationEvaluation, evaluate_recommendations
from itemix.io.chunks import Chunks
from itemix.io.partitions import Partitions, partitions
from itemix.mining.counts import count
from itemix.mining.mine import mine
from itemix.mining.rules import Supports
from itemix.mining.search import as_fraction, min_count
from itemix.models.base import as_model

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from itemix._typing import Floats, ModelLike, TransactionsLike
    from itemix.core.items import Items
    from itemix.core.sets import Sets
    from itemix.models.base import Model

__all__ = [
    "Criteria",
    "Evaluation",
    "RecommendationEvaluation",
    "evaluate",
    "evaluate_recommendations",
]

_COUNTS = ("n_true", "n_predicted", "n_correct")
_RATES = ("false_negative_rate", "false_positive_rate", "precision", "recall")
_MEANS = ("mean_relative_error", "mean_relative_bias")
_SHOWN = {
    "missed": "false_negative_rate",
    "false": "false_positive_rate",
    "error": "mean_relative_error",
    "bias": "mean_relative_bias",
}


@dataclass(frozen=True)
class Criteria:
    """The paper's criteria over some itemsets, as fractions.

    Parameters
    ----------
    n_true : int
        How many itemsets are frequent in the test data.
    n_predicted : int
        How many are predicted to be.
    n_correct : int
        How many are both.
    mean_relative_error : float or None
        The mean of abs(p - f) / f over the true itemsets, where f is the support in the test data and p the
        predicted one (the paper's E-hat, eq. crit); None if there are no true itemsets.
    mean_relative_bias : float or None
        The mean of (p - f) / f over the true itemsets (D-hat, eq. crit2): below zero if supports are
        under-estimated; None if there are no true itemsets.
    """

    n_true: int
    n_predicted: int
    n_correct: int
    mean_relative_error: float | None
    mean_relative_bias: float | None

    @property
    def false_negative_rate(self) -> float:
        """The part of the true itemsets that is not predicted (F-); 0 if there are none."""
        return (self.n_true - self.n_correct) / max(self.n_true, 1)

    @property
    def false_positive_rate(self) -> float:
        """The part of the predicted itemsets that is not true (F+); 0 where none is predicted."""
        return (self.n_predicted - self.n_correct) / max(self.n_predicted, 1)

    @property
    def precision(self) -> float:
        """The part of the predicted itemsets that is true, 1 - F+."""
        return 1.0 - self.false_positive_rate

    @property
    def recall(self) -> float:
        """The part of the true itemsets that is predicted, 1 - F-."""
        return 1.0 - self.false_negative_rate

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {name: getattr(self, name) for name in (*_COUNTS, *_RATES, *_MEANS)}

    @classmethod
    def from_dict(cls, figures: dict[str, Any]) -> Self:
        """Take the criteria back out of what `to_dict` has returned."""
        return cls(**{name: figures[name] for name in (*_COUNTS, *_MEANS)})


@dataclass(frozen=True, repr=False)
class Evaluation:
    """How well a prediction finds the frequent itemsets of a test set: an immutable value.

    It prints as a table, in per cent: the part of the true itemsets that was missed, the part of the
    predicted ones that is false, the mean relative error and the mean relative bias of the supports, each
    beside the floor.

    Parameters
    ----------
    min_support : float
        The threshold, as a fraction.
    n_transactions : int
        The number of transactions in the test set.
    overall : Criteria
        The figures over itemsets of all lengths; the evaluation has them as its own attributes too.
    lengths : tuple of (int, Criteria)
        The figures for each length that true or predicted itemsets have; see `by_length`.
    log_likelihood : float or None
        The mean log-probability of a test transaction, -inf if the model rules one out; None if the
        prediction is not a model.
    floor : Evaluation or None
        The evaluation of the training set's exact supports as a prediction; None if it was not given.
    """

    min_support: float
    n_transactions: int
    overall: Criteria
    lengths: tuple[tuple[int, Criteria], ...]
    log_likelihood: float | None = None
    floor: Evaluation | None = None

    @property
    def by_length(self) -> dict[int, Criteria]:
        """The figures for each length of itemsets."""
        return dict(self.lengths)

    @property
    def n_true(self) -> int:
        """How many itemsets are frequent in the test data."""
        return self.overall.n_true

    @property
    def n_predicted(self) -> int:
        """How many itemsets are predicted to be frequent."""
        return self.overall.n_predicted

    @property
    def n_correct(self) -> int:
        """How many itemsets are predicted and true."""
        return self.overall.n_correct

    @property
    def false_negative_rate(self) -> float:
        """The part of the true itemsets that is not predicted (F-)."""
        return self.overall.false_negative_rate

    @property
    def false_positive_rate(self) -> float:
        """The part of the predicted itemsets that is not true (F+); 0 where none is predicted."""
        return self.overall.false_positive_rate

    @property
    def precision(self) -> float:
        """The part of the predicted itemsets that is true, 1 - F+."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """The part of the true itemsets that is predicted, 1 - F-."""
        return self.overall.recall

    @property
    def mean_relative_error(self) -> float:
        """The mean of abs(p - f) / f over the true itemsets (E-hat)."""
        return _known(self.overall.mean_relative_error)

    @property
    def mean_relative_bias(self) -> float:
        """The mean of (p - f) / f over the true itemsets (D-hat)."""
        return _known(self.overall.mean_relative_bias)

    def table(self) -> display.Table:
        """Return the figures in per cent as a table of text, for people."""
        floor = {} if self.floor is None else dict(self.floor.rows())
        headers = ["true", "predicted"]
        for header in _SHOWN:
            headers += [header] if self.floor is None else [header, "floor"]
        rows = []
        for length, own in self.rows():
            cells = [display.format_count(own.n_true), display.format_count(own.n_predicted)]
            for name in _SHOWN.values():
                cells.append(_percent(getattr(own, name)))
                if self.floor is not None:
                    # The floor has no figures for a length that only the model predicts.
                    cells.append(_percent(getattr(floor.get(length), name, None)))
            rows.append((*cells, "all" if length is None else str(length)))
        return display.Table(self._title(), (*headers, "length"), tuple(rows), self._footer())

    def _title(self) -> str:
        parts = [
            f"Evaluation: {display.plural(self.n_true, 'true itemset')}",
            f"support >= {display.format_percent(self.min_support)}",
            f"of {display.plural(self.n_transactions, 'transaction')}",
        ]
        return display.joined(parts)

    def _footer(self) -> str:
        value = self.log_likelihood
        return "" if value is None else f"log-likelihood of a transaction: {value:.4f}"

    def rows(self) -> list[tuple[int | None, Criteria]]:
        """Return the figures over all lengths, marked None, and then those of each length."""
        return [(None, self.overall), *self.lengths]

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, ready for JSON; `from_dict` takes them back.

        ``by_length`` is a list with the figures and the length, ``floor`` such a dictionary or None.
        """
        return {
            "min_support": self.min_support,
            "n_transactions": self.n_transactions,
            **self.overall.to_dict(),
            "log_likelihood": self.log_likelihood,
            "by_length": [{"length": length, **own.to_dict()} for length, own in self.lengths],
            "floor": None if self.floor is None else self.floor.to_dict(),
        }

    @classmethod
    def from_dict(cls, figures: dict[str, Any]) -> Self:
        """Take an evaluation back out of what `to_dict` has returned, also after a trip through JSON."""
        return cls(
            min_support=figures["min_support"],
            n_transactions=figures["n_transactions"],
            overall=Criteria.from_dict(figures),
            lengths=tuple((row["length"], Criteria.from_dict(row)) for row in figures["by_length"]),
            log_likelihood=figures["log_likelihood"],
            floor=None if figures["floor"] is None else cls.from_dict(figures["floor"]),
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return the figures as a data frame: a row for all lengths (length is missing), then one for each.

        The column prediction says whose figures they are, "model" or "floor". What is not known is missing.
        """
        import pandas as pd

        both = {"model": self, "floor": self.floor}
        rows = [
            {
                "prediction": prediction,
                "length": length,
                **own.to_dict(),
                "log_likelihood": evaluation.log_likelihood if length is None else None,
            }
            for prediction, evaluation in both.items()
            if evaluation is not None
            for length, own in evaluation.rows()
        ]
        numbers = dict.fromkeys((*_RATES, *_MEANS, "log_likelihood"), "float64")
        return pd.DataFrame(rows).astype({"length": "Int64", **numbers})


def _known(mean: float | None) -> float:
    assert mean is not None  # noqa: S101 - an evaluation has true itemsets: see `evaluate`
    return mean


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}%"


class Prediction(NamedTuple):
    """A prediction, whatever it comes from: the frequent itemsets, and the support of any other set.

    Attributes
    ----------
    frequent : Itemsets
        The itemsets predicted to be frequent.
    support_of : function
        Takes sets that are not among these, over any items, and returns their predicted supports.
    log_likelihood : function or None
        Takes transactions over the same items and returns the log-probability of each; None if the prediction
        is not a model.
    prefers_families : bool
        Whether it is quicker to ask for sets together with all their subsets.
    """

    frequent: Itemsets
    support_of: Callable[[Sets], Floats]
    log_likelihood: Callable[[Transactions], Floats] | None = None
    prefers_families: bool = False


def predict(
    source: ModelLike | TransactionsLike | Itemsets,
    min_support: float,
    train: Transactions | Partitions | None,
    n_jobs: int | None,
) -> Prediction:
    """Return the prediction of a source.

    Parameters
    ----------
    source : Itemsets, Transactions, Partitions or a model
        Itemsets and transactions predict by their supports.
    min_support : float
        The threshold, as a fraction.
    train : Transactions, Partitions or None
        The data that itemsets were mined from, to count those that are not among them.
    n_jobs : int or None
        The number of threads.

    Raises
    ------
    InvalidInputError
        If the source cannot predict, or itemsets are not all frequent ones.
    NotFittedError
        If the model has not been fitted.
    """
    if isinstance(source, Itemsets):
        return _by_itemsets(source, min_support, train)
    if isinstance(source, Transactions | Partitions | Chunks):
        return _by_data(_one_or_parts(source), min_support, n_jobs)
    model = as_model(source)
    if model is not None:
        return _by_model(model, min_support, n_jobs)
    if hasattr(source, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(source)
    raise InvalidInputError(
        f"expected a model, itemsets or transactions to evaluate, got {type(source).__name__}; "
        "try a fitted model, or itemix.mine(train, min_support)"
    )


def _by_model(model: Model, min_support: float, n_jobs: int | None) -> Prediction:
    def support_of(sets: Sets) -> Floats:
        known, asked = sets.translated(model.items)
        support = np.zeros(len(sets))
        support[known] = model.probabilities_of_codes(asked.offsets, asked.codes)
        return support

    frequent = mine(model, min_support, n_jobs=n_jobs)
    score = model.log_likelihood if model.has_likelihood else None
    return Prediction(frequent, support_of, score, model.prefers_families)


def _by_data(data: Transactions | Partitions, min_support: float, n_jobs: int | None) -> Prediction:
    if data.n_transactions == 0:
        raise InvalidInputError(
            "expected at least one training transaction, got none; supports are fractions of them"
        )
    return Prediction(mine(data, min_support, n_jobs=n_jobs), lambda sets: _counted(sets, data))


def _by_itemsets(
    itemsets: Itemsets, min_support: float, train: Transactions | Partitions | None
) -> Prediction:
    _check_complete(itemsets, min_support)
    frequent = itemsets.filter(min_support=min_support)
    frequent = itemsets if len(frequent) == len(itemsets) else frequent

    def support_of(sets: Sets) -> Floats:
        position = itemsets.sets.find(sets)
        is_found = position >= 0
        support = np.zeros(len(sets))
        support[is_found] = itemsets.support[position[is_found]]
        missing = sets.take(np.flatnonzero(~is_found))
        if train is None:
            _refuse_unknown(itemsets, missing)
        elif len(missing):
            Supports(itemsets, train)  # raises an error if they were mined from other data
            support[~is_found] = _counted(missing, train)
        return support

    return Prediction(frequent, support_of)


def _check_complete(itemsets: Itemsets, min_support: float) -> None:
    if itemsets.target in ("closed", "maximal", "generators"):
        which = "generators" if itemsets.target == "generators" else f"{itemsets.target} ones"
        raise InvalidInputError(
            f"expected all frequent itemsets as a prediction, got the {which}; mine with target='all'"
        )
    mined_at, n = itemsets.min_support, itemsets.n_transactions
    if mined_at is None:
        return
    is_less = mined_at <= min_support if n is None else min_count(mined_at, n) <= min_count(min_support, n)
    if not is_less:
        raise InvalidInputError(
            f"expected itemsets mined at a support of {format_percent(min_support)} or less, got those of "
            f"{format_percent(mined_at)}; mine again, or evaluate at min_support={mined_at:.6g}"
        )


def _refuse_unknown(itemsets: Itemsets, missing: Sets) -> None:
    """Refuse sets whose support is not known; those with an item that was never seen have support zero."""
    if itemsets.target == "all":
        # All frequent itemsets come with all items of their data.
        _, missing = missing.translated(itemsets.items)
    if len(missing):
        raise InvalidInputError(
            f"expected the supports of all true itemsets, got itemsets that lack {len(missing):,} of them, "
            f"such as {format_set(missing[0])}; pass train=, the data they were mined from, or mine at a "
            "lower min_support"
        )


def _counted(sets: Sets, data: Transactions | Partitions) -> Floats:
    """Return the supports of sets in the data, 0 for those with an item that it does not have."""
    known, translated = sets.translated(data.items)
    support = np.zeros(len(sets))
    support[known] = count(translated, data) / data.n_transactions
    return support


def _one_or_parts(data: TransactionsLike) -> Transactions | Partitions:
    return partitions(data) if isinstance(data, Chunks | Partitions) else as_transactions(data)


def evaluate(
    model: ModelLike | TransactionsLike | Itemsets,
    test: TransactionsLike,
    min_support: float,
    *,
    train: TransactionsLike | None = None,
    n_jobs: int | None = -1,
    progress: bool = False,
) -> Evaluation:
    """Evaluate how well a model, or mined itemsets, predict the frequent itemsets of unseen data.

    The true itemsets are those of the test set with at least `min_support`. The model predicts the sets that
    have at least that probability under it, and a support for every true set. Items are matched by name. An
    item that the model has never seen has probability 0, so that each true itemset with it is missed, with a
    relative error of 1.

    Parameters
    ----------
    model : fitted estimator, Mixture or other model, Itemsets or Transactions
        The prediction. Itemsets predict the supports that were mined, transactions their own supports.
    test : Transactions, data frame, matrix, list of lists, Chunks or Partitions
        Data that the model was not fitted to. Parts are counted where they lie.
    min_support : float or int
        A float in (0, 1] is a fraction. An int is a number of test transactions; the model is asked for the
        same fraction.
    train : Transactions, data frame, matrix, list of lists, Chunks or Partitions, optional
        The data that the model was fitted to, or the itemsets were mined from. Its exact supports are
        evaluated as a prediction too. That is the floor: the error that exact mining itself makes on unseen
        data.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors.
    progress : bool, default False
        Whether to show what is being done: on standard error, or in a notebook.

    Returns
    -------
    Evaluation
        The criteria as fractions, all together and by length, and those of the floor.

    Raises
    ------
    InvalidInputError
        If the test set is empty, or nothing in it is frequent, or it has no item of the model, or itemsets
        do not tell the support of each true one.

    Examples
    --------
    >>> import itemix
    >>> model = itemix.Mixture([1.0], [[0.6, 0.5]], ["bread", "milk"])
    >>> test = [["bread", "milk"], ["bread"], ["milk", "bread"], []]
    >>> itemix.evaluate(model, test, 0.5)
    Evaluation: 3 true itemsets, support >= 50%, of 4 transactions
      true  predicted   missed  false   error     bias  length
         3          2   33.33%  0.00%  20.00%  -20.00%  all
         2          2    0.00%  0.00%  10.00%  -10.00%  1
         1          0  100.00%  0.00%  40.00%  -40.00%  2
    log-likelihood of a transaction: -1.3053
    """
    data = _one_or_parts(test)
    trained_on = None if train is None else _one_or_parts(train)
    n = data.n_transactions
    with progress_of("evaluating", shown=check_flag("progress", progress)) as shown:
        tell = (lambda text: None) if shown is None else shown.tell
        tell("mining the test set")
        truth = _true_itemsets(data, min_support, n_jobs)
        threshold = as_fraction(min_support, n)
        tell("mining the model")
        prediction = predict(model, threshold, trained_on, n_jobs)
        tell(f"the supports of {plural(len(truth), 'itemset')}")
        own, by_length = _compare(truth, prediction)
        floor = None
        if trained_on is not None:
            tell("mining the training set")
            exact = predict(trained_on, threshold, None, n_jobs)
            floor = Evaluation(threshold, n, *_compare(truth, exact))
        tell(f"the likelihood of {plural(n, 'transaction')}")
        likelihood = _mean_log_likelihood(prediction, data)
    return Evaluation(threshold, n, own, by_length, likelihood, floor)


def _true_itemsets(test: Transactions | Partitions, min_support: float, n_jobs: int | None) -> Itemsets:
    if test.n_transactions == 0:
        raise InvalidInputError("expected at least one test transaction, got none; give data to test on")
    truth = mine(test, min_support, n_jobs=n_jobs)
    if len(truth) == 0:
        raise InvalidInputError(
            "expected frequent itemsets in the test set, got none in "
            f"{plural(test.n_transactions, 'transaction')} at min_support={min_support}; lower it"
        )
    return truth


def _compare(truth: Itemsets, prediction: Prediction) -> tuple[Criteria, tuple[tuple[int, Criteria], ...]]:
    """Return the criteria over all true and predicted itemsets, and over those of each length."""
    predicted, is_correct = _predicted_supports(truth, prediction)
    relative = (predicted - truth.support) / truth.support
    longest = int(max(truth.lengths.max(), prediction.frequent.lengths.max(initial=0)))
    n_true, n_correct, n_predicted, errors, biases = (
        np.bincount(lengths, weights, minlength=longest + 1)
        for lengths, weights in (
            (truth.lengths, None),
            (truth.lengths[is_correct], None),
            (prediction.frequent.lengths, None),
            (truth.lengths, np.abs(relative)),
            (truth.lengths, relative),
        )
    )

    def criteria(chosen: slice) -> Criteria:
        n = int(n_true[chosen].sum())
        return Criteria(
            n,
            int(n_predicted[chosen].sum()),
            int(n_correct[chosen].sum()),
            float(errors[chosen].sum() / n) if n else None,
            float(biases[chosen].sum() / n) if n else None,
        )

    found = np.flatnonzero(n_true + n_predicted).tolist()
    return criteria(slice(None)), tuple((length, criteria(slice(length, length + 1))) for length in found)


def _predicted_supports(truth: Itemsets, prediction: Prediction) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the predicted support of each true itemset, and whether it is predicted to be frequent."""
    frequent = prediction.frequent
    if not any(name in frequent.items for name in truth.items):
        raise InvalidInputError(
            f"expected items in the test set that the prediction knows, got none of them, such as "
            f"{format_name(truth.items[0])}; give both the same item names"
        )
    position = frequent.sets.find(truth.sets)
    is_found = position >= 0
    support = np.empty(len(truth))
    support[is_found] = frequent.support[position[is_found]]
    missing = np.flatnonzero(~is_found)
    if prediction.prefers_families and len(missing):
        support[missing] = prediction.support_of(truth.sets)[missing]
    else:
        support[missing] = prediction.support_of(truth.sets.take(missing))
    return support, is_found


def _mean_log_likelihood(prediction: Prediction, test: Transactions | Partitions) -> float | None:
    """Return the mean log-probability of the transactions, -inf if one has an item that is not known."""
    if prediction.log_likelihood is None:
        return None
    items = prediction.frequent.items
    if not all(name in items for name in test.items.names(np.flatnonzero(test.item_counts()))):
        return -np.inf
    total = partial(_total, log_likelihood=prediction.log_likelihood, items=items)
    return sum(test.map(total) if isinstance(test, Partitions) else [total(test)]) / test.n_transactions


def _total(part: Transactions, log_likelihood: Callable[[Transactions], Floats], items: Items) -> float:
    return float(log_likelihood(part.align_items(items)).sum())
