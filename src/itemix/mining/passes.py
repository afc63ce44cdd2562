"""One pass over the data that counts candidates, chunk by chunk."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.core.transactions import Transactions
from itemix.kernels.mining import candidates as tries
from itemix.kernels.mining import join_counts, projection
from itemix.kernels.mining.candidates import UNKNOWN
from itemix.kernels.mining.join_counts import JoinCounts
from itemix.kernels.mining.projection import Companions
from itemix.mining.layout import Layout, count_pairs, deliver, entry_ranges, is_dense, ranges
from itemix.mining.parallel import Search, readonly_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix.mining.candidates import Candidates

Numbers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

# Bitsets over so many rows stay in the cache while they are intersected; rows of ranks need no such care.
_DENSE_ROWS = 1 << 16
_SPARSE_ROWS = 1 << 20
# A row with fewer children of a root adds to no set of three items.
_MIN_CHILDREN = 2


class CountingPass:
    """One pass over the data: candidates, and the counts that chunks add to.

    Parameters
    ----------
    candidates : Candidates
        What is to be counted: all joins that are unknown.
    n_threads : int
        The number of threads; the result does not depend on it.
    """

    def __init__(self, candidates: Candidates, n_threads: int) -> None:
        self._candidates = candidates
        self._n_threads = n_threads
        roots, first = candidates.roots, candidates.first
        below = tries.unknown_below(first, candidates.join_start, candidates.counts)
        # Items alone are counted by whoever reads the chunks, for they may be others than the roots.
        wanted = candidates.counts == UNKNOWN
        wanted[: len(roots)] = False
        self._counts = np.where(wanted, 0, candidates.counts)
        self._joins = JoinCounts(first, candidates.item, candidates.join_start, wanted, below, self._counts)
        self._work = below[1 : 1 + len(roots)]
        self._root_of = np.full(int(roots.max(initial=-1)) + 2, -1, dtype=np.int32)
        self._root_of[roots] = np.arange(len(roots), dtype=np.int32)

    def finished(self, item_counts: Numbers) -> Candidates:
        """Return the candidates with all counts, given those of the items alone."""
        self._counts[: len(self._work)] = item_counts[self._candidates.roots]
        return replace(self._candidates, counts=self._counts)

    def add(self, chunk: Transactions, numbers: Codes) -> None:
        """Count a chunk of the data, given the number of each of its items."""
        if not self._work.any():
            return
        rank_of = self._root_of[np.minimum(numbers, len(self._root_of) - 1)]
        dense = is_dense(self._rank_counts(chunk, rank_of), chunk.n_transactions)
        for block in _blocks(chunk, _DENSE_ROWS if dense else _SPARSE_ROWS):
            data = Layout.of(block, rank_of, self._rank_counts(block, rank_of))
            if data.is_dense:
                self._add_dense(data)
            else:
                self._add_sparse(data)

    def _rank_counts(self, block: Transactions, rank_of: Codes) -> Numbers:
        counts = np.zeros(len(self._work), dtype=np.int64)
        used = np.flatnonzero(rank_of >= 0)
        counts[rank_of[used]] = block.item_counts()[used]
        return counts

    def _add_dense(self, data: Layout) -> None:
        search = Search(self._n_threads, None)
        depth = self._candidates.depth

        def job(begin: int, stop: int) -> None:
            join_counts.count_dense(search.shared, begin, stop, depth, data.bits, self._root_of, self._joins)

        search.run([partial(job, *bound) for bound in ranges(self._work, self._n_threads)], len(self._work))

    def _add_sparse(self, data: Layout) -> None:
        search = Search(self._n_threads, None)
        pairs = self._companions(count_pairs(search, data, 1))
        bounds = readonly_view(projection.entry_bounds(pairs, _MIN_CHILDREN))
        depth, n_items = self._candidates.depth, len(self._root_of)

        def job(begin: int, stop: int) -> None:
            rows = deliver(data, pairs, bounds, (begin, stop), _MIN_CHILDREN)
            join_counts.count_projected(search.shared, begin, stop, depth, rows, n_items, self._joins)

        jobs = [partial(job, *bound) for bound in entry_ranges(data, bounds, self._n_threads)]
        search.run(jobs, len(self._work))

    def _companions(self, pairs: Companions) -> Companions:
        """Add the counts of pairs, and keep the pairs whose supersets are to be counted."""
        first, item, below = self._joins.first, self._joins.item, self._joins.below
        of_nodes = join_counts.add_pairs(pairs, self._root_of, self._joins)
        start = first[1 : len(self._work) + 2] - first[1]
        nodes = slice(int(first[1]), int(first[1]) + len(of_nodes))
        wanted_below = np.diff(np.append(0, np.cumsum(below[nodes]))[start]) > 0
        kept = np.repeat(wanted_below, np.diff(start))
        sizes = np.where(wanted_below, np.diff(start), 0)
        chosen = np.append(0, np.cumsum(sizes)), self._root_of[item[nodes]][kept], of_nodes[kept]
        return Companions(*map(readonly_view, chosen))


def _blocks(chunk: Transactions, n_rows: int) -> Iterator[Transactions]:
    """Yield so many rows of a chunk at a time."""
    if chunk.n_rows <= n_rows:
        yield chunk
        return
    for begin in range(0, chunk.n_rows, n_rows):
        indptr = chunk.indptr[begin : begin + n_rows + 1]
        repeats = chunk.multiplicities
        yield Transactions.from_canonical(
            indptr - indptr[0],
            chunk.indices[indptr[0] : indptr[-1]],
            chunk.items,
            None if repeats is None else repeats[begin : begin + n_rows],
        )
