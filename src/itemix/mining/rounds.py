"""Rounds of verification: a model proposes sets, and passes over the data count them and what is missing.

The proposed sets and their joins (see `itemix.kernels.mining.candidates`) hold every set of which all subsets are
proposed. So if no join but a proposed set is frequent, there is no other frequent set: the shortest one would
be a join. Otherwise the frequent joins become candidates of the next round, with sets behind them that are
expected to be frequent if the items in which they differ do not depend on each other.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.core.sets import Sets
from itemix.errors import TooManyItemsetsError
from itemix.mining.candidates import Candidates
from itemix.mining.columns import Columns
from itemix.mining.mine import mine
from itemix.mining.parallel import SearchStopped
from itemix.mining.reading import known_codes
from itemix.mining.search import UNBOUNDED, as_fraction, min_count, most_sets, trial_size
from itemix.mining.streams import Numbering
from itemix.ranking import ranks_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.items import Items, Label
    from itemix.core.itemsets import Itemsets
    from itemix.mining.reading import Reader, Totals
    from itemix.mining.search import SearchOptions
    from itemix.models.base import Model

# Sets behind those that the model has missed are candidates if expected to be this close to frequent.
_EXPECTED_SLACK = 0.3
# What a proposed set takes in all: where it is found, in the trie, and among the results.
_BYTES_PER_PROPOSAL = 400


class Outcome(NamedTuple):
    """The sets that were found in the data, and how it went."""

    columns: Columns
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
        return Numbering([]), fit(Columns.empty())

    def _thresholds(self, n: int | None) -> list[float]:
        """Return what the model is asked for: with slack, and without where those sets are too many."""
        fraction = as_fraction(self.min_support, n or 0)
        # A product of small numbers may be zero, which is no threshold.
        return [max(fraction * (1 - self.slack(fraction)), math.ulp(0.0)), fraction]

    def _proposals(self, model: Model, threshold: float) -> tuple[list[Label], Columns]:
        """Return the sets that a model proposes, without the included items, and the items they are of."""
        included = known_codes(model.items, self.reader.include)
        if len(included) < len(self.reader.include):
            return [], Columns.empty(np.float64)
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
        self, candidates: Candidates, totals: Totals, least: int, *, is_last: bool
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
        self, found: Columns, least: int, items: Items, numbers: npt.NDArray[np.int32], totals: Totals
    ) -> Columns:
        """Return the sets that were asked for, with the included items, in the order of mining."""
        options = self.options
        code_of = np.zeros(len(totals.item_counts), dtype=np.int32)
        code_of[numbers] = np.arange(len(numbers))
        found = found._replace(codes=code_of[found.codes])
        included = items.codes(self.reader.include)
        items.codes(self.reader.exclude)  # raises an error if the data has no such item
        if len(included) and totals.n_holding >= least:
            found = Columns.of_nothing(totals.n_holding).join(found)
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


def _numbered(found: Itemsets, left_out: npt.NDArray[np.int32]) -> tuple[list[Label], Columns]:
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
    return found.items.names(alone), Columns(offsets, number_of[codes], found.support[kept])
