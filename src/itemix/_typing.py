"""Names of types that many modules share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of any type."""
Floats = npt.NDArray[np.float64]
"""Probabilities, weights, logarithms."""
Singles = npt.NDArray[np.float32]
"""Numbers of single precision, where there are many."""
Codes = npt.NDArray[np.int32]
"""Item codes, ranks and labels of components."""
Ints = npt.NDArray[np.int64]
"""Counts, offsets and positions."""
Marks = npt.NDArray[np.bool_]
"""Yes or no for each of many."""
Hashes = npt.NDArray[np.uint64]
"""Hashes of sets."""

TransactionsLike = Any
"""Anything that `as_transactions` takes: `Transactions`, a data frame, a 0/1 matrix or lists of names."""
ChunksLike = Any
"""Data that can be read more than once: transactions in any form, chunks, or a function that returns them."""
FrameLike = Any
"""A data frame of pandas, polars or pyarrow."""
MatrixLike = Any
"""A matrix: NumPy's, a sparse one of SciPy, or rows in lists."""
ModelLike = Any
"""A model, or a fitted estimator."""
