"""Priors: the paper's defaults, the slips put right, and errors for what cannot be a prior."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import inference as naive
from scipy import stats

from itemix.core.items import Items
from itemix.errors import InvalidInputError
from itemix.inference.priors import alike_in_frequency, make_prior
from itemix.models.counts import Counts

TOTALS = np.array([5, 0, 10])


def test_defaults_are_the_papers():
    """Alpha is 1.5, beta the items' frequency, gamma the rest; 0 and 1 are moved by half a transaction."""
    prior = make_prior(TOTALS, 10)
    assert prior.alpha == 1.5
    np.testing.assert_allclose(prior.beta, [0.5, 0.05, 0.95])
    np.testing.assert_allclose(prior.gamma, [0.5, 0.95, 0.05])


def test_scalars_serve_all_items():
    """One number for beta or gamma holds for every item, and gamma is 1 - beta where left out."""
    prior = make_prior(TOTALS, 10, beta=0.2)
    np.testing.assert_allclose(prior.gamma, 0.8)
    np.testing.assert_allclose(make_prior(TOTALS, 10, beta=2, gamma=[1, 2, 3]).gamma, [1, 2, 3])


def test_rho_adds_alpha_over_k():
    """The prior Dir(alpha / K) adds alpha / K to each size, where the paper's rho_k adds alpha."""
    counts = Counts([3, 2, 5], np.zeros((3, 3)))
    posterior = make_prior(TOTALS, 10, alpha=1.5).posterior(counts, Items(["a", "b", "c"]))
    np.testing.assert_allclose(posterior.rho, [3.5, 2.5, 5.5])
    np.testing.assert_allclose(posterior.mean_weights(), np.array([3.5, 2.5, 5.5]) / 11.5)


def test_sticks_add_one_and_alpha():
    """The Dirichlet process adds 1 to each size and alpha to the sizes after it (rho_1 and rho_2)."""
    counts = Counts([3, 2, 5], np.ones((3, 3)))
    prior = make_prior(TOTALS, 10, alpha=0.7, beta=1, gamma=2, weights="sticks")
    posterior = prior.posterior(counts, Items(["a", "b", "c"]))
    np.testing.assert_allclose(posterior.rho, [4, 3, 6])
    np.testing.assert_allclose(posterior.rest, [7.7, 5.7, 0])
    np.testing.assert_allclose(posterior.eta, 2)
    np.testing.assert_allclose(posterior.nu[:, 0], [4, 3, 6])
    assert posterior.mean_weights().sum() == pytest.approx(1)


@given(st.integers(0, 1000), st.integers(1, 4))
def test_what_is_known_is_what_shares_tell(seed, n_components):
    """Of an item's probability, each transaction tells its share squared in place of its share."""
    rng = np.random.default_rng(seed)
    matrix, resp = rng.integers(0, 2, (20, 3)), rng.dirichlet(np.full(n_components, 0.3), 20)
    resp[:, rng.random(n_components) < 0.2] = 0.0
    squares = Counts((resp**2).sum(axis=0), (resp**2).T @ matrix)
    counts = Counts(resp.sum(axis=0), resp.T @ matrix, squares)
    prior = make_prior(TOTALS, 10, beta=0.5, gamma=0.7)
    posterior = prior.posterior(counts, Items(["a", "b", "c"]))
    known = naive.known_shares(matrix, resp, posterior.mean_probs(), 1.2)
    np.testing.assert_allclose(posterior.known, known, rtol=1e-9)
    assert prior.posterior(counts.with_squares(None), Items(["a", "b", "c"])).known is None


def test_where_all_is_sure_all_is_known():
    """Transactions that belong to one component each tell all; halved ones tell half, but for the prior."""
    counts = Counts([8, 4], [[4, 8], [1, 0]])
    items, prior = Items(["a", "b"]), make_prior(TOTALS[:2], 10, beta=1, gamma=1)
    np.testing.assert_array_equal(prior.posterior(counts.with_squares(counts), items).known, 1)
    halved = prior.posterior(counts.with_squares(counts.scaled(0.5)), items)
    np.testing.assert_allclose(halved.known, [[0.6, 0.6], [4 / 6, 4 / 6]])


def test_items_are_alike_in_octaves_of_their_rarer_side():
    """An item in all but five of a hundred transactions is as rare as one in five; each is in one group."""
    totals = np.array([0, 1, 5, 95, 7, 8, 50, 100, 99])
    groups = alike_in_frequency(totals, 100)
    assert [totals[items].tolist() for items in groups] == [[0, 1, 100, 99], [5, 95, 7], [8], [50]]


def test_a_dirichlet_prior_is_its_sticks():
    """The sticks of Dir(alpha / K) have that Dirichlet's marginal means and variances."""
    a, b = make_prior(TOTALS, 10, alpha=2.0).sticks(4)
    sticks = stats.beta(a[:-1], b[:-1]).rvs(size=(100_000, 3), random_state=0)
    weights = np.column_stack([sticks, np.ones(100_000)])
    weights[:, 1:] *= np.cumprod(1 - sticks, axis=1)
    np.testing.assert_allclose(weights.mean(axis=0), 0.25, atol=0.005)
    np.testing.assert_allclose(weights.var(axis=0), stats.dirichlet([0.5] * 4).var(), atol=0.003)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "expected alpha above 0, got 0"),
        ({"alpha": float("nan")}, "expected alpha above 0, got nan"),
        ({"alpha": "x"}, "expected alpha above 0, got 'x'"),
        ({"beta": -1.0}, "expected beta above 0, got -1.0"),
        ({"beta": float("nan"), "gamma": 1}, "expected beta above 0, got nan"),
        ({"gamma": 0}, "expected gamma above 0, got 0"),
        ({"beta": [0.1, 0.2]}, r"expected beta as one number or as 3, one for each item, got shape \(2,\)"),
        ({"beta": 1.5}, "expected beta of less than 1, got 1.5; or give gamma=1 too"),
    ],
)
def test_bad_hyperparameters_are_refused(parameters, message):
    """What is not positive, finite and of the right length is an error that says so."""
    with pytest.raises(InvalidInputError, match=message):
        make_prior(TOTALS, 10, **parameters)
