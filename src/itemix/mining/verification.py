"""Exact itemsets by way of a model: it proposes, the data decides, and the border tells if any is missing.

A model proposes the sets that are probable enough, at a threshold somewhat lower than the one asked for. One
pass over the data counts them, and with them their border: all sets that are not proposed though their
subsets are. If no set of the border is frequent then no other set can be, for it would hold one of these.
Otherwise the model has missed some sets, and those that they make possible are counted in another pass, until
nothing is left to count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from itemix._checks import check_whole
from itemix._runtime import interruptible
from itemix.core.display import plural
from itemix.core.items import Items
from itemix.core.itemsets import Itemsets
from itemix.errors import InvalidInputError
from itemix.mining.progress import search_progress
from itemix.mining.reading import Reader
from itemix.mining.rounds import Rounds
from itemix.mining.search import UNBOUNDED, SearchOptions, as_fraction, check_support
from itemix.mining.slack import check_slack, own_slack, uncertain
from itemix.mining.streams import Stream
from itemix.models.base import as_model
from itemix.models.events import as_names
from itemix.threads import count_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from itemix.core.items import Label
    from itemix.mining.rounds import Outcome
    from itemix.models.base import Model
    from itemix.models.events import Names


@dataclass(frozen=True)
class Verification:
    """Itemsets whose supports were counted in the data, and how that went.

    Attributes
    ----------
    itemsets : Itemsets
        Frequent itemsets with their exact supports.
    is_certified : bool
        Whether these are all: no set that was not counted can be frequent.
    n_passes : int
        How often the data was read.
    n_proposed : int
        How many sets the model proposed.
    n_refuted : int
        How many of these are not frequent.
    n_missed : int
        How many frequent sets the model did not propose.
    n_unchecked : int
        How many sets could not be counted within `max_passes`, though all their subsets may be frequent.
    """

    itemsets: Itemsets
    is_certified: bool
    n_passes: int
    n_proposed: int
    n_refuted: int
    n_missed: int
    n_unchecked: int

    def __str__(self) -> str:
        """Say in one line what was verified."""
        passes = f"{self.n_passes} pass{'es' if self.n_passes != 1 else ''}"
        outcome = f"complete after {passes} over the data"
        if not self.is_certified:
            unchecked = plural(self.n_unchecked, "set")
            outcome = f"not certified after {passes} over the data, {unchecked} not counted"
        return (
            f"{outcome}; the model proposed {plural(self.n_proposed, 'set')}, {self.n_refuted:,} of them not "
            f"frequent, and missed {self.n_missed:,}"
        )


@interruptible()
def verify(
    model: Any,  # noqa: ANN401 - a model or a fitted estimator
    data: Any,  # noqa: ANN401 - transactions in any form, or chunks of them
    min_support: float | None,
    *,
    target: str = "all",
    min_len: int = 1,
    max_len: int | None = None,
    include: Iterable[Label] | Label | None = None,
    exclude: Iterable[Label] | Label | None = None,
    top_k: int | None = None,
    max_itemsets: int | None = None,
    slack: float | Callable[[float], float] | None = None,
    max_passes: int | None = None,
    n_jobs: int | None = -1,
    progress: bool | Callable[[int, int], None] = False,
) -> Verification:
    """Find the frequent itemsets of data that a model proposes, and all that it misses.

    The result is that of ``mine(data, min_support, ...)``, whatever the model; a good one saves passes over
    the data, which is read chunk by chunk and may be far larger than memory.

    Parameters
    ----------
    model : Model or fitted estimator
        What proposes sets. Its items are matched with those of the data by name.
    data : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list, or anything else that can be gone through more
        than once, of `Transactions`, data frames or matrices. A function is called for every pass and returns
        transactions or chunks of them.
    min_support : float or int
        A float in (0, 1] is a fraction of the transactions, an int a number of them.
    target, min_len, max_len, include, exclude, top_k, max_itemsets, n_jobs
        As in `mine`; `top_k` chooses among the sets of at least `min_support`.
    slack : float or function, optional
        By how much of itself the threshold is lowered for the model. More slack makes for more candidates
        and for fewer passes. A function is given the threshold as a fraction. By default it is four standard
        errors of the model (`itemix.mining.slack.own_slack`), and a tenth for a model that does not know its
        error.
    max_passes : int, optional
        Read the data at most so often; the result may then lack sets, and says so.
    progress : bool or function, default False
        True shows a bar on standard error if it is a terminal; a function is told (transactions read,
        transactions in all) after every chunk.

    Returns
    -------
    Verification
        The itemsets, whether they are certified to be all, and how it went.

    Raises
    ------
    InvalidInputError
        If an option has no meaning, or the data is not the same in every pass.
    UnknownItemError
        If an item to include or exclude is not in the data.
    TooManyItemsetsError
        If there are more than `max_itemsets` sets, or more candidates than memory holds.

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
    complete after 1 pass over the data; the model proposed ...
    """
    proposer = as_model(model)
    if proposer is None:
        hint = "fit it first" if hasattr(model, "fit") else "mine data without verify="
        raise InvalidInputError(
            f"expected a model whose itemsets are to be verified, got {type(model).__name__}; {hint}"
        )
    if min_support is None:
        raise InvalidInputError("expected min_support to verify a model, got none; try min_support=0.01")
    check_support(min_support)  # before the data is read
    rule = _slack_rule(slack, model, proposer, n_jobs)
    most = UNBOUNDED if max_passes is None else check_whole("max_passes", max_passes, 2, least=1)
    included, excluded = _names(include), _names(exclude)
    options = SearchOptions.checked(
        Items(dict.fromkeys([*included, *excluded])),
        target=target,
        min_len=min_len,
        max_len=max_len,
        include=included,
        exclude=excluded,
        top_k=top_k,
        max_itemsets=max_itemsets,
    )
    with search_progress(progress, "transactions") as on_progress:
        reader = Reader(Stream(data), included, excluded, count_threads(n_jobs), on_progress)
        outcome = Rounds(reader, options, min_support, rule, most).run(proposer)
    is_whole = min_len == 1 and all(option is None for option in (max_len, include, exclude, top_k))
    return _verification(outcome, min_support, target if is_whole else None)


def _slack_rule(
    slack: float | Callable[[float], float] | None,
    model: Any,  # noqa: ANN401 - a model or a fitted estimator
    proposer: Model,
    n_jobs: int | None,
) -> Callable[[float], float]:
    """Return the function from a threshold to its slack."""
    if slack is None:
        return partial(own_slack, uncertain(model), proposer, n_jobs=n_jobs)
    if callable(slack):
        return lambda min_support: check_slack(slack(min_support))
    number = check_slack(slack)
    return lambda _: number


def _verification(outcome: Outcome, min_support: float, target: str | None) -> Verification:
    n, found = outcome.n_transactions, outcome.columns
    is_certified = outcome.n_unchecked == 0
    itemsets = Itemsets(
        found.offsets,
        found.codes,
        found.values / max(n, 1),
        outcome.items,
        count=found.values,
        n_transactions=n,
        min_support=as_fraction(min_support, n),
        target=target if is_certified else None,
        check=False,
    )
    return Verification(
        itemsets,
        is_certified=is_certified,
        n_passes=outcome.n_passes,
        n_proposed=outcome.n_proposed,
        n_refuted=outcome.n_proposed - outcome.n_confirmed,
        n_missed=outcome.n_frequent - outcome.n_confirmed,
        n_unchecked=outcome.n_unchecked,
    )


def _names(names: Names | None) -> list[Label]:
    """Return names in a list, each once; one name is a list of one."""
    return [] if names is None else list(dict.fromkeys(as_names(names)))
