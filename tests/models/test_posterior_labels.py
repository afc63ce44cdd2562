"""Labels of components: draws that differ by the order of their components only are the same draw."""

import numpy as np
import pytest

from itemix.errors import InvalidInputError
from itemix.models.mixture import Mixture, are_labels, sum_by_label
from itemix.models.posterior import Posterior, matched_labels, nearest_labels


def draw(seed, n_components=6, n_items=12, order=None):
    """Return a posterior of random counts, its components in some order."""
    rng = np.random.default_rng(seed)
    rho = rng.integers(1, 300, n_components) + 0.5
    held = rng.beta(0.3, 0.6, (n_components, n_items)) * rho[:, None]
    order = np.arange(n_components) if order is None else order
    return Posterior.dirichlet(rho[order], held[order] + 0.1, (rho[:, None] - held)[order] + 0.1, range(12))


def one_item(probs, sizes):
    """Return a posterior of components of one item."""
    sizes, probs = np.array(sizes, dtype=float), np.array(probs)
    return Posterior.dirichlet(sizes, (sizes * probs)[:, None], (sizes * (1 - probs))[:, None], ["milk"])


@pytest.mark.parametrize("seed", range(5))
def test_permutations_are_undone(seed):
    """A copy of a draw with its components in another order has the same labels in that order."""
    order = np.random.default_rng(seed).permutation(6)
    posteriors = draw(seed, order=order), draw(seed)
    labels = matched_labels(posteriors)
    np.testing.assert_array_equal(labels, [*order, *range(6)])
    np.testing.assert_array_equal(nearest_labels(posteriors, np.arange(6)), labels)
    stacked = Mixture.stack([one.mixture() for one in posteriors])
    np.testing.assert_allclose(stacked.merge(labels).probs, posteriors[1].mean_probs())


def test_labels_follow_the_last_draw():
    """If draws come with their components in other orders, only the names of the labels change."""
    orders = [np.random.default_rng(seed).permutation(6) for seed in range(3)]
    posteriors = [draw(0, order=order) for order in orders]
    for own, order in zip(matched_labels(posteriors).reshape(3, 6), orders, strict=True):
        np.testing.assert_array_equal(orders[-1][own], order)


def test_matched_components_do_not_share_a_label():
    """Of two components that are nearest to the same one, the larger one has its way."""
    posteriors = one_item([0.1, 0.79, 0.8], (500, 300, 200)), one_item([0.8, 0.6, 0.1], (500, 300, 200))
    assert matched_labels(posteriors).tolist() == [2, 0, 1, 0, 1, 2]
    assert nearest_labels(posteriors, np.arange(3)).tolist() == [2, 0, 0, 0, 1, 2]


def test_numbers_of_components_may_differ():
    """A draw with more components than labels has some twice, one with fewer leaves some out."""
    many, few = one_item([0.81, 0.1, 0.79, 0.5], (4, 3, 2, 1)), one_item([0.82, 0.12], (6, 4))
    assert nearest_labels([many, few], np.arange(2)).tolist() == [0, 1, 0, 0, 0, 1]
    assert nearest_labels([few, many], np.arange(4)).tolist() == [0, 1, 0, 1, 2, 3]


def test_some_components_are_no_labels():
    """They join the nearest one that is; and of two that are alike, each keeps its label."""
    posteriors = one_item([0.1, 0.8], (5, 4)), one_item([0.8, 0.75, 0.1, 0.1], (5, 3, 2, 1))
    assert nearest_labels(posteriors, np.array([0, 2, 3])).tolist() == [1, 0, 0, 0, 1, 2]


def test_sums_by_label():
    """Each column is the sum of the columns with its label; without labels nothing changes."""
    values, labels = np.arange(12.0).reshape(3, 4), np.array([1, 0, 1, 2])
    expected = [[values[row, labels == label].sum() for label in range(3)] for row in range(3)]
    np.testing.assert_array_equal(sum_by_label(values, labels), expected)
    assert sum_by_label(values, None) is values


def test_merged_components():
    """Weights add, probabilities are averaged, and single items stay as probable as they were."""
    mixture = Mixture([0.3, 0.5, 0.2, 0.0], [[0.2, 1.0], [0.4, 0.5], [0.7, 1.0], [0.3, 0.1]], ["a", "b"])
    merged = mixture.merge([0, 1, 0, 2])
    np.testing.assert_allclose(merged.weights, [0.5, 0.5, 0])
    np.testing.assert_allclose(merged.probs, [[0.4, 1.0], [0.4, 0.5], [0.3, 0.1]])
    np.testing.assert_allclose(merged.item_probabilities, mixture.item_probabilities)
    assert mixture.merge([0, 1, 2, 3]) == mixture


@pytest.mark.parametrize(
    "labels", [[0, 1], [0, 2, 2], [0, -1, 1], [0, 1, 2**62], [0.0, 1.0, 2.0], [[0], [1], [2]]]
)
def test_what_are_no_labels(labels):
    """A label for each component, none left out."""
    assert not are_labels(np.array(labels), 3)
    with pytest.raises(InvalidInputError, match="expected a label for each of the 3 components"):
        Mixture([0.2, 0.3, 0.5], [[0.1], [0.2], [0.3]], ["a"]).merge(labels)
