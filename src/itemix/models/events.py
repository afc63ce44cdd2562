"""Events: the item names that a question asks for, checked and turned into codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.core.items import Items, Label
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.core.itemsets import Itemsets

Names = Iterable[Label] | Label
Sets = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

_NAMES_SHOWN = 5


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


def encode_sets(items: Items, itemsets: Itemsets | Iterable[Names]) -> Sets:
    """Return itemsets as compressed item codes: offsets (n + 1,) and codes.

    Raises
    ------
    InvalidInputError
        If these are no lists of names.
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
    except TypeError:  # a list or an array, which no set can hold
        odd = next(name for name in flat if not isinstance(name, Hashable))
        raise InvalidInputError(
            f"expected item names that are strings or integers, got {odd!r}; flatten nested lists"
        ) from None
    return offsets, np.fromiter(map(code_of.__getitem__, flat), np.int32, len(flat))


def encode_absent(items: Items, absent: Iterable[Names] | None, n: int) -> Sets:
    """Return the absent items of each of n events as compressed item codes; None means none.

    Raises
    ------
    InvalidInputError
        If they are not as many as the events.
    """
    against = no_sets(n) if absent is None else encode_sets(items, absent)
    if len(against[0]) != n + 1:
        raise InvalidInputError(
            f"expected absent items for each of the {n:,} itemsets, got {len(against[0]) - 1:,}; "
            "use [] where there are none"
        )
    return against


def few_names(names: Sequence[object]) -> str:
    """Write names for a message: the first, and how many more there are."""
    rest = len(names) - _NAMES_SHOWN
    return f"{list(names[:_NAMES_SHOWN])}{f' and {rest:,} more' if rest > 0 else ''}"


def no_sets(n: int) -> Sets:
    """Return n empty sets."""
    return np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32)


def require_consistent(
    items: Items,
    present: Sets,
    absent: Sets,
    given: npt.NDArray[np.int32],
    given_absent: npt.NDArray[np.int32],
) -> None:
    """Raise InvalidInputError if an item is both present and absent, in a set or against the condition."""
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
