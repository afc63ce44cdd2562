"""The tree of latent variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from itemix._checks import check_flag, check_number
from itemix._runtime import Workers, count_threads, interruptible
from itemix.errors import InvalidInputError
from itemix.estimators import base
from itemix.estimators.answers import Climb, Learned, counted, read_input
from itemix.estimators.base import ModelEstimator, printers, warn_of_fit
from itemix.fitted import FittedModel, Training
from itemix.inference.latent import (
    LEAST_SMOOTHING,
    MOST_SMOOTHING,
    LatentRows,
    LatentTreeEM,
    centred_tree,
    require_room_for_states,
)
from itemix.inference.loop import Settings, run, shown_progress, tell_stage
from itemix.inference.trees import TreeRows
from itemix.models.latent import shape_of_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from itemix._typing import TransactionsLike
    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback, Seed
    from itemix.models.latent import LatentTree

_MOST_STATES = 256
# Fewer held-out transactions tell too little.
_FEWEST_HELD_OUT = 20
# A fit ends when so many passes together gain less than the tolerance.
_PATIENCE = 10


class LatentTreeModel(Climb, ModelEstimator):
    """A tree of latent variables, one for each item, which follows dependencies best.

    Each item has a latent variable with some states, and these variables form Chow and Liu's tree (Liu and
    Van den Broeck 2021). So items depend on each other through the whole tree, and still every answer is
    exact and quick. On all data that was measured, no other model here predicts unseen transactions as well.
    It has no components to look at.

    Parameters
    ----------
    n_states : int
        The number of states of each latent variable, up to 256: more follow finer dependencies, and take
        longer.
    smoothing : float or "auto"
        How many transactions are added to each state of each item, so that nothing is impossible; "auto" has
        the held-out transactions choose it during the fit.
    held_out : float
        The share of the transactions that is held out to tell when to stop, below 1. They are learned at the
        end. With 0, or fewer than 20 such transactions, the fit ends when the likelihood of the data settles.
    n_init : int
        How many starts; the best is kept.
    max_iter : int
        The most passes over the data in each start.
    tol : float
        It has converged when ten passes together raise the mean log-likelihood of what was held out by less.
    random_state : int, Generator, RandomState or None
        The seed.
    verbose : int
        Print every so many passes; 0 prints nothing.
    n_jobs : int or None
        Threads: None is one, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    tree_ : LatentTree
        The fitted model.
    n_iter_ : int
        The number of passes of the best start.
    converged_ : bool
        Whether it converged.
    lower_bound_ : float
        The best mean log-likelihood of held-out transactions before the last pass.
    lower_bounds_ : array, shape (n_iter,)
        The same for each pass.
    n_transactions_ : int
        The number of transactions it was fitted to.
    fitted_ : FittedModel
        The model, how sure it is and how the fit went, as one value.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread", "butter"], ["bread", "butter"], ["milk", "bread"], ["beer"], []] * 40
    >>> model = itemix.LatentTreeModel(4, random_state=0).fit(baskets)
    >>> round(model.probability(["butter"], given=["bread"]), 1)
    0.7
    """

    tree_: Learned[LatentTree] = Learned("value")

    def __init__(
        self,
        n_states: int = 16,
        *,
        smoothing: float | Literal["auto"] = "auto",
        held_out: float = 0.1,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 2e-3,
        random_state: Seed | np.random.RandomState = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_states = n_states
        self.smoothing = smoothing
        self.held_out = held_out
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(
        self,
        X: TransactionsLike,
        y: object = None,
        *,
        callbacks: Sequence[Callback] = (),
        progress: bool = False,
        sample_weight: npt.ArrayLike | None = None,
        validation: TransactionsLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Transactions, list of lists of str, array, sparse matrix or data frame
            Binary data.
        y : ignored
            For scikit-learn's sake.
        callbacks : sequence of callables
            Each is called after every pass with an `itemix.inference.loop.Report`. One that returns True
            stops the fit. One that has a method `stage` is also told, in words, what is done before.
        progress : bool, default False
            Whether to show how far the fit is: on standard error, or in a notebook.
        sample_weight : array of int, shape (n_transactions,), optional
            How many transactions each one stands for: whole numbers, of which 0 leaves one out. Fractions are
            refused.
        validation : transactions in any form, optional
            The transactions that tell when to stop. All of X is learned then, and these are not.
        """
        transactions = counted(read_input(self, X), sample_weight)
        judges = None if validation is None else read_input(self, validation, items=transactions.items)
        quiet = not check_flag("progress", progress)
        with interruptible(), shown_progress("fit", transactions.n_transactions, quiet=quiet) as shown:
            self.fitted_ = self._fitted_to(transactions, judges, [*shown, *callbacks])
        return self

    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> FittedModel:
        return self._fitted_to(transactions, None, callbacks)

    def _fitted_to(
        self, transactions: Transactions, judges: Transactions | None, callbacks: Sequence[Callback]
    ) -> FittedModel:
        observers = [*printers(self.verbose), *callbacks]
        n_states = self._checked_states()
        smoothing = self._checked_smoothing()
        settings = Settings(
            base.check_least("n_init", self.n_init),
            base.check_least("max_iter", self.max_iter),
            base.check_tol(self.tol),
            patience=_PATIENCE,
        )
        require_room_for_states(transactions.n_items, n_states)
        seed = base.as_seed(self.random_state)
        learned, includes = transactions, False
        if judges is None:
            learned, judges = self._divided(transactions, seed)
            includes = judges is not None
        with Workers(count_threads(self.n_jobs)) as workers:
            tell_stage(observers, "learning the tree")
            trees = TreeRows(transactions, 1, workers)
            shape = shape_of_tree(centred_tree(trees))
            tell_stage(observers, "fitting a mixture to start from")
            algorithm = LatentTreeEM(
                LatentRows(learned, shape, workers),
                None if judges is None else LatentRows(judges, shape, workers),
                trees,
                n_states,
                smoothing,
                includes=includes,
            )
            result = run(algorithm, learned.n_transactions, settings, seed, callbacks=observers)
            if includes and not result.interrupted:
                tell_stage(observers, "learning what was held out")
            tree = algorithm.finish(result.state)
        training = Training(
            transactions.n_transactions,
            n_iter=result.n_iter,
            converged=result.converged,
            bounds=result.bounds / learned.n_transactions,
            interrupted=result.interrupted,
            stopped=result.stopped,
        )
        warn_of_fit(self, training)
        return FittedModel(tree, method="latent-tree", training=training)

    def _checked_states(self) -> int:
        n_states = base.check_least("n_states", self.n_states)
        if n_states > _MOST_STATES:
            raise InvalidInputError(
                f"expected n_states from 1 to {_MOST_STATES}, got {n_states}; try 16, or 64 for dense data"
            )
        return n_states

    def _checked_smoothing(self) -> float | None:
        if isinstance(self.smoothing, str) and self.smoothing == "auto":
            return None
        smoothing = base.check_amount("smoothing", self.smoothing)
        if not LEAST_SMOOTHING <= smoothing <= MOST_SMOOTHING:
            raise InvalidInputError(
                f"expected smoothing from {LEAST_SMOOTHING} to {MOST_SMOOTHING:,.0f}, or 'auto', got "
                f"{smoothing}; try 1.0"
            )
        return smoothing

    def _divided(self, transactions: Transactions, seed: Seed) -> tuple[Transactions, Transactions | None]:
        """Return what is learned first, and what is held out from it if there is enough of it."""
        share = check_number("held_out", self.held_out, 0.1)
        if not 0 <= share < 1:
            raise InvalidInputError(f"expected held_out from 0 to less than 1, got {share}; try 0.1")
        if share * transactions.n_transactions < _FEWEST_HELD_OUT:
            return transactions, None
        rest, left_out = transactions.split(1 - share, random_state=_generator(seed))
        return (rest, left_out) if left_out.n_transactions else (transactions, None)


def _generator(seed: Seed) -> np.random.Generator:
    """Return a generator of the same seed as the fit; one that was given is not used up."""
    import numpy as np

    return seed.spawn(1)[0] if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)
