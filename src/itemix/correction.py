"""Correction of a model by the transactions themselves: how many of them the model is worth.

`correct` puts a model and transactions together. `choose` finds on held-out data what the model is worth: it
is fitted to each half, and its mean with the counts of that half is compared with the other half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._runtime import require_memory
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.io.chunks import Stream
from itemix.mining.counts import count
from itemix.mining.mine import mine
from itemix.models.corrected import CorrectedMixture, check_worth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemix._typing import ChunksLike, Floats
    from itemix.core.itemsets import Itemsets
    from itemix.core.sets import Sets
    from itemix.models.base import Model

__all__ = ["Choice", "choose", "correct"]

WORTHS = 10.0 ** np.arange(0, 6.25, 0.25)
"""The numbers of transactions that are tried, from next to nothing to nearly all."""

# The worth is judged on a sample if there are more transactions than this: halves of it tell enough.
_MOST_JUDGED = 100_000
# Sets of two items or more are judged if they occur at least this often in a quarter of the data.
_FEWEST = 2
# Sets are judged in bands of frequency, each twice as high as the one before. Bands count the same, but those
# of fewer sets than this count less.
_FULL_BAND = 20
_MOST_IN_A_BAND = 1_500
_MOST_SETS = 200_000
# If there are more sets than that, the threshold is raised by this factor.
_RAISE = 1.5
# How many times the other half is divided into a part that names the sets and a part that judges them.
_N_DIVISIONS = 3
# With this many transactions, one division is enough.
_PLENTY = 20_000
# The part that judges is cut into this many blocks, which tell how sure the verdict is.
_N_BLOCKS = 8
# How many standard errors are added to a verdict. From few transactions, standard errors are poorly known.
_N_ERRORS = 0.5
_N_ERRORS_OF_FEW = 150.0
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Choice:
    """What a model may be worth, and how good its corrections were on held-out data.

    Attributes
    ----------
    worths : array of float, shape (n,)
        How many transactions the model was taken to be worth, ascending.
    errors : array of float, shape (n,)
        The squared error of supports beyond that of counting, as a multiple of the latter: negative is better
        than counting, -1 would be without error. The mean over blocks of held-out data, or their median where
        that is higher, so that a few extreme blocks do not decide.
    standard_errors : array of float, shape (n,)
        The standard errors of `errors`.
    n_errors : float
        How many standard errors are added before the lowest is taken. In doubt, counts are believed.
    """

    worths: Floats
    errors: Floats
    standard_errors: Floats
    n_errors: float = _N_ERRORS

    @property
    def best(self) -> float:
        """The chosen worth."""
        expected = self.errors + self.n_errors * self.standard_errors
        return float(self.worths[np.flatnonzero(expected <= expected.min() + _ROUNDING)[0]])


def check_correction(correction: object) -> None:
    """Check the parameter of an estimator: None, "auto", or how many transactions the model is worth.

    Raises
    ------
    InvalidInputError
        If it is something else.
    """
    if correction is None or (isinstance(correction, str) and correction == "auto"):
        return
    try:
        check_worth(correction)
    except InvalidInputError:
        raise InvalidInputError(
            f"expected correction as None, 'auto' or a positive number, got {correction!r}; try 'auto'"
        ) from None


def correct(
    model: Model, transactions: ChunksLike, worth: float | Choice, *, whole: Model | None = None
) -> CorrectedMixture:
    """Return a model corrected by transactions.

    Parameters
    ----------
    model : Model
        The model to correct, usually a mixture.
    transactions : transactions in any form, chunks of them, or a function
        Chunks are those of `itemix.read_chunks`, or a list or anything else that can be read more than once,
        of `Transactions`, data frames or matrices. A function is called and returns transactions or chunks of
        them. Items are matched with those of the model by name. The result is the same as with all data at
        once. Distinct transactions are kept in memory.
    worth : float or Choice
        How many transactions the model is worth, or the result of `choose`.
    whole : Model, optional
        What is asked for whole transactions, if that is another model of the same items.

    Raises
    ------
    InvalidInputError
        If the worth is not a positive number, there is no data, or it cannot be read.
    UnknownItemError
        If a transaction has an item that the model does not have.
    NotEnoughMemoryError
        If the distinct transactions would not fit.
    """
    worth = worth.best if isinstance(worth, Choice) else check_worth(worth)
    chunks: list[Transactions] = []
    n_bytes = 0
    for chunk in Stream(transactions).chunks():
        chunks.append(chunk.align_items(model.items).merge_identical())
        n_bytes += chunks[-1].indptr.nbytes + chunks[-1].indices.nbytes
        # All of them are held already. Put together they take as much once more.
        require_memory(n_bytes, "the distinct transactions of a correction", "correct by a part of them")
    if not chunks:
        raise InvalidInputError("expected transactions to count, got none; pass those of the fit")
    return CorrectedMixture(model, Transactions.concatenate(chunks), worth, whole)


def choose(
    refit: Callable[[Transactions], Model], transactions: Transactions, rng: np.random.Generator
) -> Choice:
    """Find out on held-out data how many transactions a model is worth.

    The model is fitted to each half of the data. The other half is divided: one part names the sets that are
    frequent, the other judges what is said about them. So no estimate is judged by what chose or made it.

    Parameters
    ----------
    refit : function
        Fits the model to transactions, and returns it.
    transactions : Transactions
        The data.
    rng : Generator
        The source of chance.
    """
    data = transactions
    if data.n_transactions > _MOST_JUDGED:
        data = data.sample(_MOST_JUDGED, random_state=rng)
    n_divisions = _N_DIVISIONS if data.n_transactions < _PLENTY else 1
    halves = data.split(0.5, random_state=rng)
    verdicts = [
        verdict
        for own, other in (halves, halves[::-1])
        for verdict in _verdicts(refit, own, other, n_divisions, rng)
    ]
    if not verdicts:
        return Choice(WORTHS[:1], np.zeros(1), np.zeros(1))
    blocks = np.array(verdicts)
    return Choice(
        WORTHS,
        np.maximum(blocks.mean(axis=(0, 1)), np.median(blocks, axis=(0, 1))),
        (blocks.std(axis=1) / np.sqrt(blocks.shape[1] - 1)).mean(axis=0),
        _N_ERRORS + _N_ERRORS_OF_FEW / data.n_transactions,
    )


def _verdicts(
    refit: Callable[[Transactions], Model],
    own: Transactions,
    other: Transactions,
    n_divisions: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    """Yield the errors of each worth by block, shape (n_blocks, n_worths), for each division."""
    if min(own.n_transactions, other.n_transactions) < 2 * _N_BLOCKS:
        return
    model = refit(own)
    raised = 0
    for _ in range(n_divisions):
        quarters = other.split(0.5, random_state=rng)
        parts = []
        for names, judge in (quarters, quarters[::-1]):
            found, raised = _frequent(names, raised)
            parts.append((_Named.of(found, names.n_transactions, rng), judge))
        if all(len(named.sets) for named, _ in parts):
            yield np.concatenate([_errors(model, own, named, judge, rng) for named, judge in parts])


class _Named(NamedTuple):
    """The sets that a part of the data names, with their weights.

    A weight is one over the variance of a count in one transaction, and over the number of sets in the same
    band: so thresholds of every height count about the same.
    """

    sets: Sets
    weights: Floats

    @classmethod
    def of(cls, found: Itemsets, n: int, rng: np.random.Generator) -> _Named:
        band = np.log2(np.maximum(found.support * n / _FEWEST, 1.0) + 1e-9).astype(np.int64)
        band[found.lengths == 1] = -1
        bands = [np.flatnonzero(band == b) for b in range(band.max(initial=-1) + 1)]
        chosen = [np.sort(rng.permutation(members)[:_MOST_IN_A_BAND]) for members in bands]
        positions = np.concatenate([*chosen, np.empty(0, np.int64)])
        sizes = np.array([len(own) for own in chosen], dtype=np.int64)
        shares = np.minimum(1.0, sizes / _FULL_BAND)
        share = np.repeat(shares / np.maximum(sizes * shares.sum(), 1e-300), sizes)
        # A set that is in all transactions of the part need not be in all others.
        support = (found.support[positions] * n + 1) / (n + 2)
        return cls(found.sets.take(positions), share / (support * (1 - support)))


def _frequent(part: Transactions, raised: int) -> tuple[Itemsets, int]:
    """Return the sets that occur at least twice in a part; more often, if they would be too many.

    How often the threshold had to be raised is returned too. For another part of the same data it is about
    as often: the search begins there, and goes down or up from it. Items that all transactions hold are left
    out if these alone make too many sets: a set occurs as often with them as without.
    """
    raised = max(raised - 1, 0)
    while (found := _reaching(part, raised)) is None:
        if _threshold(part, raised) < 1:
            raised += 1
        else:
            constant = np.flatnonzero(part.item_counts() == part.n_transactions)
            part, raised = part.without_codes(constant.astype(np.int32)), 0
    while raised > 0:
        more = _reaching(part, raised - 1)
        if more is None:
            break
        found, raised = more, raised - 1
    return found, raised


def _reaching(part: Transactions, raised: int) -> Itemsets | None:
    """Return the sets that reach the threshold raised so often, None if they are too many."""
    try:
        return mine(part, _threshold(part, raised), max_itemsets=_MOST_SETS)
    except TooManyItemsetsError:
        return None


def _threshold(part: Transactions, raised: int) -> float:
    return min(min(_FEWEST, part.n_transactions) / part.n_transactions * _RAISE**raised, 1.0)


def _errors(
    model: Model, own: Transactions, named: _Named, judging: Transactions, rng: np.random.Generator
) -> Floats:
    """Return the squared errors for each worth beyond those of the least, by block of the judging part.

    Of (estimate - frequency)^2 the square of the frequency is left out: it is the same for all.
    """
    n = own.n_transactions
    seen = count(named.sets, own)
    expected = model.probabilities_of_codes(named.sets.offsets, named.sets.codes)
    estimates = (seen + WORTHS[:, None] * expected) / (n + WORTHS[:, None])
    squares = estimates**2
    rows = rng.permutation(judging.n_transactions)
    blocks = [judging[np.sort(block)] for block in np.array_split(rows, _N_BLOCKS)]
    frequencies = np.array([count(named.sets, block) / block.n_transactions for block in blocks])
    losses = n * ((squares[None] - 2 * estimates[None] * frequencies[:, None]) @ named.weights)
    errors: Floats = losses - losses[:, :1]
    return errors
