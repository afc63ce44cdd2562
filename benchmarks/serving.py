"""How many questions a second `itemix serve` answers on one core, and who waits when it is attacked.

    python benchmarks/serving.py [--requests N] [--output docs/benchmarks/serving.md]

The load comes from wrk (`apt-get install wrk`), on the loopback address and, where there are two, from
another core. Attacks come from this process; the longest wait of `/health` under each is what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode
from urllib.request import urlopen

import numpy as np
from mining import machine

import itemix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

N_COMPONENTS = 75
N_REQUESTS = 100_000
N_CONNECTIONS = 8
SECONDS_OF_PEACE = 2.0

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


class Attack(NamedTuple):
    """What somebody does to the server, in a thread for each `path`, or as raw bytes; and what came of it."""

    name: str
    paths: Sequence[str] = ()
    sent: Sequence[bytes] = ()
    seconds: float = 0.0
    n_answers: int = 0
    longest_wait: float = 0.0
    memory: float = 0.0


def attacks(data: itemix.Transactions) -> list[Attack]:
    """Return what is tried."""
    names = list(data.items)

    def asked(view: str, **values: object) -> str:
        return f"/{view}?{urlencode(values, doseq=True)}"

    absent = names[-10:]
    rules = {"min_support": 0.0005, "max_right": 1, "limit": 1000, "points": 2000}
    head = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    return [
        Attack("nothing at all"),
        Attack(
            "8 `/recommend`, 5 items present and 10 absent",
            [asked("recommend", basket=names[i : i + 5], absent=absent) for i in range(8)],
        ),
        Attack(
            "8 `/query`, 80 items present and 10 absent",
            [asked("query", present=names[: 75 + i], absent=absent) for i in range(8)],
        ),
        Attack(
            "8 names with a typo, among 20,000",
            [asked("query", model="names", present=f"{i}x" * 20) for i in range(8)],
        ),
        Attack("64 `/rules`", [asked("rules", **rules, min_threshold=0.3 + i / 1000) for i in range(64)]),
        Attack("64 `/dependencies`", [asked("dependencies", limit=2000, items=names[i]) for i in range(64)]),
        Attack("a head of 100 MB", sent=[head + b"x: " + b"y" * 100_000_000]),
        Attack("400 half-sent requests", sent=[head] * 400),
    ]


def under(attack: Attack, address: str, pid: int) -> Attack:
    """Attack the server for some seconds, ask whether it is up all the time, and return who waited."""
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    waits: list[float] = []
    with ThreadPoolExecutor(64) as pool, ExitStack() as stack:
        began = time.perf_counter()
        answers = [pool.submit(ask, address + path[1:]) for path in attack.paths]
        half = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in attack.sent]
        answers += [pool.submit(send, client, sent) for client, sent in zip(half, attack.sent, strict=True)]
        while not all(answer.done() for answer in answers) or time.perf_counter() < began + SECONDS_OF_PEACE:
            asked = time.perf_counter()
            ask(f"{address}health")
            waits.append(time.perf_counter() - asked)
            time.sleep(0.005)
        seconds = time.perf_counter() - began
    memory = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return attack._replace(
        seconds=seconds,
        n_answers=sum(answer.result() for answer in answers),
        longest_wait=max(waits),
        memory=0.0 if memory is None else int(memory[1]) / 1024,
    )


def ask(address: str) -> bool:
    """Ask a question; return whether there was an answer rather than a refusal."""
    try:
        with urlopen(address, timeout=60) as response:  # noqa: S310 - of this machine
            response.read()
    except OSError:
        return False
    return True


def send(client: socket.socket, sent: bytes) -> bool:
    """Send bytes, until they are not wanted any more."""
    try:
        client.sendall(sent)
    except OSError:
        return False
    return True


def measure_attacks() -> list[Attack]:
    """Measure what a server with a corrected model, and one of many names, does under each attack."""
    data = itemix.datasets.load("grocery_store")
    model = itemix.BayesianMixture(n_components=N_COMPONENTS, correction=100, random_state=0).fit(data)
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("0123456789x "), 40)) for _ in range(20_000)]
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "store.itemix", Path(folder) / "names.itemix"
        model.save(files[0])
        itemix.Mixture([1.0], np.full((1, len(names)), 0.1), names).save(files[1])
        with running("serve", *map(str, files)) as server:
            return [under(attack, *server) for attack in attacks(data)]


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


def as_markdown(loads: list[tuple[str, Load]], attacked: list[Attack]) -> str:
    """Write the tables."""
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
    lines += [
        "",
        "## Under attack",
        "",
        "The longest that `/health` took, asked again and again on a connection of its own, while others ask",
        f"heavy questions of a corrected mixture of {N_COMPONENTS} components, all at once and each another",
        "one, or send what is no request. Answered are those that were not refused for taking over 10 s.",
        "Memory is the most that the process had taken until then.",
        "",
        "| attack | lasted | answered | longest wait of `/health` | memory |",
        "|---|---:|---:|---:|---:|",
    ]
    for attack in attacked:
        answered = f"{attack.n_answers} of {len(attack.paths)}" if attack.paths else ""
        waited = f"{1e3 * attack.longest_wait:,.0f} ms | {attack.memory:,.0f} MB"
        lines.append(f"| {attack.name} | {attack.seconds:.1f} s | {answered} | {waited} |")
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
    written = as_markdown(measure_server(arguments.requests), measure_attacks())
    print(written)
    if arguments.output:
        Path(arguments.output).write_text(written)


if __name__ == "__main__":
    main()
