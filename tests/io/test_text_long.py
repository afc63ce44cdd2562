import io

import numpy as np
import pytest

from itemix import InvalidInputError, read_transactions


def read(text, **options):
    """Read text as long CSV."""
    return read_transactions(io.BytesIO(text.encode()), format="long", **options)


@pytest.mark.parametrize(
    ("header", "transaction", "item"),
    [
        ("Member_number,Date,itemDescription", 0, 2),
        ("InvoiceNo,StockCode,Description", 0, 1),
        ("product_name,order-id,qty", 1, 0),
        ("user_id,x,movie_id", 0, 2),
        ("foo,bar", 0, 1),
        ("item,foo", 1, 0),
        ("foo,order", 1, 0),
    ],
)
def test_usual_names_are_found(header, transaction, item):
    """Whatever their case and punctuation; of two columns with other names the first is the transaction."""
    rows = [["?"] * len(header.split(",")) for _ in range(3)]
    for row, pair in zip(rows, [("t1", "b"), ("t2", "a"), ("t1", "a")], strict=True):
        row[transaction], row[item] = pair
    text = "\n".join([header, *(",".join(row) for row in rows)]) + "\n"
    assert read(text).to_lists() == [["a", "b"], ["a"]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "a,b,c\n1,2,3\n",
            {},
            r"expected a column of transactions, got columns 'a', 'b', 'c'; name .* transaction=",
        ),
        ("order,b,c\n1,2,3\n", {}, r"expected a column of items, got columns 'order', 'b', 'c'; .* item="),
        (
            "order,item\n1,a\n",
            {"item": "x"},
            r"expected a column 'x', got columns 'order', 'item'; .* with item=",
        ),
        ("order,item\n1,a\n", {"transaction": "x"}, r"expected a column 'x', .* with transaction="),
        ("order,item,item\n1,a,b\n", {}, r"expected one column 'item', got 2 in a file object; rename one"),
        (
            "order,item\n1,a\n2\n",
            {},
            r"expected 2 cells in every row, got 1 in row 3 of .* \('2'\); quote the",
        ),
        ("order,item\n1,a\n2,b,c\n", {}, r"got 3 in row 3 of a file object \('2,b,c'\)"),
        (
            "order,item\n" + "1,a\n" * 900_000 + "2,b,c\n",
            {},
            r"got 3 in row 900002 of|got 3 in row 900,002 of",
        ),
        ("order,item\n1," + "a," * 40 + "\n", {}, r"\('1,a,a.*\.\.\.'\)"),
        (
            "order,item\n1,\n2,b\n",
            {},
            r"a file object: expected a value in every row of the item column 'item', got 1 missing",
        ),
        (
            "order,item\n,a\n,b\n",
            {},
            r"every row of the transaction column 'order', got 2 missing; fill them",
        ),
        ("order,item\n1,  \n", {}, r"the item column 'item', got 1 missing"),
    ],
)
def test_bad_tables_are_refused(text, options, message):
    """The message names the column or the row."""
    with pytest.raises(InvalidInputError, match=message):
        read(text, **options)


def test_blanks_around_names_do_not_count():
    """Two spellings that differ in blanks are one item; quoted line feeds and delimiters belong to a name."""
    text = 'order,item\n1,milk\n1," milk "\n2,"a, b"\n2,"two\nlines"\n'
    assert read(text).to_lists() == [["milk"], ["a, b", "two\nlines"]]


def test_a_header_may_be_of_several_lines():
    """A quoted name of a column may hold a line feed."""
    assert read('"order\nid",item\n1,a\n1,b\n').to_lists() == [["a", "b"]]


def test_transactions_need_not_be_together():
    """Pairs come in any order, over several blocks; empty lines do not count."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 500, size=(100_000, 2))
    text = "order,item\n\n" + "".join(f"o{t},i{i:03}\n" for t, i in pairs.tolist())
    expected = {}
    for t, i in pairs.tolist():
        expected.setdefault(t, set()).add(f"i{i:03}")
    assert read(text).to_lists() == [sorted(row) for row in expected.values()]
