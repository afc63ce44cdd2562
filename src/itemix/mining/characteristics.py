"""What tells a component of a mixture from the others: its characteristic items."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.items import Label
    from itemix.mixture import Mixture


class Characteristic(NamedTuple):
    """An item of a component: its probability there, and over its probability in the whole mixture."""

    item: Label
    probability: float
    lift: float


def characteristic_items(mixture: Mixture, component: int, n: int = 6) -> list[Characteristic]:
    """Return the items whose presence tells most of a component, the most telling first.

    They are ranked by p log(p / q), where p is the probability of the item in the component and q in the
    whole mixture: what the item's presence adds to the divergence of the two. Items that are not more
    probable in the component than overall are left out.

    Raises
    ------
    InvalidInputError
        If there is no such component.
    """
    if not 0 <= component < mixture.n_components:
        raise InvalidInputError(
            f"expected a component from 0 to {mixture.n_components - 1}, got {component!r}; try 0"
        )
    p, q = mixture.probs[component], mixture.item_probabilities
    lift = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        evidence = np.where(lift > 1, p * np.log(lift), 0.0)
    best = np.argsort(-evidence, kind="stable")[: max(n, 0)]
    return [
        Characteristic(mixture.items[int(i)], float(p[i]), float(lift[i])) for i in best if evidence[i] > 0
    ]
