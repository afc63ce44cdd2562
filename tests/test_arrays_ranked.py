"""A part of a ranking is what a stable sort would have there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from itemix._arrays import ranked_part

KEYS = st.one_of(
    arrays(np.float64, st.integers(0, 30), elements=st.sampled_from([0.0, 0.25, 0.5, np.inf, np.nan])),
    arrays(np.int64, st.integers(0, 30), elements=st.integers(0, 3)),
)


@given(KEYS, st.integers(0, 35), st.integers(0, 35), st.booleans())
def test_parts_are_those_of_a_stable_sort(keys, start, length, descending):
    """Whatever ties and NaNs there are, pages fit together without a gap and without a repetition."""
    expected = np.argsort(-keys if descending else keys, kind="stable")[start : start + length]
    found = ranked_part(keys, start, start + length, descending=descending)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("descending", [True, False])
def test_pages_of_many_equal_keys_cover_all(descending):
    """A million sets have few lengths: all pages together are all sets, each once."""
    keys = np.random.default_rng(0).integers(0, 3, 1000)
    pages = [ranked_part(keys, at, at + 70, descending=descending) for at in range(0, 1000, 70)]
    assert sorted(np.concatenate(pages).tolist()) == list(range(1000))
