"""Synthetic transactions from seeded generators: same seed, same data, on every machine."""

from __future__ import annotations

from itemix.data.grocery import BuyerType, PlantedRule
from itemix.data.market import grocery_store, market_baskets
from itemix.data.mixtures import from_mixture, paper_data, paper_mixture, random_mixture
from itemix.data.quest import quest

__all__ = [
    "BuyerType",
    "PlantedRule",
    "from_mixture",
    "grocery_store",
    "market_baskets",
    "paper_data",
    "paper_mixture",
    "quest",
    "random_mixture",
]
