"""`itemix mine MODEL --verify DATA`: the itemsets of the data, by way of a model."""

import pytest

import itemix
from itemix.cli import main
from itemix.cli.options import Reading
from itemix.cli.sources import read_for_passes
from itemix.io.chunks import Chunks
from itemix.mining.verification import verify


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Write some baskets of the synthetic store, and a model of half of them."""
    path = tmp_path_factory.mktemp("store") / "store.csv"
    baskets = itemix.datasets.load("grocery_store").sample(600, random_state=0)
    itemix.write_transactions(baskets, path)
    itemix.write_transactions(baskets.split(random_state=0)[0], path.with_name("half.csv"))
    fit = ["fit", str(path.with_name("half.csv")), "--method", "nbm", "-K", "4", "--correction", "none", "-q"]
    assert main([*fit, "--seed", "0", "-o", str(path.with_name("half.itemix"))]) == 0
    return path


def test_verified_itemsets(run, store):
    """They are those of mining the data; standard error says what was verified and what was missed."""
    model = store.with_name("half.itemix")
    result = run("mine", model, "-s", "5%", "--verify", store)
    assert result.code == 0
    assert result.out == run("mine", store, "-s", "5%").out
    first, second, found, outcome = result.err.splitlines()
    assert first.startswith("half.itemix: nbm, 4 components")
    assert second == "store.csv (basket CSV): 600 transactions, 92 items"
    assert found.startswith("81 itemsets in at least 30 of 600 transactions (5.000%), verified in ")
    verification = verify(itemix.load(model), itemix.read_transactions(store), 0.05)
    assert outcome == str(verification)
    assert outcome.startswith("the model proposed ")


def test_options_and_files(run, store, tmp_path):
    """The options that choose itemsets mean the same, counts as thresholds too; files hold the result."""
    path = tmp_path / "sets.parquet"
    options = ["--target", "closed", "--min-len", "2", "--exclude", "beer", "-q", "-o", path]
    result = run("mine", store.with_name("half.itemix"), "-s", "12", "--verify", store, *options)
    assert (result.code, result.out, result.err) == (0, "", "")
    tx = itemix.read_transactions(store)
    expected = itemix.mine(tx, 12, target="closed", min_len=2, exclude="beer")
    assert itemix.Itemsets.load(path) == expected


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (
            "store.csv",
            ["-s", "5%"],
            "expected a model for --verify, got transactions, whose itemsets are exact; leave out --verify",
        ),
        (
            "half.itemix",
            ["-s", "5%", "--level", "0.9"],
            "expected --level or --verify, got both; what was counted has no interval: leave out --level",
        ),
    ],
)
def test_refusals(run, store, source, options, message):
    """What --verify cannot do is said in one line."""
    result = run("mine", store.with_name(source), *options, "-q", "--verify", store)
    assert result.code == 2
    assert result.err == f"itemix: {message}\n"


def test_a_model_is_no_data(run, store):
    """--verify takes transactions only."""
    model = store.with_name("half.itemix")
    result = run("mine", model, "-s", "5%", "-q", "--verify", model)
    assert result.code == 2
    assert result.err.startswith("itemix: expected transactions, got ")
    assert "which holds a model" in result.err


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("long.csv", []),
        ("onehot.csv", ["--format", "onehot"]),
        ("baskets.txt", ["-d", "\\t", "--encoding", "utf-16"]),
        ("codes.dat", ["--names", "names.csv"]),
    ],
)
def test_files_of_all_kinds(run, store, tmp_path, monkeypatch, name, options):
    """Options of reading mean what they always mean; a long table is read as a whole."""
    monkeypatch.chdir(tmp_path)
    tx = itemix.read_transactions(store).drop_empty()
    if name == "codes.dat":
        lines = "".join(f"{code},{item}\n" for code, item in enumerate(tx.items))
        (tmp_path / "names.csv").write_text(lines)
        tx = tx.rename_items(range(tx.n_items))
    if name == "baskets.txt":
        (tmp_path / name).write_text("".join("\t".join(row) + "\n" for row in tx), encoding="utf-16")
    else:
        kind = name.split(".")[0] if name.endswith("csv") else None
        itemix.write_transactions(tx, tmp_path / name, format=kind)
    result = run("mine", store.with_name("half.itemix"), "-s", "30", "--verify", name, *options)
    assert result.code == 0, result.err
    assert result.out == run("mine", name, "-s", "30", *options).out
    assert f"{name} (" in result.err


def test_files_are_read_in_chunks(store):
    """A file is, so that it may be larger than memory; a data set by name is not."""
    reading = Reading()
    assert isinstance(read_for_passes(str(store), reading, quiet=True), Chunks)
    assert isinstance(read_for_passes("dataset:grocery_store", reading, quiet=True), itemix.Transactions)


def test_a_missing_file(run, store):
    """It is said as for other commands, with the data set of that name."""
    model = store.with_name("half.itemix")
    result = run("mine", model, "-s", "5%", "-q", "--verify", "mushroom")
    assert result.code == 2
    assert "for the data set of this name write dataset:mushroom" in result.err
