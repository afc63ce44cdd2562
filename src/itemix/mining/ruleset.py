"""Rules: a columnar value with the two sides of each rule, their supports and their measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from itemix._checks import check_counts, check_number, check_whole
from itemix.core import display
from itemix.core.results import Tabular, named_among
from itemix.core.sets import Sets, are_several, as_position, as_positions, readonly
from itemix.core.tables import TableColumns, same_column, transactions_behind
from itemix.errors import InvalidInputError
from itemix.mining import measures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemix._typing import Array, Floats, Ints, Marks
    from itemix.core.items import Items, Label
    from itemix.core.tables import Column
    from itemix.core.transactions import Transactions
    from itemix.mining.recommend import Recommendations, RuleRecommendation


_BASE = ("antecedent support", "consequent support", "support")
_ROUNDING = 1e-12


class Rule(NamedTuple):
    """One rule with its usual measures, as iteration yields it.

    Attributes
    ----------
    antecedents : tuple of str or int
        The names on the left.
    consequents : tuple of str or int
        The names on the right.
    support : float
        The fraction of transactions that hold both sides.
    confidence : float
        The fraction of those with the antecedents that hold the consequents too.
    lift : float
        How many times more often both sides occur together than if they were independent.
    """

    antecedents: tuple[Label, ...]
    consequents: tuple[Label, ...]
    support: float
    confidence: float
    lift: float


class Rules(Tabular):
    """Association rules: an immutable, columnar value.

    Rule r says that transactions with the items ``antecedents[r]`` tend to hold ``consequents[r]`` too. Only
    the supports are stored; measures are computed when they are asked for.

    Parameters
    ----------
    antecedents : Sets
        The left side of each rule.
    consequents : Sets
        The right side of each rule, over the same items.
    antecedent_support, consequent_support, support : array of float, shape (n,)
        The supports of either side, and of both together.
    count : array of int, shape (n,), optional
        The number of transactions that hold both sides; None if the supports come from a model.
    n_transactions : int, optional
        The number of transactions behind the supports. Without it (supports of a model) there is no
        significance: chi_squared, p_value and q_value are NaN.
    p_value : array of float, shape (n,), optional
        The p-values of another test than the chi-squared one.
    q_value : array of float, shape (n,), optional
        The p-values adjusted for a larger family of tests; by default these rules are the family.
    significance : {"fisher", "chi2"}, optional
        The test that the rules have passed; None if they were not tested.
    n_tests : int, optional
        The number of rules that were tested.
    metric : str, optional
        The measure that selected the rules.
    min_threshold : float, optional
        The least value of `metric` that was asked for.

    See Also
    --------
    itemix.rules : make rules from itemsets.
    """

    _kind = "rules"
    _types: ClassVar = {
        "antecedents": "sets",
        "consequents": "sets",
        **dict.fromkeys(measures.MEASURES, "float64"),
        "count": "int64",
    }
    __slots__ = (
        "_antecedents",
        "_columns",
        "_consequents",
        "_count",
        "_metric",
        "_min_threshold",
        "_n_tests",
        "_n_transactions",
        "_p_value",
        "_q_value",
        "_significance",
    )

    def __init__(
        self,
        antecedents: Sets,
        consequents: Sets,
        antecedent_support: npt.ArrayLike,
        consequent_support: npt.ArrayLike,
        support: npt.ArrayLike,
        *,
        count: npt.ArrayLike | None = None,
        n_transactions: int | None = None,
        p_value: npt.ArrayLike | None = None,
        q_value: npt.ArrayLike | None = None,
        significance: str | None = None,
        n_tests: int | None = None,
        metric: str | None = None,
        min_threshold: float | None = None,
    ) -> None:
        self._antecedents = antecedents
        self._consequents = consequents
        given = (antecedent_support, consequent_support, support)
        self._columns = {
            name: readonly(values, np.float64) for name, values in zip(_BASE, given, strict=True)
        }
        self._count: Ints | None = None if count is None else readonly(count, np.int64)
        self._p_value = None if p_value is None else readonly(p_value, np.float64)
        self._q_value = None if q_value is None else readonly(q_value, np.float64)
        self._n_transactions = n_transactions
        self._significance = significance
        self._n_tests = n_tests
        self._metric = metric
        self._min_threshold = min_threshold
        given_columns = {"count": self.count, "p_value": self._p_value, "q_value": self._q_value}
        columns = {"consequents": consequents, **self._columns, **given_columns}
        for name, column in columns.items():
            if column is not None and len(column) != len(self):
                raise InvalidInputError(
                    f"expected {len(self):,} values in {name}, one for each rule, got {len(column):,}; "
                    "all columns must have the same length"
                )
        check_counts(self._columns["support"], self._count, n_transactions)
        if antecedents.items != consequents.items:
            raise InvalidInputError(
                "expected antecedents and consequents over the same items, got others; use one Items for both"
            )

    @property
    def antecedents(self) -> Sets:
        """The left side of each rule."""
        return self._antecedents

    @property
    def consequents(self) -> Sets:
        """The right side of each rule."""
        return self._consequents

    @property
    def count(self) -> Ints | None:
        """The number of transactions that hold both sides, shape (n,), or None from a model."""
        return self._count

    @property
    def n_transactions(self) -> int | None:
        """The number of transactions behind the supports, or None from a model."""
        return self._n_transactions

    @property
    def metric(self) -> str | None:
        """The measure that selected the rules, if it is known."""
        return self._metric

    @property
    def min_threshold(self) -> float | None:
        """The least value of `metric` that was asked for, if it is known."""
        return self._min_threshold

    @property
    def significance(self) -> str | None:
        """The test that the rules have passed, "fisher" or "chi2"; None if they were not tested."""
        return self._significance

    @property
    def n_tests(self) -> int | None:
        """The number of rules that were tested, these and those that did not pass, if it is known."""
        return self._n_tests

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self.antecedents.items

    @property
    def support(self) -> Floats:
        """The support of both sides together, shape (n,)."""
        return self._columns["support"]

    @property
    def confidence(self) -> Floats:
        """The fraction of the transactions with the antecedents that hold the consequents too, shape (n,)."""
        return self.measure("confidence")

    @property
    def lift(self) -> Floats:
        """How many times more often both sides occur together than if they were independent, shape (n,)."""
        return self.measure("lift")

    def measure(self, name: str) -> Floats:
        """Return a measure of each rule, shape (n,).

        Parameters
        ----------
        name : str
            Any measure of the guide to rules, which has their formulas, such as "confidence", "lift",
            "leverage" or "conviction". Three depend on the number of transactions:

            - "chi_squared": Pearson's statistic of the 2 x 2 table of both sides, without correction; its
              p-value is rough where fewer than five transactions are expected in a cell;
            - "p_value": the probability of at least that statistic if the sides were independent, in either
              direction (see lift for which one), or the p-value of the test that the rules have passed;
            - "q_value": the p-value adjusted by Benjamini and Hochberg for all rules that `itemix.rules`
              returned together, or as was asked for. Rules that were filtered or sorted afterwards keep their
              q-values.

        Raises
        ------
        InvalidInputError
            If there is no such measure.
        """
        name = measures.check_measure(name)
        if name in self._columns:
            return self._columns[name]
        kept = {"p_value": self._p_value, "q_value": self._q_value}.get(name)
        if kept is not None:
            return kept
        both, a, c = (self._columns[key] for key in ("support", "antecedent support", "consequent support"))
        if name == "q_value":
            values = measures.q_values(self.measure("p_value"))
        else:
            values = measures.compute(name, both, a, c, self.n_transactions)
        values.setflags(write=False)
        if name == "q_value":
            self._q_value = values
        return values

    def __len__(self) -> int:
        return len(self.antecedents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rules):
            return NotImplemented
        mine, theirs = self._as_columns().values, other._as_columns().values
        return (
            self.n_transactions == other.n_transactions
            and mine.keys() == theirs.keys()
            and all(same_column(mine[name], theirs[name]) for name in mine)
        )

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, position: int) -> Rule: ...
    @overload
    def __getitem__(self, position: slice | npt.ArrayLike) -> Self: ...
    def __getitem__(self, position: Any) -> Rule | Self:
        """Return one rule, or those of a slice, of a mask or at some positions."""
        if are_several(position):
            return self._chosen(position)
        return next(iter(self.take([as_position(position, len(self))])))

    def __iter__(self) -> Iterator[Rule]:
        columns = (self.support, self.confidence, self.lift)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        for sides, row in zip(zip(self.antecedents, self.consequents, strict=True), numbers, strict=True):
            yield Rule(*sides, *row)

    def take(self, positions: npt.ArrayLike) -> Self:
        """Return the rules at some positions (or where a mask is true), in that order."""
        chosen = as_positions(positions, len(self))
        return type(self)(
            self.antecedents.take(chosen),
            self.consequents.take(chosen),
            *(self._columns[name][chosen] for name in _BASE),
            count=None if self.count is None else self.count[chosen],
            n_transactions=self.n_transactions,
            p_value=None if self._p_value is None else self._p_value[chosen],
            q_value=self.measure("q_value")[chosen],
            significance=self.significance,
            n_tests=self.n_tests,
            metric=self.metric,
            min_threshold=self.min_threshold,
        )

    def tested(
        self, passed: Ints, p_value: Floats, q_value: Floats, *, significance: str, n_tests: int
    ) -> Self:
        """Return the rules that have passed a test, with the p-values of all that it gave.

        Parameters
        ----------
        passed : array of int
            Their positions.
        p_value, q_value : array of float, shape (n,)
            The p-values of all rules here, and adjusted.
        significance : {"fisher", "chi2"}
            The test.
        n_tests : int
            The number of rules that were tested.
        """
        return type(self)(
            self.antecedents.take(passed),
            self.consequents.take(passed),
            *(self._columns[name][passed] for name in _BASE),
            count=None if self.count is None else self.count[passed],
            n_transactions=self.n_transactions,
            p_value=p_value[passed],
            q_value=q_value[passed],
            significance=significance,
            n_tests=n_tests,
            metric=self.metric,
            min_threshold=self.min_threshold,
        )

    def count_of(self, name: str) -> Ints:
        """Return one of the three supports as a number of transactions, shape (n,)."""
        counts: Ints = np.rint(self._columns[name] * (self.n_transactions or 0)).astype(np.int64)
        return counts

    def filter(
        self,
        *,
        antecedents: Iterable[Label] | Label | None = None,
        consequents: Iterable[Label] | Label | None = None,
        include: Iterable[Label] | Label | None = None,
        exclude: Iterable[Label] | Label | None = None,
        max_antecedent_len: int | None = None,
        max_consequent_len: int | None = None,
        **bounds: float,
    ) -> Self:
        """Return the rules that meet all conditions, in the same order.

        Parameters
        ----------
        antecedents, consequents : names, optional
            The only items that may stand on that side.
        include : names, optional
            Items that must all be in the rule, on either side.
        exclude : names, optional
            Items that must not be in the rule.
        max_antecedent_len, max_consequent_len : int, optional
            The most items on that side.
        **bounds : float
            Inclusive bounds of any measure: ``min_lift=1.2``, ``max_q_value=0.05``.
        """
        kept = np.ones(len(self), dtype=bool)
        for side, sets, only, longest in (
            ("antecedent", self.antecedents, antecedents, max_antecedent_len),
            ("consequent", self.consequents, consequents, max_consequent_len),
        ):
            if only is not None:
                kept &= sets.count_members(only) == sets.lengths
            if longest is not None:
                kept &= sets.lengths <= check_whole(f"max_{side}_len", longest, 2)
        if include is not None:
            held = self.antecedents.count_members(include) + self.consequents.count_members(include)
            kept &= held == len(self.items.codes(include))
        if exclude is not None:
            kept &= self.antecedents.count_members(exclude) + self.consequents.count_members(exclude) == 0
        for argument, bound in bounds.items():
            kept &= self._within(argument, bound)
        return self.take(kept)

    def _within(self, argument: str, bound: float) -> Marks:
        names = {name.replace(" ", "_"): name for name in measures.MEASURES}
        direction, _, name = argument.partition("_")
        if direction not in ("min", "max") or name not in names:
            raise InvalidInputError(
                f"expected a condition like min_lift or max_q_value, got {argument!r}; "
                f"the measures are {', '.join(names)}"
            )
        values = self.measure(names[name])
        bound = check_number(argument, bound, 1.2)
        slack = _ROUNDING * max(1.0, abs(bound))
        return values >= bound - slack if direction == "min" else values <= bound + slack

    def sort_by(self, metric: str = "lift", *, ascending: bool | None = None) -> Self:
        """Return the rules sorted by a measure, best first; ties keep their order, NaN comes last.

        Parameters
        ----------
        metric : str
            A measure, see `measure`.
        ascending : bool, optional
            The direction; by default the best come first: the smallest p-values, the largest of all else.
        """
        return self.take(self._order(metric, ascending))

    def top(self, n: int = 10, by: str = "lift") -> Self:
        """Return the n best rules by a measure, best first."""
        return self.take(self._order(by, None)[: check_whole("n", n, 10, least=0)])

    def _order(self, metric: str, ascending: bool | None) -> Ints:
        values = self.measure(metric)
        if ascending is None:
            ascending = metric in measures.LOWER_IS_BETTER
        return np.argsort(values if ascending else -values, kind="stable")

    def recommend(
        self,
        baskets: Transactions | Iterable[Iterable[Label]] | Iterable[Label] | Label,
        n: int = 5,
        metric: str = "confidence",
    ) -> Recommendations | list[RuleRecommendation]:
        """Apply the rules to baskets, and return what else these would hold.

        A rule applies to a basket that holds all its antecedents and none of its consequents. Among the rules
        that apply, the best one for each distinct consequent counts.

        Parameters
        ----------
        baskets : Transactions, a data frame, a 0/1 matrix, lists of names, or one list of names
            The baskets; items that the rules do not know are ignored. The columns of a matrix are the rules'
            `items`.
        n : int, default 5
            The most recommendations for each basket.
        metric : str
            The measure that ranks the rules; ties keep the order of the rules.

        Returns
        -------
        Recommendations
            Those for every basket in order, or a plain list of RuleRecommendation for a single basket.
        """
        from itemix.mining.recommend import recommend

        return recommend(self, baskets, n, metric)

    def _shown(self, n: int, width: int | None) -> dict[str, list[str]]:
        columns = {name: display.format_column(self.measure(name)[:n]) for name in usual_measures(self)}
        if self.count is not None:
            columns["count"] = display.format_column(self.count[:n])
        sides = zip(self.antecedents.part(0, n), self.consequents.part(0, n), strict=True)
        return {**columns, "rule": [display.format_rule(*both, width=width) for both in sides]}

    def _sides(self) -> tuple[tuple[Sets, ...], tuple[str, ...]]:
        return (self.antecedents, self.consequents), ("", "-> ")

    def _title(self) -> str:
        least, n = self.min_threshold, self.n_transactions
        threshold = "" if least is None else f"{self.metric} >= {least:g}"
        source = "" if n is None else f"of {display.plural(n, 'transaction')}"
        tests = f"of {self.n_tests:,} tested" if self.n_tests is not None else ""
        return display.joined([f"Rules: {display.plural(len(self), 'rule')}", tests, threshold, source])

    def _column(self, name: str) -> Column:
        others = {"antecedents": self.antecedents, "consequents": self.consequents, "count": self.count}
        known = {measure.replace(" ", "_"): measure for measure in measures.MEASURES}
        found = named_among(name, [*known, *(side for side, values in others.items() if values is not None)])
        values = self.measure(known[found]) if found in known else others[found]
        assert values is not None  # noqa: S101 - named_among has refused it
        return values

    def _as_columns(self) -> TableColumns:
        values: dict[str, Sets | Array] = {
            "antecedents": self.antecedents,
            "consequents": self.consequents,
            **{name: self.measure(name) for name in measures.MEASURES},
        }
        if self.count is not None:
            values["count"] = self.count
        facts = {
            "n_transactions": self.n_transactions,
            "significance": self.significance,
            "n_tests": self.n_tests,
            "metric": self.metric,
            "min_threshold": self.min_threshold,
        }
        return TableColumns(self._kind, self.items, values, facts, frozenset((*_BASE, "confidence")))

    @classmethod
    def _from_columns(cls, columns: TableColumns) -> Self:
        is_plain = "n_transactions" not in columns.facts
        facts = {"n_transactions": transactions_behind(columns)} | columns.facts
        return cls(
            columns.sets("antecedents"),
            columns.sets("consequents"),
            *(columns.numbers(name) for name in _BASE),
            count=columns.numbers("count") if "count" in columns.values else None,
            p_value=columns.numbers("p_value") if columns.facts.get("significance") or is_plain else None,
            q_value=columns.numbers("q_value"),
            **facts,
        )


def usual_measures(rules: Rules) -> tuple[str, ...]:
    """Return the names of the measures that tables show: support alone if nothing else is known."""
    is_known = len(rules) == 0 or not np.isnan(rules.confidence).all()
    return ("support", "confidence", "lift") if is_known else ("support",)
