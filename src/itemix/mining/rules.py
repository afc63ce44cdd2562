"""Association rules from itemsets: every set is split into antecedents and consequents."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._checks import as_written, check_bounds
from itemix._runtime import interruptible, still_wanted
from itemix.core.display import plural
from itemix.core.itemsets import Itemsets
from itemix.core.sets import Sets
from itemix.core.transactions import as_transactions
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.kernels.mining import rules as kernels
from itemix.mining import measures
from itemix.mining.ruleset import Rule, Rules
from itemix.mining.supports import Supports

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from itemix._typing import Floats, Ints, TransactionsLike
    from itemix.core.items import Items, Label

__all__ = ["Rule", "Rules", "rules"]

METRICS = tuple(name for name in measures.MEASURES if name not in measures.LOWER_IS_BETTER)
"""The measures that can select rules: all for which more is better."""

# All other measures are at most 1.
_WITHOUT_END = ("lift", "conviction", "chi_squared")

NO_LIMIT = int(np.iinfo(np.int64).max)
_RULES_AT_ONCE = 1 << 15
_SPLITS_AT_ONCE = 1 << 21
_ROUNDING = 1e-12


@interruptible()
def rules(
    itemsets: Itemsets | pd.DataFrame,
    *,
    metric: str = "confidence",
    min_threshold: float = 0.8,
    data: TransactionsLike | None = None,
    antecedents: Iterable[Label] | Label | None = None,
    consequents: Iterable[Label] | Label | None = None,
    about: Iterable[Label] | Label | None = None,
    min_antecedent_len: int = 1,
    max_antecedent_len: int | None = None,
    min_consequent_len: int = 1,
    max_consequent_len: int | None = None,
    support_only: bool = False,
    max_rules: int = 10_000_000,
) -> Rules:
    """Make all association rules A -> C where A with C is one of the itemsets, and neither is empty.

    Rules come in the order of the itemsets; within one, by the positions of the items in the consequent.

    Parameters
    ----------
    itemsets : Itemsets, or a data frame like mlxtend's
        Mined from data or from a model. Rules need the supports of A and C too. These are known if all
        subsets of the itemsets are among them, as with ``target="all"``. They follow from the others if these
        are all closed itemsets (``itemsets.target == "closed"``). Otherwise `data` is needed.
    metric : str, default "confidence"
        The measure that selects: see `Rules.measure`; any but the p-value and the q-value.
    min_threshold : float, default 0.8
        The least value of the metric.
    data : Transactions, data frame, matrix or list of lists, optional
        The data that the itemsets were mined from; missing supports are counted in it.
    antecedents, consequents : names, optional
        The only items that may stand on that side.
    about : names, optional
        Items, or columns of a table, that are to be explained: ``about="survived"`` is for rules with one of
        the items ``survived=...`` on the right, and without any on the left.
    min_antecedent_len, max_antecedent_len, min_consequent_len, max_consequent_len : int, optional
        Bounds of the number of items on either side.
    support_only : bool, default False
        Select by support and leave all other measures NaN, so that no support of a part is needed.
    max_rules : int, default 10,000,000
        The most rules (or missing supports) to hold; if there are more, the search stops with an error.

    Returns
    -------
    Rules

    Raises
    ------
    InvalidInputError
        If a support is missing and there is no data, or an argument is not valid.
    TooManyItemsetsError
        If there would be more than `max_rules` rules.
    UnknownItemError
        If a name is not one of the items.

    Notes
    -----
    An itemset of length L has 2^L - 2 splits. The search skips those that the threshold rules out, for all
    metrics that bound the confidence from below: confidence, lift, leverage, conviction, certainty, jaccard,
    kulczynski.

    Examples
    --------
    >>> import itemix
    >>> tx = itemix.Transactions.from_lists([["milk", "bread"], ["milk", "bread"], ["milk"], ["beer"]])
    >>> itemix.rules(itemix.mine(tx, 0.5))
    Rules: 1 rule, confidence >= 0.8, of 4 transactions
      support  confidence   lift  count  rule
       0.5000       1.000  1.333      2  {bread} -> {milk}
    """
    if not isinstance(itemsets, Itemsets):
        itemsets = Itemsets.from_pandas(itemsets)
    options = RuleOptions.checked(
        metric=metric,
        min_threshold=min_threshold,
        min_antecedent_len=min_antecedent_len,
        max_antecedent_len=max_antecedent_len,
        min_consequent_len=min_consequent_len,
        max_consequent_len=max_consequent_len,
        support_only=support_only,
        max_rules=max_rules,
    )
    supports = Supports(itemsets, None if data is None else as_transactions(data))
    n = supports.n_transactions
    options.check_sample(n)
    threshold = options.min_threshold
    wanted = kernels.Wanted(
        sides=_sides(itemsets.items, antecedents, consequents, about),
        min_antecedent=options.min_antecedent_len,
        max_antecedent=options.max_antecedent_len,
        min_consequent=options.min_consequent_len,
        max_consequent=options.max_consequent_len,
        measure=measures.measure_code(options.metric),
        threshold=threshold - _ROUNDING * max(1.0, abs(threshold)),
        n_transactions=math.nan if n is None else float(n),
        support_only=options.support_only,
    )
    parts, missing = _split(itemsets, supports, wanted, options)
    while len(missing):
        supports.add(missing)
        parts, missing = _split(itemsets, supports, wanted, options)
    itemset = np.concatenate([part.itemset for part in parts])
    return Rules(
        Sets.concatenate([part.antecedents for part in parts]),
        Sets.concatenate([part.consequents for part in parts]),
        np.concatenate([part.antecedent_support for part in parts]),
        np.concatenate([part.consequent_support for part in parts]),
        itemsets.support[itemset],
        count=None if itemsets.count is None else itemsets.count[itemset],
        n_transactions=n,
        metric=options.metric,
        min_threshold=threshold,
    )


@dataclass(frozen=True)
class RuleOptions:
    """The options of `rules`, apart from items; lengths without a bound are `NO_LIMIT`."""

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
        """Check that the metric can be computed from what is known.

        Raises
        ------
        InvalidInputError
            If it needs the number of transactions, and that is not known.
        """
        if self.metric in measures.NEED_COUNTS and n_transactions is None:
            raise InvalidInputError(
                f"expected itemsets with a number of transactions for metric={self.metric!r}, got itemsets "
                "without; a model has no sample size: try metric='lift'"
            )

    def fewer(self) -> str:
        """Say how to ask for fewer rules, in ways that were not used already."""
        ways = ["mine with a higher min_support"]
        if self.metric in _WITHOUT_END or self.min_threshold < 1:
            ways.append(f"raise min_threshold above {self.min_threshold:g}")
        if self.min_consequent_len == 1 < self.max_consequent_len:
            ways.append("set max_consequent_len=1")
        return f"{', '.join(ways)}, or pass a larger max_rules"


def _checked_metric(metric: object) -> str:
    if isinstance(metric, str) and metric in measures.LOWER_IS_BETTER:
        raise InvalidInputError(
            f"expected a measure for which more is better, got {metric!r}; select by another one, then try "
            f"filter(max_{metric}=0.05)"
        )
    return measures.check_measure(metric, METRICS)


def _checked_threshold(value: object) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):  # an integer larger than any float
            if math.isfinite(value):
                return as_written(value)
    raise InvalidInputError(f"expected min_threshold as a finite number, got {value!r}; try 0.8")


def _checked_whole(name: str, value: object) -> int:
    """Return a whole number of at least 1; None is no limit."""
    if value is None:
        return NO_LIMIT
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return min(int(value), NO_LIMIT)
    raise InvalidInputError(f"expected {name} as a whole number of at least 1, got {value!r}; try {name}=1")


class _Part(NamedTuple):
    """Some of the rules, copied from the buffer of a kernel."""

    itemset: Ints
    antecedents: Sets
    consequents: Sets
    antecedent_support: Floats
    consequent_support: Floats


def _split(
    itemsets: Itemsets, supports: Supports, wanted: kernels.Wanted, options: RuleOptions
) -> tuple[list[_Part], Sets]:
    """Split all itemsets; return the rules, and the sets whose supports are missing for the others."""
    longest = int(itemsets.lengths.max(initial=0))
    found = kernels.room_for(_RULES_AT_ONCE, longest)
    place = np.zeros(longest + kernels.PLACE_STACK, dtype=np.int64)
    parts: list[_Part] = []
    missing = _Missing(itemsets.items)
    n_rules = 0
    is_done = False
    while not is_done:
        still_wanted()
        found.sizes[:] = 0
        is_done = kernels.split_sets(
            supports.known(),
            wanted,
            found,
            itemsets.offsets,
            itemsets.codes,
            itemsets.support,
            place,
            _SPLITS_AT_ONCE,
        )
        n_rules += int(found.sizes[0])
        missing.append(found)
        if max(n_rules, missing.n_distinct) > options.max_rules:
            got = f"{max(n_rules, missing.n_distinct):,} before all {len(itemsets):,} itemsets were split"
            raise TooManyItemsetsError(
                f"expected at most {plural(options.max_rules, 'rule')}, got {got}; {options.fewer()}",
                n_found=n_rules,
            )
        if missing.n_distinct == 0:
            parts.append(_copied(found, itemsets.items))
    return parts, missing.distinct()


def _copied(found: kernels.RuleBuffer, items: Items) -> _Part:
    n, n_antecedents, n_consequents = (int(size) for size in found.sizes[:3])
    return _Part(
        found.itemset[:n].copy(),
        Sets.from_lengths(found.antecedent_lengths[:n], found.antecedents[:n_antecedents].copy(), items),
        Sets.from_lengths(found.consequent_lengths[:n], found.consequents[:n_consequents].copy(), items),
        found.antecedent_support[:n].copy(),
        found.consequent_support[:n].copy(),
    )


class _Missing:
    """Sets whose supports are missing; repeated ones are dropped whenever they may be more than half."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._families = [Sets([0], [], items)]
        self._n_held = 0
        self.n_distinct = 0

    def append(self, found: kernels.RuleBuffer) -> None:
        n, n_codes = int(found.sizes[3]), int(found.sizes[4])
        if n:
            codes = found.missing[:n_codes].copy()
            self._families.append(Sets.from_lengths(found.missing_lengths[:n], codes, self._items))
            self._n_held += n
        if self._n_held > 2 * self.n_distinct:
            self.distinct()

    def distinct(self) -> Sets:
        merged = Sets.concatenate(self._families).unique()
        self._families = [merged]
        self._n_held = self.n_distinct = len(merged)
        return merged


def _sides(items: Items, antecedents: object, consequents: object, about: object) -> npt.NDArray[np.int8]:
    """Return the sides on which each item may stand, as `kernels.Wanted` takes them."""
    if about is not None and consequents is not None:
        raise InvalidInputError(
            f"expected about or consequents, got both {about!r:.40} and {consequents!r:.40}; leave one out"
        )
    explained = None if about is None else items.codes_about(about)
    sides = np.zeros(len(items), dtype=np.int8)
    left, right = (None if names is None else items.codes(names) for names in (antecedents, consequents))
    for allowed, side in (
        (left, kernels.ANTECEDENT),
        (right if about is None else explained, kernels.CONSEQUENT),
    ):
        sides[slice(None) if allowed is None else allowed] += side
    if explained is not None:
        sides[explained] = kernels.CONSEQUENT
    return sides
