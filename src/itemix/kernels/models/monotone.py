"""Lower estimates of itemsets to those of their subsets, so that no set is more probable than a subset.

Shapes: sets sorted by length, then colexicographically by rank; set s holds codes[offsets[s]:offsets[s + 1]],
their ranks `rank_of[code]` ascending. Its path goes from the last of them (the rarest) to the first; its
pivots are the first n_pivots of the path, and its parent is the set without the end of its path, of the rank
`tail` (n,) int32. Its children, whose parent it is, stand together, in the order of the parents: they are the
sets first[s] to first[s + 1], `first` (n + 1,) int32. `low` (n,) float64 are the estimates, -1 where a set
has none.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import inlined, kernel


@inlined
def _compare_paths(codes: np.ndarray, rank_of: np.ndarray, end: int, other_end: int, length: int) -> int:
    """Return -1, 0 or 1 as the first `length` items of one path come before, with or after another's."""
    for j in range(1, length + 1):
        if codes[end - j] != codes[other_end - j]:
            return -1 if rank_of[codes[end - j]] < rank_of[codes[other_end - j]] else 1
    return 0


@kernel
def link(
    offsets: np.ndarray,
    codes: np.ndarray,
    rank_of: np.ndarray,
    tail: np.ndarray,
    first: np.ndarray,
    low: np.ndarray,
) -> None:
    """Write `tail` and `first` of a family, and -1 to `low` of sets that cannot be lowered within it.

    Those are the sets whose parent is not among them or cannot be lowered itself, and sets that come twice.
    Sets without a parent stand behind the children of another set; having no value, they do no harm there.
    """
    n = len(low)
    parent = 0
    first[0] = 0
    for s in range(n):
        start, stop = offsets[s], offsets[s + 1]
        tail[s] = rank_of[codes[start]]
        length = stop - start
        if length == 1:
            first[0] = s + 1
            continue
        order = 1
        while offsets[parent + 1] - offsets[parent] < length:
            if offsets[parent + 1] - offsets[parent] == length - 1:
                order = _compare_paths(codes, rank_of, offsets[parent + 1], stop, length - 1)
                if order >= 0:
                    break
            parent += 1
            first[parent] = s
        if order != 0:
            low[s] = -1.0
            first[parent] = s + 1
        elif low[parent] < 0.0 or (s > first[parent] and tail[s] == tail[s - 1]):
            low[s] = -1.0
    first[parent + 1 :] = n


@kernel
def lower(
    tail: np.ndarray, first: np.ndarray, n_single: int, longest: int, n_pivots: int, low: np.ndarray
) -> None:
    """Lower each set to its parent and to the sets without one pivot.

    The first n_single sets have one item, the last ones `longest`. A set has no value if one of those that it
    is lowered to has none or is not in the family.

    Sets are visited as a search finds them: a set comes after all those that lack one of its items. On the
    way down, a range of sets goes along for each pivot: the children of the set without that pivot.
    """
    node = np.zeros(longest + 2, dtype=np.int64)
    cursor = np.zeros(longest + 2, dtype=np.int64)
    stop = np.zeros(longest + 2, dtype=np.int64)
    other = np.zeros((longest + 2, n_pivots, 2), dtype=np.int64)
    for root in range(n_single):
        node[1], cursor[1], stop[1] = root, first[root], first[root + 1]
        # Without its only item a root is the set of no items, whose children are all the roots.
        other[1, 0, 0], other[1, 0, 1] = 0, n_single
        depth = 1
        while depth > 0:
            s, parent = cursor[depth], node[depth]
            if s == stop[depth]:
                depth -= 1
                continue
            cursor[depth] = s + 1
            has_children = first[s] < first[s + 1]
            least = min(low[s], low[parent])
            for pivot in range(min(n_pivots, depth)):
                at, end = other[depth, pivot, 0], other[depth, pivot, 1]
                while at < end and tail[at] < tail[s]:
                    at += 1
                if at < end and tail[at] == tail[s]:
                    least = min(least, low[at])
                    if has_children:
                        other[depth + 1, pivot, 0], other[depth + 1, pivot, 1] = first[at], first[at + 1]
                    at += 1
                else:
                    least = -1.0
                    other[depth + 1, pivot, 0] = other[depth + 1, pivot, 1] = 0
                other[depth, pivot, 0] = at
            low[s] = least
            if has_children:
                depth += 1
                node[depth], cursor[depth], stop[depth] = s, first[s], first[s + 1]
                if depth <= n_pivots:
                    other[depth, depth - 1, 0] = first[parent]
                    other[depth, depth - 1, 1] = first[parent + 1]
