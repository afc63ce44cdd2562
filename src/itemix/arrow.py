"""NumPy values and names as Arrow arrays.

`pyarrow.array` and `pyarrow.scalar` make the same, but to see whether values are pandas' they import pandas,
where that is installed: a third of a second that a command has no use for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt
    import pyarrow as pa


def as_arrow(values: npt.NDArray[Any]) -> pa.Array:
    """Return numbers, truth values or names as an Arrow array; numbers share the memory they have."""
    import pyarrow as pa

    if values.dtype == object:
        return names_as_arrow(values)
    if values.dtype == np.bool_:
        kind, data = pa.bool_(), np.packbits(values, bitorder="little")
    else:
        kind, data = pa.from_numpy_dtype(values.dtype), np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def names_as_arrow(names: Iterable[str]) -> pa.Array:
    """Return names as an Arrow array of strings; large ones where they take more than two gigabytes."""
    import pyarrow as pa

    texts = [name.encode() for name in names]
    offsets = np.append(0, np.cumsum([len(text) for text in texts], dtype=np.int64))
    is_large = offsets[-1] > np.iinfo(np.int32).max
    kind, width = (pa.large_string(), np.int64) if is_large else (pa.string(), np.int32)
    buffers = [None, pa.py_buffer(offsets.astype(width)), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(kind, len(texts), buffers)


def joined(*parts: pa.Array | str) -> pa.Array:
    """Return texts put together, one of each array, which are of the same length; a str is in all of them."""
    import pyarrow.compute as pc

    # To Arrow the last one is what stands between the others.
    texts = [_scalar(part) if isinstance(part, str) else part for part in (*parts, "")]
    return pc.binary_join_element_wise(*texts)


def lists_joined(lists: pa.ListArray, between: str) -> pa.Array:
    """Return the texts of each list put together, with `between` between any two."""
    import pyarrow.compute as pc

    return pc.binary_join(lists, _scalar(between))


def _scalar(text: str) -> pa.Scalar:
    return names_as_arrow([text])[0]
