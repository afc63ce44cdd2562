"""EM: against its naive twin, and by its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference.planted import planted_mixture, random_data, rows_of, start_of
from naive import inference as naive

from itemix import Transactions
from itemix.inference.em import EM
from itemix.inference.loop import Settings, run
from itemix.models.counts import Counts
from itemix.models.mixture import Mixture

FAST = Settings(n_init=1, max_iter=60, tol=None)


def fit(data, n_components, *, settings=FAST, seed=0, init="random", n_threads=1):
    """Run EM and return the run and the result."""
    rows = rows_of(data, n_threads)
    algorithm = EM(rows, start_of(data, rows, n_components, init))
    result = run(algorithm, rows.n_transactions, settings, seed)
    return result, algorithm.finish(result.state)


@given(st.integers(0, 1000), st.integers(1, 5), st.sampled_from([0.15, 0.5, 0.85]))
def test_a_step_is_the_papers(seed, n_components, density):
    """Three steps give the counts and log-likelihoods of Algorithm 1 written in NumPy."""
    data = random_data(seed, density=density)
    matrix = data.to_scipy().toarray()
    rows = rows_of(data)
    algorithm = EM(rows, start_of(data, rows, n_components))
    state = algorithm.init(np.random.default_rng(seed))
    for _ in range(3):
        sizes, item_counts, value = naive.em_step(matrix, state.sizes, state.item_counts)
        state, info = algorithm.step(state)
        assert info.bound == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(state.sizes, sizes, atol=1e-5)
        np.testing.assert_allclose(state.item_counts, item_counts, atol=1e-5)


@given(st.integers(0, 1000), st.integers(1, 8), st.sampled_from(["random", "k-means++"]))
def test_the_log_likelihood_never_falls(seed, n_components, init):
    """Each iteration raises it, to rounding; nothing is ever NaN."""
    result, fitted = fit(random_data(seed, n_rows=40), n_components, seed=seed, init=init)
    assert np.isfinite(result.bounds).all()
    assert np.diff(result.bounds).min() > -1e-8 * abs(result.bounds[-1])
    assert np.isfinite(fitted.mixture.probs).all()


def test_a_planted_mixture_is_recovered():
    """Well separated components are found, weights and probabilities, up to their order."""
    truth = planted_mixture()
    _, fitted = fit(truth.sample(4000, random_state=0), 3, init="k-means++")
    order = np.argsort(-fitted.mixture.weights)
    np.testing.assert_allclose(fitted.mixture.weights[order], truth.weights, atol=0.03)
    np.testing.assert_allclose(fitted.mixture.probs[order], truth.probs, atol=0.06)


def test_one_component_is_independence():
    """With K = 1 the probabilities are the items' frequencies."""
    data = random_data(1)
    _, fitted = fit(data, 1)
    np.testing.assert_allclose(fitted.mixture.probs[0], data.item_counts() / len(data))


def test_as_many_components_as_distinct_rows_reproduce_the_data():
    """K = N on distinct rows gives the empirical mixture: likelihood 1 / N for each row."""
    data = Transactions.from_matrix(np.unique(random_data(3).to_scipy().toarray(), axis=0)[:20])
    _, fitted = fit(data, len(data), init="random")
    np.testing.assert_allclose(fitted.mixture.log_likelihood(data), -np.log(len(data)), atol=1e-12)
    assert set(np.unique(fitted.mixture.probs)) <= {0.0, 1.0}


def test_the_order_of_rows_does_not_matter():
    """From the same start, permuted rows give the same model."""
    data = random_data(5, n_rows=80)
    start = Mixture([0.5, 0.5], np.random.default_rng(0).random((2, 6)), data.items)
    matrix = data.to_scipy().toarray()
    other = Transactions.from_matrix(matrix[np.random.default_rng(1).permutation(80)])
    _, left = fit(data, 2, init=start)
    _, right = fit(other, 2, init=start)
    np.testing.assert_allclose(left.mixture.probs, right.mixture.probs, atol=1e-8)


def test_the_order_of_labels_does_not_matter():
    """Renamed labels give the same components under other numbers."""
    data = random_data(5, n_rows=80)
    labels = np.random.default_rng(2).integers(0, 3, 80)
    _, left = fit(data, 3, init=labels)
    _, right = fit(data, 3, init=(labels + 1) % 3)
    np.testing.assert_allclose(left.mixture.probs, right.mixture.probs[[1, 2, 0]], atol=1e-8)


def test_merged_rows_give_the_same_fit():
    """Stored multiplicities stand for as many transactions."""
    data = random_data(6, n_rows=200, n_items=4)
    start = Mixture([0.5, 0.5], np.random.default_rng(0).random((2, 4)), data.items)
    _, left = fit(data, 2, init=start)
    _, right = fit(data.merge_identical(), 2, init=start)
    np.testing.assert_allclose(left.mixture.probs, right.mixture.probs, atol=1e-8)


def test_threads_do_not_change_a_bit():
    """One thread and two end in the same mixture, exactly."""
    data = planted_mixture().sample(30_000, random_state=0)
    models = [fit(data, 12, settings=Settings(1, 5, None), n_threads=n)[1].mixture for n in (1, 2)]
    assert models[0] == models[1]


def test_an_empty_component_keeps_weight_zero():
    """A component without transactions stays there, finite, and out of the number in use."""
    data = random_data(2)
    rows = rows_of(data)
    algorithm = EM(rows, start_of(data, rows, 3))
    counts = algorithm.init(np.random.default_rng(0))
    emptied = Counts(counts.sizes * [1, 1, 0], counts.item_counts * [[1], [1], [0]])
    state, info = algorithm.step(emptied)
    assert info.n_components == 2
    assert state.sizes[2] == 0
    fitted = algorithm.finish(state)
    assert fitted.mixture.weights[2] == 0
    np.testing.assert_allclose(fitted.mixture.probs[2], data.item_counts() / len(data))
