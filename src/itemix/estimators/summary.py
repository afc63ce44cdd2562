"""`itemix.surprises`, `itemix.summarise`, `itemix.compare_components`: questions that a fit answers.

A model is tested on data, and learns what it did not know. Without a model, `surprises` fits one to one half
of the data and tests it on the other half. `compare_components` fits one to two sets of transactions
together, to see which kinds of transactions are more frequent in one of them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from itemix._checks import as_generator, check_choice, check_whole
from itemix._runtime import interruptible, still_wanted
from itemix.core.display import joined, plural
from itemix.core.sets import Sets
from itemix.core.tables import TableColumns
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError
from itemix.estimators.bayesian import BayesianMixture, DirichletProcessMixture
from itemix.fitted import FittedModel
from itemix.inference.loop import shown_progress
from itemix.mining.characteristics import characteristic_items, in_words
from itemix.mining.comparison import aligned_pair, compare_shares, groups_of
from itemix.mining.measures import ADJUSTMENTS
from itemix.mining.search import min_count
from itemix.mining.surprise import (
    Counted,
    aligned,
    candidates,
    check_false_share,
    check_test,
    fit_too_well,
    p_and_q_values,
    tails,
    tested,
    unknown_in_title,
)
from itemix.models.base import Model, require_same_items
from itemix.models.maxent import TiltedMixture
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import Floats, ModelLike, TransactionsLike
    from itemix.inference.loop import Seed
    from itemix.mining.comparison import ComponentShifts
    from itemix.mining.intervals import ErrorSource
    from itemix.mining.surprise import SetsToTest, Surprises

# As `itemix.fit`, but with more samples: how much they differ says how sure the model is.
_FIT: dict[str, Any] = {
    "inference": "gibbs", "beta": "learn", "n_init": 4, "n_samples": 5, "thin": 5, "tol": 0.1, "max_iter": 100
}  # fmt: skip
_FEWEST = 2
_ITEMS_TOLD = 4


class Summary(Counted):
    """Itemsets that explain data, in the order in which they were taken: an immutable, columnar value.

    What is expected of a set is what the model expects once it knows the sets before it. `to_pandas` and the
    files have a column for each property of the same name.

    See Also
    --------
    itemix.summarise : make a summary of data.
    """

    _kind = "summary"
    _types: ClassVar = {
        "itemsets": "sets",
        "count": "int64",
        **dict.fromkeys(("support", "expected", "ratio", "p_value", "q_value", "gain"), "float64"),
    }
    _in_table = ("count", "support", "expected", "ratio", "q_value", "gain", "itemsets")
    _percents = frozenset(("support", "expected"))
    __slots__ = ()

    @property
    def gain(self) -> Floats:
        """By how much the log-likelihood of all transactions rises with each set, shape (n,)."""
        return self._columns.numbers("gain")

    @property
    def is_complete(self) -> bool:
        """Whether nothing contradicts the model any more that knows these sets."""
        return bool(self._columns.facts["is_complete"])

    def _title(self) -> str:
        rest = "nothing else contradicts" if self.is_complete else "more would follow"
        what = f"Summary: {plural(len(self), 'itemset')} of {plural(self.n_transactions, 'transaction')}"
        return joined([what, rest, unknown_in_title(self._columns.facts.get("n_unknown", 0))])


@interruptible()
def surprises(
    model: ModelLike | Sequence[ModelLike] | TransactionsLike,
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
    model : fitted estimator, FittedModel, a list of them, or transactions
        A model with a posterior, or one that is corrected. Its mixture is tested, without the correction, by
        which it would know the sets of its training data by heart. Several models, fitted to the same data
        from other seeds, are tested as one: what they do not agree on is uncertain, too, and there are fewer
        false finds. If this is transactions, and there is no `data`, they are divided at random: a Dirichlet
        process mixture is fitted to one half, and tested on the other.
    data : Transactions, data frame, matrix or list of lists, optional
        Transactions that the model was not fitted to. Items that it does not know are left out of them.
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
        If the model has no posterior, the data is what it was fitted to, has mostly other items or fewer than
        two transactions, or an option has no meaning.

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
    is_divided, n_unknown = data is None, 0
    if data is None:
        several: Sequence[FittedModel]
        several, tested_on = _divided(model, random_state, n_jobs, progress)
    else:
        several = _models_of(model)
        tested_on, n_unknown = tested_data(several, data)
    mixture, source = beliefs(*several)
    bounds: Any = {"min_len": min_len, "max_len": max_len, "n_jobs": n_jobs}
    n = tested_on.n_transactions
    found = candidates(mixture, source, tested_on, min_count(min_support, n), side, **bounds)
    facts = {"n_fitted": several[0].n_transactions, "is_divided": is_divided, "n_unknown": n_unknown}
    return tested(found, n, level=level, side=side, adjust=adjust, facts=facts)


def beliefs(*several: FittedModel) -> tuple[Model, ErrorSource]:
    """Return what models expect together, and how sure they are.

    That is the average of their mixtures and all of their posteriors. A single one without a posterior
    believes its correction.

    Raises
    ------
    InvalidInputError
        If one knows nothing of its error, or several have no posterior.
    """
    for fitted in several:
        fitted.require_error_source()
    if len(several) == 1 and not several[0].n_posteriors:
        return several[0].model, several[0].error_source
    if len(several) == 1:
        return several[0].of_itemsets, several[0].posteriors_of_itemsets
    mixtures = []
    for fitted in several:
        mixture = fitted.of_itemsets
        if not (fitted.n_posteriors and isinstance(mixture, Mixture)):
            raise InvalidInputError(
                f"expected mixtures with a posterior each, got {fitted.kind}; leave out that one"
            )
        require_same_items(several[0].value.items, mixture.items)
        mixtures.append(mixture)
    return Mixture.stack(mixtures), tuple(p for fitted in several for p in fitted.posteriors_of_itemsets)


def _models_of(source: ModelLike | Sequence[ModelLike] | TransactionsLike) -> list[FittedModel]:
    """Return one model, or several."""
    if isinstance(source, list | tuple) and not source:
        raise InvalidInputError("expected one fitted model or more, got an empty list; try [first, second]")
    return [FittedModel.of(one) for one in (source if _are_models(source) else [source])]


def _are_models(source: object) -> bool:
    """Whether this is a list of models; transactions are lists, too."""
    return isinstance(source, list | tuple) and len(source) > 0 and all(map(_is_model, source))


def _is_model(source: object) -> bool:
    return hasattr(source, "fit") or isinstance(source, Model | FittedModel)


def tested_data(several: Sequence[FittedModel], data: TransactionsLike) -> tuple[Transactions, int]:
    """Return the data to test models on, over their items, and how many others were left out.

    Raises
    ------
    InvalidInputError
        If it has mostly other items or fewer than two transactions, or is what a model was fitted to.
    """
    mixture, source = beliefs(*several)
    transactions, n_unknown = aligned(data, mixture.items)
    _require_enough(transactions, _FEWEST)
    if any(fitted.was_fitted_to(transactions) for fitted in several):
        raise InvalidInputError(
            "expected data that the model was not fitted to, got its "
            f"{transactions.n_transactions:,} training transactions; pass others, or only the data to "
            "surprises, which fits one half and tests the other"
        )
    if fit_too_well(mixture.items, source, transactions):
        raise InvalidInputError(
            "expected data that the model was not fitted to, got data in which its items are as frequent as "
            "it expects, closer than chance allows; pass transactions that are not in its training data"
        )
    return transactions, n_unknown


def _require_enough(data: Transactions, least: int) -> None:
    if data.n_transactions < least:
        raise InvalidInputError(
            f"expected at least {least} transactions to test, got {data.n_transactions}; pass more of them"
        )


def _divided(
    source: ModelLike | TransactionsLike, random_state: Seed, n_jobs: int | None, progress: bool
) -> tuple[list[FittedModel], Transactions]:
    """Return models of one half of transactions, and the other half."""
    if _is_model(source) or _are_models(source):
        raise InvalidInputError(
            "expected transactions to test the model on, got none; try itemix.surprises(model, data), with "
            "data that it was not fitted to"
        )
    transactions = as_transactions(source)
    _require_enough(transactions, 2 * _FEWEST)
    rng = as_generator(random_state)
    halves = transactions.split(0.5, random_state=rng)
    return [fit_to_test(halves[0], rng, n_jobs, progress)], halves[1]


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
def compare_components(
    a: TransactionsLike,
    b: TransactionsLike | None = None,
    *,
    by: Sequence[object] | None = None,
    n_components: int = 20,
    level: float = 0.05,
    adjust: str = "bh",
    random_state: Seed = 0,
    n_jobs: int | None = -1,
    progress: bool = False,
) -> ComponentShifts:
    """Find the components, kinds of transactions, whose shares differ between two sets of transactions.

    One mixture is fitted to both together. Each transaction is put to the component that it most probably
    belongs to, and the two counts of each component are compared by Fisher's exact test. The fit does not
    know which transactions are whose. So if both are alike, all ways to divide them are, and the test is
    exact.

    Parameters
    ----------
    a, b : transactions in any form
        What is compared, as in `itemix.compare`.
    by : a value for each transaction of a, instead of b
        Groups of transactions: each (b) is compared with all others (a), or, if there are only two, the
        second with the first.
    n_components : int, default 20
        The most components of the mixture, a Dirichlet process mixture fitted by variational inference.
    level : float, default 0.05
        What the adjusted p-value may be at most. 1 returns all components.
    adjust : {"bh", "by", "holm", "bonferroni", "none"}, default "bh"
        How p-values are adjusted for all components, in all groups.
    random_state : int, Generator or None, default 0
        The seed of the fit.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors. The result does not depend on it.
    progress : bool, default False
        Whether to show on standard error how far the fit is.

    Returns
    -------
    ComponentShifts
        The components whose shares differ, the most significant first.

    Raises
    ------
    InvalidInputError
        If there is nothing to compare, or an argument is not valid.

    Examples
    --------
    >>> import itemix
    >>> winter = [["tea", "cake"]] * 30 + [["coffee"]] * 70
    >>> summer = [["tea", "cake"]] * 5 + [["coffee"]] * 95
    >>> found = itemix.compare_components(winter, summer)
    >>> [(items, round(ratio, 2)) for items, ratio in zip(found.typical, found.ratio.tolist())]
    [(('coffee',), 1.36), (('cake', 'tea'), 0.17)]
    """
    check_choice("adjust", adjust, ADJUSTMENTS)
    level = check_false_share(level)
    check_whole("n_components", n_components, 20, least=1)
    if by is None:
        first, second = aligned_pair(a, b)
        pooled = Transactions.concatenate([first, second])
        sides: list[Any] = [(None, np.arange(pooled.n_transactions) >= first.n_transactions)]
    elif b is not None:
        raise InvalidInputError("expected b or by, got both; leave out one")
    else:
        pooled = as_transactions(a)
        sides = list(groups_of(pooled, by))
    rng = as_generator(random_state)
    # In random order, so that the fit cannot tell one side from the other.
    order = rng.permutation(pooled.n_transactions)
    seed = int(rng.integers(1 << 31))
    model = DirichletProcessMixture(n_components, random_state=seed, n_jobs=n_jobs)
    with (
        warnings.catch_warnings(),
        shown_progress("fit", pooled.n_transactions, quiet=not progress) as callbacks,
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(pooled[order], callbacks=callbacks)
    components = model.components_
    largest = np.argsort(-components.weights, kind="stable")
    rank = np.empty_like(largest)
    rank[largest] = np.arange(len(largest))
    told = [characteristic_items(components, int(k), _ITEMS_TOLD) for k in largest]
    typical = Sets.from_names([[found.item for found in row] for row in told], pooled.items)
    mostly = [in_words(components, int(k), _ITEMS_TOLD) for k in largest]
    return compare_shares(rank[model.predict(pooled)], sides, typical, mostly, level=level, adjust=adjust)


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
    n_unknown = 0
    if model is None:
        transactions = as_transactions(data)
        _require_enough(transactions, _FEWEST)
        # The frequencies of items are taken as they are, so that the same data may be tested.
        fitted = BayesianMixture(1).fit(transactions).fitted_
    else:
        fitted = FittedModel.of(model)
        transactions, n_unknown = tested_data([fitted], data)
    mixture, source = beliefs(fitted)
    if not isinstance(mixture, Mixture):
        raise InvalidInputError(
            f"expected a mixture with a posterior, got {type(mixture).__name__}; leave the model out, or fit "
            "BayesianMixture or DirichletProcessMixture without a correction"
        )
    bounds: Any = {"min_len": min_len, "max_len": max_len, "n_jobs": n_jobs}
    least = min_count(min_support, transactions.n_transactions)
    found = candidates(mixture, source, transactions, least, side, **bounds)
    facts = {"level": level, "side": side, "adjust": adjust, "n_unknown": n_unknown}
    return _summary(mixture, found, transactions, n, facts)


def _summary(
    mixture: Mixture, found: SetsToTest, data: Transactions, n: int, facts: dict[str, Any]
) -> Summary:
    """Take the set that tells most, again and again."""
    n_rows = data.n_transactions
    support, items = found.counts / n_rows, data.item_counts() / n_rows
    # The mixture counts as one more transaction, so that no set becomes impossible or certain.
    wanted = (found.counts + found.mean) / (n_rows + 1)
    wanted_items = (n_rows * items + mixture.item_probabilities) / (n_rows + 1)
    mean, taken = found.mean, np.empty(0, dtype=np.int64)
    tilted: TiltedMixture | None = None
    steps: list[tuple[float, ...]] = []
    log_likelihood, is_complete = 0.0, False
    while len(taken) < n:
        still_wanted()
        both = tails(found.counts, n_rows, mean, found.spread)
        p, q = p_and_q_values(*both, found, facts["side"], facts["adjust"])
        left = np.flatnonzero(q <= facts["level"])
        left = left[~np.isin(left, taken)]
        is_complete = len(left) == 0
        if is_complete:
            break
        best = int(left[np.argmax(_divergence(support[left], mean[left]))])
        taken = np.append(taken, best)
        sets = found.sets.take(taken)
        own = np.unique(sets.codes)
        single = Sets.from_lengths(np.ones(len(own), dtype=np.int64), own, sets.items)
        known = np.concatenate([wanted[taken], wanted_items[own]])
        tilted = TiltedMixture(mixture, Sets.concatenate([sets, single]), known, tilted)
        now = n_rows * tilted.gain(np.concatenate([support[taken], items[own]]))
        steps.append((mean[best], p[best], q[best], now - log_likelihood))
        log_likelihood = now
        mean = tilted.probabilities_of_sets(found.sets)
    expected, p, q, gain = (column.copy() for column in np.array(steps).reshape(-1, 4).T)
    values = {
        "itemsets": found.sets.take(taken),
        "count": found.counts[taken],
        "support": support[taken],
        "expected": expected,
        "ratio": support[taken] / expected,
        "p_value": p,
        "q_value": q,
        "gain": gain,
    }
    more = {"n_transactions": n_rows, "n_tested": len(found.sets), "is_complete": int(is_complete)}
    return Summary(TableColumns("summary", found.sets.items, values, {**more, **facts}))


def _divergence(support: Floats, mean: Floats) -> Floats:
    """Return by how much the mean log-likelihood rises if a set gets its support for its probability."""
    from scipy.special import rel_entr

    gain: Floats = rel_entr(support, mean) + rel_entr(1 - support, 1 - mean)
    return gain
