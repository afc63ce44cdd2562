"""`itemix mine`: options, output and errors."""

import gzip

import pytest

import itemix
from itemix.cli.options import FORMATS, TARGETS, as_support
from itemix.cli.output import MEASURES as OUTPUT_MEASURES
from itemix.cli.output import cell
from itemix.core.itemsets import MEASURES as LIBRARY_MEASURES
from itemix.core.itemsets import TARGETS as LIBRARY_TARGETS
from itemix.errors import InvalidInputError
from itemix.io.read import FORMATS as READER_FORMATS

SUPPORT = "expected --min-support as a fraction"


def test_lines_in_a_pipe(run, baskets):
    """In a pipe every itemset is a line with tabs, highest support first, without decoration."""
    result = run("mine", baskets, "--min-support", "0.4")
    assert result.code == 0
    assert result.out == (
        "support\tcount\titemset\n"
        "0.8\t4\tbread\n"
        "0.8\t4\tmilk\n"
        "0.6\t3\tbread, milk\n"
        "0.4\t2\tbutter\n"
        "0.4\t2\tbread, butter\n"
    )


def test_notes_on_standard_error(run, baskets):
    """Standard error says what was read and what was found; --quiet stops that."""
    noted = run("mine", baskets, "-s", "0.4").err.splitlines()
    assert noted[0] == "baskets.csv (basket CSV): 5 transactions, 5 items"
    assert noted[1].startswith("5 itemsets in at least 2 of 5 transactions (40.000%), mined in 0.")
    assert run("mine", baskets, "-s", "0.4", "--quiet").err == ""


@pytest.mark.parametrize(
    ("text", "support"),
    [
        ("0.2", 0.2),
        ("20", 20),
        ("28%", 0.28),
        ("0.1%", 0.001),
        ("1", 1),
        ("1.0", 1.0),
        ("1e-3", 0.001),
        ("-1", -1),
    ],
)
def test_support_is_a_fraction_a_percentage_or_a_count(text, support):
    """Digits are a count; a decimal or a percentage is a fraction, exactly the one that was written."""
    assert as_support(text) == support
    assert type(as_support(text)) is type(support)


def test_a_threshold_that_is_just_met(run, tmp_path):
    """28% of 25 is 7, as in Python."""
    path = tmp_path / "a.dat"
    path.write_text("1\n" * 7 + "2\n" * 18)
    assert [row[2] for row in run("mine", path, "-s", "28%").rows] == ["2", "1"]


@pytest.mark.parametrize("command", ["mine", "rules"])
def test_a_count_that_nothing_can_have(run, baskets, command):
    """A count above the number of transactions is refused, as in Python, and a percentage is offered."""
    result = run(command, baskets, "-s", "6")
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith(
        "itemix: expected --min-support as a fraction or a count of at most 5, the number of transactions, "
        "got 6, which is a count; for 6% write 0.06\n"
    )


def test_every_option_reaches_the_miner(run, baskets):
    """Each option gives what the same argument of `itemix.mine` gives."""
    transactions = itemix.read_transactions(baskets)
    for options, arguments in [
        (["--target", "closed"], {"target": "closed"}),
        (["--target", "maximal"], {"target": "maximal"}),
        (["--min-len", "2"], {"min_len": 2}),
        (["--max-len", "1"], {"max_len": 1}),
        (["--include", "milk", "--include", "bread"], {"include": ["milk", "bread"]}),
        (["--exclude", "milk", "--exclude", "milk, fresh"], {"exclude": ["milk", "milk, fresh"]}),
        (["--top-k", "3"], {"top_k": 3}),
        (["--threads", "1"], {"n_jobs": 1}),
        (["--max-itemsets", "100"], {"max_itemsets": 100}),
    ]:
        expected = itemix.mine(transactions, 1, **arguments)
        rows = run("mine", baskets, "-s", "1", "--sort", "order", *options).rows
        assert [row[2] for row in rows] == [", ".join(map(cell, itemset.items)) for itemset in expected]
        assert [int(row[1]) for row in rows] == expected.count.tolist()


def test_reader_options_reach_the_reader(run, tmp_path):
    """Delimiter, columns, encoding, format and names are those of `read_transactions`."""
    long = tmp_path / "long.txt"
    long.write_bytes("wer;was\n1;Käse\n1;Öl\n2;Käse\n".encode("latin-1"))
    options = ["--delimiter", ";", "--transaction", "wer", "--item", "was", "--encoding", "latin-1"]
    assert run("mine", long, "-s", "2", *options).rows == [["1", "2", "Käse"]]
    tabs = tmp_path / "tabs.txt"
    tabs.write_text("a b\tc\na b\n")
    assert run("mine", tabs, "-s", "2", "-d", "\\t").rows == [["1", "2", "a b"]]
    codes, names = tmp_path / "codes.dat", tmp_path / "names.csv"
    codes.write_text("1 2\n1\n")
    names.write_text("code,name\n1,salt\n2,pepper\n")
    assert run("mine", codes, "-s", "2", "--names", names, "--format", "fimi").rows == [["1", "2", "salt"]]
    headed = tmp_path / "headed.csv"
    headed.write_text("x,y\na,b\na,c\n")
    assert run("mine", headed, "-s", "2", "--header").rows == [["1", "2", "a"]]
    assert ["0.333333", "1", "x"] in run("mine", headed, "-s", "1", "--no-header").rows


def test_choices_are_those_of_the_library():
    """What help and completion offer is what the library takes."""
    assert TARGETS == LIBRARY_TARGETS
    assert OUTPUT_MEASURES == LIBRARY_MEASURES
    assert set(FORMATS) == set(READER_FORMATS)


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "json", "xlsx", "csv.gz", "jsonl.gz"])
def test_files_give_the_result_back(run, baskets, tmp_path, ending):
    """-o writes everything, whatever the limit, in the order of mining; loading it gives equal itemsets."""
    path = tmp_path / f"sets.{ending}"
    result = run("mine", baskets, "-s", "0.4", "-o", path, "--limit", "1")
    assert result.out == ""
    assert result.err.endswith(f"wrote 5 itemsets to {path}\n")
    loaded = itemix.Itemsets.load(path)
    mined = itemix.mine(itemix.read_transactions(baskets), 0.4)
    assert list(loaded) == list(mined)
    if ending.startswith(("parquet", "jsonl")):  # the others are plain
        assert loaded == mined
        assert loaded.target == "all"
    assert (gzip.decompress(path.read_bytes()) != b"") if ending.endswith("gz") else True


def test_limit_and_order(run, baskets):
    """--limit shows the first rows of the order that --sort names; 0 is all of them."""
    assert [row[2] for row in run("mine", baskets, "-s", "1", "-n", "2").rows] == ["bread", "milk"]
    longest = run("mine", baskets, "-s", "1", "-n", "2", "--sort", "length").rows
    assert [row[2].count(", ") for row in longest] == [2, 3]
    assert len(run("mine", baskets, "-s", "1", "--limit", "0").rows) == 13
    assert len(run("mine", baskets, "-s", "1").rows) == 13


def test_names_with_commas_are_quoted(run, tmp_path):
    """In a pipe and in recommendations, as in CSV, so that the names of a set can be told apart."""
    path = tmp_path / "a.csv"
    path.write_text('a,"b, c"\na,"b, c"\n"say ""x""",a\n')
    sets = [row[-1] for row in run("mine", path, "-s", "1", "--min-len", "2").rows]
    assert sets == ['a, "b, c"', 'a, "say ""x"""']
    saved = tmp_path / "rules.csv"
    sides = [row[-2:] for row in run("rules", path, "-s", "2", "--min-threshold", "1").rows]
    assert sides == [['"b, c"', "a"]]
    assert run("rules", path, "-s", "2", "--min-threshold", "0.1", "-o", saved).code == 0
    for source in (path, saved):
        assert run("recommend", source, "a", "-n", "1").rows[0][-1] == '"b, c"'
        assert run("recommend", saved, "--baskets", path, "-n", "1").rows[-1][-1] == '"b, c"'


def test_names_in_lines_have_no_tabs(run, tmp_path):
    """A name with a tab or a newline cannot break the lines; long sets are not cut."""
    path = tmp_path / "a.jsonl"
    names = ["a\tb", "c\nd", *(f"a rather long name of item {i}" for i in range(8))]
    path.write_text(str(names).replace("'", '"').replace("\t", "\\t") + "\n")
    rows = run("mine", path, "-s", "1", "-t", "maximal").rows
    assert len(rows) == 1
    assert sorted(rows[0][2].split(", ")) == sorted([r"a\tb", r"c\nd", *names[2:]])


def test_a_table_on_a_terminal(run, baskets, monkeypatch):
    """FORCE_COLOR stands for a terminal: bars and counts, no tabs."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    out = run("mine", baskets, "-s", "0.4", "-n", "3").out
    assert "{bread, milk}" in out
    assert "━━━━" in out
    assert "... 2 more: --limit 0 shows all, -o FILE writes them" in out
    assert "\t" not in out


def test_data_sets_by_name(run):
    """dataset:NAME is a source."""
    result = run("mine", "dataset:grocery_store", "-k", "1")
    assert result.rows == [["0.3822", "1911", "whole milk"]]
    assert result.err.splitlines()[0] == "the synthetic grocery store: 5,000 transactions, 92 items"


@pytest.mark.data("msweb/test.dat")
def test_a_part_of_a_data_set(run):
    """dataset:NAME:PART is one part of it."""
    assert run("mine", "dataset:msweb:test", "-k", "1").err.startswith(
        "msweb, test: 5,000 transactions, 294 items"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected --min-support or --top-k, got neither; try --min-support 0.01"),
        (
            ["-s", "a"],
            f"{SUPPORT} (0.01), a percentage (1%) or a whole number of transactions (20), got 'a'; try",
        ),
        (["-s", "0"], f"{SUPPORT} in (0, 1] or a count of at least 1, got 0; try 1"),
        (["-s", "-1"], f"{SUPPORT} in (0, 1] or a count of at least 1, got -1; try 1"),
        (["-s", "1.5"], f"{SUPPORT} in (0, 1] or a whole number of transactions, got 1.5; try 0.01"),
        (["-s", "nan"], f"{SUPPORT} in (0, 1] or a whole number of transactions, got nan; try 0.01"),
        (
            ["-s", "1", "-t", "close"],
            "expected --target to be one of all, closed, maximal, generators, got 'close'; try --target c",
        ),
        (
            ["-s", "1", "-f", "xls"],
            f"expected --format to be one of {', '.join(FORMATS)}, got 'xls'; try --format ",
        ),
        (
            ["-s", "1", "--sort", "size"],
            "expected --sort to be one of support, length, order, lift, all_confidence, bond, got 'size'; ",
        ),
        (["-s", "1", "--limit", "-1"], "expected --limit as a number of rows, got -1; try 0 for all"),
        (["-s", "1", "--include", "mlk"], "expected one of 5 known items, got 'mlk'; did you mean 'milk'"),
        (["-s", "1", "--max-itemsets", "3"], "expected at most --max-itemsets 3 itemsets, got"),
        (["-s", "1", "--threads", "0"], "expected --threads as a number of threads, got 0; try -1"),
        (["-s", "1", "--max-len", "0"], "expected --max-len"),
        (["-s", "1", "-o", "nowhere/x.csv"], "expected an existing folder to write to, got"),
        (
            ["-s", "1", "-o", "x.txt"],
            "expected a name that ends in .parquet, .csv, .jsonl, .json, .xlsx, .csv.gz, .jsonl.gz or",
        ),
        (["-s", "1", "--encoding", "latin-13x"], "expected"),
    ],
)
def test_bad_options_are_one_line(run, baskets, options, message):
    """Every error is one line with the options' own names, code 2, nothing on standard output."""
    result = run("mine", baskets, "-q", *options)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith(f"itemix: {message}")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine", "no.csv", "-s", "1"], "expected a file to read, got no such file 'no.csv'; check"),
        (["mine", ".", "-s", "1"], "expected a file to read, got the folder '.'; name a file in it"),
        (
            ["mine", "chess", "-s", "1"],
            "expected a file to read, got no such file 'chess'; for the data set of this ",
        ),
        (["mine", "dataset:mushrom", "-s", "1"], "expected the name of one of"),
        (
            ["mine", "dataset:xyzzy", "-s", "1"],
            "expected the name of one of 40 data sets, got 'xyzzy'; itemix datasets lists them",
        ),
        (
            ["mine", "dataset:msweb:foo", "-s", "1"],
            "expected dataset:msweb:train or dataset:msweb:test, got 'dataset:msweb:foo'; for all of it",
        ),
        (
            ["mine", "dataset:chess:foo", "-s", "1"],
            "expected a data set that has parts, got 'dataset:chess:foo'; for all of it write dataset:chess",
        ),
        (["mine", "", "-s", "1"], "expected a file to read, got an empty name; name a file"),
        (["mine"], "expected SOURCE, got none; see itemix mine --help"),
        (
            ["mine", "a", "--max-len", "x"],
            "expected --max-len as a whole number, got 'x'; see itemix mine --",
        ),
        (
            ["mine", "a", "--max-len=x"],
            "expected --max-len as a whole number, got 'x'; see itemix mine --help",
        ),
        (["mine", "a", "-nx"], "expected --limit as a whole number, got 'x'; see itemix mine --help"),
        (["rules", "a", "--min-threshold", "x"], "expected --min-threshold as a number, got 'x'; see itemix"),
        (["mine", "a", "--max-lem", "3"], "expected a known option, got --max-lem; try --max-len"),
        (["mine", "a", "--xyzzy"], "expected a known option, got --xyzzy; see itemix mine --help"),
        (["mine", "a", "b", "c"], "expected no more arguments, got 'b c'; put quotes around names"),
        (["mine", "a", "--min-support"], "expected a value after --min-support, got none; see itemix"),
        (["dig", "a"], "expected a command, got 'dig'; see itemix --help"),
        (["mien", "a"], "expected a command, got 'mien'; try itemix mine"),
        (["datasets", "chess"], "expected a command, got 'chess'; try itemix datasets show chess"),
        (["datasets", "chezz"], "expected a command, got 'chezz'; see itemix datasets --help"),
        (["datasets", "fech"], "expected a command, got 'fech'; try itemix datasets fetch"),
    ],
)
def test_bad_arguments_are_one_line(run, tmp_path, monkeypatch, arguments, message):
    """Also what typer finds wrong is one line: what was expected, what was got, what to try."""
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith(f"itemix: {message}")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["-s", "0"],
            "expected --min-support as a fraction in (0, 1] or a count of at least 1, got 0; try 1",
        ),
        (
            ["-s", "-1"],
            "expected --min-support as a fraction in (0, 1] or a count of at least 1, got -1; try 1",
        ),
        (
            ["-s", "1.5"],
            "expected --min-support as a fraction in (0, 1] or a whole number of transactions, got",
        ),
        (["-s", "a"], "expected --min-support as a fraction (0.01), a percentage (1%) or a whole number of "),
        (
            ["-s", "200%"],
            "expected --min-support as a percentage above 0% and up to 100%, got '200%'; try 1%",
        ),
        (
            ["-s", "nan%"],
            "expected --min-support as a percentage above 0% and up to 100%, got 'nan%'; try 1%",
        ),
        (
            ["-s", "9" * 5000],
            "expected --min-support as a fraction (0.01), a percentage (1%) or a whole number",
        ),
        (["-s", "1", "--top-k", "0"], "expected --top-k as a whole number of at least 1, got 0; try 1"),
        (["-s", "1", "--min-len", "3", "--max-len", "2"], "expected --min-len <= --max-len, got 3 and 2"),
        (
            ["-s", "1", "-j", "0"],
            "expected --threads as a number of threads, got 0; try -1 for all processors",
        ),
    ],
)
@pytest.mark.parametrize("command", ["mine", "rules"])
def test_bad_options_are_refused_first(run, command, options, message):
    """Before the source is read, which may take long: there is none here, and nobody complains of that."""
    refused = run(command, "no such source", *options)
    assert refused.code == 2
    assert refused.err.startswith(f"itemix: {message}")


@pytest.mark.parametrize("command", ["mine", "rules"])
def test_a_bad_output_is_refused_first(run, command):
    """What cannot be written is not computed: the name of the file is looked at before the source."""
    refused = run(command, "no such source", "-s", "1", "-o", "x.txt")
    assert refused.err.startswith("itemix: expected a name that ends in .parquet")


def test_results_are_not_mined_again(run, baskets, tmp_path):
    """A file that itemix has written itself is not taken for transactions."""
    sets, rules = tmp_path / "sets.csv", tmp_path / "rules.jsonl"
    run("mine", baskets, "-s", "1", "-o", sets)
    run("rules", sets, "-o", rules)
    assert run("mine", sets, "-s", "1").err == (
        f"itemix: expected transactions, got {str(sets)!r}, which holds itemsets; try itemix rules {sets}\n"
    )
    assert run("mine", rules, "-s", "1").err.endswith("which holds rules; name the data behind it\n")


@pytest.mark.parametrize("text", ["%", "sNaN", "sNaN%"])
def test_support_that_is_no_number_names_what_is(text):
    """The parser itself refuses what is no number."""
    with pytest.raises(
        InvalidInputError, match=r"a fraction \(0.01\), a percentage \(1%\) or a whole number"
    ):
        as_support(text)


def test_measures_of_itemsets(run, baskets):
    """A measure is one more column, and sorts; also where single items were not asked for."""
    result = run("mine", baskets, "-s", "1", "--min-len", "2", "--measure", "lift", "-q")
    header, *lines = [line.split("\t") for line in result.out.splitlines()]
    assert header == ["support", "lift", "count", "itemset"]
    assert len(lines) > 1
    assert [float(line[1]) for line in lines] == sorted((float(line[1]) for line in lines), reverse=True)
    assert run("mine", baskets, "-s", "2", "--sort", "bond").out.startswith("support\tbond\tcount\titemset")
    wrong = run("mine", baskets, "-s", "2", "--measure", "cosine")
    assert (wrong.code, "expected --measure to be one of lift, all_confidence, bond" in wrong.err) == (
        2,
        True,
    )
    wrong = run("mine", baskets, "-s", "2,3", "--measure", "lift")
    assert (wrong.code, "expected one --min-support with --measure, got several" in wrong.err) == (2, True)
