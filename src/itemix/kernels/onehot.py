"""One-hot CSV text to item codes.

Shapes: `text` (n,) uint8, whole lines, the last one with its line feed; `code_of_column` (n_columns,) int32,
-1 for columns that are no item. Row t of the result is codes[ends[t - 1]:ends[t]]; empty lines make no row.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.jit import kernel

FALSE_WORDS = ("0", "false", "f", "no", "n", "0.0")
TRUE_WORDS = ("1", "true", "t", "yes", "y", "1.0")
MOST_LETTERS = 7

GOOD, BAD_CELL, BAD_LENGTH = 0, 1, 2


def packed(words: tuple[str, ...]) -> np.ndarray:
    """Return each word as a number: its letters are the digits to the base of 256."""
    return np.array([int.from_bytes(word.encode(), "big") for word in words], dtype=np.int64)


_FALSE = packed(FALSE_WORDS)
_TRUE = packed(TRUE_WORDS)


@kernel
def parse(
    text: np.ndarray, delimiter: int, code_of_column: np.ndarray, codes: np.ndarray, ends: np.ndarray
) -> tuple[int, int, int, int, int]:
    """Parse lines of cells that say yes or no, in any case, quoted or not, with any blanks around them.

    Parameters
    ----------
    text, code_of_column
        As above.
    delimiter : int
        The character between cells.
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
