"""What commands write to standard output and to files: CSV, JSON, conditions, several supports."""

import csv
import io
import json

import openpyxl
import pytest

import itemix


def test_standard_output_in_csv(run, baskets):
    """`-o -` writes what a file would hold, the most frequent first; a limit is obeyed."""
    result = run("mine", baskets, "-s", "2", "-o", "-", "-n", "2")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["itemsets"] for row in rows] == ["bread", "milk"]
    assert list(rows[0]) == ["support", "itemsets", "length", "count"]
    assert run("mine", baskets, "-s", "2", "-o", "-", "-q").out.count("\n") == 6


def test_standard_output_in_json(run, baskets):
    """--json alone, and with -o -, writes a list of objects."""
    for more in ([], ["-o", "-"]):
        found = json.loads(run("rules", baskets, "-s", "2", "--min-threshold", "0.5", "--json", *more).out)
        assert found[0]["antecedents"] == ["butter"]
        assert found[0]["lift"] == pytest.approx(1.25)


def test_json_of_the_other_commands(run, baskets, tmp_path):
    """Queries are one object, recommendations a list; names are whole, and numbers have all digits."""
    assert json.loads(run("query", baskets, "milk", "--given", "beer", "--json").out)["probability"] == 1
    offers = json.loads(run("recommend", baskets, "milk", "--json", "-n", "4").out)
    assert "milk, fresh" in [offer["item"] for offer in offers]
    path = tmp_path / "sets.json"
    run("mine", baskets, "-s", "2", "--json", "-o", path)
    assert json.loads(run("show", path, "--json", "-n", "1").out) == json.loads(path.read_text())[:1]
    scores = json.loads(run("evaluate", path, baskets, "-s", "2", "-n", "1", "--json").out)
    assert [row["length"] for row in scores["by_length"]] == [1]
    refused = run("mine", baskets, "-s", "2", "--json", "-o", tmp_path / "x.csv")
    assert refused.err.startswith("itemix: expected --json with a file that ends in .json, got ")


def test_streams_are_read_back(run, baskets, monkeypatch):
    """What -o - and --json write is recognised on standard input."""
    for options in (["-o", "-"], ["--json"], ["-o", "-", "--metadata"], ["-o", "-", "--sets", "json"]):
        text = run("mine", baskets, "-s", "2", *options).out
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        result = run("rules", "-", "--min-threshold", "0.9", "-q")
        assert [row[-2:] for row in result.rows] == [["butter", "bread"]]


def test_files_have_sets_as_asked_for(run, baskets, tmp_path):
    """Names with commas are in quotes, or all sets are JSON; Excel has both."""
    run("mine", baskets, "-s", "1", "-o", tmp_path / "a.csv")
    run("mine", baskets, "-s", "1", "-o", tmp_path / "b.csv", "--sets", "json", "--metadata")
    run("mine", baskets, "-s", "1", "-o", tmp_path / "c.xlsx", "--sets", "json")
    with (tmp_path / "a.csv").open(newline="") as file:
        cells = [row["itemsets"] for row in csv.DictReader(file)]
    assert 'bread, "milk, fresh"' in cells
    assert (tmp_path / "b.csv").read_text().startswith('# {"kind": "itemsets"')
    sheet = openpyxl.load_workbook(tmp_path / "c.xlsx").active
    assert '["bread", "milk, fresh"]' in [cell.value for cell in sheet["B"]]
    loaded = [itemix.Itemsets.load(tmp_path / name) for name in ("a.csv", "b.csv", "c.xlsx")]
    assert list(loaded[0]) == list(loaded[1])
    assert list(loaded[0].sets) == list(loaded[2].sets)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["length >= 2"], ["bread, milk", "bread, butter"]),
        (["support > 50%", "count < 4"], ["bread, milk"]),
        (["support = 0.8"], ["bread", "milk"]),
        (["itemsets contains butter and length != 1"], ["bread, butter"]),
        (["itemsets not contains bread", "count in (2, 4)"], ["milk", "butter"]),
    ],
)
def test_conditions_on_itemsets(run, baskets, conditions, expected):
    """--where takes all comparisons, several of them, and percentages."""
    options = [word for condition in conditions for word in ("--where", condition)]
    assert [row[-1] for row in run("mine", baskets, "-s", "2", *options).rows] == expected


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            "size > 1",
            "expected a long table, or --format table, with --where",
        ),
        ("suport > 1", "got 'suport'; did you mean 'support'?"),
        ("support", "expected a column, an operator and a value, got 'support'"),
        ("itemsets > 3", "expected 'contains' or 'not contains' with a column of sets, got 'itemsets > 3'"),
        ("support > milk", "expected a number to compare column 'support' with, got 'milk'"),
        ("lower > 0", "expected a condition on one of support, itemsets, length, count, got 'lower'"),
        ("itemsets contains mlik", "expected one of 5 known items, got 'mlik'; did you mean 'milk'"),
    ],
)
def test_conditions_that_have_no_meaning(run, baskets, condition, message):
    """One line says what a condition may be."""
    result = run("mine", baskets, "-s", "2", "--where", condition)
    assert result.code == 2
    assert message in result.err


def test_several_supports(run, baskets, tmp_path):
    """The itemsets of each length at each support, also of maximal sets and under conditions."""
    result = run("mine", baskets, "-s", "40%,80%,60%")
    assert result.out == (
        "min_support\titemsets\tlength_1\tlength_2\n0.4\t5\t3\t2\n0.6\t3\t2\t1\n0.8\t2\t2\t0\n"
    )
    maximal = run("mine", baskets, "-s", "2,4", "-t", "maximal", "--where", "length > 1", "-q")
    assert [row[1] for row in maximal.rows] == ["2", "0"]
    run("mine", baskets, "-s", "2,4", "-o", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().startswith("min_support,itemsets,length_1,length_2\n0.4,5,3,2\n")
    for options, message in [
        (["-s", "0.1,2"], "expected supports of one kind, got '0.1,2'; try 1%,2%,5%"),
        (["-s", "1,2", "-k", "3"], "expected one support with --top-k, got '1,2'; try -s 1"),
        (["-s", "0,05"], "got 0; try 1"),
    ]:
        assert message in run("mine", baskets, *options).err
