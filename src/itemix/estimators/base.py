"""Fitting, shared by all mixture estimators: the loop, its warnings, and data that comes in batches."""

from __future__ import annotations

import inspect
import sys
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.exceptions import ConvergenceWarning

from itemix import _checks
from itemix._checks import check_whole
from itemix._runtime import Workers, count_threads, interruptible, require_memory
from itemix.core.display import plural
from itemix.correction import Choice, check_order, choose, correct
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.estimators.answers import Answers, MixtureAnswers, read_input
from itemix.inference.loop import Callback, Settings, run, tell_stage
from itemix.inference.selection import COMPONENTS, select_components
from itemix.inference.start import starter
from itemix.models.counts import Rows, tables_of_mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Fitted, Report, Seed
    from itemix.inference.selection import Scores, Selection
    from itemix.kernels.inference.estep import ScoreTables
    from itemix.models.counts import Counts
    from itemix.models.mixture import Mixture


# Rules for the parameters of the estimators, and the seeds made of `random_state`.


def require_room(n_components: int, n_items: int, bytes_a_cell: float) -> None:
    """Refuse a model that would not fit into memory, before anything is allocated.

    Parameters
    ----------
    n_components, n_items : int
        The shape of the model.
    bytes_a_cell : float
        What a fit takes for each item of each component at its peak, as measured.

    Raises
    ------
    NotEnoughMemoryError
        If it takes more than this process may still take.
    """
    require_memory(
        bytes_a_cell * n_components * n_items,
        f"{n_components:,} components of {n_items:,} items",
        "lower n_components, or leave out rare items with select_items",
    )


def check_least(name: str, value: object, low: int = 1) -> int:
    """Return a whole number of at least `low`, or raise InvalidInputError."""
    return _checks.check_whole(name, value, low, least=low)


def check_tol(value: object) -> float:
    """Return a tolerance of zero or more, or raise InvalidInputError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
        raise InvalidInputError(f"expected tol of zero or more, got {value!r}; try 1e-4")
    return float(value)


def check_amount(name: str, value: object) -> float:
    """Return a finite number of zero or more, or raise InvalidInputError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < float("inf"):
        raise InvalidInputError(f"expected {name} as a number of zero or more, got {value!r}; try 1.0")
    return float(value)


def check_components(value: object, n_transactions: int) -> int:
    """Return the number of components, at most that of the transactions, or raise InvalidInputError."""
    n_components = check_least("n_components", value)
    if n_components > n_transactions:
        raise InvalidInputError(
            f"expected n_components of at most n_samples={n_transactions}, the transactions, got "
            f"{n_components}; ask for fewer components"
        )
    return n_components


def as_seed(random_state: object) -> Seed:
    """Return what `numpy.random` takes, of anything that scikit-learn takes as `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None or isinstance(random_state, np.random.Generator | np.random.SeedSequence):
        return random_state
    return check_least("random_state", random_state, 0)


# What estimators that iterate say of it: printed lines, and a warning if a fit has not converged.


def printers(verbose: int) -> list[Callback]:
    """Return what prints every so many iterations; nothing for 0."""
    every = int(verbose) if isinstance(verbose, bool) else check_whole("verbose", verbose, 0)
    return [] if every <= 0 else [_Printer(every)]


class _Printer:
    """Prints some iterations, and what comes before and after them."""

    def __init__(self, every: int) -> None:
        self._every = every

    def __call__(self, report: Report) -> None:
        if report.iteration % self._every == 0 or report.iteration == 1:
            sys.stderr.write(
                f"start {report.restart + 1} of {report.n_restarts}, iteration {report.iteration}: "
                f"{report.bound:.6g}, {plural(report.n_components, 'component')}, {report.seconds:.1f} s\n"
            )

    def stage(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")


def forget(model: Any, *attributes: str) -> None:  # noqa: ANN401 - an estimator
    """Drop what an earlier fit has learned, and another one may not learn."""
    for name in attributes:
        if hasattr(model, name):
            delattr(model, name)


def warn(message: str) -> None:
    """Warn of how a fit went, at the line outside of this library that asked for it."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "itemix":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ConvergenceWarning, stacklevel=level)


def warn_of_choice(scores: Scores | Selection, n_tried: int, what: str, best: object) -> None:
    """Warn if Ctrl-C has ended a choice."""
    if scores.interrupted:
        tried = f"{best}, the best of {n_tried} tried," if n_tried > 1 else f"{best}, the only one tried,"
        warn(f"the choice of {what} was interrupted; {tried} is taken")


def warn_of(model: Any, *, interrupted: bool, stopped: bool) -> None:  # noqa: ANN401 - an estimator
    """Warn if the fit of a model was interrupted, or has not converged and was not stopped by a callback."""
    name = type(model).__name__
    if interrupted:
        left_out = "" if getattr(model, "correction", None) is None else ", without a correction"
        n_iter = plural(model.n_iter_, "iteration")
        message = f"{name} was interrupted; the best state so far is kept ({n_iter}){left_out}"
    elif not model.converged_ and not stopped:
        message = (
            f"{name} did not converge in max_iter={model.max_iter} iterations; raise max_iter, or "
            "use the model as it is"
        )
    else:
        return
    warn(message)


# Totals: what priors are made of, and what a stream adds up.


@dataclass(frozen=True, eq=False)
class DataTotals:
    """How often each item occurs, in how many transactions.

    Attributes
    ----------
    item_totals : array of int, shape (n_items,)
        How many transactions hold each item.
    n_transactions : int
        The number of transactions.
    """

    item_totals: npt.NDArray[np.int64]
    n_transactions: int

    @classmethod
    def of(cls, rows: Rows) -> DataTotals:
        """Return those of rows that are ready for E-steps."""
        return cls(rows.item_totals, rows.n_transactions)

    def __add__(self, other: DataTotals) -> DataTotals:
        return DataTotals(self.item_totals + other.item_totals, self.n_transactions + other.n_transactions)


# What the estimators share that learn another model than a mixture of Bernoulli products.


class ModelEstimator(Answers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: a subclass learns its model from transactions."""

    @abstractmethod
    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> None:
        """Set what is learned."""

    def fit(self, X: Any, y: object = None, *, callbacks: Sequence[Callback] = ()) -> Self:  # noqa: ANN401
        """Fit the model.

        Parameters
        ----------
        X : Transactions, list of lists of str, array, sparse matrix or data frame
            Binary data.
        y : ignored
            For scikit-learn's sake.
        callbacks : sequence of callables
            Each is told every iteration (`itemix.inference.loop.Report`), if there are any; one that returns
            True stops the fit. One that has a method `stage` is also told, in words, what comes before.
        """
        transactions = read_input(self, X)
        with interruptible():
            self._learn(transactions, callbacks)
        self.n_transactions_ = transactions.n_transactions
        return self

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


# A batch counts as its share of all transactions so far to the power of 0.7, which is t^-0.7 for the t-th of
# equal batches (Hoffman et al. 2013: between 0.5 and 1).
_FORGETTING = 0.7


class MixtureEstimator(MixtureAnswers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the mixture estimators: a subclass says which algorithm it runs."""

    n_components: Any
    criterion: str
    init: Any
    n_init: int
    max_iter: int
    warm_start: bool
    verbose: int
    n_jobs: int | None
    correction: Any
    # Memory at the peak of a fit, for each item of each component.
    _bytes_a_cell: ClassVar[float]

    @abstractmethod
    def _algorithm(
        self, rows: Rows, start: Callable[[np.random.Generator], Counts], totals: DataTotals
    ) -> Any:  # noqa: ANN401 - EM or Variational, each with its own state
        """Return the batch algorithm for some rows, its prior made of the item totals."""

    @abstractmethod
    def _tolerance(self) -> float:
        """Return the checked tolerance."""

    def fit(self, X: Any, y: object = None, *, callbacks: Sequence[Callback] = ()) -> Self:  # noqa: ANN401
        """Fit the model.

        Parameters
        ----------
        X : Transactions, list of lists of str, array, sparse matrix or data frame
            Binary data.
        y : ignored
            For scikit-learn's sake.
        callbacks : sequence of callables
            Each is told every iteration (`itemix.inference.loop.Report`); one that returns True stops the
            fit. One that has a method `stage` is also told, in words, what comes before and after the
            iterations.

        Notes
        -----
        Ctrl-C ends what is being done, and what there is by then is kept, with a warning: the choice of the
        number of components (the best so far is fitted), the fit (the model is not corrected), or the
        correction. It is a KeyboardInterrupt only where there is nothing to keep yet.
        """
        transactions = read_input(self, X)
        if not (self.correction is None or (isinstance(self.correction, str) and self.correction == "auto")):
            check_order(self.correction)
        forget(self, "chains_", "selection_", "correction_choice_", "n_batches_", "_totals")
        with interruptible():
            observers = [*printers(self.verbose), *callbacks]
            interrupted = self._fit_batch(transactions, observers)
            if self.correction is not None and not interrupted:
                self._correct(transactions, observers)
        return self

    def fit_predict(self, X: Any, y: object = None) -> npt.NDArray[np.int64]:  # noqa: ANN401
        """Fit the model and return the most probable component of each transaction."""
        return self.fit(X, y).predict(X)

    def _fit_batch(self, transactions: Transactions, callbacks: Sequence[Callback]) -> bool:
        """Fit the mixture, and return whether Ctrl-C ended that."""
        n_components = self._checked_components(transactions, callbacks)
        require_room(n_components, transactions.n_items, self._bytes_a_cell)
        settings = self._settings()
        with Workers(count_threads(self.n_jobs)) as workers:
            rows = Rows(transactions, workers)
            start = starter(self._start(n_components), transactions, rows, n_components)
            totals = DataTotals.of(rows)
            algorithm = self._algorithm(rows, start, totals)
            seed = as_seed(self.random_state)
            result = run(algorithm, rows.n_transactions, settings, seed, callbacks=callbacks)
            state, interrupted = result.state, result.interrupted
            try:
                state = self._measured(algorithm, state)
            except KeyboardInterrupt:  # the fit is done; its intervals are narrower
                interrupted = True
            fitted = algorithm.finish(state)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.lower_bounds_ = result.bounds / rows.n_transactions
        self.lower_bound_ = float(self.lower_bounds_[-1])
        self.n_batches_ = 1
        self._totals = totals
        self._keep(fitted)
        warn_of(self, interrupted=interrupted, stopped=result.stopped)
        return interrupted

    def _measured(self, algorithm: Any, state: Any) -> Any:  # noqa: ANN401 - that of the algorithm
        """Return the last state with what the result needs and no step does: here nothing."""
        return state

    def _correct(self, transactions: Transactions, callbacks: Sequence[Callback]) -> None:
        """Correct the mixture by the counts of short itemsets, as far as that helps and Ctrl-C lets it."""
        order = self.correction
        try:
            if order == "auto":
                tell_stage(callbacks, "choosing the correction")
                rng = np.random.default_rng(as_seed(self.random_state))
                order = choose(self.mixture_, transactions, rng)
            if not isinstance(order, Choice) or order.best.order > 0:
                tell_stage(callbacks, "correcting by the counts of itemsets")
                self.corrected_ = correct(self.mixture_, transactions, order)
        except KeyboardInterrupt:
            warn(f"the correction of {type(self).__name__} was interrupted; the model is kept without one")
            return
        if isinstance(order, Choice):
            self.correction_choice_ = order

    def _partial_fit(self, X: Any) -> Self:  # noqa: ANN401 - whatever users have
        """Take in a batch: the first is fitted, each later one blended into the mean expected counts.

        The counts of a batch are those expected under the mean parameters, also in variational inference.
        Expected logarithms would be the coordinate ascent, but shut a component off from all items that the
        few transactions of the first batches did not bring it: where the prior is 0.01, that is -100.
        """
        if self.correction is not None:
            raise InvalidInputError(
                f"expected correction=None for data in batches, got {self.correction!r}; correct the mixture "
                "when all of it has been seen, with itemix.correction.correct(model.mixture_, batches, 3)"
            )
        if not hasattr(self, "mixture_"):
            return self.fit(X)
        transactions = self._batch(X)
        if not hasattr(self, "n_batches_"):
            self._begin_stream()
        with Workers(count_threads(self.n_jobs)) as workers:
            rows = Rows(transactions, workers)
            totals = self._totals + DataTotals.of(rows)
            algorithm = self._algorithm(rows, lambda _: self.counts_, totals)
            before = algorithm.finish(algorithm.state_of(self._open(self.counts_, totals))).mixture
            probs = np.ascontiguousarray(before.probs.T)
            new, bound = self._expected(rows, tables_of_mixture(before.weights, probs, rows.flipped, workers))
        rate = (rows.n_transactions / totals.n_transactions) ** _FORGETTING
        mean = self.counts_.scaled((1 - rate) / self.counts_.n_transactions)
        counts = (mean + new.scaled(rate / new.n_transactions)).scaled(totals.n_transactions)
        self._totals = totals
        self.n_batches_ += 1
        self.n_iter_ += 1
        self.lower_bound_ = bound / rows.n_transactions
        self.lower_bounds_ = np.append(self.lower_bounds_, self.lower_bound_)
        self._keep(algorithm.finish(algorithm.state_of(counts)))
        return self

    def _batch(self, X: Any) -> Transactions:  # noqa: ANN401 - whatever users have
        """Return a batch with the items of the first, matched by their names; it need not have all."""
        items = self.mixture_.items
        try:
            return self._transactions(X).align_items(items)
        except UnknownItemError as error:
            raise UnknownItemError(
                f"{str(error).partition(';')[0]}; give the first batch the names of all items, as in "
                "partial_fit(first.align_items(names))"
            ) from None

    def _begin_stream(self) -> None:
        """Go on from the last sample of a sampler, whose components share out all transactions."""
        item_totals = self.counts_.item_counts.sum(axis=0).astype(np.int64)
        self._totals = DataTotals(item_totals, round(self.counts_.n_transactions))
        self.n_batches_ = 1
        forget(self, "chains_")

    def _expected(self, rows: Rows, tables: ScoreTables) -> tuple[Counts, float]:
        """Return the expected counts of a batch, with all that a state holds, and its log-likelihood."""
        return rows.expected_counts(tables)

    def _open(self, counts: Counts, totals: DataTotals) -> Counts:
        """Return counts under which the next batch may hold what no batch has held yet."""
        return counts

    def _keep(self, fitted: Fitted) -> None:
        self.mixture_: Mixture = fitted.mixture
        self.counts_: Counts = fitted.counts
        self.n_components_ = fitted.mixture.n_components
        self.posteriors_ = () if fitted.posterior is None else (fitted.posterior,)
        self.corrected_ = None

    def _checked_components(self, transactions: Transactions, callbacks: Sequence[Callback]) -> int:
        if isinstance(self.n_components, str) and self.n_components == "auto":
            return self._select_components(transactions, callbacks)
        return check_components(self.n_components, transactions.n_transactions)

    def _select_components(self, transactions: Transactions, callbacks: Sequence[Callback]) -> int:
        """Choose the number of components by the criterion; `selection_` keeps how."""
        seed = as_seed(self.random_state)
        found = self.selection_ = select_components(
            self._candidate,
            transactions,
            criterion=self.criterion,
            random_state=np.random.default_rng(seed),
            callbacks=callbacks,
        )
        warn_of_choice(found, len(found.scores), COMPONENTS, found.best)
        return found.best

    def _candidate(self, transactions: Transactions, n_components: int) -> Mixture:
        """Fit a copy with some number of components, for the selection."""
        changes = {"n_components": n_components, "verbose": 0, "warm_start": False, "correction": None}
        model: Self = clone(self).set_params(**changes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if model._fit_batch(transactions, ()):
                raise KeyboardInterrupt
        return model._predictive()

    def _predictive(self) -> Mixture:
        """Return the mixture to score unseen transactions with."""
        return self.mixture_

    def _start(self, n_components: int) -> Any:  # noqa: ANN401 - see starter
        """Return what to start from: the last model if a fit goes on, unless another number was chosen."""
        if not self.warm_start or not hasattr(self, "mixture_"):
            return self.init
        last = self._last()
        return self.init if self.n_components == "auto" and last.n_components != n_components else last

    def _last(self) -> Mixture:
        """Return the mixture that a fit goes on from."""
        return self.mixture_

    def _settings(self) -> Settings:
        return Settings(
            check_least("n_init", self.n_init),
            check_least("max_iter", self.max_iter),
            self._tolerance(),
        )

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
