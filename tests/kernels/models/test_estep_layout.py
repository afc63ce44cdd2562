"""How rows are laid out for inference: flipped items, an order of the rows, shared prefixes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itemix import Transactions
from itemix._runtime import Workers
from itemix.kernels import csr
from itemix.kernels.models import estep
from itemix.models.counts import Rows


def compressed(rows):
    """Return lists of codes in compressed form."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return indptr, np.array([code for row in rows for code in row], dtype=np.int32)


@given(st.integers(0, 1000))
def test_flipped_items_are_stored_by_their_absence(seed):
    """Flipping inverts the marked columns and leaves the others."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((8, 5)) < 0.5).astype(int)
    flipped = rng.random(5) < 0.5
    data = Transactions.from_matrix(matrix)
    indptr, indices = csr.flip_items(data.indptr, data.indices, flipped)
    found = np.zeros_like(matrix)
    found[np.repeat(np.arange(8), np.diff(indptr)), indices] = 1
    np.testing.assert_array_equal(found, np.where(flipped, 1 - matrix, matrix))


@given(st.lists(st.sets(st.integers(0, 5)).map(sorted), min_size=1, max_size=20))
def test_keys_sort_rows_by_their_first_items(rows):
    """Sorted by the packed ranks, rows come in the order of Python's lists, as far as the keys reach."""
    keys = csr.prefix_keys(*compressed(rows), 3, 1)
    order = np.lexsort(keys[::-1])
    assert [rows[t] for t in order] == sorted(rows)
    short = csr.prefix_keys(*compressed(rows), 31, 2)
    assert [rows[t][:4] for t in np.lexsort(short[::-1])] == sorted(row[:4] for row in rows)


@given(st.lists(st.lists(st.integers(0, 2), max_size=150), min_size=1, max_size=10))
def test_shared_prefixes(rows):
    """The first items that a row shares with the one before it are counted, up to the deepest level."""
    found = csr.shared_prefixes(*compressed(rows))
    for t, row in enumerate(rows):
        before = rows[t - 1] if t else []
        expected = next(
            (n for n, (a, b) in enumerate(zip(row, before, strict=False)) if a != b),
            min(len(row), len(before)),
        )
        assert found[t] == min(expected, csr.DEEPEST)


@given(st.integers(0, 1000), st.sampled_from([0.2, 0.8]))
def test_rows_made_ready_hold_the_same_data(seed, density):
    """Merging, flipping and sorting keep every transaction: turned back, they are those that went in."""
    matrix = (np.random.default_rng(seed).random((30, 6)) < density).astype(int)
    matrix[10:25] = matrix[:15]
    rows = Rows(Transactions.from_matrix(matrix), Workers())
    found = np.zeros((len(rows._indptr) - 1, 6), dtype=int)
    found[np.repeat(np.arange(len(found)), np.diff(rows._indptr)), rows._indices] = 1
    found = np.where(rows.flipped, 1 - found, found)
    if len(rows._weights):
        found = np.repeat(found, rows._weights, axis=0)
    assert sorted(map(tuple, found)) == sorted(map(tuple, matrix))


@given(st.integers(0, 1000))
def test_tables_of_probabilities(seed):
    """Odds, base and required items are those of the formula, zeros and ones included."""
    rng = np.random.default_rng(seed)
    probs = np.clip(rng.normal(0.5, 0.5, (6, 4)), 0, 1)
    flipped = rng.random(6) < 0.5
    table, base, n_required = np.empty((6, 4)), np.zeros(4), np.zeros(4, dtype=np.int64)
    estep.log_tables(probs, flipped, 0, 6, table, base, n_required)
    required = np.empty((6, 4), dtype=np.float32)
    estep.mark_required(probs, flipped, required)
    stored = np.where(flipped[:, None], 1 - probs, probs)
    with np.errstate(divide="ignore"):
        present, absent = np.log(stored), np.log1p(-stored)
    certain = stored == 1
    np.testing.assert_array_equal(required, certain)
    np.testing.assert_array_equal(n_required, certain.sum(axis=0))
    np.testing.assert_allclose(
        table, np.where(certain, 0.0, present - np.where(certain, 0, absent)), rtol=1e-12
    )
    np.testing.assert_allclose(base, np.where(certain, 0.0, absent).sum(axis=0), rtol=1e-12)
