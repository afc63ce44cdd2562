"""Sets: a family of item sets in two arrays. Itemsets and rules are made of these."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, as_arrow, frozen, protected
from itemix.core.items import Items, Label
from itemix.errors import InvalidInputError
from itemix.kernels import csr, lattice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

_CHUNK = 4096
_SETS_AT_ONCE = 1 << 18


class Sets(Immutable):
    """A sequence of item sets: an immutable, columnar value.

    Set s holds the codes ``codes[offsets[s]:offsets[s + 1]]``, distinct and in any order.

    Parameters
    ----------
    offsets : array of int, shape (n + 1,)
        Where each set starts in `codes`.
    codes : array of int, shape (total length,)
        Item codes.
    items : Items or iterable of str or int
        The name of each code.
    check : bool, default True
        Whether to check and protect the arrays; False hands them over as they are.
    """

    __slots__ = ("_codes", "_index", "_items", "_offsets")

    def __init__(
        self,
        offsets: npt.ArrayLike,
        codes: npt.ArrayLike,
        items: Items | Iterable[Label],
        *,
        check: bool = True,
    ) -> None:
        self._items = items if isinstance(items, Items) else Items(items)
        self._offsets = readonly(offsets, np.int64, copy=check)
        self._codes = readonly(codes, np.int32, copy=check)
        self._index: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None = None
        if check:
            _check_arrays(self.offsets, self.codes, self.items)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Leave the hash table out of pickles."""
        return None, {"_offsets": self._offsets, "_codes": self._codes, "_items": self._items, "_index": None}

    @classmethod
    def from_names(cls, sets: Iterable[Iterable[Label]], items: Items) -> Sets:
        """Make a family from sets of names; within a set the items keep their order.

        Raises
        ------
        UnknownItemError
            If a name is not one of `items`.
        """
        code_of = {name: code for code, name in enumerate(items)}
        codes: list[int] = []
        ends = [0]
        for names in sets:
            codes += [code_of[name] if name in code_of else items.code(name) for name in names]
            ends.append(len(codes))
        return cls(np.array(ends), np.array(codes, dtype=np.int32), items)

    @classmethod
    def from_lengths(cls, lengths: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], items: Items) -> Sets:
        """Make a family from the length of each set and the codes of all; the arrays are not copied."""
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(offsets, codes, items, check=False)

    @classmethod
    def concatenate(cls, families: Sequence[Sets]) -> Sets:
        """Put families over the same items one after the other."""
        lengths = np.concatenate([family.lengths for family in families])
        codes = np.concatenate([family.codes for family in families])
        return cls.from_lengths(lengths, codes, families[0].items)

    @classmethod
    def from_arrow(cls, column: pa.ChunkedArray, items: Items) -> Sets:
        """Make a family from an Arrow column of lists of names."""
        import pyarrow.compute as pc

        lengths = pc.list_value_length(column)
        values = pc.list_flatten(column)
        codes = pc.index_in(values, as_arrow(items.labels))
        n_others = lengths.null_count + codes.null_count
        if n_others:
            raise InvalidInputError(
                f"expected only the {len(items):,} known items in the sets, got {n_others:,} other values; "
                "write the file again"
            )
        offsets = np.concatenate([[0], np.cumsum(lengths.to_numpy(), dtype=np.int64)])
        return cls(offsets, codes.to_numpy(), items)

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each set starts in `codes`, shape (n + 1,)."""
        return self._offsets

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """The item codes of all sets, one after the other."""
        return self._codes

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._items

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items of each set, shape (n,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> tuple[Label, ...]:
        return tuple(self.items.names(self.codes[self.offsets[position] : self.offsets[position + 1]]))

    def __iter__(self) -> Iterator[tuple[Label, ...]]:
        """Iterate over the sets as tuples of names."""
        for first in range(0, len(self), _CHUNK):
            bounds = self.offsets[first : first + _CHUNK + 1]
            names = self.items.names(self.codes[bounds[0] : bounds[-1]])
            edges = (bounds - bounds[0]).tolist()
            for start, end in pairwise(edges):
                yield tuple(names[start:end])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sets):
            return NotImplemented
        return (
            self.items == other.items
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.codes, other.codes)
        )

    __hash__ = None  # type: ignore[assignment]

    def part(self, start: int, stop: int) -> Sets:
        """Return the sets from position `start` up to `stop`."""
        offsets = self.offsets[start : stop + 1]
        codes = self.codes[offsets[0] : offsets[-1]]
        return Sets(offsets - offsets[0], codes, self.items, check=False)

    def take(self, positions: npt.NDArray[np.int64]) -> Sets:
        """Return the sets at some positions, in that order."""
        return Sets(*csr.gather_rows(self.offsets, self.codes, positions), self.items, check=False)

    def sorted_within(self, rank: npt.NDArray[np.int64]) -> Sets:
        """Return the same sets, each with its items in ascending order of `rank` (n_items,)."""
        row = np.repeat(np.arange(len(self)), self.lengths)
        order = np.lexsort((rank[self.codes], row))
        return Sets(self.offsets, self.codes[order], self.items, check=False)

    def translated(self, items: Items) -> tuple[npt.NDArray[np.int64], Sets]:
        """Return the positions of the sets that other items can name, and these sets in their codes."""
        if self.items == items:
            return np.arange(len(self)), self
        used = np.unique(self.codes)
        code_in = np.full(len(self.items), -1, dtype=np.int32)
        code_in[used] = [items.code(name) if name in items else -1 for name in self.items.names(used)]
        known = np.flatnonzero(lattice.count_members(self.offsets, self.codes, code_in < 0) == 0)
        kept = self.take(known)
        return known, Sets(kept.offsets, code_in[kept.codes], items, check=False)

    def find(self, sets: Sets) -> npt.NDArray[np.int64]:
        """Return the position among these of each of several sets, -1 for none; items are matched by name."""
        if sets.items is not self.items and sets.items != self.items:
            known, named = sets.translated(self.items)
            places = np.full(len(sets), -1, dtype=np.int64)
            places[known] = self.find(named)
            return places
        table, keys = self.index()
        return lattice.find_sets(table, self.offsets, self.codes, keys, sets.offsets, sets.codes)

    def unique(self) -> Sets:
        """Return the distinct sets, in the order in which they first appear."""
        return self.take(np.flatnonzero(self.find(self) == np.arange(len(self))))

    def count_members(self, names: object) -> npt.NDArray[np.int64]:
        """Return how many of some items are in each set."""
        wanted = np.zeros(len(self.items), dtype=np.bool_)
        wanted[self.items.codes(names)] = True
        return lattice.count_members(self.offsets, self.codes, wanted)

    def largest(self, group: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Mark the sets that have no proper superset in their group; `group` is (n,) int64."""
        table, keys = self.index()
        group = readonly(group, np.int64, copy=False)
        covered, is_complete = lattice.mark_covered(table, self.offsets, self.codes, keys, group)
        if not is_complete:
            rest = np.flatnonzero(~covered)
            order = rest[np.lexsort((-self.lengths[rest], group[rest]))]
            covered |= lattice.mark_contained(self.offsets, self.codes, group, order, len(self.items))
        return ~covered

    def smallest(self, group: npt.NDArray[np.int64], group_of_nothing: int) -> npt.NDArray[np.bool_]:
        """Mark the sets of which no subset is in their group; a set whose subsets are not all here is not.

        Parameters
        ----------
        group : array of int64, shape (n,)
            The group of each set, such as its count. Of two sets in one group, all sets between are in it.
        group_of_nothing : int
            The group of the set without items.
        """
        marked = np.ones(len(self), dtype=np.bool_)
        lengths = self.lengths
        marked[lengths == 1] = group[lengths == 1] != group_of_nothing
        for length in range(2, int(lengths.max(initial=0)) + 1):
            alike = np.flatnonzero(lengths == length)
            for start in range(0, len(alike), _SETS_AT_ONCE):
                at = alike[start : start + _SETS_AT_ONCE]
                rows = self.take(at).codes.reshape(len(at), length)
                offsets = np.arange(len(at) + 1) * (length - 1)
                for left_out in range(length):
                    rest = np.delete(rows, left_out, axis=1).ravel()
                    found = self.find(Sets(offsets, rest, self.items, check=False))
                    marked[at] &= (found >= 0) & (group[found] != group[at])
        return marked

    def index(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Return the hash table of the sets and the keys of the items, made when first asked for."""
        if self._index is None:
            keys = lattice.item_keys(len(self.items))
            self._index = lattice.build_table(self.offsets, self.codes, keys), keys
        return self._index

    def to_frozensets(self) -> npt.NDArray[np.object_]:
        """Return the sets as an array of frozensets of names; equal sets are one object."""
        first = self.find(self)
        distinct = np.flatnonzero(first == np.arange(len(self)))
        made = np.empty(len(self), dtype=object)
        made[distinct] = [frozenset(names) for names in self.take(distinct)]
        shared: npt.NDArray[np.object_] = made[first]
        return shared

    def to_arrow(self) -> pa.Array:
        """Return the sets as an Arrow array of lists of names."""
        import pyarrow as pa

        values = as_arrow(self.items.labels).take(as_arrow(self.codes))
        if len(self.codes) <= np.iinfo(np.int32).max:
            return pa.ListArray.from_arrays(as_arrow(self.offsets.astype(np.int32)), values)
        return pa.LargeListArray.from_arrays(as_arrow(self.offsets), values)


def as_position(position: object, n: int) -> int:
    """Turn a position, maybe a negative one, into one from 0 to n - 1.

    Raises
    ------
    InvalidInputError
        If it is not a whole number; the message says how to take several.
    IndexError
        If there is no such position.
    """
    try:
        found = operator.index(position)  # type: ignore[arg-type] # checked here
    except TypeError:
        raise InvalidInputError(
            f"expected a position, a slice, a list of positions or a mask, got {position!r}; try [0] or [:10]"
        ) from None
    if not -n <= found < n:
        raise IndexError(f"expected a position below {n:,}, got {found}")
    return found % n


def are_several(position: object) -> bool:
    """Whether what stands in square brackets asks for several rows: a slice, a mask or positions."""
    return isinstance(position, slice) or (hasattr(position, "__len__") and not isinstance(position, str))


def as_positions(positions: npt.ArrayLike, n: int) -> npt.NDArray[np.int64]:
    """Turn positions, negative ones or a mask into positions from 0 to n - 1."""
    try:
        chosen = np.asarray(positions)
        is_mask = chosen.dtype.kind == "b" and chosen.shape == (n,)
        is_valid = chosen.ndim == 1 and (is_mask or chosen.dtype.kind in "iu" or chosen.size == 0)
    except ValueError:  # it holds lists
        is_valid = False
    if not is_valid:
        raise InvalidInputError(
            f"expected a list of positions, or True or False for each of {n:,}, got {positions!r}; try [0, 1]"
        )
    every = np.arange(n, dtype=np.int64)
    taken: npt.NDArray[np.int64] = every[chosen if chosen.size else chosen.astype(np.int64)]
    return taken


def readonly(values: npt.ArrayLike, dtype: npt.DTypeLike, *, copy: bool = True) -> npt.NDArray[Any]:
    """Return values as a read-only contiguous array, copied where they may be the caller's memory."""
    try:
        with np.errstate(invalid="raise"):  # NaN is not a whole number
            array = np.ascontiguousarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError, FloatingPointError):
        raise InvalidInputError(
            f"expected an array of {np.dtype(dtype).name}, got {values!r}; try itemix.mine to make itemsets"
        ) from None
    return frozen(array, values) if copy else protected(array)


def _check_arrays(offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], items: Items) -> None:
    if (
        offsets.ndim != 1
        or codes.ndim != 1
        or len(offsets) == 0
        or offsets[0] != 0
        or offsets[-1] != len(codes)
        or (np.diff(offsets) < 0).any()
    ):
        raise InvalidInputError(
            f"expected offsets that ascend from 0 to the number of codes ({codes.size:,}), got others; "
            "try itemix.mine to make itemsets"
        )
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(items):
        raise InvalidInputError(
            f"expected item codes from 0 to {len(items) - 1:,}, got {int(codes.min()):,} to "
            f"{int(codes.max()):,}; codes are positions in items"
        )
    repeated = lattice.first_repetition(offsets, codes, len(items))
    if repeated >= 0:
        names = items.names(codes[offsets[repeated] : offsets[repeated + 1]])
        raise InvalidInputError(
            f"expected distinct items in every set, got {names} at position {repeated:,}; drop one of the two"
        )
