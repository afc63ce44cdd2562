"""Priors: Beta for the item probabilities, and sticks for the weights; with counts they make a Posterior.

The weights of both models are broken from a stick, v_k ~ Beta(a_k, b_k). The truncated Dirichlet process has
a_k = 1 and b_k = alpha. The finite model has a_k = alpha / K and b_k = alpha (K - k) / K, which is the same
distribution as Dir(alpha / K, ..., alpha / K). So one algorithm serves both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.models.posterior import Posterior, sums_after

if TYPE_CHECKING:
    from itemix._typing import Codes, Floats
    from itemix.core.items import Items
    from itemix.models.counts import Counts, Rows

Weights = Literal["dirichlet", "sticks"]
Hyperparameter = float | npt.ArrayLike | None

# Rounding must not make a known share zero or negative.
_LEAST_SHARE = 1e-9
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Prior:
    """The hyperparameters of a Bayesian mixture.

    Attributes
    ----------
    alpha : float
        Concentration of the weights.
    beta, gamma : array, shape (n_items,)
        Parameters of the Beta prior of each item's probabilities.
    weights : {"dirichlet", "sticks"}
        Finite Dirichlet, or the truncated Dirichlet process.
    """

    alpha: float
    beta: Floats
    gamma: Floats
    weights: Weights = "dirichlet"

    @property
    def strength(self) -> float:
        """How many transactions the prior of an item's probability is worth: the mean of beta + gamma."""
        return float((self.beta + self.gamma).mean())

    @property
    def is_weak(self) -> bool:
        """Whether it is worth at most one transaction for every item."""
        return bool((self.beta + self.gamma).max(initial=0.0) <= 1 + _ROUNDING)

    def in_words(self) -> str:
        """Say what it assumes, given or learned."""
        strengths = self.beta + self.gamma
        least, most = (f"{end:.3g}" for end in (strengths.min(), strengths.max()))
        weight = f"{most} {'transaction' if most == '1' else 'transactions'}"
        if least != most:
            weight = f"{least} to {weight}"
        return f"alpha {self.alpha:.3g}, and the weight of {weight} in each component"

    def sticks(self, n_components: int) -> tuple[Floats, Floats]:
        """Return the Beta parameters (a, b) of each stick, shape (K,) each; the last b is 0."""
        later = np.arange(n_components - 1, -1, -1, dtype=np.float64)
        if self.weights == "dirichlet":
            share = self.alpha / n_components
            return np.full(n_components, share), share * later
        return np.ones(n_components), np.where(later > 0, self.alpha, 0.0)

    def weakened(self) -> Prior:
        """Return the same prior, worth at most one transaction in each component, as the paper's is."""
        strength = np.maximum(self.beta + self.gamma, 1.0)
        return replace(self, beta=self.beta / strength, gamma=self.gamma / strength)

    def posterior(self, counts: Counts, items: Items) -> Posterior:
        """Return the posterior of the parameters given counts (eqs. rhok or rho1k and rho2k, etan, nun)."""
        a, b = self.sticks(counts.n_components)
        eta, nu = self.beta_parameters(counts)
        known = known_shares(counts, eta, nu)
        return Posterior(a + counts.sizes, b + sums_after(counts.sizes), eta, nu, items, known=known)

    def beta_parameters(self, counts: Counts) -> tuple[Floats, Floats]:
        """Return eta and nu of the item probabilities given counts, shape (K, D) each (eqs. etan, nun)."""
        absent = np.maximum(counts.sizes[:, None] - counts.item_counts, 0.0)
        return self.beta + counts.item_counts, self.gamma + absent


def alike_in_frequency(item_totals: npt.NDArray[np.int64], n_transactions: int) -> tuple[Codes, ...]:
    """Divide items by how often they occur, or are absent if that is less often: from each 2^b to twice that.

    In each component a rare item is nearly as frequent as in all of the data, for all that is known. What is
    frequent tells components apart. So items that are alike in this share the strength of their prior.
    """
    rarer = np.minimum(item_totals, n_transactions - item_totals)
    octave = np.log2(np.maximum(rarer, 1)).astype(np.int64)
    return tuple(np.flatnonzero(octave == b).astype(np.int32) for b in np.unique(octave))


def known_shares(counts: Counts, eta: Floats, nu: Floats) -> Floats | None:
    """Return how much of Beta(eta, nu) is known, shape (K, D): see `Posterior`; None without squares.

    A transaction with share tau tells tau (x - p)^2 about p if its component is known, and only
    tau^2 (x - p)^2 if it is not (see docs/equations.md). All that the prior tells is known.
    """
    if counts.squares is None:
        return None
    mean = eta / (eta + nu)
    told, at_most = (
        (1 - 2 * mean) * own.item_counts + mean**2 * own.sizes[:, None] for own in (counts.squares, counts)
    )
    share = np.ones_like(mean)
    np.divide(told, at_most, out=share, where=at_most > 0)
    from_data = np.minimum(counts.sizes[:, None] / (eta + nu), 1.0)
    known: Floats = 1 - (1 - share.clip(_LEAST_SHARE, 1)) * from_data
    return known


@dataclass(frozen=True, eq=False)
class DataTotals:
    """How often each item occurs, and in how many transactions. Default priors are made from these.

    Attributes
    ----------
    item_totals : array of int, shape (n_items,)
        How many transactions hold each item.
    n_transactions : int
        The number of transactions.
    """

    item_totals: npt.NDArray[np.int64]
    n_transactions: int

    @classmethod
    def of(cls, rows: Rows) -> DataTotals:
        """Return the totals of rows."""
        return cls(rows.item_totals, rows.n_transactions)

    def __add__(self, other: DataTotals) -> DataTotals:
        return DataTotals(self.item_totals + other.item_totals, self.n_transactions + other.n_transactions)


def make_prior(
    item_totals: npt.NDArray[np.int64],
    n_transactions: int,
    *,
    alpha: float = 1.5,
    beta: Hyperparameter = None,
    gamma: Hyperparameter = None,
    weights: Weights = "dirichlet",
) -> Prior:
    """Check hyperparameters and fill in the paper's defaults: beta_i = item frequency, gamma_i = 1 - beta_i.

    The frequency of an item that never or always occurs is moved half a transaction away from 0 or 1, because
    a Beta distribution cannot have a parameter of 0.

    Raises
    ------
    InvalidInputError
        If a hyperparameter is not positive and finite, or does not have one value for each item.
    """
    if not _is_positive(alpha):
        raise InvalidInputError(f"expected alpha above 0, got {alpha!r}; the default is 1.5")
    edge = 0.5 / max(n_transactions, 1)
    frequency = np.clip(item_totals / max(n_transactions, 1), edge, 1 - edge)
    betas = frequency if beta is None else _per_item(beta, len(item_totals), "beta")
    if gamma is not None:
        gammas = _per_item(gamma, len(item_totals), "gamma")
    else:
        gammas = 1 - frequency if beta is None else _remainder(betas)
    return Prior(float(alpha), betas, gammas, weights)


def _remainder(betas: Floats) -> Floats:
    if (betas >= 1).any():
        raise InvalidInputError(
            f"expected beta of less than 1, got {betas.max():.6g}; or give gamma=1 too, which is one "
            "minus beta by default"
        )
    return 1 - betas


def _per_item(value: float | npt.ArrayLike, n_items: int, name: str) -> Floats:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"expected {name} as one number or one for each item, got {value!r}; leave it out for the items' "
            "frequencies"
        ) from None
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n_items):
        raise InvalidInputError(
            f"expected {name} as one number or as {n_items:,}, one for each item, got shape "
            f"{array.shape}; leave it out for the items' frequencies"
        )
    if not ((array > 0) & np.isfinite(array)).all():
        raise InvalidInputError(
            f"expected {name} above 0, got {value!r}; leave it out for the items' frequencies"
        )
    return np.array(np.broadcast_to(array, n_items))


def _is_positive(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and 0 < float(value) < np.inf
