import io

import pytest

from itemix import InvalidInputError, read_transactions
from itemix.io.read import read_names

CODES = b"1000 1001\n1002\n"


def read(names):
    """Read three codes with names for them."""
    return read_transactions(io.BytesIO(CODES), names=names)


@pytest.mark.parametrize(
    "text",
    [
        "1000,milk\n1001,bread\n1002,beer\n",
        "code,name\n1000,milk\n1001,bread\n1002,beer\n",
        "item,title,vroot\n1000,milk,/a\n1001,bread,/b\n1002,beer,/c\n",
        "item,labels,level2\n1000,milk,x\n1001,bread,x\n1002,beer,x\n",
        "name;id\nmilk;1000\nbread;1001\nbeer;1002\n",
        "nummer\tartikel\n1000\tmilk\n1001\tbread\n1002\tbeer\n",
        "1000, milk \n1001,bread\n\n1002,beer\n9999,never bought\n",
        '"1000","milk"\r\n"1001","bread"\r\n"1002","beer"\r\n',
    ],
)
def test_names_come_from_a_file(tmp_path, text):
    """With or without a header, whichever columns codes and names are in; other names do not matter."""
    path = tmp_path / "names.csv"
    path.write_text(text)
    transactions = read(path)
    assert transactions.to_lists() == [["milk", "bread"], ["beer"]]
    assert list(transactions.items) == ["milk", "bread", "beer"]


def test_names_come_from_a_mapping():
    """By integer or by string; items without a name keep their code."""
    assert read({1000: "milk", "1002": "beer"}).to_lists() == [["milk", "1001"], ["beer"]]


def test_items_that_share_a_name_get_their_codes():
    """So that names stay distinct, and the same whichever of the items occur."""
    shared = {1000: "milk", 1001: "milk", 1002: "beer", 7: "beer"}
    assert read(shared).to_lists() == [["milk (1000)", "milk (1001)"], ["beer (1002)"]]


def test_names_work_for_names():
    """Codes may be strings, as in a basket CSV of article numbers."""
    baskets = io.BytesIO(b"A1,B2\nB2\n")
    assert read_transactions(baskets, names={"A1": "milk", "B2": "bread"}).to_lists() == [
        ["milk", "bread"],
        ["bread"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,a\n1,b\n", r"expected one name for each item, got 'a' and 'b' for '1'; drop one of them"),
        (
            "1,a\n2\n",
            r"expected a code and a name in every row, got 1 cell\(s\) in row 2 of names.csv; separate",
        ),
        ("", r"expected names of items, got names.csv which is empty"),
    ],
)
def test_bad_names_are_refused(tmp_path, text, message):
    """The message names the row or the code."""
    path = tmp_path / "names.csv"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        read_names(path)


@pytest.mark.parametrize(("names", "known"), [({7: "milk"}, "such as '7'"), ({}, "none at all")])
def test_names_of_other_items_are_refused(names, known):
    """Where no item has a name, the wrong file or the wrong column was read."""
    message = (
        rf"expected names for items such as '1000', got names for others only, {known}; check the column"
    )
    with pytest.raises(InvalidInputError, match=message):
        read(names)


def test_names_have_the_encoding_of_the_data(tmp_path):
    """One encoding for both files."""
    path = tmp_path / "names.csv"
    path.write_bytes("1,Käse\n".encode("latin-1"))
    assert read_transactions(io.BytesIO(b"1\n"), names=path, encoding="latin-1").to_lists() == [["Käse"]]


def test_the_code_of_a_nameless_item_may_be_the_name_of_another():
    """Names stay distinct: the code is added, as where two items share a name."""
    assert read({1000: "1001"}).to_lists() == [["1001 (1000)", "1001"], ["1002"]]


@pytest.mark.parametrize("nothing", [None, "", " ", float("nan")])
def test_missing_names_are_none(nothing):
    """Items without a name keep their code, also where the mapping or the file has an empty place for it."""
    expected = [["milk", "1001"], ["1002"]]
    assert read({1000: "milk", 1001: nothing, 1002: nothing}).to_lists() == expected
    assert read(io.BytesIO(b"1000,milk\n1001,\n1002, \n")).to_lists() == expected
