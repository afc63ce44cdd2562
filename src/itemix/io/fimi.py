"""FIMI text: one transaction a line, non-negative whole numbers separated by blanks.

A few threads take turns. Each reads the next block of whole lines, parses it while others read theirs, and
appends its rows after those of the block before. Labels below DIRECT - 1 are their own codes until the end.
Larger ones are numbered from DIRECT on as they appear, so that an item 4000000000000 needs no table of that
size.
"""

from __future__ import annotations

import sys
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._arrays import GrowingArray
from itemix._runtime import Workers, count_threads
from itemix.core.encoding import Encoded
from itemix.core.items import Items
from itemix.errors import InvalidInputError
from itemix.io.source import BLOCK_SIZE, HEAD_SIZE, Utf8Stream, is_plain
from itemix.kernels import csr
from itemix.kernels import text as kernels

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator, Sequence

    from itemix.io.source import Source

DIRECT = 1 << 21
"""Labels below this number (less one) are looked up in a table; larger ones take more time."""

_BLANK, _LINE_FEED = b" \n"
_LONGEST_WORD = 200
_MOST_THREADS = 4
_BLOCKS_OF_A_PIECE = 4
_NO_LIMIT = sys.maxsize
_SHOWN = 30


class Parsed(NamedTuple):
    """The rows of a block: codes (int32) or any labels (int64), where rows end, and the first wrong word."""

    labels: npt.NDArray[Any]
    ends: npt.NDArray[np.int64]
    n_bytes: int
    wrong: str | None = None


class BlockParser:
    """The memory in which one thread reads and parses blocks of FIMI text, one after the other.

    Attributes
    ----------
    seen : (DIRECT,) uint8
        Entry v + 1 is set for each label v below DIRECT - 1 that was parsed here in a block of such labels.
    """

    def __init__(self) -> None:
        self.seen = np.zeros(DIRECT, dtype=np.uint8)
        self._resize(BLOCK_SIZE)

    def load(self, text: io.RawIOBase, rest: bytes) -> tuple[int, bytes, bool]:
        """Read whole lines: the rest of the last block, and more of the text.

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
        """Parse the n characters that were read; the result uses the memory of the parser."""
        with np.errstate(over="ignore"):  # without Numba, words that wrap around would warn
            n_labels, n_rows, ascending, ok = kernels.parse_narrow(
                self._text, n, self._labels, self._ends, self.seen
            )
        if not ok:
            return self._parse_wide(n)
        if not ascending:
            n_labels = csr.sort_rows(self._labels, self._ends, n_rows)
        return Parsed(self._labels[:n_labels], self._ends[:n_rows], n)

    def _parse_wide(self, n: int) -> Parsed:
        labels = np.empty(n, dtype=np.int64)
        n_labels, n_rows, wrong = kernels.parse_wide(self._text, n, labels, self._ends)
        if wrong >= 0:
            return Parsed(labels[:0], self._ends[:n_rows], n, self._word_at(wrong, n))
        n_labels = csr.sort_rows(labels, self._ends, n_rows)
        return Parsed(labels[:n_labels], self._ends[:n_rows], n)

    def _word_at(self, position: int, n: int) -> str:
        text = self._text[kernels.LEAD : kernels.LEAD + n].tobytes()
        position -= kernels.LEAD
        before = text[max(position - _LONGEST_WORD, 0) : position]
        start = position - len(before.rsplit(maxsplit=1)[-1]) if before[-1:].strip() else position
        return text[start : start + _LONGEST_WORD].split(maxsplit=1)[0].decode(errors="replace")

    def _close(self, n: int) -> int:
        """End the text with a line feed if it has none, and put blanks after it."""
        if n and self._inside[n - 1] != _LINE_FEED:
            self._inside[n] = _LINE_FEED
            n += 1
        self._text[kernels.LEAD + n : kernels.padded_size(n)] = _BLANK
        return n

    def _grow(self) -> None:
        text = self._inside[: self._size]
        self._resize(2 * self._size)
        self._inside[: len(text)] = text

    def _resize(self, size: int) -> None:
        self._size = size
        self._text = np.empty(kernels.padded_size(size + 1), dtype=np.uint8)
        self._text[: kernels.LEAD] = _BLANK
        self._inside = self._text[kernels.LEAD :]
        self._labels = np.empty(size + kernels.SLACK, dtype=np.int32)
        self._ends = np.empty(size + kernels.SLACK, dtype=np.int64)


def _end_of_last_line(text: npt.NDArray[np.uint8]) -> int:
    for size in (1 << 14, len(text)):
        tail = text[-size:]
        found = tail.tobytes().rfind(b"\n")
        if found >= 0:
            return len(text) - len(tail) + found + 1
    return 0


def read_fimi(source: Source, encoding: str = "utf-8") -> Encoded:
    """Read FIMI text; rows come out ascending and without repeated items.

    Raises
    ------
    InvalidInputError
        If a line has anything but non-negative whole numbers; the message names the line.
    """
    (whole,) = fimi_pieces(source, encoding, n_blocks=_NO_LIMIT)
    return whole


def fimi_pieces(source: Source, encoding: str, n_blocks: int = _BLOCKS_OF_A_PIECE) -> Iterator[Encoded]:
    """Read FIMI text piece by piece; a piece has a few blocks of lines, and items of its own.

    Raises
    ------
    InvalidInputError
        As in `read_fimi`.
    """
    is_small = len(source.head) < HEAD_SIZE or 0 < source.size < BLOCK_SIZE
    n_threads = 1 if is_small else min(count_threads(-1), _MOST_THREADS)
    text = source if is_plain(source, encoding) else Utf8Stream(source, encoding)
    turns = _Turns(text)
    parsers = [BlockParser() for _ in range(n_threads)]
    n_lines = 0
    with Workers(n_threads) as workers:
        while not turns.is_over:
            rows = _Rows(source, n_lines, n_blocks)
            turns.begin(rows, n_blocks)
            try:
                workers.map(lambda k: turns.work(parsers[k]), n_threads)
            except BaseException:  # also Ctrl-C: the threads must not read on
                turns.stop()
                raise
            encoded = rows.encoded(parsers, workers)
            n_lines += len(encoded.indptr) - 1
            yield encoded


class _Turns:
    """The order of the blocks: one thread reads at a time, and rows are appended block by block."""

    def __init__(self, text: io.RawIOBase) -> None:
        self._text = text
        self._rest = b""
        self._n_read = 0
        self._n_added = 0
        self.is_over = False
        self._failed = False
        self._reading = Lock()
        self._adding = Condition()

    def begin(self, rows: _Rows, n_blocks: int) -> None:
        """Let the rows of the next `n_blocks` blocks be appended to `rows`."""
        self._rows = rows
        self._stop = self._n_read + n_blocks

    def work(self, parser: BlockParser) -> None:
        """Read, parse and append blocks until the text ends or the piece is complete."""
        try:
            while self._work_on_one_block(parser):
                pass
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Let all threads end as soon as they can."""
        with self._adding:
            self._failed = self.is_over = True
            self._adding.notify_all()

    def _work_on_one_block(self, parser: BlockParser) -> bool:
        with self._reading:
            if self.is_over or self._n_read == self._stop:
                return False
            n, self._rest, more = parser.load(self._text, self._rest)
            self.is_over = not more
            number = self._n_read
            self._n_read += 1
        parsed = parser.parse(n)
        with self._adding:
            self._adding.wait_for(lambda: self._n_added == number or self._failed)
            if self._failed:
                return False
            self._rows.add(parsed)
            self._n_added += 1
            self._adding.notify_all()
        return True


class _Rows:
    """The rows of a piece, in order; `n_lines` lines of the text come before them."""

    def __init__(self, source: Source, n_lines: int, n_blocks: int) -> None:
        self._seen = np.zeros(DIRECT, dtype=np.uint8)
        self._label = source.label
        self._n_bytes = min(source.size, n_blocks * BLOCK_SIZE)
        self._n_lines = n_lines
        self._large: dict[int, int] = {}
        self._codes = GrowingArray(np.int32)
        self._indptr = GrowingArray(np.int64)
        self._indptr.extend(np.zeros(1, dtype=np.int64))

    def add(self, block: Parsed) -> None:
        """Append the rows of the next block."""
        if block.wrong is not None:
            raise InvalidInputError(self._wrong(block.wrong, len(self._indptr) + len(block.ends)))
        if len(self._codes) == 0 and self._n_bytes and block.n_bytes:
            expected = 1.05 * self._n_bytes / block.n_bytes
            self._codes.reserve(int(expected * len(block.labels)))
            self._indptr.reserve(int(expected * len(block.ends)))
        codes = block.labels if block.labels.dtype == np.int32 else self._number(block.labels)
        self._indptr.extend(block.ends, plus=len(self._codes))
        self._codes.extend(codes)

    def encoded(self, parsers: Sequence[BlockParser], workers: Workers) -> Encoded:
        """Return the rows, with items numbered in ascending order of their labels."""
        for parser in parsers:
            self._seen |= parser.seen
            parser.seen.fill(0)
        direct = np.flatnonzero(self._seen[1:].view(np.bool_))
        large = np.array(sorted(self._large), dtype=np.int64)
        labels = np.concatenate([direct, large])
        codes = self._codes.finish()
        if len(labels) and labels[-1] != len(labels) - 1:
            new_code = np.empty(DIRECT + len(large) if len(large) else direct[-1] + 1, dtype=np.int32)
            new_code[direct] = np.arange(len(direct))
            new_code[[self._large[label] for label in large.tolist()]] = np.arange(len(direct), len(labels))
            parts = np.array_split(codes, len(parsers))
            workers.map(lambda k: kernels.rename(parts[k], new_code), len(parts))
        return Encoded(self._indptr.finish(), codes, Items(labels))

    def _number(self, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        is_large = labels >= DIRECT - 1
        self._seen[labels[~is_large] + 1] = 1
        values, inverse = np.unique(labels[is_large], return_inverse=True)
        numbers = [self._large.setdefault(value, DIRECT + len(self._large)) for value in values.tolist()]
        codes = labels.astype(np.int32)
        codes[is_large] = np.array(numbers, dtype=np.int32)[inverse]
        return codes

    def _wrong(self, word: str, line: int) -> str:
        where = f"in line {self._n_lines + line:,} of {self._label}"
        shown = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}..."
        if word.isdigit():
            return (
                f"expected item codes of at most 18 digits, got {shown} {where}; write them as names in a CSV"
            )
        if word.startswith("-") and word[1:].isdigit():
            return (
                f"expected item codes of 0 or more, got {shown} {where}; renumber the items, or write names"
            )
        return (
            f"expected whole numbers separated by blanks (FIMI), got {shown!r} {where}; "
            "if the file has item names, try format='basket', with delimiter=' ' if blanks separate them"
        )
