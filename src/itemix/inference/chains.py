"""Chains of a sampler: run in threads until they settle, diagnosed, and averaged.

A chain has settled when neither its joint log-probability nor its number of components drifts any more. The
mean of the last quarter of its iterations is compared with that of the quarter before. They may differ by
less than `tol` per transaction and by less than a twentieth of the components, or by no more than one and a
half times the standard deviation within these quarters: a smaller drift, up or down, is lost in the
fluctuations. (A trend alone differs by 3.5 of them.) A trace may also fall until it settles: a few components
can be more probable than any typical partition, but there are many typical partitions. After burn-in every
`thin`-th state is kept until there are `n_samples`, and their average is the model.

Every chain has a random stream of its own, so the result does not depend on the number of threads. On Ctrl-C,
and when a callback returns True, all chains end after their current step, and what they have is kept.

Whether chains agree is measured by rank-normalised split R-hat and bulk effective sample size (Vehtari et al.
2021). Both take draws of shape (n_chains, n_draws). They are NaN for fewer than four draws, or if nothing
varies.
"""

from __future__ import annotations

import threading
import time
import warnings
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix import _runtime
from itemix._checks import as_generator
from itemix.errors import MissingExtraError
from itemix.inference.loop import Callback, Fitted, Report, Seed, spawn_generators
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import xarray as xr

    from itemix._typing import Floats
    from itemix.inference.gibbs import Draw, GibbsSampler, GibbsState
    from itemix.models.posterior import Posterior

_FEWEST_DRAWS = 4
_FEWEST = 40
_CHECK_EVERY = 10
_FLUCTUATIONS = 1.5
_STEADY = 0.05
_WAKE_SECONDS = 0.1


def r_hat(draws: npt.ArrayLike) -> float:
    """Return the larger R-hat of the draws and of their distances from the median, rank-normalised.

    It is near 1 if the halves of all chains have the same distribution. Above 1.01 they have not mixed.
    """
    halves = _split(draws)
    if halves is None:
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_rank_normalised(halves)), _plain_r_hat(_rank_normalised(folded)))


def effective_sample_size(draws: npt.ArrayLike) -> float:
    """Return how many independent draws would tell as much about the bulk of the distribution."""
    halves = _split(draws)
    return float("nan") if halves is None else _plain_ess(_rank_normalised(halves))


def _split(draws: npt.ArrayLike) -> Floats | None:
    """Cut each chain in two, without the middle draw if any; None if there is nothing to diagnose."""
    values = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    n = values.shape[1]
    if n < _FEWEST_DRAWS or not np.isfinite(values).all() or np.ptp(values) == 0:
        return None
    half = n // 2
    return np.concatenate([values[:, :half], values[:, n - half :]])


def _rank_normalised(values: Floats) -> Floats:
    """Replace values by the normal quantiles of their ranks; ties get their average rank."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = rankdata(values, method="average").reshape(values.shape)
    normal: Floats = ndtri((ranks - 0.375) / (values.size + 0.25))
    return normal


def _variances(chains: Floats) -> tuple[float, float]:
    """Return the mean variance within chains, and the estimate of the variance over all of them."""
    n = chains.shape[1]
    within = float(chains.var(axis=1, ddof=1).mean())
    between = float(chains.mean(axis=1).var(ddof=1))
    return within, within * (n - 1) / n + between


def _plain_r_hat(chains: Floats) -> float:
    within, overall = _variances(chains)
    if within == 0:
        return float("nan") if overall == 0 else float("inf")
    return float(np.sqrt(overall / within))


def _plain_ess(chains: Floats) -> float:
    """Sum the autocorrelations by Geyer's initial monotone sequence of pairs, as Stan and ArviZ do.

    Pairs of neighbouring lags are summed up to the first that is not positive. Of that pair, the even lag
    counts half if it is positive.
    """
    m, n = chains.shape
    within, overall = _variances(chains)
    if overall == 0:
        return float("nan")
    covariance = np.mean([_autocovariance(chain) for chain in chains], axis=0)
    correlation = 1 - (within - covariance) / overall
    correlation[0] = 1.0
    pairs = correlation[: max((n - 1) // 2, 1) * 2].reshape(-1, 2).sum(axis=1)
    positive = pairs > 0
    cut = len(pairs) - 1 if positive.all() else int(np.argmin(positive))
    half = correlation[2 * cut] if pairs[cut] >= 0 else max(correlation[2 * cut], 0.0)
    time = -1 + 2 * float(np.minimum.accumulate(pairs[:cut]).sum()) + float(half)
    return float(m * n / max(time, 1 / np.log10(m * n)))


def _autocovariance(chain: Floats) -> Floats:
    """Return the biased autocovariance at every lag, by a Fourier transform."""
    n = len(chain)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(chain - chain.mean(), size)
    covariance: Floats = np.fft.irfft(np.abs(spectrum) ** 2, size)[:n] / n
    return covariance


@dataclass(frozen=True)
class Chain:
    """One chain.

    Attributes
    ----------
    state : GibbsState or None
        Its last state, from which it can go on; None if the chain comes from a file.
    draws : tuple of Draw
        The posterior samples that were kept; the last state if burn-in never ended.
    log_joint, n_components, alpha : array, shape (n_iter,)
        The trace: the value after each iteration.
    n_burn : int
        How many of the iterations were burn-in.
    converged : bool
        Whether the trace had settled by then.
    """

    state: GibbsState | None
    draws: tuple[Draw, ...]
    log_joint: Floats
    n_components: Floats
    alpha: Floats
    n_burn: int
    converged: bool


@dataclass(frozen=True)
class Chains:
    """Several chains of one model.

    Attributes
    ----------
    chains : tuple of Chain
        All chains that did at least one iteration.
    interrupted : bool
        Whether Ctrl-C ended them.
    stopped : bool
        Whether a callback ended them.
    """

    chains: tuple[Chain, ...]
    interrupted: bool = False
    stopped: bool = False

    @property
    def converged(self) -> bool:
        """Whether the traces of all chains had settled."""
        return all(chain.converged for chain in self.chains)

    @property
    def n_iter(self) -> int:
        """The number of iterations of the longest chain."""
        return max(len(chain.log_joint) for chain in self.chains)

    @property
    def draws(self) -> tuple[Draw, ...]:
        """The posterior samples of all chains."""
        return tuple(draw for chain in self.chains for draw in chain.draws)

    def traces(self) -> dict[str, Floats]:
        """Return the traces after burn-in by name, arrays of shape (n_chains, n_draws)."""
        n = min(len(chain.log_joint) - chain.n_burn for chain in self.chains)
        return {
            name: np.array([getattr(chain, name)[chain.n_burn : chain.n_burn + n] for chain in self.chains])
            for name in ("log_joint", "n_components", "alpha")
        }

    def diagnostics(self) -> dict[str, dict[str, float]]:
        """Return R-hat and effective sample size of each trace that varies."""
        return {
            name: {"r_hat": r_hat(values), "ess": effective_sample_size(values)}
            for name, values in self.traces().items()
            if values.size and np.ptp(values) > 0
        }

    def finish(self) -> Fitted:
        """Return the average of the posterior samples, which is their mixtures stacked.

        The counts and the prior are those of the last sample. Each sample has a posterior of its own.
        """
        mixture = Mixture.stack([draw.posterior().mixture() for draw in self.draws])
        last = self.draws[-1]
        return Fitted(mixture, last.counts(), prior=last.prior)

    def mixture_by_weak_priors(self) -> Mixture:
        """Return the average of the samples, each with a prior that is worth at most one transaction."""
        return Mixture.stack([draw.posterior().mixture() for draw in self.draws_by_weak_priors()])

    def draws_by_weak_priors(self) -> Iterator[Draw]:
        """Yield the samples, each with a prior that is worth at most one transaction."""
        return (replace(draw, prior=draw.prior.weakened()) for draw in self.draws)


@dataclass(frozen=True)
class Schedule:
    """How long to sample.

    Attributes
    ----------
    n_chains : int
        Number of chains.
    max_iter : int
        The most iterations of burn-in.
    tol : float or None
        When burn-in is over, see above; None and 0 run all of `max_iter`.
    n_samples : int
        How many states each chain keeps.
    thin : int
        How many iterations there are between two of them.
    """

    n_chains: int = 1
    max_iter: int = 500
    tol: float | None = 0.01
    n_samples: int = 5
    thin: int = 10


def has_settled(trace: Sequence[float], tolerance: float) -> bool:
    """Whether a trace has stopped drifting, see above."""
    quarter = len(trace) // 4
    if len(trace) < _FEWEST:
        return False
    before, last = np.array(trace[-2 * quarter :]).reshape(2, quarter)
    fluctuation = float(np.sqrt((before.var() + last.var()) / 2))
    return bool(abs(last.mean() - before.mean()) < max(tolerance, _FLUCTUATIONS * fluctuation))


def sample(
    sampler: GibbsSampler,
    schedule: Schedule,
    random_state: Seed = None,
    *,
    start: GibbsState | None = None,
    callbacks: Sequence[Callback] = (),
    n_threads: int = 1,
) -> Chains:
    """Run chains.

    Parameters
    ----------
    sampler : GibbsSampler
        The model and its data.
    schedule : Schedule
        How many chains, and how long.
    random_state : int, SeedSequence, Generator or None
        Where the random streams of the chains come from.
    start : GibbsState, optional
        A state to go on from, with a single chain.
    callbacks : sequence of callables
        Each is called after every iteration of every chain, one at a time. If it returns True, all chains
        stop.
    n_threads : int
        How many chains run at the same time.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before any iteration is done: there is no state to keep.
    """
    n_chains = 1 if start is not None else schedule.n_chains
    flags = _Flags()
    runs = [
        _ChainRun(sampler, schedule, number, n_chains, rng, start, callbacks, flags)
        for number, rng in enumerate(spawn_generators(random_state, n_chains))
    ]
    with ThreadPoolExecutor(min(n_threads, n_chains)) as pool:
        futures: list[Future[None]] = []
        try:
            futures += [pool.submit(run.run) for run in runs]
            flags.go.set()
            # A signal that comes just before a wait is only seen when the wait ends.
            while wait(futures, timeout=_WAKE_SECONDS).not_done:
                _runtime.still_wanted()
        except KeyboardInterrupt:
            flags.interrupt()
        finally:
            flags.stop.set()
            flags.go.set()
    for future in futures:
        future.result()
    chains = tuple(run.chain() for run in runs if run.log_joint)
    if not chains:
        raise KeyboardInterrupt
    return Chains(chains, flags.interrupted, flags.stopped)


@dataclass
class _Flags:
    """Flags shared by the chains of a run and the thread that waits for them.

    No chain starts before `go`, so that an interrupt never finds only some of the threads started.
    """

    go: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    interrupted: bool = False
    stopped: bool = False

    def interrupt(self) -> None:
        self.interrupted = True
        self.stop.set()

    def tell(self, callbacks: Sequence[Callback], report: Report) -> None:
        """Report one chain's iteration, and stop all chains if a callback says so."""
        with self.lock:
            if any([callback(report) for callback in callbacks]):  # noqa: C419 - call all of them
                self.stopped = True
                self.stop.set()


@dataclass
class _ChainRun:
    """A chain while it runs; whenever it ends, its results so far can be read."""

    sampler: GibbsSampler
    schedule: Schedule
    number: int
    n_chains: int
    rng: np.random.Generator
    state: GibbsState | None
    callbacks: Sequence[Callback]
    flags: _Flags
    log_joint: list[float] = field(default_factory=list)
    n_components: list[float] = field(default_factory=list)
    alpha: list[float] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    n_burn: int | None = None
    converged: bool = False

    def run(self) -> None:
        """Burn in, then keep draws. An error ends the other chains too."""
        began = time.perf_counter()
        try:
            self.flags.go.wait()
            if self.flags.stop.is_set():
                return
            state = self.sampler.init(self.rng) if self.state is None else self.state
            while not self.flags.stop.is_set() and len(self.draws) < self.schedule.n_samples:
                state, _ = self.sampler.step(state)
                self._record(state)
                self.flags.tell(self.callbacks, self._report(time.perf_counter() - began))
        except KeyboardInterrupt:
            self.flags.interrupt()
        except BaseException:
            self.flags.stop.set()
            raise

    def _record(self, state: GibbsState) -> None:
        self.state = state
        self.log_joint.append(state.log_joint)
        self.n_components.append(state.n_components)
        self.alpha.append(state.prior.alpha)
        n = len(self.log_joint)
        if self.n_burn is None:
            if n % _CHECK_EVERY == 0:
                self.converged = self._has_settled(len(state.labels))
            if self.converged or n >= self.schedule.max_iter:
                self.n_burn = n
        elif (n - self.n_burn) % self.schedule.thin == 0:
            self.draws.append(self.sampler.draw(state))

    def _has_settled(self, n_transactions: int) -> bool:
        if not self.schedule.tol:
            return False
        return has_settled(self.log_joint, self.schedule.tol * n_transactions) and has_settled(
            self.n_components, _STEADY * self.n_components[-1]
        )

    def _report(self, seconds: float) -> Report:
        schedule = self.schedule
        return Report(
            self.number,
            self.n_chains,
            len(self.log_joint),
            schedule.max_iter + schedule.n_samples * schedule.thin,
            self.log_joint[-1],
            int(self.n_components[-1]),
            seconds,
        )

    def chain(self) -> Chain:
        """Return the chain so far; its last state counts as a draw if none was kept."""
        assert self.state is not None  # noqa: S101 - chains without an iteration are left out
        return Chain(
            self.state,
            tuple(self.draws) or (self.sampler.draw(self.state),),
            np.array(self.log_joint),
            np.array(self.n_components),
            np.array(self.alpha),
            len(self.log_joint) if self.n_burn is None else self.n_burn,
            self.converged,
        )


def as_arviz(
    posteriors: Sequence[Sequence[Posterior]],
    traces: Mapping[str, Floats],
    n_draws: int,
    random_state: Seed,
) -> xr.DataTree:
    """Draw from the posteriors of chains, and return draws and traces as ArviZ has them.

    Parameters
    ----------
    posteriors : sequence of sequences of Posterior
        For each chain those of its samples, as many for each.
    traces : mapping of str to array, shape (n_chains, n_iter)
        What was traced.
    n_draws : int
        How many draws a chain has; its samples take turns.
    random_state : int, Generator or None
        The seed.

    Raises
    ------
    MissingExtraError
        If ArviZ is not installed.
    """
    try:
        from arviz_base import from_dict
    except ImportError:
        raise MissingExtraError(
            "expected arviz-base to be installed, got no such package; try pip install 'itemix[arviz]'"
        ) from None
    rng = as_generator(random_state)
    items = posteriors[0][0].items
    most = max(posterior.n_components for chain in posteriors for posterior in chain)
    weights = np.zeros((len(posteriors), n_draws, most))
    probabilities = np.empty((len(posteriors), n_draws, len(items)))
    for c, chain in enumerate(posteriors):
        for d in range(n_draws):
            drawn = chain[d * len(chain) // n_draws].sample(random_state=rng)
            # Components have no order that all draws would share but that of their sizes.
            weights[c, d, : drawn.n_components] = -np.sort(-drawn.weights)
            probabilities[c, d] = drawn.item_probabilities
    groups = {"posterior": {"weights": weights, "item_probabilities": probabilities}}
    if traces:
        groups["sample_stats"] = dict(traces)
    with warnings.catch_warnings():
        # Chains may have fewer traced iterations than there are chains, which looks like a mistake.
        warnings.filterwarnings("ignore", message="Found chain dimension to be longer", category=UserWarning)
        return from_dict(
            groups,
            coords={"rank": np.arange(1, most + 1), "item": list(items)},
            dims={"weights": ["rank"], "item_probabilities": ["item"]},
        )
