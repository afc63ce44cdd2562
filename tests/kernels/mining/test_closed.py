"""Rows of bits transposed, whether a row lies in one of several others, and the sets of a search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import layouts as naive

from itemix.kernels.mining import closed
from itemix.kernels.mining.layouts import Companions

N_WORDS = 8


def random_rows(n_rows, rng):
    """Return sets of positions, some of which lie in others."""
    rows = [set(np.flatnonzero(rng.random(64 * N_WORDS) < share).tolist()) for share in rng.random(n_rows)]
    return [row | rows[int(rng.integers(k))] if k % 3 == 2 else row for k, row in enumerate(rows)]


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 130])
def test_rows_turned_round(n_rows):
    """Bit r of the words of a position says whether row r holds it."""
    rows = random_rows(n_rows, np.random.default_rng(n_rows))
    masks = closed.transposed(naive.as_arena(rows, N_WORDS, n_free=2), n_rows)
    assert masks.shape == (n_rows // 64 + 1, 64 * N_WORDS)
    for position in range(64 * N_WORDS):
        assert naive.as_positions(masks[:, position]) == {r for r in range(n_rows) if position in rows[r]}


@pytest.mark.parametrize("with_witnesses", [True, False])
@pytest.mark.parametrize("n_rows", [3, 64, 130])
@given(st.integers(0, 2**32), st.floats(0, 1))
def test_lies_in_another(with_witnesses, n_rows, seed, share):
    """A row is compared with the rows outside from one on, and with no others."""
    rng = np.random.default_rng(seed)
    rows = random_rows(n_rows, rng)
    row = rows[int(rng.integers(n_rows))] & rows[int(rng.integers(n_rows))] or {0}
    arena = naive.as_arena([*rows, row], N_WORDS)
    outside = closed.all_outside(n_rows)
    assert naive.as_positions(outside) == set(range(n_rows))
    inside = set(np.flatnonzero(rng.random(n_rows) < share).tolist())
    for position in inside:
        closed.flip(outside, position)
    assert [closed.has(outside, r) for r in range(n_rows)] == [r not in inside for r in range(n_rows)]
    masks = closed.transposed(arena, n_rows) if with_witnesses else closed.no_masks(n_rows)
    for first in {0, n_rows // 2, n_rows}:
        expected = any(row <= rows[r] for r in range(first, n_rows) if r not in inside)
        assert closed.lies_in_another(arena, n_rows, masks, outside, first) == expected


def test_a_search_begins_with_the_empty_set():
    """All items are outside of it, each in its own row; below a root, its companions and then the root."""
    masks = closed.no_masks(5)
    begun = closed.all_items(5, masks, 5)
    assert begun.base_items.tolist() == begun.places.tolist() == list(range(5))
    assert naive.as_positions(begun.outside) == set(range(5))
    lists = {0: [], 1: [0], 2: [], 3: [0, 1, 2], 4: [1, 3]}
    start = np.cumsum([0, *map(len, lists.values())])
    ranks = np.array([rank for own in lists.values() for rank in own], dtype=np.int32)
    for root, own in lists.items():
        current = closed.companions_of(
            Companions(start, ranks, np.ones(len(ranks), dtype=np.int64)), root, begun
        )
        assert current.base_items.tolist() == own
        assert [current.places[rank] for rank in [*own, root]] == list(range(len(own) + 1))
        assert naive.as_positions(current.outside) == set(range(len(own) + 1))
        assert current.masks.shape == (1, 0)


@given(st.lists(st.lists(st.integers(0, 50), unique=True, max_size=6), max_size=5))
def test_sets_are_written_in_order(sets):
    """One after the other, each with its items ascending, where it ends, and its count."""
    n_codes = sum(map(len, sets))
    found = closed.ThreadSets(
        np.empty(len(sets), np.int64), np.empty(n_codes, np.int32), np.empty(len(sets), np.int64)
    )
    state = np.zeros(4, dtype=np.int64)
    for number, members in enumerate(sets):
        closed.write_set(np.array(members, dtype=np.int32), len(members), 10 + number, found, state)
    assert found.ranks.tolist() == [rank for members in sets for rank in sorted(members)]
    assert found.ends.tolist() == np.cumsum([len(members) for members in sets]).astype(int).tolist()
    assert found.counts.tolist() == [10 + number for number in range(len(sets))]
