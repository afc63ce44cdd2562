"""The columns of itemsets: sets with their supports, counts and intervals, checked, shown and exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from itemix._checks import check_counts, check_whole
from itemix.core import display, exchange
from itemix.core.sets import Sets, readonly
from itemix.core.tabular import Tabular
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix.core.items import Items, Label

TARGETS = ("all", "closed", "maximal")
_OPTIONAL = ("count", "lower", "upper")
_MORE_THAN_ONE = 1e-9


class ItemsetColumns(Tabular):
    """The columns of `itemix.Itemsets`, which says what they mean; immutable."""

    _kind = "itemsets"
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
        min_support: float | None = None,
        target: str | None = None,
        check: bool = True,
    ) -> None:
        self._sets = Sets(offsets, codes, items, check=check)
        self._support = readonly(support, np.float64, copy=check)
        given = {"count": (count, np.int64), "lower": (lower, np.float64), "upper": (upper, np.float64)}
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
        if not isinstance(other, ItemsetColumns):
            return NotImplemented
        return (
            self._n_transactions == other._n_transactions
            and self._sets == other._sets
            and np.array_equal(self._support, other._support)
            and self._columns.keys() == other._columns.keys()
            and all(np.array_equal(self._columns[name], column) for name, column in other._columns.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def _taken(self, positions: npt.NDArray[np.int64], target: str | None, min_support: float | None) -> Self:
        sets = self._sets.take(positions)
        return type(self)(
            sets.offsets,
            sets.codes,
            self._support[positions],
            self.items,
            **{name: column[positions] for name, column in self._columns.items()},
            n_transactions=self._n_transactions,
            target=target,
            min_support=min_support,
            check=False,
        )

    def table(self, n: int = display.ROWS_SHOWN) -> display.Table:
        """Return the first n itemsets as a table of text, for people."""
        n = check_whole("n", n, display.ROWS_SHOWN, least=0)
        shown = self._taken(np.arange(len(self))[:n], None, self._min_support)
        numbers = {"support": shown.support, "lower": shown.lower, "upper": shown.upper}
        columns = {k: [display.format_number(x) for x in v] for k, v in numbers.items() if v is not None}
        if shown.count is not None:
            columns["count"] = [display.format_count(int(x)) for x in shown.count]
        columns["itemset"] = [display.format_set(names) for names in shown.sets]
        return display.Table(
            title=self._title(),
            headers=tuple(columns),
            rows=tuple(zip(*columns.values(), strict=True)),
            footer=display.shown_of(len(shown), len(self)),
        )

    def _title(self) -> str:
        kind = f"{self._target} " if self._target in ("closed", "maximal") else ""
        least, n = self._min_support, self._n_transactions
        threshold = "" if least is None else f"support >= {display.format_percent(least)}"
        source = "" if n is None else f"of {display.plural(n, 'transaction')}"
        return display.joined([f"Itemsets: {display.plural(len(self), f'{kind}itemset')}", threshold, source])

    @classmethod
    def _from_columns(cls, columns: exchange.Columns) -> Self:
        sets = columns.sets("itemsets")
        more: dict[str, Any] = {name: columns.numbers(name) for name in _OPTIONAL if name in columns.values}
        return cls(sets.offsets, sets.codes, columns.numbers("support"), sets.items, **more, **columns.facts)

    def _as_columns(self) -> exchange.Columns:
        return exchange.Columns(
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
        )
