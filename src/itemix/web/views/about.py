"""What is served: the models, and the items of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from itemix.web.questions import Question, Text
from itemix.web.views.patterns import matching_items

if TYPE_CHECKING:
    from itemix.web.served import Served

_LOWEST_THRESHOLD = 1e-4


class AboutQuestion(Question):
    """What a model is."""


class ItemsQuestion(Question):
    """Items whose names have a text in them."""

    search: Text = Field(default="", description="A part of the names.")
    limit: int = Field(default=20, ge=1, le=10_000, description="The most rows to return.")


def about(served: Served, asked: AboutQuestion) -> dict[str, Any]:
    """Return what a model is and can answer, and which thresholds make sense to begin with."""
    components, data = served.components, served.data
    return {
        "name": served.name,
        "kind": type(served.fitted).__name__,
        "inference": getattr(served.fitted, "inference", None),
        "n_items": served.model.n_items,
        "n_components": None if components is None else components.n_components,
        "n_samples": max(len(getattr(served.fitted, "posteriors_", ())), 1),
        "has_intervals": served.has_intervals,
        "n_transactions": None if data is None else data.n_transactions,
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
    """Return the lowest threshold that makes sense: that of a single transaction, where there is data."""
    return _LOWEST_THRESHOLD if served.data is None else 1 / max(served.data.n_transactions, 1)
