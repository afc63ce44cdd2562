"""A model that is served: the model, the data beside it, what an answer may cost, and what is remembered.

Searches in the model are remembered: the deepest one so far answers all higher thresholds.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._files import Held
from itemix._runtime import deadline, still_wanted
from itemix.errors import InvalidInputError, ItemixError, TooManyItemsetsError
from itemix.fitted import Check, FittedModel
from itemix.mining import counts
from itemix.mining import intervals as credible
from itemix.mining.mine import mine
from itemix.models.base import as_model

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Hashable, Iterator

    from itemix._typing import Floats, Ints, ModelLike
    from itemix.core.itemsets import Itemsets
    from itemix.core.sets import Sets
    from itemix.core.transactions import Transactions
    from itemix.models.base import Model, Names
    from itemix.models.causes import AnyComponents

_CLOSE_ENOUGH = 1.05
_ROUNDING = 1e-9
_LOWEST = 1e-12


_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True)
class Limits:
    """What one answer may cost.

    Parameters
    ----------
    max_itemsets : int
        The most itemsets that a search may find.
    max_rules : int
        The most rules that they may be split into.
    seconds : float
        The longest that an answer may take.
    download_seconds : float
        The longest that a file may take.
    """

    max_itemsets: int = 1_000_000
    max_rules: int = 1_000_000
    seconds: float = 10.0
    download_seconds: float = 120.0


class TooSlowError(ItemixError, TimeoutError):
    """An answer took longer than it may; `lowest` is a threshold that is high enough, where that is known."""

    def __init__(self, seconds: float, lowest: float | None = None) -> None:
        super().__init__(
            f"expected an answer within {seconds:g} s, got none; raise min_support, or ask for less at once"
        )
        self.seconds = seconds
        self.lowest = lowest


class ThresholdTooLowError(TooManyItemsetsError):
    """More itemsets than allowed reach a threshold; `lowest` is one that is high enough."""

    def __init__(self, threshold: float, max_itemsets: int, lowest: float) -> None:
        super().__init__(
            f"expected at most {max_itemsets:,} itemsets, got more at min_support={threshold:.4g}; "
            f"the lowest that is possible is {lowest:g}"
        )
        self.lowest = lowest


class Deadline:
    """A check that long loops call: it ends them when the time is over, or when nobody waits any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def call_off(self) -> None:
        """Say that nobody waits any more."""
        self._end = -math.inf

    def __call__(self) -> None:
        """Raise TooSlowError if the answer is not wanted any more."""
        if time.monotonic() > self._end:
            raise TooSlowError(self._seconds)


@contextlib.contextmanager
def held(lock: Lock) -> Iterator[None]:
    """Hold a lock; wait for it as long as the answer is wanted."""
    while not lock.acquire(timeout=_SECONDS_BETWEEN_LOOKS):
        still_wanted()
    try:
        yield
    finally:
        lock.release()


def rounded_up(value: float, digits: int) -> float:
    """Round a positive number up to some significant digits, as people write thresholds."""
    unit = digits - 1 - math.floor(math.log10(value))
    return float(f"{math.ceil(value * 10.0**unit) / 10.0**unit:.{digits}g}")


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
        self._too_slow = 0.0
        self._closing_in = Lock()
        self._ahead = Deadline(limits.download_seconds)

    def at(self, threshold: float, target: str = "all") -> Found:
        """Return the itemsets of at least a probability: all, the closed or the maximal ones.

        Raises
        ------
        ThresholdTooLowError
            If there are more than allowed; it knows the lowest threshold that is possible.
        TooSlowError
            If the search takes longer than allowed; it knows a threshold at which it did not.
        """
        family = self._deepest
        if family is None or _depth(family) > threshold:
            if threshold <= self._too_slow:
                raise TooSlowError(self._limits.seconds, self.note_slow(threshold))
            family = self._search(threshold)
        if family is None:
            with held(self._closing_in):
                raise ThresholdTooLowError(threshold, self._limits.max_itemsets, self._find_lowest())
        if target == "closed":
            family = family.closed
        elif target == "maximal":
            family = family.maximal(threshold)
        reaches = family.itemsets.support >= threshold * (1 - _ROUNDING)
        return Found(family, np.flatnonzero(reaches))

    def note_slow(self, threshold: float) -> float | None:
        """Note that an answer at a threshold took too long, and return one that is known to be quick enough.

        A search that had less time than others may be tried again later: only what is known to end is said.
        """
        deepest = self._deepest
        if deepest is None or _depth(deepest) <= threshold:
            return None  # the search was done: something else took the time
        self._too_slow = max(self._too_slow, threshold)
        return _depth(deepest)

    @property
    def lowest_possible(self) -> float:
        """The lowest threshold that is possible, as far as it is known; 0 if no search was too large yet."""
        depth = _depth(self._deepest)
        return depth if depth > self._too_slow > 0 else self._lowest_possible

    def read_ahead(self, threshold: float) -> None:
        """Search down to a threshold, or to the lowest that is possible, before anybody asks for it.

        Each step goes half as far down as the last one, so that what was reached stays where time is over.
        """
        with contextlib.suppress(TooManyItemsetsError, TooSlowError), deadline(self._ahead):
            while _depth(self._deepest) > threshold:
                self.at(max(threshold, _depth(self._deepest) / 2))

    def end(self) -> None:
        """Stop reading ahead: nobody will ask any more."""
        self._ahead.call_off()

    def _search(self, threshold: float) -> Family | None:
        """Return the itemsets of at least a probability, or None if there are more than allowed."""
        if threshold <= self._too_low:
            return None
        try:
            found = mine(self._model, threshold, max_itemsets=self._limits.max_itemsets)
        except TooManyItemsetsError:
            self._too_low = max(self._too_low, threshold)
            return None
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
            self._search(middle)
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


T = TypeVar("T")

_REMEMBERED = 4
_SETS_AT_FIRST = 500


class Served:
    """One model, by its name.

    Parameters
    ----------
    name : str
        What it is called in addresses and on the page.
    fitted : FittedModel, Model or fitted estimator
        What answers.
    data : Transactions, optional
        The data that answers are compared with; items that the model does not know are left out.
    test : Transactions, optional
        Data that the model was not fitted to, for surprises and comparisons.
    limits : Limits, optional
        What one answer may cost.
    path : str, optional
        The file that the model came from.
    for_owner : bool
        Whether only its owner asks: then single transactions are shown, and names that are given are kept.
    """

    def __init__(
        self,
        name: str,
        fitted: ModelLike,
        *,
        data: Transactions | None = None,
        test: Transactions | None = None,
        limits: Limits | None = None,
        path: str | None = None,
        for_owner: bool = False,
    ) -> None:
        model = fitted.model if isinstance(fitted, FittedModel) else as_model(fitted)
        if model is None:
            raise InvalidInputError(
                f"expected a model to serve as {name!r}, got {type(fitted).__name__}; fit one first"
            )
        self.name = name
        self.fitted = FittedModel.of(fitted)
        self.model: Model = model
        self.data = None if data is None else _with_items_of(model, data)
        self.test = None if test is None else _with_items_of(model, test)
        self.compared = None if data is None or test is None else (data, test)
        self.path = path
        self.for_owner = for_owner
        self.transactions = data if for_owner else None
        self.limits = limits or Limits()
        self.searches = Searches(model, self.limits)
        self._remembered: OrderedDict[Hashable, Any] = OrderedDict()
        self._kept: dict[Hashable, Any] = {}
        self._lock = Lock()
        self._making = Lock()

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str] | Held,
        *,
        data: Transactions | None = None,
        test: Transactions | None = None,
        limits: Limits | None = None,
        for_owner: bool = False,
    ) -> Served:
        """Serve the model of a file, by the name of the file without its ending."""
        from itemix.files import read_fitted

        name = path.name if isinstance(path, Held) else path
        return cls(
            Path(name).stem,
            read_fitted(path),
            data=data,
            test=test,
            limits=limits,
            path=str(name),
            for_owner=for_owner,
        )

    @property
    def has_intervals(self) -> bool:
        """Whether the model knows how sure it is."""
        return self.fitted.knows_error

    def intervals(
        self,
        itemsets: Itemsets | list[Names],
        level: float,
        *,
        absent: list[Names] | None = None,
        given: Names = (),
        given_absent: Names = (),
    ) -> tuple[Floats, Floats] | None:
        """Return the ends of the intervals of some probabilities, or None if the model has no intervals."""
        if not self.has_intervals:
            return None
        source = self.fitted.error_source
        _, lower, upper = credible.intervals(
            source, itemsets, absent=absent, given=given, given_absent=given_absent, level=level
        )
        return lower, upper

    def supports(self, sets: Sets) -> dict[str, list[float]]:
        """Return the fraction of the data, `exact`, and of the test data, `tested`, that holds each set.

        What there is no data for is left out.
        """
        beside = {"exact": self.data, "tested": self.test}
        return {
            name: (counts.count(sets, data) / max(data.n_transactions, 1)).tolist()
            for name, data in beside.items()
            if data is not None
        }

    @cached_property
    def is_training(self) -> bool:
        """Whether the data is what the model was fitted to: then it agrees more than other data would."""
        return self.data is not None and self.fitted.was_fitted_to(self.data)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Whether the fit can be relied on, as the fitted model says it."""
        other = None if self.is_training else self.data
        return self.fitted.checks(other if self.test is None else self.test)

    @property
    def components(self) -> AnyComponents | None:
        """The components to look at, after sampling averages over the samples; None if the model has none."""
        return self.fitted.components

    def rename(self, component: int, name: str) -> bool:
        """Give a component a name, or take it away; return whether it was kept in a file beside the model."""
        from itemix.files import save_names

        with self._lock:
            names = {**self.fitted.names, component: name}
            self.fitted = replace(self.fitted, names={k: told for k, told in names.items() if told})
            if self.path is None:
                return False
            save_names(self.fitted, self.path)
            return True

    @cached_property
    def first_threshold(self) -> float:
        """A round threshold that a few hundred sets reach, and no less than one transaction."""
        found = mine(self.model, top_k=_SETS_AT_FIRST).support
        one = 1 / (self.fitted.n_transactions or math.inf)
        return rounded_up(max(float(found.min(initial=1.0)), min(one, float(found.max(initial=0.0)))), 2)

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made for a key the last time, or make it; the last few are kept."""
        known: T | None = self._recalled(key)
        if known is not None:
            return known
        # Making it takes much memory, so one request at a time does it; the next may want the same.
        with held(self._making):
            known = self._recalled(key)
            if known is None:
                known = make()
                with self._lock:
                    self._remembered[key] = known
                    while len(self._remembered) > _REMEMBERED:
                        self._remembered.popitem(last=False)
        return known

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made for a key the first time; it is kept."""
        if key not in self._kept:
            made = make()
            with self._lock:
                self._kept.setdefault(key, made)
        kept: T = self._kept[key]
        return kept

    def _recalled(self, key: Hashable) -> Any:  # noqa: ANN401 - what was made for the key
        with self._lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
            return self._remembered.get(key)


def _with_items_of(model: Model, data: Transactions) -> Transactions:
    if data.items == model.items:
        return data
    if not any(name in model.items for name in data.items):
        raise InvalidInputError(
            f"expected data with items of the model, got none of its {model.n_items:,} among the "
            f"{data.n_items:,} of the data; name the data that the model was fitted on"
        )
    return data.align_items(model.items, drop_unknown=True)
