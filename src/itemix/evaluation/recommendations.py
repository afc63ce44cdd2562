"""`evaluate_recommendations`: how often recommenders find an item that was left out of a basket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itemix._arrays import Immutable
from itemix._checks import as_generator, check_whole
from itemix._runtime import still_wanted
from itemix.core import display
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError
from itemix.fitted import FittedModel
from itemix.inference.affinity import Cases, choose_ridge, frequent_items, regression
from itemix.mining.query import best_columns
from itemix.mining.recommend import Recommendations
from itemix.mining.ruleset import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from scipy import sparse

    from itemix._typing import Codes, Floats, ModelLike, TransactionsLike
    from itemix.core.items import Items

    Recommender = Callable[[Transactions, int], Codes]

# The smallest baskets of each group of sizes; what was left out counts.
_GROUPS = (2, 3, 5, 10, 20)
_CELLS_AT_A_TIME = 4_000_000


class RankingScore(NamedTuple):
    """How well a recommender finds what was left out of baskets of some size.

    Attributes
    ----------
    recommender : str
        Whose recommendations these are: model, rules, ease or popularity.
    size : str
        How many items the baskets had, as "3-4"; "all" for all baskets.
    n_baskets : int
        The number of baskets.
    hit_rate : float
        How often what was left out is among the k recommended items.
    hit_rate_error : float
        Its standard error.
    ndcg : float
        The mean of 1 / log2(1 + rank) of what was left out, 0 if it is not recommended.
    ndcg_error : float
        Its standard error.
    coverage : float
        The share of all items that were recommended at least once.
    """

    recommender: str
    size: str
    n_baskets: int
    hit_rate: float
    hit_rate_error: float
    ndcg: float
    ndcg_error: float
    coverage: float


@dataclass(frozen=True)
class RecommendationEvaluation(Immutable):
    """How well recommenders find items that were left out of test baskets.

    Parameters
    ----------
    k : int
        How many items were recommended.
    n_baskets : int
        The number of test baskets, those with two items or more.
    n_left_out : int
        How many items were left out, one at a time.
    rows : tuple of RankingScore
        The figures of each recommender, over all baskets and by their size.
    """

    k: int
    n_baskets: int
    n_left_out: int
    rows: tuple[RankingScore, ...]

    def score(self, recommender: str = "model") -> RankingScore:
        """Return the figures of a recommender over all baskets.

        Raises
        ------
        InvalidInputError
            If it was not evaluated.
        """
        overall = {row.recommender: row for row in self.rows if row.size == "all"}
        if recommender not in overall:
            raise InvalidInputError(
                f"expected one of {', '.join(overall)}, got {recommender!r}; pass train= for the baselines"
            )
        return overall[recommender]

    @property
    def hit_rate(self) -> float:
        """How often the model, or the rules, recommend what was left out."""
        return self.rows[0].hit_rate

    @property
    def ndcg(self) -> float:
        """The mean gain of the model, or the rules; see `RankingScore`."""
        return self.rows[0].ndcg

    def table(self) -> display.Table:
        """Return the figures as a table of text, for people."""
        title = display.joined(
            [
                f"Recommendations: {display.plural(self.n_left_out, 'item')} left out",
                f"of {display.plural(self.n_baskets, 'basket')}",
                f"{self.k} recommended",
            ]
        )
        headers = ("baskets", "hit rate", "error", "ndcg", "error", "coverage", "size", "recommender")
        rows = tuple(
            (
                display.format_count(row.n_baskets),
                *(f"{value:.4f}" for value in (row.hit_rate, row.hit_rate_error, row.ndcg, row.ndcg_error)),
                f"{100 * row.coverage:.1f}%",
                row.size,
                row.recommender,
            )
            for row in self.rows
        )
        return display.Table(title, headers, rows)

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, ready for JSON; ``rows`` is a list of dictionaries."""
        return {
            "k": self.k,
            "n_baskets": self.n_baskets,
            "n_left_out": self.n_left_out,
            "rows": [row._asdict() for row in self.rows],
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return the figures as a data frame with a row for each recommender and size of baskets."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(RankingScore._fields))


def evaluate_recommendations(
    model: ModelLike | Rules,
    test: TransactionsLike,
    *,
    k: int = 10,
    train: TransactionsLike | None = None,
    most_left_out: int = 5,
    random_state: int | np.random.Generator | None = 0,
) -> RecommendationEvaluation:
    """Evaluate how often recommendations for unseen baskets name an item that was left out of them.

    One item is left out of a basket, and the rest is what the recommender sees. All items of a basket are
    left out in turn, or some at random; the basket counts as their mean. Baskets of one item are passed
    over. Items are matched by name: a left-out item that the recommender does not know is never found.

    Parameters
    ----------
    model : fitted estimator, FittedModel, Mixture or other model, or Rules
        The recommender. Models take baskets as complete.
    test : Transactions, data frame, matrix or list of lists
        Baskets that it was not fitted to.
    k : int
        How many items to recommend.
    train : Transactions, data frame, matrix or list of lists, optional
        The data that the model was fitted to. Two baselines are learned from it and evaluated, too:
        *popularity* recommends the most frequent items, *ease* is a linear regression of each item on all
        others in closed form (Steck, WWW 2019). The strength of its ridge is chosen on a fifth of the data.
        Of more than 5,000 items it only knows the most frequent ones, since it needs a matrix of their number
        squared.
    most_left_out : int
        How many items of a basket are left out at most.
    random_state : int, Generator or None
        The seed of what is left out of large baskets.

    Returns
    -------
    RecommendationEvaluation
        Hit rate, NDCG and coverage, over all baskets and by their size, with standard errors.

    Raises
    ------
    InvalidInputError
        If no test basket has two items, or none has an item that is known.

    Examples
    --------
    >>> import itemix
    >>> model = itemix.Mixture([0.5, 0.5], [[0.8, 0.8, 0.1], [0.1, 0.1, 0.8]], ["bread", "milk", "tea"])
    >>> itemix.evaluate_recommendations(model, [["bread", "milk"], ["tea", "milk"]], k=1).hit_rate
    0.5
    """
    k = check_whole("k", k, 10, least=1)
    most = check_whole("most_left_out", most_left_out, 5, least=1)
    rng = as_generator(random_state)
    name, items, recommender = _recommender(model)
    baskets = as_transactions(test)
    cases = Cases.of(baskets.to_scipy(), rng, most)
    if len(cases.left_out) == 0:
        raise InvalidInputError(
            f"expected test baskets of two items or more, got none of {len(baskets):,}; give others"
        )
    shown, left_out = _translated(cases, baskets.items, items)
    recommenders = {name: recommender}
    if train is not None:
        known = as_transactions(train).align_items(items, drop_unknown=True)
        recommenders |= {"ease": _ease(known, rng), "popularity": _popular(known)}
    rows: list[RankingScore] = []
    for label, recommend in recommenders.items():
        found = _in_parts(recommend, shown, k)
        rows += _scores(label, found, left_out, cases, len(items))
    return RecommendationEvaluation(k, len(np.unique(cases.basket)), len(left_out), tuple(rows))


def _recommender(source: ModelLike | Rules) -> tuple[str, Items, Recommender]:
    """Return what to call a recommender, its items, and a function from baskets and k to codes."""
    if isinstance(source, Rules):
        return "rules", source.items, lambda baskets, k: _by_rules(source, baskets, k)
    fitted = FittedModel.of(source)
    return "model", fitted.model.items, lambda baskets, k: fitted.recommend_many(baskets, k)[0]


def _by_rules(rules: Rules, baskets: Transactions, k: int) -> Codes:
    """Return the items of the best rules for each basket, each item once."""
    found = rules.recommend(baskets, k)
    assert isinstance(found, Recommendations)  # noqa: S101 - of transactions
    out = np.full((len(baskets), k), -1, dtype=np.int32)
    offsets, codes = rules.consequents.offsets, rules.consequents.codes
    for b, row in enumerate(found.positions):
        own = [code for rule in row[row >= 0] for code in codes[offsets[rule] : offsets[rule + 1]].tolist()]
        few = list(dict.fromkeys(own))[:k]
        out[b, : len(few)] = few
    return out


def _popular(train: Transactions) -> Recommender:
    counts = train.item_counts().astype(np.float64)
    return lambda baskets, k: _best(np.tile(counts, (len(baskets), 1)), baskets, k)


def _ease(train: Transactions, rng: np.random.Generator) -> Recommender:
    """Return the regression of each item on all others as a recommender."""
    data = train.to_scipy().astype(np.float64)
    items = frequent_items(data)
    if len(items) == 0:  # where no item occurs twice there is nothing to regress on
        return lambda baskets, k: np.full((len(baskets), min(k, train.n_items)), -1, dtype=np.int32)
    own = data[:, items]
    order = rng.permutation(own.shape[0])
    n_held = min(len(order) // 5, 5_000)
    cases = Cases.of(own[order[:n_held]], rng, 2)
    weights = regression(own, choose_ridge(own[order[n_held:]], cases, plain=True))

    def recommend(baskets: Transactions, k: int) -> Codes:
        scores = np.full((len(baskets), train.n_items), -np.inf)
        scores[:, items] = baskets.to_scipy()[:, items] @ weights
        return _best(scores, baskets, k)

    return recommend


def _best(scores: Floats, baskets: Transactions, k: int) -> Codes:
    """Return the codes of the best scores of each basket without what it has, -1 where there are none."""
    ends, taken = baskets.items.taken_by_rows(baskets.indptr, baskets.indices)
    scores[np.repeat(np.arange(baskets.n_rows), np.diff(ends)), taken] = -np.inf
    top = best_columns(scores, min(k, scores.shape[1]))
    chosen = np.isfinite(np.take_along_axis(scores, top, axis=1))
    return np.where(chosen, top, -1).astype(np.int32)


def _translated(cases: Cases, own: Items, items: Items) -> tuple[Transactions, Codes]:
    """Return the baskets and what was left out in the codes of other items, -1 for unknown ones."""
    found = [items.find(name) for name in own]
    code = np.array([-1 if one is None else one for one in found], dtype=np.int32)
    if not (code >= 0).any():
        raise InvalidInputError(
            f"expected test baskets with some of {len(items):,} known items, got none of them, such as "
            f"{display.format_name(own[0])}; give both the same item names"
        )
    return _recoded(cases.baskets, code, items), code[cases.left_out]


def _recoded(baskets: sparse.csr_array, code: Codes, items: Items) -> Transactions:
    rows = np.repeat(np.arange(baskets.shape[0]), np.diff(baskets.indptr))
    new = code[baskets.indices]
    kept = new >= 0
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=baskets.shape[0]))])
    return Transactions(indptr, new[kept], items)


def _in_parts(recommend: Recommender, baskets: Transactions, k: int) -> Codes:
    """Return the recommendations for all baskets, shape (n, k), -1 where there are fewer."""
    n = len(baskets)
    out = np.full((n, k), -1, dtype=np.int32)
    step = max(1, _CELLS_AT_A_TIME // baskets.n_items)
    for first in range(0, n, step):
        still_wanted()
        found = recommend(baskets[first : first + step], k)
        out[first : first + step, : found.shape[1]] = found
    return out


def _scores(label: str, found: Codes, left_out: Codes, cases: Cases, n_items: int) -> list[RankingScore]:
    """Return the figures over all baskets, and of each group of sizes."""
    hit = (found == left_out[:, None]) & (left_out >= 0)[:, None]
    gains = hit @ (1 / np.log2(np.arange(found.shape[1]) + 2))
    baskets, position = np.unique(cases.basket, return_inverse=True)
    n = np.bincount(position)
    hits, ndcg = (np.bincount(position, values) / n for values in (hit.any(axis=1), gains))
    sizes = np.empty(len(baskets), dtype=np.int64)
    sizes[position] = np.diff(cases.baskets.indptr) + 1
    group_of = np.searchsorted(_GROUPS, sizes, side="right") - 1
    groups = [("all", np.ones(len(baskets), dtype=np.bool_))]
    groups += [(_group_name(group), group_of == group) for group in np.unique(group_of).tolist()]
    rows = []
    for name, inside in groups:
        own = found[inside[position]]
        rows.append(
            RankingScore(
                recommender=label,
                size=name,
                n_baskets=int(inside.sum()),
                hit_rate=float(hits[inside].mean()),
                hit_rate_error=_error(hits[inside]),
                ndcg=float(ndcg[inside].mean()),
                ndcg_error=_error(ndcg[inside]),
                coverage=len(np.unique(own[own >= 0])) / n_items,
            )
        )
    return rows


def _error(values: Floats) -> float:
    """Return the standard error of a mean; 0 of a single value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _group_name(group: int) -> str:
    first = _GROUPS[group]
    if group + 1 == len(_GROUPS):
        return f"{first}+"
    last = _GROUPS[group + 1] - 1
    return str(first) if first == last else f"{first}-{last}"
