"""Ctrl-C at any moment of a command: code 130, one line, within a second, and no file half written."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from itemix import Transactions, load, write_transactions

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="looks into /proc to know when the program runs"
)

N_MOMENTS = 5
LONGEST_S = 1.0


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Make transactions that take a command a while."""
    rng = random.Random(0)  # noqa: S311 - no secret
    rows = [rng.sample(range(60), rng.randint(3, 14)) for _ in range(6_000)]
    path = tmp_path_factory.mktemp("data") / "d.dat"
    write_transactions(Transactions.from_lists(rows), path)
    return path


def commands(data, folder):
    """Return commands with what they write."""
    return {
        "mine": ["mine", data, "-s", "0.005", "-o", folder / "out.csv"],
        "rules": ["rules", data, "-s", "0.02", "-o", folder / "out.csv"],
        "fit": ["fit", data, "-o", folder / "out.itemix", "--method", "vfbm", "--correction", "none"],
        "--help": ["--help"],
    }


def started(arguments):
    """Start the program, and return it when it waits for signals: until then, Python itself answers them."""
    command = [sys.executable, "-m", "itemix", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None and "Threads:\t1\n" in status.read_text():
        time.sleep(0.001)
    return process


def seconds_of(arguments):
    """Return how long a command runs when nobody interrupts it."""
    began = time.perf_counter()
    with started(arguments) as process:
        process.communicate()
    return time.perf_counter() - began


@pytest.mark.parametrize("name", ["mine", "rules", "fit", "--help"])
def test_at_random_moments(name, data, tmp_path):
    """A command ends as interrupted, or it was done; a fit that has something to keep has kept it."""
    arguments = commands(data, tmp_path)[name]
    whole = seconds_of(arguments)
    rng = random.Random(1)  # noqa: S311 - as above
    for _ in range(N_MOMENTS):
        for file in tmp_path.iterdir():
            file.unlink()
        moment = rng.uniform(0, whole)
        with started(arguments) as process:
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            began = time.perf_counter()
            _, err = process.communicate(timeout=60)
            took = time.perf_counter() - began
        told = f"{moment:.3f} s: {process.returncode} after {took:.2f} s, {err}"
        assert took < LONGEST_S, told
        assert process.returncode in (0, 130, -signal.SIGINT), told
        assert "Traceback" not in err, told
        assert "Exception ignored" not in err, told
        if process.returncode == 130:
            # While Python still imports the program, it ends without a word.
            assert err == "" or err.endswith("itemix: interrupted\n"), told
            assert list(tmp_path.iterdir()) == [], told
        elif name == "fit" and process.returncode == 0:
            assert load(tmp_path / "out.itemix").mixture_.n_components > 0, told


def test_a_fit_keeps_what_it_has(data, tmp_path):
    """After the first iterations Ctrl-C ends the fit, or the correction after it, and the model is saved."""
    path = tmp_path / "m.itemix"
    endless = ["fit", data, "-o", path, "--method", "nbm", "--tol", "0", "--starts", "1000000"]
    for wait in (2, 6, 18, 54):
        with started(endless) as process:
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            began = time.perf_counter()
            _, err = process.communicate(timeout=60)
            took = time.perf_counter() - began
        if process.returncode == 0:
            break
        assert process.returncode == 130  # it had nothing to keep yet
        assert err.endswith("itemix: interrupted\n")
    assert (
        "was interrupted; the best state so far is kept" in err or "was interrupted; the model is kept" in err
    )
    assert took < LONGEST_S
    assert load(path).n_components_ == 10
