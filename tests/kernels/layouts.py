"""Small data in the two layouts that the search kernels take, and searches over ranges of its roots."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from naive import layouts, mining

from itemix._arrays import protected
from itemix.kernels.mining import layouts as kernels
from itemix.kernels.mining import records
from itemix.kernels.mining.layouts import Bitsets, Companions, ProjectedRows, RankRows
from itemix.kernels.mining.records import SearchLimits

UNBOUNDED = 2**62 - 1


class Data(NamedTuple):
    """Rows of the ranks of frequent items, heaviest first; weights are None where each row counts once."""

    rows: list
    weights: list | None
    root_counts: list
    min_count: int


def ranked(rows, weights, min_count):
    """Rename items by how often they occur, and leave out those that are not frequent."""
    repeats = weights or [1] * len(rows)
    order = sorted(range(len(rows)), key=lambda t: -repeats[t])
    baskets = [(frozenset(rows[t]), repeats[t]) for t in order]
    rank = mining.ranks(baskets)
    counts = [mining.count_of({item}, baskets) for item in rank]
    root_counts = [count for count in counts if count >= min_count]
    ranks = [sorted(rank[item] for item in basket if rank[item] < len(root_counts)) for basket, _ in baskets]
    return Data(ranks, weights and [repeats[t] for t in order], root_counts, min_count)


def search(kernel, data, *, sparse, cuts=(), min_len=1, max_len=UNBOUNDED, most=UNBOUNDED):
    """Run a search kernel once for each range of roots between the cuts.

    Returns what it found in each range, and the array that the threads share.
    """
    n_roots = len(data.root_counts)
    limits = SearchLimits(data.min_count, min_len, max_len, most, UNBOUNDED)
    root_counts = protected(np.array(data.root_counts, dtype=np.int64))
    shared = np.zeros(4, dtype=np.int64)
    parts = []
    for first, stop in pairwise([0, *sorted(min(cut, n_roots) for cut in cuts), n_roots]):
        layout = _sparse_layout(data, first, stop, kernel) if sparse else _dense_layout(data)
        queue = np.array([stop], dtype=np.int64)
        parts.append(kernel(shared, limits, queue, first, root_counts, *layout))
    assert shared[records.STOP] != records.RUNNING or shared[records.N_ROOTS_DONE] == n_roots
    return parts, shared


def as_weights(weights):
    """Make the array of weights that kernels take; its type says whether there are any."""
    return protected(np.array([], dtype=np.int32) if weights is None else np.array(weights, dtype=np.int64))


def no_entries(weights):
    """Nothing, of the type of the entries of these rows: without weights they need no numbers."""
    return np.empty(0, np.int16 if weights is None else np.int32)


def as_rank_rows(rows, weights):
    """Make rows of ranks, which are small here as they mostly are."""
    row_start, ranks = layouts.as_rows(rows)
    return RankRows(protected(row_start), protected(ranks.astype(np.uint16)), as_weights(weights))


def as_companions(pairs):
    """Make the companions of all roots."""
    start = np.cumsum([0, *map(len, pairs)]).astype(np.int64)
    flat = np.array([pair for companions in pairs for pair in companions], dtype=np.int64).reshape(-1, 2)
    return Companions(*map(protected, (start, flat[:, 0].astype(np.int32), flat[:, 1].copy())))


def _dense_layout(data):
    n_roots = len(data.root_counts)
    no_order, ranks = np.empty(0, dtype=np.int64), np.arange(n_roots, dtype=np.int32)
    bits = kernels.pack_bitsets(*map(protected, (*layouts.as_rows(data.rows), no_order, ranks)), n_roots)
    digits = kernels.multiplicity_planes(
        protected(np.array(data.weights or [], dtype=np.int64)), bits.shape[1]
    )
    nothing = ProjectedRows(np.empty((0, 2), np.int64), no_entries(data.weights), as_weights(data.weights))
    return Bitsets(*map(protected, (bits, *digits))), as_companions([]), nothing


def _sparse_layout(data, first, stop, kernel):
    kept = [t for t, row in enumerate(data.rows) if len(row) >= 2]
    rows = [data.rows[t] for t in kept]
    weights = data.weights and [data.weights[t] for t in kept]
    pairs = layouts.frequent_pairs(rows, weights or [1] * len(rows), len(data.root_counts), data.min_count)
    one_sided = kernel.__module__.endswith("eclat")
    min_companions = 2 if one_sided else 1
    companions = as_companions(pairs if one_sided else layouts.from_both_sides(pairs))
    bounds = protected(kernels.entry_bounds(companions, min_companions))
    ranks, like = as_rank_rows(rows, weights), no_entries(weights)
    delivered = kernels.deliver(first, stop, companions, bounds, ranks, min_companions, like)
    no_bits = np.empty((0, 0), np.uint64), np.empty((0, 0), np.uint64), np.empty(0, np.int64)
    return Bitsets(*map(protected, no_bits)), companions, delivered
