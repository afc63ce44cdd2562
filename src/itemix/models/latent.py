"""LatentTree: items that depend on latent variables, which form a tree."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._arrays import owned, protected
from itemix._checks import as_generator, check_whole
from itemix._runtime import still_wanted
from itemix.core.items import Items, Label
from itemix.core.sets import readonly
from itemix.core.transactions import Transactions, as_transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.kernels.models import latent, trees
from itemix.kernels.models.latent import LatentTables, Messages, SubtreePatterns, TreeShape
from itemix.kernels.models.probability import AskedSets
from itemix.models.base import Model, no_sets, one_set, require_same_items

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix._typing import Array, Codes, Floats

# The patterns of this many cells of rows and items are held at a time.
_CELLS_AT_A_TIME = 1 << 21
_MOST_ROWS_AT_A_TIME = 4096
_ROUNDING = 1e-6


class LatentTree(Model):
    """A tree of latent variables, one for each item: an immutable value.

    The latent variable of an item has several states and depends on that of its parent in the tree. The item
    is present with a probability that its state says, and depends on nothing else. So the probability of any
    itemset is a sum over all states, which one pass through the tree computes exactly (Liu and Van den Broeck
    2021).

    Parameters
    ----------
    parents : array of int, shape (n_items,)
        The code of each item's parent, -1 for a root; no item is its own ancestor.
    transitions : array of float, shape (n_items, n_states, n_states)
        ``transitions[i, a, b]`` is the probability of state b of item i where its parent is in state a; these
        sum to one over b. Of a root, only the first row counts.
    emissions : array of float, shape (n_items, n_states)
        The probability of each item in each of its states.
    items : Items or iterable of str or int
        The name of each item code.

    Examples
    --------
    >>> from itemix.models.latent import LatentTree
    >>> moves = [[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]]
    >>> model = LatentTree([-1, 0], moves, [[0.0, 1.0], [0.0, 1.0]], ["bread", "butter"])
    >>> round(model.probability(["bread", "butter"]), 12)
    0.4
    >>> round(model.probability(["butter"], absent=["bread"]), 12)
    0.05
    """

    def __init__(
        self,
        parents: npt.ArrayLike,
        transitions: npt.ArrayLike,
        emissions: npt.ArrayLike,
        items: Items | Iterable[Label],
    ) -> None:
        self._items = items if isinstance(items, Items) else Items(items)
        D = len(self._items)
        self._emissions: Floats = _probabilities("emissions", emissions, (D, None))
        S = self._emissions.shape[1]
        self._transitions: Floats = _of_roots_alike(
            _probabilities("transitions", transitions, (D, S, S)), _parents(parents, D)
        )
        self._parents: Codes = protected(_parents(parents, D))
        self._shape = shape_of_tree(self._parents)
        marginals = marginals_of_states(self._shape, self._transitions)
        self._tables = LatentTables(self._transitions, self._emissions, protected(marginals))

    @property
    def parents(self) -> Codes:
        """The code of each item's parent, -1 for none, shape (n_items,), read-only."""
        return self._parents

    @property
    def transitions(self) -> Floats:
        """The probability of each state given the parent's, (n_items, n_states, n_states), read-only."""
        return self._transitions

    @property
    def emissions(self) -> Floats:
        """The probability of each item in each state, shape (n_items, n_states), read-only."""
        return self._emissions

    @property
    def state_probabilities(self) -> Floats:
        """The probability of each state of each item, shape (n_items, n_states), read-only."""
        marginals: Floats = self._tables.marginals
        return marginals

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._items

    @property
    def n_states(self) -> int:
        """The number of states of each latent variable."""
        n_states: int = self._emissions.shape[1]
        return n_states

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return int((self._parents >= 0).sum())

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: those of the emissions, of the edges and of the roots."""
        S, n_edges = self.n_states, self.n_edges
        return self.n_items * S + n_edges * S * (S - 1) + (self.n_items - n_edges) * (S - 1)

    @cached_property
    def item_probabilities(self) -> Floats:
        """The probability of each item on its own, shape (n_items,)."""
        return protected(np.minimum((self.state_probabilities * self._emissions).sum(axis=1), 1.0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LatentTree):
            return NotImplemented
        return self._items == other._items and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("parents", "transitions", "emissions")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"LatentTree({self.n_items:,} items, {self.n_edges:,} edges, {self.n_states:,} states)"

    def __reduce__(self) -> tuple[Any, ...]:
        return LatentTree, (self._parents, self._transitions, self._emissions, self._items)

    def edges(self) -> list[tuple[Label, Label]]:
        """Return the edges of the tree, each as (parent, item) by name."""
        children = np.flatnonzero(self._parents >= 0)
        return [(self._items[int(self._parents[i])], self._items[int(i)]) for i in children]

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
        logs = np.empty(len(offsets) - 1)
        asked = _asked(offsets, codes, absent_offsets, absent_codes)
        latent.itemset_log_probabilities(asked, self._shape, self._tables, logs)
        found: Floats = np.minimum(np.exp(logs), 1.0)
        return found

    def log_probability_of_codes(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible."""
        return float(self._odds(*one_set(held), *one_set(missing))[0][0])

    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction, shape (n_transactions,); -inf if impossible."""
        transactions = as_transactions(transactions)
        require_same_items(self._items, transactions.items)
        values = np.empty(transactions.n_rows)
        step = rows_at_a_time(self.n_items)
        for first in range(0, len(values), step):
            still_wanted()
            own = values[first : first + step]
            patterns = patterns_of_rows(self._shape, transactions, first, len(own))
            sent = room_for(patterns, self.n_states, np.float64)
            latent.send_up(self._shape, self._tables, patterns, sent, own)
        return each_transaction(transactions, values)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the model."""
        n = check_whole("n", n, 100, least=0)
        rng = as_generator(random_state)
        rows, codes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
        upper = np.cumsum(self._transitions, axis=2)
        states: dict[int, Array] = {-1: np.zeros(n, dtype=np.int64)}
        for i in self._shape.order.tolist():
            drawn = rng.random((2, n))
            among = upper[i][states[int(self._parents[i])]]
            # The last sum may be a little less than one.
            states[i] = (drawn[0][:, None] >= among[:, :-1]).sum(axis=1)
            held = np.flatnonzero(drawn[1] < self._emissions[i][states[i]])
            rows.append(held)
            codes.append(np.full(len(held), i, dtype=np.int32))
        row, code = np.concatenate(rows), np.concatenate(codes)
        order = np.lexsort((code, row))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
        return Transactions(indptr, code[order], self._items)

    def pair_probabilities(self, codes: Codes) -> Floats:
        """Return the probability of some items with each of all items, shape (len(codes), n_items)."""
        offsets = np.arange(len(codes) + 1, dtype=np.int64)
        found = self._given(offsets, codes.astype(np.int32), *no_sets(len(codes)))[1]
        found *= self.item_probabilities[codes][:, None]
        found[np.arange(len(codes)), codes] = self.item_probabilities[codes]
        return found

    def items_given(self, held: Codes, missing: Codes) -> Floats:
        """Return the probability of each item given some present and others absent, shape (n_items,)."""
        values, found = self._given(*one_set(held), *one_set(missing))
        if np.isneginf(values[0]):
            self._log_probability_of_condition(held, missing)
        given: Floats = found[0]
        return given

    def items_given_each(self, offsets: npt.NDArray[np.int64], codes: Codes) -> Floats:
        """Return the probability of each item given each of some baskets, shape (n_baskets, n_items)."""
        values, found = self._given(offsets, codes, *no_sets(len(offsets) - 1))
        for impossible in np.flatnonzero(np.isneginf(values)):
            own = codes[offsets[impossible] : offsets[impossible + 1]]
            self._log_probability_of_condition(own, codes[:0])
        return found

    def items_completing_each(self, offsets: npt.NDArray[np.int64], codes: Codes) -> Floats:
        """Return the probability of each item given all others, for complete baskets, (n_baskets, n_items).

        One pass through the tree gives the odds of every item.
        """
        n, D = len(offsets) - 1, self.n_items
        absent = np.ones((n, D), dtype=np.bool_)
        absent[np.repeat(np.arange(n), np.diff(offsets)), codes] = False
        missing = np.nonzero(absent)[1].astype(np.int32)
        ends = np.concatenate([[0], np.cumsum(absent.sum(axis=1))]).astype(np.int64)
        values, on, off = self._odds(offsets, codes, ends, missing)
        if np.isneginf(values).any():
            return super().items_completing_each(offsets, codes)
        with np.errstate(divide="ignore"):
            return self._completed(on / off, offsets, codes)

    def _given(
        self,
        offsets: npt.NDArray[np.int64],
        codes: Codes,
        absent_offsets: npt.NDArray[np.int64],
        absent_codes: Codes,
    ) -> tuple[Floats, Floats]:
        """Return the log-probabilities of sets, and the probability of each item given each of them."""
        values, found, _ = self._odds(offsets, codes, absent_offsets, absent_codes)
        rows = np.arange(len(values))
        found[np.repeat(rows, np.diff(offsets)), codes] = 1.0
        found[np.repeat(rows, np.diff(absent_offsets)), absent_codes] = 0.0
        return values, found

    def _odds(
        self,
        offsets: npt.NDArray[np.int64],
        codes: Codes,
        absent_offsets: npt.NDArray[np.int64],
        absent_codes: Codes,
    ) -> tuple[Floats, Floats, Floats]:
        """Return the log-probabilities of sets, and of each item the shares with and without it."""
        n = len(offsets) - 1
        values, on, off = np.empty(n), np.zeros((n, self.n_items)), np.zeros((n, self.n_items))
        asked = _asked(offsets, codes, absent_offsets, absent_codes)
        latent.item_odds(asked, self._shape, self._tables, values, on, off)
        return values, on, off


def rows_at_a_time(n_items: int) -> int:
    """Return how many rows are brought into patterns at once, so that memory is bounded."""
    return int(np.clip(_CELLS_AT_A_TIME // max(n_items, 1), 1, _MOST_ROWS_AT_A_TIME))


def patterns_of_rows(shape: TreeShape, data: Transactions, first: int, n_rows: int) -> SubtreePatterns:
    """Return the patterns of some rows on all subtrees."""
    indptr, D = data.indptr[first : first + n_rows + 1], data.n_items
    rows = np.repeat(np.arange(n_rows), np.diff(indptr))
    labels = np.zeros((D, n_rows), dtype=np.int32)
    labels[data.indices[indptr[0] : indptr[-1]], rows] = 1
    sizes = np.empty(D, dtype=np.int64)
    n_places = 2 * n_rows + 5
    table, places = np.full(n_places, -1, dtype=np.int64), np.empty(n_places, dtype=np.int64)
    latent.label_patterns(shape, labels, sizes, table, places)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    of_parent = np.where(shape.parents < 0, n_rows, sizes[shape.parents])
    map_starts = np.concatenate([[0], np.cumsum(of_parent)])
    found = SubtreePatterns(
        starts, np.zeros(int(starts[-1]), np.bool_), map_starts, np.zeros(int(map_starts[-1]), np.int32)
    )
    latent.fill_patterns(shape, labels, indptr - indptr[0], data.indices[indptr[0] : indptr[-1]], found)
    return found


def room_for(patterns: SubtreePatterns, n_states: int, dtype: npt.DTypeLike) -> Messages:
    """Return arrays for the messages of patterns."""
    n = len(patterns.held)
    beliefs, messages, flows = (np.empty((n, n_states), dtype=dtype) for _ in range(3))
    return Messages(beliefs, messages, flows, np.empty(n))


def shape_of_tree(parents: Codes) -> TreeShape:
    """Return the shape of a tree, or raise InvalidInputError if items are their own ancestors."""
    D = len(parents)
    order, rank = np.empty((1, D), dtype=np.int32), np.empty((1, D), dtype=np.int32)
    if not trees.order_trees(parents[None], np.zeros((1, D, 2)), order, rank, np.empty((1, D))):
        raise InvalidInputError(
            "expected parents that make a tree, got items that are their own ancestors; leave out an edge of "
            "the cycle"
        )
    return TreeShape(*(readonly(codes, np.int32) for codes in (parents, order[0], rank[0])))


def marginals_of_states(shape: TreeShape, transitions: Floats) -> Floats:
    """Return the probability of each state of each item, shape (n_items, n_states)."""
    marginals = np.empty(transitions.shape[:2])
    for i in shape.order.tolist():
        p = int(shape.parents[i])
        marginals[i] = transitions[i, 0] if p < 0 else marginals[p] @ transitions[i]
    return marginals


def _asked(
    offsets: npt.NDArray[np.int64],
    codes: Codes,
    absent_offsets: npt.NDArray[np.int64],
    absent_codes: Codes,
) -> AskedSets:
    """Return sets as read-only views, so that kernels compile once."""
    return AskedSets(
        readonly(offsets[:], np.int64, copy=False),
        readonly(codes[:], np.int32, copy=False),
        readonly(absent_offsets[:], np.int64, copy=False),
        readonly(absent_codes[:], np.int32, copy=False),
    )


def _parents(parents: npt.ArrayLike, n_items: int) -> Codes:
    array = np.asarray(parents)
    if array.shape != (n_items,) or (array.size and array.dtype.kind not in "iu"):
        raise InvalidInputError(
            f"expected parents as whole numbers, one for each of {n_items:,} items, got {array.dtype} of "
            f"shape {array.shape}; give the code of each item's parent"
        )
    if array.size and not -1 <= int(array.min()) <= int(array.max()) < n_items:
        raise InvalidInputError(
            f"expected parents from -1 to {n_items - 1}, got {int(array.min())} to {int(array.max())}; use "
            "item codes, and -1 for roots"
        )
    return np.array(array, dtype=np.int32, order="C")


def _probabilities(name: str, values: npt.ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    array: Floats = owned(values, np.float64)
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("n_states" if n is None else str(n) for n in shape)
        raise InvalidInputError(
            f"expected {name} of shape ({wanted}), got {array.shape}; give each item its states"
        )
    if array.shape[-1] == 0:
        raise InvalidInputError(f"expected at least one state in {name}, got none; give each item its states")
    if not ((array >= 0) & (array <= 1)).all():
        raise InvalidInputError(f"expected probabilities from 0 to 1 in {name}, got others (or NaN)")
    return array


def _of_roots_alike(transitions: Floats, parents: Codes) -> Floats:
    """Return transitions with equal rows for roots; check that rows sum to one."""
    roots = parents < 0
    if not np.array_equal(
        transitions[roots], np.broadcast_to(transitions[roots, :1], transitions[roots].shape)
    ):
        copied = transitions.copy()
        copied[roots] = copied[roots, :1]
        transitions = protected(copied)
    sums = transitions.sum(axis=2)
    if len(sums) and not np.abs(sums - 1).max() <= _ROUNDING:
        raise InvalidInputError(
            f"expected transitions that sum to one over the last axis, got sums from {sums.min():.6g} to "
            f"{sums.max():.6g}; divide them by their sums"
        )
    return transitions
