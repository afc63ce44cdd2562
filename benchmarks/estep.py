"""EM and variational inference against dense matrix products in NumPy and other libraries, as ratios.

Each does 50 iterations from the same random labels, with all threads; the dense one in float32, its matrix
made before the clock starts. Ours also pays for making the rows ready, after ten iterations that do not
count. The dense iteration costs the same at every step, so that the median of ten of them times 50 is its
time. Other libraries are given one of their own random starts, which does not count.

    python benchmarks/estep.py --data FOLDER [--output docs/benchmarks/estep.md] [--bnpy PYTHON]

PYTHON is an interpreter that has bnpy: see `benchmarks/mixture_peers.py`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from mining import machine

import itemix
from itemix._runtime import Workers, count_threads
from itemix.inference.em import EM, Variational
from itemix.inference.priors import make_prior
from itemix.inference.start import starter
from itemix.models.counts import Rows
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from itemix.models.counts import Counts

N_ITERATIONS = 50
N_DENSE = 10
N_RUNS = 9
# The threads of a matrix product look for more work for a while before they sleep.
PAUSE = 0.5
N_COMPONENTS = 50
METHODS = ("EM", "variational")
PEERS_WANTED = 0.1
COLUMNS = "data", "method", "itemix", "NumPy dense", "ratio", "wanted"
PEER_COLUMNS = "library", "method", "itemix", "library, an iteration", "ratio", "wanted"

Dense = npt.NDArray[np.float32]


class Case(NamedTuple):
    """A data set, and how much of the dense iteration's time is wanted at most."""

    name: str
    path: str | None
    wanted: float


CASES = [
    Case("planted, 100,000 x 468 at 7%", None, 0.5),
    Case("msweb", "msweb/train.dat", 0.1),
    Case("chess", "chess/chess.dat", 1.0),
    Case("mushroom", "mushroom/mushroom.dat", 1.0),
]


def planted() -> itemix.Transactions:
    """Draw 100,000 transactions over 468 items at a density of 7% from 40 components."""
    rng = np.random.default_rng(0)
    probs = np.clip(rng.beta(0.2, 2.5, (40, 468)), 0.001, 0.999)
    probs *= 0.07 / probs.mean()
    model = Mixture(rng.dirichlet(np.ones(40)), np.minimum(probs, 0.999), range(468))
    return model.sample(100_000, random_state=0)


def dense_iteration(
    X: Dense, sizes: npt.NDArray[Any], item_counts: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Do one iteration of EM with two matrix products."""
    probs = np.clip(item_counts / sizes[:, None], 1e-6, 1 - 1e-6)
    odds = (np.log(probs) - np.log1p(-probs)).astype(np.float32)
    base = (np.log(sizes / len(X)) + np.log1p(-probs).sum(axis=1)).astype(np.float32)
    scores = X @ odds.T
    scores += base
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return np.maximum(scores.sum(axis=0), 1e-9), scores.T @ X


def time_dense(data: itemix.Transactions, start: Counts) -> float:
    """Return the seconds of 50 dense iterations."""
    X = data.to_scipy().astype(np.float32).toarray()
    sizes, item_counts = np.array(start.sizes), np.array(start.item_counts)
    seconds = []
    for _ in range(N_DENSE):
        began = time.perf_counter()
        sizes, item_counts = dense_iteration(X, sizes, item_counts)
        seconds.append(time.perf_counter() - began)
    return N_ITERATIONS * statistics.median(seconds)


def time_ours(method: str, data: itemix.Transactions, start: Counts, n_iterations: int) -> float:
    """Return the seconds of our iterations, making the rows ready included."""
    began = time.perf_counter()
    with Workers(count_threads(-1)) as workers:
        rows = Rows(data, workers)
        prior = make_prior(rows.item_totals, rows.n_transactions)
        algorithm: Any = (
            EM(rows, lambda _: start) if method == "EM" else Variational(rows, prior, lambda _: start)
        )
        state = algorithm.init(np.random.default_rng(0))
        for _ in range(n_iterations):
            state, _ = algorithm.step(state)
    return time.perf_counter() - began


def measure(data: itemix.Transactions) -> dict[str, float]:
    """Return the seconds of 50 iterations by method, "dense" among them, one kind after the other."""
    with Workers() as workers:
        rows = Rows(data, workers)
        start = starter("random", data, rows, N_COMPONENTS)(np.random.default_rng(0))
    for method in METHODS:
        time_ours(method, data, start, 2)  # compiles, or loads what was compiled
    runs: dict[str, list[float]] = {name: [] for name in ("dense", *METHODS)}
    for _ in range(N_RUNS):
        runs["dense"].append(time_dense(data, start))
        time.sleep(PAUSE)
        time_ours(METHODS[0], data, start, N_DENSE)  # wakes the processors, as the dense iterations do
        for method in METHODS:
            runs[method].append(time_ours(method, data, start, N_ITERATIONS))
    return {name: statistics.median(seconds) for name, seconds in runs.items()}


def time_peer(peer: str, python: str, data: itemix.Transactions) -> dict[str, Any]:
    """Return what another library takes for an iteration, in a process of its own."""
    script = Path(__file__).with_name("mixture_peers.py")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.npy"
        np.save(path, data.to_scipy().toarray())
        command = [python, str(script), peer, str(path), str(N_COMPONENTS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{peer}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peer_lines(data: itemix.Transactions, ours: dict[str, float], bnpy: str | None) -> list[str]:
    """Return the second table, and a sentence for each library that is not there."""
    rows, said = [], []
    pythons = {"stepmix": sys.executable if importlib.util.find_spec("stepmix") else None, "bnpy": bnpy}
    for peer, python in pythons.items():
        if python is None:
            said.append(f"{peer} was not installed where this was measured.")
            continue
        found = time_peer(peer, python, data)
        for method, seconds in found["seconds"].items():
            own = ours[method] / N_ITERATIONS
            times = f"{1e3 * own:.1f} ms", f"{1e3 * seconds:.0f} ms", f"{own / seconds:.3f}"
            rows.append([f"{peer} {found['version']}", method, *times, f"{PEERS_WANTED:g} or less"])
        said.append(f"{peer} {found['version']} ran with NumPy {found['numpy']}.")
    table = [_row(PEER_COLUMNS), "|---|---|---:|---:|---:|---|", *map(_row, rows)] if rows else []
    said.append("(bnpy 0.1.7, its newest release, needs a NumPy before 1.24.)")
    return [*table, "", *said]


def _row(cells: Any) -> str:  # noqa: ANN401 - strings
    return "| " + " | ".join(cells) + " |"


def as_markdown(results: list[tuple[Case, dict[str, float]]], peers: list[str]) -> str:
    """Make the page that the documentation includes."""
    lines = []
    for case, seconds in results:
        for method in METHODS:
            ratio = seconds[method] / seconds["dense"]
            times = f"{seconds[method]:.3f} s", f"{seconds['dense']:.3f} s", f"{ratio:.3f}"
            lines.append(_row([case.name, method, *times, f"{case.wanted:g} or less"]))
    return "\n".join(
        [
            "# EM and variational inference: speed",
            "",
            f"Measured by `benchmarks/estep.py` on {machine()}, NumPy {np.__version__}:",
            f"{N_ITERATIONS} iterations at K = {N_COMPONENTS} from random labels, all threads each. *NumPy",
            "dense* is EM by two float32 matrix products; *ratio* is our time divided by its. Ours includes",
            "making the rows ready.",
            "",
            _row(COLUMNS),
            "|---|---|---:|---:|---:|---|",
            *lines,
            "",
            f"Other libraries on the first data set; ours is the mean of {N_ITERATIONS} iterations.",
            "",
            *peers,
            "",
        ]
    )


def main() -> None:
    """Measure all and print the page."""
    parser = argparse.ArgumentParser(description="EM and variational inference against NumPy and others")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ITEMIX_DATA"), help="folder of the data sets"
    )
    parser.add_argument("--output", type=Path, help="write the page to this Markdown file")
    parser.add_argument("--bnpy", metavar="PYTHON", help="an interpreter that has bnpy")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("expected the folder of the data sets: --data FOLDER, or set ITEMIX_DATA")
    results = []
    peers: list[str] = []
    for case in CASES:
        data = planted() if case.path is None else itemix.read_transactions(Path(arguments.data) / case.path)
        results.append((case, measure(data)))
        if case.path is None:
            peers = peer_lines(data, results[-1][1], arguments.bnpy)
    page = as_markdown(results, peers)
    print(page)
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(page)


if __name__ == "__main__":
    main()
