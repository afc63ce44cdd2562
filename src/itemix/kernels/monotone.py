"""Lower estimates of itemsets to those of their subsets, so that no set is more probable than a subset.

Shapes: sets sorted by length, then colexicographically by rank; set s holds codes[offsets[s]:offsets[s + 1]],
their ranks `rank_of[code]` ascending. Its path goes from the last of them (the rarest) to the first; its
pivots are the first n_pivots of the path, and its parent is the set without the end of its path, of the rank
`tail` (n,). `low` (n,) float64 are the estimates, -1 where a set has none; `without` (n, n_pivots) int32
tells where the set stands that lacks a pivot, `children` (n, 2) int32 which sets have a set for parent.
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


@inlined
def _have_one_parent(codes: np.ndarray, start: int, other: int, length: int) -> bool:
    """Whether two sets of a length differ at most in the ends of their paths, which come first here."""
    for j in range(1, length):
        if codes[start + j] != codes[other + j]:
            return False
    return True


@kernel
def next_parent(offsets: np.ndarray, codes: np.ndarray, s: int, stop: int) -> int:
    """Return the first set from `s` on that has another parent than the set before it, at most `stop`."""
    length = offsets[s + 1] - offsets[s]
    while s < stop and _have_one_parent(codes, offsets[s - 1], offsets[s], length):
        s += 1
    return s


@kernel
def first_parent(
    offsets: np.ndarray, codes: np.ndarray, rank_of: np.ndarray, before: int, parents_end: int, s: int
) -> int:
    """Return the first of the sets before to parents_end that does not come before the parent of set `s`."""
    length = offsets[s + 1] - offsets[s]
    low, high = before, parents_end
    while low < high:
        middle = (low + high) // 2
        if _compare_paths(codes, rank_of, offsets[middle + 1], offsets[s + 1], length - 1) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def lower_level(
    offsets: np.ndarray,
    codes: np.ndarray,
    rank_of: np.ndarray,
    tail: np.ndarray,
    n_single: int,
    before: int,
    parents_end: int,
    start: int,
    stop: int,
    low: np.ndarray,
    without: np.ndarray,
    children: np.ndarray,
) -> None:
    """Lower the sets start to stop, of one length, to shorter ones: their parents are before to parents_end.

    Each is lowered to its parent and to the sets without one pivot; it has no value if one of these has none
    or is not in the family. Other threads may lower other sets of the same length.
    """
    length = offsets[start + 1] - offsets[start]
    n_pivots = min(without.shape[1], length)
    parent = first_parent(offsets, codes, rank_of, before, parents_end, start)
    # All sets of a length are equally long: their places are counted, not looked up.
    at, parent_end = offsets[start], offsets[before] + (parent - before + 1) * (length - 1)
    s = start
    while s < stop:
        last, next_at = s, at
        while last < stop and _have_one_parent(codes, next_at, at, length):
            tail[last] = rank_of[codes[next_at]]
            last += 1
            next_at += length
        order = 1
        while parent < parents_end:
            order = _compare_paths(codes, rank_of, parent_end, at + length, length - 1)
            if order >= 0:
                break
            parent += 1
            parent_end += length - 1
        if order != 0 or low[parent] < 0.0:
            low[s:last] = -1.0
        else:
            children[parent, 0], children[parent, 1] = s, last
            for child in range(s, last):
                low[child] = min(low[child], low[parent])
            for pivot in range(n_pivots):
                if pivot == length - 1:
                    without[s:last, pivot] = parent
                elif length == 2:
                    _lower_to(tail, low, without, pivot, s, last, 0, n_single)
                elif without[parent, pivot] < 0:
                    low[s:last] = -1.0
                else:
                    smaller = without[parent, pivot]
                    _lower_to(tail, low, without, pivot, s, last, children[smaller, 0], children[smaller, 1])
        s, at = last, next_at


@inlined
def _lower_to(
    tail: np.ndarray,
    low: np.ndarray,
    without: np.ndarray,
    pivot: int,
    start: int,
    stop: int,
    other: int,
    end: int,
) -> None:
    """Lower the children of one set to those of the set that lacks a pivot: other to end, both in order."""
    for s in range(start, stop):
        while other < end and tail[other] < tail[s]:
            other += 1
        if other < end and tail[other] == tail[s] and low[other] >= 0.0:
            without[s, pivot] = other
            low[s] = min(low[s], low[other])
        else:
            low[s] = -1.0
