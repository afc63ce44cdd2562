"""Counts: they add, and they refuse what cannot be counts."""

import numpy as np
import pytest

from itemix.errors import InvalidInputError
from itemix.models.counts import Counts


def test_counts_add_like_the_data_behind_them():
    """The sum of two parts' counts are the counts of both together."""
    left = Counts([2, 1], [[1, 2, 0], [0, 1, 1]])
    right = Counts([1, 4], [[1, 0, 0], [4, 0, 2]])
    assert left + right == Counts([3, 5], [[2, 2, 0], [4, 1, 3]])
    assert (left + right).n_transactions == 8
    assert left.scaled(3) == left + left + left == sum([left, left, left])
    with pytest.raises(TypeError, match="unsupported operand"):
        1 + left
    assert left.take([1, 0]) == Counts([1, 2], [[0, 1, 1], [1, 2, 0]])


def test_squares_go_with_the_counts():
    """Sums of squared shares add, scale and are chosen with the counts; without them all is certain."""
    squares = Counts([1.5, 0.5], [[1, 0.5], [0.25, 0.5]])
    unsure = Counts([2, 1], [[1, 2], [0, 1]]).with_squares(squares)
    sure = Counts([1, 4], [[1, 0], [4, 0]])
    assert unsure.squares == squares
    assert sure.squares is None
    assert (unsure + sure).squares == (sure + unsure).squares == squares + sure
    assert (unsure + unsure).squares == unsure.scaled(2).squares == squares.scaled(2)
    assert unsure.take([1, 0]).squares == squares.take([1, 0])
    assert unsure != unsure.with_squares(None)


def test_counts_cannot_be_changed():
    """The arrays are read-only, and a caller's own array is not shared."""
    sizes = np.array([1.0, 2.0])
    counts = Counts(sizes, np.zeros((2, 3)))
    sizes[0] = 9
    assert counts.sizes[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        counts.item_counts[0, 0] = 1


@pytest.mark.parametrize(
    ("sizes", "item_counts", "message"),
    [
        ([1, 2], [[1, 1]], r"expected sizes \(K,\) and item_counts \(K, D\)"),
        ([1], [[np.nan]], "expected finite counts"),
        ([1], [[-1]], "expected counts of zero or more"),
        ([1, 3], [[1], [4]], "expected item counts of at most the size of the component, got 4 of 3; count"),
        ("a", [[1]], "expected an array of numbers, got 'a'; give numbers"),
        ([1], [[1], [1, 2]], r"expected an array of numbers, got \[\[1\], \[1, 2\]\]; give"),
    ],
)
def test_bad_counts_are_refused(sizes, item_counts, message):
    """Wrong shapes, NaN and negative counts are errors that say so."""
    with pytest.raises(InvalidInputError, match=message):
        Counts(sizes, item_counts)


def test_squares_of_other_shapes_are_refused():
    """Squares are those of the same components and items."""
    with pytest.raises(InvalidInputError, match="expected squares of the same shape as the counts"):
        Counts([1], [[1]], Counts([1], [[1, 1]]))


def test_counts_of_other_shapes_do_not_add():
    """Counts of different models are not added."""
    with pytest.raises(InvalidInputError, match="expected counts of the same components"):
        Counts([1], [[1]]) + Counts([1, 2], [[1], [1]])
