"""What is remembered answers as a new search would."""

import time
from threading import Lock

import numpy as np
import pytest

import itemix
from itemix._runtime import deadline
from itemix.web.served import Deadline, Limits, Searches, ThresholdTooLowError, TooSlowError, held, rounded_up


def sets_of(found):
    """Return the sets of a search, with their probabilities."""
    chosen = found.family.itemsets.take(found.positions)
    return {frozenset(one.items): one.support for one in chosen}


@pytest.fixture
def searches(model):
    """Searches in a model, with a low limit."""
    return Searches(model.model_, Limits(max_itemsets=5_000))


@pytest.mark.parametrize("target", ["all", "closed", "maximal"])
@pytest.mark.parametrize("thresholds", [(0.02, 0.05, 0.11), (0.11, 0.05, 0.02)])
def test_any_order_of_thresholds_gives_what_mining_gives(searches, model, target, thresholds):
    """The slider may be moved up or down: the answer is that of `mine` at the threshold."""
    for threshold in thresholds:
        mined = itemix.mine(model, threshold, target=target)
        assert sets_of(searches.at(threshold, target)) == {frozenset(one.items): one.support for one in mined}


def test_a_higher_threshold_is_answered_from_the_same_search(searches):
    """Nothing is searched again."""
    deepest = searches.at(0.02).family
    assert searches.at(0.3).family is deepest


def test_the_lowest_threshold_is_told_and_works(searches, model):
    """Where there are too many sets, the error names a threshold that is possible, and nearly the lowest."""
    assert searches.lowest_possible == 0
    with pytest.raises(
        ThresholdTooLowError, match=r"expected at most 5,000 itemsets, got more at"
    ) as refused:
        searches.at(1e-4)
    lowest = refused.value.lowest
    assert searches.lowest_possible == lowest
    assert len(searches.at(lowest).positions) <= 5_000
    assert len(itemix.mine(model, lowest / 1.06)) > 5_000


def test_reading_ahead_ends_at_the_lowest_threshold(searches):
    """After reading ahead, every threshold that is possible is answered from what is known."""
    searches.read_ahead(1e-4)
    deepest = searches.at(0.5).family
    assert 0.7 * 5_000 < len(deepest.itemsets) <= 5_000


def test_lift_is_that_of_the_library(searches, model):
    """The lift of a set is what the model says of it."""
    found = searches.at(0.05)
    for position in found.positions[-5:]:
        names = found.family.itemsets[int(position)].items
        assert found.family.lift[position] == pytest.approx(model.lift(names))


def test_a_search_that_takes_too_long_is_stopped():
    """The time of a search is limited, not only its result."""
    rng = np.random.default_rng(0)
    wide = itemix.Mixture(np.full(40, 1 / 40), rng.uniform(0.6, 0.9, (40, 60)), range(60))
    began = time.monotonic()
    with pytest.raises(TooSlowError, match=r"expected an answer within 0.2 s"), deadline(Deadline(0.2)):
        Searches(wide, Limits(max_itemsets=10**9)).at(1e-6)
    assert time.monotonic() - began < 5


def test_too_slow_says_where_it_was_quick():
    """Whoever asks for too much gets a threshold that is known to work, and at once the next time."""
    rng = np.random.default_rng(0)
    wide = itemix.Mixture(np.full(40, 1 / 40), rng.uniform(0.6, 0.9, (40, 60)), range(60))
    searches = Searches(wide, Limits(max_itemsets=10**9))
    searches.at(0.5)
    assert searches.note_slow(0.5) is None  # it was found: something else took the time
    assert searches.note_slow(1e-6) == 0.5
    assert searches.lowest_possible == 0.5
    with pytest.raises(TooSlowError) as refused:
        searches.at(1e-6)
    assert refused.value.lowest == 0.5
    searches.at(0.45)  # what lies between may be possible, and then the slider goes there
    assert searches.lowest_possible == 0.45


def test_a_deadline_lets_quick_work_pass():
    """Nothing happens before the time is over."""
    limit = Deadline(60)
    limit()
    limit.call_off()
    with pytest.raises(TooSlowError):
        limit()


def test_a_lock_is_waited_for_as_long_as_the_answer_is_wanted():
    """Who waits for another request gives up with the time, too."""
    lock = Lock()
    with held(lock), pytest.raises(TooSlowError), deadline(Deadline(0.2)), held(lock):
        pass
    with held(lock):
        pass


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [(0.01234, 2, 0.013), (0.013, 2, 0.013), (0.999, 2, 1.0), (3.01e-5, 2, 3.1e-5), (1.0, 3, 1.0)],
)
def test_thresholds_are_rounded_up(value, digits, rounded):
    """A rounded threshold is never below the exact one, and has no long tail of digits."""
    assert rounded_up(value, digits) == rounded
