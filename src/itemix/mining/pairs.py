"""The pairs of items that depend most on each other, without looking at pairs that cannot be among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._runtime import still_wanted
from itemix.mining.ranking import ranked_part
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from itemix.models.base import Model

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Sign = Literal["both", "positive", "negative"]

_ITEMS_AT_A_TIME = 512
_PROMISING = 256
_MOST_COMPARED = 1_000
_ROUNDING = 1e-12


class Pair(NamedTuple):
    """Two items by their codes, their mutual information in bits, and the probability of both."""

    information: float
    item: int
    other: int
    joint: float


class Bounds(NamedTuple):
    """What two items share at most: the less of `alone`, and log2(1 + the product of `together`), in bits.

    `alone` is the entropy of an item. Under a mixture two items know of each other only through the
    component: their covariance is that of their probabilities in the components, at most the product of the
    two standard deviations (Cauchy and Schwarz), and information is at most log2(1 + squared correlation).
    So `together` is the part of an item's variance that the component explains; 1 under other models.
    """

    alone: Floats
    together: Floats

    @classmethod
    def of(cls, model: Model) -> Bounds:
        """Return those of a model, shape (n_items,) each."""
        p = model.item_probabilities
        if not isinstance(model, Mixture):
            return cls(_entropy(p), np.ones_like(p))
        explained = model.weights @ np.square(model.probs - p)
        variance = p * (1 - p)
        return cls(_entropy(p), np.divide(explained, variance, out=np.zeros_like(p), where=variance > 0))

    def of_any_pair(self) -> Floats:
        """Return what each item can share with any other, shape (n_items,)."""
        most: Floats = np.minimum(self.alone, np.log2(1 + self.together * self.together.max(initial=0.0)))
        return most

    def reaching(self, least: float, rows: Codes, columns: Codes) -> Codes:
        """Return those of the columns that can share at least so much with one of the rows."""
        most = np.log2(1 + self.together[rows].max() * self.together[columns])
        reached: Codes = columns[most >= least - _ROUNDING]
        return reached


def comparable_items(model: Model) -> Codes | None:
    """Return the most frequent items where comparing all would take long; None where it does not.

    The pairs of a mixture are found without looking at all of them, whatever the number of items.
    """
    if isinstance(model, Mixture) or model.n_items <= _MOST_COMPARED:
        return None
    order = np.argsort(-model.item_probabilities, kind="stable")
    return order[:_MOST_COMPARED].astype(np.int32)


def strongest_pairs(
    model: Model, n: int, *, sign: Sign = "both", wanted: Codes | None = None, among: Codes | None = None
) -> list[Pair]:
    """Return the n pairs of most mutual information, the strongest first; the wanted item of each is first.

    Items come in the order of what they can share with any other; pairs that cannot exceed the n-th found so
    far are not looked at.

    Parameters
    ----------
    model : Model
        The model.
    n : int
        How many pairs.
    sign : {"both", "positive", "negative"}
        Pairs that attract each other, avoid each other, or both.
    wanted : array of int, optional
        Only pairs with at least one of these items.
    among : array of int, optional
        Only pairs of which both are among these items; all by default.
    """
    bounds = Bounds.of(model)
    most = bounds.of_any_pair()
    seen = np.arange(model.n_items, dtype=np.int32) if among is None else among
    order = seen[np.argsort(-most[seen], kind="stable")]
    is_wanted = np.full(model.n_items, wanted is None)
    is_wanted[[] if wanted is None else wanted] = True
    rows, others = order[is_wanted[order]], order[~is_wanted[order]]
    best: list[Pair] = []
    least = _surely_reached(model, bounds, rows, n, sign)
    for first in range(0, len(rows), _ITEMS_AT_A_TIME):
        still_wanted()
        block = rows[first : first + _ITEMS_AT_A_TIME]
        if len(best) >= max(n, 1):
            least = max(least, best[-1].information)
        if most[block[0]] + _ROUNDING < least:
            break
        # Each pair once: wanted items only with those that came before.
        before = bounds.reaching(least, block, np.concatenate([rows[:first], others]))
        own = bounds.reaching(least, block, block)
        found = [*_between(model, own, own, n, sign), *_between(model, block, before, n, sign)]
        best = sorted([*best, *found], key=_strongest_first)[: max(n, 0)]
    return [
        pair if is_wanted[pair.item] else pair._replace(item=pair.other, other=pair.item) for pair in best
    ]


def _strongest_first(pair: Pair) -> tuple[float, int, int]:
    return -pair.information, pair.item, pair.other


def _surely_reached(model: Model, bounds: Bounds, rows: Codes, n: int, sign: Sign) -> float:
    """Return what n pairs reach for sure: those of a few promising items. It spares most of the others."""
    promising = rows[np.argsort(-(bounds.alone * bounds.together)[rows], kind="stable")[:_PROMISING]]
    found = _between(model, promising, promising, n, sign)
    return found[n - 1].information if 0 < n <= len(found) else -1.0


def _between(model: Model, rows: Codes, columns: Codes, n: int, sign: Sign) -> list[Pair]:
    """Return the best pairs of an item of the rows and another one of the columns; of the same, each once."""
    p, q = model.item_probabilities[rows][:, None], model.item_probabilities[columns]
    joint = _joint(model, rows, columns)
    information = mutual_information(joint, p, q)
    if rows is columns:
        information[np.triu_indices(len(rows))] = -1.0
    if sign != "both":
        information[(joint <= p * q) if sign == "positive" else (joint >= p * q)] = -1.0
    top = ranked_part(information.ravel(), 0, max(n, 0), descending=True)
    found = []
    for row, column in zip(*np.unravel_index(top, information.shape), strict=True):
        if information[row, column] >= 0:
            item, other = sorted((int(rows[row]), int(columns[column])))
            found.append(Pair(float(information[row, column]), item, other, float(joint[row, column])))
    return found


def _joint(model: Model, rows: Codes, columns: Codes) -> Floats:
    if isinstance(model, Mixture):
        found: Floats = (model.probs[:, rows] * model.weights[:, None]).T @ model.probs[:, columns]
        return found
    if isinstance(model, CorrectedMixture):
        # It is asked for each pair, and so only for those that count.
        pairs = np.stack(np.broadcast_arrays(rows[:, None], columns), axis=-1).astype(np.int32)
        offsets = 2 * np.arange(pairs[..., 0].size + 1, dtype=np.int64)
        return model.probabilities_of_codes(offsets, pairs.ravel()).reshape(len(rows), len(columns))
    return model.pair_probabilities(rows)[:, columns]


def mutual_information(joint: Floats, p: Floats, q: Floats) -> Floats:
    """Return the mutual information in bits of pairs of items, from the probabilities of both and of each."""
    total = np.zeros_like(joint)
    for cell, expected in (
        (joint, p * q),
        (p - joint, p * (1 - q)),
        (q - joint, (1 - p) * q),
        (1 - p - q + joint, (1 - p) * (1 - q)),
    ):
        ratio = np.divide(cell, expected, out=np.ones_like(joint), where=(cell > 0) & (expected > 0))
        total += cell * np.log2(ratio)
    return np.maximum(total, 0.0)


def _entropy(p: Floats) -> Floats:
    """Return the entropy in bits of items of some probabilities."""
    total = np.zeros_like(p)
    for q in (p, 1 - p):
        held = q > 0
        total[held] -= q[held] * np.log2(q[held])
    return total
