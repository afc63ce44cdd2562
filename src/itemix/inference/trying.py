"""Candidates tried one after the other, until they get no better or Ctrl-C comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from itemix import _runtime
from itemix.inference.loop import tell_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix.inference.loop import Callback

T = TypeVar("T")


class Scores(NamedTuple):
    """The scores of the first candidates, all that were tried; and whether Ctrl-C ended the trying."""

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
    """Score candidates.

    Parameters
    ----------
    score : callable
        Returns how good a candidate is: higher is better.
    candidates : sequence
        What to try, in this order.
    what : str
        What is chosen, in words.
    patience : int, optional
        Stop when so many candidates in a row have not been better than the best.
    callbacks : sequence of callables
        Each that has a method `stage` is told what is being tried.

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
