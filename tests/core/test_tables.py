import contextlib
import csv
import gzip
import json
import subprocess
import sys

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive

from itemix import InvalidInputError, Itemsets, MissingFileError, rules
from itemix.core.table_files import kind_of

WHOLE = ["parquet", "jsonl", "jsonl.gz"]
PLAIN = ["csv", "csv.gz", "json", "json.gz", "xlsx"]
EXTENSIONS = [*WHOLE, *PLAIN]
HOSTILE = [
    "a,b",
    'say "x"',
    "two\nlines",
    "cr\r\n",
    "#hash",
    "Käse 🧀",
    "[1, 2]",
    "",
    " ",
    "\u2028",
    "1",
    "\0",
    "null",
]
every_format = pytest.mark.parametrize("extension", EXTENSIONS)
plain_format = pytest.mark.parametrize("extension", PLAIN)
labels = st.lists(st.text(max_size=6), unique=True, min_size=1, max_size=6) | st.lists(
    st.integers(-(2**63), 2**63 - 1), unique=True, min_size=1, max_size=6
)
fractions = st.floats(0, 1)


@st.composite
def itemsets_values(draw, most=2**62):
    """Itemsets of any kind: names, numbers, intervals, none at all."""
    items = draw(labels)
    codes = st.lists(st.integers(0, len(items) - 1), unique=True)
    family = draw(st.lists(codes, unique_by=frozenset, max_size=6))
    n = len(family)
    n_transactions = draw(st.none() | st.integers(1, most))
    counts = st.integers(0, n_transactions or most)
    optional = {"count": counts, "lower": fractions, "upper": fractions}
    columns = {
        name: draw(st.lists(values, min_size=n, max_size=n))
        for name, values in optional.items()
        if draw(st.booleans())
    }
    support = draw(st.lists(fractions, min_size=n, max_size=n))
    if n_transactions is not None and "count" in columns:
        support = [count / n_transactions for count in columns["count"]]
    return Itemsets(
        *naive.as_arrays(family),
        support,
        items,
        n_transactions=n_transactions,
        min_support=draw(st.none() | fractions),
        target=draw(st.none() | st.sampled_from(["all", "closed", "maximal"])),
        **columns,
    )


@pytest.fixture
def itemsets():
    """Itemsets with names that break careless writers, and items that are in no set."""
    n = len(HOSTILE)
    return Itemsets(
        np.arange(0, 2 * n + 1, 2),
        np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1).ravel(),
        1 / np.arange(1, n + 1),
        [*HOSTILE, "in no set"],
        count=np.rint(1000 / np.arange(1, n + 1)),
        n_transactions=1000,
        min_support=0.1,
        target="maximal",
    )


def save_whole(value, path, sets="json"):
    """Save in a format that holds everything: CSV does if it is asked to."""
    if path.name.endswith((".csv", ".csv.gz")):
        value.to_csv(path, sets=sets, metadata=True)
    else:
        value.save(path)


def same_rows(back, value):
    """Whether both have the same rows, whatever other items there are, and whatever was asked for."""
    mine, theirs = back.to_arrow().to_pydict(), value.to_arrow().to_pydict()
    return mine.keys() == theirs.keys() and all(
        np.array_equal(mine[name], column, equal_nan=True) if name not in SETS else mine[name] == column
        for name, column in theirs.items()
    )


SETS = ("itemsets", "antecedents", "consequents")


@pytest.mark.parametrize("extension", ["parquet", "jsonl", "csv"])
@given(value=itemsets_values(), sets=st.sampled_from(["names", "json"]))
def test_what_was_written_comes_back(extension, value, sets, tmp_path_factory):
    """Reading gives equal values back: names and their kind, every number to the last bit."""
    path = tmp_path_factory.getbasetemp() / f"law.{extension}"
    save_whole(value, path, sets)
    back = Itemsets.load(path)
    assert back == value
    assert (back.target, back.min_support) == (value.target, value.min_support)
    assert back.items.are_integers == value.items.are_integers


@pytest.mark.parametrize(("extension", "sets"), [("csv", "names"), ("csv", "json"), ("json", "names")])
@given(value=itemsets_values(most=2**50))
def test_plain_files_give_the_same_rows_back(extension, sets, value, tmp_path_factory):
    """Whatever the names, the same sets in the same order come back, with every number to the last bit."""
    path = tmp_path_factory.getbasetemp() / f"plain-{sets}.{extension}"
    if extension == "csv":
        value.to_csv(path, sets=sets)
    else:
        value.save(path)
    back = Itemsets.load(path)
    assert same_rows(back, value) or (extension == "json" and len(back) == len(value) == 0)
    if value.n_transactions is not None and value.count is not None and value.count.any():
        assert back.n_transactions == value.n_transactions
    if len(value.codes):
        assert back.items.are_integers == value.items.are_integers


@every_format
def test_hostile_names(extension, itemsets, tmp_path):
    """Commas, quotes, line breaks, unicode and names that look like numbers survive."""
    if extension == "xlsx":  # XML has no zero bytes, and one way to end a line
        names = [name.replace("\0", "zero").replace("\r", "") for name in itemsets.items]
        itemsets = Itemsets(
            itemsets.offsets,
            itemsets.codes,
            itemsets.support,
            names,
            count=itemsets.count,
            n_transactions=1000,
        )
    itemsets.save(tmp_path / f"x.{extension}")
    back = Itemsets.load(tmp_path / f"x.{extension}")
    assert [row.items for row in back] == [row.items for row in itemsets]
    assert extension == "xlsx" or same_rows(back, itemsets)  # numbers have 16 digits there
    save_whole(itemsets, tmp_path / "x.csv")
    assert Itemsets.load(tmp_path / "x.csv") == itemsets


@plain_format
def test_rules_come_back_from_plain_files(extension, tmp_path):
    """Rules have two columns of sets, measures that are infinite, and significance."""
    value = rules(
        naive.as_itemsets([["a, b", "c"], ["a, b"], ["c"], ["a, b", "c", '"'], ["d"]], 1), min_threshold=0.1
    )
    assert np.isinf(value.measure("conviction")).any()
    value.save(tmp_path / f"x.{extension}")
    back = type(value).load(tmp_path / f"x.{extension}")
    assert back.n_transactions == value.n_transactions
    assert list(back) == list(value)
    np.testing.assert_array_equal(back.measure("q_value"), value.measure("q_value"))
    assert kind_of(tmp_path / f"x.{extension}") == "rules"


def test_plain_csv(tmp_path):
    """CSV has one line of names of columns, then rows; a set is its names with commas between them."""
    value = Itemsets(
        [0, 1, 3, 5], [0, 0, 1, 1, 2], [0.75, 0.5, 0.25], ["milk", "bread", 'salt, "fine"'], count=[3, 2, 1]
    )
    assert value.to_csv() == (
        "support,itemsets,length,count\n"
        '0.75,"milk",1,3\n'
        '0.5,"milk, bread",2,2\n'
        '0.25,"bread, ""salt, """"fine""""""",2,1\n'
    )
    assert value.to_csv(sets="json").splitlines()[2] == '0.5,"[""milk"", ""bread""]",2,2'
    assert value.to_csv(metadata=True).startswith('# {"kind": "itemsets"')
    (tmp_path / "edited.csv").write_text('support,itemsets\n0.5,milk\n0.25,"bread,milk"\n')
    assert Itemsets.load(tmp_path / "edited.csv")[1].items == ("bread", "milk")
    numbered = Itemsets([0, 1], [0], [0.5], ["22423"])
    numbered.to_csv(tmp_path / "numbered.csv")
    assert Itemsets.load(tmp_path / "numbered.csv")[0].items == ("22423",)
    with pytest.raises(InvalidInputError, match="one of names, json, columns, got 'list'"):
        value.to_csv(sets="list")


def test_plain_json():
    """JSON is a list with an object for each row; what is not a number is null."""
    value = Itemsets([0, 1, 3], [0, 0, 1], [0.75, 0.5], ["milk", "bread"], lower=[0.5, np.nan])
    assert json.loads(value.to_json()) == [
        {"support": 0.75, "itemsets": ["milk"], "length": 1, "lower": 0.5},
        {"support": 0.5, "itemsets": ["milk", "bread"], "length": 2, "lower": None},
    ]
    assert json.loads(Itemsets([0], [], [], ["a"]).to_json()) == []


def test_excel(tmp_path):
    """A sheet opens with a bold header in view, a filter, wide columns, percentages, and no formulas."""
    long = "a name that is longer than a usual column"
    value = Itemsets(
        [0, 1, 2, 4], [0, 1, 0, 1], [0.75, 0.5, 0.5], ["=1+1", long], count=[3, 2, 2], n_transactions=4
    )
    value.to_excel(tmp_path / "x.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    assert sheet.title == "itemsets"
    assert [cell.value for cell in sheet[1]] == ["support", "itemsets", "length", "count"]
    assert all(cell.font.bold for cell in sheet[1])
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:D4")
    assert [cell.value for cell in sheet[2]] == [0.75, "=1+1", 1, 3]
    assert [cell.number_format for cell in sheet[2]] == ["0.00%", "General", "#,##0", "#,##0"]
    assert sheet["B2"].data_type == "s"
    assert sheet.column_dimensions["B"].width > len(long)
    Itemsets([0, 1], [0], [0.5], ["\x07bell"]).to_excel(tmp_path / "x.xlsx")
    assert openpyxl.load_workbook(tmp_path / "x.xlsx").active["B2"].value == "\\x07bell"


def test_what_excel_cannot_hold(tmp_path):
    """Too many rows and too long a cell are refused before anything is written."""
    n = 1 << 20
    many = Itemsets(np.arange(n + 1), np.arange(n), np.full(n, 0.5), np.arange(n), check=False)
    with pytest.raises(
        InvalidInputError, match=r"expected at most 1,048,575 rows, .* got 1,048,576; write \.csv"
    ):
        many.to_excel(tmp_path / "x.xlsx")
    with pytest.raises(
        InvalidInputError, match=r"expected at most 32,767 letters in a cell, .* got 40,000; wr"
    ):
        Itemsets([0, 1], [0], [0.5], ["a" * 40_000]).to_excel(tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_excel_is_optional(tmp_path):
    """Without openpyxl, the message says how to install it, before any long work."""
    code = (
        "import sys; sys.modules['openpyxl'] = None\n"
        "from itemix import MissingExtraError\n"
        "from itemix.core.table_files import check_path\n"
        "try:\n    check_path('x.xlsx')\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout == (
        "expected openpyxl to be installed for files of Excel, got no such package; try pip install "
        "itemix[excel], or write .csv\n"
    )


@every_format
def test_many_rows(extension, tmp_path):
    """More rows than are written at once."""
    n = 51_000
    n = 1_100 if extension == "xlsx" else n
    itemsets = Itemsets(np.arange(n + 1), np.arange(n), np.linspace(0, 1, n), np.arange(n) * 7)
    itemsets.save(tmp_path / f"x.{extension}")
    back = Itemsets.load(tmp_path / f"x.{extension}")
    if extension == "xlsx":  # numbers have 16 digits
        np.testing.assert_allclose(back.support, itemsets.support, rtol=1e-15)
        assert back.sets == itemsets.sets
    else:
        assert back == itemsets


@pytest.mark.parametrize("extension", [ending for ending in EXTENSIONS if ending != "xlsx"])
def test_the_same_itemsets_give_the_same_bytes(extension, itemsets, tmp_path):
    """Files can be compared."""
    itemsets.save(tmp_path / f"a.{extension}")
    itemsets.save(tmp_path / f"b.{extension}")
    assert (tmp_path / f"a.{extension}").read_bytes() == (tmp_path / f"b.{extension}").read_bytes()


def test_arrow(itemsets):
    """An Arrow table has lists of names, and gives the value back."""
    table = itemsets.to_arrow()
    assert table.schema.field("itemsets").type == pa.list_(pa.string())
    assert table.column_names == ["support", "itemsets", "length", "count"]
    assert Itemsets.from_arrow(table) == itemsets
    assert Itemsets.from_arrow(table.slice(0)) == itemsets
    assert Itemsets([0, 1], [1], [0.5], [7, 8]).to_arrow()["itemsets"].to_pylist() == [[8]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"itemsets": "int64"}, "expected sets in column 'itemsets', got numbers; write the file again"),
        ({"support": "sets"}, "expected numbers in column 'support', got sets; write the file again"),
        ({"lift": "float64"}, r"expected a column 'lift', got \['support', 'itemsets', 'length'\]; write it"),
    ],
)
def test_arrow_tables_that_lie(changes, message):
    """What a table says of its columns is checked against them."""
    table = Itemsets([0, 1], [0], [0.5], [7]).to_arrow()
    header = json.loads(table.schema.metadata[b"itemix"])
    header["columns"].update(changes)
    columns = {
        name: table["support"] if of == "int64" else table["itemsets"]
        for name, of in changes.items()
        if name in table.column_names
    }
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    with pytest.raises(InvalidInputError, match=message):
        Itemsets.from_arrow(table.replace_schema_metadata({"itemix": json.dumps(header)}))


def test_polars(itemsets):
    """A polars frame has the same columns and rows, also by Arrow's protocol."""
    frame = itemsets.to_polars()
    assert pl.DataFrame(itemsets).equals(frame)
    assert pa.table(itemsets) == itemsets.to_arrow()
    assert frame.columns == ["support", "itemsets", "length", "count"]
    assert frame["itemsets"].to_list() == [list(i.items) for i in itemsets]


def test_polars_is_optional():
    """Without polars, the message says how to install it."""
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from itemix import Itemsets, MissingExtraError\n"
        "try:\n    Itemsets([0], [], [], ['a']).to_polars()\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout == (
        "expected polars to be installed, got no such package; try pip install itemix[polars]\n"
    )


def test_other_tools_read_the_files(itemsets, tmp_path):
    """Pandas, polars and the standard library read all formats as they are."""
    for extension in ("parquet", "csv", "jsonl", "json", "xlsx"):
        itemsets.save(tmp_path / f"x.{extension}")
    sets = [list(i.items) for i in itemsets]
    plain = pd.read_csv(tmp_path / "x.csv")
    assert plain["support"].to_numpy() == pytest.approx(itemsets.support, rel=1e-15)
    assert pl.read_csv(tmp_path / "x.csv")["count"].to_list() == itemsets.count.tolist()
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        cells = [row["itemsets"] for row in csv.DictReader(file)]
    assert [next(csv.reader([cell], skipinitialspace=True)) for cell in cells[:2]] == sets[:2]
    itemsets.to_csv(tmp_path / "x.csv", sets="json", metadata=True)
    noted = pd.read_csv(tmp_path / "x.csv", skiprows=1)
    assert [json.loads(cell) for cell in noted["itemsets"]] == sets
    assert pd.read_json(tmp_path / "x.json")["itemsets"].tolist() == sets
    assert pd.read_excel(tmp_path / "x.xlsx")["count"].tolist() == itemsets.count.tolist()
    jsonl = pd.read_json(tmp_path / "x.jsonl", lines=True)
    assert jsonl["itemsets"].tolist() == sets
    assert pl.read_ndjson(tmp_path / "x.jsonl")["itemsets"].to_list() == sets
    assert pd.read_parquet(tmp_path / "x.parquet")["itemsets"].map(list).tolist() == sets


@every_format
def test_cut_files(extension, itemsets, tmp_path):
    """A file that lost its end is never read as a shorter one: the message names it, on one line."""
    path = tmp_path / f"x.{extension}"
    save_whole(itemsets, path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole) - 1, max(1, len(whole) // 60)), len(whole) - 2]:
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidInputError, match=rf"x\.{extension}: expected") as caught:
            Itemsets.load(path)
        assert "\n" not in str(caught.value)


def test_cut_plain_csv(itemsets, tmp_path):
    """Plain CSV that lost a part of a line is refused; it does not say how many lines it had."""
    path = tmp_path / "x.csv"
    itemsets.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 7):
        if not whole[:length].endswith(b"\n"):
            path.write_bytes(whole[:length])
            with pytest.raises(InvalidInputError, match=r"x\.csv: expected"):
                Itemsets.load(path)


@every_format
@given(data=st.data())
def test_damaged_files(extension, data, tmp_path_factory):
    """A changed byte gives either a clear error or itemsets, never another exception."""
    path = tmp_path_factory.getbasetemp() / f"damaged.{extension}"
    save_whole(naive.as_itemsets([["a", "b"], ["a"], ["b", "c"]], 1), path)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, 9999)) * len(content) // 10_000  # Excel's files differ in length
    content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with contextlib.suppress(InvalidInputError):
        Itemsets.load(path)


def test_damaged_types_of_columns(tmp_path):
    """A type that Arrow does not know, made by one byte, is damage like any other."""
    path = tmp_path / "damaged.parquet"
    naive.as_itemsets([["a", "b"], ["a"]], 1).save(path)
    whole = path.read_bytes()
    for place in range(len(whole) * 4 // 5, len(whole)):
        path.write_bytes(whole[:place] + b"B" + whole[place + 1 :])
        with contextlib.suppress(InvalidInputError):
            Itemsets.load(path)


FOREIGN = {
    "parquet": lambda path: pq.write_table(pa.table({"support": [0.5], "itemsets": [["a"]]}), path),
    "csv": lambda path: path.write_text("milk,bread\nmilk\n"),
    "json": lambda path: path.write_text('[{"name": "milk"}]'),
    "json.gz": lambda path: path.write_bytes(gzip.compress(b'{"a": 1}')),
    "xlsx": lambda path: path.write_bytes(b"PK, but no sheet"),
    "jsonl": lambda path: path.write_text('{"support": 0.5, "itemsets": ["a"]}\n'),
    "csv.gz": lambda path: path.write_bytes(gzip.compress(b"# not ours\n")),
    "jsonl.gz": lambda path: path.write_text("not gzip at all"),
}


@every_format
def test_foreign_files(extension, tmp_path):
    """Files of other tools are refused in one line that names the file."""
    path = tmp_path / f"x.{extension}"
    FOREIGN[extension](path)
    with pytest.raises(
        InvalidInputError, match=rf"x\.{extension}: expected itemsets written by itemix.* got"
    ):
        Itemsets.load(path)


@pytest.mark.parametrize("make", [lambda value: value, lambda value: rules(value, min_threshold=0.1)])
def test_edited_supports(make, tmp_path):
    """A support that is not the one of its count is refused, of itemsets and of rules."""
    path = tmp_path / "x.csv"
    value = make(
        Itemsets([0, 1, 2, 4], [0, 1, 0, 1], [0.7, 0.7, 0.5], ["a", "b"], count=[7, 7, 5], n_transactions=10)
    )
    value.to_csv(path, metadata=True)
    path.write_text(path.read_text().replace("0.5,", "0.6,"))
    message = (
        r"x\.csv: expected supports that are count / n_transactions, got support 0\.6 with count 5 of 10 at"
    )
    with pytest.raises(InvalidInputError, match=message):
        type(value).load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "rules"}, r"expected itemsets, got rules; try itemix\.Rules\.load"),
        ({"version": 99}, "expected a file of version 1, got version 99; update itemix"),
        ({"rows": 3}, "expected 3 rows, got 1 in column 'support'; the file was cut or edited"),
        ({"items": ["b"]}, "got 'a'"),
        ({"items": 3}, "expected a list of item names, got 3"),
        ({"columns": {"support": "float64"}}, "expected a column 'itemsets', got support; write"),
        ({"columns": {"support": "sets", "itemsets": "sets"}}, "got a damaged file"),
        ({"columns": {"support": "float64", "itemsets": "int64"}}, "got a damaged file"),
        ({"n_transactions": "many", "colour": "red"}, "got a damaged file"),
        ({"n_transactions": "many"}, "expected n_transactions as a whole number of 0 or more, got 'many'"),
    ],
)
def test_headers_that_lie(changes, message, tmp_path):
    """What a file says of itself is checked."""
    path = tmp_path / "x.jsonl"
    Itemsets([0, 1], [0], [0.5], ["a"]).save(path)
    row = json.loads(path.read_text())
    row["itemix"].update(changes)
    path.write_text(json.dumps(row))
    with pytest.raises(InvalidInputError, match=rf"x\.jsonl: .*{message}"):
        Itemsets.load(path)


def test_wrong_paths(itemsets, tmp_path):
    """Unknown extensions, missing files and folders, and names that no file can hold."""
    with pytest.raises(
        InvalidInputError, match=r"expected a name that ends in \.parquet, .* got 'x\.txt'; rename"
    ):
        itemsets.save(tmp_path / "x.txt")
    with pytest.raises(InvalidInputError, match=r"expected a name that ends in .*, got 'x\.parquet\.gz'"):
        Itemsets.load(tmp_path / "x.parquet.gz")
    with pytest.raises(
        MissingFileError, match=r"expected a file of itemsets, got '.*none\.csv', which is not a file"
    ):
        Itemsets.load(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(
        InvalidInputError, match=r"expected a file of itemsets, got '.*folder\.csv', which is not a file"
    ):
        Itemsets.load(tmp_path / "folder.csv")
    with pytest.raises(InvalidInputError, match="expected an existing folder to write to"):
        itemsets.save(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InvalidInputError, match=r"expected the name of a file, got None; try 'baskets\.csv'"):
        itemsets.save(None)
    with pytest.raises(InvalidInputError, match="expected the name of a file, got 5"):
        Itemsets.load(5)


@every_format
def test_names_that_are_not_unicode(extension, tmp_path):
    """Half a character cannot be written: the message says which name, and the old file stays."""
    path = tmp_path / f"x.{extension}"
    path.write_text("old")
    with pytest.raises(InvalidInputError, match=r"expected item names that are valid Unicode, got .*\\ud800"):
        Itemsets([0, 1], [0], [0.5], ["\ud800"]).save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@every_format
def test_a_file_says_what_it_holds(itemsets, extension, tmp_path):
    """A file that was written by `save` is recognised without reading all of it; no other file is."""
    path = tmp_path / f"x.{extension}"
    itemsets.save(path)
    assert kind_of(path) == "itemsets"
    cut = tmp_path / f"cut.{extension}"
    cut.write_bytes(path.read_bytes()[:20])
    assert kind_of(cut) is None
    other = tmp_path / f"other.{extension}"
    other.write_text('["milk", "bread"]\n')
    assert kind_of(other) is None
    assert kind_of(tmp_path / f"none.{extension}") is None
    assert kind_of(tmp_path / "x.dat") is None
