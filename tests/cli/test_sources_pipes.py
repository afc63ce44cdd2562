"""Commands that read from pipes, FIFOs and standard input answer as they do for the file."""

import gzip
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager, nullcontext

import pytest

import itemix
from itemix.cli import main

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")

N_ROWS = 20_000
WAIT_S = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write data longer than any buffer, the names of its items, and a model, itemsets and rules of it."""
    folder = tmp_path_factory.mktemp("pipes")
    rows = [f"{t % 7} {7 + t % 5} {12 + t % 3}" for t in range(N_ROWS)]
    (folder / "data.dat").write_text("\n".join(rows) + "\n")
    (folder / "names.csv").write_text("code,name\n" + "".join(f"{i},item {i}\n" for i in range(15)))
    data = itemix.read_transactions(folder / "data.dat")
    itemix.write_transactions(data, folder / "data.parquet")
    itemix.write_transactions(data, folder / "data.jsonl")
    itemix.write_transactions(data, folder / "long.csv", format="long")
    itemix.write_transactions(data, folder / "onehot.csv", format="onehot")
    (folder / "data.dat.gz").write_bytes(gzip.compress((folder / "data.dat").read_bytes()))
    fit = ["fit", f"{folder}/data.dat", "--method", "vfbm", "-K", "3", "--seed", "0", "--max-iter", "5"]
    assert main([*fit, "-q", "-o", f"{folder}/model.itemix"]) == 0
    found = itemix.mine(data, 0.001)
    for ending in ("csv", "jsonl", "parquet", "csv.gz", "jsonl.gz"):
        found.save(folder / f"itemsets.{ending}")
        itemix.rules(found, min_threshold=0.1).save(folder / f"rules.{ending}")
    return folder


def feed(file, pipe):
    """Write a file into a pipe, as another process would."""

    def write():
        with open(pipe, "wb") as stream:  # noqa: PTH123 - a path or a handle
            stream.write(file.read_bytes())

    threading.Thread(target=write, daemon=True).start()


@contextmanager
def fifo(file, folder):
    """Yield the path of a FIFO into which a file is written."""
    path = folder / "fifo"
    os.mkfifo(path)
    feed(file, path)
    yield path


@contextmanager
def handle(file, _):
    """Yield the name of an open pipe, as <(cat file) gives one."""
    reading, writing = os.pipe()
    feed(file, writing)
    yield f"/dev/fd/{reading}"
    os.close(reading)


@contextmanager
def standard_input(file, _, name="-"):
    """Yield a name of standard input, into which a file is written through a pipe."""
    reading, writing = os.pipe()
    feed(file, writing)
    usual = sys.stdin
    with os.fdopen(reading) as sys.stdin:
        yield name
    sys.stdin = usual


def device(file, folder):
    """Yield the name of standard input as a device."""
    return standard_input(file, folder, "/dev/stdin")


WAYS = (fifo, handle, standard_input, device)

COMMANDS = {
    "mine data": "mine *data.dat -s 0.0001",
    "mine gzip": "mine *data.dat.gz -s 0.0001",
    "mine parquet": "mine *data.parquet -s 0.0001",
    "mine jsonl": "mine *data.jsonl -s 0.0001",
    "mine long": "mine *long.csv -s 0.0001",
    "mine onehot": "mine *onehot.csv -s 0.0001",
    "mine names": "mine data.dat -s 0.0001 --names *names.csv",
    "mine model": "mine *model.itemix -s 0.01",
    "mine verify": "mine model.itemix -s 0.01 --verify *data.dat",
    "mine verified model": "mine *model.itemix -s 0.01 --verify data.dat",
    "rules data": "rules *data.dat -s 0.0001 --min-threshold 0.1",
    "rules model": "rules *model.itemix -s 0.01 --min-threshold 0.1",
    "rules csv": "rules *itemsets.csv --min-threshold 0.1",
    "rules parquet": "rules *itemsets.parquet --min-threshold 0.1",
    "rules jsonl": "rules *itemsets.jsonl.gz --min-threshold 0.1",
    "rules data of itemsets": "rules itemsets.csv --data *data.dat --min-threshold 0.1",
    "query data": "query *data.dat 1 --given 7",
    "query model": "query *model.itemix 1 --given 7",
    "recommend data": "recommend *data.dat 1",
    "recommend model": "recommend *model.itemix 1",
    "recommend rules": "recommend *rules.csv.gz 1",
    "recommend baskets": "recommend model.itemix --baskets *data.dat -n 1",
    "evaluate model": "evaluate *model.itemix data.dat -s 0.01",
    "evaluate itemsets": "evaluate *itemsets.parquet data.dat -s 0.01",
    "evaluate test": "evaluate model.itemix *data.dat -s 0.01",
    "evaluate train": "evaluate model.itemix data.dat -s 0.01 --train *data.dat",
    "evaluate names": "evaluate data.dat data.dat -s 0.01 --train data.dat --names *names.csv",
    "show model": "show *model.itemix",
    "show rules": "show *rules.jsonl",
}


# Streams of a whole process, for one line of each command: all others are read by the same code.
IN_A_PROCESS = ["mine data", "rules csv", "query model", "recommend rules", "evaluate train", "show rules"]


def parsed(line, folder):
    """Return the arguments of a line, files by their paths, and the place of the one that is streamed."""
    words = line.split()
    place = next(k for k, word in enumerate(words) if word.startswith("*"))
    names = [word.removeprefix("*") for word in words]
    return [folder / name if (folder / name).is_file() else name for name in names], place


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("line", COMMANDS.values(), ids=list(COMMANDS))
def test_a_stream_is_as_good_as_a_file(run, folder, tmp_path, line, way):
    """Every command, in every argument, gives the same answer for a file and for a stream of its bytes."""
    arguments, place = parsed(line, folder)
    expected = run(*arguments)
    with way(arguments[place], tmp_path) as stream:
        got = run(*arguments[:place], stream, *arguments[place + 1 :])
    assert expected.code == 0
    assert got[:2] == expected[:2], got.err
    n_rows = f"{N_ROWS:,} transactions"
    assert got.err.count(n_rows) == expected.err.count(n_rows)


@pytest.mark.parametrize("name", IN_A_PROCESS)
def test_the_program_reads_process_substitution(run, folder, name):
    """In a shell, <(cat file) and cat file | are as good as the file."""
    arguments, place = parsed(COMMANDS[name], folder)
    expected = run(*arguments)
    with subprocess.Popen(["cat", arguments[place]], stdout=subprocess.PIPE) as cat:  # noqa: S603, S607
        number = cat.stdout.fileno()
        arguments[place] = f"/dev/fd/{number}"
        command = [sys.executable, "-m", "itemix", *map(str, arguments)]
        options = {"capture_output": True, "text": True, "timeout": WAIT_S, "pass_fds": [number]}
        done = subprocess.run(command, check=False, **options)  # noqa: S603 - our own program
    assert (done.returncode, done.stdout) == expected[:2], done.stderr


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("line", ["mine data", "mine model"])
def test_the_program_reads_standard_input(run, folder, line, name):
    """Whatever a pipe brings to standard input is read whole."""
    arguments, place = parsed(COMMANDS[line], folder)
    expected = run(*arguments)
    with subprocess.Popen(["cat", arguments[place]], stdout=subprocess.PIPE) as cat:  # noqa: S603, S607
        arguments[place] = name
        command = [sys.executable, "-m", "itemix", *map(str, arguments)]
        options = {"capture_output": True, "text": True, "timeout": WAIT_S, "stdin": cat.stdout}
        done = subprocess.run(command, check=False, **options)  # noqa: S603 - our own program
    assert (done.returncode, done.stdout) == expected[:2], done.stderr


@pytest.mark.parametrize(
    ("streamed", "way"), [(("*data.dat", "*model.itemix")[place % 2], way) for place, way in enumerate(WAYS)]
)
def test_reports_are_made_of_streams(run, folder, tmp_path, streamed, way):
    """`itemix report` reads transactions, a model, and data to compare it with."""
    file, data = folder / streamed.removeprefix("*"), folder / "data.dat"
    fitting = ["--method", "vfbm", "-K", "2", "--max-iter", "2", "--seed", "0"] if file == data else []
    with way(file, tmp_path) as stream:
        made = run("report", stream, "-o", tmp_path / "a.html", *fitting)
    assert made.code == 0, made.err
    with way(data, tmp_path / "..") if way is not fifo else nullcontext(data) as stream:
        made = run("report", folder / "model.itemix", "--data", stream, "-o", tmp_path / "a.html")
    assert made.code == 0, made.err
    assert f"{N_ROWS:,} transactions" in made.err


@pytest.mark.parametrize("way", WAYS)
def test_models_are_fitted_to_streams(run, folder, tmp_path, way):
    """`itemix fit` learns the same model from a file and from a stream."""
    options = ["--method", "vfbm", "-K", "2", "--max-iter", "2", "--seed", "0", "-o"]
    with way(folder / "data.dat", tmp_path) as stream:
        assert run("fit", stream, *options, tmp_path / "piped.itemix").code == 0
    assert run("fit", folder / "data.dat", *options, tmp_path / "named.itemix").code == 0
    assert (tmp_path / "piped.itemix").read_bytes() == (tmp_path / "named.itemix").read_bytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", ["serve", "explore"])
def test_models_are_served_from_streams(run, folder, tmp_path, monkeypatch, command, way):
    """`itemix serve` and `itemix explore` take a model from a stream, and explore its data too."""
    server = pytest.importorskip("itemix.web.server")
    served = []
    monkeypatch.setattr(server, "serve", lambda app, *_: served.append(app))
    options = ["--port", "0", *(["--no-browser"] if command == "explore" else [])]
    with way(folder / "model.itemix", tmp_path) as stream:
        result = run(command, stream, *options)
    assert result.code == 0, result.err
    assert len(served) == 1
    if command == "explore" and way is not fifo:
        with way(folder / "data.dat", tmp_path) as stream:
            result = run(command, folder / "model.itemix", "--data", stream, *options)
        assert result.code == 0, result.err
        assert f"{N_ROWS:,} transactions" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "-", "-", "-s", "0.1"],
        ["evaluate", "-", "/dev/stdin", "-s", "0.1"],
        ["evaluate", "data.csv", "-", "-s", "0.1", "--train", "/dev/fd/0"],
        ["mine", "-", "-s", "0.1", "--verify", "-"],
        ["mine", "-", "-s", "0.1", "--names", "-"],
        ["rules", "-", "--data", "-"],
        ["query", "/dev/stdin", "1", "--names", "-"],
        ["recommend", "-", "--baskets", "/dev/stdin"],
        ["report", "-", "--data", "-", "-o", "x.html"],
        ["explore", "-", "--data", "-", "--port", "0"],
        ["serve", "-", "-", "--port", "0"],
        ["fit", "-", "--names", "-", "-o", "x.itemix"],
    ],
    ids=" ".join,
)
def test_one_stream_is_not_two(arguments, tmp_path):
    """The second reading of a stream would find nothing: one line says so, before anything is read."""
    command = [sys.executable, "-m", "itemix", *arguments]
    options = {"capture_output": True, "text": True, "timeout": WAIT_S, "cwd": tmp_path, "input": "1 2\n"}
    done = subprocess.run(command, check=False, **options)  # noqa: S603 - our own program
    assert done.returncode == 2
    assert re.fullmatch(
        r"itemix: expected each stream once, as it can be read only once, got (standard input|'/dev/fd/0') a "
        r"second time; save it as a file first\n",
        done.stderr,
    )


def test_a_fifo_is_not_two(run, tmp_path):
    """A FIFO that is named twice is refused, where it would wait for ever."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    assert "got '" + str(path) + "' a second time" in run("evaluate", path, path, "-s", "0.1").err


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_results_in_a_stream_are_no_transactions(run, folder, tmp_path, ending):
    """A stream of itemsets is recognised as such, and refused where transactions are needed."""
    with handle(folder / f"itemsets.{ending}", tmp_path) as stream:
        refused = run("mine", stream, "-s", "0.1")
    assert refused.code == 2
    assert f"got '{stream}', which holds itemsets" in refused.err
