"""Labels of components: which components of several posteriors are one and the same.

Each draw of a sampler numbers its components as it likes, and their average has the components of all draws.
Here every component of every draw gets the label of a component of the last one, so that averages over draws
speak of as many components as one draw has.

Components are compared by the Kullback-Leibler divergence from the one to the other, which says how much less
probable the transactions of the first would be in the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix._arrays import protected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import Floats
    from itemix.models.posterior import Posterior

Labels = npt.NDArray[np.int64]


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
