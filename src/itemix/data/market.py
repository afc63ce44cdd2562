"""Market baskets with named items: buyers with reasons to go shopping, and rules that are planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.core.items import Items
from itemix.core.transactions import Transactions
from itemix.data import drawing, grocery
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from itemix.data.grocery import BuyerType, PlantedRule

_ROWS_AT_A_TIME = 20_000
_TOP_POPULARITY = 0.26
_SKEW = 0.7
_MOST_LIKELY = 0.95


def grocery_store(n_transactions: int = 5000, random_state: drawing.Seed = 0) -> Transactions:
    """Generate the baskets of a grocery store with named items.

    Each basket has one of a dozen reasons behind it (breakfast, taco night, a young family, a quick stop,
    ...), which makes some items likely; everything in the store may come along by popularity, which falls
    like a power of the rank; and some items call for others (tortillas for salsa). See `itemix.data.grocery`
    for all that is planted.

    Parameters
    ----------
    n_transactions : int
        How many baskets.
    random_state : int or numpy.random.Generator
        The seed.

    Returns
    -------
    Transactions
        Baskets of about seven of 92 items, none empty.

    Examples
    --------
    >>> from itemix.data.synthetic import grocery_store
    >>> store = grocery_store(1000)
    >>> store.n_transactions, store.n_items
    (1000, 92)
    """
    plan = _Plan(grocery.ITEMS, grocery.BUYER_TYPES, grocery.RULES)
    return _baskets(plan, n_transactions, random_state, "the synthetic grocery store")


def market_baskets(
    n_transactions: int,
    items: Iterable[str],
    *,
    buyer_types: Sequence[BuyerType] = (),
    rules: Sequence[PlantedRule] = (),
    random_state: drawing.Seed = 0,
) -> Transactions:
    """Generate baskets of a store of one's own, with buyer types and rules that are planted.

    A basket has one buyer type behind it, which makes its items likely; every other item comes along by its
    popularity, which falls like a power of its place in `items`. Then, rule by rule, a basket that holds all
    antecedents gets the consequent with the probability of the rule.

    Parameters
    ----------
    n_transactions : int
        How many baskets.
    items : iterable of str
        The items, most popular first. A basket that would be empty holds the first.
    buyer_types : sequence of BuyerType
        The reasons to go shopping; without any, items come by popularity alone.
    rules : sequence of PlantedRule
        The rules, in the order in which they act.
    random_state : int or numpy.random.Generator
        The seed.

    Raises
    ------
    InvalidInputError
        If a buyer type or a rule names an item that is not there, or a probability is none.

    Examples
    --------
    >>> from itemix.data.synthetic import BuyerType, PlantedRule, market_baskets
    >>> baskets = market_baskets(
    ...     10_000,
    ...     ["bread", "wine", "cheese", "olives"],
    ...     buyer_types=[BuyerType("party", 1.0, {"wine": 0.7, "olives": 0.4}), BuyerType("daily", 3.0, {})],
    ...     rules=[PlantedRule(("wine",), "cheese", 0.5)],
    ... )
    >>> round(baskets.support(["wine", "cheese"]) / baskets.support("wine"), 1)
    0.6
    """
    plan = _Plan(tuple(items), buyer_types, rules)
    return _baskets(plan, n_transactions, random_state, "synthetic market baskets")


class _Plan:
    """What is planted, in codes, checked."""

    def __init__(
        self, items: Sequence[str], buyer_types: Sequence[BuyerType], rules: Sequence[PlantedRule]
    ) -> None:
        self.items = Items(items)
        if len(self.items) == 0:
            raise InvalidInputError("expected at least one item in the store, got none; name some")
        popularity = np.round(_TOP_POPULARITY * np.arange(1, len(self.items) + 1) ** -_SKEW, 6)
        self.probabilities = np.tile(popularity, (max(len(buyer_types), 1), 1))
        for t, buyer in enumerate(buyer_types):
            for name, probability in buyer.items.items():
                code, least = self.items.code(name), popularity[self.items.code(name)]
                self.probabilities[t, code] = max(_checked(probability, buyer.name), least)
        weights = [drawing.check_between("a weight", b.weight, 0, 1e9, example=1) for b in buyer_types]
        shares = np.cumsum(weights or [1.0])
        if shares[-1] <= 0:
            raise InvalidInputError("expected a buyer type of positive weight, got none; try a weight of 1")
        self.shares = shares[:-1] / shares[-1]
        self.rules = [
            (
                [self.items.code(name) for name in rule.antecedents],
                self.items.code(rule.consequent),
                _checked(rule.probability, f"the rule for {rule.consequent}"),
            )
            for rule in rules
        ]

    def draw(self, n: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Draw n baskets, shape (n, n_items)."""
        types = np.searchsorted(self.shares, rng.random(n), side="right")
        appetite = 0.5 + rng.random(n)
        wanted = np.minimum(self.probabilities[types] * appetite[:, None], _MOST_LIKELY)
        baskets = rng.random(wanted.shape) < wanted
        for antecedents, consequent, probability in self.rules:
            asked = baskets[:, antecedents].all(axis=1)
            baskets[:, consequent] |= asked & (rng.random(n) < probability)
        empty = ~baskets.any(axis=1)
        baskets[empty, 0] = True
        return baskets


def _checked(probability: float, where: str) -> float:
    return drawing.check_between(f"a probability in {where}", probability, 0, 1, example=0.5)


def _baskets(plan: _Plan, n_transactions: int, random_state: drawing.Seed, source: str) -> Transactions:
    n = drawing.check_number(n_transactions, "transactions", example=5000)
    rng = drawing.generator(random_state)
    sizes = [_ROWS_AT_A_TIME] * (n // _ROWS_AT_A_TIME) + [n % _ROWS_AT_A_TIME]
    lengths, codes = zip(*(_to_rows(plan.draw(size, rng)) for size in sizes), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Transactions(indptr, np.concatenate(codes), plan.items, source=source)


def _to_rows(matrix: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return matrix.sum(axis=1), np.nonzero(matrix)[1]
