import io

import numpy as np
import pytest

from itemix import InvalidInputError, read_transactions


def read(text, **options):
    """Read text as one-hot CSV."""
    return read_transactions(io.BytesIO(text.encode()), format="onehot", **options)


def test_columns_are_items():
    """All of them, in their order, also those that never occur."""
    transactions = read('milk,"bread, dark",beer\n1,0,0\n0,0,0\nTRUE,false,"0"\n')
    assert list(transactions.items) == ["milk", "bread, dark", "beer"]
    assert transactions.to_lists() == [["milk"], [], ["milk"]]


def test_without_a_header_columns_are_numbered():
    """Rows of 0 and 1 alone, as in the density estimation benchmarks."""
    transactions = read("0,1,1\n0,0,1\n")
    assert transactions.to_lists() == [[1, 2], [2]]
    assert list(transactions.items) == [0, 1, 2]


def test_an_index_is_no_item():
    """A first column without a name, as pandas writes it, and a column named as transaction."""
    assert read(",a,b\n0,1,0\n1,0,1\n").to_lists() == [["a"], ["b"]]
    assert read("a,when,b\n1,monday,0\n0,sunday,1\n", transaction="when").to_lists() == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "a,b\n1,0\n0,2\n",
            {},
            r"expected only 0 and 1 \(or false and true\), got '2' in column 'b', line 3 of",
        ),
        ("a,b\n1,\n", {}, r"got an empty cell in column 'b', line 2 of a file object; name a column"),
        ("a,b\nnan,1\n", {}, r"got 'nan' in column 'a', line 2"),
        ("a,b\n" + "1,0\n" * 1_200_000 + "1,x\n", {}, r"got 'x' in column 'b', line 1,200,002 of"),
        ("a,b\n1," + "y" * 99 + "\n", {}, r"got 'y{30}\.\.\.' in column 'b'"),
        ("a,b\n1,0\n1\n", {}, r"expected 2 cells in every row, got 1 in line 3 of .*; if every line lists"),
        ("a,b\n1,0\n\n1,0,1\n", {}, r"expected 2 cells in every row, got 3 in line 4 of"),
        ("a,b\n1,0\n", {"transaction": "c"}, r"expected a column 'c', got columns 'a', 'b'; .* transaction="),
        ("a,a\n1,0\n", {}, r"expected distinct item names, got 'a' more than once"),
    ],
)
def test_bad_tables_are_refused(text, options, message):
    """The message names the line, the column and the value."""
    with pytest.raises(InvalidInputError, match=message):
        read(text, **options)


def test_wide_tables():
    """A thousand columns, and rows over several blocks."""
    matrix = np.random.default_rng(0).random((2500, 1000)) < 0.02
    text = ",".join(f"i{j}" for j in range(1000)) + "\n"
    text += "\n".join(",".join(row) for row in np.where(matrix, "1", "0").tolist()) + "\n"
    assert (read(text).to_scipy().toarray() == matrix).all()
