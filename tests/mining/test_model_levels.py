"""The search level by level: in a mixture it finds what the search for mixtures finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.models import OnlyProbabilities, random_mixture

import itemix
from itemix.errors import TooManyItemsetsError
from itemix.mining import model


def names(itemsets):
    """Return the sets alone, in order."""
    return [itemset.items for itemset in itemsets]


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "target": st.sampled_from(["all", "closed", "maximal"]),
        "min_len": st.integers(1, 2),
        "max_len": st.integers(2, 5),
        "include": st.sampled_from([["i0"], ["i3", "i1"]]),
        "exclude": st.sampled_from([["i2"], ["i4", "i5"]]),
        "top_k": st.integers(1, 30),
    },
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 0.9), OPTIONS)
def test_finds_what_the_search_in_mixtures_finds(seed, min_support, options):
    """The same sets in the same order, under every option."""
    mixture = random_mixture(seed)
    expected = itemix.mine(mixture, min_support, **options)
    found = itemix.mine(OnlyProbabilities(mixture), min_support, **options)
    assert names(found) == names(expected)
    np.testing.assert_allclose(found.support, expected.support, rtol=1e-9)


def test_blocks_do_not_change_the_result(monkeypatch):
    """Sets are asked for some at a time; how many is not seen in the result."""
    mixture = random_mixture(1, n_items=12)
    expected = itemix.mine(OnlyProbabilities(mixture), 0.02)
    monkeypatch.setattr(model, "_BLOCK", 5)
    found = itemix.mine(OnlyProbabilities(mixture), 0.02)
    assert names(found) == names(expected)


def test_stops_at_max_itemsets():
    """More sets than allowed raise before all of them are found."""
    with pytest.raises(TooManyItemsetsError, match="at most max_itemsets=10 itemsets, got"):
        itemix.mine(OnlyProbabilities(random_mixture(2)), 0.01, max_itemsets=10)


def test_progress_reaches_the_end():
    """The last report says that all roots are done."""
    reports = []
    itemix.mine(
        OnlyProbabilities(random_mixture(3)), 0.01, progress=lambda done, total: reports.append((done, total))
    )
    assert reports[-1][0] == reports[-1][1] > 0
