"""FIMI: one transaction a line, non-negative whole numbers separated by blanks.

A few threads take turns: each reads the next block of whole lines, parses it while others read theirs, and
appends its rows when those of the block before are there. Labels below DIRECT - 1 are their own codes until
the end; larger ones are numbered from DIRECT on as they appear, so that an item 4000000000000 costs no table
of that size.
"""

from __future__ import annotations

from threading import Condition, Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.data.desk import DIRECT, Desk, Parsed
from itemix.data.growing import GrowingArray
from itemix.data.source import BLOCK_SIZE, HEAD_SIZE
from itemix.data.text import Utf8Stream, is_plain
from itemix.encoding import Encoded
from itemix.errors import InvalidInputError
from itemix.items import Items
from itemix.kernels import fimi
from itemix.threads import Workers, count_threads

if TYPE_CHECKING:
    import io
    from collections.abc import Sequence

    from itemix.data.source import Source

_MOST_THREADS = 4
_SHOWN = 30


def read_fimi(source: Source, encoding: str = "utf-8") -> Encoded:
    """Read FIMI text; rows come out ascending and without repeated items.

    Raises
    ------
    InvalidInputError
        If a line has anything but non-negative whole numbers; the message names the line.
    """
    is_small = len(source.head) < HEAD_SIZE or 0 < source.size < BLOCK_SIZE
    n_threads = 1 if is_small else min(count_threads(-1), _MOST_THREADS)
    text = source if is_plain(source, encoding) else Utf8Stream(source, encoding)
    rows = _Rows(source)
    turns = _Turns(text, rows)
    desks = [Desk() for _ in range(n_threads)]
    with Workers(n_threads) as workers:
        try:
            workers.map(lambda k: turns.work(desks[k]), n_threads)
        except BaseException:  # Ctrl-C too: the threads should not read on
            turns.stop()
            raise
        return rows.encoded(desks, workers)


class _Turns:
    """Who reads the next block, and whose rows are appended next."""

    def __init__(self, text: io.RawIOBase, rows: _Rows) -> None:
        self._text = text
        self._rows = rows
        self._rest = b""
        self._n_read = 0
        self._n_added = 0
        self._is_over = False
        self._failed = False
        self._reading = Lock()
        self._adding = Condition()

    def work(self, desk: Desk) -> None:
        """Read, parse and append blocks until there are no more."""
        try:
            while self._work_on_one_block(desk):
                pass
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Let all threads end as soon as they can."""
        with self._adding:
            self._failed = self._is_over = True
            self._adding.notify_all()

    def _work_on_one_block(self, desk: Desk) -> bool:
        with self._reading:
            if self._is_over:
                return False
            n, self._rest, more = desk.load(self._text, self._rest)
            self._is_over = not more
            number = self._n_read
            self._n_read += 1
        parsed = desk.parse(n)
        with self._adding:
            self._adding.wait_for(lambda: self._n_added == number or self._failed)
            if self._failed:
                return False
            self._rows.add(parsed)
            self._n_added += 1
            self._adding.notify_all()
        return True


class _Rows:
    """The rows of all blocks, in order."""

    def __init__(self, source: Source) -> None:
        self._seen = np.zeros(DIRECT, dtype=np.uint8)
        self._source = source
        self._large: dict[int, int] = {}
        self._codes = GrowingArray(np.int32)
        self._indptr = GrowingArray(np.int64)
        self._indptr.extend(np.zeros(1, dtype=np.int64))

    def add(self, block: Parsed) -> None:
        """Append the rows of the next block."""
        if block.wrong is not None:
            raise InvalidInputError(self._wrong(block.wrong, len(self._indptr) + len(block.ends)))
        if len(self._codes) == 0 and self._source.size and block.n_bytes:
            expected = 1.05 * self._source.size / block.n_bytes
            self._codes.reserve(int(expected * len(block.labels)))
            self._indptr.reserve(int(expected * len(block.ends)))
        codes = block.labels if block.labels.dtype == np.int32 else self._number(block.labels)
        self._indptr.extend(block.ends, plus=len(self._codes))
        self._codes.extend(codes)

    def encoded(self, desks: Sequence[Desk], workers: Workers) -> Encoded:
        """Return the rows parsed on the desks, with items numbered in ascending order of their labels."""
        for desk in desks:
            self._seen |= desk.seen
        direct = np.flatnonzero(self._seen[1:].view(np.bool_))
        large = np.array(sorted(self._large), dtype=np.int64)
        labels = np.concatenate([direct, large])
        codes = self._codes.finish()
        if len(labels) and labels[-1] != len(labels) - 1:
            new_code = np.empty(DIRECT + len(large) if len(large) else direct[-1] + 1, dtype=np.int32)
            new_code[direct] = np.arange(len(direct))
            new_code[[self._large[label] for label in large.tolist()]] = np.arange(len(direct), len(labels))
            parts = np.array_split(codes, len(desks))
            workers.map(lambda k: fimi.rename(parts[k], new_code), len(parts))
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
        where = f"in line {line:,} of {self._source.label}"
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
