"""Estimators that take in batches, one after the other."""

import numpy as np
import pytest
from fits import BAYESIAN, CLASSES, GIBBS
from inference.planted import planted_mixture

from itemix import Transactions, load
from itemix.data.synthetic import grocery_store
from itemix.errors import UnknownItemError
from itemix.estimators import BayesianMixture
from itemix.models.mixture import Mixture


@pytest.mark.parametrize("cls", CLASSES)
def test_a_stream_in_batches_approaches_the_whole(cls):
    """Batches taken in one after the other give nearly the likelihood of a fit to all of them."""
    truth = planted_mixture()
    everything = truth.sample(4000, random_state=1)
    matrix = everything.to_scipy()
    stream = cls(3, random_state=0, n_init=3)
    for start in range(0, 4000, 400):
        stream.partial_fit(Transactions.from_matrix(matrix[start : start + 400], items=everything.items))
    whole = cls(3, random_state=0, n_init=3).fit(everything)
    assert stream.score(everything) == pytest.approx(whole.score(everything), abs=0.03)
    assert stream.counts_.n_transactions == pytest.approx(4000)
    assert stream.n_iter_ >= 10


def test_a_stream_leaves_the_mode_of_its_first_batch():
    """Components take in items that no transaction of the first batch has brought them, as in EM."""
    everything = grocery_store(5000, random_state=0)
    matrix = everything.to_scipy()
    streams = [cls(8, random_state=0) for cls in CLASSES]
    for first in range(0, 5000, 500):
        batch = Transactions.from_matrix(matrix[first : first + 500], items=everything.items)
        for stream in streams:
            stream.partial_fit(batch)
    em, *bayesian = (stream.score(everything) for stream in streams)
    assert bayesian == pytest.approx([em, em], abs=0.2)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_batch_counts_by_its_size(cls, data):
    """A few transactions after many change little, whatever they hold."""
    model = cls(3, random_state=0).fit(data)
    before = model.probability(["item0"])
    model.partial_fit(np.ones((1, 9), dtype=int))
    assert model.probability(["item0"]) == pytest.approx(before, abs=0.02)


@pytest.mark.parametrize("cls", BAYESIAN)
def test_a_stream_makes_intervals_narrower(cls):
    """The posterior is that of all transactions so far."""
    truth = planted_mixture()
    model = cls(3, random_state=0)
    widths = []
    for seed in range(4):
        found = model.partial_fit(truth.sample(500, random_state=seed)).interval(["item0"])
        widths.append(found.upper - found.lower)
    assert (np.diff(widths) < 0).all()
    assert widths[-1] == pytest.approx(widths[0] / 2, rel=0.2)


@pytest.mark.parametrize("cls", BAYESIAN)
def test_a_stream_knows_how_sure_its_counts_are(cls):
    """Batches leave as much known as a fit of all of them does; the counts of a sample are sure."""
    overlapping = Mixture([0.6, 0.4], [[0.7, 0.5, 0.3, 0.6], [0.3, 0.4, 0.7, 0.2]], range(4))
    batches = [overlapping.sample(1000, random_state=seed) for seed in range(3)]
    stream = cls(2, random_state=0)
    for batch in batches:
        stream.partial_fit(batch)
    whole = cls(2, random_state=0).fit(Transactions.from_lists([b for x in batches for b in x.to_lists()]))
    assert stream.posterior_.known.mean() == pytest.approx(whole.posterior_.known.mean(), abs=0.05)
    assert whole.posterior_.known.max() < 0.9
    sampled = cls(2, random_state=0, **GIBBS).fit(batches[0])
    assert sampled.posterior_.known is None
    sampled.set_params(inference="variational").partial_fit(batches[1])
    assert (sampled.posterior_.known < 1).all()


@pytest.mark.parametrize("cls", CLASSES)
def test_batches_are_matched_by_the_names_of_their_items(cls, data):
    """A batch may have its items in another order, or not all of them; it may not have new ones."""
    known, half = data.split(0.5, random_state=0)
    other_order = half.align_items(list(reversed(half.items)))
    expected = cls(3, random_state=0).fit(known).partial_fit(half)
    found = cls(3, random_state=0).fit(known).partial_fit(other_order)
    assert found.mixture_ == expected.mixture_
    fewer = Transactions.from_lists([["item3", "item1"], ["item1"]])
    assert found.partial_fit(fewer).mixture_.items == data.items
    new = Transactions.from_lists([["gin", "vodka"]] * 5)
    for batch in (new, new.to_lists()):
        with pytest.raises(UnknownItemError, match="one of 9 known items, got 'gin'; give the first"):
            found.partial_fit(batch)
    knowing = cls(1, random_state=0).partial_fit(known.align_items([*known.items, "gin", "vodka"]))
    assert "vodka" in knowing.partial_fit(new).mixture_.items


@pytest.mark.parametrize("cls", BAYESIAN)
def test_a_stream_goes_on_from_a_sample(cls, data, tmp_path):
    """After sampling, batches are blended into the counts of the last sample, also from a file."""
    sampled = cls(3, random_state=0, **GIBBS).fit(data)
    sampled.save(tmp_path / "sampled.itemix")
    for model in (sampled, load(tmp_path / "sampled.itemix")):
        model.set_params(inference="variational").partial_fit(data)
        assert model.counts_.n_transactions == pytest.approx(1200)
        assert not hasattr(model, "chains_")
        assert np.isfinite(model.interval(["item0"]).upper)


def test_samplers_take_no_batches():
    """Gibbs sampling has no partial_fit."""
    assert hasattr(BayesianMixture(), "partial_fit")
    assert not hasattr(BayesianMixture(inference="gibbs"), "partial_fit")
