"""Counts of sets in data, which may be in parts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from itemix.core.transactions import weights_of
from itemix.io.partitions import Partitions
from itemix.kernels.mining.counts import count_sets

if TYPE_CHECKING:
    from itemix._typing import Ints
    from itemix.core.sets import Sets
    from itemix.core.transactions import Transactions


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
    return count_sets(*rows, sets.offsets, code_in_data[sets.codes], data.n_items + 1)
