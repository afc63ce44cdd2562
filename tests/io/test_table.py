"""Files of tables with categories and numbers: CSV, Parquet and Arrow of the same data are the same."""

import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recognised import as_file, read

from itemix import InvalidInputError, Transactions, read_chunks, read_transactions

TEXT = (
    "id,sex,age,alone,deck\n"
    "1,male,22.0,True,\n"
    "2, female ,38.5,false,C\n"
    "3,female,,FALSE,NA\n"
    "4,male,35,True,E\n"
)
TABLE = pa.table(
    {
        "id": [1, 2, 3, 4],
        "sex": ["male", "female ", "female", "male"],
        "age": [22.0, 38.5, None, 35.0],
        "alone": [True, False, False, True],
        "deck": [None, "C", None, "E"],
    }
)
OPTIONS = {"format": "table", "bins": {"age": [30]}, "transaction": "id"}


def test_text_and_typed_tables_are_the_same():
    """Numbers, truth values and gaps are recognised in text; blanks do not count anywhere."""
    found = [
        read(TEXT, **OPTIONS),
        read(as_file(TABLE, pq.write_table), **OPTIONS),
        Transactions.from_table(TABLE.drop(["id"]), bins={"age": [30]}),
    ]
    assert found[0].to_lists() == [
        ["sex=male", "age=<30", "alone=True"],
        ["sex=female", "age=30+", "alone=False", "deck=C"],
        ["sex=female", "alone=False"],
        ["sex=male", "age=30+", "alone=True", "deck=E"],
    ]
    assert found[1] == found[0]
    assert found[2] == found[0]
    assert found[0].source == "a file object (table CSV)"
    assert found[1].source == "a file object (Parquet, table)"


def test_codes_with_leading_zeros_are_no_numbers():
    """So post codes stay what they are."""
    rows = "".join(f"{code:05d}\n" for code in range(1000, 1020))
    assert "zip=01000" in read(f"zip\n{rows}", format="table").items


def test_a_pandas_index_is_no_column():
    """A first column without a name numbers the rows."""
    text = pd.DataFrame({"x": ["a", "b"]}).to_csv()
    assert read(text, format="table").to_lists() == [["x=a"], ["x=b"]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TEXT, {}, "what looks like a table, .* try format='table' if each row is a transaction"),
        (TEXT, {"bins": 3}, "expected format='table' with columns=, drop=, bins= or missing=, got None"),
        (TEXT, {"format": "table", "item": "sex"}, "expected no column of items with format='table'"),
        (TEXT, {"format": "table", "transaction": "nr"}, "expected a column 'nr'"),
        ("a,b\nx,y\nz\n", {"format": "table"}, "expected 2 cells in every row, got 1 in row 3"),
        ("a,a\nx,y\n", {"format": "table"}, "expected distinct column names, got 'a'"),
    ],
)
def test_refusals(text, options, message):
    """In one line that says what to try."""
    with pytest.raises(InvalidInputError, match=message):
        read(text, **options)


def test_no_chunks(tmp_path):
    """Bins come from the whole table."""
    (tmp_path / "t.csv").write_text(TEXT)
    with pytest.raises(InvalidInputError, match="got format='table' for t"):
        read_chunks(tmp_path / "t.csv", format="table")


def test_other_encodings_and_delimiters():
    """As in other CSV."""
    data = io.BytesIO("größe;farbe\n3,5;rot\n4,5;grün\n".encode("latin-1"))
    tx = read_transactions(data, format="table", encoding="latin-1")
    assert tx.to_lists() == [["größe=3.5", "farbe=rot"], ["größe=4.5", "farbe=grün"]]
