"""Sets found before, as bits: which of them hold all members of a set, at each level of a search.

One word stands for 64 sets. Few sets hold many given members, so a level lists only the words that have any
bit left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.bitsets import WORD_BITS, grown
from itemix.kernels.jit import kernel

# Sets found before only save work, so that no more of them are kept in mind than this many words hold.
_MOST_WORDS = 1 << 17
_FIRST_WORDS = 8
_FIRST_LEVELS = 8


class Known(NamedTuple):
    """The last sets found, numbered from 0 on.

    Attributes
    ----------
    holders : array of uint64, shape (n_items, words)
        Which of them hold an item.
    covers, places : array of uint64 and of int64, shape (n_levels, words)
        Which of them hold all members of a level: words with any bit, and which word of `holders` each is.
    sizes : array of int64, shape (n_levels,)
        How many such words a level has.
    is_done : array of bool, shape (n_items,)
        Which roots were searched: all their sets were noted, though some may be forgotten.
    """

    holders: np.ndarray
    covers: np.ndarray
    places: np.ndarray
    sizes: np.ndarray
    is_done: np.ndarray


@kernel
def nothing_known(n_items: int) -> Known:
    """Return room for the first sets."""
    shape = _FIRST_LEVELS, _FIRST_WORDS
    return Known(
        np.zeros((n_items, _FIRST_WORDS), dtype=np.uint64),
        np.zeros(shape, dtype=np.uint64),
        np.zeros(shape, dtype=np.int64),
        np.zeros(_FIRST_LEVELS, dtype=np.int64),
        np.zeros(n_items, dtype=np.bool_),
    )


@kernel
def with_more_levels(known: Known) -> Known:
    """Return the same with room for twice as many levels."""
    n_levels = len(known.sizes)
    sizes = np.zeros(2 * n_levels, dtype=np.int64)
    sizes[:n_levels] = known.sizes
    return Known(known.holders, grown(known.covers, 0), grown(known.places, 0), sizes, known.is_done)


@kernel
def with_more_sets(known: Known) -> tuple[Known, int]:
    """Return the same with room for more sets: by wider arrays, or by forgetting the older half of the sets.

    Returns how many sets are forgotten, too.
    """
    words = known.holders.shape[1]
    is_wider = 2 * known.holders.size <= _MOST_WORDS
    n_forgotten = 0 if is_wider else words // 2
    wide = 2 * words if is_wider else words
    holders = np.zeros((len(known.holders), wide), dtype=np.uint64)
    holders[:, : words - n_forgotten] = known.holders[:, n_forgotten:]
    covers = np.zeros((len(known.sizes), wide), dtype=np.uint64)
    places = np.zeros((len(known.sizes), wide), dtype=np.int64)
    sizes = np.zeros(len(known.sizes), dtype=np.int64)
    for level in range(len(sizes)):
        for k in range(known.sizes[level]):
            if known.places[level, k] >= n_forgotten:
                covers[level, sizes[level]] = known.covers[level, k]
                places[level, sizes[level]] = known.places[level, k] - n_forgotten
                sizes[level] += 1
    return Known(holders, covers, places, sizes, known.is_done), WORD_BITS * n_forgotten


@kernel
def cover_all(known: Known, n_sets: int) -> None:
    """Let all sets cover level 0, as they do where it has no members."""
    known.sizes[0] = (n_sets + WORD_BITS - 1) // WORD_BITS
    for k in range(known.sizes[0]):
        known.covers[0, k], known.places[0, k] = ~np.uint64(0), k


@kernel
def narrow(known: Known, level: int, to_level: int, members: np.ndarray, start: int, stop: int) -> None:
    """Let those sets cover a level that cover another and hold members[start:stop]."""
    n = 0
    for k in range(known.sizes[level]):
        cover, place = known.covers[level, k], known.places[level, k]
        for m in range(start, stop):
            cover &= known.holders[members[m], place]
        known.covers[to_level, n], known.places[to_level, n] = cover, place
        n += cover != 0
    known.sizes[to_level] = n


@kernel
def note(known: Known, number: int, members: np.ndarray, n_members: int, last_level: int) -> None:
    """Add a set, numbered after all others, which covers all levels up to one."""
    word = number // WORD_BITS
    bit = np.uint64(1) << np.uint64(number % WORD_BITS)
    for m in range(n_members):
        known.holders[members[m], word] |= bit
    for level in range(last_level + 1):
        k = known.sizes[level] - 1
        if k < 0 or known.places[level, k] != word:
            k += 1
            known.covers[level, k], known.places[level, k] = 0, word
            known.sizes[level] = k + 1
        known.covers[level, k] |= bit
