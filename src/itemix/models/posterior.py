"""Posterior: the distribution of a mixture's parameters given the data; and labels of components.

Each draw of a sampler numbers its components as it likes, and their average has the components of all draws.
Every component of every draw gets the label of a component of the last one, so that averages over draws speak
of as many components as one draw has. Components are compared by the Kullback-Leibler divergence from the one
to the other, which says how much less probable the transactions of the first would be in the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix._arrays import Immutable, owned, protected
from itemix._checks import as_generator
from itemix.core.items import Items, Label
from itemix.errors import InvalidInputError
from itemix.kernels.models import probability
from itemix.models.mixture import Labels, Mixture

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from itemix._typing import Floats


class Posterior(Immutable):
    """Independent Beta distributions of the item probabilities and of the sticks behind the weights.

    Stick k is v_k ~ Beta(rho_k, rest_k), and the weight pi_k is v_k times the product of (1 - v_l) over
    l < k; the last stick is 1, written as rest_K = 0. That is the truncated Dirichlet process (eqs. rho1k and
    rho2k). A Dirichlet distribution is the case where rest_k is the sum of the later rho_l: see `dirichlet`.

    Parameters
    ----------
    rho, rest : array of float, shape (n_components,)
        Parameters of the sticks; the paper's rho_1 and rho_2.
    eta, nu : array of float, shape (n_components, n_items)
        Parameters of the item probabilities, Beta(eta, nu).
    items : Items or iterable of str or int
        The name of each item.
    known : array of float, shape (n_components, n_items), optional
        How much of the eta + nu observations is known about each item probability, above 0 and up to 1. The
        rest is lost because it is uncertain which component a transaction belongs to. Item probabilities vary
        as those of Beta(known eta, known nu), which has the same mean. By default all is known. That is right
        for a sampler: its samples differ in which component each transaction belongs to.

    Raises
    ------
    InvalidInputError
        If shapes do not match, or a parameter is not in its range.
    """

    def __init__(
        self,
        rho: npt.ArrayLike,
        rest: npt.ArrayLike,
        eta: npt.ArrayLike,
        nu: npt.ArrayLike,
        items: Items | Iterable[Label],
        *,
        known: npt.ArrayLike | None = None,
    ) -> None:
        self._items = items if isinstance(items, Items) else Items(items)
        self._rho, self._rest, self._eta, self._nu = (owned(a, np.float64) for a in (rho, rest, eta, nu))
        shape = self._rho.size, len(self._items)
        sticks, tables = {self._rho.shape, self._rest.shape}, {self._eta.shape, self._nu.shape}
        if sticks != {shape[:1]} or tables != {shape}:
            raise InvalidInputError(
                f"expected rho and rest of shape (K,) and eta and nu of shape (K, {len(self._items)}), got "
                f"{self._rho.shape}, {self._rest.shape}, {self._eta.shape} and {self._nu.shape}; "
                "give a row for each component and a column for each item"
            )
        positive = [self._rho, self._rest[:-1], self._eta, self._nu]
        if self._rest[-1] != 0 or not all(((array > 0) & np.isfinite(array)).all() for array in positive):
            raise InvalidInputError(
                "expected positive, finite parameters and a last rest of 0, got others; "
                "check the priors: alpha, beta and gamma must be above 0"
            )
        self._known = None if known is None else owned(known, np.float64)
        if self._known is not None and not (
            self._known.shape == shape and (self._known > 0).all() and (self._known <= 1).all()
        ):
            raise InvalidInputError(
                f"expected known of shape {shape}, all above 0 and up to 1, got {self._known.shape} or other "
                "values; leave it out if all is known"
            )

    @classmethod
    def dirichlet(
        cls, rho: npt.ArrayLike, eta: npt.ArrayLike, nu: npt.ArrayLike, items: Items | Iterable[Label]
    ) -> Posterior:
        """Make a posterior whose weights are Dirichlet(rho)."""
        values = np.asarray(rho, dtype=np.float64)
        return cls(values, sums_after(values), eta, nu, items)

    @property
    def rho(self) -> Floats:
        """The first parameter of each stick, shape (K,)."""
        return self._rho

    @property
    def rest(self) -> Floats:
        """The second parameter of each stick, shape (K,); the last is 0."""
        return self._rest

    @property
    def eta(self) -> Floats:
        """The first parameter of each item probability, shape (K, D)."""
        return self._eta

    @property
    def nu(self) -> Floats:
        """The second parameter of each item probability, shape (K, D)."""
        return self._nu

    @property
    def known(self) -> Floats | None:
        """How much of eta + nu is known about each item probability, shape (K, D); None if all is known."""
        return self._known

    @property
    def items(self) -> Items:
        """The name of each item code."""
        return self._items

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self._rho)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Posterior):
            return NotImplemented
        return self._items == other._items and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("_rho", "_rest", "_eta", "_nu", "_known")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Posterior({self.n_components:,} components, {len(self._items):,} items)"

    def mean_weights(self) -> Floats:
        """Return the expected weight of each component, shape (K,) (eq. DPPredict)."""
        left: Floats = self._rest / (self._rho + self._rest)
        weights: Floats = (1 - left) * np.concatenate([[1.0], np.cumprod(left[:-1])])
        return weights

    def mean_probs(self) -> Floats:
        """Return the expected probability of each item, shape (K, D) (eq. BayesianPredict)."""
        probs: Floats = self._eta / (self._eta + self._nu)
        return probs

    def mixture(self) -> Mixture:
        """Return the predictive mixture: all parameters at their expected values."""
        weights = self.mean_weights()
        return Mixture(weights / weights.sum(), self.mean_probs(), self._items)

    def sample(self, *, random_state: int | np.random.Generator | None = None) -> Mixture:
        """Draw one mixture."""
        rng = as_generator(random_state)
        sticks = np.concatenate([rng.beta(self._rho[:-1], self._rest[:-1]), [1.0]])
        weights = sticks * np.concatenate([[1.0], np.cumprod(1 - sticks[:-1])])
        known = 1.0 if self._known is None else self._known
        probs = rng.beta(known * self._eta, known * self._nu)
        return Mixture(weights / weights.sum(), probs, self._items)

    def log_moments(
        self,
        present: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]],
        absent: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]],
        given: npt.NDArray[np.int32],
        given_absent: npt.NDArray[np.int32],
    ) -> Floats:
        """Return logarithms of moments of the probabilities of many events under one condition, shape (n, 4).

        The columns are E[f], E[f^2], E[f g] and E[h]. Here g_k is the probability of the condition in
        component k and e_k that of the event's other items; f = sum_k pi_k g_k e_k is the joint probability,
        g = sum_k pi_k g_k, which is 1 without a condition, and h = sum_k pi_k g_k e_k^2. The moments of
        sticks and Betas have closed forms, so each event takes K steps.

        Parameters
        ----------
        present, absent : pair of arrays
            Offsets and item codes of each event's present and absent items.
        given, given_absent : array of int
            Item codes of the condition.
        """
        asked = np.zeros(len(self._items), dtype=bool)
        for codes in (present[1], absent[1], given, given_absent):
            asked[codes] = True
        place = (np.cumsum(asked) - 1).astype(np.int32)
        eta, nu = self._eta.T[asked], self._nu.T[asked]
        known = np.ones_like(eta) if self._known is None else self._known.T[asked]
        out = np.empty((len(present[0]) - 1, 4))
        probability.itemset_log_moments(
            probability.AskedSets(present[0], place[present[1]], absent[0], place[absent[1]]),
            place[given],
            place[given_absent],
            _log_beta_moments(eta, nu, known),
            _log_beta_moments(nu, eta, known),
            _stick_moments(self._rho, self._rest),
            out,
        )
        return out


def sums_after(values: Floats) -> Floats:
    """Return the sum of all values after each, shape (K,); the last is 0."""
    return np.concatenate([np.cumsum(values[:0:-1])[::-1], [0.0]])


def _log_beta_moments(eta: Floats, nu: Floats, known: Floats) -> Floats:
    """Return the logarithms of E[p] and E[p^2] of p ~ Beta(known eta, known nu), shape (D, 2, K).

    The parameters are (D, K) each.
    """
    total = eta + nu
    first = np.log(eta / total)
    return np.stack([first, first + np.log((known * eta + 1) / (known * total + 1))], axis=1)


def _stick_moments(rho: Floats, rest: Floats) -> Floats:
    """Return E[v], E[v^2], E[v (1 - v)] and E[(1 - v)^2] of each stick, shape (4, K)."""
    total = rho + rest
    first = rho / total
    scale = 1 / (total * (total + 1))
    return np.stack([first, rho * (rho + 1) * scale, rho * rest * scale, rest * (rest + 1) * scale])


def matched_labels(posteriors: Sequence[Posterior]) -> Labels:
    """Return the label of each component of posteriors that have the same number of them, one to one.

    The labels 0, 1, 2, ... are the components of the last posterior. Those of another one are permuted such
    that the sum of divergences is least, each weighted by the weight of its component.

    Parameters
    ----------
    posteriors : sequence of Posterior
        Posteriors of the same items.
    """
    from scipy.optimize import linear_sum_assignment

    last, own = posteriors[-1], np.arange(posteriors[-1].n_components)
    costs = (one.mean_weights()[:, None] * _divergences(one, last, own) for one in posteriors[:-1])
    return protected(np.concatenate([*(linear_sum_assignment(cost)[1] for cost in costs), own]))


def nearest_labels(posteriors: Sequence[Posterior], own: npt.NDArray[np.int64]) -> Labels:
    """Return the label of each component of posteriors that may have different numbers of them.

    The labels 0, 1, 2, ... are some components of the last posterior. All other components get the label of
    the nearest one. A component that one draw has and another has not is a part of its nearest one there.

    Parameters
    ----------
    posteriors : sequence of Posterior
        Posteriors of the same items.
    own : array of int
        The positions of those components of the last posterior that are labels.
    """
    found = [_divergences(one, posteriors[-1], own).argmin(axis=1) for one in posteriors]
    found[-1][own] = np.arange(len(own))
    return protected(np.concatenate(found))


def _divergences(posterior: Posterior, reference: Posterior, own: npt.NDArray[np.int64]) -> Floats:
    """Return divergences to some components of another posterior, up to a constant of each row."""
    eta, nu, total = reference.eta[own], reference.nu[own], posterior.eta + posterior.nu
    present, absent = np.log(eta) - np.log(eta + nu), np.log(nu) - np.log(eta + nu)
    crossed: Floats = (posterior.eta / total) @ present.T + (posterior.nu / total) @ absent.T
    return -crossed
