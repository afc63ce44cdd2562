"""The characteristic items of a component of a mixture: those that set it apart from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._checks import check_whole
from itemix.core.display import format_name
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix._typing import Floats, Ints
    from itemix.core.items import Label
    from itemix.models.causes import AnyComponents

# The least part of the divergence that present items must explain. Below it, what the component lacks matters
# more.
_LEAST_TOLD = 0.2
_LEAST_SHOWN = 0.05


class Characteristic(NamedTuple):
    """An item of a component: its probability there, and that over its probability in the whole mixture."""

    item: Label
    probability: float
    lift: float


def characteristic_items(mixture: AnyComponents, component: int, n: int = 6) -> list[Characteristic]:
    """Return the items whose presence tells most about a component, the most telling first.

    They are ranked by p log(p / q), where p is the probability of the item in the component and q in the
    whole mixture: what the item's presence adds to the divergence of the two. Items that are not more
    probable in the component than overall are left out. All are left out if they explain less than a fifth
    of the divergence: then the component differs by items that are rare in it (see `in_general`).

    Raises
    ------
    InvalidInputError
        If there is no such component, or `n` is not a whole number of zero or more.
    """
    if not 0 <= check_whole("component", component, 0) < mixture.n_components:
        raise InvalidInputError(
            f"expected a component from 0 to {mixture.n_components - 1}, got {component!r}; try 0"
        )
    n = check_whole("n", n, 6, least=0)
    p, q = mixture.probs[component], mixture.item_probabilities
    lift = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    told = evidence(p, q)
    best = np.argsort(-told, kind="stable")[:n]
    return [Characteristic(mixture.items[int(i)], float(p[i]), float(lift[i])) for i in best if told[i] > 0]


def evidence(p: Floats, q: Floats) -> Floats:
    """Return what the presence of each item tells of a component, p, against others, q, shape (n_items,).

    It is 0 for items that are not more probable in p, and for all if they explain too little.
    """
    present, absent = _told(p, q), _told(1 - p, 1 - q)
    told: Floats = np.where(p > q, present, 0.0)
    if told.sum() < _LEAST_TOLD * (present + absent).sum():
        return np.zeros_like(told)
    return told


def in_words(mixture: AnyComponents, component: int, n: int = 6) -> str:
    """Name the items that are typical of a component, each with its probability there."""
    typical = characteristic_items(mixture, component, n)
    words = ", ".join(f"{format_name(item)} {probability:.0%}" for item, probability, _ in typical)
    return words or in_general(mixture, component)


def in_general(mixture: AnyComponents, component: int) -> str:
    """Say in a few words what a component without characteristic items is like."""
    is_smaller = mixture.probs[component].sum() < mixture.item_probabilities.sum()
    return "fewer items of all kinds" if is_smaller else "a bit of everything"


def values_by_column(mixture: AnyComponents, components: Ints) -> dict[str, list[str]]:
    """Return the most probable value of each column of a table in some components, with its probability.

    It is a dash where almost all values are missing. The columns with the most mutual information with the
    component come first. Items that come from no table have no columns.
    """
    items = mixture.items
    if items.bins is None or items.column_of is None:
        return {}
    told = mixture.weights @ _told(mixture.probs, mixture.item_probabilities)
    found: dict[str, list[str]] = {}
    information: dict[str, float] = {}
    for number, column in enumerate(items.bins):
        codes = np.flatnonzero(items.column_of == number)
        if len(codes):
            probs = mixture.probs[np.ix_(components, codes)]
            names = [str(name).removeprefix(f"{column}=") for name in items.names(codes)]
            found[column] = [
                f"{names[row.argmax()]} {row.max():.0%}" if row.max() >= _LEAST_SHOWN else "-"
                for row in probs
            ]
            information[column] = float(told[codes].sum())
    return {name: found[name] for name in sorted(found, key=information.__getitem__, reverse=True)}


def _told(p: Floats, q: Floats) -> Floats:
    """Return p log(p / q), and 0 where p is 0."""
    ratio = np.divide(p, q, out=np.ones_like(p), where=(p > 0) & (q > 0))
    told: Floats = p * np.log(ratio)
    return told
