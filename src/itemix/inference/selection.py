"""Selection: the number of components of a finite mixture, by information criteria or held-out likelihood.

`try_candidates` scores candidates of any kind one after the other, until they get no better or Ctrl-C comes.
`held_out_scores` scores them by the likelihood of transactions that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from itemix import _runtime
from itemix.core.transactions import Transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.inference.loop import tell_stage
from itemix.kernels import csr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix.inference.loop import Callback
    from itemix.models.base import Model
    from itemix.models.mixture import Mixture

T = TypeVar("T")

CRITERIA = ("held-out", "bic", "aic")
GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
PATIENCE = 3
COMPONENTS = "the number of components"
_LEFT_OUT = 0.2


class Scores(NamedTuple):
    """The scores of the candidates that were tried, which are the first ones; and whether Ctrl-C came."""

    values: list[float]
    interrupted: bool = False


def try_candidates(
    score: Callable[[T], float],
    candidates: Sequence[T],
    what: str,
    *,
    patience: int | None = None,
    callbacks: Sequence[Callback] = (),
) -> Scores:
    """Score candidates one after the other.

    Parameters
    ----------
    score : callable
        Returns the score of a candidate; higher is better.
    candidates : sequence
        What to try, in this order.
    what : str
        What is being chosen, in words.
    patience : int, optional
        Stop when this many candidates in a row were no better than the best.
    callbacks : sequence of callables
        Those with a method `stage` are told what is being tried.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before any candidate has its score.
    """
    scores: list[float] = []
    try:
        for candidate in candidates:
            _runtime.still_wanted()
            tell_stage(callbacks, f"choosing {what}: trying {candidate}")
            scores.append(score(candidate))
            if patience is not None and len(scores) - 1 - int(np.argmax(scores)) >= patience:
                break
    except KeyboardInterrupt:
        if not scores:
            raise
        return Scores(scores, interrupted=True)
    return Scores(scores)


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
    """Score each candidate by the mean log-likelihood of a fifth of the data, which is left out of the fit.

    Parameters
    ----------
    fit : callable
        Returns the model of some transactions with some candidate.
    data : Transactions
        The data.
    candidates : sequence
        What to try.
    what : str
        What is being chosen, in words.
    random_state : int, Generator or None
        Determines which transactions are left out.
    patience, callbacks
        As in `try_candidates`.

    Raises
    ------
    InvalidInputError
        If there are too few transactions to leave any out.
    KeyboardInterrupt
        If Ctrl-C comes before any candidate has its score. Later it only ends the trying.
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


@dataclass(frozen=True)
class Selection:
    """How the number of components was chosen.

    Attributes
    ----------
    criterion : {"held-out", "bic", "aic"}
        What the numbers were scored by.
    candidates : array of int, shape (n,)
        The numbers of components that were tried.
    scores : array of float, shape (n,)
        Minus half the information criterion, or the held-out log-likelihood, per transaction. Higher is
        better.
    interrupted : bool
        Whether Ctrl-C ended the choice before all were tried.
    """

    criterion: str
    candidates: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    interrupted: bool = False

    @property
    def best(self) -> int:
        """The number of components with the highest score, the smallest of equals."""
        return int(self.candidates[np.argmax(self.scores)])


def select_components(
    fit: Callable[[Transactions, int], Mixture],
    data: Transactions,
    *,
    criterion: str = "held-out",
    candidates: Sequence[int] | None = None,
    n_folds: int = 5,
    random_state: int | np.random.Generator | None = None,
    callbacks: Sequence[Callback] = (),
) -> Selection:
    """Fit models with growing numbers of components and score them.

    Parameters
    ----------
    fit : callable
        Returns the mixture of some transactions with some number of components.
    data : Transactions
        The data.
    criterion : {"held-out", "bic", "aic"}
        Information criterion on the data, or mean log-likelihood of left-out folds.
    candidates : sequence of int, optional
        The numbers to try. By default 1, 2, 3, 4, 6, 8, 12, ... up to half the transactions, until three in a
        row were no better than the best.
    n_folds : int
        How many folds "held-out" uses.
    random_state : int, Generator or None
        Determines the folds.
    callbacks : sequence of callables
        Those with a method `stage` are told what is being tried.

    Raises
    ------
    InvalidInputError
        If the criterion is unknown, or there are fewer transactions than folds.
    KeyboardInterrupt
        If Ctrl-C comes before any number has its score. Later it only ends the choice.
    """
    if criterion not in CRITERIA:
        raise InvalidInputError(
            f"expected criterion to be one of {list(CRITERIA)}, got {criterion!r}; try 'held-out'"
        )
    folds = _folds(data, n_folds, random_state) if criterion == "held-out" else []
    smallest = min((len(train) for train, _ in folds), default=data.n_transactions)
    tried = [k for k in candidates or GRID if k <= max(1, smallest if candidates else smallest // 2)]

    def score(n_components: int) -> float:
        if criterion == "held-out":
            return _held_out(fit, folds, n_components)
        return _information(fit(data, n_components), data, n_components, criterion)

    patience = PATIENCE if candidates is None else None
    scores = try_candidates(score, tried, COMPONENTS, patience=patience, callbacks=callbacks)
    return Selection(
        criterion, np.array(tried[: len(scores.values)]), np.array(scores.values), scores.interrupted
    )


def _information(mixture: Mixture, data: Transactions, n_components: int, criterion: str) -> float:
    n = data.n_transactions
    n_parameters = n_components * (data.n_items + 1) - 1
    penalty = n_parameters * (np.log(n) / 2 if criterion == "bic" else 1.0)
    return float((mixture.log_likelihood(data).sum() - penalty) / n)


def _held_out(
    fit: Callable[[Transactions, int], Mixture],
    folds: list[tuple[Transactions, Transactions]],
    n_components: int,
) -> float:
    total = sum(float(fit(train, n_components).log_likelihood(test).sum()) for train, test in folds)
    return total / sum(len(test) for _, test in folds)


def _folds(
    data: Transactions, n_folds: int, random_state: int | np.random.Generator | None
) -> list[tuple[Transactions, Transactions]]:
    if not 2 <= n_folds <= data.n_transactions:
        raise InvalidInputError(
            f"expected 2 to {data.n_transactions} folds, no more than transactions, got {n_folds}; "
            "use another criterion"
        )
    rows = np.random.default_rng(random_state).permutation(each_transaction(data, np.arange(data.n_rows)))
    parts = np.array_split(rows, n_folds)
    return [
        (_take(data, np.concatenate(parts[:f] + parts[f + 1 :])), _take(data, parts[f]))
        for f in range(n_folds)
    ]


def _take(data: Transactions, rows: npt.NDArray[np.int64]) -> Transactions:
    indptr, indices = csr.gather_rows(data.indptr, data.indices, np.sort(rows))
    return Transactions(indptr, indices, data.items)
