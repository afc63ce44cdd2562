"""The records of a search: their places among all, and columns of itemsets made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
import numpy.typing as npt

from itemix.kernels.mining import records
from itemix.kernels.mining.eclat import ThreadRecords
from itemix.mining.columns import Columns
from itemix.models.lowering import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix.mining.parallel import Search

R = TypeVar("R")
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Records:
    """The records of all threads, and where their sets go: see `assemble.place_records`."""

    parts: list[ThreadRecords]
    positions: Places
    length_start: Places
    code_start: Places

    @classmethod
    def of(cls, parts: list[ThreadRecords], n_roots: int, min_len: int) -> Self:
        """Find the places of sets that are long enough."""
        n_lengths = max(records.longest_record(part.keys) for part in parts) + 1
        histogram = np.zeros((n_roots, n_lengths), dtype=np.int64)
        for part in parts:
            histogram += records.length_histogram(part.keys, part.segments, n_lengths)
        histogram[:, : min(min_len, n_lengths)] = 0
        totals = histogram.sum(axis=0)
        length_start = np.concatenate([[0], np.cumsum(totals)])
        positions = np.zeros((n_roots + 1, n_lengths), dtype=np.int64)
        positions[1:] = np.cumsum(histogram, axis=0)
        positions += length_start[:-1]
        positions[:, :min_len] = -1
        code_start = np.concatenate([[0], np.cumsum(totals * np.arange(n_lengths))])
        return cls(parts, positions, length_start, code_start)

    def columns(self, search: Search, code_of: npt.NDArray[np.int32]) -> Columns:
        """Write the sets, each with its value; `code_of` the item code of each rank."""
        found = self.parts[0].values.dtype
        values = found if found.kind == "f" else np.int64
        n_sets, n_codes = int(self.length_start[-1]), int(self.code_start[-1])
        out = np.empty(n_sets + 1, np.int64), np.empty(n_codes, np.int32), np.empty(n_sets, values)
        out[0][-1] = n_codes
        places = self.positions, self.length_start, self.code_start, code_of
        self._run(search, [partial(records.place_records, part, *places, *out) for part in self.parts])
        return Columns(*out)

    def lowered(self, search: Search, n_pivots: int, least: float) -> list[ThreadRecords]:
        """Lower all sets to their subsets, see `Tree.lower`, and return the records of at least some value.

        All lengths must be there.
        """
        tree = Tree.unlinked(self.length_start)
        low = np.empty(int(self.length_start[-1]))
        out = tree.tail, tree.first, low
        self._run(search, [partial(records.link_records, part, self.positions, *out) for part in self.parts])
        tree.lower(low, n_pivots)
        kept = [partial(records.keep_records, part, self.positions, low, least) for part in self.parts]
        return [
            ThreadRecords(part.keys[:n], part.values[:n], part.segments)
            for part, n in zip(self.parts, self._run(search, kept), strict=True)
        ]

    def _run(self, search: Search, jobs: Sequence[Callable[[], R]]) -> list[R]:
        """Run jobs in threads, or the only one here and now."""
        return [jobs[0]()] if len(jobs) == 1 else search.run(jobs, len(self.positions) - 1)
