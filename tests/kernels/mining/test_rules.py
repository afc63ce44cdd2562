import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import lattice as naive_lattice
from naive import rules as naive

from itemix.kernels import lattice
from itemix.kernels.mining import rules as kernels
from itemix.mining.measures import MEASURES

baskets = st.lists(st.sets(st.integers(0, 4)), min_size=1, max_size=10).filter(any)
ANYWHERE = kernels.ANTECEDENT + kernels.CONSEQUENT


def split(pairs, n, known=None, room=1000, budget=10**9, **wanted):
    """Run the kernel to its end, in as many calls as it takes; return rules, missing sets and the calls."""
    family = [names for names, _ in pairs]
    offsets, codes = naive_lattice.as_arrays(family)
    support = np.array([count / n for _, count in pairs])
    known_family = family if known is None else known
    known_offsets, known_codes = naive_lattice.as_arrays(known_family)
    counts = {frozenset(names): count for names, count in pairs}
    keys = lattice.item_keys(5)
    table = lattice.build_table(known_offsets, known_codes, keys)
    known_support = np.array([counts[frozenset(names)] / n for names in known_family])
    everything = {
        "sides": np.full(5, ANYWHERE, dtype=np.int8),
        "min_antecedent": 1,
        "max_antecedent": 99,
        "min_consequent": 1,
        "max_consequent": 99,
        "measure": 3,
        "threshold": 0.0,
        "n_transactions": float(n),
        "support_only": False,
        "redundant": True,
    }
    found = kernels.room_for(room, 5)
    place = np.zeros(5 + kernels.PLACE_STACK, dtype=np.int64)
    rules, missing, calls, done = [], [], 0, False
    while not done:
        calls += 1
        found.sizes[:] = 0
        done = kernels.split_sets(
            kernels.KnownSupports(table, known_offsets, known_codes, keys, known_support),
            kernels.Wanted(**{**everything, **wanted}),
            found,
            offsets,
            codes,
            support,
            place,
            budget,
        )
        n_rules, n_a, n_c, n_missing, n_codes, _ = found.sizes
        sides = [
            naive_lattice.as_lists(np.concatenate([[0], np.cumsum(lengths[:size])]), values[:total])
            for lengths, values, size, total in (
                (found.antecedent_lengths, found.antecedents, n_rules, n_a),
                (found.consequent_lengths, found.consequents, n_rules, n_c),
                (found.missing_lengths, found.missing, n_missing, n_codes),
            )
        ]
        rules += list(zip(map(frozenset, sides[0]), map(frozenset, sides[1]), strict=True))
        missing += map(frozenset, sides[2])
    return rules, missing, calls


@given(baskets, st.integers(0, 12), st.floats(-0.5, 2))
def test_all_rules_are_found_once(transactions, code, threshold):
    """For every measure and threshold: exactly the rules that looking at all splits gives."""
    pairs = naive_lattice.mine(transactions, 1)
    n = len(transactions)
    rules, missing, _ = split(pairs, n, measure=code, threshold=threshold - 1e-12)
    supports = {frozenset(names): count / n for names, count in pairs}
    assert naive.in_order(rules) == naive.in_order(naive.rules(supports, MEASURES[code], threshold, n))
    assert missing == []


some_sides = st.lists(st.sampled_from([3, 3, 2, 1]), min_size=5, max_size=5)


@given(baskets, st.integers(1, 5), st.integers(1, 20), some_sides)
def test_the_search_can_be_interrupted(transactions, room, budget, sides):
    """With little room and a small budget, the same rules come in the same order, in several calls."""
    pairs = naive_lattice.mine(transactions, 1)
    sides = np.array(sides, dtype=np.int8)
    whole, _, calls = split(pairs, len(transactions), sides=sides)
    parts, _, more_calls = split(pairs, len(transactions), room=room, budget=budget, sides=sides)
    assert parts == whole
    assert calls == 1
    assert more_calls >= len(whole) / room


@given(baskets, st.data())
def test_sides_and_sizes(transactions, data):
    """Items stand only where they may, and sides have only the sizes that are wanted."""
    pairs = naive_lattice.mine(transactions, 1)
    sides = data.draw(st.lists(st.sampled_from([3, 3, 3, 2, 1, 0]), min_size=5, max_size=5))
    low_a, low_c = data.draw(st.tuples(*[st.sampled_from([1, 1, 2])] * 2))
    high_a, high_c = data.draw(st.tuples(*[st.sampled_from([99, 1, 2, 3])] * 2))
    threshold = data.draw(st.sampled_from([0.0, 0.3, 0.7]))
    rules, _, _ = split(
        pairs,
        len(transactions),
        sides=np.array(sides, dtype=np.int8),
        min_antecedent=low_a,
        max_antecedent=high_a,
        min_consequent=low_c,
        max_consequent=high_c,
        threshold=threshold - 1e-12,
    )
    every, _, _ = split(pairs, len(transactions), threshold=threshold - 1e-12)
    expected = [
        (a, c)
        for a, c in every
        if low_a <= len(a) <= high_a
        and low_c <= len(c) <= high_c
        and all(sides[i] & kernels.ANTECEDENT for i in a)
        and all(sides[i] & kernels.CONSEQUENT for i in c)
    ]
    assert naive.in_order(rules) == naive.in_order(expected)


@given(baskets, st.data())
def test_missing_supports_are_noted(transactions, data):
    """Rules whose supports are known are found if the search can reach them; what is missing is noted."""
    pairs = naive_lattice.mine(transactions, 1)
    known = [names for names, _ in pairs if data.draw(st.booleans())]
    rules, missing, _ = split(pairs, len(transactions), known=known)
    every, _, _ = split(pairs, len(transactions))
    known_sets = set(map(frozenset, known))
    assert all(a in known_sets and c in known_sets for a, c in rules)
    assert not set(missing) & known_sets
    assert set(rules) <= set(every)
    assert (len(rules) == len(every)) == (not missing)


def test_support_only():
    """Selecting by support needs no other supports."""
    pairs = naive_lattice.mine([{0, 1, 2}, {0, 1}], 1)
    rules, missing, _ = split(pairs, 2, known=[], measure=2, threshold=0.75, support_only=True)
    assert rules == [({1}, {0}), ({0}, {1})]
    assert missing == []


@pytest.mark.parametrize("length", [25])
def test_long_sets_are_pruned(length):
    """A threshold that rules out large consequents keeps a set with 33 million splits cheap."""
    family = [list(range(length)), *([i] for i in range(length))]
    family += [[j for j in range(length) if j != i] for i in range(length)]
    offsets, codes = naive_lattice.as_arrays(family)
    keys = lattice.item_keys(length)
    support = np.array([0.5] + [0.9] * (2 * length))
    known = kernels.KnownSupports(lattice.build_table(offsets, codes, keys), offsets, codes, keys, support)
    wanted = kernels.Wanted(
        np.full(length, ANYWHERE, dtype=np.int8), 1, 99, 1, 99, 3, 0.8, np.nan, False, True
    )
    found = kernels.room_for(100, length)
    place = np.zeros(length + kernels.PLACE_STACK, dtype=np.int64)
    assert kernels.split_sets(known, wanted, found, offsets[:2], codes, support, place, length)
    assert not found.sizes.any()
