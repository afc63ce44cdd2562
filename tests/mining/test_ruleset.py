import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import lattice as naive_lattice

from itemix import InvalidInputError, Itemsets, Rules, mine
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.mining.measures import LOWER_IS_BETTER, MEASURES
from itemix.mining.rules import rules

BASKETS = [["milk", "bread"], ["milk", "bread", "beer"], ["milk", "bread"], ["beer"], ["milk"]]


@pytest.fixture
def found():
    """All twelve rules of five baskets."""
    return rules(naive_lattice.as_itemsets(BASKETS, 1), metric="support", min_threshold=0.0)


def test_columns(found):
    """A rule is read by iteration, by position, by slice and by column."""
    assert len(found) == 12
    first = next(iter(found))
    assert first == (("bread",), ("milk",), 0.6, pytest.approx(1.0), pytest.approx(1.25))
    assert found[0] == first
    assert found[-1].consequents == ("beer",)
    assert [rule.antecedents for rule in found[:2]] == [("bread",), ("milk",)]
    assert found.confidence[:2].tolist() == pytest.approx([1.0, 0.75])
    assert found.lift[0] == pytest.approx(1.25)
    assert found.count[:3].tolist() == [3, 3, 1]
    assert list(found.items) == ["beer", "bread", "milk"]
    with pytest.raises(IndexError, match="expected a position below 12, got 12"):
        found[12]
    with pytest.raises(ValueError, match="read-only"):
        found.support[0] = 1


def test_to_pandas(found):
    """The frame has mlxtend's columns first, then ours."""
    frame = found.to_pandas()
    assert list(frame.columns) == ["antecedents", "consequents", *MEASURES, "count"]
    assert frame["antecedents"][0] == frozenset({"bread"})
    assert frame["confidence"].tolist() == found.confidence.tolist()


def test_names_with_a_blank_may_have_an_underscore(found):
    """As on the command line and in conditions, antecedent_support is mlxtend's antecedent support."""
    assert found.measure("antecedent_support").tolist() == found.measure("antecedent support").tolist()
    assert found.sort_by("consequent_support") == found.sort_by("consequent support")
    itemsets = mine([["bread", "milk"], ["milk"]], 1)
    chosen = rules(itemsets, metric="antecedent_support", min_threshold=0.6)
    assert chosen.metric == "antecedent support"
    assert [rule.antecedents for rule in chosen] == [("milk",)]


@pytest.mark.parametrize("name", MEASURES)
def test_sort_by(found, name):
    """The best come first: small p-values, otherwise large values; ties keep their order."""
    values = found.sort_by(name).measure(name)
    steps = np.diff(values[np.isfinite(values)])
    assert (steps >= 0).all() if name in LOWER_IS_BETTER else (steps <= 0).all()
    assert found.sort_by(name, ascending=True).measure(name)[0] == np.nanmin(found.measure(name))
    same = found.measure(name) == values[0]
    assert found.sort_by(name)[0] == found[int(np.flatnonzero(same)[0])]


def test_nan_comes_last():
    """Rules without a value are never the best."""
    items = Items(["a", "b"])
    sides = Sets([0, 1, 2], [0, 1], items), Sets([0, 1, 2], [1, 0], items)
    found = Rules(*sides, [np.nan, 0.5], [np.nan, 0.5], [0.2, 0.2])
    for ascending in (True, False):
        assert found.sort_by("lift", ascending=ascending).measure("lift").tolist()[0] == 0.8


def test_top(found):
    """The n best rules by a measure."""
    assert found.top(2, "confidence").confidence.tolist() == [1.0, 1.0]
    assert len(found.top(100)) == 12
    assert len(found.top(0)) == 0


def test_filter(found):
    """Conditions on items, sizes and measures."""

    def texts(**conditions):
        return [f"{','.join(a)}>{','.join(c)}" for a, c, *_ in found.filter(**conditions)]

    assert texts(consequents="beer") == ["milk>beer", "bread>beer", "milk,bread>beer"]
    assert texts(antecedents=["milk", "bread"], consequents=["beer"], max_antecedent_len=1) == [
        "milk>beer",
        "bread>beer",
    ]
    assert texts(include=["milk", "beer"], max_consequent_len=1, exclude="bread") == [
        "beer>milk",
        "milk>beer",
    ]
    assert texts(min_confidence=1.0) == ["bread>milk", "bread,beer>milk", "milk,beer>bread"]
    assert texts(min_confidence=1.0, max_antecedent_support=0.2) == ["bread,beer>milk", "milk,beer>bread"]
    assert texts(max_q_value=0.0) == []
    assert len(found.filter()) == 12


def test_filter_by_something_else(found):
    """The message lists what can be asked for."""
    with pytest.raises(
        InvalidInputError, match="expected a condition like min_lift or max_q_value, got 'lift';"
    ):
        found.filter(lift=1.0)
    with pytest.raises(
        InvalidInputError, match=r"got 'min_fun'; the measures are antecedent_support, .*, q_value"
    ):
        found.filter(min_fun=1.0)


def test_q_values_belong_to_the_family(found):
    """Filtering does not make the rest more significant: q-values are those of all rules found together."""
    q = found.measure("q_value")
    assert found.filter(min_confidence=1.0).measure("q_value").tolist() == q[found.confidence >= 1].tolist()
    assert found.sort_by("lift").sort_by("q_value").measure("q_value").tolist() == sorted(q)
    assert (q >= found.measure("p_value")).all()


def test_equality(found):
    """Equal means the same rules, order and numbers; NaN equals NaN."""
    assert found == rules(naive_lattice.as_itemsets(BASKETS, 1), metric="confidence", min_threshold=0.0)
    assert found != found[:11]
    assert found != found.sort_by("lift")
    assert found != "rules"
    model = Itemsets([0, 1, 2, 4], [0, 1, 0, 1], [0.5, 0.4, 0.4], ["a", "b"])
    assert rules(model) == rules(model)
    assert rules(model) != rules(Itemsets([0, 1, 2, 4], [0, 1, 0, 1], [0.5, 0.4, 0.4], ["a", "c"]))
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found  # noqa: S301 - our own


def test_repr(found):
    """On a terminal: what was asked for, a few aligned rows, and how many more there are."""
    assert found.table(2).as_text() == (
        "Rules: 12 rules, support >= 0, of 5 transactions\n"
        "  support  confidence   lift  count  rule\n"
        "   0.6000      1.000   1.250      3  {bread} -> {milk}\n"
        "   0.6000      0.7500  1.250      3  {milk} -> {bread}\n"
        "... 10 more"
    )
    assert repr(found).count("\n") == 12


def test_html():
    """In a notebook, no name can become markup."""
    items = Items(["<b>bold</b>", "&"])
    hostile = Rules(Sets([0, 1], [0], items), Sets([0, 1], [1], items), [0.5], [0.5], [0.5])
    assert "<b>" not in hostile._repr_html_()
    assert "{&lt;b&gt;bold&lt;/b&gt;} -&gt; {&amp;}" in hostile._repr_html_()


@pytest.mark.parametrize("extension", ["parquet", "csv", "jsonl", "csv.gz", "jsonl.gz"])
@settings(max_examples=30)
@given(data=st.data())
def test_what_was_written_comes_back(extension, data, tmp_path_factory):
    """Reading gives equal rules back: names, numbers, infinities, q-values, what was asked for."""
    transactions = data.draw(
        st.lists(st.sets(st.sampled_from(["a,b", 'c"', "#d\n", "é"])), min_size=1, max_size=8).filter(any)
    )
    found = rules(naive_lattice.as_itemsets(transactions, 1), min_threshold=0.5)
    found = found.filter(min_confidence=data.draw(st.sampled_from([0.5, 0.9, 1.0])))
    if data.draw(st.booleans()):
        found = Rules(found.antecedents, found.consequents, found.support, found.support, found.support)
    path = tmp_path_factory.getbasetemp() / f"rules.{extension}"
    if extension.startswith("csv"):
        found.to_csv(path, metadata=True)
    else:
        found.save(path)
    back = Rules.load(path)
    assert back == found
    assert (back.metric, back.min_threshold) == (found.metric, found.min_threshold)
    assert Rules.from_arrow(found.to_arrow()) == found


def test_other_tools_read_the_files(found, tmp_path):
    """JSON has no infinity: it is null there, and comes back all the same."""
    found.save(tmp_path / "rules.jsonl")
    assert np.isinf(Rules.load(tmp_path / "rules.jsonl").measure("conviction")).any()
    frame = pd.read_json(tmp_path / "rules.jsonl", lines=True)
    assert frame["antecedents"].tolist()[:2] == [["bread"], ["milk"]]
    assert frame["conviction"].isna().sum() == np.isinf(found.measure("conviction")).sum()
    assert found.to_polars().columns == list(found.to_pandas().columns)


def test_itemsets_are_not_rules(found, tmp_path):
    """The message says which class reads the file."""
    found.save(tmp_path / "x.csv")
    with pytest.raises(
        InvalidInputError, match=r"x\.csv: expected itemsets, got rules; try itemix\.Rules\.load"
    ):
        Itemsets.load(tmp_path / "x.csv")


def test_nothing_can_be_changed(found):
    """A value is immutable: its attributes, its arrays and its sides."""
    for value, name in ((found, "metric"), (found, "count"), (found.antecedents, "codes")):
        with pytest.raises(AttributeError):
            setattr(value, name, None)
    with pytest.raises(ValueError, match="read-only"):
        found.support[0] = 1
    with pytest.raises(AttributeError):
        found.recommend([["milk"]]).metric = "lift"


def test_support_alone(found):
    """Where nothing but the supports is known, a table has no columns of dashes."""
    unknown = np.full(len(found), np.nan)
    bare = Rules(found.antecedents, found.consequents, unknown, unknown, found.support)
    assert bare.table(1).headers == ("support", "rule")
    assert found.table(1).headers == ("support", "confidence", "lift", "count", "rule")


def test_bounds_are_numbers(found):
    """The message names the bound."""
    with pytest.raises(InvalidInputError, match=r"expected min_lift as a number, got 'high'; try 1.2"):
        found.filter(min_lift="high")
    with pytest.raises(
        InvalidInputError, match="expected max_antecedent_len as a whole number, got 'a'; try 2"
    ):
        found.filter(max_antecedent_len="a")
    with pytest.raises(
        InvalidInputError, match=r"expected n as a whole number of 0 or more, got 1.5; try 10"
    ):
        found.top(1.5)


def test_wrong_columns():
    """The constructor says what is wrong."""
    items = Items(["a", "b"])
    one = Sets([0, 1], [0], items)
    with pytest.raises(InvalidInputError, match="expected 1 values in support, one for each rule, got 2"):
        Rules(one, one, [0.5], [0.5], [0.5, 0.5])
    with pytest.raises(InvalidInputError, match="expected 1 values in consequents, one for each rule, got 0"):
        Rules(one, Sets([0], [], items), [0.5], [0.5], [0.5])
    with pytest.raises(InvalidInputError, match="expected antecedents and consequents over the same items"):
        Rules(one, Sets([0, 1], [0], ["a", "c"]), [0.5], [0.5], [0.5])
    with pytest.raises(InvalidInputError, match="expected a measure, got 'fun'"):
        Rules(one, one, [0.5], [0.5], [0.5]).measure("fun")
