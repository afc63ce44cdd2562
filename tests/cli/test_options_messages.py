"""The library's messages in the words of the command line."""

import importlib
import shlex
import subprocess
import sys

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


READING = "try a part of the file, shorter lines, or mine a model with --verify, which reads in chunks"
SEARCHING = "try a higher --min-support, or --max-len"


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        ("itemix.io.read", "recognise", READING),
        ("itemix.mining.mine", "as_transactions", SEARCHING),
        ("itemix.cli.mine", "show_itemsets", "try a part of the transactions, or leave out rare items"),
    ],
)
def test_what_helps_where_memory_ends(run, baskets, monkeypatch, module, name, advice):
    """The line names what helps for what was being done: a higher support is no help for reading."""

    def without_memory(*_, **__):
        raise MemoryError

    monkeypatch.setattr(importlib.import_module(module), name, without_memory)
    refused = run("mine", baskets, "-s", "1")
    assert refused.code == 2
    assert refused.err.endswith(f"itemix: expected enough memory, got none left; {advice}\n")


@pytest.mark.parametrize(
    "error",
    [
        ImportError("libarrow.so: failed to map segment from shared object"),
        OSError("libllvmlite.so: cannot allocate memory in static TLS block"),
        RuntimeError("can't start new thread"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_libraries_that_find_no_room(run, baskets, monkeypatch, error):
    """Where the memory is too little to load a library, one line says so, not a traceback."""

    def load(*_):
        raise RuntimeError("a library could not be loaded") from error

    monkeypatch.setattr("itemix.io.read.recognise", load)
    refused = run("mine", baskets, "-s", "1")
    assert refused.code == 2
    assert refused.err == (
        "itemix: expected enough memory to load the libraries, got too little; close other programs\n"
    )


def test_other_errors_of_libraries_stay_what_they_are(run, baskets, monkeypatch):
    """A library that is broken is no lack of memory."""

    def load(*_):
        raise ImportError("libarrow.so: wrong ELF class")

    monkeypatch.setattr("itemix.io.read.recognise", load)
    with pytest.raises(ImportError, match="wrong ELF"):
        run("mine", baskets, "-s", "1")


@pytest.mark.skipif(sys.platform != "linux", reason="sets a limit of addresses")
@pytest.mark.parametrize("megabytes", [400, 640])
def test_a_limit_of_addresses_is_named(baskets, megabytes):
    """Where ulimit -v leaves too little, the program ends with one line that names the limit, or is done."""
    command = (
        f"ulimit -v {megabytes * 1024}; exec {shlex.quote(sys.executable)} -m itemix mine {baskets} -s 1"
    )
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert done.returncode in (0, 2), done.stderr
    if done.returncode == 2:
        assert done.stderr.splitlines()[-1].endswith("raise the limit of this process (ulimit -v)")
        assert "Traceback" not in done.stderr
