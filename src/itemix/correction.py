"""Correction of a mixture by the counts of short itemsets: which of them, how strongly, and whether at all.

`correct` counts the itemsets that are frequent in the data or probable under the mixture. It shifts the
log-odds of the items until the probability of each is its frequency. Then it shifts longer sets, one by one,
until they agree with their counts. `choose` tries several ways on held-out halves of the data: longer or
shorter sets, at full strength or shrunk, and no correction at all.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._runtime import Workers
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.kernels import lattice
from itemix.kernels.models import corrected
from itemix.mining.mine import mine
from itemix.mining.passes import Stream
from itemix.mining.supports import count
from itemix.models.corrected import CorrectedMixture, Correction, Residuals, ResidualTrie
from itemix.models.counts import Rows, tables_of_mixture
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itemix._typing import ChunksLike, Floats, Ints
    from itemix.core.items import Items
    from itemix.core.itemsets import Itemsets
    from itemix.core.transactions import Transactions
    from itemix.models.base import Model

__all__ = ["Choice", "Way", "check_order", "choose", "correct"]

# Lower counts say little: the standard error of their logarithm is above a third.
FEWEST = 10
# How many steps the search for the threshold of frequent sets takes. It bisects the logarithm.
_STEPS = 6
# How many products of components and pairs of items are computed at most; that takes about a second.
_MOST_PRODUCTS = 2e9

ORDERS = (2, 3, 4, 5)
# How strongly residuals are shrunk: the model counts as this many observations.
_SHRINKAGES = (30.0, 0.0)
# Halves of the data cannot tell ways apart if errors differ by less than this factor. Richer ways gain most
# from all of the data.
_AS_GOOD = 1.02
MAX_SIZE = 100_000
_N_HALVINGS = 3
# With this many transactions, one division into halves is enough.
_PLENTY = 20_000
_N_COUNTED = 30_000
_N_JUDGED = 2_000
_N_FREQUENT = 300_000


class Way(NamedTuple):
    """A way to correct: the length of the longest itemsets (0: no correction), and the shrinkage."""

    order: int
    shrinkage: float = 0.0


_WAYS = (Way(0), *(Way(order, shrinkage) for order in ORDERS for shrinkage in _SHRINKAGES))


@dataclass(frozen=True)
class Choice:
    """The ways to correct that were tried, and how good they were.

    Attributes
    ----------
    ways : tuple of Way
        The ways, richer ones later.
    errors : array of float, shape (n,)
        The expected root mean squared relative error of supports with all of the data.
    excess : array of float, shape (n,)
        How much the squared errors exceed the variance of counts, as a multiple of that variance.
    """

    ways: tuple[Way, ...]
    errors: Floats
    excess: Floats

    @property
    def position(self) -> int:
        """The position of the chosen way: the richest one whose error is as good as the lowest."""
        return int(np.flatnonzero(self.errors <= _AS_GOOD * self.errors.min())[-1])

    @property
    def best(self) -> Way:
        """The chosen way."""
        return self.ways[self.position]

    @property
    def excess_variance(self) -> float:
        """The excess variance of the chosen way."""
        return float(self.excess[self.position])


def correct(
    mixture: Mixture,
    transactions: ChunksLike,
    order: int | Choice,
    *,
    max_size: int = MAX_SIZE,
) -> CorrectedMixture:
    """Return a mixture corrected by the counts of short itemsets.

    Parameters
    ----------
    mixture : Mixture
        The mixture to correct.
    transactions : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list or anything else that can be read more than once,
        of `Transactions`, data frames or matrices. A function is called for every pass and returns
        transactions or chunks of them. Items are matched with those of the mixture by name. The result is the
        same as with all data at once.
    order : int or Choice
        Count itemsets of up to this many items, all of them at full strength. Or the result of `choose`,
        which may be that nothing is shifted.
    max_size : int
        Count at most this many itemsets.

    Raises
    ------
    InvalidInputError
        If the order is not a whole number from 2 to 5, there is no data, or it cannot be read more than once.
    UnknownItemError
        If a transaction has an item that the mixture does not have.
    """
    way = order.best if isinstance(order, Choice) else Way(check_order(order))
    data = AlignedChunks(transactions, mixture.items)
    excess = order.excess_variance if isinstance(order, Choice) else 0.0
    if way.order == 0:
        nothing = Residuals.of_nothing(mixture.n_items)
        unshifted = Correction(np.zeros(mixture.n_items), nothing, data.n_transactions, excess)
        return CorrectedMixture(mixture, unshifted)
    adjusted = with_item_frequencies(mixture, data.item_counts(), data.n_transactions)
    counted = data.count(likely_sets(adjusted, data.at_once, way.order, max_size))
    found = fit_correction(mixture, counted, shrinkage=way.shrinkage)
    return CorrectedMixture(mixture, replace(found.correction, excess_variance=excess))


def check_order(order: object) -> int:
    """Return the order of a correction, or raise InvalidInputError."""
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order not in ORDERS:
        raise InvalidInputError(
            f"expected correction as None, 'auto' or the number of items of the longest itemsets to count, "
            f"{ORDERS[0]} to {ORDERS[-1]}, got {order!r}; try 'auto'"
        )
    return int(order)


def choose(mixture: Mixture, transactions: Transactions, rng: np.random.Generator) -> Choice:
    """Correct by the counts of each half of the data in several ways, and compare with the other half.

    If no itemset is frequent enough to compare, the choice is no correction.
    """
    nothing = Choice(_WAYS[:1], np.zeros(1), np.zeros(1))
    if transactions.n_transactions < 4 * FEWEST:
        return nothing
    frequent = mine(transactions, 4 * FEWEST, top_k=_N_FREQUENT)
    if len(frequent) == 0:
        return nothing
    n_halvings = _N_HALVINGS if transactions.n_transactions < _PLENTY else 1
    halvings = [_verdicts(mixture, transactions, frequent, rng) for _ in range(n_halvings)]
    errors, excess = np.maximum(np.mean(halvings, axis=0), 0.0).T
    return Choice(_WAYS, np.sqrt(errors), excess)


def _verdicts(
    mixture: Mixture, transactions: Transactions, frequent: Itemsets, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Return the error and excess variance of each way to correct, for one division into halves."""
    halves = transactions.split(0.5, random_state=rng)
    judge = _Judge.of(frequent, halves, rng)
    plain = [_of_part(mixture, half) for half in halves]
    likely = [families(own, half, ORDERS, _N_COUNTED) for own, half in zip(plain, halves, strict=True)]
    verdicts = [judge.verdict(plain)]
    for order in ORDERS:
        counted = [count_sets(sets[order], half) for sets, half in zip(likely, halves, strict=True)]
        for shrinkage in _SHRINKAGES:
            pairs = zip(plain, counted, strict=True)
            models = [fit_correction(own, known, shrinkage=shrinkage) for own, known in pairs]
            verdicts.append(judge.verdict(models))
    return verdicts


def _of_part(mixture: Mixture, transactions: Transactions) -> Mixture:
    """Return the mixture with its parameters estimated anew from a part of its data.

    Otherwise it would know the held-out part, and no correction by the other part could be better.
    """
    with Workers(1) as workers:
        rows = Rows(transactions, workers)
        probs = np.ascontiguousarray(mixture.probs.T)
        counts, _ = rows.expected_counts(tables_of_mixture(mixture.weights, probs, rows.flipped))
    # Each component counts as one transaction of its own, so that none is empty.
    sizes = counts.sizes + 1.0
    return Mixture(
        sizes / sizes.sum(),
        np.clip((counts.item_counts + mixture.probs) / sizes[:, None], 0.0, 1.0),
        mixture.items,
    )


class _Judge(NamedTuple):
    """Frequent itemsets to judge models by, with their supports in all of the data and in each half."""

    sets: Sets
    support: Floats
    halves: Floats
    n_transactions: int

    @classmethod
    def of(cls, frequent: Itemsets, halves: Sequence[Transactions], rng: np.random.Generator) -> _Judge:
        chosen = np.sort(rng.permutation(len(frequent))[:_N_JUDGED])
        sets = frequent.sets.take(chosen)
        counted = [count(sets, half) / half.n_transactions for half in halves]
        n_transactions = sum(half.n_transactions for half in halves)
        return cls(sets, frequent.support[chosen], np.array(counted), n_transactions)

    def verdict(self, models: Sequence[Model]) -> tuple[float, float]:
        """Return the mean squared relative error and the excess variance, given the models of both halves."""
        estimates = np.array([m.probabilities_of_codes(self.sets.offsets, self.sets.codes) for m in models])
        own, counts = self._squares(estimates), self._squares(self.halves)
        variance = np.maximum(self.support * (1 - self.support), 1e-12) / self.n_transactions
        excess = float(np.mean((own - counts) / variance))
        # Counts of all data have exactly the variance of a frequency. Any difference from it is chance.
        return float(np.mean((own - counts + variance) / self.support**2)), excess

    def _squares(self, estimates: Floats) -> Floats:
        """Return the expected squared errors of estimates with all of the data, up to a constant.

        The estimates of each half are compared with the other half. The variance of the halves' estimates is
        half of the square of their difference. With all of the data, it is half as large.
        """
        across = ((estimates - self.halves[::-1]) ** 2).mean(axis=0)
        among = (estimates[0] - estimates[1]) ** 2 / 2
        squares: Floats = across - among / 2
        return squares


class AlignedChunks:
    """Data in chunks that are read several times, with the items of a model.

    Parameters
    ----------
    data : transactions in any form, chunks of them, or a function
        See `itemix.mining.passes.Stream`.
    items : Items
        The items of the model. Those of chunks are matched by name, and need not be all of them.
    """

    def __init__(self, data: ChunksLike, items: Items) -> None:
        self._stream = Stream(data)
        self._items = items

    def read(self) -> Iterator[Transactions]:
        """Read the data once, without empty chunks."""
        for chunk in self._stream.chunks():
            if chunk.n_transactions > 0:
                yield chunk.align_items(self._items)

    @cached_property
    def _totals(self) -> tuple[int, Ints, Transactions | None]:
        n_transactions, item_counts = 0, np.zeros(len(self._items), dtype=np.int64)
        only: Transactions | None = None
        for chunk in self.read():
            only = chunk if n_transactions == 0 else None
            n_transactions += chunk.n_transactions
            item_counts += chunk.item_counts()
        if n_transactions == 0:
            raise InvalidInputError("expected transactions to count, got none; pass those of the fit")
        return n_transactions, item_counts, only

    @property
    def at_once(self) -> Transactions | AlignedChunks:
        """The data as transactions if it is one chunk, else as it is."""
        only = self._totals[2]
        return self if only is None else only

    @property
    def n_transactions(self) -> int:
        """The number of transactions."""
        return self._totals[0]

    def item_counts(self) -> Ints:
        """Return how many transactions hold each item, shape (n_items,)."""
        return self._totals[1]

    def count(self, sets: Sets) -> SetCounts:
        """Count some itemsets in all of the data."""
        return reduce(add, (count_sets(sets, chunk) for chunk in self.read()))


def likely_sets(
    mixture: Mixture, transactions: Transactions | AlignedChunks, max_len: int, max_size: int
) -> Sets:
    """Return the itemsets of up to `max_len` items that are frequent in the data or under the mixture.

    A set is frequent if it occurs ten times; the threshold is higher if there would be more than `max_size`
    sets. For the mixture it is also higher if there are so many items and components that all pairs would
    take long. All single items, and all subsets of each set, are included.
    """
    everything = np.arange(mixture.n_items, dtype=np.int32)
    families = [Sets.from_lengths(np.ones(mixture.n_items, dtype=np.int64), everything, mixture.items)]
    threshold, counted = _frequent(mixture, transactions, max_len, max_size)
    if counted is not None:
        families.append(counted)
    probability = max(threshold / transactions.n_transactions, _least_probability(mixture))
    # If the mixture expects far more sets than there are in the data, its sets are of little use.
    with suppress(TooManyItemsetsError):
        families.append(mine(mixture, probability, max_len=max_len, max_itemsets=max_size).sets)
    return Sets.concatenate(families).unique()


def _least_probability(mixture: Mixture) -> float:
    """Return a threshold that keeps the number of pairs of items in bounds."""
    n_items = int((2 * _MOST_PRODUCTS / mixture.n_components) ** 0.5)
    if n_items >= mixture.n_items:
        return 0.0
    return float(np.sort(mixture.item_probabilities)[-n_items - 1])


def _frequent(
    mixture: Mixture, transactions: Transactions | AlignedChunks, max_len: int, max_size: int
) -> tuple[int, Sets | None]:
    """Return the lowest count of at least ten with at most `max_size` frequent sets, and these sets.

    The search bisects the logarithm of the threshold, because the number of sets grows with powers of it. In
    chunks, the sets are proposed by the mixture and counted in a few passes over the data.
    """
    find = partial(mine, transactions)
    if isinstance(transactions, AlignedChunks):
        find = partial(mine, mixture, verify=transactions.read)
    low, high = min(FEWEST, transactions.n_transactions), transactions.n_transactions
    best = None
    threshold = low
    for _ in range(_STEPS):
        try:
            best = find(min_support=threshold, max_len=max_len, max_itemsets=max_size).sets
            high = threshold
        except TooManyItemsetsError:
            low = threshold
        if low == high:
            break
        threshold = round((low * high) ** 0.5)
    return high, best


def families(
    mixture: Mixture, transactions: Transactions, orders: Sequence[int], max_size: int
) -> dict[int, Sets]:
    """Return the likely sets of up to each number of items in `orders`, see `likely_sets`."""
    found: dict[int, Sets] = {}
    longer: Sets | None = None
    for order in sorted(orders, reverse=True):
        if longer is not None and len(longer) < max_size:
            # All sets down to the lowest count were found, so the shorter ones are among them.
            found[order] = longer.take(np.flatnonzero(longer.lengths <= order))
        else:
            longer = found[order] = likely_sets(mixture, transactions, order, max_size)
    return found


class SetCounts(NamedTuple):
    """How often some itemsets occur; counts of chunks of the data can be added.

    `sets` holds all single items, and all subsets without one item of every set.
    """

    sets: Sets
    counts: Ints
    n_transactions: int

    def __add__(self, other: SetCounts) -> SetCounts:  # type: ignore[override]
        """Return the counts of both parts of the data."""
        return SetCounts(self.sets, self.counts + other.counts, self.n_transactions + other.n_transactions)


def count_sets(sets: Sets, transactions: Transactions) -> SetCounts:
    """Count some itemsets in data, or in a chunk of it."""
    return SetCounts(sets, count(sets, transactions), transactions.n_transactions)


def item_shifts(mixture: Mixture, counts: Ints, n_transactions: int) -> Floats:
    """Return the shifts of log-odds that make each item's probability its frequency, shape (n_items,).

    Items that occur always or never are not shifted.
    """
    shifts = np.zeros(mixture.n_items)
    probs = np.ascontiguousarray(mixture.probs.T)
    for item in np.flatnonzero((counts > 0) & (counts < n_transactions)):
        shifts[item] = corrected.solve_shift(mixture.weights, probs[item], 0.0, counts[item] / n_transactions)
    return shifts


def with_item_frequencies(mixture: Mixture, counts: Ints, n_transactions: int) -> Mixture:
    """Return a mixture in which the probability of each item is its frequency in the data."""
    shifts = item_shifts(mixture, counts, n_transactions)
    return Correction(shifts, Residuals.of_nothing(mixture.n_items), n_transactions).tilted(mixture)


def fit_correction(mixture: Mixture, known: SetCounts, *, shrinkage: float = 0.0) -> CorrectedMixture:
    """Return a mixture corrected by the counts of itemsets.

    Parameters
    ----------
    mixture : Mixture
        The mixture to correct.
    known : SetCounts
        How often itemsets occur.
    shrinkage : float
        How many observations the model counts as, in each conditional frequency.
    """
    is_single = np.diff(known.sets.offsets) == 1
    item_counts = np.zeros(mixture.n_items, dtype=np.int64)
    item_counts[known.sets.codes[known.sets.offsets[:-1][is_single]]] = known.counts[is_single]
    shifts = item_shifts(mixture, item_counts, known.n_transactions)
    nothing = Residuals.of_nothing(mixture.n_items)
    tilted = Correction(shifts, nothing, known.n_transactions).tilted(mixture)
    trie, counts = _as_trie(tilted, known)
    table = np.empty((tilted.n_items, tilted.n_components))
    table[tilted.ranks] = tilted.probs.T
    shift = corrected.fit_shifts(*trie, counts, tilted.weights, table, shrinkage)
    residuals = Residuals(trie, shift).pruned()
    return CorrectedMixture(mixture, Correction(shifts, residuals, known.n_transactions))


def _as_trie(mixture: Mixture, known: SetCounts) -> tuple[ResidualTrie, Ints]:
    """Return the itemsets as a trie by the mixture's ranks, and the count of each node."""
    sets, D = known.sets, mixture.n_items
    lengths = np.diff(sets.offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    ranks = mixture.ranks[sets.codes]
    ranks = ranks[np.lexsort((ranks, owner))]
    order = lattice.colex_order(sets.offsets[1:], ranks, D)
    offsets, ranks = lattice.gather_sets(sets.offsets[1:], ranks, order, np.arange(D, dtype=np.int32))
    counts = np.concatenate([[known.n_transactions], known.counts[order]])
    item = np.concatenate([[-1], ranks[offsets[:-1]]]).astype(np.int32)
    n_children = corrected.count_children(offsets, ranks)
    first = 1 + np.concatenate([[0], np.cumsum(n_children)])
    return ResidualTrie(first, item), counts
