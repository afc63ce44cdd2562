"""The options of `rules`, checked: what was expected, what was got, what to try."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from itemix._checks import as_written, check_bounds
from itemix.errors import InvalidInputError
from itemix.mining import measures

METRICS = tuple(name for name in measures.MEASURES if name not in measures.LOWER_IS_BETTER)
"""What rules can be selected by: everything of which more is better."""

# All other measures are at most 1.
_WITHOUT_END = ("lift", "conviction", "chi_squared")

NO_LIMIT = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class RuleOptions:
    """What `rules` was asked for, apart from items; lengths without a bound are `NO_LIMIT`."""

    metric: str
    min_threshold: float
    min_antecedent_len: int
    max_antecedent_len: int
    min_consequent_len: int
    max_consequent_len: int
    support_only: bool
    max_rules: int

    @classmethod
    def checked(
        cls,
        *,
        metric: object,
        min_threshold: object,
        support_only: bool,
        max_rules: object,
        **lengths: object,
    ) -> RuleOptions:
        """Check the options.

        Raises
        ------
        InvalidInputError
            If one has no meaning.
        """
        bounds = {name: _checked_whole(name, value) for name, value in lengths.items()}
        for side in ("antecedent", "consequent"):
            low, high = f"min_{side}_len", f"max_{side}_len"
            check_bounds(low, bounds[low], high, bounds[high])
        return cls(
            metric="support" if support_only else _checked_metric(metric),
            min_threshold=_checked_threshold(min_threshold),
            support_only=bool(support_only),
            max_rules=_checked_whole("max_rules", max_rules),
            **bounds,
        )

    def check_sample(self, n_transactions: int | None) -> None:
        """Check that the metric can be computed of itemsets with a number of transactions, or without.

        Raises
        ------
        InvalidInputError
            If it cannot.
        """
        if self.metric in measures.NEED_COUNTS and n_transactions is None:
            raise InvalidInputError(
                f"expected itemsets with a number of transactions for metric={self.metric!r}, got itemsets "
                "without; a model has no sample size: try metric='lift'"
            )

    def fewer(self) -> str:
        """Say how to ask for fewer rules, in ways that were not taken already."""
        ways = ["mine with a higher min_support"]
        if self.metric in _WITHOUT_END or self.min_threshold < 1:
            ways.append(f"raise min_threshold above {self.min_threshold:g}")
        if self.min_consequent_len == 1 < self.max_consequent_len:
            ways.append("set max_consequent_len=1")
        return f"{', '.join(ways)}, or pass a larger max_rules"


def _checked_metric(metric: object) -> str:
    if isinstance(metric, str) and metric in measures.LOWER_IS_BETTER:
        raise InvalidInputError(
            f"expected a measure of which more is better, got {metric!r}; select by another one, then try "
            f"filter(max_{metric}=0.05)"
        )
    return measures.check_measure(metric, METRICS)


def _checked_threshold(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InvalidInputError(f"expected min_threshold as a finite number, got {value!r}; try 0.8")
    return as_written(value)


def _checked_whole(name: str, value: object) -> int:
    """Return a bound; None is no limit, and rules have at least one item on either side."""
    if value is None:
        return NO_LIMIT
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return min(int(value), NO_LIMIT)
    raise InvalidInputError(f"expected {name} as a whole number of at least 1, got {value!r}; try {name}=1")
