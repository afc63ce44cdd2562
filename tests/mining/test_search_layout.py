"""How data is cut up for the searches."""

import numpy as np
import pytest

from itemix.mining import search


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("at_least", [1, 5, 1000])
def test_ranges_of_roots(n_threads, at_least):
    """Roots are cut into ranges without gaps, as many as asked for where there are as many roots."""
    for work in ([5], [1, 1, 100, 1], [3] * 50):
        ranges = search.ranges(np.array(work), n_threads, at_least)
        assert [root for first, stop in ranges for root in range(first, stop)] == list(range(len(work)))
        assert all(first < stop for first, stop in ranges)
