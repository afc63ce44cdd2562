"""Collapsed Gibbs sampling: sweeps against EM iterations in one run, whole fits, and whether seeds agree.

python benchmarks/gibbs.py --data FOLDER [--output docs/benchmarks/gibbs.md] [--only fits,seeds]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mining import machine
from sklearn.exceptions import ConvergenceWarning

import itemix
from itemix._runtime import Workers
from itemix.inference.em import EM
from itemix.inference.gibbs import GibbsSampler
from itemix.inference.priors import make_prior
from itemix.inference.start import label_starter, starter
from itemix.models.counts import Rows
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemix.core.transactions import Transactions

_N_SEEDS = 20
_N_SWEEPS = 50
_REPEATS = 5
_K = 75
_WANTED_SECONDS = {"process": 30, "finite": 5}


def median_seconds(function: Callable[[], object]) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def planted(n: int, n_items: int, n_components: int, density: float, concentration: float) -> Transactions:
    """Return transactions of a random mixture; the lower the concentration, the clearer the components."""
    rng = np.random.default_rng(0)
    frequency = rng.beta(0.3, 0.3 * (1 - density) / density, n_items)
    frequency = np.clip(frequency * density / frequency.mean(), 1e-3, 0.95)
    probs = rng.beta(concentration * frequency, concentration * (1 - frequency), (n_components, n_items))
    mixture = Mixture(np.full(n_components, 1 / n_components), probs, range(n_items))
    return mixture.sample(n, random_state=rng)


def dense_em_iteration(X: npt.NDArray[np.float32], probs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Do one EM iteration with equal weights by matrix products, as a NumPy user would write it."""
    probs = np.clip(probs, 1e-6, 1 - 1e-6)
    scores = X @ (np.log(probs) - np.log1p(-probs)).T + np.log1p(-probs).sum(axis=1)
    scores -= scores.max(axis=1, keepdims=True)
    resp = np.exp(scores)
    resp /= resp.sum(axis=1, keepdims=True)
    return (resp.T @ X) / resp.sum(axis=0)[:, None]  # type: ignore[no-any-return]


def sweep_times(data: Transactions, n_components: int) -> list[tuple[float, float]]:
    """Return seconds and the fraction of labels that changed: the second sweep, the mean of all, the last."""
    prior = make_prior(data.item_counts(), data.n_transactions, weights="dirichlet")
    start = label_starter("random", data, n_components)
    sampler = GibbsSampler(data, prior, start, n_components, moves_every=0)
    state = sampler.init(np.random.default_rng(0))
    rows = []
    for _ in range(_N_SWEEPS):
        began = time.perf_counter()
        after, _ = sampler.step(state)
        rows.append((time.perf_counter() - began, float((after.labels != state.labels).mean())))
        state = after
    return [rows[1], tuple(np.mean(rows, axis=0)), tuple(np.median(rows[-_REPEATS:], axis=0))]


def sweep_rows(name: str, reference: str, seconds: float, data: Transactions, wanted: float) -> Iterator[str]:
    """Yield the rows of a table: sweeps as multiples of a reference."""
    names = "second", f"mean of the first {_N_SWEEPS}", "settled"
    for when, (taken, changed) in zip(names, sweep_times(data, 50), strict=True):
        yield (
            f"| {name} | {when} | {100 * changed:.0f}% | {1e3 * taken:.0f} "
            f"| {reference} | {1e3 * seconds:.0f} | {taken / seconds:.2f} | {wanted:g} |"
        )


def dense_sweeps() -> Iterator[str]:
    """Compare a sweep with a dense float32 EM iteration, which uses all threads."""
    for name, concentration in (("clear components", 3.0), ("blurred components", 25.0)):
        data = planted(100_000, 468, 50, 0.07, concentration)
        X = data.to_scipy().astype(np.float32).toarray()
        probs = np.random.default_rng(0).random((50, 468)).astype(np.float32)
        seconds = median_seconds(partial(dense_em_iteration, X, probs))
        yield from sweep_rows(f"100,000 x 468, {name}", "NumPy dense EM", seconds, data, 1)


def sparse_sweeps(folder: Path) -> Iterator[str]:
    """Compare a sweep on sparse data with one of our own EM iterations, on one thread, as a sweep has."""
    data = itemix.read_transactions(folder / "retail/retail.dat.gz")
    with Workers(1) as workers:
        rows = Rows(data, workers)
        algorithm = EM(rows, starter("random", data, rows, 50))
        state = algorithm.init(np.random.default_rng(0))
        for _ in range(5):
            state, _ = algorithm.step(state)
        seconds = median_seconds(partial(algorithm.step, state))
    yield from sweep_rows("retail", "our EM, one thread", seconds, data, 3)


def sweeps(folder: Path) -> Iterator[str]:
    """Make the table of sweeps."""
    yield "| data | sweep | labels that change | ms | against | ms | ratio | wanted |"
    yield "|---|---|---:|---:|---|---:|---:|---:|"
    yield from dense_sweeps()
    yield from sparse_sweeps(folder)


def fits(folder: Path) -> Iterator[str]:
    """Make the table of whole fits, kernels warmed."""
    data = itemix.read_transactions(folder / "accidents/accidents_17009.dat")
    small = data.sample(300, random_state=0)
    models: dict[str, Any] = {
        "NBM": itemix.BernoulliMixture(_K, random_state=0),
        "VFBM": itemix.BayesianMixture(_K, random_state=0),
        "GSFBM": itemix.BayesianMixture(_K, inference="gibbs", random_state=0),
        "VDPM": itemix.DirichletProcessMixture(_K, random_state=0),
        "GSDPM": itemix.DirichletProcessMixture(inference="gibbs", random_state=0),
    }
    yield "| method | components | iterations | converged | seconds | wanted |"
    yield "|---|---:|---:|---|---:|---:|"
    for name, model in models.items():
        model.fit(small)
        began = time.perf_counter()
        model.fit(data)
        seconds = time.perf_counter() - began
        chains = getattr(model, "chains_", None)
        found = model.n_components_ if chains is None else int(chains.chains[0].n_components[-1])
        wanted = _WANTED_SECONDS["process" if name == "GSDPM" else "finite"]
        settled = "yes" if model.converged_ else "no"
        yield f"| {name} | {found} | {model.n_iter_} | {settled} | {seconds:.1f} | {wanted} |"


def seeds(folder: Path) -> Iterator[str]:
    """Say how the held-out log-likelihood of the Dirichlet process on half of mushroom differs by seed."""
    train, test = itemix.read_transactions(folder / "mushroom/mushroom.dat").split(0.5, random_state=0)
    values = []
    for seed in range(_N_SEEDS):
        model = itemix.DirichletProcessMixture(inference="gibbs", random_state=seed).fit(train)
        values.append(model.score(test))
    best, worst = max(values), min(values)
    yield f"Of {_N_SEEDS} seeds of GSDPM, all other parameters as they are by default, on half of"
    behind = 100 * (worst / best - 1)
    yield "mushroom, the mean log-likelihood of a transaction of the other half is"
    yield f"{best:.3f} for the best and {worst:.3f} for the worst, {behind:.1f}% behind"
    yield "(wanted: at most 5%)."


_PARTS = {"sweeps": sweeps, "fits": fits, "seeds": seeds}
_TITLES = {
    "sweeps": "A sweep of 50 components, on one thread",
    "fits": f"Whole fits to accidents (17,009 rows), {_K} components or as many as are found, one thread",
    "seeds": "Seeds",
}


def main() -> None:
    """Run the benchmark and print its page."""
    parser = argparse.ArgumentParser(description="collapsed Gibbs sampling: sweeps, whole fits, seeds")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ITEMIX_DATA"), help="folder of the data sets"
    )
    parser.add_argument("--only", default=",".join(_PARTS), help="parts, such as fits,seeds")
    parser.add_argument("--output", type=Path, help="write the page to this Markdown file")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("expected the folder of the data sets: --data FOLDER, or set ITEMIX_DATA")
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = ["# Gibbs sampling, and whole fits", "", f"Measured by `benchmarks/gibbs.py` on {machine()}."]
    for part in arguments.only.split(","):
        lines += ["", f"## {_TITLES[part]}", "", *_PARTS[part](Path(arguments.data))]
    page = "\n".join([*lines, ""])
    print(page)
    if arguments.output:
        arguments.output.write_text(page)


if __name__ == "__main__":
    main()
