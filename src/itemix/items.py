"""Items: the names behind the item codes of transactions, itemsets and models."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError, UnknownItemError

Label: TypeAlias = str | int

MAX_ITEMS = np.iinfo(np.int32).max
_NAMES_SEARCHED_FOR_HINTS = 20_000


class Items(Sequence[Label]):
    """An immutable sequence of distinct item names; the position of a name is its code.

    Names are all strings or all integers. Integers are kept in one NumPy array, so that a data set with
    millions of numbered items costs no Python object for each.

    Parameters
    ----------
    labels : iterable of str, iterable of int, or integer array
        The names, in the order of their codes.
    """

    __slots__ = ("_code_of", "_labels")

    def __init__(self, labels: Iterable[Label] | npt.NDArray[Any]) -> None:
        self._labels = as_labels(labels)
        self._labels.setflags(write=False)
        self._code_of: dict[Label, int] | None = None
        if len(self._labels) != _count_distinct(self._labels):
            raise InvalidInputError(
                f"expected distinct item names, got {_first_repeated(self._labels)!r} more than once; "
                "rename one of them, or merge the columns that share the name"
            )

    @property
    def labels(self) -> npt.NDArray[Any]:
        """The names as a read-only array: int64, or object where they are strings."""
        return self._labels

    @property
    def are_integers(self) -> bool:
        """Whether the names are integers (they are strings otherwise)."""
        return self._labels.dtype != object

    def __len__(self) -> int:
        return len(self._labels)

    @overload
    def __getitem__(self, code: int) -> Label: ...
    @overload
    def __getitem__(self, code: slice) -> Items: ...
    def __getitem__(self, code: int | slice) -> Label | Items:
        if isinstance(code, slice):
            return Items(self._labels[code])
        label: Label = self._labels[code] if self._labels.dtype == object else int(self._labels[code])
        return label

    def __contains__(self, label: object) -> bool:
        return label in self._codes_by_label()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items):
            return NotImplemented
        return self._labels.dtype == other._labels.dtype and np.array_equal(self._labels, other._labels)

    def __hash__(self) -> int:
        return hash((len(self), tuple(self._labels[:8])))

    def __repr__(self) -> str:
        shown = ", ".join(repr(label) for label in self[:6])
        return f"Items([{shown}{', ...' if len(self) > 6 else ''}], n={len(self):,})"

    def names(self, codes: npt.ArrayLike) -> list[Label]:
        """Return the names of some codes."""
        named: list[Label] = self._labels[np.asarray(codes, dtype=np.intp)].tolist()
        return named

    def code(self, label: object) -> int:
        """Return the code of one name.

        A string of digits finds an integer name, so that what is typed on a command line works.

        Raises
        ------
        UnknownItemError
            If there is no such item; the message offers the nearest names.
        """
        by_label = self._codes_by_label()
        if isinstance(label, np.generic):
            label = label.item()
        found = by_label.get(label)  # type: ignore[call-overload]
        if found is None and self.are_integers and isinstance(label, str):
            try:
                found = by_label.get(int(label))
            except ValueError:
                found = None
        if found is None:
            raise UnknownItemError(self._unknown(label))
        return int(found)

    def codes(self, labels: object) -> npt.NDArray[np.int32]:
        """Return the distinct codes of several names in ascending order (one string is one name)."""
        if isinstance(labels, str | int | np.integer):
            labels = [labels]
        if not isinstance(labels, Iterable):
            raise InvalidInputError(
                f"expected item names in a list, got {type(labels).__name__}; try ['milk', 'bread']"
            )
        return np.unique(np.array([self.code(label) for label in labels], dtype=np.int32))

    def _codes_by_label(self) -> dict[Label, int]:
        if self._code_of is None:
            self._code_of = {label: code for code, label in enumerate(self._labels.tolist())}
        return self._code_of

    def _unknown(self, label: object) -> str:
        names = [str(name) for name in self._labels[:_NAMES_SEARCHED_FOR_HINTS].tolist()]
        wanted = str(label)
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
        near += [name for name in names if wanted and wanted.lower() in name.lower() and name not in near]
        hint = f"did you mean {', '.join(map(repr, near[:3]))}?" if near else f"the first are {names[:3]}"
        return f"expected one of {len(self):,} known items, got {label!r}; {hint}"


def as_labels(labels: Iterable[Label] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return names as an int64 array, or as an object array of strings."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    values = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if all(type(value) is str for value in values):
        return _object_array(values)
    if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            raise InvalidInputError(
                "expected integer item names that fit 64 bits, got a larger one; use strings"
            ) from None
    if all(isinstance(value, str) for value in values):
        return _object_array([str(value) for value in values])
    odd = next(
        v
        for v in values
        if not isinstance(v, str | int | np.integer) or isinstance(v, bool) or _mixed(v, values)
    )
    raise InvalidInputError(
        f"expected item names that are all strings or all integers, got {odd!r} ({type(odd).__name__}) "
        "among them; convert the names with str() first"
    )


def _mixed(value: object, values: list[Any]) -> bool:
    return isinstance(value, str) != isinstance(values[0], str)


def _object_array(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _count_distinct(labels: npt.NDArray[Any]) -> int:
    return len(np.unique(labels)) if labels.dtype != object else len(set(labels.tolist()))


def _first_repeated(labels: npt.NDArray[Any]) -> Label:
    seen: set[Label] = set()
    for label in labels.tolist():
        if label in seen:
            return label  # type: ignore[no-any-return]
        seen.add(label)
    raise AssertionError("no name is repeated")
