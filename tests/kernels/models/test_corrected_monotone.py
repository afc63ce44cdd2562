import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import corrected_monotone as naive
from naive import lattice
from naive.records import colex

from itemix.models.corrected import lower_to_subsets

N_RANKS = 6

sets_of_ranks = st.sets(st.integers(0, N_RANKS - 1), min_size=1).map(lambda ranks: tuple(sorted(ranks)))


@st.composite
def families(draw):
    """Draw sets of ranks in order, all their subsets but a few among them, some twice; a value each."""
    tops = draw(st.lists(sets_of_ranks, max_size=4))
    closed = {tuple(r for r in ranks if bits >> r & 1) for ranks in tops for bits in range(1, 2**N_RANKS)}
    left_out = draw(st.sets(sets_of_ranks, max_size=3))
    again = draw(st.lists(sets_of_ranks.filter(lambda ranks: ranks in closed), max_size=3)) if tops else []
    family = sorted([*(closed - left_out - {()}), *again], key=colex)
    values = st.floats(0, 1, width=16)
    return family, draw(st.lists(values, min_size=len(family), max_size=len(family)))


@given(families(), st.integers(1, 4), st.permutations(range(N_RANKS)))
def test_sets_are_lowered(data, n_pivots, code_of):
    """No set is left above its parent or a set without one of its pivots; without these it has no value."""
    family, values = data
    rank_of = np.argsort(code_of).astype(np.int32)
    offsets, codes = lattice.as_arrays([[code_of[rank] for rank in ranks] for ranks in family])
    low = lower_to_subsets(offsets, codes, rank_of, np.array(values), n_pivots)
    assert low.tolist() == naive.lowered(family, values, n_pivots)


def test_what_comes_twice_has_a_value_once():
    """Of a set that comes twice only the first has a value, also where all its subsets come twice."""
    family = [(0,), (0,), (1,), (1,), (0, 1), (0, 1)]
    values = [0.5, 0.5, 0.4, 0.4, 0.45, 0.45]
    low = lower_to_subsets(*lattice.as_arrays(family), np.arange(2, dtype=np.int32), np.array(values), 1)
    assert low.tolist() == naive.lowered(family, values, 1) == [0.5, 0.5, 0.4, 0.4, 0.4, -1.0]
