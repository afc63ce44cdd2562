"""Comparisons: itemsets that are more frequent in one set of transactions than in another.

Two periods, two stores, two groups of an experiment: each itemset that is frequent in one of the two has a
count in both. If its probability is the same in both, all ways to share out the transactions that hold it are
alike. How many of them the second one has is then hypergeometric, whatever that probability is: this is
Fisher's exact test.

An itemset is only looked at because it is frequent in one of the two. A set near the threshold may be there
just because chance put most of its transactions on one side, and then looks as if it differed. So each
p-value is conditional on that: the probability of a count at least as far out, among all counts with which
the set would have been looked at.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from itemix._checks import check_choice, check_level
from itemix._runtime import interruptible, still_wanted
from itemix.core.display import format_percent, joined, plural
from itemix.core.items import Items
from itemix.core.results import TestedResult
from itemix.core.sets import Sets
from itemix.core.tables import TableColumns
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining import measures
from itemix.mining.counts import count
from itemix.mining.mine import mine
from itemix.mining.search import check_support, min_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from itemix._typing import Floats, Ints, TransactionsLike
    from itemix.core.itemsets import Itemsets

_FEWEST = 5
_LONGEST_LOOKED_INTO = 10
_BISECTIONS = 60
_SETS_AT_ONCE = 1 << 16


class Sided(TestedResult):
    """What was counted in two sets of transactions, a and b, or in groups (b) and all others (a)."""

    _percents = frozenset(("support_a", "support_b", "share_a", "share_b"))
    __slots__ = ()

    @property
    def group(self) -> list[str] | None:
        """The group that is b in each row, if there are groups; a is then all others."""
        return list(self._columns.numbers("group")) if "group" in self._columns.values else None

    @property
    def count_a(self) -> Ints:
        """How many transactions of a it has, shape (n,)."""
        return self._columns.numbers("count_a")

    @property
    def count_b(self) -> Ints:
        """How many transactions of b it has, shape (n,)."""
        return self._columns.numbers("count_b")

    @property
    def ratio(self) -> Floats:
        """How many times as frequent as in a it is in b; infinite if it is not in a, shape (n,)."""
        return self._columns.numbers("ratio")

    @property
    def lower(self) -> Floats:
        """The lower end of the 95% interval of the ratio, shape (n,)."""
        return self._columns.numbers("lower")

    @property
    def upper(self) -> Floats:
        """The upper end of the 95% interval of the ratio, shape (n,)."""
        return self._columns.numbers("upper")

    @property
    def n_tested(self) -> int:
        """The number of tests, in all groups."""
        return int(self._columns.facts["n_tested"])

    @property
    def n_a(self) -> int | None:
        """The number of transactions of a; None if there are groups."""
        n: int | None = self._columns.facts["n_a"]
        return n

    @property
    def n_b(self) -> int | None:
        """The number of transactions of b; None if there are groups."""
        n: int | None = self._columns.facts["n_b"]
        return n

    def _differ(self, what: str, more: str) -> str:
        """Return a title that says how many were tested, and how many of them differ."""
        facts = self._columns.facts
        level = f"q <= {format_percent(facts['level'])}"
        where = f"a: {plural(facts['n_a'], 'transaction')}, b: {facts['n_b']:,}" if facts["n_a"] else ""
        counted = f"{what} of {self.n_tested:,} {'differs' if len(self) == 1 else 'differ'}"
        return joined([counted, more, level, where])


class Comparison(Sided):
    """Itemsets that are more frequent in one set of transactions than in another: an immutable value.

    Those that no part of them explains come first, the most significant first; then those that one does.
    `to_pandas` and the files have a column for each property of the same name.

    See Also
    --------
    itemix.compare : compare transactions.
    """

    _kind = "differences"
    _types: ClassVar = {
        "itemsets": "sets",
        "group": "object",
        "count_a": "int64",
        "count_b": "int64",
        **dict.fromkeys(
            ("support_a", "support_b", "ratio", "lower", "upper", "p_value", "q_value"), "float64"
        ),
        "change": "object",
        "explained_by": "sets",
    }
    _in_table = ("group", "support_a", "support_b", "ratio", "q_value", "change", "explained_by", "itemsets")
    __slots__ = ()

    @property
    def sets(self) -> Sets:
        """The itemsets."""
        return self._columns.sets("itemsets")

    @property
    def support_a(self) -> Floats:
        """The support in a, shape (n,)."""
        return self._columns.numbers("support_a")

    @property
    def support_b(self) -> Floats:
        """The support in b, shape (n,)."""
        return self._columns.numbers("support_b")

    @property
    def change(self) -> list[str]:
        """What became of each set from a to b: "new", "lost", "more" or "less"."""
        return list(self._columns.numbers("change"))

    @property
    def explained_by(self) -> Sets:
        """The part of each set that explains its difference; empty if none does."""
        return self._columns.sets("explained_by")

    def _shown(self, n: int, width: int | None) -> dict[str, list[str]]:
        columns = super()._shown(n, width)
        if not self.explained_by.lengths[:n].any():
            del columns["explained by"]
        return columns

    def own(self) -> Self:
        """Return the sets that no part of them explains."""
        return self.take(self.explained_by.lengths == 0)

    def more(self) -> Self:
        """Return the sets that are more frequent in b, new ones too."""
        return self.take(self.ratio > 1)

    def less(self) -> Self:
        """Return the sets that are less frequent in b, lost ones too."""
        return self.take(self.ratio < 1)

    def _title(self) -> str:
        n_own = int((self.explained_by.lengths == 0).sum())
        own = f"{n_own:,} not by a part of them" if n_own < len(self) else ""
        return self._differ(f"Comparison: {plural(len(self), 'itemset')}", own)


class ComponentShifts(Sided):
    """Components of one mixture of two sets of transactions, whose shares differ: an immutable value.

    The most significant come first. Columns are component (the largest is 0), group (if there are any),
    count_a and count_b (how many transactions most probably belong to it), and one for each property.

    See Also
    --------
    itemix.compare_components : compare transactions.
    """

    _kind = "shifts"
    _types: ClassVar = {
        "component": "int64",
        "group": "object",
        "count_a": "int64",
        "count_b": "int64",
        **dict.fromkeys(("share_a", "share_b", "ratio", "lower", "upper", "p_value", "q_value"), "float64"),
        "typical": "sets",
        "mostly": "object",
    }
    _in_table = ("group", "component", "share_a", "share_b", "ratio", "q_value", "mostly")
    __slots__ = ()

    @property
    def component(self) -> Ints:
        """The number of each component, the largest is 0, shape (n,)."""
        return self._columns.numbers("component")

    @property
    def share_a(self) -> Floats:
        """The share of the transactions of a, shape (n,)."""
        return self._columns.numbers("share_a")

    @property
    def share_b(self) -> Floats:
        """The share of the transactions of b, shape (n,)."""
        return self._columns.numbers("share_b")

    @property
    def typical(self) -> Sets:
        """The items that tell each component from the others."""
        return self._columns.sets("typical")

    @property
    def mostly(self) -> list[str]:
        """These items in words, with their probabilities in the component."""
        return [str(text) for text in self._columns.numbers("mostly")]

    def _title(self) -> str:
        return self._differ(f"Components: {len(self):,}", "")


def compare_shares(
    labels: Ints,
    sides: Sequence[tuple[str | None, npt.NDArray[np.bool_]]],
    typical: Sets,
    mostly: Sequence[str],
    *,
    level: float,
    adjust: str,
) -> ComponentShifts:
    """Test whether labels are as frequent on two sides, by Fisher's test.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The component of each transaction. On which side it is must not have had a part in that.
    sides : sequence of (name or None, array of bool, shape (n,))
        Which transactions are b; the others are a. Several are groups.
    typical, mostly : Sets, sequence of str
        What tells each component, as sets of items and in words.
    level, adjust
        As in `compare`.
    """
    n_components = len(typical)
    total = np.bincount(labels, minlength=n_components)
    tested_at = np.flatnonzero(total)
    parts = []
    for name, is_b in sides:
        second = np.bincount(labels[is_b], minlength=n_components)[tested_at]
        first = total[tested_at] - second
        n_b = int(is_b.sum())
        n_a = len(labels) - n_b
        lower, upper = ratio_intervals(first, second, n_a, n_b)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (second / n_b) / (first / n_a)
        parts.append(
            {
                "component": tested_at,
                **({} if name is None else {"group": np.full(len(tested_at), name, dtype=object)}),
                "count_a": first,
                "count_b": second,
                "share_a": first / n_a,
                "share_b": second / n_b,
                "ratio": ratio,
                "lower": lower,
                "upper": upper,
                "p_value": _two_sided(first, np.full_like(first, n_a), second, np.full_like(second, n_b)),
            }
        )
    values: dict[str, Any] = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    values["q_value"] = measures.q_values(values["p_value"], adjust)
    kept = np.flatnonzero(values["q_value"] <= level)
    order = kept[np.lexsort((values["component"][kept], values["p_value"][kept]))]
    values = {key: column[order] for key, column in values.items()}
    values["typical"] = typical.take(values["component"])
    values["mostly"] = np.array([mostly[k] for k in values["component"].tolist()], dtype=object)
    sizes = {"n_a": n_a, "n_b": n_b} if sides[0][0] is None else {"n_a": None, "n_b": None}
    facts = {**sizes, "n_tested": len(sides) * len(tested_at), "level": level}
    return ComponentShifts(TableColumns("shifts", typical.items, values, facts))


@interruptible()
def compare(
    a: TransactionsLike,
    b: TransactionsLike | None = None,
    *,
    min_support: float = 0.005,
    by: Sequence[object] | None = None,
    level: float = 0.05,
    adjust: str = "bh",
    min_len: int = 1,
    max_len: int | None = None,
    max_itemsets: int | None = None,
    n_jobs: int | None = -1,
) -> Comparison:
    """Find the itemsets that are more frequent in one set of transactions than in another.

    Parameters
    ----------
    a, b : transactions in any form
        What is compared: two periods, two stores. Items are matched by name, and one may have items that the
        other has not.
    min_support : float or int, default 0.005
        Itemsets are compared if they are frequent in one of the two: a float is a fraction of its
        transactions, but five of them at the least; an int is a number of them.
    by : a value for each transaction of a, instead of b
        Groups of transactions, such as months: each group (b) is compared with all others (a), or, if there
        are only two, the second with the first.
    level : float, default 0.05
        What the adjusted p-value may be at most.
    adjust : {"bh", "by", "holm", "bonferroni", "none"}, default "bh"
        How p-values are adjusted for all sets that were tested, in all groups: see
        `itemix.mining.measures.q_values`.
    min_len, max_len : int, optional
        Bounds of the number of items.
    max_itemsets : int, optional
        The most itemsets that may be frequent in either; if there are more, the search stops with an error.
    n_jobs : int, default -1
        The number of threads; -1 uses all processors. The result does not depend on it.

    Returns
    -------
    Comparison
        The sets that differ, with the adjusted p-value up to `level`.

    Raises
    ------
    InvalidInputError
        If there is nothing to compare, or an argument is not valid.
    TooManyItemsetsError
        If there are more than `max_itemsets` sets, or more than memory holds.

    Notes
    -----
    The p-values are Fisher's exact ones, conditional on the set being frequent in one of the two, so that
    finds can be trusted for rare sets, too.

    Examples
    --------
    >>> import itemix
    >>> winter = [["tea", "cake"]] * 30 + [["tea"]] * 30 + [["coffee"]] * 40
    >>> summer = [["ice", "coffee"]] * 25 + [["tea"]] * 20 + [["coffee"]] * 55
    >>> itemix.compare(winter, summer, min_support=0.05).own()
    Comparison: 4 itemsets of 6 differ, q <= 5%, a: 100 transactions, b: 100
      support a  support b     ratio    q value  change  itemsets
         30.0%       0.00%    0.000   4.302e-10  lost    {cake}
         60.0%      20.0%     0.3333  1.073e-08  less    {tea}
         40.0%      80.0%     2.000   1.073e-08  more    {coffee}
          0.00%     25.0%   inf       1.073e-08  new     {ice}
    """
    check_choice("adjust", adjust, measures.ADJUSTMENTS)
    level = check_level(level, 0.05)
    pairs = [(None, *aligned_pair(a, b))] if by is None else list(_groups(a, b, by))
    search = {"min_len": min_len, "max_len": max_len, "max_itemsets": max_itemsets, "n_jobs": n_jobs}
    counted = [side_counts(first, second, min_support, **search) for _, first, second in pairs]
    p_values = [found.p_values() for found in counted]
    q_value = measures.q_values(np.concatenate(p_values), adjust)
    parts = []
    for (name, *_), found, p_value in zip(pairs, counted, p_values, strict=True):
        q, q_value = q_value[: len(p_value)], q_value[len(p_value) :]
        parts.append(_as_finds(name, found, p_value, q, level))
    n_a, n_b = (counted[0].n_first, counted[0].n_second) if by is None else (None, None)
    facts = {"n_a": n_a, "n_b": n_b, "n_tested": sum(map(len, p_values)), "level": level}
    values = {name: _joined([part[name] for part in parts]) for name in parts[0]}
    items = pairs[0][1].items
    columns = TableColumns("differences", items, values, facts)
    explained = values["explained_by"].lengths > 0
    return Comparison(columns.take(np.lexsort((values["p_value"], explained))))


def _joined(parts: list[Any]) -> Any:  # noqa: ANN401 - a column of sets or of numbers
    return Sets.concatenate(parts) if isinstance(parts[0], Sets) else np.concatenate(parts)


def _as_finds(
    group: object, counted: SideCounts, p_value: Floats, q_value: Floats, level: float
) -> dict[str, Any]:
    """Return the columns of the sets that differ."""
    passed = np.flatnonzero(q_value <= level)
    found = counted.take(passed)
    support_a, support_b = found.first / found.n_first, found.second / found.n_second
    lower, upper = ratio_intervals(found.first, found.second, found.n_first, found.n_second)
    with np.errstate(divide="ignore"):
        ratio = support_b / support_a
    change = np.where(found.first == 0, "new", np.where(found.second == 0, "lost", ""))
    change = np.where(change == "", np.where(ratio > 1, "more", "less"), change)
    cause = explained_by(found, p_value[passed], level)
    has_cause = np.flatnonzero(cause >= 0)
    lengths = np.zeros(len(passed), dtype=np.int64)
    causes = found.sets.take(cause[has_cause])
    lengths[has_cause] = causes.lengths
    groups = {} if group is None else {"group": np.full(len(passed), str(group), dtype=object)}
    return {
        "itemsets": found.sets,
        **groups,
        "count_a": found.first,
        "count_b": found.second,
        "support_a": support_a,
        "support_b": support_b,
        "ratio": ratio,
        "lower": lower,
        "upper": upper,
        "p_value": p_value[passed],
        "q_value": q_value[passed],
        "change": change.astype(object),
        "explained_by": Sets.from_lengths(lengths, causes.codes, found.sets.items),
    }


def aligned_pair(a: TransactionsLike, b: TransactionsLike | None) -> tuple[Transactions, Transactions]:
    """Return both as transactions over the same items.

    Raises
    ------
    InvalidInputError
        If one is missing or empty.
    """
    if b is None:
        raise InvalidInputError(
            "expected two sets of transactions to compare, got one; pass b, or by= with a value for each "
            "transaction"
        )
    both = as_transactions(a), as_transactions(b)
    for name, data in zip("ab", both, strict=True):
        _check_some(name, data.n_transactions)
    first, second = both
    if first.items == second.items:
        return both
    if first.n_items and second.n_items and first.items.are_integers != second.items.are_integers:
        kinds = [f"{data.items[0]!r}" for data in both]
        raise InvalidInputError(
            f"expected one kind of item names in both, got {kinds[0]} in a and {kinds[1]} in b; make all of "
            "them text"
        )
    items = Items([*first.items, *(name for name in second.items if name not in first.items)])
    return first.align_items(items), second.align_items(items)


def _check_some(name: str, n: int) -> None:
    if n == 0:
        raise InvalidInputError(f"expected transactions to compare, got none in {name}; check what was read")


_MOST_GROUPS = 100


def _groups(
    a: TransactionsLike, b: object, by: Sequence[object]
) -> Iterator[tuple[object, Transactions, Transactions]]:
    """Yield each group's name, all other transactions, and its own.

    Raises
    ------
    InvalidInputError
        If there are not at least two groups, or too many, or not one value for each transaction.
    """
    if b is not None:
        raise InvalidInputError("expected b or by, got both; leave out one")
    data = as_transactions(a)
    for name, is_own in groups_of(data, by):
        still_wanted()
        yield name, data[np.flatnonzero(~is_own)], data[np.flatnonzero(is_own)]


def groups_of(data: Transactions, by: Sequence[object]) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    """Return each group to compare with all others: its name, and which transactions it has.

    Raises
    ------
    InvalidInputError
        If there are not at least two groups, or too many, or not one value for each transaction.
    """
    values = np.asarray(by, dtype=object)
    if values.shape != (data.n_transactions,):
        raise InvalidInputError(
            f"expected a value in by for each of the {data.n_transactions:,} transactions, got "
            f"{values.size:,}; pass them in the order of the transactions"
        )
    names = sorted({str(value) for value in values})
    if not 2 <= len(names) <= _MOST_GROUPS:
        raise InvalidInputError(
            f"expected 2 to {_MOST_GROUPS} groups in by, got {len(names):,}; "
            + ("pass b to compare with" if len(names) < 2 else "put values together, such as days to months")
        )
    of_each = np.array([str(value) for value in values])
    return [(name, of_each == name) for name in (names[1:] if len(names) == 2 else names)]


class SideCounts(NamedTuple):
    """Itemsets with their counts in two sets of transactions.

    Attributes
    ----------
    sets : Sets
        The itemsets that are frequent in one of the two.
    first, second : array of int, shape (n,)
        How many transactions of each hold them.
    n_first, n_second : int
        How many transactions there are.
    least_first, least_second : int
        The counts from which a set is frequent.
    """

    sets: Sets
    first: Ints
    second: Ints
    n_first: int
    n_second: int
    least_first: int
    least_second: int

    def p_values(self) -> Floats:
        """Return Fisher's exact p-values: twice the smaller tail, among the counts that are looked at."""
        total, n = self.first + self.second, self.n_first + self.n_second
        is_more = self.second * float(self.n_first) >= self.first * float(self.n_second)
        high = np.where(is_more, self.second, self.first)
        n_high = np.where(is_more, self.n_second, self.n_first)
        tail = measures.fisher(high, n_high, total, n)
        # A set with fewer transactions than this may not have been looked at.
        near = np.flatnonzero(total < self.least_first + self.least_second - 1)
        held = total[near]
        looked_at = measures.fisher(self.least_first, self.n_first, held, n)
        looked_at += measures.fisher(self.least_second, self.n_second, held, n)
        tail[near] = np.divide(tail[near], looked_at, out=np.ones(len(near)), where=looked_at > 0)
        return np.minimum(2 * tail, 1.0)

    def take(self, positions: Ints) -> SideCounts:
        """Return some of the sets."""
        return self._replace(
            sets=self.sets.take(positions), first=self.first[positions], second=self.second[positions]
        )


def side_counts(
    first: Transactions,
    second: Transactions,
    min_support: float,
    **search: Any,  # noqa: ANN401 - options of mine
) -> SideCounts:
    """Mine both, and count in each what is frequent in the other only; both have the same items."""
    least = [_least(min_support, data.n_transactions) for data in (first, second)]
    if min(least) > max(first.n_transactions, second.n_transactions):
        min_count(min_support, max(first.n_transactions, second.n_transactions))  # raises an error
    found = [_mined(data, count, search) for data, count in zip((first, second), least, strict=True)]
    known, other = (itemsets.sets for itemsets in found)
    place = known.find(other)
    in_both, new = place >= 0, np.flatnonzero(place < 0)
    only_second = other.take(new)
    here, there = (np.asarray(itemsets.count) for itemsets in found)
    of_second = np.full(len(known), -1, dtype=np.int64)
    of_second[place[in_both]] = there[in_both]
    only_first = np.flatnonzero(of_second < 0)
    of_second[only_first] = count(known.take(only_first), second)
    return SideCounts(
        sets=Sets.concatenate([known, only_second]),
        first=np.concatenate([here, count(only_second, first)]),
        second=np.concatenate([of_second, there[new]]),
        n_first=first.n_transactions,
        n_second=second.n_transactions,
        least_first=least[0],
        least_second=least[1],
    )


def _least(min_support: float, n: int) -> int:
    """Return the count from which a set is frequent: for a fraction of few transactions it is 5."""
    threshold = check_support(min_support)
    return threshold if isinstance(threshold, int) else max(min_count(threshold, n), _FEWEST)


def _mined(data: Transactions, least: int, search: dict[str, Any]) -> Itemsets:
    if least > data.n_transactions:
        return mine(data[:0], 1, **search)
    try:
        return mine(data, least, **search)
    except TooManyItemsetsError as error:
        got = f"{plural(data.n_transactions, 'transaction')} with {error.n_found:,} and more"
        raise TooManyItemsetsError(
            f"expected no more frequent itemsets than fit, got {got}; try max_len=2, or a higher min_support",
            error.n_found,
        ) from None


def ratio_intervals(
    first: Ints, second: Ints, n_first: int, n_second: int, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return score intervals (Koopman's) of the support in the second over that in the first.

    They hold their level for small counts too. Where the first has none, the upper end is infinite.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2)) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = (second / n_second) / (first / n_first)
    ends = []
    for counts, sizes, centre in (
        ((first, second), (n_first, n_second), estimate),
        ((second, first), (n_second, n_first), 1 / np.where(estimate > 0, estimate, np.nan)),
    ):
        # The lower end for the one is one over the upper end for the other, with both exchanged.
        x, y = (np.asarray(c, dtype=np.float64) for c in counts)
        low = np.full(len(x), -60.0)
        high = np.log(np.where(np.isfinite(centre) & (centre > 0), centre, 1e26))
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            is_out = _score(x, y, *sizes, np.exp(middle)) > z
            low, high = np.where(is_out, middle, low), np.where(is_out, high, middle)
        ends.append(np.where(y > 0, np.exp((low + high) / 2), 0.0))
    with np.errstate(divide="ignore"):
        return ends[0], 1 / ends[1]


def _score(x: Floats, y: Floats, n_x: int, n_y: int, ratio: Floats) -> Floats:
    """Return the score statistic of y / n_y over x / n_x being a ratio."""
    # The probabilities that fit best if p_y = ratio p_x solve a quadratic equation.
    a = (n_x + n_y) * ratio
    b = -(ratio * (n_y + x) + n_x + y)
    c = x + y
    p_x = np.minimum((-b - np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))) / (2 * a), 1.0)
    p_y = np.minimum(p_x * ratio, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = p_y * (1 - p_y) / n_y + ratio**2 * p_x * (1 - p_x) / n_x
        statistic = (y / n_y - ratio * x / n_x) ** 2 / spread
    found: Floats = np.nan_to_num(statistic, nan=0.0, posinf=np.inf)
    return found


def explained_by(found: SideCounts, p_value: Floats, level: float) -> Ints:
    """Return for each set the position of the part of it that explains its difference, -1 if there is none.

    A part explains a set if it is among the finds, is not explained itself, and if the set is as frequent in
    both among the transactions with that part: Fisher's test of that has a p-value above the level.
    """
    cause = np.full(len(p_value), -1, dtype=np.int64)
    lengths = found.sets.lengths
    for length in range(2, int(lengths.max(initial=0)) + 1):
        at = np.flatnonzero(lengths == length)
        rows = found.sets.take(at).codes.reshape(len(at), length)
        best = np.full(len(at), level)
        # Of long sets only single items and parts without one item are looked at.
        sizes = range(1, length) if length <= _LONGEST_LOOKED_INTO else (1, length - 1)
        for size in sizes:
            for kept in combinations(range(length), size):
                still_wanted()
                some = rows[:, kept]
                parts = Sets(np.arange(len(at) + 1) * size, some.ravel(), found.sets.items, check=False)
                part = found.sets.find(parts)
                is_own = np.flatnonzero((part >= 0) & (cause[part] < 0))
                a, of = at[is_own], part[is_own]
                p = _two_sided(found.first[a], found.first[of], found.second[a], found.second[of])
                is_better = p > best[is_own]
                best[is_own[is_better]] = p[is_better]
                cause[a[is_better]] = of[is_better]
    return cause


def _two_sided(x: Ints, n_x: Ints, y: Ints, n_y: Ints) -> Floats:
    """Return two-sided p-values of x among n_x and y among n_y having the same probability."""
    total, n = x + y, n_x + n_y
    tails = measures.fisher(x, n_x, total, n), measures.fisher(y, n_y, total, n)
    p_value: Floats = np.minimum(2 * np.minimum(*tails), 1.0)
    return p_value
