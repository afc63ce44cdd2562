"""The bases of all estimators: checks of parameters, warnings of how a fit went, and the fit itself.

`MixtureEstimator` is the base of mixtures of Bernoulli products; it fits data at once or batch by batch.
`ModelEstimator` is the base of all other models.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.exceptions import ConvergenceWarning

from itemix._checks import check_flag, check_whole
from itemix._runtime import Workers, count_threads, interruptible, require_memory
from itemix.core.display import plural
from itemix.correction import Choice, check_correction, choose, correct
from itemix.errors import InvalidInputError, UnknownItemError
from itemix.estimators.answers import Answers, Learned, MixtureAnswers, counted, read_input
from itemix.fitted import USED, FittedModel, Training
from itemix.inference import METHODS
from itemix.inference.groups import group_codes, learn_groups
from itemix.inference.loop import Callback, Settings, run, shown_progress, tell_stage
from itemix.inference.priors import DataTotals
from itemix.inference.selection import COMPONENTS, select_components
from itemix.inference.start import starter
from itemix.io.chunks import Chunks
from itemix.io.partitions import Listed, Partitions, partitions
from itemix.models.counts import Rows, SplitRows, blocks_to_prepare, tables_of_mixture
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from itemix._typing import TransactionsLike
    from itemix.core.transactions import Transactions
    from itemix.inference.groups import GroupCodes, GroupsLike
    from itemix.inference.loop import Fitted, Report, Run, Seed
    from itemix.inference.selection import Scores, Selection
    from itemix.inference.start import Init
    from itemix.kernels.models.estep import ScoreTables
    from itemix.models.base import Model
    from itemix.models.counts import Counts


# A component that holds more of the transactions than this leaves too little for the others.
_NEARLY_ALL = 0.9


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
        If that is more than this process may still take.
    """
    require_memory(
        bytes_a_cell * n_components * n_items,
        f"{n_components:,} components of {n_items:,} items",
        "lower n_components, or leave out rare items with select_items",
    )


def check_least(name: str, value: object, low: int = 1) -> int:
    """Return a whole number of at least `low`, or raise InvalidInputError."""
    return check_whole(name, value, low, least=low)


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
    """Return a seed for `numpy.random` from anything that scikit-learn takes as `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None or isinstance(random_state, np.random.Generator | np.random.SeedSequence):
        return random_state
    return check_least("random_state", random_state, 0)


def printers(verbose: int) -> list[Callback]:
    """Return a callback that prints every so many iterations; none for 0."""
    every = int(verbose) if isinstance(verbose, bool) else check_whole("verbose", verbose, 0)
    return [] if every <= 0 else [_Printer(every)]


class _Printer:
    """Prints every so many iterations, and the stages before and after them."""

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


def warn(message: str) -> None:
    """Warn of how a fit went; the warning points to the line outside this library that asked for it."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "itemix":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ConvergenceWarning, stacklevel=level)


def warn_of_choice(scores: Scores | Selection, n_tried: int, what: str, best: object) -> None:
    """Warn if Ctrl-C has ended a choice."""
    if scores.interrupted:
        tried = f"{best}, the best of {n_tried} tried," if n_tried > 1 else f"{best}, the only one tried,"
        warn(f"the choice of {what} was interrupted; {tried} is taken")


def warn_of_fit(model: BaseEstimator, training: Training) -> None:
    """Warn if a fit was interrupted, or did not converge although no callback stopped it."""
    name = type(model).__name__
    if training.interrupted:
        left_out = "" if getattr(model, "correction", None) is None else ", without a correction"
        n_iter = plural(training.n_iter or 0, "iteration")
        message = f"{name} was interrupted; the best state so far is kept ({n_iter}){left_out}"
    elif not training.converged and not training.stopped:
        message = (
            f"{name} did not converge in max_iter={model.max_iter} iterations; raise max_iter, or "
            "use the model as it is"
        )
    else:
        return
    warn(message)


def with_correction(
    model: Any,  # noqa: ANN401 - an estimator with correction=
    fitted: FittedModel,
    transactions: Transactions,
    refit: Callable[[Transactions], Model],
    callbacks: Sequence[Callback],
) -> FittedModel:
    """Return a fitted model, corrected as its estimator asks for; as it is if Ctrl-C comes before that.

    Parameters
    ----------
    model : estimator
        It has a correction and a seed.
    fitted : FittedModel
        What it has fitted.
    transactions : Transactions
        The data.
    refit : function
        Fits the same to a part of the data.
    callbacks : sequence of callables
        Those with a method `stage` are told.
    """
    worth = model.correction
    try:
        if worth == "auto":
            tell_stage(callbacks, "choosing the correction")
            worth = choose(refit, transactions, np.random.default_rng(as_seed(model.random_state)))
        corrected = correct(fitted.of_itemsets, transactions, worth, whole=fitted.value)
    except KeyboardInterrupt:
        warn(f"the correction of {type(model).__name__} was interrupted; the model is kept without one")
        return fitted
    return replace(fitted, corrected=corrected, choice=worth if isinstance(worth, Choice) else None)


class ModelEstimator(Answers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators of other models than mixtures: a subclass learns its model from transactions."""

    n_transactions_: Learned[int] = Learned("training.n_transactions")

    @abstractmethod
    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> FittedModel:
        """Return the model that is learned, and how."""

    def fit(
        self,
        X: TransactionsLike,
        y: object = None,
        *,
        callbacks: Sequence[Callback] = (),
        progress: bool = False,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Transactions, list of lists of str, array, sparse matrix or data frame
            Binary data.
        y : ignored
            For scikit-learn's sake.
        callbacks : sequence of callables
            Each is called after every iteration, if there are any, with an `itemix.inference.loop.Report`.
            One that returns True stops the fit. One that has a method `stage` is also told, in words, what is
            done before.
        progress : bool, default False
            Whether to show how far the fit is: on standard error, or in a notebook.
        sample_weight : array of int, shape (n_transactions,), optional
            How many transactions each one stands for: whole numbers, of which 0 leaves one out. Fractions are
            refused.
        """
        transactions = counted(read_input(self, X), sample_weight)
        quiet = not check_flag("progress", progress)
        with interruptible(), shown_progress("fit", transactions.n_transactions, quiet=quiet) as shown:
            self.fitted_ = self._learn(transactions, [*shown, *callbacks])
        return self

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


# With this many transactions, half the chains are enough to find out what a model of them is worth.
_ENOUGH = 2_000
# The weight of a batch is its share of all transactions so far, to this power: t^-0.7 for the t-th of equal
# batches. Hoffman et al. (2013) ask for a power between 0.5 and 1.
_FORGETTING = 0.7


def _rows_of(data: Any, workers: Workers) -> Rows | SplitRows:  # noqa: ANN401 - Transactions or Partitions
    if isinstance(data, Partitions):
        return SplitRows(data, workers)
    if blocks_to_prepare(data) == 1:
        return Rows(data, workers)
    return SplitRows(Partitions.known(Listed([data]), data.items, [data.n_transactions]), workers)


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
    _method: str
    # Memory at the peak of a fit, for each item of each component.
    _bytes_a_cell: ClassVar[float]

    @abstractmethod
    def _algorithm(
        self, rows: Rows, start: Callable[[np.random.Generator], Counts], totals: DataTotals
    ) -> Any:  # noqa: ANN401 - EM or Variational, each with its own state
        """Return the algorithm for some rows, with a prior made from the item totals."""

    @abstractmethod
    def _tolerance(self) -> float:
        """Return the checked tolerance."""

    def fit(
        self,
        X: TransactionsLike,
        y: object = None,
        *,
        callbacks: Sequence[Callback] = (),
        progress: bool = False,
        sample_weight: npt.ArrayLike | None = None,
        groups: GroupsLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Transactions, list of lists of str, array, sparse matrix or data frame
            Binary data.
        y : ignored
            For scikit-learn's sake.
        callbacks : sequence of callables
            Each is called after every iteration with an `itemix.inference.loop.Report`. One that returns True
            stops the fit. One that has a method `stage` is also told, in words, what is done before and after
            the iterations.
        progress : bool, default False
            Whether to show how far the fit is: on standard error, or in a notebook.
        sample_weight : array of int, shape (n_transactions,), optional
            How many transactions each one stands for: whole numbers, of which 0 leaves one out. Fractions are
            refused.
        groups : array of labels, shape (n_rows,), or str, optional
            The customer, store or month of each transaction, those of a group in the order in which they
            came; or the column of ids that says so (see `Transactions.ids`). A missing label is no group. The
            model then knows what each group has of its own: see `group`. It takes transactions in memory,
            without `sample_weight` and without a correction.

        Notes
        -----
        Ctrl-C ends the step that is being done, keeps what there is, and warns. If it ends the choice of the
        number of components, the best so far is fitted. If it ends the fit, the model is not corrected. If it
        ends the correction, the model is kept without one. Where there is nothing to keep yet, it raises
        KeyboardInterrupt.
        """
        check_correction(self.correction)
        if groups is not None:
            self._refuse_beside_groups(X, sample_weight)
        transactions: Any  # or Partitions, which the loop takes too
        if isinstance(X, Chunks | Partitions):
            transactions = self._in_parts(X, sample_weight)
        else:
            transactions = counted(read_input(self, X), sample_weight)
        grouped = None if groups is None else group_codes(groups, transactions)
        quiet = not check_flag("progress", progress)
        with (
            interruptible(),
            Workers(count_threads(self.n_jobs)) as workers,
            shown_progress("fit", transactions.n_transactions, quiet=quiet) as shown,
        ):
            observers = [*printers(self.verbose), *shown, *callbacks]
            n_components, selection = self._chosen_components(transactions, observers)
            loop = self._loop(transactions, n_components, workers)
            self._keep(self._finished(loop(callbacks=observers), selection))
            del loop  # and all that it holds of the data
            warn_of_fit(self, self._training)
            if selection is None and grouped is None:  # kinds of groups are what is looked for then
                self._warn_of_one_kind()
            if grouped is not None and not self._training.interrupted:
                self._learn_groups(transactions, grouped, workers, observers)
            if self.correction is not None and not self._training.interrupted:
                self.fitted_ = with_correction(self, self.fitted_, transactions, self._refitted, observers)
        return self

    def fit_groups(self, X: TransactionsLike, groups: GroupsLike, *, progress: bool = False) -> Self:
        """Learn anew what groups have of their own; the mixture, which was fitted before, stays as it is.

        That takes seconds. So it is the way to take in what groups have done since, or to learn other groups,
        and to learn groups of a mixture that was fitted to a part of the transactions, or to parts.

        Parameters
        ----------
        X : transactions in any form
            All transactions of the groups, those of a group in the order in which they came, of the model's
            items.
        groups : array of labels, shape (n_rows,), or str
            As in `fit`.
        progress : bool, default False
            Whether to show that it is at work.

        Raises
        ------
        InvalidInputError
            If the model has a correction, or the labels do not fit.
        """
        if self._fitted().corrected is not None:
            raise InvalidInputError(
                "expected a model without a correction, got one with it; fit it with correction=None"
            )
        transactions = self._transactions(X)
        grouped = group_codes(groups, transactions)
        quiet = not check_flag("progress", progress)
        with (
            interruptible(),
            Workers(count_threads(self.n_jobs)) as workers,
            shown_progress("fit", transactions.n_transactions, quiet=quiet) as shown,
        ):
            self._learn_groups(transactions, grouped, workers, shown)
        return self

    def _refuse_beside_groups(self, X: object, sample_weight: object) -> None:
        """Raise InvalidInputError for what a fit with groups cannot have."""
        if isinstance(X, Chunks | Partitions):
            wanted, got = "transactions in memory", "some in parts"
        elif sample_weight is not None:
            wanted, got = "sample_weight=None", "weights"
        elif self.correction is not None:
            wanted, got = "correction=None", f"correction={self.correction!r}"
        else:
            return
        raise InvalidInputError(f"expected {wanted} for a fit with groups, got {got}; leave one of them out")

    def _learn_groups(
        self, transactions: Transactions, grouped: GroupCodes, workers: Workers, callbacks: Sequence[Callback]
    ) -> None:
        """Learn what groups have of their own, and keep it; not if Ctrl-C comes before that."""
        tell_stage(callbacks, f"learning what {plural(len(grouped.labels), 'group')} have of their own")
        try:
            found = learn_groups(self.mixture_, transactions, grouped, workers)
        except KeyboardInterrupt:
            warn(f"the groups of {type(self).__name__} were interrupted; the model is kept as it was")
            return
        self.fitted_ = replace(self.fitted_, groups=found)

    def _in_parts(self, X: Chunks | Partitions, sample_weight: npt.ArrayLike | None) -> Partitions:
        """Return data in parts, if that is what this fit can take.

        Raises
        ------
        InvalidInputError
            If it has to have all transactions in memory, or there are none.
        """
        if METHODS[self._method].keeps == "draws":
            wanted, got = "inference='variational'", "inference='gibbs', which goes through them one by one"
        elif isinstance(self.n_components, str):
            wanted, got = (
                "a number as n_components",
                f"n_components={self.n_components!r}, which tries halves",
            )
        elif self.correction is not None:
            wanted, got = "correction=None", f"correction={self.correction!r}, which keeps all of them"
        elif sample_weight is not None:
            wanted, got = "sample_weight=None", "weights, which are for transactions in memory"
        else:
            data = partitions(X)
            self.n_features_in_ = data.n_items
            if data.n_transactions == 0:
                raise InvalidInputError(
                    "expected at least one transaction, got none; check how they were read"
                )
            return data
        raise InvalidInputError(
            f"expected {wanted} for transactions in parts, got {got}; set it, or fit a sample: "
            "itemix.partitions(...).take(positions)"
        )

    def _loop(self, transactions: Transactions, n_components: int, workers: Workers) -> Callable[..., Any]:
        """Return the function that fits the mixture: it takes callbacks, and returns how the fit went."""
        require_room(n_components, transactions.n_items, self._bytes_a_cell)
        settings = self._settings()
        rows: Any = _rows_of(transactions, workers)
        start = starter(self._start(n_components), transactions, rows, n_components)
        algorithm = self._algorithm(rows, start, DataTotals.of(rows))
        return partial(run, algorithm, rows.n_transactions, settings, as_seed(self.random_state))

    def _finished(self, result: Run[Any], selection: Selection | None) -> FittedModel:
        """Return the fitted model of a loop that has ended."""
        algorithm: Any = result.algorithm  # EM or Variational
        state, interrupted = result.state, result.interrupted
        try:
            state = algorithm.measured(state)
        except KeyboardInterrupt:  # the fit is done, only its intervals are narrower
            interrupted = True
        totals = DataTotals.of(algorithm.rows)
        return self._fitted_of(
            algorithm.finish(state),
            Training(
                totals.n_transactions,
                n_iter=result.n_iter,
                converged=result.converged,
                bounds=result.bounds / totals.n_transactions,
                selection=selection,
                totals=totals,
                n_batches=1,
                interrupted=interrupted,
                stopped=result.stopped,
            ),
        )

    def _warn_of_one_kind(self) -> None:
        """Warn if one of several components holds nearly all transactions.

        If the start was chosen, it may be at fault. The default start has tried to do better, and a sampler
        does not depend on its start, so then the data is as if of one kind. That is also what a process has
        found which ends with one component; it was asked for the number, and there is nothing to warn of.
        """
        method, sizes = METHODS[self._method], self.counts_.sizes
        share, n = float(sizes.max() / sizes.sum()), len(sizes)
        is_process, is_sampled = method.weights == "sticks", method.keeps == "draws"
        is_chosen = not (self.init is None or (isinstance(self.init, str) and self.init == "sampled"))
        if is_process and (is_sampled or not is_chosen):
            n = int((sizes >= USED).sum())
        if n == 1 or share <= _NEARLY_ALL:
            return
        found = f"one of {n} components holds {share:.1%} of the transactions"
        if is_chosen and not is_sampled:
            warn(f"{found}, which may be due to the start; leave init out")
        elif is_process:
            warn(f"{found}, as if they were all of one kind; compare with IndependentModel")
        else:
            warn(f"{found}, as if they were all of one kind; ask for fewer components")

    def _fitted_of(self, ended: Fitted, training: Training) -> FittedModel:
        """Return the fitted model of an algorithm's end."""
        training = replace(training, counts=ended.counts, prior=ended.prior)
        return FittedModel(ended.mixture, posterior=ended.posterior, method=self._method, training=training)

    @property
    def _training(self) -> Training:
        """How the last fit went."""
        training = self.fitted_.training
        assert training is not None  # noqa: S101 - it was a fit
        return training

    def _partial_fit(self, X: TransactionsLike) -> Self:
        """Take in a batch: fit the first, blend each later one into the mean expected counts.

        The counts of a batch are those expected under the mean parameters, also in variational inference.
        Coordinate ascent would use expected logarithms. But with these, a component hardly ever gets an item
        that its few transactions of the first batches did not hold: the expected logarithm is near -100 where
        the prior is 0.01.
        """
        if self.correction is not None:
            raise InvalidInputError(
                f"expected correction=None for data in batches, got {self.correction!r}; correct the mixture "
                "when all of it has been seen, with itemix.correction.correct(model.mixture_, batches, 100)"
            )
        if hasattr(self, "fitted_") and self.fitted_.groups is not None:
            raise InvalidInputError(
                "expected a model without groups for data in batches, got one with groups; fit it without "
                "them, or fit all of the data at once"
            )
        if not hasattr(self, "mixture_"):
            with warnings.catch_warnings():  # later batches may hold other kinds
                warnings.filterwarnings("ignore", "one of .* components holds", ConvergenceWarning)
                return self.fit(X)
        transactions = self._batch(X)
        last, seen = self._training, self._totals()
        with Workers(count_threads(self.n_jobs)) as workers:
            rows = Rows(transactions, workers)
            totals = seen + DataTotals.of(rows)
            algorithm = self._algorithm(rows, lambda _: self.counts_, totals)
            before = algorithm.finish(algorithm.state_of(self._open(self.counts_, totals))).mixture
            probs = np.ascontiguousarray(before.probs.T)
            new, bound = self._expected(rows, tables_of_mixture(before.weights, probs, rows.flipped, workers))
        rate = (rows.n_transactions / totals.n_transactions) ** _FORGETTING
        mean = self.counts_.scaled((1 - rate) / self.counts_.n_transactions)
        counts = (mean + new.scaled(rate / new.n_transactions)).scaled(totals.n_transactions)
        training = replace(
            last,
            n_transactions=totals.n_transactions,
            n_iter=self.n_iter_ + 1,
            bounds=np.append(self.lower_bounds_, bound / rows.n_transactions),
            totals=totals,
            n_batches=(last.n_batches or 1) + 1,
            chains=None,
        )
        ended = algorithm.finish(algorithm.state_of(counts))
        self._keep(self._fitted_of(ended, training))
        return self

    def _batch(self, X: TransactionsLike) -> Transactions:
        """Return a batch with the items of the first one, matched by name; it need not have all of them."""
        items = self.mixture_.items
        try:
            return self._transactions(X).align_items(items)
        except UnknownItemError as error:
            raise UnknownItemError(
                f"{str(error).partition(';')[0]}; give the first batch the names of all items, as in "
                "partial_fit(first.align_items(names))"
            ) from None

    def _totals(self) -> DataTotals:
        """Return the totals of all batches; after sampling, the counts of the last sample add up to them."""
        if self._training.totals is not None:
            return self._training.totals
        item_totals = self.counts_.item_counts.sum(axis=0).astype(np.int64)
        return DataTotals(item_totals, round(self.counts_.n_transactions))

    def _expected(self, rows: Rows, tables: ScoreTables) -> tuple[Counts, float]:
        """Return the expected counts of a batch as the algorithm's state has them, and its log-likelihood."""
        return rows.expected_counts(tables)

    def _open(self, counts: Counts, totals: DataTotals) -> Counts:
        """Return counts that allow the next batch to hold what no batch has held yet."""
        return counts

    def _keep(self, fitted: FittedModel) -> None:
        self.fitted_ = fitted

    def _chosen_components(
        self, transactions: Transactions, callbacks: Sequence[Callback]
    ) -> tuple[int, Selection | None]:
        """Return the number of components, and how it was chosen if the criterion chose it."""
        if not (isinstance(self.n_components, str) and self.n_components == "auto"):
            return check_components(self.n_components, transactions.n_transactions), None
        seed = as_seed(self.random_state)
        found = select_components(
            self._candidate,
            transactions,
            criterion=self.criterion,
            random_state=np.random.default_rng(seed),
            callbacks=callbacks,
        )
        warn_of_choice(found, len(found.scores), COMPONENTS, found.best)
        return found.best, found

    def _candidate(self, transactions: Transactions, n_components: int) -> Mixture:
        """Fit a copy with some number of components, for the selection."""
        model = self._copy_fitted_to(transactions, n_components=n_components)
        return model._predictive()  # noqa: SLF001 - of the same class

    def _refitted(self, transactions: Transactions) -> Model:
        """Fit a copy to a part of the data, for the correction.

        Half the restarts or chains, and half the samples of each, are enough to tell what the model is worth:
        fits of four chains to two halves of the data then take half as long as the fit itself. Few
        transactions need all of them, but are quickly fitted anyway.
        """
        changes: dict[str, Any] = {}
        if transactions.n_transactions >= _ENOUGH:
            halved = {"n_init", "n_samples"} & self.get_params().keys()
            changes |= {name: (getattr(self, name) + 1) // 2 for name in sorted(halved)}
        if self.n_components is not None:
            chosen = self._training.selection
            wanted = self.n_components if chosen is None else chosen.best
            changes["n_components"] = min(wanted, transactions.n_transactions)
        if not isinstance(self.init, str | Mixture | None):
            changes["init"] = type(self)().init  # labels were given for all of the data
        return self._copy_fitted_to(transactions, **changes).fitted_.of_itemsets

    def _copy_fitted_to(self, transactions: Transactions, **changes: object) -> Self:
        quiet = {"verbose": 0, "warm_start": False, "correction": None}
        model: Self = clone(self).set_params(**quiet, **changes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(transactions)
        if model._training.interrupted:
            raise KeyboardInterrupt
        return model

    def _predictive(self) -> Mixture:
        """Return the mixture to score unseen transactions with."""
        return self.mixture_

    def _start(self, n_components: int) -> Init:
        """Return what to start from: the last model if a fit goes on, unless another number was chosen."""
        init: Init = self.init
        if not self.warm_start or not hasattr(self, "mixture_"):
            return init
        last = self._last()
        return init if self.n_components == "auto" and last.n_components != n_components else last

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
