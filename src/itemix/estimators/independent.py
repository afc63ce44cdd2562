"""The independent model: every item on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.estimators.answers import Learned
from itemix.estimators.base import ModelEstimator, check_amount
from itemix.fitted import FittedModel, Training
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback


class IndependentModel(ModelEstimator):
    """Items that do not depend on each other: the simplest model, and the one to be better than.

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
