"""Rows of tables are left out as asked, transactions keep their ids, and count as often as is said."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recognised import as_file, read

import itemix
from itemix import InvalidInputError, Transactions

LINES = pd.DataFrame(
    {
        "InvoiceNo": ["7", "7", "C8", "9", "9", None],
        "Day": ["mo", "mo", "mo", "tu", "we", "we"],
        "Item": ["tea ", "Milk", "tea", "TEA", "milk", "tea"],
        "Quantity": [1, 2, 1, 3, 1, 2],
        "Buyers": [2, 2, 1, 4, 4, 1],
    }
)
NAMES = {"transaction": "InvoiceNo", "item": "Item"}


def both(**options):
    """Read the lines from a frame, from CSV and from Parquet; check that all are the same."""
    table = pa.Table.from_pandas(LINES)
    found = [
        Transactions.from_long(LINES, **options),
        Transactions.from_long(pl.from_pandas(LINES), **options),
        read(as_file(table, pq.write_table), **options),
        read(LINES.to_csv(index=False), **options),
    ]
    for other in found[1:]:
        assert other == found[0]
        assert [str(i) for i in other.ids.to_pylist()] == [str(i) for i in found[0].ids.to_pylist()]
    return found[0], found[-1]


def test_rows_are_left_out_and_counted():
    """In all kinds of tables alike; what is read says how many rows went, and why."""
    tx, of_file = both(**NAMES, where="InvoiceNo not starts with C", drop_missing=True, upper=True)
    assert tx.to_lists() == [["MILK", "TEA"], ["MILK", "TEA"]]
    assert tx.source == (
        "a table without 2 of 6 rows: 1 by 'InvoiceNo not starts with C', 1 without 'InvoiceNo'"
    )
    assert "without 2 of 6 rows" in of_file.source
    assert both(**NAMES, drop_missing=["InvoiceNo"], where=["Quantity >= 2", "Day != tu"])[0].to_lists() == [
        ["Milk"]
    ]


def test_blanks_stay_if_they_are_to():
    """strip=False keeps them where they were kept until now."""
    lines = LINES.dropna()
    assert "tea " in Transactions.from_long(lines, **NAMES, strip=False).items
    assert "tea " not in Transactions.from_long(lines, **NAMES).items


def test_several_columns_tell_transactions_apart():
    """Their ids have a field for each."""
    tx, _ = both(transaction=["InvoiceNo", "Day"], item="Item", drop_missing=True)
    assert tx.to_lists() == [["Milk", "tea"], ["tea"], ["TEA"], ["milk"]]
    assert [tuple(map(str, row.values())) for row in tx.ids.to_pylist()][2:] == [("9", "tu"), ("9", "we")]
    assert list(tx.to_long().columns) == ["InvoiceNo", "Day", "item"]


def test_members_buy_on_days():
    """Where a person is all that names a basket, the day is taken too, and that is said."""
    text = "Member_number,Date,itemDescription\n1,01-01-2015,tea\n1,02-01-2015,milk\n1,01-01-2015,milk\n"
    tx = read(text)
    assert tx.to_lists() == [["milk", "tea"], ["milk"]]
    assert "columns 'Member_number' with 'Date' and 'itemDescription'" in tx.source
    assert read(text, transaction="Member_number").to_lists() == [["milk", "tea"]]


def test_transactions_count_as_often_as_is_said():
    """By a column that is the same in all rows of a transaction, or by the sum of one."""
    tx, _ = both(**NAMES, drop_missing=True, counts="Buyers")
    assert tx.multiplicities.tolist() == [2, 1, 4]
    assert tx.n_transactions == 7
    tx, _ = both(**NAMES, drop_missing=True, quantity="Quantity")
    assert tx.multiplicities.tolist() == [3, 1, 4]
    table = pd.DataFrame({"sex": ["m", "f"], "n": [3, 5]})
    assert Transactions.from_table(table, counts="n").support("sex=f") == 5 / 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"in every row of the transaction column 'InvoiceNo', got 1 missing; .* drop_missing=True"),
        (
            {"where": "Amount > 3"},
            "expected a column 'Amount', got columns .*; name the right one with where=",
        ),
        ({"where": "Quantity"}, "expected a column, an operator and a value, got 'Quantity'"),
        ({"drop_missing": "Buyer"}, "expected a column 'Buyer'"),
        (
            {"drop_missing": True, "counts": "Quantity"},
            "expected one count for all rows .* 'Quantity', got 1 and 2",
        ),
        ({"drop_missing": True, "counts": "Item"}, "expected whole numbers in column 'Item'"),
        ({"counts": "Buyers", "quantity": "Quantity"}, "expected counts or quantity, got both"),
        ({"item": "InvoiceNo"}, "expected different columns of transactions and items"),
    ],
)
def test_what_is_refused(options, message):
    """In one line that says what to try."""
    with pytest.raises(InvalidInputError, match=message):
        Transactions.from_long(LINES, **(NAMES | options))


def test_a_count_of_nothing_is_refused():
    """The message says which rows to leave out."""
    lines = pd.DataFrame({"t": [1, 2], "i": ["a", "b"], "q": [1, -1]})
    with pytest.raises(InvalidInputError, match=r"at least 1 for each transaction, got -1 .* where='q > 0'"):
        Transactions.from_long(lines, "t", "i", quantity="q")
    lines["q"] = [0.5, 1]
    with pytest.raises(InvalidInputError, match=r"expected whole numbers in column 'q', got 0.5; multiply"):
        Transactions.from_long(lines, "t", "i", quantity="q")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=1, max_size=60), st.data())
def test_ids_stay_with_their_transactions(pairs, data):
    """Whatever is chosen of the transactions, each has the items that the lines give its id."""
    lines = pd.DataFrame(pairs, columns=["t", "i"])
    items_of = lines.groupby("t")["i"].agg(set).to_dict()
    tx = Transactions.from_long(lines, "t", "i")
    rows = data.draw(st.lists(st.integers(0, len(tx) - 1), max_size=10))
    first, second = tx.split(0.5, random_state=0)
    parts = [
        tx, tx[rows], tx[1:], first, second, tx.holding("a") if "a" in tx.items else tx,
        tx.sample(len(tx), replace=True, random_state=1), tx.drop_empty(), tx.rename_items(list(tx.items)),
        pickle.loads(pickle.dumps(tx)), Transactions.concatenate([first, second]),  # noqa: S301 - our own
        tx.align_items([*tx.items, "new"]),
    ]  # fmt: skip
    for part in parts:
        assert [items_of[t] for t in part.ids.to_pylist()] == [set(row) for row in part.to_lists()]
    again = Transactions.from_long(tx.to_long(), "transaction", "item")
    assert (again.ids, again) == (tx.ids, tx)
    assert tx.merge_identical().ids is None


def test_models_answer_by_ids(tmp_path):
    """Also those that were read from a file."""
    lines = pd.DataFrame({"order": ["x", "x", "y", "z"], "item": ["tea", "milk", "tea", "beer"]})
    tx = Transactions.from_long(lines, "order", "item")
    itemix.BernoulliMixture(2, random_state=0).fit(tx).save(tmp_path / "m.itemix")
    model = itemix.load(tmp_path / "m.itemix")
    found = model.assign(tx)
    assert list(found.columns) == ["id", "component", "probability"]
    assert found["id"].tolist() == ["x", "y", "z"]
    assert found["component"].tolist() == model.predict(tx).tolist()
    assert np.allclose(found["probability"], model.predict_proba(tx).max(axis=1))
    assert model.assign([["tea"]])["id"].tolist() == [0]
    offers = model.recommend_many(tx, 1)
    codes, chances = offers
    frame = offers.to_pandas()
    assert frame["id"].tolist() == ["x", "y", "z"]
    assert frame["item"].tolist() == tx.items.names(codes[:, 0])
    assert frame["probability"].tolist() == chances[:, 0].tolist()


def test_ids_are_one_for_each_row():
    """Of one kind."""
    tx = Transactions([0, 1, 2], [0, 1], ["a", "b"], ids=["x", "y"])
    assert tx.ids.to_pylist() == ["x", "y"]
    with pytest.raises(InvalidInputError, match="expected an id for each of the 2 rows, got 1"):
        Transactions([0, 1, 2], [0, 1], ["a", "b"], ids=["x"])
    with pytest.raises(InvalidInputError, match="expected ids that are all numbers or all names"):
        Transactions([0, 1, 2], [0, 1], ["a", "b"], ids=["x", 3])


@pytest.mark.data("online_retail/online_retail.parquet")
def test_invoice_lines_of_a_shop(data_folder):
    """The reference: invoices without cancellations and returns, at 1%."""
    tx = itemix.read_transactions(
        data_folder / "online_retail/online_retail.parquet",
        transaction="InvoiceNo",
        item="StockCode",
        where="InvoiceNo not starts with C and Quantity > 0",
        upper=True,
    )
    assert (tx.shape, tx.n_ones) == ((20_728, 3_829), 520_748)
    assert len(itemix.mine(tx, 0.01)) == 1866
    assert tx.ids.nbytes < 300_000


def test_data_with_counts():
    """A mapping, counts beside any data, and weights of rows that are there."""
    seen = {("milk", "bread"): 120, ("milk",): 30}
    tx = Transactions.from_lists(seen)
    assert tx.support(["milk", "bread"]) == 0.8
    assert Transactions.from_lists(list(seen), counts=[120, 30]) == tx
    assert len(itemix.mine(seen, "50%")) == 3
    onehot = pd.DataFrame({"milk": [1, 1], "bread": [1, 0]})
    assert Transactions.from_dataframe(onehot, counts=[2, 3]).support("bread") == 0.4
    assert Transactions.from_matrix([[1, 1], [1, 0]], counts=[2, 3]).support(1) == 0.4
    assert tx.weighted([0, 2.0]).to_lists() == [["milk"], ["milk"]]
    with pytest.raises(
        InvalidInputError, match=r"a whole number of 0 or more for each of the 2 rows, got .*round"
    ):
        tx.weighted([0.5, 1])


def test_cells_that_hold_lists():
    """Names between commas, and the sets that arules writes; a text without either is no list."""
    assert Transactions.from_lists(["milk, bread", "milk"]).to_lists() == [["bread", "milk"], ["milk"]]
    assert Transactions.from_lists(["{a,b}", "{a}", "{}"]).to_lists() == [["a", "b"], ["a"], []]
    with pytest.raises(InvalidInputError, match="expected every transaction to be a list of item names"):
        Transactions.from_lists(["milk", "bread"])


def test_what_people_pass(tmp_path):
    """Paths, percentages and mappings of names."""
    (tmp_path / "sales.csv").write_text("milk,bread\nmilk\nbread,beer\n")
    path = tmp_path / "sales.csv"
    tx = itemix.read_transactions(path)
    itemsets = itemix.mine(tx, 0.3)
    assert itemix.mine(str(path), "30%") == itemsets == itemix.mine(path, " 0.3 ")
    assert len(itemsets.filter(min_support="50%")) == 2
    itemsets.save(tmp_path / "found.csv")
    by_hand = itemix.rules(itemsets, min_threshold=0.1)
    assert len(itemix.rules(tmp_path / "found.csv", data=path, min_threshold=0.1)) == len(by_hand)
    model = itemix.BernoulliMixture(2, random_state=0).fit(path)
    assert model.probability("milk") == pytest.approx(2 / 3, abs=0.01)
    assert list(tx.rename_items({"milk": "Milch"}).items) == ["beer", "bread", "Milch"]
    with pytest.raises(itemix.UnknownItemError, match="got 'mlk'; did you mean 'milk'"):
        tx.rename_items({"mlk": "Milch"})
    model.save(tmp_path / "m.itemix")
    with pytest.raises(InvalidInputError, match=r"which holds a model; read it with itemix.load"):
        itemix.read_transactions(tmp_path / "m.itemix")
    with pytest.raises(InvalidInputError, match=r"or Transactions.from_long if each row is one item"):
        itemix.mine(pd.DataFrame({"order": [1, 2], "item": ["a", "b"]}), 0.1)
    with pytest.raises(InvalidInputError, match=r"expected min_support as a fraction .*, a percentage"):
        itemix.mine(tx, "x%")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_cells_of_items_may_hold_lists(kind):
    """Each row has several items; a transaction has those of all its rows, and weights count rows."""
    skus = [["tea", "milk"], [" tea "], ["pen"], []]
    content = {"cart": ["x", "y", "x", "z"], "skus": skus, "n": [1, 2, 3, 4]}
    frame = pa.table(content)
    if kind == "pandas":
        frame = pd.DataFrame(content)
    elif kind == "polars":
        frame = pl.DataFrame(content)
    tx = Transactions.from_long(frame, "cart", "skus", quantity="n")
    assert tx.to_lists() == [["milk", "pen", "tea"]] * 4 + [["tea"]] * 2 + [[]] * 4
    assert tx.ids.to_pylist() == ["x", "y", "z"]


def test_matrices_and_frames_take_ids():
    """One for each row."""
    assert Transactions.from_matrix([[1, 0], [0, 1]], ids=["a", "b"]).ids.to_pylist() == ["a", "b"]
    assert Transactions.from_dataframe(pd.DataFrame({"tea": [1, 0]}), ids=[7, 8]).ids.to_pylist() == [7, 8]
    with pytest.raises(InvalidInputError, match="expected an id for each of the 2 rows, got 1"):
        Transactions.from_matrix([[1, 0], [0, 1]], ids=["a"])
