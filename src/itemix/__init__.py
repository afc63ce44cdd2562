"""itemix: learn a mixture model from transactions once, and answer every itemset question from it.

The public names are imported when they are first used, so that ``import itemix`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itemix.data import datasets
    from itemix.data.readers import read_transactions
    from itemix.data.writers import write_transactions
    from itemix.errors import (
        DatasetUnavailableError,
        InvalidInputError,
        ItemixError,
        MissingExtraError,
        ModelFileError,
        TooManyItemsetsError,
        UnknownItemError,
    )
    from itemix.items import Items
    from itemix.itemsets import Itemsets
    from itemix.mining.rules import Rules, rules
    from itemix.mining.search import mine
    from itemix.transactions import Transactions

__version__ = "0.1.0"

_HOME = {
    "DatasetUnavailableError": "itemix.errors",
    "InvalidInputError": "itemix.errors",
    "Items": "itemix.items",
    "ItemixError": "itemix.errors",
    "Itemsets": "itemix.itemsets",
    "MissingExtraError": "itemix.errors",
    "ModelFileError": "itemix.errors",
    "Rules": "itemix.mining.rules",
    "TooManyItemsetsError": "itemix.errors",
    "Transactions": "itemix.transactions",
    "UnknownItemError": "itemix.errors",
    "mine": "itemix.mining.search",
    "read_transactions": "itemix.data.readers",
    "rules": "itemix.mining.rules",
    "write_transactions": "itemix.data.writers",
}
_MODULES = {"datasets": "itemix.data.datasets"}

__all__ = [*_HOME, *_MODULES]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'itemix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
