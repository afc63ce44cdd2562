"""Counts and gains of pairs against dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import trees as naive

from itemix import Transactions
from itemix.inference import trees
from itemix.inference.trees import CandidatePairs, candidate_pairs
from itemix.kernels.models import pairs

seeds = st.integers(0, 10_000)


def random_data(seed, n_rows=40, n_items=8):
    """Return a 0/1 matrix, the same as transactions, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((n_rows, n_items)) < rng.uniform(0.1, 0.6, n_items)).astype(int)
    return matrix, Transactions.from_matrix(matrix), rng.random(n_rows) * (rng.random(n_rows) < 0.8)


def some_pairs(rng, n_items):
    """Return a random choice of pairs."""
    chosen = [(i, j) for i in range(n_items) for j in range(i) if rng.random() < 0.4]
    larger = np.array([i for i, _ in chosen], dtype=np.int64)
    starts = np.searchsorted(larger, np.arange(n_items + 1))
    return CandidatePairs(starts.astype(np.int64), np.array([j for _, j in chosen], dtype=np.int32))


@settings(max_examples=40)
@given(seeds, st.booleans(), st.integers(1, 9))
def test_pairs_are_counted(seed, complete, n_items):
    """All pairs, or some, with weights, from some row on."""
    matrix, data, weights = random_data(seed, n_items=n_items)
    index = candidate_pairs(data, 1) if complete else some_pairs(np.random.default_rng(seed), n_items)
    singles, counted = np.zeros(n_items), np.zeros(len(index.others))
    pairs.count_pairs(data.indptr, data.indices, *index, 3, weights[3:30], singles, counted)
    expected = naive.pair_counts(matrix[3:30], weights[3:30])
    np.testing.assert_allclose(singles, np.diag(expected), rtol=1e-12)
    np.testing.assert_allclose(counted, expected[index.larger, index.others], rtol=1e-12)
    ends, found = pairs.list_pairs(data.indptr, data.indices, *index, 10**6)
    assert (
        len(found) == ends[-1] == (naive.pair_counts(matrix, np.ones(40))[index.larger, index.others]).sum()
    )
    again = np.zeros(n_items), np.zeros(len(index.others))
    pairs.count_listed(data.indptr, data.indices, ends, found, 3, weights[3:30], *again)
    np.testing.assert_array_equal(again[0], singles)
    np.testing.assert_array_equal(again[1], counted)
    if len(found):
        too_many = pairs.list_pairs(data.indptr, data.indices, *index, len(found) - 1)
        assert [len(part) for part in too_many] == [0, 0]
    places = index.places(index.larger, index.others)
    np.testing.assert_array_equal(places, np.arange(len(index.others)))


@settings(max_examples=40)
@given(seeds, st.sampled_from([0.0, 0.5, 3.0]))
def test_gains_are_mutual_information(seed, cost):
    """An edge gains the transactions times the mutual information, less its cost, and never less than 0."""
    matrix, data, weights = random_data(seed)
    index = candidate_pairs(data, 1)
    counts, total = naive.pair_counts(matrix, weights), weights.sum() + 1.5
    gains = np.empty(len(index.others))
    n_gaining = pairs.edge_gains(
        np.diag(counts).copy(), counts[index.larger, index.others], total, *index, cost, gains
    )
    information = [
        naive.mutual_information(counts, total, i, j) for i, j in zip(index.larger, index.others, strict=True)
    ]
    np.testing.assert_allclose(
        gains, np.maximum(total * np.array(information) - cost, 0), rtol=1e-9, atol=1e-9
    )
    assert n_gaining == np.count_nonzero(gains)


def test_items_that_are_everywhere_or_nowhere_gain_nothing():
    """Constant items and equal halves: no edge from rounding errors."""
    matrix = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 1, 1], [1, 0, 0, 0]] * 25)
    counts = naive.pair_counts(matrix, np.full(100, 0.1)).astype(float)
    index = candidate_pairs(Transactions.from_matrix(matrix), 1)
    gains = np.empty(6)
    assert (
        pairs.edge_gains(
            np.diag(counts).copy(), counts[index.larger, index.others], counts[0, 0], *index, 0.0, gains
        )
        == 0
    )


@pytest.mark.parametrize("merged", [False, True])
def test_the_strongest_partners_are_kept(merged):
    """Where items are many, each keeps those partners that tell most about it, met or not."""
    rng = np.random.default_rng(1)
    matrix = (rng.random((300, 12)) < 0.15).astype(int)
    matrix[:, 1] = matrix[:, 0]  # tells most about it
    matrix[:, 2] = 1 - (matrix[:, 3] | (rng.random(300) < 0.2))  # never met by 3, and frequent
    data = Transactions.from_matrix(matrix)
    index = trees._strongest_pairs(data.merge_identical() if merged else data, 3)
    counts = naive.pair_counts(matrix, np.ones(300))
    kept = set(zip(index.larger.tolist(), index.others.tolist(), strict=True))
    expected = set()
    for i in range(12):
        others = [j for j in range(12) if j != i]
        best = sorted(others, key=lambda j: -naive.mutual_information(counts, 300, i, j))[:3]
        expected |= {(max(i, j), min(i, j)) for j in best}
    assert kept == expected


@pytest.mark.parametrize("flattening", [0.0, 0.5])
def test_terms_of_pairs_are_learned_step_by_step(flattening):
    """Each step is that of the twin, empty rows and single items included."""
    rng = np.random.default_rng(3)
    X = rng.random((12, 5)) < 0.4
    X[0], X[1] = False, [True, False, False, False, False]
    indptr = np.concatenate([[0], np.cumsum(X.sum(axis=1))])
    indices = np.nonzero(X)[1].astype(np.int32)
    listed = [(j, i) for j in range(5) for i in range(5) if i != j and (i + j) % 3]
    starts = np.searchsorted([j for j, _ in listed], np.arange(6))
    terms = pairs.PairTerms(
        starts.astype(np.int64),
        np.array([i for _, i in listed], dtype=np.int32),
        rng.normal(size=len(listed)),
        np.ones(len(listed)),
        rng.normal(size=5),
        np.full(5, 2.0),
    )
    matrix = dict(zip(listed, terms.weights.tolist(), strict=True))
    bias, squares = terms.bias.tolist(), (dict.fromkeys(listed, 1.0), [2.0] * 5)
    order, weights = rng.permutation(12), rng.random(12)
    for row in order:
        basket = set(np.flatnonzero(X[row]).tolist())
        if basket:
            naive.pair_terms_step(basket, weights[row], matrix, bias, squares, flattening, 0.3)
    pairs.learn_pair_terms(indptr, indices, order, weights, terms, flattening, 0.3)
    np.testing.assert_allclose(terms.weights, [matrix[pair] for pair in listed], rtol=1e-12)
    np.testing.assert_allclose(terms.bias, bias, rtol=1e-12)
