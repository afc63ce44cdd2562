"""KnownSets: itemsets with their supports, such that with a set all its subsets are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.core.sets import Sets, readonly
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.kernels.models.maxent import SupportTrie

if TYPE_CHECKING:
    from itemix.core.items import Items

Floats = npt.NDArray[np.float64]
Offsets = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class KnownSets:
    """Itemsets of two items or more, sorted by length and then by their codes; see `checked`.

    Attributes
    ----------
    frequencies : array, shape (n_items,)
        The probability of each item.
    sets : Sets
        The itemsets.
    supports : array, shape (n_itemsets,)
        Their probabilities.
    trie : SupportTrie
        The same for kernels.
    """

    frequencies: Floats
    sets: Sets
    supports: Floats
    trie: SupportTrie

    @classmethod
    def checked(cls, frequencies: npt.ArrayLike, sets: Sets, supports: npt.ArrayLike) -> KnownSets:
        """Sort the sets.

        Raises
        ------
        InvalidInputError
            If numbers are no probabilities, a set is not there once, a subset of it is not there at all, or
            is less probable than the set.
        """
        alone = _probabilities(frequencies, len(sets.items), "frequencies, one for each item")
        values = _probabilities(supports, len(sets), "supports, one for each itemset")
        order, ordered = _sorted(sets)
        values = readonly(values[order], np.float64, copy=False)
        if (ordered.find(ordered) != np.arange(len(ordered))).any():
            raise InvalidInputError("expected each itemset once, got one twice; leave out the second")
        parents = _checked_parents(ordered, values, alone)
        n_items = len(alone)
        nodes = np.arange(n_items + len(ordered) + 1)
        last = ordered.codes[ordered.offsets[1:] - 1]
        trie = SupportTrie(
            readonly(n_items + np.searchsorted(parents, nodes), np.int64, copy=False),
            readonly(np.concatenate([np.arange(n_items), last]), np.int32, copy=False),
            readonly(np.concatenate([alone, values]), np.float64, copy=False),
        )
        return cls(alone, ordered, values, trie)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnownSets):
            return NotImplemented
        return (
            self.sets.items == other.sets.items
            and np.array_equal(self.sets.offsets, other.sets.offsets)
            and np.array_equal(self.sets.codes, other.sets.codes)
            and np.array_equal(self.trie.support, other.trie.support)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def part_of(self) -> Codes:
        """Which items hang together by pairs: the number of each item's part, shape (n_items,)."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        n_items = len(self.frequencies)
        one, other, _ = self.pairs()
        graph = sparse.coo_array((np.ones(len(one)), (one, other)), shape=(n_items, n_items))
        return readonly(connected_components(graph, directed=False)[1], np.int32, copy=False)

    def pairs(self) -> tuple[Codes, Codes, Floats]:
        """Return the smaller and the larger item of each pair, and its support."""
        n = int((self.sets.lengths == 2).sum())
        codes = self.sets.codes[: 2 * n].reshape(-1, 2)
        return codes[:, 0], codes[:, 1], self.supports[:n]

    @cached_property
    def parts(self) -> tuple[Offsets, Codes]:
        """The items of each part, ascending, in compressed form."""
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.part_of))])
        codes = np.argsort(self.part_of, kind="stable")
        return readonly(offsets, np.int64, copy=False), readonly(codes, np.int32, copy=False)


def _probabilities(values: npt.ArrayLike, n: int, what: str) -> Floats:
    array = readonly(values, np.float64)
    if array.shape != (n,) or not ((array >= 0) & (array <= 1)).all():
        raise InvalidInputError(
            f"expected {n:,} {what}, from 0 to 1, got others of shape {array.shape}; check their number"
        )
    return array


def _sorted(sets: Sets) -> tuple[Offsets, Sets]:
    """Return the order of the sets by length and codes, and the sets in that order, their codes ascending."""
    offsets, codes = csr.canonical_rows(sets.offsets, sets.codes)
    lengths = np.diff(offsets)
    if len(lengths) and lengths.min() < 2:
        raise InvalidInputError(
            f"expected itemsets of two items or more, got one of {lengths.min()}; leave it out"
        )
    orders, parts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for length in np.unique(lengths):
        own = np.flatnonzero(lengths == length)
        rows = codes[offsets[own][:, None] + np.arange(length)]
        order = np.lexsort(rows.T[::-1])
        orders.append(own[order])
        parts.append(rows[order].ravel())
    order = np.concatenate(orders)
    return order, Sets.from_lengths(lengths[order], np.concatenate(parts), sets.items)


def _checked_parents(sets: Sets, supports: Floats, frequencies: Floats) -> Offsets:
    """Return the node of each set without its last item, having looked at all sets of one item less."""
    lengths = sets.lengths
    parents = np.empty(len(sets), dtype=np.int64)
    for length in np.unique(lengths):
        own = np.flatnonzero(lengths == length)
        rows = sets.codes[sets.offsets[own][:, None] + np.arange(length)]
        for left_out in range(length):
            rest = np.delete(rows, left_out, axis=1)
            node = _nodes_of(sets, rest) if length > 2 else rest[:, 0].astype(np.int64)
            if (node < 0).any():
                raise _missing(sets.items, rest[int(np.argmin(node))])
            above = np.concatenate([frequencies, supports])[node]
            if (supports[own] > above + _ROUNDING).any():
                raise InvalidInputError(
                    "expected supports that no superset passes, got a set more probable than one of its "
                    "subsets; count them in the same data"
                )
            if left_out == length - 1:
                parents[own] = node
    return parents


def _nodes_of(sets: Sets, rows: Codes) -> Offsets:
    """Return the nodes of sets of one length, -1 for those that are not there."""
    lengths = np.full(len(rows), rows.shape[1], dtype=np.int64)
    found = sets.find(Sets.from_lengths(lengths, np.ascontiguousarray(rows).ravel(), sets.items))
    return np.where(found < 0, -1, found + len(sets.items))


def _missing(items: Items, codes: Codes) -> InvalidInputError:
    return InvalidInputError(
        f"expected with each itemset all its subsets, got none of {items.names(codes)}; mine all frequent "
        "itemsets up to a length"
    )
