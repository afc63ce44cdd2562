"""Transactions drawn from mixtures: given ones, random ones, and the paper's Syn-15 to Syn-140.

The paper says how many components its mixtures have, that half of the data is for training, and how the
frequent itemsets of Syn-15 at 30% lie: over 35,000 of them, a third, between 0.30 and 0.32. It does not say
how the mixtures were drawn. Here the mixtures are drawn by `random_mixture` with parameters that give each of
them about 100,000 itemsets, a third of them in that range; 30,000 transactions give errors of the size of the
paper's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itemix.core.transactions import Transactions
from itemix.data import drawing
from itemix.errors import InvalidInputError

if TYPE_CHECKING:
    from itemix.models.base import Model
    from itemix.models.mixture import Mixture

N_TRANSACTIONS = 30_000
N_ITEMS = 100
MIN_SUPPORT = 0.3
# The components of each mixture, and the decay of its items with which it has about 100,000 itemsets at 30%.
_SHAPES = {
    "syn15": (15, 57.0),
    "syn25": (25, 58.0),
    "syn50": (50, 55.0),
    "syn75": (75, 55.0),
    "syn140": (140, 51.0),
}
NAMES = tuple(_SHAPES)

_DIGITS = 4


def from_mixture(model: Model, n_transactions: int, random_state: drawing.Seed = 0) -> Transactions:
    """Draw transactions from a given mixture, or from any other model.

    Parameters
    ----------
    model : Mixture or other model
        Of a fitted estimator, its `model_`.
    n_transactions : int
        How many.
    random_state : int or numpy.random.Generator
        The seed.

    Examples
    --------
    >>> from itemix import Mixture
    >>> from itemix.data.synthetic import from_mixture
    >>> weekdays_or_weekend = Mixture([0.7, 0.3], [[0.8, 0.1], [0.3, 0.9]], ["coffee", "wine"])
    >>> data = from_mixture(weekdays_or_weekend, 10_000)
    >>> round(data.support(["coffee", "wine"]), 2)  # 0.7 * 0.08 + 0.3 * 0.27 = 0.137
    0.14
    """
    n = drawing.check_number(n_transactions, "transactions", example=5000)
    return model.sample(n, random_state=drawing.generator(random_state))


def random_mixture(
    n_components: int,
    n_items: int,
    *,
    top: float = 0.95,
    decay: float = 55.0,
    n_groups: int = 3,
    together: float = 0.8,
    random_state: drawing.Seed = 0,
) -> Mixture:
    """Draw a mixture at random.

    The weights are uniform on the simplex. Item i, counted from 0, has in each component the probability
    u^(1/m - 1), u uniform, of which the mean is m = top * exp(-i / decay). The items are dealt out to groups
    in turn; in each component most items of a group have the same u, so that they are frequent and rare
    together, and depend on each other.

    Parameters
    ----------
    n_components, n_items : int
        The size of the mixture; the items are called 1, 2, ...
    top : float
        The mean probability of the first item, from 0.01 to 0.99.
    decay : float
        After how many items the mean has fallen to a third (1/e).
    n_groups : int
        The number of groups of items.
    together : float
        How likely an item has the u of its group in a component, and not one of its own: with 0, items hardly
        depend on each other if there are many components.
    random_state : int or numpy.random.Generator
        The seed.

    Examples
    --------
    >>> from itemix.data.synthetic import random_mixture
    >>> random_mixture(4, 20)
    Mixture(4 components, 20 items)
    """
    from itemix.models.mixture import Mixture

    K = drawing.check_number(n_components, "components", least=1, example=10)
    D = drawing.check_number(n_items, "items", least=1, example=100)
    G = drawing.check_number(n_groups, "groups", least=1, example=3)
    drawing.check_between("top", top, 0.01, 0.99, example=0.95)
    drawing.check_between("decay", decay, 0.1, 1e6, example=55)
    drawing.check_between("together", together, 0, 1, example=0.8)
    rng = drawing.generator(random_state)
    weights = drawing.exponential(rng, K)
    own, of_group = rng.random((K, D)), rng.random((K, G))
    u = np.where(rng.random((K, D)) < together, of_group[:, np.arange(D) % G], own)
    mean = top * np.exp(-np.arange(D) / decay)
    return Mixture(weights / weights.sum(), np.round(u ** (1 / mean - 1), _DIGITS), range(1, D + 1))


def paper_mixture(name: str) -> Mixture:
    """Return the mixture behind one of the paper's synthetic data sets.

    Parameters
    ----------
    name : {"syn15", "syn25", "syn50", "syn75", "syn140"}
        The number is that of the components.

    Raises
    ------
    InvalidInputError
        If there is no such data set.

    Examples
    --------
    >>> from itemix.data.synthetic import paper_mixture
    >>> paper_mixture("syn15")
    Mixture(15 components, 100 items)
    """
    if name not in _SHAPES:
        raise InvalidInputError(f"expected one of {', '.join(NAMES)}, got {name!r}; try 'syn15'")
    n_components, decay = _SHAPES[name]
    return random_mixture(n_components, N_ITEMS, decay=decay)


def paper_data(
    name: str, n_transactions: int = N_TRANSACTIONS, random_state: drawing.Seed = 0
) -> Transactions:
    """Draw transactions from one of the paper's mixtures.

    Parameters
    ----------
    name : {"syn15", "syn25", "syn50", "syn75", "syn140"}
        See `paper_mixture`.
    n_transactions : int
        How many.
    random_state : int or numpy.random.Generator
        The seed.

    Examples
    --------
    >>> from itemix.data.synthetic import paper_data
    >>> paper_data("syn15").n_transactions
    30000
    """
    drawn = from_mixture(paper_mixture(name), n_transactions, random_state)
    return Transactions.from_canonical(
        drawn.indptr, drawn.indices, drawn.items, source=f"the synthetic {name}"
    )
