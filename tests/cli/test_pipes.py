"""Commands that read from pipes, FIFOs and standard input answer as they do for the file."""

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import itemix
from itemix.cli import main

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")

N_ROWS = 20_000
HELD_OPEN_S = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write data that is far longer than any buffer, names of its items, a model, itemsets and rules of it."""
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


def fed(path, fifo):
    """Write a file into a FIFO, as another process would."""

    def write():
        with Path(fifo).open("wb") as pipe, path.open("rb") as file:
            pipe.write(file.read())

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return writer


def answer(arguments, **options):
    """Run the program and return its output, its code and its notes."""
    command = [sys.executable, "-m", "itemix", *map(str, arguments)]
    done = subprocess.run(  # noqa: S603 - our own program
        command, capture_output=True, check=False, timeout=HELD_OPEN_S, **options
    )
    return done.stdout.decode(), done.returncode, done.stderr.decode()


def by_name(arguments, _, **__):
    """Name the file."""
    return answer(arguments)


def by_fifo(arguments, streamed, *, tmp_path):
    """Name a FIFO into which the file is written."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    fed(streamed, fifo)
    return answer([fifo if argument == streamed else argument for argument in arguments])


def by_handle(arguments, streamed, *, tmp_path):  # noqa: ARG001 - as the others
    """Name an open pipe, as <(cat file) does."""
    with subprocess.Popen(["cat", streamed], stdout=subprocess.PIPE) as cat:  # noqa: S607 - the usual one
        handle = cat.stdout.fileno()
        name = f"/dev/fd/{handle}"
        return answer([name if a == streamed else a for a in arguments], pass_fds=[handle])


def by_standard_input(arguments, streamed, *, tmp_path, name="-"):  # noqa: ARG001 - as the others
    """Name standard input, and write the file there through a pipe."""
    with subprocess.Popen(["cat", streamed], stdout=subprocess.PIPE) as cat:  # noqa: S607 - the usual one
        return answer([name if a == streamed else a for a in arguments], stdin=cat.stdout)


def by_its_device(arguments, streamed, *, tmp_path):
    """Name /dev/stdin, and write the file there through a pipe."""
    return by_standard_input(arguments, streamed, tmp_path=tmp_path, name="/dev/stdin")


WAYS = (by_fifo, by_handle, by_standard_input, by_its_device)

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


def parsed(line, folder):
    """Return the arguments of a line, with files by their paths, and the file that is streamed."""
    streamed = None
    arguments = []
    for word in line.split():
        name = word.removeprefix("*")
        arguments.append(folder / name if "." in name and (folder / name).exists() else word)
        if word.startswith("*"):
            streamed = folder / name
    return arguments, streamed


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("line", COMMANDS.values(), ids=list(COMMANDS))
def test_a_pipe_is_as_good_as_a_file(folder, tmp_path, line, way):
    """Every command, in every argument, gives the same answer for a file and for a stream of its bytes."""
    arguments, streamed = parsed(line, folder)
    # The same file may stand in two places; only the last of them is streamed.
    if arguments.count(streamed) > 1:
        copy = tmp_path / streamed.name
        copy.write_bytes(streamed.read_bytes())
        last = len(arguments) - 1 - arguments[::-1].index(streamed)
        arguments[last] = streamed = copy
    expected = by_name(arguments, streamed)
    got = way(arguments, streamed, tmp_path=tmp_path)
    assert expected[1] == 0, expected
    assert got[:2] == expected[:2], got
    n_rows = f"{N_ROWS:,} transactions"
    assert got[2].count(n_rows) == expected[2].count(n_rows)
