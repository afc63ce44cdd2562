"""Tables of categories and numbers become items, and their bins cut other tables alike."""

import io
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import itemix
from itemix import InvalidInputError, Transactions
from itemix.core.binning import Bins
from itemix.core.conditions import written

PEOPLE = pd.DataFrame(
    {
        "sex": ["male", "female", None, "female"],
        "age": [22.0, np.nan, 4.0, 70.0],
        "alone": [True, False, False, True],
        "class": pd.Categorical(["third", "first", "first", "third"]),
    }
)
AGES = {"age": [18, 65]}


def naive_item(value, edges, *, whole):
    """Say which bin a number is in, the slow way."""
    below = [edge for edge in edges if edge <= value]
    above = [edge for edge in edges if edge > value]
    show = lambda number: f"{number:g}" if float(number).is_integer() else repr(float(number))  # noqa: E731
    if not below:
        return f"<{show(above[0])}"
    if not above:
        return f"{show(below[-1])}+"
    low, high = below[-1], above[0] - (1 if whole else 0)
    dash = " to " if edges[0] < 0 else "-"
    return show(low) if whole and low == high else f"{show(low)}{dash}{show(high)}"


def test_values_become_items_of_their_columns():
    """Categories and truth values keep their values, numbers are cut, and missing cells are no item."""
    tx = Transactions.from_table(PEOPLE, bins=AGES)
    assert tx.to_lists() == [
        ["sex=male", "age=18-64", "alone=True", "class=third"],
        ["sex=female", "alone=False", "class=first"],
        ["age=<18", "alone=False", "class=first"],
        ["sex=female", "age=65+", "alone=True", "class=third"],
    ]
    assert [tx.items.column(item) for item in ("age=<18", "class=first")] == ["age", "class"]


def test_missing_cells():
    """They are no item, an item, or an error that names the column."""
    tx = Transactions.from_table(PEOPLE, bins=AGES, missing="item")
    assert tx.to_lists()[1][1] == "age=missing"
    assert tx.to_lists()[2][0] == "sex=missing"
    with pytest.raises(InvalidInputError, match="in every row of column 'sex', got 1 missing; try missing="):
        Transactions.from_table(PEOPLE, missing="refuse")


def test_all_kinds_of_frames_give_the_same():
    """Pandas, polars and pyarrow tables become equal transactions with equal bins."""
    tables = [PEOPLE, pl.from_pandas(PEOPLE), pa.Table.from_pandas(PEOPLE)]
    first, *others = [Transactions.from_table(table, bins="value") for table in tables]
    for other in others:
        assert other == first
        assert other.bins == first.bins


def test_columns_are_chosen_or_left_out():
    """In the order of the table, or in that of the names."""
    assert list(Transactions.from_table(PEOPLE, columns=["class", "alone"]).bins) == ["class", "alone"]
    assert list(Transactions.from_table(PEOPLE, drop=["age", "sex"]).bins) == ["alone", "class"]


def test_a_column_of_names_is_left_out_and_said():
    """Where every value of many differs, a column names the row."""
    table = pd.DataFrame({"name": [f"p{i}" for i in range(200)], "x": ["a", "b"] * 100})
    tx = Transactions.from_table(table)
    assert list(tx.bins) == ["x"]
    assert tx.source == "a table without 'name' (every value differs)"
    assert Transactions.from_table(table, columns=["name"]).n_items == 200
    assert list(Transactions.from_table(table[:50]).bins) == ["name", "x"]


def test_columns_that_tell_nothing_are_left_out_and_said():
    """Numbers and dates of cases, free text, and what all rows have; those that were named stay."""
    n = 300
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    table = pd.DataFrame(
        {
            "case": np.arange(1, n + 1),
            "CustomerID": rng.permutation(10**6)[:n],
            "income": 10_000 + 7 * rng.permutation(10**4)[:n],
            "comment": [" ".join(rng.choice(list("abcdefgh"), 3)) for _ in range(n)],
            "day": days,
            "written": days.strftime("%d.%m.%Y"),
            "country": "DE",
            "flag": [True] + [None] * (n - 1),
            "month": days.month,
        }
    )
    tx = Transactions.from_table(table)
    assert list(tx.bins) == ["income", "flag", "month"]
    assert tx.source == (
        "a table without 'case', 'CustomerID' (every value differs), 'comment' (few values come twice), "
        "'day', 'written' (dates), 'country' (one value)"
    )
    assert list(Transactions.from_table(table, bins={"case": 4}).bins) == ["case", "income", "flag", "month"]
    assert list(Transactions.from_table(table, columns=["day", "country"]).bins) == ["day", "country"]
    assert Transactions.from_table(table, columns="day").to_lists()[0] == [f"day={days[0]:%Y-%m-%d}"]
    few = Transactions.from_table(table[:60])
    assert list(few.bins) == list(table.columns)


def test_columns_that_say_the_same_are_named():
    """Each value of one goes with one of the other; both stay, and the result says so."""
    letters = ["a", "b", "c", None] * 50
    other = {"a": "x", "b": "y", "c": "z", None: None}
    table = pd.DataFrame({"one": letters, "two": [other[v] for v in letters], "three": [1, 2, 3, 1] * 50})
    tx = Transactions.from_table(table)
    assert tx.source == "a table where 'two' says the same as 'one'"
    assert list(tx.bins) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,5", "20", "-3,25"], [1.5, 20, -3.25]),
        (["1.234,5", "20,0", "7"], [1234.5, 20, 7]),
        (["1,234", "20", "5,000,000"], [1234, 20, 5_000_000]),
        (["1,234.5", "20.25", "7"], [1234.5, 20.25, 7]),
    ],
)
def test_numbers_with_commas(texts, numbers):
    """Before decimals, or between thousands: one way for the whole column, in tables and in conditions."""
    content = pd.DataFrame({"x": texts, "y": "z"}).to_csv(index=False, sep=";").encode()
    options = {"format": "table", "columns": "x"}
    tx = itemix.read_transactions(io.BytesIO(content), **options)
    assert tx.to_lists() == [[f"x={written(number)}"] for number in numbers]
    some = itemix.read_transactions(io.BytesIO(content), where="x > 10", **options)
    assert len(some) == sum(number > 10 for number in numbers)


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e6, 1e6, width=32)),
    edges=st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True).map(sorted),
)
def test_edges_cut_as_they_say(values, edges):
    """Each number is in the bin that its name describes."""
    whole = bool((values == np.floor(values)).all())
    found = Transactions.from_table(pd.DataFrame({"x": values}), bins={"x": edges}).to_lists()
    assert found == [[f"x={naive_item(value, edges, whole=whole)}"] for value in values.tolist()]


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(np.float64, st.integers(40, 200), elements=st.floats(-1e3, 1e3, width=16), unique=True),
    k=st.integers(1, 7),
)
def test_quantiles_are_even_and_bins_cut_again_alike(values, k):
    """Without ties no bin has a quarter more rows than another should; every row has one item."""
    table = pd.DataFrame({"x": values})
    tx = Transactions.from_table(table, bins={"x": k})
    counts = tx.item_counts()
    assert counts.sum() == len(values)
    if k > 1:
        assert len(counts) == k
        assert abs(counts / (len(values) / k) - 1).max() <= 0.25 + 2 * k / len(values)
    again = Transactions.from_table(table[: len(values) // 2], bins=tx.bins)
    assert again.to_lists() == tx.to_lists()[: len(values) // 2]


@pytest.mark.parametrize(
    ("values", "rule", "edges"),
    [
        ([0, 100], "width:4", (25, 50, 75)),
        ([3, 27], "step:10", (10, 20)),
        ([0.5, 2.5], "value", None),
        ([7, 7, 7], "quantile:3", None),
        ([0] * 90 + [1, 2, 3, 4], "quantile", (1,)),
        ([1, 2], None, None),
    ],
)
def test_ways_to_cut(values, rule, edges):
    """Widths, steps and values; many equal numbers stay together."""
    assert Transactions.from_table(pd.DataFrame({"x": values}), bins={"x": rule}).bins["x"] == edges


def test_few_numbers_stay_as_they_are():
    """Unless the column is named, at most ten different numbers are categories."""
    table = pd.DataFrame({"few": [1.0, 2.0, np.nan] * 10, "many": range(30)})
    assert Transactions.from_table(table).bins["few"] is None
    assert len(Transactions.from_table(table).bins["many"]) == 3
    both = Transactions.from_table(table, bins={"few": 2, "*": 5}).bins
    assert both["few"] == (2,)
    assert len(both["many"]) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["agee"]}, "expected a column 'agee', .* did you mean 'age'"),
        ({"bins": {"sex": 3}}, "expected numbers in column 'sex', .* got 'female'; leave it out"),
        ({"bins": "tertile"}, "expected bins as 'quantile', .* got 'tertile'; try 'quantile'"),
        ({"bins": 0}, "expected bins as .* got 0"),
        ({"bins": True}, "expected bins as .* got True"),
        ({"bins": [3, 1]}, "to ascend, got .*; sort them"),
        ({"bins": {"size": 2}}, "expected a column 'size'"),
        ({"missing": "drop"}, "expected missing to be one of 'skip', 'item', 'refuse'"),
        ({"drop": list(PEOPLE.columns)}, "expected at least one column of items"),
        ({"bins": {"age": "step:1e-9"}}, "expected at most 1,000 bins"),
    ],
)
def test_what_has_no_meaning_is_refused(options, message):
    """In one line, with something to try."""
    with pytest.raises(InvalidInputError, match=message):
        Transactions.from_table(PEOPLE.assign(age=np.linspace(0, 80, 4)), **({"bins": {"age": 2}} | options))


def test_other_values_are_refused():
    """Durations and lists are neither categories nor numbers."""
    for values, kind in ((pd.to_timedelta(["2 days"]), "duration"), ([["a"]], "list")):
        with pytest.raises(InvalidInputError, match=f"in column 'x', got {kind}.*; leave it out with drop="):
            Transactions.from_table(pd.DataFrame({"x": values}))


def test_items_keep_their_columns(tmp_path):
    """In choices, pickles, models and their files."""
    tx = Transactions.from_table(PEOPLE, bins=AGES)
    model = itemix.BernoulliMixture(2, random_state=0, max_iter=3).fit(tx)
    model.save(tmp_path / "m.itemix")
    saved = itemix.load(tmp_path / "m.itemix")
    for items in (
        pickle.loads(pickle.dumps(tx)).items,  # noqa: S301 - our own
        tx[:2].items,
        tx.select_items(["age=<18", "sex=male"]).items,
        tx.items[1:],
        saved.model_.items,
    ):
        assert items.bins == tx.bins
        assert all(items.column(label) == label.split("=")[0] for label in items)


def test_bins_are_read_from_what_they_wrote():
    """Also by way of JSON."""
    bins = Transactions.from_table(PEOPLE, bins=AGES).bins
    assert Bins.from_dict(json.loads(json.dumps(bins.to_dict()))) == bins
    assert bins.names("age") == ["<18", "18-64", "65+"]
    with pytest.raises(InvalidInputError, match="expected a column with bins, got 'sex'"):
        bins.names("sex")
    with pytest.raises(InvalidInputError, match="expected the edges of bins, got"):
        Bins.from_dict({"edges": 3})


def test_rules_about_a_column():
    """Its values stand on the right alone; files of itemsets know columns by the names of items."""
    tx = Transactions.from_table(PEOPLE, bins=AGES)
    itemsets = itemix.mine(tx, 1)
    found = itemix.rules(itemsets, about="class", min_threshold=0.1)
    by_hand = itemix.rules(itemsets, consequents=["class=first", "class=third"], min_threshold=0.1)
    assert len(found)
    assert found == by_hand
    plain = itemix.Itemsets.from_pandas(itemsets.to_pandas(), n_transactions=4)
    assert len(itemix.rules(plain, about="class", min_threshold=0.1)) == len(found)
    assert all(set(rule.consequents) == {"sex=male"} for rule in itemix.rules(itemsets, about="sex=male"))
    with pytest.raises(InvalidInputError, match="expected about or consequents, got both"):
        itemix.rules(itemsets, about="class", consequents="sex=male")
    with pytest.raises(itemix.UnknownItemError, match="got 'clas'"):
        itemix.rules(itemsets, about="clas")


def test_no_two_values_of_a_column_in_models():
    """A mixture would give them a chance; no transaction can hold both."""
    table = pd.DataFrame({"x": ["a", "b"] * 20, "y": ["c", "d", "d", "c"] * 10})
    model = itemix.BernoulliMixture(1, random_state=0).fit(Transactions.from_table(table))
    found = itemix.mine(model, 0.1)
    assert len(found) == 8
    assert len(itemix.mine(model, 0.1, target="maximal")) == 4
