"""Iterations of another library's Bernoulli mixture, timed; a process that needs only NumPy and that library.

    python benchmarks/mixture_peers.py {stepmix,bnpy} MATRIX.npy N_COMPONENTS

The seconds of one iteration are what a longer run takes more than a shorter one, so that starts do not count.
`benchmarks/estep.py` calls it, for bnpy with an interpreter that has it: its newest release, 0.1.7, does not
run with NumPy 1.24 or later.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY = 2, 10
REPEATS = 3


def stepmix_runs(X: Any, n_components: int) -> dict[str, Callable[[int], Any]]:  # noqa: ANN401 - an array
    """Return StepMix's EM as a function of the number of iterations."""
    from stepmix.stepmix import StepMix

    def em(n_iter: int) -> Any:  # noqa: ANN401 - untyped
        settings = {"max_iter": n_iter, "abs_tol": 0, "rel_tol": 0, "progress_bar": 0, "random_state": 0}
        return StepMix(n_components, measurement="binary", **settings).fit(X)

    return {"EM": em}


def bnpy_runs(X: Any, n_components: int) -> dict[str, Callable[[int], Any]]:  # noqa: ANN401 - an array
    """Return bnpy's EM and variational inference as functions of the number of passes."""
    import bnpy

    data = bnpy.data.XData(X=X)
    settings = {"initname": "randexamples", "doSaveToDisk": False, "convergeThr": -1.0}

    def run(model: str, algorithm: str, n_passes: int) -> Any:  # noqa: ANN401 - untyped
        return bnpy.run(data, model, "Bern", algorithm, K=n_components, nLap=n_passes, **settings)

    return {
        "EM": lambda n: run("FiniteMixtureModel", "EM", n),
        "variational": lambda n: run("DPMixtureModel", "VB", n),
    }


def seconds_of(call: Callable[[int], Any], n_iter: int) -> float:
    """Time a number of iterations, without what they print."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        call(n_iter)
        return time.perf_counter() - began


def main() -> None:
    """Time one library's methods and print seconds an iteration as JSON."""
    peer, path, n_components = sys.argv[1], sys.argv[2], int(sys.argv[3])
    X = np.load(path).astype(np.float64)
    runs = {"stepmix": stepmix_runs, "bnpy": bnpy_runs}[peer](X, n_components)
    for call in runs.values():
        seconds_of(call, 1)
    seconds = {
        method: float(np.median([seconds_of(call, MANY) - seconds_of(call, FEW) for _ in range(REPEATS)]))
        / (MANY - FEW)
        for method, call in runs.items()
    }
    print(json.dumps({"version": version(peer), "numpy": np.__version__, "seconds": seconds}))


if __name__ == "__main__":
    main()
