"""Views of a model: what it is, its items, its components, and one component in detail."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
import numpy.typing as npt
from pydantic import Field

from itemix.errors import InvalidInputError
from itemix.mining import query
from itemix.mining.characteristics import characteristic_items, in_general
from itemix.models.causes import Causes
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture
from itemix.web.views import Answer, ItemName, ItemNames, Probability, Question, Text
from itemix.web.views.patterns import matching_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.items import Label
    from itemix.models.base import Model
    from itemix.models.causes import AnyComponents
    from itemix.web.served import Served

_LOWEST_THRESHOLD = 1e-4
_ITEMS_RANKED = 40
_TINY = 1e-3


class AboutQuestion(Question):
    """What a model is."""


class ItemsQuestion(Question):
    """Items whose names have a text in them."""

    search: Text = Field(default="", description="A part of the names.")
    limit: int = Field(default=20, ge=1, le=10_000, description="The most rows to return.")


class ModelFacts(Answer):
    """What a model is."""

    name: str
    kind: Annotated[str, Field(description="The class of the model.")]
    inference: str | None
    n_items: int
    n_components: Annotated[int | None, Field(description="None where the model is no mixture.")]
    called: Annotated[str, Field(description="What one of them is called: component, or cause.")]
    n_samples: Annotated[int, Field(description="How many samples of a sampler the model is the average of.")]
    has_intervals: bool
    n_transactions: Annotated[int | None, Field(description="The size of the data to compare with.")]
    n_test: Annotated[int | None, Field(description="The size of the data that was not fitted to.")]
    lowest_min_support: Annotated[
        Probability,
        Field(
            description="The lowest threshold that makes sense: what one transaction is, or the lowest that "
            "is possible, as far as it is known."
        ),
    ]
    first_min_support: Annotated[
        Probability, Field(description="A threshold that a few hundred itemsets reach.")
    ]
    max_itemsets: int


class FoundItems(Answer):
    """Items whose names have a text in them."""

    n_items: Annotated[int, Field(description="How many items match.")]
    items: list[ProbableItem]


def about(served: Served, asked: AboutQuestion) -> dict[str, Any]:
    """Return what a model is and can answer, and which thresholds make sense to begin with."""
    components, data = served.components, served.data
    return {
        "name": served.name,
        "kind": served.fitted.kind,
        "inference": served.fitted.inference,
        "n_items": served.model.n_items,
        "n_components": None if components is None else components.n_components,
        "called": served.fitted.called,
        "n_samples": max(served.fitted.n_posteriors, 1),
        "has_intervals": served.has_intervals,
        "n_transactions": None if data is None else data.n_transactions,
        "n_test": None if served.test is None else served.test.n_transactions,
        "lowest_min_support": max(lowest_threshold(served), served.searches.lowest_possible),
        "first_min_support": served.first_threshold,
        "max_itemsets": served.limits.max_itemsets,
    }


def items(served: Served, asked: ItemsQuestion) -> dict[str, Any]:
    """Return the most probable items whose names have a text in them."""
    model = served.model
    found = np.array(
        [model.items.code(name) for name in matching_items(model.items, asked.search.strip())], dtype=np.int64
    )
    best = found[np.argsort(-model.item_probabilities[found], kind="stable")][: asked.limit]
    return {
        "n_items": len(found),
        "items": [
            {"item": name, "probability": p}
            for name, p in zip(model.items.names(best), model.item_probabilities[best].tolist(), strict=True)
        ],
    }


def lowest_threshold(served: Served) -> float:
    """Return the lowest threshold that makes sense: that of a single transaction, if there is data."""
    return _LOWEST_THRESHOLD if served.data is None else 1 / max(served.data.n_transactions, 1)


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
    order = _largest_first(mixture)[: asked.limit]
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
    k = int(_largest_first(mixture)[asked.number - 1])
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


def _largest_first(mixture: AnyComponents) -> npt.NDArray[np.int64]:
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
