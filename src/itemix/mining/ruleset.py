"""Rules: the columnar result of splitting itemsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from itemix._checks import check_number, check_whole
from itemix.core.sets import as_position
from itemix.errors import InvalidInputError
from itemix.mining import measures
from itemix.mining.rule_columns import RuleColumns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemix.core.items import Label
    from itemix.core.transactions import Transactions
    from itemix.mining.recommend import Recommendation, Recommendations

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


class Rules(RuleColumns):
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
        The number of transactions behind the supports. Without it (supports of a model), there is no sample
        that could be significant: chi_squared, p_value and q_value are NaN.
    q_value : array of float, shape (n,), optional
        The p-values adjusted for a larger family of tests than these rules; by default these are the family.
    metric : str, optional
        The measure that selected the rules.
    min_threshold : float, optional
        The least value of it that was asked for.

    See Also
    --------
    itemix.rules : make rules from itemsets.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, position: int) -> Rule: ...
    @overload
    def __getitem__(self, position: slice) -> Rules: ...
    def __getitem__(self, position: int | slice) -> Rule | Rules:
        if isinstance(position, slice):
            return self.take(np.arange(len(self))[position])
        return next(iter(self.take([as_position(position, len(self))])))

    def __iter__(self) -> Iterator[Rule]:
        columns = (self.support, self.confidence, self.lift)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        for sides, row in zip(zip(self.antecedents, self.consequents, strict=True), numbers, strict=True):
            yield Rule(*sides, *row)

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
    ) -> Rules:
        """Return the rules that meet all conditions, in the same order.

        Parameters
        ----------
        antecedents, consequents : names, optional
            The only items that may stand on that side.
        include : names, optional
            Items that must all be in the rule, on either side.
        exclude : names, optional
            Items none of which may be in the rule.
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

    def _within(self, argument: str, bound: float) -> npt.NDArray[np.bool_]:
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

    def sort_by(self, metric: str = "lift", *, ascending: bool | None = None) -> Rules:
        """Return the rules sorted by a measure, best first; ties keep their order, NaN comes last.

        Parameters
        ----------
        metric : str
            A measure, see `measure`.
        ascending : bool, optional
            The direction; by default the best come first: the smallest p-values, the largest of all else.
        """
        return self.take(self._order(metric, ascending))

    def top(self, n: int = 10, by: str = "lift") -> Rules:
        """Return the n best rules by a measure, best first."""
        return self.take(self._order(by, None)[: check_whole("n", n, 10, least=0)])

    def _order(self, metric: str, ascending: bool | None) -> npt.NDArray[np.int64]:
        values = self.measure(metric)
        if ascending is None:
            ascending = metric in measures.LOWER_IS_BETTER
        return np.argsort(values if ascending else -values, kind="stable")

    def recommend(
        self,
        baskets: Transactions | Iterable[Iterable[Label]] | Iterable[Label] | Label,
        n: int = 5,
        metric: str = "confidence",
    ) -> Recommendations | list[Recommendation]:
        """Apply the rules to baskets, to say what else these would hold.

        A rule applies to a basket that holds all its antecedents and none of its consequents. Among the rules
        that apply, the best one for each distinct consequent counts.

        Parameters
        ----------
        baskets : Transactions, a data frame, a 0/1 matrix, lists of names, or one list of names
            The baskets; items that the rules do not know are passed over. The columns of a matrix are the
            rules' `items`.
        n : int, default 5
            The most recommendations for each basket.
        metric : str
            The measure that ranks the rules; ties keep the order of the rules.

        Returns
        -------
        Recommendations
            Those of every basket in order, or a plain list of Recommendation for a single basket.
        """
        from itemix.mining.recommend import recommend

        return recommend(self, baskets, n, metric)
