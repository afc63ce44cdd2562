"""Views of a model: what it is, what stands out, its items, and which of them depend on each other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field

from itemix._runtime import deadline, still_wanted
from itemix.core.sets import Sets
from itemix.errors import ItemixError
from itemix.mining import query
from itemix.web.served import Deadline, TooSlowError
from itemix.web.views import Answer, ItemName, ItemNames, Probability, Question, Text
from itemix.web.views.differences import SurprisesQuestion, choose_surprises
from itemix.web.views.patterns import RulesQuestion, choose_rules, matching_items, ranked
from itemix.web.views.segments import largest_first

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.web.served import Served

_LOWEST_THRESHOLD = 1e-4


class AboutQuestion(Question):
    """What a model is."""


class ItemsQuestion(Question):
    """Items whose names have a text in them."""

    search: Text = Field(default="", description="A part of the names.")
    limit: int = Field(default=20, ge=1, le=10_000, description="The most rows to return.")


class CheckAnswer(Answer):
    """One thing that can be wrong with a fitted model, and whether it is."""

    name: Literal["converged", "mixed", "calibrated"]
    verdict: Literal["good", "poor", "unknown"]
    sentence: str
    figure: float | None


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
    can_name: Annotated[bool, Field(description="Whether components can be given names here.")]
    n_transactions: Annotated[int | None, Field(description="The size of the data to compare with.")]
    is_training: Annotated[bool, Field(description="Whether the model was fitted to that data.")]
    n_test: Annotated[int | None, Field(description="The size of the data that was not fitted to.")]
    checks: list[CheckAnswer]
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


class ProbableItem(Answer):
    """An item, and how probable it is."""

    item: ItemName
    probability: Probability


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
        "can_name": served.for_owner,
        "n_transactions": None if data is None else data.n_transactions,
        "is_training": served.is_training,
        "checks": [check._asdict() for check in served.checks],
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


class PairRow(Answer):
    """One pair of items."""

    item: ItemName
    other: ItemName
    probability: Probability
    expected: Annotated[Probability, Field(description="If the two were independent.")]
    lift: float
    leverage: float
    information: Annotated[float, Field(description="Mutual information in bits.")]
    exact: NotRequired[Annotated[Probability, Field(description="How much of the data holds both.")]]
    tested: NotRequired[Annotated[Probability, Field(description="How much of the test data holds both.")]]


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
        "pairs": _pair_rows(served, chosen),
    }


def _pair_rows(served: Served, pairs: list[query.Dependency]) -> list[dict[str, Any]]:
    sets = Sets.from_names([(pair.item, pair.other) for pair in pairs], served.model.items)
    counted = served.supports(sets)
    return [
        pair._asdict() | {name: support[at] for name, support in counted.items()}
        for at, pair in enumerate(pairs)
    ]


_LEVEL = 0.9
_LEAST_CONFIDENCE = 0.2
_SECONDS = 1.6


class OverviewQuestion(Question):
    """What is in the data, at a glance."""


class Finding(Answer):
    """One thing that stands out."""

    kind: Literal["segment", "pair", "rule", "surprise", "unsure"]
    items: list[ItemName]
    then: NotRequired[Annotated[list[ItemName], Field(description="The right side of a rule.")]]
    name: NotRequired[Annotated[str, Field(description="Of a segment.")]]
    number: NotRequired[Annotated[int, Field(description="Of a segment.")]]
    probability: Annotated[
        Probability,
        Field(description="The share of a segment, the confidence of a rule, the support of a set."),
    ]
    ratio: NotRequired[
        Annotated[float | None, Field(description="The lift; of a surprise, what is seen over the expected.")]
    ]
    lower: NotRequired[Probability]
    upper: NotRequired[Probability]


class Overview(Answer):
    """What is in the data, at a glance."""

    n_transactions: Annotated[int | None, Field(description="Of the data, or that the model was fitted to.")]
    mean_length: Annotated[float, Field(description="Items in a transaction, on average.")]
    findings: list[Finding]


def overview(served: Served, asked: OverviewQuestion) -> dict[str, Any]:
    """Return how much data there is, and what stands out: a segment, a pair, a rule, a surprise, a doubt."""
    data = served.data
    n = served.fitted.n_transactions if data is None else data.n_transactions
    makers = (_largest_segment, _strongest_pair, _best_rule, _first_surprise, _least_sure)
    found = [_in_time(served, make) for make in makers]
    return {
        "n_transactions": n,
        "mean_length": float(served.model.item_probabilities.sum()),
        "findings": [finding for finding in found if finding is not None],
    }


def _in_time(served: Served, make: Callable[[Served], dict[str, Any] | None]) -> dict[str, Any] | None:
    """Return a finding; one that takes long is left out, so that the page has the others, and tried again."""
    try:
        with deadline(Deadline(min(_SECONDS, served.limits.seconds / 6))):
            return served.once(make, partial(make, served))
    except TooSlowError:
        still_wanted()
        return None


def _largest_segment(served: Served) -> dict[str, Any] | None:
    mixture = served.components
    if mixture is None or mixture.n_components < 2:
        return None
    k = int(largest_first(mixture)[0])
    return {
        "kind": "segment",
        "items": [],
        "name": served.fitted.name_of(k),
        "number": 1,
        "probability": float(mixture.weights[k]),
    }


def _strongest_pair(served: Served) -> dict[str, Any] | None:
    compared = query.comparable_items(served.model)
    among = None if compared is None else served.model.items.names(compared)
    found = query.dependencies(served.model, 1, sign="positive", among=among)
    if not found:
        return None
    pair = found[0]
    items = [pair.item, pair.other]
    return {"kind": "pair", "items": items, "probability": pair.probability, "ratio": pair.lift}


def _best_rule(served: Served) -> dict[str, Any] | None:
    """Return the rule of the highest lift among those that are not rare."""
    threshold = served.first_threshold
    asked = RulesQuestion(min_support=threshold, min_threshold=_LEAST_CONFIDENCE, limit=1)
    found, positions = choose_rules(served, asked)
    if not len(positions):
        return None
    rule = found[int(ranked(found, positions, asked, 0, 1)[0])]
    return {
        "kind": "rule",
        "items": list(rule.antecedents),
        "then": list(rule.consequents),
        "probability": rule.confidence,
        "ratio": rule.lift,
    }


def _first_surprise(served: Served) -> dict[str, Any] | None:
    if served.test is None:
        return None
    try:
        asked = SurprisesQuestion(min_support=served.first_threshold)
        tested, positions = choose_surprises(served, asked)
    except TooSlowError:
        raise
    except ItemixError:  # a model without a posterior, or data that it was fitted to
        return None
    if not len(positions):
        return None
    first = int(positions[np.argmin(tested.q_value[positions])])
    ratio = float(tested.ratio[first])
    return {
        "kind": "surprise",
        "items": list(tested.sets[first]),
        "probability": float(tested.support[first]),
        "ratio": ratio if np.isfinite(ratio) else None,
    }


def _least_sure(served: Served) -> dict[str, Any] | None:
    """Return the frequent set whose interval is widest for its support."""
    if not served.has_intervals:
        return None
    family, positions = served.searches.at(served.first_threshold)
    positions = positions[family.lengths[positions] > 1]
    if not len(positions):
        return None
    chosen = family.itemsets.take(positions)
    ends = served.intervals(chosen, _LEVEL)
    assert ends is not None  # noqa: S101 - the model has intervals
    at = int(np.argmax((ends[1] - ends[0]) / chosen.support))
    return {
        "kind": "unsure",
        "items": list(chosen.sets[at]),
        "probability": float(chosen.support[at]),
        "lower": float(ends[0][at]),
        "upper": float(ends[1][at]),
    }
