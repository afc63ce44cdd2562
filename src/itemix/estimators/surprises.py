"""`itemix.surprises`: test a model on data, or fit it to one half of the data and test it on the other."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from itemix._checks import as_generator
from itemix._runtime import interruptible
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.estimators.bayesian import DirichletProcessMixture
from itemix.fitted import FittedModel
from itemix.inference.loop import shown_progress
from itemix.mining.options import min_count
from itemix.mining.surprise import candidates, check_test, fit_too_well, tested
from itemix.models.base import Model, require_same_items

if TYPE_CHECKING:
    from itemix._typing import ModelLike, TransactionsLike
    from itemix.inference.loop import Seed
    from itemix.mining.intervals import ErrorSource
    from itemix.mining.surprise import Surprises

# As `itemix.fit`, but with more samples: how much they differ says how sure the model is.
_FIT: dict[str, Any] = {
    "inference": "gibbs", "beta": "learn", "n_init": 4, "n_samples": 5, "thin": 5, "tol": 0.1, "max_iter": 100
}  # fmt: skip
_FEWEST = 2


@interruptible()
def surprises(
    model: ModelLike | TransactionsLike,
    data: TransactionsLike | None = None,
    *,
    min_support: float = 0.01,
    level: float = 0.05,
    side: str = "both",
    adjust: str = "bh",
    min_len: int = 2,
    max_len: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = -1,
    progress: bool = False,
) -> Surprises:
    """Find the itemsets that are more or less frequent in data than a model allows.

    The model is not only asked what it expects, but also how sure it is. A set is a surprise if its count is
    far from what is expected, by more than chance and the model's own uncertainty explain, and if that holds
    for so many tests at once: see docs/surprise.md. Sets that are frequent in the data are tested, and sets
    that the model expects to be. So substitutes are found, which hardly occur together.

    Parameters
    ----------
    model : fitted estimator, FittedModel, or transactions
        A model with a posterior, or one that is corrected. Its mixture is tested, without the correction, by
        which it would know the sets of its training data by heart. If this is transactions, and there is no
        `data`, they are divided at random: a Dirichlet process mixture is fitted to one half, and tested on
        the other.
    data : Transactions, data frame, matrix or list of lists, optional
        Transactions that the model was not fitted to.
    min_support : float or int, default 0.01
        The threshold, as in `itemix.mine`, in the data that is tested.
    level : float, default 0.05
        The share of false finds among all finds. 1 returns all sets that were tested.
    side : {"both", "more", "less"}
        Whether to look for sets that are more frequent than expected, less, or both.
    adjust : {"bh", "by"}
        How q values are made of p values: by the method of Benjamini and Hochberg, or by that of Benjamini
        and Yekutieli, which holds however the tests depend on each other, and finds less.
    min_len, max_len : int, optional
        Bounds of the number of items.
    random_state : int, Generator or None, default 0
        The seed of the division and the fit.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors. The result does not depend on it.
    progress : bool, default False
        Whether to show on standard error how far the fit is.

    Returns
    -------
    Surprises
        The most significant first.

    Raises
    ------
    InvalidInputError
        If the model has no posterior, the data is what it was fitted to, has other items or fewer than two
        transactions, or an option has no meaning.

    Examples
    --------
    >>> import itemix
    >>> store = itemix.datasets.load("grocery_store")
    >>> train, new = store.split(0.5, random_state=0)
    >>> model = itemix.DirichletProcessMixture(inference="gibbs", random_state=0).fit(train)
    >>> found = itemix.surprises(model, new, min_support=0.02, level=1.0)
    >>> len(found) == found.n_tested
    True
    """
    level, side, adjust = check_test(level, side, adjust)
    is_divided = data is None
    if data is None:
        fitted, tested_on = _divided(model, random_state, n_jobs, progress)
    else:
        fitted = FittedModel.of(model)
        tested_on = tested_data(fitted, data)
    mixture, source = beliefs(fitted)
    bounds = {"min_len": min_len, "max_len": max_len, "n_jobs": n_jobs}
    n = tested_on.n_transactions
    found = candidates(mixture, source, tested_on, min_count(min_support, n), side, **bounds)
    facts = {"n_fitted": fitted.n_transactions, "is_divided": is_divided}
    return tested(found, n, level=level, side=side, adjust=adjust, facts=facts)


def beliefs(fitted: FittedModel) -> tuple[Model, ErrorSource]:
    """Return what a model expects, and how sure it is: its mixture, or its correction if it has no posterior.

    Raises
    ------
    InvalidInputError
        If it knows nothing of its error.
    """
    if fitted.n_posteriors:
        return fitted.of_itemsets, fitted.posteriors_of_itemsets
    return fitted.model, fitted.require_error_source()


def tested_data(fitted: FittedModel, data: TransactionsLike) -> Transactions:
    """Return the data to test a model on, over the model's items.

    Raises
    ------
    InvalidInputError
        If it has other items or fewer than two transactions, or is what the model was fitted to.
    """
    fitted.require_error_source()
    given = as_transactions(data)
    try:
        aligned = given.align_items(fitted.value.items)
    except UnknownItemError:
        require_same_items(fitted.value.items, given.items)
        raise
    _require_enough(aligned, _FEWEST)
    if _is_training(fitted, aligned):
        raise InvalidInputError(
            f"expected data that the model was not fitted to, got its {aligned.n_transactions:,} training "
            "transactions; leave the model out, and one half is fitted and the other one tested"
        )
    mixture, source = beliefs(fitted)
    if fit_too_well(mixture.items, source, aligned):
        raise InvalidInputError(
            "expected data that the model was not fitted to, got data in which its items are as frequent as "
            "it expects, closer than chance allows; pass transactions that are not in its training data"
        )
    return aligned


def _require_enough(data: Transactions, least: int) -> None:
    if data.n_transactions < least:
        raise InvalidInputError(
            f"expected at least {least} transactions to test, got {data.n_transactions}; pass more of them"
        )


def _is_training(fitted: FittedModel, data: Transactions) -> bool:
    """Whether data has the number of transactions that were fitted, and each item as often."""
    if fitted.n_transactions != data.n_transactions:
        return False
    counts = None if fitted.training is None else fitted.training.counts
    if counts is not None:
        return np.allclose(counts.item_counts.sum(axis=0), data.item_counts(), rtol=1e-6, atol=1e-3)
    if fitted.corrected is None:
        return False
    return np.array_equal(fitted.corrected.transactions.item_counts(), data.item_counts())


def _divided(
    source: ModelLike | TransactionsLike, random_state: Seed, n_jobs: int | None, progress: bool
) -> tuple[FittedModel, Transactions]:
    """Return a model of one half of transactions, and the other half."""
    if hasattr(source, "fit") or isinstance(source, Model | FittedModel):
        raise InvalidInputError(
            "expected data to test the model on, got none; try itemix.surprises(model, data), with data that "
            "it was not fitted to"
        )
    transactions = as_transactions(source)
    _require_enough(transactions, 2 * _FEWEST)
    rng = as_generator(random_state)
    halves = transactions.split(0.5, random_state=rng)
    return fit_to_test(halves[0], rng, n_jobs, progress), halves[1]


def fit_to_test(
    transactions: Transactions, rng: np.random.Generator, n_jobs: int | None, progress: bool
) -> FittedModel:
    """Fit the mixture that data is tested against when no model is given."""
    seed = int(rng.integers(1 << 31))
    model = DirichletProcessMixture(random_state=seed, n_jobs=n_jobs, **_FIT)
    with (
        warnings.catch_warnings(),
        shown_progress("fit", transactions.n_transactions, quiet=not progress) as callbacks,
    ):
        # The iterations are bounded on purpose.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(transactions, callbacks=callbacks).fitted_


@interruptible()
def summarise(
    data: TransactionsLike,
    n: int = 20,
    *,
    model: ModelLike | None = None,
    min_support: float = 0.01,
    level: float = 0.05,
    side: str = "both",
    adjust: str = "bh",
    min_len: int = 2,
    max_len: int | None = None,
    n_jobs: int | None = -1,
) -> Summary:
    """Return the shortest list of itemsets that explains data, by what a model does not know of it.

    The set that tells most is taken, the model is corrected such that it knows the set, and all sets are
    tested again: until nothing contradicts the model, or n sets are there. What follows from the sets that
    were taken is no news any more, and does not come.

    The corrected model is the one that is nearest to the model before among all that give the taken sets
    their probabilities (an I-projection, which for independent items is the distribution of maximum entropy).
    It is computed exactly.

    Parameters
    ----------
    data : Transactions, data frame, matrix or list of lists
        The transactions.
    n : int, default 20
        The most sets.
    model : fitted estimator or FittedModel, optional
        What is known already: a model with a posterior, fitted to other data. By default, only how frequent
        each item is.
    min_support, level, side, adjust, min_len, max_len, n_jobs
        As in `itemix.surprises`.

    Returns
    -------
    Summary
        The sets in the order in which they were taken.

    Raises
    ------
    InvalidInputError
        As `itemix.surprises`; also if the model has no components.

    Examples
    --------
    >>> import itemix
    >>> store = itemix.datasets.load("grocery_store")
    >>> summary = itemix.summarise(store, 3, min_support=0.02)
    >>> len(summary)
    3
    """
    check_whole("n", n, 20, least=1)
    level, side, adjust = check_test(level, side, adjust)
    if model is None:
        transactions = as_transactions(data)
        _require_enough(transactions, _FEWEST)
        # The frequencies of items are taken as they are, so that the same data may be tested.
        fitted = BayesianMixture(1).fit(transactions).fitted_
    else:
        fitted = FittedModel.of(model)
        transactions = tested_data(fitted, data)
    mixture, source = beliefs(fitted)
    if not isinstance(mixture, Mixture):
        raise InvalidInputError(
            f"expected a mixture with a posterior, got {type(mixture).__name__}; leave the model out, or fit "
            "BayesianMixture or DirichletProcessMixture without a correction"
        )
    bounds = {"min_len": min_len, "max_len": max_len, "n_jobs": n_jobs}
    n_rows = transactions.n_transactions
    found = candidates(
        mixture, source, transactions, min_count(min_support, n_rows), side, **bounds
    )
    facts = {"level": level, "side": side, "adjust": adjust, "n_fitted": None if model is None else fitted.n_transactions}
    return summary_of(mixture, found, n_rows, n, facts)
