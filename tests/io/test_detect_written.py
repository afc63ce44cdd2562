"""What is written is recognised when it is read back, or the writer says that it would not be."""

import warnings
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from itemix import InvalidInputError, Transactions, read_transactions, write_transactions
from itemix.io.write import ENDINGS

ODD_NAMES = [
    "0",
    "1",
    "true",
    "no",
    "y",
    "7",
    "12",
    "1.0",
    "a",
    "item",
    "transaction",
    "#",
    "[1]",
    "{",
    "a b",
    "a,b",
    "a\nb",
]
names = st.one_of(st.sampled_from(ODD_NAMES), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
named = st.lists(names, max_size=4, unique=True)
numbered = st.lists(st.integers(0, 12), max_size=4, unique=True)


@st.composite
def small_data(draw):
    """Few transactions of few items, named or numbered; some may be empty, some items may never occur."""
    items = draw(st.one_of(named, numbered))
    codes = st.lists(st.integers(0, len(items) - 1), max_size=4) if items else st.just([])
    rows = draw(st.lists(codes, max_size=5))
    indptr = [0]
    for row in rows:
        indptr.append(indptr[-1] + len(row))
    return Transactions(indptr, [code for row in rows for code in row], items)


FORMATS = [
    *({"ending": f"{ending}{gz}"} for ending in ENDINGS for gz in ("", ".gz")),
    *({"ending": ".csv", "format": kind} for kind in ("long", "onehot", "fimi", "basket")),
    {"ending": ".tsv", "format": "onehot"},
    {"ending": ".csv", "format": "onehot", "delimiter": ";"},
    {"ending": "", "format": "onehot"},
]


@pytest.mark.parametrize("options", FORMATS, ids=lambda options: " ".join(options.values()))
@given(data=small_data())
@example(data=Transactions([0, 1, 1], [0], ["a"]))
@example(data=Transactions([0, 1], [0], ["a"]))
@example(data=Transactions([0, 1, 1], [0], [5]))
@example(data=Transactions([0, 1, 1], [0], ["1"]))
@example(data=Transactions([0, 2], [0, 1], ["transaction", "item"]))
def test_what_is_written_is_recognised(tmp_path_factory, options, data):
    """Reading without format= gives the same transactions, unless the writer has said that it would not."""
    options = dict(options)
    path = Path(tmp_path_factory.getbasetemp()) / f"recognised{options.pop('ending')}"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            write_transactions(data, path, **options)
        except InvalidInputError:
            return
    if said:
        assert len(said) == 1
        assert str(said[0].message).startswith("expected a file that is read back as it was written, got ")
        return
    back = read_transactions(path)
    assert [sorted(row) for row in back.to_lists()] == [sorted(row) for row in data.to_lists()]


def test_one_item_is_a_table(tmp_path):
    """A one-hot table of one item is recognised, and so is one with a single transaction."""
    for rows in ([["a"], []], [["a"]]):
        data = Transactions.from_lists(rows)
        write_transactions(data, tmp_path / "one.csv", format="onehot")
        back = read_transactions(tmp_path / "one.csv")
        assert back == data
        assert back.source == "one.csv (one-hot CSV)"


@pytest.mark.parametrize(
    ("lists", "kind", "message"),
    [
        ([["-1"]], "basket", r"x\.csv, which is taken for fimi; read it with format='basket'"),
        ([["a"], ["1"]], "basket", r"x\.csv, which is taken for onehot; read it with format='basket'"),
        ([["1"], ["2"]], "basket", r"x\.csv, whose names would be taken for whole numbers; write \.parquet"),
        ([[5], []], "onehot", r"x\.csv, which is taken for fimi; read it with format='onehot'"),
        ([["true", "no"]], "onehot", r"taken for cells; read it with format='onehot' and header=True"),
    ],
)
def test_what_would_be_mistaken_is_said(tmp_path, lists, kind, message):
    """One line says what the file would be taken for, and how to read it."""
    with pytest.warns(UserWarning, match=message):
        write_transactions(Transactions.from_lists(lists), tmp_path / "x.csv", format=kind)


@pytest.mark.parametrize(("name", "kind"), [("x.parquet", "jsonl"), ("x.feather.gz", "basket")])
def test_text_under_the_name_of_a_table_is_said(tmp_path, name, kind):
    """Text in a file that is named as a table is refused without its format, so the writer says so."""
    data = Transactions.from_lists([["milk", "bread"], ["milk"]])
    with pytest.warns(UserWarning, match=f"{name}, which has another format than its name says; .*'{kind}'"):
        write_transactions(data, tmp_path / name, format=kind)
    assert read_transactions(tmp_path / name, format=kind).to_lists() == data.to_lists()
