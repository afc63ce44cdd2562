"""Choices by the likelihood of transactions that were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from itemix.errors import InvalidInputError
from itemix.inference.trying import Scores, try_candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from itemix.core.transactions import Transactions
    from itemix.inference.loop import Callback
    from itemix.models.base import Model

T = TypeVar("T")

_LEFT_OUT = 0.2


def held_out_scores(
    fit: Callable[[Transactions, T], Model],
    data: Transactions,
    candidates: Sequence[T],
    what: str,
    *,
    random_state: int | np.random.Generator | None = None,
    patience: int | None = None,
    callbacks: Sequence[Callback] = (),
) -> Scores:
    """Return the mean log-likelihood of a fifth of the data, left out, for each candidate.

    Parameters
    ----------
    fit : callable
        Returns the model of some transactions with some candidate.
    data : Transactions
        The data.
    candidates : sequence
        What to try.
    what : str
        What is chosen, in words.
    random_state : int, Generator or None
        Which transactions are left out.
    patience, callbacks
        As in `try_candidates`.

    Raises
    ------
    InvalidInputError
        If there are too few transactions to leave any out.
    KeyboardInterrupt
        If Ctrl-C comes before any candidate has its score; after that it ends the trying.
    """
    rest, left_out = data.split(1 - _LEFT_OUT, random_state=random_state)
    if not rest.n_transactions or not left_out.n_transactions:
        raise InvalidInputError(
            f"expected enough transactions to leave some out, got {data.n_transactions}; give a number "
            "instead of 'auto'"
        )
    return try_candidates(
        lambda candidate: float(fit(rest, candidate).log_likelihood(left_out).mean()),
        candidates,
        what,
        patience=patience,
        callbacks=callbacks,
    )
