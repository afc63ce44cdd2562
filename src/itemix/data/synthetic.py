"""Synthetic transactions from seeded generators: same seed, same data, on every machine.

Only uniform draws, products and comparisons are used, which every platform rounds alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from itemix.data import grocery
from itemix.errors import InvalidInputError
from itemix.transactions import Transactions

_ROWS_AT_A_TIME = 20_000
_TOP_POPULARITY = 0.26
_SKEW = 0.7
_MOST_LIKELY = 0.95


def grocery_store(n_transactions: int = 5000, random_state: int | np.random.Generator = 0) -> Transactions:
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
    if isinstance(n_transactions, bool) or not hasattr(n_transactions, "__index__") or n_transactions < 0:
        raise InvalidInputError(
            f"expected a number of transactions of 0 or more, got {n_transactions!r}; try 5000"
        )
    rng = generator(random_state)
    sizes = [_ROWS_AT_A_TIME] * (n_transactions // _ROWS_AT_A_TIME) + [n_transactions % _ROWS_AT_A_TIME]
    lengths, codes = zip(*(_to_rows(_grocery_baskets(size, rng)) for size in sizes), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Transactions(indptr, np.concatenate(codes), grocery.ITEMS, source="the synthetic grocery store")


def generator(random_state: int | np.random.Generator) -> np.random.Generator:
    """Return a generator whose stream is the same on every platform."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.Generator(np.random.PCG64(random_state))


def _grocery_baskets(n: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    probabilities, shares = _grocery_probabilities()
    types = np.searchsorted(shares, rng.random(n), side="right")
    appetite = 0.5 + rng.random(n)
    wanted = np.minimum(probabilities[types] * appetite[:, None], _MOST_LIKELY)
    baskets = rng.random(wanted.shape) < wanted
    code = {name: i for i, name in enumerate(grocery.ITEMS)}
    for rule in grocery.RULES:
        asked = baskets[:, [code[name] for name in rule.antecedents]].all(axis=1)
        baskets[:, code[rule.consequent]] |= asked & (rng.random(n) < rule.probability)
    empty = ~baskets.any(axis=1)
    baskets[empty, 0] = True
    return baskets


def _grocery_probabilities() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return how likely each buyer type takes each item, and the cumulated shares of the types."""
    code = {name: i for i, name in enumerate(grocery.ITEMS)}
    popularity = np.round(_TOP_POPULARITY * np.arange(1, len(code) + 1) ** -_SKEW, 6)
    probabilities = np.tile(popularity, (len(grocery.BUYER_TYPES), 1))
    for t, buyer in enumerate(grocery.BUYER_TYPES):
        for name, probability in buyer.items.items():
            probabilities[t, code[name]] = max(probability, popularity[code[name]])
    shares = np.cumsum([buyer.weight for buyer in grocery.BUYER_TYPES])
    return probabilities, shares[:-1] / shares[-1]


def _to_rows(matrix: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return matrix.sum(axis=1), np.nonzero(matrix)[1]
