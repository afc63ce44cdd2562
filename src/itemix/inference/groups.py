"""Groups learned beside a mixture: their weights, their memories, and how much both count.

The mixture is that of a Dirichlet process. Given its components, a group has weights of its own, drawn around
the common ones, as in a hierarchical Dirichlet process (Teh et al., 2006), and remembers items. Transactions
of a group are scored in their order, each by those before it (`itemix.kernels.models.groups`). The product of
these probabilities is what the prior is chosen by: how far groups are to be trusted is a matter of how well
their past predicts, and nothing is ever predicted by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._arrays import protected
from itemix.core.items import Items
from itemix.errors import InvalidInputError
from itemix.kernels.models import groups as kernels
from itemix.kernels.models.groups import GroupedRows, GroupTables, Walked
from itemix.models.groups import GroupPrior, Groups

if TYPE_CHECKING:
    from itemix._runtime import Workers
    from itemix._typing import Codes, Floats, Ints
    from itemix.core.transactions import Transactions
    from itemix.models.groups import ValuedRows
    from itemix.models.mixture import Mixture

GroupsLike = Sequence[Any] | npt.NDArray[Any] | str
"""A label for each row, or the name of a column of ids."""

# The curve of the absent term: see `itemix.kernels.models.groups`.
_POINTS = 70
_CELLS_AT_A_TIME = 1 << 20
_NEAREST_TO_CERTAIN = 1e-12
# The prior is learned from about this many transactions, and at most this many of each group.
_LEARNED_FROM = 4_000
_LEARNED_FROM_A_GROUP = 300
_MOST_TRIED = 80
_MOST_OF_A_GROUP = 10_000
# How far the logarithms and log-odds of the prior are expected to be from those of its default.
_SPREAD = 2.0
_RANGE = 6.0
_TRANSACTIONS_IN_A_BLOCK = 1_000
_TRANSACTIONS_COUNTED = 50_000  # each block has counts of all items
_BYTES_OF_SIZES = 1 << 24
_MOST_LOYAL = 0.99
_LOG_SHAPES = -2.0, 14.0
# A component that holds less of a group's transactions than this is left out.
_NEGLIGIBLE = 1e-3


def learn_groups(
    mixture: Mixture,
    transactions: Transactions,
    grouped: GroupCodes,
    workers: Workers,
) -> Groups:
    """Learn what groups have of their own.

    Parameters
    ----------
    mixture : Mixture
        What is common to all; its item probabilities are above 0 and below 1.
    transactions : Transactions
        The transactions, those of a group in the order in which they came.
    grouped : GroupCodes
        The group of each row.
    workers : Workers
        The threads.

    Notes
    -----
    One group alone is everybody, and groups of one transaction each do not tell whether groups differ. Then
    nothing is remembered, and the weights stay the common ones. Of a group with more than 10,000
    transactions, the last ones count: it remembers nearly all items, and each transaction is compared with
    what is remembered.
    """
    codes, labels = grouped
    sizes = np.bincount(codes[codes >= 0], _weights(transactions)[codes >= 0], minlength=len(labels))
    n_transactions = sizes.astype(np.int64)
    if len(labels) < 2 or n_transactions.max(initial=0) < 2:
        nothing = np.zeros(len(labels) + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0)
        loyalty = np.zeros(mixture.n_items)
        own: Any = {"n_transactions": n_transactions, "sizes": nothing, "memory": nothing}
        return Groups(labels, GroupPrior(loyalty=0.0), loyalty, **own)
    walker = _Walker(mixture, workers)
    prior = _best_prior(walker, transactions, codes, n_transactions)
    rows = _grouped(transactions, codes, np.arange(len(labels)), last=_MOST_OF_A_GROUP)
    n_transactions = np.minimum(n_transactions, _MOST_OF_A_GROUP)
    loyalty = _loyalty_of_items(prior, *walker.counted(rows, prior))
    of_sizes, memory = _Walker(mixture, workers, loyalty).walk(rows, prior, keep=True)[1:]
    return Groups(labels, prior, loyalty, n_transactions=n_transactions, sizes=of_sizes, memory=memory)


class GroupCodes(NamedTuple):
    """The groups of transactions.

    Attributes
    ----------
    codes : array of int, shape (n_rows,)
        The position of each row's group in `labels`; -1 for none.
    labels : Items
        The name of each group, in the order of their first rows.
    """

    codes: Ints
    labels: Items


def group_codes(groups: GroupsLike, transactions: Transactions) -> GroupCodes:
    """Return the group of each row.

    Parameters
    ----------
    groups : array of labels, shape (n_rows,), or str
        The label of each row, or the column of the ids of the transactions that has it. Whole numbers stay
        numbers; other labels than strings are written as such.
    transactions : Transactions
        The transactions.

    Raises
    ------
    InvalidInputError
        If there is no such column, there are more labels or fewer than rows, or all are missing.
    """
    import pandas as pd

    values = np.asarray(_column_of_ids(groups, transactions) if isinstance(groups, str) else groups)
    if values.shape != (transactions.n_rows,):
        raise InvalidInputError(
            f"expected a label for each of the {transactions.n_rows:,} rows of transactions, got an array of "
            f"shape {values.shape}; give one label to each, None for no group"
        )
    codes, unique = pd.factorize(values)
    if len(unique) == 0:
        raise InvalidInputError("expected groups with a label, got only missing ones; leave groups out")
    names = unique.tolist()
    if all(isinstance(name, float) and name.is_integer() for name in names):
        names = [int(name) for name in names]
    if not all(isinstance(name, str) for name in names) and not all(type(name) is int for name in names):
        names = [str(name) for name in names]
    return GroupCodes(codes.astype(np.int64), Items(names))


def _column_of_ids(column: str, transactions: Transactions) -> Any:  # noqa: ANN401 - values in a row
    fields = transactions.id_fields()
    if column not in fields:
        got = f"ids with {', '.join(map(repr, fields))}" if fields else "none that have names"
        raise InvalidInputError(
            f"expected {column!r} as a column of the ids of the transactions, got {got}; read the data with "
            f"transaction=[..., {column!r}], or give a label for each transaction"
        )
    return fields[column]


def log_likelihood(
    mixture: Mixture,
    transactions: Transactions,
    codes: Ints,
    prior: GroupPrior,
    *,
    loyalty: Floats | None = None,
    workers: Workers,
) -> Floats:
    """Return the log-probability of each transaction of a group given those before it.

    They come sorted by group, in their order within a group; those of no group are left out. Without the
    loyalty of each item, it is the same for all.
    """
    rows = _grouped(transactions, codes, np.arange(int(codes.max(initial=-1)) + 1))
    return _Walker(mixture, workers, loyalty).walk(rows, prior, keep=False)[0]


def _grouped(
    transactions: Transactions,
    codes: Ints,
    chosen: Ints,
    *,
    first: int | None = None,
    last: int | None = None,
) -> GroupedRows:
    """Return the transactions of some groups, of each at most so many: the first or the last."""
    place = np.full(max(int(codes.max(initial=-1)), int(chosen.max(initial=-1))) + 2, -1)
    place[chosen] = np.arange(len(chosen))
    own = place[codes]  # of no group, -1, is the last place, which is -1
    order = np.argsort(own, kind="stable")
    order = order[np.searchsorted(own[order], 0) :]
    order = np.repeat(order, _weights(transactions)[order])
    starts = np.searchsorted(own[order], np.arange(len(chosen) + 1))
    if first is not None or last is not None:
        within = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts))
        size = np.repeat(np.diff(starts), np.diff(starts))
        order = order[within < first if first is not None else within >= size - (last or 0)]
        starts = np.searchsorted(own[order], np.arange(len(chosen) + 1))
    lengths = np.concatenate([[0], np.cumsum(np.diff(transactions.indptr)[order])])
    begins, rows, places = (array.astype(np.int64) for array in (starts, order, lengths[starts]))
    return GroupedRows(
        protected(begins), protected(rows), protected(places), transactions.indptr, transactions.indices
    )


def _weights(transactions: Transactions) -> Ints:
    """Return how many transactions each row stands for, shape (n_rows,)."""
    found = transactions.multiplicities
    return np.ones(transactions.n_rows, dtype=np.int64) if found is None else found


class _Walker:
    """Walks through groups with the tables of one mixture, and the loyalty of each item if it is known."""

    def __init__(self, mixture: Mixture, workers: Workers, loyalty: Floats | None = None) -> None:
        least = _NEAREST_TO_CERTAIN
        self._has_loyalty = loyalty is not None
        self._ties = protected(np.ones(mixture.n_items) if loyalty is None else loyalty.copy())
        self._probs = protected(np.ascontiguousarray(np.clip(mixture.probs.T, least, 1 - least)))
        self._weights = mixture.weights
        self._workers = workers
        self._absent, self._slopes = self._curve()

    def _curve(self) -> tuple[Floats, Floats]:
        """Return the absent term of each component, and its slope, at the points of the curve, (V, K)."""
        offset = kernels.OFFSET
        points = np.exp(np.linspace(np.log(offset), np.log1p(offset), _POINTS)) - offset
        D, K = self._probs.shape
        step = max(1, _CELLS_AT_A_TIME // max(K, 1))

        def at(v: int) -> tuple[Floats, Floats]:
            own = min(max(float(points[v]), 0.0), 1.0)
            value, slope = np.zeros(K), np.zeros(K)
            for first in range(0, D, step):
                probs = self._probs[first : first + step]
                ties = self._ties[first : first + step, None]
                rest = 1 - (1 - own * ties) * probs
                value += np.log(rest).sum(axis=0)
                slope += (ties * probs / rest).sum(axis=0) * (own + offset)
            return value, slope

        values, slopes = zip(*self._workers.map(at, _POINTS), strict=True)
        return protected(np.array(values)), protected(np.array(slopes))

    def _tables(self, prior: GroupPrior) -> GroupTables:
        if self._has_loyalty:
            prior = prior._replace(loyalty=1.0)
        return GroupTables(self._probs, self._weights, self._ties, self._absent, self._slopes, *prior)

    def counted(self, rows: GroupedRows, prior: GroupPrior) -> tuple[Floats, Floats]:
        """Return how many transactions hold each item that their group remembers, and how many should."""
        tables = self._tables(prior)
        D, K = self._probs.shape
        ends = _block_ends(rows.starts, max(1, _BYTES_OF_SIZES // (8 * K)), _TRANSACTIONS_COUNTED)

        def block(b: int) -> Floats:
            first, last = int(ends[b]), int(ends[b + 1])
            found, nothing = np.zeros((2, D)), np.empty(0)
            sizes, n_items = np.empty((last - first, K)), np.empty(last - first, dtype=np.int64)
            log_likelihood = np.empty(len(rows.rows))
            out = Walked(log_likelihood, sizes, np.empty(0, np.int32), nothing, n_items, found[0], found[1])
            kernels.walk(_part(rows, first, last), tables, 0, last - first, np.zeros(D), out)
            return found

        seen, expected = sum(self._workers.map(block, len(ends) - 1), np.zeros((2, D)))
        return seen, expected

    def walk(
        self, rows: GroupedRows, prior: GroupPrior, *, keep: bool
    ) -> tuple[Floats, ValuedRows, ValuedRows]:
        """Return the log-probability of each transaction, and sizes and memories of the groups if kept."""
        tables = self._tables(prior)
        D, K = self._probs.shape
        G = len(rows.starts) - 1
        uncounted = np.empty(0)
        ends = _block_ends(rows.starts, max(1, _BYTES_OF_SIZES // (8 * K)), _TRANSACTIONS_IN_A_BLOCK)
        log_likelihood = np.empty(len(rows.rows))
        n_items = np.zeros(G, dtype=np.int64)
        room = int(rows.places[-1]) if keep else 0
        items, counts = np.empty(room, dtype=np.int32), np.empty(room)

        def block(b: int) -> ValuedRows:
            first, last = int(ends[b]), int(ends[b + 1])
            sizes = np.empty((last - first, K))
            out = Walked(log_likelihood, sizes, items, counts, n_items[first:last], uncounted, uncounted)
            kernels.walk(_part(rows, first, last), tables, 0, last - first, np.zeros(D), out)
            if not keep:
                return np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
            return _compressed(sizes)

        found = self._workers.map(block, len(ends) - 1)
        if not keep:
            nothing = np.zeros(G + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0)
            return log_likelihood, nothing, nothing
        n_of_sizes = np.concatenate([np.diff(part[0]) for part in found])
        sizes = (
            np.concatenate([[0], np.cumsum(n_of_sizes)]),
            np.concatenate([part[1] for part in found]),
            np.concatenate([part[2] for part in found]),
        )
        return log_likelihood, sizes, _remembered(rows.places, n_items, items, counts)


def _part(rows: GroupedRows, first: int, last: int) -> GroupedRows:
    """Return some of the groups, one after the other."""
    groups = slice(first, last + 1)
    return rows._replace(starts=rows.starts[groups], places=rows.places[groups])


def _block_ends(starts: Ints, most: int, n_transactions: int) -> Ints:
    """Return where blocks of groups begin and end: of about n_transactions, and of at most `most` groups."""
    G = len(starts) - 1
    wanted = np.arange(0, int(starts[-1]), n_transactions)
    return np.unique(np.concatenate([np.searchsorted(starts[:-1], wanted), np.arange(0, G, most), [0, G]]))


def _compressed(sizes: Floats) -> ValuedRows:
    """Return a table of sizes as compressed rows without what is negligible; the sums of rows stay."""
    totals = sizes.sum(axis=1)
    kept = sizes > _NEGLIGIBLE * totals[:, None]
    groups, components = np.nonzero(kept)
    values = sizes[kept] * (totals / np.where(kept, sizes, 0.0).sum(axis=1))[groups]
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return offsets, components.astype(np.int32), values


def _remembered(places: Ints, n_items: Ints, items: Codes, counts: Floats) -> ValuedRows:
    """Return the memories of groups as compressed rows, the items of each in ascending order."""
    offsets = np.concatenate([[0], np.cumsum(n_items)])
    chosen = np.arange(offsets[-1]) + np.repeat(places[:-1] - offsets[:-1], n_items)
    groups = np.repeat(np.arange(len(n_items)), n_items)
    order = chosen[np.lexsort((items[chosen], groups))]
    return offsets, items[order], counts[order]


def _best_prior(walker: _Walker, transactions: Transactions, codes: Ints, n_transactions: Ints) -> GroupPrior:
    """Return the prior under which the past of groups predicts best what comes next."""
    from scipy.optimize import minimize

    several = np.flatnonzero(n_transactions > 1)
    # Any of them would do; always the same, so that a seed is the seed of the mixture only.
    several = several[np.random.default_rng(0).permutation(len(several))]
    ends = np.cumsum(np.minimum(n_transactions[several], _LEARNED_FROM_A_GROUP))
    chosen = several[: max(int(np.searchsorted(ends, _LEARNED_FROM)) + 1, 1)]
    rows = _grouped(transactions, codes, np.sort(chosen), first=_LEARNED_FROM_A_GROUP)

    def loss(values: Floats) -> float:
        penalty = 0.5 * float(((values / _SPREAD) ** 2).sum())
        return penalty - float(walker.walk(rows, _prior_at(values), keep=False)[0].sum())

    start = np.vstack([np.zeros(4), np.eye(4)])
    options: Any = {"initial_simplex": start, "maxfev": _MOST_TRIED, "xatol": 0.05, "fatol": 0.5}
    found = minimize(loss, start[0], method="Nelder-Mead", options=options)
    return _prior_at(found.x)


def _loyalty_of_items(prior: GroupPrior, seen: Floats, expected: Floats) -> Floats:
    """Return the loyalty of each item, from how often remembered items came back and how often they should.

    If groups stay with an item t times as much as with others, it comes back as a Poisson number around t
    times what is expected. The t of items are drawn from a Gamma distribution with mean 1 and shape s. That
    shape explains best what was seen, and t is (seen + s) / (expected + s).
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    def loss(log_shape: float) -> float:
        s = np.exp(log_shape)
        log_marginal = gammaln(seen + s) - gammaln(s) + s * np.log(s) - (seen + s) * np.log(expected + s)
        return -float(log_marginal.sum())

    shape = np.exp(minimize_scalar(loss, bounds=_LOG_SHAPES, method="bounded").x)
    loyalty: Floats = np.minimum(prior.loyalty * (seen + shape) / (expected + shape), _MOST_LOYAL)
    return loyalty


def _prior_at(values: Floats) -> GroupPrior:
    """Return the prior whose logarithms and log-odds are so far from those of the default."""
    default = GroupPrior()
    a, loyalty, half, fading = np.clip(values, -_RANGE, _RANGE).tolist()
    return GroupPrior(
        default.concentration * float(np.exp(a)),
        _shifted(default.loyalty, loyalty),
        default.half * float(np.exp(half)),
        _shifted(default.fading, fading),
    )


def _shifted(probability: float, log_odds: float) -> float:
    odds = probability / (1 - probability) * float(np.exp(log_odds))
    return odds / (1 + odds)
