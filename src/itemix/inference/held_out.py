"""Choices by the likelihood of transactions that were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix.model import Model
    from itemix.transactions import Transactions

T = TypeVar("T")

_LEFT_OUT = 0.2


def held_out_scores(
    fit: Callable[[Transactions, T], Model],
    data: Transactions,
    candidates: Sequence[T],
    *,
    random_state: int | np.random.Generator | None = None,
    patience: int | None = None,
) -> list[float]:
    """Return the mean log-likelihood of a fifth of the data, left out, for each candidate.

    Parameters
    ----------
    fit : callable
        Returns the model of some transactions with some candidate.
    data : Transactions
        The data.
    candidates : sequence
        What to try.
    random_state : int, Generator or None
        Which transactions are left out.
    patience : int, optional
        Stop when so many candidates in a row have not been better than the best; scores are then fewer.

    Raises
    ------
    InvalidInputError
        If there are too few transactions to leave any out.
    """
    rest, left_out = data.split(1 - _LEFT_OUT, random_state=random_state)
    if not rest.n_transactions or not left_out.n_transactions:
        raise InvalidInputError(
            f"expected enough transactions to leave some out, got {data.n_transactions}; give a number "
            "instead of 'auto'"
        )
    scores: list[float] = []
    for candidate in candidates:
        scores.append(float(fit(rest, candidate).log_likelihood(left_out).mean()))
        if patience is not None and len(scores) - 1 - int(np.argmax(scores)) >= patience:
            break
    return scores
