"""Data from mixtures: given ones, random ones, and the paper's."""

import numpy as np
import pytest

from itemix import InvalidInputError, Mixture, evaluate, mine
from itemix.data.synthetic import MIN_SUPPORT, NAMES, from_mixture, paper_data, paper_mixture, random_mixture

# Frequent itemsets of each mixture, and of its data, at 30%.
N_ITEMSETS = {
    "syn15": (108_312, 104_793),
    "syn25": (93_494, 99_527),
    "syn50": (104_720, 100_586),
    "syn75": (103_330, 105_556),
    "syn140": (101_759, 99_328),
}


def test_data_from_a_given_mixture_has_its_probabilities():
    """Supports are those of the mixture but for chance, and the seed fixes the data."""
    mixture = Mixture([0.7, 0.3], [[0.8, 0.1], [0.3, 0.9]], ["coffee", "wine"])
    data = from_mixture(mixture, 40_000)
    assert len(data) == 40_000
    for itemset in (["coffee"], ["wine"], ["coffee", "wine"]):
        assert data.support(itemset) == pytest.approx(mixture.probability(itemset), abs=0.01)
    assert from_mixture(mixture, 100, 5) == from_mixture(
        mixture, 100, np.random.Generator(np.random.PCG64(5))
    )
    assert from_mixture(mixture, 100, 5) != from_mixture(mixture, 100, 6)


@pytest.mark.parametrize("together", [0.0, 0.8])
def test_random_mixtures_are_as_described(together):
    """Weights are uniform on the simplex, and the mean of an item's probability falls as it is said."""
    mixture = random_mixture(20_000, 12, top=0.9, decay=5, together=together, random_state=1)
    mean = 0.9 * np.exp(-np.arange(12) / 5)
    assert mixture.probs.mean(axis=0) == pytest.approx(mean, abs=0.01)
    # u^a has the second moment 1 / (1 + 2 a), with a = 1 / mean - 1.
    assert (mixture.probs**2).mean(axis=0) == pytest.approx(1 / (2 / mean - 1), abs=0.01)
    assert (mixture.weights * 20_000).mean() == pytest.approx(1)
    assert (mixture.weights * 20_000).std() == pytest.approx(1, abs=0.02)
    assert list(mixture.items) == list(range(1, 13))
    assert random_mixture(3, 4) == random_mixture(3, 4)
    assert random_mixture(3, 4) != random_mixture(3, 4, random_state=1)


def test_items_of_a_group_depend_on_each_other():
    """The dealt-out items 1 and 4 have the same u in `together` squared of the components, others in none."""
    mixture = random_mixture(20_000, 6, top=0.6, decay=1e6, n_groups=3, together=0.7)
    same = (mixture.probs[:, :, None] == mixture.probs[:, None, :]).mean(axis=0)
    is_group = (np.arange(6)[:, None] - np.arange(6)) % 3 == 0
    assert same[is_group & ~np.eye(6, dtype=bool)] == pytest.approx(np.full(6, 0.49), abs=0.02)
    assert same[~is_group].max() < 0.01
    lift = mixture.probability([1, 4]) / (mixture.probability([1]) * mixture.probability([4]))
    assert lift > 1.05
    assert mixture.probability([1, 2]) == pytest.approx(
        mixture.probability([1]) * mixture.probability([2]), 0.01
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_mixtures_have_the_itemsets_it_tells_of(name):
    """About 100,000 at 30%, of which a third lie between 0.30 and 0.32: in the mixture and in its data."""
    mixture, data = paper_mixture(name), paper_data(name)
    assert f"syn{mixture.n_components}" == name
    for source, expected in zip((mixture, data), N_ITEMSETS[name], strict=True):
        itemsets = mine(source, MIN_SUPPORT)
        assert len(itemsets) == pytest.approx(expected, rel=1e-3)
        assert 0.30 < (itemsets.support < 0.32).mean() < 0.37


def test_the_papers_data_never_changes():
    """Same name and seed, same data, on every machine."""
    data = paper_data("syn15")
    assert (data.n_transactions, data.n_items, data.n_ones) == (30_000, 100, 1_335_523)
    assert data == paper_data("syn15", random_state=0)
    assert data != paper_data("syn15", random_state=1)
    assert len(paper_data("syn15", 7)) == 7
    assert data.source == "the synthetic syn15"


def test_the_model_behind_the_data_beats_the_floor():
    """On unseen data the true probabilities are better than the counts of the training half."""
    train, test = paper_data("syn140").split(0.5, random_state=0)
    found = evaluate(paper_mixture("syn140"), test, MIN_SUPPORT, train=train)
    assert found.mean_relative_error < 0.8 * found.floor.mean_relative_error
    assert 0.005 < found.mean_relative_error < 0.02
    independent = Mixture([1.0], [train.item_counts() / len(train)], train.items)
    assert evaluate(independent, test, MIN_SUPPORT).mean_relative_bias < -0.05


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: paper_mixture("syn16"), "expected one of syn15, syn25, syn50, syn75, syn140, got 'syn16'"),
        (lambda: paper_data("syn15", -1), "expected a number of transactions of 0 or more, got -1; try 5000"),
        (lambda: random_mixture(0, 5), "expected a number of components of 1 or more, got 0; try 10"),
        (lambda: random_mixture(5, 2.5), "expected a number of items of 1 or more, got 2.5; try 100"),
        (lambda: random_mixture(5, 5, top=1.0), "expected top from 0.01 to 0.99, got 1.0; try 0.95"),
        (lambda: random_mixture(5, 5, n_groups=0), "expected a number of groups of 1 or more, got 0; try 3"),
        (lambda: random_mixture(5, 5, together=2), "expected together from 0 to 1, got 2; try 0.8"),
        (lambda: random_mixture(5, 5, decay="x"), "expected decay from 0.1 to 1e.06, got 'x'; try 55"),
    ],
)
def test_bad_values_are_refused(make, message):
    """One line says what was expected, what was got and what to try."""
    with pytest.raises(InvalidInputError, match=message):
        make()
