import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import corrected as naive

from itemix.kernels.models.corrected import further_shifts, least_probabilities
from itemix.models.corrected import Residuals, ResidualTrie


def residuals_of(shifts, n_items):
    """Return residuals with the shift of each path; the beginning of a path is stored with it, and items."""
    paths = {path[:n] for path in shifts for n in range(1, len(path) + 1)} | {(r,) for r in range(n_items)}
    nodes = [()]
    n_children = []
    for node in nodes:
        below = sorted(path for path in paths if path[:-1] == node)
        n_children.append(len(below))
        nodes += below
    first = 1 + np.concatenate([[0], np.cumsum(n_children)])
    item = np.array([-1, *(path[-1] for path in nodes[1:])], dtype=np.int32)
    return Residuals(ResidualTrie(first, item), [shifts.get(path, 0.0) for path in nodes]), nodes


def descending(n_items, longest):
    """Return all paths of two and more items."""
    return [tuple(c) for n in range(2, longest + 1) for c in combinations(range(n_items - 1, -1, -1), n)]


@st.composite
def corrected(draw, n_items=5, longest=4):
    """Draw weights, a table with some zeros and ones, and shifts of some paths, many of them far down."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = np.clip(rng.random((n_items, 3)) * draw(st.sampled_from([1.0, 1.3])), 0.0, 1.0)
    share, sign = draw(st.sampled_from([0.1, 0.5, 1.0])), draw(st.sampled_from([-1.0, 0.0]))
    paths = [path for path in descending(n_items, longest) if rng.random() < share]
    return rng.dirichlet(np.ones(3)), table, {path: float(rng.normal(sign, 1.5)) for path in paths}


def probabilities(weights, table, residuals, sets):
    """Return what the kernel says of sets of ranks."""
    offsets = np.cumsum([0, *map(len, sets)])
    ranks = np.array([rank for ranks in sets for rank in sorted(ranks)], dtype=np.int32)
    out = np.empty(len(sets))
    trie = residuals.shift_trie
    further = further_shifts(trie)
    least_probabilities(offsets, ranks, weights, table, trie, further, residuals.order - 1, out)
    return out


def check_all_sets(weights, table, shifts):
    """Check that the probability of each set is the least estimate of its subsets."""
    residuals, _ = residuals_of(shifts, len(table))
    sets = [c for n in range(len(table) + 1) for c in combinations(range(len(table)), n)]
    expected = [
        min(
            naive.estimate(path[::-1], weights, table, shifts, residuals.order - 1)
            for n in range(len(ranks) + 1)
            for path in combinations(ranks, n)
        )
        for ranks in sets
    ]
    np.testing.assert_allclose(
        probabilities(weights, table, residuals, sets), expected, rtol=1e-9, atol=1e-300
    )


@settings(max_examples=25, deadline=None)
@given(corrected())
def test_the_least_of_all_subsets(data):
    """The search finds the least estimate, also where paths are stored without those of fewer pivots."""
    check_all_sets(*data)


def test_items_that_fewer_pivots_shift():
    """What a branch can reach depends on shifts of the first pivot, also of items that the second leaves."""
    shifts = {(4, 0): -5.0, (4, 3, 0): 5.0, (4, 2, 1): 0.1}
    check_all_sets(np.ones(1), np.full((5, 1), 0.5), shifts)


@settings(max_examples=25, deadline=None)
@given(corrected())
def test_further_shifts(data):
    """No chain of more pivots shifts an item further down than is said."""
    _, table, shifts = data
    residuals, nodes = residuals_of(shifts, len(table))
    further = further_shifts(residuals.shift_trie)
    assert further.tolist() == pytest.approx([naive.further(path, shifts, set(nodes)) for path in nodes])


def test_long_sets_are_quick():
    """The subsets of a set of sixty items are far too many; what is stored of them is not."""
    rng = np.random.default_rng(0)
    shifts = {path: float(rng.normal()) for path in descending(12, 5)}
    residuals, _ = residuals_of(shifts, 60)
    weights, table = rng.dirichlet(np.ones(20)), rng.random((60, 20))
    sets = [list(range(n)) for n in (2, 60)]
    probabilities(weights, table, residuals, sets[:1])
    start = time.process_time()
    short, long = probabilities(weights, table, residuals, sets)
    assert time.process_time() - start < 0.5
    assert 0 < long < short
