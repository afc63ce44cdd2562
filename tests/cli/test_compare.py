"""``itemix compare``: two sources, or the groups of a long table."""

import json

import pytest

import itemix
from itemix.cli import main


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Write two files of baskets, and one long table with a store and a time for each line."""
    monkeypatch.chdir(tmp_path)
    first = ["tea,cake"] * 30 + ["tea"] * 30 + ["coffee,cake"] * 40
    second = ["ice,coffee"] * 30 + ["tea"] * 30 + ["coffee,cake"] * 40
    (tmp_path / "a.csv").write_text("\n".join(first) + "\n")
    (tmp_path / "b.csv").write_text("\n".join(second) + "\n")
    lines = [
        f"{number},{name},{store},2024-0{1 + (store == 'south')}-0{1 + i} 08:00"
        for store, rows in (("north", first), ("south", second))
        for number, row in enumerate(rows, 1000 * (store == "south"))
        for i, name in enumerate(row.split(","))
    ]
    (tmp_path / "long.csv").write_text("basket,item,store,time\n" + "\n".join(lines) + "\n")
    return tmp_path


LONG = ["long.csv", "--transaction", "basket", "--item", "item", "-s", "10%"]


def test_two_files(sources, capsys):
    """In a pipe all columns come in lines, and standard error says how many were tested."""
    assert main(["compare", "a.csv", "b.csv", "-s", "10%"]) == 0
    printed = capsys.readouterr()
    lines = [line.split("\t") for line in printed.out.splitlines()]
    assert lines[0][:3] == ["itemsets", "count_a", "count_b"]
    change = {line[0]: line[-2] for line in lines[1:]}
    assert (change["ice"], change["cake, tea"], change["tea"]) == ("new", "lost", "less")
    assert f"{len(change)} itemsets of 7 differ" in printed.err


def test_kinds_of_transactions(sources, capsys):
    """With --components the table has components of one mixture of both; options of itemsets are refused."""
    assert main(["compare", "a.csv", "b.csv", "--components", "-o", "out.json"]) == 0
    assert "Components: " in capsys.readouterr().err
    rows = json.loads((sources / "out.json").read_text())
    moved = itemix.compare_components(*(itemix.read_transactions(name) for name in ("a.csv", "b.csv")))
    assert [row["typical"] for row in rows] == [list(names) for names in moved.typical]
    assert any("ice" in row["typical"] and row["count_a"] == 0 for row in rows)
    assert main(["compare", "a.csv", "b.csv", "--components", "--own"]) == 2
    assert "expected --components without options of itemsets, got them" in capsys.readouterr().err


def test_groups_of_a_long_table(sources, capsys):
    """A column says which group a transaction is of; periods put times together; files keep all columns."""
    assert main(["compare", *LONG, "--by", "store", "-q", "--own", "-o", "out.json"]) == 0
    by_store = json.loads((sources / "out.json").read_text())
    assert {row["group"] for row in by_store} == {"south"}
    assert ["ice"] in [row["itemsets"] for row in by_store]
    assert main(["compare", *LONG, "--by", "time", "--per", "month", "-q", "--own", "-o", "out.json"]) == 0
    by_month = json.loads((sources / "out.json").read_text())
    assert [row | {"group": "south"} for row in by_month] == by_store
    assert by_month[0]["group"] == "2024-02"


def test_groups_of_transactions_that_lost_lines(sources):
    """Lines without an item are left out of the data, and their transactions of the groups."""
    with (sources / "long.csv").open("a") as table:
        table.write("9999,,west,2024-03-01 08:00\n1000,,south,2024-02-01 08:00\n")
    arguments = ["compare", *LONG, "--drop-missing", "--by", "store", "-q", "--own", "-o", "out.json"]
    assert main(arguments) == 0
    assert {row["group"] for row in json.loads((sources / "out.json").read_text())} == {"south"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv"], "expected OTHER or --by, got neither; name a second source, or a column with the groups"),
        (["a.csv", "b.csv", "--by", "x"], "expected OTHER or --by, got both"),
        (
            ["a.csv", "b.csv", "--per", "month"],
            "expected --by with --per, got none; try --by date --per month",
        ),
        (
            ["a.csv", "--by", "store"],
            "expected --by with a file of a long table, and --transaction and --item",
        ),
        (
            [*LONG, "--by", "time"],
            "expected one value in column 'time' for each transaction, got '2024-01-01",
        ),
        (
            [*LONG, "--by", "store", "--per", "day"],
            "expected times in column 'store' with --per, got 'north'",
        ),
        ([*LONG, "--by", "stores"], "stores"),
        (["a.csv", "b.csv", "--adjust", "x"], "--adjust"),
        (["a.csv", "a.csv", "-s", "0"], "min-support"),
    ],
)
def test_one_line_says_what_is_wrong(sources, capsys, arguments, message):
    """Bad input ends in one line, without a traceback."""
    assert main(["compare", *arguments]) == 2
    printed = capsys.readouterr().err.splitlines()
    assert printed[-1].startswith("itemix: ")
    assert message in printed[-1]
