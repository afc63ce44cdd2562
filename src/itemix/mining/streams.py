"""Data that is read in chunks, as often as needed, for it may be far larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.core.items import Items
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError
from itemix.io.chunks import Chunks

if TYPE_CHECKING:
    from itemix.core.items import Label


class Stream:
    """Transactions in chunks that can be read again and again.

    Parameters
    ----------
    data : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list, or anything else that can be gone through more
        than once, of `Transactions`, data frames or matrices. A function is called for every pass and returns
        transactions or chunks of them.

    Attributes
    ----------
    n_transactions : int or None
        The number of transactions, if it is known without reading them.

    Raises
    ------
    InvalidInputError
        If the data is none of these.
    """

    def __init__(self, data: Any) -> None:  # noqa: ANN401 - whatever users have
        self.n_transactions: int | None = None
        self._open: Callable[[], Any]
        if isinstance(data, Chunks):
            self.n_transactions = data.n_transactions
            self._open = data.__iter__
            return
        if callable(data):
            self._open = data
            return
        if isinstance(data, Iterator):
            raise InvalidInputError(
                f"expected data that can be read more than once, got {type(data).__name__}; pass a list of "
                "chunks, or a function that returns them anew for each pass"
            )
        if not _holds_chunks(data):
            data = [as_transactions(data)]
        if isinstance(data, list | tuple):
            data = [as_transactions(chunk) for chunk in data]
            self.n_transactions = sum(chunk.n_transactions for chunk in data)
        self._open = lambda: data

    def chunks(self) -> Iterator[Transactions]:
        """Read the data once."""
        opened = self._open()
        if not isinstance(opened, Iterator) and not _holds_chunks(opened):
            opened = [opened]
        for chunk in opened:
            yield as_transactions(chunk)


def _holds_chunks(data: Any) -> bool:  # noqa: ANN401 - whatever users have
    """Whether something holds chunks of transactions, rather than transactions."""
    if isinstance(data, Transactions | str | bytes) or not isinstance(data, Iterable):
        return False
    if hasattr(data, "columns") or hasattr(data, "shape"):
        return False
    first = next(iter(data), None)
    is_matrix = len(getattr(first, "shape", ())) == 2
    return isinstance(first, Transactions) or hasattr(first, "columns") or is_matrix


class Numbering:
    """Numbers for item names, given as names come up.

    Parameters
    ----------
    names : iterable of names
        Those that get the first numbers.
    """

    def __init__(self, names: Iterable[Label]) -> None:
        self._number_of = {name: number for number, name in enumerate(names)}
        self._in_data: dict[Label, int] = {}
        self._items = Items(())
        self._latest: tuple[Items, npt.NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        return len(self._number_of)

    def of(self, items: Items) -> npt.NDArray[np.int32]:
        """Return the numbers of the items of a chunk of the data, new ones where they are new.

        Raises
        ------
        InvalidInputError
            If they are strings where those of other chunks are numbers, or the other way round.
        """
        if self._latest is None or self._latest[0] != items:
            for name in items:
                self._in_data[name] = self._number_of.setdefault(name, len(self._number_of))
            self._items = Items(self._in_data)
            self._latest = items, np.array([self._in_data[name] for name in items], dtype=np.int32)
        return self._latest[1]

    def items(self) -> tuple[Items, npt.NDArray[np.int32]]:
        """Return the items of the data, in the order in which they came up, and their numbers."""
        return self._items, np.array(list(self._in_data.values()), dtype=np.int32)
