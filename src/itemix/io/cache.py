"""The rows of a file on disk, as they are in memory, so that later passes need not decode the file again.

While a file is read for the first time, its pieces go to a scratch file. When all items are known, they are
renumbered, cut into chunks, and written again as compressed rows. These are mapped into memory, one chunk at
a time. A cache that is kept is a file by itself, with the items and the key of its source at the end. One
that no longer fits its source, or is damaged, is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import weakref
import zlib
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from itemix._files import checked_target, mapped, new_scratch, replacing, room_for_scratch
from itemix._runtime import still_wanted
from itemix.core.encoding import Encoded
from itemix.core.items import Items
from itemix.core.transactions import as_codes, as_pointers
from itemix.errors import InvalidInputError
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemix._typing import Codes, Ints

_VERSION = 1
_MAGIC = b"itemix rows\n"
_TAIL = 8 + len(_MAGIC)
_NAME_KEPT = 60
_DIGITS = 16


class Spool:
    """Pieces of rows that are written while they are read, and can be read again."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._n_pieces = 0

    def passed(self, pieces: Iterable[Encoded]) -> Iterator[Encoded]:
        """Yield pieces as they come, and write them down."""
        last: Items | None = None
        for piece in pieces:
            labels = None if piece.items is last else piece.items.labels
            last = piece.items
            pickle.dump((piece.indptr, piece.indices, labels), self._file, protocol=5)
            self._n_pieces += 1
            yield piece

    def __iter__(self) -> Iterator[Encoded]:
        """Yield the pieces again."""
        items = Items([])
        self._file.seek(0)
        for _ in range(self._n_pieces):
            still_wanted()
            indptr, indices, labels = pickle.load(self._file)  # noqa: S301 - our own, without a name
            items = items if labels is None else Items(labels)
            yield Encoded(indptr, indices, items)


class SourceKey(NamedTuple):
    """What must be the same for the rows of a file to be the same.

    Attributes
    ----------
    path : str
        Where the file is.
    size, changed : int
        How large it is, and when it changed, in nanoseconds.
    reading : str
        How it is read.
    """

    path: str
    size: int
    changed: int
    reading: str

    @classmethod
    def of(cls, path: str | os.PathLike[str], reading: str) -> Self:
        """Return the key of a file as it is now."""
        status = os.stat(path)  # noqa: PTH116 - may be any path
        return cls(os.path.realpath(path), status.st_size, status.st_mtime_ns, reading)

    def file_in(self, folder: Path) -> Path:
        """Return where the rows are kept: the same place for the same file, read in the same way."""
        digest = hashlib.sha256("\n".join([self.path, self.reading]).encode("utf-8", "surrogatepass"))
        return folder / f"{Path(self.path).name[:_NAME_KEPT]}-{digest.hexdigest()[:_DIGITS]}.rows"


class RowsFile:
    """Chunks of rows in a file, mapped into memory one at a time.

    Parameters
    ----------
    file : binary file object
        The file, which is closed with this object.
    facts : dict
        What is known of all rows: see `write`.
    chunks : list of lists
        Where each chunk begins, how many rows and codes it has, and its checksum.
    """

    def __init__(self, file: IO[bytes], facts: dict[str, Any], chunks: list[list[int]]) -> None:
        self._file = file
        weakref.finalize(self, file.close)
        self.facts = facts
        self._chunks = chunks

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of rows of each chunk."""
        return tuple(n_rows for _, n_rows, _, _ in self._chunks)

    @classmethod
    def scratch(cls, chunks: Iterable[tuple[Ints, Codes]], facts: dict[str, Any]) -> Self:
        """Write chunks of rows to a file that is gone when this object is."""
        with room_for_scratch(), ExitStack() as stack:
            file = stack.enter_context(new_scratch())
            places = _write(file, chunks)
            file.flush()
            stack.pop_all()
        return cls(file, facts, places)

    @classmethod
    def kept(cls, target: Path, chunks: Iterable[tuple[Ints, Codes]], facts: dict[str, Any]) -> Self:
        """Write chunks of rows, and what is known of them, to a file that stays."""
        with replacing(target) as temporary, temporary.open("wb") as file:
            places = _write(file, chunks)
            tail = json.dumps({"facts": facts, "chunks": places}).encode()
            file.write(tail + len(tail).to_bytes(8, "little") + _MAGIC)
        return cls(target.open("rb"), facts, places)

    @classmethod
    def opened(cls, path: Path, key: SourceKey) -> Self | None:
        """Open a file that was kept; None if there is none, it is of another source, or it is damaged."""
        with suppress(OSError, ValueError, KeyError, TypeError, OverflowError), ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            size = path.stat().st_size
            file.seek(size - _TAIL)
            end = file.read(_TAIL)
            n_bytes = int.from_bytes(end[:8], "little")
            if end[8:] != _MAGIC or n_bytes > size - _TAIL:
                return None
            file.seek(size - _TAIL - n_bytes)
            content = json.loads(file.read(n_bytes))
            if content["facts"]["key"] != [_VERSION, *key]:
                return None
            found = cls(file, content["facts"], content["chunks"])
            if not all(found.is_sound(number, size) for number in range(len(found.sizes))):
                return None
            stack.pop_all()
            return found
        return None

    def rows(self, number: int) -> tuple[Ints, Codes]:
        """Return the rows of a chunk: a mapping, which is read as it is needed."""
        start, n_rows, n_codes, _ = self._chunks[number]
        indptr = mapped(self._file, start, np.int64, n_rows + 1)
        return indptr, mapped(self._file, start + indptr.nbytes, np.int32, n_codes)

    def is_sound(self, number: int, size: int) -> bool:
        """Whether a chunk is as it was written, and its rows are rows of items."""
        start, n_rows, n_codes, checksum = self._chunks[number]
        if min(start, n_rows, n_codes) < 0 or start + 8 * (n_rows + 1) + 4 * n_codes > size:
            return False
        indptr, codes = self.rows(number)
        if zlib.crc32(codes.data, zlib.crc32(indptr.data)) != checksum:
            return False
        pointers, known = as_pointers(indptr, n_codes), as_codes(codes, len(self.facts["labels"]))
        return csr.is_canonical(pointers, known)


def _write(file: IO[bytes], chunks: Iterable[tuple[Ints, Codes]]) -> list[list[int]]:
    """Write chunks, and return where they are: each begins at a multiple of eight bytes."""
    places = []
    for indptr, codes in chunks:
        still_wanted()
        start = file.tell()
        file.write(np.ascontiguousarray(indptr, dtype=np.int64).data)
        file.write(np.ascontiguousarray(codes, dtype=np.int32).data)
        file.write(b"\0" * (-file.tell() % 8))
        places.append([start, len(indptr) - 1, len(codes), zlib.crc32(codes.data, zlib.crc32(indptr.data))])
    return places


def facts_of(key: SourceKey, items: Items, n_transactions: int, source: str) -> dict[str, Any]:
    """Return what is known of the rows of a file, as JSON can hold it."""
    return {
        "key": [_VERSION, *key],
        "labels": items.labels.tolist(),
        "n_transactions": n_transactions,
        "source": source,
    }


def checked_cache(cache: object) -> Path | bool:
    """Return the folder where a cache is kept, or whether there is one that is not.

    Raises
    ------
    InvalidInputError
        If it is neither True nor False nor a folder.
    """
    if cache is None or isinstance(cache, bool):
        return bool(cache)
    if not isinstance(cache, str | os.PathLike):
        raise InvalidInputError(
            f"expected cache as True, False or a folder, got {cache!r}; try cache=True, which leaves "
            "nothing behind"
        )
    return checked_target(Path(cache) / "rows").parent
