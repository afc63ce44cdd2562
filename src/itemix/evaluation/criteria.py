"""`evaluate`: compare a prediction with the itemsets of a test set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.core.display import format_name, plural
from itemix.core.transactions import as_transactions
from itemix.errors import InvalidInputError
from itemix.evaluation.predictions import find, predict
from itemix.evaluation.result import Criteria, Evaluation
from itemix.mining.mine import mine
from itemix.mining.search import as_fraction

if TYPE_CHECKING:
    import numpy.typing as npt

    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.evaluation.predictions import Floats, Prediction


def evaluate(
    model: Any,  # noqa: ANN401 - a model of any kind, itemsets or transactions
    test: Any,  # noqa: ANN401 - transactions in any form
    min_support: float,
    *,
    train: Any = None,  # noqa: ANN401 - as above
    n_jobs: int | None = -1,
) -> Evaluation:
    """Evaluate how well a model, or mined itemsets, tell the frequent itemsets of unseen data.

    The true itemsets are those of the test set with at least `min_support`. The model predicts those that it
    gives at least that probability, and a support for every true one. Items are matched by name; one that the
    model has never seen has probability 0 there, so that each true itemset with it is missed, with a relative
    error of 1.

    Parameters
    ----------
    model : fitted estimator, Mixture or other model, Itemsets or Transactions
        What predicts. Itemsets predict the supports that were mined, transactions their own supports.
    test : Transactions, data frame, matrix or list of lists
        Data that the model was not fitted to.
    min_support : float or int
        A float in (0, 1] is a fraction; an int is a number of test transactions, of which the fraction is
        asked of the model.
    train : Transactions, data frame, matrix or list of lists, optional
        The data that the model was fitted to, or the itemsets were mined from. Its exact supports are
        evaluated as a prediction too: that is the floor, the error that exact mining itself makes on unseen
        data.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors.

    Returns
    -------
    Evaluation
        The criteria as fractions, all together and by length, and those of the floor.

    Raises
    ------
    InvalidInputError
        If the test set is empty, or nothing in it is frequent, or it has no item of the model, or the
        itemsets are not enough to tell the support of each true one.

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
    data = as_transactions(test)
    trained_on = None if train is None else as_transactions(train)
    truth = _true_itemsets(data, min_support, n_jobs)
    threshold = as_fraction(min_support, len(data))
    prediction = predict(model, threshold, trained_on, n_jobs)
    own, by_length = _compare(truth, prediction)
    floor = None
    if trained_on is not None:
        floor = Evaluation(
            threshold, len(data), *_compare(truth, predict(trained_on, threshold, None, n_jobs))
        )
    return Evaluation(threshold, len(data), own, by_length, _mean_log_likelihood(prediction, data), floor)


def _true_itemsets(test: Transactions, min_support: float, n_jobs: int | None) -> Itemsets:
    if len(test) == 0:
        raise InvalidInputError("expected at least one test transaction, got none; give data to test on")
    truth = mine(test, min_support, n_jobs=n_jobs)
    if len(truth) == 0:
        raise InvalidInputError(
            f"expected frequent itemsets in the test set, got none in {plural(len(test), 'transaction')} at "
            f"min_support={min_support}; lower it"
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
    position = find(truth.sets, frequent.sets)
    is_found = position >= 0
    support = np.empty(len(truth))
    support[is_found] = frequent.support[position[is_found]]
    missing = np.flatnonzero(~is_found)
    if prediction.prefers_families and len(missing):
        support[missing] = prediction.support_of(truth.sets)[missing]
    else:
        support[missing] = prediction.support_of(truth.sets.take(missing))
    return support, is_found


def _mean_log_likelihood(prediction: Prediction, test: Transactions) -> float | None:
    """Return the mean log-probability of the transactions, -inf if one has an item that was never seen."""
    if prediction.log_likelihood is None:
        return None
    items = prediction.frequent.items
    if not all(name in items for name in test.items.names(np.flatnonzero(test.item_counts()))):
        return -np.inf
    return float(prediction.log_likelihood(test.align_items(items)).mean())
