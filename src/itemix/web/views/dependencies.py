"""Pairs of items that attract or avoid each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from itemix.mining import query
from itemix.web.questions import choice, names, number, whole

if TYPE_CHECKING:
    from itemix.items import Label
    from itemix.web.served import Served

SIGNS = ("both", "positive", "negative")
_MAX_PAIRS = 2_000


@dataclass(frozen=True)
class DependenciesQuestion:
    """How many pairs, of which sign and strength, and of which items."""

    sign: query.Sign = choice("both", SIGNS)  # noqa: RUF009 - a field
    items: tuple[Label, ...] = names()
    min_information: float = number(0.0, 0, 1)
    limit: int = whole(200, 1, _MAX_PAIRS)


def dependencies(served: Served, asked: DependenciesQuestion) -> dict[str, Any]:
    """Return pairs of items, the strongest dependence first, and how probable each of their items is."""
    key = "dependencies", asked.sign, asked.items
    pairs = served.remember(
        key,
        lambda: query.dependencies(served.model, _MAX_PAIRS, sign=asked.sign, items=asked.items or None),
    )
    chosen = [pair for pair in pairs if pair.information >= asked.min_information][: asked.limit]
    linked = dict.fromkeys(name for pair in chosen for name in (pair.item, pair.other))
    probability = served.model.item_probabilities
    return {
        "items": [
            {"item": name, "probability": float(probability[served.model.items.code(name)])}
            for name in linked
        ],
        "pairs": [pair._asdict() for pair in chosen],
    }
