"""`itemix surprises`, `summarise` and `unusual`: what the library finds, as tables and files."""

import numpy as np
import pytest

import itemix


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write halves of a store, and a model of the first."""
    folder = tmp_path_factory.mktemp("store")
    halves = itemix.datasets.load("grocery_store").sample(1200, random_state=0).split(0.5, random_state=0)
    paths = {name: folder / name for name in ("train.csv", "new.csv", "model.itemix")}
    for half, name in zip(halves, paths, strict=False):
        itemix.write_transactions(half, paths[name])
    itemix.BayesianMixture(2, random_state=0).fit(itemix.read_transactions(paths["train.csv"])).save(
        paths["model.itemix"]
    )
    return paths


def test_surprises_of_a_model(run, files, tmp_path):
    """The rows are those of the library; a file has them all."""
    model, new = itemix.load(files["model.itemix"]), itemix.read_transactions(files["new.csv"])
    expected = itemix.surprises(model, new, min_support=0.02)
    assert len(expected) > 3
    result = run("surprises", files["model.itemix"], files["new.csv"], "-s", "2%")
    assert result.code == 0
    assert result.out.splitlines()[0].split("\t")[:3] == ["itemsets", "count", "support"]
    assert [int(row[1]) for row in result.rows] == expected.count.tolist()
    assert "that were tested, q <= 5%, in 600 transactions, found in" in result.err
    path = tmp_path / "found.parquet"
    assert run("surprises", files["model.itemix"], files["new.csv"], "-s", "2%", "-o", path).code == 0
    assert itemix.Surprises.load(path) == expected


def test_surprises_of_several_models(run, files, tmp_path):
    """They are tested as one, as in the library."""
    train, new = (itemix.read_transactions(files[name]) for name in ("train.csv", "new.csv"))
    other = itemix.BayesianMixture(3, random_state=1).fit(train)
    other.save(tmp_path / "other.itemix")
    expected = itemix.surprises([itemix.load(files["model.itemix"]), other], new, min_support=0.02)
    asked = (
        "surprises",
        files["model.itemix"],
        files["new.csv"],
        "-s",
        "2%",
        "--also",
        tmp_path / "other.itemix",
    )
    assert [int(row[1]) for row in run(*asked).rows] == expected.count.tolist()
    refused = run("surprises", files["model.itemix"], "--also", tmp_path / "other.itemix")
    assert "expected --also with a model and data, got no data" in refused.err


def test_summarise(run, files):
    """Without a model it starts from independent items; with one, from what that knows."""
    new = itemix.read_transactions(files["new.csv"])
    result = run("summarise", files["new.csv"], "-s", "2%", "-k", "3")
    assert [int(row[1]) for row in result.rows] == itemix.summarise(new, 3, min_support=0.02).count.tolist()
    assert "Summary: 3 itemsets of 600 transactions" in result.err
    assert (
        run("summarise", files["new.csv"], "-s", "2%", "-k", "1", "--model", files["model.itemix"]).code == 0
    )


def test_unusual(run, files):
    """Those up to the level, the most unusual first."""
    result = run("unusual", files["model.itemix"], files["new.csv"], "--simulated", "1000")
    odd = itemix.load(files["model.itemix"]).unusual(
        itemix.read_transactions(files["new.csv"]), n_simulated=1000
    )
    assert [int(row[0]) for row in result.rows] == odd.top(len(result.rows)).to_pandas()["row"].tolist()
    assert len(result.rows) == np.sum(odd.p_value <= 0.05)


def test_bad_input(run, files):
    """Each gets one line."""
    for arguments, message in [
        (("surprises", files["model.itemix"], files["train.csv"]), "its 600 training transactions"),
        (("surprises", files["new.csv"], files["train.csv"]), "expected a model before the data"),
        (("surprises", files["model.itemix"]), "expected transactions to test the model on"),
        (("unusual", files["new.csv"], files["train.csv"]), "expected a model that itemix fit has saved"),
        (("surprises", files["new.csv"], "--side", "up"), "--side"),
    ]:
        result = run(*arguments)
        assert result.code == 2
        assert message in result.err.splitlines()[-1]
