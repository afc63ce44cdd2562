"""The itemsets whose supports a model of maximum entropy knows."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itemix import Transactions
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.estimators.maxent import constraint_sets


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.3, 0.6, 0.95]), st.integers(1, 5), st.booleans())
def test_all_sets_whose_subsets_are_frequent(seed, least, max_len, merged):
    """Frequent ones and those at their border, up to a length, with exact supports."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((60, 6)) < rng.uniform(0.2, 0.9, 6)).astype(int)
    data = Transactions.from_matrix(matrix)
    sets, supports = constraint_sets(data.merge_identical() if merged else data, least, max_len)

    def support(items):
        return matrix[:, list(items)].all(axis=1).mean()

    expected = {}
    for length in range(2, max_len + 1):
        for items in combinations(range(6), length):
            if all(support(rest) >= least - 1e-9 for rest in combinations(items, length - 1)):
                expected[frozenset(items)] = support(items)
    found = dict(zip((frozenset(names) for names in sets), supports, strict=True))
    assert found == pytest.approx(expected)
    assert len(found) == len(sets)


def test_too_many():
    """More than a million sets are refused, in words that help."""
    message = r"at most 1,000,000 itemsets as constraints, got .*; ask for a higher support than 0\.5, or for"
    frequent = np.ones((2, 1500), dtype=int)
    with pytest.raises(TooManyItemsetsError, match=message):
        constraint_sets(Transactions.from_matrix(frequent), 0.5, 2)
    at_the_border = np.zeros((4, 1500), dtype=int)
    at_the_border[[0, 1], ::2] = 1
    at_the_border[[2, 3], 1::2] = 1
    with pytest.raises(TooManyItemsetsError, match=message):
        constraint_sets(Transactions.from_matrix(at_the_border), 0.5, 2)


def test_thresholds_are_those_of_mining():
    """What mine refuses is refused."""
    with pytest.raises(InvalidInputError, match="min_support"):
        constraint_sets(Transactions.from_lists([["a"]]), 0.0, 2)
