"""The kernels for trees against sums over all states."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import trees as naive

from itemix import Transactions
from itemix.kernels.models import trees
from itemix.models.trees import tables_of_trees

seeds = st.integers(0, 10_000)
extremes = st.sampled_from([0.0, 0.3])


def random_sets(rng, n_items, n=30):
    """Return some present and some absent items for each of n sets."""
    sets = []
    for _ in range(n):
        order = rng.permutation(n_items)
        a, b = sorted(rng.integers(0, n_items + 1, 2))
        sets.append((order[:a], order[a:b]))
    return sets


def compressed(sets):
    """Return sets of codes as offsets and codes."""
    lengths = [len(codes) for codes in sets]
    return np.concatenate([[0], np.cumsum(lengths)]), np.concatenate([*sets, []]).astype(np.int32)


@settings(max_examples=60)
@given(seeds, st.integers(1, 7), st.integers(1, 4), extremes)
def test_probabilities_of_sets_are_sums_over_states(seed, n_items, n_components, extreme):
    """Items present and absent in forests; an item named twice counts once."""
    mixture = naive.random_trees(seed, n_components, n_items, extreme)
    sets = random_sets(np.random.default_rng(seed), n_items)
    chances, table = naive.state_probabilities(mixture), naive.states(n_items)
    expected = [chances[naive.event(table, *asked)].sum() for asked in sets]
    twice = [[np.tile(codes, 2) for codes in side] for side in zip(*sets, strict=True)]
    found = mixture.probabilities_of_codes(*compressed(twice[0]), *compressed(twice[1]))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)


@settings(max_examples=60)
@given(seeds, st.integers(1, 7), st.integers(1, 4), extremes)
def test_items_given_sets_are_sums_over_states(seed, n_items, n_components, extreme):
    """The probability of each item given a set, and that of the set; -inf where it is impossible."""
    mixture = naive.random_trees(seed, n_components, n_items, extreme)
    sets = random_sets(np.random.default_rng(seed), n_items)
    chances, table = naive.state_probabilities(mixture), naive.states(n_items)
    out = np.full((len(sets), n_items), -1.0)
    sides = [compressed(side) for side in zip(*sets, strict=True)]
    values = mixture._given(*sides[0], *sides[1], out)
    for s, asked in enumerate(sets):
        held = naive.event(table, *asked)
        total = chances[held].sum()
        if total == 0:
            assert np.isneginf(values[s])
            assert (out[s] == -1).all()
            continue
        assert values[s] == pytest.approx(np.log(total), rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(out[s], chances[held] @ table[held] / total, rtol=1e-9, atol=1e-12)


@settings(max_examples=40)
@given(seeds, st.integers(1, 6), st.integers(1, 4))
def test_scores_of_rows_are_log_linear(seed, n_items, n_components):
    """Base, singles and pairs are summed over the items that each row holds."""
    mixture = naive.random_trees(seed, n_components, n_items)
    tables, impossible = tables_of_trees(mixture.weights, mixture.parents, mixture.probs)
    assert impossible is None
    matrix = naive.states(n_items)
    data = Transactions.from_matrix(matrix)
    scores = np.empty((len(matrix) - 1, n_components))
    trees.row_scores(data.indptr, data.indices, 1, *tables, scores)
    np.testing.assert_allclose(scores, naive.log_linear(matrix, *tables)[1:], rtol=1e-10, atol=1e-12)


def test_shares_of_rows():
    """A softmax without what is negligible; a row that nothing allows is shared equally."""
    scores = np.array([[0.0, np.log(3.0)], [-np.inf, -np.inf], [-np.inf, -4.0], [0.0, -30.0]])
    values = np.empty(4)
    trees.share_rows(scores, values)
    np.testing.assert_allclose(values, [np.log(4.0), -np.inf, -4.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(scores, [[0.25, 0.75], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])


@given(seeds, st.integers(1, 6), st.sampled_from([1.0, 12.0, 400.0]))
def test_shares_of_rows_are_those_of_the_twin(seed, n_components, spread):
    """Also of scores far apart, some of them -inf."""
    rng = np.random.default_rng(seed)
    scores = spread * rng.normal(size=(5, n_components))
    scores[rng.random(scores.shape) < 0.3] = -np.inf
    expected = [naive.shares(row, trees.NEGLIGIBLE) for row in scores.tolist()]
    values = np.empty(5)
    trees.share_rows(scores, values)
    np.testing.assert_allclose(scores, [row for row, _ in expected], rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(values, [value for _, value in expected], rtol=1e-12)


@settings(max_examples=40)
@given(seeds, st.integers(1, 9))
def test_order_has_parents_first(seed, n_items):
    """Every item stands after its parent, trees one after the other, and marginals are sums over states."""
    mixture = naive.random_trees(seed, 2, n_items)
    for k in range(2):
        order, rank, parents = mixture._order[k], mixture._rank[k], mixture.parents[k]
        assert sorted(order) == list(range(n_items))
        np.testing.assert_array_equal(rank[order], np.arange(n_items))
        assert all(rank[parents[i]] < rank[i] for i in range(n_items) if parents[i] >= 0)
        root = list(range(n_items))
        for i in order:
            root[i] = i if parents[i] < 0 else root[parents[i]]
        assert sum(root[a] != root[b] for a, b in pairwise(order)) == len(set(root)) - 1


@settings(max_examples=40)
@given(seeds, st.integers(1, 9))
def test_edges_are_rooted(seed, n_items):
    """Edges in any direction become parents, of the same edges."""
    parents = naive.random_trees(seed, 1, n_items).parents[0]
    child = np.flatnonzero(parents >= 0)
    one, other = np.minimum(child, parents[child]), np.maximum(child, parents[child])
    found = np.empty(n_items, dtype=np.int32)
    trees.root_edges(one.astype(np.int32), other.astype(np.int32), found)
    new = np.flatnonzero(found >= 0)
    assert {frozenset(edge) for edge in zip(new, found[new], strict=True)} == {
        frozenset(edge) for edge in zip(one, other, strict=True)
    }


def test_draws_follow_the_trees():
    """Uniform numbers below the conditional probability make an item present."""
    mixture = naive.random_trees(3, 2, 5, extreme=0.2)
    rng = np.random.default_rng(0)
    labels, uniform = rng.integers(0, 2, 50), rng.random((50, 5))
    out = np.zeros((50, 5), dtype=bool)
    trees.draw_rows(labels, uniform, mixture.parents, mixture._order, mixture.probs, out)
    for t, k in enumerate(labels):
        for i, p in enumerate(mixture.parents[k]):
            x = int(out[t, p]) if p >= 0 else 0
            assert out[t, i] == (uniform[t, i] < mixture.probs[k, i, x])


@settings(max_examples=60)
@given(seeds, st.integers(1, 7), st.integers(1, 4), extremes)
def test_trees_in_order(seed, n_items, n_components, extreme):
    """Parents come before their children, tree after tree, and the chance of an item is a sum over states."""
    mixture = naive.random_trees(seed, n_components, n_items, extreme)
    shape = n_components, n_items
    order, rank, marginal = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape)
    assert trees.order_trees(mixture.parents, mixture.probs, order, rank, marginal)
    table = naive.states(n_items)
    for k, parents in enumerate(mixture.parents):
        assert sorted(order[k]) == list(range(n_items))
        assert [rank[k, i] for i in order[k]] == list(range(n_items))
        assert all(p < 0 or rank[k, p] < rank[k, i] for i, p in enumerate(parents))
        own = [naive.row_probability(row, [1.0], [parents], [mixture.probs[k]]) for row in table]
        np.testing.assert_allclose(marginal[k], np.array(own) @ table, atol=1e-12)


def test_a_cycle_is_seen():
    """Items that are each other's parents are in no order."""
    arrays = np.empty((1, 2), np.int32), np.empty((1, 2), np.int32), np.empty((1, 2))
    assert not trees.order_trees(np.array([[1, 0]], dtype=np.int32), np.full((1, 2, 2), 0.5), *arrays)
