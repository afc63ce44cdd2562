"""`itemix show`: what models, itemsets and rules in files are, in words."""

import re

import pytest

import itemix
from itemix.files import load, read_fitted
from itemix.mining.characteristics import characteristic_items


@pytest.mark.parametrize("method", ["nbm", "vdpm", "gsdpm"])
def test_show_names_components(run, models, method, monkeypatch):
    """Components come largest first with their typical items; of a sampler, averages over its samples."""
    stored = read_fitted(models[method])
    rows = run("show", models[method], "-n", "3", "--items", "2").rows
    order = (-stored.components.weights).argsort(kind="stable")[:3]
    expected = [
        [str(number), item]
        for number, k in enumerate(order, 1)
        for item, _, _ in characteristic_items(stored.components, int(k), 2)
    ]
    assert [[row[0], row[2]] for row in rows] == expected
    assert [float(row[1]) for row in rows][::2] == pytest.approx(
        stored.components.weights[order].tolist(), rel=1e-5
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    drawn = run("show", models[method], "-n", "1").out
    assert f"{expected[0][1]} " in drawn
    assert "more: --limit 0 shows all" in drawn
    said = (
        "prior: alpha 1.5, and the weight of 1 transaction in each component"
        in run("show", models[method]).err
    )
    assert said == (method != "nbm")


def test_show_says_where_no_item_is_typical(run, tmp_path, monkeypatch):
    """A component of small baskets has a line without an item; on a terminal it is told in words."""
    path = tmp_path / "m.itemix"
    itemix.Mixture([0.4, 0.6], [[0.9, 0.8], [0.1, 0.1]], ["a", "b"]).save(path)
    rows = run("show", path).rows
    assert [row[:3] for row in rows] == [["1", "0.6", ""], ["2", "0.4", "a"], ["2", "0.4", "b"]]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert re.search(r"0\.2 .*60\.0% .*fewer items of all kinds", run("show", path).out)


def test_show_names_items_where_none_depends_on_another(run, store, tmp_path, monkeypatch):
    """Of independent items the most probable ones are shown, as many as wanted."""
    path = tmp_path / "m.itemix"
    run("fit", store, "--method", "independent", "-o", path, "-q")
    shown = run("show", path, "-n", "3")
    model = load(path).model_
    best = (-model.item_probabilities).argsort(kind="stable")[:3]
    assert shown.out.splitlines()[0] == "item\tprobability"
    assert [row[0] for row in shown.rows] == list(model.items.names(best))
    assert [float(row[1]) for row in shown.rows] == pytest.approx(model.item_probabilities[best], rel=1e-5)
    assert "no two items depend on each other in it" in shown.err
    monkeypatch.setenv("FORCE_COLOR", "1")
    drawn = run("show", path, "-n", "3").out
    assert all(name in drawn for name in model.items.names(best))
    assert "89 more: --limit 0 shows all" in drawn
    assert "more" not in run("show", path, "-n", "0").out


def test_the_correction_is_said(run, tmp_path):
    """Both the fit and what is shown of the model say what it is worth; without one, nothing is said."""
    data, path = tmp_path / "few.csv", tmp_path / "few.itemix"
    data.write_text("milk,bread\nmilk\nbread,butter\nbutter\n" * 5)
    fitted = run("fit", data, "--method", "vfbm", "-K", "2", "--seed", "0", "-o", path)
    assert "corrected by 20 transactions, worth 1 of them" in fitted.err
    assert "3 items, corrected by 20 transactions, worth 1 of them, fitted on 20" in run("show", path).err
    run("fit", data, "--method", "vfbm", "-K", "2", "--correction", "none", "-o", path)
    assert "corrected" not in run("show", path).err


@pytest.mark.parametrize("method", ["chow-liu", "maxent"])
def test_show_names_pairs_where_there_are_no_components(run, store, tmp_path, monkeypatch, method):
    """A model without components is shown by the pairs of items that depend most on each other."""
    path = tmp_path / "m.itemix"
    run("fit", store, "--method", method, "-o", path, "-q")
    rows = run("show", path, "-n", "3").rows
    expected = load(path).dependencies(3)
    assert [row[:2] for row in rows] == [[pair.item, pair.other] for pair in expected]
    assert [float(row[3]) for row in rows] == pytest.approx([pair.lift for pair in expected], rel=1e-5)
    monkeypatch.setenv("FORCE_COLOR", "1")
    drawn = run("show", path, "-n", "3")
    assert drawn.code == 0
    assert all(pair.item in drawn.out for pair in expected)


def test_show_says_what_was_fitted(run, models):
    """The line on standard error says the method, the size, and of how many transactions."""
    assert run("show", models["gsdpm"]).err.startswith("gsdpm.itemix: gsdpm, ")
    said = " averaged over 2 samples, 92 items, corrected by 600 transactions, worth "
    assert said in run("show", models["gsdpm"]).err


def test_only_components_that_hold_transactions_count(run, tmp_path):
    """A sampled process has one more, for transactions unlike all others: it is not told of."""
    data, path = tmp_path / "one.csv", tmp_path / "m.itemix"
    data.write_text("bread,milk\n")
    fitted = run("fit", data, "--method", "gsdpm", "--seed", "0", "-o", path)
    assert "gsdpm: 1 component averaged over 5 samples, " in fitted.err
    shown = run("show", path)
    assert "gsdpm, 1 component averaged over 5 samples, 2 items, corrected by 1 transaction" in shown.err
    assert {row[0] for row in shown.rows} == {"1"}


def test_show_prints_tables(run, store, tmp_path):
    """A file of itemsets or rules is shown as `mine` and `rules` show them, in the order of the file."""
    sets, rules = tmp_path / "sets.jsonl", tmp_path / "rules.csv"
    run("mine", store, "-s", "0.1", "-o", sets)
    shown = run("show", sets, "-n", "3")
    assert shown.out == run("mine", store, "-s", "0.1", "--sort", "order", "-n", "3").out
    assert shown.err == f"{sets}: 20 itemsets, support >= 10%, of 600 transactions\n"
    run("rules", sets, "--min-threshold", "0.3", "-o", rules)
    assert run("show", rules).out == run("rules", sets, "--min-threshold", "0.3").out
    assert run("show", sets, "-n", "-1").err == (
        "itemix: expected --limit as a number of rows, got -1; try 0 for all\n"
    )
