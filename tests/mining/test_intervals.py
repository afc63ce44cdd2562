"""Credible intervals: their coverage on simulated data, and agreement with draws from the posterior."""

import numpy as np
import pytest
from scipy.special import gammaincinv

from itemix.core.transactions import Transactions
from itemix.correction import correct
from itemix.errors import InvalidInputError
from itemix.estimators import BayesianMixture, DirichletProcessMixture
from itemix.mining.intervals import interval, intervals
from itemix.mining.mine import mine
from itemix.models.mixture import Mixture
from itemix.models.posterior import Posterior

NAMES = [f"i{j}" for j in range(8)]
SHORT_CHAIN = {"inference": "gibbs", "max_iter": 60, "n_samples": 10, "thin": 2}


def random_posterior(seed=0):
    """Return a posterior of three components with some hundred transactions behind it."""
    rng = np.random.default_rng(seed)
    return Posterior.dirichlet(
        rng.uniform(20, 80, 3), rng.uniform(5, 40, (3, 8)), rng.uniform(5, 40, (3, 8)), NAMES
    )


@pytest.mark.parametrize("condition", [{}, {"given": ["i3"], "given_absent": ["i4"]}])
def test_ends_are_quantiles_of_draws(condition):
    """The interval agrees with the quantiles of 4,000 drawn mixtures, joint and conditional."""
    posterior = random_posterior()
    rng = np.random.default_rng(1)
    event = {"itemset": ["i0", "i1"], "absent": ["i2"], **condition}
    draws = [posterior.sample(random_state=rng).probability(**event) for _ in range(4000)]
    found = interval(posterior, **event, level=0.8)
    width = found.upper - found.lower
    assert found.lower == pytest.approx(np.quantile(draws, 0.1), abs=0.06 * width)
    assert found.upper == pytest.approx(np.quantile(draws, 0.9), abs=0.06 * width)
    assert found.probability == pytest.approx(posterior.mixture().probability(**event))


def sticks(rng, n=3):
    """Draw weights from the Dirichlet process truncated at some number of components."""
    broken = np.append(rng.beta(1, 1.5, n - 1), 1.0)
    return broken * np.concatenate([[1.0], np.cumprod(1 - broken[:-1])])


def many_sticks(rng):
    """Draw weights from the Dirichlet process as it is, as good as."""
    return sticks(rng, 20)


def dirichlet(rng):
    """Draw weights from the finite model's prior."""
    return rng.dirichlet(np.full(3, 0.5))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("cls", "draw_weights", "parameters", "n_fits", "chance"),
    [
        (BayesianMixture, dirichlet, {"n_init": 3}, 150, 0.0),
        (DirichletProcessMixture, sticks, {"n_init": 3}, 150, 0.0),
        (BayesianMixture, dirichlet, SHORT_CHAIN, 50, 0.02),
        (DirichletProcessMixture, many_sticks, SHORT_CHAIN, 50, 0.02),
    ],
)
def test_coverage_is_the_stated_one(cls, draw_weights, parameters, n_fits, chance):
    """On data of models drawn from the prior, 90% intervals hold the truth 87 to 93% of the time.

    That is so of sets of one to three items, and of items given others: in all, and given one, two and three
    (as far as chance lets it, of few fits).
    """
    rng = np.random.default_rng(0)
    joint, conditional = [], []
    for seed in range(n_fits):
        weights = draw_weights(rng)
        truth = Mixture(weights, rng.beta(0.5, 0.5, (len(weights), 8)), NAMES)
        model = cls(3, beta=0.5, gamma=0.5, random_state=seed, **parameters)
        model.fit(truth.sample(300, random_state=rng))
        sets = [rng.choice(NAMES, size=n, replace=False).tolist() for n in (1, 1, 2, 2, 3, 3)]
        _, lower, upper = model.intervals(sets)
        known = truth.probabilities(sets)
        joint.append((lower <= known) & (known <= upper))
        for n_given in (1, 2, 3) * 4:
            names = rng.permutation(NAMES).tolist()
            event = {"itemset": names[n_given : n_given + 1], "given": names[:n_given]}
            found = model.interval(**event)
            assert found.lower <= found.probability <= found.upper
            conditional.append(found.lower <= truth.probability(**event) <= found.upper)
    by_number = np.reshape(conditional, (-1, 3)).mean(axis=0)
    assert np.mean(joint) == pytest.approx(0.9, abs=0.03)
    assert by_number.mean() == pytest.approx(0.9, abs=0.03)
    assert by_number == pytest.approx(np.full(3, 0.9), abs=0.03 + chance)


def never_seen_together():
    """Return a posterior of a component for each of two items, of which no transaction held both."""
    eta = np.array([[30.0, 1e-3, 10.0], [1e-3, 30.0, 20.0]])
    return Posterior.dirichlet([30.0, 30.0], eta, 30.002 - eta, ["left", "right", "other"])


def test_little_is_known_under_an_unlikely_condition():
    """Given what never occurred together, the interval spans what each component may say."""
    found = interval(never_seen_together(), ["other"], given=["left", "right"])
    assert found.probability == pytest.approx(0.5, abs=1e-3)
    assert found.lower < 0.3
    assert found.upper > 0.7


def test_a_correction_knows_nothing_where_nothing_was_counted():
    """Of a corrected model, the interval under a condition that never occurred is nearly all from 0 to 1."""
    rng = np.random.default_rng(0)
    data = [["left", *rng.choice(["x", "y"], 1)] for _ in range(50)]
    data += [["right", *rng.choice(["x", "y"], 1)] for _ in range(50)]
    model = DirichletProcessMixture(2, random_state=0, correction=2).fit(data)
    found = model.interval(["x"], given=["left", "right"])
    assert found.lower < 0.01
    assert found.upper > 0.99


def test_one_transaction_holds_an_itemset_or_not():
    """The frequency in one new transaction is 0 or 1; in more of them the interval is never wider."""
    ends = [interval(random_posterior(), ["i0"], n_transactions=n) for n in (1, 2, 5, 20, 1000)]
    assert ends[0][1:] == (0.0, 1.0)
    widths = [found.upper - found.lower for found in ends]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.9, 0.999])
def test_the_probability_lies_in_its_interval(level):
    """Also where the mean comes from values that are rare and large, at any level."""
    rng = np.random.default_rng(2)
    eta = rng.choice([1e-3, 0.1, 5.0, 50.0], (3, 8))
    posterior = Posterior.dirichlet([5.0, 20.0, 50.0], eta, rng.choice([1e-3, 1.0, 60.0], (3, 8)), NAMES)
    sets = [rng.choice(NAMES[:6], size=n, replace=False).tolist() for n in (1, 2, 3, 4, 5, 6) * 20]
    for condition in ({}, {"given": ["i6"]}, {"given": ["i6"], "given_absent": ["i7"]}):
        mean, lower, upper = intervals(posterior, sets, **condition, level=level)
        assert ((lower <= mean) & (mean <= upper) & (lower < upper)).all()
        assert (upper <= 1).all()


def test_rare_sets_have_an_upper_end_above_their_probability():
    """A product of Betas that are almost surely almost 0 is not said to be so small for certain."""
    eta = np.full((1, 8), 1e-3)
    found = interval(Posterior([9.0], [0.0], eta, 9 + eta, NAMES), NAMES[:3])
    assert found.lower == 0
    assert found.upper > 2 * found.probability


def test_long_sets_have_intervals():
    """Where squares of probabilities are below the least number, ends scale with the probability."""
    eta = np.full((1, 200), 2.0)
    posterior = Posterior([1000.0], [0.0], eta, 1000 + eta, range(200))
    of_60 = interval(posterior, range(60))
    assert 0 <= of_60.lower < of_60.probability < of_60.upper < 1e-100
    known = interval(posterior, [199], given=range(150))
    assert known == pytest.approx(interval(posterior, [199]))


def test_several_posteriors_are_averaged():
    """Of several samples the mean is the average, and the interval wider than each where they disagree."""
    left, right = random_posterior(0), random_posterior(5)
    sets = [[name] for name in NAMES]
    both, *singles = (intervals(p, sets) for p in ([left, right], left, right))
    np.testing.assert_allclose(both[0], (singles[0][0] + singles[1][0]) / 2)
    apart = np.abs(singles[0][0] - singles[1][0]).argmax()
    widths = [upper[apart] - lower[apart] for _, lower, upper in (both, *singles)]
    assert widths[0] > max(widths[1:])


def test_certain_events_have_no_width():
    """What is given is certain."""
    found = interval(random_posterior(), ["i0"], given=["i0"])
    assert found == pytest.approx((1.0, 1.0, 1.0))
    empty = intervals(random_posterior(), [])
    assert [len(column) for column in empty] == [0, 0, 0]


def test_bad_questions_are_refused():
    """Levels outside 0 to 1 and contradictions are errors."""
    with pytest.raises(InvalidInputError, match=r"expected a level between 0 and 1, got 1\.5"):
        interval(random_posterior(), ["i0"], level=1.5)
    for event in (
        {"itemset": ["i0"], "absent": ["i0"]},
        {"itemset": ["i0"], "given_absent": ["i0"]},
        {"itemset": ["i1"], "absent": ["i0"], "given": ["i0"]},
        {"itemset": ["i1"], "given": ["i0"], "given_absent": ["i0"]},
    ):
        with pytest.raises(InvalidInputError, match="present or absent, got 'i0' as both"):
            interval(random_posterior(), **event)


def test_itemsets_with_intervals_keep_all_else():
    """Intervals are added to what was mined; supports, order and threshold stay."""
    data = [["a", "b"], ["a"], ["b"], ["a", "b", "c"]] * 5
    model = BayesianMixture(n_components=1, random_state=0).fit(data)
    found = mine(model, 0.2)
    certain = model.with_intervals(found, level=0.8)
    _, lower, upper = model.intervals(found, level=0.8)
    assert np.array_equal(certain.lower, lower)
    assert np.array_equal(certain.upper, upper)
    assert certain.sets == found.sets
    assert np.array_equal(certain.support, found.support)
    assert (certain.min_support, certain.target) == (found.min_support, found.target)


@pytest.mark.parametrize("seen", [1e-3, 0.05, 0.3, 2.0, 9.0])
def test_ends_of_the_opposite(seen):
    """An item is absent in as much as it is not there, however rare it is: the ends are mirrored."""
    posterior = Posterior([9.0], [0.0], [[seen]], [[9.0]], ["a"])
    there, not_there = interval(posterior, ["a"]), interval(posterior, [], absent=["a"])
    mirrored = [1 - not_there.probability, 1 - not_there.upper, 1 - not_there.lower]
    assert list(there) == pytest.approx(mirrored, abs=1e-12)


@pytest.mark.parametrize("condition", ["given", "given_absent"])
def test_a_condition_leaves_the_data_that_meets_it(condition):
    """Of a corrected model the interval under a condition is that of the transactions which meet it."""
    n_with = {"given": 40, "given_absent": 360}[condition]
    rows = np.zeros((400, 2), dtype=int)
    rows[:n_with, 1] = rows[::2, 0] = 1
    mixture = Mixture([1.0], [[0.5, n_with / 400]], ["a", "b"])
    model = correct(mixture, Transactions.from_matrix(rows, items=["a", "b"]), 2)
    found = interval(model, ["a"], **{condition: ["b"]})
    half = 40 * 402 / 400 / 2
    of_40 = interval(Posterior([1.0], [0.0], [[half]], [[half]], ["a"]), ["a"])
    assert list(found) == pytest.approx(list(of_40), abs=0.01)


def test_ends_of_the_least_probabilities():
    """However small a probability is, it is as sure as its items are; its ends are those of a Gamma."""
    posterior = Posterior([1.0], [0.0], np.full((1, 55), 1e3), np.full((1, 55), 1e7), range(55))
    found = interval(posterior, range(55))
    spread = (1 + 1 / 1e3) ** 55 - 1
    assert found.probability < 1e-200
    ends = gammaincinv(1 / spread, [0.05, 0.95]) * spread
    assert [found.lower, found.upper] / np.float64(found.probability) == pytest.approx(ends, rel=1e-3)
