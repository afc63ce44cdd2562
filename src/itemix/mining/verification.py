"""The exact itemsets of data, beside those of a model: what it missed, and what is not frequent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix._runtime import interruptible
from itemix.core.display import plural
from itemix.errors import TooManyItemsetsError
from itemix.mining.mine import mine, require_model
from itemix.models.base import as_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from itemix._typing import ChunksLike, ModelLike
    from itemix.core.items import Label
    from itemix.core.itemsets import Itemsets
    from itemix.models.base import Model, Names


@dataclass(frozen=True)
class Verification:
    """The itemsets of data, and what a model has said of them.

    Attributes
    ----------
    itemsets : Itemsets
        The frequent itemsets of the data, all of them, with their exact supports.
    proposed : Itemsets or None
        What mining the model returns; None if that is more than memory holds.
    """

    itemsets: Itemsets
    proposed: Itemsets | None

    @property
    def missed(self) -> Itemsets:
        """The itemsets that the model did not propose, with their supports in the data.

        Raises
        ------
        TooManyItemsetsError
            If it proposed more than memory holds.
        """
        return _without(self.itemsets, self._known)

    @property
    def refuted(self) -> Itemsets:
        """The itemsets that the model proposed but that are not frequent, with their supports in the model.

        Raises
        ------
        TooManyItemsetsError
            If it proposed more than memory holds.
        """
        return _without(self._known, self.itemsets)

    @property
    def _known(self) -> Itemsets:
        if self.proposed is None:
            raise TooManyItemsetsError(
                "expected a model whose itemsets fit into half of the free memory, got more; try a higher "
                "min_support",
                len(self.itemsets),
            )
        return self.proposed

    def __str__(self) -> str:
        """Say in one line how they compare."""
        if self.proposed is None:
            return "the model proposed more sets than memory holds"
        return (
            f"the model proposed {plural(len(self.proposed), 'set')}, {len(self.refuted):,} of them not "
            f"frequent, and missed {len(self.missed):,}"
        )


@interruptible()
def verify(
    model: ModelLike,
    data: ChunksLike,
    min_support: float | str | None = None,
    *,
    target: str = "all",
    min_len: int = 1,
    max_len: int | None = None,
    include: Iterable[Label] | Label | None = None,
    exclude: Iterable[Label] | Label | None = None,
    top_k: int | None = None,
    max_itemsets: int | None = None,
    n_jobs: int | None = -1,
    progress: bool | Callable[[int, int], None] = False,
) -> Verification:
    """Mine data that may be far larger than memory, and a model, and compare.

    The itemsets are those of ``mine(data, min_support, ...)``, whatever the model.

    Parameters
    ----------
    model : Model or fitted estimator
        The model. Its items are matched with those of the data by name.
    data : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list (or anything else that can be looped over more
        than once) of `Transactions`, data frames or matrices. A function is called for every pass and returns
        transactions or chunks of them, the same each time. Those of `itemix.partitions` are mined where they
        lie.
    min_support, target, min_len, max_len, include, exclude, top_k, n_jobs, progress
        As in `mine`, for both.
    max_itemsets : int, optional
        The most itemsets of the data to return.

    Returns
    -------
    Verification
        The itemsets of the data and of the model.

    Raises
    ------
    InvalidInputError
        If an option has no meaning, or the data is not the same in every pass.
    UnknownItemError
        If an item to include or exclude is not in the data.
    TooManyItemsetsError
        If there are more than `max_itemsets` sets in the data, or more than memory holds.

    Examples
    --------
    >>> import itemix
    >>> from itemix.mining.verification import verify
    >>> baskets = [["milk", "bread"], ["milk", "butter"], ["milk", "bread", "butter"], ["bread"]]
    >>> model = itemix.IndependentModel().fit(baskets)
    >>> verification = verify(model, baskets, 0.5)
    >>> verification.itemsets == itemix.mine(baskets, 0.5)
    True
    >>> print(verification)
    the model proposed 3 sets, 0 of them not frequent, and missed 2
    >>> verification.missed
    Itemsets: 2 itemsets, support >= 50%, of 4 transactions
      support  count  itemset
       0.5000      2  {bread, milk}
       0.5000      2  {milk, butter}
    """
    chosen: dict[str, Any] = {
        "target": target,
        "min_len": min_len,
        "max_len": max_len,
        "top_k": top_k,
        "n_jobs": n_jobs,
    }
    named: dict[str, Any] = {"include": _names(include), "exclude": _names(exclude)}
    itemsets = mine(
        model, min_support, verify=data, max_itemsets=max_itemsets, progress=progress, **named, **chosen
    )
    return Verification(itemsets, _proposed(require_model(model), itemsets, named, chosen))


def _names(names: Names | None) -> list[Label]:
    return [] if names is None else list(as_names(names))


def _proposed(
    model: Model, itemsets: Itemsets, named: dict[str, Any], chosen: dict[str, Any]
) -> Itemsets | None:
    """Return what mining the model gives at the threshold of some itemsets; None if that is too much."""
    include, exclude = ([name for name in names if name in model.items] for names in named.values())
    if len(include) < len(named["include"]):
        return itemsets.take(np.empty(0, dtype=np.int64))
    try:
        return mine(model, itemsets.min_support, include=include, exclude=exclude, **chosen)
    except TooManyItemsetsError:
        return None


def _without(itemsets: Itemsets, others: Itemsets) -> Itemsets:
    """Return the itemsets that are not among others; items are matched by name."""
    return itemsets.take(np.flatnonzero(others.sets.find(itemsets.sets) < 0))
