"""The three search kernels: all, closed and maximal itemsets."""

from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import layouts
from naive import mining, records

from itemix.kernels.mining import closed, eclat, maximal
from itemix.kernels.mining import records as control

KERNELS = {"all": eclat.search, "closed": closed.search, "maximal": maximal.search}
LAYOUTS = {"bitsets": False, "projections": True}

both_layouts = pytest.mark.parametrize("sparse", LAYOUTS.values(), ids=LAYOUTS)
every_target = pytest.mark.parametrize("target", KERNELS)


@st.composite
def small_data(draw):
    """Rows that hold or that lack few items, some of which always come together, with or without weights."""
    rows = draw(st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=14))
    if draw(st.booleans()):
        rows = [set(range(7)) - row for row in rows]
    together = draw(st.sets(st.integers(0, 9), max_size=4))
    rows = [row | together if row & together else row for row in rows]
    everywhere = draw(st.sets(st.integers(10, 11)))
    weights = st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows))
    return [row | everywhere for row in rows], draw(st.none() | weights), draw(st.integers(1, 6))


def found(target, data, *, min_len=1, **options):
    """Return [(ranks, count)] of what a search finds, sorted as results are.

    Of all sets, shorter ones than asked for are left out here: they are steps on the way to the others.
    """
    parts, shared = layouts.search(KERNELS[target], data, min_len=min_len, **options)
    sets = [pair for part in parts for pair in _sets_of(target, part)]
    if target == "all":
        sets = [pair for pair in sets if len(pair[0]) >= min_len]
    assert shared[control.N_FOUND] == len(sets)
    return sorted(sets, key=lambda pair: records.colex(pair[0]))


def _sets_of(target, part):
    if target == "all":
        keys, counts, _ = part
        return records.as_sets(records.as_records(keys, counts))
    ends, ranks, counts = part
    return list(zip(records.from_ends(ends, ranks), counts.tolist(), strict=True))


def expected(target, data, **options):
    """Return what counting every set gives."""
    return mining.mine(data.rows, data.min_count, target=target, multiplicities=data.weights, **options)


@both_layouts
@every_target
@settings(max_examples=60)
@given(small_data(), st.lists(st.integers(0, 12), max_size=2))
def test_equal_to_counting(target, sparse, rows_and_threshold, cuts):
    """Each set is found once with its count, whatever ranges the roots are cut into."""
    data = layouts.ranked(*rows_and_threshold)
    assert found(target, data, sparse=sparse, cuts=cuts) == expected(target, data)


@both_layouts
@every_target
@settings(max_examples=40)
@given(small_data(), st.integers(1, 6), st.integers(0, 6))
def test_lengths(target, sparse, rows_and_threshold, min_len, more):
    """Bounds of the length choose among the sets."""
    data = layouts.ranked(*rows_and_threshold)
    lengths = {"min_len": min_len, "max_len": min_len + more}
    assert found(target, data, sparse=sparse, **lengths) == expected(target, data, **lengths)


@both_layouts
@settings(max_examples=40)
@given(small_data())
def test_records_are_in_order(sparse, rows_and_threshold):
    """The records of a root are where its segment says, each length of it in order of rank."""
    data = layouts.ranked(*rows_and_threshold)
    ((keys, counts, segments),), _ = layouts.search(eclat.search, data, sparse=sparse)
    assert segments.shape == (len(data.root_counts), 2)
    in_order = []
    for root, (start, stop) in enumerate(segments):
        sets = records.as_sets(records.as_records(keys[start:stop], counts[start:stop]))
        assert all(ranks[-1] == root for ranks, _ in sets)
        in_order += sets
    for length in {len(ranks) for ranks, _ in in_order}:
        of_length = [ranks for ranks, _ in in_order if len(ranks) == length]
        assert of_length == sorted(of_length, key=records.colex)


@both_layouts
@every_target
def test_large_results_have_room(target, sparse):
    """Every array grows where it is too short: a hundred thousand sets of data whose sets are known.

    Each of 17 rows lacks another item, so that a set of k items is in 17 - k rows.
    """
    n, least = 17, {"all": 1, "closed": 1, "maximal": 8}[target]
    data = layouts.ranked([set(range(n)) - {t} for t in range(n)], None, least)
    sets = found(target, data, sparse=sparse)
    lengths = np.array([len(ranks) for ranks, _ in sets])
    wanted = range(1, n - least + 1) if target != "maximal" else [n - least]
    assert np.unique(lengths, return_counts=True)[1].tolist() == [comb(n, k) for k in wanted]
    assert [count for _, count in sets] == (n - lengths).tolist()


@both_layouts
@every_target
def test_many_rows(target, sparse):
    """Rows of bits over many transactions give the same sets, with and without weights."""
    rng = np.random.default_rng(0)
    kinds = [set(np.flatnonzero(rng.random(9) < 0.7).tolist()) for _ in range(30)]
    rows = [kinds[k] - {int(rng.integers(9))} for k in rng.integers(30, size=1700)]
    for weights in (None, rng.integers(1, 4, size=len(rows)).tolist()):
        data = layouts.ranked(rows, weights, 100)
        assert found(target, data, sparse=sparse) == expected(target, data)


@both_layouts
def test_maximal_sets_beyond_those_kept_in_mind(sparse):
    """No set is found twice or missed where those found first are forgotten."""
    n, least = 22, 11
    data = layouts.ranked([set(range(n)) - {t} for t in range(n)], None, least)
    ((ends, ranks, counts),), _ = layouts.search(maximal.search, data, sparse=sparse)
    assert len(ends) == comb(n, least)
    assert np.array_equal(ends, np.arange(1, len(ends) + 1) * (n - least))
    assert len(np.unique(np.left_shift(1, ranks.reshape(-1, n - least)).sum(axis=1))) == len(ends)
    assert np.unique(counts).tolist() == [least]


@both_layouts
def test_subsets_of_sets_no_longer_kept_in_mind(sparse):
    """A set is not maximal within one that was found before all others, and is forgotten.

    Each of 500 items takes its part of the memory.
    """
    n, least, many = 17, 8, 500
    together = [{"z", "a", "b"}] * least + [{"a", "b"}] * n
    rows = together + [set(range(n)) - {t} for t in range(n)] + [{n + i} for i in range(many)] * (least + 1)
    sets = found("maximal", layouts.ranked(rows, None, least), sparse=sparse)
    lengths = [len(ranks) for ranks, _ in sets]
    assert Counter(lengths) == {1: many, 3: 1, n - least: comb(n, least)}


@both_layouts
@every_target
def test_too_many_sets_stop_the_search(target, sparse):
    """A search that finds more than it may stops, says so, and has found little more."""
    n = 40
    data = layouts.ranked([set(range(n)) - {t} for t in range(n)], None, 20)
    parts, shared = layouts.search(KERNELS[target], data, sparse=sparse, most=5000)
    assert shared[control.STOP] == control.TOO_MANY
    assert 5000 < shared[control.N_FOUND] < 200_000
    assert sum(len(_sets_of(target, part)) for part in parts) < 200_000


@every_target
def test_no_rows_in_common(target):
    """Items that never come together are sets of their own."""
    data = layouts.ranked([{0}, {1}, {0}, {2}], None, 1)
    for sparse in (False, True):
        assert found(target, data, sparse=sparse) == [((0,), 2), ((1,), 1), ((2,), 1)]
