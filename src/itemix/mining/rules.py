"""Association rules from itemsets: every set is split into antecedents and consequents."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._checks import as_written, check_bounds, check_choice, check_flag, check_level
from itemix._runtime import interruptible, progress_of, still_wanted
from itemix.core.display import format_set, plural
from itemix.core.itemsets import Itemsets
from itemix.core.sets import Sets, readonly
from itemix.core.transactions import as_transactions
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.kernels import lattice
from itemix.kernels.mining import rules as kernels
from itemix.kernels.mining.rules import KnownSupports
from itemix.mining import measures
from itemix.mining.counts import count
from itemix.mining.ruleset import Rule, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pandas as pd

    from itemix._runtime import Progress
    from itemix._typing import Floats, Ints, TransactionsLike
    from itemix.core.items import Items, Label
    from itemix.core.transactions import Transactions
    from itemix.io.partitions import Partitions

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
    redundant: bool = True,
    productive: bool = False,
    significance: str | None = None,
    level: float = 0.05,
    adjust: str = "bh",
    holdout: TransactionsLike | None = None,
    support_only: bool = False,
    max_rules: int = 10_000_000,
    progress: bool = False,
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
    redundant : bool, default True
        False leaves out rules that are no better than a more general one: a rule with the same consequents
        and only some of the antecedents, or none, that has at least the same confidence.
    productive : bool, default False
        True keeps rules that are better than every more general one, by Fisher's exact test (Webb calls them
        productive). Each rule's p-value is then the largest of those tests.
    significance : {"fisher", "chi2"}, optional
        Keep rules whose sides depend on each other, by this test: Fisher's exact one asks whether they occur
        together more often than if they were independent, the chi-squared test whether more or less often.
        With `productive` or `holdout` it is Fisher's.
    level : float, default 0.05
        What the adjusted p-value may be at most, if rules are tested.
    adjust : {"bh", "by", "holm", "bonferroni", "none"}, default "bh"
        How p-values are adjusted for all rules that reached the threshold: so that the expected fraction of
        false finds is at most `level` ("bh" by Benjamini and Hochberg; "by" by Benjamini and Yekutieli,
        however the tests depend on each other), or so that any false find has at most that probability
        ("holm", "bonferroni"). See `itemix.mining.measures.q_values`.
    holdout : transactions in any form, optional
        Other transactions, in which the rules that were found are tested. All supports and measures of the
        result are those in the holdout. Rules with a p-value above `level` in the first data are not tested.
    support_only : bool, default False
        Select by support and leave all other measures NaN, so that no support of a part is needed.
    max_rules : int, default 10,000,000
        The most rules (or missing supports) to hold; if there are more, the search stops with an error.
    progress : bool, default False
        Whether to show how far it is: on standard error, or in a notebook.

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
    kulczynski, cosine, phi, difference_of_confidence.

    Examples
    --------
    >>> import itemix
    >>> tx = itemix.Transactions.from_lists([["milk", "bread"], ["milk", "bread"], ["milk"], ["beer"]])
    >>> itemix.rules(itemix.mine(tx, 0.5))
    Rules: 1 rule, confidence >= 0.8, of 4 transactions
      support  confidence   lift  count  rule
       0.5000       1.000  1.333      2  {bread} -> {milk}
    """
    if isinstance(itemsets, str | os.PathLike):
        itemsets = Itemsets.load(itemsets)
    if not isinstance(itemsets, Itemsets):
        itemsets = Itemsets.from_pandas(itemsets)
    options = RuleOptions.checked(
        metric=metric,
        min_threshold=min_threshold,
        min_antecedent_len=min_antecedent_len,
        max_antecedent_len=max_antecedent_len,
        min_consequent_len=min_consequent_len,
        max_consequent_len=max_consequent_len,
        redundant=redundant,
        productive=productive,
        significance="fisher" if significance is None and holdout is not None else significance,
        level=level,
        adjust=adjust,
        support_only=support_only,
        max_rules=max_rules,
    )
    supports = Supports(itemsets, None if data is None else _read(data))
    n = supports.n_transactions
    options.check_sample(n, has_holdout=holdout is not None)
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
        redundant=options.redundant,
    )
    with progress_of("rules", shown=check_flag("progress", progress)) as shown:
        parts, missing, n_tests = _split(itemsets, supports, wanted, options, shown)
        while len(missing):
            if shown is not None:
                shown.tell(f"counting {plural(len(missing), 'set')}")
            supports.add(missing)
            parts, missing, n_tests = _split(itemsets, supports, wanted, options, shown)
    itemset = np.concatenate([part.itemset for part in parts])
    found = Rules(
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
    if options.significance is None:
        return found
    test = RuleTest(options.significance, options.level, options.adjust, productive=options.productive)
    with progress_of("rules", shown=progress) as shown:
        if shown is not None:
            shown.tell(f"testing {plural(len(found), 'rule')}")
        return test.select(found, supports, None if holdout is None else _read(holdout), n_tests)


def _read(data: TransactionsLike) -> Transactions:
    """Return transactions in any form, also those of a file."""
    if isinstance(data, str | os.PathLike):
        from itemix.io.read import read_transactions

        return read_transactions(data)
    return as_transactions(data)


@dataclass(frozen=True)
class RuleOptions:
    """The options of `rules`, apart from items; lengths without a bound are `NO_LIMIT`."""

    metric: str
    min_threshold: float
    min_antecedent_len: int
    max_antecedent_len: int
    min_consequent_len: int
    max_consequent_len: int
    redundant: bool
    productive: bool
    significance: str | None
    level: float
    adjust: str
    support_only: bool
    max_rules: int

    @classmethod
    def checked(
        cls,
        *,
        metric: object,
        min_threshold: object,
        redundant: object = True,
        productive: object = False,
        significance: object = None,
        level: object = 0.05,
        adjust: object = "bh",
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
        is_productive = check_flag("productive", productive)
        test = "fisher" if is_productive and significance is None else significance
        named = None if test is None else check_choice("significance", test, measures.TESTS)
        if is_productive and test != "fisher":
            raise InvalidInputError(
                f"expected significance='fisher' with productive=True, got {test!r}; leave significance out"
            )
        is_redundant = check_flag("redundant", redundant) and not is_productive
        if support_only and (test is not None or not is_redundant):
            raise InvalidInputError(
                "expected support_only=True without redundant=False, productive and significance, which need "
                "the supports of both sides, got both; leave support_only out"
            )
        return cls(
            metric="support" if support_only else _checked_metric(metric),
            min_threshold=_checked_threshold(min_threshold),
            redundant=is_redundant,
            productive=is_productive,
            significance=named,
            level=check_level(level, 0.05),
            adjust=check_choice("adjust", adjust, measures.ADJUSTMENTS),
            support_only=bool(support_only),
            max_rules=_checked_whole("max_rules", max_rules),
            **bounds,
        )

    def check_sample(self, n_transactions: int | None, *, has_holdout: bool) -> None:
        """Check that the metric and the test can be computed from what is known.

        Raises
        ------
        InvalidInputError
            If they need the number of transactions, and that is not known.
        """
        if self.significance is not None and n_transactions is None and not has_holdout:
            asked = "productive=True" if self.productive else f"significance={self.significance!r}"
            raise InvalidInputError(
                f"expected itemsets with a number of transactions for {asked}, got itemsets without; a model "
                "has no sample size: try redundant=False, or holdout= with transactions to test in"
            )
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


@dataclass(frozen=True)
class RuleTest:
    """A test that rules have to pass, in the data that they were found in, or in other data."""

    significance: str
    level: float
    adjust: str
    productive: bool

    def select(self, found: Rules, supports: Supports, holdout: Transactions | None, n_tests: int) -> Rules:
        """Return the rules that pass, with their p-values; `n_tests` rules were looked at."""
        if found.n_transactions is not None:
            p_value = self._p_values(found, supports.of)
            if holdout is not None:
                found = found.take(p_value <= self.level)
        if holdout is not None:
            found, support_of = self._in_other_data(found, supports, holdout)
            p_value = self._p_values(found, support_of)
            n_tests = len(found)
        q_value = measures.q_values(p_value, self.adjust, n_tests)
        passed = np.flatnonzero(q_value <= self.level)
        return found.tested(passed, p_value, q_value, significance=self.significance, n_tests=n_tests)

    def _p_values(self, found: Rules, support_of: Callable[[Sets], Floats]) -> Floats:
        """Test each rule against independence and, if it is to be productive, each more general one."""
        if self.significance == "chi2":
            return found.measure("p_value")
        n = found.n_transactions or 0
        both, draws = found.count_of("support"), found.count_of("antecedent support")
        p_value = measures.fisher(both, draws, found.count_of("consequent support"), n)
        if self.productive:
            for position, antecedents, whole in _more_general(found):
                left = np.flatnonzero(p_value[position] <= self.level)
                total, hits = (
                    np.rint(support_of(sets.take(left)) * n).astype(np.int64) for sets in (antecedents, whole)
                )
                at = position[left]
                p_value[at] = np.maximum(p_value[at], measures.fisher(both[at], draws[at], hits, total))
        return p_value

    def _in_other_data(
        self, found: Rules, supports: Supports, data: Transactions
    ) -> tuple[Rules, Callable[[Sets], Floats]]:
        """Return the same rules with their supports in other data, and a function that tells supports."""
        supports.check_other_data(data)
        union = _unions(found)
        families = [found.antecedents, found.consequents, union]
        if self.productive:
            for _, antecedents, whole in _more_general(found):
                families += [antecedents, whole]
        known = Sets.concatenate(families).unique()
        n = data.n_transactions
        counts = count(known, data, may_lack=True)

        def support_of(sets: Sets) -> Floats:
            of: Floats = counts[known.find(sets)] / max(n, 1)
            return of

        counted = counts[known.find(union)]
        return Rules(
            found.antecedents,
            found.consequents,
            support_of(found.antecedents),
            support_of(found.consequents),
            counted / max(n, 1),
            count=counted,
            n_transactions=n,
            metric=found.metric,
            min_threshold=found.min_threshold,
        ), support_of


def _unions(found: Rules) -> Sets:
    """Return both sides of each rule together."""
    lengths = found.antecedents.lengths + found.consequents.lengths
    codes = np.empty(int(lengths.sum()), dtype=np.int32)
    starts = np.cumsum(lengths) - lengths
    for sets, shift in ((found.antecedents, 0), (found.consequents, found.antecedents.lengths)):
        place = np.repeat(starts + shift - sets.offsets[:-1], sets.lengths) + np.arange(len(sets.codes))
        codes[place] = sets.codes
    return Sets.from_lengths(lengths, codes, found.items)


def _more_general(found: Rules) -> Iterator[tuple[Ints, Sets, Sets]]:
    """Yield all more general rules, many at once: positions in `found`, antecedents, and both sides together.

    Those without any antecedents are left out.
    """
    n_a, n_c = found.antecedents.lengths, found.consequents.lengths
    shapes = np.unique(np.stack([n_a[n_a > 1], n_c[n_a > 1]]), axis=1)
    for length_a, length_c in shapes.T.tolist():
        alike = np.flatnonzero((n_a == length_a) & (n_c == length_c))
        for start in range(0, len(alike), _RULES_AT_ONCE):
            at = alike[start : start + _RULES_AT_ONCE]
            antecedents = found.antecedents.take(at).codes.reshape(len(at), length_a)
            consequents = found.consequents.take(at).codes.reshape(len(at), length_c)
            for size in range(length_a - 1, 0, -1):
                for kept in combinations(range(length_a), size):
                    still_wanted()
                    some = antecedents[:, kept]
                    whole = np.concatenate([some, consequents], axis=1)
                    yield at, _as_sets(some, found.items), _as_sets(whole, found.items)


def _as_sets(rows: npt.NDArray[np.int32], items: Items) -> Sets:
    return Sets(np.arange(len(rows) + 1) * rows.shape[1], rows.ravel(), items, check=False)


class _Part(NamedTuple):
    """Some of the rules, copied from the buffer of a kernel."""

    itemset: Ints
    antecedents: Sets
    consequents: Sets
    antecedent_support: Floats
    consequent_support: Floats


def _split(
    itemsets: Itemsets,
    supports: Supports,
    wanted: kernels.Wanted,
    options: RuleOptions,
    shown: Progress | None,
) -> tuple[list[_Part], Sets, int]:
    """Split all itemsets.

    Returns the rules, the sets whose supports are missing for the others, and how many rules reached the
    threshold.
    """
    longest = int(itemsets.lengths.max(initial=0))
    found = kernels.room_for(_RULES_AT_ONCE, longest)
    place = np.zeros(longest + kernels.PLACE_STACK, dtype=np.int64)
    parts: list[_Part] = []
    missing = _Missing(itemsets.items)
    n_rules = n_reached = 0
    is_done = False
    while not is_done:
        still_wanted()
        if shown is not None:
            done = int(place[kernels.PLACE_SET])
            shown.tell(f"{done:,}/{len(itemsets):,} itemsets", done, len(itemsets))
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
        n_reached += int(found.sizes[5])
        missing.append(found)
        if max(n_rules, missing.n_distinct) > options.max_rules:
            got = f"{max(n_rules, missing.n_distinct):,} before all {len(itemsets):,} itemsets were split"
            raise TooManyItemsetsError(
                f"expected at most {plural(options.max_rules, 'rule')}, got {got}; {options.fewer()}",
                n_found=n_rules,
            )
        if missing.n_distinct == 0:
            parts.append(_copied(found, itemsets.items))
    return parts, missing.distinct(), n_reached


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


_SETS_COMPARED = 1000
_SAME = 1e-9


class Supports:
    """Known supports of sets, which can be added to.

    Parameters
    ----------
    itemsets : Itemsets
        The itemsets with the first supports.
    data : Transactions or Partitions, optional
        The data in which others are counted; the itemsets must have been mined from it.

    Attributes
    ----------
    n_transactions : int or None
        The number of transactions behind the supports; None if they come from a model.

    Raises
    ------
    InvalidInputError
        If the data is not what the itemsets were mined from.
    """

    def __init__(self, itemsets: Itemsets, data: Transactions | Partitions | None) -> None:
        self._itemsets = itemsets
        self._sets = itemsets.sets
        self._support = itemsets.support
        self._data = data
        self.n_transactions = itemsets.n_transactions
        if data is not None:
            self._check_data(data)

    def known(self) -> KnownSupports:
        """Return the known supports for kernels."""
        table, keys = self._sets.index()
        return KnownSupports(table, self._sets.offsets, self._sets.codes, keys, self._support)

    def add(self, missing: Sets) -> None:
        """Find the supports of more sets.

        Raises
        ------
        InvalidInputError
            If there is no data, and they do not follow from closed sets.
        """
        if self._data is not None:
            support = count(missing, self._data) / max(self._data.n_transactions, 1)
        elif self._itemsets.target == "closed":
            support = self._of_closures(missing)
        else:
            raise InvalidInputError(
                "expected the supports of all parts of the itemsets, got itemsets that lack at least "
                f"{len(missing):,} of them, such as {format_set(missing[0])}; pass data= to count them, "
                "mine with target='all', or set support_only=True"
            )
        self._sets = Sets.concatenate([self._sets, missing])
        self._support = readonly(np.concatenate([self._support, support]), np.float64, copy=False)

    def of(self, sets: Sets) -> Floats:
        """Return the supports of sets that are all known."""
        found: Floats = self._support[self._sets.find(sets)]
        return found

    def _of_closures(self, missing: Sets) -> Floats:
        """Return the support of each set's closure: the closed superset with the highest support."""
        support = self._itemsets.support
        closed = self._itemsets.sets
        order = np.argsort(-support, kind="stable")
        n_items = len(closed.items)
        found = lattice.find_closures(
            closed.offsets, closed.codes, order, n_items, missing.offsets, missing.codes
        )
        closures: Floats = support[found]
        return closures

    def check_other_data(self, data: Transactions) -> None:
        """Check that data to test in is not the data that the itemsets were mined from.

        Raises
        ------
        InvalidInputError
            If it seems to be: their number and the first supports are the same.
        """
        first = self._itemsets.sets.part(0, _SETS_COMPARED)
        n = data.n_transactions
        if n and n == self.n_transactions and len(first):
            support = count(first, data, may_lack=True) / n
            if np.allclose(support, self._itemsets.support[: len(first)], rtol=0, atol=_SAME):
                raise InvalidInputError(
                    "expected holdout= with other transactions than those that the itemsets were mined from, "
                    f"got {plural(n, 'transaction')} with the same supports; try tx.split(0.5)"
                )

    def _check_data(self, data: Transactions | Partitions) -> None:
        n = self._itemsets.n_transactions
        if n is not None and n != data.n_transactions:
            raise InvalidInputError(
                f"expected the {plural(n, 'transaction')} that the itemsets were mined from, got "
                f"{data.n_transactions:,}; pass the same data"
            )
        first = self._sets.part(0, _SETS_COMPARED)
        support = count(first, data) / max(data.n_transactions, 1)
        wrong = np.flatnonzero(np.abs(support - self._support[: len(first)]) > _SAME)
        if len(wrong):
            position = int(wrong[0])
            raise InvalidInputError(
                "expected the data that the itemsets were mined from, got data in which "
                f"{format_set(first[position])} has support {support[position]:.6g} instead of "
                f"{self._support[position]:.6g}; pass the same data"
            )
        self.n_transactions = data.n_transactions
