"""Synthetic transactions from seeded generators: same seed, same data, on every machine.

There are baskets drawn from mixtures, among them the paper's Syn-15 to Syn-140, baskets like those of the IBM
Quest generator, and market baskets with named items and planted rules.

To get the same data on every platform, uniform numbers are drawn, and then compared, multiplied or looked up
in tables. The last digit of a logarithm or an exponential differs between platforms, so these are rounded.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.core.items import Items
from itemix.core.transactions import Transactions
from itemix.data import grocery
from itemix.data.grocery import BuyerType, PlantedRule
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from itemix._typing import Floats, Ints
    from itemix.models.base import Model
    from itemix.models.mixture import Mixture

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


GeneratorSeed = int | np.random.Generator

LARGEST_MEAN = 500.0
"""The largest mean of a Poisson distribution that is drawn from."""

_DIGITS = 6
_DIGITS_OF_TABLES = 12


def generator(random_state: GeneratorSeed) -> np.random.Generator:
    """Return a generator whose stream is the same on every platform."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.Generator(np.random.PCG64(random_state))


def check_amount(n: object, noun: str, *, least: int = 0, example: int) -> int:
    """Return how many things to make.

    Raises
    ------
    InvalidInputError
        If it is not a whole number, or less than `least`.
    """
    if isinstance(n, bool) or not hasattr(n, "__index__") or operator.index(n) < least:
        raise InvalidInputError(f"expected a number of {noun} of {least} or more, got {n!r}; try {example}")
    return operator.index(n)


def check_between(name: str, value: object, low: float, high: float, *, example: float) -> float:
    """Return a number from `low` to `high`.

    Raises
    ------
    InvalidInputError
        If it is not a number, or outside these.
    """
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not low <= float(value) <= high:  # type: ignore[arg-type]
        raise InvalidInputError(f"expected {name} from {low:g} to {high:g}, got {value!r}; try {example:g}")
    return float(value)  # type: ignore[arg-type]


def exponential(rng: np.random.Generator, n: int) -> Floats:
    """Draw n numbers from the exponential distribution with mean 1."""
    drawn: Floats = -np.log(1.0 - rng.random(n))
    return drawn.round(_DIGITS)


def poisson(rng: np.random.Generator, mean: float, n: int) -> npt.NDArray[np.int64]:
    """Draw n numbers from a Poisson distribution with a mean of at most `LARGEST_MEAN`."""
    largest = int(mean + 12 * np.sqrt(mean) + 20)
    factors = mean / np.arange(1, largest + 1)
    shares = np.cumsum(np.exp(-mean) * np.concatenate([[1.0], np.cumprod(factors)]))
    return np.searchsorted(shares.round(_DIGITS_OF_TABLES)[:-1], rng.random(n), side="right")


# The paper says how many components its mixtures have, that half of the data is for training, and where the
# supports of the frequent itemsets of Syn-15 at 30% lie: a third of them, over 35,000, between 0.30 and 0.32.
# It does not say how the mixtures were drawn. Here `random_mixture` draws them, with parameters that give
# each about 100,000 itemsets, a third of them in that range. With 30,000 transactions the errors have the
# size of those in the paper.

N_TRANSACTIONS = 30_000
N_ITEMS = 100
MIN_SUPPORT = 0.3
# The number of components of each mixture, and the decay that gives it about 100,000 itemsets at 30%.
_SHAPES = {
    "syn15": (15, 57.0),
    "syn25": (25, 58.0),
    "syn50": (50, 55.0),
    "syn75": (75, 55.0),
    "syn140": (140, 51.0),
}
NAMES = tuple(_SHAPES)

_MIXTURE_DIGITS = 4


def from_mixture(model: Model, n_transactions: int, random_state: GeneratorSeed = 0) -> Transactions:
    """Draw transactions from a given mixture, or from any other model.

    Parameters
    ----------
    model : Mixture or other model
        The model; a fitted estimator has it as `model_`.
    n_transactions : int
        How many transactions.
    random_state : int or numpy.random.Generator
        The seed.

    Examples
    --------
    >>> from itemix import Mixture
    >>> from itemix.data.synthetic import from_mixture
    >>> weekdays_or_weekend = Mixture([0.7, 0.3], [[0.8, 0.1], [0.3, 0.9]], ["coffee", "wine"])
    >>> data = from_mixture(weekdays_or_weekend, 10_000)
    >>> round(data.support(["coffee", "wine"]), 2)  # 0.7 * 0.08 + 0.3 * 0.27 = 0.137
    0.14
    """
    n = check_amount(n_transactions, "transactions", example=5000)
    return model.sample(n, random_state=generator(random_state))


def random_mixture(
    n_components: int,
    n_items: int,
    *,
    top: float = 0.95,
    decay: float = 55.0,
    n_groups: int = 3,
    together: float = 0.8,
    random_state: GeneratorSeed = 0,
) -> Mixture:
    """Draw a mixture at random.

    The weights are uniform on the simplex. In each component, item i (counted from 0) has the probability
    u^(1/m - 1) with u uniform, so that its mean is m = top * exp(-i / decay). The items are dealt out to
    groups in turn. In each component most items of a group have the same u, so that they are frequent and
    rare together, and depend on each other.

    Parameters
    ----------
    n_components, n_items : int
        The size of the mixture; the items are called 1, 2, ...
    top : float
        The mean probability of the first item, from 0.01 to 0.99.
    decay : float
        After how many items the mean has fallen to a third (1/e).
    n_groups : int
        The number of groups of items.
    together : float
        The probability that an item has the u of its group in a component, and not one of its own. With 0 and
        many components, items hardly depend on each other.
    random_state : int or numpy.random.Generator
        The seed.

    Examples
    --------
    >>> from itemix.data.synthetic import random_mixture
    >>> random_mixture(4, 20)
    Mixture(4 components, 20 items)
    """
    from itemix.models.mixture import Mixture

    K = check_amount(n_components, "components", least=1, example=10)
    D = check_amount(n_items, "items", least=1, example=100)
    G = check_amount(n_groups, "groups", least=1, example=3)
    check_between("top", top, 0.01, 0.99, example=0.95)
    check_between("decay", decay, 0.1, 1e6, example=55)
    check_between("together", together, 0, 1, example=0.8)
    rng = generator(random_state)
    weights = exponential(rng, K)
    own, of_group = rng.random((K, D)), rng.random((K, G))
    u = np.where(rng.random((K, D)) < together, of_group[:, np.arange(D) % G], own)
    mean = top * np.exp(-np.arange(D) / decay)
    return Mixture(weights / weights.sum(), np.round(u ** (1 / mean - 1), _MIXTURE_DIGITS), range(1, D + 1))


def paper_mixture(name: str) -> Mixture:
    """Return the mixture behind one of the paper's synthetic data sets.

    Parameters
    ----------
    name : {"syn15", "syn25", "syn50", "syn75", "syn140"}
        The number in the name is the number of components.

    Raises
    ------
    InvalidInputError
        If there is no such data set.

    Examples
    --------
    >>> from itemix.data.synthetic import paper_mixture
    >>> paper_mixture("syn15")
    Mixture(15 components, 100 items)
    """
    if name not in _SHAPES:
        raise InvalidInputError(f"expected one of {', '.join(NAMES)}, got {name!r}; try 'syn15'")
    n_components, decay = _SHAPES[name]
    return random_mixture(n_components, N_ITEMS, decay=decay)


def paper_data(
    name: str, n_transactions: int = N_TRANSACTIONS, random_state: GeneratorSeed = 0
) -> Transactions:
    """Draw transactions from one of the paper's mixtures.

    Parameters
    ----------
    name : {"syn15", "syn25", "syn50", "syn75", "syn140"}
        See `paper_mixture`.
    n_transactions : int
        How many transactions.
    random_state : int or numpy.random.Generator
        The seed.

    Examples
    --------
    >>> from itemix.data.synthetic import paper_data
    >>> paper_data("syn15").n_transactions
    30000
    """
    drawn = from_mixture(paper_mixture(name), n_transactions, random_state)
    return Transactions.from_canonical(
        drawn.indptr, drawn.indices, drawn.items, source=f"the synthetic {name}"
    )


# Baskets like those of the IBM Quest generator follow the description of Agrawal and Srikant (VLDB 1994).
# First patterns are drawn: sets that people buy together. Each has a random size, a weight and a level of
# corruption, and shares some items with the pattern before. Then each basket gets a random size and is filled
# with patterns, chosen by their weights. Some items of a pattern are dropped.

_BASKETS_AT_A_TIME = 50_000
_VARIANCE_OF_CORRUPTION = 0.1
_HIGHEST_CORRUPTION = 0.99
_QUEST_DIGITS = 6


def quest(
    n_transactions: int = 100_000,
    *,
    mean_length: float = 10.0,
    mean_pattern_length: float = 4.0,
    n_patterns: int = 2000,
    n_items: int = 1000,
    correlation: float = 0.5,
    corruption: float = 0.5,
    random_state: GeneratorSeed = 0,
) -> Transactions:
    """Generate baskets as the IBM Quest generator does; the defaults are those of T10.I4.D100K.

    Parameters
    ----------
    n_transactions : int
        How many baskets (D in the names of such data).
    mean_length : float
        The mean size of a basket (T). Sizes have a Poisson distribution, and are at least 1. Items that come
        twice count once, so that baskets are a little smaller.
    mean_pattern_length : float
        The mean size of a pattern (I). Sizes have the same distribution.
    n_patterns : int
        How many patterns (L).
    n_items : int
        How many items (N); they are called 1, 2, ...
    correlation : float
        The mean fraction of its items that a pattern shares with the one before.
    corruption : float
        The mean level of corruption, from 0 (patterns come whole) to 0.9. Levels have a normal distribution
        with variance 0.1. Items of a pattern are dropped as long as uniform numbers are below its level.
    random_state : int or numpy.random.Generator
        The seed.

    Returns
    -------
    Transactions
        The baskets; none is empty.

    Examples
    --------
    >>> from itemix.data.synthetic import quest
    >>> baskets = quest(5000)
    >>> baskets.n_transactions, baskets.n_items
    (5000, 1000)
    """
    n = check_amount(n_transactions, "transactions", example=5000)
    check_between("mean_length", mean_length, 1, LARGEST_MEAN, example=10)
    rng = generator(random_state)
    patterns = draw_patterns(
        rng,
        check_amount(n_patterns, "patterns", least=1, example=2000),
        check_amount(n_items, "items", least=1, example=1000),
        mean_length=mean_pattern_length,
        correlation=correlation,
        corruption=corruption,
    )
    lengths, codes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for first in range(0, n, _BASKETS_AT_A_TIME):
        sizes = 1 + poisson(rng, mean_length - 1, min(_BASKETS_AT_A_TIME, n - first))
        block_lengths, block_codes = _fill(sizes, patterns, rng)
        lengths.append(block_lengths)
        codes.append(block_codes)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Transactions(
        indptr, np.concatenate(codes), range(1, n_items + 1), source="the Quest-like generator"
    )


class Patterns(NamedTuple):
    """The patterns of `quest`, which are planted in baskets.

    Attributes
    ----------
    offsets : (L + 1,) int64
        Where each pattern starts in `codes`.
    codes : int32
        The items of all patterns.
    shares : (L,) float64
        The cumulated probabilities of the patterns.
    levels : (L,) float64
        The level of corruption of each pattern.
    """

    offsets: Ints
    codes: npt.NDArray[np.int32]
    shares: Floats
    levels: Floats

    @property
    def lengths(self) -> Ints:
        """The number of items of each pattern."""
        return np.diff(self.offsets)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Choose n patterns by their weights and corrupt them; return offsets (n + 1,) and the codes left."""
        chosen = np.searchsorted(self.shares[:-1], rng.random(n), side="right")
        lengths = self.lengths[chosen]
        starts = np.cumsum(lengths) - lengths
        row = np.repeat(np.arange(n), lengths)
        place = np.arange(len(row)) - starts[row]
        codes = self.codes[self.offsets[chosen][row] + place]
        # Items are dropped in a random order, until the first uniform number that is not below the level.
        shuffled = codes[np.argsort(row + rng.random(len(row)), kind="stable")]
        stops = np.where(rng.random(len(row)) < self.levels[chosen][row], lengths[row], place)
        dropped = np.minimum.reduceat(stops, starts)
        left = np.concatenate([[0], np.cumsum(lengths - dropped)])
        return left, shuffled[place >= dropped[row]]


def draw_patterns(
    rng: np.random.Generator,
    n_patterns: int,
    n_items: int,
    *,
    mean_length: float,
    correlation: float,
    corruption: float,
) -> Patterns:
    """Draw the patterns; see `quest`."""
    check_between("mean_pattern_length", mean_length, 1, LARGEST_MEAN, example=4)
    check_between("correlation", correlation, 0, 1, example=0.5)
    check_between("corruption", corruption, 0, 0.9, example=0.5)
    sizes = np.minimum(1 + poisson(rng, mean_length - 1, n_patterns), n_items)
    fractions = np.minimum(correlation * exponential(rng, n_patterns), 1.0)
    patterns: list[npt.NDArray[np.int64]] = []
    last = np.empty(0, dtype=np.int64)
    for size, fraction in zip(sizes.tolist(), fractions.tolist(), strict=True):
        kept = rng.permutation(last)[: round(fraction * size)]
        others = rng.choice(n_items, size, replace=False)
        last = np.concatenate([kept, others[~np.isin(others, kept)]])[:size]
        patterns.append(last)
    weights = exponential(rng, n_patterns)
    spread = np.sqrt(_VARIANCE_OF_CORRUPTION) if corruption > 0 else 0.0
    levels = corruption + spread * rng.standard_normal(n_patterns)
    return Patterns(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate(patterns).astype(np.int32),
        np.cumsum(weights) / weights.sum(),
        np.clip(levels, 0.0, _HIGHEST_CORRUPTION).round(_QUEST_DIGITS),
    )


def _fill(sizes: Ints, patterns: Patterns, rng: np.random.Generator) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Fill baskets with patterns; return how many items were put into each, and these items."""
    n_drawn = len(sizes)
    offsets, codes = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
    is_forced = np.empty(0, dtype=np.bool_)
    ends: list[int] = []
    while len(ends) < len(sizes):
        more_offsets, more_codes = patterns.draw(rng, n_drawn)
        is_forced = np.concatenate([is_forced, rng.random(n_drawn) < 0.5])
        offsets = np.concatenate([offsets, offsets[-1] + more_offsets[1:]])
        codes = np.concatenate([codes, more_codes])
        ends = _pack(sizes.tolist(), np.diff(offsets).tolist(), is_forced.tolist())
        # As many as the unfilled baskets would take at this rate, and some more.
        n_drawn = 100 + int(1.1 * len(is_forced) * (len(sizes) - len(ends)) / max(len(ends), 1))
    bounds = offsets[np.array([0, *ends])]
    return np.diff(bounds), codes[: bounds[-1]]


def _pack(sizes: list[int], lengths: list[int], is_forced: list[bool]) -> list[int]:
    """Put patterns into baskets in turn; return after which pattern each basket that got full ends.

    A pattern that does not fit is put in all the same if it is forced, and is left for the next basket if
    not. An empty basket takes any pattern.
    """
    ends: list[int] = []
    position, n = 0, len(lengths)
    for size in sizes:
        room = size
        while room > 0:
            if position == n:
                return ends
            length = lengths[position]
            if length > room and room < size:
                position += is_forced[position]
                break
            room -= length
            position += 1
        ends.append(position)
    return ends


# Market baskets have named items, buyers with reasons to go shopping, and planted rules.

_ROWS_AT_A_TIME = 20_000
_TOP_POPULARITY = 0.26
_SKEW = 0.7
_MOST_LIKELY = 0.95


def grocery_store(n_transactions: int = 5000, random_state: GeneratorSeed = 0) -> Transactions:
    """Generate the baskets of a grocery store with named items.

    Each basket has one of a dozen reasons behind it (breakfast, taco night, a young family, a quick stop,
    ...), which makes some items likely. Any other item may be bought too, by its popularity, which falls like
    a power of the rank. And some items call for others (tortillas for salsa). See `itemix.data.grocery` for
    all that is planted.

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
    random_state: GeneratorSeed = 0,
) -> Transactions:
    """Generate baskets of your own store, with buyer types and rules that are planted.

    A basket has one buyer type behind it, which makes its items likely. Any other item may be bought by its
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
        If a number is not a probability, or a weight is negative.
    UnknownItemError
        If a buyer type or a rule names an item that is not there.

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
    """The plan of a store in item codes, checked: probabilities by buyer type, shares of types, rules."""

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
        weights = [check_between("a weight", b.weight, 0, 1e9, example=1) for b in buyer_types]
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
    return check_between(f"a probability in {where}", probability, 0, 1, example=0.5)


def _baskets(plan: _Plan, n_transactions: int, random_state: GeneratorSeed, source: str) -> Transactions:
    n = check_amount(n_transactions, "transactions", example=5000)
    rng = generator(random_state)
    sizes = [_ROWS_AT_A_TIME] * (n // _ROWS_AT_A_TIME) + [n % _ROWS_AT_A_TIME]
    lengths, codes = zip(*(_to_rows(plan.draw(size, rng)) for size in sizes), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Transactions(indptr, np.concatenate(codes), plan.items, source=source)


def _to_rows(matrix: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return matrix.sum(axis=1), np.nonzero(matrix)[1]
