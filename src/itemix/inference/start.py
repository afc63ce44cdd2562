"""Starts of algorithms: first counts for EM and variational inference, first labels for samplers.

They come from random labels, spread-out seeds, a given mixture or given labels. A sampler can also start with
all transactions in one component.

EM and variational inference climb to the top that is nearest to their start, so much depends on it. Neither
seeds nor random labels serve everywhere. Seeds are compared by Hamming distance: where baskets are sparse and
of many sizes, almost all are nearest to the smallest seed, and the other components never grow. Random labels
make components that are all alike. So the default start, "sampled", takes a few sweeps of collapsed Gibbs
sampling from each of the two. A sweep moves transactions one by one, and a component that holds nothing of
its own soon loses what it has. Now and then whole components are split and merged, which no sweep can do. The
labels with the higher joint probability are the start.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.core.transactions import Transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.inference.gibbs import GibbsSampler, GibbsState
from itemix.inference.priors import make_prior
from itemix.io.partitions import Partitions
from itemix.kernels import csr
from itemix.models.base import require_same_items
from itemix.models.counts import Counts, Rows, SplitRows, counts_of_labels, tables_of_mixture
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix._runtime import Workers
    from itemix.models.trees import TreeMixture

COUNT_METHODS = ("sampled", "k-means++", "random")
LABEL_METHODS = ("random", "k-means++", "one")
PROCESS_LABELS = 50
_ROWS_SEEDED = 20_000
_SOFTNESS = 0.2
# The short chains of a sampled start: where they begin, how long they are, and on how much of the data.
_CHAINS = ("k-means++", "random")
_SWEEPS = 40
# Splits and merges lead out of poor modes. A few are enough, and they take longer than sweeps.
_MOVES_EVERY = 10
_TRANSACTIONS_SAMPLED = 20_000

Init = str | Mixture | npt.ArrayLike


def starter(
    init: Init, transactions: Transactions | Partitions, rows: Rows | SplitRows, n_components: int
) -> Callable[[np.random.Generator], Counts]:
    """Return the function that makes first counts from a random generator.

    Parameters
    ----------
    init : {"sampled", "k-means++", "random"}, Mixture, or array of int, shape (n_transactions,)
        How to start.
    transactions : Transactions or Partitions
        The data as it was given.
    rows : Rows
        The same data, ready for E-steps.
    n_components : int
        How many components the counts have.

    Raises
    ------
    InvalidInputError
        If `init` is none of these, or does not fit the data.
    """
    if isinstance(init, Mixture):
        counts = _counts_of_mixture(init, rows, n_components)
        return lambda _: counts
    if isinstance(init, str):
        if init == "random" or (init == "sampled" and n_components == 1):
            return lambda rng: _random_counts(transactions, n_components, rng)
        if init == "k-means++":
            return lambda rng: _seeded_counts(transactions, n_components, rng)
        if init == "sampled":
            return lambda rng: _sampled_counts(transactions, n_components, rng, rows.workers)
        raise InvalidInputError(
            f"expected init to be one of {list(COUNT_METHODS)}, a Mixture or labels, got {init!r}; "
            "try 'sampled'"
        )
    counts = _counted(transactions, checked_labels(init, transactions, n_components), n_components)
    return lambda _: counts


def label_starter(
    init: Init, transactions: Transactions, n_components: int | None
) -> Callable[[np.random.Generator], npt.NDArray[np.int64]]:
    """Return the function that makes first labels from a random generator.

    Parameters
    ----------
    init : {"random", "k-means++", "one"}, Mixture, or array of int, shape (n_transactions,)
        How to start. "one" puts all transactions into one component, as the paper starts the process. With
        split and merge moves that is the best start. Without them the process gets stuck and needs "random".
    transactions : Transactions
        The data.
    n_components : int or None
        How many labels there are. None for the Dirichlet process, which starts with 50 random or seeded
        labels, or with those of a mixture.

    Raises
    ------
    InvalidInputError
        If `init` is none of these, or does not fit the data.
    """
    n = transactions.n_transactions
    most = n if n_components is None else n_components
    if isinstance(init, Mixture):
        if n_components is not None:
            require_components(init, n_components)
        most, init = init.n_components, init.labels(transactions)
    if not isinstance(init, str):
        labels = checked_labels(init, transactions, most)
        return lambda _: labels
    first = min(n, PROCESS_LABELS) if n_components is None else n_components
    if init == "random":
        return lambda rng: random_labels(n, first, rng)
    if init == "k-means++":
        return lambda rng: each_transaction(transactions, seeded_labels(transactions, first, rng))
    if init == "one":
        return lambda _: np.zeros(n, dtype=np.int64)
    raise InvalidInputError(
        f"expected init to be one of {list(LABEL_METHODS)}, a Mixture or labels, got {init!r}; try 'random'"
    )


def random_labels(n: int, n_components: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return a random label for each of n transactions; no component is empty, unless n is too small."""
    labels = rng.integers(0, n_components, n)
    chosen = rng.permutation(n)[:n_components]
    labels[chosen] = np.arange(len(chosen))
    return labels


def seeded_labels(
    transactions: Transactions, n_components: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the nearest seed of each stored row; seeds are n_components rows that are far from each other.

    Each next seed is drawn in proportion to its Hamming distance from the nearest seed so far (the squared
    distance of k-means++), among at most 20,000 rows. If all rows are equal to some seed, the labels that are
    left go to random rows.
    """
    rows, pool = _pool(transactions, rng)
    label, seeds = _spread(pool, n_components, rng)
    if len(rows) == transactions.n_rows:
        return label
    nearest = np.full(transactions.n_rows, np.iinfo(np.int64).max)
    label = np.zeros(transactions.n_rows, dtype=np.int64)
    for number, seed in enumerate(rows[seeds]):
        csr.add_seed(
            transactions.indptr, transactions.indices, transactions.n_items, seed, number, nearest, label
        )
    return label


def _pool(
    transactions: Transactions | Partitions, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Transactions]:
    """Return the rows among which seeds are drawn: all rows, or 20,000 of them."""
    if isinstance(transactions, Partitions):
        n = transactions.n_transactions
        is_small = n <= _ROWS_SEEDED
        rows = np.arange(n) if is_small else np.sort(rng.choice(n, _ROWS_SEEDED, replace=False))
        return rows, transactions.take(rows)
    n_rows = transactions.n_rows
    if n_rows <= _ROWS_SEEDED:
        return np.arange(n_rows), transactions
    rows = np.sort(rng.choice(n_rows, _ROWS_SEEDED, replace=False))
    indptr, indices = csr.gather_rows(transactions.indptr, transactions.indices, rows)
    repeats = transactions.multiplicities
    multiplicities = None if repeats is None else repeats[rows]
    return rows, Transactions(indptr, indices, transactions.items, multiplicities)


def _spread(
    pool: Transactions, n_components: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the nearest seed of each row, and the seeds."""
    weight = np.ones(pool.n_rows) if pool.multiplicities is None else pool.multiplicities.astype(np.float64)
    nearest = np.full(pool.n_rows, np.iinfo(np.int64).max)
    label = np.zeros(pool.n_rows, dtype=np.int64)
    seeds = np.empty(n_components, dtype=np.int64)
    chances = weight
    for number in range(n_components):
        total = chances.sum()
        seeds[number] = rng.choice(pool.n_rows, p=chances / total if total > 0 else None)
        if total == 0:
            label[seeds[number]] = number
            continue
        csr.add_seed(pool.indptr, pool.indices, pool.n_items, seeds[number], number, nearest, label)
        chances = nearest * weight
    return label, seeds


def _random_counts(
    transactions: Transactions | Partitions, n_components: int, rng: np.random.Generator
) -> Counts:
    labels = random_labels(transactions.n_transactions, n_components, rng)
    return _counted(transactions, labels, n_components)


def _counted(data: Transactions | Partitions, labels: npt.NDArray[np.int64], n_components: int) -> Counts:
    """Count transactions by their labels, those in parts where they lie."""
    if not isinstance(data, Partitions):
        return counts_of_labels(data, labels, n_components)
    of_parts = np.split(labels, np.cumsum(data.sizes)[:-1])
    parts = data.map(partial(_counted_part, n_components=n_components), of_parts)
    return sum(parts, start=Counts(np.zeros(n_components), np.zeros((n_components, data.n_items))))


def _counted_part(part: Transactions, labels: npt.NDArray[np.int64], n_components: int) -> Counts:
    return counts_of_labels(part, labels, n_components)


def _seeded_counts(
    transactions: Transactions | Partitions, n_components: int, rng: np.random.Generator
) -> Counts:
    """Count rows by their nearest seeds."""
    _, pool = _pool(transactions, rng)
    labels = each_transaction(pool, _spread(pool, n_components, rng)[0])
    return _softened(counts_of_labels(pool, labels, n_components), transactions)


def _sampled_counts(
    transactions: Transactions | Partitions, n_components: int, rng: np.random.Generator, workers: Workers
) -> Counts:
    """Count transactions by labels that short chains have drawn, of at most 20,000 transactions."""
    n = transactions.n_transactions
    if n > _TRANSACTIONS_SAMPLED:  # not all n numbers, which may be far more than memory holds
        chosen = np.sort(rng.choice(n, _TRANSACTIONS_SAMPLED, replace=False, shuffle=False))
    else:
        chosen = np.arange(n)
    if isinstance(transactions, Partitions):
        part = transactions.take(chosen)
    else:
        part = transactions if len(chosen) == n else transactions[chosen]
    labels = sampled_labels(part, n_components, rng, workers)
    return _softened(counts_of_labels(part, labels, n_components), transactions)


def sampled_labels(
    transactions: Transactions, n_components: int, rng: np.random.Generator, workers: Workers
) -> npt.NDArray[np.int64]:
    """Return the more probable labels of two short chains of the finite model, with the paper's prior.

    One begins at spread-out seeds, the other at random labels. Each has random numbers of its own, so the
    labels do not depend on the number of threads. Components that the chain has emptied are filled again.
    """
    chains = short_chains(transactions, n_components, rng, workers)
    best = max(chains, key=lambda chain: chain.log_joint)
    return fill_empty(best.labels.astype(np.int64), n_components, rng)


def short_chains(
    transactions: Transactions, n_components: int, rng: np.random.Generator, workers: Workers
) -> list[GibbsState]:
    """Return the last states of the chains that a sampled start chooses from."""
    prior = make_prior(transactions.item_counts(), transactions.n_transactions)
    samplers = [
        GibbsSampler(
            transactions,
            prior,
            label_starter(first, transactions, n_components),
            n_components,
            moves_every=_MOVES_EVERY,
        )
        for first in _CHAINS
    ]
    states = [sampler.init(own) for sampler, own in zip(samplers, rng.spawn(len(samplers)), strict=True)]

    def sweep(number: int) -> GibbsState:
        return samplers[number].step(states[number])[0]

    for _ in range(_SWEEPS):
        states = workers.map(sweep, len(samplers))
    return states


def fill_empty(
    labels: npt.NDArray[np.int64], n_components: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return labels that use all components, if there are enough: an empty one gets one of the largest.

    One transaction is little, but half of a component would split what the chain has found to be one kind.
    """
    filled = labels.copy()
    sizes = np.bincount(filled, minlength=n_components)
    for empty in np.flatnonzero(sizes == 0):
        members = np.flatnonzero(filled == sizes.argmax())
        if len(members) == 1:
            break
        filled[rng.choice(members)] = empty
        sizes = np.bincount(filled, minlength=n_components)
    return filled


def _softened(part: Counts, transactions: Transactions | Partitions) -> Counts:
    """Scale counts of a part of the data to all of it, and soften them: EM never leaves a zero."""
    hard = part.scaled(transactions.n_transactions / part.n_transactions)
    frequency = transactions.item_counts() / transactions.n_transactions
    soft = hard.sizes[:, None] * frequency
    return Counts(hard.sizes, (1 - _SOFTNESS) * hard.item_counts + _SOFTNESS * soft)


def require_components(mixture: Mixture | TreeMixture, n_components: int) -> None:
    """Raise InvalidInputError if a mixture to start from has another number of components."""
    if mixture.n_components != n_components:
        raise InvalidInputError(
            f"expected a mixture of n_components={n_components} to start from, got {mixture.n_components}; "
            "make the two equal"
        )


def _counts_of_mixture(mixture: Mixture, rows: Rows | SplitRows, n_components: int) -> Counts:
    require_same_items(mixture.items, rows.items)
    require_components(mixture, n_components)
    tables = tables_of_mixture(mixture.weights, np.ascontiguousarray(mixture.probs.T), rows.flipped)
    return rows.expected_counts(tables)[0]


def checked_labels(
    init: npt.ArrayLike, transactions: Transactions | Partitions, n_components: int
) -> npt.NDArray[np.int64]:
    """Return given labels, a number from 0 to n_components - 1 for each transaction.

    Raises
    ------
    InvalidInputError
        If `init` is anything else.
    """
    labels = np.asarray(init)
    if labels.shape != (transactions.n_transactions,) or labels.dtype.kind not in "iu":
        raise InvalidInputError(
            f"expected {transactions.n_transactions:,} whole numbers as labels in init, got {labels.dtype} "
            f"of shape {labels.shape}; give one for each transaction"
        )
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < n_components:
        raise InvalidInputError(
            f"expected labels from 0 to {n_components - 1} in init, got {int(labels.min())} to "
            f"{int(labels.max())}; raise n_components or renumber them"
        )
    return labels.astype(np.int64)
