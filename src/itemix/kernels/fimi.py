"""FIMI text to item labels: digits are put together for a whole tile of characters at a time.

Shapes: `text` (LEAD + n + padding,) uint8: LEAD blanks, n characters of which the last is a line feed, then
blanks up to `padded_size(n)`. Row t of the result is labels[ends[t - 1]:ends[t]], one row for each line.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel

LEAD = 8
TILE = 4096
WIDEST = 10**18
"""Labels below this number are read: one digit more would still fit 64 bits."""


def padded_size(n: int) -> int:
    """Return the size of a text of n characters with what must stand before and after it."""
    return LEAD + (n + TILE - 1) // TILE * TILE + TILE


@kernel
def parse_narrow(
    text: np.ndarray, n: int, labels: np.ndarray, ends: np.ndarray, seen: np.ndarray
) -> tuple[int, int, bool, bool]:
    """Parse lines of small labels: at most eight digits, and below len(seen) - 1.

    For each character the number that ends there is built from its last 1, 2, 4 and 8 digits; these loops
    have no branches, so they compile to vector instructions. Then the ends of numbers and lines are picked.

    Parameters
    ----------
    text, n
        As above.
    labels : (n,) int32
        Filled with the labels.
    ends : (n,) int64
        Filled with the end of each row.
    seen : (largest label + 2,) uint8
        Entry v + 1 is set to 1 for each label v; entry 0 is scratch.

    Returns
    -------
    n_labels, n_rows : int
        How much was filled.
    ascending : bool
        Whether every row ascends strictly.
    ok : bool
        False where the text has other characters or larger labels: `parse_wide` tells which.
    """
    digit1 = np.empty(TILE + 9, dtype=np.uint8)
    digit2 = np.zeros(TILE + 9, dtype=np.uint8)
    digit4 = np.zeros(TILE + 9, dtype=np.uint8)
    value1 = np.empty(TILE + 9, dtype=np.uint8)
    value2 = np.zeros(TILE + 9, dtype=np.uint8)
    value4 = np.zeros(TILE + 9, dtype=np.uint16)
    value8 = np.empty(TILE, dtype=np.int32)
    picked = np.empty(TILE, dtype=np.uint8)
    odd = np.zeros(TILE, dtype=np.uint8)
    tokens = np.empty(TILE + 1, dtype=np.int32)
    position = 0
    row = 0
    previous = np.int32(-1)
    descents = 0
    for start in range(0, n, TILE):
        tile = text[start : start + TILE + 9]
        for i in range(TILE + 9):
            c = tile[i]
            is_digit = (c >= 48) & (c <= 57)
            digit1[i] = 1 if is_digit else 0
            value1[i] = c - 48 if is_digit else 0
        for i in range(TILE):
            c = tile[i + 8]
            odd[i] |= not ((c >= 48) & (c <= 57) | (c == 32) | (c == 10) | (c == 13) | (c == 9))
        for i in range(TILE + 8):
            value2[i + 1] = value1[i + 1] + (value1[i] * 10 if digit1[i + 1] else 0)
            digit2[i + 1] = digit1[i + 1] & digit1[i]
        for i in range(TILE + 6):
            value4[i + 3] = np.uint16(value2[i + 3]) + (
                np.uint16(value2[i + 1]) * 100 if digit2[i + 3] else 0
            )
            digit4[i + 3] = digit2[i + 3] & digit2[i + 1]
        for i in range(TILE):
            value = np.int32(value4[i + 8]) + (np.int32(value4[i + 4]) * 10_000 if digit4[i + 8] else 0)
            value8[i] = -1 if tile[i + 8] == 10 else value
        for i in range(TILE):
            odd[i] |= digit4[i + 8] & digit4[i + 4] & digit1[i]
        for i in range(TILE):
            picked[i] = (digit1[i + 8] > digit1[i + 9]) | (tile[i + 8] == 10)
        n_tokens = np.uint64(0)
        for i in range(TILE):
            tokens[n_tokens] = value8[i]
            n_tokens += np.uint64(picked[i])
        largest = np.int32(-1)
        for k in range(n_tokens):
            largest = max(largest, tokens[k])
        if largest >= len(seen) - 1 or odd.any():
            return 0, 0, False, False
        for k in range(n_tokens):
            label = tokens[k]
            is_label = label >= 0
            descents += is_label & (label <= previous)
            previous = label
            seen[np.uint64(label + 1)] = 1
            labels[np.uint64(position)] = label
            position += is_label
            ends[np.uint64(row)] = position
            row += not is_label
    return position, row, descents == 0, True


@kernel
def parse_wide(text: np.ndarray, n: int, labels: np.ndarray, ends: np.ndarray) -> tuple[int, int, int]:
    """Parse lines of labels below WIDEST into `labels` (n,) int64, and find what is no label.

    Returns
    -------
    n_labels, n_rows : int
        How much was filled.
    wrong : int
        Where in `text` the first character stands that cannot be read, or -1.

    Equivalent to [[int(word) for word in line.split()] for line in lines].
    """
    position = 0
    row = 0
    label = np.int64(-1)
    for i in range(LEAD, LEAD + n):
        c = text[i]
        if c >= 48 and c <= 57:
            label = 10 * max(label, np.int64(0)) + (np.int64(c) - 48)
            if label >= WIDEST:
                return position, row, i
            continue
        if label >= 0:
            labels[position] = label
            position += 1
            label = np.int64(-1)
        if c == 10:
            ends[row] = position
            row += 1
        elif c not in (32, 13, 9):
            return position, row, i
    return position, row, -1


@kernel
def rename(codes: np.ndarray, new_code: np.ndarray) -> None:
    """Replace every code in place.

    Equivalent to codes[:] = new_code[codes].
    """
    for j in range(len(codes)):
        codes[j] = new_code[np.uint64(codes[j])]
