"""What cannot be read, and what is said of it."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from recognised import RECOGNISED, read

from itemix import InvalidInputError, ItemixError, Transactions, read_chunks, read_transactions
from itemix.errors import MissingFileError


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
    ("line", "problem"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (f"[{'1' * 5000}]", "a number of too many digits"),
    ],
    ids=["lists", "objects", "digits"],
)
@pytest.mark.parametrize("before", ["", '["milk"]\n'])
def test_json_that_python_cannot_read(before, line, problem):
    """Lists in lists without end and numbers without end are refused as other damage is."""
    message = (
        rf"expected JSON in every line, got .* \({problem}\) in line {1 + len(before) // 9} of .*; write one"
    )
    with pytest.raises(InvalidInputError, match=message):
        read(before + line)


@pytest.mark.parametrize(
    "encoding", ["idna", "punycode", "unicode_escape", "raw-unicode-escape", "undefined"]
)
def test_codecs_that_are_no_encodings_of_files(encoding):
    """Python has codecs of text in text; files are not written in them."""
    message = f"expected the name of a text encoding, got '{encoding}'; try 'utf-8' or 'latin-1'"
    with pytest.raises(InvalidInputError, match=message):
        read("NaNno\\x\n\n", encoding=encoding)


@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_lists_that_lie_outside(make, tmp_path):
    """Offsets beyond the names are damage: Arrow itself would believe them, and end the whole process."""
    stream = io.BytesIO()
    column = pa.array([["milk"] * 1234, ["bread"]])
    with make(stream, pa.schema([("items", column.type)])) as writer:
        writer.write_batch(pa.record_batch([column], names=["items"]))
    offsets = np.array([0, 1234, 1235], dtype=np.int32)
    wrong = np.array([0, 1 << 30, 1235], dtype=np.int32)
    assert stream.getvalue().count(offsets.tobytes()) == 1
    (tmp_path / "x.arrow").write_bytes(stream.getvalue().replace(offsets.tobytes(), wrong.tobytes()))
    for read_it in (read_transactions, lambda path: list(read_chunks(path))):
        with pytest.raises(
            InvalidInputError, match=r"expected a complete Arrow file, got x.arrow which is cut"
        ):
            read_it(tmp_path / "x.arrow")


@pytest.mark.parametrize(
    "names", [["a", "a"], ["", ""], ["items", "items"], ["order_id", "product", "order_id"]]
)
@pytest.mark.parametrize("options", [{}, {"format": "long"}, {"format": "onehot"}])
def test_columns_of_one_name(names, options, tmp_path):
    """Tables with two columns of one name are refused, in Parquet, Arrow and CSV."""
    table = pa.table([["x"] for _ in names], names=names)
    pq.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, tmp_path / "x.arrow")
    for file in ("x.parquet", "x.arrow"):
        for read_it in (read_transactions, read_chunks):
            with pytest.raises(
                InvalidInputError, match=f"{file}: expected distinct column names, got '{names[0]}'"
            ):
                read_it(tmp_path / file, **options)
    with pytest.raises(
        InvalidInputError, match=r"expected (a|one) column|expected (only|distinct|different)"
    ):
        read(",".join(names) + "\n" + ",".join("x" for _ in names), format=options.get("format", "long"))


def test_a_long_value_is_shown_on_one_line(tmp_path):
    """Lists where 0 and 1 were expected are cut in the message."""
    pq.write_table(pa.table({"a": [[["x" * 100], [], ["y", None]]]}), tmp_path / "x.parquet")
    with pytest.raises(InvalidInputError, match=r"^x.parquet: expected only 0 and 1 [^\n]{,250}$"):
        read_transactions(tmp_path / "x.parquet", format="onehot")


def test_names_that_are_no_text(tmp_path):
    """Strings of a Parquet file, or of a table, may hold any bytes: names have to be UTF-8."""
    names = pa.array([b"milk", b"K\xe4se"]).view(pa.string())
    table = pa.table({"items": pa.ListArray.from_arrays([0, 1, 2], names)})
    pq.write_table(table, tmp_path / "x.parquet")
    message = r"expected item names in UTF-8, got b'K\\xe4se'; write them again in UTF-8"
    for read_it in (read_transactions, lambda path: list(read_chunks(path))):
        with pytest.raises(InvalidInputError, match=f"^x.parquet: {message}"):
            read_it(tmp_path / "x.parquet")
    with pytest.raises(InvalidInputError, match=f"^{message}"):
        Transactions.from_long(pa.table({"order": [1, 2], "product": names}), "order", "product")


@pytest.mark.parametrize("declared", [b'["milk', b"\xbd", b"[" * 100_000, b'["beer"]', b"5"])
def test_declared_items_that_are_none(declared, tmp_path):
    """The list of items in a Parquet file's metadata may be damaged, or lack an item of the column."""
    column = pa.array([["milk"], ["bread"]])
    field = pa.field("items", column.type, metadata={"itemix.items": declared})
    pq.write_table(pa.table([column], schema=pa.schema([field])), tmp_path / "x.parquet")
    for read_it in (read_transactions, lambda path: list(read_chunks(path))):
        with pytest.raises(ItemixError, match=r"expected [^\n]*, got [^\n]*; "):
            read_it(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("name", "role"),
    [("fimi", "transaction"), ("fimi", "item"), ("basket", "transaction"), ("onehot", "item")],
)
def test_columns_of_formats_without_them_are_refused(name, role):
    """A column is not forgotten where the format that was asked for has none."""
    message = f"expected no column of {role}s with format='{name}', got {role}='x'; leave one out"
    with pytest.raises(InvalidInputError, match=message):
        read("1 2 3\n", format=name, **{role: "x"})


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
    "a delimiter of nothing": (
        "1\n",
        {"delimiter": "\0", "format": "table"},
        r"expected one ASCII character as the delimiter, got '\\x00'; try ','",
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
    "a table with an unknown header": (
        "Beleg;Datum;Artikel\n0001;01.02.2024;Brot\n0001;01.02.2024;Milch\n",
        {},
        (
            r"expected baskets of items, got what looks like a table, with columns 'Beleg', 'Datum', "
            r"'Artikel', in a file object; try format='table' if each row is a transaction, transaction= and "
            r"item= if several are, or format='basket'"
        ),
    ),
    "a table whose numbers have gaps": (
        "sex,age,,\nmale,22.5,,\nfemale,,,\nmale,3,,\n",
        {},
        r"got what looks like a table, with columns 'sex', 'age', '', '', in",
    ),
    "a table with a column of truth values": (
        "sex|ok\nmale|TRUE\nfemale|false\nmale|\n",
        {},
        r"got what looks like a table, with columns 'sex', 'ok', in",
    ),
    "a table of words": (
        "sex,port\n" + "male,York\nfemale,Bath\n" * 5,
        {},
        r"got what looks like a table, with columns 'sex', 'port', in",
    ),
    "a table without a header": (
        "male,22.5,yes\nfemale,,no\nmale,3,no\n" * 4,
        {},
        r"got what looks like a table without a header in a file object; try format='table' and header=False",
    ),
    "a table of baskets with their sizes": (
        "Item(s),Item 1,Item 2\n1,milk,\n2,milk,bread\n",
        {},
        r"expected baskets .*, got what looks like a table, with columns 'Item\(s\)', 'Item 1', 'Item 2'",
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
    "a binary file": (b"\x01\x00\x02\xff", {}, r"got an unknown binary file: .*; export it as CSV"),
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


def test_files_that_cannot_be_opened(tmp_path):
    """The reason of the system is passed on."""
    (tmp_path / "x").write_text("milk\n")
    with pytest.raises(
        InvalidInputError, match=r"expected a file that can be read, got '.*': Not a directory; "
    ):
        read_transactions(tmp_path / "x" / "y")


@pytest.mark.parametrize("what", [5, None, [["a"]], b"a,b"])
def test_other_things_are_no_files(what):
    """Lists and numbers are not read."""
    with pytest.raises(
        ItemixError, match=r"expected a path or a file object, got \w+; for lists use Transactions"
    ):
        read_transactions(what)


@pytest.mark.parametrize("data", [b"\x89", b"\x89PNG", b"\xe2\x82"])
def test_bytes_that_are_no_text(data):
    """A file of which no line of text can be made is refused in one line."""
    with pytest.raises(InvalidInputError, match=r"^expected utf-8 text, got byte 0x\w+ in line 1"):
        read_transactions(io.BytesIO(data))
