"""`itemix evaluate`: models, itemsets and data on unseen transactions."""

import json

import numpy as np
import pandas as pd
import pytest

import itemix
from itemix import Evaluation


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write halves of a synthetic store, a model of the first and its itemsets."""
    folder = tmp_path_factory.mktemp("store")
    train, test = itemix.datasets.load("grocery_store").sample(400, random_state=0).split(0.5, random_state=0)
    paths = {
        name: folder / f"{name}{ending}"
        for name, ending in {
            "train": ".csv",
            "test": ".csv",
            "model": ".itemix",
            "itemsets": ".parquet",
            "few": ".parquet",
            "rules": ".csv",
        }.items()
    }
    itemix.write_transactions(train, paths["train"])
    itemix.write_transactions(test, paths["test"])
    model = itemix.BayesianMixture(n_components=4, inference="variational", random_state=0)
    model.fit(itemix.read_transactions(paths["train"])).save(paths["model"])
    itemix.mine(train, 0.05).save(paths["itemsets"])
    itemix.mine(train, 0.2).save(paths["few"])
    itemix.rules(itemix.mine(train, 0.05), min_threshold=0.1).save(paths["rules"])
    return paths


@pytest.fixture
def expected(files):
    """The evaluation that the library gives."""
    train, test = (itemix.read_transactions(files[name]) for name in ("train", "test"))
    return itemix.evaluate(itemix.load(files["model"]), test, 0.05, train=train)


def test_a_pipe_has_a_line_for_each_length(run, files, expected):
    """The figures of the data frame, those of the floor after those of the model; notes on standard error."""
    result = run("evaluate", files["model"], files["test"], "-s", "5%", "--train", files["train"])
    assert result.code == 0
    frame = expected.to_pandas()
    assert result.out.splitlines()[0].split("\t") == list(frame.columns)
    assert [row[:3] for row in result.rows] == [
        [prediction, "all" if pd.isna(length) else str(length), str(n)]
        for prediction, length, n in zip(frame["prediction"], frame["length"], frame["n_true"], strict=True)
    ]
    errors = [float(row[9]) if row[9] else np.nan for row in result.rows]
    assert errors == pytest.approx(frame["mean_relative_error"].tolist(), rel=1e-5, nan_ok=True)
    assert float(result.rows[0][-1]) == pytest.approx(expected.log_likelihood, rel=1e-5)
    assert result.rows[1][-1] == ""
    notes = result.err.splitlines()
    assert notes[0].startswith("model.itemix: vfbm, 4 components")
    assert notes[3].startswith(
        f"{expected.n_true} true itemsets, {expected.n_predicted} predicted, evaluated"
    )


def test_a_json_file_gives_the_value_back(run, files, expected, tmp_path):
    """What is written is what `Evaluation.from_dict` reads."""
    path = tmp_path / "evaluation.json"
    result = run(
        "evaluate", files["model"], files["test"], "-s", "0.05", "--train", files["train"], "-o", path
    )
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines()[-1] == f"wrote the evaluation to {path}"
    assert Evaluation.from_dict(json.loads(path.read_text())) == expected


def test_a_csv_file_is_the_data_frame(run, files, expected, tmp_path):
    """A row for each length and prediction."""
    path = tmp_path / "evaluation.csv"
    assert (
        run(
            "evaluate", files["model"], files["test"], "-s", "0.05", "--train", files["train"], "-qo", path
        ).err
        == ""
    )
    read = pd.read_csv(path, dtype={"length": "Int64"})
    pd.testing.assert_frame_equal(read, expected.to_pandas(), check_dtype=False)


def test_infinity_is_null_in_json(run, files, tmp_path):
    """JSON has no infinity: a test transaction that the model rules out leaves the log-likelihood null."""
    path, strange = tmp_path / "evaluation.json", tmp_path / "strange.csv"
    strange.write_text("bread,whole milk\nmoon dust\nbread\n")
    result = run("evaluate", files["model"], strange, "-s", "2", "-o", path)
    assert "the log-likelihood is -inf: the model rules out a transaction of the test data" in result.err
    assert json.loads(path.read_text(), parse_constant=pytest.fail)["log_likelihood"] is None


@pytest.mark.parametrize("source", ["itemsets", "train", "few"])
def test_itemsets_and_data_predict_too(run, files, expected, source):
    """Itemsets in a file, completed by the training data, and the training data itself are the floor."""
    threshold = "0.2" if source == "few" else "0.05"
    rows = run("evaluate", files[source], files["test"], "-s", threshold, "--train", files["train"]).rows
    n = len(rows) // 2
    assert [row[1:] for row in rows[:n]] == [row[1:] for row in rows[n:]]
    if source != "few":
        assert float(rows[0][9]) == pytest.approx(expected.floor.mean_relative_error, rel=1e-5)


@pytest.mark.parametrize(("columns", "n_tables"), [("140", 1), ("80", 2)])
def test_a_terminal_has_a_table_in_per_cent(run, files, expected, monkeypatch, columns, n_tables):
    """The floor stands beside the model where there is room, and below it where there is not."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", columns)
    out = run("evaluate", files["model"], files["test"], "-s", "0.05", "--train", files["train"]).out
    assert out.count("predicted") == n_tables
    assert f"{100 * expected.mean_relative_error:.2f}%" in out
    assert f"{100 * expected.floor.mean_relative_error:.2f}%" in out
    assert ("The floor" in out) == (n_tables == 2)
    alone = run("evaluate", files["model"], files["test"], "-s", "0.05").out
    assert alone.count("predicted") == 1
    assert "log-likelihood of a transaction" in alone


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "test"], "expected --min-support or --recommend, got neither; try -s 1%"),
        (
            ["model", "test", "-s", "1%", "--recommend", "3"],
            "expected --min-support or --recommend, got both; leave out one of them",
        ),
        (["model", "test", "--recommend", "0"], "expected --recommend of at least 1, got 0; try 10"),
        (["itemsets", "test", "--recommend", "3"], "which holds itemsets; try itemix fit, or itemix rules"),
        (["train", "test", "--recommend", "3"], "which holds transactions; try itemix fit"),
        (
            ["model", "test", "-s", "much"],
            "expected --min-support as a fraction (0.01), a percentage (1%) or",
        ),
        (["model", "test", "-s", "0.1", "-o", "out.txt"], "expected a file that ends in .json or .csv, got"),
        (["model", "test", "-s", "0.1", "-o", "no/out.csv"], "expected an existing folder to write to, got"),
        (
            ["few", "test", "-s", "0.1"],
            "or less, got those of 20%; mine again, or evaluate at --min-support 0.2",
        ),
        (
            ["itemsets", "test", "-s", "0.05"],
            "; pass --train, the data they were mined from, or mine at a lower",
        ),
        (["rules", "test", "-s", "0.05"], "which holds rules; name the data behind it"),
        (["model", "model", "-s", "0.05"], "expected transactions, got"),
        (["nothing.itemix", "test", "-s", "0.05"], "expected a model file"),
        (["model", "test", "-s", "0.999"], "got none in 200 transactions at --min-support 0.999; lower it"),
    ],
)
def test_bad_input_is_one_line(run, files, arguments, message):
    """The exit code is 2, and the line says what to try."""
    result = run("evaluate", *(files.get(argument, argument) for argument in arguments), "-q")
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("source", ["model", "rules"])
def test_recommendations_are_evaluated(run, files, source, tmp_path, monkeypatch):
    """In a pipe, in files and on a terminal: the figures that the library gives."""
    train, test = (itemix.read_transactions(files[name]) for name in ("train", "test"))
    asked = itemix.Rules.load(files["rules"]) if source == "rules" else itemix.load(files["model"])
    expected = itemix.evaluate_recommendations(asked, test, k=3, train=train)
    arguments = ["evaluate", files[source], files["test"], "--recommend", "3", "--train", files["train"]]
    result = run(*arguments)
    assert result.out.splitlines()[0].split("\t") == list(expected.to_pandas().columns)
    assert [row[:3] for row in result.rows] == [
        [r.recommender, r.size, str(r.n_baskets)] for r in expected.rows
    ]
    assert [float(row[5]) for row in result.rows] == pytest.approx([r.ndcg for r in expected.rows], rel=1e-5)
    assert f"{expected.n_left_out} items left out, evaluated" in result.err
    run(*arguments, "-o", tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == expected.to_dict()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "140")
    out = run(*arguments).out
    assert "popularity" in out
    assert f"{expected.ndcg:.4f}" in out
