"""`itemix explore`: from a model or from data to a page, and to an end with Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

import itemix


@pytest.fixture
def model_file(tmp_path):
    """A small model in a file."""
    path = tmp_path / "small.itemix"
    itemix.Mixture([0.5, 0.5], [[0.9, 0.8], [0.1, 0.2]], ["bread", "milk"]).save(path)
    return path


@contextmanager
def running(start, *arguments, env=None, presses=1):
    """Start the program, yield what it said until it was ready, and end it with Ctrl-C."""
    process = start(*arguments, "--port", "0", stderr=subprocess.PIPE, env=env or {})
    said = []
    try:
        for line in process.stderr:
            said.append(line)
            if "Ctrl-C ends it" in line:
                break
        yield "".join(said)
    finally:
        for _ in range(presses):
            process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[1]
        assert (process.returncode, rest) == (0, ""), "".join(said)


def get(said, path):
    """Ask the server whose address was said."""
    address = re.search(r"http://[\d.]+:\d+/", said)[0]
    with urllib.request.urlopen(address + path) as response:  # noqa: S310 - of this machine
        return json.load(response)


def test_a_model_is_explored(start, model_file, tmp_path):
    """The page is served on this machine and opened in the browser; Ctrl-C is the usual end."""
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}.part && mv {seen}.part {seen}\n')
    browser.chmod(0o755)
    with running(start, "explore", model_file, env={"BROWSER": str(browser)}) as said:
        assert "explore small at http://127.0.0.1:" in said
        assert get(said, "model")["n_items"] == 2
        assert get(said, "query?present=bread")["probability"] == pytest.approx(0.5)
        for _ in range(1000):
            if seen.exists():
                break
            get(said, "health")
        assert seen.read_text().strip() in said


def test_data_is_fitted_first(start, baskets, tmp_path):
    """Of a file of transactions a model is made, and saved where asked; the data stands beside it."""
    kept = tmp_path / "kept.itemix"
    options = ("--no-browser", "--method", "nbm", "-K", "2", "--correction", "none", "-o", kept)
    with running(start, "explore", baskets, *options, presses=2) as said:
        assert "nbm: 2 components" in said
        assert get(said, "model")["n_transactions"] == 5
        assert get(said, "query?present=bread")["data"] == {"probability": 0.8, "count": 4, "of": 5}
    assert itemix.load(kept).n_components_ == 2


def test_other_data_is_tested(start, tmp_path):
    """Data that the model has not seen is read beside the data; items that it does not know are left out."""
    truth = itemix.Mixture([0.5, 0.5], [[0.9, 0.8], [0.1, 0.2]], ["bread", "milk"])
    train = tmp_path / "train.parquet"
    itemix.write_transactions(truth.sample(200, random_state=0), train)
    test = tmp_path / "test.csv"
    test.write_text("bread,milk,tea\n" * 30 + "bread,milk\n" * 30)
    fit = ("--method", "vfbm", "-K", "2", "--correction", "none", "--no-browser")
    with running(start, "explore", train, "--test", test, *fit) as said:
        assert "test.csv" in said
        about = get(said, "model")
        assert (about["n_transactions"], about["n_test"]) == (200, 60)
        answer = get(said, "surprises?min_support=0.1")
        assert [(row["items"], row["count"]) for row in answer["surprises"]] == [(["bread", "milk"], 60)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "nbm"), "expected options of fitting only with transactions, got them with the model"),
        (("-o", "x.itemix"), "expected options of fitting only with transactions"),
        (("--port", "99999"), "expected a free port of this machine, got 127.0.0.1:99999"),
        (("--data", "missing.csv"), "missing.csv"),
        (("--test", "missing.csv"), "missing.csv"),
    ],
)
def test_bad_options_are_refused(run, model_file, options, message):
    """One line, before anything is served."""
    result = run("explore", model_file, "--no-browser", *options)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1


def test_a_missing_extra_is_named():
    """Without the packages of the web, the message says what to install."""
    program = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['itemix'];"
        "from itemix.cli import main; sys.exit(main(['explore', 'x.itemix']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 2
    assert "got no uvicorn; try python -m pip install 'itemix[web]'" in done.stderr
