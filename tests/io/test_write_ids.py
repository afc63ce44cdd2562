"""Ids of transactions, from files of all formats into files and chunks."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itemix
from itemix import InvalidInputError, Transactions, read_chunks, read_transactions, write_transactions

LISTS = [["tea"], ["milk", "tea"], ["bread"], ["milk"]]


def ids_of_a_kind(letters):
    """Four different ids: whole numbers, or names."""
    names = st.text(letters, min_size=1).map(lambda text: f"x{text}x")
    numbers = st.integers(0, 10**12)
    return st.one_of(*(st.lists(kind, min_size=4, max_size=4, unique=True) for kind in (numbers, names)))


@given(
    ids_of_a_kind("abc ,\"'é"),
    st.sampled_from(["long", "parquet", "arrow", "jsonl"]),
    st.sampled_from([24, 1 << 20]),
)
def test_ids_are_written_and_read_back(tmp_path_factory, ids, kind, size):
    """By all formats that have room for them, at once and in chunks."""
    path = tmp_path_factory.getbasetemp() / f"ids.{kind}"
    tx = Transactions.from_lists(LISTS, ids=ids)
    write_transactions(tx, path, format=kind)
    options = {"format": kind, **({"transaction": "id"} if kind == "jsonl" else {})}
    found = read_transactions(path, **options)
    assert found.align_items(tx.items) == tx
    assert found.ids.to_pylist() == ids
    chunks = list(read_chunks(path, chunk_bytes=size, **options))
    assert [name for chunk in chunks for name in chunk.ids.to_pylist()] == ids


@pytest.mark.parametrize("kind", ["long", "parquet", "arrow", "jsonl"])
def test_ids_of_several_columns_are_written(tmp_path, kind):
    """Each field has a column of its own."""
    frame = pd.DataFrame({"member": [1, 1, 2], "date": ["mo", "tu", "mo"], "item": ["a", "b", "a"]})
    tx = Transactions.from_long(frame, ["member", "date"], "item")
    path = tmp_path / "ids"
    write_transactions(tx, path, format=kind)
    named = {} if kind in ("parquet", "arrow") else {"transaction": ["member", "date"]}
    found = read_transactions(path, format=kind, **named)
    assert found.to_lists() == tx.to_lists()
    assert found.ids.to_pylist() == tx.ids.to_pylist()
    (chunk,) = read_chunks(path, format=kind, **named)
    assert chunk.ids.to_pylist() == tx.ids.to_pylist()


@pytest.mark.parametrize("ids", [["a", "a", "b", "c"], ["a", " b", "c", "d"], ["", "b", "c", "d"]])
def test_long_tables_number_what_ids_do_not_tell_apart(tmp_path, ids):
    """Transactions that share an id would become one."""
    tx = Transactions.from_lists(LISTS, ids=ids)
    write_transactions(tx, tmp_path / "long.csv", format="long")
    found = read_transactions(tmp_path / "long.csv")
    assert found.to_lists() == tx.to_lists()
    assert found.ids.to_pylist() == [0, 1, 2, 3]


def test_ids_of_rows_that_stand_for_several_are_repeated(tmp_path):
    """Each transaction that is written has the id of its row."""
    tx = Transactions.from_lists([["a"], ["b"]], counts=[2, 1], ids=[7, 8])
    write_transactions(tx, tmp_path / "x.parquet")
    assert read_transactions(tmp_path / "x.parquet").ids.to_pylist() == [7, 7, 8]


def write_onehot(path, ids):
    """Write a one-hot table with ids and counts, as CSV or Parquet."""
    frame = pd.DataFrame({"who": ids, "tea": [1, 0, 1, 1], "n": [1, 2, 3, 4], "milk": [0, 1, 1, 0]})
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)


@given(ids_of_a_kind("abc é"), st.sampled_from(["x.csv", "x.parquet"]))
def test_one_hot_files_have_ids_and_counts(tmp_path_factory, ids, name):
    """The columns that are named are no items; the others are."""
    path = tmp_path_factory.getbasetemp() / name
    write_onehot(path, ids)
    found = read_transactions(path, format="onehot", transaction="who", counts="n")
    assert list(found.items) == ["tea", "milk"]
    assert found.ids.to_pylist() == ids
    assert found.multiplicities.tolist() == [1, 2, 3, 4]
    assert found.support("milk") == 0.5
    with pytest.raises(InvalidInputError, match="expected no counts and no quantity, to read in chunks"):
        read_chunks(path, transaction="who", counts="n")


def test_one_hot_ids_in_chunks(tmp_path):
    """Whole numbers are numbers if they are in the whole file, not in a chunk only."""
    for ids, expected in (
        (["7", "8", "9", "10"], [7, 8, 9, 10]),
        (["7", "8", "9", "x"], ["7", "8", "9", "x"]),
    ):
        path = tmp_path / "x.csv"
        path.write_text("who,tea,milk\n" + "".join(f"{name},1,0\n" for name in ids))
        chunks = list(read_chunks(path, transaction="who", chunk_bytes=12))
        assert len(chunks) == 4
        assert [name for chunk in chunks for name in chunk.ids.to_pylist()] == expected
        assert read_transactions(path, transaction="who").ids.to_pylist() == expected


def test_a_missing_id_is_an_id_for_nobody(tmp_path):
    """The column may be there for another reason: in one-hot files, lists and JSON lines."""
    (tmp_path / "x.csv").write_text("who,tea,milk\na,1,0\n,0,1\n")
    (tmp_path / "x.jsonl").write_text('{"who": "a", "items": ["x"]}\n{"items": ["y"]}\n')
    pq.write_table(pa.table({"who": ["a", None], "items": [["x"], ["y"]]}), tmp_path / "x.parquet")
    for name in ("x.csv", "x.jsonl", "x.parquet"):
        assert read_transactions(tmp_path / name, transaction="who").ids is None
        assert [chunk.ids for chunk in read_chunks(tmp_path / name, transaction="who")] == [None]


def test_counts_beside_lists_and_in_json_lines(tmp_path):
    """A column or a field with the number of transactions."""
    rows = [{"n": 3, "items": ["a", "b"]}, {"n": 1, "items": ["a"]}]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.table({"n": [3, 1], "items": [["a", "b"], ["a"]]}), tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text('order_id,items,n\n1,"a,b",3\n2,"a,c",1\n')
    for name in ("x.jsonl", "x.parquet", "x.csv"):
        found = read_transactions(tmp_path / name, counts="n")
        assert found.multiplicities.tolist() == [3, 1]
        assert found.count("b") == 3


@pytest.mark.parametrize(
    "rows", ['{"n": 3, "items": ["a"]}\n{"items": ["a"]}\n', '{"n": "3", "items": []}\n']
)
def test_counts_in_json_lines_must_be_numbers(tmp_path, rows):
    """In every line."""
    (tmp_path / "x.jsonl").write_text(rows)
    with pytest.raises(InvalidInputError, match="expected a whole number in field 'n' of every line"):
        read_transactions(tmp_path / "x.jsonl", counts="n")


def test_ids_stay_with_their_rows_to_the_answers():
    """Split, slices, samples, what holds an item; assignments and recommendations name them."""
    names = [f"c{n}" for n in range(40)]
    tx = Transactions.from_lists([["a", "b"] if n % 2 else ["c", "d"] for n in range(40)], ids=names)
    train, test = tx.split(0.5, random_state=0)
    assert sorted(train.ids.to_pylist() + test.ids.to_pylist()) == sorted(names)
    assert all(
        (int(name[1:]) % 2 == 1) == (held == ["a", "b"])
        for name, held in zip(test.ids.to_pylist(), test, strict=True)
    )
    assert tx[3:5].ids.to_pylist() == ["c3", "c4"]
    assert tx.holding("a").ids.to_pylist() == names[1::2]
    assert tx.sample(5, random_state=1).ids.type == pa.string()
    model = itemix.BernoulliMixture(2, random_state=0).fit(train)
    assert model.assign(test)["id"].tolist() == test.ids.to_pylist()
    offers = model.recommend_many(test, 1)
    assert np.array_equal(offers.ids["id"], np.array(test.ids.to_pylist()))
    assert set(offers.to_pandas()["id"]) == set(test.ids.to_pylist())
