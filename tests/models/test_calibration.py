"""Calibration: probabilities behind scores are found, and higher scores are always more probable."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itemix.errors import InvalidInputError
from itemix.models.calibration import Calibration, Examples, calibrate


def learned(log_odds_of, n=60_000, seed=0):
    """Calibrate scores of which the log-odds are known."""
    rng = np.random.default_rng(seed)
    scores, sizes = rng.normal(size=n), rng.integers(1, 40, n)
    there = rng.random(n) < 1 / (1 + np.exp(-log_odds_of(scores, np.log1p(sizes))))
    return calibrate(*(Examples(scores[own], sizes[own], np.ones(own.sum())) for own in (there, ~there)))


def found_at(calibration, scores, sizes):
    """Return log-odds, a score to a size."""
    chances = calibration.probabilities(np.array(scores)[:, None], np.array(sizes))[:, 0]
    return np.log(chances / (1 - chances))


@pytest.mark.parametrize(
    "log_odds_of",
    [
        lambda scores, sizes: -1.0 + 1.5 * scores - 0.5 * sizes,
        lambda scores, sizes: -4.0 + 3.0 * np.maximum(scores, 0.0),
        lambda scores, sizes: -2.0 + (2.4 - 0.5 * sizes) * scores,
    ],
    ids=["straight", "bent", "flatter in large baskets"],
)
def test_log_odds_behind_scores_are_found(log_odds_of):
    """Whether they are straight or not, and the same or not in small and large baskets."""
    scores, sizes = (values.ravel() for values in np.meshgrid([-1.0, -0.4, 0.4, 1.0], [3, 35]))
    expected = log_odds_of(scores, np.log1p(sizes))
    np.testing.assert_allclose(found_at(learned(log_odds_of), scores, sizes), expected, atol=0.4)


def test_examples_may_be_weighed():
    """Every tenth absent one that counts for ten is as good as all of them."""
    rng = np.random.default_rng(0)
    scores, sizes = rng.normal(size=200_000), rng.integers(1, 9, 200_000)
    there = rng.random(200_000) < 1 / (1 + np.exp(5.0 - scores))
    present = Examples(scores[there], sizes[there], np.ones(there.sum()))
    some = np.flatnonzero(~there)[::10]
    found = calibrate(present, Examples(scores[some], sizes[some], np.full(len(some), 10.0)))
    np.testing.assert_allclose(found_at(found, [-1, 0, 1], [4, 4, 4]), [-6, -5, -4], atol=0.35)


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 300), st.booleans())
@settings(max_examples=25, deadline=None)
def test_higher_scores_are_more_probable(seed, n_present, n_absent, alike):
    """Whatever the examples are: few, all alike, or with lower scores for what is there."""
    rng = np.random.default_rng(seed)
    present, absent = (
        Examples(
            np.ones(n) if alike else rng.normal(mean, 1.0, n),
            np.full(n, 3) if alike else rng.integers(1, 50, n),
            np.ones(n),
        )
        for n, mean in ((n_present, rng.normal()), (n_absent, 0.0))
    )
    calibration = calibrate(present, absent)
    scores = np.linspace(-4, 4, 60)
    found = calibration.probabilities(np.tile(scores, (4, 1)), np.array([0, 1, 7, 1000]))
    assert ((found > 0) & (found < 1)).all()
    assert (np.diff(found, axis=1) >= 0).all()
    middle = (found[:, 1:] > 1e-10) & (found[:, 1:] < 1 - 1e-4)
    assert (np.diff(found, axis=1)[middle] > 0).all()
    again = calibrate(present, absent)
    np.testing.assert_array_equal(again.log_odds, calibration.log_odds)


def test_few_cases_stay_near_the_logistic_regression():
    """Of thirty cases there is one line for small and one for large baskets, without a bend.

    It ends where the scores of the cases do.
    """
    rng = np.random.default_rng(0)
    present = Examples(rng.normal(1, 1, 30), rng.integers(1, 9, 30), np.ones(30))
    absent = Examples(rng.normal(0, 1, 500), rng.integers(1, 9, 500), np.ones(500))
    found = calibrate(present, absent)
    both = np.concatenate([present.scores, absent.scores])
    assert found.scores[[1, -2]] == pytest.approx([both.min(), both.max()], abs=0.5)
    slopes = np.diff(found.log_odds, axis=1) / np.diff(found.scores)
    np.testing.assert_allclose(slopes[:, 1:-1], slopes[:, 1:2] * np.ones((1, len(found.scores) - 3)))
    assert len(found.sizes) == 2


def test_beyond_all_examples_nothing_is_surer():
    """A score ten times as far out as any that was seen is as probable as the farthest of them."""
    found = learned(lambda scores, sizes: 2.0 * scores - 0.2 * sizes, n=5_000)
    farthest = found_at(found, [3.4, -3.4], [9, 9])
    np.testing.assert_allclose(found_at(found, [40.0, -40.0], [9, 9]), farthest, atol=1.5)
    assert (np.abs(farthest) < 9).all()


def test_between_knots_it_is_straight():
    """Beyond the knots of scores the slope goes on, beyond those of sizes nothing changes."""
    sizes = np.log1p([1, 7])
    own = Calibration(np.array([0.0, 1.0, 3.0]), sizes, np.array([[-2.0, -1.0, 0.0], [-4.0, -3.0, 2.0]]))
    assert found_at(own, [-1, 0.5, 2, 5], [1, 1, 1, 1]) == pytest.approx([-3, -1.5, -0.5, 1])
    assert found_at(own, [0.5, 2, 2], [7, 7, 500]) == pytest.approx([-3.5, -0.5, -0.5])
    assert found_at(own, [0.5], [3]) == pytest.approx([-2.5])
    highest, lowest = own.probabilities(np.array([[1e9, -1e9]]), np.array([3]))[0]
    assert 0 < lowest < 1e-12 < 1 - 1e-12 < highest < 1


def test_a_value():
    """Read-only, also after pickling; what does not rise is refused."""
    own = Calibration(np.array([0.0, 1.0]), np.array([0.0]), np.array([[0.0, 1.0]]))
    again = pickle.loads(pickle.dumps(own))  # noqa: S301 - our own bytes
    assert not any(a.flags.writeable for a in (again.scores, again.sizes, again.log_odds))
    for change in (
        {"scores": np.array([1.0, 1.0])},
        {"sizes": np.array([])},
        {"log_odds": np.array([[1.0, 0.0]])},
        {"log_odds": np.array([[np.nan, 0.0]])},
        {"log_odds": np.array([0.0, 1.0])},
    ):
        with pytest.raises(InvalidInputError, match="expected a calibration that rises with the score"):
            replace(own, **change)
