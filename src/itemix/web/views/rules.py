"""Association rules of a model: a page of them by any measure, and points to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from pydantic import Field

from itemix.errors import TooManyItemsetsError
from itemix.mining.ranking import ranked_part
from itemix.mining.rules import rules as make_rules
from itemix.web.limits import MAX_ROWS
from itemix.web.questions import Names, Question
from itemix.web.views.columns import as_list, rows_of
from itemix.web.views.patterns import Order

if TYPE_CHECKING:
    import numpy.typing as npt

    from itemix.mining.ruleset import Rules
    from itemix.web.served import Served

Measure = Literal[
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
]
"""What rules of a model can be chosen and sorted by; other measures need a number of transactions."""

_MAX_POINTS = 2_000


class RulesChosen(Question):
    """Which rules, and in which order."""

    min_support: float = Field(gt=0, le=1, description="The least probability of an itemset, as a fraction.")
    metric: Measure = Field(default="confidence", description="The measure that selects rules.")
    min_threshold: float = Field(default=0.2, ge=-1e9, le=1e9, description="The least value of it.")
    left: Names = Field(default=(), description="Items that the antecedents hold.")
    right: Names = Field(default=(), description="Items that the consequents hold.")
    max_left: int | None = Field(default=None, ge=1, le=100, description="The most items of the antecedents.")
    max_right: int | None = Field(default=1, ge=1, le=100, description="The most items of the consequents.")
    sort: Measure = Field(default="lift", description="What to sort by.")
    order: Order = Field(default="descending", description="The direction.")


class RulesQuestion(RulesChosen):
    """A page of them, and some as points."""

    offset: int = Field(default=0, ge=0, le=10**9, description="How many rows to skip.")
    limit: int = Field(default=50, ge=0, le=MAX_ROWS, description="The most rows to return.")
    points: int = Field(
        default=0, ge=0, le=_MAX_POINTS, description="How many of the first rules to return as points, too."
    )


def rules(served: Served, asked: RulesQuestion) -> dict[str, Any]:
    """Return the number of rules, some of them with all measures, and the first ones as named points."""
    found, positions = choose(served, asked)
    stop = asked.offset + asked.limit
    page = ranked(found, positions, asked, asked.offset, stop)
    points = ranked(found, positions, asked, 0, asked.points)
    return {
        "min_support": asked.min_support,
        "n_rules": len(positions),
        "offset": asked.offset,
        "rules": _rows(found.take(page)),
        "points": _points(found.take(points)),
    }


def choose(served: Served, asked: RulesChosen) -> tuple[Rules, npt.NDArray[np.int64]]:
    """Return rules, and the positions of those that meet all conditions of a question."""
    key = "rules", asked.min_support, asked.metric, asked.min_threshold, asked.max_left, asked.max_right
    found = served.remember(key, lambda: _made(served, asked))
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


def _made(served: Served, asked: RulesChosen) -> Rules:
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


def _rows(chosen: Rules) -> list[dict[str, Any]]:
    columns = _sides(chosen)
    columns |= {name.replace(" ", "_"): as_list(chosen.measure(name)) for name in get_args(Measure)}
    return rows_of(columns)
