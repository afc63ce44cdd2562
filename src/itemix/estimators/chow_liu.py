"""Chow-Liu trees, and mixtures of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from itemix._runtime import Workers, count_threads, require_memory
from itemix.estimators import base
from itemix.estimators.answers import Climb, ComponentAnswers, Learned
from itemix.estimators.base import ModelEstimator, printers, warn_of_choice, warn_of_fit
from itemix.fitted import FittedModel, Training
from itemix.inference.loop import Settings, run
from itemix.inference.selection import COMPONENTS, GRID, PATIENCE, Selection, held_out_scores
from itemix.inference.trees import TreeEM, TreePrior, TreeRows, bytes_of_trees, tree_starter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import TransactionsLike
    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback, Seed
    from itemix.inference.trees import TreeInit
    from itemix.models.trees import TreeMixture

_DEFAULT_POOLING = 20.0
_POOLINGS = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)


class _TreeEstimator(ModelEstimator):
    """Base of a tree and of a mixture of trees."""

    smoothing: float
    edge_cost: Any
    trees_: Learned[TreeMixture] = Learned("value")

    def _prior(self, pooling: float, n_transactions: int) -> TreePrior:
        return TreePrior(
            base.check_amount("smoothing", self.smoothing),
            pooling,
            0.5 * float(np.log(n_transactions))
            if isinstance(self.edge_cost, str) and self.edge_cost == "bic"
            else base.check_amount("edge_cost", self.edge_cost),
        )

    @staticmethod
    def _require_room(transactions: Transactions, n_components: int) -> None:
        n_items = transactions.n_items
        n_bytes = bytes_of_trees(n_items, n_components)
        if n_components > 1:
            base.require_room(n_components, n_items, n_bytes / (n_components * n_items))
        else:
            require_memory(n_bytes, f"a tree of {n_items:,} items", "leave out rare items with select_items")


class ChowLiuTree(_TreeEstimator):
    """The tree over the items under which the data is most probable (Chow and Liu 1968).

    Each item depends on at most one other. The tree is the maximum spanning tree of the items' pairwise
    mutual information.

    Parameters
    ----------
    smoothing : float
        How many transactions of independent items are added to the data, so that nothing is impossible;
        0 for the frequencies as they are.
    edge_cost : float or "bic"
        The log-likelihood that an edge must gain to be there, so that items which do not depend on others
        stay alone; "bic" is half the logarithm of the number of transactions, 0 keeps all edges.
    n_jobs : int or None
        Threads: None is one, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    trees_ : TreeMixture
        The model, a mixture of one tree.
    n_transactions_ : int
        The number of transactions it was fitted to.
    fitted_ : FittedModel
        The model, how sure it is and how the fit went, as one value.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread", "butter"], ["bread", "butter"], ["milk", "bread"], ["milk"], []] * 10
    >>> model = itemix.ChowLiuTree(smoothing=0).fit(baskets)
    >>> model.trees_.edges()
    [('bread', 'butter')]
    >>> round(model.probability(["butter"], given=["bread"]), 6)
    0.666667
    """

    def __init__(
        self,
        *,
        smoothing: float = 1.0,
        edge_cost: float | Literal["bic"] = "bic",
        n_jobs: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.edge_cost = edge_cost
        self.n_jobs = n_jobs

    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> FittedModel:
        self._require_room(transactions, 1)
        prior = self._prior(0.0, transactions.n_transactions)
        with Workers(count_threads(self.n_jobs)) as workers:
            rows = TreeRows(transactions, 1, workers)
            algorithm = TreeEM(rows, 1, prior, tree_starter("random", rows, 1))
            trees = algorithm.finish(algorithm.init(np.random.default_rng(0)))
        return FittedModel(trees, method="chow-liu", training=Training(transactions.n_transactions))


class ChowLiuMixture(Climb, ComponentAnswers, _TreeEstimator):
    """A mixture of Chow-Liu trees, fitted by EM (Meila and Jordan 2000).

    Transactions come from several components, in each of which an item depends on at most one other. Where
    a mixture of Bernoulli products needs many components to follow dependencies, trees hold them.

    Parameters
    ----------
    n_components : int or "auto"
        The number of components; "auto" chooses it by the likelihood of a fifth of the transactions, which is
        left out.
    smoothing : float
        How many transactions of independent items are added to each component, so that nothing is
        impossible; 0 for maximum likelihood.
    pooling : float or "auto"
        How many transactions of the whole data are added to each component: the more, the more alike the
        components are where they have few transactions of their own. "auto" chooses it in the same way as the
        number of components.
    edge_cost : float or "bic"
        The log-likelihood that an edge must gain to be there; "bic" is half the logarithm of the number of
        transactions, 0 keeps all edges.
    n_init : int
        How many starts; the best is kept.
    init : {"mixture", "k-means++", "random"}, Mixture or TreeMixture
        How to start: from a Bernoulli mixture fitted by a few iterations of EM, spread-out transactions,
        random labels, or a model of as many components.
    max_iter : int
        The most iterations of a start.
    tol : float
        It has converged when an iteration raises the mean log-posterior by less.
    random_state : int, Generator, RandomState or None
        The seed.
    warm_start : bool
        Whether another call of `fit` goes on from the fitted model.
    verbose : int
        Print every so many iterations; 0 prints nothing.
    n_jobs : int or None
        Threads: None is one, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    trees_ : TreeMixture
        The fitted model.
    n_components_ : int
        The number of components.
    pooling_ : float
        The pooling, given or chosen.
    n_iter_ : int
        The number of iterations of the best start.
    converged_ : bool
        Whether it converged.
    lower_bound_ : float
        The mean log-posterior of a transaction, before the last iteration.
    lower_bounds_ : array, shape (n_iter,)
        The same for each iteration.
    selection_ : Selection
        How the number of components was chosen, if it was.
    n_transactions_ : int
        The number of transactions it was fitted to.
    fitted_ : FittedModel
        The model, how sure it is and how the fit went, as one value.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread"], ["milk", "bread"], ["beer"], ["beer", "chips"]] * 10
    >>> model = itemix.ChowLiuMixture(2, random_state=0).fit(baskets)
    >>> round(model.probability(["milk", "bread"]), 1)
    0.5
    """

    n_components_: Learned[int] = Learned("value.n_components")
    pooling_: Learned[float] = Learned("training.pooling")

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        *,
        smoothing: float = 1.0,
        pooling: float | Literal["auto"] = 20.0,
        edge_cost: float | Literal["bic"] = "bic",
        n_init: int = 1,
        init: TreeInit = "mixture",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Seed | np.random.RandomState = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.smoothing = smoothing
        self.pooling = pooling
        self.edge_cost = edge_cost
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    def predict_proba(self, X: TransactionsLike) -> npt.NDArray[np.float64]:
        """Return the probability of each component given each transaction, shape (n_transactions, K)."""
        transactions = self._transactions(X)  # first: it refuses an estimator that is not fitted
        return self.trees_.responsibilities(transactions)

    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> FittedModel:
        observers = [*printers(self.verbose), *callbacks]
        self._require_room(transactions, 1)
        K, pooling, selection = self._chosen(transactions, observers)
        self._require_room(transactions, K)
        prior = self._prior(pooling, transactions.n_transactions)
        settings = Settings(
            base.check_least("n_init", self.n_init),
            base.check_least("max_iter", self.max_iter),
            base.check_tol(self.tol),
        )
        goes_on = self.warm_start and hasattr(self, "trees_")
        if goes_on and self.n_components == "auto":
            goes_on = self.trees_.n_components == K
        start = self.trees_ if goes_on else self.init
        with Workers(count_threads(self.n_jobs)) as workers:
            rows = TreeRows(transactions, K, workers)
            algorithm = TreeEM(rows, K, prior, tree_starter(start, rows, K))
            result = run(
                algorithm,
                rows.n_transactions,
                settings,
                base.as_seed(self.random_state),
                callbacks=observers,
            )
            trees = algorithm.finish(result.state)
        training = Training(
            rows.n_transactions,
            n_iter=result.n_iter,
            converged=result.converged,
            bounds=result.bounds / rows.n_transactions,
            selection=selection,
            pooling=pooling,
            interrupted=result.interrupted,
            stopped=result.stopped,
        )
        warn_of_fit(self, training)
        return FittedModel(trees, method="chow-liu-mixture", training=training)

    def _chosen(
        self, transactions: Transactions, callbacks: Sequence[Callback]
    ) -> tuple[int, float, Selection | None]:
        """Return the number of components, the pooling, and how the number was chosen if it was.

        The number is chosen first, then the pooling.
        """
        rng = np.random.default_rng(base.as_seed(self.random_state))
        split = int(rng.integers(2**31)) if "auto" in (self.n_components, self.pooling) else None
        pooling = _DEFAULT_POOLING if self.pooling == "auto" else base.check_amount("pooling", self.pooling)
        selection = None
        if self.n_components == "auto":
            selection = self._choose_components(transactions, pooling, split, callbacks)
            K = selection.best
        else:
            K = base.check_components(self.n_components, transactions.n_transactions)
        if self.pooling == "auto":
            pooling = self._choose_pooling(transactions, K, split, callbacks)
        return K, pooling, selection

    def _choose_components(
        self, transactions: Transactions, pooling: float, split: int | None, callbacks: Sequence[Callback]
    ) -> Selection:
        tried = [k for k in GRID if k <= max(1, transactions.n_transactions // 4)]
        scores = held_out_scores(
            lambda part, k: self._candidate(part, k, pooling),
            transactions, tried, COMPONENTS, random_state=split, patience=PATIENCE, callbacks=callbacks,
        )  # fmt: skip
        n_tried = len(scores.values)
        found = Selection("held-out", np.array(tried[:n_tried]), np.array(scores.values), scores.interrupted)
        warn_of_choice(scores, n_tried, COMPONENTS, found.best)
        return found

    def _choose_pooling(
        self, transactions: Transactions, n_components: int, split: int | None, callbacks: Sequence[Callback]
    ) -> float:
        scores = held_out_scores(
            lambda part, strength: self._candidate(part, n_components, strength),
            transactions, _POOLINGS, "the pooling", random_state=split, callbacks=callbacks,
        )  # fmt: skip
        best = _POOLINGS[int(np.argmax(scores.values))]
        warn_of_choice(scores, len(scores.values), "the pooling", best)
        return best

    def _candidate(self, transactions: Transactions, n_components: int, pooling: float) -> TreeMixture:
        """Fit a copy with some number of components and pooling, for the choice of them."""
        changes = {"n_components": n_components, "pooling": pooling, "verbose": 0, "warm_start": False}
        model: Self = clone(self).set_params(**changes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(transactions)
        if model.fitted_.training is not None and model.fitted_.training.interrupted:
            raise KeyboardInterrupt
        return model.trees_
