"""The mixture of several causes that act at once."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone

from itemix._runtime import Workers, count_threads
from itemix.correction import check_correction
from itemix.estimators import base
from itemix.estimators.answers import Climb, ComponentAnswers, ErrorAnswers, Learned
from itemix.estimators.base import ModelEstimator, printers, warn_of_choice, warn_of_fit, with_correction
from itemix.fitted import FittedModel, Training
from itemix.inference.causes import CauseClimb, CauseRows
from itemix.inference.loop import Settings, run, tell_stage
from itemix.inference.selection import Selection, held_out_scores
from itemix.models.causes import check_causes, require_states

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import Floats, TransactionsLike
    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback, Seed
    from itemix.models.base import Names
    from itemix.models.causes import ActiveCause, CauseMixture

_TRIED = (1, 2, 4, 6, 8, 10, 12)


class MultipleCauseMixture(Climb, ErrorAnswers, ComponentAnswers, ModelEstimator):
    """Several causes that act at once or not, each with an effect on the log-odds of every item.

    A basket is often breakfast and a barbecue. A mixture needs a component for every such combination; here
    they share their parameters. All combinations are enumerated, so every answer is exact. The prior of the
    effects is learned for each cause, and causes that are not needed are left out.

    Parameters
    ----------
    n_causes : int or "auto"
        How many causes there are at most, up to 14; "auto" chooses it by the likelihood of a fifth of the
        transactions, which is left out.
    n_init : int
        How many starts; the best is kept.
    max_iter : int
        The most steps of a start.
    tol : float
        It has converged when a step raises the mean log-posterior by less.
    random_state : int, Generator, RandomState or None
        The seed.
    verbose : int
        Print every so many steps; 0 prints nothing.
    n_jobs : int or None
        Threads: None is one, -1 all processors. The result does not depend on it.
    correction : None, "auto" or float
        Whether to correct the model by the transactions themselves, as in `BayesianMixture`. It then has
        intervals.

    Attributes
    ----------
    mixture_ : CauseMixture
        The fitted model: a mixture with a component for each state of the causes.
    components_ : Causes
        The causes: how often each acts, and which items are in the transactions where it does.
    n_components_ : int
        The number of causes that are needed.
    n_iter_ : int
        The number of steps of the best start.
    converged_ : bool
        Whether it converged.
    lower_bound_ : float
        The mean log-posterior of a transaction, before the last step.
    lower_bounds_ : array, shape (n_iter,)
        The same for each step.
    selection_ : Selection
        How the number of causes was chosen, if it was.
    n_transactions_ : int
        The number of transactions it was fitted to.
    fitted_ : FittedModel
        The model, how sure it is and how the fit went, as one value.

    Examples
    --------
    >>> import itemix
    >>> breakfast, barbecue = ["milk", "bread"], ["beer", "chips"]
    >>> baskets = [breakfast, barbecue, breakfast + barbecue, []] * 50
    >>> model = itemix.MultipleCauseMixture(2, random_state=0).fit(baskets)
    >>> round(model.probability(breakfast + barbecue), 2)
    0.25
    """

    mixture_: Learned[CauseMixture] = Learned("value")
    n_components_: Learned[int] = Learned("value.n_causes")

    def __init__(
        self,
        n_causes: int | Literal["auto"] = 8,
        *,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Seed | np.random.RandomState = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        correction: float | Literal["auto"] | None = None,
    ) -> None:
        self.n_causes = n_causes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.correction = correction

    def predict_proba(self, X: TransactionsLike) -> Floats:
        """Return the probability that each cause acts in each transaction, shape (n_transactions, K).

        Several act at once, so rows do not sum to 1.
        """
        transactions = self._transactions(X)  # first: it refuses an estimator that is not fitted
        return self.mixture_.acting(transactions)

    def explain(self, basket: Names, *, partial: bool = False) -> list[ActiveCause]:
        """Return the causes, those that act most probably in a basket first, with the items that say so.

        Parameters
        ----------
        basket : names
            The items that the basket holds.
        partial : bool
            Whether items that are not named are unknown; by default they are absent.
        """
        self._fitted()
        return self.mixture_.explain(basket, partial=partial)

    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> FittedModel:
        check_correction(self.correction)
        observers = [*printers(self.verbose), *callbacks]
        K, selection = self._chosen(transactions, observers)
        require_states(K, transactions.n_items)
        settings = Settings(
            base.check_least("n_init", self.n_init),
            base.check_least("max_iter", self.max_iter),
            base.check_tol(self.tol),
        )
        n = transactions.n_transactions
        with Workers(count_threads(self.n_jobs)) as workers:
            climb = CauseClimb(CauseRows(transactions), K, workers, partial(tell_stage, observers))
            result = run(climb, n, settings, base.as_seed(self.random_state), callbacks=observers)
            model = climb.finish(result.state)
        training = Training(
            n,
            n_iter=result.n_iter,
            converged=result.converged,
            bounds=result.bounds / n,
            selection=selection,
            interrupted=result.interrupted,
            stopped=result.stopped,
        )
        warn_of_fit(self, training)
        fitted = FittedModel(model, method="causes", training=training)
        if self.correction is None or training.interrupted:
            return fitted
        K = model.n_causes
        return with_correction(
            self, fitted, transactions, lambda part: self._candidate(part, n_causes=K), observers
        )

    def _chosen(
        self, transactions: Transactions, callbacks: Sequence[Callback]
    ) -> tuple[int, Selection | None]:
        """Return the number of causes, and how it was chosen if it was."""
        if not (isinstance(self.n_causes, str) and self.n_causes == "auto"):
            return check_causes(self.n_causes), None
        rng = np.random.default_rng(base.as_seed(self.random_state))
        scores = held_out_scores(
            lambda part, K: self._candidate(part, n_causes=K),
            transactions, _TRIED, "the number of causes",
            random_state=int(rng.integers(2**31)), patience=1, callbacks=callbacks,
        )  # fmt: skip
        n = len(scores.values)
        found = Selection("held-out", np.array(_TRIED[:n]), np.array(scores.values), scores.interrupted)
        warn_of_choice(scores, n, "the number of causes", found.best)
        return found.best, found

    def _candidate(self, transactions: Transactions, **changes: Any) -> CauseMixture:  # noqa: ANN401
        model: Self = clone(self).set_params(correction=None, verbose=0, **changes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(transactions)
        if model.fitted_.training is not None and model.fitted_.training.interrupted:
            raise KeyboardInterrupt
        return model.mixture_
