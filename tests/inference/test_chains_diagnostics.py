"""R-hat and effective sample size where the right answer is known."""

import arviz_stats
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemix.inference.chains import effective_sample_size, r_hat


def autoregressive(rho, n_chains, n_draws, seed=0):
    """Return stationary AR(1) chains, whose effective sample size is n (1 - rho) / (1 + rho)."""
    rng = np.random.default_rng(seed)
    x = np.empty((n_chains, n_draws))
    x[:, 0] = rng.normal(size=n_chains) / np.sqrt(1 - rho**2)
    for t in range(1, n_draws):
        x[:, t] = rho * x[:, t - 1] + rng.normal(size=n_chains)
    return x


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.6, 0.95])
def test_diagnostics_are_arvizs(rho):
    """Both diagnostics are those of ArviZ."""
    for n_chains, n_draws in ((2, 4), (3, 7), (2, 30), (4, 401)):
        draws = autoregressive(rho, n_chains, n_draws)
        for values in (draws, draws + np.arange(n_chains)[:, None], np.round(draws)):
            assert r_hat(values) == pytest.approx(float(arviz_stats.rhat(values)), rel=1e-9)
            assert effective_sample_size(values) == pytest.approx(float(arviz_stats.ess(values)), rel=1e-9)


def test_independent_draws():
    """Independent draws count as themselves, and chains of them agree."""
    draws = np.random.default_rng(0).normal(size=(4, 2000))
    assert r_hat(draws) == pytest.approx(1.0, abs=0.003)
    assert effective_sample_size(draws) == pytest.approx(8000, rel=0.1)


@pytest.mark.parametrize("rho", [-0.5, 0.3, 0.9])
def test_correlated_draws(rho):
    """The effective sample size of an AR(1) chain is n (1 - rho) / (1 + rho), also above n."""
    draws = autoregressive(rho, 4, 20_000)
    assert effective_sample_size(draws) == pytest.approx(80_000 * (1 - rho) / (1 + rho), rel=0.15)


def test_chains_in_different_places_do_not_agree():
    """A shifted chain, and one that spreads wider around the same median, raise R-hat."""
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 500))
    assert r_hat(draws + np.array([[0], [0], [0], [2]])) > 1.2
    assert r_hat(draws * np.array([[1], [1], [1], [5]])) > 1.1
    assert effective_sample_size(draws + np.array([[0], [0], [0], [5]])) < 20


def test_a_drifting_chain_does_not_agree_with_itself():
    """One chain is split in halves, so a trend shows without a second chain."""
    draws = np.random.default_rng(2).normal(size=400) + np.linspace(0, 4, 400)
    assert r_hat(draws) > 1.5


@given(st.integers(0, 1000), st.sampled_from([np.exp, np.arctan, lambda x: 3 * x - 7]))
def test_only_ranks_matter(seed, transform):
    """A rising transformation changes neither effective sample size nor the location part of R-hat."""
    draws = autoregressive(0.5, 3, 60, seed)
    assert effective_sample_size(transform(draws)) == pytest.approx(effective_sample_size(draws))


def test_infinite_variance_is_no_obstacle():
    """Ranks make both diagnostics work for Cauchy draws."""
    draws = np.random.default_rng(3).standard_cauchy(size=(4, 1000))
    assert r_hat(draws) == pytest.approx(1.0, abs=0.01)
    assert effective_sample_size(draws) == pytest.approx(4000, rel=0.15)


@pytest.mark.parametrize("draws", [[[1.0, 2.0, 3.0]], np.ones((2, 50)), [[1.0, np.nan, 2.0, 3.0, 4.0]]])
def test_nothing_to_diagnose_is_nan(draws):
    """Too few draws, constant ones and ones that are no numbers have no diagnostics."""
    assert np.isnan(r_hat(draws))
    assert np.isnan(effective_sample_size(draws))


def test_chains_that_are_stuck_apart():
    """Chains that never move, each at its own value, have an infinite R-hat."""
    assert r_hat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf
