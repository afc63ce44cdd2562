"""A line of many megabytes, or a column of distinct names, takes at most twenty times its size in memory."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

MEGABYTES = 6
MOST = 20
N = MEGABYTES * 1_000_000

NAMES = [f"n{i}" for i in range(5000)]
DISTINCT = [f"name{i}" for i in range(900_000)]
LINES = {
    "one digit.dat": "1 " * (N // 2),
    "numbers.dat": " ".join(str(i % 9999) for i in range(N // 5)),
    "large numbers.dat": " ".join(str(10**12 + i % 999) for i in range(N // 14)),
    "blanks.dat": "1" + " " * N,
    "one letter.csv": "a," * (N // 2),
    "names.csv": ",".join(NAMES * (N // 30_000)),
    "quoted names.csv": ",".join(f'"{name}, x"' for name in NAMES * (N // 50_000)),
    "one digit.jsonl": f"[{','.join(['1'] * (N // 2))}]",
    "names.jsonl": '["' + '","'.join(NAMES * (N // 40_000)) + '"]',
    "distinct names.csv": ",".join(DISTINCT),
    "distinct names.jsonl": '["' + '","'.join(DISTINCT) + '"]',
    "distinct names, long.csv": "id,item\n1," + "\n1,".join(DISTINCT),
    "one-hot.csv": ",".join(f"item {i}" for i in range(N // 24)) + "\n" + ",".join("01" * (N // 48)),
}
SMALL = {".dat": "1 2\n", ".jsonl": "[1]\n", ".csv": "id,item\n1,a\n"}
# A file is read by a child of its own, which has imported everything and read nothing before.
PROGRAM = """
    import os, sys
    import itemix.io.read
    import pyarrow.csv

    def peak():
        status = open("/proc/self/status").read()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    for path in sys.argv[1:]:
        if os.fork():
            os.wait()
            continue
        itemix.read_transactions(path + ".small")
        before = peak()
        print(itemix.read_transactions(path).n_transactions, peak() - before, sep=",", flush=True)
        os._exit(0)
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return the number of transactions of each file, the memory that reading it took, and its size."""
    folder = tmp_path_factory.mktemp("lines")
    paths = [folder / name for name in LINES]
    for path, line in zip(paths, LINES.values(), strict=True):
        path.write_text(line + "\n")
        (folder / f"{path.name}.small").write_text(SMALL[path.suffix])
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    rows = [tuple(map(int, row.split(","))) for row in done.stdout.split()]
    return {path.name: (*row, path.stat().st_size) for path, row in zip(paths, rows, strict=True)}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc for the memory")
@pytest.mark.parametrize("name", LINES)
def test_memory_of_a_long_line(measured, name):
    """All text formats read some megabytes in a few times their size."""
    n_transactions, n_bytes, size = measured[name]
    assert n_transactions == 1
    assert n_bytes <= MOST * size
