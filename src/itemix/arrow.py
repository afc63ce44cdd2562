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
    """Return numbers, which are shared rather than copied, truth values, or names."""
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
    kind = pa.string()
    if offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    else:
        kind = pa.large_string()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(kind, len(texts), buffers)


def joined(*parts: pa.Array | str) -> pa.Array:
    """Return the texts of arrays of the same length put together, one of each; a str is the same in all."""
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*map(_scalar, parts), _scalar(""))


def lists_joined(lists: pa.ListArray, between: str) -> pa.Array:
    """Return the texts of each list put together, with something between them."""
    import pyarrow.compute as pc

    return pc.binary_join(lists, _scalar(between))


def _scalar(part: pa.Array | str) -> pa.Array | pa.Scalar:
    return names_as_arrow([part])[0] if isinstance(part, str) else part
