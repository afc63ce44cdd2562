"""FIMI: one transaction a line, non-negative whole numbers separated by blanks.

The text is read in blocks of whole lines, and a few threads parse them while the next ones are read. Labels
below `_DIRECT` are their own codes until the end; larger ones are numbered from `_DIRECT` on as they appear,
so that an item 4000000000000 costs no table of that size.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.data.growing import GrowingArray
from itemix.data.source import BLOCK_SIZE
from itemix.data.text import Utf8Stream, is_plain
from itemix.encoding import Encoded
from itemix.errors import InvalidInputError
from itemix.items import Items
from itemix.kernels import csr, fimi
from itemix.threads import count_threads

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterable

    from itemix.data.source import Source

_DIRECT = 1 << 21
_MOST_THREADS = 4
_BLANK, _LINE_FEED = b" \n"
_SHOWN = 30


def read_fimi(source: Source, encoding: str = "utf-8") -> Encoded:
    """Read FIMI text; rows come out ascending and without repeated items.

    Raises
    ------
    InvalidInputError
        If a line has anything but non-negative whole numbers; the message names the line.
    """
    text = source if is_plain(source, encoding) else Utf8Stream(source, encoding)
    rows = _Rows(source)
    desk = _Desk(rows.seen)
    n, rest, more = desk.load(text, b"")
    if not more:
        rows.add(desk.parse(n))
        return rows.encoded(map, 1)
    n_threads = min(count_threads(-1), _MOST_THREADS)
    with ThreadPoolExecutor(n_threads) as pool:
        at_work = deque([(desk, pool.submit(desk.parse, n))])
        _read_blocks(text, rest, rows, pool=pool, at_work=at_work, n_desks=n_threads + 1)
        return rows.encoded(pool.map, n_threads)


def _read_blocks(
    text: io.RawIOBase,
    rest: bytes,
    rows: _Rows,
    *,
    pool: ThreadPoolExecutor,
    at_work: deque[tuple[_Desk, Future[_Parsed]]],
    n_desks: int,
) -> None:
    """Read block after block, while earlier ones are parsed: one for each thread, and one that waits."""
    desks: list[_Desk] = []
    more = True
    while more:
        if len(at_work) == n_desks:
            desk, parsed = at_work.popleft()
            rows.add(parsed.result())
        else:
            desk = _Desk(np.zeros(_DIRECT, dtype=np.uint8))
            desks.append(desk)
        n, rest, more = desk.load(text, rest)
        at_work.append((desk, pool.submit(desk.parse, n)))
    for _, parsed in at_work:
        rows.add(parsed.result())
    for desk in desks:
        rows.seen |= desk.seen


class _Parsed(NamedTuple):
    """The rows of a block: codes (int32) or any labels (int64), where rows end, and a word that is wrong."""

    labels: npt.NDArray[Any]
    ends: npt.NDArray[np.int64]
    n_bytes: int
    wrong: str | None = None


class _Desk:
    """What one block needs while it is parsed: its text and its labels. Used again for later blocks."""

    def __init__(self, seen: npt.NDArray[np.uint8]) -> None:
        self.seen = seen
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

    def parse(self, n: int) -> _Parsed:
        """Parse the n characters on the desk; the result uses the desk's memory."""
        with np.errstate(over="ignore"):  # without Numba, words that wrap around would warn
            n_labels, n_rows, ascending, ok = fimi.parse_narrow(
                self._text, n, self._labels, self._ends, self.seen
            )
        if not ok:
            return self._parse_wide(n)
        if not ascending:
            n_labels = csr.sort_rows(self._labels, self._ends, n_rows)
        return _Parsed(self._labels[:n_labels], self._ends[:n_rows], n)

    def _parse_wide(self, n: int) -> _Parsed:
        labels = np.empty(n, dtype=np.int64)
        n_labels, n_rows, wrong = fimi.parse_wide(self._text, n, labels, self._ends)
        if wrong >= 0:
            return _Parsed(labels[:0], self._ends[:n_rows], n, self._word_at(wrong, n))
        n_labels = csr.sort_rows(labels, self._ends, n_rows)
        return _Parsed(labels[:n_labels], self._ends[:n_rows], n)

    def _word_at(self, position: int, n: int) -> str:
        text = self._text[fimi.LEAD : fimi.LEAD + n].tobytes()
        position -= fimi.LEAD
        start = 1 + max(text.rfind(blank, 0, position) for blank in (b" ", b"\n", b"\t", b"\r"))
        return text[start : start + 200].split(maxsplit=1)[0].decode(errors="replace")

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


class _Rows:
    """The rows of all blocks, in order."""

    def __init__(self, source: Source) -> None:
        self.seen = np.zeros(_DIRECT, dtype=np.uint8)
        self._source = source
        self._large: dict[int, int] = {}
        self._codes = GrowingArray(np.int32)
        self._indptr = GrowingArray(np.int64)
        self._indptr.extend(np.zeros(1, dtype=np.int64))

    def add(self, block: _Parsed) -> None:
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

    def encoded(self, run: Callable[..., Iterable[None]], n_parts: int) -> Encoded:
        """Return the rows, with items numbered in ascending order of their labels.

        `run` is map, or what takes its place in a pool of threads; `n_parts` how many threads there are.
        """
        direct = np.flatnonzero(self.seen[1:].view(np.bool_))
        large = np.array(sorted(self._large), dtype=np.int64)
        labels = np.concatenate([direct, large])
        codes = self._codes.finish()
        if len(labels) and labels[-1] != len(labels) - 1:
            new_code = np.empty(_DIRECT + len(large) if len(large) else direct[-1] + 1, dtype=np.int32)
            new_code[direct] = np.arange(len(direct))
            new_code[[self._large[label] for label in large.tolist()]] = np.arange(len(direct), len(labels))
            parts = np.array_split(codes, n_parts)
            list(run(fimi.rename, parts, [new_code] * n_parts))
        return Encoded(self._indptr.finish(), codes, Items(labels))

    def _number(self, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        is_large = labels >= _DIRECT - 1
        self.seen[labels[~is_large] + 1] = 1
        values, inverse = np.unique(labels[is_large], return_inverse=True)
        numbers = [self._large.setdefault(value, _DIRECT + len(self._large)) for value in values.tolist()]
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
            "if the file has item names, try format='basket'"
        )


def _end_of_last_line(text: npt.NDArray[np.uint8]) -> int:
    for size in (1 << 14, len(text)):
        tail = text[-size:]
        found = tail.tobytes().rfind(b"\n")
        if found >= 0:
            return len(text) - len(tail) + found + 1
    return 0
