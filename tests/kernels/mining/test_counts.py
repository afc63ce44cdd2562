import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive

from itemix.kernels.mining.counts import count_sets

rows = st.lists(st.sets(st.integers(0, 5)).map(sorted), max_size=20)
families = st.lists(st.sets(st.integers(0, 5)).map(list), max_size=8)


def expected(transactions, weights, family):
    """Count by looking at every transaction."""
    return [sum(w for t, w in zip(transactions, weights, strict=True) if set(s) <= set(t)) for s in family]


@given(rows, families)
def test_count_sets(transactions, family):
    """Sets are counted as by looking at every transaction; the empty set is in all."""
    none = np.empty(0, dtype=np.int64)
    counted = count_sets(*naive.as_arrays(transactions), none, *naive.as_arrays(family), 6)
    assert counted.tolist() == expected(transactions, [1] * len(transactions), family)


@given(rows, families, st.data())
def test_count_sets_with_multiplicities(transactions, family, data):
    """A row that stands for several transactions counts as often."""
    n = len(transactions)
    weights = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    array = np.array(weights, dtype=np.int64)
    counted = count_sets(*naive.as_arrays(transactions), array, *naive.as_arrays(family), 6)
    assert counted.tolist() == expected(transactions, weights, family)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_blocks(weighted):
    """Transactions that do not fit into one block of bits: many items leave few words for each."""
    rng = np.random.default_rng(0)
    n_items = 3000
    transactions = [sorted(rng.choice(n_items, 5, replace=False).tolist()) for _ in range(2000)]
    family = [[i] for i in range(n_items)] + [t[:2] for t in transactions[:50]]
    weights = rng.integers(1, 5, len(transactions)) if weighted else np.empty(0, dtype=np.int64)
    counted = count_sets(*naive.as_arrays(transactions), weights, *naive.as_arrays(family), n_items)
    each = weights if weighted else np.ones(len(transactions), dtype=np.int64)
    singles = np.zeros(n_items, dtype=np.int64)
    for codes, weight in zip(transactions, each, strict=True):
        singles[codes] += weight
    assert counted[:n_items].tolist() == singles.tolist()
    assert counted[n_items:].tolist() == expected(transactions, each, family[n_items:])
