"""Chow-Liu trees: the best of all trees, and nearly none where items are independent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import trees as naive

from itemix import ChowLiuTree, Transactions
from itemix._runtime import Workers
from itemix.inference.trees import TreeEM, TreePrior, TreeRows, tree_starter

seeds = st.integers(0, 10_000)


def related_data(seed, n_items, n_rows=60):
    """Draw transactions from a random tree."""
    return naive.random_trees(seed, 1, n_items).sample(n_rows, random_state=seed)


@settings(max_examples=40)
@given(seeds, st.integers(2, 5))
def test_it_is_the_best_of_all_trees(seed, n_items):
    """No spanning tree has a higher likelihood, and the fitted one has that of its edges."""
    data = related_data(seed, n_items)
    model = ChowLiuTree(smoothing=0, edge_cost=0).fit(data)
    matrix = data.to_scipy().toarray().astype(int)
    best = max(naive.fitted_log_likelihood(matrix, edges) for edges in naive.spanning_trees(n_items))
    assert model.score_samples(data).sum() == pytest.approx(best, rel=1e-9)


@settings(max_examples=20)
@given(seeds)
def test_pairs_on_edges_have_their_frequencies(seed):
    """Without smoothing, items and pairs that an edge joins are as probable as they are frequent."""
    data = related_data(seed, 6)
    model = ChowLiuTree(smoothing=0).fit(data)
    for i in range(6):
        assert model.probability([f"i{i}"]) == pytest.approx(data.support([f"i{i}"]), abs=1e-12)
    for edge in model.trees_.edges():
        assert model.probability(edge) == pytest.approx(data.support(edge), abs=1e-12)


def test_independent_items_have_almost_no_edges():
    """An edge must pay for its parameter; with no cost every tree is a spanning one."""
    rng = np.random.default_rng(0)
    data = Transactions.from_matrix((rng.random((2000, 40)) < 0.3).astype(int))
    assert ChowLiuTree().fit(data).trees_.n_edges < 5
    assert ChowLiuTree(edge_cost=0).fit(data).trees_.n_edges == 39


def test_a_planted_tree_is_found():
    """Edges of a known tree, drawn often enough, are the edges found."""
    truth = naive.random_trees(11, 1, 8)
    found = ChowLiuTree().fit(truth.sample(20_000, random_state=0)).trees_
    assert {frozenset(edge) for edge in found.edges()} == {frozenset(edge) for edge in truth.edges()}
    chances = found.probabilities([["i0", "i5"], ["i1", "i2", "i3"]])
    np.testing.assert_allclose(chances, truth.probabilities([["i0", "i5"], ["i1", "i2", "i3"]]), atol=0.02)


def test_smoothing_keeps_everything_possible():
    """Items never seen, always seen or never apart: finite log-likelihood of every state."""
    data = Transactions.from_matrix(np.array([[1, 0, 1, 1], [1, 0, 0, 0]] * 10))
    states = Transactions.from_matrix(naive.states(4))
    smooth = ChowLiuTree().fit(data).score_samples(states)
    assert np.isfinite(smooth).all()
    assert np.exp(smooth).sum() == pytest.approx(1.0)
    rough = ChowLiuTree(smoothing=0).fit(data).score_samples(states)
    assert np.isfinite(rough).sum() == 2
    assert np.exp(rough).sum() == pytest.approx(1.0)


def test_where_items_are_many_the_strongest_pairs_are_enough():
    """A bound on the pairs changes nothing where dependencies are clear."""
    data = naive.random_trees(5, 1, 30).sample(3000, random_state=0)
    rows = TreeRows(data, 10**6, Workers())
    assert 4 * 30 <= len(rows.index.others) < 30 * 29 // 2
    prior = TreePrior(smoothing=1.0, pooling=0.0, edge_cost=0.5 * np.log(3000))
    algorithm = TreeEM(rows, 1, prior, tree_starter("random", rows, 1))
    found = algorithm.finish(algorithm.init(np.random.default_rng(0)))
    assert found == ChowLiuTree().fit(data).trees_


@pytest.mark.parametrize("n_items", [1, 2])
def test_few_items(n_items):
    """One item is a tree too."""
    data = Transactions.from_matrix(
        np.array([[1] * n_items, [0] * n_items, [1] * n_items, [1] * n_items] * 5)
    )
    model = ChowLiuTree(smoothing=0).fit(data)
    assert model.probability(list(range(n_items))) == pytest.approx(0.75)


def test_multiplicities_and_threads():
    """Merged rows, and threads, give the same tree."""
    data = related_data(3, 8, n_rows=300)
    expected = ChowLiuTree().fit(data).trees_
    assert ChowLiuTree(n_jobs=2).fit(data.merge_identical()).trees_ == expected
