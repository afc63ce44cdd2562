"""CauseMixture: causes that act at once or not, as a mixture with a component for each combination."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._arrays import owned, protected
from itemix._checks import check_whole
from itemix._runtime import require_memory
from itemix.core.display import plural
from itemix.core.items import Items, Label
from itemix.errors import InvalidInputError
from itemix.models.base import no_sets, require_consistent
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix._typing import Floats
    from itemix.core.transactions import Transactions
    from itemix.models.base import Names

MOST_CAUSES = 14
# The table of probabilities, the same by item, and what is computed from it at once.
_BYTES_A_CELL = 40


class ActiveCause(NamedTuple):
    """A cause of a basket.

    Attributes
    ----------
    cause : int
        Its number.
    probability : float
        The probability that it acts in this basket.
    share : float
        The share of all baskets in which it acts.
    items : list of (item, float)
        The items of the basket that speak for it, most first: by how much the log-odds that it acts would
        fall if the item were not known.
    """

    cause: int
    probability: float
    share: float
    items: list[tuple[Label, float]]


class Causes:
    """What the causes of a model do, in the form in which the components of a mixture are looked at.

    Attributes
    ----------
    weights : array, shape (n_components,)
        The share of the transactions in which each cause acts. Several act at once, so they do not sum to 1.
    probs : array, shape (n_components, n_items)
        The probability of each item where the cause acts.
    items : Items
        The name of each item code.
    item_probabilities : array, shape (n_items,)
        The probability of each item.
    """

    def __init__(self, model: CauseMixture) -> None:
        acting = cause_states(model.n_causes).T * model.weights
        self.weights: Floats = protected(acting.sum(axis=1))
        given = np.divide(acting, self.weights[:, None], out=acting, where=self.weights[:, None] > 0)
        self.probs: Floats = protected(np.clip(given @ model.probs, 0.0, 1.0))
        self.items = model.items
        self.item_probabilities = model.item_probabilities
        self._given, self._states = given, model.probs

    @property
    def n_components(self) -> int:
        """The number of causes."""
        return len(self.weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Causes):
            return NotImplemented
        return self.items == other.items and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("weights", "probs")
        )

    __hash__ = None  # type: ignore[assignment]

    def alone(self, cause: int) -> Mixture:
        """Return the distribution of the transactions in which a cause acts, whatever else does."""
        return Mixture(self._given[cause] / self._given[cause].sum(), self._states, self.items)


class CauseMixture(Mixture):
    """Several causes that act at once or not: an immutable value.

    A transaction comes from a state z, which says for each cause whether it acts. Given the state, items are
    independent, with the log-odds ``baseline[i] + sum_k z[k] effects[k, i]``. The log-probability of a state
    is, up to a constant, ``sum_k z[k] ties[k, k] + sum_{j<k} z[j] z[k] ties[j, k]``. All states are
    enumerated, so that this is a mixture of products, one for each state, and every answer is exact.

    Parameters
    ----------
    baseline : array of float, shape (n_items,)
        The log-odds of each item where no cause acts.
    effects : array of float, shape (n_causes, n_items)
        What each cause adds to them.
    ties : array of float, shape (n_causes, n_causes)
        Symmetric. On the diagonal the log-odds that a cause acts where no other does, beside it how much two
        causes raise those of each other.
    items : Items or iterable of str or int
        The name of each column of `effects`.

    Examples
    --------
    >>> from itemix.models.causes import CauseMixture
    >>> effects, ties = [[4.0, 0.0], [0.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]
    >>> model = CauseMixture([-2.0, -2.0], effects, ties, ["tea", "beer"])
    >>> model.n_causes, model.n_components
    (2, 4)
    >>> round(model.probability(["tea", "beer"]), 3)
    0.408
    """

    def __init__(
        self,
        baseline: npt.ArrayLike,
        effects: npt.ArrayLike,
        ties: npt.ArrayLike,
        items: Items | Iterable[Label],
    ) -> None:
        self._baseline, self._effects, self._ties = (
            owned(values, np.float64) for values in (baseline, effects, ties)
        )
        K = check_causes(len(self._effects) if self._effects.ndim else 0)
        items = items if isinstance(items, Items) else Items(items)
        wanted = {"baseline": (len(items),), "effects": (K, len(items)), "ties": (K, K)}
        for name, shape in wanted.items():
            array: Floats = getattr(self, f"_{name}")
            if array.shape != shape or not np.isfinite(array).all():
                raise InvalidInputError(
                    f"expected {name} as finite numbers of shape {shape}, got shape {array.shape} or others; "
                    "give a row for each cause and a column for each item"
                )
        if not np.array_equal(self._ties, self._ties.T):
            raise InvalidInputError(
                "expected symmetric ties, got others; try (ties + ties.T) / 2, with the diagonal as it is"
            )
        require_states(K, len(items))
        from scipy.special import expit, softmax

        states = cause_states(K)
        upper = np.triu(self._ties)
        weights = softmax(((states @ upper) * states).sum(axis=1))
        super().__init__(weights, expit(states @ self._effects + self._baseline), items)

    @property
    def baseline(self) -> Floats:
        """The log-odds of each item where no cause acts, shape (n_items,), read-only."""
        return self._baseline

    @property
    def effects(self) -> Floats:
        """What each cause adds to the log-odds of each item, shape (n_causes, n_items), read-only."""
        return self._effects

    @property
    def ties(self) -> Floats:
        """The log-odds of causes, and of pairs of them, shape (n_causes, n_causes), read-only."""
        return self._ties

    @property
    def n_causes(self) -> int:
        """The number of causes."""
        return len(self._effects)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: of items, of causes and of pairs of causes."""
        K = self.n_causes
        return (K + 1) * self.n_items + K * (K + 1) // 2

    @cached_property
    def causes(self) -> Causes:
        """How often each cause acts, and which items are in the transactions where it does."""
        return Causes(self)

    @cached_property
    def together(self) -> Floats:
        """The probability that two causes act at once, and on the diagonal that one does, shape (K, K)."""
        states = cause_states(self.n_causes)
        return protected((states.T * self._weights) @ states)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CauseMixture):
            return super().__eq__(other)
        return self._items == other._items and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("baseline", "effects", "ties")
        )

    __hash__ = None

    def __repr__(self) -> str:
        return f"CauseMixture({plural(self.n_causes, 'cause')}, {self.n_items:,} items)"

    def __reduce__(self) -> tuple[type[CauseMixture], tuple[Any, ...]]:
        """Leave what is computed out of pickles."""
        return CauseMixture, (self._baseline, self._effects, self._ties, self._items)

    def acting(self, transactions: Transactions) -> Floats:
        """Return the probability that each cause acts in each transaction, (n_transactions, n_causes)."""
        return np.minimum(self.responsibilities(transactions) @ cause_states(self.n_causes), 1.0)

    def explain(self, basket: Names, *, partial: bool = False) -> list[ActiveCause]:
        """Return the causes, those that act most probably in a basket first, with the items that say so.

        Parameters
        ----------
        basket : names
            The items present.
        partial : bool
            Whether items that are not named are unknown; by default they are absent.

        Raises
        ------
        InvalidInputError
            If the basket has probability zero.
        """
        held = self._items.codes(basket)
        everything = np.arange(self.n_items, dtype=np.int32)
        missing = everything[:0] if partial else np.setdiff1d(everything, held)
        require_consistent(self._items, no_sets(0), no_sets(0), held, missing)
        states = cause_states(self.n_causes)
        log_joint = self._log_joint(held, missing)
        probability = _chances(log_joint, states)
        with np.errstate(divide="ignore", invalid="ignore"):
            without = np.array([_chances(log_joint - np.log(self._probs[:, i]), states) for i in held])
        told = _log_odds(probability) - _log_odds(without.reshape(len(held), self.n_causes))
        return [
            ActiveCause(
                int(k),
                float(probability[k]),
                float(self.causes.weights[k]),
                [
                    (self._items[int(held[j])], float(told[j, k]))
                    for j in np.argsort(-told[:, k], kind="stable")
                    if told[j, k] > 0
                ],
            )
            for k in np.argsort(-probability, kind="stable")
        ]


AnyComponents = Mixture | Causes
"""What is looked at as the components of a model: both have weights, probs, items and item_probabilities."""


def _chances(log_joint: Floats, states: Floats) -> Floats:
    """Return the probability that each cause acts, from the log-probabilities of the states."""
    joint = np.exp(log_joint - log_joint.max())
    chances: Floats = np.clip(joint @ states / joint.sum(), 0.0, 1.0)
    return chances


def _log_odds(probability: Floats) -> Floats:
    least = np.finfo(np.float64).tiny
    odds: Floats = np.log(np.maximum(probability, least)) - np.log(np.maximum(1 - probability, least))
    return odds


def cause_states(n_causes: int) -> Floats:
    """Return all states, shape (2^n_causes, n_causes): 1 where a cause acts. State s has the bits of s."""
    states: Floats = ((np.arange(1 << n_causes)[:, None] >> np.arange(n_causes)) & 1).astype(np.float64)
    return states


def check_causes(n_causes: object) -> int:
    """Return a number of causes, or raise InvalidInputError if their states are too many to enumerate."""
    K = check_whole("n_causes", n_causes, 8, least=1)
    if K > MOST_CAUSES:
        raise InvalidInputError(
            f"expected n_causes from 1 to {MOST_CAUSES}, as all 2^n_causes states are enumerated, got {K}; "
            "try 8, or BayesianMixture for many components"
        )
    return K


def require_states(n_causes: int, n_items: int) -> None:
    """Refuse a model that would not fit into memory, before anything is allocated."""
    require_memory(
        _BYTES_A_CELL * (1 << n_causes) * n_items,
        f"the {1 << n_causes:,} states of {n_causes} causes and {n_items:,} items",
        "lower n_causes, or leave out rare items with select_items",
    )
