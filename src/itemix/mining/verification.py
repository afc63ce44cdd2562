"""Exact itemsets by way of a model: it proposes, the data decides, and the border tells if any is missing.

A model proposes the sets that are probable enough, at a threshold somewhat lower than the one asked for. One
pass over the data counts them, and with them their border: all sets that are not proposed though their
subsets are. If no set of the border is frequent then no other set can be, for it would hold one of these.
Otherwise the model has missed some sets, and those that they make possible are counted in another pass, until
nothing is left to count.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._arrays import ranks_by
from itemix._checks import check_number, check_whole
from itemix._runtime import count_threads, interruptible
from itemix.core.display import plural
from itemix.core.items import Items
from itemix.core.itemsets import Itemsets
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining.candidates import Candidates
from itemix.mining.intervals import relative_errors
from itemix.mining.mine import mine, search_progress
from itemix.mining.passes import Numbering, Reader, Stream, known_codes
from itemix.mining.search import (
    UNBOUNDED,
    SearchOptions,
    SearchStopped,
    SetColumns,
    as_fraction,
    check_support,
    min_count,
    most_sets,
    trial_size,
)
from itemix.models.base import as_model, as_names
from itemix.models.corrected import CorrectedMixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from itemix.core.items import Label
    from itemix.mining.intervals import ErrorSource
    from itemix.mining.passes import StreamTotals
    from itemix.models.base import Model, Names


# By how much a threshold is lowered for a model that proposes itemsets: by the model's own error.

# The slack for a model that does not know its error.
USUAL = 0.1
# Of a million sets that are just frequent, a few dozen are estimated this many standard errors too low.
_N_ERRORS = 4.0
# More slack makes for ten and more candidates for each frequent set, which take longer than another pass.
_MOST = 0.75
# The error is measured at so many sets, the least probable of those above the threshold, of few items each.
_N_NEAREST = 300
_LONGEST = 3
_MOST_SETS = 100_000


def own_slack(source: ErrorSource, model: Model, min_support: float, *, n_jobs: int | None = -1) -> float:
    """Return the slack that four standard errors of a model are, at a threshold.

    The error is the median one of the short sets that are least above the threshold. Errors are relative and
    may be large, so they are taken in logarithms: the slack is 1 - exp(-4 e), about 4 e if e is small.

    Parameters
    ----------
    source : Posterior, sequence of Posterior, or CorrectedMixture
        What knows how sure the model is, as in `itemix.mining.intervals`; an empty sequence if nothing does.
    model : Model
        What proposes sets.
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
            found = mine(model, min_support, max_len=max_len, max_itemsets=most, n_jobs=n_jobs)
            return _slack_at(found, source)
    return USUAL


def uncertain(fitted: Any) -> ErrorSource:  # noqa: ANN401 - a model or a fitted estimator
    """Return what knows how sure a model is, alone or fitted: its correction or its posteriors, if any."""
    corrected = fitted if isinstance(fitted, CorrectedMixture) else getattr(fitted, "corrected_", None)
    posteriors: ErrorSource = getattr(fitted, "posteriors_", ())
    return posteriors if corrected is None else corrected


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


def _slack_at(found: Itemsets, source: ErrorSource) -> float:
    """Return the slack at a threshold, given sets that are at least as probable."""
    nearest = found.take(np.argsort(found.support, kind="stable")[:_N_NEAREST])
    errors = relative_errors(source, nearest)
    errors = errors[np.isfinite(errors)]
    return min(-math.expm1(-_N_ERRORS * float(np.median(errors))), _MOST) if len(errors) else USUAL


# Rounds of verification: a model proposes sets, and passes over the data count them and what is missing.
#
# The proposed sets and their joins (see `itemix.kernels.mining.candidates`) hold every set of which all
# subsets are proposed. So if no join but a proposed set is frequent, there is no other frequent set: the
# shortest one would be a join. Otherwise the frequent joins become candidates of the next round, with sets
# behind them that are expected to be frequent if the items in which they differ do not depend on each other.

# Sets behind those that the model has missed are candidates if expected to be this close to frequent.
_EXPECTED_SLACK = 0.3
# What a proposed set takes in all: where it is found, in the trie, and among the results.
_BYTES_PER_PROPOSAL = 400


class Outcome(NamedTuple):
    """The sets that were found in the data, and how it went."""

    columns: SetColumns
    items: Items
    n_transactions: int
    n_passes: int
    n_proposed: int
    n_confirmed: int
    n_frequent: int
    n_unchecked: int


@dataclass(frozen=True)
class Rounds:
    """One verification.

    Attributes
    ----------
    reader : Reader
        The data, with the items that are to be included and excluded.
    options : SearchOptions
        Which sets are wanted.
    min_support : float or int
        The threshold, a fraction or a count.
    slack : function
        By how much of itself the threshold, a fraction, is lowered for the model.
    max_passes : int
        How often the data may be read.
    """

    reader: Reader
    options: SearchOptions
    min_support: float
    slack: Callable[[float], float]
    max_passes: int

    def run(self, model: Model) -> Outcome:
        """Read the data until all frequent sets are known, or as often as allowed."""
        n, n_passes = self.reader.stream.n_transactions, 0
        if n is None and self._is_count:
            n, n_passes = sum(chunk.n_transactions for chunk in self.reader.stream.chunks()), 1
        numbering, candidates = self._first_candidates(model, n)
        n_proposed, n_confirmed = candidates.n_sets, -1
        while True:
            candidates, totals = self.reader.count(candidates, numbering, n)
            n, n_passes = totals.n_transactions, n_passes + 1
            least = min_count(self.min_support, n)
            if n_confirmed < 0:
                n_confirmed = candidates.n_frequent(least)
            is_last = n_passes >= self.max_passes
            candidates = self._next_candidates(candidates, totals, least, is_last=is_last)
            if is_last or candidates.n_unknown == 0:
                break
            if self._returns_all:
                self._check_number(candidates.n_frequent(least), least, n)
        items, numbers = numbering.items()
        return Outcome(
            columns=self._wanted(candidates.frequent(least), least, items, numbers, totals),
            items=items,
            n_transactions=n,
            n_passes=n_passes,
            n_proposed=n_proposed,
            n_confirmed=n_confirmed,
            n_frequent=candidates.n_frequent(least),
            n_unchecked=candidates.n_unknown,
        )

    @property
    def _is_count(self) -> bool:
        """Whether the threshold is a number of transactions."""
        threshold: object = self.min_support
        return isinstance(threshold, Integral)

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

    def _first_candidates(self, model: Model, n: int | None) -> tuple[Numbering, Candidates]:
        """Return the candidates that a model proposes, and the numbers of the items.

        Where they are too many to be of use there are none, and the data is searched from its items up.
        """
        fit = partial(Candidates.of_sets, max_len=self._max_len, max_bytes=self.options.max_bytes)
        for threshold in self._thresholds(n):
            with suppress(TooManyItemsetsError, SearchStopped):
                names, sets = self._proposals(model, threshold)
                return Numbering(names), fit(sets)
        return Numbering([]), fit(SetColumns.empty())

    def _thresholds(self, n: int | None) -> list[float]:
        """Return what the model is asked for: with slack, and without where those sets are too many."""
        fraction = as_fraction(self.min_support, n or 0)
        # A product of small numbers may be zero, which is no threshold.
        return [max(fraction * (1 - self.slack(fraction)), math.ulp(0.0)), fraction]

    def _proposals(self, model: Model, threshold: float) -> tuple[list[Label], SetColumns]:
        """Return the sets that a model proposes, without the included items, and the items they are of."""
        included = known_codes(model.items, self.reader.include)
        if len(included) < len(self.reader.include):
            return [], SetColumns.empty(np.float64)
        excluded = known_codes(model.items, self.reader.exclude)
        most, wanted = self.options.max_bytes // _BYTES_PER_PROPOSAL, self.options.max_itemsets
        if wanted is not None and self._returns_all:
            most = min(most, trial_size(wanted))
        found = mine(
            model,
            threshold,
            max_len=self._max_len + len(included),
            include=model.items.names(included) or None,
            exclude=model.items.names(excluded) or None,
            max_itemsets=max(most, 1),
            n_jobs=self.reader.n_threads,
        )
        return _numbered(found, included)

    def _next_candidates(
        self, candidates: Candidates, totals: StreamTotals, least: int, *, is_last: bool
    ) -> Candidates:
        """Return what is frequent and what it makes possible; with what may well be frequent, if it fits."""
        extended = partial(
            candidates.extended,
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
                f"and more; {self._fewer(least, totals.n_transactions, *ways)}",
                stop.n_found,
            ) from None

    def _check_number(self, n_sets: int, least: int, n_transactions: int) -> None:
        most = self.options.max_itemsets
        if most is not None and n_sets > most:
            raise TooManyItemsetsError(
                f"expected {most_sets(most)}, got {n_sets:,} and more; "
                + self._fewer(least, n_transactions, "max_len", "target", "top_k"),
                n_sets,
            )

    def _fewer(self, least: int, n_transactions: int, *ways: str) -> str:
        """Say how to ask for fewer itemsets."""
        return self.options.fewer(f"{least:,} transactions" if least < n_transactions else None, *ways)

    def _wanted(
        self,
        found: SetColumns,
        least: int,
        items: Items,
        numbers: npt.NDArray[np.int32],
        totals: StreamTotals,
    ) -> SetColumns:
        """Return the sets that were asked for, with the included items, in the order of mining."""
        options = self.options
        code_of = np.zeros(len(totals.item_counts), dtype=np.int32)
        code_of[numbers] = np.arange(len(numbers))
        found = found._replace(codes=code_of[found.codes])
        included = items.codes(self.reader.include)
        items.codes(self.reader.exclude)  # raises an error if the data has no such item
        if len(included) and totals.n_holding >= least:
            found = SetColumns.of_nothing(totals.n_holding).join(found)
        if options.target != "all":
            sets = Sets(found.offsets, found.codes, items, check=False)
            group = found.values if options.target == "closed" else np.zeros_like(found.values)
            found = found.take(np.flatnonzero(sets.largest(group)))
        found = found.with_items(included, ranks_by(totals.item_counts[numbers]))
        fitting = (found.lengths >= options.min_len) & (found.lengths <= options.max_len)
        if not fitting.all():
            found = found.take(np.flatnonzero(fitting))
        if options.top_k is not None:
            found = found.best(options.top_k)
        self._check_number(found.n_sets, least, totals.n_transactions)
        return found


def _numbered(found: Itemsets, left_out: npt.NDArray[np.int32]) -> tuple[list[Label], SetColumns]:
    """Return itemsets without some items that all of them hold, and the items in the order of their numbers.

    Items are numbered as they stand in the result, so that the sets are still sorted.
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
        errors of the model (`own_slack`), and a tenth for a model that does not know its error.
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
