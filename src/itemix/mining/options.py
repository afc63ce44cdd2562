"""The options of `mine`, checked: the lengths and the number of sets, their items, and the least support."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from itemix._checks import as_support, as_written, check_bounds, check_choice, check_support_count
from itemix._runtime import free_memory
from itemix.core.itemsets import TARGETS
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix._typing import Codes
    from itemix.core.items import Items

UNBOUNDED = (1 << 62) - 1
"""A length, or a number of sets, without a bound."""

_LARGEST = UNBOUNDED >> 8
# Results may take this part of the memory that is free when the search starts.
_MEMORY_SHARE = 0.5
# A product of a fraction and a number of transactions may be off by this much of itself.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class SearchOptions:
    """The options of `mine`, apart from the threshold."""

    target: str
    min_len: int
    max_len: int
    include: Codes
    exclude: Codes
    top_k: int | None
    max_itemsets: int | None
    max_bytes: int

    @property
    def is_whole(self) -> bool:
        """Whether all sets of the target are wanted, of any length and of all items."""
        has_items = len(self.include) or len(self.exclude)
        return self.min_len == 1 and self.max_len == UNBOUNDED and not has_items and self.top_k is None

    @classmethod
    def checked(
        cls,
        items: Items,
        *,
        target: str,
        min_len: int,
        max_len: int | None,
        include: object,
        exclude: object,
        top_k: int | None,
        max_itemsets: int | None,
    ) -> SearchOptions:
        """Check the options against each other and against the items.

        Raises
        ------
        InvalidInputError
            If an option has no meaning.
        UnknownItemError
            If an item to include or exclude is not known.
        """
        chosen = check_choice("target", target, TARGETS)
        low = _whole("min_len", min_len)
        high = UNBOUNDED if max_len is None else _whole("max_len", max_len)
        check_bounds("min_len", low, "max_len", high)
        included = items.codes(() if include is None else include)
        excluded = items.codes(() if exclude is None else exclude)
        if chosen == "generators" and len(included):
            raise InvalidInputError(
                "expected no include with target='generators', whose subsets have fewer items, got some; try "
                "filter(include=) afterwards"
            )
        both = set(included.tolist()) & set(excluded.tolist())
        if both:
            raise InvalidInputError(
                f"expected different items in include and exclude, got {items[both.pop()]!r} in both; "
                "leave it out of one"
            )
        wanted = None if top_k is None else _whole("top_k", top_k)
        most = None if max_itemsets is None else _whole("max_itemsets", max_itemsets)
        check_bounds("top_k", wanted, "max_itemsets", most)
        return cls(
            target=chosen,
            min_len=low,
            max_len=high,
            include=included,
            exclude=excluded,
            top_k=wanted,
            max_itemsets=most,
            max_bytes=int(_MEMORY_SHARE * free_memory()),
        )

    def fewer(self, than: str | None, *ways: str) -> str:
        """Say how to ask for fewer itemsets, in ways that were not used already.

        Parameters
        ----------
        than : str or None
            The threshold as text; None if there is no higher one.
        ways : {"max_len", "target", "top_k"}
            The options that help here.
        """
        shorter = f"a smaller max_len than {self.max_len}" if self.max_len > self.min_len else None
        left = {
            "max_len": "max_len=" if self.max_len >= _LARGEST else shorter,
            "target": {
                "all": "target='closed' or 'maximal'",
                **dict.fromkeys(("closed", "generators"), "target='maximal'"),
            }.get(self.target),
            # All maximal sets are found before the k most frequent are chosen.
            "top_k": "top_k=" if self.top_k is None and self.target != "maximal" else None,
        }
        higher = None if than is None else f"a higher min_support than {than}"
        open_ways = [way for way in (higher, *map(left.get, ways)) if way is not None]
        *others, last = open_ways or ["exclude="]
        return f"try {', '.join([*others, f'or {last}'] if others else [last])}"


def check_support(min_support: object) -> int | float:
    """Return a threshold for data of any size: a count as int, a fraction as float.

    Raises
    ------
    InvalidInputError
        If `min_support` is neither a fraction in (0, 1] nor a count of at least 1.
    """
    if isinstance(min_support, str):
        min_support = as_support(min_support)
    if isinstance(min_support, bool) or not isinstance(min_support, Real):
        raise InvalidInputError(
            f"expected min_support as a fraction in (0, 1] or a whole number of transactions, got "
            f"{min_support!r} ({type(min_support).__name__}); try 0.01"
        )
    if isinstance(min_support, Integral):
        if min_support < 1:
            raise InvalidInputError(
                f"expected min_support as a fraction in (0, 1] or a count of at least 1, got {min_support}; "
                "try 1"
            )
        return int(min_support)
    fraction = as_written(min_support)
    if not 0 < fraction <= 1:
        raise InvalidInputError(
            "expected min_support as a fraction in (0, 1] or a whole number of transactions, got "
            f"{min_support!r}; "
            + (f"for a count write {int(fraction)}" if fraction > 1 and fraction.is_integer() else "try 0.01")
        )
    return fraction


def min_count(min_support: object, n_transactions: int) -> int:
    """Return the count from which an itemset is frequent.

    A fraction s of n transactions is ceil(s * n), guarded against rounding: 0.28 of 25 is 7.

    Raises
    ------
    InvalidInputError
        As `check_support`, or if a count is above the number of transactions.
    """
    threshold = check_support(min_support)
    if isinstance(threshold, int):
        return check_support_count("min_support", threshold, n_transactions)
    exact = threshold * n_transactions
    nearest = round(exact)
    is_rounding = abs(exact - nearest) <= _ROUNDING * max(1.0, exact)
    return max(1, nearest if is_rounding else math.ceil(exact))


def as_fraction(min_support: object, n_transactions: int) -> float:
    """Return a threshold as a fraction of the transactions.

    Raises
    ------
    InvalidInputError
        As `min_count`.
    """
    threshold = check_support(min_support)
    return (
        min_count(threshold, n_transactions) / max(n_transactions, 1)
        if isinstance(threshold, int)
        else threshold
    )


def min_probability(min_support: object) -> float:
    """Return the threshold for a model, which has no transactions to count.

    Raises
    ------
    InvalidInputError
        If it is not a fraction in (0, 1].
    """
    if isinstance(min_support, str):
        min_support = as_support(min_support)
    if isinstance(min_support, float | np.floating) and 0 < min_support <= 1:
        return as_written(min_support)
    raise InvalidInputError(
        f"expected min_support as a fraction in (0, 1], since a model has no transactions to count, got "
        f"{min_support!r}; try 0.01"
    )


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidInputError(f"expected {name} as a whole number of at least 1, got {value!r}; try 1")
    return min(int(value), _LARGEST)
