import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from itemix import InvalidInputError, Transactions, read_transactions, write_transactions
from itemix.data.synthetic import grocery_store
from itemix.errors import OutputError
from itemix.io.read import FORMATS
from itemix.io.write import ENDINGS

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")
names = st.text(LETTERS, min_size=1, max_size=6).map(str.strip).filter(bool)
named_baskets = st.lists(st.lists(names, max_size=5), min_size=1, max_size=8).filter(any)
numbered_baskets = st.lists(st.lists(st.integers(0, 10**15), max_size=5), min_size=1, max_size=8).filter(any)


# A table of categories and numbers is only read.
WRITTEN = [kind for kind in FORMATS if kind != "table"]


def are_all_numbers(transactions):
    """Whether all names look like integers, which CSV cannot tell from integers."""
    return all(str(name).isdecimal() for name in transactions.items)


def there_and_back(transactions, folder, ending, **options):
    """Write and read again; the format is named, since three short rows may look like anything."""
    path = Path(folder) / f"data{ending}"
    write_transactions(transactions, path, **options)
    kind = options.get("format") or ENDINGS[ending.removesuffix(".gz")]
    header = True if kind == "onehot" else None
    return read_transactions(path, format=kind, header=header)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for many small files."""
    return tmp_path_factory.mktemp("files")


@pytest.mark.filterwarnings("ignore:expected a file that is read back")
@pytest.mark.parametrize(
    ("ending", "options"),
    [
        (".csv", {}),
        (".tsv.gz", {}),
        (".csv", {"delimiter": ";"}),
        (".csv", {"format": "onehot"}),
        (".jsonl", {}),
        (".ndjson.gz", {}),
        (".parquet", {}),
        (".arrow", {}),
        (".feather.gz", {}),
    ],
)
@given(lists=named_baskets)
@example(lists=[[";"]])
@example(lists=[["a|b"], ["a\tb"]])
@example(lists=[["0\r0"]])
@example(lists=[["two\nlines", 'a "quote"'], []])
@example(lists=[["0"], ["true", "x"]])
def test_names_come_back(folder, ending, options, lists):
    """Reading what was written gives an equal value: any names, empty transactions, all formats."""
    transactions = Transactions.from_lists(lists)
    back = there_and_back(transactions, folder, ending, **options)
    if not are_all_numbers(transactions):
        assert back == transactions


@pytest.mark.filterwarnings("ignore:expected a file that is read back")
@given(lists=named_baskets)
def test_long_tables_come_back(folder, lists):
    """Except for empty transactions, which are refused."""
    transactions = Transactions.from_lists(lists)
    full = transactions.drop_empty()
    back = there_and_back(full, folder, ".csv", format="long")
    if not are_all_numbers(transactions):
        assert back == full
    if full != transactions:
        with pytest.raises(
            InvalidInputError, match=r"expected no empty transactions for long CSV, got \d; try drop_"
        ):
            write_transactions(transactions, Path(folder) / "x.csv", format="long")


@pytest.mark.parametrize("ending", [".dat", ".dat.gz", ".csv", ".jsonl", ".parquet", ".arrow"])
@given(lists=numbered_baskets)
def test_integers_come_back(folder, ending, lists):
    """Integers stay integers in every format."""
    transactions = Transactions.from_lists(lists)
    assert there_and_back(transactions, folder, ending) == transactions


def test_the_key_of_declared_items_stays(tmp_path):
    """Files of earlier versions have all items under this key of the column's metadata."""
    path = tmp_path / "x.parquet"
    write_transactions(Transactions([0, 1], [1], ["beer", "milk"]), path)
    assert b"itemix.items" in pq.read_schema(path).field("items").metadata


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_items_that_do_not_occur_come_back(tmp_path, ending):
    """Parquet and Arrow keep all items and their order, as one-hot CSV does."""
    transactions = Transactions([0, 1, 1], [2], ["z", "never", "a"])
    assert there_and_back(transactions, tmp_path, ending) == transactions
    assert there_and_back(transactions, tmp_path, ".csv", format="onehot") == transactions
    assert len(there_and_back(Transactions([0], [], ["a"]), tmp_path, ending)) == 0


@pytest.mark.filterwarnings("ignore:expected a file that is read back")
@pytest.mark.parametrize("kind", WRITTEN)
def test_merged_rows_are_written_one_by_one(tmp_path, kind):
    """A row that stands for three transactions is written three times."""
    merged = Transactions([0, 1, 3], [0, 0, 1], [5, 7], [3, 1])
    path = tmp_path / "data"
    write_transactions(merged, path, format=kind)
    assert read_transactions(path, format=kind, header=True if kind == "onehot" else None).to_lists() == [
        [5], [5], [5], [5, 7],
    ]  # fmt: skip


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".jsonl", ".parquet", ".arrow"])
def test_real_baskets_are_recognised(tmp_path, ending):
    """What was written by its ending is recognised when it is read."""
    store = grocery_store(3000)
    write_transactions(store, tmp_path / f"store{ending}")
    back = read_transactions(tmp_path / f"store{ending}")
    assert back.align_items(store.items) == store


def test_files_are_readable_by_people(tmp_path):
    """What the text formats look like."""
    transactions = Transactions.from_lists([["milk", "dark, bread"], [], ["milk"]])
    expected = {
        "a.csv": '"dark, bread",milk\n\nmilk\n',
        "a.tsv": '"dark, bread"\tmilk\n\nmilk\n',
        "a.jsonl": '["dark, bread", "milk"]\n[]\n["milk"]\n',
    }
    for name, text in expected.items():
        write_transactions(transactions, tmp_path / name)
        assert (tmp_path / name).read_text() == text
    write_transactions(transactions, tmp_path / "o.csv", format="onehot")
    assert (tmp_path / "o.csv").read_text() == '"dark, bread",milk\n1,1\n0,0\n0,1\n'
    write_transactions(transactions.drop_empty(), tmp_path / "l.csv", format="long", delimiter=";")
    assert (tmp_path / "l.csv").read_text() == 'transaction;item\n0;"dark, bread"\n0;milk\n1;milk\n'
    write_transactions(Transactions.from_lists([[3, 1], []]), tmp_path / "a.dat")
    assert (tmp_path / "a.dat").read_text() == "1 3\n\n"


def test_gzipped_files_are_the_same_every_time(tmp_path):
    """The time is not written into them."""
    transactions = Transactions.from_lists([["a"]])
    write_transactions(transactions, tmp_path / "a.csv.gz")
    write_transactions(transactions, tmp_path / "b.csv.gz")
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"a\n"


@pytest.mark.parametrize(
    ("lists", "name", "options", "message"),
    [
        ([["a"]], "x.dat", {}, r"expected integer item names for FIMI, got 'a'; write .csv or .parquet"),
        (
            [[-1]],
            "x.dat",
            {},
            r"expected item codes of 0 or more with at most 18 digits for fimi files, got -1",
        ),
        (
            [[-1]],
            "x.csv",
            {},
            r"expected item codes of 0 or more .* for basket files, got -1; write .parquet or",
        ),
        (
            [[-1]],
            "x.csv",
            {"format": "onehot"},
            r"expected item codes of 0 or more .* for onehot files, got -1",
        ),
        ([[-1]], "x.csv", {"format": "long"}, r"expected item codes of 0 or more .* for long files, got -1"),
        ([[10**18]], "x.dat", {}, r"at most 18 digits for fimi files, got 1000000000000000000; write"),
        *(
            (
                [["a"], ["b\ud800"]],
                name,
                options,
                r"expected item names that are valid Unicode, got 'b\\ud800'",
            )
            for name, options in [
                ("x.csv", {}),
                ("x.csv", {"format": "long"}),
                ("x.jsonl", {}),
                ("x.parquet", {}),
                ("x.arrow", {}),
            ]
        ),
        ([[], []], "x.dat", {}, r"expected at least one item for fimi files, got only empty transactions"),
        ([], "x.csv", {}, r"expected at least one item for basket files"),
        ([], "x.jsonl", {}, r"expected at least one transaction for jsonl files, got none; write .parquet"),
        ([], "x.csv", {"format": "onehot"}, r"expected at least one transaction for onehot files, got none"),
        ([[]], "x.csv", {"format": "onehot"}, r"expected at least one item for onehot files, got none"),
        (
            [["a "]],
            "x.csv",
            {},
            r"expected names without blanks at their ends for CSV, got 'a '; write .parquet",
        ),
        ([[""]], "x.csv", {"format": "long"}, r"names without blanks .* got ''"),
        ([["a\0"]], "x.csv", {"format": "onehot"}, r"names without blanks .* got 'a\\x00'"),
        (
            [["a"]],
            "x.xlsx",
            {},
            r"expected a file name that ends in one of .dat, .*, got 'x.xlsx'; rename it, or",
        ),
        ([["a"]], "x", {}, r"got 'x'; rename it"),
        ([["a"]], "x.gz", {}, r"got 'x.gz'; rename it"),
        (
            [["a"]],
            "x.csv",
            {"format": "xml"},
            r"expected a format, one of fimi, .*, got 'xml'; leave it out to go by",
        ),
        ([["a"]], "x.csv", {"delimiter": "ab"}, r"expected one ASCII character as the delimiter, got 'ab'"),
        ([["a"]], "no/x.csv", {}, r"expected an existing folder to write to, got '.*no'; create it first"),
    ],
)
def test_what_would_be_lost_is_refused(tmp_path, lists, name, options, message):
    """Before anything is written."""
    with pytest.raises(InvalidInputError, match=message):
        write_transactions(Transactions.from_lists(lists), tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("kind", WRITTEN)
def test_a_full_device_is_an_error_in_every_format(kind):
    """One line says so, whichever library was writing."""
    transactions = Transactions.from_lists([[i] for i in range(300)])
    with pytest.raises(OutputError, match=r"expected to write '/dev/full', got .*No space left on device"):
        write_transactions(transactions, "/dev/full", format=kind)


def test_row_groups_of_parquet_are_small(tmp_path):
    """Engines split Parquet files at row groups, so these have at most 65,536 transactions."""
    write_transactions(Transactions.from_lists([["a"]] * 70_000), tmp_path / "file.parquet")
    metadata = pq.ParquetFile(tmp_path / "file.parquet").metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [65_536, 4_464]
