"""Baskets like those of the IBM Quest generator, by the description of Agrawal and Srikant (VLDB 1994).

Patterns, the sets that people buy together, are drawn first: of random sizes, each sharing some of its items
with the one before, with a weight, and with a level of corruption. A basket of a random size is then filled
with patterns, chosen by their weights, of which some items are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.core.transactions import Transactions
from itemix.data import drawing

if TYPE_CHECKING:
    from itemix.data.drawing import Floats

    Ints = npt.NDArray[np.int64]

_BASKETS_AT_A_TIME = 50_000
_VARIANCE_OF_CORRUPTION = 0.1
_HIGHEST_CORRUPTION = 0.99
_DIGITS = 6


def quest(
    n_transactions: int = 100_000,
    *,
    mean_length: float = 10.0,
    mean_pattern_length: float = 4.0,
    n_patterns: int = 2000,
    n_items: int = 1000,
    correlation: float = 0.5,
    corruption: float = 0.5,
    random_state: drawing.Seed = 0,
) -> Transactions:
    """Generate baskets as the IBM Quest generator does; the defaults are those of T10.I4.D100K.

    Parameters
    ----------
    n_transactions : int
        How many baskets (D in the names of such data).
    mean_length : float
        The mean size of a basket (T); sizes are of a Poisson distribution, and at least 1. Items that come
        twice count once, so that baskets are a little smaller.
    mean_pattern_length : float
        The mean size of a pattern (I), of the same distribution.
    n_patterns : int
        How many patterns (L).
    n_items : int
        How many items (N); they are called 1, 2, ...
    correlation : float
        The mean fraction of its items that a pattern takes over from the one before.
    corruption : float
        The mean level of corruption, from 0 (patterns come whole) to 0.9. Items of a pattern are dropped as
        long as a uniform number lies below its level, which is of a normal distribution of variance 0.1.
    random_state : int or numpy.random.Generator
        The seed.

    Returns
    -------
    Transactions
        None is empty.

    Examples
    --------
    >>> from itemix.data.synthetic import quest
    >>> baskets = quest(5000)
    >>> baskets.n_transactions, baskets.n_items
    (5000, 1000)
    """
    n = drawing.check_number(n_transactions, "transactions", example=5000)
    drawing.check_between("mean_length", mean_length, 1, drawing.LARGEST_MEAN, example=10)
    rng = drawing.generator(random_state)
    patterns = draw_patterns(
        rng,
        drawing.check_number(n_patterns, "patterns", least=1, example=2000),
        drawing.check_number(n_items, "items", least=1, example=1000),
        mean_length=mean_pattern_length,
        correlation=correlation,
        corruption=corruption,
    )
    lengths, codes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for first in range(0, n, _BASKETS_AT_A_TIME):
        sizes = 1 + drawing.poisson(rng, mean_length - 1, min(_BASKETS_AT_A_TIME, n - first))
        block_lengths, block_codes = _fill(sizes, patterns, rng)
        lengths.append(block_lengths)
        codes.append(block_codes)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Transactions(
        indptr, np.concatenate(codes), range(1, n_items + 1), source="the Quest-like generator"
    )


class Patterns(NamedTuple):
    """What is planted.

    Attributes
    ----------
    offsets : (L + 1,) int64
        Where each pattern starts in `codes`.
    codes : int32
        The items of all patterns.
    shares : (L,) float64
        The cumulated probabilities of the patterns.
    levels : (L,) float64
        How corrupt each is.
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
        """Choose n patterns by their weights and corrupt them: offsets (n + 1,) and codes of what is left."""
        chosen = np.searchsorted(self.shares[:-1], rng.random(n), side="right")
        lengths = self.lengths[chosen]
        starts = np.cumsum(lengths) - lengths
        row = np.repeat(np.arange(n), lengths)
        place = np.arange(len(row)) - starts[row]
        codes = self.codes[self.offsets[chosen][row] + place]
        # Of its items in a random order, as many are dropped as uniform numbers in a row are below the level.
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
    drawing.check_between("mean_pattern_length", mean_length, 1, drawing.LARGEST_MEAN, example=4)
    drawing.check_between("correlation", correlation, 0, 1, example=0.5)
    drawing.check_between("corruption", corruption, 0, 0.9, example=0.5)
    sizes = np.minimum(1 + drawing.poisson(rng, mean_length - 1, n_patterns), n_items)
    fractions = np.minimum(correlation * drawing.exponential(rng, n_patterns), 1.0)
    patterns: list[npt.NDArray[np.int64]] = []
    last = np.empty(0, dtype=np.int64)
    for size, fraction in zip(sizes.tolist(), fractions.tolist(), strict=True):
        kept = rng.permutation(last)[: round(fraction * size)]
        others = rng.choice(n_items, size, replace=False)
        last = np.concatenate([kept, others[~np.isin(others, kept)]])[:size]
        patterns.append(last)
    weights = drawing.exponential(rng, n_patterns)
    spread = np.sqrt(_VARIANCE_OF_CORRUPTION) if corruption > 0 else 0.0
    levels = corruption + spread * rng.standard_normal(n_patterns)
    return Patterns(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate(patterns).astype(np.int32),
        np.cumsum(weights) / weights.sum(),
        np.clip(levels, 0.0, _HIGHEST_CORRUPTION).round(_DIGITS),
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
        # As many as the baskets that are not full would take at this rate, and some more.
        n_drawn = 100 + int(1.1 * len(is_forced) * (len(sizes) - len(ends)) / max(len(ends), 1))
    bounds = offsets[np.array([0, *ends])]
    return np.diff(bounds), codes[: bounds[-1]]


def _pack(sizes: list[int], lengths: list[int], is_forced: list[bool]) -> list[int]:
    """Put patterns into baskets in turn; return after which pattern each basket ends, as far as they go.

    A pattern that does not fit any more is put in all the same if it is forced, and is left for the next
    basket if not; an empty basket takes any.
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
