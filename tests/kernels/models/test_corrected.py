"""Kernels that fit a correction, against their slow twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import corrected_shifts as naive
from naive.corrected import tilted

from itemix.kernels.models import corrected

seeds = st.integers(0, 10_000)


def random_table(rng, n_items, n_components, extreme=0.0):
    """Return weights and item probabilities, some of them 0 and 1."""
    table = rng.random((n_items, n_components))
    table[rng.random(table.shape) < extreme] = 0.0
    table[rng.random(table.shape) < extreme] = 1.0
    return rng.dirichlet(np.ones(n_components)), table


def counted_paths(rng, n_items, longest):
    """Return how many rows hold some sets, by path, the rarest item first; with a set go its subsets."""
    matrix = rng.random((40, n_items)) < rng.random(n_items)
    found = {}
    for n in range(1, longest + 1):
        for ranks in combinations(range(n_items), n):
            path = tuple(reversed(ranks))
            parts = [path[:j] + path[j + 1 :] for j in range(n)]
            if n == 1 or (rng.random() < 0.8 and all(part in found for part in parts)):
                found[path] = int(matrix[:, ranks].all(axis=1).sum())
    return {path: found[path] for path in sorted(found, key=lambda path: (len(path), path))}


def flat(paths):
    """Return paths as the kernels read sets: ranks ascending, in compressed form."""
    offsets = np.concatenate([[0], np.cumsum([len(path) for path in paths])])
    return offsets, np.array([rank for path in paths for rank in reversed(path)], dtype=np.int32)


@given(seeds, st.integers(1, 6), st.floats(0.001, 0.999))
def test_a_shift_is_found_as_by_halving(seed, n_components, where):
    """From any start, the shift is the one that gives the target, where probabilities are 0 and 1 too."""
    rng = np.random.default_rng(seed)
    weights, table = random_table(rng, 1, n_components, extreme=0.2)
    least, most = weights @ (table[0] == 1), weights @ (table[0] > 0)
    target = least + where * (most - least)
    found = corrected.solve_shift(weights, table[0], rng.normal(0, 3), target)
    assert weights @ tilted(table[0], found) == pytest.approx(target, rel=1e-10, abs=1e-14)
    if most - least > 1e-6:
        assert found == pytest.approx(naive.solve_shift(weights, table[0], target), abs=1e-6)


def test_targets_that_no_shift_reaches():
    """The farthest shift in their direction is taken."""
    weights, phi = np.array([0.5, 0.5]), np.array([0.0, 0.4])
    assert corrected.solve_shift(weights, phi, 0.0, 0.9) == pytest.approx(40, abs=1e-3)
    assert corrected.solve_shift(weights, np.array([1.0, 0.4]), 0.0, 0.1) == pytest.approx(-40, abs=1e-3)


@given(seeds, st.integers(1, 6), st.integers(1, 4))
def test_children_are_counted(seed, n_items, longest):
    """For each set, those that add one item to the end of its path."""
    paths = list(counted_paths(np.random.default_rng(seed), n_items, longest))
    assert corrected.count_children(*flat(paths)).tolist() == naive.count_children(paths)


@settings(max_examples=40)
@given(seeds, st.sampled_from([0.0, 0.5, 4.0]), st.integers(2, 4))
def test_shifts_are_fitted_path_by_path(seed, shrinkage, longest):
    """Each shift makes the conditional frequency that was counted, given those of shorter paths."""
    rng = np.random.default_rng(seed)
    counts = counted_paths(rng, 5, longest)
    weights, table = random_table(rng, 5, 3)
    first = 1 + np.concatenate([[0], np.cumsum(naive.count_children(list(counts)))])
    item = np.array([-1, *(path[-1] for path in counts)], dtype=np.int32)
    node_counts = np.array([40, *counts.values()])
    found = corrected.fit_shifts(first, item, node_counts, weights, table, shrinkage)
    expected = np.array([0.0, *naive.fit_shifts(counts, weights, table, shrinkage).values()])
    # Where all or none of the data hold an item, one shift is as good as another that is far enough.
    np.testing.assert_allclose(np.clip(found, -15, 15), np.clip(expected, -15, 15), atol=1e-5)
