"""Rounds of verification: what the model is asked for."""

import pytest

from itemix import Mixture, Transactions, mine
from itemix.mining.verification import verify


@pytest.mark.parametrize("min_support", [1.0, 20])
def test_what_every_transaction_holds(min_support):
    """A model is asked for it too, so that one pass is enough."""
    tx = Transactions.from_lists([["a", "b", "c"], ["a", "b"]] * 10)
    verified = verify(Mixture.from_transactions(tx), tx, min_support, slack=0.0)
    assert (verified.n_passes, verified.n_proposed, verified.n_missed) == (1, 3, 0)


@pytest.mark.parametrize(("include", "max_len"), [(["a"], 1), (["a", "b"], 1), (["a", "b"], 2), (["a"], 2)])
def test_nothing_is_missed_where_few_items_are_wanted(include, max_len):
    """The model that is the data has missed no set, though those included are as many as may be, or more."""
    tx = Transactions.from_lists([["a", "b", "c"], ["a", "b"], ["c"]])
    verified = verify(Mixture.from_transactions(tx), tx, 1, include=include, max_len=max_len, slack=0.0)
    assert (verified.n_passes, verified.n_missed, verified.n_refuted) == (1, 0, 0)
    assert verified.itemsets == mine(tx, 1, include=include, max_len=max_len)
