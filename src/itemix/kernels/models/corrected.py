"""Events in the transactions of a corrected mixture: which rows hold some items and lack others.

Rows and columns are the same transactions in compressed form, once by row and once by item. Present and
absent items of events come in the same form, with ascending codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.kernels.jit import kernel

if TYPE_CHECKING:
    from itemix.kernels.csr import RowArrays


@kernel
def _holds(rows: RowArrays, t: int, code: int) -> bool:
    """Whether row t holds an item; codes ascend in a row."""
    low, high = rows.indptr[t], rows.indptr[t + 1]
    while low < high:
        middle = (low + high) // 2
        if rows.indices[middle] < code:
            low = middle + 1
        else:
            high = middle
    return bool(low < rows.indptr[t + 1] and rows.indices[low] == code)


@kernel
def _agrees(rows: RowArrays, t: int, present: RowArrays, absent: RowArrays, event: int) -> bool:
    """Whether row t holds all present items of an event and none of its absent ones."""
    for j in range(present.indptr[event], present.indptr[event + 1]):
        if not _holds(rows, t, present.indices[j]):
            return False
    for j in range(absent.indptr[event], absent.indptr[event + 1]):
        if _holds(rows, t, absent.indices[j]):
            return False
    return True


@kernel
def matching_rows(
    rows: RowArrays, columns: RowArrays, present: RowArrays, absent: RowArrays, event: int, out: np.ndarray
) -> int:
    """Write the rows that agree with one event to `out` (N,) int64, and return how many they are.

    Only the rows of the rarest present item are looked at. Equivalent to
    np.flatnonzero(X[:, present].all(axis=1) & ~X[:, absent].any(axis=1)).
    """
    rarest = np.int64(-1)
    for j in range(present.indptr[event], present.indptr[event + 1]):
        code = np.int64(present.indices[j])
        size = columns.indptr[code + 1] - columns.indptr[code]
        if rarest < 0 or size < columns.indptr[rarest + 1] - columns.indptr[rarest]:
            rarest = code
    n = 0
    if rarest < 0:
        for t in range(len(rows.indptr) - 1):
            if _agrees(rows, t, present, absent, event):
                out[n] = t
                n += 1
        return n
    for j in range(columns.indptr[rarest], columns.indptr[rarest + 1]):
        t = int(columns.indices[j])
        if _agrees(rows, t, present, absent, event):
            out[n] = t
            n += 1
    return n


@kernel
def count_events(
    rows: RowArrays,
    columns: RowArrays,
    weights: np.ndarray,
    present: RowArrays,
    absent: RowArrays,
    found: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Write how many transactions agree with each event to `counts` (n_events,) int64.

    `weights` (N,) int64 or empty for ones; `found` (N,) int64 is room to work in. Equivalent to
    [weights[matching_rows(event)].sum() for event in events].
    """
    for event in range(len(counts)):
        n = matching_rows(rows, columns, present, absent, event, found)
        total = np.int64(n)
        if len(weights) > 0:
            total = np.int64(0)
            for j in range(n):
                total += weights[found[j]]
        counts[event] = total
