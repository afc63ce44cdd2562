"""Model: the base of all distributions over transactions, and the events that it is asked about.

Mining, queries and evaluation only use what is declared here. An event is given by names of items; the
functions here check them and turn them into codes.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, protected
from itemix._runtime import still_wanted
from itemix.core.items import Items, Label
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from itemix._typing import Codes, Floats, Ints, Marks
    from itemix.core.itemsets import Itemsets

Names = Iterable[Label] | Label
SetArrays = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

_NAMES_SHOWN = 5
_SETS_AT_A_TIME = 1 << 20
_CELLS_AT_A_TIME = 4_000_000
# A probability with a lower logarithm is close to underflow: quotients are then differences of logarithms.
NEAR_THE_LEAST = -600.0


def as_names(names: object) -> Sequence[Any]:
    """Return names as a sequence; one string or number is one name."""
    if isinstance(names, list | tuple):
        return names
    if isinstance(names, str | int | np.integer):
        return (names,)
    if not isinstance(names, Iterable):
        raise InvalidInputError(
            f"expected item names in a list, got {type(names).__name__}; try ['milk', 'bread']"
        )
    return list(names)


def encode_sets(items: Items, itemsets: Itemsets | Iterable[Names]) -> SetArrays:
    """Return itemsets as compressed item codes: offsets (n + 1,) and codes.

    Raises
    ------
    InvalidInputError
        If these are not lists of names.
    UnknownItemError
        If a name is not one of the items.
    """
    from itemix.core.itemsets import Itemsets

    if isinstance(itemsets, Itemsets):
        require_same_items(items, itemsets.items)
        return itemsets.offsets, itemsets.codes
    if isinstance(itemsets, str | bytes) or not isinstance(itemsets, Iterable):
        raise InvalidInputError(
            f"expected a list of itemsets, got {itemsets!r}; try [['milk', 'bread'], ['milk']]"
        )
    sets = [names if type(names) is list else as_names(names) for names in itemsets]
    offsets = np.concatenate([[0], np.cumsum(np.fromiter(map(len, sets), np.int64, len(sets)))])
    flat = list(chain.from_iterable(sets))
    try:
        code_of = {name: items.code(name) for name in set(flat)}
    except TypeError:  # a list or an array, which cannot be in a set
        odd = next(name for name in flat if not isinstance(name, Hashable))
        raise InvalidInputError(
            f"expected item names that are strings or integers, got {odd!r}; flatten nested lists"
        ) from None
    return offsets, np.fromiter(map(code_of.__getitem__, flat), np.int32, len(flat))


def encode_absent(items: Items, absent: Iterable[Names] | None, n: int) -> SetArrays:
    """Return the absent items of each of n events as compressed item codes; None means none.

    Raises
    ------
    InvalidInputError
        If there are not as many as events.
    """
    against = no_sets(n) if absent is None else encode_sets(items, absent)
    if len(against[0]) != n + 1:
        raise InvalidInputError(
            f"expected absent items for each of the {n:,} itemsets, got {len(against[0]) - 1:,}; "
            "use [] for none"
        )
    return against


def few_names(names: Sequence[object]) -> str:
    """Write names for a message: the first, and how many more there are."""
    rest = len(names) - _NAMES_SHOWN
    return f"{list(names[:_NAMES_SHOWN])}{f' and {rest:,} more' if rest > 0 else ''}"


def no_sets(n: int) -> SetArrays:
    """Return n empty sets."""
    return np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32)


def require_consistent(
    items: Items,
    present: SetArrays,
    absent: SetArrays,
    given: npt.NDArray[np.int32],
    given_absent: npt.NDArray[np.int32],
) -> None:
    """Raise InvalidInputError if an item is both present and absent, in a set or in set and condition."""
    both = [_common(given, given_absent), _common(given, absent[1]), _common(given_absent, present[1])]
    for s in np.flatnonzero(np.diff(absent[0])):
        own = present[1][present[0][s] : present[0][s + 1]]
        both.append(_common(own, absent[1][absent[0][s] : absent[0][s + 1]]))
    found = np.concatenate(both)
    if len(found):
        raise InvalidInputError(
            f"expected items to be present or absent, got {items[int(found[0])]!r} as both; "
            "leave it out of one of the lists"
        )


def _common(few: npt.NDArray[np.int32], many: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    return few[np.isin(few, many)] if len(few) and len(many) else few[:0]


def require_same_items(expected: Items, got: Items) -> None:
    """Raise InvalidInputError if data or itemsets have other items than the model."""
    if expected is got or expected == got:
        return
    different = [name for name in got[:1000] if name not in expected][:3]
    if different:
        shown, hint = f"others, such as {different}", "drop those, or fit a model that has them"
    else:
        shown, hint = (
            f"{len(got):,} of them or another order",
            "try transactions.align_items(model.mixture_.items)",
        )
    raise InvalidInputError(f"expected the model's {len(expected):,} items, got {shown}; {hint}")


class Saved:
    """A value that can be written to a model file."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; `itemix.load` reads it back."""
        # The one import from a higher layer: files know all kinds of models, models do not know files.
        importlib.import_module("itemix.files").save(self, path)


class Model(Saved, Immutable, ABC):
    """A distribution over transactions: an immutable value that gives the probability of any itemset.

    Each kind of model gives the probability of sets of item codes and of whole transactions, and draws
    transactions. Questions by name and conditional ones follow from that. A kind overrides them if it knows a
    quicker way.
    """

    @property
    @abstractmethod
    def items(self) -> Items:
        """The name of each item code."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @abstractmethod
    def probabilities_of_codes(
        self,
        offsets: npt.NDArray[np.int64],
        codes: Codes,
        absent_offsets: npt.NDArray[np.int64] | None = None,
        absent_codes: Codes | None = None,
    ) -> Floats:
        """Return the probabilities of sets of item codes in compressed form, shape (n,)."""

    @abstractmethod
    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction, shape (n_transactions,); -inf if impossible."""

    @abstractmethod
    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the model."""

    @property
    def prefers_families(self) -> bool:
        """Whether many sets are answered much faster if all their subsets are asked for with them."""
        return False

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.items)

    @property
    def has_likelihood(self) -> bool:
        """Whether the model can tell how probable whole transactions are."""
        return True

    @cached_property
    def item_probabilities(self) -> Floats:
        """The probability of each item on its own, shape (n_items,)."""
        everything = np.arange(self.n_items, dtype=np.int32)
        return protected(self.probabilities_of_codes(np.arange(self.n_items + 1, dtype=np.int64), everything))

    def probability(
        self, itemset: Names, *, absent: Names = (), given: Names = (), given_absent: Names = ()
    ) -> float:
        """Return the probability that a transaction holds an itemset.

        Parameters
        ----------
        itemset : names
            Items that are present.
        absent : names
            Items that are absent, as part of the same event.
        given, given_absent : names
            Items that are known to be present or absent. The probability is conditional on them.
        """
        return float(
            self.probabilities([itemset], absent=[absent], given=given, given_absent=given_absent)[0]
        )

    def probabilities(
        self,
        itemsets: Itemsets | Iterable[Names],
        *,
        absent: Iterable[Names] | None = None,
        given: Names = (),
        given_absent: Names = (),
    ) -> Floats:
        """Return the probabilities of many itemsets, shape (n,); parameters as in `probability`.

        Parameters
        ----------
        itemsets : Itemsets or iterable of names
            The present items of each event. `Itemsets` of the same items need no look-up of names.
        absent : iterable of names, optional
            The absent items of each event, as many as there are itemsets.
        given, given_absent : names
            One condition for all events.
        """
        present = encode_sets(self.items, itemsets)
        n = len(present[0]) - 1
        against = encode_absent(self.items, absent, n)
        held, missing = self.items.codes(given), self.items.codes(given_absent)
        require_consistent(self.items, present, against, held, missing)
        if len(held) == len(missing) == 0:
            return self.probabilities_of_codes(*present, *against)
        return self._conditional(present, against, held, missing)

    def _conditional(self, present: SetArrays, against: SetArrays, held: Codes, missing: Codes) -> Floats:
        """Return the probabilities of sets given that some items are present and others absent."""
        condition = self._log_probability_of_condition(held, missing)
        joint = _with_codes(*present, held), _with_codes(*against, missing)
        if condition > NEAR_THE_LEAST:
            found = self.probabilities_of_codes(*joint[0], *joint[1]) / np.exp(condition)
        else:
            sets = zip(*([codes[i:j] for i, j in pairwise(ends)] for ends, codes in joint), strict=True)
            logs = [self.log_probability_of_codes(np.unique(own), np.unique(other)) for own, other in sets]
            found = np.exp(np.array(logs) - condition)
        bounded: Floats = np.minimum(found, 1.0)
        return bounded

    def _log_probability_of_condition(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; raise if impossible."""
        found = self.log_probability_of_codes(held, missing)
        if not found > -np.inf:
            names = [*self.items.names(held), *(f"not {name}" for name in self.items.names(missing))]
            raise InvalidInputError(
                "expected a condition of positive probability, got one that the model rules out "
                f"({few_names(names)}); leave out one of these items"
            )
        return found

    def log_probability_of_codes(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible.

        Mixtures, trees and models of maximum entropy also give it if the probability itself would be rounded
        to zero.
        """
        found = self.probabilities_of_codes(*one_set(held), *one_set(missing))[0]
        return float(np.log(found)) if found > 0 else -np.inf

    def pair_probabilities(self, codes: Codes) -> Floats:
        """Return the probability of some items with each of all items, shape (len(codes), n_items)."""
        D = self.n_items
        out = np.empty((len(codes), D))
        step = max(1, _SETS_AT_A_TIME // max(D, 1))
        for first in range(0, len(codes), step):
            still_wanted()
            rows = codes[first : first + step]
            pairs = np.empty((len(rows), D, 2), dtype=np.int32)
            pairs[:, :, 0], pairs[:, :, 1] = rows[:, None], np.arange(D)
            offsets = 2 * np.arange(len(rows) * D + 1, dtype=np.int64)
            out[first : first + step] = self.probabilities_of_codes(offsets, pairs.ravel()).reshape(-1, D)
        return out

    def items_given(self, held: Codes, missing: Codes) -> Floats:
        """Return the probability of each item given some present and others absent, shape (n_items,).

        Raises
        ------
        InvalidInputError
            If the model rules the condition out.
        """
        found = self._conditional(
            (np.arange(self.n_items + 1, dtype=np.int64), np.arange(self.n_items, dtype=np.int32)),
            no_sets(self.n_items),
            held,
            missing,
        )
        found[held], found[missing] = 1.0, 0.0
        return found

    def items_given_each(self, offsets: npt.NDArray[np.int64], codes: Codes) -> Floats:
        """Return the probability of each item given each of some baskets, shape (n_baskets, n_items).

        Raises
        ------
        InvalidInputError
            If the model rules a basket out.
        """
        baskets = (codes[first:last] for first, last in pairwise(offsets))
        rows = [self.items_given(basket, codes[:0]) for basket in baskets]
        return np.array(rows).reshape(-1, self.n_items)

    def items_completing_each(self, offsets: npt.NDArray[np.int64], codes: Codes) -> Floats:
        """Return the probability of each item given all others, for complete baskets, (n_baskets, n_items).

        A complete basket B holds its items and nothing else. So item i is in it too with probability
        P(B + i) / (P(B) + P(B + i)). Its own items have probability 1. A basket that the model rules out as a
        whole, or any basket of a model without likelihoods, is taken as incomplete: see `items_given_each`.

        Raises
        ------
        InvalidInputError
            If the model rules a basket out, complete or not.
        """
        if not self.has_likelihood:
            return self.items_given_each(offsets, codes)
        with np.errstate(over="ignore", invalid="ignore"):
            odds = np.array([self._odds_of_completing(codes[i:j]) for i, j in pairwise(offsets)])
        return self._completed(odds.reshape(-1, self.n_items), offsets, codes)

    def _odds_of_completing(self, basket: Codes) -> Floats:
        """Return P(B + i) / P(B) of each item, shape (n_items,); NaN if both are zero."""
        still_wanted()
        n, D = len(basket), self.n_items
        rows = np.full((D + 1, n + 1), -1, dtype=np.int32)
        rows[:, :n] = basket
        rows[:-1, n] = np.arange(D)
        rows[np.append(basket, D), n] = basket[0] if n else -1  # these rows are the basket itself
        rows.sort(axis=1)
        kept = np.ones(rows.shape, dtype=np.bool_)
        kept[:, 1:] = rows[:, 1:] != rows[:, :-1]
        kept &= rows >= 0
        indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        logs = self.log_likelihood(Transactions(indptr, rows[kept], self.items))
        odds: Floats = np.exp(logs[:-1] - logs[-1])
        return odds

    def _completed(self, odds: Floats, offsets: npt.NDArray[np.int64], codes: Codes) -> Floats:
        """Return the probabilities of odds; rows of NaN are of baskets that are ruled out as a whole."""
        odds[np.repeat(np.arange(len(odds)), np.diff(offsets)), codes] = np.nan
        n_known = np.diff(offsets)
        ruled_out = np.flatnonzero((np.isnan(odds).sum(axis=1) == self.n_items) & (n_known < self.n_items))
        with np.errstate(divide="ignore", over="ignore"):
            found: Floats = 1 / (1 + 1 / odds)
        found[np.isnan(found)] = 0.0
        for row in ruled_out.tolist():
            first, last = offsets[row : row + 2]
            found[row] = self.items_given(codes[first:last], codes[:0])
        found[np.repeat(np.arange(len(odds)), n_known), codes] = 1.0
        return found


def drawn(items: Items, labels: Ints, draw: Callable[[Ints], Marks]) -> Transactions:
    """Return a transaction for each label; `draw` returns rows (m, n_items) bool for some of them."""
    step = max(1, _CELLS_AT_A_TIME // max(len(items), 1))
    lengths = np.zeros(len(labels), dtype=np.int64)
    parts = [np.empty(0, dtype=np.int32)]
    for first in range(0, len(labels), step):
        held = draw(labels[first : first + step])
        lengths[first : first + step] = held.sum(axis=1)
        parts.append(np.nonzero(held)[1].astype(np.int32))
    return Transactions(np.concatenate([[0], np.cumsum(lengths)]), np.concatenate(parts), items)


def as_model(source: object) -> Model | None:
    """Return a model, or the model that an estimator has learned; None for anything else."""
    model = source if isinstance(source, Model) else getattr(source, "model_", None)
    return model if isinstance(model, Model) else None


def one_set(codes: Codes) -> SetArrays:
    """Return one set of codes in compressed form."""
    return np.array([0, len(codes)], dtype=np.int64), codes.astype(np.int32)


def _with_codes(offsets: npt.NDArray[np.int64], codes: Codes, more: Codes) -> SetArrays:
    """Return sets with some codes added to each."""
    if len(more) == 0:
        return offsets, codes
    n = len(offsets) - 1
    new_offsets = offsets + len(more) * np.arange(n + 1)
    new_codes = np.empty(int(new_offsets[-1]), dtype=np.int32)
    added = (new_offsets[:-1, None] + np.arange(len(more))).ravel()
    new_codes[added] = np.tile(more, n)
    own = np.ones(len(new_codes), dtype=bool)
    own[added] = False
    new_codes[own] = codes
    return new_offsets, new_codes
