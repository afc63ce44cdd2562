"""Named data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.data.synthetic import grocery_store

if TYPE_CHECKING:
    from itemix.transactions import Transactions


def load(name: str) -> Transactions:
    """Return a named data set."""
    if name == "grocery_store":
        return grocery_store()
    raise NotImplementedError(name)
