"""Special functions against SciPy's, and the seeding kernel against its twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive.csr import nearest_seeds
from scipy.special import betaln, gammaln, psi

from itemix import Transactions
from itemix.kernels import csr
from itemix.kernels.models import estep


def test_digamma_and_log_gamma_are_scipys():
    """Over twelve orders of magnitude they agree to rounding."""
    x = np.concatenate([np.logspace(-6, 6, 5001), np.linspace(0.5, 12, 2001)])
    found_psi, found_gamma = estep.digamma_and_log_gamma_of(x)
    np.testing.assert_allclose(found_psi, psi(x), rtol=1e-13, atol=2e-15)
    np.testing.assert_allclose(found_gamma, gammaln(x), rtol=1e-13, atol=1e-14)


@given(st.integers(0, 1000))
def test_tables_of_beta_posteriors(seed):
    """Expected log-probabilities, and the divergence from the prior, are those of SciPy's functions."""
    rng = np.random.default_rng(seed)
    sizes = rng.gamma(2.0, 5.0, 4)
    held = rng.random((6, 4)) * sizes
    beta, gamma, flipped = rng.gamma(1.0, 1.0, 6) + 0.01, rng.gamma(1.0, 1.0, 6) + 0.01, rng.random(6) < 0.5
    odds, base = np.zeros((6, 4)), np.ones(4)
    divergence = estep.beta_tables(sizes, held, estep.ItemPriors(beta, gamma, flipped), 2, 6, odds, base)
    b, g, is_flipped = beta[2:, None], gamma[2:, None], flipped[2:, None]
    eta, nu = b + held[2:], g + sizes - held[2:]
    log_phi, log_not = psi(eta) - psi(eta + nu), psi(nu) - psi(eta + nu)
    expected = betaln(b, g) - betaln(eta, nu) + (eta - b) * log_phi + (nu - g) * log_not
    np.testing.assert_allclose(
        odds[2:], np.where(is_flipped, -1, 1) * (log_phi - log_not), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(base, 1 + np.where(is_flipped, log_phi, log_not).sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(divergence, expected.sum(), rtol=1e-9)
    assert not odds[:2].any()


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
