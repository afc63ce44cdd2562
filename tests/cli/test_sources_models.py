"""Models as sources: `itemix mine`, `rules`, `query` and `recommend`."""

import re

import pytest

import itemix
from itemix.files import load


def test_mine_takes_a_model(run, models):
    """The itemsets are those that `itemix.mine` gives of the model; there are no counts."""
    result = run("mine", models["vdpm"], "-s", "0.05", "--sort", "order")
    expected = itemix.mine(load(models["vdpm"]), 0.05)
    assert result.out.splitlines()[0] == "support\titemset"
    assert [row[1] for row in result.rows] == [", ".join(itemset.items) for itemset in expected]
    notes = result.err.splitlines()
    assert notes[0] == "vdpm.itemix: vdpm, 10 components, 92 items, fitted on 600 transactions"
    assert notes[1].startswith(f"{len(expected)} itemsets of probability >= 5.000%, mined in ")


@pytest.mark.parametrize("method", ["vdpm", "gsdpm"])
def test_intervals_of_mined_itemsets(run, models, method, tmp_path):
    """--level adds the ends of the credible intervals, in lines and in files."""
    path = tmp_path / "sets.parquet"
    run("mine", models[method], "-s", "0.1", "--level", "0.8", "-o", path)
    itemsets = itemix.Itemsets.load(path)
    _, lower, upper = load(models[method]).intervals(itemsets, level=0.8)
    assert itemsets.lower.tolist() == lower.tolist()
    assert itemsets.upper.tolist() == upper.tolist()
    assert run("mine", models[method], "-s", "0.1", "--level", "0.8").out.startswith(
        "support\tlower\tupper\titemset\n"
    )


def test_a_corrected_model_answers(run, models):
    """Itemsets with intervals, queries and recommendations are those of the corrected mixture."""
    model = load(models["corrected"])
    result = run("mine", models["corrected"], "-s", "0.05", "--sort", "order", "--level", "0.9")
    found = itemix.mine(model, 0.05)
    assert [float(row[0]) for row in result.rows] == pytest.approx(found.support.tolist(), rel=1e-5)
    assert [float(row[1]) for row in result.rows] == pytest.approx(
        model.intervals(found)[1].tolist(), rel=1e-5
    )
    assert "92 items, corrected by 600 transactions, worth 2 of them, fitted" in result.err
    pair = next(itemset.items for itemset in found if len(itemset.items) == 2)
    asked = run("query", models["corrected"], *pair, "-q")
    assert float(asked.rows[0][0]) == pytest.approx(model.probability(pair), rel=1e-5)
    offered = run("recommend", models["corrected"], pair[0], "-n", "3", "-q")
    assert [row[-1] for row in offered.rows] == [r.item for r in model.recommend([pair[0]], n=3)]


@pytest.mark.parametrize("value", ["x", "0", "-6"])
def test_bad_corrections_are_one_line(run, store, tmp_path, value):
    """--correction is a word or a positive number."""
    result = run("fit", store, "--method", "nbm", "--correction", value, "-o", tmp_path / "m.itemix", "-q")
    assert result.err.startswith("itemix: expected --correction as ")


@pytest.mark.parametrize("source", ["nbm", "data"])
def test_intervals_need_a_posterior(run, models, store, source):
    """Neither data nor maximum likelihood has credible intervals."""
    result = run("mine", {**models, "data": store}[source], "-s", "0.1", "--level", "0.9", "-q")
    message = (
        "expected a Bayesian model for --level, got a source without a posterior; fit one with itemix fit"
    )
    assert result.err == f"itemix: {message}\n"


def test_rules_take_a_model(run, models):
    """Rules of a model are those of its itemsets."""
    rows = run("rules", models["vdpm"], "-s", "0.02", "--min-threshold", "0.6").rows
    expected = itemix.rules(itemix.mine(load(models["vdpm"]), 0.02), min_threshold=0.6).sort_by("lift")
    assert [row[-2:] for row in rows] == [
        [", ".join(rule.antecedents), ", ".join(rule.consequents)] for rule in expected
    ]
    assert rows


def test_a_count_is_no_support_of_a_model(run, models):
    """A model has no transactions to count."""
    result = run("mine", models["nbm"], "-s", "50", "-q")
    assert result.code == 2
    assert result.err.startswith(
        "itemix: expected --min-support as a fraction in (0, 1], since a model has no"
    )


@pytest.mark.parametrize("method", ["nbm", "vdpm", "gsdpm"])
def test_query_answers_as_the_model(run, models, method):
    """Probability, interval and lift are the estimator's, for present, absent and known items."""
    model = load(models[method])
    event = {"itemset": ["whole milk", "yogurt"], "absent": ["beer"]}
    known = {"given": ["bread"], "given_absent": ["soda"]}
    options = ["--absent", "beer", "--given", "bread", "--given-absent", "soda", "--level", "0.8"]
    result = run("query", models[method], "whole milk", "yogurt", *options)
    found = dict(zip(result.out.splitlines()[0].split("\t"), map(float, result.rows[0]), strict=True))
    assert found["probability"] == pytest.approx(model.probability(**event, **known), rel=1e-5)
    assert found["unconditional"] == pytest.approx(model.probability(**event), rel=1e-5)
    assert found["lift"] == pytest.approx(found["probability"] / found["unconditional"], rel=1e-4)
    if method == "nbm":
        assert "lower" not in found
    else:
        _, lower, upper = model.interval(**event, **known, level=0.8)
        assert (found["lower"], found["upper"]) == pytest.approx((lower, upper), rel=1e-5)


def test_query_counts_in_data(run, store):
    """Of transactions, the answer is a count."""
    data = itemix.read_transactions(store).to_lists()
    known = [basket for basket in data if "bread" in basket and "soda" not in basket]
    event = [basket for basket in known if {"whole milk"} <= set(basket) and "beer" not in basket]
    options = ["--absent", "beer", "--given", "bread", "--given-absent", "soda"]
    row = run("query", store, "whole milk", *options).rows[0]
    assert float(row[0]) == pytest.approx(len(event) / len(known), rel=1e-5)
    everywhere = [basket for basket in data if "whole milk" in basket and "beer" not in basket]
    assert float(row[1]) == pytest.approx(len(everywhere) / len(data), rel=1e-5)


def test_query_on_a_terminal(run, models, monkeypatch):
    """On a terminal the question is written out."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    out = run("query", models["vdpm"], "salsa", "--given", "tortillas", "--given-absent", "beer").out
    assert "P(salsa | tortillas, no beer)" in out
    assert "upper" in out


def test_recommend_from_a_model(run, models):
    """The items are those that the model recommends, with what they gain."""
    expected = load(models["vdpm"]).recommend(["tortillas"], 3, absent=["salsa"])
    rows = run("recommend", models["vdpm"], "tortillas", "--absent", "salsa", "-n", "3").rows
    assert [row[2] for row in rows] == [offer.item for offer in expected]
    assert [float(row[0]) for row in rows] == pytest.approx(
        [offer.probability for offer in expected], rel=1e-5
    )
    assert [float(row[1]) for row in rows] == pytest.approx([offer.lift for offer in expected], rel=1e-5)
    partial = run("recommend", models["vdpm"], "tortillas", "--partial", "-n", "1").rows
    unknown = load(models["vdpm"]).recommend(["tortillas"], 1, complete=False)[0]
    assert [float(row[0]) for row in partial] == pytest.approx([unknown.probability], rel=1e-5)


def test_recommend_from_data(run, store):
    """Of transactions, the answer is what baskets like this one hold."""
    data = itemix.read_transactions(store).to_lists()
    like_it = [set(basket) for basket in data if "tortillas" in basket and "salsa" not in basket]
    rows = run("recommend", store, "tortillas", "--absent", "salsa", "-n", "4").rows
    assert len(rows) == 4
    for probability, lift, item in rows:
        share = sum(item in basket for basket in like_it) / len(like_it)
        overall = sum(item in basket for basket in data) / len(data)
        assert float(probability) == pytest.approx(share, rel=1e-5)
        assert float(lift) == pytest.approx(share / overall, rel=1e-5)
    shares = [float(row[0]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    refused = run("recommend", store, "tortillas", "diapers", "cat food", "dog food", "charcoal", "-q")
    assert refused.err.startswith("itemix: expected transactions with tortillas, diapers, cat food, ")


def test_recommend_from_rules(run, store, tmp_path, monkeypatch):
    """Rules that were saved recommend what follows from the basket."""
    path = tmp_path / "rules.csv"
    run("rules", store, "-s", "0.02", "--min-threshold", "0.3", "--max-consequent-len", "1", "-o", path)
    rules = itemix.Rules.load(path)
    expected = rules.recommend(["tortillas"], 3)
    rows = run("recommend", path, "tortillas", "-n", "3").rows
    assert [row[2] for row in rows] == [offer.items[0] for offer in expected]
    without = run("recommend", path, "tortillas", "--absent", expected[0].items[0]).rows
    assert [row[2] for row in without][:2] == [offer.items[0] for offer in expected[1:]]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "━━" in run("recommend", path, "tortillas").out


def test_recommend_for_many_baskets(run, models, store, tmp_path):
    """--baskets takes transactions, and gives lines with the number of the basket."""
    baskets = tmp_path / "new.csv"
    baskets.write_text("tortillas\ncereal,bread\n")
    rows = run("recommend", models["vdpm"], "--baskets", baskets, "-n", "2").rows
    model = load(models["vdpm"])
    expected = [
        offer.item for basket in (["tortillas"], ["cereal", "bread"]) for offer in model.recommend(basket, 2)
    ]
    assert [row[:2] for row in rows] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]
    assert [row[3] for row in rows] == expected
    path = tmp_path / "rules.csv"
    run("rules", store, "-s", "0.02", "--min-threshold", "0.3", "-o", path)
    assert {row[0] for row in run("recommend", path, "--baskets", baskets).rows} == {"1", "2"}
    refused = run("recommend", store, "--baskets", baskets, "-q")
    assert refused.err.startswith(
        "itemix: expected a model or rules to recommend for many baskets, got transactions"
    )
    both = run("recommend", models["vdpm"], "milk", "--baskets", baskets, "-q")
    assert both.err == "itemix: expected either items or --baskets, got both; leave out one of them\n"


def test_recommend_leaves_out_new_items_of_baskets(run, models, store, tmp_path):
    """Items that came after the model or the rules were made do not end the work, but are told of."""
    baskets = tmp_path / "new.csv"
    baskets.write_text("tortillas,durian\ndurian\ncereal\n")
    rules = tmp_path / "rules.csv"
    run("rules", store, "-s", "0.02", "--min-threshold", "0.3", "-o", rules)
    known = tmp_path / "known.csv"
    known.write_text("tortillas\n\ncereal\n")
    for source in (models["vdpm"], rules):
        result = run("recommend", source, "--baskets", baskets)
        assert result.rows == run("recommend", source, "--baskets", known).rows
        assert "1 unknown item left out, such as durian\n" in result.err
        baskets.with_name("none.csv").write_text("durian\n")
        refused = run("recommend", source, "--baskets", baskets.with_name("none.csv"), "-q")
        assert refused.out == ""
        message = (
            r"itemix: expected baskets with some of \d\d known items, got none of them, such as durian; give"
        )
        assert re.match(message, refused.err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "{vdpm}"], "expected items to ask for, got none; try itemix query"),
        (["query", "{vdpm}", "salsaa"], "expected one of 92 known items, got 'salsaa'; did you mean 'salsa'"),
        (
            ["query", "{vdpm}", "salsa", "--absent", "salsa"],
            "expected items to be present or absent, got 'salsa' as both",
        ),
        (["query", "{vdpm}", "salsa", "--level", "2"], "expected a level between 0 and 1, got 2.0; try 0.9"),
        (["query", "no.itemix", "salsa"], "expected a model file to read, got no such file 'no.itemix'"),
        (["show", "{store}"], "expected a model, itemsets or rules, got "),
        (
            ["query", "{store}", "salsa", "--given", "beer", "--given", "cat food", "--given", "diapers"],
            "expected transactions with beer, cat food, diapers, got none; leave out one of these items",
        ),
        (["recommend", "{vdpm}", "salsa", "-n", "0"], "expected --number of at least 1, got 0; try 5"),
        (["recommend", "{vdpm}", "salsaa"], "expected one of 92 known items, got 'salsaa'"),
    ],
)
def test_bad_questions_are_one_line(run, models, store, arguments, message):
    """Every error is one line, and code 2."""
    paths = {"vdpm": models["vdpm"], "store": store}
    result = run(*(argument.format(**paths) for argument in arguments), "-q")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"itemix: {message}")
    assert result.err.count("\n") == 1


def test_a_damaged_model_is_refused(run, models, tmp_path):
    """A model file that was cut is refused, whatever is asked."""
    cut = tmp_path / "cut.itemix"
    cut.write_bytes(models["vdpm"].read_bytes()[:500])
    for arguments in (
        ["mine", cut, "-s", "0.1"],
        ["query", cut, "salsa"],
        ["show", cut],
        ["recommend", cut, "salsa"],
    ):
        result = run(*arguments)
        assert result.code == 2
        assert "which is damaged" in result.err
