"""Views of itemsets and of rules, also as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, get_args

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from itemix._arrays import ranked_part
from itemix.core.sets import Sets
from itemix.core.table_files import write
from itemix.core.tables import TableColumns
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining import counts as counting
from itemix.mining.rules import rules as make_rules
from itemix.web.served import Found, lifts
from itemix.web.views import (
    MAX_LENGTH,
    MAX_POINTS,
    MAX_ROWS,
    Answer,
    Box,
    ItemName,
    ItemNames,
    Order,
    Probability,
    Question,
    Text,
    as_list,
    in_box,
    rows_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from itemix.core.items import Items, Label
    from itemix.core.itemsets import Itemsets
    from itemix.mining.ruleset import Rules
    from itemix.web.served import Family, Served

Target = Literal["all", "closed", "maximal"]
Sort = Literal["support", "length", "lift"]
_BINS = 24


class ItemsetsChosen(Question):
    """Which itemsets, and in which order."""

    min_support: float = Field(gt=0, le=1, description="The least probability of an itemset, as a fraction.")
    target: Target = Field(
        default="all",
        description="All itemsets; those without a superset of the same probability; those without a "
        "superset that reaches the threshold.",
    )
    min_len: int = Field(default=1, ge=1, le=MAX_LENGTH, description="The fewest items of a set.")
    max_len: int | None = Field(default=None, ge=1, le=MAX_LENGTH, description="The most items of a set.")
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
    tested: NotRequired[Annotated[Probability, Field(description="The support in the test data.")]]


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
    return rows_of(columns | served.supports(chosen.sets))


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


class AgreementQuestion(ItemsetsChosen):
    """Itemsets as points: what the model says against what is counted."""

    most: int = Field(default=1_000, ge=1, le=MAX_POINTS, description="The most itemsets to count.")
    worst: int = Field(default=8, ge=0, le=100, description="How many of the worst misses to name.")


class AgreementPoints(Answer):
    """Itemsets as points to draw."""

    itemsets: list[list[ItemName]]
    support: list[float]
    counted: list[float]


class Miss(Answer):
    """An itemset that the model misses."""

    items: list[ItemName]
    support: Probability
    counted: Probability
    errors: Annotated[float, Field(description="How many standard errors of the count lie between the two.")]


class AgreementAnswer(Answer):
    """The agreement of a model with data."""

    min_support: Probability
    n_itemsets: int
    n_counted: Annotated[int, Field(description="How many of them were counted, evenly over all supports.")]
    in_test: Annotated[bool, Field(description="Whether they were counted in the test data.")]
    mean_relative_error: float | None
    points: AgreementPoints
    worst: list[Miss]


def agreement(served: Served, asked: AgreementQuestion) -> dict[str, Any]:
    """Return supports of the model beside those in the test data, or in the data, and the worst misses."""
    data = served.data if served.test is None else served.test
    if data is None:
        raise InvalidInputError(
            "expected data to compare the model with, got none; start itemix explore with --data or --test"
        )
    found = choose_itemsets(served, asked)
    order = page_of(found, asked, 0, len(found.positions))
    taken = order[np.unique(np.linspace(0, len(order) - 1, min(asked.most, len(order))).astype(np.int64))]
    chosen = found.family.itemsets.take(taken)
    counted = counting.count(chosen.sets, data) / max(data.n_transactions, 1)
    support = chosen.support
    error = np.sqrt(np.maximum(support * (1 - support), np.finfo(float).tiny) / max(data.n_transactions, 1))
    distance = (counted - support) / error
    worst = np.argsort(-np.abs(distance), kind="stable")[: asked.worst]
    there = counted > 0
    relative = np.abs(support[there] / counted[there] - 1)
    columns = {
        "items": [list(names) for names in chosen.sets.take(worst)],
        "support": support[worst].tolist(),
        "counted": counted[worst].tolist(),
        "errors": distance[worst].tolist(),
    }
    return {
        "min_support": asked.min_support,
        "n_itemsets": len(order),
        "n_counted": len(taken),
        "in_test": served.test is not None,
        "mean_relative_error": float(relative.mean()) if len(relative) else None,
        "points": {
            "itemsets": [list(names) for names in chosen.sets],
            "support": support.tolist(),
            "counted": counted.tolist(),
        },
        "worst": rows_of(columns),
    }


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


class RulesChosen(Question):
    """Which rules, and in which order."""

    min_support: float = Field(gt=0, le=1, description="The least probability of an itemset, as a fraction.")
    metric: Metric = Field(default="confidence", description="The measure that selects rules.")
    min_threshold: float = Field(default=0.2, ge=-1e9, le=1e9, description="The least value of it.")
    items: ItemNames = Field(default=(), description="Items that every rule holds, on either side.")
    without: ItemNames = Field(default=(), description="Items that no rule holds.")
    box: Box = ()
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
        default=0, ge=0, le=MAX_POINTS, description="How many of the first rules to return as points, too."
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
    exact: NotRequired[
        Annotated[Probability, Field(description="The support in the data, if there is data.")]
    ]
    exact_confidence: NotRequired[
        Annotated[
            float | None, Field(description="The confidence there; None where nothing holds the left side.")
        ]
    ]
    tested: NotRequired[Annotated[Probability, Field(description="The support in the test data.")]]
    tested_confidence: NotRequired[
        Annotated[float | None, Field(description="The confidence in the test data.")]
    ]


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
    page = ranked(found, positions, asked, asked.offset, asked.offset + asked.limit)
    # The picture shows what lies around the box, too.
    around = positions if not asked.box else choose_rules(served, asked.model_copy(update={"box": ()}))[1]
    points = ranked(found, around, asked, 0, asked.points)
    return {
        "min_support": asked.min_support,
        "n_rules": len(positions),
        "offset": asked.offset,
        "rules": _rule_rows(served, found.take(page)),
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
    sides = found.antecedents, found.consequents
    if asked.items:
        n_held = sum(side.count_members(asked.items) for side in sides)
        kept &= n_held == len(found.antecedents.items.codes(asked.items))
    if asked.without:
        kept &= sum(side.count_members(asked.without) for side in sides) == 0
    kept &= in_box(asked.box, found.support, found.confidence)
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


def _rule_rows(served: Served, chosen: Rules) -> list[dict[str, Any]]:
    columns = _sides(chosen)
    columns |= {name.replace(" ", "_"): as_list(chosen.measure(name)) for name in get_args(Measure)}
    whole = [[*left, *right] for left, right in zip(chosen.antecedents, chosen.consequents, strict=True)]
    both = served.supports(Sets.from_names(whole, chosen.antecedents.items))
    left = served.supports(chosen.antecedents)
    for name, supports in both.items():
        pairs = zip(supports, left[name], strict=True)
        columns |= {
            name: supports,
            f"{name}_confidence": [part / all_ if all_ else None for part, all_ in pairs],
        }
    return rows_of(columns)


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
    values |= {name: np.array(supports) for name, supports in served.supports(chosen.sets).items()}
    facts = {"n_transactions": None, "min_support": asked.min_support, "target": None}
    write(TableColumns("itemsets", chosen.items, values, facts), path)


def write_rules(served: Served, asked: RulesChosen, path: Path) -> None:
    """Write the rules in the order of the table, with all measures."""
    found, positions = choose_rules(served, asked)
    found.take(ranked(found, positions, asked, 0, len(positions))).save(path)
