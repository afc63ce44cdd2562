"""Arrays as JSON has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def as_list(values: npt.NDArray[Any]) -> list[Any]:
    """Return numbers as a list, with None for NaN and infinity, which JSON does not have."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return [x if finite else None for x, finite in zip(values.tolist(), np.isfinite(values), strict=True)]
    listed: list[Any] = values.tolist()
    return listed


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn columns of the same length into rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
