"""Mixture: a mixture of products of Bernoulli distributions, which the fits of most methods end with."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._arrays import owned, protected, ranks_by
from itemix._checks import as_generator, check_whole
from itemix.core.items import Items, Label
from itemix.core.sets import as_positions
from itemix.core.transactions import Transactions, as_transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.kernels.models import estep, probability
from itemix.kernels.models.estep import ScoreTables
from itemix.kernels.models.probability import AskedSets
from itemix.models.base import (
    NEAR_THE_LEAST,
    Model,
    Names,
    drawn,
    no_sets,
    require_consistent,
    require_same_items,
)
from itemix.models.counts import tables_of_mixture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from itemix._typing import Floats
    from itemix.models.base import SetArrays


Labels = npt.NDArray[np.int64]
"""The label of each component: 0, 1, 2, ..., each at least once."""

_ROWS_AT_A_TIME = 16_384
_LARGE_TABLE = 1_000_000
_NOT_QUITE_ONE = 1e-6
_ROUNDING = 1e-12


class Mixture(Model):
    """A mixture of products of Bernoulli distributions: an immutable value.

    A transaction comes from component k with probability ``weights[k]``, and then holds each item i with
    probability ``probs[k, i]`` on its own (eq. prob of the paper). Probabilities of 0 and 1 are exact.

    Parameters
    ----------
    weights : array of float, shape (n_components,)
        Not negative; they sum to one.
    probs : array of float, shape (n_components, n_items)
        From 0 to 1.
    items : Items or iterable of str or int
        The name of each column of `probs`.

    Examples
    --------
    >>> from itemix.models.mixture import Mixture
    >>> model = Mixture([0.5, 0.5], [[0.9, 0.8], [0.1, 0.0]], ["bread", "milk"])
    >>> round(model.probability(["bread", "milk"]), 12)
    0.36
    """

    def __init__(self, weights: npt.ArrayLike, probs: npt.ArrayLike, items: Items | Iterable[Label]) -> None:
        self._items = items if isinstance(items, Items) else Items(items)
        self._weights = checked_weights(weights)
        self._probs = _checked_probs(probs, len(self._weights), len(self._items))

    @classmethod
    def from_transactions(cls, transactions: Transactions) -> Mixture:
        """Return the empirical mixture: a component for each distinct transaction, probabilities 0 and 1.

        Its probability of an itemset is the itemset's support. It is dense, so the data must fit in memory as
        a dense table.
        """
        transactions = as_transactions(transactions)
        if transactions.n_transactions == 0:
            raise InvalidInputError("expected at least one transaction, got none; pass data with some")
        merged = transactions.merge_identical()
        probs = np.zeros((merged.n_rows, merged.n_items))
        probs[np.repeat(np.arange(merged.n_rows), merged.lengths()), merged.indices] = 1.0
        assert merged.multiplicities is not None  # noqa: S101 - merging always counts
        return cls(merged.multiplicities / merged.n_transactions, probs, merged.items)

    @classmethod
    def stack(cls, mixtures: Sequence[Mixture], weights: npt.ArrayLike | None = None) -> Mixture:
        """Return the average of several models: all their components, with weights scaled by shares.

        Parameters
        ----------
        mixtures : sequence of Mixture
            Models of the same items.
        weights : array of float, optional
            The share of each model; equal shares by default.
        """
        if not (
            isinstance(mixtures, list | tuple) and mixtures and all(isinstance(m, cls) for m in mixtures)
        ):
            raise InvalidInputError(
                f"expected at least one mixture to stack, got {mixtures!r}; pass a list of them"
            )
        items = mixtures[0].items
        for mixture in mixtures:
            require_same_items(items, mixture.items)
        shares = np.ones(len(mixtures)) if weights is None else np.asarray(weights, dtype=np.float64)
        if shares.shape != (len(mixtures),) or not (shares >= 0).all() or shares.sum() <= 0:
            raise InvalidInputError(
                f"expected {len(mixtures)} weights of zero or more, got {weights!r}; "
                "leave them out for equal shares"
            )
        stacked = np.concatenate(
            [m.weights * s for m, s in zip(mixtures, shares / shares.sum(), strict=True)]
        )
        return cls(stacked, np.concatenate([m.probs for m in mixtures]), items)

    @property
    def weights(self) -> Floats:
        """The probability of each component, shape (n_components,), read-only."""
        return self._weights

    @property
    def probs(self) -> Floats:
        """The probability of each item in each component, shape (n_components, n_items), read-only."""
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
    def n_parameters(self) -> int:
        """The number of free parameters, K (D + 1) - 1."""
        return self.n_components * (self.n_items + 1) - 1

    @cached_property
    def item_probabilities(self) -> Floats:
        """The probability of each item on its own, shape (n_items,)."""
        return protected(self._weights @ self._probs)

    @cached_property
    def ranks(self) -> npt.NDArray[np.int32]:
        """The rank of each item: 0 is the most probable one, ties by code."""
        return protected(ranks_by(self.item_probabilities))

    @cached_property
    def _by_item(self) -> Floats:
        return protected(self._probs.T.copy())

    @cached_property
    def _tables(self) -> ScoreTables:
        return tables_of_mixture(self._weights, self._by_item)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mixture):
            return NotImplemented
        return (
            self._items == other._items
            and np.array_equal(self._weights, other._weights)
            and np.array_equal(self._probs, other._probs)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Mixture({self.n_components:,} components, {self.n_items:,} items)"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the cached tables out of pickles."""
        return {name: self.__dict__[name] for name in ("_weights", "_probs", "_items")}

    def take(self, components: npt.ArrayLike) -> Mixture:
        """Return the mixture with its components in another order; `components` names each once."""
        order = as_positions(components, self.n_components)
        return Mixture(self._weights[order], self._probs[order], self._items)

    def merge(self, component_labels: npt.ArrayLike) -> Mixture:
        """Return the mixture in which components with the same label are one.

        Its weight is their sum, and its item probabilities are their averages. So the probability of each
        item stays the same. That of larger sets does not: a component of products becomes the product of
        averages.

        Parameters
        ----------
        component_labels : array of int, shape (n_components,)
            The label of each component: 0, 1, 2, ..., each at least once.

        Raises
        ------
        InvalidInputError
            If these are not such labels.
        """
        labels = np.asarray(component_labels)
        if not are_labels(labels, self.n_components):
            raise InvalidInputError(
                f"expected a label for each of the {self.n_components} components, 0, 1, 2 and so on, each "
                "at least once, got others; try np.unique(labels, return_inverse=True)[1]"
            )
        weights = sum_by_label(self._weights, labels)
        n_carriers = np.bincount(labels)[labels]
        shares = np.divide(self._weights, weights[labels], out=1 / n_carriers, where=weights[labels] > 0)
        probs = sum_by_label((shares[:, None] * self._probs).T, labels).T
        return Mixture(weights, np.minimum(probs, 1.0), self._items)

    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction, shape (n_transactions,); -inf if impossible."""
        transactions = as_transactions(transactions)
        values = np.empty(transactions.n_rows)
        for _ in self._passes(transactions, values, with_resp=False):
            pass
        return each_transaction(transactions, values)

    def responsibilities(
        self, transactions: Transactions, *, component_labels: Labels | None = None
    ) -> Floats:
        """Return the probability of each component given each transaction, shape (n_transactions, K).

        A transaction that no component allows is shared equally among all.

        Parameters
        ----------
        transactions : Transactions
            The data.
        component_labels : array of int, shape (n_components,), optional
            Return the probability of each label instead, that of its components together.
        """
        transactions = as_transactions(transactions)
        K = self.n_components if component_labels is None else int(component_labels.max()) + 1
        out = np.empty((transactions.n_rows, K))
        for first, last, resp in self._passes(transactions, np.empty(transactions.n_rows), with_resp=True):
            out[first:last] = sum_by_label(resp, component_labels)
        return each_transaction(transactions, out)

    def labels(
        self, transactions: Transactions, *, component_labels: Labels | None = None
    ) -> npt.NDArray[np.int64]:
        """Return the most probable component, or label, of each transaction, shape (n_transactions,)."""
        transactions = as_transactions(transactions)
        out = np.empty(transactions.n_rows, dtype=np.int64)
        for first, last, resp in self._passes(transactions, np.empty(transactions.n_rows), with_resp=True):
            out[first:last] = sum_by_label(resp, component_labels).argmax(axis=1)
        return each_transaction(transactions, out)

    def _passes(
        self, transactions: Transactions, values: Floats, *, with_resp: bool
    ) -> Iterator[tuple[int, int, Floats]]:
        require_same_items(self._items, transactions.items)
        tables = self._tables
        for first in range(0, transactions.n_rows, _ROWS_AT_A_TIME):
            last = min(first + _ROWS_AT_A_TIME, transactions.n_rows)
            resp = np.empty((last - first if with_resp else 0, self.n_components))
            estep.row_responsibilities(
                transactions.indptr,
                transactions.indices,
                first,
                last,
                tables,
                values[first:last],
                resp,
            )
            yield first, last, resp

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the model."""
        n = check_whole("n", n, 100, least=0)
        rng = as_generator(random_state)
        labels = rng.choice(self.n_components, size=n, p=self._weights)
        return drawn(self._items, labels, lambda own: rng.random((len(own), self.n_items)) < self._probs[own])

    def marginal(self, items: Names) -> Mixture:
        """Return the mixture over some items only (in the order of their codes); the rest is summed out."""
        codes = self._items.codes(items)
        return Mixture(self._weights, self._probs[:, codes], self._items.take(codes))

    def condition(self, present: Names = (), absent: Names = ()) -> Mixture:
        """Return the mixture given that some items are present and others absent.

        It has the same items; those that are known have probability 1 or 0.

        Raises
        ------
        InvalidInputError
            If an item is both present and absent, or the event has probability zero.
        """
        held, missing = self._items.codes(present), self._items.codes(absent)
        require_consistent(self._items, no_sets(0), no_sets(0), held, missing)
        return self._given(held, missing)

    def _given(self, held: npt.NDArray[np.int32], missing: npt.NDArray[np.int32]) -> Mixture:
        total = self._log_probability_of_condition(held, missing)
        if total > NEAR_THE_LEAST:
            joint = self._joint(held, missing)
        else:
            joint = np.exp(self._log_joint(held, missing) - total)
        probs = self._probs.copy()
        probs[:, held] = 1.0
        probs[:, missing] = 0.0
        return Mixture(joint / joint.sum(), probs, self._items)

    def log_probability_of_codes(self, held: npt.NDArray[np.int32], missing: npt.NDArray[np.int32]) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible."""
        total = self._joint(held, missing).sum()
        if total > np.exp(NEAR_THE_LEAST):
            return float(np.log(total))
        return float(np.logaddexp.reduce(self._log_joint(held, missing)))

    def _joint(self, held: npt.NDArray[np.int32], missing: npt.NDArray[np.int32]) -> Floats:
        """Return the probability of each component with some items present and others absent, shape (K,)."""
        present, absent = self._probs[:, held], 1 - self._probs[:, missing]
        joint: Floats = self._weights * present.prod(axis=1) * absent.prod(axis=1)
        return joint

    def _log_joint(self, held: npt.NDArray[np.int32], missing: npt.NDArray[np.int32]) -> Floats:
        with np.errstate(divide="ignore"):
            present, absent = np.log(self._probs[:, held]), np.log1p(-self._probs[:, missing])
            joint: Floats = np.log(self._weights) + present.sum(axis=1) + absent.sum(axis=1)
        return joint

    def pair_probabilities(self, codes: npt.NDArray[np.int32]) -> Floats:
        """Return the probability of some items with each of all items, shape (len(codes), n_items).

        An item with itself has its own probability.
        """
        found: Floats = (self._probs[:, codes] * self._weights[:, None]).T @ self._probs
        found[np.arange(len(codes)), codes] = self.item_probabilities[codes]
        return found

    def items_given(self, held: npt.NDArray[np.int32], missing: npt.NDArray[np.int32]) -> Floats:
        """Return the probability of each item given some present and others absent, shape (n_items,)."""
        return self._given(held, missing).item_probabilities

    def items_given_each(self, offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32]) -> Floats:
        """Return the probability of each item given each of some baskets, shape (n_baskets, n_items)."""
        n = len(offsets) - 1
        with np.errstate(divide="ignore"):
            log_weights, log_probs = np.log(self._weights), np.log(self._by_item)
        values, resp = np.empty(n), np.empty((n, self.n_components))
        tables = ScoreTables.without_requirements(log_probs, log_weights)
        estep.row_responsibilities(offsets, codes, 0, n, tables, values, resp)
        impossible = np.flatnonzero(np.isneginf(values))
        if len(impossible):
            first, last = offsets[impossible[0] : impossible[0] + 2]
            self._log_probability_of_condition(codes[first:last], codes[:0])
        found: Floats = resp @ self._probs
        found[np.repeat(np.arange(n), np.diff(offsets)), codes] = 1.0
        return found

    def items_completing_each(self, offsets: npt.NDArray[np.int64], codes: npt.NDArray[np.int32]) -> Floats:
        """Return the probability of each item given all others, for complete baskets, (n_baskets, n_items).

        The odds of an item are its odds in each component, averaged by the basket's responsibilities.
        """
        if self._odds is None:
            return super().items_completing_each(offsets, codes)
        n = len(offsets) - 1
        values, resp = np.empty(n), np.empty((n, self.n_components))
        estep.row_responsibilities(offsets, codes, 0, n, self._tables, values, resp)
        odds: Floats = resp @ self._odds
        odds[np.isneginf(values)] = np.nan
        return self._completed(odds, offsets, codes)

    @cached_property
    def _odds(self) -> Floats | None:
        """The odds of each item in each component, (n_components, n_items); None if some are infinite."""
        absent = 1 - self._probs
        return None if (absent == 0).any() else self._probs / absent

    def _conditional(
        self,
        present: SetArrays,
        against: SetArrays,
        held: npt.NDArray[np.int32],
        missing: npt.NDArray[np.int32],
    ) -> Floats:
        return self._given(held, missing).probabilities_of_codes(*present, *against)

    def probabilities_of_codes(
        self,
        offsets: npt.NDArray[np.int64],
        codes: npt.NDArray[np.int32],
        absent_offsets: npt.NDArray[np.int64] | None = None,
        absent_codes: npt.NDArray[np.int32] | None = None,
    ) -> Floats:
        """Return the probabilities of sets of item codes in compressed form, shape (n,)."""
        if absent_offsets is None or absent_codes is None:
            absent_offsets, absent_codes = no_sets(len(offsets) - 1)
        out = np.empty(len(offsets) - 1)
        probs, place = self._rows_of(codes, absent_codes)
        if place is not None:
            codes, absent_codes = place[codes], place[absent_codes]
        asked = AskedSets(offsets, codes, absent_offsets, absent_codes)
        probability.itemset_probabilities(asked, self._weights, probs, out)
        return np.minimum(out, 1.0, out=out)  # weights may sum to a rounding more

    def _rows_of(self, *codes: npt.NDArray[np.int32]) -> tuple[Floats, npt.NDArray[np.int32] | None]:
        """Return the probabilities by item, and the row of each item; None if rows are items.

        To transpose a large table takes long, so only the rows that are asked for are made of it.
        """
        if self._probs.size < _LARGE_TABLE or "_by_item" in self.__dict__:
            return self._by_item, None
        asked = np.zeros(self.n_items, dtype=bool)
        for some in codes:
            asked[some] = True
        if 4 * asked.sum() > self.n_items:
            return self._by_item, None
        place = np.cumsum(asked, dtype=np.int32) - np.int32(1)
        return protected(self._probs[:, asked].T.copy()), place


def checked_weights(weights: npt.ArrayLike) -> Floats:
    """Return the weights of components, read-only; raise InvalidInputError if they are not weights."""
    array = owned(weights, np.float64).copy()
    if array.ndim != 1 or len(array) == 0:
        raise InvalidInputError(
            f"expected weights of shape (K,), got shape {array.shape}; give one for each component"
        )
    if not (array >= 0).all() or not abs(array.sum() - 1) < _NOT_QUITE_ONE:
        raise InvalidInputError(
            f"expected weights of zero or more that sum to 1, got the sum {array.sum():.6g}; divide by it"
        )
    # Normalised weights stay as they are, so that a mixture that is read back equals the one written.
    if abs(array.sum() - 1) > _ROUNDING:
        array /= array.sum()
    return protected(array)


def _checked_probs(probs: npt.ArrayLike, n_components: int, n_items: int) -> Floats:
    array = owned(probs, np.float64)
    if array.shape != (n_components, n_items):
        raise InvalidInputError(
            f"expected probs of shape ({n_components}, {n_items}), components by items, got {array.shape}; "
            "give a row for each weight and a column for each item"
        )
    if not ((array >= 0) & (array <= 1)).all():
        raise InvalidInputError("expected probabilities from 0 to 1, got others (or NaN); check the probs")
    return array


def are_labels(values: npt.NDArray[Any], n_components: int) -> bool:
    """Whether an array has a label for each component: 0, 1, 2, ..., each at least once."""
    if values.shape != (n_components,) or values.dtype.kind not in "iu":
        return False
    found = np.unique(values)
    return bool(np.array_equal(found, np.arange(len(found))))


def sum_by_label(values: Floats, component_labels: Labels | None) -> Floats:
    """Return the sums over the components of each label, shape (..., n_labels).

    Parameters
    ----------
    values : array, shape (..., n_components)
        A value of each component.
    component_labels : array of int, shape (n_components,), or None
        The label of each component; every label has one. None if each is its own: the values stay.
    """
    if component_labels is None:
        return values
    sums = np.zeros((component_labels.max() + 1, *values.shape[:-1]))
    for label, of_component in zip(component_labels.tolist(), values.T, strict=True):
        sums[label] += of_component
    return sums.T
