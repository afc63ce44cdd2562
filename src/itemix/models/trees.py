"""TreeMixture: a mixture of trees, in which each item depends on at most one other.

Rows are scored by `TreeTables`, which write a tree as log-linear sums over the items of a row.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._arrays import protected
from itemix._checks import as_generator, check_whole
from itemix.core.items import Items, Label
from itemix.core.sets import readonly
from itemix.core.transactions import Transactions, as_transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.kernels.models import trees
from itemix.kernels.models.probability import AskedSets
from itemix.models.base import Model, drawn, no_sets, one_set, require_same_items
from itemix.models.mixture import checked_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from itemix._typing import Codes, Floats, Ints, Marks
    from itemix.models.base import SetArrays

_CELLS_AT_A_TIME = 4_000_000
# The exponential of larger log-odds would be infinite.
_MOST_LOG_ODDS = 600.0


class TreeTables(NamedTuple):
    """The trees as log-linear sums over the items of a row: see `itemix.kernels.models.trees.row_scores`.

    Attributes
    ----------
    base : array, shape (n_components,)
        The log-weight and the log-probability of the empty row.
    single, pair : arrays, shape (n_items, n_components)
        What an item adds, and what it adds together with its parent.
    parent : array of int, shape (n_items, n_components)
        The parents; n_items for a root.
    """

    base: Floats
    single: Floats
    pair: Floats
    parent: Codes


Sums = tuple[TreeTables, TreeTables | None]


def shares(data: Transactions, first: int, tables: Sums, values: Floats) -> Floats:
    """Return the responsibilities of the rows from `first` on, and write their log-probabilities to `values`.

    Parameters
    ----------
    data : Transactions
        The rows.
    first : int
        The first row; `values` says how many.
    tables : tuple of TreeTables
        Those of `tables_of_trees`.
    values : array, shape (n,)
        Filled with the log-probabilities.
    """
    finite, zeros = tables
    scores = np.empty((len(values), len(finite.base)))
    trees.row_scores(data.indptr, data.indices, first, *finite, scores)
    if zeros is not None:
        excluded = np.empty_like(scores)
        trees.row_scores(data.indptr, data.indices, first, *zeros, excluded)
        scores[excluded > 0.5] = -np.inf
    trees.share_rows(scores, values)
    return scores


def tables_of_trees(weights: Floats, parents: Codes, probs: Floats) -> Sums:
    """Return the trees as log-linear sums: of the finite terms, and of the number of factors that are zero.

    The second is None if no probability is 0 or 1.
    """
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
        present, absent = np.log(probs), np.log1p(-probs)
    extreme = (probs == 0) | (probs == 1)
    if not extreme.any():
        return _log_linear(log_weights, parents, present, absent), None
    finite = (np.where(np.isneginf(values), 0.0, values) for values in (present, absent))
    zeros = (np.isneginf(values).astype(np.float64) for values in (present, absent))
    return (
        _log_linear(log_weights, parents, *finite),
        _log_linear(np.zeros_like(log_weights), parents, *zeros),
    )


def _log_linear(start: Floats, parents: Codes, present: Floats, absent: Floats) -> TreeTables:
    """Return log-linear sums of the terms (K, D, 2) of each item, present and absent, given its parent."""
    K, D = parents.shape
    single = present[:, :, 0] - absent[:, :, 0]
    k, i = np.nonzero(parents >= 0)
    p = parents[k, i]
    # A present parent changes the terms of all its children, also of absent ones.
    change = (absent[:, :, 1] - absent[:, :, 0])[k, i]
    single += np.bincount(k * D + p, weights=change, minlength=K * D).reshape(K, D)
    pair = np.zeros((K, D))
    pair[k, i] = (present[:, :, 1] - present[:, :, 0])[k, i] - change
    return TreeTables(
        start + absent[:, :, 0].sum(axis=1),
        np.ascontiguousarray(single.T),
        np.ascontiguousarray(pair.T),
        np.ascontiguousarray(np.where(parents >= 0, parents, D).T.astype(np.int32)),
    )


class TreeMixture(Model):
    """A mixture of trees: an immutable value.

    A transaction comes from component k with probability ``weights[k]``. In that component each item depends
    on at most one other, its parent: it is present with probability ``probs[k, i, 0]`` if the parent is
    absent and ``probs[k, i, 1]`` if it is present. An item without a parent is a root. Probabilities of 0
    and 1 are exact. A single tree is a mixture of one component.

    Parameters
    ----------
    weights : array of float, shape (n_components,)
        Not negative; they sum to one.
    parents : array of int, shape (n_components, n_items)
        The code of each item's parent, -1 for a root; no item is its own ancestor.
    probs : array of float, shape (n_components, n_items, 2)
        From 0 to 1. Of a root, only the first counts.
    items : Items or iterable of str or int
        The name of each item code.

    Examples
    --------
    >>> from itemix.models.trees import TreeMixture
    >>> tree = TreeMixture([1.0], [[-1, 0]], [[[0.5, 0.5], [0.1, 0.8]]], ["bread", "butter"])
    >>> round(tree.probability(["bread", "butter"]), 12)
    0.4
    >>> round(tree.probability(["butter"]), 12)
    0.45
    """

    def __init__(
        self,
        weights: npt.ArrayLike,
        parents: npt.ArrayLike,
        probs: npt.ArrayLike,
        items: Items | Iterable[Label],
    ) -> None:
        self._items = items if isinstance(items, Items) else Items(items)
        self._weights = checked_weights(weights)
        shape = len(self._weights), len(self._items)
        self._parents = _checked_parents(parents, shape)
        self._probs = _checked_probs(probs, self._parents)
        self._order, self._rank, self._marginals = _ordered(self._parents, self._probs)

    @classmethod
    def stack(cls, mixtures: Sequence[TreeMixture]) -> TreeMixture:
        """Return the average of several models of the same items: all their components."""
        if not mixtures:
            raise InvalidInputError("expected at least one mixture to stack, got none; pass a list of them")
        for mixture in mixtures:
            require_same_items(mixtures[0].items, mixture.items)
        return cls(
            np.concatenate([mixture.weights / len(mixtures) for mixture in mixtures]),
            np.concatenate([mixture.parents for mixture in mixtures]),
            np.concatenate([mixture.probs for mixture in mixtures]),
            mixtures[0].items,
        )

    @property
    def weights(self) -> Floats:
        """The probability of each component, shape (n_components,), read-only."""
        return self._weights

    @property
    def parents(self) -> Codes:
        """The code of each item's parent in each component, -1 for none, (n_components, n_items)."""
        return self._parents

    @property
    def probs(self) -> Floats:
        """The probability of each item without and with its parent, (n_components, n_items, 2)."""
        return self._probs

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._items

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self._weights)

    @property
    def n_edges(self) -> int:
        """The number of edges of all trees."""
        return int((self._parents >= 0).sum())

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: the weights, one for each item and one more for each edge."""
        return self.n_components * (self.n_items + 1) - 1 + self.n_edges

    @property
    def component_probabilities(self) -> Floats:
        """The probability of each item on its own in each component, shape (n_components, n_items)."""
        return self._marginals

    @cached_property
    def item_probabilities(self) -> Floats:
        """The probability of each item on its own, shape (n_items,)."""
        return protected(self._weights @ self._marginals)

    @cached_property
    def _tables(self) -> Sums:
        return tables_of_trees(self._weights, self._parents, self._probs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeMixture):
            return NotImplemented
        return (
            self._items == other._items
            and np.array_equal(self._weights, other._weights)
            and np.array_equal(self._parents, other._parents)
            and np.array_equal(self._probs, other._probs)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"TreeMixture({self.n_components:,} components, {self.n_items:,} items, {self.n_edges:,} edges)"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeMixture, (self._weights, self._parents, self._probs, self._items)

    def edges(self, component: int = 0) -> list[tuple[Label, Label]]:
        """Return the edges of a component's tree, each as (parent, item) by name."""
        if not 0 <= check_whole("component", component, 0) < self.n_components:
            raise InvalidInputError(
                f"expected a component from 0 to {self.n_components - 1}, got {component!r}; try 0"
            )
        parents = self._parents[component]
        return [(self._items[int(parents[i])], self._items[int(i)]) for i in np.flatnonzero(parents >= 0)]

    def probabilities_of_codes(
        self,
        offsets: npt.NDArray[np.int64],
        codes: Codes,
        absent_offsets: npt.NDArray[np.int64] | None = None,
        absent_codes: Codes | None = None,
    ) -> Floats:
        """Return the probabilities of sets of item codes in compressed form, shape (n,)."""
        if absent_offsets is None or absent_codes is None:
            absent_offsets, absent_codes = no_sets(len(offsets) - 1)
        out = np.empty(len(offsets) - 1)
        asked = AskedSets(*_protected(offsets, codes), *_protected(absent_offsets, absent_codes))
        model = self._weights, self._parents, self._rank, self._probs, self._marginals
        trees.itemset_probabilities(asked, *model, out)
        return out

    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction, shape (n_transactions,); -inf if impossible."""
        transactions = as_transactions(transactions)
        values = np.empty(transactions.n_rows)
        for _ in self._passes(transactions, values):
            pass
        return each_transaction(transactions, values)

    def responsibilities(self, transactions: Transactions) -> Floats:
        """Return the probability of each component given each transaction, shape (n_transactions, K).

        A transaction that no component allows is shared equally among all. Shares below 1e-8 are 0.
        """
        transactions = as_transactions(transactions)
        out = np.empty((transactions.n_rows, self.n_components))
        for first, resp in self._passes(transactions, np.empty(transactions.n_rows)):
            out[first : first + len(resp)] = resp
        return each_transaction(transactions, out)

    def _passes(self, transactions: Transactions, values: Floats) -> Iterator[tuple[int, Floats]]:
        require_same_items(self._items, transactions.items)
        step = max(1, _CELLS_AT_A_TIME // self.n_components)
        for first in range(0, transactions.n_rows, step):
            own = values[first : first + step]
            yield first, shares(transactions, first, self._tables, own)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the model."""
        n = check_whole("n", n, 100, least=0)
        rng = as_generator(random_state)
        labels = rng.choice(self.n_components, size=n, p=self._weights)

        def draw(own: Ints) -> Marks:
            held = np.zeros((len(own), self.n_items), dtype=np.bool_)
            trees.draw_rows(own, rng.random(held.shape), self._parents, self._order, self._probs, held)
            return held

        return drawn(self._items, labels, draw)

    def pair_probabilities(self, codes: Codes) -> Floats:
        """Return the probability of some items with each of all items, shape (len(codes), n_items)."""
        offsets = np.arange(len(codes) + 1, dtype=np.int64)
        out = np.zeros((len(codes), self.n_items))
        self._given(offsets, codes.astype(np.int32), *no_sets(len(codes)), out)
        out *= self.item_probabilities[codes][:, None]
        return out

    def log_probability_of_codes(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible."""
        return float(self._given(*one_set(held), *one_set(missing), np.empty((1, self.n_items)))[0])

    def items_given(self, held: Codes, missing: Codes) -> Floats:
        """Return the probability of each item given some present and others absent, shape (n_items,)."""
        out = np.empty((1, self.n_items))
        values = self._given(*one_set(held), *one_set(missing), out)
        if np.isneginf(values[0]):
            self._log_probability_of_condition(held, missing)
        found: Floats = out[0]
        return found

    def items_given_each(self, offsets: npt.NDArray[np.int64], codes: Codes) -> Floats:
        """Return the probability of each item given each of some baskets, shape (n_baskets, n_items)."""
        out = np.empty((len(offsets) - 1, self.n_items))
        values = self._given(offsets, codes, *no_sets(len(out)), out)
        for impossible in np.flatnonzero(np.isneginf(values)):
            own = codes[offsets[impossible] : offsets[impossible + 1]]
            self._log_probability_of_condition(own, codes[:0])
        return out

    def items_completing_each(self, offsets: npt.NDArray[np.int64], codes: Codes) -> Floats:
        """Return the probability of each item given all others, for complete baskets, (n_baskets, n_items).

        A tree is log-linear: an item has its own odds, changed by those of its neighbours that are present.
        """
        from scipy import sparse

        finite, zeros = self._tables
        if zeros is not None:
            return super().items_completing_each(offsets, codes)
        D, n = self.n_items, len(offsets) - 1
        baskets = Transactions(offsets, codes, self._items)
        resp = self.responsibilities(baskets)
        alone = np.exp(np.minimum(finite.single, _MOST_LOG_ODDS))
        odds: Floats = resp @ alone.T
        present = sparse.csr_array((np.ones(len(codes)), codes, offsets), shape=(n, D))
        for k in range(self.n_components):
            child = np.flatnonzero(self._parents[k] >= 0)
            edges = sparse.coo_array((finite.pair[child, k], (self._parents[k, child], child)), shape=(D, D))
            change = (present @ (edges + edges.T)).tocoo()
            row, i = change.coords
            odds[row, i] += resp[row, k] * alone[i, k] * np.expm1(np.minimum(change.data, _MOST_LOG_ODDS))
        return self._completed(odds, offsets, codes)

    def _given(
        self,
        offsets: npt.NDArray[np.int64],
        codes: Codes,
        absent_offsets: npt.NDArray[np.int64],
        absent_codes: Codes,
        out: Floats,
    ) -> Floats:
        """Write the probability of each item given each set to `out`; return the sets' log-probabilities."""
        values = np.empty(len(out))
        asked = AskedSets(*_protected(offsets, codes), *_protected(absent_offsets, absent_codes))
        model = self._weights, self._parents, self._order, self._probs
        trees.items_given(asked, *model, values, out)
        return values


def _protected(offsets: npt.NDArray[np.int64], codes: Codes) -> SetArrays:
    """Return read-only views, so that kernels compile once."""
    return readonly(offsets[:], np.int64, copy=False), readonly(codes[:], np.int32, copy=False)


def _checked_parents(parents: npt.ArrayLike, shape: tuple[int, int]) -> Codes:
    array = np.asarray(parents)
    if array.shape != shape or (array.size and array.dtype.kind not in "iu"):
        raise InvalidInputError(
            f"expected parents as whole numbers of shape {shape}, components by items, got {array.dtype} of "
            f"shape {array.shape}; give a row for each weight and a column for each item"
        )
    if array.size and not -1 <= int(array.min()) <= int(array.max()) < shape[1]:
        raise InvalidInputError(
            f"expected parents from -1 to {shape[1] - 1}, got {int(array.min())} to {int(array.max())}; "
            "use item codes, and -1 for roots"
        )
    return protected(np.array(array, dtype=np.int32, order="C"))


def _checked_probs(probs: npt.ArrayLike, parents: Codes) -> Floats:
    array = np.array(probs, dtype=np.float64, order="C")
    if array.shape != (*parents.shape, 2):
        raise InvalidInputError(
            f"expected probs of shape {(*parents.shape, 2)}, components by items by 2, got {array.shape}; "
            "give each item a probability without and with its parent"
        )
    roots = parents < 0
    array[roots, 1] = array[roots, 0]
    if not ((array >= 0) & (array <= 1)).all():
        raise InvalidInputError("expected probabilities from 0 to 1, got others (or NaN); check the probs")
    return protected(array)


def _ordered(parents: Codes, probs: Floats) -> tuple[Codes, Codes, Floats]:
    order, rank = np.empty_like(parents), np.empty_like(parents)
    marginals = np.empty(parents.shape)
    if not trees.order_trees(parents, probs, order, rank, marginals):
        raise InvalidInputError(
            "expected parents that make a tree, got items that are their own ancestors; leave out an edge of "
            "the cycle"
        )
    return protected(order), protected(rank), protected(marginals)
