import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itemix.kernels.mining import records

numbers = st.integers(0, 100)


@given(st.lists(st.tuples(numbers, numbers)), st.integers(0, 500), st.integers(0, 20_000))
def test_totals_stop_the_search(reports, max_found, max_bytes):
    """Sets and items are added up; more than allowed, of sets or of bytes, stops all threads for good."""
    shared = np.zeros(4, dtype=np.int64)
    limits = records.SearchLimits(1, 1, 10, max_found, max_bytes)
    n_found = n_codes = 0
    too_many = False
    for found, codes in reports:
        records.report(found, codes, shared, limits)
        n_found, n_codes = n_found + found, n_codes + codes
        n_bytes = records.BYTES_PER_SET * n_found + records.BYTES_PER_CODE * n_codes
        too_many |= n_found > max_found or n_bytes > max_bytes
        assert shared.tolist() == [records.TOO_MANY if too_many else records.RUNNING, n_found, n_codes, 0]
