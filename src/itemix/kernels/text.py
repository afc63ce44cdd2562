"""Parsers of text: FIMI lines to item labels, and one-hot CSV to item codes.

Row t of a result is labels[ends[t - 1]:ends[t]], or the same of `codes`.

FIMI: `text` (LEAD + n + padding,) uint8 is LEAD blanks, n characters of which the last is a line feed, then
blanks up to `padded_size(n)`. Each line makes a row. Blanks are those of bytes.split(), which include form
feeds and vertical tabs. Numbers are put together for a whole tile of characters at a time.

One-hot CSV: `text` (n,) uint8 is whole lines, the last one with its line feed. Empty lines make no row.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import counted, flag_bits, kernel, linear, popcount, trailing_zeros

LEAD = 8
TILE = 4096
SLACK = 9
"""The outputs must be this much longer than the text, because a few entries too many are written."""

WIDEST = 10**18
"""Labels must be below this number. One digit more would still fit 64 bits."""

FALSE_WORDS = ("0", "false", "f", "no", "n", "0.0")
TRUE_WORDS = ("1", "true", "t", "yes", "y", "1.0")
MOST_LETTERS = 7

GOOD, BAD_CELL, BAD_LENGTH = 0, 1, 2


def padded_size(n: int) -> int:
    """Return the size of a text of n characters with its blanks before and after."""
    return LEAD + (n + TILE - 1) // TILE * TILE + TILE


@counted(lambda _text, n, *_: 30 * n)
def parse_narrow(
    text: np.ndarray, n: int, labels: np.ndarray, ends: np.ndarray, seen: np.ndarray
) -> tuple[int, int, bool, bool]:
    """Parse lines of small labels: at most seven digits, and below len(seen) - 1.

    For each character of a tile, the number that ends there is put together from its last two, four and
    eight digits. These loops have no branches, so that they compile to vector instructions.

    Parameters
    ----------
    text, n
        As above.
    labels : (n + SLACK,) int32
        Filled with the labels.
    ends : (n + SLACK,) int64
        Filled with the end of each row.
    seen : (largest label + 2,) uint8
        Entry v + 1 is set to 1 for each label v.

    Returns
    -------
    n_labels, n_rows : int
        How much was filled.
    ascending : bool
        Whether every row ascends strictly.
    ok : bool
        False if the text has other characters or larger labels; `parse_wide` then finds out where.

    Equivalent to [[int(word) for word in line.split()] for line in lines].
    """
    digit2 = np.zeros(TILE + LEAD, dtype=np.uint8)
    value2 = np.zeros(TILE + LEAD, dtype=np.uint8)
    digit4 = np.zeros(TILE + LEAD, dtype=np.uint8)
    value4 = np.zeros(TILE + LEAD, dtype=np.uint16)
    numbers = np.zeros(TILE, dtype=np.int32)
    odd = np.zeros(TILE, dtype=np.uint8)
    number_ends = np.zeros(TILE, dtype=np.uint8)
    line_ends = np.zeros(TILE, dtype=np.uint8)
    filled = np.zeros(2, dtype=np.int64)
    for start in range(0, n, TILE):
        tile = text[start : start + TILE + LEAD + 1]
        _two_digits(tile, digit2, value2)
        _four_digits(digit2, value2, digit4, value4)
        _eight_digits(digit4, value4, numbers)
        _find_odd(tile, digit4, odd)
        if _any(odd.view(np.uint64)):
            return 0, 0, False, False
        _find_ends(tile, number_ends, line_ends)
        _to_rows(numbers, number_ends, line_ends, filled, labels, ends)
    n_labels, n_rows = int(filled[0]), int(filled[1])
    if _largest(labels[:n_labels]) >= len(seen) - 1:
        return 0, 0, False, False
    _mark(labels[:n_labels], seen)
    return n_labels, n_rows, _all_ascend(labels[:n_labels], ends[:n_rows]), True


@kernel
def _two_digits(tile: np.ndarray, digit2: np.ndarray, value2: np.ndarray) -> None:
    """Find the number of the last two digits up to each character, and whether both are digits."""
    for i in range(TILE + LEAD - 1):
        c, before = tile[i + 1], tile[i]
        one = (c >= 48) & (c <= 57)
        two = (before >= 48) & (before <= 57) & one
        value2[i + 1] = (c - 48 if one else 0) + ((before - 48) * 10 if two else 0)
        digit2[i + 1] = 1 if two else 0


@kernel
def _four_digits(digit2: np.ndarray, value2: np.ndarray, digit4: np.ndarray, value4: np.ndarray) -> None:
    for i in range(TILE + LEAD - 3):
        value4[i + 3] = np.uint16(value2[i + 3]) + (np.uint16(value2[i + 1]) * 100 if digit2[i + 3] else 0)
    for i in range(TILE + LEAD - 3):
        digit4[i + 3] = digit2[i + 3] & digit2[i + 1]


@kernel
def _eight_digits(digit4: np.ndarray, value4: np.ndarray, numbers: np.ndarray) -> None:
    for i in range(TILE):
        numbers[i] = np.int32(value4[i + 8]) + (np.int32(value4[i + 4]) * 10_000 if digit4[i + 8] else 0)


@kernel
def _find_odd(tile: np.ndarray, digit4: np.ndarray, odd: np.ndarray) -> None:
    """Mark the characters that belong to no FIMI file, and the eighth digits of numbers."""
    for i in range(TILE):
        c = tile[i + 8]
        is_usual = (c >= 48) & (c <= 57) | (c == 32) | (c >= 9) & (c <= 13)
        odd[i] = (digit4[i + 8] & digit4[i + 4]) | (not is_usual)


@kernel
def _find_ends(tile: np.ndarray, number_ends: np.ndarray, line_ends: np.ndarray) -> None:
    """Mark the last digits of numbers, and the line feeds."""
    for i in range(TILE):
        c, after = tile[i + 8], tile[i + 9]
        is_digit = (c >= 48) & (c <= 57)
        goes_on = (after >= 48) & (after <= 57)
        number_ends[i] = is_digit & (not goes_on)
        line_ends[i] = c == 10


@kernel
def _any(words: np.ndarray) -> bool:
    bits = np.uint64(0)
    for k in range(len(words)):
        bits |= words[k]
    return bool(bits != 0)


@kernel
def _largest(labels: np.ndarray) -> int:
    largest = np.int32(-1)
    for j in range(len(labels)):
        largest = max(largest, labels[j])
    return int(largest)


@kernel
def _to_rows(
    numbers: np.ndarray,
    number_ends: np.ndarray,
    line_ends: np.ndarray,
    filled: np.ndarray,
    labels: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Append the numbers that end to `labels`, and close a row at each line feed; `filled` counts both.

    Branches that are hard to predict would cost most here. So the loops take a fixed number of steps, at
    least two line feeds for each 64 characters and numbers by eights, and what was too much is written over.
    """
    one, highest = np.uint64(1), np.uint64(1 << 63)
    place, row = np.uint64(filled[0]), np.uint64(filled[1])
    for start in range(0, TILE, 64):
        bits, lines = flag_bits(number_ends, start), flag_bits(line_ends, start)
        for _ in range(max(2, popcount(lines))):
            before = (one << np.uint64(trailing_zeros(lines | highest))) - one
            ends[row] = place + np.uint64(popcount(bits & before))
            row += np.uint64(lines != 0)
            lines &= lines - one
        n_numbers = popcount(bits)
        for first in range(0, n_numbers, 8):
            for k in range(8):
                i = start + trailing_zeros(bits | highest)
                labels[place + np.uint64(first + k)] = numbers[np.uint64(i)]
                bits &= bits - one
        place += np.uint64(n_numbers)
    filled[0], filled[1] = place, row


@kernel
def _mark(labels: np.ndarray, seen: np.ndarray) -> None:
    for j in range(len(labels)):
        seen[np.uint64(labels[j] + 1)] = 1


@kernel
def _all_ascend(labels: np.ndarray, ends: np.ndarray) -> bool:
    """Whether every row ascends strictly, that is, whether labels only fall where a row begins."""
    descents = 0
    for j in range(1, len(labels)):
        descents += labels[j] <= labels[j - 1]
    previous = 0
    for t in range(len(ends)):
        end = ends[t]
        if end > previous and end < len(labels):
            descents -= labels[end] <= labels[end - 1]
        previous = end
    return descents == 0


@counted(lambda _text, n, *_: 10 * n)
def parse_wide(text: np.ndarray, n: int, labels: np.ndarray, ends: np.ndarray) -> tuple[int, int, int]:
    """Parse lines of labels below WIDEST into `labels` (n,) int64, and find the first error.

    Returns
    -------
    n_labels, n_rows : int
        How much was filled.
    wrong : int
        The position in `text` of the first character that cannot be read, or -1.

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
        elif c != 32 and (c < 9 or c > 13):
            return position, row, i
    return position, row, -1


@linear
def rename(codes: np.ndarray, new_code: np.ndarray) -> None:
    """Replace every code in place.

    Equivalent to codes[:] = new_code[codes].
    """
    for j in range(len(codes)):
        codes[j] = new_code[np.uint64(codes[j])]


def packed(words: tuple[str, ...]) -> np.ndarray:
    """Return each word as a number whose digits to the base of 256 are its letters."""
    return np.array([int.from_bytes(word.encode(), "big") for word in words], dtype=np.int64)


_FALSE = packed(FALSE_WORDS)
_TRUE = packed(TRUE_WORDS)


@counted(lambda text, *_: 10 * len(text))
def parse(
    text: np.ndarray, delimiter: int, code_of_column: np.ndarray, codes: np.ndarray, ends: np.ndarray
) -> tuple[int, int, int, int, int]:
    """Parse lines of cells that say yes or no, in upper or lower case, with or without quotes and blanks.

    Parameters
    ----------
    text
        As above.
    delimiter : int
        The character between cells.
    code_of_column : (n_columns,) int32
        The item of each column, -1 for columns that are no item.
    codes : (at least n // 2 + 1,) int32
        Filled with the codes of the cells that say yes.
    ends : (at least n,) int64
        Filled with the end of each row.

    Returns
    -------
    n_codes, n_rows : int
        How much was filled.
    problem : int
        GOOD, BAD_CELL (another word) or BAD_LENGTH (too few or too many cells).
    line, column : int
        Where the problem is: the number of the line, from 0, and of the cell in it.

    Equivalent to [[code[j] for j, cell in enumerate(line.split(delimiter)) if cell in TRUE_WORDS] for line].
    """
    n_columns = len(code_of_column)
    n_codes = 0
    n_rows = 0
    line = 0
    column = 0
    word = np.int64(0)
    n_letters = 0
    ended = False
    for i in range(len(text)):
        c = np.int64(text[i])
        if c not in (delimiter, 10):
            if c in (32, 34) or (c >= 9 and c <= 13):
                ended = n_letters > 0
            else:
                n_letters += 1
                if n_letters <= MOST_LETTERS and not ended:
                    word = word * 256 + (c + 32 if c >= 65 and c <= 90 else c)
                else:
                    word = np.int64(-1)
            continue
        if c == 10 and column == 0 and n_letters == 0:
            line += 1
            continue
        if column >= n_columns:
            return n_codes, n_rows, BAD_LENGTH, line, column
        if code_of_column[column] >= 0:
            yes = False
            no = False
            for k in range(len(_TRUE)):
                yes |= word == _TRUE[k]
                no |= word == _FALSE[k]
            if not yes and not no:
                return n_codes, n_rows, BAD_CELL, line, column
            if yes:
                codes[n_codes] = code_of_column[column]
                n_codes += 1
        column += 1
        word = np.int64(0)
        n_letters = 0
        ended = False
        if c == 10:
            if column != n_columns:
                return n_codes, n_rows, BAD_LENGTH, line, column
            ends[n_rows] = n_codes
            n_rows += 1
            line += 1
            column = 0
    return n_codes, n_rows, GOOD, -1, -1
