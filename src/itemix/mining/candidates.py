"""Candidates: sets to count in the data, and all joins of two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix.kernels import lattice
from itemix.kernels.mining import candidates as kernels
from itemix.kernels.mining.candidates import RULED_OUT, UNKNOWN
from itemix.mining.search import SearchStopped, SetColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import Codes, Floats, Hashes, Ints, Marks


# A join while its level is made has a count, a hash, an expected count and marks; a node is without its path.
_BYTES_PER_JOIN = 40
_BYTES_PER_NODE = 80


@dataclass(frozen=True)
class Candidates:
    """A trie of sets with their joins, as kernels take it; a pass over the data fills in `counts`.

    Attributes
    ----------
    first, item, join_start, join_of, counts : array
        The trie.
    depth : int
        The number of items of the longest join.
    """

    first: Ints
    item: Codes
    join_start: Ints
    join_of: Ints
    counts: Ints
    depth: int

    @property
    def roots(self) -> Codes:
        """The items that may be part of larger sets, ascending."""
        return self.item[1 : self.first[1]]

    @property
    def n_sets(self) -> int:
        """The number of sets of the trie, the empty one left out."""
        return len(self.item) - 1

    @property
    def n_unknown(self) -> int:
        """The number of joins that must still be counted."""
        return int((self.counts == UNKNOWN).sum())

    @classmethod
    def of_sets(
        cls, sets: SetColumns, *, max_len: int, max_bytes: int, with_border: bool = True
    ) -> Candidates:
        """Make the trie of a family of sets, in the order of mining, with the numbers of items as ranks.

        Sets that come in another order, or without all their subsets, may be left out. Without the border,
        joins that are not in the family are ruled out.

        Raises
        ------
        SearchStopped
            If the joins do not fit into `max_bytes`.
        """
        choice = _Proposed(sets, with_border)
        roots = choice.rows(1)[:, 0]
        keys = lattice.item_keys(int(roots.max(initial=-1)) + 1)
        unknown, new = np.full((2, len(roots)), -1, dtype=np.int64)
        level = _first_level(roots, unknown, new, 1, keys)
        return _grown(level, _EMPTY, choice, keys, max_len=max_len, max_bytes=max_bytes)

    def extended(
        self,
        item_counts: Ints,
        n: int,
        *,
        min_count: int,
        min_expected: float,
        max_len: int,
        max_bytes: int,
    ) -> Candidates:
        """Make the trie of the frequent sets among these, and of those that may well be frequent.

        Parameters
        ----------
        item_counts : array, shape (n_items,)
            How often each item occurs in the data.
        n : int
            The number of transactions.
        min_count : int
            The least count of a frequent set.
        min_expected : float
            The least expected count of a set that is not counted yet, for it to be in the trie.
        max_len : int
            The most items of a join.
        max_bytes : int
            The most memory to use.

        Raises
        ------
        SearchStopped
            If the joins do not fit into `max_bytes`.
        """
        roots = np.flatnonzero(item_counts >= min_count).astype(np.int32)
        is_old = np.isin(roots, self.roots, assume_unique=True)
        old = np.where(is_old, 1 + np.searchsorted(self.roots, roots), -1)
        keys = lattice.item_keys(len(item_counts))
        level = _first_level(roots, item_counts[roots], old, n, keys)
        choice = _Promising(min_count, min_expected)
        return _grown(level, self, choice, keys, max_len=max_len, max_bytes=max_bytes)

    def n_frequent(self, min_count: int) -> int:
        """Return how many sets of the trie occur often enough."""
        return int((self.counts[self.join_of[1:]] >= min_count).sum())

    def frequent(self, min_count: int) -> SetColumns:
        """Return the sets of the trie that occur often enough, each as its path."""
        trie = self.first, self.item, self.join_of, self.counts
        ends, items, counts = kernels.frequent_nodes(*trie, min_count)
        return SetColumns(np.append(0, ends), items, counts)


_EMPTY = Candidates(
    first=np.ones(2, np.int64),
    item=np.full(1, -1, np.int32),
    join_start=np.zeros(2, np.int64),
    join_of=np.zeros(1, np.int64),
    counts=np.empty(0, np.int64),
    depth=1,
)


class _Level(NamedTuple):
    """The nodes of one length as kernels take them, with their counts, known or expected."""

    rows: Codes
    group: Ints
    hashes: Hashes
    old: Ints
    values: Floats
    prefix_values: Floats


@dataclass(frozen=True)
class _Proposed:
    """The choice of joins that are among the proposed sets: these become nodes."""

    sets: SetColumns
    with_border: bool

    def rows(self, length: int) -> Codes:
        """Return the proposed paths of one length, sorted."""
        start, stop = self.sets.offsets[np.searchsorted(self.sets.lengths, [length, length + 1])]
        return np.ascontiguousarray(self.sets.codes[start:stop].reshape(-1, length)[:, ::-1])

    def chosen(self, level: _Level, counts: Ints, is_proposed: Marks) -> tuple[Marks, Floats]:
        """Mark the joins of a level that become nodes, and return their counts, known or expected."""
        if not self.with_border:
            counts[~is_proposed] = RULED_OUT
        return is_proposed, np.zeros(len(counts))


@dataclass(frozen=True)
class _Promising:
    """The choice of joins that are frequent, or unknown and expected to be nearly so: these become nodes."""

    min_count: int
    min_expected: float

    def rows(self, length: int) -> Codes:
        return np.empty((0, length), dtype=np.int32)

    def chosen(self, level: _Level, counts: Ints, is_proposed: Marks) -> tuple[Marks, Floats]:
        expected = kernels.expected_counts(counts, level.group, level.values, level.prefix_values)
        return np.where(counts == UNKNOWN, expected >= self.min_expected, counts >= self.min_count), expected


def _first_level(roots: Codes, counts: Ints, old: Ints, n: int, keys: Hashes) -> _Level:
    group = np.zeros(len(roots), dtype=np.int64)
    whole = np.full(len(roots), float(n))
    return _Level(roots[:, None].copy(), group, keys[roots], old, counts.astype(np.float64), whole)


def _grown(
    level: _Level,
    old: Candidates,
    choice: _Proposed | _Promising,
    keys: Hashes,
    *,
    max_len: int,
    max_bytes: int,
) -> Candidates:
    """Make a trie level by level, from the first level on."""
    parts = _CandidateParts(level)
    while len(level.rows) and level.rows.shape[1] < max_len:
        n_joins = np.arange(len(level.rows)) - level.group
        parts.require_room(n_joins, max_bytes)
        rows, group, hashes, older = level[:4]
        proposed = choice.rows(rows.shape[1] + 1)
        counts, joined, marks = kernels.join_level(
            rows, group, hashes, older, keys, proposed, old.join_start, old.counts
        )
        chosen, values = choice.chosen(level, counts, marks)
        places = np.flatnonzero(chosen)
        rows, group, older, parent, n_children = kernels.next_level(
            rows, group, older, chosen, old.first, old.item
        )
        parts.add(n_joins, counts, n_children, rows[:, -1], places)
        level = _Level(rows, group, joined[places], older, values[places], level.values[parent])
    return parts.as_candidates(n_leaves=len(level.rows))


class _CandidateParts:
    """The arrays of a trie while it grows, a part for each level; see `Candidates`."""

    def __init__(self, roots: _Level) -> None:
        n_roots = len(roots.rows)
        self._n_joins = [np.array([n_roots])]
        self._counts = [roots.values.astype(np.int64)]
        self._n_children = [np.array([n_roots])]
        self._items = [np.full(1, -1, np.int32), roots.rows[:, 0]]
        self._join_of = [np.arange(-1, n_roots)]
        self._joins_so_far, self._nodes_so_far = n_roots, 0

    def require_room(self, n_joins: Ints, max_bytes: int) -> None:
        """Raise SearchStopped if the trie and another level, with `n_joins` of each node, take more."""
        joins, nodes = self._joins_so_far + int(n_joins.sum()), self._nodes_so_far + len(n_joins)
        if _BYTES_PER_JOIN * joins + _BYTES_PER_NODE * nodes > max_bytes:
            raise SearchStopped(joins)

    def add(self, n_joins: Ints, counts: Ints, n_children: Ints, items: Codes, places: Ints) -> None:
        """Add a level: the joins of its nodes with their counts, and its children, the joins at `places`."""
        self._n_joins.append(n_joins)
        self._counts.append(counts)
        self._n_children.append(n_children)
        self._items.append(items)
        self._join_of.append(self._joins_so_far + places)
        self._joins_so_far += len(counts)
        self._nodes_so_far += len(n_joins)

    def as_candidates(self, n_leaves: int) -> Candidates:
        """Return the trie; its last nodes have neither joins nor children."""
        leaves = np.zeros(n_leaves, dtype=np.int64)
        return Candidates(
            first=_starts(1, [*self._n_children, leaves]),
            item=np.concatenate(self._items),
            join_start=_starts(0, [*self._n_joins, leaves]),
            join_of=np.concatenate(self._join_of),
            counts=np.concatenate(self._counts),
            depth=len(self._counts),
        )


def _starts(first: int, sizes: Sequence[Ints]) -> Ints:
    return np.cumsum(np.concatenate([np.array([first]), *sizes]), dtype=np.int64)
