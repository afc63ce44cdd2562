"""Newton's method for maximum entropy against plain scaling, and where scaling does not arrive."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import maxent as naive
from naive.trees import event, states

from itemix.kernels.models.maxent import refine_states


def start(n_items, supports):
    """Return sets and their supports for the kernel, the empty one first, and states of independent items."""
    masks = np.array([0, *(sum(1 << i for i in items) for items in supports)])
    place = states(n_items) @ (1 << np.arange(n_items))
    table = np.empty(1 << n_items)
    frequencies = np.array([supports[(i,)] for i in range(n_items)])
    table[place] = np.where(states(n_items), frequencies, 1 - frequencies).prod(axis=1)
    return masks, np.array([1.0, *supports.values()]), table, place


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 3))
def test_same_states_as_plain_scaling(seed, n_items, longest):
    """From independent items to the distribution of the highest entropy."""
    rng = np.random.default_rng(seed)
    matrix = np.concatenate([rng.random((60, n_items)) < rng.random(n_items), states(n_items)]).astype(int)
    supports = {(i,): matrix[:, i].mean() for i in range(n_items)} | naive.frequent_sets(
        matrix, 0.05, longest
    )
    masks, targets, table, place = start(n_items, supports)
    assert refine_states(masks, targets, table) < 1e-12
    np.testing.assert_allclose(table[place], naive.max_entropy(n_items, supports), atol=1e-8)


def test_states_that_have_to_vanish():
    """Three items, two of them in every row: no pair rules a state out, all together leave three of eight."""
    supports = {(0,): 2 / 3, (1,): 2 / 3, (2,): 2 / 3, (0, 1): 1 / 3, (0, 2): 1 / 3, (1, 2): 1 / 3}
    masks, targets, table, place = start(3, supports)
    assert refine_states(masks, targets, table) < 1e-12
    np.testing.assert_allclose(table[place][states(3).sum(axis=1) == 2], 1 / 3, atol=1e-7)
    for items, support in supports.items():
        np.testing.assert_allclose(table[place][event(states(3), items)].sum(), support, atol=1e-12)


def test_what_no_distribution_has():
    """Halves that exclude each other are not met."""
    supports = {(0,): 0.5, (1,): 0.5, (2,): 0.5, (0, 1): 0.01, (0, 2): 0.01, (1, 2): 0.01}
    masks, targets, table, _ = start(3, supports)
    assert not refine_states(masks, targets, table) < 1e-6
