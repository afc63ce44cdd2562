"""Orders in which items that belong together stand side by side: along a line, and around a circle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

_ROUNDS = 20


def along_a_line(affinity: Floats) -> Whole:
    """Return an order of n things in which similar ones are neighbours, from an (n, n) matrix of affinities.

    Things are similar if they have the same affinities to all; they are clustered by average linkage.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    n = len(affinity)
    if n < 3:
        return np.arange(n)
    leaves: Whole = leaves_list(linkage(pdist(affinity), "average", optimal_ordering=True)).astype(np.int64)
    return leaves


def around_a_circle(ends: Whole, strength: Floats, n: int) -> Whole:
    """Return the seat of each of n things around a circle, linked ones close to each other.

    From seats along the strongest links, two things change places as long as it makes the links shorter.

    Parameters
    ----------
    ends : array of int, shape (m, 2)
        The things that each link joins.
    strength : array of float, shape (m,)
        How much the length of each link counts.
    n : int
        How many things there are.
    """
    affinity = np.zeros((n, n))
    affinity[ends[:, 0], ends[:, 1]] = affinity[ends[:, 1], ends[:, 0]] = strength
    seat = np.empty(n, dtype=np.int64)
    seat[along_a_line(affinity)] = np.arange(n)
    cost = _cost(seat, ends, strength)
    for _ in range(_ROUNDS):
        before = cost
        for a in range(n):
            for b in range(a + 1, n):
                seat[[a, b]] = seat[[b, a]]
                other = _cost(seat, ends, strength)
                if other < cost - 1e-12:
                    cost = other
                else:
                    seat[[a, b]] = seat[[b, a]]
        if cost == before:
            break
    return seat


def _cost(seat: Whole, ends: Whole, strength: Floats) -> float:
    """Return the sum of the lengths of all chords, each as often as it is strong."""
    steps = seat[ends[:, 0]] - seat[ends[:, 1]]
    return float(strength @ np.abs(np.sin(np.pi * steps / len(seat))))
