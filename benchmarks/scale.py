"""How itemix grows: with rows, in little memory, over files that are read again, on Dask and on Spark.

    python benchmarks/scale.py [--parts growth memory cache ...] [--output docs/benchmarks/scale.md]

Each part is measured in one run, and its figures are ratios within it. They are kept in a JSON file beside
the page, so that parts can be measured one at a time. Times are seconds of the processor: of all threads of
a process, and of all processes of an engine. There is one thread unless a line says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mining import machine
from pages import publish

import itemix
from itemix.core.transactions import row_blocks
from itemix.correction import correct
from itemix.data.synthetic import quest, random_mixture
from itemix.mining.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix import Transactions

SIZES = (100_000, 1_000_000, 10_000_000)
DRAWN_AT_ONCE = 500_000
IDLE_SECONDS = 3.0
TICKS = os.sysconf("SC_CLK_TCK")

PEAK = """
import gc, sys, threading, time
from pathlib import Path
import itemix

def private():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssAnon")))

def watch():
    while True:
        peaks.append(private())
        time.sleep(0.002)

def read(path):
    return itemix.read_transactions(path)

def mine(path):
    return itemix.mine(itemix.read_chunks(path, chunk_bytes=1 << 24), 0.005, n_jobs=1)

def mine_cached(path):
    return itemix.mine(itemix.read_chunks(path, chunk_bytes=1 << 24, cache=True), 0.005, n_jobs=1)

what, small, large = sys.argv[1:]
work = globals()[what]
work(small)
gc.collect()
before, peaks = private(), []
threading.Thread(target=watch, daemon=True).start()
found = work(large)
print(max(peaks) - before, found.indptr.nbytes + found.indices.nbytes if what == "read" else 0)
"""


def used(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of a call, and what it returns."""
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def least(function: Callable[[], Any], n_runs: int) -> float:
    """Return the least processor time of some calls."""
    return min(used(function)[0] for _ in range(n_runs))


def first(data: Transactions, n_rows: int) -> Transactions:
    """Return the first rows, without a copy."""
    return next(iter(row_blocks(data, n_rows)))


def growth() -> dict[str, Any]:
    """Mine 10^5, 10^6 and 10^7 Quest-like rows."""
    return grown("Quest-like, 1,000 items", quest(SIZES[-1]), (0.005, 0.0005))


def growth_of_a_mixture() -> dict[str, Any]:
    """Mine 10^5, 10^6 and 10^7 rows of a mixture."""
    data = drawn(random_mixture(75, 468, decay=20), SIZES[-1])
    return grown("mixture of 75 components, 468 items", data, (0.1,))


def grown(name: str, data: Transactions, supports: tuple[float, ...]) -> dict[str, Any]:
    """Mine the first rows of data, ten times as many each time."""
    rows = []
    for support in supports:
        itemix.mine(first(data, 20_000), max(support, 0.005), n_jobs=1)
        seconds, n_found = [], []
        for size, n_runs in zip(SIZES, (5, 2, 1), strict=True):
            own = first(data, size)
            runs = [used(partial(itemix.mine, own, support, n_jobs=1)) for _ in range(n_runs)]
            n_found.append(len(runs[0][1]))
            seconds.append(min(run[0] for run in runs))
            print(name, support, size, n_found[-1], seconds[-1], flush=True)
        rows.append({"data": name, "support": support, "seconds": seconds, "found": n_found})
    return {"rows": rows}


def drawn(model: Any, n: int) -> Transactions:  # noqa: ANN401 - a mixture
    """Draw many transactions, some at a time."""
    starts = range(0, n, DRAWN_AT_ONCE)
    return itemix.Transactions.concatenate(
        [model.sample(min(DRAWN_AT_ONCE, n - start), random_state=start) for start in starts]
    )


def memory() -> dict[str, Any]:
    """Read Parquet, and mine it in chunks of 16 MiB: the peak of private memory, of new processes."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        small, most = quest(20_000), quest(4_000_000)
        kinds = ("lists", "lists, four times as many", "long, rows together", "long, rows spread")
        for kind in kinds:
            large = most if "four" in kind else first(most, 1_000_000)
            for name, data in (("small", small), ("large", large)):
                path = Path(folder) / f"{name}.parquet"
                if "lists" in kind:
                    itemix.write_transactions(data, path)
                else:
                    long = pa.table({"transaction": rows_of(data), "item": data.indices})
                    long = long if "together" in kind else long.take(shuffled(long.num_rows))
                    parquet.write_table(long, path)
            for what in ("read", "mine", "mine_cached"):
                if (what == "mine" and kind == "long, rows spread") or (what == "read" and "four" in kind):
                    continue
                ran = subprocess.run(
                    [sys.executable, "-c", PEAK, what, f"{folder}/small.parquet", f"{folder}/large.parquet"],
                    env={**os.environ, "ITEMIX_COMPILE": "now"},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                peak, size = map(int, ran.stdout.split())
                size = size or large.indptr.nbytes + large.indices.nbytes
                rows.append({"kind": kind, "what": what, "peak": peak, "size": size})
                print(kind, what, peak / size, flush=True)
    return {"rows": rows}


def rows_of(data: Transactions) -> Any:  # noqa: ANN401 - an array
    """Return the number of each item's transaction."""
    import numpy as np

    return np.repeat(np.arange(data.n_rows), data.lengths())


def shuffled(n: int) -> Any:  # noqa: ANN401 - an array
    """Return numbers in random order."""
    import numpy as np

    return np.random.default_rng(0).permutation(n)


def cache() -> dict[str, Any]:
    """Work on a Parquet file of 300,000 rows in chunks, with a cache and without."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = quest(300_000)
        path = Path(folder) / "baskets.parquet"
        data = data.rename_items([f"item number {n}" for n in data.items])
        itemix.write_transactions(data, path)
        model = itemix.BernoulliMixture(10, init="random", max_iter=20, random_state=0, n_jobs=1)
        model.fit(first(data, 20_000))

        def batches(chunks: Any) -> Any:  # noqa: ANN401 - chunks
            own = itemix.BernoulliMixture(10, init="random", max_iter=2, random_state=0, n_jobs=1)
            for chunk in chunks:
                own.partial_fit(chunk)
            return own

        works: dict[str, Callable[[Any], Any]] = {
            "`mine` at 0.5%": lambda chunks: itemix.mine(chunks, 0.005, n_jobs=1),
            "`verify` at 0.5%": lambda chunks: verify(model, chunks, 0.005, n_jobs=1),
            "`partial_fit`, one loop": batches,
            "a correction by pairs": lambda chunks: correct(model.mixture_, chunks, 2),
            "`fit` by EM, ten iterations": lambda chunks: itemix.BernoulliMixture(
                10, init="random", max_iter=10, tol=0, random_state=0, n_jobs=1
            ).fit(chunks),
        }
        size = 1 << 21
        small = itemix.read_chunks(path, chunk_bytes=size)
        read = partial(itemix.read_chunks, path, chunk_bytes=size)
        making = [used(partial(read, cache=on_disk)) for on_disk in (False, True)]
        rows.append({"work": "the first reading", "without": making[0][0], "with": making[1][0]})
        cached = making[1][1]
        for name, work in works.items():
            times = [least(partial(work, chunks), 2) for chunks in (small, cached)]
            rows.append({"work": name, "without": times[0], "with": times[1]})
            print(name, times, flush=True)
    return {"rows": rows}


def engines() -> dict[str, Any]:
    """Mine and fit 10^6 rows: as they are, as one part, and by two processes of Dask against two threads."""
    import distributed

    LocalCluster: Any = distributed.LocalCluster
    Client: Any = distributed.Client
    data = quest(1_000_000)
    size = -(-data.n_rows // 8)
    found: dict[str, Any] = {}
    one = itemix.partitions([data])
    works: dict[str, Callable[[Any], Any]] = {
        "mine at 0.5%": lambda source: itemix.mine(source, 0.005, n_jobs=n_jobs),
        "mine at 0.05%": lambda source: itemix.mine(source, 0.0005, n_jobs=n_jobs),
        "fit by EM, 10 components, 5 iterations": lambda source: itemix.BernoulliMixture(
            10, init="random", max_iter=5, tol=0, random_state=0, n_jobs=n_jobs
        ).fit(source),
    }
    warnings.simplefilter("ignore")
    n_jobs = 1
    for name, work in works.items():
        for source in (first(data, 50_000), itemix.partitions([first(data, 50_000)])):
            work(source)
        pairs = [[used(partial(work, source))[0] for source in (data, one)] for _ in range(2)]
        found[name] = {"none": min(pair[0] for pair in pairs), "one": min(pair[1] for pair in pairs)}
    n_jobs = 2
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        for number, block in enumerate(row_blocks(data, size)):
            itemix.write_transactions(block, f"{folder}/{number}.parquet")
        parts = itemix.partitions(f"{folder}/*.parquet", client=client)

        def everywhere() -> float:
            return time.process_time() + float(sum(client.run(time.process_time).values()))

        began = everywhere()
        time.sleep(IDLE_SECONDS)
        idle = (everywhere() - began) / IDLE_SECONDS
        for name, work in works.items():
            work(parts)
            best: dict[str, float] = {}
            for _ in range(2):
                for label, source in (("threads", data), ("dask", parts)):
                    wall, start = time.perf_counter(), everywhere()
                    work(source)
                    spent = {label: everywhere() - start, f"{label} wall": time.perf_counter() - wall}
                    best |= {key: min(best.get(key, value), value) for key, value in spent.items()}
            found[name] |= best | {"idle": idle * best["dask wall"]}
            print(name, found[name], flush=True)
    return {"rows": found}


def spark() -> dict[str, Any]:
    """Mine 10^5 and 10^6 rows by Spark's FPGrowth, with the best of some numbers of partitions, and by us."""
    from pyspark.ml.fpm import FPGrowth
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    gateway: Any = session.sparkContext._gateway  # noqa: SLF001 - Spark has no other way to say it
    java = gateway.proc.pid
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES[:2]:
            data = quest(size)
            path = f"{folder}/{size}.parquet"
            itemix.write_transactions(data, path)
            frame = session.read.parquet(path).repartition(4).cache()
            frame.count()
            for support in (0.01,):
                itemix.mine(first(data, 20_000), support)
                ours, found = used(partial(itemix.mine, data, support, n_jobs=2))
                theirs = []
                for n_parts in (2, 8):
                    start, wall = ticks_of(java), time.perf_counter()
                    n = FPGrowth(itemsCol="items", minSupport=support, numPartitions=n_parts).fit(frame)
                    n_found = n.freqItemsets.count()
                    theirs.append(((ticks_of(java) - start) / TICKS, time.perf_counter() - wall, n_parts))
                    print(size, support, ours, len(found), n_found, theirs[-1], flush=True)
                    if n_found != len(found):
                        sys.exit(f"expected {len(found):,} itemsets of FPGrowth, got {n_found:,}")
                best = min(theirs)
                rows.append(
                    {
                        "size": size, "support": support, "found": len(found), "ours": ours,
                        "spark": best[0], "wall": best[1], "parts": best[2],
                    }
                )  # fmt: skip
            frame.unpersist()
    session.stop()
    return {"rows": rows}


def ticks_of(pid: int) -> int:
    """Return the processor time of a process and of all that it has ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def page(found: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    lines = [
        "# Growth: rows, memory, engines", "",
        "Measured by `benchmarks/scale.py`, each part in one run; times are seconds of the processor.",
        "[When data outgrows the machine](../guides/beyond-memory.md) says how to use what is measured.", "",
    ]  # fmt: skip
    for name, render in RENDER.items():
        if name in found:
            own = found[name]
            lines += [*render(own["rows"]), "", f"Machine: {own['machine']}; {own['load']}.", ""]
    return "\n".join(lines)


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table in Markdown."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def show_growth(rows: Any) -> list[str]:  # noqa: ANN401 - of JSON
    """Show how time grows with rows."""
    body = []
    for row in rows:
        times = [f"{seconds:.3g}" for seconds in row["seconds"]]
        a, b, c = row["seconds"]
        cells = [row["data"], f"{100 * row['support']:.4g}%", f"{row['found'][2]:,}", *times]
        body.append([*cells, f"{b / a:.1f}", f"{c / b:.1f}"])
    head = [
        "data", "support", "itemsets at 10^7", "10^5 rows", "10^6", "10^7", "10^6 / 10^5", "10^7 / 10^6",
    ]  # fmt: skip
    title, said = "## Mining grows with the rows", ["One thread; the aim is a factor of at most 12."]
    if len(rows) == 1:
        title = "### A mixture"
        said = [
            "Dense: each frequent item is a row of bits over all transactions. From 10^6 on these do not fit",
            "into the processor's own caches, and time grows faster than the rows.",
        ]
    return [title, "", *said, "", *table(head, body)]


def show_memory(rows: Any) -> list[str]:  # noqa: ANN401 - of JSON
    """Show peaks of memory."""
    said = {
        "read": "`read_transactions`",
        "mine": "`mine(read_chunks(...))`",
        "mine_cached": "the same with `cache=True`",
    }
    body = [
        [row["kind"], said[row["what"]], f"{row['peak'] / 2**20:,.0f}", f"{row['peak'] / row['size']:.2f}"]
        for row in rows
    ]
    return [
        "## Memory", "",
        "The peak of private memory above what the process had, for Parquet of 1,000,000 Quest-like baskets",
        f"({rows[0]['size'] / 2**20:,.0f} MB as transactions), and of 4,000,000. Chunks are of 16 MiB, mined",
        "at 0.5%. What is mapped of a file or a cache does not count: the system may take it back.", "",
        *table(["file", "work", "MB", "share of the transactions"], body),
    ]  # fmt: skip


def show_cache(rows: Any) -> list[str]:  # noqa: ANN401 - of JSON
    """Show what a cache gains."""
    body = [
        [row["work"], f"{row['without']:.2f}", f"{row['with']:.2f}", f"{row['without'] / row['with']:.1f}"]
        for row in rows
    ]
    return [
        "## A cache", "",
        "Parquet of 300,000 Quest-like baskets with names, in chunks of 2 MiB, one thread.", "",
        *table(["work", "decoded anew", "`cache=True`", "ratio"], body),
    ]  # fmt: skip


def show_engines(rows: Any) -> list[str]:  # noqa: ANN401 - of JSON
    """Show the overhead of parts, and of Dask."""
    body = [
        [
            name, f"{row['none']:.2f}", f"{row['one'] / row['none']:.2f}", f"{row['threads']:.2f}",
            f"{row['dask'] / row['threads']:.2f}", f"{row['dask wall'] / row['threads wall']:.2f}",
        ]
        for name, row in rows.items()
    ]  # fmt: skip
    idle = max(row["idle"] / row["dask wall"] for row in rows.values())
    head = [
        "work on 10^6 rows", "one thread", "one part / none", "two threads", "Dask / threads, processor",
        "Dask / threads, clock",
    ]  # fmt: skip
    return [
        "## Parts and Dask", "",
        "One part against none, in one thread; two processes of Dask with eight parts against two threads.",
        f"An idle cluster takes {idle:.2f} seconds of the processor each second, also while a busy machine",
        "lets it wait; that is in the ratios.",
        "",
        *table(head, body),
    ]  # fmt: skip


def show_spark(rows: Any) -> list[str]:  # noqa: ANN401 - of JSON
    """Show Spark's FPGrowth."""
    body = [
        [
            f"{row['size']:,}", f"{100 * row['support']:.4g}%", f"{row['found']:,}", f"{row['ours']:.2f}",
            f"{row['spark']:.1f}", f"{row['wall']:.1f}", str(row["parts"]),
            f"{row['spark'] / row['ours']:,.0f}",
        ]
        for row in rows
    ]  # fmt: skip
    head = [
        "rows", "support", "itemsets", "itemix, two threads", "FPGrowth", "by the clock", "its partitions",
        "ratio",
    ]  # fmt: skip
    return [
        "## Spark's FPGrowth", "",
        "On the same machine and data: `local[2]`, 6 GB, Kryo, a cached frame, the better of 2 and 8",
        "partitions.",
        "Quest-like baskets; both find the same number of itemsets.", "",
        *table(head, body),
    ]  # fmt: skip


PARTS = {
    "growth": growth, "mixture": growth_of_a_mixture, "memory": memory, "cache": cache, "engines": engines,
    "spark": spark,
}  # fmt: skip
RENDER = {
    "growth": show_growth, "mixture": show_growth, "memory": show_memory, "cache": show_cache,
    "engines": show_engines, "spark": show_spark,
}  # fmt: skip


def main() -> None:
    """Measure the parts that are asked for, and write the page of all that were measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    kept = None if arguments.output is None else arguments.output.with_suffix(".json")
    found = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    for part in arguments.parts:
        before = os.getloadavg()[0]
        measured = PARTS[part]()
        load = f"load {before:.0f} when it began, {os.getloadavg()[0]:.0f} when it ended"
        found[part] = {**measured, "machine": machine(), "load": load}
        if kept is not None:
            kept.write_text(json.dumps(found, indent=1) + "\n")
    publish(page(found), arguments.output)


if __name__ == "__main__":
    main()
