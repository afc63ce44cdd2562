"""Special functions against SciPy's, and the seeding kernel against its twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive.csr import nearest_seeds
from scipy.special import gammaln, psi

from itemix import Transactions
from itemix.kernels import csr
from itemix.kernels.inference import estep


def test_digamma_and_log_gamma_are_scipys():
    """Over twelve orders of magnitude they agree to rounding."""
    x = np.concatenate([np.logspace(-6, 6, 5001), np.linspace(0.5, 12, 2001)])
    found_psi, found_gamma = estep.digamma_and_log_gamma_of(x)
    np.testing.assert_allclose(found_psi, psi(x), rtol=1e-13, atol=2e-15)
    np.testing.assert_allclose(found_gamma, gammaln(x), rtol=1e-13, atol=1e-14)


@given(st.integers(0, 1000))
def test_a_seed_lowers_the_distances(seed):
    """Distances are Hamming distances to the nearest seed, labels its number."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((12, 6)) < 0.5).astype(int)
    data = Transactions.from_matrix(matrix)
    nearest, label = np.full(12, 99), np.zeros(12, dtype=np.int64)
    for number, row in enumerate([3, 7]):
        csr.add_seed(data.indptr, data.indices, 6, row, number, nearest, label)
    assert [nearest.tolist(), label.tolist()] == list(nearest_seeds(matrix.tolist(), [3, 7]))
