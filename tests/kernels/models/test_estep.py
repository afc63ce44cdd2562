"""The E-step kernel against its naive twin, zeros and ones among the probabilities included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import estep as naive

from itemix import Transactions
from itemix._runtime import Workers
from itemix.kernels.models.estep import ScoreTables, row_responsibilities
from itemix.models.counts import Rows, counts_of_labels, tables_of_mixture


def random_case(seed, *, n_rows=40, n_items=7, n_components=5, extreme=0.0, density=0.4):
    """Return a matrix, multiplicities and a random mixture, some of whose probabilities are 0 and 1."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((n_rows, n_items)) < density).astype(int)
    probs = rng.random((n_components, n_items))
    probs[rng.random(probs.shape) < extreme] = 0.0
    probs[rng.random(probs.shape) < extreme] = 1.0
    weights = rng.dirichlet(np.ones(n_components))
    return matrix, rng.integers(1, 4, n_rows), weights, probs


def transactions_of(matrix, multiplicities):
    """Return a matrix as transactions that each stand for several."""
    base = Transactions.from_matrix(matrix)
    return Transactions(base.indptr, base.indices, base.items, multiplicities)


def rows_of(matrix, multiplicities, n_threads=1):
    """Return E-step rows whose items are flipped where frequent."""
    return Rows(transactions_of(matrix, multiplicities), Workers(n_threads))


@given(st.integers(0, 10_000), st.sampled_from([1, 4, 70]), st.sampled_from([0.0, 0.2]))
def test_rows_that_share_prefixes_count_alike(seed, n_components, extreme):
    """Data that is sorted and shares prefixes, and data left as it is, have the same counts and bound."""
    matrix, multiplicities, weights, probs = random_case(
        seed, n_rows=60, n_items=12, n_components=n_components, extreme=extreme
    )
    matrix[10:30] = matrix[5]
    matrix[10:30, -3:] = np.random.default_rng(seed).random((20, 3)) < 0.5
    rows = rows_of(matrix, multiplicities)
    plain = rows_of(matrix, multiplicities)
    assert rows._shared.max() > 3
    plain._shared = plain._shared[:0]
    tables = tables_of_mixture(weights, probs.T, rows.flipped)
    (counts, bound), (expected, value) = rows.expected_counts(tables), plain.expected_counts(tables)
    assert bound == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(counts.sizes, expected.sizes, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(counts.item_counts, expected.item_counts, rtol=1e-9, atol=1e-12)


@given(
    st.integers(0, 10_000), st.integers(1, 9), st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0.2, 0.8])
)
def test_expected_counts_equal_the_naive_ones(seed, n_components, extreme, density):
    """Counts and bound are those of a dense softmax; the threshold changes them by less than 1e-6."""
    case = random_case(seed, n_components=n_components, extreme=extreme, density=density)
    matrix, multiplicities, weights, probs = case
    rows = rows_of(matrix, multiplicities)
    counts, bound = rows.expected_counts(tables_of_mixture(weights, probs.T, rows.flipped))
    scores = naive.log_joint(matrix, weights, probs)
    sizes, item_counts, value = naive.expected_counts(matrix, multiplicities, scores)
    assert bound == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(counts.sizes, sizes, atol=1e-6)
    np.testing.assert_allclose(counts.item_counts, item_counts, atol=1e-6)
    assert counts.sizes.sum() == pytest.approx(multiplicities.sum(), rel=1e-12)
    assert (counts.item_counts <= counts.sizes[:, None]).all()


@given(st.integers(0, 10_000), st.integers(1, 70))
def test_tables_of_any_numbers_serve_the_variational_methods(seed, n_components):
    """Present and absent need not be logs of probabilities that sum to one."""
    rng = np.random.default_rng(seed)
    matrix, multiplicities, _, _ = random_case(seed)
    log_weights = -5 * rng.random(n_components)
    present, absent = -3 * rng.random((2, matrix.shape[1], n_components))
    rows = rows_of(matrix, multiplicities)
    stored, other = np.where(rows.flipped[:, None], (absent, present), (present, absent))
    tables = ScoreTables.without_requirements(stored - other, log_weights + other.sum(axis=0))
    counts, bound = rows.expected_counts(tables)
    scores = log_weights + matrix @ present + (1 - matrix) @ absent
    sizes, item_counts, value = naive.expected_counts(matrix, multiplicities, scores)
    assert bound == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(counts.sizes, sizes, atol=1e-6)
    np.testing.assert_allclose(counts.item_counts, item_counts, atol=1e-6)


@given(
    st.integers(0, 10_000), st.sampled_from([1, 5, 70]), st.sampled_from([0.0, 0.3]), st.sampled_from([1, 30])
)
def test_squares_are_those_of_the_twin(seed, n_components, extreme, sharpness):
    """Asked for squares, the counts are sums of squared responsibilities; the bound stays the same."""
    case = random_case(seed, n_rows=60, n_items=9, n_components=n_components, extreme=extreme)
    matrix, multiplicities, weights, probs = case
    matrix[10:30] = matrix[5]
    rows = rows_of(matrix, multiplicities)
    # The sharper the scores, the fewer components come near the best one.
    tables = tables_of_mixture(weights, probs.T, rows.flipped)
    tables = tables._replace(odds=sharpness * tables.odds, base=sharpness * tables.base)
    counts, bound = rows.expected_counts(tables, squared=True)
    scores = sharpness * naive.log_joint(matrix, weights, probs)
    sizes, item_counts, value = naive.expected_counts(matrix, multiplicities, scores, power=2)
    assert bound == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(counts.sizes, sizes, atol=1e-6)
    np.testing.assert_allclose(counts.item_counts, item_counts, atol=1e-6)


@given(st.integers(0, 10_000), st.integers(1, 9), st.sampled_from([0.0, 0.2]))
def test_responsibilities_of_rows_are_those_of_the_twin(seed, n_components, extreme):
    """Also of some rows in the middle; their log-likelihoods come with them."""
    matrix, multiplicities, weights, probs = random_case(seed, n_components=n_components, extreme=extreme)
    data = transactions_of(matrix, multiplicities)
    first, last = 5, 30
    values, resp = np.empty(last - first), np.empty((last - first, n_components))
    row_responsibilities(
        data.indptr, data.indices, first, last, tables_of_mixture(weights, probs.T), values, resp
    )
    scores = naive.log_joint(matrix, weights, probs)[first:last]
    np.testing.assert_allclose(values, naive.log_sum_exp(scores), rtol=1e-9)
    np.testing.assert_allclose(resp, naive.responsibilities(scores), atol=1e-7)


def test_impossible_rows_are_shared_equally():
    """A row that no component allows has -inf and equal responsibilities, never NaN."""
    rows = rows_of(np.array([[1, 0], [0, 1], [0, 0]]), np.ones(3, dtype=int))
    counts, bound = rows.expected_counts(tables_of_mixture(np.array([0.5, 0.5]), np.zeros((2, 2))))
    assert bound == -np.inf
    np.testing.assert_allclose(counts.sizes, 1.5)


def test_threads_do_not_change_a_bit():
    """One and three threads give the same counts and the same bound, exactly."""
    matrix, multiplicities, weights, probs = random_case(1, n_rows=30_000, n_items=30, n_components=17)
    results = []
    for n_threads in (1, 3):
        rows = rows_of(matrix, multiplicities, n_threads)
        tables = tables_of_mixture(weights, probs.T, rows.flipped)
        results.append(rows.expected_counts(tables))
        assert len(rows._blocks(17)) > 2
    assert results[0][0] == results[1][0]
    assert results[0][1] == results[1][1]


@given(st.integers(0, 1000))
def test_counts_of_labels_are_those_of_the_twin(seed):
    """Hard labels give the counts of each component's own transactions, repeated rows included."""
    matrix, multiplicities, _, _ = random_case(seed, n_rows=10, density=0.7)
    labels = np.random.default_rng(seed).integers(0, 4, multiplicities.sum())
    data = transactions_of(matrix, multiplicities)
    counts = counts_of_labels(data, labels, 4)
    sizes, item_counts = naive.label_counts(data.to_lists(), labels.tolist(), 4, data.n_items)
    assert counts.sizes.tolist() == sizes
    assert counts.item_counts.tolist() == item_counts
