"""Fitting, shared by all mixture estimators: the loop, its warnings, and data that comes in batches."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.exceptions import ConvergenceWarning

from itemix._runtime import interruptible
from itemix.correction import Choice, check_order, choose, correct
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.estimators import parameters
from itemix.estimators.answers import MixtureAnswers
from itemix.estimators.reading import read_input
from itemix.estimators.running import forget, printers, warn, warn_of, warn_of_choice
from itemix.estimators.totals import Totals
from itemix.inference.loop import Callback, Settings, run, tell_stage
from itemix.inference.selection import COMPONENTS, select_components
from itemix.inference.start import starter
from itemix.models.expectation import Rows, tables_of_mixture
from itemix.threads import Workers, count_threads

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Fitted
    from itemix.kernels.inference.estep import ScoreTables
    from itemix.models.counts import Counts
    from itemix.models.mixture import Mixture

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
    def _algorithm(self, rows: Rows, start: Callable[[np.random.Generator], Counts], totals: Totals) -> Any:  # noqa: ANN401 - EM or Variational, each with its own state
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
            Each is told every iteration (`itemix.inference.loop.Report`); one that returns True stops the fit.
            One that has a method `stage` is also told, in words, what comes before and after the iterations.

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file; `itemix.load` reads it back, and it answers as before."""
        from itemix.files import save

        save(self, path)

    def _fit_batch(self, transactions: Transactions, callbacks: Sequence[Callback]) -> bool:
        """Fit the mixture, and return whether Ctrl-C ended that."""
        n_components = self._checked_components(transactions, callbacks)
        parameters.require_room(n_components, transactions.n_items, self._bytes_a_cell)
        settings = self._settings()
        with Workers(count_threads(self.n_jobs)) as workers:
            rows = Rows(transactions, workers)
            start = starter(self._start(n_components), transactions, rows, n_components)
            totals = Totals.of(rows)
            algorithm = self._algorithm(rows, start, totals)
            seed = parameters.as_seed(self.random_state)
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
                rng = np.random.default_rng(parameters.as_seed(self.random_state))
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
            totals = self._totals + Totals.of(rows)
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
        self._totals = Totals(item_totals, round(self.counts_.n_transactions))
        self.n_batches_ = 1
        forget(self, "chains_")

    def _expected(self, rows: Rows, tables: ScoreTables) -> tuple[Counts, float]:
        """Return the expected counts of a batch, with all that a state holds, and its log-likelihood."""
        return rows.expected_counts(tables)

    def _open(self, counts: Counts, totals: Totals) -> Counts:
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
        return parameters.check_components(self.n_components, transactions.n_transactions)

    def _select_components(self, transactions: Transactions, callbacks: Sequence[Callback]) -> int:
        """Choose the number of components by the criterion; `selection_` keeps how."""
        seed = parameters.as_seed(self.random_state)
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
            parameters.check_whole("n_init", self.n_init),
            parameters.check_whole("max_iter", self.max_iter),
            self._tolerance(),
        )

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
