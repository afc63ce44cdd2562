"""Recommendations: what else baskets would hold, by the rules that apply to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itemix._arrays import Immutable
from itemix._checks import check_whole
from itemix.core import display
from itemix.core.encoding import is_matrix
from itemix.core.results import NamedRows
from itemix.core.sets import readonly
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.kernels.mining import rules as kernels
from itemix.mining import measures

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from itemix._typing import Codes, Ints
    from itemix.core.items import Items, Label
    from itemix.mining.ruleset import Rules


class RuleRecommendation(NamedTuple):
    """A recommendation for a basket: the items, their score, and the rule behind them.

    Attributes
    ----------
    items : tuple of str or int
        The consequents of the rule: what the basket does not hold yet.
    score : float
        The measure by which rules were ranked.
    because : tuple of str or int
        The antecedents of the rule: what the basket holds.
    rule : int
        The position of the rule among the rules.
    """

    items: tuple[Label, ...]
    score: float
    because: tuple[Label, ...]
    rule: int


# The name that was documented first.
Recommendation = RuleRecommendation


class Recommendations(Immutable):
    """Recommendations for many baskets, best first: an immutable, columnar value.

    Parameters
    ----------
    rules : Rules
        The rules that were applied.
    metric : str
        The measure that ranked them.
    positions : array of int, shape (n_baskets, n)
        The positions of the rules that apply to each basket, best first; -1 where no more apply.
    """

    __slots__ = ("_metric", "_positions", "_rules")

    def __init__(self, rules: Rules, metric: str, positions: Ints) -> None:
        self._rules = rules
        self._metric = metric
        self._positions = readonly(positions, np.int64)

    @property
    def rules(self) -> Rules:
        """The rules that were applied."""
        return self._rules

    @property
    def metric(self) -> str:
        """The measure that ranked them."""
        return self._metric

    @property
    def positions(self) -> Ints:
        """The positions of the rules that apply to each basket, best first; -1 where no more apply."""
        return self._positions

    def __len__(self) -> int:
        """Return the number of baskets."""
        return len(self.positions)

    def __getitem__(self, basket: int) -> list[RuleRecommendation]:
        """Return the recommendations for one basket, by its position."""
        row, scores = self.positions[basket], self.rules.measure(self.metric)
        return NamedRows(
            RuleRecommendation(self.rules.consequents[r], float(scores[r]), self.rules.antecedents[r], r)
            for r in row[row >= 0].tolist()
        )

    def __iter__(self) -> Iterator[list[RuleRecommendation]]:
        for basket in range(len(self)):
            yield self[basket]

    def __repr__(self) -> str:
        n = display.plural(int(np.count_nonzero(self.positions >= 0)), "recommendation")
        return f"Recommendations({n} by {self.metric} for {display.plural(len(self), 'basket')})"

    def table(self, n: int = display.ROWS_SHOWN, *, width: int | None = display.SET_WIDTH) -> display.Table:
        """Return those for the first n baskets as a table, for people; see `Itemsets.table` for the width."""
        shown = [(basket, offer) for basket in range(min(n, len(self))) for offer in self[basket]]
        rows = tuple(
            (
                str(basket),
                display.format_number(offer.score),
                display.format_rule(offer.because, offer.items, width),
            )
            for basket, offer in shown
        )
        n_more = len(self) - min(n, len(self))
        footer = f"... {display.plural(n_more, 'more basket')}" if n_more else ""
        return display.Table(repr(self), ("basket", self.metric, "because, and what"), rows, footer)

    def _repr_html_(self) -> str:
        return self.table(width=display.HTML_WIDTH).as_html()

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each recommendation.

        Columns are basket (its position), rank (from 1), consequents and antecedents (frozensets), score, and
        rule (its position in the rules).
        """
        import pandas as pd

        basket, rank = np.nonzero(self.positions >= 0)
        rule = self.positions[basket, rank]
        return pd.DataFrame(
            {
                "basket": basket,
                "rank": rank + 1,
                "consequents": self.rules.consequents.take(rule).to_frozensets(),
                "score": self.rules.measure(self.metric)[rule],
                "antecedents": self.rules.antecedents.take(rule).to_frozensets(),
                "rule": rule,
            }
        )


def recommend(
    rules: Rules, baskets: object, n: int, metric: str
) -> Recommendations | list[RuleRecommendation]:
    """Apply rules to baskets: see `Rules.recommend`.

    Raises
    ------
    InvalidInputError
        If n or the metric is not valid, or the baskets are not lists of names.
    """
    metric = measures.check_measure(metric)
    n = check_whole("n", n, 5, least=1)
    if hasattr(baskets, "columns"):
        baskets = Transactions.from_dataframe(baskets)
    elif is_matrix(baskets) and not isinstance(baskets, Transactions):
        baskets = Transactions.from_matrix(baskets, items=rules.items)
    if isinstance(baskets, Transactions):
        indptr, indices = _recoded(baskets, rules)
    else:
        if not isinstance(baskets, Iterable | int):
            raise InvalidInputError(
                f"expected baskets as Transactions or lists of names, got {type(baskets).__name__}; "
                "try [['milk', 'bread'], ['beer']]"
            )
        listed = [baskets] if isinstance(baskets, str | int) else list(baskets)
        if all(isinstance(name, str | int | np.integer) for name in listed):
            found = _apply(rules, *_encoded([listed], rules), n, metric)
            return Recommendations(rules, metric, found)[0]
        indptr, indices = _encoded(listed, rules)
    return Recommendations(rules, metric, _apply(rules, indptr, indices, n, metric))


def _apply(rules: Rules, indptr: Ints, indices: Codes, n: int, metric: str) -> Ints:
    indptr = readonly(indptr, np.int64, copy=False)
    indices = readonly(indices, np.int32, copy=False)
    scores = rules.measure(metric)
    usable = np.flatnonzero(~np.isnan(scores))
    sign = 1 if metric in measures.LOWER_IS_BETTER else -1
    order = usable[np.argsort(sign * scores[usable], kind="stable")]
    antecedents, consequents = rules.antecedents.take(order), rules.consequents.take(order)
    frequency = csr.item_counts(indptr, indices, np.empty(0, dtype=np.int64), len(rules.items))
    ranked = kernels.RankedRules(
        antecedents.offsets,
        antecedents.codes,
        consequents.offsets,
        consequents.codes,
        consequents.find(consequents),
        *kernels.rules_by_item(antecedents.offsets, antecedents.codes, frequency),
    )
    ends, taken = rules.items.taken_by_rows(indptr, indices)
    ends, taken = readonly(ends, np.int64, copy=False), readonly(taken, np.int32, copy=False)
    best = kernels.best_rules(indptr, indices, ends, taken, ranked, n)
    return np.where(best >= 0, order[best], -1) if len(order) else best


def _encoded(baskets: list[Any], rules: Rules) -> tuple[Ints, Codes]:
    """Turn names into codes; names that the rules do not know are left out."""
    code_of = _CodeOfName(rules.items)
    codes: list[int] = []
    ends = [0]
    for position, basket in enumerate(baskets):
        if isinstance(basket, str) or not isinstance(basket, Iterable):
            raise InvalidInputError(
                f"expected every basket to be a list of names, got {basket!r} at position {position}; "
                "try [['milk', 'bread'], ['beer']]"
            )
        try:
            codes += [code for code in map(code_of.__getitem__, basket) if code is not None]
        except TypeError:  # it holds lists
            raise InvalidInputError(
                f"expected names of items in every basket, got {basket!r} at position {position}; "
                "try [['milk', 'bread'], ['beer']]"
            ) from None
        ends.append(len(codes))
    return np.array(ends, dtype=np.int64), np.array(codes, dtype=np.int32)


class _CodeOfName(dict[Any, "int | None"]):
    """The code of each name, None for an unknown one; each is looked up once."""

    def __init__(self, items: Items) -> None:
        super().__init__()
        self._items = items

    def __missing__(self, name: object) -> int | None:
        code = self[name] = self._items.find(name)
        return code


def _recoded(baskets: Transactions, rules: Rules) -> tuple[Ints, Codes]:
    """Give the items of transactions the codes of the rules; one row for each transaction."""
    found = [rules.items.find(name) for name in baskets.items]
    new_code = np.array([-1 if code is None else code for code in found], dtype=np.int32)
    indptr, indices = csr.select_items(baskets.indptr, baskets.indices, new_code)
    if baskets.multiplicities is not None:
        rows = np.repeat(np.arange(baskets.n_rows), baskets.multiplicities)
        indptr, indices = csr.gather_rows(indptr, indices, rows)
    return indptr, indices
