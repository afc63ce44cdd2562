"""Little by little: an array that grows at its end without keeping its parts, rows in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

S = TypeVar("S", bound=np.generic)
T = TypeVar("T")

CELLS_OF_A_BATCH = 1 << 17


class GrowingArray(Generic[S]):
    """Values appended block by block; memory that is reserved but not filled is never touched.

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

    def finish(self) -> npt.NDArray[S]:
        """Return the values, without what was reserved in vain; nothing can be appended later."""
        values, self._values = self._values, np.empty(0, dtype=self._values.dtype)
        values.resize(self._size, refcheck=False)
        return values


def in_batches(rows: Iterable[list[T]], n_cells: int = CELLS_OF_A_BATCH) -> Iterator[list[list[T]]]:
    """Yield lists of rows that have about so many cells in all."""
    batch: list[list[T]] = []
    filled = 0
    for row in rows:
        batch.append(row)
        filled += 1 + len(row)
        if filled >= n_cells:
            yield batch
            batch, filled = [], 0
    yield batch
