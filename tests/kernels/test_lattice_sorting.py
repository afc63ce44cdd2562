import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import records as naive

from itemix.kernels import lattice

N_RANKS = 9
families = st.lists(st.sets(st.integers(0, N_RANKS - 1)).map(lambda ranks: tuple(sorted(ranks))), max_size=40)


@given(families)
def test_order(family):
    """Sets are sorted by length and then colexicographically; equal ones keep their order."""
    order = lattice.colex_order(*naive.as_ends(family), N_RANKS)
    assert order.tolist() == sorted(range(len(family)), key=lambda s: naive.colex(family[s]))


@given(families, st.randoms(use_true_random=False))
def test_sets_are_gathered_by_code(family, random):
    """Sets are taken in any order, and ranks turned into item codes."""
    order = random.sample(range(len(family)), len(family))
    code_of = random.sample(range(100), N_RANKS)
    offsets, codes = lattice.gather_sets(
        *naive.as_ends(family), np.array(order, dtype=np.int64), np.array(code_of, dtype=np.int32)
    )
    assert offsets[0] == 0
    assert naive.from_ends(offsets[1:], codes) == [tuple(code_of[r] for r in family[s]) for s in order]
