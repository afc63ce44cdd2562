"""Itemsets: the columnar result of mining data or a model."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from itemix._checks import (
    as_support,
    as_written,
    check_bounds,
    check_choice,
    check_counts,
    check_support_count,
    check_whole,
)
from itemix._runtime import interruptible
from itemix.core import display, tables
from itemix.core.items import Items
from itemix.core.results import ColumnResult, Tabular
from itemix.core.sets import Sets, are_several, as_position, as_positions, readonly
from itemix.errors import InvalidInputError, UnknownItemError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from itemix.core.items import Label
    from itemix.core.transactions import Transactions

__all__ = ["TARGETS", "Itemset", "Itemsets"]

TARGETS = ("all", "closed", "maximal", "generators")
MEASURES = ("lift", "all_confidence", "bond")
_OPTIONAL = ("count", "lower", "upper", *MEASURES)
# A support of a model may be above 1 by so much, by rounding.
_MORE_THAN_ONE = 1e-9
# A support that is this close to a bound meets it.
_ROUNDING = 1e-12
# Supports of a model that differ by less than this, relative to their size, count as the same.
_SAME_SUPPORT = 1e-9


class Itemset(NamedTuple):
    """One itemset with its support, as iteration yields it.

    Attributes
    ----------
    items : tuple of str or int
        The names of its items, the most frequent first.
    support : float
        The fraction of transactions that hold it, or its probability under a model.
    count : int or None
        The number of transactions that hold it; None from a model.
    """

    items: tuple[Label, ...]
    support: float
    count: int | None  # type: ignore[assignment] # hides tuple.count, which nobody needs here


class Itemsets(Tabular):
    """Itemsets with their supports: an immutable, columnar value.

    Set s holds the codes ``codes[offsets[s]:offsets[s + 1]]``; names are built only when asked for. Mining
    returns sets sorted by length and, within a length, in colexicographic order of the items ranked by
    support (most frequent first): a set comes before another if the rarest item in which they differ is the
    more frequent one. Within a set the items come most frequent first. The order does not depend on the
    threads.

    Two of them are equal if they hold the same sets in the same order with the same numbers, whatever was
    asked for when they were mined.

    Parameters
    ----------
    offsets : array of int, shape (n + 1,)
        Where each set starts in `codes`.
    codes : array of int, shape (total length,)
        Item codes, distinct within a set.
    support : array of float, shape (n,)
        The fraction of transactions that hold the set, or its probability under a model.
    items : Items
        The name of each code.
    count : array of int, shape (n,), optional
        The number of transactions that hold the set; None if it comes from a model.
    n_transactions : int, optional
        The number of transactions behind the supports; None if they come from a model.
    lower, upper : array of float, shape (n,), optional
        Ends of an interval for each support.
    lift, all_confidence, bond : array of float, shape (n,), optional
        Measures of each set, as `measure` computes them.
    min_support : float, optional
        The threshold that was asked for, as a fraction.
    target : {"all", "closed", "maximal", "generators"}, optional
        Which of the itemsets with at least that support these are; None if they are only some of them.
    check : bool, default True
        Whether to check and protect the arrays; False hands them over as they are.
    """

    _kind = "itemsets"
    _types: ClassVar = {
        "support": "float64",
        "itemsets": "sets",
        "length": "int64",
        "count": "int64",
        "lower": "float64",
        "upper": "float64",
        **dict.fromkeys(MEASURES, "float64"),
    }
    __slots__ = ("_columns", "_min_support", "_n_transactions", "_sets", "_support", "_target")

    def __init__(
        self,
        offsets: npt.ArrayLike,
        codes: npt.ArrayLike,
        support: npt.ArrayLike,
        items: Items | Iterable[Label],
        *,
        count: npt.ArrayLike | None = None,
        n_transactions: int | None = None,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        lift: npt.ArrayLike | None = None,
        all_confidence: npt.ArrayLike | None = None,
        bond: npt.ArrayLike | None = None,
        min_support: float | None = None,
        target: str | None = None,
        check: bool = True,
    ) -> None:
        self._sets = Sets(offsets, codes, items, check=check)
        self._support = readonly(support, np.float64, copy=check)
        given = {
            "count": (count, np.int64),
            "lower": (lower, np.float64),
            "upper": (upper, np.float64),
            "lift": (lift, np.float64),
            "all_confidence": (all_confidence, np.float64),
            "bond": (bond, np.float64),
        }
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: readonly(values, dtype, copy=check)
            for name, (values, dtype) in given.items()
            if values is not None
        }
        self._n_transactions = n_transactions
        self._min_support = min_support
        self._target = target
        if check:
            self._check()

    def _check(self) -> None:
        for name, column in {"support": self._support, **self._columns}.items():
            if column.shape != (len(self),):
                raise InvalidInputError(
                    f"expected {len(self):,} values in {name}, one for each itemset, got {column.size:,}; "
                    "all columns must have the same length"
                )
        repeated = np.flatnonzero(self._sets.find(self._sets) != np.arange(len(self)))
        if len(repeated):
            raise InvalidInputError(
                f"expected every itemset once, got {set(self._sets[repeated[0]])} again at position "
                f"{repeated[0]:,}; drop the repeated ones"
            )
        low, high = self._support.min(initial=0.0), self._support.max(initial=0.0)
        if not 0 <= low <= high <= 1 + _MORE_THAN_ONE:
            raise InvalidInputError(
                f"expected supports from 0 to 1, got {low:.6g} to {high:.6g}; divide counts by n_transactions"
            )
        check_counts(self._support, self.count, self._n_transactions)
        if self._target not in (None, *TARGETS):
            raise InvalidInputError(
                f"expected a target that is one of {', '.join(TARGETS)}, got {self._target!r}; leave it out "
                "if these are only some of the itemsets"
            )

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each set starts in `codes`, shape (n + 1,)."""
        return self._sets.offsets

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """The item codes of all sets, one after the other."""
        return self._sets.codes

    @property
    def sets(self) -> Sets:
        """The sets without their supports."""
        return self._sets

    @property
    def support(self) -> npt.NDArray[np.float64]:
        """The support of each set, a fraction or a probability."""
        return self._support

    @property
    def count(self) -> npt.NDArray[np.int64] | None:
        """The number of transactions that hold each set, or None from a model."""
        return self._columns.get("count")

    @property
    def lower(self) -> npt.NDArray[np.float64] | None:
        """The lower end of each support's interval, if there is one."""
        return self._columns.get("lower")

    @property
    def upper(self) -> npt.NDArray[np.float64] | None:
        """The upper end of each support's interval, if there is one."""
        return self._columns.get("upper")

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that are columns, see `with_measures`."""
        return tuple(name for name in MEASURES if name in self._columns)

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._sets.items

    @property
    def n_transactions(self) -> int | None:
        """The number of transactions behind the supports, or None from a model."""
        return self._n_transactions

    @property
    def min_support(self) -> float | None:
        """The threshold that was asked for, as a fraction, if it is known."""
        return self._min_support

    @property
    def target(self) -> str | None:
        """Whether these are all, all closed or all maximal itemsets at `min_support`; None if only some."""
        return self._target

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items of each set, shape (n,)."""
        return self._sets.lengths

    def __len__(self) -> int:
        return len(self._sets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Itemsets):
            return NotImplemented
        return (
            self._n_transactions == other._n_transactions
            and self._sets == other._sets
            and np.array_equal(self._support, other._support)
            and self._columns.keys() == other._columns.keys()
            and all(np.array_equal(self._columns[name], column) for name, column in other._columns.items())
        )

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, position: int) -> Itemset: ...
    @overload
    def __getitem__(self, position: slice | npt.ArrayLike) -> Itemsets: ...
    def __getitem__(self, position: Any) -> Itemset | Itemsets:
        """Return one itemset, or those of a slice, of a mask or at some positions."""
        if are_several(position):
            return self._chosen(position)
        position = as_position(position, len(self))
        count = None if self.count is None else int(self.count[position])
        return Itemset(self._sets[position], float(self._support[position]), count)

    def __iter__(self) -> Iterator[Itemset]:
        counts = [None] * len(self) if self.count is None else self.count
        for names, support, count in zip(self._sets, self._support, counts, strict=True):
            yield Itemset(names, float(support), None if count is None else int(count))

    def __contains__(self, itemset: object) -> bool:
        try:
            return self.find(itemset) is not None
        except UnknownItemError:
            return False

    def find(self, itemset: object) -> int | None:
        """Return the position of an itemset, or None if it is not among these.

        Raises
        ------
        UnknownItemError
            If an item is not one of `items`.
        """
        codes = self.items.codes(itemset)
        position = self.positions(np.array([0, len(codes)]), codes)[0]
        return None if position < 0 else int(position)

    def positions(self, offsets: npt.ArrayLike, codes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the position among these of each of several sets of codes, -1 for none."""
        return self._sets.find(Sets(offsets, codes, self.items))

    def support_of(self, itemset: object) -> float:
        """Return the support of an itemset.

        Raises
        ------
        InvalidInputError
            If the itemset is not among these: its support is not known here.
        UnknownItemError
            If an item is not one of `items`.
        """
        position = self.find(itemset)
        if position is None:
            raise InvalidInputError(
                f"expected one of these {len(self):,} itemsets, got {itemset!r}; "
                "mine with a lower min_support, or ask Transactions.support"
            )
        return float(self._support[position])

    def measure(self, name: str, *, data: Transactions | None = None) -> npt.NDArray[np.float64]:
        """Return a measure of each itemset, shape (n,).

        Parameters
        ----------
        name : str
            - "lift": how many times as frequent the set is as if its items were independent;
            - "all_confidence": its support over that of its most frequent item, the least confidence of all
              rules that can be made of it;
            - "bond": the transactions with all of its items, as a part of those with any of them.
        data : Transactions, optional
            What the itemsets were mined from. Needed if subsets of the sets are not among these: single items
            for the first two measures, all subsets for the bond.

        Raises
        ------
        InvalidInputError
            If there is no such measure, or a support is missing.
        """
        check_choice("name", name, MEASURES)
        if name in self._columns:
            return self._columns[name]
        if name == "bond":
            any_item = self._any_by_subsets() if data is None else _any_in_data(self._sets, data)
            values = np.divide(self._support, any_item, out=np.ones(len(self)), where=any_item > 0)
        else:
            alone = self._item_supports(data)[self.codes]
            starts = self.offsets[:-1]
            if name == "lift":
                values = self._support / np.multiply.reduceat(alone, starts) if len(self) else self._support
            else:
                values = self._support / np.maximum.reduceat(alone, starts) if len(self) else self._support
        return readonly(values, np.float64)

    def with_measures(self, *names: str, data: Transactions | None = None) -> Itemsets:
        """Return the same itemsets with measures as columns, in tables, frames and files.

        Parameters
        ----------
        *names : str
            Some of "lift", "all_confidence" and "bond": see `measure`.
        data : Transactions, optional
            What the itemsets were mined from, if subsets of the sets are not among these.
        """
        columns = {name: self.measure(name, data=data) for name in names}
        return self._taken(np.arange(len(self)), self._target, self._min_support, columns)

    def _item_supports(self, data: Transactions | None) -> npt.NDArray[np.float64]:
        """Return the support of each item, shape (n_items,)."""
        found = np.full(len(self.items), np.nan)
        if data is not None:
            used = np.unique(self.codes)
            counts = data.item_counts()
            own = [data.items.code(name) for name in self.items.names(used)]
            found[used] = counts[own] / max(data.n_transactions, 1)
            return found
        single = np.flatnonzero(self.lengths == 1)
        found[self.codes[self.offsets[single]]] = self._support[single]
        missing = np.flatnonzero(np.isnan(found[self.codes]))
        if len(missing):
            raise InvalidInputError(
                f"expected the supports of all items of the itemsets, got none of "
                f"{self.items[int(self.codes[missing[0]])]!r}; pass data= to count it, or mine with "
                "target='all'"
            )
        return found

    def _any_by_subsets(self) -> npt.NDArray[np.float64]:
        """Return the support of having any item of each set, by inclusion and exclusion.

        We go through the items. At each item, a set's number turns from "with the item" into "without it":
        that of the set without the item, minus its own. In the end it is how often none of the items occurs.
        """
        whole, alone = (self._support, 1.0) if self.count is None else (self.count, self._n_transactions or 0)
        left = np.append(whole, alone)
        pairs = [(np.empty(0, np.int64),) * 3]
        for length in np.unique(self.lengths).tolist():
            at = np.flatnonzero(self.lengths == length)
            rows = self._sets.take(at).codes.reshape(len(at), length)
            offsets = np.arange(len(at) + 1) * (length - 1)
            for position in range(length):
                rest = np.delete(rows, position, axis=1).ravel()
                without = np.full(len(at), len(self)) if length == 1 else self.positions(offsets, rest)
                if (without < 0).any():
                    names = self._sets[int(at[np.argmin(without)])]
                    raise InvalidInputError(
                        f"expected all subsets of the itemsets for their bond, got not all of {set(names)}; "
                        "pass data= to count, or mine with target='all'"
                    )
                pairs.append((rows[:, position].astype(np.int64), at, without))
        item, at, without = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
        order = np.argsort(item, kind="stable")
        bounds = np.flatnonzero(np.diff(item[order], prepend=-1, append=-2))
        for start, stop in pairwise(bounds.tolist()):
            one = order[start:stop]
            left[at[one]] = left[without[one]] - left[at[one]]
        any_item = (alone - left[:-1]) / (1.0 if self.count is None else max(alone, 1))
        found: npt.NDArray[np.float64] = np.maximum(any_item, self._support)
        return found

    def take(self, positions: npt.ArrayLike) -> Itemsets:
        """Return the itemsets at some positions (or where a mask is true), in that order."""
        return self._taken(as_positions(positions, len(self)), None, self._min_support)

    def filter(
        self,
        *,
        min_support: float | None = None,
        max_support: float | None = None,
        min_len: int | None = None,
        max_len: int | None = None,
        include: Iterable[Label] | Label | None = None,
        exclude: Iterable[Label] | Label | None = None,
    ) -> Itemsets:
        """Return the itemsets that meet all conditions, in the same order.

        Parameters
        ----------
        min_support, max_support : float or int, optional
            Bounds of the support, inclusive: a float is a fraction, an int a count.
        min_len, max_len : int, optional
            Bounds of the number of items, inclusive.
        include : names, optional
            Items that must all be in the set.
        exclude : names, optional
            Items that must not be in the set.
        """
        kept = np.ones(len(self), dtype=bool)
        lowest = None if min_support is None else self._fraction(min_support, "min_support")
        highest = None if max_support is None else self._fraction(max_support, "max_support")
        check_bounds("min_support", lowest, "max_support", highest)
        if lowest is not None:
            kept &= self._support >= lowest - _ROUNDING
        if highest is not None:
            kept &= self._support <= highest + _ROUNDING
        if min_len is not None:
            kept &= self.lengths >= check_whole("min_len", min_len, 2)
        if max_len is not None:
            kept &= self.lengths <= check_whole("max_len", max_len, 2)
        check_bounds("min_len", min_len, "max_len", max_len)
        if include is not None:
            kept &= self._sets.count_members(include) == len(self.items.codes(include))
        if exclude is not None:
            kept &= self._sets.count_members(exclude) == 0
        only_min_support = all(value is None for value in (max_support, min_len, max_len, include, exclude))
        # At a higher threshold, all sets or closed sets are a part of these. Maximal sets are different ones.
        target = self._target if only_min_support and self._target != "maximal" else None
        threshold = self._min_support
        if lowest is not None:
            threshold = max(threshold or 0.0, lowest)
        return self._taken(np.flatnonzero(kept), target, threshold)

    def _fraction(self, support: float | str, name: str) -> float:
        if isinstance(support, str):
            support = as_support(support, name)
        if isinstance(support, int | np.integer) and not isinstance(support, bool):
            if self._n_transactions is None:
                raise InvalidInputError(
                    f"expected {name} as a fraction (these itemsets have no counts), got the count "
                    f"{support}; try 0.1"
                )
            if support >= 0:
                n = self._n_transactions
                return check_support_count(name, int(support), n) / max(n, 1)
        elif isinstance(support, float | np.floating) and 0 <= support <= 1:
            return as_written(support)
        raise InvalidInputError(
            f"expected {name} as a fraction from 0 to 1 or a whole number of transactions, got "
            f"{support!r}; try 0.1"
        )

    def top(self, n: int = 10, *, min_len: int = 1) -> Itemsets:
        """Return the n itemsets with the highest support, highest first; ties keep their order."""
        eligible = np.flatnonzero(self.lengths >= check_whole("min_len", min_len, 2))
        n = check_whole("n", n, 10, least=0)
        order = np.argsort(-self._support[eligible], kind="stable")[:n]
        return self.take(eligible[order])

    @interruptible()
    def closed(self) -> Itemsets:
        """Return the closed itemsets: those with no superset here of the same support.

        They are the closed itemsets of the data if these are all frequent (or all closed) itemsets. Supports
        from a model that differ by less than one part in 10^9 count as the same.
        """
        group = self.count if self.count is not None else _groups_of_equal(self._support)
        target = "closed" if self._target in ("all", "closed") else None
        return self._taken(np.flatnonzero(self._sets.largest(group)), target, self._min_support)

    @interruptible()
    def maximal(self) -> Itemsets:
        """Return the maximal itemsets: those with no superset here.

        They are the maximal itemsets of the data if these are all frequent (or all closed) itemsets.
        """
        group = np.zeros(len(self), dtype=np.int64)
        target = None if self._target in (None, "generators") else "maximal"
        return self._taken(np.flatnonzero(self._sets.largest(group)), target, self._min_support)

    @interruptible()
    def generators(self) -> Itemsets:
        """Return the generators: the itemsets with no proper subset of the same support, the empty one too.

        Of all itemsets that are in the same transactions, they are the shortest. All subsets of a generator
        are generators. Supports from a model that differ by less than one part in 10^9 count as the same.

        Raises
        ------
        InvalidInputError
            If these are the closed or maximal itemsets only: subsets are missing.
        """
        if self._target in ("closed", "maximal"):
            raise InvalidInputError(
                f"expected all frequent itemsets, got the {self._target} ones, which lack the generators; "
                "mine with target='generators'"
            )
        if self.count is not None and self._n_transactions is not None:
            group, of_nothing = self.count, self._n_transactions
        else:
            groups = _groups_of_equal(np.append(self._support, 1.0))
            group, of_nothing = groups[:-1], int(groups[-1])
        target = "generators" if self._target in ("all", "generators") else None
        return self._taken(np.flatnonzero(self._sets.smallest(group, of_nothing)), target, self._min_support)

    @classmethod
    def from_pandas(
        cls, frame: pd.DataFrame, *, items: Iterable[Label] | None = None, n_transactions: int | None = None
    ) -> Itemsets:
        """Make itemsets from a data frame with mlxtend's columns support and itemsets.

        Columns count, lower and upper are taken over if they are there.

        Parameters
        ----------
        frame : DataFrame
            A row for each itemset; the column itemsets holds sets of names.
        items : names, optional
            All items; by default those that occur, in ascending order.
        n_transactions : int, optional
            The number of transactions behind the supports. With it there are counts, and rules have
            significance.

        Raises
        ------
        InvalidInputError
            If it is not a data frame, or one of the two columns is missing or holds something else.
        """
        if n_transactions is not None:
            check_whole("n_transactions", n_transactions, 1000, least=0)
        columns = tables.from_mlxtend(frame, None if items is None else Items(items))
        if n_transactions is not None and "count" not in columns.values:
            count = np.rint(columns.numbers("support") * n_transactions).astype(np.int64)
            columns = replace(columns, values={**columns.values, "count": count})
        columns.facts["n_transactions"] = n_transactions
        return cls._from_columns(columns)

    def _taken(
        self,
        positions: npt.NDArray[np.int64],
        target: str | None,
        min_support: float | None,
        more: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> Self:
        sets = self._sets.take(positions)
        return type(self)(
            sets.offsets,
            sets.codes,
            self._support[positions],
            self.items,
            **{name: column[positions] for name, column in {**self._columns, **(more or {})}.items()},
            n_transactions=self._n_transactions,
            target=target,
            min_support=min_support,
            check=False,
        )

    def _shown(self, n: int, width: int | None) -> dict[str, list[str]]:
        shown = self._taken(np.arange(n), None, self._min_support)
        intervals = {"lower": shown.lower, "upper": shown.upper}
        measured = {name: shown.measure(name) for name in shown.measures}
        numbers = {"support": shown.support, **intervals, **measured, "count": shown.count}
        columns = {name: display.format_column(v) for name, v in numbers.items() if v is not None}
        return {**columns, "itemset": display.format_column(shown.sets, width)}

    def _sides(self) -> tuple[tuple[Sets, ...], tuple[str, ...]]:
        return (self._sets,), ("",)

    def _title(self) -> str:
        kind = {"closed": "closed ", "maximal": "maximal "}.get(self._target or "", "")
        least, n = self._min_support, self._n_transactions
        threshold = "" if least is None else f"support >= {display.format_percent(least)}"
        source = "" if n is None else f"of {display.plural(n, 'transaction')}"
        noun = "generator" if self._target == "generators" else f"{kind}itemset"
        return display.joined([f"Itemsets: {display.plural(len(self), noun)}", threshold, source])

    @classmethod
    def _from_columns(cls, columns: tables.TableColumns) -> Self:
        sets = columns.sets("itemsets")
        more: dict[str, Any] = {name: columns.numbers(name) for name in _OPTIONAL if name in columns.values}
        facts = {"n_transactions": tables.transactions_behind(columns)} | columns.facts
        return cls(sets.offsets, sets.codes, columns.numbers("support"), sets.items, **more, **facts)

    def _as_columns(self) -> tables.TableColumns:
        return tables.TableColumns(
            kind=self._kind,
            items=self.items,
            values={
                "support": self._support,
                "itemsets": self._sets,
                "length": self.lengths,
                **self._columns,
            },
            facts={
                "n_transactions": self._n_transactions,
                "min_support": self._min_support,
                "target": self._target,
            },
            percents=frozenset(("support", "lower", "upper")),
        )


class LengthCounts(ColumnResult):
    """How many itemsets of each length there are at several supports, which helps to choose one."""

    __slots__ = ()
    _kind = "supports"
    _types: ClassVar = {"min_support": "float64", "itemsets": "int64"}
    _percents = frozenset(("min_support",))

    @classmethod
    def of(cls, families: Sequence[Itemsets]) -> Self:
        """Count the itemsets of families that were mined at different supports, in ascending order."""
        ranked = sorted(families, key=lambda itemsets: itemsets.min_support or 0.0)
        counts = [np.bincount(itemsets.lengths) for itemsets in ranked]
        longest = max(map(len, counts), default=0)
        by_length = np.array([np.pad(found, (0, longest - len(found))) for found in counts])
        columns = {
            "min_support": np.array([itemsets.min_support or 0.0 for itemsets in ranked]),
            "itemsets": by_length.sum(axis=1),
            **{f"length_{n}": by_length[:, n] for n in range(longest) if by_length[:, n].any()},
        }
        return cls(tables.TableColumns(cls._kind, Items([]), columns, {}))


_CELLS_AT_ONCE = 1 << 24


def _any_in_data(sets: Sets, data: Transactions) -> npt.NDArray[np.float64]:
    """Return which part of the transactions has any item of each set; items are matched by name."""
    from scipy import sparse

    known = [name for name in sets.items if name in data.items]
    aligned = data.select_items(known).align_items(sets.items)
    shape = (aligned.n_rows, aligned.n_items)
    ones = np.ones(len(aligned.indices), dtype=np.int32)
    rows = sparse.csr_array((ones, aligned.indices, aligned.indptr), shape=shape)
    weights = np.ones(aligned.n_rows) if aligned.multiplicities is None else aligned.multiplicities
    at_once = max(1, _CELLS_AT_ONCE // max(aligned.n_rows, 1))
    found = np.zeros(len(sets))
    for start in range(0, len(sets), at_once):
        part = sets.part(start, start + at_once)
        shape = (len(part), len(sets.items))
        ones = np.ones(len(part.codes), dtype=np.int32)
        held = rows @ sparse.csr_array((ones, part.codes, part.offsets), shape=shape).T
        found[start : start + at_once] = np.asarray(weights @ (held > 0))
    return found / max(data.n_transactions, 1)


def _groups_of_equal(support: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Give each support a number, and the same one to those that differ by rounding only."""
    order = np.argsort(support, kind="stable")
    ascending = support[order]
    rises = ascending[1:] > ascending[:-1] * (1 + _SAME_SUPPORT)
    group = np.empty(len(support), dtype=np.int64)
    group[order] = np.concatenate([[0], np.cumsum(rises)])[: len(support)]
    return group
