"""Read a 100 MB FIMI file, against the plain Python loop that we should outrun; and how quickly commands end.

python benchmarks/reading.py --data FOLDER [--megabytes 100] [--output docs/benchmarks/reading.md]

The file is made in a temporary folder: baskets of about 10 of 16,000 items, popularity falling like a power
of the rank, as in a real store.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mining import machine
from pages import page_parser, parse, publish

from itemix.io.read import read_transactions

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 15
N_ITEMS = 16_000
MEAN_LENGTH = 10
ROWS_AT_A_TIME = 20_000

# The peak of getrusage would be that of this process, from which the other one is made.
PEAK = """
import sys
from pathlib import Path
from itemix.io.read import read_transactions

def resident(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) / 1024

read_transactions(Path(sys.argv[1]).with_name("small.dat"))
before = resident("VmRSS")
tx = read_transactions(sys.argv[1])
print(resident("VmHWM") - before, (tx.indptr.nbytes + tx.indices.nbytes) / 2**20)
"""


def make_file(path: Path, megabytes: int) -> None:
    """Write random baskets until the file is large enough."""
    rng = np.random.default_rng(0)
    popularity = np.arange(1, N_ITEMS + 1) ** -0.8
    popularity /= popularity.sum()
    with path.open("w") as file:
        while file.tell() < megabytes * 1_000_000:
            lengths = np.maximum(1, rng.poisson(MEAN_LENGTH, ROWS_AT_A_TIME))
            items = rng.choice(N_ITEMS, size=lengths.sum(), p=popularity)
            for row in np.split(items, np.cumsum(lengths)[:-1]):
                file.write(" ".join(map(str, np.unique(row).tolist())) + "\n")


def plain_loop(path: Path) -> None:
    """Do what the plain Python loop does: split lines, and keep nothing."""
    with path.open() as file:
        for line in file:
            line.split()


def seconds(function: Callable[..., object], *args: object) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def measure_reading(megabytes: int) -> list[str]:
    """Time both in turns, and return the page's lines on them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baskets.dat"
        make_file(path, megabytes)
        path.with_name("small.dat").write_text("1 2\n2\n")
        tx = read_transactions(path)
        times = [(seconds(plain_loop, path), seconds(read_transactions, path)) for _ in range(REPEATS)]
        plain, ours = zip(*times, strict=True)
        command = [sys.executable, "-c", PEAK, str(path)]
        peak, result = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    rows = [
        f"| {name} | {np.median(column):.3f} s | {min(column):.3f} s |"
        for name, column in (("`for line in f: line.split()`", plain), ("`read_transactions`", ours))
    ]
    ratios = (
        f"| ratio (wanted 10) | {np.median(plain) / np.median(ours):.1f} | {min(plain) / min(ours):.1f} |"
    )
    return [
        f"A FIMI file of {megabytes} MB, {tx.n_transactions:,} transactions of {tx.n_items:,} items, in the",
        f"system's cache; {REPEATS} times each, in turns. Reading takes {float(peak):.0f} MiB of memory at",
        f"its peak, of which the result has {float(result):.0f}.",
        "",
        "| | median | best |",
        "|---|---:|---:|",
        *rows,
        ratios,
    ]


def measure_commands(folder: Path) -> list[str]:
    """Time commands from start to end, and return the page's lines on them."""
    groceries = str(folder / "groceries" / "groceries.csv")
    lines = ["| command | median | wanted |", "|---|---:|---:|"]
    for arguments, shown, wanted in (
        (["--help"], "`itemix --help`", 0.35),
        (["mine", groceries, "-s", "0.01"], "`itemix mine groceries.csv -s 0.01`", 1.5),
    ):
        command = [sys.executable, "-m", "itemix", *arguments]
        run = partial(subprocess.run, command, check=True, capture_output=True)
        run()
        times = [seconds(run) for _ in range(REPEATS)]
        lines.append(f"| {shown} | {np.median(times):.2f} s | {wanted} s |")
    return lines


def main() -> None:
    """Run the benchmark and print its page."""
    parser = page_parser("reading files, and commands from start to end")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the FIMI file")
    arguments, folder = parse(parser)
    page = [
        "# Reading, and commands from start to end",
        "",
        f"Measured by `benchmarks/reading.py` on {machine()}.",
        "",
        *measure_reading(arguments.megabytes),
        "",
        "Commands, each a process of its own, with the kernels compiled before:",
        "",
        *measure_commands(folder),
        "",
    ]
    publish("\n".join(page), arguments.output)


if __name__ == "__main__":
    main()
