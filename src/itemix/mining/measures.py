"""The measures of rules: their names, how they are computed, and which direction is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.errors import InvalidInputError
from itemix.kernels.mining import rules as kernels

if TYPE_CHECKING:
    from itemix._typing import Floats

MLXTEND = (
    "antecedent support",
    "consequent support",
    "support",
    "confidence",
    "lift",
    "representativity",
    "leverage",
    "conviction",
    "zhangs_metric",
    "jaccard",
    "certainty",
    "kulczynski",
)
"""mlxtend's columns, in its order."""

MEASURES = (*MLXTEND, "chi_squared", "p_value", "q_value")
"""All measures of a rule, in the order of the columns."""

LOWER_IS_BETTER = ("p_value", "q_value")

NEED_COUNTS = ("chi_squared", "p_value", "q_value")
"""Measures that depend on the number of transactions."""

_CODES = {name: code for code, name in enumerate(MEASURES)}


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

    It is NaN if it needs the number of transactions and that is not known. "q_value" takes all these rules as
    the family of tests.
    """
    n = np.nan if n_transactions is None else float(n_transactions)
    if name == "q_value":
        return q_values(
            kernels.measure_all(kernels.P_VALUE, support, antecedent_support, consequent_support, n)
        )
    return kernels.measure_all(_CODES[name], support, antecedent_support, consequent_support, n)


def q_values(p_values: Floats) -> Floats:
    """Adjust p-values for the number of tests, by Benjamini and Hochberg's step-up procedure.

    Rejecting all with q <= 0.05 keeps the expected fraction of false discoveries at 5% (for tests that are
    independent or positively dependent). NaN stays NaN and does not count as a test.
    """
    order = np.argsort(p_values, kind="stable")
    n_tests = int(np.count_nonzero(~np.isnan(p_values)))
    ranks = np.arange(1, n_tests + 1)
    adjusted = p_values[order[:n_tests]] * n_tests / ranks
    q = np.full(len(p_values), np.nan)
    q[order[:n_tests]] = np.minimum.accumulate(adjusted[::-1])[::-1]
    return q
