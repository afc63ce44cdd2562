"""The library's messages in the words of the command line."""

import pytest

from itemix.cli.options import in_options


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("try min_support=0.01", "try --min-support 0.01"),
        ("expected min_support or top_k, got neither", "expected --min-support or --top-k, got neither"),
        (
            "max_len=, target='closed' or 'maximal', or top_k=",
            "--max-len, --target closed or maximal, or --top-k",
        ),
        ("at most max_itemsets=1,000 itemsets", "at most --max-itemsets 1,000 itemsets"),
        ("got transaction 'item'; name it with item=", "got transaction 'item'; name it with --item"),
        ("a long format with names and a target", "a long format with names and a target"),
        ("or set support_only=True", "or set --support-only"),
        ("try encoding='utf-16'", "try --encoding utf-16"),
        ("n_jobs as a number", "--threads as a number"),
        ("got 'min_support_x=3'", "got 'min_support_x=3'"),
        ("expected alpha above 0, got -1.0; the default", "expected --alpha above 0, got -1.0; the default"),
        ("expected tol of zero or more", "expected --tol of zero or more"),
        ("expected names without blanks", "expected names without blanks"),
    ],
)
def test_arguments_become_options(message, expected):
    """Arguments that are named become options; plain words stay as they are."""
    assert in_options(message) == expected


def test_memory_that_ends_while_reading(run, baskets, monkeypatch):
    """Where memory ends, the line names what helps for reading, which is no higher support."""
    from itemix.io import read

    def without_memory(*_):
        raise MemoryError

    monkeypatch.setattr(read, "recognise", without_memory)
    refused = run("mine", baskets, "-s", "1")
    assert refused.code == 2
    assert refused.err == (
        "itemix: expected enough memory, got none left; try a part of the file, or mine a model with "
        "--verify, which reads in chunks\n"
    )
