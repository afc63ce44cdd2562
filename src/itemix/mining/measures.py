"""The measures of rules: their names, how they are computed, and which direction is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.errors import InvalidInputError
from itemix.kernels.mining import rules as kernels

if TYPE_CHECKING:
    from itemix._typing import Floats, Ints

MLXTEND = kernels.NAMES[: kernels.COSINE]
"""mlxtend's columns, in its order."""

MEASURES = (*kernels.NAMES, "q_value")
"""All measures of a rule, in the order of the columns."""

LOWER_IS_BETTER = ("imbalance_ratio", "p_value", "q_value")

NEED_COUNTS = ("chi_squared", "p_value", "q_value")
"""Measures that depend on the number of transactions."""

_CODES = {name: code for code, name in enumerate(kernels.NAMES)}


def check_measure(name: object, choices: tuple[str, ...] = MEASURES) -> str:
    """Return the name of a measure; the two with a blank may be written with an underscore.

    Raises
    ------
    InvalidInputError
        If there is no such measure; the message lists the choices.
    """
    found = name.replace("_support", " support") if isinstance(name, str) else ""
    if found not in choices:
        raise InvalidInputError(f"expected a measure, got {name!r}; try one of {', '.join(choices)}")
    return found


def measure_code(name: str) -> int:
    """Return the number by which kernels know a measure."""
    return _CODES[name]


def compute(
    name: str,
    support: Floats,
    antecedent_support: Floats,
    consequent_support: Floats,
    n_transactions: int | None,
) -> Floats:
    """Compute a measure of many rules from the supports of both sides together and of each side.

    It is NaN if it needs the number of transactions and that is not known. "q_value" is not among them: see
    `q_values`.
    """
    n = np.nan if n_transactions is None else float(n_transactions)
    return kernels.measure_all(_CODES[name], support, antecedent_support, consequent_support, n)


TESTS = ("fisher", "chi2")
"""The tests that rules can be selected by."""

ADJUSTMENTS = ("bh", "by", "holm", "bonferroni", "none")
"""How p-values can be adjusted for the number of tests."""


def q_values(p_values: Floats, adjust: str = "bh", n_tests: int | None = None) -> Floats:
    """Adjust p-values for the number of tests.

    NaN stays NaN and does not count as a test.

    Parameters
    ----------
    p_values : array of float, shape (n,)
        The p-values.
    adjust : {"bh", "by", "holm", "bonferroni", "none"}, default "bh"
        Benjamini and Hochberg: rejecting all with q <= 0.05 keeps the expected fraction of false finds at 5%,
        for tests that are independent or positively dependent. Benjamini and Yekutieli: the same for any
        tests. Holm, Bonferroni: the probability of any false find is at most 5%.
    n_tests : int, optional
        The number of tests, if some with larger p-values were left out; by default none was.

    Returns
    -------
    array of float, shape (n,)
    """
    order = np.argsort(p_values, kind="stable")
    n_known = int(np.count_nonzero(~np.isnan(p_values)))
    ascending = p_values[order[:n_known]]
    n = n_known if n_tests is None else max(n_tests, n_known)
    ranks = np.arange(1, n_known + 1)
    if adjust == "bonferroni":
        ascending = ascending * n
    elif adjust == "holm":
        ascending = np.maximum.accumulate(ascending * (n + 1 - ranks))
    elif adjust in ("bh", "by"):
        dependent = float(np.sum(1.0 / np.arange(1, n + 1))) if adjust == "by" else 1.0
        ascending = np.minimum.accumulate((ascending * n / ranks * dependent)[::-1])[::-1]
    q = np.full(len(p_values), np.nan)
    q[order[:n_known]] = np.minimum(ascending, 1.0)
    return q


def fisher(least: Ints | int, draws: Ints | int, hits: Ints | int, total: Ints | int) -> Floats:
    """Return the probability of `least` or more hits in that many `draws`, where `hits` of `total` are hits.

    This is Fisher's exact test, one-sided: how likely it is that at least that many of the transactions with
    A hold C too, if A and C have nothing to do with each other. All are whole numbers, of shapes that
    broadcast.
    """
    shape = np.broadcast_shapes(*map(np.shape, (least, draws, hits, total)))
    flat = [np.broadcast_to(counts, shape).astype(np.int64).ravel() for counts in (least, draws, hits, total)]
    return kernels.upper_tails(*flat).reshape(shape)
