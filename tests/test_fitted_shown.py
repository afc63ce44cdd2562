"""What people see of models and of their answers: a summary, a table of components, HTML in notebooks."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context

import itemix
from itemix import InvalidInputError, Transactions
from itemix.mining.characteristics import characteristic_items

LISTS = [["<b>milk</b>", "bread"], ["<b>milk</b>"], ["bread", "beer"], ["beer"], ["beer", "crisps"]] * 8


@pytest.fixture(scope="module")
def model():
    """A corrected mixture of two components."""
    return itemix.BayesianMixture(n_components=2, random_state=0, correction=5).fit(LISTS)


def test_a_summary_says_what_was_fitted(model):
    """It prints as lines, and says how it went; what a method does not have is left out."""
    told = dict(model.summary().rows)
    assert model.summary().title == "BayesianMixture"
    assert told["transactions"] == "40"
    assert told["components"] == "2 components"
    assert told["correction"] == "corrected by 40 transactions, worth 5 of them"
    assert told["iterations"].endswith(", converged")
    assert told["intervals"] == "yes"
    text = str(itemix.ChowLiuTree().fit(LISTS).summary())
    assert text.startswith("ChowLiuTree\n  ")
    assert "components" not in text


def test_components_have_a_table(model):
    """Components come largest first, numbered as `predict` does, with what tells them from the others."""
    table, mixture = model.components_table(2), model.components_
    assert table.share.tolist() == sorted(mixture.weights.tolist(), reverse=True)
    for row in table:
        k = row["component"]
        assert row["size"] == round(mixture.weights[k] * 40)
        assert row["mean_basket"] == pytest.approx(mixture.probs[k].sum())
        assert row["items"] == tuple(found.item for found in characteristic_items(mixture, k, 2))
    assert np.bincount(model.predict(LISTS)).argmax() == table[0]["component"]
    assert "&lt;b&gt;milk&lt;/b&gt;" in table._repr_html_()
    assert pl.DataFrame(table).columns == ["component", "share", "size", "mean_basket", "items", "mostly"]
    with pytest.raises(
        InvalidInputError, match=r"expected a model with components, got ChowLiuTree, .* none; try"
    ):
        itemix.ChowLiuTree().fit(LISTS).fitted_.components_table()


def test_scikit_learn_shows_an_estimator_and_we_what_it_learned(model):
    """Its diagram stays, with the summary below; without the diagram there is text alone."""
    shown = model._repr_mimebundle_()["text/html"]
    assert shown.startswith(itemix.BayesianMixture()._repr_mimebundle_()["text/html"][:20])
    assert "corrected by 40 transactions" in shown
    assert "<b>milk" not in shown
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_answers_show_as_tables(model):
    """Recommendations, dependencies and explanations are what they were, and have HTML, escaped."""
    offers = model.recommend(["bread"], n=2)
    assert isinstance(offers, list)
    assert str(offers.table()).splitlines()[0].split() == ["probability", "lift", "item"]
    answers = [offers, model.dependencies(3), model.explain(["<b>milk</b>"])]
    rules = itemix.rules(itemix.mine(LISTS, 0.1), min_threshold=0.3)
    answers += [rules.recommend([["bread"], ["beer"]]), rules.recommend(["bread"])]
    answers += [Transactions.from_lists(LISTS), Transactions.from_lists(LISTS).describe(), model.fitted_]
    for answer in answers:
        shown = answer._repr_html_()
        assert "<table" in shown
        assert "<b>milk" not in shown
    assert "none" in model.recommend(["bread"], n=0)._repr_html_()
    assert "... 1 more basket" in str(rules.recommend([["bread"], ["beer"]]).table(1))


def test_transactions_are_arrow_data():
    """Any library takes them by Arrow's protocol, as lists of names, each transaction as a row."""
    tx = Transactions.from_lists([["a", "b"], [], ["b"]])
    assert pa.table(tx).to_pydict() == {"items": [["a", "b"], [], ["b"]]}
    assert (
        pl.DataFrame(Transactions.from_lists([["a"], ["a"]]).merge_identical())["items"].to_list()
        == [["a"]] * 2
    )
    assert pa.table(Transactions.from_lists([])).num_rows == 0
