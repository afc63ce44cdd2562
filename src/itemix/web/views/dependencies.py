"""Pairs of items that attract or avoid each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from itemix.mining import pairs, query
from itemix.web.questions import choice, names, number, whole

if TYPE_CHECKING:
    from itemix.items import Label
    from itemix.web.served import Served

SIGNS = ("both", "positive", "negative")
_MAX_PAIRS = 2_000
_USUAL_PAIRS = 300
_NOISE = 1e-9


@dataclass(frozen=True)
class DependenciesQuestion:
    """How many pairs, of which sign and strength, and of which items."""

    sign: query.Sign = choice("both", SIGNS)  # noqa: RUF009 - a field
    items: tuple[Label, ...] = names()
    min_information: float = number(0.0, 0, 1)
    limit: int = whole(200, 1, _MAX_PAIRS)


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
