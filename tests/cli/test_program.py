"""The program as a whole, in processes of its own: start, pipes, terminals, signals."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from terminals import run_on_terminal

import itemix

HEAVY = ("numpy", "numba", "pandas", "pyarrow", "scipy", "sklearn", "rich")


def modules_of(*arguments):
    """Return the modules that are imported when the program has run with some arguments."""
    script = (
        "import sys, json\n"
        "from itemix.cli import main\n"
        f"code = main({list(map(str, arguments))!r})\n"
        "sys.stderr.write(json.dumps([code, sorted(sys.modules)]))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    return set(modules), done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["mine", "--help"], ["--version"], ["datasets", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    """Help and version come at once, since neither NumPy nor Numba nor rich is imported for them."""
    modules, out = modules_of(*arguments)
    assert modules.isdisjoint(HEAVY)
    assert "itemix" in out


def test_mining_imports_only_what_it_needs(baskets):
    """Mining a CSV file into a pipe needs no data frames, no Arrow, no scikit-learn and no rich."""
    modules, out = modules_of("mine", baskets, "-s", "2", "-q")
    assert "numpy" in modules
    unneeded = {"pandas", "pyarrow", "sklearn", "narwhals", "rich", "pooch", "requests", "scipy.linalg"}
    assert modules.isdisjoint(unneeded)
    assert out.startswith("support\tcount\titemset\n")


def test_small_jobs_need_no_compiler(baskets, monkeypatch, tmp_path):
    """With nothing compiled a small file is read, mined and made rules of, and Numba is not even imported."""
    compiled = modules_of("mine", baskets, "-s", "2")[1]
    monkeypatch.setenv("ITEMIX_COMPILE", "later")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "empty"))
    numbers, onehot = tmp_path / "numbers.dat", tmp_path / "onehot.csv"
    numbers.write_text("1 2 3\n2 1\n")
    onehot.write_text("milk,bread,beer\n1,0,1\n1,1,0\n")
    for command, file in (("mine", baskets), ("rules", baskets), ("mine", numbers), ("mine", onehot)):
        modules, out = modules_of(command, file, "-s", "2")
        assert modules.isdisjoint({"numba", "llvmlite"})
        assert (command, file) != ("mine", baskets) or out == compiled
    assert not list(tmp_path.glob("empty/*"))


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_writing_needs_no_pandas(ending, baskets, tmp_path):
    """Arrow writes files of itemsets by itself."""
    modules, _ = modules_of("mine", baskets, "-s", "2", "-q", "-o", tmp_path / f"itemsets.{ending}")
    assert "pyarrow" in modules
    assert modules.isdisjoint({"pandas", "sklearn", "narwhals"})


def test_questions_to_a_model_need_no_scikit_learn(baskets, run, tmp_path):
    """A saved model is mined, shown and asked without the packages that only fitting needs."""
    path = tmp_path / "m.itemix"
    run("fit", baskets, "--method", "vfbm", "-K", "2", "--seed", "0", "-o", path)
    modules, out = modules_of("query", path, "milk", "--given", "bread", "-q")
    assert modules.isdisjoint({"pandas", "pyarrow", "sklearn", "narwhals", "rich", "pooch", "requests"})
    assert out.startswith("probability\tlower\tupper\t")


def test_the_module_and_the_command_are_the_same(start):
    """`python -m itemix` calls itself itemix and knows its version."""
    with start("--version", stdout=subprocess.PIPE) as process:
        assert process.communicate()[0] == f"itemix {itemix.__version__}\n"
    with start("mine", stderr=subprocess.PIPE) as process:
        assert process.communicate()[1] == "itemix: expected SOURCE, got none; see itemix mine --help\n"
    assert process.returncode == 2


def test_standard_input_is_a_source(start, baskets):
    """- reads transactions from standard input, and says what they were taken for."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start("mine", "-", "-s", "80%", **pipes) as process:
        out, err = process.communicate(baskets.read_text())
    assert out == "support\tcount\titemset\n0.8\t4\tbread\n0.8\t4\tmilk\n"
    assert err.splitlines()[0] == "standard input (basket CSV): 5 transactions, 5 items"


def test_a_reader_that_goes_away_ends_it_quietly(start, tmp_path):
    """`itemix mine ... | head -1` writes no error, whenever the pipe breaks."""
    path = tmp_path / "dense.dat"
    path.write_text((" ".join(map(str, range(16))) + "\n") * 3)
    with start("mine", path, "-s", "1", "-q", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == "support\tcount\titemset\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nobody_reads_a_short_result(start, baskets, unbuffered):
    """A result that fits into Python's buffer ends as quietly, when that is written at last."""
    reading, writing = os.pipe()
    os.close(reading)
    options = {"stdout": writing, "stderr": subprocess.PIPE, "env": {"PYTHONUNBUFFERED": unbuffered}}
    with start("mine", baskets, "-s", "1", "-q", **options) as process:
        os.close(writing)
        assert process.communicate()[1] == ""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks into /proc to know when to interrupt")
@pytest.mark.parametrize("later", [0, 0.02, 0.05, 0.1, 0.4])
def test_ctrl_c_is_one_line(start, later):
    """Ctrl-C ends the program with one line and code 130, also while it is still importing what it needs."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start("mine", "-", "-s", "1", **pipes) as process:
        wait_for_numpy(process.pid)
        time.sleep(later)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "itemix: interrupted\n")


def wait_for_numpy(pid):
    """Wait until a process has loaded NumPy's library: `main` runs then, and has not read anything yet."""
    maps = Path(f"/proc/{pid}/maps")
    for _ in range(600):
        if "_multiarray_umath" in maps.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the program did not start in 30 s")


def command(*arguments):
    """Return the command line of the program."""
    return [sys.executable, "-m", "itemix", *map(str, arguments)]


def test_a_terminal_gets_a_table(baskets):
    """On a terminal the result is drawn with colours, and the rest of the rows is counted."""
    code, shown = run_on_terminal(command("mine", baskets, "-s", "1", "-n", "2"))
    assert code == 0
    assert "\x1b[" in shown
    assert "━━━" in shown
    assert "{bread}" in shown
    assert "... 11 more: --limit 0 shows all, -o FILE writes them" in shown
    assert "\t" not in shown
    assert "mined in" in shown


def test_a_narrow_terminal_gets_no_bars(run, baskets, monkeypatch):
    """Names are worth more than bars where there is no room for both."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    for columns, has_bars in (("100", True), ("50", False)):
        monkeypatch.setenv("COLUMNS", columns)
        shown = run("mine", baskets, "-s", "1", "-n", "2", "-q").out
        assert ("━" in shown) == has_bars
        assert "{bread}" in shown


def test_a_very_narrow_terminal_gets_names_below_numbers(run, baskets, monkeypatch):
    """Where there is no room beside the numbers, names have lines of their own and are not torn apart."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    shown = run("rules", baskets, "-s", "2", "--min-threshold", "1", "-q").out
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()]
    assert lines[:2] == [" support  confidence   lift  count", "   rule"]
    assert lines[2:] == ["  0.4000       1.000  1.250      2", "   {butter} -> {bread}"]


def test_nothing_on_a_terminal_is_said(run, baskets, monkeypatch):
    """An empty table would look like a mistake."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run("mine", baskets, "-s", "5", "-q").out.split() == ["none"]


def test_quiet_on_a_terminal(baskets):
    """With --quiet there are neither notes nor bars, also on a terminal."""
    options = {"streams": ["stderr"], "stdout": subprocess.DEVNULL}
    assert run_on_terminal(command("mine", baskets, "-s", "1", "--quiet"), **options) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["mine", "{baskets}", "-s", "1", "-q"]])
def test_a_full_disk_is_one_line(start, baskets, arguments):
    """Where standard output has no room, one line says so."""
    filled = [argument.format(baskets=baskets) for argument in arguments]
    with Path("/dev/full").open("w") as full, start(*filled, stdout=full, stderr=subprocess.PIPE) as process:
        err = process.communicate()[1]
    assert process.returncode == 2
    assert (
        err == "itemix: expected to write to standard output, got No space left on device; make room there\n"
    )


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "err"),
    [
        (
            ["mine", "-", "-s", "1"],
            "<&-",
            2,
            "itemix: expected standard input to read, got a closed one; name a file",
        ),
        (["--version"], ">&-", 0, ""),
        (["mine"], "2>&-", 2, ""),
    ],
)
def test_closed_streams(arguments, closed, code, err):
    """A stream that a shell has closed is no reason for a traceback."""
    line = f"{shlex.join(command(*arguments))} {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)  # noqa: S602 - our program
    assert (done.returncode, done.stderr.strip()) == (code, err)


@pytest.mark.parametrize(("encoding", "color"), [("cp1252", ""), ("ascii", "1")])
def test_names_that_the_output_cannot_hold(start, tmp_path, encoding, color):
    """Where the encoding of the output has no place for a name, its characters are escaped."""
    path = tmp_path / "pictures.csv"
    path.write_text("\N{RED APPLE},\N{GREEN APPLE}\n\N{RED APPLE},\N{GREEN APPLE}\n", encoding="utf-8")
    environment = {"PYTHONIOENCODING": encoding, "FORCE_COLOR": color}
    program = start("mine", path, "-s", "1", stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    out, err = program.communicate(timeout=60)
    assert program.returncode == 0, err
    assert r"\U0001f34e, \U0001f34f" in out
    assert r"\u2501" not in out  # bars


def test_help_names_arguments_and_sections(run):
    """The usage names what is typed, and not its type; options come in sections."""
    out = run("recommend", "--help").out
    assert out.startswith("Usage: itemix recommend [OPTIONS] SOURCE [ITEM...]\n")
    assert "\n  SOURCE   A model that itemix fit has saved;" in out
    assert "\nWhat to recommend:\n" in out
    assert "<" not in out
