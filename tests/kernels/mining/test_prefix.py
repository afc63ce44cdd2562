"""The search in a mixture against products written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.prefix import probable_sets

from itemix import Mixture, mine
from itemix.kernels.mining import prefix


@st.composite
def mixtures(draw):
    """Draw a small mixture, with probabilities of 0 and 1 among others."""
    n_components, n_items = draw(st.integers(1, 5)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    probs = rng.random((n_components, n_items))
    probs[rng.random(probs.shape) < 0.15] = 0.0
    probs[rng.random(probs.shape) < 0.15] = 1.0
    return Mixture(rng.dirichlet(np.ones(n_components)), probs, [f"item {i}" for i in range(n_items)])


@given(mixtures(), st.sampled_from([0.02, 0.1, 0.3, 0.7]))
def test_finds_what_the_products_say(mixture, threshold):
    """Every set of enough probability is found, with its probability, and nothing else."""
    found = {frozenset(items): support for items, support, _ in mine(mixture, threshold, n_jobs=1)}
    expected = probable_sets(mixture.weights, mixture.probs, threshold)
    named = {frozenset(mixture.items.names(sorted(codes))): p for codes, p in expected.items()}
    assert found.keys() == named.keys()
    assert all(found[s] == pytest.approx(named[s], rel=1e-12) for s in found)


@pytest.mark.parametrize("n_components", [1, 7, 8, 9, 75])
def test_dot_and_multiply_are_numpys(n_components):
    """The two vector loops do what one line of NumPy does, whatever the padding."""
    rng = np.random.default_rng(n_components)
    vectors, local = rng.random((3, n_components)), rng.random((2, n_components))
    assert prefix._dot(vectors, 1, local, 1) == pytest.approx(vectors[1] @ local[1], rel=1e-13)
    expected = vectors[1] * local[0]
    prefix._multiply(vectors, 1, local, 0)
    assert np.array_equal(vectors[2], expected)
