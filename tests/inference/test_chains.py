"""Chains: burn-in, draws, threads, and runs that end early."""

import signal
import threading
from dataclasses import replace

import arviz_base
import arviz_stats
import numpy as np
import pytest

import itemix
from itemix import Transactions
from itemix.errors import InvalidInputError
from itemix.inference.chains import Schedule, _ChainRun, _Flags, has_settled, sample
from itemix.inference.gibbs import GibbsSampler
from itemix.inference.priors import make_prior
from itemix.inference.start import label_starter
from itemix.models.mixture import Mixture

SHORT = Schedule(n_chains=3, max_iter=6, n_samples=2, thin=3)


@pytest.fixture(scope="module")
def sampler():
    """Return a Dirichlet process sampler of a small data set."""
    rng = np.random.default_rng(0)
    data = Transactions.from_matrix((rng.random((200, 8)) < 0.3).astype(int))
    prior = make_prior(data.item_counts(), 200, weights="sticks")
    return GibbsSampler(data, prior, label_starter("random", data, None), learn_alpha=True)


def test_same_seed_same_chains_whatever_the_threads(sampler):
    """Threads change nothing; another seed does; chain r is the same whatever their number."""
    one, two = (sample(sampler, SHORT, 7, n_threads=n) for n in (1, 2))
    for a, b in zip(one.chains, two.chains, strict=True):
        np.testing.assert_array_equal(a.log_joint, b.log_joint)
        np.testing.assert_array_equal(a.state.labels, b.state.labels)
    assert one.finish().mixture == two.finish().mixture
    alone = sample(sampler, Schedule(n_chains=1, max_iter=6, n_samples=2, thin=3), 7)
    np.testing.assert_array_equal(alone.chains[0].log_joint, one.chains[0].log_joint)
    other = sample(sampler, SHORT, 8)
    assert not np.array_equal(other.chains[0].log_joint, one.chains[0].log_joint)


def test_traces_and_draws(sampler):
    """Burn-in and draws have the lengths of the schedule, and traces have a row for each chain."""
    chains = sample(sampler, SHORT, 0)
    assert [chain.n_burn for chain in chains.chains] == [6, 6, 6]
    assert chains.n_iter == 12
    assert len(chains.draws) == 6
    assert not chains.converged
    traces = chains.traces()
    assert {name: values.shape for name, values in traces.items()} == dict.fromkeys(
        ("log_joint", "n_components", "alpha"), (3, 6)
    )
    assert set(chains.diagnostics()["log_joint"]) == {"r_hat", "ess"}
    last = chains.chains[-1]
    assert last.log_joint[-1] == last.state.log_joint
    _, sizes = np.unique(last.state.labels, return_counts=True)
    np.testing.assert_array_equal(chains.draws[-1].sizes, np.sort(sizes)[::-1])


def test_arviz_takes_the_traces(sampler):
    """ArviZ reads the traces, by chain and draw, and finds the same R-hat and sample sizes."""
    chains = sample(sampler, Schedule(n_chains=3, max_iter=6, n_samples=4, thin=3), 0)
    posterior = arviz_base.from_dict({"posterior": chains.traces()})["posterior"]
    assert dict(posterior.sizes) == {"chain": 3, "draw": 12}
    assert set(posterior.data_vars) == {"log_joint", "n_components", "alpha"}
    np.testing.assert_array_equal(posterior["log_joint"][2], chains.chains[2].log_joint[-12:])
    found = chains.diagnostics()
    assert found.keys() == set(posterior.data_vars)
    r_hats, sizes = arviz_stats.rhat(posterior), arviz_stats.ess(posterior)
    for name, values in found.items():
        assert values["r_hat"] == pytest.approx(float(r_hats[name]))
        assert values["ess"] == pytest.approx(float(sizes[name]))


def test_the_fit_is_the_average_of_the_draws(sampler):
    """The mixture is the stack of the draws' predictive mixtures."""
    chains = sample(sampler, SHORT, 0)
    fit = chains.finish()
    mixtures = [draw.posterior().mixture() for draw in chains.draws]
    assert fit.mixture == Mixture.stack(mixtures)
    assert fit.counts == chains.draws[-1].counts()
    mean = np.mean([mixture.probability([0, 1]) for mixture in mixtures])
    assert fit.mixture.probability([0, 1]) == pytest.approx(mean)


@pytest.mark.parametrize("weights", ["dirichlet", "sticks"])
def test_means_of_draws_need_no_posterior(sampler, weights):
    """Means straight from the counts are those of the posterior, to the last bit."""
    for draw in sample(sampler, SHORT, 0).draws:
        own = replace(draw, prior=replace(draw.prior, weights=weights))
        expected = own.posterior().mean_probs()
        found = np.empty_like(expected)
        own.write_mean_probs(found)
        assert len(found) == own.n_components_of_posterior
        np.testing.assert_array_equal(found, expected)


def test_a_trace_settles_when_it_stops_rising():
    """Traces that drift up or down have not settled; flat and noisy ones have; short ones never."""
    noise = np.random.default_rng(0).normal(size=400)
    drifting = np.linspace(-1000, 0, 400)
    levelled = -1000 * np.exp(-np.arange(400) / 20)
    for sign in (1, -1):
        assert not has_settled(list(sign * drifting), 1.0)
        assert not has_settled(list(sign * drifting + 30 * noise), 1.0)
        assert not has_settled(list(sign * levelled[:80]), 1.0)
        assert has_settled(list(sign * levelled), 1.0)
        assert has_settled(list(sign * levelled + 30 * noise), 1.0)
    assert not has_settled(list(levelled[-30:]), 1.0)


def test_burn_in_ends_when_the_trace_settles(sampler):
    """A chain that has settled does not run to the last iteration of burn-in."""
    chain = sample(sampler, Schedule(max_iter=500, tol=0.05, n_samples=1, thin=1), 0).chains[0]
    assert chain.converged
    assert chain.n_burn < 500
    assert len(chain.log_joint) == chain.n_burn + 1


def test_burn_in_goes_on_while_the_components_drift(sampler):
    """A joint log-probability that stands still is not enough: the number of components must, too."""
    steady, drifting = [20.0] * 80, [float(k) for k in range(20, 100)]
    for n_components, settled in ((steady, True), (drifting, False), (drifting[::-1], False)):
        rng = np.random.default_rng(0)
        run = _ChainRun(sampler, Schedule(tol=0.05), 0, 1, rng, None, (), _Flags(), [-5.0] * 80, n_components)
        assert run._has_settled(100) is settled


def test_without_a_tolerance_all_of_burn_in_is_run(sampler):
    """tol=0 never ends burn-in early, however steady the trace is."""
    chain = sample(sampler, Schedule(max_iter=90, tol=0, n_samples=1, thin=1), 0).chains[0]
    assert (chain.n_burn, chain.converged) == (90, False)


def test_a_chain_goes_on_from_its_state(sampler):
    """Stopping and going on is the same as not stopping."""
    schedule = Schedule(max_iter=6, n_samples=1, thin=1)
    whole = sample(sampler, Schedule(max_iter=13, n_samples=1, thin=1), 3).chains[0]
    first = sample(sampler, schedule, 3).chains[0]
    second = sample(sampler, schedule, 3, start=first.state).chains[0]
    np.testing.assert_array_equal(np.concatenate([first.log_joint, second.log_joint]), whole.log_joint)


def test_callbacks_are_told_and_can_stop(sampler):
    """Every iteration is told; True from a callback ends all chains and keeps what they have."""
    reports = []

    def callback(report):
        reports.append(report)
        return len(reports) == 4

    chains = sample(sampler, SHORT, 0, callbacks=[callback])
    assert chains.stopped
    assert not chains.interrupted
    assert [report.iteration for report in reports] == [1, 2, 3, 4]
    assert reports[0].max_iter == 12
    assert reports[-1].bound == chains.chains[0].log_joint[-1]
    assert len(chains.draws) == len(chains.chains) == 1
    assert chains.finish().mixture.n_items == 8


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_keeps_the_last_states(sampler, n_threads):
    """An interrupt ends all chains after their step; the states so far make a model."""
    main = threading.main_thread().ident

    def interrupt(report):
        if report.restart == 0 and report.iteration == 3:
            signal.pthread_kill(main, signal.SIGINT)

    long = Schedule(n_chains=2, max_iter=100_000, tol=None)
    chains = sample(sampler, long, 0, callbacks=[interrupt], n_threads=n_threads)
    assert chains.interrupted
    assert not chains.converged
    assert chains.n_iter < 100_000
    assert chains.finish().mixture.n_items == 8


def test_ctrl_c_before_the_first_iteration_is_raised(sampler):
    """Without any state there is nothing to keep."""
    broken = GibbsSampler(sampler.transactions, sampler.prior, _interrupted)
    with pytest.raises(KeyboardInterrupt):
        sample(broken, SHORT, 0)


def test_an_error_in_a_chain_is_raised(sampler):
    """A failing callback ends all chains and is not hidden."""

    def fail(report):
        raise RuntimeError(f"told of {report.iteration}")

    with pytest.raises(RuntimeError, match="told of 1"):
        sample(sampler, SHORT, 0, callbacks=[fail], n_threads=2)


def _interrupted(_):
    raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore:.* did not converge")
@pytest.mark.parametrize("inference", ["gibbs", "variational"])
def test_draws_of_a_model_for_arviz(inference):
    """Draws vary around what the model expects, as its intervals say; a sampler's traces come along."""
    data = itemix.datasets.load("grocery_store").sample(400, random_state=0)
    options = {"n_init": 2, "n_samples": 3, "thin": 2, "max_iter": 20} if inference == "gibbs" else {}
    model = itemix.DirichletProcessMixture(5, inference=inference, random_state=0, **options).fit(data)
    tree = model.to_arviz(300, random_state=1)
    posterior = tree["posterior"]
    n_chains = 2 if inference == "gibbs" else 1
    assert dict(posterior.sizes)["chain"] == n_chains
    assert posterior["item_probabilities"].shape == (n_chains, 300, data.n_items)
    np.testing.assert_allclose(posterior["weights"].sum("rank"), 1)
    assert (posterior["weights"].diff("rank") <= 0).all()
    item = data.items[int(data.item_counts().argmax())]
    draws = posterior["item_probabilities"].sel(item=item).values.ravel()
    interval = model.interval([item], level=0.9)
    assert draws.mean() == pytest.approx(interval.probability, abs=4 * draws.std() / np.sqrt(len(draws)))
    assert np.mean((interval.lower <= draws) & (draws <= interval.upper)) == pytest.approx(0.9, abs=0.06)
    assert tree.equals(model.fitted_.to_arviz(300, random_state=1))
    if inference == "gibbs":
        stats = tree["sample_stats"]
        np.testing.assert_array_equal(stats["log_joint"], model.fitted_.training.chains.traces()["log_joint"])
        assert np.isfinite(arviz_stats.rhat(posterior)["weights"].isel(rank=0))
    else:
        assert "sample_stats" not in tree.children


def test_a_short_trace_is_no_mistake():
    """More chains than traced iterations, as `itemix.fit` makes them, are no reason to warn."""
    tree = itemix.fit([["a", "b"], ["a"], ["c"]] * 5, progress=False).to_arviz(10)
    sizes = tree["sample_stats"].sizes
    assert sizes["chain"] > sizes["draw"]


def test_what_has_no_posterior_has_no_draws():
    """One line says what to fit instead, and what is wrong."""
    model = itemix.BernoulliMixture(1).fit([["a"], ["b"]])
    with pytest.raises(InvalidInputError, match="expected a mixture with a posterior, got BernoulliMixture"):
        model.to_arviz()
    with pytest.raises(InvalidInputError, match="expected n_draws as a whole number"):
        itemix.BayesianMixture(1).fit([["a"], ["b"]]).to_arviz(0)
