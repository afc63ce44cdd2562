"""Families of sets: find a set among many, mark the closed and the maximal ones, put them in order.

Shapes: set s of n holds the codes codes[offsets[s]:offsets[s + 1]], distinct but in any order; `offsets`
(n + 1,) int64, `codes` (total length,) int32, `keys` (n_items,) uint64.

The hash of a set is the exclusive or of its items' keys. So it does not depend on the order of the items, and
adding or removing one item costs one operation. A `table` (a power of two,) uint64 holds in each word the
upper half of a set's hash and its position plus one (0: empty); open addressing, linear probing, at most half
full. Two sets with the same hash are compared item by item before they are called equal.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import inlined, kernel, linear

_UPPER = np.uint64(0xFFFFFFFF00000000)
_LOWER = np.uint64(0x00000000FFFFFFFF)
_STEPS = 8


def item_keys(n_items: int) -> np.ndarray:
    """Give every item a fixed random-looking key of 64 bits (the splitmix64 sequence)."""
    z = np.arange(1, n_items + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = z ^ (z >> np.uint64(31))
    return mixed


@inlined
def hash_of(codes: np.ndarray, start: int, end: int, keys: np.ndarray) -> np.uint64:
    """Hash one set: the exclusive or of its items' keys."""
    h = np.uint64(0)
    for j in range(start, end):
        h ^= keys[codes[j]]
    return h


@linear
def build_table(offsets: np.ndarray, codes: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Make the hash table of a family. If a set occurs twice, `lookup` finds the first."""
    n = len(offsets) - 1
    size = 8
    while size < 2 * n:
        size *= 2
    table = np.zeros(size, dtype=np.uint64)
    last_slot = np.uint64(size - 1)
    for s in range(n):
        h = hash_of(codes, offsets[s], offsets[s + 1], keys)
        slot = np.int64(h & last_slot)
        while table[slot] != np.uint64(0):
            slot = (slot + 1) & (size - 1)
        table[slot] = (h & _UPPER) | np.uint64(s + 1)
    return table


@inlined
def lookup(
    table: np.ndarray,
    offsets: np.ndarray,
    codes: np.ndarray,
    h: np.uint64,
    length: int,
    mark_of: np.ndarray,
    mark: int,
) -> int:
    """Return the position of the set with hash `h` and exactly the `length` items marked `mark`, or -1.

    Equivalent to {frozenset(family[s]): s}.get(wanted, -1).
    """
    last_slot = len(table) - 1
    slot = np.int64(h & np.uint64(last_slot))
    tag = h & _UPPER
    while True:
        word = table[slot]
        if word == np.uint64(0):
            return -1
        if (word & _UPPER) == tag:
            s = int(word & _LOWER) - 1
            j = offsets[s]
            if offsets[s + 1] - j == length:
                while j < offsets[s + 1] and mark_of[codes[j]] == mark:
                    j += 1
                if j == offsets[s + 1]:
                    return s
        slot = (slot + 1) & last_slot


@linear
def find_sets(
    table: np.ndarray,
    offsets: np.ndarray,
    codes: np.ndarray,
    keys: np.ndarray,
    wanted_offsets: np.ndarray,
    wanted_codes: np.ndarray,
) -> np.ndarray:
    """Return the position of each wanted set in the family, -1 for those that are not in it.

    Equivalent to [where.get(frozenset(set), -1) for set in wanted] with a dictionary `where`.
    """
    n = len(wanted_offsets) - 1
    mark_of = np.full(len(keys), -1, dtype=np.int64)
    found = np.empty(n, dtype=np.int64)
    for q in range(n):
        start = wanted_offsets[q]
        end = wanted_offsets[q + 1]
        for j in range(start, end):
            mark_of[wanted_codes[j]] = q
        h = hash_of(wanted_codes, start, end, keys)
        found[q] = lookup(table, offsets, codes, h, end - start, mark_of, q)
    return found


@kernel
def count_members(offsets: np.ndarray, codes: np.ndarray, is_wanted: np.ndarray) -> np.ndarray:
    """How many items of each set are wanted; `is_wanted` (n_items,) bool.

    Equivalent to [is_wanted[set].sum() for set in family].
    """
    n = len(offsets) - 1
    counts = np.zeros(n, dtype=np.int64)
    for s in range(n):
        for j in range(offsets[s], offsets[s + 1]):
            counts[s] += is_wanted[codes[j]]
    return counts


@linear
def first_repetition(offsets: np.ndarray, codes: np.ndarray, n_items: int) -> int:
    """Find the first set that holds an item twice, or -1.

    Equivalent to the first s with len(set(family[s])) < len(family[s]).
    """
    last_seen = np.full(n_items, -1, dtype=np.int64)
    for s in range(len(offsets) - 1):
        for j in range(offsets[s], offsets[s + 1]):
            if last_seen[codes[j]] == s:
                return s
            last_seen[codes[j]] = s
    return -1


@inlined
def follow(offsets: np.ndarray, codes: np.ndarray, s: int, left_out: int, guess: int) -> int:
    """Look a few steps from position `guess` on for set s without its item codes[left_out]; -1 if not seen.

    In a sorted family the subsets of neighbours are neighbours, so this often saves a visit to the table.
    """
    start = offsets[s]
    length = offsets[s + 1] - start - 1
    first = codes[start + 1] if left_out == start else codes[start]
    for t in range(guess, min(guess + _STEPS, len(offsets) - 1)):
        begin = offsets[t]
        if offsets[t + 1] - begin == length and codes[begin] == first:
            j = 1
            while j < length and codes[begin + j] == codes[start + j + (start + j >= left_out)]:
                j += 1
            if j == length:
                return t
    return -1


@kernel
def mark_covered(
    table: np.ndarray, offsets: np.ndarray, codes: np.ndarray, keys: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, bool]:
    """Mark the sets that have a superset in their group with one item more; `group` (n,) int64.

    Also returns whether the family is complete: whether it holds all subsets with one item less of each set,
    other than the empty set. In a complete family a set with any larger superset in its group is marked, if
    groups are sets of equal support or if there is only one group.

    Equivalent to any(s < t and len(t) == len(s) + 1 and group[t] == group[s] for t in family) for each s.
    """
    n = len(offsets) - 1
    covered = np.zeros(n, dtype=np.bool_)
    mark_of = np.full(len(keys), -1, dtype=np.int64)
    guess = np.zeros(len(keys), dtype=np.int64)
    is_complete = True
    for s in range(n):
        start = offsets[s]
        end = offsets[s + 1]
        h = np.uint64(0)
        for j in range(start, end):
            mark_of[codes[j]] = s
            h ^= keys[codes[j]]
        for j in range(start, end):
            t = -1
            if end - start > 1:
                t = follow(offsets, codes, s, j, guess[j - start])
            if t < 0:
                mark_of[codes[j]] = -1
                t = lookup(table, offsets, codes, h ^ keys[codes[j]], end - start - 1, mark_of, s)
                mark_of[codes[j]] = s
            if t < 0:
                is_complete &= end - start == 1
            else:
                guess[j - start] = t
                if group[t] == group[s]:
                    covered[t] = True
    return covered, is_complete


@kernel
def find_closures(
    offsets: np.ndarray,
    codes: np.ndarray,
    order: np.ndarray,
    n_items: int,
    wanted_offsets: np.ndarray,
    wanted_codes: np.ndarray,
) -> np.ndarray:
    """Find for each wanted set the first set of `order` that holds all its items, -1 if there is none.

    `order` holds the positions of all sets of the family, the best first. Only the sets that hold the rarest
    item of a wanted set are looked at.

    Equivalent to next((s for s in order if wanted <= family[s]), -1) for each wanted set.
    """
    starts = np.zeros(n_items + 1, dtype=np.int64)
    for j in range(len(codes)):
        starts[codes[j] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    fill = starts[:-1].copy()
    holders = np.empty(len(codes), dtype=np.int64)
    for k in range(len(order)):
        for j in range(offsets[order[k]], offsets[order[k] + 1]):
            holders[fill[codes[j]]] = order[k]
            fill[codes[j]] += 1
    n = len(wanted_offsets) - 1
    found = np.full(n, -1, dtype=np.int64)
    mark_of = np.full(n_items, -1, dtype=np.int64)
    for q in range(n):
        length = wanted_offsets[q + 1] - wanted_offsets[q]
        rarest = -1
        for j in range(wanted_offsets[q], wanted_offsets[q + 1]):
            i = wanted_codes[j]
            mark_of[i] = q
            if rarest < 0 or starts[i + 1] - starts[i] < starts[rarest + 1] - starts[rarest]:
                rarest = i
        if rarest < 0:
            found[q] = order[0] if len(order) else -1
            continue
        for k in range(starts[rarest], starts[rarest + 1]):
            s = holders[k]
            shared = 0
            for j in range(offsets[s], offsets[s + 1]):
                shared += mark_of[codes[j]] == q
            if shared == length:
                found[q] = s
                break
    return found


@kernel
def mark_contained(
    offsets: np.ndarray, codes: np.ndarray, group: np.ndarray, order: np.ndarray, n_items: int
) -> np.ndarray:
    """Mark the sets of `order` that have a proper superset in their group; the family may be incomplete.

    `order` holds positions of sets by group and, within a group, longest first. Every set without a superset
    is entered in one list for each of its items. For a new set, only the shortest of its items' lists is
    looked through.

    Equivalent to any(s < t and group[t] == group[s] for t in family) for each s.
    """
    covered = np.zeros(len(offsets) - 1, dtype=np.bool_)
    head = np.full(n_items, -1, dtype=np.int64)
    list_length = np.zeros(n_items, dtype=np.int64)
    list_group = np.zeros(n_items, dtype=np.int64)
    mark_of = np.full(n_items, -1, dtype=np.int64)
    total = 0
    for k in range(len(order)):
        total += offsets[order[k] + 1] - offsets[order[k]]
    entry_set = np.empty(total, dtype=np.int64)
    entry_next = np.empty(total, dtype=np.int64)
    signatures = np.zeros(len(order), dtype=np.uint64)
    n_entries = 0
    for k in range(len(order)):
        s = order[k]
        start = offsets[s]
        end = offsets[s + 1]
        shortest = -1
        for j in range(start, end):
            i = codes[j]
            if list_group[i] != group[s]:
                list_group[i] = group[s]
                list_length[i] = 0
                head[i] = -1
            if shortest < 0 or list_length[i] < list_length[shortest]:
                shortest = i
            mark_of[i] = k
            signatures[k] |= np.uint64(1) << np.uint64(i & 63)
        entry = head[shortest] if shortest >= 0 else -1
        if start == end and k > 0:
            covered[s] = group[order[k - 1]] == group[s] and offsets[order[k - 1] + 1] > offsets[order[k - 1]]
        while entry >= 0 and not covered[s]:
            other = entry_set[entry]
            if (signatures[k] & ~signatures[other]) == np.uint64(0):
                t = order[other]
                shared = 0
                for j in range(offsets[t], offsets[t + 1]):
                    shared += mark_of[codes[j]] == k
                covered[s] = shared == end - start
            entry = entry_next[entry]
        if not covered[s]:
            for j in range(start, end):
                i = codes[j]
                entry_set[n_entries] = k
                entry_next[n_entries] = head[i]
                head[i] = n_entries
                list_length[i] += 1
                n_entries += 1
    return covered


@linear
def colex_order(ends: np.ndarray, ranks: np.ndarray, n_ranks: int) -> np.ndarray:
    """Return the order (n,) int64 that sorts sets by length, then by their last, last but one, ... rank.

    Set s holds ranks[ends[s - 1]:ends[s]] (from 0 for the first), ascending int32. This is a radix sort for
    each length, from the least to the most significant position. No two sets are compared.

    Equivalent to sorted(range(n), key=lambda s: (len(sets[s]), sets[s][::-1])).
    """
    n = len(ends)
    longest = 0
    for s in range(n):
        longest = max(longest, ends[s] - (ends[s - 1] if s > 0 else 0))
    length_start = np.zeros(longest + 2, dtype=np.int64)
    for s in range(n):
        length_start[ends[s] - (ends[s - 1] if s > 0 else 0) + 1] += 1
    for length in range(longest + 1):
        length_start[length + 1] += length_start[length]
    order = np.empty(n, dtype=np.int64)
    fill = length_start.copy()
    for s in range(n):
        length = ends[s] - (ends[s - 1] if s > 0 else 0)
        order[fill[length]] = s
        fill[length] += 1
    other = np.empty(n, dtype=np.int64)
    bucket = np.zeros(n_ranks + 1, dtype=np.int64)
    for length in range(1, longest + 1):
        start, stop = length_start[length], length_start[length + 1]
        if stop - start < 2:
            continue
        for position in range(length):
            bucket[:] = 0
            for j in range(start, stop):
                bucket[ranks[ends[order[j]] - length + position] + 1] += 1
            for r in range(n_ranks):
                bucket[r + 1] += bucket[r]
            for j in range(start, stop):
                r = ranks[ends[order[j]] - length + position]
                other[start + bucket[r]] = order[j]
                bucket[r] += 1
            for j in range(start, stop):
                order[j] = other[j]
    return order


@linear
def gather_sets(
    ends: np.ndarray, ranks: np.ndarray, order: np.ndarray, code_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sets of `colex_order` in that order: offsets (n + 1,) int64, and codes int32 for ranks."""
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    codes = np.empty(len(ranks), dtype=np.int32)
    for j in range(len(order)):
        s = order[j]
        start = ends[s - 1] if s > 0 else 0
        at = offsets[j]
        for k in range(ends[s] - start):
            codes[at + k] = code_of[ranks[start + k]]
        offsets[j + 1] = at + ends[s] - start
    return offsets, codes


@inlined
def child_of(first: np.ndarray, item: np.ndarray, node: int, wanted: int) -> int:
    """Return the child of a node that adds an item, or -1."""
    low, high = first[node], first[node + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if item[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and item[low] == wanted else -1
