"""Rows that come in pieces, put together and cut into chunks that take little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix._arrays import GrowingArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemix.core.encoding import Encoded

    Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

_ROW_BYTES, _CODE_BYTES = 8, 4


def cut(pieces: Iterable[Encoded], size: int) -> Iterator[Rows]:
    """Yield as many of the next rows as take no more than `size` bytes, and one at least.

    Where there are no rows at all, there is one chunk without any.
    """
    chunk = _Chunk(size)
    n_yielded = 0
    for piece in pieces:
        start, stop = 0, len(piece.indptr) - 1
        while start < stop:
            start = chunk.add(piece, start)
            if start < stop:
                yield chunk.finished()
                chunk = _Chunk(size)
                n_yielded += 1
    if len(chunk) or not n_yielded:
        yield chunk.finished()


class _Chunk:
    """The rows of a chunk, and how much room is left."""

    def __init__(self, size: int) -> None:
        self._codes, self._indptr = GrowingArray(np.int32), GrowingArray(np.int64)
        self._indptr.extend(np.zeros(1, dtype=np.int64))
        self._room = size

    def __len__(self) -> int:
        return len(self._indptr) - 1

    def add(self, piece: Encoded, start: int) -> int:
        """Append rows of a piece from a row on, as far as there is room, and return the next one."""
        most = max(self._room // _ROW_BYTES, 1)
        ends = piece.indptr[start : start + most + 1]
        taken = _ROW_BYTES * np.arange(len(ends)) + _CODE_BYTES * (ends - ends[0])
        n = int(np.searchsorted(taken, self._room, side="right")) - 1
        n = max(n, 0 if len(self) else 1)
        self._indptr.extend(ends[1 : n + 1] - ends[0], plus=len(self._codes))
        self._codes.extend(piece.indices[ends[0] : ends[n]])
        self._room -= int(taken[n])
        return start + n

    def finished(self) -> Rows:
        return self._indptr.finish(), self._codes.finish()
