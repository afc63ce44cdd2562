"""Collapsed Gibbs sampling: sweeps against EM iterations in one run, whole fits, and whether seeds agree.

Usage: python benchmarks/gibbs.py [sweep] [retail] [fits] [seeds]; ITEMIX_DATA names the folder of the data.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.data.readers import read_transactions
from itemix.expectation import Rows
from itemix.inference.em import EM
from itemix.inference.gibbs import GibbsSampler
from itemix.inference.init import starter
from itemix.inference.labels import label_starter
from itemix.inference.priors import make_prior
from itemix.inference.sampling import Schedule, sample
from itemix.mixture import Mixture
from itemix.threads import Workers, count_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.transactions import Transactions

_N_SEEDS = 20
_REPEATS = 5


def load(name: str) -> Transactions:
    """Read a data set."""
    return read_transactions(Path(os.environ["ITEMIX_DATA"]) / name)


def make_sampler(data: Transactions, n_components: int | None, *, split_merge: bool = True) -> GibbsSampler:
    """Return a sampler with the paper's prior."""
    weights = "sticks" if n_components is None else "dirichlet"
    prior = make_prior(data.item_counts(), data.n_transactions, weights=weights)  # type: ignore[arg-type]
    start = label_starter("one" if n_components is None else "random", data, n_components)
    return GibbsSampler(data, prior, start, n_components or 1, split_merge=split_merge)


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
    """Return seconds and the fraction of labels that changed for early and settled sweeps."""
    sampler = make_sampler(data, n_components, split_merge=False)
    state = sampler.init(np.random.default_rng(0))
    rows = []
    for _ in range(20):
        began = time.perf_counter()
        after, _ = sampler.step(state)
        rows.append((time.perf_counter() - began, float((after.labels != state.labels).mean())))
        state = after
    return [rows[1], tuple(np.median(rows[-_REPEATS:], axis=0))]


def print_sweeps(name: str, reference: str, seconds: float, times: list[tuple[float, float]]) -> None:
    """Print sweeps as multiples of a reference."""
    for when, (taken, changed) in zip(("second", "settled"), times, strict=True):
        ratio = taken / seconds
        print(
            f"{name:24} {when:8} sweep {taken:.3f} s ({100 * changed:2.0f}% of labels change), "
            f"{reference} {seconds:.3f} s, ratio {ratio:.2f}"
        )


def benchmark_sweep() -> None:
    """Compare a sweep with a dense float32 EM iteration, which uses all threads."""
    for name, concentration in (("clear components", 3.0), ("blurred components", 25.0)):
        data = planted(100_000, 468, 50, 0.07, concentration)
        X = data.to_scipy().astype(np.float32).toarray()
        probs = np.random.default_rng(0).random((50, 468)).astype(np.float32)
        seconds = median_seconds(lambda X=X, probs=probs: dense_em_iteration(X, probs))  # type: ignore[misc]
        print_sweeps(name, "NumPy dense EM iteration", seconds, sweep_times(data, 50))


def benchmark_retail() -> None:
    """Compare a sweep on sparse data with one of our own EM iterations, on one thread and on all."""
    data = load("retail/retail.dat.gz")
    times = sweep_times(data, 50)
    for n_threads in sorted({1, count_threads(-1)}):
        with Workers(n_threads) as workers:
            rows = Rows(data, workers)
            algorithm = EM(rows, starter("random", data, rows, 50))
            state = algorithm.init(np.random.default_rng(0))
            for _ in range(5):
                state, _ = algorithm.step(state)
            seconds = median_seconds(lambda a=algorithm, s=state: a.step(s))  # type: ignore[misc]
        print_sweeps("retail", f"our EM iteration ({n_threads} thread)", seconds, times)


def benchmark_fits() -> None:
    """Time whole fits, kernels warmed."""
    data = load("accidents/accidents_17009.dat")
    small = data.sample(300, random_state=0)
    for name, n_components in (("GSDPM", None), ("GSFBM, K = 75", 75)):
        sample(make_sampler(small, 5 if n_components else None), Schedule(max_iter=3), 0)
        began = time.perf_counter()
        chains = sample(make_sampler(data, n_components), Schedule(), 0)
        chains.finish()
        seconds = time.perf_counter() - began
        chain = chains.chains[0]
        print(
            f"accidents_17009 {name:14} {seconds:5.1f} s, {chains.n_iter} iterations ({chain.n_burn} of "
            f"burn-in, settled: {chains.converged}), {int(chain.n_components[-1])} components"
        )


def benchmark_seeds() -> None:
    """Print the held-out log-likelihood of the Dirichlet process on half of mushroom, for many seeds."""
    train, test = load("mushroom/mushroom.dat").split(0.5, random_state=0)
    values = []
    for seed in range(_N_SEEDS):
        chains = sample(make_sampler(train, None), Schedule(), seed)
        values.append(float(chains.finish().mixture.log_likelihood(test).mean()))
    best, worst = max(values), min(values)
    print("mushroom, GSDPM, held-out log-likelihood by seed:", " ".join(f"{v:.3f}" for v in values))
    print(f"best {best:.3f}, worst {worst:.3f}: {100 * (worst / best - 1):.1f}% behind")


_BENCHMARKS = {
    "sweep": benchmark_sweep,
    "retail": benchmark_retail,
    "fits": benchmark_fits,
    "seeds": benchmark_seeds,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or _BENCHMARKS:
        _BENCHMARKS[chosen]()
