"""Views of probabilities: of an event, what changes it, what a basket may lack, the evidence for a set."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, Self
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from itemix._arrays import protected
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture
from itemix.web.views import MAX_NAMES, Answer, ItemName, ItemNames, Probability, Question
from itemix.web.views.segments import largest_first

if TYPE_CHECKING:
    from itemix._typing import Codes, Floats, Ints
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
    test: NotRequired[Annotated[InData, Field(description="The event in the test data.")]]


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
    return steps if served.data is None and served.test is None else math.inf


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
    if served.test is not None:
        answer["test"] = _in_data(served.test, asked)
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


_LEVEL = 0.9
_MOST_SEGMENTS = 12
_MOST_NEIGHBOURS = 10


class EvidenceQuestion(Question):
    """A set of items; with `then`, the rule from the set to these."""

    set: ItemNames = Field(default=(), description="The items of the set, or of the left side of a rule.")
    then: ItemNames = Field(default=(), description="The items of the right side of a rule.")
    transactions: int = Field(default=20, ge=0, le=100, description="The most transactions to show.")

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.set:
            raise InvalidInputError("expected the items of a set, got none; try set=")
        return self


class CountedSet(Answer):
    """A set, or a rule, in one data set."""

    count: Annotated[int, Field(description="The transactions that hold all of it.")]
    of: Annotated[int, Field(description="All transactions; of a rule, those that hold its left side.")]
    share: Annotated[float | None, Field(description="The first divided by the second.")]


class SegmentShare(Answer):
    """How much of a set comes from one component."""

    number: int
    name: str
    weight: Probability
    share: Annotated[
        Probability, Field(description="Of the transactions with the set, those of the component.")
    ]
    probability: Annotated[Probability, Field(description="Of the set, in the component.")]


class HoldingTransaction(Answer):
    """A transaction that holds a set."""

    id: str
    others: Annotated[list[ItemName], Field(description="What else it holds.")]


class Neighbour(Answer):
    """A set with one item less, or one more."""

    items: list[ItemName]
    item: Annotated[ItemName, Field(description="The item in which the two differ.")]
    probability: Probability
    share: Annotated[float | None, Field(description="The larger of the two sets, given the smaller one.")]


class Ways(Answer):
    """How to get the same elsewhere."""

    python: str
    command_line: str
    path: Annotated[str, Field(description="The address under that of the server.")]


class Evidence(Answer):
    """What stands behind a set or a rule."""

    probability: Annotated[Probability, Field(description="Of the set; of a rule, its confidence.")]
    lower: NotRequired[Probability]
    upper: NotRequired[Probability]
    support: Annotated[Probability, Field(description="Of all items together.")]
    independent: Annotated[Probability, Field(description="If all items were independent.")]
    data: NotRequired[CountedSet]
    test: NotRequired[CountedSet]
    segments: list[SegmentShare]
    n_holding: Annotated[int | None, Field(description="How many transactions of the data hold all items.")]
    transactions: list[HoldingTransaction]
    subsets: list[Neighbour]
    supersets: list[Neighbour]
    ways: Ways


def evidence(served: Served, asked: EvidenceQuestion) -> dict[str, Any]:
    """Return what stands behind a set or a rule: counts, segments, transactions, and its neighbours."""
    model = served.model
    given = asked.set if asked.then else ()
    wanted = asked.then or asked.set
    whole = tuple(dict.fromkeys((*asked.set, *asked.then)))
    codes = model.items.codes(whole)
    answer: dict[str, Any] = {"probability": model.probability(wanted, given=given)}
    ends = served.intervals([wanted], _LEVEL, given=given)
    if ends is not None:
        answer |= {"lower": float(ends[0][0]), "upper": float(ends[1][0])}
    support = model.probability(whole)
    answer["support"] = support
    answer["independent"] = float(np.prod(model.item_probabilities[model.items.codes(wanted)]))
    for name, data in (("data", served.data), ("test", served.test)):
        if data is not None:
            answer[name] = _counted(data, whole, given)
    answer["segments"] = _segments(served, codes)
    rows = None if served.transactions is None else _rows_with(served.transactions, whole)
    answer["n_holding"] = None if rows is None else len(rows)
    data = served.transactions
    shown = [] if rows is None or data is None else _shown(data, rows[: asked.transactions], whole)
    answer["transactions"] = shown
    answer["subsets"] = _subsets(served, whole, support)
    answer["supersets"] = _supersets(served, whole, support)
    answer["ways"] = _ways(served, wanted, given)
    return answer


def _rows_with(data: Transactions, names: tuple[Label, ...]) -> Ints:
    if not all(name in data.items for name in names):
        return np.empty(0, dtype=np.int64)
    wanted = protected(np.sort(data.items.codes(names)))
    return np.flatnonzero(csr.rows_with_all(data.indptr, data.indices, wanted))


def _counted(data: Transactions, whole: tuple[Label, ...], given: tuple[Label, ...]) -> dict[str, Any]:
    count = data.count(whole)
    of = data.count(given) if given else data.n_transactions
    return {"count": count, "of": of, "share": count / of if of else None}


def _segments(served: Served, codes: Codes) -> list[dict[str, Any]]:
    """Return the components that most of the transactions with some items come from."""
    mixture = served.components
    if mixture is None or served.fitted.called != "component":
        return []
    inside = mixture.probs[:, codes].prod(axis=1)
    share = _posterior(mixture.weights, mixture.probs, codes.tolist())
    if share is None:
        return []
    order = largest_first(mixture)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(1, len(order) + 1)
    most = np.argsort(-share, kind="stable")[:_MOST_SEGMENTS]
    return [
        {
            "number": int(number[k]),
            "name": served.fitted.name_of(int(k)),
            "weight": float(mixture.weights[k]),
            "share": float(share[k]),
            "probability": float(inside[k]),
        }
        for k in most.tolist()
        if share[k] > 0
    ]


def _shown(data: Transactions, rows: Ints, whole: tuple[Label, ...]) -> list[dict[str, Any]]:
    ids = None if data.ids is None else data.ids.take(rows).to_pylist()
    found = []
    for at, row in enumerate(rows):
        names = data.items.names(data.indices[data.indptr[row] : data.indptr[row + 1]])
        called = f"row {int(row) + 1:,}" if ids is None else _called(ids[at])
        found.append({"id": called, "others": [name for name in names if name not in whole][:MAX_NAMES]})
    return found


def _called(value: object) -> str:
    """Write an id; one of several columns has the values of all."""
    return " · ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _subsets(served: Served, whole: tuple[Label, ...], support: float) -> list[dict[str, Any]]:
    if len(whole) == 1:
        return []
    smaller = [tuple(name for name in whole if name != left_out) for left_out in whole]
    probabilities = served.model.probabilities(smaller).tolist()
    return [
        {
            "items": list(names),
            "item": item,
            "probability": p,
            "share": min(support / p, 1.0) if p > 0 else None,
        }
        for names, item, p in zip(smaller, whole, probabilities, strict=True)
    ]


def _supersets(served: Served, whole: tuple[Label, ...], support: float) -> list[dict[str, Any]]:
    """Return the most probable sets with one item more."""
    model = served.model
    codes = model.items.codes(whole)
    others = np.setdiff1d(np.arange(model.n_items, dtype=np.int32), codes)
    if not len(others) or support <= 0:
        return []
    with_item = _with_each(model, others, codes, np.empty(0, dtype=np.int32))
    best = np.argsort(-with_item, kind="stable")[:_MOST_NEIGHBOURS]
    return [
        {
            "items": [*whole, model.items[int(others[j])]],
            "item": model.items[int(others[j])],
            "probability": float(with_item[j]),
            "share": min(float(with_item[j]) / support, 1.0),
        }
        for j in best.tolist()
        if with_item[j] > 0
    ]


def _ways(served: Served, wanted: tuple[Label, ...], given: tuple[Label, ...]) -> dict[str, str]:
    """Write the same question in Python, for a shell, and as an address."""
    file = served.path or f"{served.name}.itemix"
    condition = f", given={list(given)!r}" if given else ""
    ask = "interval" if served.has_intervals else "probability"
    python = f"import itemix\n\nmodel = itemix.load({file!r})\nmodel.{ask}({list(wanted)!r}{condition})"
    options = [part for name in given for part in ("--given", str(name))]
    # What comes after -- are items, even if a name begins with a dash.
    command = shlex.join(["itemix", "query", *options, "--", file, *map(str, wanted)])
    query: list[tuple[str, Label | float]] = [
        *(("present", name) for name in wanted),
        *(("given", name) for name in given),
    ]
    if served.has_intervals:
        query.append(("level", _LEVEL))
    return {"python": python, "command_line": command, "path": f"query?{urlencode(query)}"}


class WhatIfQuestion(Question):
    """A basket, of which more may be in it."""

    basket: ItemNames = Field(default=(), description="The items that the basket holds.")
    limit: int = Field(default=8, ge=1, le=1_000, description="The most rows to return.")


class Move(Answer):
    """What one item of a basket does to the segments."""

    item: ItemName
    number: Annotated[int, Field(description="The component that it moves most.")]
    name: str
    without: Annotated[Probability, Field(description="Of the component, without the item.")]
    probability: Annotated[Probability, Field(description="Of the component, with it.")]


class WhatIf(Answer):
    """What a basket tells."""

    support: Annotated[Probability, Field(description="How many transactions hold all of it.")]
    segments: list[SegmentShare]
    moves: list[Move]
    recommendations: list[RecommendationRow]


def what_if(served: Served, asked: WhatIfQuestion) -> dict[str, Any]:
    """Return which segments a basket may come from, which item moves that most, and what may come next."""
    codes = served.model.items.codes(asked.basket)
    names = tuple(dict.fromkeys(asked.basket))
    found = served.fitted.recommend(asked.basket, asked.limit, complete=False)
    return {
        "support": served.model.probability(asked.basket) if asked.basket else 1.0,
        "segments": _segments(served, codes),
        "moves": [move for name in names if (move := _move(served, names, name)) is not None],
        "recommendations": [entry._asdict() for entry in found],
    }


def _move(served: Served, names: tuple[Label, ...], name: Label) -> dict[str, Any] | None:
    """Return the component whose probability one item of a basket changes most."""
    mixture = served.components
    if mixture is None or served.fitted.called != "component":
        return None
    code = served.model.items.code
    without = _posterior(mixture.weights, mixture.probs, [code(other) for other in names if other != name])
    with_it = _posterior(mixture.weights, mixture.probs, [code(other) for other in names])
    if without is None or with_it is None:
        return None
    k = int(np.argmax(np.abs(with_it - without)))
    number = int(np.flatnonzero(largest_first(mixture) == k)[0]) + 1
    return {
        "item": name,
        "number": number,
        "name": served.fitted.name_of(k),
        "without": float(without[k]),
        "probability": float(with_it[k]),
    }


def _posterior(weights: Floats, probs: Floats, codes: list[int]) -> Floats | None:
    """Return how probable each component is given some items; None if no component allows them."""
    joint = weights * probs[:, codes].prod(axis=1)
    return joint / joint.sum() if joint.sum() > 0 else None
