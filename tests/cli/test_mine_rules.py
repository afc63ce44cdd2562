"""`itemix rules`: from data and from saved itemsets."""

import pytest

import itemix
from itemix.cli import compare
from itemix.cli.mine import ADJUSTMENTS, METRICS, RULE_MEASURES, TESTS
from itemix.cli.output import cell
from itemix.mining import measures, rules


def rules_of(path, min_support=1, **arguments):
    """Return the rules that the library makes of a file."""
    transactions = itemix.read_transactions(path)
    return itemix.rules(itemix.mine(transactions, min_support), data=transactions, **arguments)


def test_lines_in_a_pipe(run, baskets):
    """In a pipe every rule is a line, highest lift first."""
    result = run("rules", baskets, "--min-support", "0.4", "--min-threshold", "0.7")
    assert result.code == 0
    assert result.out == (
        "support\tconfidence\tlift\tcount\tantecedents\tconsequents\n"
        "0.4\t1\t1.25\t2\tbutter\tbread\n"
        "0.6\t0.75\t0.9375\t3\tmilk\tbread\n"
        "0.6\t0.75\t0.9375\t3\tbread\tmilk\n"
    ).replace("milk\tbread\n0.6\t0.75\t0.9375\t3\tbread\tmilk", first_of_the_tie(baskets))
    assert result.err.splitlines()[-1] == "3 rules with confidence >= 0.7"


def test_no_rules_are_no_end(run, baskets):
    """Where the default finds nothing, it is said what to try."""
    result = run("rules", baskets, "--min-support", "0.4", "--min-threshold", "2", "--metric", "lift")
    assert result.rows == []
    assert result.err.splitlines()[-1] == (
        "0 rules with lift >= 2; try a lower --min-threshold or --min-support"
    )


def first_of_the_tie(path):
    """Return the two rules of equal lift, in the order of the library."""
    tied = [rule for rule in rules_of(path, 2, min_threshold=0.7) if rule.lift < 1]
    return "\n0.6\t0.75\t0.9375\t3\t".join(f"{rule.antecedents[0]}\t{rule.consequents[0]}" for rule in tied)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--metric", "lift", "--min-threshold", "1.2"], {"metric": "lift", "min_threshold": 1.2}),
        (["-m", "antecedent_support"], {"metric": "antecedent support"}),
        (["--antecedent", "milk", "--antecedent", "butter"], {"antecedents": ["milk", "butter"]}),
        (["--consequent", "milk"], {"consequents": ["milk"]}),
        (["--min-antecedent-len", "2"], {"min_antecedent_len": 2}),
        (["--max-antecedent-len", "1"], {"max_antecedent_len": 1}),
        (["--min-consequent-len", "2"], {"min_consequent_len": 2}),
        (["--max-consequent-len", "1"], {"max_consequent_len": 1}),
        (["--support-only", "--min-threshold", "0.4"], {"support_only": True, "min_threshold": 0.4}),
        (["--max-rules", "1000"], {"max_rules": 1000}),
    ],
)
def test_every_option_reaches_the_library(run, baskets, tmp_path, options, arguments):
    """Each option gives what the same argument of `itemix.rules` gives; -o keeps all of it."""
    path = tmp_path / "rules.parquet"
    assert run("rules", baskets, "-s", "1", "-o", path, *options).code == 0
    expected = rules_of(baskets, **arguments)
    assert len(expected)
    assert itemix.Rules.load(path) == expected.sort_by("lift")


def test_conditions_and_order(run, baskets):
    """--where leaves out rules, --sort names the measure that ranks those left."""
    options = [
        "--min-threshold",
        "0",
        "--where",
        "lift>=1.1",
        "--where",
        "p_value <= 0.5",
        "--sort",
        "support",
    ]
    expected = rules_of(baskets, min_threshold=0.0).filter(min_lift=1.1, max_p_value=0.5).sort_by("support")
    rows = run("rules", baskets, "-s", "1", *options).rows
    assert [row[-2:] for row in rows] == [
        [", ".join(map(cell, rule.antecedents)), ", ".join(map(cell, rule.consequents))] for rule in expected
    ]
    assert rows


def test_a_metric_that_is_not_shown_anyway_gets_a_column(run, baskets, monkeypatch):
    """What selects is shown, in lines and in tables."""
    result = run("rules", baskets, "-s", "1", "-m", "jaccard", "--min-threshold", "0.5")
    assert result.out.startswith("support\tconfidence\tlift\tjaccard\tcount\tantecedents\tconsequents\n")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    table = run("rules", baskets, "-s", "1", "-m", "jaccard", "--min-threshold", "0.5", "-n", "1").out
    assert "jaccard" in table
    assert " -> {" in table
    assert "more: --limit 0 shows all" in table


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl.gz"])
def test_saved_itemsets_are_a_source(run, baskets, tmp_path, ending):
    """Rules of saved itemsets are those of the data; a higher threshold and a length choose from them."""
    path = tmp_path / f"sets.{ending}"
    run("mine", baskets, "-s", "1", "-o", path)
    options = ["--min-threshold", "0.5", "--min-support", "0.4", "--max-len", "2"]
    from_file = run("rules", path, *options)
    assert from_file.err.splitlines()[0] == f"{path}: 13 itemsets"
    assert from_file.out == run("rules", baskets, *options).out


def test_rules_by_support_alone(run, baskets, monkeypatch):
    """--support-only needs no supports of parts; what is not known is not shown."""
    options = ["rules", baskets, "-s", "2", "-t", "maximal", "--support-only", "--min-threshold", "0.5"]
    result = run(*options)
    assert result.out.splitlines()[0] == "support\tcount\tantecedents\tconsequents"
    assert "2 rules with support >= 0.5\n" in result.err
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "confidence" not in run(*options, "-q").out


def test_rule_options_are_refused_first(run):
    """Before anything is read or mined."""
    refused = run("rules", "no such source", "-s", "1", "--max-antecedent-len", "0")
    assert refused.err.startswith(
        "itemix: expected --max-antecedent-len as a whole number of at least 1, got 0"
    )


def test_maximal_itemsets_need_the_data(run, baskets, tmp_path):
    """Supports that a file lacks are counted in --data; without it, the error says so."""
    path = tmp_path / "sets.parquet"
    run("mine", baskets, "-s", "2", "-t", "maximal", "-o", path)
    refused = run("rules", path)
    assert refused.code == 2
    assert "pass --data to count them, mine with --target all, or set --support-only" in refused.err
    with_data = run("rules", path, "--data", baskets, "--min-threshold", "0.7")
    assert with_data.out == run("rules", baskets, "-s", "2", "--min-threshold", "0.7").out


def test_measures_are_those_of_the_library():
    """What completion offers is what rules have."""
    assert sorted(RULE_MEASURES) == sorted(name.replace(" ", "_") for name in measures.MEASURES)
    assert sorted(METRICS) == sorted(name.replace(" ", "_") for name in rules.METRICS)
    assert (TESTS, ADJUSTMENTS) == (measures.TESTS, measures.ADJUSTMENTS)
    assert compare.ADJUSTMENTS == measures.ADJUSTMENTS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected --min-support or --top-k, got neither"),
        (["-s", "1", "--metric", "confidenze"], "expected --metric to be one of confidence, lift, "),
        (
            ["-s", "1", "--metric", "p_value"],
            "expected --metric of which more is better, got 'p_value'; try --where 'p_value<=0.05'",
        ),
        (
            ["-s", "1", "--where", "lift"],
            "expected a column, an operator and a value, got 'lift'",
        ),
        (["-s", "1", "--where", "lfit>=1"], "expected a condition on one of confidence, lift, "),
        (["-s", "1", "--sort", "size"], "expected --sort to be one of "),
        (["-s", "1", "--max-rules", "1", "--min-threshold", "0"], "expected at most 1 rule, got "),
        (
            ["-s", "1", "--min-threshold", "nan"],
            "expected --min-threshold as a finite number, got nan; try 0.8",
        ),
        (
            ["-s", "1", "--min-consequent-len", "0"],
            "expected --min-consequent-len as a whole number of at least",
        ),
        (["-s", "1", "--consequent", "mlk"], "expected one of 5 known items, got 'mlk'; did you mean 'milk'"),
        (["-s", "1", "--data", "x.csv"], "expected --data only with a file of itemsets, got it with "),
    ],
)
def test_bad_options_are_one_line(run, baskets, options, message):
    """Every error is one line with the options' own names, and code 2."""
    result = run("rules", baskets, "-q", *options)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith(f"itemix: {message}")
    assert result.err.count("\n") == 1


def test_options_of_mining_do_not_go_with_saved_itemsets(run, baskets, tmp_path):
    """What only mining can do is refused, not ignored."""
    path = tmp_path / "sets.parquet"
    run("mine", baskets, "-s", "1", "-o", path)
    result = run("rules", path, "--target", "closed")
    assert result.code == 2
    assert "expected only --min-support and --max-len to choose from the file of itemsets" in result.err
