"""Segments: how far the components of a mixture lie apart, a map, a tree, and labels that tell them apart."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itemix._arrays import protected
from itemix.core.display import format_name
from itemix.mining.characteristics import evidence, in_general
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from itemix._typing import Floats, Ints
    from itemix.models.causes import AnyComponents

# How many terms of divergences are computed at most: beyond, only the items that tell components apart count.
_MOST_TERMS = 8_000_000
_FEWEST_ITEMS = 30
_IN_A_LABEL = 3
_LEAST_APART = 0.1

MOST_MAPPED = 1_000
"""The most components that are compared with each other."""


class Segments:
    """The components of a mixture beside each other.

    Parameters
    ----------
    mixture : Mixture or Causes
        The components.
    """

    def __init__(self, mixture: AnyComponents) -> None:
        self.mixture = mixture

    @cached_property
    def _telling(self) -> Floats:
        """The probabilities of the items that count, shape (K, n)."""
        probs, K = self.mixture.probs, self.mixture.n_components
        n = min(max(_MOST_TERMS // max(K * K, 1), _FEWEST_ITEMS), probs.shape[1])
        if n == probs.shape[1]:
            return probs
        apart = _entropy(self.mixture.item_probabilities) - self.mixture.weights @ _entropy(probs)
        telling: Floats = probs[:, np.sort(np.argsort(-apart, kind="stable")[:n])]
        return telling

    @cached_property
    def distances(self) -> Floats:
        """The distance of each two components, shape (K, K): the root of the Jensen-Shannon divergence.

        The divergence is that of the single items, in bits, and summed over them. Where there are many items
        and components, only those items count of which the components tell most.
        """
        probs, K = self._telling, self.mixture.n_components
        own = _entropy(probs).sum(axis=1)
        distances = np.zeros((K, K))
        for k in range(K - 1):
            between = _entropy((probs[k + 1 :] + probs[k]) / 2).sum(axis=1)
            distances[k, k + 1 :] = np.sqrt(np.maximum(between - (own[k + 1 :] + own[k]) / 2, 0.0))
        return protected(distances + distances.T)

    @cached_property
    def places(self) -> Floats:
        """A place in the plane for each component, shape (K, 2), by classical scaling of the distances."""
        K = self.mixture.n_components
        centred = np.eye(K) - 1 / K
        values, vectors = np.linalg.eigh(-0.5 * centred @ (self.distances**2) @ centred)
        found = np.zeros((K, 2))
        for axis in range(min(2, K)):
            vector = vectors[:, -1 - axis]
            sign = np.sign(vector[np.argmax(np.abs(vector))]) or 1.0  # either is right: the same each time
            found[:, axis] = sign * vector * np.sqrt(max(values[-1 - axis], 0.0))
        return protected(found)

    @cached_property
    def _joins(self) -> list[tuple[int, int]]:
        """Which group is joined to which, one after the other: always the two that lose least by it.

        What is lost is what their difference says of the items of a transaction, in bits: the divergence of
        the two, weighted by their sizes (Slonim and Tishby 1999).
        """
        K = self.mixture.n_components
        probs, weights = self._telling.copy(), self.mixture.weights.astype(np.float64)
        own = _entropy(probs).sum(axis=1)
        lost = np.full((K, K), np.inf)
        for k in range(K - 1):
            lost[k, k + 1 :] = _lost(probs, weights, own, k, np.arange(k + 1, K))
        is_left = np.ones(K, dtype=bool)
        joins = []
        for _ in range(K - 1):
            a, b = (int(at) for at in np.unravel_index(int(lost.argmin()), lost.shape))
            joins.append((a, b))
            total = weights[a] + weights[b]
            if total > 0:
                probs[a] = (weights[a] * probs[a] + weights[b] * probs[b]) / total
            weights[a] = total
            own[a] = _entropy(probs[a]).sum()
            is_left[b] = False
            lost[b], lost[:, b] = np.inf, np.inf
            others = np.flatnonzero(is_left & (np.arange(K) != a))
            now = _lost(probs, weights, own, a, others)
            lost[np.minimum(a, others), np.maximum(a, others)] = now
        return joins

    def joined(self, n: int) -> Ints:
        """Return the group of each component if groups are joined until n are left, shape (K,).

        Groups are numbered by their size, from 0. Fewer groups are made of the same ones, joined further.
        """
        K = self.mixture.n_components
        n = min(max(n, 1), K)
        members: dict[int, list[int]] = {k: [k] for k in range(K)}
        for a, b in self._joins[: K - n]:
            members[a] += members.pop(b)
        groups = np.empty(K, dtype=np.int64)
        sizes = {key: -float(self.mixture.weights[inside].sum()) for key, inside in members.items()}
        for number, key in enumerate(sorted(members, key=lambda key: (sizes[key], min(members[key])))):
            groups[members[key]] = number
        return groups

    def merged(self, groups: Ints) -> Mixture:
        """Return the mixture whose components are groups."""
        weights = np.bincount(groups, weights=self.mixture.weights)
        shares = self.mixture.weights / np.where(weights > 0, weights, 1.0)[groups]
        probs = np.zeros((len(weights), self.mixture.probs.shape[1]))
        np.add.at(probs, groups, shares[:, None] * self.mixture.probs)
        total = weights.sum()
        return Mixture(weights / total, np.minimum(probs, 1.0), self.mixture.items)

    @cached_property
    def labels(self) -> list[str]:
        """A few words for each component, no two the same: what tells it from all and from the nearest."""
        few = self.mixture.n_components <= MOST_MAPPED
        return labels_of(self.mixture, self.distances if few else None)


def labels_of(mixture: AnyComponents, distances: Floats | None) -> list[str]:
    """Return a few words for each component, no two the same.

    An item counts for what its presence tells against the whole mixture or against the nearest component,
    whichever is less. Where nothing stands out, the words say how the component differs from its nearest one.
    Without distances, components are compared with the whole only.
    """
    K, overall = mixture.n_components, mixture.item_probabilities
    nearest = None if distances is None or K < 2 else nearest_ones(distances)
    found: list[str] = []
    for k in range(K):
        p = mixture.probs[k]
        of_all = evidence(p, overall)
        of_near = of_all if nearest is None else evidence(p, mixture.probs[nearest[k]])
        both = np.minimum(of_all, of_near)
        # Of two that are nearly the same, little is left to tell them apart: then what tells them from all.
        names = _named(mixture, both if both.sum() > _LEAST_APART * of_all.sum() else of_all)
        if not names:
            more = [] if nearest is None else _named(mixture, of_near)[:1]
            names = [in_general(mixture, k), *(f"but {name}" for name in more)]
        found.append(", ".join(names))
    return _all_different(found, mixture)


def nearest_ones(distances: Floats) -> Ints:
    """Return the nearest other component of each, shape (K,); there are two or more."""
    apart: Ints = (distances + np.diag(np.full(len(distances), np.inf))).argmin(axis=1)
    return apart


def _named(mixture: AnyComponents, told: Floats) -> list[str]:
    best = np.argsort(-told, kind="stable")[:_IN_A_LABEL]
    return [format_name(mixture.items[int(i)]) for i in best if told[i] > 0]


def _all_different(labels: list[str], mixture: AnyComponents) -> list[str]:
    """Add the mean length to labels that are the same, and a number where that is the same, too."""
    often = Counter(labels)
    found = [
        f"{label} ({mixture.probs[k].sum():.1f} items)" if often[label] > 1 else label
        for k, label in enumerate(labels)
    ]
    often, seen = Counter(found), Counter[str]()
    told = []
    for label in found:
        seen[label] += 1
        told.append(f"{label} no. {seen[label]}" if often[label] > 1 else label)
    return told


def _lost(probs: Floats, weights: Floats, own: Floats, k: int, others: Ints) -> Floats:
    """Return the bits that are lost if one group is joined with each of some others."""
    total = weights[others] + weights[k]
    share = np.divide(weights[others], total, out=np.full(len(others), 0.5), where=total > 0)
    mixed = share[:, None] * probs[others] + (1 - share)[:, None] * probs[k]
    inside = share * own[others] + (1 - share) * own[k]
    lost: Floats = total * np.maximum(_entropy(mixed).sum(axis=1) - inside, 0.0)
    return lost


def _entropy(p: Floats) -> Floats:
    from scipy.special import entr

    entropy: Floats = (entr(p) + entr(1 - p)) / np.log(2)
    return entropy


def relevance(p: Floats, overall: Floats, weight: float) -> Floats:
    """Return how relevant items are to a component (Sievert and Shirley 2014).

    The weight 1 ranks by how frequent an item is in the component, 0 by how telling: by its lift there.
    """
    tiny = np.finfo(float).tiny
    logs = np.log(np.maximum(p, tiny))
    ranked: Floats = weight * logs + (1 - weight) * (logs - np.log(np.maximum(overall, tiny)))
    return np.where(p > 0, ranked, -np.inf)
