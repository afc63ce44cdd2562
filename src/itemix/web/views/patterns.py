"""Views of patterns: itemsets, rules, pairs of items that depend on each other, and surprises in new data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, get_args

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from itemix._arrays import ranked_part
from itemix.core.tables import TableColumns, write
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining import comparison, query
from itemix.mining.mine import mine
from itemix.mining.rules import rules as make_rules
from itemix.web.questions import MAX_ROWS, Answer, ItemName, ItemNames, Probability, Question, Text
from itemix.web.served import Found, lifts

if TYPE_CHECKING:
    from pathlib import Path

    from itemix.core.items import Items, Label
    from itemix.core.itemsets import Itemsets
    from itemix.core.sets import Sets
    from itemix.core.transactions import Transactions
    from itemix.mining.ruleset import Rules
    from itemix.mining.surprise import Surprises
    from itemix.web.served import Family, Served


def as_list(values: npt.NDArray[Any]) -> list[Any]:
    """Return numbers as a list, with None for NaN and infinity, which JSON does not have."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return [x if finite else None for x, finite in zip(values.tolist(), np.isfinite(values), strict=True)]
    listed: list[Any] = values.tolist()
    return listed


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn columns of the same length into rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


Target = Literal["all", "closed", "maximal"]
Sort = Literal["support", "length", "lift"]
Order = Literal["descending", "ascending"]
_BINS = 24
_LONGEST = 1_000


class ItemsetsChosen(Question):
    """Which itemsets, and in which order."""

    min_support: float = Field(gt=0, le=1, description="The least probability of an itemset, as a fraction.")
    target: Target = Field(
        default="all",
        description="All itemsets; those without a superset of the same probability; those without a "
        "superset that reaches the threshold.",
    )
    min_len: int = Field(default=1, ge=1, le=_LONGEST, description="The fewest items of a set.")
    max_len: int | None = Field(default=None, ge=1, le=_LONGEST, description="The most items of a set.")
    include: ItemNames = Field(default=(), description="Items that every set holds.")
    exclude: ItemNames = Field(default=(), description="Items that no set holds.")
    search: Text = Field(default="", description="Words; each must be part of the name of an item.")
    sort: Sort = Field(default="support", description="What to sort by.")
    order: Order = Field(default="descending", description="The direction.")
    level: float = Field(
        default=0.9, ge=0.5, le=0.999, description="The probability inside the credible intervals."
    )


class ItemsetsQuestion(ItemsetsChosen):
    """A page of itemsets."""

    offset: int = Field(default=0, ge=0, le=10**9, description="How many rows to skip.")
    limit: int = Field(default=50, ge=0, le=MAX_ROWS, description="The most rows to return.")


class ItemsetRow(Answer):
    """One itemset."""

    items: list[ItemName]
    support: Probability
    lift: Annotated[float | None, Field(description="The support over that of independent items.")]
    lower: NotRequired[
        Annotated[
            Probability, Field(description="The lower end of the credible interval, of models that have one.")
        ]
    ]
    upper: NotRequired[Annotated[Probability, Field(description="Its upper end.")]]
    exact: NotRequired[
        Annotated[Probability, Field(description="The support in the data, if there is data.")]
    ]


class LengthCount(Answer):
    """How many sets have a length."""

    length: int
    count: int


SupportCount = TypedDict("SupportCount", {"from": float, "to": float, "count": int})


class ItemsetsAnswer(Answer):
    """Itemsets of at least a probability."""

    min_support: Probability
    n_itemsets: int
    lengths: list[LengthCount]
    supports: list[SupportCount]
    offset: int
    itemsets: list[ItemsetRow]


def itemsets(served: Served, asked: ItemsetsQuestion) -> dict[str, Any]:
    """Return the number of itemsets, their distribution over support and length, and some of them."""
    found = choose_itemsets(served, asked)
    page = page_of(found, asked, asked.offset, asked.offset + asked.limit)
    family, positions = found
    return {
        "min_support": asked.min_support,
        "n_itemsets": len(positions),
        "lengths": _by_length(family.lengths[positions]),
        "supports": _by_support(family.itemsets.support[positions], asked.min_support),
        "offset": asked.offset,
        "itemsets": _itemset_rows(served, family.itemsets.take(page), asked.level),
    }


def choose_itemsets(served: Served, asked: ItemsetsChosen) -> Found:
    """Return the itemsets that meet all conditions of a question."""
    found = served.searches.at(asked.min_support, asked.target)
    family, positions = found
    sets = family.itemsets.sets
    kept = np.ones(len(sets), dtype=bool)
    if asked.min_len > 1:
        kept &= family.lengths >= asked.min_len
    if asked.max_len is not None:
        kept &= family.lengths <= asked.max_len
    if asked.include:
        kept &= sets.count_members(asked.include) == len(sets.items.codes(asked.include))
    if asked.exclude:
        kept &= sets.count_members(asked.exclude) == 0
    for word in asked.search.split():
        kept &= sets.count_members(matching_items(sets.items, word)) > 0
    return Found(family, positions[kept[positions]])


def matching_items(items: Items, word: str) -> list[Label]:
    """Return the items whose names have a word in them, whatever the case."""
    wanted = word.casefold()
    return [name for name in items if wanted in str(name).casefold()]


def page_of(found: Found, asked: ItemsetsChosen, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the positions in the family of the sets from start up to stop in the order asked for."""
    family, positions = found
    keys = _column(family, asked.sort)[positions]
    return positions[ranked_part(keys, start, stop, descending=asked.order == "descending")]


def _column(family: Family, name: str) -> npt.NDArray[Any]:
    if name == "support":
        return family.itemsets.support
    return family.lengths if name == "length" else family.lift


def _itemset_rows(served: Served, chosen: Itemsets, level: float) -> list[dict[str, Any]]:
    columns: dict[str, list[Any]] = {
        "items": [list(names) for names in chosen.sets],
        "support": chosen.support.tolist(),
        "lift": as_list(lifts(chosen, served.model.item_probabilities)),
    }
    ends = served.intervals(chosen, level) if len(chosen) else None
    if ends is not None:
        columns |= {"lower": ends[0].tolist(), "upper": ends[1].tolist()}
    exact = served.exact_support(chosen.sets)
    if exact is not None:
        columns["exact"] = exact.tolist()
    return rows_of(columns)


def _by_length(lengths: npt.NDArray[np.int64]) -> list[dict[str, int]]:
    counts = np.bincount(lengths)
    return [{"length": length, "count": int(n)} for length, n in enumerate(counts) if length]


def _by_support(support: npt.NDArray[np.float64], lowest: float) -> list[dict[str, float]]:
    """Count supports in bins of equal width on a logarithmic scale, from the threshold to 1."""
    if lowest >= 1:
        return [{"from": 1.0, "to": 1.0, "count": len(support)}]
    width = -np.log(lowest) / _BINS
    bins = ((np.log(support) - np.log(lowest)) / width).astype(np.int64)
    counts = np.bincount(np.clip(bins, 0, _BINS - 1), minlength=_BINS)
    edges = lowest * np.exp(width * np.arange(_BINS + 1))
    edges[-1] = 1.0
    columns = edges[:-1].tolist(), edges[1:].tolist(), counts.tolist()
    return [{"from": low, "to": high, "count": n} for low, high, n in zip(*columns, strict=True)]


Metric = Literal[
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
    "cosine",
    "odds_ratio",
    "phi",
    "mutual_information",
    "difference_of_confidence",
]
"""The measures that choose the rules of a model; others need a number of transactions."""

Measure = Literal[Metric, "imbalance_ratio"]
"""The measures that sort the rules of a model; of the last one less is better."""

_MAX_POINTS = 2_000


class RulesChosen(Question):
    """Which rules, and in which order."""

    min_support: float = Field(gt=0, le=1, description="The least probability of an itemset, as a fraction.")
    metric: Metric = Field(default="confidence", description="The measure that selects rules.")
    min_threshold: float = Field(default=0.2, ge=-1e9, le=1e9, description="The least value of it.")
    left: ItemNames = Field(default=(), description="Items that the antecedents hold.")
    right: ItemNames = Field(default=(), description="Items that the consequents hold.")
    max_left: int | None = Field(default=None, ge=1, le=100, description="The most items of the antecedents.")
    max_right: int | None = Field(default=1, ge=1, le=100, description="The most items of the consequents.")
    sort: Measure = Field(default="lift", description="What to sort by.")
    order: Order = Field(default="descending", description="The direction.")


class RulesQuestion(RulesChosen):
    """A page of rules, and some as points."""

    offset: int = Field(default=0, ge=0, le=10**9, description="How many rows to skip.")
    limit: int = Field(default=50, ge=0, le=MAX_ROWS, description="The most rows to return.")
    points: int = Field(
        default=0, ge=0, le=_MAX_POINTS, description="How many of the first rules to return as points, too."
    )


class RuleRow(Answer):
    """One rule, with all measures."""

    antecedents: list[ItemName]
    consequents: list[ItemName]
    antecedent_support: float | None
    consequent_support: float | None
    support: float | None
    confidence: float | None
    lift: float | None
    representativity: float | None
    leverage: float | None
    conviction: Annotated[float | None, Field(description="None is infinite.")]
    zhangs_metric: float | None
    jaccard: float | None
    certainty: float | None
    kulczynski: float | None
    cosine: float | None
    odds_ratio: Annotated[float | None, Field(description="None is infinite.")]
    imbalance_ratio: float | None
    phi: float | None
    mutual_information: Annotated[float | None, Field(description="In bits.")]
    difference_of_confidence: float | None


class RulePoints(Answer):
    """Rules as points to draw."""

    antecedents: list[list[ItemName]]
    consequents: list[list[ItemName]]
    support: list[float]
    confidence: list[float]
    lift: list[float | None]


class RulesAnswer(Answer):
    """Association rules."""

    min_support: Probability
    n_rules: int
    offset: int
    rules: list[RuleRow]
    points: RulePoints


def rules(served: Served, asked: RulesQuestion) -> dict[str, Any]:
    """Return the number of rules, some of them with all measures, and the first ones as named points."""
    found, positions = choose_rules(served, asked)
    stop = asked.offset + asked.limit
    page = ranked(found, positions, asked, asked.offset, stop)
    points = ranked(found, positions, asked, 0, asked.points)
    return {
        "min_support": asked.min_support,
        "n_rules": len(positions),
        "offset": asked.offset,
        "rules": _rule_rows(found.take(page)),
        "points": _points(found.take(points)),
    }


def choose_rules(served: Served, asked: RulesChosen) -> tuple[Rules, npt.NDArray[np.int64]]:
    """Return rules, and the positions of those that meet all conditions of a question."""
    key = "rules", asked.min_support, asked.metric, asked.min_threshold, asked.max_left, asked.max_right
    found = served.remember(key, lambda: _all_rules(served, asked))
    kept = np.ones(len(found), dtype=bool)
    for sets, wanted in ((found.antecedents, asked.left), (found.consequents, asked.right)):
        if wanted:
            kept &= sets.count_members(wanted) == len(sets.items.codes(wanted))
    return found, np.flatnonzero(kept)


def ranked(
    found: Rules, positions: npt.NDArray[np.int64], asked: RulesChosen, start: int, stop: int
) -> npt.NDArray[np.int64]:
    """Return the positions of the rules from start up to stop in the order asked for."""
    keys = found.measure(asked.sort)[positions]
    return positions[ranked_part(keys, start, stop, descending=asked.order == "descending")]


def _all_rules(served: Served, asked: RulesChosen) -> Rules:
    family, positions = served.searches.at(asked.min_support)
    try:
        return make_rules(
            family.itemsets.take(positions),
            metric=asked.metric,
            min_threshold=asked.min_threshold,
            max_antecedent_len=asked.max_left,
            max_consequent_len=asked.max_right,
            max_rules=served.limits.max_rules,
        )
    except TooManyItemsetsError as error:
        raise TooManyItemsetsError(
            f"expected at most {served.limits.max_rules:,} rules, got more; raise min_support above "
            f"{asked.min_support:g} or min_threshold above {asked.min_threshold:g}",
            error.n_found,
        ) from None


def _sides(chosen: Rules) -> dict[str, list[Any]]:
    return {
        "antecedents": [list(names) for names in chosen.antecedents],
        "consequents": [list(names) for names in chosen.consequents],
    }


def _points(chosen: Rules) -> dict[str, list[Any]]:
    places = {name: as_list(chosen.measure(name)) for name in ("support", "confidence", "lift")}
    return _sides(chosen) | places


def _rule_rows(chosen: Rules) -> list[dict[str, Any]]:
    columns = _sides(chosen)
    columns |= {name.replace(" ", "_"): as_list(chosen.measure(name)) for name in get_args(Measure)}
    return rows_of(columns)


_MAX_PAIRS = 2_000
_USUAL_PAIRS = 300
_NOISE = 1e-9


class DependenciesQuestion(Question):
    """Pairs of items that depend on each other: how many, of which sign and strength, and of which items."""

    sign: query.Sign = Field(
        default="both", description="Pairs that attract each other, that avoid each other, or both."
    )
    items: ItemNames = Field(default=(), description="Only pairs with one of these items.")
    min_information: float = Field(
        default=0.0, ge=0, le=1, description="The least mutual information of a pair, in bits."
    )
    limit: int = Field(default=200, ge=1, le=_MAX_PAIRS, description="The most rows to return.")


class ProbableItem(Answer):
    """An item, and how probable it is."""

    item: ItemName
    probability: Probability


class PairRow(Answer):
    """One pair of items."""

    item: ItemName
    other: ItemName
    probability: Probability
    expected: Annotated[Probability, Field(description="If the two were independent.")]
    lift: float
    leverage: float
    information: Annotated[float, Field(description="Mutual information in bits.")]


class Dependencies(Answer):
    """Pairs of items that depend on each other."""

    n_items: Annotated[
        int,
        Field(
            description="How many items were compared: all, or the most frequent ones where there are too "
            "many."
        ),
    ]
    items: list[ProbableItem]
    pairs: list[PairRow]


def dependencies(served: Served, asked: DependenciesQuestion) -> dict[str, Any]:
    """Return pairs of items, the strongest dependence first, and how probable each of their items is."""
    n_pairs = _USUAL_PAIRS if asked.limit <= _USUAL_PAIRS else _MAX_PAIRS
    compared = None if asked.items else query.comparable_items(served.model)
    among = None if compared is None else served.model.items.names(compared)
    found = served.remember(
        ("dependencies", asked.sign, asked.items, n_pairs),
        lambda: query.dependencies(
            served.model, n_pairs, sign=asked.sign, items=asked.items or None, among=among
        ),
    )
    least = max(asked.min_information, _NOISE)
    chosen = [pair for pair in found if pair.information >= least][: asked.limit]
    linked = dict.fromkeys(name for pair in chosen for name in (pair.item, pair.other))
    probability = served.model.item_probabilities
    return {
        "n_items": served.model.n_items if among is None else len(among),
        "items": [
            {"item": name, "probability": float(probability[served.model.items.code(name)])}
            for name in linked
        ],
        "pairs": [pair._asdict() for pair in chosen],
    }


Side = Literal["both", "more", "less"]
SurpriseSort = Literal["q_value", "ratio", "count", "expected"]


class SurprisesChosen(Question):
    """Which itemsets are tested, which of them are surprises, and in which order they come."""

    min_support: float = Field(
        gt=0, le=1, description="The least support, seen or expected, of the sets that are tested."
    )
    level: float = Field(default=0.05, gt=0, le=1, description="The most that a q value may be.")
    side: Side = Field(
        default="both", description="Sets that are more frequent than expected, less frequent, or both."
    )
    adjust: Literal["bh", "by"] = Field(
        default="bh",
        description="How q values are made: by Benjamini and Hochberg, or by Benjamini and Yekutieli.",
    )
    max_len: int | None = Field(default=None, ge=2, le=_LONGEST, description="The most items of a set.")
    include: ItemNames = Field(default=(), description="Items that every set holds.")
    sort: SurpriseSort = Field(default="q_value", description="What to sort by.")
    order: Order | None = Field(
        default=None, description="The direction; by default, q values rise and all others fall."
    )


class SurprisesQuestion(SurprisesChosen):
    """A page of surprises, and some of the tested sets as points."""

    offset: int = Field(default=0, ge=0, le=10**9, description="How many rows to skip.")
    limit: int = Field(default=50, ge=0, le=MAX_ROWS, description="The most rows to return.")
    points: int = Field(
        default=0, ge=0, le=_MAX_POINTS, description="How many of the tested sets to return as points, too."
    )


class SurpriseRow(Answer):
    """One surprise."""

    items: list[ItemName]
    count: int
    support: Probability
    expected: Probability
    lower: Annotated[Probability, Field(description="The lower end of the 90% interval of what is expected.")]
    upper: Annotated[Probability, Field(description="Its upper end.")]
    ratio: Annotated[float | None, Field(description="The support over the expected one. None is infinite.")]
    p_value: Probability
    q_value: Probability
    sentence: str


class SurprisePoints(Answer):
    """Tested sets as points to draw, the most significant first."""

    itemsets: list[list[ItemName]]
    support: list[float]
    expected: list[float]
    q_value: list[float]


class SurprisesAnswer(Answer):
    """Itemsets that are more or less frequent in data than the model allows."""

    min_support: Probability
    level: Probability
    n_transactions: Annotated[int, Field(description="Of the data that was tested.")]
    n_fitted: Annotated[int | None, Field(description="Of the data that the model was fitted to.")]
    n_tested: int
    n_surprises: int
    offset: int
    surprises: list[SurpriseRow]
    points: SurprisePoints


def surprises(served: Served, asked: SurprisesQuestion) -> dict[str, Any]:
    """Return how many itemsets of new data contradict the model, some of them, and tested ones as points."""
    tested, positions = choose_surprises(served, asked)
    page = tested.take(ranked_surprises(tested, positions, asked, asked.offset, asked.offset + asked.limit))
    points = tested.take(np.arange(min(asked.points, len(tested))))
    return {
        "min_support": asked.min_support,
        "level": asked.level,
        "n_transactions": tested.n_transactions,
        "n_fitted": tested.n_fitted,
        "n_tested": tested.n_tested,
        "n_surprises": len(positions),
        "offset": asked.offset,
        "surprises": _surprise_rows(page),
        "points": {
            "itemsets": [list(names) for names in points.sets],
            "support": points.support.tolist(),
            "expected": points.expected.tolist(),
            "q_value": points.q_value.tolist(),
        },
    }


def choose_surprises(served: Served, asked: SurprisesChosen) -> tuple[Surprises, npt.NDArray[np.int64]]:
    """Return all sets that were tested, and the positions of those that meet the conditions of a question.

    Raises
    ------
    InvalidInputError
        If there is no data to test the model on, the model was fitted to it, or has no posterior.
    """
    data = served.test if served.test is not None else served.data
    if data is None:
        raise InvalidInputError(
            "expected transactions that the model was not fitted to, got none; start itemix explore with "
            "--test and a file of them"
        )
    key = "surprises", asked.min_support, asked.side, asked.adjust, asked.max_len
    tested = served.remember(key, lambda: _all_tested(served, data, asked))
    kept = tested.q_value <= asked.level
    if asked.include:
        kept &= tested.sets.count_members(asked.include) == len(tested.sets.items.codes(asked.include))
    return tested, np.flatnonzero(kept)


def _all_tested(served: Served, data: Transactions, asked: SurprisesChosen) -> Surprises:
    # The estimators import scikit-learn, which takes a second: only who asks for surprises waits for it.
    from itemix.estimators.summary import surprises as find_surprises

    # What is tested is frequent in one of the two, so neither may hold too many sets.
    served.searches.at(asked.min_support)
    mine(data, asked.min_support, max_len=asked.max_len, max_itemsets=served.limits.max_itemsets)
    return find_surprises(
        served.fitted,
        data,
        min_support=asked.min_support,
        level=1.0,
        side=asked.side,
        adjust=asked.adjust,
        max_len=asked.max_len,
    )


def ranked_surprises(
    tested: Surprises, positions: npt.NDArray[np.int64], asked: SurprisesChosen, start: int, stop: int
) -> npt.NDArray[np.int64]:
    """Return the positions of the surprises from start up to stop in the order asked for."""
    keys = getattr(tested, asked.sort)
    order = asked.order or ("ascending" if asked.sort == "q_value" else "descending")
    return positions[ranked_part(keys[positions], start, stop, descending=order == "descending")]


def _surprise_rows(chosen: Surprises) -> list[dict[str, Any]]:
    names = ("count", "support", "expected", "lower", "upper", "ratio", "p_value", "q_value")
    columns: dict[str, list[Any]] = {"items": [list(names) for names in chosen.sets]}
    columns |= {name: as_list(getattr(chosen, name)) for name in names}
    columns["sentence"] = chosen.sentences()
    return rows_of(columns)


class CompareChosen(Question):
    """Which itemsets are compared, which of them differ, and in which order they come."""

    min_support: float = Field(
        gt=0, le=1, description="The least support, in one of the two, of the sets that are compared."
    )
    level: float = Field(default=0.05, gt=0, le=0.999, description="The most that a q value may be.")
    side: Side = Field(
        default="both", description="Sets that are more frequent in the test data, less frequent, or both."
    )
    explained: bool = Field(
        default=False, description="Whether to have sets, too, whose difference a part of them explains."
    )
    max_len: int | None = Field(default=None, ge=1, le=_LONGEST, description="The most items of a set.")
    sort: Literal["q_value", "ratio", "support_a", "support_b"] = Field(
        default="q_value", description="What to sort by."
    )
    order: Order | None = Field(
        default=None, description="The direction; by default, q values rise and all others fall."
    )


class CompareQuestion(CompareChosen):
    """A page of differences."""

    offset: int = Field(default=0, ge=0, le=10**9, description="How many rows to skip.")
    limit: int = Field(default=50, ge=0, le=MAX_ROWS, description="The most rows to return.")


class DifferenceRow(Answer):
    """One itemset that differs between the data (a) and the test data (b)."""

    items: list[ItemName]
    count_a: int
    count_b: int
    support_a: Probability
    support_b: Probability
    ratio: Annotated[float | None, Field(description="The support in b over that in a. None is infinite.")]
    lower: Annotated[float, Field(description="The lower end of the 95% interval of the ratio.")]
    upper: Annotated[float | None, Field(description="Its upper end. None is infinite.")]
    p_value: Probability
    q_value: Probability
    change: Literal["new", "lost", "more", "less"]
    explained_by: Annotated[list[ItemName], Field(description="The part that explains it; empty if none.")]
    is_known: Annotated[bool, Field(description="Whether the model knows all of the items.")]


class CompareAnswer(Answer):
    """Itemsets that differ between the data and the test data."""

    min_support: Probability
    level: Probability
    n_a: int
    n_b: int
    n_tested: int
    n_differences: int
    offset: int
    differences: list[DifferenceRow]


def compare(served: Served, asked: CompareQuestion) -> dict[str, Any]:
    """Return how many itemsets are more frequent in one of two data sets, and some of them."""
    found, positions = choose_differences(served, asked)
    page = found.take(_ranked_differences(found, positions, asked, asked.offset, asked.offset + asked.limit))
    names = ("count_a", "count_b", "support_a", "support_b", "ratio", "lower", "upper", "p_value", "q_value")
    columns: dict[str, list[Any]] = {"items": [list(members) for members in page.sets]}
    columns |= {name: as_list(getattr(page, name)) for name in names}
    columns |= {
        "change": page.change,
        "explained_by": [list(members) for members in page.explained_by],
        "is_known": [all(name in served.model.items for name in members) for members in page.sets],
    }
    return {
        "min_support": asked.min_support,
        "level": asked.level,
        "n_a": found.n_a,
        "n_b": found.n_b,
        "n_tested": found.n_tested,
        "n_differences": len(positions),
        "offset": asked.offset,
        "differences": rows_of(columns),
    }


def choose_differences(
    served: Served, asked: CompareChosen
) -> tuple[comparison.Comparison, npt.NDArray[np.int64]]:
    """Return all differences, and the positions of those that meet the conditions of a question.

    Raises
    ------
    InvalidInputError
        If there are not two data sets.
    """
    if served.compared is None:
        raise InvalidInputError(
            "expected two data sets to compare, got at most one; start itemix explore with --data and --test"
        )
    a, b = served.compared
    found = served.remember(
        ("compare", asked.min_support, asked.level, asked.max_len),
        lambda: comparison.compare(
            a,
            b,
            min_support=asked.min_support,
            level=asked.level,
            max_len=asked.max_len,
            max_itemsets=served.limits.max_itemsets,
        ),
    )
    kept = np.ones(len(found), dtype=bool)
    if asked.side != "both":
        kept = found.ratio > 1 if asked.side == "more" else found.ratio < 1
    if not asked.explained:
        kept &= found.explained_by.lengths == 0
    return found, np.flatnonzero(kept)


def _ranked_differences(
    found: comparison.Comparison,
    positions: npt.NDArray[np.int64],
    asked: CompareChosen,
    start: int,
    stop: int,
) -> npt.NDArray[np.int64]:
    keys = getattr(found, asked.sort)[positions]
    order = asked.order or ("ascending" if asked.sort == "q_value" else "descending")
    return positions[ranked_part(keys, start, stop, descending=order == "descending")]


# The same as files: all rows, in the order of the table.


def write_itemsets(served: Served, asked: ItemsetsChosen, path: Path) -> None:
    """Write the itemsets in the order of the table, each with its interval and its support in the data."""
    found = choose_itemsets(served, asked)
    order = page_of(found, asked, 0, len(found.positions))
    chosen = found.family.itemsets.take(order)
    values: dict[str, Sets | npt.NDArray[Any]] = {
        "support": chosen.support,
        "itemsets": chosen.sets,
        "length": chosen.lengths,
        "lift": found.family.lift[order],
    }
    ends = served.intervals(chosen, asked.level) if len(chosen) else None
    if ends is not None:
        values |= {"lower": ends[0], "upper": ends[1]}
    exact = served.exact_support(chosen.sets)
    if exact is not None:
        values["exact"] = exact
    facts = {"n_transactions": None, "min_support": asked.min_support, "target": None}
    write(TableColumns("itemsets", chosen.items, values, facts), path)


def write_rules(served: Served, asked: RulesChosen, path: Path) -> None:
    """Write the rules in the order of the table, with all measures."""
    found, positions = choose_rules(served, asked)
    found.take(ranked(found, positions, asked, 0, len(positions))).save(path)


def write_surprises(served: Served, asked: SurprisesChosen, path: Path) -> None:
    """Write the surprises in the order of the table, each with its sentence."""
    tested, positions = choose_surprises(served, asked)
    tested.take(ranked_surprises(tested, positions, asked, 0, len(positions))).save(path)


def write_comparison(served: Served, asked: CompareChosen, path: Path) -> None:
    """Write the differences in the order of the table."""
    found, positions = choose_differences(served, asked)
    found.take(_ranked_differences(found, positions, asked, 0, len(positions))).save(path)
