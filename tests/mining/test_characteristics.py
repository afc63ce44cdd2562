"""Characteristic items of components."""

import numpy as np
import pytest

from itemix.errors import InvalidInputError
from itemix.mining.characteristics import characteristic_items, in_general
from itemix.models.mixture import Mixture

MIXTURE = Mixture([0.5, 0.5], [[0.9, 0.5, 0.2, 0.0], [0.1, 0.5, 0.6, 0.0]], ["a", "b", "c", "never"])


def test_ranked_by_what_they_tell():
    """Items that are more probable in the component come first, by p log(p / q); the others do not come."""
    assert [found.item for found in characteristic_items(MIXTURE, 0)] == ["a"]
    (found,) = characteristic_items(MIXTURE, 1)
    assert found == ("c", pytest.approx(0.6), pytest.approx(1.5))


def test_nothing_is_typical_of_what_is_told_by_what_it_lacks():
    """A component of small baskets is none of the item that happens to be a little more probable in it."""
    mixture = Mixture([0.5, 0.5], [[0.9, 0.9, 0.8, 0.10], [0.1, 0.1, 0.1, 0.11]], ["a", "b", "c", "d"])
    assert [found.item for found in characteristic_items(mixture, 0)] == ["a", "b", "c"]
    assert characteristic_items(mixture, 1) == []
    assert in_general(mixture, 1) == "fewer items of all kinds"
    alike = Mixture([0.5, 0.5], [[0.2, 1.0], [0.2, 1.0]], ["a", "b"])
    assert characteristic_items(alike, 0) == []
    assert in_general(alike, 0) == "a bit of everything"


def test_against_the_formula():
    """On random mixtures the ranking is that of the formula."""
    rng = np.random.default_rng(0)
    mixture = Mixture(rng.dirichlet(np.ones(4)), rng.random((4, 30)), [f"i{i}" for i in range(30)])
    for k in range(4):
        found = characteristic_items(mixture, k, 30)
        told = [item.probability * np.log(item.lift) for item in found]
        assert told == sorted(told, reverse=True)
        more = mixture.probs[k] > mixture.item_probabilities
        assert {item.item for item in found} == {mixture.items[int(i)] for i in np.flatnonzero(more)}
    assert len(characteristic_items(mixture, 0, 3)) == 3


@pytest.mark.parametrize(
    ("component", "n", "message"),
    [
        (2, 6, "expected a component from 0 to 1, got 2; try 0"),
        ("one", 6, "expected component as a whole number, got 'one'; try 0"),
        (0, -1, "expected n as a whole number of 0 or more, got -1; try 6"),
    ],
)
def test_no_such_component(component, n, message):
    """A component that is not there is refused, and so is a number of items that is none."""
    with pytest.raises(InvalidInputError, match=message):
        characteristic_items(MIXTURE, component, n)
