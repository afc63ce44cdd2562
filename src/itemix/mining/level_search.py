"""The search of `mine` in any model: level by level, asking the model for many sets at once.

A set of ranks is a row in falling order: its first column is its root, the least probable item. Rows sorted
by their columns are then sets in colexicographic order, and two rows that differ in the last column only join
to a set of one item more, again in this order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix._runtime import still_wanted
from itemix.mining.columns import Columns
from itemix.mining.model import ModelSearch
from itemix.mining.parallel import SearchStopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.kernels.mining.control import SearchLimits

Rows = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

# So many sets are asked for at a time.
_BLOCK = 1 << 18


class LevelSearch(ModelSearch):
    """One search in a model of which only the probabilities of sets are known."""

    def _joint(self) -> tuple[float, Floats]:
        model, include = self._model, self._options.include
        own = 1.0
        if len(include):
            offsets = np.array([0, len(include)], dtype=np.int64)
            own = float(model.probabilities_of_codes(offsets, include)[0])
        alone = np.arange(model.n_items, dtype=np.int32)[:, None]
        return own, self._probabilities_of(alone, alone[:, 0])

    def _search(self, order: npt.NDArray[np.int32], lowest: float, limits: SearchLimits) -> Columns:
        found: dict[int, list[tuple[Rows, Floats]]] = {}
        n_found = n_bytes = 0
        for roots in _root_blocks(len(order)):
            for sets, values in self._levels(roots, order, lowest, limits.max_len):
                length = sets.shape[1]
                if length < limits.min_len:
                    continue
                found.setdefault(length, []).append((sets, values))
                n_found += len(sets)
                n_bytes += sets.nbytes + values.nbytes
                if n_found > limits.max_itemsets or n_bytes > limits.max_bytes:
                    raise SearchStopped(n_found)
            if self._on_progress is not None:
                self._on_progress(int(roots[-1]) + 1, len(order))
        return _columns(found, order)

    def _levels(
        self, roots: Rows, order: npt.NDArray[np.int32], lowest: float, max_len: int
    ) -> Iterator[tuple[Rows, Floats]]:
        """Yield the probable sets below some roots, of one item, of two, and so on."""
        yield roots[:, None], self._item_joint[order[roots]]
        if max_len == 1:
            return
        below = np.concatenate([np.arange(root, dtype=np.int32) for root in roots])
        candidates = np.stack([np.repeat(roots, roots), below], axis=1)
        sets, values = self._probable(candidates, order, lowest)
        while len(sets):
            yield sets, values
            length = sets.shape[1] + 1
            if length > max_len:
                return
            parts = [self._probable(block, order, lowest) for block in joins(sets)]
            sets = np.concatenate([part[0] for part in parts] or [np.empty((0, length), np.int32)])
            values = np.concatenate([part[1] for part in parts] or [np.empty(0)])

    def _probable(self, candidates: Rows, order: npt.NDArray[np.int32], lowest: float) -> tuple[Rows, Floats]:
        still_wanted()
        values = self._probabilities_of(candidates, order)
        kept = values >= lowest
        return candidates[kept], values[kept]

    def _probabilities_of(self, sets: Rows, code_of: npt.NDArray[np.int32]) -> Floats:
        """Return the probabilities of sets of one length, with the included items."""
        include = self._options.include
        codes = np.concatenate([code_of[sets], np.tile(include, (len(sets), 1))], axis=1)
        offsets = codes.shape[1] * np.arange(len(codes) + 1, dtype=np.int64)
        return self._model.probabilities_of_codes(offsets, codes.astype(np.int32).ravel())


def _root_blocks(n_roots: int) -> Iterator[Rows]:
    """Yield the roots in ranges that have few enough pairs each."""
    first = 0
    while first < n_roots:
        last, n_pairs = first + 1, first
        while last < n_roots and n_pairs + last <= _BLOCK:
            n_pairs += last
            last += 1
        yield np.arange(first, last, dtype=np.int32)
        first = last


def joins(sets: Rows) -> Iterator[Rows]:
    """Yield the sets of one item more that two sets join to, some at a time, in order."""
    starts_group = np.ones(len(sets), dtype=bool)
    starts_group[1:] = (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)
    index = np.arange(len(sets))
    group = np.maximum.accumulate(np.where(starts_group, index, 0))
    n_partners = index - group
    ends = np.cumsum(n_partners)
    first = 0
    while first < len(sets):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        counts = n_partners[first:last]
        larger = np.repeat(index[first:last], counts)
        position = np.arange(len(larger)) - np.repeat(np.cumsum(counts) - counts, counts)
        smaller = group[larger] + position
        if len(larger):
            yield np.concatenate([sets[larger], sets[smaller, -1:]], axis=1)
        first = last


def _columns(found: dict[int, list[tuple[Rows, Floats]]], order: npt.NDArray[np.int32]) -> Columns:
    """Return all sets as columns, the shorter first, the items of a set from the most probable on."""
    if not found:
        return Columns.empty(np.float64)
    lengths = [np.zeros(1, dtype=np.int64)]
    codes: list[npt.NDArray[np.int32]] = []
    values: list[Floats] = []
    for length in sorted(found):
        sets = np.concatenate([part[0] for part in found[length]])
        lengths.append(np.full(len(sets), length, dtype=np.int64))
        codes.append(order[sets[:, ::-1]].ravel())
        values.extend(part[1] for part in found[length])
    return Columns(np.cumsum(np.concatenate(lengths)), np.concatenate(codes), np.concatenate(values))
