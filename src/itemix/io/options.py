"""What a caller says of a file, and what columns are usually called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from itemix.core.frames import check_column, check_different, columns_shown
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENDINGS_OF_KEYS = ("", "id", "no", "nr", "num", "number", "key", "code")
TRANSACTION_NAMES = (
    "tid",
    *(
        f"{noun}{ending}"
        for noun in (
            "transaction", "basket", "order", "invoice", "receipt", "bill", "ticket", "session", "visit",
            "cart", "customer", "member", "user",
        )
        for ending in _ENDINGS_OF_KEYS
    ),
    "id",
)  # fmt: skip
ITEM_NAMES = (
    "item", "items", "itemid", "itemname", "itemdescription", "itemcode", "itemno", "itemnumber", "product",
    "products", "productid", "productname", "productdescription", "productcode", "sku", "skuid", "article",
    "articleid", "articlename", "stockcode", "description", "name", "label", "code", "page", "movie",
    "movieid", "event",
)  # fmt: skip
LIST_NAMES = ("items", "basket", "transaction", "itemset", "products", "skus", "codes", "labels", "names")


@dataclass(frozen=True)
class ReadOptions:
    """How a file is written and what its columns mean; None: to be found out.

    Attributes
    ----------
    encoding : str
        Of text.
    delimiter : str or None
        Between the cells of CSV.
    header : bool or None
        Whether the first line of CSV has the names of the columns.
    transaction, item : str or None
        The columns of a long table. `item` is also the list column, `transaction` also a column that is no
        item.
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool | None = None
    transaction: str | None = None
    item: str | None = None


def find_column(columns: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the column with one of some well-known names, whatever its case and punctuation."""
    plain = {re.sub(r"[^a-z0-9]", "", column.lower()): column for column in reversed(columns)}
    return next((plain[name] for name in known if name in plain), None)


def looks_long(columns: Sequence[str]) -> bool:
    """Whether the columns have the usual names of a long table."""
    transaction, item = find_column(columns, TRANSACTION_NAMES), find_column(columns, ITEM_NAMES)
    return transaction is not None and item is not None and transaction != item


def pair_of_columns(columns: Sequence[str], options: ReadOptions) -> tuple[str, str]:
    """Return the transaction and the item column of a long table.

    Columns that were not named are found by their usual names; of two columns, the first is the transaction.

    Raises
    ------
    InvalidInputError
        If a column is not there, or cannot be found.
    """
    found = []
    for role, given, known in (
        ("transaction", options.transaction, TRANSACTION_NAMES),
        ("item", options.item, ITEM_NAMES),
    ):
        if given is not None:
            check_column(given, columns, role)
        found.append(given or find_column([name for name in columns if name not in found], known))
    if len(columns) == 2:
        others = [name for name in columns if name not in found]
        found = [name if name is not None else others.pop(0) for name in found]
    transaction, item = found
    if transaction is None or item is None:
        role = "transaction" if transaction is None else "item"
        raise InvalidInputError(
            f"expected a column of {role}s, got {columns_shown(columns)}; name the right one with {role}="
        )
    check_different(transaction, item)
    return transaction, item


def checked_delimiter(delimiter: str | None) -> str | None:
    """Return the delimiter, if it can be one.

    Raises
    ------
    InvalidInputError
        If it is not one ASCII character, or one that CSV needs itself.
    """
    if delimiter is None:
        return None
    is_one = isinstance(delimiter, str) and len(delimiter) == 1
    if not is_one or not delimiter.isascii() or delimiter in '"\r\n':
        raise InvalidInputError(
            f"expected one ASCII character as the delimiter, got {delimiter!r}; try ',' or '\\t'"
        )
    return delimiter
