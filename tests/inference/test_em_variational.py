"""Variational inference: against the bound written out term by term, and by its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference.planted import planted_mixture, random_data, rows_of, start_of
from naive import inference as naive

from itemix.inference.em import Variational, expected_log_weights, stick_evidence
from itemix.inference.loop import Settings, run
from itemix.inference.priors import make_prior
from itemix.models.mixture import Mixture

KINDS = ["dirichlet", "sticks"]
FAST = Settings(n_init=1, max_iter=60, tol=None)


def algorithm_for(data, n_components, kind, init="random", *, n_threads=1, learn=False, **hyperparameters):
    """Return the algorithm with the paper's priors unless others are given."""
    rows = rows_of(data, n_threads)
    prior = make_prior(rows.item_totals, rows.n_transactions, weights=kind, **hyperparameters)
    strengths = (np.arange(len(rows.item_totals)),) if learn else ()
    return Variational(rows, prior, start_of(data, rows, n_components, init), learn, strengths)


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 1000),
    n_components=st.integers(1, 5),
    density=st.sampled_from([0.15, 0.85]),
    hyperparameters=st.sampled_from([(0.3, None), (1.5, None), (1.5, 2.0), (7.0, 0.4)]),
)
def test_a_step_is_the_papers(kind, seed, n_components, density, hyperparameters):
    """Responsibilities and bound equal E_q[ln p] - E_q[ln q] written out with SciPy (with alpha / K)."""
    alpha, gamma = hyperparameters
    data = random_data(seed, density=density)
    algorithm = algorithm_for(data, n_components, kind, alpha=alpha, gamma=gamma)
    prior = algorithm.prior
    matrix = data.to_scipy().toarray()
    state = algorithm.init(np.random.default_rng(seed))
    for _ in range(3):
        resp, bound = naive.variational_step(
            matrix,
            state.counts.sizes,
            state.counts.item_counts,
            alpha,
            prior.beta,
            prior.gamma,
            sticks=kind == "sticks",
        )
        state, info = algorithm.step(state)
        assert info.bound == pytest.approx(bound, rel=1e-9)
        sizes, item_counts = resp.sum(axis=0), resp.T @ matrix
        # The sticks may have been put into the order of size.
        found = state.counts
        order = np.argsort(-sizes) if not np.allclose(found.sizes, sizes, atol=1e-5) else slice(None)
        np.testing.assert_allclose(found.sizes, sizes[order], atol=1e-5)
        np.testing.assert_allclose(found.item_counts, item_counts[order], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 1000), n_components=st.integers(1, 8), init=st.sampled_from(["random", "k-means++"])
)
def test_the_bound_never_falls(kind, seed, n_components, init):
    """Each iteration raises it, to rounding, also where components change their order."""
    data = random_data(seed, n_rows=40)
    algorithm = algorithm_for(data, n_components, kind, init)
    result = run(algorithm, len(data), FAST, seed)
    assert np.isfinite(result.bounds).all()
    assert np.diff(result.bounds).min() > -1e-7 * abs(result.bounds[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_mixture_is_recovered(kind):
    """Given six components, the three that made the data are found and the rest stays nearly empty."""
    truth = planted_mixture()
    data = truth.sample(4000, random_state=0)
    algorithm = algorithm_for(data, 6, kind, "k-means++")
    result = run(algorithm, len(data), Settings(n_init=3, max_iter=300, tol=1e-6), 0)
    fitted = algorithm.finish(result.state)
    order = np.argsort(-fitted.mixture.weights)[:3]
    assert fitted.mixture.weights[order].sum() > 0.97
    np.testing.assert_allclose(fitted.mixture.weights[order], truth.weights, atol=0.04)
    np.testing.assert_allclose(fitted.mixture.probs[order], truth.probs, atol=0.06)


def test_components_of_the_dirichlet_process_are_in_order_of_size():
    """Sizes never rise from one component of the result to the next."""
    data = random_data(4, n_rows=100)
    algorithm = algorithm_for(data, 8, "sticks")
    fitted = algorithm.finish(run(algorithm, len(data), FAST, 0).state)
    assert (np.diff(fitted.counts.sizes) <= 0).all()
    assert (np.diff(fitted.posterior.rho) <= 0).all()


@given(st.lists(st.floats(0, 50), min_size=2, max_size=7), st.sampled_from([0.2, 1.0]))
def test_the_order_of_size_has_the_highest_bound(sizes, alpha):
    """Up to alpha = 1 no order of the sticks has a higher bound than that of the sizes."""
    prior = make_prior(np.array([1]), 2, alpha=alpha, weights="sticks")
    ordered = np.sort(sizes)[::-1]
    best = stick_evidence(prior, ordered)
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(ordered)
        assert stick_evidence(prior, shuffled) <= best + 1e-9 * abs(best)


@given(st.lists(st.floats(0, 50), min_size=2, max_size=7), st.sampled_from([0.2, 1.5]))
def test_the_sticks_evidence_is_their_part_of_the_bound(sizes, alpha):
    """At the best q(v), sum_k N_k E[ln pi_k] - KL(q(v) || p(v)) is the evidence, up to a constant."""
    prior = make_prior(np.array([1]), 2, alpha=alpha, weights="sticks")
    values = np.array(sizes)
    log_weights, divergence = expected_log_weights(prior, values)
    constant = stick_evidence(prior, np.zeros(len(sizes)))
    assert values @ log_weights - divergence == pytest.approx(
        stick_evidence(prior, values) - constant, abs=1e-8
    )


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 1000), n_components=st.integers(1, 5))
def test_squares_are_those_of_the_responsibilities(kind, seed, n_components):
    """A state that was measured has the sums of squared responsibilities; its counts stay as they are."""
    data = random_data(seed)
    algorithm = algorithm_for(data, n_components, kind)
    state = algorithm.init(np.random.default_rng(seed))
    counts, prior, matrix = state.counts, state.prior, data.to_scipy().toarray()
    resp, _ = naive.variational_step(
        matrix,
        counts.sizes,
        counts.item_counts,
        prior.alpha,
        prior.beta,
        prior.gamma,
        sticks=kind == "sticks",
    )
    found = algorithm.measured(state).counts
    assert found.with_squares(None) == counts
    np.testing.assert_allclose(found.squares.sizes, (resp**2).sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.squares.item_counts, (resp**2).T @ matrix, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_one_component_is_independence(kind):
    """With K = 1 each probability is its Beta posterior's mean."""
    data = random_data(1)
    algorithm = algorithm_for(data, 1, kind)
    fitted = algorithm.finish(run(algorithm, len(data), FAST, 0).state)
    expected = (algorithm.prior.beta + data.item_counts()) / (1 + len(data))
    np.testing.assert_allclose(fitted.mixture.probs[0], expected)
    assert fitted.posterior.mixture() == fitted.mixture


@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_change_a_bit(kind):
    """One thread and two end in the same posterior, exactly."""
    data = planted_mixture().sample(30_000, random_state=0)
    found = []
    for n_threads in (1, 2):
        algorithm = algorithm_for(data, 12, kind, n_threads=n_threads)
        found.append(algorithm.finish(run(algorithm, len(data), Settings(1, 4, None), 0).state).posterior)
    assert found[0] == found[1]


def test_many_items_are_worked_on_in_blocks():
    """Tables of several blocks of items are those of one block."""
    data = random_data(0, n_rows=20, n_items=1500)
    algorithm = algorithm_for(data, 30, "dirichlet")
    state = algorithm.init(np.random.default_rng(0))
    resp, bound = naive.variational_step(
        data.to_scipy().toarray(),
        state.counts.sizes,
        state.counts.item_counts,
        1.5,
        algorithm.prior.beta,
        algorithm.prior.gamma,
        sticks=False,
    )
    after, info = algorithm.step(state)
    assert info.bound == pytest.approx(bound, rel=1e-9)
    np.testing.assert_allclose(after.counts.sizes, resp.sum(axis=0), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 1000), n_components=st.integers(1, 6))
def test_learned_hyperparameters_keep_the_bound_rising(kind, seed, n_components):
    """Empirical Bayes is one more step upwards: the bound never falls, and ends above that of fixed ones."""
    data = random_data(seed, n_rows=40)
    fixed = run(algorithm_for(data, n_components, kind), len(data), FAST, seed)
    algorithm = algorithm_for(data, n_components, kind, learn=True)
    learned = run(algorithm, len(data), FAST, seed)
    assert np.diff(learned.bounds).min() > -1e-7 * abs(learned.bounds[-1])
    assert learned.bounds[1] >= fixed.bounds[1] - 1e-9 * abs(fixed.bounds[1])


def test_the_strength_of_the_prior_is_found():
    """Components whose probabilities are all near the frequencies make the learned prior strong."""
    rng = np.random.default_rng(0)
    probs = rng.beta(50 * 0.3, 50 * 0.7, (3, 40))
    probs[:, :9] = planted_mixture().probs
    data = Mixture([0.4, 0.3, 0.3], probs, range(40)).sample(3000, random_state=0)
    algorithm = algorithm_for(data, 3, "dirichlet", "k-means++", learn=True)
    prior = run(algorithm, len(data), Settings(1, 40, None), 0).state.prior
    assert (prior.beta + prior.gamma).mean() > 4
