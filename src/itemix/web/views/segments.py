"""Views of segments: the components of a mixture, one of them in detail, and the map of all."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
import numpy.typing as npt
from pydantic import Field

from itemix.errors import InvalidInputError
from itemix.mining.characteristics import characteristic_items, in_general
from itemix.models.causes import Causes
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture
from itemix.web.views import Answer, ItemName, Probability, Question

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.items import Label
    from itemix.models.base import Model
    from itemix.models.causes import AnyComponents
    from itemix.web.served import Served

_ITEMS_RANKED = 40
_TINY = 1e-3


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
