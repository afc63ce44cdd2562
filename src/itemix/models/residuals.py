"""Residuals: what the data says of itemsets beyond a mixture, as shifts of log-odds in a trie."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.immutable import Immutable, owned, protected
from itemix.kernels.models.corrected import ShiftTrie


class Trie(NamedTuple):
    """Itemsets as paths of ranks from the rarest item to the most probable one, as kernels read them.

    Node 0 is the empty set, node 1 + r the item of rank r. The children of node v are the nodes first[v] to
    first[v + 1]; they add the ranks `item`, ascending.
    """

    first: npt.NDArray[np.int64]
    item: npt.NDArray[np.int32]

    @property
    def n_nodes(self) -> int:
        """The number of nodes, the empty set among them."""
        return len(self.item)


class Residuals(Immutable):
    """Shifts of log-odds for the itemsets of a trie: an immutable value.

    Parameters
    ----------
    trie : Trie
        The itemsets, by rank.
    shift : array of float, shape (n_nodes,)
        By how much the log-odds of the last item of each path are shifted, given the items before it.
    """

    def __init__(self, trie: Trie, shift: npt.ArrayLike) -> None:
        self.trie = Trie(owned(trie.first, np.int64), owned(trie.item, np.int32))
        self.shift = owned(shift, np.float64)
        n = self.trie.n_nodes
        if len(self.trie.first) != n + 1 or self.shift.shape != (n,) or n == 0:
            raise InvalidInputError(
                f"expected a trie of {n} nodes with a shift each, got {len(self.trie.first) - 1} and "
                f"{self.shift.shape}; give each node its first child and its shift"
            )
        if not np.isfinite(self.shift).all():
            raise InvalidInputError("expected finite shifts of log-odds, got infinity or NaN; leave them out")

    @classmethod
    def of_nothing(cls, n_items: int) -> Residuals:
        """Return residuals that shift nothing."""
        first = np.full(n_items + 2, n_items + 1)
        first[0] = 1
        return cls(Trie(first, np.arange(-1, n_items, dtype=np.int32)), np.zeros(n_items + 1))

    @property
    def shift_trie(self) -> ShiftTrie:
        """The trie with its shifts, as kernels read them."""
        return ShiftTrie(*self.trie, self.shift)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items of each node's set, shape (n_nodes,)."""
        lengths = np.zeros(self.trie.n_nodes, dtype=np.int64)
        first, start, stop, length = self.trie.first, 0, 1, 0
        while start < stop:
            lengths[start:stop] = length
            start, stop, length = int(first[start]), int(first[stop]), length + 1
        return protected(lengths)

    @cached_property
    def order(self) -> int:
        """The number of items of the longest set that has a shift."""
        return int(self.lengths[self.shift != 0].max(initial=1))

    @property
    def size(self) -> int:
        """The number of itemsets that have a shift."""
        return int(np.count_nonzero(self.shift))

    def pruned(self) -> Residuals:
        """Return the same residuals without the nodes that have no shift and nothing below them."""
        first, item = self.trie
        parent = np.repeat(np.arange(len(item)), np.diff(first))
        kept = (self.shift != 0) | (self.lengths <= 1)
        for node in range(len(item) - 1, 0, -1):
            if kept[node]:
                kept[parent[node - 1]] = True
        counts = np.bincount(parent[kept[1:]], minlength=len(item))[kept]
        starts = 1 + np.concatenate([[0], np.cumsum(counts)])
        return Residuals(Trie(starts, item[kept]), self.shift[kept])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Residuals):
            return NotImplemented
        return (
            np.array_equal(self.shift, other.shift)
            and np.array_equal(self.trie.first, other.trie.first)
            and np.array_equal(self.trie.item, other.trie.item)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Residuals({self.size:,} itemsets of up to {self.order} items)"
