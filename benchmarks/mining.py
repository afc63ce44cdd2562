"""Exact mining against the miners that a Python user can install today, in one run, as ratios.

Every measurement is a process of its own, one after the other: the tool's natural input is made first
(lists of lists for pyfim, a one-hot data frame for rusket and mlxtend, `Transactions` for itemix), then the
tool is warmed up and timed to its natural result. Memory is the peak of resident memory while mining, less
what was resident just before, with input, libraries and compiled kernels in place. The tools take turns, a
few times over where they are quick, and the least of a tool's medians counts: what else the machine does
meanwhile should not fall on one of them.

    python benchmarks/mining.py --data FOLDER [--output docs/benchmarks/mining.md] [--quick]
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import itemix

os.environ.setdefault("ITEMIX_COMPILE", "now")  # what is measured is the compiled code

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

N_RUNS = 7
N_RUNS_OF_QUICK_ONES = 101
SECONDS_OF_QUICK_ONES = 0.5
N_TURNS = 3
SECONDS_OF_ONE_TURN = 0.5
SECONDS_PER_TOOL = 60


class Workload(NamedTuple):
    """A data set, a threshold in percent, and how much faster than the fastest peer we want to be."""

    name: str
    path: str
    percent: float
    wanted: dict[str, float]


DENSE, SPARSE = {"all": 4.0, "closed": 2.0, "maximal": 2.0}, {"all": 2.0, "closed": 1.0, "maximal": 1.0}
WORKLOADS = [
    Workload("mushroom 20%", "mushroom/mushroom.dat", 20, DENSE),
    Workload("mushroom 10%", "mushroom/mushroom.dat", 10, DENSE),
    Workload("chess 50%", "chess/chess.dat", 50, DENSE),
    Workload("accidents_17009 30%", "accidents/accidents_17009.dat", 30, DENSE),
    Workload("retail 0.1%", "retail/retail.dat.gz", 0.1, SPARSE),
    Workload("T10I4D100K 0.1%", "t10i4d100k/T10I4D100K.dat.gz", 0.1, SPARSE),
]
COLUMNS = (
    "workload", "target", "itemsets", "itemix, 1 thread", "all threads", "fastest peer", "ratio, 1 thread",
    "ratio, all", "wanted", "memory: itemix", "pyfim",
)  # fmt: skip
TARGETS = ("all", "closed", "maximal")
# The tools that answer each target: rusket and mlxtend mine all sets.
PEERS = {
    "all": ("pyfim eclat", "pyfim fpgrowth", "pyfim relim", "rusket fpgrowth", "mlxtend fpgrowth"),
    "closed": ("pyfim eclat", "pyfim fpgrowth", "pyfim relim"),
    "maximal": ("pyfim eclat", "pyfim fpgrowth", "pyfim relim"),
}


def read_lists(path: Path) -> list[list[int]]:
    """Read a FIMI file into lists of integers."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [[int(item) for item in line.split()] for line in content.splitlines()]


def prepare(tool: str, workload: Workload, target: str, n_threads: int, folder: Path) -> Callable[[], Any]:
    """Make the tool's natural input, use the tool once on little data, and return the call to measure."""
    path = folder / workload.path
    package, _, function = tool.partition(" ")
    fraction = workload.percent / 100
    if package == "itemix":
        tx = itemix.read_transactions(path)
        for density in (0.02, 0.5):
            small = np.random.default_rng(0).random((300, 60)) < density
            itemix.mine(small, 2 if density < 0.1 else 120, target=target, n_jobs=n_threads)
        return lambda: itemix.mine(tx, fraction, target=target, n_jobs=n_threads)
    if package == "pyfim":
        import fim

        lists, letter = read_lists(path), {"all": "s", "closed": "c", "maximal": "m"}[target]
        return lambda: getattr(fim, function)(lists, target=letter, supp=workload.percent, report="a")
    tx = itemix.read_transactions(path)
    frame: Any = tx.to_dataframe()
    if tx.n_items < 1000:
        frame = frame.sparse.to_dense()
    frame.columns = frame.columns.astype(str)
    if package == "rusket":
        import rusket

        rusket.fpgrowth(frame.head(200), min_support=0.9)
        return lambda: rusket.fpgrowth(frame, min_support=fraction)
    from mlxtend import frequent_patterns

    call = getattr(frequent_patterns, function)
    call(frame.head(200), min_support=0.9, use_colnames=True)
    return lambda: call(frame, min_support=fraction, use_colnames=True)


def resident(field: str) -> int:
    """Return a memory figure of this process in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(field)))


def work(tool: str, workload: Workload, target: str, n_threads: int, folder: Path) -> dict[str, Any]:
    """Measure one tool on one workload, in this process."""
    call = prepare(tool, workload, target, n_threads, folder)
    gc.collect()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    start = time.perf_counter()
    result = call()
    first = time.perf_counter() - start
    peak = resident("VmHWM") - before
    n_found = len(result)
    del result
    # Searches of a few milliseconds are repeated until they have gone on for a while.
    wanted = min(max(N_RUNS, int(SECONDS_OF_QUICK_ONES / first)), N_RUNS_OF_QUICK_ONES)
    n_runs = max(1, min(wanted, int(SECONDS_PER_TOOL / 2 / first)))
    times = []
    for _ in range(n_runs):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        del result
    return {"seconds": statistics.median(times), "n_runs": n_runs, "n_found": n_found, "peak_bytes": peak}


def measure(tool: str, number: int, target: str, n_threads: int, folder: Path) -> dict[str, Any] | None:
    """Measure in a fresh process; None if it took too long."""
    environment = os.environ | {"RAYON_NUM_THREADS": str(n_threads), "OMP_NUM_THREADS": str(n_threads)}
    worker = ["--worker", tool, str(number), target, str(n_threads)]
    command = [sys.executable, __file__, "--data", str(folder), *worker]
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=4 * SECONDS_PER_TOOL,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(f"{tool} on {WORKLOADS[number].name}: {done.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measure_in_turns(
    tools: Sequence[tuple[str, int]], number: int, target: str, folder: Path
) -> dict[tuple[str, int], dict[str, Any] | None]:
    """Measure tools, each with its number of threads, in turns; slow ones once."""
    best = {tool: measure(tool[0], number, target, tool[1], folder) for tool in tools}
    quick = [tool for tool, found in best.items() if found and found["seconds"] < SECONDS_OF_ONE_TURN]
    for _ in range(N_TURNS - 1):
        for tool in quick:
            again = measure(tool[0], number, target, tool[1], folder)
            before = best[tool]
            if again and before and again["seconds"] < before["seconds"]:
                best[tool] = before | {"seconds": again["seconds"]}
    return best


def machine() -> str:
    """Describe this machine for the table's caption."""
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.processor(),
    )
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def run(folder: Path, *, quick: bool) -> dict[str, Any]:
    """Measure everything and print it as it comes."""
    rows = []
    n_all = os.cpu_count() or 1
    for number, workload in enumerate(WORKLOADS):
        for target in TARGETS if not quick else ("all",):
            peers = [(tool, n) for tool in PEERS[target] for n in ((1, n_all) if "rusket" in tool else (1,))]
            tools = [("itemix", 1), ("itemix", n_all), *peers]
            measured = measure_in_turns(tools, number, target, folder)
            for (tool, n_threads), found in measured.items():
                row = {"workload": workload.name, "target": target, "tool": tool, "threads": n_threads}
                rows.append(row | (found or {"seconds": None, "peak_bytes": None, "n_found": None}))
                shown = "over the limit" if found is None else f"{1e3 * found['seconds']:9.1f} ms"
                memory = (
                    ""
                    if found is None
                    else f"{found['peak_bytes'] / 2**20:8.1f} MiB  {found['n_found']:,} sets"
                )
                print(f"{workload.name:20} {target:8} {tool:16} x{n_threads}  {shown}  {memory}", flush=True)
    return {"machine": machine(), "rows": rows}


def as_markdown(results: dict[str, Any]) -> str:
    """Make the page that the documentation includes."""
    lines = [
        "# Exact mining: speed and memory",
        "",
        f"Measured by `benchmarks/mining.py` on {results['machine']}. Times are from each tool's natural",
        "input to its natural result, medians of at least seven runs, the least of three such medians taken",
        "in turns where it is below half a second; memory is the peak while mining above what was there",
        "before.",
        "*Ratio* is the fastest peer's time divided by ours: one thread against one thread, all threads",
        "against all (pyfim and mlxtend have only one).",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|---|---|---:|---:|---:|---|---:|---:|---:|---:|---:|",
    ]
    for workload in WORKLOADS:
        for target in TARGETS:
            rows = [r for r in results["rows"] if (r["workload"], r["target"]) == (workload.name, target)]
            if rows:
                lines.append(_line(workload, target, [row for row in rows if row["seconds"] is not None]))
    return "\n".join([*lines, "", *_all_times(results)])


def _line(workload: Workload, target: str, rows: list[dict[str, Any]]) -> str:
    ours = {row["threads"]: row for row in rows if row["tool"] == "itemix"}
    one, many = ours[1], ours[max(ours)]
    peers = [row for row in rows if row["tool"] != "itemix"]
    single = min((row for row in peers if row["threads"] == 1), key=lambda row: row["seconds"])
    best = min(peers, key=lambda row: row["seconds"])
    pyfim = min(row["peak_bytes"] for row in peers if "pyfim" in row["tool"])
    cells = [
        workload.name,
        target,
        f"{one['n_found']:,}",
        f"{1e3 * one['seconds']:.1f} ms",
        f"{1e3 * many['seconds']:.1f} ms",
        f"{best['tool']} {1e3 * best['seconds']:.0f} ms",
        f"{single['seconds'] / one['seconds']:.1f}",
        f"{best['seconds'] / many['seconds']:.1f}",
        f"{workload.wanted[target]:g}",
        f"{max(one['peak_bytes'], many['peak_bytes']) / 2**20:.1f} MiB",
        f"{pyfim / 2**20:.1f} MiB",
    ]
    return "| " + " | ".join(cells) + " |"


def _all_times(results: dict[str, Any]) -> list[str]:
    lines = [
        "## Every measurement",
        "",
        "| workload | target | tool | threads | time | memory |",
        "|---|---|---|---:|---:|---:|",
    ]
    for row in results["rows"]:
        slow = row["seconds"] is None
        seconds = f"over {4 * SECONDS_PER_TOOL} s" if slow else f"{1e3 * row['seconds']:.1f} ms"
        memory = "" if slow else f"{row['peak_bytes'] / 2**20:.1f} MiB"
        cells = row["workload"], row["target"], row["tool"], str(row["threads"]), seconds, memory
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def main() -> None:
    """Run the benchmark, or one measurement of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ITEMIX_DATA"), help="folder of the data sets"
    )
    parser.add_argument(
        "--output", type=Path, help="write the table to this Markdown file, the figures beside it"
    )
    parser.add_argument("--quick", action="store_true", help="only target 'all'")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("expected the folder of the data sets: --data FOLDER, or set ITEMIX_DATA")
    if arguments.worker:
        tool, number, target, n_threads = arguments.worker
        print(json.dumps(work(tool, WORKLOADS[int(number)], target, int(n_threads), arguments.data)))
        return
    results = run(arguments.data, quick=arguments.quick)
    print(as_markdown(results))
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(as_markdown(results))
        arguments.output.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
