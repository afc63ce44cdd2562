"""``itemix fit --groups`` learns groups, and ``--group`` asks for one of them."""

import json

import pytest

import itemix

LINES = """order,customer,item
1,ann,tea
1,ann,milk
2,bob,beer
3,ann,tea
4,bob,beer
4,bob,chips
5,ann,tea
6,bob,beer
7,cy,milk
"""


@pytest.fixture
def lines(tmp_path):
    """Write a long table with customers."""
    path = tmp_path / "lines.csv"
    path.write_text(LINES)
    return path


def fit(run, lines, *more):
    """Fit a model with groups, by a quick method unless another one is named."""
    columns = ["--transaction", "order", "--item", "item", "--groups", "customer"]
    method = [] if "--method" in more else ["--method", "vdpm", "-K", "2"]
    return run("fit", lines, *columns, *method, *more, "--seed", 0, "-o", lines.with_suffix(".itemix"))


def test_groups_are_fitted_and_asked(run, lines):
    """Query, recommend and mine answer for a group as the library does."""
    found = fit(run, lines)
    assert found.code == 0, found.err
    file = lines.with_suffix(".itemix")
    model = itemix.load(file)
    assert list(model.fitted_.groups.labels) == ["ann", "bob", "cy"]
    asked = run("query", file, "tea", "--group", "ann", "--json")
    assert "3 groups" in asked.err
    assert json.loads(asked.out)["probability"] == pytest.approx(model.probability(["tea"], group="ann"))
    assert model.probability(["tea"], group="ann") > model.probability(["tea"])
    offers = run("recommend", file, "milk", "-n", 1, "--group", "bob").rows
    assert offers[0][2] == model.recommend(["milk"], 1, group="bob")[0].item
    own = itemix.mine(model, 0.3, group="ann")
    assert len(run("mine", file, "-s", "0.3", "--group", "ann").rows) == len(own)
    several = run("mine", file, "-s", "0.3,0.6", "--group", "ann")
    assert several.code == 0
    assert several.out != run("mine", file, "-s", "0.3,0.6").out


def test_front_door_takes_groups(run, lines):
    """Without a method, the recommended model is fitted, without its correction."""
    columns = ["--transaction", "order", "--item", "item", "--groups", "customer"]
    found = run("fit", lines, *columns, "--seed", 0, "-o", lines.with_suffix(".itemix"))
    assert found.code == 0
    assert "with what groups have of their own" in found.err
    model = itemix.load(lines.with_suffix(".itemix"))
    tx = itemix.read_transactions(lines, transaction=["order", "customer"], item="item")
    same = itemix.fit(tx, groups="customer", progress=False)
    assert model.mixture_ == same.mixture_
    assert model.fitted_.groups == same.fitted_.groups
    assert model.corrected_ is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "--transaction", "order", "--item", "item", "--groups", "customer", "--method", "causes"],
         "expected one of gsdpm, vdpm, gsfbm, vfbm, nbm with --groups, got causes"),
        (["fit", "--groups", "customer"], "expected --transaction and --item with --groups"),
        (["fit", "--transaction", "order", "--item", "item", "--groups", "custom"],
         "name the right one with --groups"),
        (["fit", "--transaction", "order", "--item", "item", "--groups", "item"],
         "expected another column with --groups than that of items, got 'item' for both"),
        (["fit", "--transaction", "order", "--item", "item", "--groups", "order"],
         "expected another column with --groups than that of transactions, got 'order' for both"),
        (["fit", "--transaction", "order", "--item", "item", "--groups", "customer", "--correction", "5"],
         "expected correction=None for a fit with groups"),
        (["query", "tea", "--group", "ann"], "expected a model that was fitted with groups"),
        (["mine", "-s", "1", "--group", "ann"], "expected a model that was fitted with groups"),
    ],
)  # fmt: skip
def test_mistakes(run, lines, arguments, words):
    """Each is one line."""
    output = ["-o", lines.with_suffix(".itemix")] if arguments[0] == "fit" else []
    found = run(arguments[0], lines, *arguments[1:], *output)
    assert found.code == 2
    assert words in found.err


def test_unknown_group(run, lines):
    """The nearest labels are offered."""
    fit(run, lines)
    found = run("query", lines.with_suffix(".itemix"), "tea", "--group", "anne")
    assert found.code == 2
    assert (
        "expected one of 3 known groups, got 'anne'; did you mean 'ann'? Or leave the group out" in found.err
    )
