"""The Quest-like generator: patterns as they are described, and baskets filled with them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import itemix
from itemix import InvalidInputError
from itemix.data import synthetic as generator
from itemix.data.synthetic import quest


def patterns_of(n=4000, n_items=500, **options):
    """Draw patterns."""
    given_options = {"mean_length": 5.0, "correlation": 0.5, "corruption": 0.5, **options}
    return generator.draw_patterns(np.random.Generator(np.random.PCG64(0)), n, n_items, **given_options)


def test_the_baskets_never_change():
    """Same seed, same data, on every machine."""
    baskets = quest(2000, random_state=0)
    assert (baskets.n_transactions, baskets.n_items, baskets.n_ones) == (2000, 1000, 20_193)
    assert baskets == quest(2000)
    assert baskets != quest(2000, random_state=1)
    assert list(baskets.items[:3]) == [1, 2, 3]


@pytest.mark.parametrize(("mean_length", "mean_pattern_length"), [(1, 1), (5, 2), (10, 4), (20, 6)])
def test_baskets_have_the_size_that_was_asked_for(mean_length, mean_pattern_length):
    """Up to a tenth of it or half an item, and none is empty."""
    baskets = quest(20_000, mean_length=mean_length, mean_pattern_length=mean_pattern_length)
    assert baskets.lengths().mean() == pytest.approx(mean_length, rel=0.1, abs=0.5)
    assert baskets.lengths().min() >= 1


def test_patterns_have_their_sizes_weights_and_levels():
    """Sizes are one more than Poisson, weights exponential, levels normal and cut off."""
    patterns = patterns_of()
    assert patterns.lengths.min() == 1
    assert patterns.lengths.mean() == pytest.approx(5, abs=0.1)
    assert patterns.lengths.var() == pytest.approx(4, abs=0.3)
    weights = np.diff(patterns.shares, prepend=0) * 4000
    assert weights.std() == pytest.approx(1, abs=0.05)
    assert patterns.shares[-1] == pytest.approx(1)
    assert np.median(patterns.levels) == pytest.approx(0.5, abs=0.02)
    assert np.percentile(patterns.levels, 84.13) == pytest.approx(0.5 + np.sqrt(0.1), abs=0.02)
    assert 0 == patterns.levels.min() < patterns.levels.max() == 0.99
    for start, end in pairwise(patterns.offsets):
        assert len(set(patterns.codes[start:end].tolist())) == end - start


@pytest.mark.parametrize(("correlation", "shared"), [(0.0, 0.01), (0.2, 0.2), (0.5, 0.43)])
def test_patterns_share_items_with_the_one_before(correlation, shared):
    """The fraction is exponential, cut off at 1, of the given mean: m (1 - exp(-1 / m)) of the items."""
    patterns = patterns_of(mean_length=20.0, n_items=5000, correlation=correlation)
    sets = [set(patterns.codes[start:end].tolist()) for start, end in pairwise(patterns.offsets)]
    found = sum(len(a & b) for a, b in pairwise(sets)) / sum(map(len, sets[1:]))
    assert found == pytest.approx(shared, abs=0.03)


def test_items_are_dropped_as_long_as_numbers_are_low():
    """With probability c^k (1 - c) k of 4 items, all with the rest, and each item as often as the others."""
    c, n = 0.6, 40_000
    patterns = generator.Patterns(
        np.array([0, 1, 5]),
        np.array([9, 2, 3, 5, 7], dtype=np.int32),
        np.array([0.25, 1.0]),
        np.array([0.0, c]),
    )
    offsets, codes = patterns.draw(np.random.Generator(np.random.PCG64(1)), n)
    is_long = np.ones(n, dtype=bool)
    is_long[[len(row) == 1 and row[0] == 9 for row in np.split(codes, offsets[1:-1])]] = False
    assert is_long.mean() == pytest.approx(0.75, abs=0.01)
    dropped = 4 - np.diff(offsets)[is_long]
    expected = [(1 - c) * c**k for k in range(4)] + [c**4]
    assert np.bincount(dropped, minlength=5) / is_long.sum() == pytest.approx(expected, abs=0.01)
    shares = np.bincount(codes, minlength=10)[[2, 3, 5, 7]] / is_long.sum()
    assert shares == pytest.approx(np.full(4, np.dot(expected, [1, 0.75, 0.5, 0.25, 0])), abs=0.01)


def test_without_corruption_patterns_come_whole():
    """A basket with an item that is in one pattern only holds all of that pattern."""
    options = {"n_patterns": 20, "n_items": 400, "correlation": 0.0, "corruption": 0.0}
    baskets = quest(5000, mean_pattern_length=5.0, **options)
    patterns = patterns_of(20, 400, correlation=0.0, corruption=0.0)
    n_patterns_with = np.bincount(patterns.codes, minlength=400)
    n_checked = 0
    for start, end in pairwise(patterns.offsets):
        codes = patterns.codes[start:end]
        for own in codes[n_patterns_with[codes] == 1].tolist():
            assert baskets.count(own + 1) == baskets.count((codes + 1).tolist()) > 0
            n_checked += 1
    assert n_checked > 50


@given(
    st.lists(st.integers(1, 8), max_size=12),
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=30),
)
def test_packing_keeps_its_rules(sizes, drawn):
    """A basket is full, or the next pattern does not fit; only a forced one, or the first, overflows."""
    lengths, is_forced = [length for length, _ in drawn], [forced for _, forced in drawn]
    ends = generator._pack(sizes, lengths, is_forced)
    start = 0
    for size, end in zip(sizes, ends, strict=False):
        inside = lengths[start:end]
        assert sum(inside) > 0
        assert sum(inside[:-1]) < size
        if sum(inside) < size:
            assert lengths[end] > size - sum(inside)
            assert not is_forced[end]
        if sum(inside) > size:
            assert is_forced[end - 1] or sum(inside[:-1]) == 0
        start = end
    if len(ends) < len(sizes):
        rest = lengths[start:]
        assert sum(rest) < sizes[len(ends)] or not rest


@pytest.mark.data("t10i4d100k/T10I4D100K.dat.gz")
def test_it_is_like_the_original(data_folder):
    """About as many itemsets as T10.I4.D100K has at 0.1%, of the same lengths; baskets of the same size."""
    original = itemix.read_transactions(data_folder / "t10i4d100k" / "T10I4D100K.dat.gz")
    ours = quest()
    assert ours.lengths().mean() == pytest.approx(original.lengths().mean(), abs=0.2)
    found = [itemix.mine(data, 0.001) for data in (original, ours)]
    assert len(found[1]) == pytest.approx(len(found[0]), rel=0.25)
    assert found[1].lengths.mean() == pytest.approx(found[0].lengths.mean(), abs=0.3)


def test_no_baskets_and_few_items_are_possible():
    """Edges: nothing at all, more than one block, and baskets larger than there are items."""
    assert len(quest(0)) == 0
    assert len(quest(50_001, n_patterns=10, mean_length=2)) == 50_001
    small = quest(100, n_items=3, n_patterns=1, mean_length=10)
    assert small.lengths().max() <= 3
    assert small.lengths().min() >= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_transactions": -1}, "expected a number of transactions of 0 or more, got -1; try 5000"),
        ({"n_items": 0}, "expected a number of items of 1 or more, got 0; try 1000"),
        ({"n_patterns": 1.5}, "expected a number of patterns of 1 or more, got 1.5; try 2000"),
        ({"mean_length": 0.5}, "expected mean_length from 1 to 500, got 0.5; try 10"),
        ({"mean_pattern_length": 501}, "expected mean_pattern_length from 1 to 500, got 501; try 4"),
        ({"correlation": -0.1}, "expected correlation from 0 to 1, got -0.1; try 0.5"),
        ({"corruption": True}, "expected corruption from 0 to 0.9, got True; try 0.5"),
    ],
)
def test_bad_values_are_refused(options, message):
    """One line says what was expected, what was got and what to try."""
    with pytest.raises(InvalidInputError, match=message):
        quest(**{"n_transactions": 10, **options})
