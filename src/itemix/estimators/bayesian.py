"""The Bayesian mixtures, finite and of a Dirichlet process, by variational inference or Gibbs sampling."""

from __future__ import annotations

import inspect
import sys
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from itemix._checks import check_choice
from itemix._runtime import count_threads, interruptible
from itemix.core.display import plural
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.estimators import base
from itemix.estimators.answers import Learned
from itemix.estimators.base import MixtureEstimator
from itemix.fitted import FittedModel, Training, learn_recommender
from itemix.inference import METHODS, bayesian_method
from itemix.inference.chains import Chains, Schedule, sample
from itemix.inference.em import Variational
from itemix.inference.gibbs import GibbsSampler, default_max_components
from itemix.inference.loop import shown_progress, tell_stage
from itemix.inference.priors import DataTotals, Prior, Weights, alike_in_frequency, make_prior
from itemix.inference.start import PROCESS_LABELS, label_starter
from itemix.io.partitions import Partitions
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix._runtime import Workers
    from itemix._typing import Codes, TransactionsLike
    from itemix.inference.groups import GroupsLike
    from itemix.inference.loop import Callback, Run, Seed
    from itemix.inference.priors import Hyperparameter
    from itemix.inference.selection import Selection
    from itemix.inference.start import Init
    from itemix.kernels.models.estep import ScoreTables
    from itemix.models.counts import Counts, Rows
    from itemix.models.posterior import Posterior

T = TypeVar("T", bound=type)

# The parameters and attributes that both class docstrings describe in the same words.
_PARAMETERS = """\
alpha : float or "learn"
    Concentration of the weights, 1.5 in the paper; or learned from the data.
beta, gamma : float, array of float, shape (n_items,), or None
    The Beta prior of the item probabilities. By default beta is the item's frequency and gamma is one minus
    that, as in the paper; beta="learn" also learns the strength of that prior, one for all items, and
    beta="learn-by-frequency" one for items that are about as frequent.
n_init : int
    How many starts; the best is kept. For sampling, how many chains; all are averaged.
init : {"sampled", "k-means++", "random", "one"}, Mixture, array of int, shape (n_transactions,), or None
    How to start: from labels that short chains of a sampler have drawn, which is the default of variational
    inference; from spread-out transactions, which is the default of sampling; from random labels (the
    paper's); from a mixture; or from labels. Only sampling starts from one component (the paper's for the
    process), only variational inference from "sampled".
max_iter : int
    The most iterations of a start, or of the burn-in of a chain.
tol : float or None
    When it has converged; 0 runs all iterations. Variational inference has converged when an iteration raises
    the mean bound by less than this (1e-4 by default). Sampling has converged when the mean joint
    log-probability of a quarter of the iterations differs by less than this (0.01 by default) from that of
    the quarter before, or by no more than it fluctuates, and the number of components does not drift.
n_samples, thin : int
    For sampling: how many posterior samples each chain keeps, and how many iterations lie between them.
random_state : int, Generator, RandomState or None
    The seed.
warm_start : bool
    Whether another call of `fit` goes on from the fitted model.
verbose : int
    Print every so many iterations; 0 prints nothing.
n_jobs : int or None
    Threads: None is one, -1 all processors. The result does not depend on it.
correction : None, "auto" or float
    Whether to correct the mixture by the transactions themselves (see docs/correction.md): None leaves it as
    it is, a number says how many transactions the mixture is worth beside them, "auto" finds that out on
    held-out halves of the data."""

_ATTRIBUTES = """\
mixture_ : Mixture
    The fitted model, which answers: expectations under the posterior. For sampling it is the average of all
    samples, and has the components of all of them.
components_ : Mixture
    The components that `predict` and `predict_proba` speak of. For sampling these are as many as the last
    sample has, each the average of those of all samples that are one and the same. Of a Dirichlet process
    they are those that hold transactions.
posterior_ : Posterior
    The distribution of the parameters; for sampling that of the last sample.
posteriors_ : tuple of Posterior
    The posterior of each sample; one for variational inference.
prior_ : Prior
    The hyperparameters alpha, beta and gamma, and their strength, as given or learned; for sampling those of
    the last sample.
corrected_ : CorrectedMixture or None
    The corrected mixture, which answers all questions about itemsets; None without a correction.
correction_choice_ : Choice
    What "auto" has tried, and what came of it.
counts_ : Counts
    The expected counts behind the posterior, or those of the last sample.
n_components_ : int
    The number of components: the one asked for, or of a Dirichlet process how many hold transactions.
n_iter_ : int
    The number of iterations.
converged_ : bool
    Whether it converged.
lower_bound_ : float
    The evidence lower bound, or the joint log-probability of labels and data, a transaction.
lower_bounds_ : array, shape (n_iter,)
    The same for each iteration.
n_batches_ : int
    How many batches `partial_fit` has taken in; 1 after a fit.
chains_ : Chains
    For sampling: traces and diagnostics.
fitted_ : FittedModel
    The model, how sure it is and how the fit went, as one value."""


def with_shared_words(cls: T) -> T:
    """Put the shared descriptions into a class docstring, for {parameters} and {attributes}."""
    if cls.__doc__ is not None:  # python -OO leaves docstrings out
        text = inspect.cleandoc(cls.__doc__)
        cls.__doc__ = text.replace("{parameters}", _PARAMETERS).replace("{attributes}", _ATTRIBUTES)
    return cls


_INFERENCES = "variational", "gibbs"
LEARNED_STRENGTHS = "learn", "learn-by-frequency"
# By sampling: for the run, and for each draw that is kept.
_BYTES_A_CELL, _BYTES_A_CELL_AND_DRAW = 15, 50
_TOLERANCE = {"variational": 1e-4, "gibbs": 0.01}
_STARTS = {"variational": "sampled", "gibbs": "k-means++"}


class _Bayesian(MixtureEstimator):
    """Base of both Bayesian mixtures."""

    alpha: Any
    beta: Any
    _weights: Weights
    _bytes_a_cell = 104  # by variational inference for the process; the finite mixture takes less
    posterior_: Learned[Posterior] = Learned("last_posterior")
    prior_: Learned[Prior] = Learned("training.prior")
    chains_: Learned[Chains] = Learned("training.chains")

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        inference: Literal["variational", "gibbs"] = "variational",
        alpha: float | str = 1.5,
        beta: Hyperparameter = None,
        gamma: Hyperparameter = None,
        n_init: int = 1,
        init: Init | None = None,
        max_iter: int = 300,
        tol: float | None = None,
        n_samples: int = 5,
        thin: int = 10,
        random_state: Seed | np.random.RandomState = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        correction: float | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.inference = inference
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_samples = n_samples
        self.thin = thin
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.correction = correction

    @available_if(lambda self: self.inference == "variational")  # type: ignore[untyped-decorator]
    def partial_fit(self, X: TransactionsLike, y: object = None) -> Self:
        """Take in a batch of a stream (stochastic variational inference).

        The first batch is fitted; each later one adjusts the mean expected counts, and the posterior is that
        of all transactions so far. Every call counts as new transactions. After sampling, a stream goes on
        from the last sample. Hyperparameters are learned from the first batch only: later, "learn" stands for
        the default.

        Items are matched by name with those of the first batch. A later batch need not have all of them, but
        it may not have new ones. If it might, begin with ``partial_fit(first.align_items(names))``.

        `lower_bound_` becomes the mean log-likelihood of the batch before it was taken in.
        """
        return self._partial_fit(X)

    @property
    def _method(self) -> str:  # type: ignore[override]
        return bayesian_method(self._weights, check_choice("inference", self.inference, _INFERENCES))

    def _algorithm(
        self, rows: Rows, start: Callable[[np.random.Generator], Counts], totals: DataTotals
    ) -> Variational:
        return Variational(rows, self._prior(totals), start, *self._learned(totals))

    def _expected(self, rows: Rows, tables: ScoreTables) -> tuple[Counts, float]:
        counts, bound = super()._expected(rows, tables)
        return counts.with_squares(rows.expected_counts(tables, squared=True)[0]), bound

    def _loop(self, transactions: Transactions, n_components: int, workers: Workers) -> Callable[..., Any]:
        if METHODS[self._method].keeps != "draws":
            return super()._loop(transactions, n_components, workers)
        settings = self._settings()
        n_draws = settings.n_init * base.check_least("n_samples", self.n_samples)
        if self._weights == "sticks":  # the process may well end with fewer components
            n_draws = 1
        bytes_a_cell = _BYTES_A_CELL + _BYTES_A_CELL_AND_DRAW * n_draws
        base.require_room(n_components, transactions.n_items, bytes_a_cell)
        sampler = self._sampler(transactions, n_components)
        schedule = Schedule(
            settings.n_init,
            settings.max_iter,
            settings.tol,
            base.check_least("n_samples", self.n_samples),
            base.check_least("thin", self.thin),
        )
        n_threads = count_threads(self.n_jobs)
        return partial(sample, sampler, schedule, base.as_seed(self.random_state), n_threads=n_threads)

    def _finished(self, result: Run[Any] | Chains, selection: Selection | None) -> FittedModel:
        if not isinstance(result, Chains):
            return super()._finished(result, selection)
        ended = result.finish()
        n_transactions = round(ended.counts.n_transactions)
        training = Training(
            n_transactions,
            n_iter=result.n_iter,
            converged=result.converged,
            bounds=result.chains[0].log_joint / n_transactions,
            selection=selection,
            chains=result,
            interrupted=result.interrupted,
            stopped=result.stopped,
        )
        return self._fitted_of(ended, training)

    def _sampler(self, transactions: Transactions, n_components: int) -> GibbsSampler:
        start = self._start(n_components)
        # The process may start from a mixture of any number of components.
        is_any_number = isinstance(start, Mixture) and self._weights == "sticks"
        labels = label_starter(start, transactions, None if is_any_number else n_components)
        totals = DataTotals(transactions.item_counts(), transactions.n_transactions)
        prior = self._prior(totals)
        learn_alpha, learned_strengths = self._learned(totals)
        return GibbsSampler(
            transactions,
            prior,
            labels,
            n_components,
            learn_alpha=learn_alpha,
            learned_strengths=learned_strengths,
            max_components=self._max_components(transactions.n_items),
        )

    def _max_components(self, n_items: int) -> int:
        """Return how many components a sampler may have at once; 0 where their number is given."""
        return 0

    def _start(self, n_components: int) -> Init:
        start: Init | None = super()._start(n_components)
        return _STARTS[self.inference] if start is None else start

    def _last(self) -> Mixture:
        """Return the mixture of the last sample: the average of all has the components of all."""
        return self.posterior_.mixture()

    def _prior(self, totals: DataTotals) -> Prior:
        return make_prior(
            totals.item_totals,
            totals.n_transactions,
            alpha=1.5 if _is_learn("alpha", self.alpha) else self.alpha,
            beta=None if _is_learn("beta", self.beta, LEARNED_STRENGTHS) else self.beta,
            gamma=self.gamma,
            weights=self._weights,
        )

    def _learned(self, totals: DataTotals) -> tuple[bool, tuple[Codes, ...]]:
        """Return whether alpha is learned, and of which items a common strength of their prior is."""
        groups: tuple[Codes, ...] = ()
        if _is_learn("beta", self.beta, LEARNED_STRENGTHS):
            if self.beta == "learn":
                groups = (np.arange(len(totals.item_totals), dtype=np.int32),)
            else:
                groups = alike_in_frequency(totals.item_totals, totals.n_transactions)
        return _is_learn("alpha", self.alpha), groups

    def _tolerance(self) -> float:
        return _TOLERANCE[self.inference] if self.tol is None else base.check_tol(self.tol)


def _is_learn(name: str, value: object, words: tuple[str, ...] = ("learn",)) -> bool:
    if not isinstance(value, str):
        return False
    if value not in words:
        allowed = " or ".join(repr(word) for word in words)
        raise InvalidInputError(f"expected {name} as a number or {allowed}, got {value!r}; try 1.0")
    return True


@with_shared_words
class BayesianMixture(_Bayesian):
    """A finite Bayesian mixture of Bernoulli products (the paper's VFBM and GSFBM, Algorithms 3 and 2).

    Parameters
    ----------
    n_components : int or "auto"
        The number of components, or chosen by the criterion.
    criterion : {"held-out", "bic", "aic"}
        What chooses the number: the likelihood of left-out transactions, or an information criterion.
    inference : {"variational", "gibbs"}
        Variational inference (VFBM) is quick, collapsed Gibbs sampling (GSFBM) more exact.
    {parameters}

    Attributes
    ----------
    {attributes}
    selection_ : Selection
        How the number of components was chosen, if it was.
    """

    _weights: Weights = "dirichlet"

    def __init__(
        self,
        n_components: int | str = 10,
        *,
        criterion: str = "held-out",
        inference: Literal["variational", "gibbs"] = "variational",
        alpha: float | str = 1.5,
        beta: Hyperparameter = None,
        gamma: Hyperparameter = None,
        n_init: int = 1,
        init: Init | None = None,
        max_iter: int = 300,
        tol: float | None = None,
        n_samples: int = 5,
        thin: int = 10,
        random_state: Seed | np.random.RandomState = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        correction: float | str | None = None,
    ) -> None:
        super().__init__(
            n_components,
            inference=inference,
            alpha=alpha,
            beta=beta,
            gamma=gamma,
            n_init=n_init,
            init=init,
            max_iter=max_iter,
            tol=tol,
            n_samples=n_samples,
            thin=thin,
            random_state=random_state,
            warm_start=warm_start,
            verbose=verbose,
            n_jobs=n_jobs,
            correction=correction,
        )
        self.criterion = criterion


@with_shared_words
class DirichletProcessMixture(_Bayesian):
    """A Dirichlet process mixture of Bernoulli products (the paper's VDPM and GSDPM, Algorithms 5 and 4).

    Parameters
    ----------
    n_components : int or None
        The process finds its own number: variational inference truncates it here, sampling starts from labels
        of this many components. By default 50, or the number of transactions if that is smaller.
    inference : {"variational", "gibbs"}
        Variational inference (VDPM) is quick, collapsed Gibbs sampling (GSDPM) more exact.
    max_components : int or None
        For sampling: how many components a sample may have, rounded up to a multiple of eight. By default
        4,000,000 divided by the number of items, but from 50 to 500. A run that meets this bound warns.
    {parameters}

    Attributes
    ----------
    {attributes}
    """

    _weights: Weights = "sticks"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        inference: Literal["variational", "gibbs"] = "variational",
        max_components: int | None = None,
        alpha: float | str = 1.5,
        beta: Hyperparameter = None,
        gamma: Hyperparameter = None,
        n_init: int = 1,
        init: Init | None = None,
        max_iter: int = 300,
        tol: float | None = None,
        n_samples: int = 5,
        thin: int = 10,
        random_state: Seed | np.random.RandomState = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        correction: float | str | None = None,
    ) -> None:
        super().__init__(
            n_components,
            inference=inference,
            alpha=alpha,
            beta=beta,
            gamma=gamma,
            n_init=n_init,
            init=init,
            max_iter=max_iter,
            tol=tol,
            n_samples=n_samples,
            thin=thin,
            random_state=random_state,
            warm_start=warm_start,
            verbose=verbose,
            n_jobs=n_jobs,
            correction=correction,
        )
        self.max_components = max_components

    def _max_components(self, n_items: int) -> int:
        if self.max_components is None:
            return default_max_components(n_items)
        return base.check_least("max_components", self.max_components)

    def _keep(self, fitted: FittedModel) -> None:
        super()._keep(fitted)
        chains = self._training.chains
        most = self._max_components(fitted.value.n_items)
        if chains is None or max(float(chain.n_components[-1]) for chain in chains.chains) < most:
            return
        learn = "" if _is_learn("beta", self.beta, LEARNED_STRENGTHS) else "try beta='learn', or "
        base.warn(
            f"{type(self).__name__} met its bound of max_components={most}; {learn}raise max_components, or "
            "use the model as it is"
        )

    def _chosen_components(
        self, transactions: Transactions, callbacks: Sequence[Callback]
    ) -> tuple[int, Selection | None]:
        if self.n_components is None:
            return min(PROCESS_LABELS, transactions.n_transactions), None
        return base.check_components(self.n_components, transactions.n_transactions), None


# Data with this many items in all is sampled within a minute or two; of more, a part is sampled first.
_MOST_SAMPLED = 600_000
_FIRST_SAMPLED = 25_000
# Samples of several chains average better than several of one. Learned strengths of the prior predict better.
_RECOMMENDED = {
    "inference": "gibbs", "beta": "learn-by-frequency", "n_init": 4, "n_samples": 1, "thin": 1, "tol": 0.1,
    "max_iter": 100,
}  # fmt: skip
# From a mixture of a part, two iterations over all transactions are enough.
_GOING_ON = {"n_init": 2, "max_iter": 2}
_IN_PARTS = {"inference": "variational", "n_init": 1, "tol": 1e-4, "max_iter": 20}
_FROM_WHICH_TO_LEARN = 200_000


def fit_recommended(
    data: Transactions | Partitions,
    *,
    random_state: Seed | np.random.RandomState,
    n_jobs: int | None,
    groups: GroupsLike | None,
    quiet: bool,
) -> DirichletProcessMixture:
    """Fit the recommended model; see `itemix.fit`."""
    correction = "auto" if groups is None else None
    model = DirichletProcessMixture(correction=correction, random_state=random_state, n_jobs=n_jobs)
    if isinstance(data, Partitions):
        if data.item_counts().sum() > _MOST_SAMPLED and data.n_transactions > _FIRST_SAMPLED:
            with shown_progress("fit", data.n_transactions, quiet=quiet) as callbacks:
                return _fit_where_it_lies(model, data, callbacks)
        data = Transactions.concatenate(list(data))
    if not quiet:
        sys.stderr.write(f"itemix.fit: {recommendation(data, groups)}\n")
    with shown_progress("fit", data.n_transactions, quiet=quiet) as callbacks:
        return fit_as_recommended(model, data, callbacks, groups)


def recommendation(transactions: Transactions, groups: GroupsLike | None = None) -> str:
    """Say what is chosen for data of this size, and why."""
    size = f"{plural(transactions.n_transactions, 'transaction')} of {plural(transactions.n_items, 'item')}"
    how = "sampled by four chains"
    if _is_large(transactions):
        how = f"too many to sample at once: {_FIRST_SAMPLED:,} are sampled first, and all go on from there"
    besides = "corrected by the transactions" if groups is None else "with what groups have of their own"
    return f"a Dirichlet process mixture by Gibbs sampling, its prior learned, {besides}; {size}, {how}"


def fit_as_recommended(
    model: DirichletProcessMixture,
    transactions: Transactions,
    callbacks: Sequence[Callback],
    groups: GroupsLike | None = None,
) -> DirichletProcessMixture:
    """Set the parameters of a model that suit the data, and fit it; see `fit`."""
    model.set_params(**_RECOMMENDED)
    with warnings.catch_warnings():
        # The iterations are bounded on purpose, and what a part of the data says is not what all of it says.
        warnings.filterwarnings("ignore", message=".*did not converge.*", category=ConvergenceWarning)
        if _is_large(transactions):
            tell_stage(callbacks, f"sampling {_FIRST_SAMPLED:,} transactions first")
            rng = np.random.default_rng(base.as_seed(model.random_state))
            part = transactions.sample(_FIRST_SAMPLED, random_state=rng)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                first = clone(model).set_params(n_init=1, correction=None).fit(part, callbacks=callbacks)
            model.set_params(init=first.mixture_, **_GOING_ON)
        model.fit(transactions, callbacks=callbacks, groups=groups)
        if not model._training.interrupted:  # noqa: SLF001 - of this module
            _learn_to_recommend(model, transactions, callbacks)
    model.set_params(init=None, **_RECOMMENDED)
    return model


def _fit_where_it_lies(
    model: DirichletProcessMixture, data: Partitions, callbacks: Sequence[Callback]
) -> DirichletProcessMixture:
    """Sample a part of data in parts, and go on from there by variational inference over all of it."""
    rng = np.random.default_rng(base.as_seed(model.random_state))
    n = data.n_transactions

    def drawn(most: int) -> Transactions:
        return data.take(np.sort(rng.choice(n, min(most, n), replace=False)))

    model.set_params(**_RECOMMENDED, correction=None)
    tell_stage(callbacks, f"sampling {_FIRST_SAMPLED:,} transactions first")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = clone(model).set_params(n_init=1).fit(drawn(_FIRST_SAMPLED), callbacks=callbacks)
        start = first.mixture_
        model.set_params(**_IN_PARTS, n_components=start.n_components, init=start)
        model.fit(data, callbacks=callbacks)
    if not model._training.interrupted:  # noqa: SLF001 - of this module
        _learn_to_recommend(model, drawn(_FROM_WHICH_TO_LEARN), callbacks)
    return model.set_params(init=None, n_components=None)  # type: ignore[no-any-return]


def _learn_to_recommend(
    model: DirichletProcessMixture, transactions: Transactions, callbacks: Sequence[Callback]
) -> None:
    tell_stage(callbacks, "learning to recommend")
    rng = np.random.default_rng(base.as_seed(model.random_state))
    try:
        with interruptible(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of fits to a part
            model.fitted_ = learn_recommender(model, transactions, random_state=rng)
    except KeyboardInterrupt:
        base.warn("learning to recommend was interrupted; the model is kept without it")


def _is_large(transactions: Transactions) -> bool:
    return transactions.n_ones > _MOST_SAMPLED and transactions.n_transactions > _FIRST_SAMPLED
