"""Files whose cells hold lists: "milk,bread" in one cell, or sets as arules writes them."""

import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import itemix
from itemix.errors import InvalidInputError

BASKETS = [["bread", "milk"], ["milk"], ["beer", "milk"]]


def read(text, **options):
    """Read the text of a file."""
    return itemix.read_transactions(io.BytesIO(text.encode()), **options)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('items\n"milk,bread"\nmilk\n"beer, milk"\n', {}),
        ('"milk,bread"\nmilk\n"beer, milk"\n', {}),
        ('korb\n"milk,bread"\nmilk\n"beer, milk"\n', {"item": "korb"}),
        ('"items"\n"{milk,bread}"\n"{milk}"\n"{beer,milk}"\n', {}),
        ("{milk,bread}\n{milk}\n{beer,milk}\n", {}),
    ],
)
def test_one_column_of_lists_is_read_as_baskets(text, options):
    """A file of one column of lists is one of baskets, with or without a header."""
    found = read(text, **options)
    assert found.to_lists() == BASKETS
    assert "lists in cells" in found.source


@pytest.mark.parametrize(
    ("text", "options", "ids"),
    [
        ('order_id,items\nx,"milk,bread"\ny,milk\nz,"beer,milk"\n', {}, ["x", "y", "z"]),
        ("order_id;items\nx;milk,bread\ny;milk\nz;beer,milk\n", {}, ["x", "y", "z"]),
        ('kunde,korb\n7,"milk,bread"\n9,milk\n8,"beer,milk"\n', {}, [7, 9, 8]),
        ('kunde,korb\nx,"milk,bread"\ny,milk\nz,"beer,milk"\n', {"transaction": "kunde"}, ["x", "y", "z"]),
        ('"","items"\n"1","{milk,bread}"\n"2","{milk}"\n"3","{beer,milk}"\n', {}, [1, 2, 3]),
    ],
)
def test_lists_beside_ids_keep_these(text, options, ids):
    """Where each row has an id of its own, cells may be lists, and the ids stay."""
    found = read(text, **options)
    assert found.to_lists() == BASKETS
    assert found.ids.to_pylist() == ids
    assert "lists in the cells" in found.source


def test_names_with_commas_stay_whole_where_ids_repeat_or_the_layout_is_named():
    """A long table with several rows a transaction has names, not lists."""
    text = 'order_id,items\nx,"cheese, blue"\nx,milk\ny,milk\n'
    assert read(text).to_lists() == [["cheese, blue", "milk"], ["milk"]]
    text = 'order_id,items\nx,"cheese, blue"\ny,milk\n'
    assert read(text, format="long").to_lists() == [["cheese, blue"], ["milk"]]
    assert read('"cheese, blue"\n', format="basket").to_lists() == [["cheese, blue"]]
    assert read('"cheese, blue",milk\n').to_lists() == [["cheese, blue", "milk"]]


def test_parquet_has_lists_in_cells_too(tmp_path):
    """A column of text in Parquet is a column of lists if its cells have commas."""
    cells = ["milk,bread", "{milk}", "beer,milk"]
    path = tmp_path / "cells.parquet"
    parquet.write_table(pa.table({"korb": cells}), path)
    assert itemix.read_transactions(path).to_lists() == BASKETS
    assert [row for chunk in itemix.read_chunks(path, chunk_bytes=20) for row in chunk.to_lists()] == BASKETS
    parquet.write_table(pa.table({"kunde": ["x", "y", "z"], "korb": cells}), path)
    found = itemix.read_transactions(path, transaction="kunde")
    assert (found.to_lists(), found.ids.to_pylist()) == (BASKETS, ["x", "y", "z"])
    parquet.write_table(pa.table({"korb": ["milk", "bread"]}), path)
    with pytest.raises(InvalidInputError, match="format='table'"):
        itemix.read_transactions(path)
    with pytest.raises(InvalidInputError, match="format='table'"):
        itemix.read_chunks(path)


def test_one_column_of_numbers_has_no_lists(tmp_path):
    """It is refused in one line, whole and in chunks."""
    path = tmp_path / "one.parquet"
    parquet.write_table(pa.table({"a": [1, 2]}), path)
    for read in (itemix.read_transactions, lambda path, item: list(itemix.read_chunks(path, item=item))):
        with pytest.raises(InvalidInputError, match=r"column of transactions, got columns 'a'|long"):
            read(path, item="a")


def test_chunks_of_lists_in_cells_are_the_whole(tmp_path):
    """The chunks together are what is read whole."""
    path = tmp_path / "cells.csv"
    path.write_text('items\n"milk,bread"\nmilk\n"beer, milk"\n')
    chunks = itemix.read_chunks(path, chunk_bytes=20)
    assert [row for chunk in chunks for row in chunk.to_lists()] == BASKETS
    assert chunks.items == itemix.read_transactions(path).items


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_data_frame_of_one_column_may_hold_lists(make):
    """Miners and estimators take a data frame with one column of lists."""
    expected = itemix.mine(BASKETS, 1)
    for cells in (["milk,bread", "{milk}", "beer,milk"], [["milk", "bread"], ["milk"], ["beer", "milk"]]):
        frame = make({"korb": cells})
        assert itemix.mine(frame, 1) == expected
        model = itemix.BernoulliMixture(2, random_state=0).fit(frame)
        assert list(model.model_.items) == ["beer", "bread", "milk"]
        assert (model.predict(frame) == model.predict(BASKETS)).all()
    with pytest.raises(InvalidInputError, match="only 0 and 1"):
        itemix.mine(make({"korb": ["milk", "bread"]}), 1)


def test_the_writer_warns_where_names_would_be_taken_for_lists(tmp_path):
    """What would be read back as lists is written with a warning."""
    single = itemix.Transactions.from_lists([["cheese, blue"], ["milk"]])
    for kind in ("long", "basket"):
        with pytest.warns(UserWarning, match="taken for lists"):
            itemix.write_transactions(single, tmp_path / "single.csv", format=kind)
        assert itemix.read_transactions(tmp_path / "single.csv", format=kind) == single


def test_lines_of_json_keep_their_ids():
    """The field that is named is the id of each line; where one is missing there are none."""
    lines = '{"user": "u", "pages": ["a", "b"]}\n{"user": "v", "pages": []}\n'
    assert read(lines, transaction="user").ids.to_pylist() == ["u", "v"]
    assert read(lines).ids is None
    assert read(lines + '{"user": null, "pages": ["a"]}\n', transaction="user").ids is None
    assert read(lines + '{"user": "\\ud800", "pages": ["a"]}\n', transaction="user").ids is None
    assert read("\x85\n", format="jsonl", transaction="user", item="pages").ids is None
    lines = '{"user": 3, "day": "mo", "pages": ["a"]}\n{"user": 3, "day": "tu", "pages": ["a"]}\n'
    found = read(lines, transaction=["user", "day"])
    assert found.ids.to_pylist() == [{"user": 3, "day": "mo"}, {"user": 3, "day": "tu"}]
