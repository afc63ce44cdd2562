"""Baskets in sorted order, so that each part of them has its own kind, and what all engines must give."""

import re
import warnings
from pathlib import Path

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


def run_guide(number, folder, **names):
    """Run an example of the guide on baskets in two files, and their lines; return what it made."""
    page = Path(__file__).parents[1] / "docs/guides/beyond-memory.md"
    block = re.findall(r"```py\n(.*?)```", page.read_text(), re.DOTALL)[number]
    for part, (start, stop) in enumerate(((0, 150), (150, None))):
        itemix.write_transactions(WHOLE[start:stop], folder / f"sales-{part}.parquet")
    WHOLE.to_long("basket", "product").to_csv(folder / "lines-0.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(block.replace("/data", str(folder)), names := {"itemix": itemix, **names})  # noqa: S102 - our own
    return names
