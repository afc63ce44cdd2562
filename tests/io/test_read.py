"""What is read: formats and how they are recognised, options, paths and streams."""

import gc
import gzip
import io
import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recognised import BASKETS, RECOGNISED, as_file, read

from itemix import InvalidInputError, read_transactions, write_transactions
from itemix.io.read import FORMATS
from itemix.io.write import ENDINGS


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("case", RECOGNISED)
def test_formats_are_recognised(case, gzipped):
    """Every format is recognised, plain and gzipped, and what was recognised is said."""
    content = RECOGNISED[case]
    data = content.encode() if isinstance(content, str) else content
    transactions = read(gzip.compress(data) if gzipped else data)
    assert transactions.to_lists() == BASKETS
    said = transactions.source.removeprefix("a file object (").removesuffix(")")
    assert said.startswith(FORMATS[case.split()[0]])
    assert said.endswith(", gzip") == gzipped


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_where_people_look(name):
    """Each format is in the guides and in the docstrings of those who read and write it."""
    guides = Path(__file__).parents[2] / "docs" / "guides"
    assert f'`"{name}"`' in (guides / "data.md").read_text()
    options = [line for line in (guides / "command-line.md").read_text().split("\n") if "`--format`" in line]
    written = name in ENDINGS.values()
    assert sum(re.search(rf"\b{name}\b", line) is not None for line in options) >= 1 + written
    for function in (read_transactions, *([write_transactions] if written else [])):
        assert f'"{name}"' in function.__doc__, function.__name__


@pytest.mark.parametrize("text", ["1 2 3\n2\n", "1 2 3 \n2 \n", "1\t2 3\r\n2\r\n", " 1  2 3\n2"])
def test_fimi_is_recognised(text):
    """Lines of numbers separated by blanks are FIMI, and their items integers."""
    transactions = read(text)
    assert transactions.to_lists() == [[1, 2, 3], [2]]
    assert transactions.source == "a file object (FIMI)"


@pytest.mark.parametrize(
    ("text", "name", "lists"),
    [
        ("order_id,product\n1,milk\n", "basket", [["order_id", "product"], ["1", "milk"]]),
        ("1 2\n2\n", "basket", [["1 2"], [2]]),
        ("a,b\n1,0\n", "basket", [["a", "b"], ["0", "1"]]),
        ("tid,thing\n1,milk\n", "long", [["milk"]]),
        ("1,0\n1,1\n", "onehot", [[0], [0, 1]]),
        ("1,0\n1,1\n", "basket", [[0, 1], [1]]),
        ("5 3\n", "fimi", [[3, 5]]),
    ],
)
def test_an_explicit_format_wins(text, name, lists):
    """What the file looks like is not asked."""
    transactions = read(text, format=name)
    assert [[str(x) for x in row] for row in transactions] == [[str(x) for x in row] for row in lists]
    assert FORMATS[name] in transactions.source


@pytest.mark.parametrize(
    "text",
    [
        "milk,7up\n1,2\n3\n",  # not all of a width
        "42,milk\n7,bread\n12,milk\n",  # a number in the first line
        "milk,bread\nbeer,eggs\nmilk,7\n",  # no column of numbers
        "milk,bread\n1,2\n",  # a line is no evidence
    ],
)
def test_baskets_are_not_taken_for_a_table(text):
    """Names that are numbers do not make a table."""
    transactions = read(text)
    assert transactions.source == "a file object (basket CSV)"
    assert len(transactions) == text.count("\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("n_columns", [6_000, 20_000])
def test_wide_tables_are_recognised(n_columns, end):
    """A header longer than the bytes that are looked at first, or that fills them, hides no rows."""
    cells = np.zeros((3, n_columns), dtype=int)
    cells[:, -1] = 1
    header = ",".join(f"name of {j}" for j in range(n_columns))
    rows = [",".join(map(str, row)) for row in cells.tolist()]
    transactions = read(end.join([header, *rows, ""]))
    assert transactions.source == "a file object (one-hot CSV)"
    assert transactions.to_lists() == [[f"name of {n_columns - 1}"]] * 3
    assert transactions.n_items == n_columns


def test_chosen_columns_of_a_long_table_are_said():
    """Where a table has more than two columns, and they were not named, the source says which were read."""
    wide = "day,order_id,sku,product\n1,7,a1,milk\n1,7,a2,bread\n"
    said = "a file object (long CSV, columns 'order_id' and 'product')"
    assert read(wide).source == said
    assert read(wide, item="sku").source == said.replace("product", "sku")
    assert read(wide, transaction="day", item="sku").source == "a file object (long CSV)"
    assert read("order_id,product\n1,milk\n").source == "a file object (long CSV)"


def test_layouts_of_parquet_can_be_named():
    """A table of two number columns may be long or one-hot."""
    table = as_file(pa.table({"t": [0, 1], "i": [1, 1]}), pq.write_table)
    assert read(table).source == "a file object (Parquet, one-hot)"
    assert read(table, format="long").to_lists() == [[1], [1]]
    assert read(table, format="onehot").to_lists() == [["i"], ["t", "i"]]
    assert read(table, item="i", transaction="t").source == "a file object (Parquet, long)"


def test_options_of_tables():
    """Columns, delimiters and headers can be named where they cannot be guessed."""
    assert read("a,b\nx,y\n", header=True).to_lists() == [["x", "y"]]
    assert read("a b\nc\n", delimiter=" ").to_lists() == [["a", "b"], ["c"]]
    assert read("a:b\nc\n", delimiter=":").to_lists() == [["a", "b"], ["c"]]
    assert read("k,v,w\n1,x,9\n1,y,9\n", transaction="k", item="v").to_lists() == [["x", "y"]]
    assert read("1,x\n1,y\n", format="long", header=False).to_lists() == [["x", "y"]]
    assert read("id,a,b\n17,1,0\n18,0,1\n", transaction="id").to_lists() == [["a"], ["b"]]
    assert read("0,1\n1,1\n", format="onehot", header=True).to_lists() == [[0, 1]]


def test_a_denied_header_is_not_looked_at():
    """Names in a first line that is no header do not make a table of two columns long."""
    assert read("order_id,item\n1,a\n", header=False).to_lists() == [["item", "order_id"], ["1", "a"]]


def test_numbers_in_csv_are_integers():
    """Names that are all whole numbers without leading zeros are integers, as in FIMI."""
    assert read("5,3\n12\n").to_lists() == [[3, 5], [12]]
    assert read("05,3\n12\n").to_lists() == [["05", "3"], ["12"]]
    assert read("5,3\n-12\n").to_lists() == [["3", "5"], ["-12"]]
    assert read(f"{10**18},3\n").items.are_integers is False


def test_names_may_hold_anything():
    """Delimiters, quotes and line feeds in quotes, and letters of any script."""
    text = '"milk, whole","12"" pizza"\n"two\nlines",Käse\n豆腐,🥑\n'
    expected = [['12" pizza', "milk, whole"], ["Käse", "two\nlines"], ["豆腐", "🥑"]]
    assert read(text).to_lists() == expected
    assert read(text.encode("utf-16"), encoding="utf-16").to_lists() == expected


def test_an_empty_line_is_an_empty_transaction():
    """In FIMI and basket CSV; the last line feed ends the last transaction, and begins none."""
    assert read("1\n\n2\n").to_lists() == [[1], [], [2]]
    assert read("1\n\n").to_lists() == [[1], []]
    assert read("a,b\n\nc\n").to_lists() == [["a", "b"], [], ["c"]]
    assert read("a,b\n,,\nc\n").to_lists() == [["a", "b"], [], ["c"]]


def test_paths_and_streams(tmp_path):
    """Paths as text or as Path, binary and text streams, open files and standard input."""
    path = tmp_path / "baskets.csv"
    path.write_text("milk,bread\nmilk\n")
    assert read_transactions(path).source == "baskets.csv (basket CSV)"
    assert read_transactions(str(path)).to_lists() == BASKETS
    with path.open("rb") as file:
        assert read_transactions(file).source == "baskets.csv (basket CSV)"
    with path.open() as file:
        assert read_transactions(file).to_lists() == BASKETS
    assert read_transactions(io.StringIO("milk,bread\nmilk\n")).to_lists() == BASKETS


@pytest.mark.parametrize("content", [b"milk,bread\nmilk\n", gzip.compress(b"milk,bread\nmilk\n", mtime=0)])
def test_standard_input(content):
    """A dash is standard input, gzipped or not, which cannot be read twice."""
    script = "import itemix; tx = itemix.read_transactions('-'); print(tx.source, tx.to_lists())"
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, input=content, check=True, capture_output=True)  # noqa: S603 - our script
    kind = "basket CSV, gzip" if content.startswith(b"\x1f") else "basket CSV"
    assert result.stdout.decode().strip() == f"standard input ({kind}) {BASKETS}"


def test_a_closed_standard_input():
    """As with `itemix mine - <&-`."""
    script = "import itemix\ntry: itemix.read_transactions('-')\nexcept itemix.ItemixError as e: print(e)"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(script)} <&-"
    result = subprocess.run(command, shell=True, check=True, capture_output=True, text=True)  # noqa: S602 - ours
    assert result.stdout == "expected standard input to read, got a closed one; name a file\n"


def test_recognition_looks_at_most_rows():
    """A few wrong rows do not make another format of a file: they are complained of."""
    with pytest.raises(InvalidInputError, match="in row 3 of"):
        read("order,item\n1,a\n2,b,c\n3,d\n")
    with pytest.raises(InvalidInputError, match="line 3 of"):
        read("a,b\n1,0\n1\n0,1\n")
    with pytest.raises(InvalidInputError, match="got '7' in column 'id', line 2"):
        read("id,a,b,c\n7,0,1,1\n8,1,1,0\n")
    with pytest.raises(InvalidInputError, match="got -4 in line 2"):
        read("1 2\n3 -4\n")
    with pytest.raises(
        InvalidInputError, match=r"got 'x' in line 4 .* with delimiter=' ' if blanks separate"
    ):
        read("1 2\n3 4\n5\nx 4\n")


@pytest.mark.parametrize(
    ("name", "kind"), [("x.parquet", "a Parquet"), ("x.pq.gz", "a Parquet"), ("x.feather", "an Arrow")]
)
def test_the_ending_of_a_binary_file_is_believed(tmp_path, name, kind):
    """Text under the name of a Parquet or Arrow file is some mistake, unless its format is named."""
    path = tmp_path / name
    path.write_text("milk,bread\n")
    message = (
        rf"expected {kind} file, as its name says, got {name} which does not begin like one; download it"
    )
    with pytest.raises(InvalidInputError, match=message):
        read_transactions(path)
    assert read_transactions(path, format="basket").to_lists() == [["bread", "milk"]]


def test_the_ending_of_a_name_helps(tmp_path):
    """Where the text could be several things: .dat is FIMI, .tsv has tabs, whatever is in it."""
    (tmp_path / "a.dat").write_text("1 2\n3.5 4\n")
    with pytest.raises(InvalidInputError, match=r"expected whole numbers .* got '3.5' in line 2 of a.dat"):
        read_transactions(tmp_path / "a.dat")
    (tmp_path / "names.dat").write_text("milk,bread\nmilk\n")
    assert read_transactions(tmp_path / "names.dat").to_lists() == BASKETS
    (tmp_path / "a.tsv").write_text("1\t-2\n")
    assert read_transactions(tmp_path / "a.tsv").to_lists() == [["-2", "1"]]


@pytest.mark.parametrize("name", ["basket", "long", "onehot", "jsonl"])
def test_lines_may_end_in_carriage_returns(name):
    """As on old Macs, in every text format."""
    assert read(RECOGNISED[name].replace("\n", "\r")).to_lists() == BASKETS
    assert read("1 2\r3\r\r").to_lists() == [[1, 2], [3], []]


@pytest.mark.parametrize("name", ["PAR1", "FEA1", "BZhang", "ARROW1", "%PDF", "SQLite format 3"])
def test_names_may_begin_like_other_files(name):
    """The names by which binary files are known may be names of items too."""
    assert read(f"{name},milk\nmilk\n").to_lists() == [sorted([name, "milk"]), ["milk"]]


@pytest.mark.parametrize(
    ("transaction", "item"),
    [
        ("Member_number", "itemDescription"),
        ("BillNo", "Itemname"),
        ("TransactionNo", "Items"),
        ("order_number", "product_id"),
        ("basketNr", "sku"),
        ("Invoice", "StockCode"),
    ],
)
def test_usual_names_of_columns_are_known(transaction, item):
    """Long tables are recognised by the names that their columns have in the data sets of the field."""
    text = f"{transaction},Date,{item}\n17,mo,milk\n17,mo,bread\n18,tu,milk\n"
    assert read(text).to_lists() == BASKETS


def test_text_streams_have_their_own_encoding(tmp_path):
    """What is open as text is read as its owner reads it."""
    path = tmp_path / "baskets.csv"
    path.write_bytes("Käse\n".encode("latin-1"))
    with path.open(encoding="latin-1") as file:
        assert read_transactions(file).to_lists() == [["Käse"]]
    assert read_transactions(io.StringIO("Käse\n"), encoding="latin-1").to_lists() == [["Käse"]]


def test_arrow_files_of_polars(tmp_path):
    """They hold views of strings, which few functions of Arrow take."""
    pl.DataFrame({"items": BASKETS}).write_ipc(tmp_path / "lists.arrow")
    pl.DataFrame({"order": [1, 1, 2], "item": ["milk", "bread", "milk"]}).cast(
        {"item": pl.Categorical}
    ).write_ipc(tmp_path / "pairs.arrow")
    for name in ("lists", "pairs"):
        assert read_transactions(tmp_path / f"{name}.arrow").to_lists() == BASKETS


def test_progress_is_silent_without_a_terminal(capsys):
    """Nothing is drawn into a pipe or a file."""
    read("a,b\n", progress=True)
    assert capsys.readouterr() == ("", "")


def test_files_are_closed(tmp_path):
    """Warnings are errors here: a file that stays open would fail this test."""
    for name, content in RECOGNISED.items():
        path = tmp_path / name.replace(" ", "_")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        assert read_transactions(path).to_lists() == BASKETS
    gc.collect()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["basket", "parquet lists", "arrow lists"])
def test_named_pipes(tmp_path, name):
    """A path that cannot seek is read like a stream."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = RECOGNISED[name]
    data = content.encode() if isinstance(content, str) else content
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    assert read_transactions(path).to_lists() == BASKETS
    writer.join()
