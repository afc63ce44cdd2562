"""Starts: they spread out, fit the data, and refuse what does not."""

import itertools

import numpy as np
import pytest
from inference.planted import planted_mixture, random_data, rows_of, start_of, wide_baskets

from itemix import Transactions
from itemix._runtime import Workers
from itemix.errors import InvalidInputError
from itemix.inference.start import fill_empty, random_labels, sampled_labels, seeded_labels, short_chains
from itemix.models.mixture import Mixture


def test_random_labels_leave_no_component_empty():
    """Every label is used as long as there are transactions for it."""
    for seed in range(20):
        labels = random_labels(10, 10, np.random.default_rng(seed))
        assert sorted(labels) == list(range(10))
    assert random_labels(3, 5, np.random.default_rng(0)).max() < 5


def test_seeds_spread_over_planted_clusters():
    """Seeds drawn far apart hit three small clusters beside a large one far more often than chance would."""
    probs = np.full((4, 20), 0.01)
    for k in range(4):
        probs[k, 5 * k : 5 * k + 5] = 0.99
    truth = Mixture([0.85, 0.05, 0.05, 0.05], probs, range(20))
    data = truth.sample(500, random_state=0)
    planted = truth.labels(data)
    hits = []
    for seed in range(20):
        labels = seeded_labels(data, 4, np.random.default_rng(seed))
        majority = [np.bincount(planted[labels == k]).argmax() for k in range(4)]
        hits.append(len(set(majority)))
    assert np.mean(hits) > 3.3  # four rows drawn at random hit 1.5 clusters on average


def test_large_data_is_seeded_from_a_part_of_it():
    """Above 20,000 rows the seeds come from a part, and every row gets the nearest of them."""
    data = planted_mixture().sample(25_000, random_state=0)
    labels = seeded_labels(data, 3, np.random.default_rng(1))
    assert labels.shape == (25_000,)
    planted = planted_mixture().labels(data)
    orders = itertools.permutations(range(3))
    assert max(np.mean(labels == np.array(order)[planted]) for order in orders) > 0.7


def test_seeding_survives_equal_rows():
    """Where fewer rows are distinct than components, labels stay in range."""
    data = Transactions.from_matrix(np.ones((8, 3), dtype=int))
    labels = seeded_labels(data, 4, np.random.default_rng(0))
    assert labels.shape == (8,)
    assert labels.min() >= 0
    assert labels.max() < 4


def test_a_sampled_start_is_the_more_probable_of_its_chains():
    """No short chain ends with a higher joint probability than the one whose labels are taken."""
    for seed in range(3):
        data = planted_mixture().sample(400, random_state=seed)
        chains = short_chains(data, 3, np.random.default_rng(seed), Workers(1))
        labels = sampled_labels(data, 3, np.random.default_rng(seed), Workers(1))
        taken = [chain for chain in chains if (chain.labels == labels).all()]
        assert taken
        assert taken[0].log_joint == max(chain.log_joint for chain in chains)


def test_a_sampled_start_is_the_same_for_any_number_of_threads():
    """One seed gives one start; another seed gives another."""
    data = planted_mixture().sample(400, random_state=0)
    first, same, other = (
        sampled_labels(data, 6, np.random.default_rng(seed), Workers(n))
        for seed, n in ((0, 1), (0, 3), (1, 1))
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_a_sampled_start_finds_groups_of_baskets_of_all_sizes():
    """Seeds put nearly all baskets into the component of the smallest one; sweeps find the groups."""
    data, groups = wide_baskets()
    seeded = seeded_labels(data, 5, np.random.default_rng(0))
    assert np.bincount(seeded).max() > 0.5 * len(data)
    labels = sampled_labels(data, 5, np.random.default_rng(0), Workers(1))
    assert np.bincount(labels).max() < 0.5 * len(data)
    together = labels[:, None] == labels
    assert np.mean(together == (groups[:, None] == groups)) > 0.9


def test_splits_and_merges_find_groups_that_sweeps_miss():
    """Two seeds in one group leave two others together; sweeps alone never part them."""
    rng = np.random.default_rng(1)
    truth = Mixture(np.full(20, 1 / 20), np.where(rng.random((20, 60)) < 0.3, 0.8, 0.05), range(60))
    data = truth.sample(1000, random_state=0)
    planted = truth.labels(data)
    for seed in range(3):
        labels = sampled_labels(data, 20, np.random.default_rng(seed), Workers(1))
        together = labels[:, None] == labels
        assert np.mean(together == (planted[:, None] == planted)) > 0.999


def test_emptied_components_are_filled():
    """All components are used if there are enough transactions, and others keep their labels."""
    labels = np.array([0] * 10 + [3] * 3)
    filled = fill_empty(labels, 5, np.random.default_rng(0))
    assert sorted(set(filled)) == [0, 1, 2, 3, 4]
    assert (filled[10:] == 3).all()
    assert (labels == np.array([0] * 10 + [3] * 3)).all()
    np.testing.assert_array_equal(fill_empty(np.zeros(1, dtype=np.int64), 2, np.random.default_rng(0)), [0])


@pytest.mark.parametrize("init", ["sampled", "random", "k-means++"])
def test_first_counts_hold_all_transactions(init):
    """Sizes sum to N and no item count passes its size."""
    data = random_data(0).merge_identical()
    rows = rows_of(data)
    counts = start_of(data, rows, 4, init)(np.random.default_rng(0))
    assert counts.n_transactions == pytest.approx(60)
    assert (counts.item_counts <= counts.sizes[:, None] + 1e-9).all()
    np.testing.assert_allclose(counts.item_counts.sum(axis=0), data.item_counts())


@pytest.mark.parametrize("init", ["sampled", "k-means++"])
def test_counts_of_a_part_stand_for_the_whole(init):
    """Above 20,000 rows the first counts come from a part of them, scaled to all transactions."""
    data = planted_mixture().sample(30_000, random_state=0)
    counts = start_of(data, rows_of(data), 3, init)(np.random.default_rng(0))
    assert counts.n_transactions == pytest.approx(30_000)
    np.testing.assert_allclose(counts.item_counts.sum(axis=0), data.item_counts(), rtol=0.1)
    assert (counts.sizes > 1000).all()


def test_a_mixture_starts_from_its_own_expected_counts():
    """The first counts are those of an E-step with the given mixture."""
    data = random_data(0)
    model = Mixture([0.4, 0.6], np.random.default_rng(0).uniform(0.1, 0.9, (2, 6)), data.items)
    counts = start_of(data, rows_of(data), 2, model)(np.random.default_rng(0))
    np.testing.assert_allclose(counts.sizes, model.responsibilities(data).sum(axis=0), atol=1e-5)


def test_bad_starts_are_refused():
    """An unknown name, other items, other sizes and labels that do not fit are errors."""
    data = random_data(0)
    rows = rows_of(data)
    model = Mixture([1.0], np.full((1, 6), 0.5), data.items)
    cases = [
        ("kmeans", "expected init to be one of"),
        (model, "expected a mixture of n_components=2 to start from, got 1"),
        (Mixture([1.0], [[0.5]], ["x"]), "expected the model's 1 items"),
        (np.zeros(3, dtype=int), "expected 60 whole numbers as labels in init"),
        (np.zeros(60), "expected 60 whole numbers as labels in init"),
        (np.full(60, 2), "expected labels from 0 to 1 in init, got 2 to 2"),
    ]
    for init, message in cases:
        with pytest.raises(InvalidInputError, match=message):
            start_of(data, rows, 2, init)
