"""By how much a threshold is lowered for a model that proposes itemsets: by the model's own error."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix._checks import check_number
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining.intervals import relative_errors
from itemix.mining.mine import mine
from itemix.models.corrected import CorrectedMixture

if TYPE_CHECKING:
    from itemix.core.itemsets import Itemsets
    from itemix.mining.intervals import Source
    from itemix.models.base import Model

# The slack for a model that does not know its error.
USUAL = 0.1
# Of a million sets that are just frequent, a few dozen are estimated this many standard errors too low.
_N_ERRORS = 4.0
# More slack makes for ten and more candidates for each frequent set, which take longer than another pass.
_MOST = 0.75
# The error is measured at so many sets, the least probable of those above the threshold, of few items each.
_N_NEAREST = 300
_LONGEST = 3
_MOST_SETS = 100_000


def own_slack(source: Source, model: Model, min_support: float, *, n_jobs: int | None = -1) -> float:
    """Return the slack that four standard errors of a model are, at a threshold.

    The error is the median one of the short sets that are least above the threshold. Errors are relative and
    may be large, so they are taken in logarithms: the slack is 1 - exp(-4 e), about 4 e if e is small.

    Parameters
    ----------
    source : Posterior, sequence of Posterior, or CorrectedMixture
        What knows how sure the model is, as in `itemix.mining.intervals`; an empty sequence if nothing does.
    model : Model
        What proposes sets.
    min_support : float
        The threshold, a fraction of the transactions.
    n_jobs : int, default -1
        The number of threads, as in `mine`.

    Returns
    -------
    float
        From 0 to three quarters; a tenth if the model does not know its error, or expects no set at all.
    """
    if not source:
        return USUAL
    most = max(_MOST_SETS, model.n_items)
    for max_len in range(_LONGEST, 0, -1):
        with suppress(TooManyItemsetsError):
            found = mine(model, min_support, max_len=max_len, max_itemsets=most, n_jobs=n_jobs)
            return _slack_at(found, source)
    return USUAL


def uncertain(fitted: Any) -> Source:  # noqa: ANN401 - a model or a fitted estimator
    """Return what knows how sure a model is, alone or fitted: its correction or its posteriors, if any."""
    corrected = fitted if isinstance(fitted, CorrectedMixture) else getattr(fitted, "corrected_", None)
    posteriors: Source = getattr(fitted, "posteriors_", ())
    return posteriors if corrected is None else corrected


def check_slack(slack: object) -> float:
    """Return a slack: a number from 0 up to 1.

    Raises
    ------
    InvalidInputError
        If it is something else.
    """
    number = check_number("slack", slack, USUAL)
    if not 0 <= number < 1:
        raise InvalidInputError(f"expected slack from 0 up to 1, got {slack!r}; try {USUAL}")
    return number


def _slack_at(found: Itemsets, source: Source) -> float:
    """Return the slack at a threshold, given sets that are at least as probable."""
    nearest = found.take(np.argsort(found.support, kind="stable")[:_N_NEAREST])
    errors = relative_errors(source, nearest)
    errors = errors[np.isfinite(errors)]
    return min(-math.expm1(-_N_ERRORS * float(np.median(errors))), _MOST) if len(errors) else USUAL
