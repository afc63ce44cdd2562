"""The loop that drives an inference algorithm: restarts, convergence, progress, seeds and Ctrl-C.

An algorithm is an object that binds the data and the hyperparameters and has three methods::

    init(rng) -> state               a first state, from a NumPy Generator
    step(state) -> (state, Info)     one iteration; Info describes the state that went in
    finish(state) -> Fitted          Mixture, with the Posterior and the Counts behind it; or another model

States are immutable, so the loop keeps the best of several restarts by holding on to its state. `Info.bound`
is what the algorithm climbs, summed over all transactions: the log-likelihood (EM), the evidence lower bound
(variational inference) or the joint log-probability of labels and data (a sampler, for which a chain is a
restart and `tol` is None: every iteration is run).

Every restart has a random stream of its own, spawned from one `numpy.random.SeedSequence`. So restart r is
the same for any n_init and any thread that runs it. Progress displays and callbacks get a `Report` after
every iteration; a callback that returns True stops the run. A callback may have a method `stage`, which is
told in words what a fit does before and after the run. On Ctrl-C the best state so far is finished and
`Run.interrupted` is set.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from itemix._runtime import progress_of, still_wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemix._runtime import Progress
    from itemix.inference.priors import Prior
    from itemix.models.counts import Counts
    from itemix.models.mixture import Mixture
    from itemix.models.posterior import Posterior

S = TypeVar("S")
Seed = int | np.random.SeedSequence | np.random.Generator | None


@dataclass(frozen=True)
class Info:
    """Diagnostics of one iteration.

    Attributes
    ----------
    bound : float
        What the algorithm climbs, summed over the transactions, for the state that went into the step.
    n_components : int
        How many components hold any transactions.
    """

    bound: float
    n_components: int


@dataclass(frozen=True)
class Fitted:
    """The result of an algorithm.

    Attributes
    ----------
    mixture : Mixture
        The fitted model.
    counts : Counts
        The expected (or sampled) counts behind it, to which those of more data can be added.
    posterior : Posterior or None
        The distribution of the parameters; EM has none, and a sampler has one for each sample.
    prior : Prior or None
        The hyperparameters behind it, learned or given.
    """

    mixture: Mixture
    counts: Counts
    posterior: Posterior | None = None
    prior: Prior | None = None


class Algorithm(Protocol[S]):
    """An inference algorithm, as the loop needs it."""

    def init(self, rng: np.random.Generator) -> S:
        """Return a first state."""

    def step(self, state: S) -> tuple[S, Info]:
        """Do one iteration; the Info describes the state that went in."""

    def finish(self, state: S) -> object:
        """Turn a state into the result. The loop does not call this."""


@dataclass(frozen=True)
class Report:
    """The progress that displays and callbacks are told after every iteration."""

    restart: int
    n_restarts: int
    iteration: int
    max_iter: int
    bound: float
    n_components: int
    seconds: float


Callback = Callable[[Report], bool | None]


def tell_stage(callbacks: Sequence[Callback], text: str) -> None:
    """Tell callbacks with a method `stage` what a fit is doing outside of the iterations of a run."""
    for callback in callbacks:
        stage = getattr(callback, "stage", None)
        if stage is not None:
            stage(text)


@dataclass(frozen=True)
class Settings:
    """How long and how often to run.

    Attributes
    ----------
    n_init : int
        Number of restarts; the one with the highest bound is kept.
    max_iter : int
        The most iterations in a restart.
    tol : float or None
        A restart has converged when an iteration raises the bound by less than this much per transaction.
        With None it never converges.
    patience : int
        In how many iterations the bound has to rise by that much.
    """

    n_init: int = 1
    max_iter: int = 200
    tol: float | None = 1e-4
    patience: int = 1


@dataclass(frozen=True)
class Run(Generic[S]):
    """The best restart of a run.

    Attributes
    ----------
    algorithm : Algorithm
        The algorithm, which can finish the state.
    state : object
        Its last state, from which a run can go on.
    bounds : array, shape (n_iter,)
        The bound at each of its iterations.
    n_iter : int
        Its number of iterations.
    converged : bool
        Whether its bound had settled.
    interrupted : bool
        Whether Ctrl-C ended the run.
    stopped : bool
        Whether a callback ended the run.
    restart : int
        Which restart it was.
    """

    algorithm: Algorithm[S]
    state: S
    bounds: npt.NDArray[np.float64]
    converged: bool
    interrupted: bool
    stopped: bool
    restart: int

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.bounds)


def spawn_generators(random_state: Seed, n: int) -> list[np.random.Generator]:
    """Return n independent random generators; the first ones are the same for any n."""
    if isinstance(random_state, np.random.Generator):
        return random_state.spawn(n)
    sequence = (
        random_state
        if isinstance(random_state, np.random.SeedSequence)
        else np.random.SeedSequence(random_state)
    )
    return [np.random.default_rng(child) for child in sequence.spawn(n)]


def run(
    algorithm: Algorithm[S],
    n_transactions: int,
    settings: Settings,
    random_state: Seed = None,
    *,
    start: S | None = None,
    callbacks: Sequence[Callback] = (),
) -> Run[S]:
    """Run an algorithm from several starts and return the best.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm to run.
    n_transactions : int
        The number of transactions behind the bound, which makes `tol` an average.
    settings : Settings
        Restarts, iterations and tolerance.
    random_state : int, SeedSequence, Generator or None
        Where the random streams of the restarts come from.
    start : state, optional
        A state to go on from, with a single restart.
    callbacks : sequence of callables
        Each is called after every iteration. If it returns True, the run stops.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before the first iteration is done: there is no state to keep.
    """
    n_restarts = 1 if start is not None else settings.n_init
    best: _Climb[S] | None = None
    interrupted = stopped = False
    for restart, rng in enumerate(spawn_generators(random_state, n_restarts)):
        climb = _Climb[S](restart)
        try:
            state = algorithm.init(rng) if start is None else start
            began = time.perf_counter()
            while not stopped and climb.goes_on(n_transactions, settings):
                still_wanted()
                state, info = algorithm.step(state)
                climb.take(state, info)
                report = climb.report(info, n_restarts, settings.max_iter, time.perf_counter() - began)
                stopped = any([callback(report) for callback in callbacks])  # noqa: C419 - call all of them
        except KeyboardInterrupt:
            if best is None and not climb.bounds:
                raise
            interrupted = True
        if climb.bounds and (best is None or climb.bounds[-1] > best.bounds[-1]):
            best = climb
        if interrupted or stopped:
            break
    assert best is not None and best.state is not None  # noqa: S101, PT018 - max_iter is at least 1
    return Run(
        algorithm, best.state, np.array(best.bounds), best.converged, interrupted, stopped, best.restart
    )


class _Climb(Generic[S]):
    """One restart. Its state and bounds can be read even if Ctrl-C ends it."""

    def __init__(self, restart: int) -> None:
        self.restart = restart
        self.state: S | None = None
        self.bounds: list[float] = []
        self.converged = False

    def goes_on(self, n_transactions: int, settings: Settings) -> bool:
        """Whether to do another iteration: the bound has not settled, and there are iterations left."""
        if settings.tol is not None and len(self.bounds) > settings.patience:
            gained = self.bounds[-1] - self.bounds[-1 - settings.patience]
            self.converged = gained < settings.tol * n_transactions
        return not self.converged and len(self.bounds) < settings.max_iter

    def take(self, state: S, info: Info) -> None:
        """Keep the result of an iteration."""
        self.state = state
        self.bounds.append(info.bound)

    def report(self, info: Info, n_restarts: int, max_iter: int, seconds: float) -> Report:
        """Return the report of the last iteration for callbacks."""
        n = len(self.bounds)
        return Report(self.restart, n_restarts, n, max_iter, info.bound, info.n_components, seconds)


@contextmanager
def shown_progress(name: str, n_transactions: int, *, quiet: bool) -> Iterator[list[Callback]]:
    """Yield the callbacks that show the progress of a fit; none if it is to be quiet.

    Shown are the iterations of all starts or chains, the bound or the joint log-probability a transaction,
    and the number of components; also what the fit does before and after the iterations. The time left is
    that until the last iteration: a fit may well converge before.
    """
    with progress_of(name, shown=not quiet, at_most=True) as progress:
        yield [] if progress is None else [_FitShown(progress, n_transactions)]


class _FitShown:
    """Tells the progress of a fit."""

    def __init__(self, progress: Progress, n_transactions: int) -> None:
        self._progress = progress
        self._n_transactions = n_transactions
        self._done: dict[int, int] = {}
        self.stage("starting")

    def __call__(self, report: Report) -> None:
        from itemix.core.display import plural

        self._done[report.restart] = report.iteration
        start = f"start {report.restart + 1} of {report.n_restarts}, " if report.n_restarts > 1 else ""
        self._progress.tell(
            f"{start}iteration {report.iteration}, {report.bound / self._n_transactions:.4f} a transaction, "
            f"{plural(report.n_components, 'component')}",
            sum(self._done.values()),
            report.n_restarts * report.max_iter,
        )

    def stage(self, text: str) -> None:
        self._progress.tell(text)  # it is not known how long this takes
