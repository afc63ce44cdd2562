"""Baskets in sorted order, so that each part of them has its own kind, and what all engines must give."""

import warnings

import numpy as np

import itemix
from itemix import Transactions, mine

LISTS = sorted(itemix.datasets.load("grocery_store").sample(399, random_state=0).to_lists())
WHOLE = Transactions.from_lists(LISTS)


def check(parts):
    """Check that parts give what all transactions at once give, in the second pass as well."""
    assert (parts.items, parts.n_transactions) == (WHOLE.items, WHOLE.n_transactions)
    assert mine(parts, 0.03) == mine(WHOLE, 0.03)
    assert mine(parts, 0.05, target="closed", n_jobs=2) == mine(WHOLE, 0.05, target="closed")
    np.testing.assert_array_equal(parts.item_counts(), WHOLE.item_counts())


def check_fit(parts):
    """Check that a fit to parts is that of all transactions, and return it.

    The start is given, as an engine may shuffle the transactions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = itemix.BernoulliMixture(3, init="random", max_iter=2, random_state=0).fit(WHOLE)
        model = itemix.BayesianMixture(3, init=start.mixture_, max_iter=1, tol=0)
        bounds = model.fit(WHOLE).lower_bounds_
        model.fit(parts)
    np.testing.assert_allclose(model.lower_bounds_, bounds, rtol=1e-9)
    return model
