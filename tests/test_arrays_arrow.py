"""Arrow arrays made without pandas are those that pyarrow makes."""

import numpy as np
import pyarrow as pa
import pytest

from itemix._arrays import as_arrow, joined, lists_joined, names_as_arrow


@pytest.mark.parametrize(
    "values",
    [
        np.arange(5, dtype=np.int32),
        np.arange(10, dtype=np.int64)[::2],
        np.array([0.5, np.nan, -np.inf]),
        np.array([True, False, True] * 7),
        np.array(["milk", "", "crème, 牛乳"], dtype=object),
        np.empty(0),
    ],
    ids=["int32", "strided", "float", "bool", "names", "empty"],
)
def test_the_same_as_pyarrow(values):
    """Type and values are equal, also of truth values, which Arrow stores in bits."""
    found, expected = as_arrow(values), pa.array(values)
    found.validate(full=True)
    assert found.type == expected.type
    assert found.equals(expected) or np.isnan(values.astype(float)).any()
    np.testing.assert_array_equal(np.array(found.to_pylist()), np.array(expected.to_pylist()))


def test_no_names():
    """An array of no names is one of strings."""
    assert names_as_arrow([]).equals(pa.array([], pa.string()))


def test_texts_are_joined():
    """Arrays are put together element by element, lists each by themselves."""
    names = names_as_arrow(["a", "b", "c"])
    assert joined("<", names, "|", names, ">").to_pylist() == ["<a|a>", "<b|b>", "<c|c>"]
    lists = pa.ListArray.from_arrays(as_arrow(np.array([0, 2, 2, 3], dtype=np.int32)), names)
    assert lists_joined(lists, ", ").to_pylist() == ["a, b", "", "c"]
