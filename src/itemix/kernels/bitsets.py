"""Bitsets over transactions: intersect and count, with or without multiplicities.

A row of bits is (words,) uint64. A transaction may stand for several equal ones: that is its multiplicity.
Transactions then come in descending order of multiplicity. `planes` (n_planes, words) holds the binary digits
of the multiplicities, so that a count is the sum over the digits of 2^digit times a population count.
`plane_words` (n_planes,) says how many leading words of a plane matter. Without multiplicities there is no
plane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.jit import inlined, kernel, popcount

WORD_BITS = 64
# Rows are padded to whole cache lines: the vectorised loops then have no remainder.
WORDS_PER_LINE = 8
_LONG = 1 << 20


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
