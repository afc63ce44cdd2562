"""Exact itemsets with the help of a model: it proposes sets, and passes over the data count them.

A model proposes the sets that are probable enough, at a threshold somewhat lower than the one asked for. One
pass over the data counts them, and with them their border: all sets that are not proposed, but whose subsets
are. If no set of the border is frequent, then no other set can be: it would contain one of these. Otherwise
the model has missed some sets. Those that they make possible are counted in another pass, until nothing is
left to count.

The border is made of joins (see `itemix.kernels.mining.candidates`). Every set whose subsets are all proposed
is a proposed set or a join of two. So if all frequent joins are proposed, there is no other frequent set: the
shortest one would be a join. Otherwise the frequent joins become candidates of the next round. So do the sets
behind them that are expected to be frequent if the items in which they differ are independent.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from itemix._checks import check_number, check_whole
from itemix._runtime import count_threads, interruptible
from itemix.core.display import plural
from itemix.core.items import Items
from itemix.core.itemsets import Itemsets
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.io.chunks import Stream
from itemix.io.partitions import Partitions
from itemix.mining.intervals import relative_errors
from itemix.mining.model import model_search
from itemix.mining.partitioned import wanted_sets
from itemix.mining.passes import Candidates, Numbering, Reader, known_codes
from itemix.mining.search import (
    UNBOUNDED,
    SearchOptions,
    SearchStopped,
    SetColumns,
    as_fraction,
    check_support,
    min_count,
    search_progress,
    too_many,
    trial_size,
)
from itemix.models.base import as_model, as_names
from itemix.models.corrected import CorrectedMixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from itemix._typing import ChunksLike, Codes, ModelLike
    from itemix.core.items import Label
    from itemix.mining.intervals import ErrorSource
    from itemix.mining.passes import StreamTotals
    from itemix.models.base import Model, Names

# The slack for a model that does not know its error.
USUAL = 0.1
# Of a million sets that are just frequent, only a few dozen are estimated this many standard errors too low.
_N_ERRORS = 4.0
# More slack gives ten or more candidates for each frequent set, which take longer than another pass.
_MOST = 0.75
# The error is measured at so many sets: the least probable above the threshold, with few items each.
_N_NEAREST = 300
_LONGEST = 3
_MOST_SETS = 100_000
# Sets behind those that the model has missed are candidates if expected to be this close to frequent.
_EXPECTED_SLACK = 0.3
# Memory of a proposed set: in the search, in the trie, and among the results.
_BYTES_PER_PROPOSAL = 400


@dataclass(frozen=True)
class Verification:
    """Itemsets whose supports were counted in the data, and how that went.

    Attributes
    ----------
    itemsets : Itemsets
        Frequent itemsets with their exact supports.
    is_certified : bool
        Whether these are all: no other set can be frequent.
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
    model: ModelLike,
    data: ChunksLike,
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

    The result is that of ``mine(data, min_support, ...)``, whatever the model. A good model saves passes over
    the data, which is read chunk by chunk and may be far larger than memory.

    Parameters
    ----------
    model : Model or fitted estimator
        The model that proposes sets. Its items are matched with those of the data by name.
    data : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list (or anything else that can be looped over more
        than once) of `Transactions`, data frames or matrices. A function is called for every pass and returns
        transactions or chunks of them. Those of `itemix.partitions` are counted where they lie.
    min_support : float or int
        A float in (0, 1] is a fraction of the transactions, an int a number of them.
    target, min_len, max_len, include, exclude, top_k, max_itemsets, n_jobs
        As in `mine`; `top_k` chooses among the sets of at least `min_support`.
    slack : float or function, optional
        The part by which the threshold is lowered for the model: with 0.1, to 90%. More slack gives more
        candidates and fewer passes. A function takes the threshold as a fraction and returns the slack. By
        default the slack is four standard errors of the model (`own_slack`), and a tenth for a model that
        does not know its error.
    max_passes : int, optional
        The most passes over the data. With a limit, the result may lack sets, and says so.
    progress : bool or function, default False
        True shows a bar on standard error if it is a terminal. A function is called with (transactions read,
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
    threshold = check_support(min_support)  # before the data is read
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
        parts = data if isinstance(data, Partitions) else None
        reader = Reader(Stream(data), included, excluded, count_threads(n_jobs), on_progress, parts)
        rounds = Rounds(reader, options, threshold, most)
        rounds.propose(proposer, rule)
        return rounds.run()


def _names(names: Names | None) -> list[Label]:
    """Return a list of distinct names; a single name gives a list of one."""
    return [] if names is None else list(dict.fromkeys(as_names(names)))


def own_slack(source: ErrorSource, model: Model, min_support: float, *, n_jobs: int | None = -1) -> float:
    """Return the slack at a threshold that covers four standard errors of a model.

    The error is the median over the short sets that are just above the threshold. Errors are relative and may
    be large, so they are taken in logarithms: the slack is 1 - exp(-4 e), about 4 e if e is small.

    Parameters
    ----------
    source : Posterior, sequence of Posterior, or CorrectedMixture
        The source of the model's error, as in `itemix.mining.intervals`; an empty sequence if there is none.
    model : Model
        The model that proposes sets.
    min_support : float
        The threshold, a fraction of the transactions.
    n_jobs : int, default -1
        The number of threads, as in `mine`.

    Returns
    -------
    float
        From 0 to three quarters; a tenth if the model does not know its error, or expects no set at all.
    """
    if not source:
        return USUAL
    most = max(_MOST_SETS, model.n_items)
    for max_len in range(_LONGEST, 0, -1):
        with suppress(TooManyItemsetsError):
            found = _expected(
                model, min_support, max_len=max_len, max_itemsets=most, n_threads=count_threads(n_jobs)
            )
            nearest = found.take(np.argsort(found.support, kind="stable")[:_N_NEAREST])
            errors = relative_errors(source, nearest)
            errors = errors[np.isfinite(errors)]
            if len(errors):
                return min(-math.expm1(-_N_ERRORS * float(np.median(errors))), _MOST)
            break
    return USUAL


def error_source_of(model: ModelLike) -> ErrorSource:
    """Return the source of a model's error, empty if there is none.

    An estimator has it in its fitted model. Of models alone, only a corrected mixture knows its error.
    """
    if isinstance(model, CorrectedMixture):
        return model
    source: ErrorSource = getattr(getattr(model, "fitted_", None), "error_source", ())
    return source


def _slack_rule(
    slack: float | Callable[[float], float] | None,
    model: ModelLike,
    proposer: Model,
    n_jobs: int | None,
) -> Callable[[float], float]:
    """Return the function from a threshold to its slack."""
    if slack is None:
        return partial(own_slack, error_source_of(model), proposer, n_jobs=n_jobs)
    if callable(slack):
        return lambda min_support: check_slack(slack(min_support))
    number = check_slack(slack)
    return lambda _: number


def check_slack(slack: object) -> float:
    """Return a slack: a number from 0 up to 1.

    Raises
    ------
    InvalidInputError
        If it is something else.
    """
    number = check_number("slack", slack, USUAL)
    if not 0 <= number < 1:
        raise InvalidInputError(f"expected slack from 0 up to 1, got {slack!r}; try {USUAL}")
    return number


@dataclass
class Rounds:
    """One verification, and its state after the passes so far.

    Attributes
    ----------
    reader : Reader
        The data, with the items that are to be included and excluded.
    options : SearchOptions
        Which sets are wanted.
    min_support : float or int
        The threshold, a fraction or a count.
    max_passes : int
        How often the data may be read.
    n_passes : int
        How often it was read.
    n_transactions : int or None
        The number of transactions, once it is known.
    """

    reader: Reader
    options: SearchOptions
    min_support: float
    max_passes: int
    n_passes: int = field(default=0, init=False)
    n_transactions: int | None = field(default=None, init=False)
    _numbering: Numbering = field(init=False)
    _candidates: Candidates = field(init=False)

    def propose(self, model: Model, slack: Callable[[float], float]) -> None:
        """Take the sets that a model proposes as candidates.

        The threshold is lowered by the slack. If that gives too many sets, it is not lowered. If these are
        still too many, there are no candidates, and the data is searched from single items on.
        """
        stream = self.reader.stream
        self.n_transactions = stream.n_transactions
        if self.n_transactions is None and isinstance(self.min_support, int):
            self.n_transactions = sum(chunk.n_transactions for chunk in stream.chunks())
            self.n_passes = 1
        fraction = as_fraction(self.min_support, self.n_transactions or 0)
        # A product of small numbers may be zero, and a threshold must be positive.
        lowered = max(fraction * (1 - slack(fraction)), math.ulp(0.0))
        trie = partial(Candidates.of_sets, max_len=self._max_len, max_bytes=self.options.max_bytes)
        for threshold in (lowered, fraction):
            with suppress(TooManyItemsetsError, SearchStopped):
                names, sets = self._proposals(model, threshold)
                self._numbering, self._candidates = Numbering(names), trie(sets)
                return
        self._numbering, self._candidates = Numbering([]), trie(SetColumns.empty())

    def run(self) -> Verification:
        """Read the data until all frequent sets are known, or as often as allowed."""
        n_proposed, n_confirmed = self._candidates.n_sets, -1
        while True:
            self._candidates, totals = self.reader.count(
                self._candidates, self._numbering, self.n_transactions
            )
            self.n_transactions, self.n_passes = totals.n_transactions, self.n_passes + 1
            least = min_count(self.min_support, totals.n_transactions)
            if n_confirmed < 0:
                n_confirmed = self._candidates.n_frequent(least)
            is_last = self.n_passes >= self.max_passes
            self._candidates = self._next_candidates(totals, least, is_last=is_last)
            n_frequent, n_unchecked = self._candidates.n_frequent(least), self._candidates.n_unknown
            if is_last or n_unchecked == 0:
                break
            if self._returns_all:
                self._check_number(n_frequent, totals, least)
        found, items = self._wanted(totals, least)
        is_certified = n_unchecked == 0
        itemsets = Itemsets(
            found.offsets,
            found.codes,
            found.values / max(totals.n_transactions, 1),
            items,
            count=found.values,
            n_transactions=totals.n_transactions,
            min_support=as_fraction(self.min_support, totals.n_transactions),
            target=self.options.target if is_certified and self.options.is_whole else None,
            check=False,
        )
        return Verification(
            itemsets,
            is_certified=is_certified,
            n_passes=self.n_passes,
            n_proposed=n_proposed,
            n_refuted=n_proposed - n_confirmed,
            n_missed=n_frequent - n_confirmed,
            n_unchecked=n_unchecked,
        )

    @property
    def _returns_all(self) -> bool:
        """Whether every frequent set that is found will be returned."""
        options = self.options
        return options.target == "all" and options.min_len == 1 and options.top_k is None

    @property
    def _max_len(self) -> int:
        """The most items of a candidate: closed and maximal sets are chosen among sets of every length."""
        if self.options.target != "all" or self.options.max_len == UNBOUNDED:
            return UNBOUNDED
        return max(1, self.options.max_len - len(self.reader.include))

    def _proposals(self, model: Model, threshold: float) -> tuple[list[Label], SetColumns]:
        """Return the items in the order of their numbers, and the proposed sets less the included items."""
        included = known_codes(model.items, self.reader.include)
        if len(included) < len(self.reader.include):
            return [], SetColumns.empty(np.float64)
        excluded = known_codes(model.items, self.reader.exclude)
        most, wanted = self.options.max_bytes // _BYTES_PER_PROPOSAL, self.options.max_itemsets
        if wanted is not None and self._returns_all:
            most = min(most, trial_size(wanted))
        found = _expected(
            model,
            threshold,
            max_len=self._max_len + len(included),
            include=model.items.names(included),
            exclude=model.items.names(excluded),
            max_itemsets=max(most, 1),
            n_threads=self.reader.n_threads,
        )
        return _numbered(found, included)

    def _next_candidates(self, totals: StreamTotals, least: int, *, is_last: bool) -> Candidates:
        """Return the frequent sets with their joins, and if memory allows, sets that may well be frequent."""
        extended = partial(
            self._candidates.extended,
            totals.held_counts,
            totals.n_holding,
            min_count=least,
            max_len=self._max_len,
            max_bytes=self.options.max_bytes,
        )
        if not is_last:
            with suppress(SearchStopped):
                return extended(min_expected=(1 - _EXPECTED_SLACK) * least)
        try:
            return extended(min_expected=math.inf)
        except SearchStopped as stop:
            ways = ("max_len",) if self.options.target == "all" else ()
            raise TooManyItemsetsError(
                f"expected itemsets that can be counted within half of the free memory, got {stop.n_found:,} "
                f"and more; {self._fewer(totals, least, *ways)}",
                stop.n_found,
            ) from None

    def _check_number(self, n_sets: int, totals: StreamTotals, least: int) -> None:
        most = self.options.max_itemsets
        if most is not None and n_sets > most:
            raise too_many(n_sets, most, self._fewer(totals, least, "max_len", "target", "top_k"))

    def _fewer(self, totals: StreamTotals, least: int, *ways: str) -> str:
        """Say how to ask for fewer itemsets."""
        than = f"{least:,} transactions" if least < totals.n_transactions else None
        return self.options.fewer(than, *ways)

    def _wanted(self, totals: StreamTotals, least: int) -> tuple[SetColumns, Items]:
        """Return the sets that were asked for, with the included items, in the order of mining."""
        found, (items, numbers) = self._candidates.frequent(least), self._numbering.items()
        options = self.options
        code_of = np.zeros(len(totals.item_counts), dtype=np.int32)
        code_of[numbers] = np.arange(len(numbers))
        found = found._replace(codes=code_of[found.codes])
        included = items.codes(self.reader.include)
        items.codes(self.reader.exclude)  # raises an error if the data has no such item
        options = replace(options, include=included)
        n, n_holding = totals.n_transactions, totals.n_holding
        found = wanted_sets(found, options, totals.item_counts[numbers], n, n_holding=n_holding, least=least)
        if options.top_k is not None:
            found = found.best(options.top_k)
        self._check_number(found.n_sets, totals, least)
        return found, items


def _expected(
    model: Model,
    threshold: float,
    *,
    max_len: int,
    max_itemsets: int,
    n_threads: int,
    include: Sequence[Label] = (),
    exclude: Sequence[Label] = (),
) -> Itemsets:
    """Return the itemsets that are probable enough under a model.

    Raises
    ------
    TooManyItemsetsError
        If there are too many.
    """
    options = SearchOptions.checked(
        model.items,
        target="all",
        min_len=1,
        max_len=max_len,
        include=include,
        exclude=exclude,
        top_k=None,
        max_itemsets=max_itemsets,
    )
    found = model_search(model, options, n_threads, None).find(threshold, max_itemsets)
    return Itemsets(found.offsets, found.codes, found.values, model.items, check=False)


def _numbered(found: Itemsets, left_out: Codes) -> tuple[list[Label], SetColumns]:
    """Return the items in the order of their numbers, and the sets without some items that all of them hold.

    Items are numbered in the order of the single sets, so that the sets stay sorted.
    """
    is_left_out = np.zeros(len(found.items), dtype=np.bool_)
    is_left_out[left_out] = True
    codes = found.codes[~is_left_out[found.codes]] if len(left_out) else found.codes
    lengths = found.lengths - len(left_out)
    kept = lengths > 0
    offsets = np.append(0, np.cumsum(lengths[kept]))
    alone = codes[offsets[:-1][lengths[kept] == 1]]
    number_of = np.full(len(found.items), -1, dtype=np.int32)
    number_of[alone] = np.arange(len(alone))
    return found.items.names(alone), SetColumns(offsets, number_of[codes], found.support[kept])
