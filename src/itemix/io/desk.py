"""A desk: what one thread needs to read and parse FIMI text, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.io.source import BLOCK_SIZE
from itemix.kernels import csr
from itemix.kernels import text as fimi

if TYPE_CHECKING:
    import io

DIRECT = 1 << 21
"""Labels below this number (less one) are found in a table; larger ones take more time."""

_BLANK, _LINE_FEED = b" \n"
_LONGEST_WORD = 200


class Parsed(NamedTuple):
    """The rows of a block: codes (int32) or any labels (int64), where rows end, and a word that is wrong."""

    labels: npt.NDArray[Any]
    ends: npt.NDArray[np.int64]
    n_bytes: int
    wrong: str | None = None


class Desk:
    """The text of a block and its labels; used again for later blocks.

    Attributes
    ----------
    seen : (DIRECT,) uint8
        Entry v + 1 is set for each label v below DIRECT - 1 that was parsed here in a block of such labels.
    """

    def __init__(self) -> None:
        self.seen = np.zeros(DIRECT, dtype=np.uint8)
        self._resize(BLOCK_SIZE)

    def load(self, text: io.RawIOBase, rest: bytes) -> tuple[int, bytes, bool]:
        """Fill the desk with whole lines: the rest of the last block, and more of the text.

        Returns the number of characters, the rest after the last whole line, and whether there is more.
        """
        filled = len(rest)
        while filled > self._size:
            self._grow()
        self._inside[:filled] = np.frombuffer(rest, dtype=np.uint8)
        while True:
            filled += text.readinto(self._inside[filled : self._size].data) or 0
            if filled < self._size:
                return self._close(filled), b"", False
            n = _end_of_last_line(self._inside[:filled])
            if n:
                rest = self._inside[n:filled].tobytes()
                return self._close(n), rest, True
            self._grow()

    def parse(self, n: int) -> Parsed:
        """Parse the n characters on the desk; the result uses the desk's memory."""
        with np.errstate(over="ignore"):  # without Numba, words that wrap around would warn
            n_labels, n_rows, ascending, ok = fimi.parse_narrow(
                self._text, n, self._labels, self._ends, self.seen
            )
        if not ok:
            return self._parse_wide(n)
        if not ascending:
            n_labels = csr.sort_rows(self._labels, self._ends, n_rows)
        return Parsed(self._labels[:n_labels], self._ends[:n_rows], n)

    def _parse_wide(self, n: int) -> Parsed:
        labels = np.empty(n, dtype=np.int64)
        n_labels, n_rows, wrong = fimi.parse_wide(self._text, n, labels, self._ends)
        if wrong >= 0:
            return Parsed(labels[:0], self._ends[:n_rows], n, self._word_at(wrong, n))
        n_labels = csr.sort_rows(labels, self._ends, n_rows)
        return Parsed(labels[:n_labels], self._ends[:n_rows], n)

    def _word_at(self, position: int, n: int) -> str:
        text = self._text[fimi.LEAD : fimi.LEAD + n].tobytes()
        position -= fimi.LEAD
        before = text[max(position - _LONGEST_WORD, 0) : position]
        start = position - len(before.rsplit(maxsplit=1)[-1]) if before[-1:].strip() else position
        return text[start : start + _LONGEST_WORD].split(maxsplit=1)[0].decode(errors="replace")

    def _close(self, n: int) -> int:
        """Put a line feed at the end where there is none, and blanks after it."""
        if n and self._inside[n - 1] != _LINE_FEED:
            self._inside[n] = _LINE_FEED
            n += 1
        self._text[fimi.LEAD + n : fimi.padded_size(n)] = _BLANK
        return n

    def _grow(self) -> None:
        text = self._inside[: self._size]
        self._resize(2 * self._size)
        self._inside[: len(text)] = text

    def _resize(self, size: int) -> None:
        self._size = size
        self._text = np.empty(fimi.padded_size(size + 1), dtype=np.uint8)
        self._text[: fimi.LEAD] = _BLANK
        self._inside = self._text[fimi.LEAD :]
        self._labels = np.empty(size + fimi.SLACK, dtype=np.int32)
        self._ends = np.empty(size + fimi.SLACK, dtype=np.int64)


def _end_of_last_line(text: npt.NDArray[np.uint8]) -> int:
    for size in (1 << 14, len(text)):
        tail = text[-size:]
        found = tail.tobytes().rfind(b"\n")
        if found >= 0:
            return len(text) - len(tail) + found + 1
    return 0
