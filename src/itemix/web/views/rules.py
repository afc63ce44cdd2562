"""Association rules of a model: a page of them by any measure, and points to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining.measures import MLXTEND
from itemix.mining.ranking import ranked_part
from itemix.mining.rules import rules as make_rules
from itemix.web.limits import MAX_ROWS
from itemix.web.questions import choice, names, number, whole
from itemix.web.views.columns import as_list, rows_of
from itemix.web.views.itemsets import ORDERS

if TYPE_CHECKING:
    import numpy.typing as npt

    from itemix.items import Label
    from itemix.mining.ruleset import Rules
    from itemix.web.served import Served

MEASURES = MLXTEND
"""What rules of a model can be chosen and sorted by; the others need a number of transactions."""

_MAX_POINTS = 2_000


@dataclass(frozen=True)
class RulesChosen:
    """Which rules, and in which order."""

    min_support: float = number(None, 0, 1, is_open=True)
    metric: str = choice("confidence", MEASURES)
    min_threshold: float = number(0.2, -1e9, 1e9)
    left: tuple[Label, ...] = names()
    right: tuple[Label, ...] = names()
    max_left: int | None = whole(None, 1, 100)
    max_right: int | None = whole(1, 1, 100)
    sort: str = choice("lift", MEASURES)
    order: str = choice("descending", ORDERS)

    def __post_init__(self) -> None:
        if self.min_support is None:
            raise InvalidInputError("expected min_support, got none; try min_support=0.1")


@dataclass(frozen=True)
class RulesQuestion(RulesChosen):
    """A page of them, and some as points."""

    offset: int = whole(0, 0, 10**9)
    limit: int = whole(50, 0, MAX_ROWS)
    points: int = whole(0, 0, _MAX_POINTS)


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
    columns |= {name.replace(" ", "_"): as_list(chosen.measure(name)) for name in MEASURES}
    return rows_of(columns)
