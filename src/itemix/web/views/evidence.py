"""The view of what stands behind a set or a rule: model, data, segments, transactions, and its neighbours."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, Self
from urllib.parse import urlencode

import numpy as np
from pydantic import Field, model_validator

from itemix._arrays import protected
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.web.views import MAX_NAMES, Answer, ItemName, ItemNames, Probability, Question
from itemix.web.views.ask import with_each
from itemix.web.views.segments import largest_first

if TYPE_CHECKING:
    from itemix._typing import Codes, Ints
    from itemix.core.items import Label
    from itemix.core.transactions import Transactions
    from itemix.web.served import Served

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


class Counted(Answer):
    """A set, or a rule, in one data set."""

    count: Annotated[int, Field(description="The transactions that hold all of it.")]
    of: Annotated[int, Field(description="All transactions; of a rule, those that hold its left side.")]
    share: Annotated[float | None, Field(description="The first over the second.")]


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
    data: NotRequired[Counted]
    test: NotRequired[Counted]
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
    joint = mixture.weights * inside
    if joint.sum() == 0:
        return []
    share = joint / joint.sum()
    order = largest_first(mixture)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(1, len(order) + 1)
    most = np.argsort(-share, kind="stable")[:_MOST_SEGMENTS]
    return [
        {
            "number": int(number[k]),
            "name": served.name_of(int(k)),
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
    with_item = with_each(model, others, codes, np.empty(0, dtype=np.int32))
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
