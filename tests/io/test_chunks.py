"""`itemix.read_chunks`: chunks that make up what `read_transactions` reads, in little memory."""

import gzip
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

import itemix
from itemix import InvalidInputError, MissingFileError, read_chunks, read_transactions
from itemix.core.encoding import Encoded
from itemix.core.items import Items
from itemix.correction import correct
from itemix.io.chunks import items_of_pieces
from itemix.io.fimi import fimi_pieces, read_fimi
from itemix.io.source import open_source
from itemix.mining.verification import verify

SIZES = (1, 13, 40, 100, 1 << 26)
NAMES = ("milk", "bread, white", 'a "b"', "two\nlines", "12", "007", "é", "x y")


def joined(chunks):
    """Put chunks over the same items together."""
    parts = list(chunks)
    items = parts[0].items
    assert all(part.items == items for part in parts)
    lengths = np.concatenate([part.lengths() for part in parts])
    codes = np.concatenate([part.indices for part in parts])
    return itemix.Transactions.from_canonical(np.concatenate([[0], np.cumsum(lengths)]), codes, items)


def check(path, size, **options):
    """Check that the chunks of a file are all of it, and return them."""
    whole, chunks = read_transactions(path, **options), read_chunks(path, chunk_bytes=size, **options)
    for _ in range(2):
        parts = list(chunks)
        assert joined(parts) == whole
        assert chunks.sizes == tuple(part.n_rows for part in parts)
        for part in parts:
            assert part.n_rows <= 1 or 8 * part.n_rows + 4 * len(part.indices) <= size
            assert part.source == whole.source
    assert (chunks.items, chunks.n_items) == (whole.items, whole.n_items)
    assert (chunks.source, chunks.n_transactions) == (whole.source, whole.n_transactions)
    return parts


def quoted(name):
    """Write a name as a cell of CSV."""
    return '"' + name.replace('"', '""') + '"' if re.search(r'[",\s]', name) else name


codes = st.lists(st.lists(st.integers(0, 10**12) | st.integers(0, 5), max_size=5), min_size=1, max_size=12)
baskets = st.lists(st.lists(st.sampled_from(NAMES), max_size=5), min_size=1, max_size=12)
numbers = st.lists(st.lists(st.sampled_from(["1", "2", "30"]), max_size=5), min_size=1, max_size=12)
bits = st.lists(st.lists(st.sampled_from("01"), min_size=3, max_size=3), min_size=1, max_size=12)


@st.composite
def files(draw):
    """Draw the bytes of a text file and its format: line ends, a mark and blank lines of any kind."""
    name = draw(st.sampled_from(["fimi", "basket", "basket", "onehot", "jsonl"]))
    blank = [""] if draw(st.booleans()) else []
    if name == "fimi":
        lines = [" ".join(map(str, row)) for row in draw(codes)]
    elif name == "basket":
        lines = [" , ".join(map(quoted, row)) for row in draw(baskets | numbers)]
    elif name == "jsonl":
        lines = [json.dumps(row) for row in draw(baskets | codes)]
    else:
        lines = ["b,10,a", *(",".join(row) for row in draw(bits))]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join([*lines[:2], *blank, *lines[2:]]) + draw(st.sampled_from(["", end, end * 2]))
    data = draw(st.sampled_from(["", "\ufeff"])).encode() + text.encode()
    return (gzip.compress(data) if draw(st.booleans()) else data), name


@given(files(), st.sampled_from(SIZES))
def test_the_chunks_of_text_are_all_of_it(tmp_path_factory, file, size):
    """Joined, they equal what is read at once, with the same items, in each pass; none is too large."""
    data, name = file
    path = tmp_path_factory.getbasetemp() / "chunks.txt"
    path.write_bytes(data)
    try:
        read_transactions(path, format=name)
    except InvalidInputError as error:  # nothing but blanks
        with pytest.raises(InvalidInputError, match=re.escape(str(error))):
            read_chunks(path, format=name)
    else:
        check(path, size, format=name)


def write_stream(table, path):
    """Write an Arrow stream in batches of two rows."""
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


WRITERS = {
    "parquet": lambda table, path: pq.write_table(table, path, row_group_size=2),
    "feather": lambda table, path: feather.write_feather(table, path, chunksize=2),
    "stream": write_stream,
}
TABLES = {
    "names": pa.table({"items": [["b", "a"], [], None, ["b", "b"], ["new"]]}),
    "numbers": pa.table({"items": [[3, 10], [10], [], [3], [4]], "day": [1, 2, 3, 4, 5]}),
    "onehot": pa.table({"z": [1, 0, 1], "a": [True, False, False]}),
    "no rows": pa.table({"items": pa.array([], pa.list_(pa.string()))}),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("writer", WRITERS)
def test_the_chunks_of_tables_are_all_of_them(tmp_path, writer, table, size):
    """So are those of Parquet and Arrow files, whatever their own batches."""
    WRITERS[writer](TABLES[table], tmp_path / "file")
    check(tmp_path / "file", size)


def test_a_batch_of_many_rows(tmp_path):
    """A batch of a file may be large: it is read part by part."""
    table = pa.table({"items": [[n % 7, n % 3] for n in range(70_000)]})
    with pa.ipc.new_file(tmp_path / "file.arrow", table.schema) as writer:
        writer.write_table(table)
    assert len(check(tmp_path / "file.arrow", 1 << 18)) > 3


@given(st.lists(st.sets(st.integers(0, 20)), max_size=12), st.booleans(), st.booleans())
def test_items_are_gathered_from_all_pieces(sets, are_names, is_text):
    """The items of the whole are those of any piece, in order; text that is all numbers is numbers."""
    written = [sorted(map(str, labels)) if are_names or is_text else sorted(labels) for labels in sets]
    nothing = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
    known, n = items_of_pieces([Encoded(*nothing, Items(labels)) for labels in written], is_text=is_text)
    distinct = {label for labels in written for label in labels}
    assert list(known.items) == sorted(map(int, distinct) if is_text else distinct)
    assert n == 0


def test_declared_items(tmp_path):
    """Items that a file lists keep their order, and are there though they never occur."""
    tx = itemix.Transactions([0, 1, 2], [2, 0], ["z", "never", "a"])
    itemix.write_transactions(tx, tmp_path / "file.parquet")
    assert list(check(tmp_path / "file.parquet", 1)[1].items) == ["z", "never", "a"]


LATE = 60_000


@pytest.mark.parametrize(
    ("line", "last", "ending"),
    [("12,7,30", "7,late", "csv"), ('["a", "b"]', '["late"]', "jsonl"), ("1 2", "1 4000000000000", "dat")],
)
def test_what_comes_late_counts_from_the_beginning(tmp_path, line, last, ending):
    """An item of the last line is one of all chunks; a name there makes numbers before it names too."""
    path = tmp_path / f"file.{ending}"
    path.write_text(f"{line}\n" * LATE + last)
    parts = check(path, 1 << 18)
    assert len(parts) > 1
    assert parts[0].items[-1] in {"late", 4000000000000}


def test_pieces_of_fimi_text(tmp_path):
    """Each block may be a piece; together they are the whole, and a wrong word is found in its line."""
    text = "".join(f"{n % 977} {n}\n" for n in range(300_000))
    path = tmp_path / "file.dat"
    path.write_text(text)
    with open_source(path) as source:
        pieces = list(fimi_pieces(source, "utf-8", n_blocks=1))
    with open_source(path) as source:
        whole = itemix.Transactions(*read_fimi(source))
    assert len(pieces) > 2
    parts = [itemix.Transactions(*piece) for piece in pieces]
    assert all(part.item_counts().all() for part in parts)
    assert joined(part.align_items(whole.items) for part in parts) == whole
    path.write_text(text + "3 x\n")
    with (
        open_source(path) as source,
        pytest.raises(InvalidInputError, match=r"'x' in line 300,001 of file.dat"),
    ):
        list(fimi_pieces(source, "utf-8", n_blocks=1))


def test_names_and_options(tmp_path):
    """They mean what they mean for the whole; names are given though their items come late."""
    path = tmp_path / "file.txt"
    path.write_bytes("c;d\n7;9\n8\n".encode("utf-16"))
    names = {"7": "Brot", "8": "Käse", "9": "Brot"}
    options = {"encoding": "utf-16", "delimiter": ";", "header": True, "format": "basket"}
    parts = check(path, 1, names=names, **options)
    assert [part.to_lists() for part in parts] == [[["Brot (7)", "Brot (9)"]], [["Käse"]]]


WRONG = {
    "fimi": (b"1 2\n3 -4\n", {}),
    "basket": (b'a,b\n"a,b\n', {}),
    "onehot": (b"a,b\n1,0\n1,1,1\n", {"format": "onehot"}),
    "jsonl": (b'["a"]\n\n["a", 1]\n', {}),
    "bytes": (b"a,b\n\xe9\n", {}),
    "empty": (b"", {}),
    "gzip": (gzip.compress(b"1 2\n" * 100)[:-9], {}),
    "parquet": (b"PAR1\x00cut", {}),
    "format": (b"a,b\n", {"format": "csv"}),
    "header": (b"a,b\n", {"header": 1}),
    "names": (b"1 2\n", {"names": {"7": "seven"}}),
}


@pytest.mark.parametrize("case", WRONG)
def test_messages_are_those_of_reading_at_once(tmp_path, case):
    """What is wrong is said before the first chunk, in the same words."""
    path = tmp_path / "file"
    path.write_bytes(WRONG[case][0])
    with pytest.raises(InvalidInputError) as whole:
        read_transactions(path, **WRONG[case][1])
    with pytest.raises(InvalidInputError) as chunks:
        read_chunks(path, **WRONG[case][1])
    assert str(chunks.value) == str(whole.value)


def test_what_cannot_be_read_in_chunks(tmp_path):
    """One line says what to do about it."""
    long = tmp_path / "long.csv"
    long.write_text("order_id,product\n1,milk\n2,milk\n1,bread\n")
    table = pa.table({"order_id": [1, 1], "product": ["milk", "bread"]})
    pq.write_table(table, tmp_path / "long.parquet")
    packed = tmp_path / "packed.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "long.parquet").read_bytes()))
    with pytest.raises(InvalidInputError, match=r"that is not gzipped, .* got packed.parquet.gz; unpack it"):
        read_chunks(packed)
    again = "which can be read again and again, got {}; save it as a file first"
    with pytest.raises(InvalidInputError, match=again.format("standard input")):
        read_chunks("-")
    with pytest.raises(InvalidInputError, match=again.format("BytesIO")):
        read_chunks(io.BytesIO(b"1 2\n"))
    with pytest.raises(MissingFileError, match=r"no such file .*lnog.csv'; did you mean"):
        read_chunks(tmp_path / "lnog.csv")
    with pytest.raises(InvalidInputError, match="expected a file to read, got an empty name"):
        read_chunks("")
    with pytest.raises(InvalidInputError, match="got the folder"):
        read_chunks(tmp_path)
    with pytest.raises(InvalidInputError, match="expected chunk_bytes as a whole number of 1 or more, got 0"):
        read_chunks(long, chunk_bytes=0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_file(tmp_path):
    """What a pipe holds is there only once."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match=r"again and again, got '.*pipe' which can be read only once"):
        read_chunks(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\na\n", "expected 3 transactions in file.csv, as before, got 2; wait until nobody writes"),
        ("a,b\na\nb\nb\n", "expected 3 transactions in file.csv, as before, got 4; wait until nobody writes"),
        ("a,b\na\nc\n", "expected the same items in file.csv as before, got also 'c'; wait until nobody"),
    ],
)
def test_a_file_that_has_changed(tmp_path, text, message):
    """It is noticed, rather than taken for the same data."""
    path = tmp_path / "file.csv"
    path.write_text("a,b\na\nb\n")
    chunks = read_chunks(path)
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        list(chunks)


@pytest.mark.parametrize(
    ("before", "after", "got"),
    [("[1]", '["1"]', "'1'"), ('["1"]', "[1]", "1"), ("[1]", "[2]", "2"), ("[]", '["a"]', "'a'")],
)
def test_new_items(tmp_path, before, after, got):
    """Items of a file that has changed are told as they are written: a number is no name."""
    path = tmp_path / "file.jsonl"
    path.write_text(before)
    chunks = read_chunks(path)
    path.write_text(after)
    with pytest.raises(InvalidInputError, match=f"same items in file.jsonl as before, got also {got}; wait"):
        list(chunks)


def test_fit_and_verify_in_chunks(tmp_path):
    """Chunks go into partial_fit one by one, and as they are to verify=, counts as thresholds too."""
    store = itemix.datasets.load("grocery_store").sample(1500, random_state=0)
    itemix.write_transactions(store, tmp_path / "store.csv.gz")
    chunks = read_chunks(tmp_path / "store.csv.gz", chunk_bytes=20_000)
    assert repr(chunks) == "Chunks(1,500 x 92, from store.csv.gz (basket CSV, gzip))"
    model = itemix.BernoulliMixture(n_components=4, random_state=0)
    for chunk in chunks:
        model.partial_fit(chunk)
    expected = itemix.mine(read_transactions(tmp_path / "store.csv.gz"), 75)
    assert itemix.mine(model, 75, verify=chunks) == expected
    assert str(verify(model, chunks, 75)) == str(verify(model, list(chunks), 75))
    of_chunks, of_all = (correct(model.mixture_, data, 2) for data in (chunks, joined(chunks)))
    np.testing.assert_array_equal(
        of_chunks.probability(["whole milk", "bread"]), of_all.probability(["whole milk", "bread"])
    )


def test_chunks_where_transactions_are_needed(tmp_path):
    """Lists of chunks are told from lists of item names; chunks of a file are mined as they are."""
    (tmp_path / "file.csv").write_text("a,b\nc\n")
    chunks = read_chunks(tmp_path / "file.csv")
    assert itemix.mine(chunks, 0.5) == itemix.mine([["a", "b"], ["c"]], 0.5)
    message = r"got parts of them \(.*\); mine, evaluate, and fit .* take itemix.partitions\(...\)"
    for refuse in (
        lambda: itemix.mine(list(chunks), 0.5),
        lambda: itemix.IndependentModel().fit(chunks),
    ):
        with pytest.raises(InvalidInputError, match=message):
            refuse()


SCRIPT = """
import gc, sys
from pathlib import Path
import itemix

def resident(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(field)))

def read(path):
    return [chunk.n_transactions for chunk in itemix.read_chunks(path, chunk_bytes=1 << 23)]

small, large = sys.argv[1:]
read(small)
gc.collect()
before = resident("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
sizes = read(large)
peak = resident("VmHWM") - before
itemix.mine(itemix.read_chunks(small), 0.1)
gc.collect()
before = resident("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
found = itemix.mine(itemix.read_chunks(large, chunk_bytes=1 << 23), 0.01)
print(peak, len(sizes), sum(sizes), resident("VmHWM") - before, len(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of resident memory from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of 48 MB, which takes 200 MB, is read and mined in chunks of 8 MB with less than 150 MB."""
    lines = "".join(f"{n % 10} {n % 7}\n" for n in range(50_000))
    small, large = tmp_path / "small.dat", tmp_path / "large.dat"
    small.write_text(lines)
    n_copies = 48_000_000 // len(lines) + 1
    with large.open("w") as file:
        for _ in range(n_copies):
            file.write(lines)
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SCRIPT, small, large], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    peak, n_chunks, n_transactions, peak_of_mining, n_itemsets = map(int, ran.stdout.split())
    assert n_transactions == 50_000 * n_copies
    assert n_chunks >= 22
    assert n_itemsets == 52
    assert peak < 150e6, peak
    assert peak_of_mining < 150e6, peak_of_mining


def test_ids_beside_lists_need_not_be_readable(tmp_path):
    """Chunks have no ids: a column of half-precision numbers that names the rows is no trouble."""
    path = tmp_path / "x.parquet"
    ids = pa.array(np.arange(2, dtype=np.float16))
    pq.write_table(pa.table({"id": ids, "items": [["x", "y"], ["x"]]}), path)
    (chunk,) = read_chunks(path, transaction="id")
    assert chunk.to_lists() == itemix.read_transactions(path, transaction="id").to_lists()
    with pytest.raises(InvalidInputError, match="'none'"):
        list(read_chunks(path, transaction="none"))
