import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from itemix import InvalidInputError, read_transactions


def read(table, write=pq.write_table, **options):
    """Write a table and read it again."""
    buffer = io.BytesIO()
    write(table, buffer)
    buffer.seek(0)
    return read_transactions(buffer, **options)


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.string()), pa.large_list(pa.string()), pa.list_(pa.dictionary(pa.int32(), pa.string()))],
)
def test_list_columns_of_all_kinds(kind):
    """A missing list is an empty transaction, as an empty one is."""
    table = pa.table(
        {"when": [1, 2, 3, 4], "bought": pa.array([["b", "a", "b"], [], None, ["c"]], type=kind)}
    )
    transactions = read(table)
    assert transactions.to_lists() == [["a", "b"], [], [], ["c"]]
    assert transactions.source == "a file object (Parquet, lists)"


def test_items_may_be_integers():
    """In lists and in long tables, of any width."""
    lists = pa.table({"items": pa.array([[3, 1], [2]], type=pa.list_(pa.uint8()))})
    pairs = pa.table({"tid": ["x", "x"], "item": pa.array([30, 4], type=pa.int16())})
    assert read(lists).to_lists() == [[1, 3], [2]]
    assert read(pairs).to_lists() == [[4, 30]]


def test_batches_are_put_together():
    """Row groups with other dictionaries make one numbering, in lists, long and one-hot tables."""
    n = 3000
    lists = pa.table({"items": [[f"i{t % 7}", f"i{t % 11}"] for t in range(n)]})
    pairs = pa.table({"order": [t // 2 for t in range(n)], "item": [f"i{t % 13}" for t in range(n)]})
    onehot = pa.table({f"i{j}": [t % (j + 2) == 0 for t in range(n)] for j in range(3)})

    def in_groups(table, buffer):
        pq.write_table(table, buffer, row_group_size=500)

    assert read(lists, in_groups).to_lists() == [sorted({f"i{t % 7}", f"i{t % 11}"}) for t in range(n)]
    expected = [sorted({f"i{2 * t % 13}", f"i{(2 * t + 1) % 13}"}) for t in range(n // 2)]
    assert read(pairs, in_groups).to_lists() == expected
    assert read(onehot, in_groups).to_lists() == [
        [f"i{j}" for j in range(3) if t % (j + 2) == 0] for t in range(n)
    ]


def test_empty_tables():
    """No rows at all are no transactions; a one-hot table still has its items."""
    assert len(read(pa.table({"items": pa.array([], type=pa.list_(pa.string()))}))) == 0
    assert len(read(pa.table({"order": pa.array([], pa.int64()), "item": pa.array([], pa.string())}))) == 0
    nothing = read(pa.table({"a": pa.array([], pa.bool_())}))
    assert (len(nothing), list(nothing.items)) == (0, ["a"])


def test_columns_can_be_named():
    """One of several list columns, the columns of a long table, a column that is no item."""
    two = pa.table({"seen": [["a"]], "bought": [["b"]]})
    assert read(two, item="bought").to_lists() == [["b"]]
    long = pa.table({"k": [1, 1], "v": ["a", "b"]})
    assert read(long, transaction="k", item="v").to_lists() == [["a", "b"]]
    onehot = pa.table({"day": ["mo", "tu"], "a": [1, 0], "b": [True, True]})
    assert read(onehot, transaction="day").to_lists() == [["a", "b"], ["b"]]


def test_the_index_of_pandas_is_no_item(tmp_path):
    """A frame that was written with its index."""
    path = tmp_path / "frame.parquet"
    pd.DataFrame({"a": [1, 0], "b": [0, 1]}, index=[7, 8]).to_parquet(path)
    assert read_transactions(path).to_lists() == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (
            {"a": ["x"], "b": [1]},
            {},
            r"expected a list column, a long table or columns of 0 and 1, got columns 'a', 'b'",
        ),
        (
            {"a": [["x"]], "b": [["y"]]},
            {},
            r"expected one list column, got columns 'a', 'b'; name it with item=",
        ),
        ({"a" * 5000: [1]}, {"item": "z"}, r"got columns 'a{60}…'; name the right one with item="),
        ({"a": [1]}, {"item": "z"}, r"expected a column 'z', got columns 'a'; name the right one with item="),
        (
            {"a": [1]},
            {"transaction": "z", "format": "onehot"},
            r"expected a column 'z', .* with transaction=",
        ),
        ({"a": [0, 3]}, {}, r"expected only 0 and 1 .* got 3 in column 'a'"),
        ({"a": [0, None]}, {}, r"got a missing value in column 'a'"),
        ({"items": [["x", None]]}, {}, r"expected item names in every list, got 1 missing values"),
        ({"items": [[1.5]]}, {}, r"all strings or all integers, got 1.5 \(float\)"),
        (
            {"order": [1, None], "item": ["a", "b"]},
            {},
            r"the transaction column 'order', got 1 missing",
        ),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    """The message names the columns that there are."""
    with pytest.raises(InvalidInputError, match=message):
        read(pa.table(table), **options)


SCRIPT = """
import gc, sys
from pathlib import Path
import itemix

def resident(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(field)))

small, large = sys.argv[1:]
itemix.read_transactions(small)
gc.collect()
before = resident("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
read = itemix.read_transactions(large)
print(resident("VmHWM") - before, read.indptr.nbytes + read.indices.nbytes, read.n_ones)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of resident memory from /proc")
def test_reading_takes_twice_the_memory_of_what_is_read(tmp_path):
    """Not more, though names come as text, rows are not sorted and some names come twice in a row."""
    rng = np.random.default_rng(0)
    names = [f"item {n}" for n in range(1000)]
    codes = (1000 * rng.random(1_000_000) ** 2).astype(np.int32)
    values = pa.DictionaryArray.from_arrays(codes, names).cast(pa.string())
    block = pa.table({"items": pa.ListArray.from_arrays(np.arange(0, 1_000_001, 10, dtype=np.int32), values)})
    for name, n_blocks in (("small", 1), ("large", 10)):
        with pq.ParquetWriter(tmp_path / name, block.schema) as writer:
            for _ in range(n_blocks):
                writer.write_table(block)
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SCRIPT, tmp_path / "small", tmp_path / "large"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    peak, size, n_ones = map(int, ran.stdout.split())
    assert n_ones == 10 * read_transactions(tmp_path / "small").n_ones

    assert peak < 2 * size, peak / size
