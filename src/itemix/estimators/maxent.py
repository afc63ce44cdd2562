"""The model of maximum entropy under the supports of frequent itemsets, and of those at their border."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.sets import Sets
from itemix.errors import TooManyItemsetsError
from itemix.estimators import base
from itemix.estimators.answers import Learned
from itemix.estimators.base import ModelEstimator
from itemix.fitted import FittedModel, Training
from itemix.mining.counts import count
from itemix.mining.mine import mine
from itemix.mining.model import joins
from itemix.models.maxent import MaxEntropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import Codes, Floats
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback


MOST_SETS = 1_000_000


def constraint_sets(
    data: Transactions, min_support: float, max_len: int, *, n_jobs: int | None = None
) -> tuple[Sets, Floats]:
    """Return the sets of 2 to `max_len` items all of whose subsets are frequent, and their exact supports.

    These are the frequent sets and the sets at their border, which are not frequent: the model should know
    that these are rare, too.

    Raises
    ------
    InvalidInputError
        If the threshold is not a support.
    TooManyItemsetsError
        If there are more than a million.
    """
    try:
        found = mine(data, min_support, max_len=max_len, max_itemsets=MOST_SETS, n_jobs=n_jobs)
    except TooManyItemsetsError as error:
        raise _too_many(error.n_found, min_support, max_len) from None
    families, supports, n_sets = [Sets.from_names([], data.items)], [np.empty(0)], 0
    for length in range(2, max_len + 1):
        shorter = _rows_of(found, length - 1)
        for candidates in joins(shorter):
            chosen = candidates if length == 2 else _with_frequent_subsets(candidates, found)
            n_sets += len(chosen)
            if n_sets > MOST_SETS:
                raise _too_many(n_sets, min_support, max_len)
            family = _family(chosen, found)
            families.append(family)
            supports.append(_supports(family, found, data))
    return Sets.concatenate(families), np.concatenate(supports)


def _too_many(n_sets: int, min_support: float, max_len: int) -> TooManyItemsetsError:
    return TooManyItemsetsError(
        f"expected at most {MOST_SETS:,} itemsets as constraints, got {n_sets:,} and more; ask for a higher "
        f"support than {min_support!r}, or for itemsets of fewer than {max_len} items",
        n_sets,
    )


def _rows_of(found: Itemsets, length: int) -> Codes:
    """Return the codes of the sets of one length, ascending in each, in the order of the codes."""
    sets = found.sets
    own = np.flatnonzero(sets.lengths == length)
    rows = sets.codes[sets.offsets[own][:, None] + np.arange(length)]
    return np.unique(np.sort(rows, axis=1), axis=0).reshape(-1, length)


def _with_frequent_subsets(candidates: Codes, found: Itemsets) -> Codes:
    """Return those candidates all of whose subsets of one item less were found."""
    is_known = np.ones(len(candidates), dtype=bool)
    # Without one of its last two items, a candidate is one of the two sets that were joined.
    for left_out in range(candidates.shape[1] - 2):
        rest = _family(np.delete(candidates, left_out, axis=1), found)
        is_known &= found.sets.find(rest) >= 0
    return candidates[is_known]


def _family(rows: Codes, found: Itemsets) -> Sets:
    lengths = np.full(len(rows), rows.shape[1], dtype=np.int64)
    return Sets.from_lengths(lengths, np.ascontiguousarray(rows).ravel(), found.items)


def _supports(family: Sets, found: Itemsets, data: Transactions) -> Floats:
    place = found.sets.find(family)
    supports = np.where(place >= 0, found.support[place], 0.0) if len(found) else np.zeros(len(family))
    rare = np.flatnonzero(place < 0)
    supports[rare] = count(family.take(rare), data) / data.n_transactions
    return supports


class MaxEntropyModel(ModelEstimator):
    """As little structure as the supports of short itemsets allow (maximum entropy, iterative scaling).

    The model knows the supports of all items, of the frequent itemsets up to a length, and of the itemsets
    that are not frequent although all their subsets are. With at most 14 frequent items, all answers come
    from one distribution. With more, a question is answered from what is known about its own items alone.
    That takes time and memory that double with every item, so at most 14 frequent items can be asked for at
    once, and whole transactions have no probability. The model has no components.

    Parameters
    ----------
    min_support : float or int
        Which itemsets are frequent, as in `mine`.
    max_len : int
        The longest itemsets whose supports the model knows: 1 for independent items, 2 for pairs, and so on.
    n_jobs : int or None
        Threads for mining: None is one, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    max_entropy_ : MaxEntropy
        The fitted model.
    n_constraints_ : int
        The number of itemsets of two items or more whose supports it knows.
    n_transactions_ : int
        The number of transactions it was fitted to.
    fitted_ : FittedModel
        The model, how sure it is and how the fit went, as one value.

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

    max_entropy_: Learned[MaxEntropy] = Learned("value")

    def __init__(self, *, min_support: float = 0.01, max_len: int = 3, n_jobs: int | None = None) -> None:
        self.min_support = min_support
        self.max_len = max_len
        self.n_jobs = n_jobs

    @property
    def n_constraints_(self) -> int:
        """The number of itemsets of two items or more whose supports it knows."""
        return len(self.max_entropy_.itemsets)

    def _learn(self, transactions: Transactions, callbacks: Sequence[Callback]) -> FittedModel:
        longest = base.check_least("max_len", self.max_len)
        sets, supports = constraint_sets(transactions, self.min_support, longest, n_jobs=self.n_jobs)
        frequencies = transactions.item_counts() / transactions.n_transactions
        model = MaxEntropy(frequencies, sets, supports)
        return FittedModel(model, method="maxent", training=Training(transactions.n_transactions))
