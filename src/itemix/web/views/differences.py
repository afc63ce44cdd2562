"""Views of data that differs: from what the model allows (surprises), and from other data (compare)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from itemix._arrays import ranked_part
from itemix.errors import InvalidInputError
from itemix.mining import comparison
from itemix.mining.mine import mine
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
    as_list,
    in_box,
    rows_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from itemix.core.transactions import Transactions
    from itemix.mining.surprise import Surprises
    from itemix.web.served import Served

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
    max_len: int | None = Field(default=None, ge=2, le=MAX_LENGTH, description="The most items of a set.")
    include: ItemNames = Field(default=(), description="Items that every set holds.")
    box: Box = ()
    sort: SurpriseSort = Field(default="q_value", description="What to sort by.")
    order: Order | None = Field(
        default=None, description="The direction; by default, q values rise and all others fall."
    )


class SurprisesQuestion(SurprisesChosen):
    """A page of surprises, and some of the tested sets as points."""

    offset: int = Field(default=0, ge=0, le=10**9, description="How many rows to skip.")
    limit: int = Field(default=50, ge=0, le=MAX_ROWS, description="The most rows to return.")
    points: int = Field(
        default=0, ge=0, le=MAX_POINTS, description="How many of the tested sets to return as points, too."
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
    n_transactions: Annotated[int, Field(description="The size of the data that was tested.")]
    n_fitted: Annotated[int | None, Field(description="The size of the data of the fit.")]
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
            "expected transactions that the model was not fitted to, got none; start itemix explore, "
            "serve or mcp with --test and a file of them"
        )
    key = "surprises", asked.min_support, asked.side, asked.adjust, asked.max_len
    tested = served.remember(key, lambda: _all_tested(served, data, asked))
    kept = (tested.q_value <= asked.level) & in_box(asked.box, tested.expected, tested.support)
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
    max_len: int | None = Field(default=None, ge=1, le=MAX_LENGTH, description="The most items of a set.")
    box: Box = ()
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


class ShiftsQuestion(Question):
    """Which components have other shares in the test data than in the data."""

    level: float = Field(default=0.05, gt=0, le=1, description="The most that a q value may be.")


class ShiftRow(Answer):
    """A component of one mixture of data (a) and test data (b), and its share of both."""

    component: int
    typical: Annotated[list[ItemName], Field(description="What tells it from the others.")]
    mostly: Annotated[str, Field(description="The same in words, with probabilities.")]
    share_a: Probability
    share_b: Probability
    ratio: Annotated[float | None, Field(description="The share in b over that in a. None is infinite.")]
    lower: Annotated[float, Field(description="The lower end of the 95% interval of the ratio.")]
    upper: Annotated[float | None, Field(description="Its upper end. None is infinite.")]
    p_value: Probability
    q_value: Probability


class ShiftsAnswer(Answer):
    """Components whose shares differ between the data and the test data."""

    level: Probability
    n_tested: int
    shifts: list[ShiftRow]


def shifts(served: Served, asked: ShiftsQuestion) -> dict[str, Any]:
    """Return the components of one mixture of both data sets that are larger in one of them."""
    # The estimators import scikit-learn, which takes a second: only who asks for this waits for it.
    from itemix.estimators.summary import compare_components

    a, b = _two_data_sets(served)
    found = served.remember("shifts", lambda: compare_components(a, b, level=1.0))
    found = found.take(np.flatnonzero(found.q_value <= asked.level))
    names = ("share_a", "share_b", "ratio", "lower", "upper", "p_value", "q_value")
    columns: dict[str, list[Any]] = {name: as_list(getattr(found, name)) for name in names}
    columns |= {
        "component": found.component.tolist(),
        "typical": [list(members) for members in found.typical],
        "mostly": found.mostly,
    }
    return {"level": asked.level, "n_tested": found.n_tested, "shifts": rows_of(columns)}


def _two_data_sets(served: Served) -> tuple[Transactions, Transactions]:
    """Return the data and the test data.

    Raises
    ------
    InvalidInputError
        If there are not both.
    """
    if served.compared is None:
        raise InvalidInputError(
            "expected two data sets to compare, got at most one; start itemix explore, serve or mcp with "
            "--data and --test"
        )
    return served.compared


def choose_differences(
    served: Served, asked: CompareChosen
) -> tuple[comparison.Comparison, npt.NDArray[np.int64]]:
    """Return all differences, and the positions of those that meet the conditions of a question.

    Raises
    ------
    InvalidInputError
        If there are not two data sets.
    """
    a, b = _two_data_sets(served)
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
    kept &= in_box(asked.box, found.support_a, found.support_b)
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


def write_surprises(served: Served, asked: SurprisesChosen, path: Path) -> None:
    """Write the surprises in the order of the table, each with its sentence."""
    tested, positions = choose_surprises(served, asked)
    tested.take(ranked_surprises(tested, positions, asked, 0, len(positions))).save(path)


def write_comparison(served: Served, asked: CompareChosen, path: Path) -> None:
    """Write the differences in the order of the table."""
    found, positions = choose_differences(served, asked)
    found.take(_ranked_differences(found, positions, asked, 0, len(positions))).save(path)
