"""The Bernoulli mixture, fitted by EM, and the model of independent items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from itemix.estimators import base
from itemix.estimators.answers import Learned
from itemix.estimators.base import MixtureEstimator, ModelEstimator, check_amount, warn
from itemix.fitted import FittedModel, Training
from itemix.inference.em import EM, maximise
from itemix.models.counts import Counts
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix._typing import TransactionsLike
    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback, Seed
    from itemix.inference.priors import DataTotals
    from itemix.inference.start import Init
    from itemix.models.counts import Rows


# A component that is expected to hold less than this of one transaction is empty.
_EMPTY = 1e-6


class BernoulliMixture(MixtureEstimator):
    """A mixture of Bernoulli products by maximum likelihood (the paper's NBM, Algorithm 1).

    Parameters
    ----------
    n_components : int or "auto"
        The number of components, or chosen by the criterion.
    criterion : {"held-out", "bic", "aic"}
        What chooses the number: the likelihood of left-out transactions, or an information criterion.
    n_init : int
        How many starts; the best is kept.
    init : {"sampled", "k-means++", "random"}, Mixture, or array of int, shape (n_transactions,)
        How to start: from labels that short chains of a sampler have drawn, from spread-out transactions,
        from random labels (the paper's), from a mixture, or from labels.
    max_iter : int
        The most iterations of a start.
    tol : float
        It has converged when an iteration raises the mean log-likelihood by less.
    random_state : int, Generator, RandomState or None
        The seed.
    warm_start : bool
        Whether another call of `fit` goes on from the fitted mixture.
    verbose : int
        Print every so many iterations; 0 prints nothing.
    n_jobs : int or None
        Threads: None is one, -1 all processors. The result does not depend on it.
    correction : None, "auto" or float
        Whether to correct the mixture by the transactions themselves (see docs/correction.md): None leaves it
        as it is, a number says how many transactions the mixture is worth beside them, "auto" finds that out
        on held-out halves of the data.

    Attributes
    ----------
    mixture_ : Mixture
        The fitted model.
    components_ : Mixture
        The components that `predict` and `predict_proba` speak of: here the fitted model itself.
    corrected_ : CorrectedMixture or None
        The corrected mixture, which answers all questions about itemsets; None without a correction.
    correction_choice_ : Choice
        What "auto" has tried, and what came of it.
    counts_ : Counts
        The expected counts behind the mixture.
    n_components_ : int
        The number of components.
    n_iter_ : int
        The number of iterations of the best start.
    converged_ : bool
        Whether it converged.
    lower_bound_ : float
        The mean log-likelihood of a transaction, before the last iteration.
    lower_bounds_ : array, shape (n_iter,)
        The same for each iteration.
    selection_ : Selection
        How the number of components was chosen, if it was.
    n_batches_ : int
        How many batches `partial_fit` has taken in; 1 after a fit.
    fitted_ : FittedModel
        The model, how sure it is and how the fit went, as one value.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread"], ["milk", "bread"], ["beer"], ["beer", "chips"]]
    >>> model = itemix.BernoulliMixture(n_components=2, random_state=0).fit(baskets)
    >>> round(model.probability(["milk", "bread"]), 6)
    0.5
    """

    _bytes_a_cell = 52
    _method = "nbm"

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        *,
        criterion: str = "held-out",
        n_init: int = 1,
        init: Init = "sampled",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Seed | np.random.RandomState = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        correction: float | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.criterion = criterion
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.correction = correction

    def partial_fit(self, X: TransactionsLike, y: object = None) -> Self:
        """Take in a batch of a stream (stepwise EM): the first is fitted, later ones adjust the model.

        Items are matched by name with those of the first batch. A later batch need not have all of them, but
        it may not have new ones. If it might, begin with ``partial_fit(first.align_items(names))``.

        `lower_bound_` becomes the mean log-likelihood of the batch before it was taken in.
        """
        return self._partial_fit(X)

    def _algorithm(
        self, rows: Rows, start: Callable[[np.random.Generator], Counts], totals: DataTotals
    ) -> EM:
        return EM(rows, start)

    def _tolerance(self) -> float:
        return base.check_tol(self.tol)

    def _open(self, counts: Counts, totals: DataTotals) -> Counts:
        """Add one average transaction to each component, because EM never leaves a probability of 0 or 1.

        The frequency of an item that never or always occurred is taken as half a transaction away from that.
        """
        n_transactions = totals.n_transactions
        edge = 0.5 / n_transactions
        frequency = np.clip(totals.item_totals / n_transactions, edge, 1 - edge)
        extra = np.ones(counts.n_components), np.tile(frequency, (counts.n_components, 1))
        return counts + Counts(*extra)

    def _predictive(self) -> Mixture:
        weights, probs = maximise(self._open(self.counts_, self._totals()))
        return Mixture(weights, probs.T, self.mixture_.items)

    def _keep(self, fitted: FittedModel) -> None:
        super()._keep(fitted)
        n_empty = int((self.counts_.sizes < _EMPTY).sum())
        if n_empty:
            warn(
                f"{n_empty} of {self.n_components_} components hold no transaction; ask for fewer components"
            )


class IndependentModel(ModelEstimator):
    """Items that do not depend on each other: the simplest model, which all others should beat.

    Parameters
    ----------
    smoothing : float
        How many transactions that hold each item with probability one half are added to the data, so that no
        item is impossible or certain; 0 for the frequencies as they are.

    Attributes
    ----------
    mixture_ : Mixture
        The model, a mixture of one component.
    n_transactions_ : int
        The number of transactions it was fitted to.
    fitted_ : FittedModel
        The model, how sure it is and how the fit went, as one value.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread"], ["milk"], ["beer"], ["beer", "chips"]]
    >>> model = itemix.IndependentModel(smoothing=0).fit(baskets)
    >>> model.probability(["milk", "bread"])
    0.125
    """

    mixture_: Learned[Mixture] = Learned("value")

    def __init__(self, *, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> FittedModel:
        extra = check_amount("smoothing", self.smoothing)
        counts = transactions.item_counts() + extra / 2
        n = transactions.n_transactions
        mixture = Mixture([1.0], counts[None] / (n + extra), transactions.items)
        return FittedModel(mixture, method="independent", training=Training(n))
