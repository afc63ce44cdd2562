"""Items by how frequent or probable they are: the order in which mining goes, and in which results stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def ranks_by(values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the rank of each item: the highest value first, ties by code."""
    rank_of = np.empty(len(values), dtype=np.int32)
    rank_of[np.argsort(-without_noise(values), kind="stable")] = np.arange(len(values), dtype=np.int32)
    return rank_of


def without_noise(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return probabilities rounded to about twelve digits, so that equal ones tie whatever the rounding."""
    if values.dtype.kind != "f":
        return values
    mantissa, exponent = np.frexp(values)
    rounded: npt.NDArray[Any] = np.ldexp(np.round(mantissa, 12), exponent)
    return rounded
