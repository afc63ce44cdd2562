"""Any bytes are read, or refused by one error of one line; whole and in chunks they are the same."""

import io
import re
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

import itemix
from itemix import ItemixError, read_chunks, read_transactions
from itemix.io.read import FORMATS

WORDS = "1 2 10 0 -1 01 milk a null true yes NaN 1.0 1e3 order_id product items \xe9 \u0661 \xb2 # 0,1,0 1;0"
MARKS = [
    " ",
    "\t",
    ",",
    ";",
    "|",
    "\n",
    "\r\n",
    "\r",
    '"',
    '""',
    "\\",
    "[",
    "]",
    "{",
    "}",
    ":",
    "\x00",
    "\x1c",
]
ODD = ["9" * 18, "9" * 19, "1" * 5000, "[" * 3000, '["milk"]', '{"items": ["a"]}', "\x85", "\u2028", "\ufeff"]
PIECES = st.sampled_from([*WORDS.split(" "), *MARKS, *ODD])
CONTENTS = st.one_of(
    st.lists(PIECES, max_size=30).map(lambda pieces: "".join(pieces).encode()), st.binary(max_size=100)
)
ENCODINGS = [
    "utf-8",
    "latin-1",
    "utf-16",
    "utf-32",
    "ascii",
    "utf-7",
    "idna",
    "punycode",
    "unicode_escape",
    "",
]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "format": st.sampled_from(list(FORMATS)),
        "encoding": st.sampled_from(ENCODINGS),
        "delimiter": st.sampled_from([",", "\t", " ", "a", '"', "\n", "1", "é", "", "\x00"]),
        "header": st.booleans(),
        "transaction": st.sampled_from(["a", "order_id", "", "0"]),
        "item": st.sampled_from(["a", "items", "", "1"]),
    },
)
NAMES = st.sampled_from(["x.dat", "x.csv", "x.tsv", "x.jsonl", "x"])


def answer(call):
    """Return what a call returns, None if it is refused as it should be."""
    try:
        return call()
    except ItemixError as error:
        message = str(error)
        assert message.strip()
        assert "\n" not in message
        assert len(message) < 700
        return None


def read_both_ways(path, **options):
    """Read a file whole and in chunks, and compare; long tables are read whole only."""
    whole = answer(lambda: read_transactions(path, **options))
    chunks = answer(lambda: list(read_chunks(path, **options)))
    if whole is None:
        assert chunks is None
    elif "long" not in whole.source:
        rows = [sorted(map(str, row)) for chunk in chunks for row in chunk.to_lists()]
        assert rows == [sorted(map(str, row)) for row in whole.to_lists()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder whose files are written over and over."""
    return tmp_path_factory.mktemp("hostile")


@given(CONTENTS, NAMES, OPTIONS)
def test_any_text(folder, content, name, options):
    """Pieces of all text formats in any order, read by any options."""
    (folder / name).write_bytes(content)
    read_both_ways(folder / name, **options)


def as_file(name):
    """Return a small file of transactions, as bytes."""
    data = itemix.Transactions.from_lists([["milk", "bread"], ["milk"], [], ["bread", "beer", "é"]])
    table = pa.table({"items": data.to_lists()})
    stream = io.BytesIO()
    if name == "x.parquet":
        pq.write_table(table, stream)
    elif name == "x.arrow":
        feather.write_feather(table, stream, compression="uncompressed")
    else:
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
    return stream.getvalue()


@given(
    st.sampled_from(["x.parquet", "x.arrow", "stream.arrow"]),
    st.lists(
        st.tuples(
            st.integers(0, 5000),
            st.one_of(
                st.binary(min_size=1, max_size=3),
                st.sampled_from([0, -1, 7, 2**31 - 1, -(2**31)]).map(lambda n: struct.pack("<i", n)),
                st.sampled_from([-1, 2**62, -(2**63)]).map(lambda n: struct.pack("<q", n)),
            ),
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_damaged_tables(folder, name, changes):
    """Parquet and Arrow files with some other bytes; from the end on, where their structure is."""
    content = bytearray(as_file(name))
    for place, new in changes:
        at = len(content) - 1 - place % len(content)
        content[at : at + len(new)] = new
    (folder / name).write_bytes(content)
    read_both_ways(folder / name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.arrow", "expected enough memory for .*x.arrow, got too little .*; copy or download it again"),
        ("stream.arrow", "expected a complete Arrow file, got .*stream.arrow which is cut short or damaged"),
    ],
)
def test_damage_that_asks_for_more_than_memory(folder, name, message):
    """Lengths of petabytes in a damaged file are refused in one line, not tried."""
    table = pa.table({"order_id": [1, 1, 2], "product": ["milk", "bread", "milk"]})
    stream = io.BytesIO()
    if name == "x.arrow":
        feather.write_feather(table, stream, compression="zstd")
    else:
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
    messages = []
    content = stream.getvalue()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] = 1 if changed[place] == 0 else 0
        (folder / name).write_bytes(changed)
        try:
            read_transactions(folder / name)
        except ItemixError as error:
            messages.append(str(error))
    assert any(re.match(message, line) for line in messages)


COLUMNS = {
    pa.string(): ["a", "", None],
    pa.int64(): [0, 1, 2],
    pa.uint64(): [0, 2**64 - 1, None],
    pa.bool_(): [True, False, None],
    pa.float64(): [0.0, 1.0, float("nan")],
    pa.null(): [None, None, None],
    pa.binary(): [b"\xff", b"", None],
    pa.date32(): [0, 1, None],
    pa.dictionary(pa.int8(), pa.string()): ["a", "b", None],
    pa.list_(pa.string()): [["a", "b"], [], None],
    pa.list_(pa.int64()): [[1, 1], [None], [2]],
    pa.list_(pa.list_(pa.string())): [[["a"]], [[]], None],
    pa.list_(pa.bool_()): [[True], [], None],
    pa.struct([("a", pa.int64())]): [{"a": 1}, None, {"a": None}],
    pa.map_(pa.string(), pa.int64()): [[("a", 1)], [], None],
}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["order_id", "product", "items", "a", "", "x\ny"]), st.sampled_from(list(COLUMNS))
        ),
        max_size=3,
    ),
    st.integers(0, 3),
    st.sampled_from(
        [{}, {"format": "long"}, {"format": "onehot"}, {"item": "a"}, {"transaction": "order_id"}]
    ),
)
def test_odd_tables(folder, columns, n_rows, options):
    """Tables of columns of any types, with any names, some of them twice."""
    arrays = [pa.array(COLUMNS[kind][:n_rows], kind) for _, kind in columns]
    table = pa.Table.from_arrays(arrays, names=[name for name, _ in columns])
    feather.write_feather(table, folder / "x.arrow", compression="uncompressed")
    read_both_ways(folder / "x.arrow", **options)
