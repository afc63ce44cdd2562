"""The items of a whole file, gathered from its pieces, and the pieces renumbered by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.encoding import Encoded
from itemix.core.items import Items
from itemix.errors import InvalidInputError
from itemix.io.csv import labels_from_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import numpy.typing as npt


class FileItems:
    """The items of a file, and what they are called in it.

    Parameters
    ----------
    items : Items
        What the items are called here.
    written : array of labels
        What each is called in the pieces of the file.
    """

    def __init__(self, items: Items, written: npt.NDArray[Any]) -> None:
        self.items = items
        self._written = written
        self._order = np.argsort(written, kind="stable")
        self._sorted = written[self._order]

    def renamed(self, items: Items) -> FileItems:
        """Return the same with other names for its items, in the order of their codes."""
        return FileItems(items, self._written)

    def renumbered(self, piece: Encoded, label: str) -> Encoded:
        """Return a piece with the codes of the whole file.

        Raises
        ------
        InvalidInputError
            If the piece has an item that was not there when the items were gathered.
        """
        labels = piece.items.labels
        if not len(labels):
            return Encoded(piece.indptr, piece.indices, self.items)
        is_known = np.zeros(len(labels), dtype=bool)
        if labels.dtype == self._sorted.dtype and len(self._sorted):
            places = np.minimum(np.searchsorted(self._sorted, labels), len(self._sorted) - 1)
            is_known = self._sorted[places] == labels
        if not is_known.all():
            raise InvalidInputError(
                f"expected the same items in {label} as before, got also "
                f"{piece.items[int(is_known.argmin())]!r}; wait until nobody writes to the file, and call "
                "read_chunks again"
            )
        new_code = self._order[places].astype(np.int32)
        return Encoded(piece.indptr, new_code[piece.indices], self.items)


def gathered(
    pieces: Iterable[Encoded], declared: Items | None = None, *, is_text: bool = False
) -> tuple[FileItems, int]:
    """Read all pieces, and return their items and the number of transactions.

    Items that are declared keep their order; others are sorted. Text is read as numbers where all of it is.
    """
    n_transactions = 0
    written = _Distinct()
    for piece in pieces:
        n_transactions += len(piece.indptr) - 1
        if declared is None:
            written.add(piece.items.labels)
    if declared is not None:
        return FileItems(declared, declared.labels), n_transactions
    names = written.finished()
    labels = labels_from_text(names.tolist()) if is_text else names
    order = np.argsort(labels, kind="stable")
    return FileItems(Items(labels[order]), names[order]), n_transactions


class _Distinct:
    """The distinct labels among many; sorted anew whenever their number may have doubled."""

    def __init__(self) -> None:
        self._parts: list[npt.NDArray[Any]] = []
        self._n_sorted = self._n_added = 0

    def add(self, labels: npt.NDArray[Any]) -> None:
        if not len(labels):
            return
        self._parts.append(labels)
        self._n_added += len(labels)
        if self._n_added > self._n_sorted:
            self._parts = [self.finished()]
            self._n_sorted, self._n_added = len(self._parts[0]), 0

    def finished(self) -> npt.NDArray[Any]:
        return np.unique(np.concatenate(self._parts)) if self._parts else np.empty(0, dtype=object)
