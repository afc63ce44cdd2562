"""Views of probabilities: of an event, of what raises and lowers it, and of what a basket may lack."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from itemix.errors import InvalidInputError
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture
from itemix.web.views import Answer, ItemName, ItemNames, Probability, Question

if TYPE_CHECKING:
    from itemix._typing import Codes, Floats
    from itemix.core.items import Label
    from itemix.core.transactions import Transactions
    from itemix.models.base import Model
    from itemix.web.served import Served


_NOISE = 1e-6
_STEPS_OF_A_SET = 10
_STEPS_OF_AN_INTERVAL = 100_000


class Event(Question):
    """Items that are present and absent, given that others are."""

    present: ItemNames = Field(default=(), description="Items that are present.")
    absent: ItemNames = Field(default=(), description="Items that are absent.")
    given: ItemNames = Field(default=(), description="Items that are known to be present.")
    given_absent: ItemNames = Field(default=(), description="Items that are known to be absent.")

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.present and not self.absent:
            raise InvalidInputError("expected items that are present or absent, got none; try present=")
        return self


class QueryQuestion(Event):
    """The probability of an event; with a level, also its interval."""

    level: float | None = Field(
        default=None,
        ge=0.5,
        le=0.999,
        description="The probability inside the credible interval; without it, there is none.",
    )


class InfluencesQuestion(Event):
    """The items that change the probability of an event most, without rare ones, which say little."""

    limit: int = Field(default=8, ge=1, le=100, description="The most rows to return.")
    min_probability: float = Field(
        default=0.001,
        ge=0,
        le=1,
        description="The least probability, given the condition, of items that are considered.",
    )


class RecommendQuestion(Question):
    """What a basket may lack."""

    basket: ItemNames = Field(default=(), description="The items that the basket holds.")
    absent: ItemNames = Field(default=(), description="Items that are known not to be wanted.")
    complete: bool = Field(
        default=True, description="Whether the basket holds nothing else; if not, other items are unknown."
    )
    limit: int = Field(default=8, ge=1, le=1_000, description="The most rows to return.")


class InData(Answer):
    """The event in the data."""

    probability: Annotated[float | None, Field(description="None where no transaction meets the condition.")]
    count: int
    of: Annotated[int, Field(description="The transactions that meet the condition.")]


class Query(Answer):
    """The probability of an event."""

    probability: Probability
    lower: NotRequired[Probability]
    upper: NotRequired[Probability]
    level: NotRequired[Probability]
    independent: Annotated[Probability, Field(description="If all items were independent.")]
    unconditional: NotRequired[
        Annotated[Probability, Field(description="Without the condition, if there is one.")]
    ]
    data: NotRequired[InData]


class Influence(Answer):
    """An item that changes a probability."""

    item: ItemName
    probability: Annotated[Probability, Field(description="That of the event, if the item is present too.")]
    change: float


class Influences(Answer):
    """What raises and lowers a probability."""

    probability: Probability
    raises: list[Influence]
    lowers: list[Influence]


class RecommendationRow(Answer):
    """One item that a basket may lack."""

    item: ItemName
    probability: Probability
    lift: float


class RecommendationsAnswer(Answer):
    """What a basket may lack."""

    recommendations: list[RecommendationRow]


def query_steps(served: Served, asked: QueryQuestion) -> float:
    """Return about how many steps the answer to a query takes."""
    steps = steps_of_sets(served, 1, _names_of(asked), len(asked.absent) + len(asked.given_absent))
    if asked.level is not None:
        steps += _STEPS_OF_AN_INTERVAL * max(served.fitted.n_posteriors, 1)
    return steps if served.data is None else math.inf


def recommend_steps(served: Served, asked: RecommendQuestion) -> float:
    """Return about how many steps a recommendation takes."""
    model = served.model
    whole = model.whole if isinstance(model, CorrectedMixture) else model
    if asked.complete and isinstance(whole, Mixture):
        # The basket is scored once, and each item then by a sum over the components.
        known = all(name in model.items for name in (*asked.basket, *asked.absent))
        return float(whole.n_items * whole.n_components) if known else math.inf
    return steps_of_sets(served, model.n_items, (*asked.basket, *asked.absent), len(asked.absent))


def query(served: Served, asked: QueryQuestion) -> dict[str, Any]:
    """Return the probability of an event under the model, if its items were independent, and in the data."""
    model = served.model
    event = {"absent": asked.absent, "given": asked.given, "given_absent": asked.given_absent}
    answer: dict[str, Any] = {"probability": model.probability(asked.present, **event)}
    if asked.level is not None:
        ends = served.intervals(
            [asked.present],
            asked.level,
            absent=[asked.absent],
            given=asked.given,
            given_absent=asked.given_absent,
        )
        if ends is not None:
            answer |= {"lower": float(ends[0][0]), "upper": float(ends[1][0]), "level": asked.level}
    answer["independent"] = _if_independent(model, asked)
    if asked.given or asked.given_absent:
        answer["unconditional"] = model.probability(asked.present, absent=asked.absent)
    if served.data is not None:
        answer["data"] = _in_data(served.data, asked)
    return answer


def influences(served: Served, asked: InfluencesQuestion) -> dict[str, Any]:
    """Return the items that raise and that lower the probability of an event most when they are present."""
    model = served.model
    present, absent, given, given_absent = _codes(model, asked)
    now = model.probability(
        asked.present, absent=asked.absent, given=asked.given, given_absent=asked.given_absent
    )
    condition = model.probability(asked.given, absent=asked.given_absent)
    named = np.concatenate([present, absent, given, given_absent])
    others = np.setdiff1d(np.arange(model.n_items, dtype=np.int32), named)
    with_item = _with_each(model, others, given, given_absent)
    usual = with_item >= max(asked.min_probability * condition, np.finfo(float).tiny)
    others, with_item = others[usual], with_item[usual]
    event = np.union1d(present, given), np.union1d(absent, given_absent)
    then = np.minimum(_with_each(model, others, *event) / with_item, 1.0)
    change = then - now
    order = np.argsort(-change, kind="stable")

    def told(positions: npt.NDArray[np.intp]) -> list[dict[str, Any]]:
        return [
            {"item": model.items[int(others[j])], "probability": float(then[j]), "change": float(change[j])}
            for j in positions.tolist()
        ]

    return {
        "probability": now,
        "raises": told(order[change[order] > _NOISE * now][: asked.limit]),
        "lowers": told(order[change[order] < -_NOISE * now][::-1][: asked.limit]),
    }


def recommend(served: Served, asked: RecommendQuestion) -> dict[str, Any]:
    """Return the most probable items that a basket does not hold yet."""
    found = served.fitted.recommend(asked.basket, asked.limit, absent=asked.absent, complete=asked.complete)
    return {"recommendations": [entry._asdict() for entry in found]}


def steps_of_sets(served: Served, n_sets: int, names: tuple[Label, ...], n_absent: int) -> float:
    """Return about how many steps the probabilities of some sets with these items in common take.

    The number is infinite if the kind of model does not tell, and for unknown names, which are compared with
    all known ones to say which one was meant.
    """
    model = served.model
    if any(name not in model.items for name in names):
        return math.inf
    n = len(names) + 1
    if isinstance(model, CorrectedMixture):
        return n_sets * (n + n_absent) * float(model.transactions.n_rows) + _steps(model.base, n_sets, n)
    return _steps(model, n_sets, n)


def _steps(model: Model, n_sets: int, n: int) -> float:
    """Return about how many steps the probabilities of some sets of n items take; infinite if not known."""
    if not isinstance(model, Mixture):
        return math.inf
    return float(n_sets * (n * model.n_components + _STEPS_OF_A_SET))


def _names_of(asked: Event) -> tuple[Label, ...]:
    return *asked.present, *asked.absent, *asked.given, *asked.given_absent


def _codes(model: Model, asked: Event) -> tuple[Codes, Codes, Codes, Codes]:
    codes = model.items.codes
    return codes(asked.present), codes(asked.absent), codes(asked.given), codes(asked.given_absent)


def _if_independent(model: Model, asked: Event) -> float:
    # Queries have few items, and thousands come in a second: plain Python is quicker than arrays.
    code, probability = model.items.code, model.item_probabilities
    present = {code(name) for name in asked.present} - {code(name) for name in asked.given}
    absent = {code(name) for name in asked.absent} - {code(name) for name in asked.given_absent}
    return math.prod(float(probability[i]) for i in present) * math.prod(
        1 - float(probability[i]) for i in absent
    )


def _in_data(data: Transactions, asked: Event) -> dict[str, Any]:
    """Count an event in the data; with only the items asked for, few transactions are different."""
    counted = Mixture.from_transactions(data.select_items(_names_of(asked)).merge_identical())
    condition = counted.probability(asked.given, absent=asked.given_absent)
    of = round(condition * data.n_transactions)
    if of == 0:
        return {"probability": None, "count": 0, "of": 0}
    probability = counted.probability(
        asked.present, absent=asked.absent, given=asked.given, given_absent=asked.given_absent
    )
    return {"probability": probability, "count": round(probability * of), "of": of}


def _with_each(model: Model, others: Codes, present: Codes, absent: Codes) -> Floats:
    """Return the probability of an event together with each of some items, shape (len(others),)."""
    n = len(others)
    sets = np.column_stack([np.tile(present, (n, 1)), others]).astype(np.int32)
    against = np.tile(absent.astype(np.int32), n)
    return model.probabilities_of_codes(
        np.arange(n + 1, dtype=np.int64) * (len(present) + 1),
        sets.ravel(),
        np.arange(n + 1, dtype=np.int64) * len(absent),
        against,
    )
