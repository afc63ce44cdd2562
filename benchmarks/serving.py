"""How many questions a second `itemix serve` answers on one core.

    python benchmarks/serving.py [--requests N] [--output docs/benchmarks/serving.md]

The load comes from wrk (`apt-get install wrk`), on the loopback address and, where there are two, from
another core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import numpy as np
from mining import machine

import itemix

if TYPE_CHECKING:
    from collections.abc import Iterator

N_COMPONENTS = 75
N_REQUESTS = 100_000
N_CONNECTIONS = 8

LUA = """
local paths = {}
for line in io.lines(os.getenv("ITEMIX_PATHS")) do paths[#paths + 1] = line end
local next_path = 0
request = function()
  next_path = next_path % #paths + 1
  return wrk.format("GET", paths[next_path])
end
done = function(summary, latency, requests)
  local e = summary.errors
  local shape = '{"requests": %d, "seconds": %f, "refused": %d, "failed": %d, "p50": %f, "p99": %f}'
  io.write("RESULT ", string.format(shape,
    summary.requests, summary.duration / 1e6, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
"""


class Load(NamedTuple):
    """What wrk has measured, latencies in milliseconds; `cpu` is the seconds that the server has worked."""

    requests: int
    seconds: float
    refused: int
    failed: int
    p50: float
    p99: float
    cpu: float = 0.0


def cores() -> tuple[set[int], set[int]]:
    """Return one core for the server, and another one for the load where there is one."""
    available = sorted(os.sched_getaffinity(0))
    return {available[0]}, {available[-1]}


@contextmanager
def running(command: str, *arguments: str, on: set[int] | None = None) -> Iterator[tuple[str, int]]:
    """Start the program, on some cores, and yield the address that it prints and its process number."""
    line = [sys.executable, "-m", "itemix", command, *arguments, "--port", "0"]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    if on is not None:
        os.sched_setaffinity(process.pid, on)
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    try:
        said = ""
        while not (found := re.search(r"http://\S+:\d+/", said)):
            said = process.stderr.readline()
            if not said:
                sys.exit("the server did not start")
        yield found[0], process.pid
    finally:
        process.terminate()
        process.communicate()


def questions(model: itemix.BayesianMixture, n: int, **more: float) -> list[str]:
    """Return addresses that ask for the itemsets of a model, of one to four items."""
    found = itemix.mine(model, top_k=20 * n)
    chosen = found.take(np.random.default_rng(0).permutation(len(found))[:n])
    return [f"/query?{urlencode({'present': names, **more}, doseq=True)}" for names in chosen.sets]


def cpu_seconds(pid: int) -> float:
    """Return how long a process has worked so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(address: str, pid: int, paths: list[str], n_requests: int) -> Load:
    """Let wrk ask until there are as many requests as wanted."""
    with tempfile.TemporaryDirectory() as folder:
        script, listed = Path(folder) / "load.lua", Path(folder) / "paths"
        script.write_text(LUA)
        listed.write_text("\n".join(paths))
        environment = {**os.environ, "ITEMIX_PATHS": str(listed)}

        def run(seconds: int) -> Load:
            line = ["wrk", "-t1", f"-c{N_CONNECTIONS}", f"-d{seconds}s", "-s", str(script), address]
            with_cores = ["taskset", "-c", ",".join(map(str, cores()[1])), *line]
            said = subprocess.run(with_cores, env=environment, capture_output=True, text=True, check=True)
            return Load(**json.loads(said.stdout.partition("RESULT ")[2]))

        warm = run(3)
        before = cpu_seconds(pid)
        found = run(int(1.4 * n_requests * warm.seconds / warm.requests) + 1)
        return found._replace(cpu=cpu_seconds(pid) - before)


def measure_server(n_requests: int) -> list[tuple[str, Load]]:
    """Measure plain probabilities, and those with their intervals."""
    data = itemix.datasets.load("grocery_store")
    model = itemix.BayesianMixture(n_components=N_COMPONENTS, random_state=0).fit(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.itemix"
        model.save(path)
        with running("serve", str(path), on=cores()[0]) as server:
            return [
                ("probability", load(*server, questions(model, 2000), n_requests)),
                ("with 90% interval", load(*server, questions(model, 2000, level=0.9), n_requests // 5)),
            ]


def as_markdown(loads: list[tuple[str, Load]]) -> str:
    """Write the table."""
    lines = [
        "# Serving: questions a second",
        "",
        f"Measured by `benchmarks/serving.py` on {machine()}.",
        f"The server is one process on one core; wrk asks on {N_CONNECTIONS} connections from another core",
        f"of the same machine, for itemsets of a Bayesian mixture of {N_COMPONENTS} components, a different",
        "one each time. Refused are answers that are not 2xx, failed are connections that broke and answers",
        "that did not come. A CPU second is one in which the server had its core for itself.",
        "",
        "| question | requests | a second | a CPU second | p50 | p99 | refused | failed |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, one in loads:
        speeds = f"{one.requests / one.seconds:,.0f} | {one.requests / one.cpu:,.0f}"
        times = f"{one.p50:.1f} ms | {one.p99:.1f} ms"
        lines.append(f"| {name} | {one.requests:,} | {speeds} | {times} | {one.refused} | {one.failed} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=N_REQUESTS, help="how many questions to ask")
    parser.add_argument("--output", help="where to write the table")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("expected wrk, which makes the load, got none; try apt-get install wrk")
    written = as_markdown(measure_server(arguments.requests))
    print(written)
    if arguments.output:
        Path(arguments.output).write_text(written)


if __name__ == "__main__":
    main()
