"""The supports that rules need: those that were mined, and others counted in the data or from closed sets."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from itemix.core.display import format_set, plural
from itemix.core.sets import Sets, readonly
from itemix.core.transactions import weights_of
from itemix.errors import InvalidInputError
from itemix.io.partitions import Partitions
from itemix.kernels import lattice
from itemix.kernels.mining import candidates
from itemix.kernels.mining.rules import KnownSupports

if TYPE_CHECKING:
    from itemix._typing import Floats, Ints
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions

_SETS_COMPARED = 1000
_SAME = 1e-9


class Supports:
    """Known supports of sets, which can be added to.

    Parameters
    ----------
    itemsets : Itemsets
        The itemsets with the first supports.
    data : Transactions or Partitions, optional
        The data in which others are counted; the itemsets must have been mined from it.

    Attributes
    ----------
    n_transactions : int or None
        The number of transactions behind the supports; None if they come from a model.

    Raises
    ------
    InvalidInputError
        If the data is not what the itemsets were mined from.
    """

    def __init__(self, itemsets: Itemsets, data: Transactions | Partitions | None) -> None:
        self._itemsets = itemsets
        self._sets = itemsets.sets
        self._support = itemsets.support
        self._data = data
        self.n_transactions = itemsets.n_transactions
        if data is not None:
            self._check_data(data)

    def known(self) -> KnownSupports:
        """Return the known supports for kernels."""
        table, keys = self._sets.index()
        return KnownSupports(table, self._sets.offsets, self._sets.codes, keys, self._support)

    def add(self, missing: Sets) -> None:
        """Find the supports of more sets.

        Raises
        ------
        InvalidInputError
            If there is no data, and they do not follow from closed sets.
        """
        if self._data is not None:
            support = count(missing, self._data) / max(self._data.n_transactions, 1)
        elif self._itemsets.target == "closed":
            support = self._of_closures(missing)
        else:
            raise InvalidInputError(
                "expected the supports of all parts of the itemsets, got itemsets that lack at least "
                f"{len(missing):,} of them, such as {format_set(missing[0])}; pass data= to count them, "
                "mine with target='all', or set support_only=True"
            )
        self._sets = Sets.concatenate([self._sets, missing])
        self._support = readonly(np.concatenate([self._support, support]), np.float64, copy=False)

    def of(self, sets: Sets) -> Floats:
        """Return the supports of sets that are all known."""
        found: Floats = self._support[self._sets.find(sets)]
        return found

    def _of_closures(self, missing: Sets) -> Floats:
        """Return the support of each set's closure: the closed superset with the highest support."""
        support = self._itemsets.support
        closed = self._itemsets.sets
        order = np.argsort(-support, kind="stable")
        n_items = len(closed.items)
        found = lattice.find_closures(
            closed.offsets, closed.codes, order, n_items, missing.offsets, missing.codes
        )
        closures: Floats = support[found]
        return closures

    def check_other_data(self, data: Transactions) -> None:
        """Check that data to test in is not the data that the itemsets were mined from.

        Raises
        ------
        InvalidInputError
            If it seems to be: their number and the first supports are the same.
        """
        first = self._itemsets.sets.part(0, _SETS_COMPARED)
        n = data.n_transactions
        if n and n == self.n_transactions and len(first):
            support = count(first, data, may_lack=True) / n
            if np.allclose(support, self._itemsets.support[: len(first)], rtol=0, atol=_SAME):
                raise InvalidInputError(
                    "expected holdout= with other transactions than those that the itemsets were mined from, "
                    f"got {plural(n, 'transaction')} with the same supports; try tx.split(0.5)"
                )

    def _check_data(self, data: Transactions | Partitions) -> None:
        n = self._itemsets.n_transactions
        if n is not None and n != data.n_transactions:
            raise InvalidInputError(
                f"expected the {plural(n, 'transaction')} that the itemsets were mined from, got "
                f"{data.n_transactions:,}; pass the same data"
            )
        first = self._sets.part(0, _SETS_COMPARED)
        support = count(first, data) / max(data.n_transactions, 1)
        wrong = np.flatnonzero(np.abs(support - self._support[: len(first)]) > _SAME)
        if len(wrong):
            position = int(wrong[0])
            raise InvalidInputError(
                "expected the data that the itemsets were mined from, got data in which "
                f"{format_set(first[position])} has support {support[position]:.6g} instead of "
                f"{self._support[position]:.6g}; pass the same data"
            )
        self.n_transactions = data.n_transactions


def count(sets: Sets, data: Transactions | Partitions, *, may_lack: bool = False) -> Ints:
    """Count how many transactions hold each set; items are matched by name.

    Sets with an item that the data does not have are counted as 0 if it `may_lack` items.

    Raises
    ------
    UnknownItemError
        If the data does not have an item of the sets, and may not lack any.
    """
    if isinstance(data, Partitions):
        of_part = partial(count, sets, may_lack=may_lack)
        return sum(data.map(of_part), start=np.zeros(len(sets), dtype=np.int64))
    code_in_data = np.arange(len(sets.items), dtype=np.int32)
    if sets.items != data.items:
        used = np.unique(sets.codes)
        known = data.items if may_lack else ()
        code_in_data[used] = [
            data.n_items if may_lack and name not in known else data.items.code(name)
            for name in sets.items.names(used)
        ]
    rows = data.indptr, data.indices, weights_of(data)
    return candidates.count_sets(*rows, sets.offsets, code_in_data[sets.codes], data.n_items + 1)
