"""Read a 100 MB FIMI file with `read_transactions`, and with the plain Python loop that it should outrun.

Run it with ``python benchmarks/read_fimi.py [MEGABYTES]``. The file is made in a temporary folder: baskets of
about 10 of 16,000 items, popularity falling like a power of the rank, as in a real store.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from itemix.data.readers import read_transactions

REPEATS = 15
N_ITEMS = 16_000
MEAN_LENGTH = 10
ROWS_AT_A_TIME = 20_000

PEAK = """
import resource, sys
from pathlib import Path
from itemix.data.readers import read_transactions
page = resource.getpagesize()
read_transactions(Path(sys.argv[1]).with_name("small.dat"))
before = int(Path("/proc/self/statm").read_text().split()[1]) * page / 2**20
tx = read_transactions(sys.argv[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
print(peak - before, (tx.indptr.nbytes + tx.indices.nbytes) / 2**20)
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


def seconds(function: object, *args: object) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    function(*args)  # type: ignore[operator]
    return time.perf_counter() - start


def main() -> None:
    """Time both in turns, and print the best of each, their ratio, and the peak of memory."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baskets.dat"
        make_file(path, megabytes)
        path.with_name("small.dat").write_text("1 2\n2\n")
        read_transactions(path)
        times = [(seconds(plain_loop, path), seconds(read_transactions, path)) for _ in range(REPEATS)]
        plain, ours = (float(np.median(column)) for column in zip(*times, strict=True))
        best_plain, best_ours = (min(column) for column in zip(*times, strict=True))
        print(f"file                {path.stat().st_size / 1e6:.0f} MB, {read_transactions(path)}")
        print(f"for line: split()   {plain:.3f} s median, {best_plain:.3f} s best")
        print(f"read_transactions   {ours:.3f} s median, {best_ours:.3f} s best")
        print(f"ratio               {plain / ours:.1f} median, {best_plain / best_ours:.1f} best")
        command = [sys.executable, "-c", PEAK, str(path)]
        peak, result = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        print(
            f"peak memory         {float(peak):.0f} MiB above the start; the result has {float(result):.0f}"
        )


if __name__ == "__main__":
    main()
