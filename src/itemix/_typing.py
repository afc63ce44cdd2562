"""Names of types that many modules share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of any type."""
Floats = npt.NDArray[np.float64]
"""Probabilities, weights, logarithms."""
Codes = npt.NDArray[np.int32]
"""Item codes, ranks and labels of components."""
Ints = npt.NDArray[np.int64]
"""Counts, offsets and positions."""
Marks = npt.NDArray[np.bool_]
"""Yes or no for each of many."""
Hashes = npt.NDArray[np.uint64]
"""Hashes of sets."""

TransactionsLike = Any
"""What `as_transactions` takes: `Transactions`, a data frame, a matrix of 0 and 1, or lists of names."""
ChunksLike = Any
"""What can be read again and again: transactions in any form, chunks of them, or a function for either."""
ModelLike = Any
"""A model, or a fitted estimator."""
