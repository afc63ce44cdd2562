import gc
import gzip
import io
import os
import shlex
import subprocess
import sys
import threading

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from itemix import InvalidInputError, ItemixError, read_transactions
from itemix.data.readers import FORMATS
from itemix.errors import MissingFileError

BASKETS = [["bread", "milk"], ["milk"]]


def read(content, **options):
    """Read bytes or text through a file object."""
    data = content.encode() if isinstance(content, str) else content
    return read_transactions(io.BytesIO(data), **options)


def as_file(table, write):
    """Write an Arrow table to bytes."""
    buffer = io.BytesIO()
    write(table, buffer)
    return buffer.getvalue()


LISTS = pa.table({"items": BASKETS})
PAIRS = pa.table({"order_id": [1, 1, 2], "product": ["milk", "bread", "milk"]})
ONEHOT = pa.table({"bread": [1, 0], "milk": [1, 1]})


def as_stream(table, buffer):
    """Write an Arrow stream, which has no footer."""
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)


RECOGNISED = {
    "basket": "bread,milk\nmilk\n",
    "basket quoted": '"bread",milk\n"milk"\n',
    "basket semicolon": "bread;milk\nmilk\n",
    "basket tab": "bread\tmilk\nmilk\n",
    "basket bar": "bread|milk\nmilk\n",
    "basket BOM": "\ufeffbread,milk\nmilk\n",
    "basket CRLF": "bread,milk\r\nmilk\r\n",
    "basket no last line feed": "bread,milk\nmilk",
    "basket padded": " bread , milk ,,\n milk,\n",
    "basket repeated": "milk,bread,milk\nmilk\n",
    "long": "order_id,product\n1,milk\n1,bread\n2,milk\n",
    "long semicolon": "Order ID;Qty;Product\n1;2;milk\n1;1;bread\n2;1;milk\n",
    "long BOM CRLF": "\ufeffInvoiceNo,Description\r\n1,milk\r\n1,bread\r\n2,milk\r\n",
    "long shuffled": "item,transaction\nmilk,1\nmilk,2\nbread,1\nbread,1\n",
    "onehot": "bread,milk\n1,1\n0,1\n",
    "onehot words": "bread;milk\nTrue;true\nFALSE;yes\n",
    "onehot index": ",bread,milk\n0,1,1\n1,0,1\n",
    "jsonl": '["milk", "bread"]\n["milk"]\n',
    "jsonl objects": '{"id": 1, "items": ["milk", "bread"]}\n\n{"id": 2, "items": ["milk"]}\n',
    "parquet lists": as_file(LISTS, pq.write_table),
    "parquet long": as_file(PAIRS, pq.write_table),
    "parquet onehot": as_file(ONEHOT, pq.write_table),
    "arrow lists": as_file(LISTS, feather.write_feather),
    "arrow long": as_file(PAIRS, feather.write_feather),
    "arrow onehot": as_file(ONEHOT, feather.write_feather),
    "arrow stream lists": as_file(LISTS, as_stream),
}


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


@pytest.mark.parametrize("role", ["transaction", "item"])
@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("1 2 3\n", "columns '1 2 3'"),
        ("milk\nbread\n", "columns 'milk'"),
        ("milk,bread\nmilk\nmilk\n", "columns 'milk', 'bread'"),
        ("order_id,item\n1,a\n", "columns 'order_id', 'item'"),
        ("bread,milk\n1,1\n0,1\n", "columns 'bread', 'milk'"),
        ('["milk", "bread"]\n', "no columns"),
        ('{"order": 1, "items": ["milk"]}\n', "columns 'order', 'items'"),
        (RECOGNISED["parquet lists"], "columns 'items'"),
        (RECOGNISED["parquet long"], "columns 'order_id', 'product'"),
        (RECOGNISED["parquet onehot"], "columns 'bread', 'milk'"),
    ],
)
def test_a_missing_column_is_refused(content, columns, role):
    """Whatever the format is, a column that was named and is not there is an error that names it."""
    with pytest.raises(InvalidInputError, match=f"expected a column 'x', got {columns}; name the right one"):
        read(content, **{role: "x"})


@pytest.mark.parametrize(
    ("name", "role"),
    [("fimi", "transaction"), ("fimi", "item"), ("basket", "transaction"), ("onehot", "item")],
)
def test_columns_of_formats_without_them_are_refused(name, role):
    """A column is not forgotten where the format that was asked for has none."""
    message = f"expected no column of {role}s with format='{name}', got {role}='x'; leave one out"
    with pytest.raises(InvalidInputError, match=message):
        read("1 2 3\n", format=name, **{role: "x"})


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


BAD = {
    "an empty file": (
        "",
        {},
        r"expected transactions, got a file object which is empty; check how it was made",
    ),
    "blanks only": (" \n\n", {}, r"which is empty"),
    "an unknown format": (
        "a\n",
        {"format": "xml"},
        r"expected a format, one of fimi, .*, got 'xml'; leave it out",
    ),
    "another format": (
        "a\n",
        {"format": "parquet"},
        r"expected a file in parquet format, got .* does not begin like",
    ),
    "a header that is no answer": (
        "a\n",
        {"header": "yes"},
        r"expected header as True or False, got 'yes'; try True",
    ),
    "progress that is no answer": (
        "a\n",
        {"progress": "x"},
        r"expected progress as True or False, got 'x'; try",
    ),
    "an unknown encoding": (
        "a\n",
        {"encoding": "u8x"},
        r"expected the name of a text encoding, got 'u8x'; try 'utf-8'",
    ),
    "a bad delimiter": (
        "a\n",
        {"delimiter": "::"},
        r"expected one ASCII character as the delimiter, got '::'; try ','",
    ),
    "a delimiter of two bytes": (
        "a§b\n",
        {"delimiter": "§"},
        r"expected one ASCII character as the delimiter, got '§'; try ','",
    ),
    "no encoding of text": (
        "a\n",
        {"encoding": "rot13"},
        r"expected the name of a text encoding, got 'rot13'",
    ),
    "an encoding that is no name": ("a\n", {"encoding": 5}, r"expected the name of a text encoding, got 5"),
    "UTF-16 without a mark": (
        "a,b\nc,d\n",
        {"encoding": "utf-16"},
        r"expected utf-16 text, got a file object which is not \(UTF-16 .* BOM\); try encoding='utf-8'",
    ),
    "UTF-16 that was not said": (
        "milk,bread\n".encode("utf-16-le"),
        {},
        r"expected utf-8 text, got what looks like UTF-16: .*; try encoding='utf-16-le'",
    ),
    "a mark and nothing else": (b"\xef\xbb\xbf", {}, r"expected transactions, got .* which is empty"),
    "Parquet that is to be FIMI": (
        RECOGNISED["parquet lists"],
        {"format": "fimi"},
        r"expected a file in fimi format, got a file object which is a parquet file; leave format= out",
    ),
    "Parquet that is to be Arrow": (
        RECOGNISED["parquet lists"],
        {"format": "arrow"},
        r"expected a file in arrow format, got a file object which is a parquet file",
    ),
    "lists that are to be one-hot": (
        RECOGNISED["parquet lists"],
        {"format": "onehot"},
        r"a file object: expected only 0 and 1 .* in column 'items'; try",
    ),
    "one column for both": (
        "order,item\n1,a\n",
        {"transaction": "item", "item": "item"},
        r"expected different columns of transactions and items, got 'item' for both",
    ),
    "a zip archive": (
        b"PK\x03\x04\x00",
        {},
        r"expected text .* got a zip archive or spreadsheet: .*; unpack it",
    ),
    "a web page": (
        "<!DOCTYPE html>\n<html><body>Not found, sorry</body></html>\n",
        {},
        r"expected text .* got a web page: .*; unpack it",
    ),
    "a binary file": (b"\x01\x00\x02\xff", {}, r"got a binary file of no known kind: .*; export it as CSV"),
    "UTF-16": ("a,b\n".encode("utf-16"), {}, r"expected utf-8 text, got UTF-16: .*; try encoding='utf-16'"),
    "a cut gzip": (
        gzip.compress(b"1 2 3\n" * 1000, mtime=0)[:-12],
        {},
        r"expected a complete gzip file, got a file object which is cut short or damaged .*; copy or",
    ),
    "a damaged gzip": (
        gzip.compress(b"1 2 3\n" * 1000, mtime=0)[:-8] + b"\x00" * 8,
        {},
        r"cut short or damaged \(CRC check failed",
    ),
    "a cut Parquet file": (
        RECOGNISED["parquet lists"][:-20],
        {},
        r"expected a complete Parquet file, got a file object which is cut short or damaged .*; copy or",
    ),
    "a cut Arrow file": (
        RECOGNISED["arrow lists"][:-20],
        {},
        r"expected a complete Arrow file, got a file object which is cut short or damaged",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(case):
    """One line says what was expected, what was got and what to try."""
    content, options, message = BAD[case]
    with pytest.raises(InvalidInputError, match=message) as caught:
        read(content, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rows_before", [1, 600_000])
@pytest.mark.parametrize("name", ["basket", "long", "onehot", "jsonl"])
def test_a_wrong_encoding_names_the_line(name, rows_before):
    """The first byte that is not in the encoding is named, and another encoding offered."""
    header, row, bad = {
        "basket": ("", "milk,bread\n", "caf\xe9,milk\n"),
        "long": ("order,item\n", "1,milk\n", "2,caf\xe9\n"),
        "onehot": ("milk,bread\n", "1,0\n", "caf\xe9,0\n"),
        "jsonl": ("", '["milk"]\n', '["caf\xe9"]\n'),
    }[name]
    good = (header + row * rows_before).encode("latin-1")
    line, position = good.count(b"\n") + 1, len(good) + bad.encode("latin-1").index(b"\xe9")
    where = rf"in line {line:,} \(byte {position:,}\) of a file object"
    message = rf"expected utf-8 text, got byte 0xe9 {where}; try encoding='latin-1'"
    with pytest.raises(InvalidInputError, match=message):
        read(good + bad.encode("latin-1") + row.encode(), format=name)


def test_missing_files_and_folders(tmp_path):
    """A near name is offered for a file that is not there, a file for a folder."""
    (tmp_path / "groceries.csv").write_text("a\n")
    with pytest.raises(
        MissingFileError, match=r"got no such file '.*grocery.csv'; did you mean '.*groceries.csv'\?"
    ):
        read_transactions(tmp_path / "grocery.csv")
    with pytest.raises(FileNotFoundError, match="check the name and the folder"):
        read_transactions(tmp_path / "zzz")
    with pytest.raises(MissingFileError, match=r"there is no folder '.*nowhere' either"):
        read_transactions(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(
        InvalidInputError, match=r"got the folder '.*'; name a file in it, for example '.*groceries.csv'"
    ):
        read_transactions(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=r"got the folder .*; name a file in it, it is empty"):
        read_transactions(tmp_path / "empty")
    with pytest.raises(InvalidInputError, match=r"expected a file to read, got an empty name; name a file"):
        read_transactions("")
    with pytest.raises(MissingFileError, match=r"got no such file 'https:/.*'; download it first"):
        read_transactions("https://example.org/baskets.csv")


def test_file_objects_that_cannot_be_read(tmp_path):
    """Closed ones and those for writing are told so."""
    with (
        (tmp_path / "x.csv").open("w") as file,
        pytest.raises(InvalidInputError, match="expected an open file object to read, got one for writing"),
    ):
        read_transactions(file)
    with pytest.raises(
        InvalidInputError, match="expected an open file object to read, got a closed one; open"
    ):
        read_transactions(file)


def test_files_that_cannot_be_opened():
    """The reason of the system is passed on."""
    with pytest.raises(
        InvalidInputError, match=r"expected a file that can be read, got 'x+': File name too long; "
    ):
        read_transactions("x" * 5000)


@pytest.mark.parametrize("what", [5, None, [["a"]], b"a,b"])
def test_other_things_are_no_files(what):
    """Lists and numbers are not read."""
    with pytest.raises(
        ItemixError, match=r"expected a path or a file object, got \w+; for lists use Transactions"
    ):
        read_transactions(what)


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
