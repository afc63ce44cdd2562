"""Layouts of transactions for mining: bitsets over all rows for dense data, projections for sparse data.

Items are ranked by their count: rank 0 is the most frequent one, ties go to the smaller code. Infrequent
items are dropped. F is the number of frequent items. Shapes: `indptr` (N + 1,) int64, `indices` (nnz,) int32,
`rank_of` (n_items,) int32 with -1 for dropped items.

A row of bits is (words,) uint64. A transaction may stand for several equal ones: that is its multiplicity.
Transactions then come in descending order of multiplicity. `planes` (n_planes, words) holds the binary digits
of the multiplicities, so that a count is the sum over the digits of 2^digit times a population count.
`plane_words` (n_planes,) says how many leading words of a plane matter. Without multiplicities there is no
plane.

Sparse data is mined root by root, over the transactions of the root alone. A root's companions are the items
that are frequent with it. `count_pairs` finds them for a range of roots, `deliver` writes the rows of each
root in terms of its companions, and `pack_entries` makes bitsets of these. The first two are quick because
they read all rows in order. Asking for the rows of each root in turn would miss the cache at every row.

That takes a table of all pairs of a range of roots. With tens of thousands of items there would be thousands
of ranges, with tables that are nearly empty. `count_indexed_pairs` and `deliver_indexed` do the same by way
of an index: each root asks for its own rows, and the work grows with the pairs that occur.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.csr import sort_span
from itemix.kernels.jit import inlined, kernel, popcount

WORD_BITS = 64
# Rows are padded to whole cache lines: the vectorised loops then have no remainder.
WORDS_PER_LINE = 8
_LONG = 1 << 20
_LONG_ROW = 64
_LANES = 16


class Bitsets(NamedTuple):
    """Rows of bits over the same transactions, and the multiplicities of the transactions.

    Attributes
    ----------
    rows : array of uint64, shape (n_rows, words)
        Bit b of a row stands for transaction b.
    planes : array of uint64, shape (n_planes, words)
        The binary digits of the multiplicities; no plane where each transaction counts once.
    plane_words : array of int64, shape (n_planes,)
        How many leading words of a plane matter.
    """

    rows: np.ndarray
    planes: np.ndarray
    plane_words: np.ndarray


@kernel
def padded_words(n_bits: int) -> int:
    """How many 64-bit words a row of bits takes, whole cache lines only."""
    line_bits = WORD_BITS * WORDS_PER_LINE
    return max(1, (n_bits + line_bits - 1) // line_bits) * WORDS_PER_LINE


@inlined
def count_bits(arena: np.ndarray, a: int, planes: np.ndarray, plane_words: np.ndarray) -> int:
    """Count the transactions of one row.

    Equivalent to multiplicities[unpack(arena[a])].sum().
    """
    total = 0
    if len(plane_words) == 0:
        for w in range(arena.shape[1]):
            total += popcount(arena[a, w])
    else:
        for p in range(len(plane_words)):
            ones = 0
            for w in range(plane_words[p]):
                ones += popcount(arena[a, w] & planes[p, w])
            total += ones << p
    return total


@inlined
def count_common(arena: np.ndarray, a: int, b: int, planes: np.ndarray, plane_words: np.ndarray) -> int:
    """Count the transactions that two rows share, without keeping them."""
    total = 0
    if len(plane_words) == 0:
        for w in range(arena.shape[1]):
            total += popcount(arena[a, w] & arena[b, w])
    else:
        for p in range(len(plane_words)):
            ones = 0
            for w in range(plane_words[p]):
                ones += popcount(arena[a, w] & arena[b, w] & planes[p, w])
            total += ones << p
    return total


@inlined
def intersect(
    arena: np.ndarray, a: int, b: int, out: int, planes: np.ndarray, plane_words: np.ndarray
) -> int:
    """Write the intersection of rows a and b to row `out` and count it."""
    total = 0
    for w in range(arena.shape[1]):
        common = arena[a, w] & arena[b, w]
        arena[out, w] = common
        total += popcount(common)
    if len(plane_words) > 0:
        total = count_bits(arena, out, planes, plane_words)
    return total


@inlined
def is_subset(arena: np.ndarray, a: int, b: int) -> bool:
    """Whether every transaction of row a is in row b; stops at the first word that says no."""
    for w in range(arena.shape[1]):
        if arena[a, w] & ~arena[b, w]:
            return False
    return True


@kernel
def multiplicity_planes(multiplicities: np.ndarray, words: int) -> tuple[np.ndarray, np.ndarray]:
    """Binary digits of descending multiplicities (n,) int64 as planes, and the leading words each needs."""
    n_planes = 0
    largest = multiplicities[0] if len(multiplicities) else 0
    while largest >> n_planes:
        n_planes += 1
    planes = np.zeros((n_planes, words), dtype=np.uint64)
    plane_words = np.zeros(n_planes, dtype=np.int64)
    for b in range(len(multiplicities)):
        for p in range(n_planes):
            if (multiplicities[b] >> p) & 1:
                planes[p, b // WORD_BITS] |= np.uint64(1) << np.uint64(b % WORD_BITS)
                plane_words[p] = b // WORD_BITS + 1
    return planes, plane_words


@kernel
def grown(arena: np.ndarray, n_rows: int) -> np.ndarray:
    """Copy rows into an array with room for at least n_rows."""
    larger = np.empty((max(n_rows, 2 * len(arena)), arena.shape[1]), dtype=arena.dtype)
    for r in range(len(arena)):  # an assignment to a slice takes ten times as long to compile
        for w in range(arena.shape[1]):
            larger[r, w] = arena[r, w]
    return larger


@kernel
def longer(values: np.ndarray, needed: int) -> np.ndarray:
    """Copy values into an array at least twice as long, or eight times up to a few million.

    Room that is not written to costs no memory, but every copy does.
    """
    factor = 8 if len(values) < _LONG else 2
    copy = np.empty(max(needed, factor * len(values)), dtype=values.dtype)
    for j in range(len(values)):
        copy[j] = values[j]
    return copy


@kernel
def pack_bitsets(
    indptr: np.ndarray, indices: np.ndarray, row_order: np.ndarray, rank_of: np.ndarray, n_ranks: int
) -> np.ndarray:
    """Return bitsets (n_ranks, words) uint64: bit b of row r says that row_order[b] (or b) holds rank r."""
    n_rows = len(indptr) - 1
    bits = np.zeros((n_ranks, padded_words(n_rows)), dtype=np.uint64)
    for b in range(n_rows):
        t = row_order[b] if len(row_order) else b
        word = b // WORD_BITS
        mask = np.uint64(1) << np.uint64(b % WORD_BITS)
        for j in range(indptr[t], indptr[t + 1]):
            r = rank_of[indices[j]]
            if r >= 0:
                bits[r, word] |= mask
    return bits


@kernel
def rows_of_ranks(
    indptr: np.ndarray, indices: np.ndarray, row_order: np.ndarray, rank_of: np.ndarray, like: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of ascending ranks, in `row_order` if given.

    Rows with fewer than two frequent items are left out. Returns row pointers, ranks (of the type of `like`,
    in which they must fit) and, if `row_order` is given, the places of it that were kept.
    """
    n_rows = len(indptr) - 1
    n_kept, n_ones, longest = 0, 0, 0
    for t in range(n_rows):
        length = 0
        for j in range(indptr[t], indptr[t + 1]):
            length += rank_of[indices[j]] >= 0
        longest = max(longest, length)
        if length >= 2:
            n_kept += 1
            n_ones += length
    row_start = np.zeros(n_kept + 1, dtype=np.int64)
    ranks = np.empty(n_ones, dtype=like.dtype)
    kept = np.empty(n_kept if len(row_order) else 0, dtype=np.int64)
    row = np.empty(longest + _LANES, dtype=like.dtype)
    k, at = 0, 0
    for b in range(n_rows):
        t = row_order[b] if len(row_order) else b
        n = 0
        for j in range(indptr[t], indptr[t + 1]):
            r = rank_of[indices[j]]
            row[n] = r  # the next one writes over it if it is -1
            n += r >= 0
        if n < 2:
            continue
        _write_sorted(row, n, ranks, at)
        at += n
        row_start[k + 1] = at
        if len(row_order):
            kept[k] = b
        k += 1
    return row_start, ranks, kept


@kernel
def _write_sorted(row: np.ndarray, n: int, out: np.ndarray, start: int) -> None:
    """Write the first n ranks of a row in ascending order; after them there is room for _LANES more.

    Most rows are short. Comparing each rank with all others, several at a time, then takes less time than a
    sort, whose branches are often mispredicted.
    """
    if n > _LONG_ROW:
        for j in range(n):
            out[start + j] = row[j]
        sort_span(out, start, start + n)
        return
    for j in range(_LANES):
        row[n + j] = np.iinfo(row.dtype).max
    for i in range(n):
        place = np.uint16(0)
        for first in range(0, n, _LANES):
            for j in range(_LANES):
                place = np.uint16(place + np.uint16(row[first + j] < row[i]))
        out[start + np.int64(place)] = row[i]


class RankRows(NamedTuple):
    """Transactions as rows of ranks.

    Attributes
    ----------
    start : array of int64, shape (N + 1,)
        The start of each row.
    ranks : array of uint16 or int32, shape (nnz,)
        The ranks of all rows, ascending in each.
    weights : array of int64, shape (N,), or of int32, shape (0,)
        How often each row counts, in descending order; empty where each counts once.
    """

    start: np.ndarray
    ranks: np.ndarray
    weights: np.ndarray


class Companions(NamedTuple):
    """The items that are frequent together with each root.

    Attributes
    ----------
    start : array of int64, shape (F + 1,)
        The start of each root's list.
    ranks : array of int32
        The companions of all roots, ascending in each list.
    counts : array of int64
        How often each occurs with its root.
    """

    start: np.ndarray
    ranks: np.ndarray
    counts: np.ndarray


class ProjectedRows(NamedTuple):
    """The rows of each root of a range, in terms of its companions.

    Attributes
    ----------
    spans : array of int64, shape (n_roots, 2)
        The start and stop of each root's entries.
    entries : array of int16 or int32
        For each row the complement of its number (or -1 if rows count once), then positions in the root's
        list of companions.
    weights : array
        The weights of all rows, see `RankRows`.
    """

    spans: np.ndarray
    entries: np.ndarray
    weights: np.ndarray


@kernel
def count_pairs(
    first_root: int, stop_root: int, rows: RankRows, min_count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count each root of a range with every more frequent item, and keep the pairs that are frequent.

    Returns how many companions each root has (n_roots,) int64, their ranks int32 and counts int64.
    Equivalent to the frequent entries of the lower triangle of X.T @ diag(weights) @ X, row by row.
    """
    row_start, ranks, weights = rows
    n_roots = stop_root - first_root
    offset = np.zeros(n_roots + 1, dtype=np.int64)
    for k in range(n_roots):
        offset[k + 1] = offset[k] + first_root + k
    table = np.zeros(offset[n_roots], dtype=weights.dtype)
    for t in range(len(row_start) - 1):
        start = row_start[t]
        weight = weights[t] if len(weights) else table.dtype.type(1)
        for p in range(row_start[t + 1] - 1, start, -1):
            k = int(ranks[p]) - first_root
            if k < 0:
                break
            if k < n_roots:
                base = offset[k]
                for q in range(start, p):
                    table[base + ranks[q]] += weight
    n_pairs = 0
    for j in range(len(table)):
        n_pairs += table[j] >= min_count
    sizes = np.zeros(n_roots, dtype=np.int64)
    companions = np.empty(n_pairs, dtype=np.int32)
    counts = np.empty(n_pairs, dtype=np.int64)
    c = 0
    for k in range(n_roots):
        for i in range(offset[k + 1] - offset[k]):
            if table[offset[k] + i] >= min_count:
                companions[c], counts[c] = i, table[offset[k] + i]
                sizes[k] += 1
                c += 1
    return sizes, companions, counts


@kernel
def entry_bounds(companions: Companions, min_companions: int) -> np.ndarray:
    """Bound the number of entries that `deliver` writes for each root (F,) int64, if every row counts once.

    A row is kept only with `min_companions` companions before the root. So their counts bound the number of
    rows, which bounds what each companion adds. A row has one entry more, its number.
    """
    start, ranks, counts = companions
    bounds = np.zeros(len(start) - 1, dtype=np.int64)
    for root in range(len(bounds)):
        n_rows = 0
        for c in range(start[root], start[root + 1]):
            if ranks[c] < root:
                n_rows += counts[c]
        n_rows //= min_companions
        bounds[root] = n_rows
        for c in range(start[root], start[root + 1]):
            bounds[root] += min(counts[c], n_rows)
    return bounds


@kernel
def deliver(
    first_root: int,
    stop_root: int,
    companions: Companions,
    bounds: np.ndarray,
    rows: RankRows,
    min_companions: int,
    like: np.ndarray,
) -> ProjectedRows:
    """Write the rows of each root of a range in terms of its companions.

    Rows with fewer than `min_companions` companions before the root are left out. With 2, pairs of companions
    are still counted right, and most rows of sparse data are gone. `bounds` is what `entry_bounds` returns,
    and the entries have the type of `like`.
    """
    companion_start, companion_ranks = companions.start, companions.ranks
    row_start, weights = rows.start, rows.weights
    n_roots = stop_root - first_root
    n_words = padded_words(len(companion_start) - 1)
    places = np.zeros((n_roots, n_words, 2), dtype=np.uint64)
    last = np.full(n_roots, -1, dtype=np.int64)
    for k in range(n_roots):
        for c in range(companion_start[first_root + k], companion_start[first_root + k + 1]):
            last[k] = companion_ranks[c]
            places[k, last[k] // WORD_BITS, 0] |= np.uint64(1) << np.uint64(last[k] % WORD_BITS)
        for word in range(1, n_words):
            places[k, word, 1] = places[k, word - 1, 1] + np.uint64(popcount(places[k, word - 1, 0]))
    spans = np.zeros((n_roots, 2), dtype=np.int64)
    if len(weights):
        row = np.empty(_longest(row_start) + 2, dtype=like.dtype)
        _deliver_rows(first_root, rows, places, last, min_companions, False, spans, row)
    else:
        # If rows count once, `entry_bounds` bounds the entries, and one pass is enough.
        for k in range(n_roots):
            spans[k, 1] = bounds[first_root + k]
    total = 0
    for k in range(n_roots):
        size = spans[k, 1]
        spans[k, 0], spans[k, 1] = total, total
        total += size + min_companions + 1
    entries = np.empty(total, dtype=like.dtype)
    _deliver_rows(first_root, rows, places, last, min_companions, True, spans, entries)
    return ProjectedRows(spans, entries, weights)


@inlined
def _longest(row_start: np.ndarray) -> int:
    longest = 0
    for t in range(len(row_start) - 1):
        longest = max(longest, row_start[t + 1] - row_start[t])
    return longest


@kernel
def _deliver_rows(
    first_root: int,
    rows: RankRows,
    places: np.ndarray,
    last: np.ndarray,
    min_companions: int,
    are_kept: bool,
    spans: np.ndarray,
    entries: np.ndarray,
) -> None:
    """Move spans[:, 1] on by the size of each root's entries, and write the entries if `are_kept`.

    `places` (n_roots, words, 2) uint64 holds, for each 64 ranks, which of them are companions, and how many
    companions come before them; `last` (n_roots,) int64 is the last companion.

    Whether a rank is a companion, and whether a row has enough of them, cannot be predicted. So everything is
    written, and written over if it was not needed. Each root needs room for min_companions + 1 more.
    """
    row_start, ranks = rows.start, rows.ranks
    are_numbered = len(rows.weights) > 0
    for t in range(len(row_start) - 1):
        start, stop = row_start[t], row_start[t + 1]
        for p in range(stop - 1, start, -1):
            k = int(ranks[p]) - first_root
            if k < 0:
                break
            if k >= len(spans) or last[k] < 0:
                continue
            first = spans[k, 1] if are_kept else 0
            entries[first] = ~t if are_numbered else -1
            at = _write_places(ranks, start, p, places, k, entries, first + 1)
            has_enough = at - first > min_companions
            if has_enough and last[k] > ranks[p]:
                at = _write_places(ranks, p + 1, stop, places, k, entries, at)
            spans[k, 1] += (at - first) * has_enough


@inlined
def _write_places(
    ranks: np.ndarray, start: int, stop: int, places: np.ndarray, k: int, entries: np.ndarray, at: int
) -> int:
    """Write the positions of the k-th root's companions among some ranks, and return where they end."""
    one = np.uint64(1)
    for q in range(start, stop):
        word = np.uint64(ranks[q]) // np.uint64(WORD_BITS)
        bit = one << (np.uint64(ranks[q]) % np.uint64(WORD_BITS))
        companions = places[k, word, 0]
        entries[at] = places[k, word, 1] + np.uint64(popcount(companions & (bit - one)))
        at += (companions & bit) != 0
    return at


@kernel
def pack_entries(projected: ProjectedRows, k: int, n_companions: int, n_extra: int) -> Bitsets:
    """Return the bitsets of the companions of the k-th root over its rows, and n_extra more rows."""
    spans, weights = projected.spans, projected.weights
    entries = projected.entries[spans[k, 0] : spans[k, 1]]
    n_rows = 0
    for e in range(len(entries)):
        n_rows += entries[e] < 0
    bits = np.zeros((n_companions + n_extra, padded_words(n_rows)), dtype=np.uint64)
    kept_weights = np.empty(n_rows if len(weights) else 0, dtype=np.int64)
    b = -1
    for e in range(len(entries)):
        position = np.int64(entries[e])
        if position >= 0:
            bits[position, b // WORD_BITS] |= np.uint64(1) << np.uint64(b % WORD_BITS)
            continue
        b += 1
        if len(weights):
            kept_weights[b] = weights[~position]
    planes, plane_words = multiplicity_planes(kept_weights, bits.shape[1])
    return Bitsets(bits, planes, plane_words)


class RowIndex(NamedTuple):
    """The rows that hold each rank.

    Attributes
    ----------
    start : array of int64, shape (F + 1,)
        The start of each rank's list.
    rows : array of int32, shape (nnz,)
        The rows of all lists, ascending in each.
    """

    start: np.ndarray
    rows: np.ndarray


@kernel
def index_rows(row_start: np.ndarray, ranks: np.ndarray, n_ranks: int) -> RowIndex:
    """List the rows that hold each rank."""
    start = np.zeros(n_ranks + 1, dtype=np.int64)
    for p in range(len(ranks)):
        start[np.int64(ranks[p]) + 1] += 1
    for r in range(n_ranks):
        start[r + 1] += start[r]
    fill = start[:-1].copy()
    rows = np.empty(len(ranks), dtype=np.int32)
    for t in range(len(row_start) - 1):
        for p in range(row_start[t], row_start[t + 1]):
            rows[fill[ranks[p]]] = t
            fill[ranks[p]] += 1
    return RowIndex(start, rows)


@kernel
def pair_bounds(row_start: np.ndarray, ranks: np.ndarray, n_ranks: int) -> np.ndarray:
    """Return how many pairs with a more frequent item each root's rows hold (F,) int64, with repetitions."""
    bounds = np.zeros(n_ranks, dtype=np.int64)
    for t in range(len(row_start) - 1):
        for p in range(row_start[t], row_start[t + 1]):
            bounds[ranks[p]] += p - row_start[t]
    return bounds


@kernel
def count_indexed_pairs(
    first_root: int,
    stop_root: int,
    rows: RankRows,
    min_count: int,
    index: RowIndex,
    bounds: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Do what `count_pairs` does, by way of an index.

    `bounds` (F,) int64 is what `pair_bounds` returns.
    """
    row_start, ranks, weights = rows
    index_start, index_rows = index
    n_roots = stop_root - first_root
    room, most = 0, 0
    for root in range(first_root, stop_root):
        # A frequent pair occurs in at least min_count rows; with weights, one row may be enough.
        room += min(bounds[root] if len(weights) else bounds[root] // min_count, root)
        most = max(most, min(bounds[root], root))
    sizes = np.zeros(n_roots, dtype=np.int64)
    companions = np.empty(room, dtype=np.int32)
    counts = np.empty(room, dtype=np.int64)
    table = np.zeros(stop_root, dtype=np.int64)
    seen = np.empty(most, dtype=np.int32)
    c = 0
    for root in range(first_root, stop_root):
        n_seen = _count_with(
            root,
            row_start,
            ranks,
            weights,
            index_rows[index_start[root] : index_start[root + 1]],
            table,
            seen,
        )
        n_kept = 0
        for s in range(n_seen):
            if table[seen[s]] >= min_count:
                companions[c + n_kept] = seen[s]
                n_kept += 1
            else:
                table[seen[s]] = 0
        sort_span(companions, c, c + n_kept)
        for k in range(c, c + n_kept):
            counts[k] = table[companions[k]]
            table[companions[k]] = 0
        sizes[root - first_root] = n_kept
        c += n_kept
    return sizes, companions[:c].copy(), counts[:c].copy()


@kernel
def _count_with(
    root: int,
    row_start: np.ndarray,
    ranks: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    table: np.ndarray,
    seen: np.ndarray,
) -> int:
    """Add the rows of a root to `table`, list the ranks that were not counted yet, and return how many."""
    n_seen = 0
    for t in rows:
        weight = weights[t] if len(weights) else 1
        p = row_start[t]
        while ranks[p] < root:
            if table[ranks[p]] == 0:
                seen[n_seen] = ranks[p]
                n_seen += 1
            table[ranks[p]] += weight
            p += 1
    return n_seen


@kernel
def deliver_indexed(
    first_root: int,
    stop_root: int,
    companions: Companions,
    bounds: np.ndarray,
    rows: RankRows,
    min_companions: int,
    like: np.ndarray,
    index: RowIndex,
) -> ProjectedRows:
    """Do what `deliver` does, by way of an index."""
    n_roots = stop_root - first_root
    spans = np.zeros((n_roots, 2), dtype=np.int64)
    place = np.full(len(companions.start) - 1, -1, dtype=np.int32)
    if len(rows.weights):
        nothing = np.empty(0, dtype=like.dtype)
        _deliver_indexed_rows(first_root, companions, rows, index, min_companions, place, spans, nothing)
    else:
        # If rows count once, `entry_bounds` bounds the entries, and one pass is enough.
        for k in range(n_roots):
            spans[k, 1] = bounds[first_root + k]
    total = 0
    for k in range(n_roots):
        size = spans[k, 1]
        spans[k, 0], spans[k, 1] = total, total
        total += size
    entries = np.empty(total, dtype=like.dtype)
    if total > 0:
        _deliver_indexed_rows(first_root, companions, rows, index, min_companions, place, spans, entries)
    return ProjectedRows(spans, entries, rows.weights)


@kernel
def _deliver_indexed_rows(
    first_root: int,
    companions: Companions,
    rows: RankRows,
    index: RowIndex,
    min_companions: int,
    place: np.ndarray,
    spans: np.ndarray,
    entries: np.ndarray,
) -> None:
    """Move spans[:, 1] on by the size of each root's entries, and write the entries if there is room.

    `place` (F,) int32 is scratch for the position of each companion of a root; it is -1 before and after.
    """
    companion_start, companion_ranks = companions.start, companions.ranks
    row_start, ranks = rows.start, rows.ranks
    index_start, index_rows = index
    are_numbered = len(rows.weights) > 0
    for k in range(len(spans)):
        root = first_root + k
        first, stop = companion_start[root], companion_start[root + 1]
        if stop - first < min_companions:
            continue
        for c in range(first, stop):
            place[companion_ranks[c]] = c - first
        at = spans[k, 1]
        for j in range(index_start[root], index_start[root + 1]):
            t = index_rows[j]
            n_before, n_after = 0, 0
            for p in range(row_start[t], row_start[t + 1]):
                n_before += ranks[p] < root and place[ranks[p]] >= 0
                n_after += ranks[p] > root and place[ranks[p]] >= 0
            if n_before < min_companions:
                continue
            if len(entries) == 0:
                at += 1 + n_before + n_after
                continue
            entries[at] = ~t if are_numbered else -1
            at += 1
            for p in range(row_start[t], row_start[t + 1]):
                if place[ranks[p]] >= 0:
                    entries[at] = place[ranks[p]]
                    at += 1
        spans[k, 1] = at
        for c in range(first, stop):
            place[companion_ranks[c]] = -1
