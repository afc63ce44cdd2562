"""The kernels of maximum entropy against plain scaling over all states, one part and one row at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import maxent as naive
from naive.trees import random_trees, states

from itemix import Transactions
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.kernels.models import maxent
from itemix.models.maxent import KnownSets

seeds = st.integers(0, 10_000)


def known_of(matrix, least, longest):
    """Return what is known of the columns of a matrix, and the same as a dictionary."""
    n = matrix.shape[1]
    found = naive.frequent_sets(matrix, least, longest)
    sets = Sets.from_names(found, Items(range(n)))
    singles = {(i,): matrix[:, i].mean() for i in range(n)}
    return KnownSets.checked(matrix.mean(axis=0), sets, list(found.values())), singles | found


@settings(max_examples=30)
@given(seeds, st.integers(1, 5), st.sampled_from([0.1, 0.3]), st.integers(2, 5))
def test_states_are_those_of_plain_scaling(seed, n_items, least, longest):
    """Bit b of a state is the item b; sets known in full or in part."""
    matrix = random_trees(seed, 2, n_items).sample(100, random_state=seed).to_scipy().toarray().astype(int)
    matrix = np.concatenate([matrix, states(n_items)])
    known, constraints = known_of(matrix, least, longest)
    found = maxent.state_probabilities(known.trie, np.arange(n_items, dtype=np.int32))
    place = states(n_items) @ (1 << np.arange(n_items))
    np.testing.assert_allclose(found[place], naive.max_entropy(n_items, constraints), atol=1e-6)


@settings(max_examples=30)
@given(seeds)
def test_items_hang_together_by_pairs(seed):
    """Within each set, the places of those that a path of known pairs joins are the same."""
    rng = np.random.default_rng(seed)
    linked = np.triu(rng.random((9, 9)) < 0.15, 1)
    pairs = [tuple(map(int, pair)) for pair in np.argwhere(linked)]
    known = KnownSets.checked([0.5] * 9, Sets.from_names(pairs, Items(range(9))), [0.25] * len(pairs))
    sets = [np.flatnonzero(rng.random(9) < 0.6) for _ in range(5)]
    offsets = np.concatenate([[0], np.cumsum([len(codes) for codes in sets])])
    codes = np.concatenate(sets).astype(np.int32)
    out = np.empty(len(codes), dtype=np.int64)
    maxent.join_items(known.trie, offsets, codes, out)
    for s, own in enumerate(sets):
        assert codes[out[offsets[s] : offsets[s + 1]]].tolist() == naive.joined(own.tolist(), pairs)
        assert (out[offsets[s] : offsets[s + 1]] >= offsets[s]).all()


def test_events_of_parts():
    """What is asked and given of a part, equal parts found once."""
    matrix = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0], [1, 0, 1]])
    known, _ = known_of(matrix, 0.1, 3)
    offsets = np.array([0, 3, 4, 7])
    codes = np.array([0, 1, 2, 1, 0, 1, 2], dtype=np.int32)
    status = np.array([0, 2, 1, 1, 3, 0, 2], dtype=np.int8)
    out = np.empty((3, 2))
    leader = np.array([0, 1, 0])
    nothing = maxent.Joint(np.zeros(3, np.int32), np.ones(3, np.int64), np.zeros(2, np.int64), np.empty(0))
    asked = maxent.Asked(offsets, codes, status)
    maxent.part_probabilities(known.trie, nothing, asked, leader, np.argsort(leader, kind="stable"), out)
    np.testing.assert_allclose(out[0], [1 / 6, 3 / 6])  # 0, not 2, given 1
    np.testing.assert_allclose(out[1], [3 / 6, 1.0])  # not 1
    np.testing.assert_allclose(out[2], [1 / 6, 1 / 6])  # 1, given 2 and not 0


@settings(max_examples=25)
@given(seeds)
def test_rows_are_sums_over_parts(seed):
    """The log-probability of a row, parts that are never empty or never full included."""
    rng = np.random.default_rng(seed)
    part_of = np.sort(rng.integers(0, 3, 6)).astype(np.int32)
    part_of = np.unique(part_of, return_inverse=True)[1].astype(np.int32)
    bit_of = np.array([1 << int((part_of[:i] == part_of[i]).sum()) for i in range(6)])
    tables = []
    for p in range(part_of.max() + 1):
        table = rng.random(1 << int((part_of == p).sum()))
        table[rng.random(len(table)) < 0.3] = 0.0
        tables.append(table)
    starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    joint = maxent.Joint(part_of, bit_of, starts, np.concatenate(tables))
    with np.errstate(divide="ignore"):
        logs = np.log(joint.states)
    data = Transactions.from_matrix(states(6))
    out = np.empty(64)
    maxent.row_log_probabilities(data.indptr, data.indices, joint, logs, out)
    for row, value in zip(states(6), out, strict=True):
        expected = 1.0
        for p, table in enumerate(tables):
            expected *= table[(row * bit_of)[part_of == p].sum()]
        assert np.exp(value) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_events_of_items_that_hang_together_through_others():
    """What is not known of a part's items is a sum over the states of the whole part."""
    known = KnownSets.checked([0.5] * 3, Sets.from_names([(0, 1), (1, 2)], Items(range(3))), [0.4, 0.4])
    whole = maxent.state_probabilities(known.trie, np.arange(3, dtype=np.int32))
    joint = maxent.Joint(np.zeros(3, np.int32), np.array([1, 2, 4]), np.array([0, 8]), whole)
    asked = maxent.Asked(np.array([0, 2]), np.array([0, 2], dtype=np.int32), np.array([0, 2], dtype=np.int8))
    out = np.empty((1, 2))
    maxent.part_probabilities(known.trie, joint, asked, np.array([0]), np.array([0]), out)
    np.testing.assert_allclose(out, [[0.34, 0.5]])


@settings(max_examples=30)
@given(seeds)
def test_codes_of_one_part_are_joined(seed):
    """The place of the first code of the same part in each set; parts of -1 are left alone."""
    rng = np.random.default_rng(seed)
    part_of = rng.integers(-1, 3, 8).astype(np.int32)
    sets = [np.flatnonzero(rng.random(8) < 0.6) for _ in range(4)]
    offsets = np.concatenate([[0], np.cumsum([len(codes) for codes in sets])])
    codes = np.concatenate(sets).astype(np.int32)
    out = np.full(len(codes), -9)
    maxent.join_parts(offsets, codes, part_of, out)
    for s, own in enumerate(sets):
        for place, code in enumerate(own):
            same = [offsets[s] + k for k, other in enumerate(own) if part_of[other] == part_of[code]]
            assert out[offsets[s] + place] == (same[0] if part_of[code] >= 0 else -9)
