"""Searches in a model that are remembered: the deepest one so far answers all higher thresholds."""

from __future__ import annotations

import contextlib
import math
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._runtime import deadline
from itemix.errors import TooManyItemsetsError
from itemix.mining.mine import mine
from itemix.web.limits import Deadline, ThresholdTooLowError, TooSlowError, held, rounded_up

if TYPE_CHECKING:
    from itemix._typing import Floats, Ints
    from itemix.core.itemsets import Itemsets
    from itemix.models.base import Model
    from itemix.web.limits import Limits


_CLOSE_ENOUGH = 1.05
_ROUNDING = 1e-9
_LOWEST = 1e-12


class Family:
    """The itemsets of one search, and what is computed of them once.

    Parameters
    ----------
    itemsets : Itemsets
        The sets, with their probabilities.
    item_probabilities : array of float, shape (n_items,)
        Those of the single items.
    """

    def __init__(self, itemsets: Itemsets, item_probabilities: Floats) -> None:
        self.itemsets = itemsets
        self._item_probabilities = item_probabilities
        self._maximal: tuple[float, Family] | None = None

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items of each set."""
        return self.itemsets.lengths

    @cached_property
    def lift(self) -> Floats:
        """The probability of each set over that of its items if they were independent."""
        return lifts(self.itemsets, self._item_probabilities)

    @cached_property
    def closed(self) -> Family:
        """The closed sets; those of a higher threshold are among them."""
        return Family(self.itemsets.closed(), self._item_probabilities)

    def maximal(self, threshold: float) -> Family:
        """Return the maximal sets at a threshold; those of the last one are remembered."""
        known = self._maximal
        if known is None or known[0] != threshold:
            found = self.itemsets.filter(min_support=threshold).maximal()
            known = self._maximal = threshold, Family(found, self._item_probabilities)
        return known[1]


class Found(NamedTuple):
    """Some sets of a family."""

    family: Family
    positions: Ints


class Searches:
    """The searches in one model.

    Parameters
    ----------
    model : Model
        Where to search.
    limits : Limits
        How many itemsets a search may find, and how long it may take.
    """

    def __init__(self, model: Model, limits: Limits) -> None:
        self._model = model
        self._limits = limits
        self._deepest: Family | None = None
        self._too_low = 0.0
        self._lowest_possible = 0.0
        self._closing_in = Lock()
        self._ahead = Deadline(limits.download_seconds)

    def at(self, threshold: float, target: str = "all") -> Found:
        """Return the itemsets of at least a probability: all, the closed or the maximal ones.

        Raises
        ------
        ThresholdTooLowError
            If there are more than allowed; it knows the lowest threshold that is possible.
        TooSlowError
            If the search takes longer than allowed.
        """
        family = self._down_to(threshold)
        if target == "closed":
            family = family.closed
        elif target == "maximal":
            family = family.maximal(threshold)
        reaches = family.itemsets.support >= threshold * (1 - _ROUNDING)
        return Found(family, np.flatnonzero(reaches))

    @property
    def lowest_possible(self) -> float:
        """The lowest threshold that is possible, as far as it is known; 0 if no search was too large yet."""
        return self._lowest_possible

    def read_ahead(self, threshold: float) -> None:
        """Search down to a threshold, or to the lowest that is possible, before anybody asks for it."""
        with contextlib.suppress(TooManyItemsetsError, TooSlowError), deadline(self._ahead):
            self._down_to(threshold)

    def end(self) -> None:
        """Stop reading ahead: nobody will ask any more."""
        self._ahead.call_off()

    def _down_to(self, threshold: float) -> Family:
        """Return the itemsets of at least a probability, and perhaps more."""
        deepest = self._deepest
        if deepest is not None and _depth(deepest) <= threshold:
            return deepest
        if threshold > self._too_low:
            try:
                return self._search(threshold)
            except TooManyItemsetsError:
                self._too_low = max(self._too_low, threshold)
        with held(self._closing_in):
            raise ThresholdTooLowError(threshold, self._limits.max_itemsets, self._find_lowest())

    def _search(self, threshold: float) -> Family:
        found = mine(self._model, threshold, max_itemsets=self._limits.max_itemsets)
        family = Family(found, self._model.item_probabilities)
        if threshold < _depth(self._deepest):
            self._deepest = family
        return family

    def _find_lowest(self) -> float:
        """Close in on the lowest threshold that is possible, between one that is and one that is not."""
        while _depth(self._deepest) > _CLOSE_ENOUGH * max(self._too_low, _LOWEST):
            high, low = _depth(self._deepest), max(self._too_low, _LOWEST)
            middle = rounded_up(math.sqrt(high * low), 3)
            if not low < middle < high:
                break
            try:
                self._search(middle)
            except TooManyItemsetsError:
                self._too_low = max(self._too_low, middle)
        self._lowest_possible = _depth(self._deepest)
        return self._lowest_possible


def lifts(itemsets: Itemsets, item_probabilities: Floats) -> Floats:
    """Return the probability of each set over that of its items if they were independent."""
    if len(itemsets) == 0:
        return np.empty(0)
    with np.errstate(divide="ignore"):
        logs = np.log(item_probabilities)
    independent = np.add.reduceat(logs[itemsets.codes], itemsets.offsets[:-1])
    lift: Floats = itemsets.support * np.exp(-independent)
    return lift


def _depth(family: Family | None) -> float:
    """Return the threshold down to which a family holds all itemsets."""
    return 1.0 if family is None else family.itemsets.min_support or 1.0
