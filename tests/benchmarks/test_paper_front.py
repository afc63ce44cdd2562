"""Starts of fits, and what `itemix.fit` makes: tables, targets and sentences, from results made by hand."""

import pytest

from benchmarks.paper import claims, sentences, tables
from benchmarks.paper.figures import draw_reliability
from benchmarks.paper.inputs import fifths
from benchmarks.paper.scales import SCALES, Task
from benchmarks.paper.store import Store
from benchmarks.paper.summary import Summary

FULL = SCALES["full"]


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    return Store(tmp_path)


@pytest.fixture
def summary(store):
    """What the store holds of the full scale."""
    return Summary(store, FULL)


def started(store, dataset, method, K, values):
    """Put what came of some starts into the store."""
    for start, value in values.items():
        record = {"test": value, "largest": 0.25, "seconds": 1.0}
        store.put(Task("starts", dataset, method, K, 0, start), record)


def front(store, dataset, *, likelihood=-100.0, ours=0.3, ease=0.25, seconds=2.0):
    """Put what `itemix.fit` makes of a data set into the store."""
    score = {"ndcg_error": 0.005, "hit_rate": 0.5, "coverage": 0.4}
    gains = {"model": ours, "ease": ease, "popularity": 0.1}
    record = {
        "test": likelihood,
        "E": 0.2,
        "E_counting": 0.25,
        "ranked": [{"recommender": name, "ndcg": ndcg, **score} for name, ndcg in gains.items()],
        "fit_seconds": 12.0,
        "recommend_seconds": seconds,
        "said": [0.0001, 0.01, 0.5],
        "came": [0.0009, 0.011, 0.45],
        "components": 33.0,
        "worth": 100.0,
        "seconds": 20.0,
    }
    store.put(Task("front", dataset, "itemix.fit"), record)


def wanted(summary, text):
    """The targets whose words have some text."""
    return [target for target in claims.targets(summary) if text in target.wanted]


def test_starts_stand_beside_each_other(store, summary):
    """The default is bold, and compared with the best of the others; what was not run in full is left out."""
    started(store, "online-retail", "vfbm", 10, {"sampled": -110.0, "k-means++": -125.0, "random": -115.0})
    started(store, "chess", "vfbm", 50, {"sampled": -18.0, "random": -19.0})
    assert tables.starts(summary).splitlines()[2:] == [
        "| online retail | VFBM | 10 | **-110.000** | -125.000 | -115.000 |  | +4.35% | 25% |"
    ]
    said = sentences.all_sentences(summary)["starts"]
    assert said.startswith("In 1 of 1 fits the default start has the highest log-likelihood")


@pytest.mark.parametrize(("own", "holds"), [(-115.5, True), (-115.6, False)])
def test_a_default_start_has_a_likelihood_to_reach(store, summary, own, holds):
    """And on no data set may it fall behind another start by much."""
    started(store, "online-retail", "vfbm", 10, {"sampled": own, "k-means++": -125.0, "random": -114.0})
    reached, none_worse = wanted(summary, "default start")
    assert (reached.measured, reached.holds) == (f"{own:.1f}", holds)
    assert not none_worse.holds
    started(store, "online-retail", "vfbm", 10, {"sampled": -114.5, "k-means++": -125.0, "random": -114.0})
    assert wanted(summary, "default starts, 1 fits")[0].holds


def test_recommendations_are_compared_with_ease(store, summary):
    """On two sets they are to be better by two per cent, on the others as good."""
    front(store, "groceries", ours=0.254)
    front(store, "retail", ours=0.25)
    better, as_good = wanted(summary, "NDCG@10")
    assert (better.holds, as_good.holds) == (False, True)
    assert better.measured == "0.2540, EASE 0.2500"
    front(store, "groceries", ours=0.255)
    assert wanted(summary, "NDCG@10")[0].holds
    assert "| groceries | EASE | 0.2500 | 0.0050 | 0.500 | 40% |" in tables.recommendations(summary)


@pytest.mark.parametrize(("likelihood", "seconds"), [(-103.4, 9.9), (-103.5, 10.0)])
def test_the_front_door_has_a_likelihood_and_a_time_to_reach(store, summary, likelihood, seconds):
    """Both are of online retail alone."""
    front(store, "online-retail", likelihood=likelihood, seconds=seconds)
    front(store, "msweb")
    found = [*wanted(summary, "log-likelihood at least"), *wanted(summary, "2,000 baskets")]
    assert len(found) == 2
    assert all(target.holds == (seconds < 10) for target in found)
    row = "| online retail | 33 | -103.400 | 100 | 20.00 | 25.00 | 12.0 | 9.9 |"
    assert (row in tables.front(summary)) == (seconds < 10)


def test_calibration_is_said_of_what_is_shown(store, summary, tmp_path):
    """Points of less than a thousandth are drawn, but no words are made about them."""
    assert sentences.all_sentences(summary)["calibration"] == ""
    assert not draw_reliability(summary, tmp_path / "none.svg")
    front(store, "groceries")
    said = sentences.all_sentences(summary)["calibration"]
    assert said == "Points at 0.1% and above came true 0.90 to 1.10 times on groceries as often as was said."
    assert draw_reliability(summary, tmp_path / "some.svg")


def test_four_fifths_are_fitted():
    """The rest tests, and both together are the data."""
    train, test = fifths("toy")
    assert (len(train), len(test)) == (320, 80)
