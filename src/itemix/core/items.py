"""Items: the names behind the item codes of transactions, itemsets and models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from itemix._arrays import protected
from itemix._checks import did_you_mean, nearest
from itemix.errors import InvalidInputError, UnknownItemError

if TYPE_CHECKING:
    from itemix.core.binning import Bins

Label: TypeAlias = str | int

MOST_DIGITS = 18
"""Longer numbers in text are names."""

_VALUES_SHOWN = 8


class Items(Sequence[Label]):
    """An immutable sequence of distinct item names; the position of a name is its code.

    Names are all strings or all integers. Integers are stored and looked up in NumPy arrays, so that millions
    of numbered items need no Python object each.

    Parameters
    ----------
    labels : iterable of str, iterable of int, or integer array
        The names, in the order of their codes.
    bins : Bins, optional
        The columns of the table that the items come from, and how their values became items.
    column_of : array of int, shape (n_items,), optional
        The number of each item's column in `bins`.

    Raises
    ------
    InvalidInputError
        If a name comes twice, or the names are neither all strings nor all integers.
    """

    __slots__ = ("_bins", "_code_of", "_column_of", "_labels", "_order")

    def __init__(
        self,
        labels: Iterable[Label] | npt.NDArray[Any],
        *,
        bins: Bins | None = None,
        column_of: npt.NDArray[np.int32] | None = None,
    ) -> None:
        self._labels = as_labels(labels)
        self._bins = bins
        self._column_of = None if bins is None or column_of is None else protected(np.array(column_of))
        self._labels.setflags(write=False)
        self._code_of: dict[Label, int] | None = None
        self._order: npt.NDArray[np.int64] | None = None
        _check_distinct(self._labels)

    @property
    def labels(self) -> npt.NDArray[Any]:
        """The names as a read-only array: int64, or object where they are strings."""
        return self._labels

    @property
    def bins(self) -> Bins | None:
        """How the columns of a table became these items; None if they come from elsewhere."""
        return self._bins

    @property
    def column_of(self) -> npt.NDArray[np.int32] | None:
        """The number of each item's column in `bins`; None if the items do not come from a table."""
        return self._column_of

    def column(self, label: Label) -> str | None:
        """Return the column of an item of a table, or None if it has none.

        Raises
        ------
        UnknownItemError
            If there is no such item.
        """
        code = self.code(label)
        if self._bins is None or self._column_of is None:
            return None
        return list(self._bins)[int(self._column_of[code])]

    def codes_about(self, names: object) -> npt.NDArray[np.int32]:
        """Return the codes of items, or of all values of columns: ``sex`` is ``sex=female`` and ``sex=male``.

        Raises
        ------
        UnknownItemError
            If a name is neither an item nor a column.
        """
        wanted = [names] if isinstance(names, str | int | np.integer) else names
        if not isinstance(wanted, Iterable):
            return self.codes(wanted)
        found = [np.empty(0, dtype=np.int32)]
        for name in wanted:
            code = self.find(name)
            found.append(self._of_column(name) if code is None else np.array([code], dtype=np.int32))
        return np.unique(np.concatenate(found))

    def of_same_columns(self, codes: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return all items of the table columns that some items come from, these items included.

        No transaction has two values of one column. Items that come from no table have no columns.
        """
        if self._column_of is None:
            return np.empty(0, dtype=np.int32)
        columns = self._column_of[np.asarray(codes, dtype=np.intp)]
        return np.flatnonzero(np.isin(self._column_of, columns)).astype(np.int32)

    def taken_by_rows(
        self, indptr: npt.NDArray[np.int64], codes: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return compressed rows with the items that each row cannot take any more.

        These are its own items and, in a table, the other values of their columns.
        """
        if self._column_of is None or not len(codes):
            return indptr, codes
        order = np.argsort(self._column_of, kind="stable").astype(np.int32)
        sizes = np.bincount(self._column_of)
        starts = np.cumsum(sizes) - sizes
        columns = self._column_of[codes]
        ends = np.concatenate([[0], np.cumsum(sizes[columns])])
        places = np.arange(ends[-1]) + np.repeat(starts[columns] - ends[:-1], sizes[columns])
        return ends[indptr].astype(np.int64), order[places]

    def _of_column(self, name: object) -> npt.NDArray[np.int32]:
        """Return the items of a column. Files of itemsets keep only names, which tell the column too."""
        if self._bins is not None and self._column_of is not None and name in self._bins:
            return np.flatnonzero(self._column_of == list(self._bins).index(str(name))).astype(np.int32)
        if not self.are_integers and isinstance(name, str) and name:
            values = [code for code, label in enumerate(self._labels) if label.startswith(f"{name}=")]
            if values:
                return np.array(values, dtype=np.int32)
        return self.codes([name])

    @property
    def are_integers(self) -> bool:
        """Whether the names are integers (they are strings otherwise)."""
        return self._labels.dtype != object

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self._labels.tolist())

    @overload
    def __getitem__(self, code: int) -> Label: ...
    @overload
    def __getitem__(self, code: slice) -> Items: ...
    def __getitem__(self, code: int | slice) -> Label | Items:
        if isinstance(code, slice):
            return self.take(np.arange(len(self))[code])
        label: Label = self._labels[code] if self._labels.dtype == object else int(self._labels[code])
        return label

    def __contains__(self, label: object) -> bool:
        return self._find(label) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items):
            return NotImplemented
        same_kind = self.are_integers == other.are_integers or len(self) == 0
        return same_kind and np.array_equal(self._labels, other._labels)

    def __hash__(self) -> int:
        return hash((len(self), tuple(self._labels[:8].tolist())))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._labels, self._bins, self._column_of)

    def __repr__(self) -> str:
        shown = ", ".join(repr(label) for label in self._labels[:6].tolist())
        return f"Items([{shown}{', ...' if len(self) > 6 else ''}], n={len(self):,})"

    def take(self, codes: npt.NDArray[Any]) -> Items:
        """Return some items, in the order of the codes; they keep their columns."""
        columns = None if self._column_of is None else self._column_of[codes]
        return Items(self._labels[codes], bins=self._bins, column_of=columns)

    def renamed(self, labels: Iterable[Label]) -> Items:
        """Return items with other names and the same columns."""
        return Items(labels, bins=self._bins, column_of=self._column_of)

    def names(self, codes: npt.ArrayLike) -> list[Label]:
        """Return the names of some codes."""
        try:
            chosen = np.asarray(codes)
        except ValueError:  # it holds lists
            chosen = np.empty((0, 0))
        in_range = chosen.dtype.kind in "iu" and ((chosen >= 0) & (chosen < len(self))).all()
        if chosen.ndim != 1 or (chosen.size and not in_range):
            raise InvalidInputError(
                f"expected a list of item codes from 0 to {len(self) - 1:,}, got {codes!r}; for the codes of "
                "names use codes()"
            )
        named: list[Label] = self._labels[chosen.astype(np.intp)].tolist()
        return named

    def find(self, label: object) -> int | None:
        """Return the code of one name, or None if there is no such item.

        A string of digits finds an integer name, so that names typed on a command line work.
        """
        found = self._find(label)
        if found is None and self.are_integers and isinstance(label, str) and _is_number(label):
            return self._find(int(label))
        return found

    def code(self, label: object) -> int:
        """Return the code of one name, as `find` does.

        Raises
        ------
        UnknownItemError
            If there is no such item; the message offers the nearest names.
        """
        found = self.find(label)
        if found is None:
            raise UnknownItemError(self._unknown(label))
        return found

    def codes(self, labels: object) -> npt.NDArray[np.int32]:
        """Return the distinct codes of several names in ascending order (one string is one name)."""
        if isinstance(labels, str | int | np.integer):
            labels = [labels]
        if not isinstance(labels, Iterable):
            raise InvalidInputError(
                f"expected item names in a list, got {type(labels).__name__}; try ['milk', 'bread']"
            )
        return np.unique(np.array([self.code(label) for label in labels], dtype=np.int32))

    def _find(self, label: object) -> int | None:
        if isinstance(label, np.generic):
            label = label.item()
        if self.are_integers:
            return self._find_integer(label)
        if not isinstance(label, str):
            return None
        if self._code_of is None:
            self._code_of = {name: code for code, name in enumerate(self._labels.tolist())}
        return self._code_of.get(label)

    def _find_integer(self, label: object) -> int | None:
        if not isinstance(label, int) or isinstance(label, bool) or not -(2**63) <= label < 2**63:
            return None
        if self._order is None:
            self._order = np.argsort(self._labels, kind="stable")
        place = int(np.searchsorted(self._labels, label, sorter=self._order))
        if place == len(self) or self._labels[self._order[place]] != label:
            return None
        return int(self._order[place])

    def _unknown(self, label: object) -> str:
        if len(self) == 0:
            return f"expected a known item, got {label!r}; there are no items at all"
        column, is_value, _ = str(label).partition("=")
        values = [str(name) for name in self if str(name).startswith(f"{column}=")] if is_value else []
        if values:  # the values of a column are the hint, unless one is much like it
            shown = ", ".join(name.partition("=")[2] for name in values[:_VALUES_SHOWN])
            near, otherwise = nearest(label, values), f"the values of {column!r} are {shown}"
            otherwise += ", ..." if len(values) > _VALUES_SHOWN else ""
            near = [name for name in near if nearest(str(label).partition("=")[2], [name.partition("=")[2]])]
        else:
            near = nearest(label, self)
            otherwise = f"the first are {[str(name) for name in self._labels[:3].tolist()]}"
        hint = did_you_mean(near, otherwise)
        return f"expected one of {len(self):,} known items, got {label!r}; {hint}"


def _restored(labels: npt.NDArray[Any], bins: Bins | None, column_of: npt.NDArray[np.int32] | None) -> Items:
    return Items(labels, bins=bins, column_of=column_of)


def as_labels(labels: Iterable[Label] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return names in a new array: int64, or object where they are strings.

    Raises
    ------
    InvalidInputError
        If the names are neither all strings nor all integers of 64 bits.
    """
    if isinstance(labels, Items):
        return labels.labels.copy()
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        return _as_integers(labels)
    if not isinstance(labels, Iterable):
        raise InvalidInputError(f"expected a list of item names, got {labels!r}; try ['milk', 'bread']")
    values = np.atleast_1d(labels).tolist() if isinstance(labels, np.ndarray) else list(labels)
    is_usual = _is_integer if values and _is_integer(values[0]) else _is_string
    if not all(map(is_usual, values)):
        odd = next(value for value in values if not is_usual(value))
        raise InvalidInputError(
            f"expected item names that are all strings or all integers, got {odd!r} ({type(odd).__name__}) "
            "among them; convert the names with str() first"
        )
    if is_usual is _is_integer:
        return _as_integers(values)
    return np.fromiter(map(str, values), dtype=object, count=len(values))


def labels_from_text(names: list[str]) -> npt.NDArray[Any]:
    """Return names as labels: integers where all of them are whole numbers without leading zeros."""
    return as_labels([int(name) for name in names] if all(map(_is_code, names)) else names)


def _as_integers(values: list[Any] | npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    for extreme in (int(np.min(values)), int(np.max(values))) if len(values) else ():
        if not -(2**63) <= extreme < 2**63:
            raise InvalidInputError(
                f"expected integer item names of at most 64 bits, got {extreme}; try str() on all of them"
            )
    return np.array(values, dtype=np.int64)


def _is_code(name: str) -> bool:
    return (
        name.isascii()
        and name.isdigit()
        and (name == "0" or not name.startswith("0"))
        and len(name) <= MOST_DIGITS
    )


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit()


def _check_distinct(labels: npt.NDArray[Any]) -> None:
    if (labels[1:] > labels[:-1]).all():
        return
    if labels.dtype != object:
        values, counts = np.unique(labels, return_counts=True)
        repeated = values[counts > 1].tolist()
    elif len(set(labels)) == len(labels):
        return
    else:
        repeated = [name for name, count in Counter(labels.tolist()).items() if count > 1]
    if repeated:
        raise InvalidInputError(
            f"expected distinct item names, got {repeated[0]!r} more than once; "
            "rename one of them, or merge the columns that share the name"
        )
