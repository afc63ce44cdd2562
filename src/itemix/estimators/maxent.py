"""The model of maximum entropy under the supports of itemsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.estimators import parameters
from itemix.estimators.constraints import constraint_sets
from itemix.estimators.single import ModelEstimator
from itemix.models.maxent import MaxEntropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback


class MaxEntropyModel(ModelEstimator):
    """As little structure as the supports of short itemsets allow (maximum entropy, iterative scaling).

    The model is told of all items, of the frequent itemsets up to a length, and of those that are not
    frequent though all their subsets are. With at most 14 frequent items all answers come from one
    distribution. With more, a question is answered from what is known of its own items alone, so that it
    takes time and memory that double with every item: at most 14 frequent items can be asked for at once, and
    whole transactions have no probability. It has no components.

    Parameters
    ----------
    min_support : float or int
        Which itemsets are frequent, as in `mine`.
    max_len : int
        The longest itemsets that the model is told of: 1 for independent items, 2 for pairs, and so on.
    n_jobs : int or None
        Threads for mining: None is one, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    max_entropy_ : MaxEntropy
        The fitted model.
    n_constraints_ : int
        The number of itemsets of two items or more that it is told of.
    n_transactions_ : int
        The number of transactions it was fitted to.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread"], ["milk", "bread"], ["beer"], ["beer", "chips"]]
    >>> model = itemix.MaxEntropyModel(min_support=0.25, max_len=2).fit(baskets)
    >>> model.probability(["milk", "bread"])
    0.5
    >>> model.probability(["milk", "beer"])
    0.0
    """

    max_entropy_: MaxEntropy

    def __init__(self, *, min_support: float = 0.01, max_len: int = 3, n_jobs: int | None = None) -> None:
        self.min_support = min_support
        self.max_len = max_len
        self.n_jobs = n_jobs

    @property
    def model_(self) -> MaxEntropy:
        """The model that answers."""
        return self.max_entropy_

    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> None:
        longest = parameters.check_whole("max_len", self.max_len)
        sets, supports = constraint_sets(transactions, self.min_support, longest, n_jobs=self.n_jobs)
        frequencies = transactions.item_counts() / transactions.n_transactions
        self.max_entropy_ = MaxEntropy(frequencies, sets, supports)
        self.n_constraints_ = len(sets)
