"""CorrectedMixture: a mixture and the transactions that it was fitted to, as one distribution.

The mixture is the base measure of a Dirichlet process, and the transactions are what was drawn from it
(see docs/correction.md). The probability of an event is then a mean of its frequency and of what the mixture
says, and all laws of probability hold.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from itemix._arrays import protected
from itemix._checks import check_number
from itemix._runtime import still_wanted
from itemix.core.transactions import weights_of
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.kernels.csr import RowArrays
from itemix.kernels.mining.counts import count_sets
from itemix.models.base import Model, no_sets, one_set, require_same_items

if TYPE_CHECKING:
    from itemix._typing import Codes, Floats, Ints
    from itemix.core.items import Items
    from itemix.core.transactions import Transactions

# A step of the search in rows takes about as long as this many words of bitsets.
_WORDS_A_STEP = 4
# After this many steps we ask whether the answer is still wanted.
_STEPS_AT_A_TIME = 1 << 24


class CorrectedMixture(Model):
    """A model corrected by the transactions themselves: an immutable value.

    The probability of any event, of present and of absent items, is (count + worth p) / (n + worth), where p
    is what the model says. So the model is worth as much as `worth` transactions. Whole transactions have the
    probability that the model gives them.

    Parameters
    ----------
    base : Model
        The model to correct, usually a mixture.
    transactions : Transactions
        What was seen, over the same items. Identical transactions are kept once, with their number.
    worth : float
        How many transactions the model is worth; above 0.
    whole : Model, optional
        What is asked for whole transactions, if that is another model of the same items.

    Raises
    ------
    InvalidInputError
        If the items differ, there are no transactions, or the worth is not a positive number.
    """

    def __init__(
        self, base: Model, transactions: Transactions, worth: float, whole: Model | None = None
    ) -> None:
        require_same_items(base.items, transactions.items)
        if whole is not None:
            require_same_items(base.items, whole.items)
        if transactions.n_transactions == 0:
            raise InvalidInputError("expected transactions to count, got none; pass those of the fit")
        self._base = base
        merged = transactions.merge_identical()
        self._transactions = merged if merged.n_rows < transactions.n_transactions else transactions
        self._worth = check_worth(worth)
        self._whole = base if whole is None else whole

    @property
    def base(self) -> Model:
        """The model that is corrected."""
        return self._base

    @property
    def transactions(self) -> Transactions:
        """The transactions that correct it, identical ones as one row."""
        return self._transactions

    @property
    def worth(self) -> float:
        """How many transactions the model is worth."""
        return self._worth

    @property
    def whole(self) -> Model:
        """The model of whole transactions."""
        return self._whole

    @property
    def n_seen(self) -> float:
        """The transactions and what the model is worth, together: how sure an answer is."""
        return self._transactions.n_transactions + self._worth

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._base.items

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: the model's, and one for each distinct transaction."""
        return self._base.n_parameters + self._transactions.n_rows

    @property
    def has_likelihood(self) -> bool:
        """Whether the model can tell how probable whole transactions are."""
        return self._whole.has_likelihood

    @cached_property
    def item_probabilities(self) -> Floats:
        """The probability of each item on its own, shape (n_items,)."""
        return protected(self.blend(self._transactions.item_counts(), self._base.item_probabilities))

    @cached_property
    def _rows(self) -> RowArrays:
        return RowArrays(self._transactions.indptr, self._transactions.indices)

    @cached_property
    def _columns(self) -> RowArrays:
        """The rows that hold each item."""
        data = self._transactions
        rows = np.repeat(np.arange(data.n_rows, dtype=np.int32), np.diff(data.indptr))
        return RowArrays(*map(protected, csr.rows_of_pairs(data.indices, rows, data.n_items)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CorrectedMixture):
            return NotImplemented
        return (
            self._base == other._base
            and self._transactions == other._transactions
            and self._worth == other._worth
            and self._whole == other._whole
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"CorrectedMixture({self._base!r}, {self._transactions.n_transactions:,} transactions, "
            f"worth {self._worth:,.4g})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the cached tables out of pickles."""
        return {name: self.__dict__[name] for name in ("_base", "_transactions", "_worth", "_whole")}

    def blend(self, counts: Ints | Floats, probabilities: Floats) -> Floats:
        """Return the probabilities of events, from how often each was seen and what the model says."""
        blended: Floats = (counts + self._worth * probabilities) / self.n_seen
        return blended

    def log_likelihood(self, transactions: Transactions) -> Floats:
        """Return the log-probability of each transaction of whole transactions, shape (n_transactions,)."""
        return self._whole.log_likelihood(transactions)

    def sample(self, n: int, *, random_state: int | np.random.Generator | None = None) -> Transactions:
        """Draw n transactions from the model of whole transactions."""
        return self._whole.sample(n, random_state=random_state)

    def probabilities_of_codes(
        self,
        offsets: Ints,
        codes: Codes,
        absent_offsets: Ints | None = None,
        absent_codes: Codes | None = None,
    ) -> Floats:
        """Return the probabilities of sets of item codes in compressed form, shape (n,)."""
        expected = self._base.probabilities_of_codes(offsets, codes, absent_offsets, absent_codes)
        return self.blend(self.count(offsets, codes, absent_offsets, absent_codes), expected)

    def log_probability_of_codes(self, held: Codes, missing: Codes) -> float:
        """Return the log-probability that some items are present and others absent; -inf if impossible.

        If it was never seen, this is exact also if the probability itself would be rounded to zero.
        """
        n = int(self.count(*one_set(held), *one_set(missing))[0])
        expected = math.log(self._worth) + self._base.log_probability_of_codes(held, missing)
        return float(np.logaddexp(math.log(n) if n else -math.inf, expected)) - math.log(self.n_seen)

    def count(
        self,
        offsets: Ints,
        codes: Codes,
        absent_offsets: Ints | None = None,
        absent_codes: Codes | None = None,
    ) -> Ints:
        """Return how many transactions hold each set, and none of its absent items, shape (n,)."""
        data, n = self._transactions, len(offsets) - 1
        if absent_offsets is None or absent_codes is None:
            absent_offsets, absent_codes = no_sets(n)
        present, absent = _canonical(offsets, codes), _canonical(absent_offsets, absent_codes)
        steps = self._steps(present, absent)
        n_words = (data.n_rows + 63) // 64 * (len(present.indices) + n)
        if len(absent.indices) == 0 and _WORDS_A_STEP * steps.sum() > n_words + len(data.indices):
            return count_sets(*self._rows, weights_of(data), *present, data.n_items)
        counts = np.empty(n, dtype=np.int64)
        found = np.empty(data.n_rows, dtype=np.int64)
        ends = np.searchsorted(np.cumsum(steps), np.arange(0, steps.sum(), _STEPS_AT_A_TIME), side="right")
        for first, last in pairwise([*ends, n]):
            still_wanted()
            csr.count_events(
                self._rows,
                self._columns,
                weights_of(data),
                RowArrays(protected(present.indptr[first : last + 1]), present.indices),
                RowArrays(protected(absent.indptr[first : last + 1]), absent.indices),
                found,
                counts[first:last],
            )
        return counts

    def _steps(self, present: RowArrays, absent: RowArrays) -> Floats:
        """Return about how many steps it takes to count each event row by row."""
        n = len(present.indptr) - 1
        sizes = np.diff(self._columns.indptr)
        looked_at = np.full(n, self._transactions.n_rows, dtype=np.float64)
        filled = np.flatnonzero(np.diff(present.indptr))
        if len(filled):
            looked_at[filled] = np.minimum.reduceat(sizes[present.indices], present.indptr[filled])
        return looked_at * (np.diff(present.indptr) + np.diff(absent.indptr) + 1.0) + 1.0

    def count_pairs(self, rows: Codes, columns: Codes) -> Ints:
        """Return how many transactions hold each of some items with each of others."""
        from scipy import sparse

        data = self._transactions
        ones, shape = np.ones(len(data.indices), dtype=np.int64), (data.n_rows, data.n_items)
        held = sparse.csr_array((ones, data.indices, data.indptr), shape)
        weighted = held
        if data.multiplicities is not None:
            weights = np.repeat(data.multiplicities, np.diff(data.indptr))
            weighted = sparse.csr_array((weights, data.indices, data.indptr), shape)
        found: Ints = (held[:, rows].T @ weighted[:, columns]).toarray()
        return found

    def pair_probabilities(self, codes: Codes) -> Floats:
        """Return the probability of some items with each of all items, shape (len(codes), n_items)."""
        everything = np.arange(self.n_items, dtype=np.int32)
        return self.blend(self.count_pairs(codes, everything), self._base.pair_probabilities(codes))

    def items_given(self, held: Codes, missing: Codes) -> Floats:
        """Return the probability of each item given some present and others absent, shape (n_items,).

        Raises
        ------
        InvalidInputError
            If the model rules the condition out.
        """
        present, absent = _canonical(*one_set(held)), _canonical(*one_set(missing))
        found = np.empty(self._transactions.n_rows, dtype=np.int64)
        n_rows = csr.matching_rows(self._rows, self._columns, present, absent, 0, found)
        if n_rows == 0:
            return self._base.items_given(held, missing)
        matching = self._transactions.of_rows(found[:n_rows])
        expected = self._worth * math.exp(self._base.log_probability_of_codes(held, missing))
        counts = matching.item_counts().astype(np.float64)
        if expected > 0:
            counts += expected * self._base.items_given(held, missing)
        given: Floats = counts / (matching.n_transactions + expected)
        given[held], given[missing] = 1.0, 0.0
        return given


def _canonical(offsets: Ints, codes: Codes) -> RowArrays:
    """Return sets with ascending codes, each once."""
    return RowArrays(*map(protected, csr.canonical_rows(protected(offsets.view()), protected(codes.view()))))


def check_worth(worth: object) -> float:
    """Return how many transactions a model is worth.

    Raises
    ------
    InvalidInputError
        If it is not a positive number.
    """
    number = check_number("worth", worth, 100.0)
    if not 0 < number < math.inf:
        raise InvalidInputError(
            f"expected a model that is worth a positive number of transactions, got {worth!r}; try 100"
        )
    return number
