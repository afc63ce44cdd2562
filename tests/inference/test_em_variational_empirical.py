"""Empirical Bayes: the hyperparameters are those with the highest expected log-prior under q."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import psi

from itemix.inference.em import best_alpha, best_strength, best_strengths
from itemix.inference.priors import make_prior
from itemix.models.counts import Counts

FACTORS = np.exp(np.linspace(-1.5, 1.5, 31))


@given(st.integers(0, 300), st.sampled_from(["dirichlet", "sticks"]))
def test_no_other_alpha_is_better(seed, kind):
    """E_q[ln p(v | alpha)] is not higher at any alpha of a grid around the one found."""
    rng = np.random.default_rng(seed)
    sizes = np.sort(rng.exponential(30, 5))[::-1]
    prior = make_prior(np.array([1]), 2, alpha=rng.uniform(0.5, 3), weights=kind)
    found = best_alpha(prior, sizes)

    def expected(alpha):
        a, b = (x[:-1] for x in prior.sticks(5))
        later = np.cumsum(sizes[:0:-1])[::-1]
        total = psi(a + sizes[:-1] + b + later)
        log_v, log_left = psi(a + sizes[:-1]) - total, psi(b + later) - total
        new_a, new_b = (x[:-1] for x in replace(prior, alpha=alpha).sticks(5))
        normaliser = stats.beta(new_a, new_b).logpdf(0.5) - (new_a + new_b - 2) * np.log(0.5)
        return (normaliser + (new_a - 1) * log_v + (new_b - 1) * log_left).sum()

    best = expected(found.alpha)
    assert all(expected(found.alpha * factor) <= best + 1e-6 * abs(best) for factor in FACTORS)


def test_each_group_of_items_has_its_best_strength():
    """What is found for a group is what is found for a model of these items alone."""
    rng = np.random.default_rng(3)
    sizes = np.array([50.0, 80.0, 20.0])
    held = rng.binomial(sizes.astype(int)[:, None], rng.beta(1, 5, (3, 7))).astype(float)
    prior = make_prior(held.sum(axis=0).astype(int), 150)
    groups = np.array([0, 3, 5], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    found = best_strengths(prior, groups, Counts(sizes, held))
    for items in groups:
        own = make_prior(held.sum(axis=0).astype(int)[items], 150)
        alone = best_strength(own, Counts(sizes, held[:, items]))
        np.testing.assert_allclose(found.beta[items], alone.beta)
    np.testing.assert_array_equal(found.gamma[[4, 6]], prior.gamma[[4, 6]])


@given(st.integers(0, 300))
def test_no_other_strength_is_better(seed):
    """E_q[ln p(phi | beta, gamma)] is not higher at any common factor of a grid around the one found."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 60, 4).astype(float)
    held = rng.binomial(sizes.astype(int)[:, None], rng.beta(2, 3, (4, 6))).astype(float)
    prior = make_prior(held.sum(axis=0).astype(int), int(sizes.sum()))
    found = best_strength(prior, Counts(sizes, held))
    np.testing.assert_allclose(found.gamma / found.beta, prior.gamma / prior.beta)
    eta, nu = prior.beta + held, prior.gamma + sizes[:, None] - held
    log_phi, log_not = psi(eta) - psi(eta + nu), psi(nu) - psi(eta + nu)

    def expected(factor):
        b, g = factor * found.beta, factor * found.gamma
        normaliser = stats.beta(b, g).logpdf(0.5) - (b + g - 2) * np.log(0.5)
        return (normaliser + (b - 1) * log_phi + (g - 1) * log_not).sum()

    best = expected(1.0)
    assert all(expected(factor) <= best + 1e-6 * abs(best) for factor in FACTORS)


def test_one_component_has_no_alpha_to_learn():
    """With one component the weights say nothing about alpha."""
    prior = make_prior(np.array([1]), 2, alpha=2.0)
    assert best_alpha(prior, np.array([5.0])).alpha == pytest.approx(2.0)
