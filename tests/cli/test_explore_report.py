"""`itemix report`: of a model, or of transactions to which one is fitted first."""

import pytest

import itemix


@pytest.fixture
def model(run, baskets, tmp_path):
    """A saved model of the baskets."""
    path = tmp_path / "m.itemix"
    assert run("fit", baskets, "--method", "vfbm", "-K", "2", "--seed", "0", "-o", path).code == 0
    return path


def test_of_a_model_with_data(run, baskets, model, tmp_path):
    """The page is that of the library, and the program says where it is."""
    path = tmp_path / "report.html"
    found = run("report", model, "-o", path, "--data", baskets, "--title", "Five baskets", "-s", "20%")
    assert found.code == 0
    assert found.out == ""
    expected = itemix.report.render_report(
        itemix.load(model), data=itemix.read_transactions(baskets), title="Five baskets", min_support=0.2
    )
    assert path.read_text(encoding="utf-8") == expected
    assert found.err.splitlines()[-1] == f"wrote {path}, {len(expected) / 1e6:.1f} MB: open it in a browser"


def test_of_new_transactions(run, baskets, model, tmp_path):
    """Transactions that the model has not seen are tested."""
    path, new = tmp_path / "report.html", tmp_path / "new.csv"
    new.write_text("bread,milk\n" * 7 + "bread\n")
    found = run("report", model, "-o", path, "--test", new, "-s", "20%")
    assert found.code == 0
    expected = itemix.report.render_report(
        itemix.load(model),
        test=itemix.read_transactions(new),
        title="Report on m.itemix",
        min_support=0.2,
    )
    assert path.read_text(encoding="utf-8") == expected
    assert "In <data" in expected


def test_of_transactions(run, baskets, tmp_path):
    """A model is fitted first, as by `itemix fit`, and compared with the data; folders are not named."""
    path = tmp_path / "report.html"
    found = run("report", baskets, "-o", path, "--method", "vfbm", "-K", "2", "--seed", "0", "-q")
    assert (found.code, found.out, found.err) == (0, "", "")
    text = path.read_text(encoding="utf-8")
    assert "<h1>Report on baskets.csv</h1>" in text
    assert str(tmp_path) not in text
    assert "in the data" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected -o with a file to write the report to, got none; try -o report.html"),
        (["-o", "nowhere/report.html"], "expected an existing folder to write to"),
        (["-o", "r.html", "-s", "much"], "expected --min-support as a fraction"),
        (
            ["-o", "r.html", "-K", "3"],
            "expected options of fitting only with transactions, got them with the model",
        ),
    ],
)
def test_bad_input(run, model, monkeypatch, tmp_path, arguments, message):
    """One line, code 2, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    found = run("report", model, *arguments)
    assert found.code == 2
    assert message in found.err
    assert not list(tmp_path.glob("*.html"))
