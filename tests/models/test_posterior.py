"""Posterior: its closed-form moments against draws from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.posterior import itemset_moments

from itemix.errors import InvalidInputError
from itemix.models.posterior import Posterior

NAMES = ["a", "b", "c"]


def random_posterior(seed=0, n_components=4, *, dirichlet=False):
    """Return a posterior with spread-out parameters."""
    rng = np.random.default_rng(seed)
    eta, nu = rng.uniform(0.5, 6, (2, n_components, 3))
    rho = rng.uniform(0.5, 5, n_components)
    if dirichlet:
        return Posterior.dirichlet(rho, eta, nu, NAMES)
    rest = np.append(rng.uniform(0.5, 5, n_components - 1), 0.0)
    return Posterior(rho, rest, eta, nu, NAMES)


def sets(*members):
    """Return sets of codes in compressed form."""
    offsets = np.concatenate([[0], np.cumsum([len(m) for m in members])]).astype(np.int64)
    return offsets, np.array([i for m in members for i in m], dtype=np.int32)


def codes(*values):
    """Return item codes."""
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize("dirichlet", [False, True])
def test_moments_agree_with_draws(dirichlet):
    """Mean, second moment and product with the condition are those of 40,000 drawn mixtures."""
    posterior = random_posterior(3, dirichlet=dirichlet)
    rng = np.random.default_rng(0)
    draws = [posterior.sample(random_state=rng) for _ in range(40_000)]
    joint = np.array([m.weights @ (m.probs[:, 0] * (1 - m.probs[:, 2]) * m.probs[:, 1]) for m in draws])
    condition = np.array([m.weights @ m.probs[:, 1] for m in draws])
    found = np.exp(posterior.log_moments(sets([0, 0]), sets([2]), codes(1), codes())[0, :3])
    np.testing.assert_allclose(
        found, [joint.mean(), (joint**2).mean(), (joint * condition).mean()], rtol=0.02
    )


@given(st.integers(0, 500), st.booleans(), st.lists(st.sampled_from("pagn-"), min_size=3, max_size=3))
def test_moments_are_double_sums_over_the_components(seed, dirichlet, roles):
    """The steps from stick to stick give what all pairs of components add up to (see the twin)."""
    posterior = random_posterior(seed, dirichlet=dirichlet)
    present, absent, given_present, given_absent = (
        [i for i, role in enumerate(roles) if role == kind] for kind in "pagn"
    )
    found = posterior.log_moments(
        sets([*present, *given_present, *present], present),
        sets([*absent, *given_absent], [*absent, *absent]),
        codes(*given_present),
        codes(*given_absent),
    )
    expected = itemset_moments(
        posterior.rho.tolist(),
        posterior.rest.tolist(),
        posterior.eta.tolist(),
        posterior.nu.tolist(),
        (set(present), set(absent)),
        (set(given_present), set(given_absent)),
    )
    np.testing.assert_allclose(np.exp(found), [expected, expected], rtol=1e-9)


@given(st.integers(0, 500))
def test_what_is_not_known_widens_and_moves_nothing(seed):
    """Probabilities vary as those of Betas of so much less, with the same means."""
    sure = random_posterior(seed)
    known = np.random.default_rng(seed).uniform(0.1, 1, sure.eta.shape)
    unsure = Posterior(sure.rho, sure.rest, sure.eta, sure.nu, NAMES, known=known)
    weaker = Posterior(sure.rho, sure.rest, known * sure.eta, known * sure.nu, NAMES)
    asked = sets([0, 2], [1]), sets([], [0]), codes(2), codes()
    found, expected, before = (p.log_moments(*asked) for p in (unsure, weaker, sure))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[:, 0], before[:, 0])
    assert (found[:, 1] > before[:, 1]).all()
    assert unsure.mixture() == sure.mixture()
    np.testing.assert_allclose(
        unsure.sample(random_state=seed).probs, weaker.sample(random_state=seed).probs, rtol=1e-6
    )


def test_moments_far_below_the_least_number():
    """Of 400 items in one component the logarithms are the sums of the items' logarithms."""
    eta, nu = np.full((1, 400), 0.5), np.full((1, 400), 999.5)
    posterior = Posterior([3.0], [0.0], eta, nu, range(400))
    everything, nothing = np.arange(400, dtype=np.int32), codes()
    found = posterior.log_moments(sets(everything[:300]), sets([]), everything[300:], nothing)
    once, twice = np.log(0.5 / 1000), np.log(0.5 * 1.5 / (1000 * 1001))
    expected = [400 * once, 400 * twice, 300 * once + 100 * twice, 300 * twice + 100 * once]
    np.testing.assert_allclose(found[0], expected)


@given(st.integers(0, 500), st.booleans())
def test_the_mean_is_the_predictive_mixture(seed, dirichlet):
    """The first moment of an itemset is its probability in the mixture of expectations (eq. DPPredict)."""
    posterior = random_posterior(seed, dirichlet=dirichlet)
    found = np.exp(posterior.log_moments(sets([0, 2], [1]), sets([], [0]), codes(), codes()))
    model = posterior.mixture()
    assert found[0, 0] == pytest.approx(model.probability(["a", "c"]))
    assert found[1, 0] == pytest.approx(model.probability(["b"], absent=["a"]))
    np.testing.assert_allclose(found[:, 2], found[:, 0])


def test_a_dirichlet_is_a_row_of_sticks():
    """The expected weights of Posterior.dirichlet are rho over its sum (eq. BayesianPredict)."""
    posterior = random_posterior(1, dirichlet=True)
    np.testing.assert_allclose(posterior.mean_weights(), posterior.rho / posterior.rho.sum())


def test_the_last_weight_is_the_remainder():
    """Sticks' expected weights sum to one, because the last stick is one."""
    assert random_posterior(1).mean_weights().sum() == pytest.approx(1)


def test_bad_parameters_are_refused():
    """Shapes that do not fit, parameters that are not positive and an open last stick are errors."""
    ones = np.ones((2, 3))
    with pytest.raises(InvalidInputError, match="expected rho and rest of shape"):
        Posterior([1, 1, 1], [1, 1, 0], ones, ones, NAMES)
    with pytest.raises(InvalidInputError, match="expected positive, finite parameters"):
        Posterior([1, 1], [1, 0], 0 * ones, ones, NAMES)
    with pytest.raises(InvalidInputError, match="a last rest of 0"):
        Posterior([1, 1], [1, 1], ones, ones, NAMES)
    for known in (np.ones((2, 2)), 0 * ones, 1.5 * ones):
        with pytest.raises(InvalidInputError, match=r"expected known of shape \(2, 3\), all above 0"):
            Posterior([1, 1], [1, 0], ones, ones, NAMES, known=known)
    assert Posterior([1, 1], [1, 0], ones, ones, NAMES, known=ones) != Posterior(
        [1, 1], [1, 0], ones, ones, NAMES
    )
    assert random_posterior(2) == random_posterior(2)
    assert random_posterior(2) != random_posterior(3)
