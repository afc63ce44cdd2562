"""Rounds of verification: what the model is asked for."""

import pytest

from itemix import Mixture, Transactions
from itemix.mining.verification import verify


@pytest.mark.parametrize("min_support", [1.0, 20])
def test_what_every_transaction_holds(min_support):
    """A model is asked for it too, so that one pass is enough."""
    tx = Transactions.from_lists([["a", "b", "c"], ["a", "b"]] * 10)
    verified = verify(Mixture.from_transactions(tx), tx, min_support, slack=0.0)
    assert (verified.n_passes, verified.n_proposed, verified.n_missed) == (1, 3, 0)
