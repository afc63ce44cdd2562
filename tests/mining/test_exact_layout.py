"""How data is cut up for the searches."""

import numpy as np
import pytest

from itemix.core.transactions import Transactions
from itemix.data.synthetic import quest
from itemix.mining import exact
from itemix.mining.search import Search


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("at_least", [1, 5, 1000])
def test_ranges_of_roots(n_threads, at_least):
    """Roots are cut into ranges without gaps, as many as asked for where there are as many roots."""
    for work in ([5], [1, 1, 100, 1], [3] * 50):
        ranges = exact.ranges(np.array(work), n_threads, at_least)
        assert [root for first, stop in ranges for root in range(first, stop)] == list(range(len(work)))
        assert all(first < stop for first, stop in ranges)


def test_deliveries_do_not_grow_with_the_rows(monkeypatch):
    """Every delivery reads all rows, so ten times the rows are not delivered ten times as often."""
    monkeypatch.setattr(exact, "_BYTES_AT_A_TIME", 1 << 12)
    few = quest(2000, n_items=200, random_state=0)
    n_deliveries = []
    for repeats in (1, 10):
        indptr = np.append(0, np.cumsum(np.tile(np.diff(few.indptr), repeats)))
        tx = Transactions(indptr, np.tile(few.indices, repeats), few.items)
        rank_of = np.argsort(np.argsort(-tx.item_counts(), kind="stable")).astype(np.int32)
        data = exact.Layout.of(tx, rank_of, np.sort(tx.item_counts())[::-1].copy())
        pairs = exact.count_pairs(Search(1, None), data, 10 * repeats)
        bounds = exact.layouts.entry_bounds(exact.Companions(*map(exact.readonly_view, pairs)), 2)
        n_deliveries.append(len(exact.entry_ranges(data, bounds, 1)))
    assert 1 < n_deliveries[1] <= 1.1 * n_deliveries[0]
