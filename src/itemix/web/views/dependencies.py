"""Pairs of items that attract or avoid each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from itemix.mining import pairs, query
from itemix.web.questions import Names, Question

if TYPE_CHECKING:
    from itemix.web.served import Served

_MAX_PAIRS = 2_000
_USUAL_PAIRS = 300
_NOISE = 1e-9


class DependenciesQuestion(Question):
    """How many pairs, of which sign and strength, and of which items."""

    sign: query.Sign = Field(
        default="both", description="Pairs that attract each other, that avoid each other, or both."
    )
    items: Names = Field(default=(), description="Only pairs with one of these items.")
    min_information: float = Field(
        default=0.0, ge=0, le=1, description="The least mutual information of a pair, in bits."
    )
    limit: int = Field(default=200, ge=1, le=_MAX_PAIRS, description="The most rows to return.")


def dependencies(served: Served, asked: DependenciesQuestion) -> dict[str, Any]:
    """Return pairs of items, the strongest dependence first, and how probable each of their items is."""
    n_pairs = _USUAL_PAIRS if asked.limit <= _USUAL_PAIRS else _MAX_PAIRS
    compared = None if asked.items else pairs.comparable_items(served.model)
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
