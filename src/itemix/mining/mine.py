"""`mine`: frequent itemsets of transactions, or of a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from itemix._checks import as_support
from itemix._runtime import count_threads, interruptible
from itemix.core.itemsets import Itemsets
from itemix.core.transactions import as_transactions
from itemix.errors import InvalidInputError
from itemix.io.chunks import Chunks, Stream
from itemix.io.partitions import Partitions, Reread, partitions
from itemix.mining.exact import ExactSearch
from itemix.mining.model import model_search
from itemix.mining.partitioned import PartitionedSearch, mined_parts
from itemix.mining.search import (
    SearchOptions,
    as_fraction,
    check_support,
    min_count,
    min_probability,
    search_progress,
)
from itemix.models.base import Model, as_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from itemix._typing import ChunksLike, ModelLike, TransactionsLike
    from itemix.core.items import Label
    from itemix.mining.model import ModelSearch


@interruptible()
def mine(
    source: TransactionsLike | ModelLike,
    min_support: float | str | None = None,
    *,
    target: str = "all",
    min_len: int = 1,
    max_len: int | None = None,
    include: Iterable[Label] | Label | None = None,
    exclude: Iterable[Label] | Label | None = None,
    top_k: int | None = None,
    max_itemsets: int | None = None,
    verify: ChunksLike | None = None,
    group: Label | None = None,
    n_jobs: int | None = -1,
    progress: bool | Callable[[int, int], None] = False,
) -> Itemsets:
    """Find the frequent itemsets of transactions, exactly, or the probable ones of a model.

    Parameters
    ----------
    source : Transactions, path, data frame, matrix, list of lists, mapping, or a model
        Transactions, or anything they can be made from, also the path of a file, or a mapping of transactions
        to how often they were seen; transactions in parts, of `read_chunks` or `itemix.partitions`; or a
        fitted estimator, or its model.
    min_support : float, int or str, optional
        A float in (0, 1] is a fraction of the transactions, an int a number of them, and ``"5%"`` the same as
        0.05. Frequent means support >= `min_support`. May be left out with `top_k`.
    target : {"all", "closed", "maximal", "generators"}, default "all"
        All frequent itemsets; those without a superset of the same support; those without a frequent
        superset; those without a subset of the same support.
    min_len, max_len : int, optional
        Bounds of the number of items. They choose among the sets of the target: a closed set longer than
        `max_len` is left out, not replaced by a shorter one.
    include : names, optional
        Items that every returned set must hold. They also choose among the sets of the target.
    exclude : names, optional
        Items that are left out of the data before mining; sets are closed or maximal without them.
    top_k : int, optional
        Return only the k sets with the highest support (among those of at least `min_support`, if given).
        Where sets tie for the last places, the first in the order of the result are taken.
    max_itemsets : int, optional
        The most sets to return (for maximal sets with `top_k`, the most to look through). By default, as many
        as half of the free memory holds.
    verify : transactions in any form, chunks of them, or a function that returns them, optional
        With a model: return exactly what mining this data returns. `itemix.mining.verification.verify` tells
        what the model missed too. See there for the data, which may be larger than memory.
    group : str or int, optional
        With a model that was fitted with groups: mine that of one group.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors. The result does not depend on it.
    progress : bool or function, default False
        True shows a bar on standard error if it is a terminal. A function is called with (done, total) now
        and then: the number of frequent items, or of parts of the data.

    Returns
    -------
    Itemsets
        Sorted by length, and within a length in colexicographic order of the items ranked by support.

    Raises
    ------
    InvalidInputError
        If an option has no meaning.
    UnknownItemError
        If an item to include or exclude is not in the data.
    TooManyItemsetsError
        If there are more than `max_itemsets` sets, or more than memory holds; it is raised in time.

    Examples
    --------
    >>> import itemix
    >>> baskets = [["milk", "bread"], ["milk", "butter"], ["milk", "bread", "butter"], ["bread"]]
    >>> itemix.mine(baskets, 0.5)
    Itemsets: 5 itemsets, support >= 50%, of 4 transactions
      support  count  itemset
       0.7500      3  {bread}
       0.7500      3  {milk}
       0.5000      2  {butter}
       0.5000      2  {bread, milk}
       0.5000      2  {milk, butter}
    """
    if isinstance(min_support, str):
        min_support = as_support(min_support)
    if min_support is None and top_k is None:
        raise InvalidInputError("expected min_support or top_k, got neither; try min_support=0.01")
    source = _of_group(source, group)
    if verify is not None:
        require_model(source)
        is_read = isinstance(verify, Chunks | Partitions)
        source = verify if is_read else Partitions(Reread(Stream(verify).chunks))
    if isinstance(source, Chunks | Partitions):
        if min_support is not None:
            check_support(min_support)  # before the data is read
        source = mined_parts(partitions(source))
    if isinstance(source, str | os.PathLike):
        from itemix.io.read import read_transactions

        source = read_transactions(source)
    model = as_model(source)
    data = source if isinstance(source, Partitions) else as_transactions(source) if model is None else model
    options = SearchOptions.checked(
        data.items,
        target=target,
        min_len=min_len,
        max_len=max_len,
        include=include,
        exclude=exclude,
        top_k=top_k,
        max_itemsets=max_itemsets,
    )
    n_threads = count_threads(n_jobs)
    in_parts = isinstance(data, Partitions)
    with search_progress(progress, "parts" if in_parts else "items") as on_progress:
        search: ExactSearch | PartitionedSearch | ModelSearch
        if isinstance(data, Model):
            n = None
            threshold = fraction = 0.0 if min_support is None else min_probability(min_support)
            search = model_search(data, options, n_threads, on_progress)
        else:
            n, asked = data.n_transactions, 1 if min_support is None else min_support
            threshold, fraction = min_count(asked, n), as_fraction(asked, n)
            if isinstance(data, Partitions):
                search = PartitionedSearch(data, options, n_jobs, on_progress)
            else:
                search = ExactSearch(data, options, n_threads, on_progress)
        if options.top_k is None:
            found = search.find(threshold, options.max_itemsets)
        else:
            found = search.top(threshold, options.top_k)
    return Itemsets(
        found.offsets,
        found.codes,
        found.values if n is None else found.values / max(n, 1),
        data.items,
        count=None if n is None else found.values,
        n_transactions=n,
        min_support=fraction or None,
        target=target if options.is_whole else None,
        check=False,
    )


def _of_group(source: Any, group: Label | None) -> Any:  # noqa: ANN401 - what `mine` takes
    """Return the model of a group, or what is there if no group is named."""
    if group is None:
        return source
    if not hasattr(source, "group"):
        raise InvalidInputError(
            f"expected a model that was fitted with groups, got {type(source).__name__}; leave group out"
        )
    return source.group(group)


def require_model(source: ModelLike) -> Model:
    """Return the model of what may be a fitted estimator.

    Raises
    ------
    InvalidInputError
        If it is no model, or was not fitted.
    """
    model = as_model(source)
    if model is None:
        hint = "fit it first" if hasattr(source, "fit") else "mine data without verify="
        raise InvalidInputError(
            f"expected a model whose itemsets are to be verified, got {type(source).__name__}; {hint}"
        )
    return model
