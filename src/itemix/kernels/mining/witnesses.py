"""Whether some item outside of a set occurs in all of its transactions, asked of a few of them first.

Bitsets say which transactions hold an item; here they are turned round, to say which items a transaction
holds. An item that one transaction of the set lacks is out of question, and a few transactions rule out most
items, 64 at a time; only what they leave is compared over the whole rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix.kernels.bitsets import WORD_BITS, is_subset
from itemix.kernels.intrinsics import trailing_zeros
from itemix.kernels.jit import inlined, kernel

if TYPE_CHECKING:
    from itemix.kernels.mining.projection import Companions


class SetAtHand(NamedTuple):
    """The set that a search is at, and the items outside of it.

    Attributes
    ----------
    members : array of int32, shape (F,)
        The items of the set, as many as the search has found so far.
    base_items : array of int32, shape (n_base,)
        The items that stand in the first rows of bits, ascending.
    places : array of int64, shape (F,)
        In which of these rows an item stands.
    outside : array of uint64, shape (n_base // 64 + 1,)
        A bit for each of these rows, set where its item is not in the set.
    masks : array of uint64
        What `turned` or `unturned` makes of these rows.
    """

    members: np.ndarray
    base_items: np.ndarray
    places: np.ndarray
    outside: np.ndarray
    masks: np.ndarray


@kernel
def turned(arena: np.ndarray, n_rows: int) -> np.ndarray:
    """Return which of the first rows hold each bit: (n_rows // 64 + 1, 64 * words) uint64.

    Bit r % 64 of the element (r // 64, b) is bit b of row r.
    """
    words = arena.shape[1]
    out = np.zeros((n_rows // WORD_BITS + 1, WORD_BITS * words), dtype=np.uint64)
    for v in range(len(out)):
        for w in range(words):
            block = out[v, WORD_BITS * w : WORD_BITS * (w + 1)]
            any_bit = np.uint64(0)
            for k in range(min(WORD_BITS, n_rows - WORD_BITS * v)):
                block[k] = arena[WORD_BITS * v + k, w]
                any_bit |= block[k]
            if any_bit:
                _turn(block)
    return out


@kernel
def unturned(n_rows: int) -> np.ndarray:
    """Return no witnesses, where rows are compared as quickly as they are turned: (n_rows // 64 + 1, 0)."""
    return np.empty((n_rows // WORD_BITS + 1, 0), dtype=np.uint64)


@inlined
def _turn(block: np.ndarray) -> None:
    """Exchange bit j of word k with bit k of word j, by exchanging ever smaller squares."""
    step = 32
    mask = np.uint64(0xFFFFFFFF)
    while step:
        shift = np.uint64(step)
        for k in range(WORD_BITS):
            if k & step == 0:
                change = ((block[k] >> shift) ^ block[k + step]) & mask
                block[k] ^= change << shift
                block[k + step] ^= change
        step >>= 1
        mask ^= mask << np.uint64(step)


@kernel
def all_outside(n_rows: int) -> np.ndarray:
    """Return a bit set for each row: (n_rows // 64 + 1,) uint64."""
    outside = np.full(n_rows // WORD_BITS + 1, ~np.uint64(0), dtype=np.uint64)
    outside[-1] = (np.uint64(1) << np.uint64(n_rows % WORD_BITS)) - np.uint64(1)
    return outside


@kernel
def all_items(n_items: int, masks: np.ndarray, n_rows: int) -> SetAtHand:
    """Return the empty set, with all items in rows of bits (n_rows = n_items), or none of them (0)."""
    items = np.arange(n_items, dtype=np.int32)
    return SetAtHand(np.empty(n_items, dtype=np.int32), items, np.arange(n_items), all_outside(n_rows), masks)


@kernel
def companions_of(companions: Companions, root: int, before: SetAtHand) -> SetAtHand:
    """Return the empty set, with the companions of a root in rows of bits, and behind them the root.

    The row of the root is empty. The arrays that are as long as all items are those of the set before.
    """
    items = companions.ranks[companions.start[root] : companions.start[root + 1]].copy()
    n_items = len(items)
    before.places[root] = n_items
    for b in range(n_items):
        before.places[items[b]] = b
    return SetAtHand(before.members, items, before.places, all_outside(n_items + 1), unturned(n_items + 1))


@inlined
def flip(bits: np.ndarray, position: int) -> None:
    """Set one bit if it is not set, and the other way round."""
    bits[position // WORD_BITS] ^= np.uint64(1) << np.uint64(position % WORD_BITS)


@inlined
def has(bits: np.ndarray, position: int) -> bool:
    """Whether one bit is set."""
    return bool((bits[position // WORD_BITS] >> np.uint64(position % WORD_BITS)) & np.uint64(1))


@kernel
def lies_in_another(arena: np.ndarray, row: int, masks: np.ndarray, outside: np.ndarray, first: int) -> bool:
    """Whether all bits of a row are in one of the rows from `first` on whose bits in `outside` are set.

    `masks` is what `turned` or `unturned` made of those rows.
    """
    from_first = ~np.uint64(0) << np.uint64(first % WORD_BITS)
    for v in range(first // WORD_BITS, len(outside)):
        left = outside[v] & from_first
        from_first = ~np.uint64(0)
        for w in range(masks.shape[1] // WORD_BITS):
            if not left:
                break
            word = arena[row, w]
            if word:
                left &= masks[v, WORD_BITS * w + trailing_zeros(word)]
        while left:
            if is_subset(arena, row, WORD_BITS * v + trailing_zeros(left)):
                return True
            left &= left - np.uint64(1)
    return False
