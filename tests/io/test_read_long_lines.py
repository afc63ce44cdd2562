"""A line of many megabytes takes at most twenty times its size in memory."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

MEGABYTES = 6
MOST = 20
N = MEGABYTES * 1_000_000

NAMES = [f"n{i}" for i in range(5000)]
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
    "one-hot.csv": ",".join(f"item {i}" for i in range(N // 24)) + "\n" + ",".join("01" * (N // 48)),
}
PROGRAM = """
    import itemix, sys

    def peak():
        status = open("/proc/self/status").read()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    itemix.read_transactions(sys.argv[1] + ".small")
    before = peak()
    print(itemix.read_transactions(sys.argv[1]).n_transactions, peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc for the memory")
@pytest.mark.parametrize("name", LINES)
def test_memory_of_a_long_line(tmp_path, name):
    """All text formats read one line of some megabytes in a few times its size."""
    path = tmp_path / name
    line = LINES[name]
    path.write_text(line + "\n")
    small = {"dat": "1 2\n", "jsonl": "[1]\n", "csv": "a,b\n"}[path.suffix[1:]]
    (tmp_path / f"{name}.small").write_text(small)
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    n_transactions, n_bytes = map(int, done.stdout.split())
    assert n_transactions == 1
    assert n_bytes <= MOST * path.stat().st_size
