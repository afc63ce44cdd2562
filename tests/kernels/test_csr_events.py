"""Events in compressed rows, against a loop over Python sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import corrected as naive

from itemix._arrays import protected
from itemix.kernels import csr
from itemix.kernels.csr import RowArrays

N_ITEMS = 6
sets = st.sets(st.integers(0, N_ITEMS - 1), max_size=4).map(sorted)
families = st.lists(sets, min_size=1, max_size=12)


def compressed(rows):
    """Return lists of codes as read-only arrays."""
    indptr = np.cumsum([0, *map(len, rows)])
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    return RowArrays(protected(indptr), protected(codes))


def columns_of(rows):
    """Return the rows that hold each item."""
    return compressed([[t for t, row in enumerate(rows) if item in row] for item in range(N_ITEMS)])


@settings(max_examples=60, deadline=None)
@given(families, st.data())
def test_rows_and_counts_are_those_of_a_loop(rows, data):
    """With and without present items, absent items and weights."""
    events = data.draw(st.lists(st.tuples(sets, sets), min_size=1, max_size=5))
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows))))
    present, absent = (compressed([event[side] for event in events]) for side in (0, 1))
    found, counts = np.empty(len(rows), dtype=np.int64), np.empty(len(events), dtype=np.int64)
    tables = compressed(rows), columns_of(rows)
    wanted = [naive.matching_rows(rows, *event) for event in events]
    for event, expected in enumerate(wanted):
        n = csr.matching_rows(*tables, present, absent, event, found)
        assert found[:n].tolist() == expected
    for own in (weights, weights[:0]):
        csr.count_events(*tables, protected(own), present, absent, found, counts)
        each = own if len(own) else np.ones(len(rows), dtype=np.int64)
        assert counts.tolist() == [int(each[expected].sum()) for expected in wanted]
