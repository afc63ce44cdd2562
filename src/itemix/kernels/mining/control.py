"""What the threads of one search share: why to stop, how much has been found.

`control` (4,) int64 is written by all threads, with atomic additions; the caller sets STOP to CANCELLED to
end a search, and reads N_ROOTS_DONE to show progress.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itemix.kernels.intrinsics import fetch_add
from itemix.kernels.jit import kernel

STOP, N_FOUND, N_CODES, N_ROOTS_DONE = 0, 1, 2, 3
RUNNING, CANCELLED, TOO_MANY = 0, 1, 2

# What an itemset costs until it is returned: its record, its offset, count and support; and four bytes an
# item.
BYTES_PER_SET = 36
BYTES_PER_CODE = 4
# A record that only leads to longer sets, a key and a count, takes the room of this many items.
CODES_PER_STEP = 3


class SearchLimits(NamedTuple):
    """Which sets to find, and when to stop.

    Attributes
    ----------
    min_count : int
        How often a set must occur.
    min_len, max_len : int
        How many items a set has.
    max_itemsets : int
        With more sets than these, the search stops.
    max_bytes : int
        With a result that takes more memory than this, the search stops.
    """

    min_count: int
    min_len: int
    max_len: int
    max_itemsets: int
    max_bytes: int


@kernel
def report(n_found: int, n_codes: int, control: np.ndarray, limits: SearchLimits) -> None:
    """Add to the shared totals; stop all threads where they are too much."""
    total = fetch_add(control, N_FOUND, n_found) + n_found
    codes = fetch_add(control, N_CODES, n_codes) + n_codes
    if total > limits.max_itemsets or BYTES_PER_SET * total + BYTES_PER_CODE * codes > limits.max_bytes:
        control[STOP] = TOO_MANY
