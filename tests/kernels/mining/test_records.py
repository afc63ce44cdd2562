import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import records as naive

from itemix.kernels.mining import records as assemble
from itemix.kernels.mining.records import ThreadRecords

N_RANKS = 50


@st.composite
def threads_of_records(draw, n_roots=6, longest=30):
    """Draw the records of each root, by the thread that found them.

    A record may be one longer than the one before it, or as short as it likes, but for the first of a root.
    """
    lengths = st.lists(st.integers(1, longest), max_size=60)
    ranks = st.integers(0, N_RANKS - 1)
    threads = [[[] for _ in range(n_roots)] for _ in range(draw(st.integers(1, 3)))]
    for root in range(n_roots):
        records = draw(st.sampled_from(threads))[root]
        for wanted in [1, *draw(lengths)]:
            length = min(wanted, records[-1][0] + 1 if records else 1)
            records.append((length, draw(ranks), draw(st.integers(1, 1000))))
    return threads


@st.composite
def chains(draw):
    """Draw one root with a path that may be longer than a block, and many sets at its end."""
    depth, repeats = draw(st.integers(1, 20)), draw(st.integers(1, 40))
    records = [(length, length, length) for length in range(1, depth)]
    records += [(depth, rank % N_RANKS, rank) for rank in range(repeats)]
    return [[records]]


def as_part(roots):
    """Make the records of one thread; the last root was found first."""
    flat, segments = [], np.zeros((len(roots), 2), dtype=np.int64)
    for root in reversed(range(len(roots))):
        segments[root] = len(flat), len(flat) + len(roots[root])
        flat += roots[root]
    counts = np.array([count for _, _, count in flat], dtype=np.int64)
    return ThreadRecords(naive.as_keys(flat), counts, segments)


def placed(threads, code_of, min_len):
    """Lay out the columns by length and root, and let every thread write its records there."""
    parts = [as_part(roots) for roots in threads]
    n_lengths = max(assemble.longest_record(keys) for keys, _, _ in parts) + 1
    histogram = sum(assemble.length_histogram(keys, segments, n_lengths) for keys, _, segments in parts)
    histogram[:, :min_len] = 0
    totals, lengths = histogram.sum(axis=0), np.arange(n_lengths)
    length_start = np.cumsum(totals) - totals
    code_start = np.cumsum(totals * lengths) - totals * lengths
    positions = length_start + np.concatenate([np.zeros((1, n_lengths), int), np.cumsum(histogram, axis=0)])
    positions[:, :min_len] = -1
    n_sets, n_codes = totals.sum(), totals @ lengths
    out = np.full(n_sets + 1, -1), np.full(n_codes, -1, dtype=np.int32), np.full(n_sets, -1)
    out[0][-1] = n_codes
    for part in parts:
        assemble.place_records(part, positions, length_start, code_start, code_of, *out)
    return out


@given(threads_of_records())
def test_lengths_are_counted(threads):
    """How many records of each length a root has, and the largest length of all."""
    for roots in threads:
        keys, _, segments = as_part(roots)
        lengths = [[length for length, _, _ in records] for records in roots]
        longest = max((max(of_root, default=0) for of_root in lengths), default=0)
        assert assemble.longest_record(keys) == longest
        histogram = assemble.length_histogram(keys, segments, longest + 1)
        assert histogram.tolist() == [[of_root.count(k) for k in range(longest + 1)] for of_root in lengths]


@given(threads_of_records() | chains(), st.integers(1, 18))
def test_records_are_placed(threads, min_len):
    """Sets come by length, then by root, then as they were found; short ones are left out."""
    code_of = np.random.default_rng(0).permutation(N_RANKS).astype(np.int32)
    offsets, codes, counts = placed(threads, code_of, min_len)
    of_roots = zip(*threads, strict=True)
    sets = [pair for of_threads in of_roots for records in of_threads for pair in naive.as_sets(records)]
    expected = sorted((pair for pair in sets if len(pair[0]) >= min_len), key=lambda pair: len(pair[0]))
    assert offsets[0] == 0
    named = [(tuple(code_of[list(ranks)].tolist()), count) for ranks, count in expected]
    assert list(zip(naive.from_ends(offsets[1:], codes), counts.tolist(), strict=True)) == named
