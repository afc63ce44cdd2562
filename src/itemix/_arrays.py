"""Arrays: read-only ones, ranks and pages of rankings, one that grows, rows in batches, and Arrow arrays.

The values of this library are immutable: nobody can write to their arrays, not even after pickling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from itemix._typing import Ints

S = TypeVar("S", bound=np.generic)
T = TypeVar("T")

CELLS_OF_A_BATCH = 1 << 17


class Immutable:
    """A value whose arrays are read-only. They stay so in pickles and copies, where NumPy would forget it."""

    __slots__ = ()

    def __setstate__(self, state: dict[str, object] | tuple[dict[str, object] | None, ...]) -> None:
        parts = state if isinstance(state, tuple) else (state,)
        for part in parts:
            for name, value in (part or {}).items():
                _protect(value)
                object.__setattr__(self, name, value)


def owned(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return values as a read-only, contiguous array, copied where someone else could write to it.

    Raises
    ------
    InvalidInputError
        If they are not an array of numbers.
    """
    try:
        array = np.ascontiguousarray(values, dtype=dtype)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"expected an array of numbers, got {values!r:.60}; give numbers in rows of equal length"
        ) from None
    return frozen(array, values)


def frozen(array: npt.NDArray[S], original: object) -> npt.NDArray[S]:
    """Make an array that was made from `original` read-only; copy it where someone else could write to it."""
    return protected(array.copy() if is_shared(array, original) else array)


def protected(array: npt.NDArray[S]) -> npt.NDArray[S]:
    """Make a new array read-only."""
    array.setflags(write=False)
    return array


def is_shared(array: npt.NDArray[Any], original: object) -> bool:
    """Tell whether someone else could write to the memory of an array that was made from `original`.

    Nobody can if the array is new, or if it is read-only and owns its memory. A view is always shared, even a
    read-only one: the owner of the memory may write to it.
    """
    if array is original:
        return array.base is not None or array.flags.writeable
    is_lent = hasattr(original, "__array__") and not isinstance(original, np.ndarray)
    return array.base is not None or is_lent


def _protect(value: object) -> None:
    """Make arrays read-only, also those in tuples and dictionaries."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, dict | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            _protect(part)


def ranks_by(values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the rank of each item: the highest value first, ties by code.

    The values are counts or probabilities. Mining goes through the items in this order, and its results are
    sorted by it.
    """
    rank_of = np.empty(len(values), dtype=np.int32)
    rank_of[np.argsort(-without_noise(values), kind="stable")] = np.arange(len(values), dtype=np.int32)
    return rank_of


def without_noise(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return probabilities rounded to about twelve digits, so that those that differ only by rounding tie."""
    if values.dtype.kind != "f":
        return values
    mantissa, exponent = np.frexp(values)
    rounded: npt.NDArray[Any] = np.ldexp(np.round(mantissa, 12), exponent)
    return rounded


def ranked_part(keys: npt.NDArray[Any], start: int, stop: int, *, descending: bool) -> Ints:
    """Return one page of a long ranking: what a stable sort by the keys would put at places start to stop.

    To sort a million supports takes a tenth of a second. To find the keys at the two ends of the page, and to
    sort only what lies between them, takes a tenth of that. Equal keys keep their order, NaN comes last.

    Equivalent to np.argsort(-keys if descending else keys, kind="stable")[start:stop].

    Parameters
    ----------
    keys : array of numbers, shape (n,)
        What to sort by.
    start, stop : int
        The part, as in a slice of positive ends.
    descending : bool
        Whether the largest come first.

    Returns
    -------
    array of int
        Positions in `keys`.
    """
    stop = min(stop, len(keys))
    if start >= stop:
        return np.empty(0, dtype=np.int64)
    ascending = -keys if descending else keys
    ends = np.partition(ascending, (start, stop - 1))
    first, last = ends[start], ends[stop - 1]
    if np.isnan(last):
        return np.argsort(ascending, kind="stable")[start:stop]
    n_before = int(np.count_nonzero(ascending < first))
    between = np.flatnonzero((ascending >= first) & (ascending <= last))
    order = between[np.argsort(ascending[between], kind="stable")]
    return order[start - n_before : stop - n_before]


class GrowingArray(Generic[S]):
    """An array to which values are appended; memory that is reserved but not filled is never touched.

    Parameters
    ----------
    dtype : dtype
        The type of the values.
    """

    def __init__(self, dtype: type[S]) -> None:
        self._values: npt.NDArray[S] = np.empty(1024, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def reserve(self, n: int) -> None:
        """Make room for n values in all."""
        if n > len(self._values):
            larger = np.empty(n, dtype=self._values.dtype)
            larger[: self._size] = self._values[: self._size]
            self._values = larger

    def extend(self, values: npt.NDArray[Any], plus: int = 0) -> None:
        """Append some values, each increased by `plus`."""
        stop = self._size + len(values)
        if stop > len(self._values):
            self.reserve(max(stop, 3 * len(self._values) // 2))
        if plus:
            np.add(values, plus, out=self._values[self._size : stop], casting="same_kind")
        else:
            self._values[self._size : stop] = values
        self._size = stop

    def renumber(self, numbers: npt.NDArray[S], start: int = 0) -> None:
        """Replace each value v, from position `start` on, by ``numbers[v]``."""
        renumber(self._values[start : self._size], numbers)

    def finish(self) -> npt.NDArray[S]:
        """Return the values, without the memory that was not filled; nothing can be appended later."""
        values, self._values = self._values, np.empty(0, dtype=self._values.dtype)
        values.resize(self._size, refcheck=False)
        return values


def renumber(values: npt.NDArray[S], numbers: npt.NDArray[S]) -> None:
    """Replace each value v by ``numbers[v]``, in place, without a copy of all of them.

    Equivalent to values[:] = numbers[values].
    """
    for start in range(0, len(values), CELLS_OF_A_BATCH):
        part = values[start : start + CELLS_OF_A_BATCH]
        part[:] = numbers[part]


def in_batches(rows: Iterable[list[T]], n_cells: int = CELLS_OF_A_BATCH) -> Iterator[list[list[T]]]:
    """Yield lists of rows with about `n_cells` cells in all."""
    batch: list[list[T]] = []
    filled = 0
    for row in rows:
        batch.append(row)
        filled += 1 + len(row)
        if filled >= n_cells:
            yield batch
            batch, filled = [], 0
    yield batch


# Arrow arrays are made from their buffers. `pyarrow.array` and `pyarrow.scalar` would make the same, but they
# import pandas where it is installed, to see whether the values belong to it. That takes a third of a second.


def as_arrow(values: npt.NDArray[Any]) -> pa.Array:
    """Return numbers, truth values or names as an Arrow array; numbers are not copied."""
    import pyarrow as pa

    if values.dtype == object:
        return names_as_arrow(values)
    if values.dtype == np.bool_:
        kind, data = pa.bool_(), np.packbits(values, bitorder="little")
    else:
        kind, data = pa.from_numpy_dtype(values.dtype), np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def names_as_arrow(names: Iterable[str]) -> pa.Array:
    """Return names as an Arrow array of strings, of large strings if they take more than two gigabytes."""
    import pyarrow as pa

    texts = [name.encode() for name in names]
    offsets = np.append(0, np.cumsum([len(text) for text in texts], dtype=np.int64))
    is_large = offsets[-1] > np.iinfo(np.int32).max
    kind, width = (pa.large_string(), np.int64) if is_large else (pa.string(), np.int32)
    buffers = [None, pa.py_buffer(offsets.astype(width)), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(kind, len(texts), buffers)


def joined(*parts: pa.Array | str) -> pa.Array:
    """Join arrays of texts row by row; a str is the same in every row."""
    import pyarrow.compute as pc

    # Arrow takes the last argument for the separator.
    texts = [_scalar(part) if isinstance(part, str) else part for part in (*parts, "")]
    return pc.binary_join_element_wise(*texts)


def lists_joined(lists: pa.ListArray, between: str) -> pa.Array:
    """Join the texts of each list, with `between` between any two."""
    import pyarrow.compute as pc

    return pc.binary_join(lists, _scalar(between))


def _scalar(text: str) -> pa.Scalar:
    return names_as_arrow([text])[0]


def in_arrow_memory(content: bytes) -> pa.BufferReader:
    """Copy bytes into Arrow's own memory.

    Arrow's threads may free what they have read after Python has begun to shut down. A Python object must not
    be touched then: the process would abort.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return pa.BufferReader(sink.getvalue())
