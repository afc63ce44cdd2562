"""What the threads of one search share: why to stop, how much has been found.

`control` (4,) int64 is written by all threads, with atomic additions; the caller sets STOP to CANCELLED to
end a search, and reads N_ROOTS_DONE to show progress. `limits` (5,) int64 is only read.
"""

from __future__ import annotations

import numpy as np

from itemix.kernels.intrinsics import fetch_add
from itemix.kernels.jit import kernel

STOP, N_FOUND, N_CODES, N_ROOTS_DONE = 0, 1, 2, 3
RUNNING, CANCELLED, TOO_MANY = 0, 1, 2
MIN_COUNT, MIN_LEN, MAX_LEN, MAX_FOUND, MAX_BYTES = 0, 1, 2, 3, 4

# What an itemset costs until it is returned: its record, its offset, count and support; and four bytes an
# item.
BYTES_PER_SET = 36
BYTES_PER_CODE = 4
# A record that only leads to longer sets, a key and a count, takes the room of this many items.
CODES_PER_STEP = 3


@kernel
def report(n_found: int, n_codes: int, control: np.ndarray, limits: np.ndarray) -> None:
    """Add to the shared totals; stop all threads where they are too much."""
    total = fetch_add(control, N_FOUND, n_found) + n_found
    codes = fetch_add(control, N_CODES, n_codes) + n_codes
    if total > limits[MAX_FOUND] or BYTES_PER_SET * total + BYTES_PER_CODE * codes > limits[MAX_BYTES]:
        control[STOP] = TOO_MANY
