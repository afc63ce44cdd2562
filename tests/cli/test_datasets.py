"""`itemix datasets`: the list, one entry, and getting one."""

import re

import pytest

import itemix
from itemix.data import datasets


@pytest.fixture
def nothing_here(monkeypatch, tmp_path):
    """Make it a machine without any data set."""
    monkeypatch.delenv("ITEMIX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_the_list_in_a_pipe(run, nothing_here):
    """Every data set is a line with its size, where it is, its licence and its citation."""
    result = run("datasets")
    assert result.out.splitlines()[0] == "name\ttransactions\titems\there\tlicence\tcitation\tdescription"
    assert [row[0] for row in result.rows] == itemix.datasets.available()
    by_name = {row[0]: row for row in result.rows}
    assert by_name["grocery_store"][1:5] == ["5000", "92", "built in", "BSD-3-Clause"]
    assert by_name["mushroom"][3] == "not yet"
    assert "Bayardo" in by_name["mushroom"][5]


def test_what_is_here_is_said(run, nothing_here, monkeypatch):
    """A set in the folder of ITEMIX_DATA, or downloaded before, is here."""
    mushroom = itemix.datasets.info("mushroom").files["all"]
    path = datasets.cached_path("mushroom", mushroom)
    assert path.is_relative_to(nothing_here)
    path.parent.mkdir(parents=True)
    path.write_text("1 2\n")
    assert {row[0]: row[3] for row in run("datasets").rows}["mushroom"] == "downloaded"
    folder = nothing_here / "data"
    (folder / "debd").mkdir(parents=True)
    for part in ("train", "valid", "test"):
        (folder / "debd" / f"accidents.{part}.data").write_text("1,0\n")
    monkeypatch.setenv("ITEMIX_DATA", str(folder))
    where = {row[0]: row[3] for row in run("datasets").rows}
    assert where["debd-accidents"] == where["accidents_17009"] == "ITEMIX_DATA"
    assert where["chess"] == "not yet"


def test_the_list_on_a_terminal(run, monkeypatch):
    """On a terminal it is a table whose lines fit."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "90")
    lines = re.sub(r"\x1b\[[\d;]*m", "", run("datasets").out).splitlines()
    assert all(len(line) <= 90 for line in lines)
    assert lines[0].split()[:4] == ["name", "transactions", "items", "here"]
    assert lines[1].split()[:4] == ["grocery_store", "5,000", "92", "built"]
    assert "itemix datasets show NAME" in lines[-1]


def test_the_list_on_a_narrow_terminal(run, monkeypatch):
    """Where there is no room for what the sets are, the rest still fits."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    lines = re.sub(r"\x1b\[[\d;]*m", "", run("datasets").out).splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert lines[1].split() == ["grocery_store", "5,000", "92", "built", "in"]


@pytest.mark.parametrize("source", [["mine", "dataset:chess", "-s", "1"], ["datasets", "fetch", "chess"]])
def test_a_download_is_announced(run, nothing_here, monkeypatch, source):
    """One line says what is downloaded; without a connection one more says what to do."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody listens there
    result = run(*source)
    assert result.code == 2
    announced, refused = result.err.splitlines()
    assert announced == "downloading chess from http://fimi.uantwerpen.be/data/"
    assert refused.startswith(
        "itemix: expected to download chess from http://fimi.uantwerpen.be/data/chess.dat"
    )
    assert "got no connection; fetch that file by hand and save it as" in refused


def test_quiet_downloads(run, nothing_here, monkeypatch):
    """With --quiet only the error is said."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert run("mine", "dataset:chess", "-s", "1", "-q").err.count("\n") == 1


def test_a_bad_output_is_refused_before_the_download(run, nothing_here):
    """The name of the file is looked at first."""
    refused = run("datasets", "fetch", "chess", "-o", "chess.xlsx")
    assert refused.code == 2
    assert refused.err.startswith("itemix: expected a file name that ends in one of .dat, ")


def test_one_entry(run):
    """`show` says whom to cite, on what terms, and where it is."""
    out = run("datasets", "show", "groceries").out
    for start in (
        "groceries: ",
        "size      9,835 transactions x 169 items",
        "cite  ",
        "licence   GPL-3",
        "here   ",
    ):
        assert any(line.startswith(start) for line in out.splitlines())
    assert run("datasets", "show", "grocerys").err == (
        "itemix: expected the name of one of 40 data sets, got 'grocerys'; did you mean 'grocery_store', "
        "'groceries'?\n"
    )


def test_fetch_writes_a_file(run, tmp_path):
    """`fetch -o` writes transactions that read back equal; without -o it only says that they are here."""
    path = tmp_path / "store.parquet"
    result = run("datasets", "fetch", "grocery_store", "-o", path)
    assert result.code == 0
    assert result.err == (
        "the synthetic grocery store: 5,000 transactions, 92 items\n"
        f"wrote {path}; cite itemix (itemix.data.synthetic.grocery_store)\n"
    )
    assert itemix.read_transactions(path) == itemix.datasets.load("grocery_store")
    pairs = tmp_path / "pairs"
    assert run("datasets", "fetch", "grocery_store", "-o", pairs, "-f", "long").code == 0
    assert itemix.read_transactions(pairs).source == "pairs (long CSV)"
    assert run("datasets", "fetch", "grocery_store").err.endswith(
        "it is here now: try itemix mine dataset:grocery_store --top-k 20\n"
    )


@pytest.mark.data("msweb/train.dat", "msweb/test.dat")
def test_fetch_a_part(run, tmp_path):
    """`--part` gets one part; one that is not there is refused."""
    path = tmp_path / "test.csv.gz"
    assert run("datasets", "fetch", "msweb", "--part", "test", "-o", path).code == 0
    assert len(itemix.read_transactions(path)) == 5000
    refused = run("datasets", "fetch", "msweb", "--part", "tst")
    assert refused.code == 2
    assert (
        refused.err
        == "itemix: expected one of train, test for msweb, got --part tst; leave it out to load all\n"
    )
