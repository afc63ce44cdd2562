"""Records of a search: lowered before they become columns, they are what the columns are when lowered."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive.records import as_keys

from itemix.kernels.mining.records import ThreadRecords
from itemix.mining.search import Records, Search
from itemix.models.corrected import lower_to_subsets

N_RANKS = 6


@st.composite
def searches(draw):
    """Draw sets with all their subsets, or most of them, as the records of one or two threads."""
    tops = draw(st.lists(st.integers(1, 2**N_RANKS - 1), min_size=1, max_size=4))
    missing = draw(st.lists(st.integers(1, 2**N_RANKS - 1), max_size=2))
    found = {bits for top in tops for bits in range(1, 2**N_RANKS) if bits & top == bits}
    found = {bits for bits in found if not any(bits & gap == gap for gap in missing)}
    threads = [[], []] if draw(st.booleans()) else [[]]
    segments = [np.zeros((N_RANKS, 2), dtype=np.int64) for _ in threads]
    for root in reversed(range(N_RANKS)):
        k = draw(st.integers(0, len(threads) - 1))
        start = len(threads[k])
        # Depth first, siblings in order of rank, is the order of the paths as lists.
        paths = sorted([r for r in reversed(range(N_RANKS)) if bits >> r & 1] for bits in found)
        threads[k] += [(len(path), path[-1], 0) for path in paths if path[0] == root]
        segments[k][root] = start, len(threads[k])
    values = [draw(st.lists(st.floats(0, 1), min_size=len(t), max_size=len(t))) for t in threads]
    return [
        ThreadRecords(as_keys(records), np.array(column, dtype=float), segment)
        for records, column, segment in zip(threads, values, segments, strict=True)
    ]


@given(searches(), st.integers(1, 4), st.floats(0, 1), st.integers(1, 3))
def test_lowered_records(parts, n_pivots, least, min_len):
    """Columns of lowered records are lowered columns, without what is below the least or too short."""
    code_of = np.array([3, 0, 5, 1, 4, 2], dtype=np.int32)
    rank_of = np.argsort(code_of).astype(np.int32)
    search = Search(1, None)
    found = Records.of(parts, N_RANKS, 1).columns(search, code_of)
    low = lower_to_subsets(found.offsets, found.codes, rank_of, found.values, n_pivots)
    kept = Records.of(parts, N_RANKS, 1).lowered(search, n_pivots, least)
    columns = Records.of(kept, N_RANKS, min_len).columns(search, code_of)
    expected = found._replace(values=low).take(np.flatnonzero((low >= least) & (found.lengths >= min_len)))
    for column, other in zip(columns, expected, strict=True):
        np.testing.assert_array_equal(column, other)
