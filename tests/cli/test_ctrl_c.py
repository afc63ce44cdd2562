"""Ctrl-C at any moment of a command: code 130, one line, within a second, and no file half written."""

import random
import signal
import subprocess
import sys
import time

import pytest

from itemix import Transactions, load, write_transactions

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")

N_MOMENTS = 12
# Python itself shows a traceback while it starts, before any code of a program runs.
PYTHON_STARTS_S = 0.15
LONGEST_S = 1.0


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Make transactions that take a command a while."""
    rng = random.Random(0)  # noqa: S311 - no secret
    rows = [rng.sample(range(60), rng.randint(3, 14)) for _ in range(40_000)]
    path = tmp_path_factory.mktemp("data") / "d.dat"
    write_transactions(Transactions.from_lists(rows), path)
    return path


def commands(data, folder):
    """Return commands with what they write."""
    return {
        "mine": ["mine", data, "-s", "0.005", "-o", folder / "out.csv"],
        "rules": ["rules", data, "-s", "0.02", "-o", folder / "out.csv"],
        "fit": ["fit", data, "-o", folder / "out.itemix", "--method", "vfbm", "--max-iter", "1000"],
        "--help": ["--help"],
    }


def started(arguments):
    """Start the program."""
    command = [sys.executable, "-m", "itemix", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603


@pytest.mark.parametrize("name", ["mine", "rules", "fit", "--help"])
def test_at_random_moments(name, data, tmp_path):
    """A command ends as interrupted, or it was done; a fit that has something to keep has kept it."""
    arguments = commands(data, tmp_path)[name]
    for _ in range(2):  # the first may have to compile
        began = time.perf_counter()
        with started(arguments) as process:
            process.communicate()
        whole = time.perf_counter() - began
    rng = random.Random(1)  # noqa: S311 - as above
    for _ in range(N_MOMENTS):
        for file in tmp_path.iterdir():
            file.unlink()
        moment = rng.uniform(PYTHON_STARTS_S, max(whole, 2 * PYTHON_STARTS_S))
        with started(arguments) as process:
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            began = time.perf_counter()
            out, err = process.communicate(timeout=30)
            took = time.perf_counter() - began
        told = f"{moment:.3f} s: {process.returncode} after {took:.2f} s, {err}"
        assert took < LONGEST_S, told
        assert process.returncode in (0, 130, -signal.SIGINT), told
        assert "Traceback" not in err, told
        assert "Exception ignored" not in err, told
        if process.returncode == 130:
            assert (out, err.splitlines()[-1:]) == (out, ["itemix: interrupted"]), told
            assert list(tmp_path.iterdir()) == [], told
        elif name == "fit" and process.returncode == 0:
            assert load(tmp_path / "out.itemix").mixture_.n_components > 0, told


def test_a_fit_keeps_what_it_has(data, tmp_path):
    """After the first iterations Ctrl-C ends the fit, and the model is saved."""
    path = tmp_path / "m.itemix"
    endless = ["fit", data, "-o", path, "--method", "nbm", "--tol", "0", "--max-iter", "1000000"]
    with started(endless) as process:
        time.sleep(6)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "was interrupted; the best state so far is kept" in err
    assert load(path).n_components_ == 10
