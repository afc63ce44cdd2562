"""EM and variational inference against EM by dense matrix products in NumPy, in one run, as ratios.

Each does 50 iterations from the same random labels, with all threads; the dense one in float32, its matrix
made before the clock starts. Ours also pays for making the rows ready. The dense iteration costs the same at
every step, so that the median of ten of them times 50 is its time.

    python benchmarks/estep.py --data FOLDER [--output FILE]
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import itemix
from itemix.expectation import Rows
from itemix.inference.em import EM
from itemix.inference.init import starter
from itemix.inference.priors import make_prior
from itemix.inference.variational import Variational
from itemix.mixture import Mixture
from itemix.threads import Workers, count_threads

if TYPE_CHECKING:
    from itemix.counts import Counts

N_ITERATIONS = 50
N_DENSE = 10
N_COMPONENTS = 50
WANTED = {"planted, 100,000 x 468 at 7%": 0.5, "msweb": 0.1, "chess": 1.0, "mushroom": 1.0}

Dense = npt.NDArray[np.float32]


def planted() -> itemix.Transactions:
    """Draw 100,000 transactions over 468 items at a density of 7% from 40 components."""
    rng = np.random.default_rng(0)
    probs = np.clip(rng.beta(0.2, 2.5, (40, 468)), 0.001, 0.999)
    probs *= 0.07 / probs.mean()
    model = Mixture(rng.dirichlet(np.ones(40)), np.minimum(probs, 0.999), range(468))
    return model.sample(100_000, random_state=0)


def workloads(folder: Path) -> dict[str, itemix.Transactions]:
    """Return the data sets by name."""
    files = {"msweb": "msweb/train.dat", "chess": "chess/chess.dat", "mushroom": "mushroom/mushroom.dat"}
    read = {name: itemix.read_transactions(folder / path) for name, path in files.items()}
    return {"planted, 100,000 x 468 at 7%": planted(), **read}


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


def time_ours(method: str, data: itemix.Transactions, start: Counts) -> float:
    """Return the seconds of 50 of our iterations, making the rows ready included."""
    began = time.perf_counter()
    with Workers(count_threads(-1)) as workers:
        rows = Rows(data, workers)
        prior = make_prior(rows.item_totals, rows.n_transactions)
        algorithm: Any = (
            EM(rows, lambda _: start) if method == "EM" else Variational(rows, prior, lambda _: start)
        )
        state = algorithm.init(np.random.default_rng(0))
        for _ in range(N_ITERATIONS):
            state, _ = algorithm.step(state)
    return time.perf_counter() - began


def measure(name: str, data: itemix.Transactions) -> list[str]:
    """Return the table's rows of one data set."""
    with Workers() as workers:
        rows = Rows(data, workers)
        start = starter("random", data, rows, N_COMPONENTS)(np.random.default_rng(0))
    dense = time_dense(data, start)
    lines = []
    for method in ("EM", "variational"):
        time_ours(method, data, start)  # compiles, or loads what was compiled
        ours = time_ours(method, data, start)
        lines.append(
            f"| {name} | {method} | {ours:.3f} s | {dense:.3f} s | {ours / dense:.3f} | {WANTED[name]} |"
        )
    return lines


def main() -> None:
    """Measure all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    lines = [
        f"{N_ITERATIONS} iterations at K = {N_COMPONENTS}, {count_threads(-1)} threads.",
        "",
        "| data | method | itemix | NumPy dense | ratio | wanted, at most |",
        "|---|---|---|---|---|---|",
    ]
    for name, data in workloads(arguments.data).items():
        lines += measure(name, data)
        print(lines[-2], lines[-1], sep="\n")
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
