"""The slack of a verification: four standard errors of the model, where it knows them."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itemix import (
    BernoulliMixture,
    CorrectedMixture,
    DirichletProcessMixture,
    IndependentModel,
    InvalidInputError,
    Mixture,
    mine,
)
from itemix.data.synthetic import grocery_store
from itemix.mining.intervals import intervals
from itemix.mining.verification import error_source_of, own_slack, verify
from itemix.models.posterior import Posterior

THRESHOLDS = (0.01, 0.03, 0.1, 0.3)
ONE_ERROR = math.erf(math.sqrt(0.5))


@cache
def fitted(n, correction=None):
    """Return a model of some baskets of the synthetic store."""
    model = DirichletProcessMixture(
        inference="variational", max_iter=60, tol=1e-3, random_state=0, correction=correction
    )
    return model.fit(grocery_store(n, random_state=0))


def slack_of(model, min_support):
    """Return the slack of a fitted model."""
    return own_slack(error_source_of(model), model.model_, min_support)


def posterior(seed, n=100.0, n_items=8):
    """Return a posterior of three components, each with n transactions behind it."""
    rng = np.random.default_rng(seed)
    probs = rng.beta(0.6, 0.6, (3, n_items)).clip(1e-6, 1 - 1e-6)
    return Posterior.dirichlet(np.full(3, n), n * probs, n * (1 - probs), range(n_items))


@pytest.mark.parametrize("correction", [None, 2])
def test_four_standard_errors(correction):
    """The slack is four times half of the interval that one standard error makes, in logarithms."""
    model = fitted(2000, correction)
    found = mine(model, 0.02, max_len=3)
    nearest = found.take(np.argsort(found.support, kind="stable")[:300])
    mean, lower, upper = intervals(error_source_of(model), nearest, level=ONE_ERROR)
    error = np.median((upper - lower) / 2 / mean)
    assert slack_of(model, 0.02) == pytest.approx(1 - math.exp(-4 * error), rel=0.03)


@pytest.mark.parametrize("correction", [None, 2])
def test_more_data_less_slack(correction):
    """A model that saw fewer transactions has more slack, and so has a lower threshold."""
    slacks = np.array([[slack_of(fitted(n, correction), s) for s in THRESHOLDS] for n in (500, 2000)])
    assert (slacks[0] > 1.3 * slacks[1])[1:].all()
    assert (np.diff(slacks, axis=1) < 0).all()
    assert slacks.max() <= 0.75


def test_what_knows_its_error():
    """A corrected mixture does, alone or as what an estimator has learned, and so do posteriors."""
    plain, corrected = fitted(500), fitted(500, 2)
    assert error_source_of(plain) is plain.posteriors_
    assert isinstance(corrected.model_, CorrectedMixture)
    assert error_source_of(corrected) is error_source_of(corrected.model_) is corrected.model_


@pytest.mark.parametrize("kind", [BernoulliMixture, IndependentModel])
def test_a_tenth_without_a_posterior(kind):
    """The slack of a model that does not know its error is a tenth, and so is that of one without sets."""
    tx = grocery_store(500, random_state=0)
    model = kind().fit(tx)
    assert slack_of(model, 0.05) == own_slack((), model.model_, 0.05) == 0.1
    assert str(verify(model, tx, 0.05)) == str(verify(model, tx, 0.05, slack=0.1))
    assert slack_of(fitted(500), 1.0) == 0.1


def test_the_extremes():
    """A model that is certain needs no slack; one that has seen next to nothing has three quarters."""
    certain, ignorant = posterior(0, n=1e17), posterior(0, n=1e-3)
    assert own_slack(certain, certain.mixture(), 0.1) == pytest.approx(0.0, abs=1e-6)
    assert own_slack([ignorant, ignorant], ignorant.mixture(), 0.1) == 0.75


@settings(max_examples=60)
@given(st.integers(0, 1000), st.floats(1e-3, 1e12), st.floats(5e-324, 1))
def test_always_a_slack(seed, n, min_support):
    """Whatever the posterior and the threshold, it is a number that `verify` takes."""
    source = posterior(seed, n)
    assert 0 <= own_slack(source, source.mixture(), min_support) <= 0.75


@pytest.mark.parametrize("slack", [None, 0.99])
def test_the_least_threshold(slack):
    """The least number there is, lowered, is still a threshold."""
    tx = grocery_store(5, random_state=0)
    assert verify(fitted(500), tx, 5e-324, slack=slack, max_len=2).itemsets == mine(tx, 1, max_len=2)


@pytest.mark.parametrize(("n_items", "length"), [(150, 2), (500, 1)])
def test_many_sets(n_items, length):
    """Of a model with too many sets of three items, or of two, shorter ones are asked."""
    flat = np.full((2, n_items), 90.0)
    source = Posterior.dirichlet(np.full(2, 100.0), flat, flat / 9, range(n_items))
    sets = [list(range(length))]
    mean, lower, upper = intervals(source, sets, level=ONE_ERROR)
    error = (upper - lower)[0] / 2 / mean[0]
    assert own_slack(source, source.mixture(), 0.1) == pytest.approx(1 - math.exp(-4 * error), rel=0.05)


def test_verification_takes_its_own_error():
    """By default; the result is that of mining the data, as with any slack."""
    tx = grocery_store(1000, random_state=1)
    for model in (fitted(500), fitted(500, 2), fitted(500, 2).model_):
        own = own_slack(error_source_of(model), getattr(model, "model_", model), 0.03)
        by_default = verify(model, tx, 0.03)
        assert by_default.itemsets == mine(tx, 0.03)
        assert str(by_default) == str(verify(model, tx, 0.03, slack=own))
        assert by_default.n_proposed > verify(model, tx, 0.03, slack=0.1).n_proposed
        chosen = {"include": "whole milk", "exclude": ["bread"], "target": "closed"}
        assert verify(model, tx, 30, **chosen).itemsets == mine(tx, 30, **chosen)


def test_a_function():
    """It is given the threshold as a fraction, once, and its slack is taken."""
    tx, model, given_to = grocery_store(500, random_state=1), fitted(500), []

    def slack(min_support):
        given_to.append(min_support)
        return 0.25

    for min_support in (0.05, np.float32(0.05), 25):
        found = verify(model, tx, min_support, slack=slack)
        assert str(found) == str(verify(model, tx, min_support, slack=0.25))
    assert given_to == [0.05] * 3


@pytest.mark.parametrize(
    ("slack", "message"),
    [
        (-0.1, "expected slack from 0 up to 1, got -0.1; try 0.1"),
        (1.0, "expected slack from 0 up to 1, got 1.0; try 0.1"),
        (math.nan, "expected slack as a number, got nan; try 0.1"),
        (None, "expected slack as a number, got None; try 0.1"),
    ],
)
def test_bad_values_of_a_function(slack, message):
    """What a function returns is checked as a number is."""
    with pytest.raises(InvalidInputError, match=f"^{message}$"):
        verify(Mixture([1.0], [[0.5]], ["a"]), [["a"]], 0.5, slack=lambda _: slack)


def test_slack_that_makes_too_many():
    """Where the sets below the threshold are too many, the model proposes those above it."""
    model = Mixture([1.0], [[0.6, *[0.4] * 20]], range(21))
    tx = [[0]] * 6 + [[]] * 4
    assert verify(model, tx, 0.5, slack=0.99999, max_itemsets=5).n_proposed == 1
    assert verify(model, tx, 0.5, slack=0.7, max_itemsets=5).n_proposed > 20
