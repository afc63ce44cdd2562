"""Views of segments: the components of a mixture, one of them in detail, and the map of all."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
import numpy.typing as npt
from pydantic import Field

from itemix._runtime import still_wanted
from itemix.errors import InvalidInputError
from itemix.mining.characteristics import characteristic_items, in_general
from itemix.mining.segments import MOST_MAPPED, Segments, nearest_ones, relevance
from itemix.models.causes import Causes
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture
from itemix.web.views import Answer, ItemName, Probability, Question, Text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from itemix.core.items import Label
    from itemix.models.base import Model
    from itemix.models.causes import AnyComponents
    from itemix.web.served import Served

_ITEMS_RANKED = 40
_TINY = 1e-3
_ROWS_ASSIGNED = 50_000


class ComponentsQuestion(Question):
    """The components of a mixture: how many, how many items of each, and how large the heat map is."""

    limit: int = Field(default=100, ge=1, le=1_000, description="The most rows to return.")
    items: int = Field(default=6, ge=0, le=100, description="How many items to name.")
    heat_items: int = Field(default=30, ge=0, le=200, description="How many items the heat map has.")


class ComponentQuestion(Question):
    """One component by its number, the largest is 1."""

    number: int = Field(default=1, ge=1, le=10**9, description="The component, the largest is 1.")
    items: int = Field(default=20, ge=1, le=1_000, description="How many items to name.")
    baskets: int = Field(default=8, ge=0, le=100, description="How many baskets to draw.")


class CharacteristicAnswer(Answer):
    """An item that sets a component apart from others."""

    item: ItemName
    probability: Probability
    lift: Annotated[float, Field(description="The probability in the component over the overall one.")]
    overall: NotRequired[Probability]


class ComponentRow(Answer):
    """One component in a list."""

    number: int
    name: Annotated[str, Field(description="What people call it, or what tells it from all others.")]
    is_given: Annotated[bool, Field(description="Whether people gave the name.")]
    weight: Probability
    mean_length: float
    in_general: str
    items: list[CharacteristicAnswer]


class HeatMap(Answer):
    """The probabilities of the items that tell components apart."""

    items: list[ItemName]
    overall: list[Probability]
    probabilities: Annotated[
        list[list[Probability]], Field(description="A row for each component, a column for each item.")
    ]


class Components(Answer):
    """The components of a mixture."""

    n_components: int
    components: list[ComponentRow]
    heat: HeatMap


class Component(Answer):
    """One component in detail."""

    number: int
    name: Annotated[str, Field(description="What people call it, or what tells it from all others.")]
    is_given: Annotated[bool, Field(description="Whether people gave the name.")]
    weight: Probability
    mean_length: float
    in_general: str
    items: list[CharacteristicAnswer]
    baskets: Annotated[
        list[list[ItemName]],
        Field(description="Baskets drawn from this component alone; the same each time."),
    ]


def components(served: Served, asked: ComponentsQuestion) -> dict[str, Any]:
    """Return the components, largest first, and the probabilities of their most telling items."""
    mixture = _components_of(served)
    order = largest_first(mixture)[: asked.limit]
    heat = _telling_items(mixture, order, asked.heat_items)
    return {
        "n_components": mixture.n_components,
        "components": [
            {
                "number": number,
                "name": served.fitted.name_of(k),
                "is_given": k in served.fitted.names,
                "weight": float(mixture.weights[k]),
                "mean_length": float(mixture.probs[k].sum()),
                "items": [entry._asdict() for entry in characteristic_items(mixture, k, asked.items)],
                "in_general": in_general(mixture, k),
            }
            for number, k in enumerate(order.tolist(), start=1)
        ],
        "heat": {
            "items": mixture.items.names(heat),
            "overall": mixture.item_probabilities[heat].tolist(),
            "probabilities": mixture.probs[np.ix_(order, heat)].tolist(),
        },
    }


def component(served: Served, asked: ComponentQuestion) -> dict[str, Any]:
    """Return one component: its items, and baskets drawn from it."""
    mixture = _components_of(served)
    if asked.number > mixture.n_components:
        raise InvalidInputError(
            f"expected a component from 1 to {mixture.n_components}, got {asked.number}; try 1"
        )
    k = int(largest_first(mixture)[asked.number - 1])
    baskets = _alone(served, mixture, k).sample(asked.baskets, random_state=asked.number)
    overall = mixture.item_probabilities
    return {
        "number": asked.number,
        "name": served.fitted.name_of(k),
        "is_given": k in served.fitted.names,
        "weight": float(mixture.weights[k]),
        "mean_length": float(mixture.probs[k].sum()),
        "items": [
            {**entry._asdict(), "overall": float(overall[mixture.items.code(entry.item)])}
            for entry in characteristic_items(mixture, k, asked.items)
        ],
        "in_general": in_general(mixture, k),
        "baskets": [sorted(basket, key=_most_telling(mixture, k)) for basket in baskets.to_lists()],
    }


def _components_of(served: Served) -> AnyComponents:
    if served.components is None:
        raise InvalidInputError(
            f"expected a mixture, got {served.name!r}, which has no components; try /dependencies"
        )
    return served.components


def _alone(served: Served, mixture: AnyComponents, k: int) -> Model:
    """Return one component as a model of its own."""
    own = slice(k, k + 1)
    if isinstance(mixture, Causes):
        return mixture.alone(k)
    if isinstance(served.model, TreeMixture):
        return TreeMixture([1.0], served.model.parents[own], served.model.probs[own], mixture.items)
    return Mixture([1.0], mixture.probs[own], mixture.items)


def largest_first(mixture: AnyComponents) -> npt.NDArray[np.int64]:
    """Return the components in the order of their numbers, which begin at the largest."""
    return np.argsort(-mixture.weights, kind="stable")


def _telling_items(mixture: AnyComponents, order: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Return the most characteristic items; every component that is not tiny names one in turn."""
    telling = order[mixture.weights[order] >= min(_TINY, float(mixture.weights.max()))]
    by_component = [
        [mixture.items.code(entry.item) for entry in characteristic_items(mixture, int(k), _ITEMS_RANKED)]
        for k in telling
    ]
    in_turn = dict.fromkeys(chain.from_iterable(zip_longest(*by_component)))
    in_turn.pop(None, None)  # where a component has no more items to name
    return np.array([*in_turn][:n], dtype=np.int64)


def _most_telling(mixture: AnyComponents, k: int) -> Callable[[Label], float]:
    """Return the key that sorts the items of a component by their lift, the highest first."""
    lift = mixture.probs[k] / np.maximum(mixture.item_probabilities, np.finfo(float).tiny)
    return lambda name: -float(lift[mixture.items.code(name)])


class MapQuestion(Question):
    """The components beside each other, joined to some number of groups."""

    kinds: int | None = Field(
        default=None, ge=1, le=10_000, description="How many groups; without it, each component is one."
    )
    relevance: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="How items are ranked: 1 by how frequent they are in the group, 0 by how telling.",
    )
    items: int = Field(default=10, ge=1, le=100, description="How many items of each group to name.")


class Segment(Answer):
    """A group of components that are alike."""

    name: Annotated[str, Field(description="What people call its largest component, or what tells it apart.")]
    numbers: Annotated[list[int], Field(description="Its components, the largest first.")]
    weight: Probability
    mean_length: float
    x: float
    y: float
    nearest: Annotated[str | None, Field(description="The group that is most like it.")]
    items: list[CharacteristicAnswer]


class SegmentMap(Answer):
    """The components beside each other."""

    n_components: int
    segments: Annotated[list[Segment], Field(description="The largest first.")]


def segment_map(served: Served, asked: MapQuestion) -> dict[str, Any]:
    """Return groups of components with their places on a map and their most relevant items."""
    mixture, apart = _components_of(served), served.fitted.segments
    if apart is None or isinstance(mixture, Causes):
        raise InvalidInputError(
            f"expected a mixture, got {served.name!r}, whose causes may act together; try /components"
        )
    if mixture.n_components > MOST_MAPPED:
        raise InvalidInputError(
            f"expected at most {MOST_MAPPED:,} components, got {mixture.n_components:,}; try /components"
        )
    groups = apart.joined(mixture.n_components if asked.kinds is None else asked.kinds)
    merged = Segments(apart.merged(groups))
    number_of = np.empty(mixture.n_components, dtype=np.int64)
    number_of[largest_first(mixture)] = np.arange(1, mixture.n_components + 1)
    overall = mixture.item_probabilities
    is_single = len(merged.mixture.weights) == mixture.n_components
    labels = merged.labels
    found = []
    for g, weight in enumerate(merged.mixture.weights.tolist()):
        members = np.flatnonzero(groups == g)
        members = members[np.argsort(number_of[members])]
        share = mixture.weights[members] if weight > 0 else np.ones(len(members))
        x, y = np.average(apart.places[members], axis=0, weights=share)
        given = served.fitted.names.get(int(members[0]))
        label = served.fitted.name_of(int(members[0])) if is_single else labels[g]
        ranked = relevance(merged.mixture.probs[g], overall, asked.relevance)
        found.append(
            {
                "name": given or label,
                "numbers": number_of[members].tolist(),
                "weight": float(weight),
                "mean_length": float(merged.mixture.probs[g].sum()),
                "x": float(x),
                "y": float(y),
                "items": _items_at(merged.mixture, g, np.argsort(-ranked, kind="stable")[: asked.items]),
            }
        )
    nearest = nearest_ones(merged.distances) if len(found) > 1 else None
    for g, one in enumerate(found):
        one["nearest"] = None if nearest is None else found[int(nearest[g])]["name"]
    return {"n_components": mixture.n_components, "segments": found}


def _items_at(mixture: AnyComponents, g: int, codes: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    overall = mixture.item_probabilities
    return [
        {
            "item": mixture.items[i],
            "probability": float(mixture.probs[g, i]),
            "lift": float(mixture.probs[g, i] / overall[i]) if overall[i] > 0 else 0.0,
            "overall": float(overall[i]),
        }
        for i in codes.tolist()
    ]


class NameQuestion(Question):
    """A name that is given to a component."""

    number: int = Field(default=1, ge=1, le=10**9, description="The component, the largest is 1.")
    name: Text = Field(default="", description="What to call it; an empty name takes the old one away.")


class NameAnswer(Answer):
    """A name that was given."""

    number: int
    name: str
    is_kept: Annotated[bool, Field(description="Whether it was kept in a file beside the model.")]


def give_name(served: Served, asked: NameQuestion) -> dict[str, Any]:
    """Return the name that a component has after it was given one."""
    mixture = _components_of(served)
    if not served.for_owner:
        raise InvalidInputError(
            "expected itemix explore, where names can be given, got itemix serve; explore the model"
        )
    if asked.number > mixture.n_components:
        raise InvalidInputError(
            f"expected a component from 1 to {mixture.n_components}, got {asked.number}; try 1"
        )
    k = int(largest_first(mixture)[asked.number - 1])
    is_kept = served.rename(k, " ".join(asked.name.split()))
    return {"number": asked.number, "name": served.fitted.name_of(k), "is_kept": is_kept}


class AssignmentsChosen(Question):
    """Which groups transactions are assigned to."""

    kinds: int | None = Field(
        default=None, ge=1, le=10_000, description="How many groups; without it, each component is one."
    )


def write_assignments(served: Served, asked: AssignmentsChosen, path: Path) -> None:
    """Write the most probable group of each transaction of the data, with its name and how probable it is."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    mixture, apart, data = _components_of(served), served.fitted.segments, served.data
    if data is None or not served.for_owner:
        raise InvalidInputError(
            "expected transactions to assign, got none; start itemix explore with --data and a file of them"
        )
    if apart is None or not isinstance(mixture, Mixture):
        raise InvalidInputError(f"expected a mixture, got {served.name!r}, whose causes may act together")
    groups = apart.joined(mixture.n_components if asked.kinds is None else asked.kinds)
    names = [one["name"] for one in segment_map(served, MapQuestion(kinds=asked.kinds))["segments"]]
    best = np.empty(data.n_rows, dtype=np.int64)
    probability = np.empty(data.n_rows)
    for start in range(0, data.n_rows, _ROWS_ASSIGNED):
        rows = slice(start, start + _ROWS_ASSIGNED)
        part = data.of_rows(np.arange(*rows.indices(data.n_rows)))
        chances = mixture.responsibilities(part, component_labels=groups)[
            np.concatenate([[0], np.cumsum(part.multiplicities)[:-1]])
            if part.multiplicities is not None
            else ...
        ]
        best[rows], probability[rows] = chances.argmax(axis=1), chances.max(axis=1)
        still_wanted()
    ids = {"row": pa.array(np.arange(1, data.n_rows + 1))} if data.ids is None else {"id": data.ids}
    columns = {
        **ids,
        "kind": pa.array(best + 1),
        "name": pa.array([names[g] for g in best.tolist()]),
        "probability": pa.array(probability),
    }
    table = pa.table(columns).flatten()
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        csv.write_csv(table, path)
