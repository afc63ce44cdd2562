import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive_lattice
from naive import rules as naive

from itemix.kernels.mining import rules as recommend

sides = st.frozensets(st.integers(0, 5), min_size=1, max_size=3)
baskets = st.lists(st.sets(st.integers(0, 5)).map(sorted), max_size=8)


seen = st.frozensets(st.integers(0, 3), min_size=1, max_size=2)
follows = st.sampled_from([frozenset({4}), frozenset({5}), frozenset({4, 5}), frozenset({0})])


@given(st.lists(st.tuples(seen, follows), min_size=5, max_size=30), baskets, st.integers(1, 4))
def test_best_rules(rules, baskets, n):
    """The best rule of each distinct consequent, best first, as going through all rules gives it."""
    rules = [(a, c - a) for a, c in rules if c - a]
    antecedents = naive_lattice.as_arrays([list(a) for a, _ in rules])
    consequents = naive_lattice.as_arrays([list(c) for _, c in rules])
    rows = naive_lattice.as_arrays(baskets)
    frequency = np.bincount(rows[1], minlength=6)
    by_item = recommend.rules_by_item(*antecedents, frequency)
    ids = np.array([[c for _, c in rules].index(c) for _, c in rules], dtype=np.int64)
    ranked = recommend.RankedRules(*antecedents, *consequents, ids, *by_item)
    best = recommend.best_rules(*rows, *rows, ranked, n)
    scored = [(a, c, -position) for position, (a, c) in enumerate(rules)]
    expected = [naive.recommend(scored, set(basket), n) for basket in baskets]
    assert [row[row >= 0].tolist() for row in best] == expected


@given(st.lists(sides, max_size=10), st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_rules_by_item(antecedents, frequency):
    """Every rule is listed once, under one of its rarest items."""
    family = [list(a) for a in antecedents]
    starts, rules = recommend.rules_by_item(*naive_lattice.as_arrays(family), np.array(frequency))
    listed = [(i, r) for i in range(6) for r in rules[starts[i] : starts[i + 1]].tolist()]
    assert sorted(r for _, r in listed) == list(range(len(antecedents)))
    assert all(i in antecedents[r] for i, r in listed)
    assert all(frequency[i] == min(frequency[j] for j in antecedents[r]) for i, r in listed)
