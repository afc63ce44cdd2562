"""First labels for a sampler: random, of spread-out seeds, all the same, or of a given mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.core.compressed import each_transaction
from itemix.errors import InvalidInputError
from itemix.inference.start import Init, checked_labels, random_labels, require_components, seeded_labels
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.transactions import Transactions

METHODS = ("random", "k-means++", "one")
PROCESS_LABELS = 50


def label_starter(
    init: Init, transactions: Transactions, n_components: int | None
) -> Callable[[np.random.Generator], npt.NDArray[np.int64]]:
    """Return the function that makes first labels from a random generator.

    Parameters
    ----------
    init : {"random", "k-means++", "one"}, Mixture, or array of int, shape (n_transactions,)
        How to start. "one" puts all transactions into one component, as the paper starts the process; with
        split and merge moves that is the best start, without them the process sticks and needs "random".
    transactions : Transactions
        The data, one label for each transaction.
    n_components : int or None
        How many labels there are; None for the Dirichlet process, which has 50 at random or seeded, and as
        many as a mixture has.

    Raises
    ------
    InvalidInputError
        If `init` is none of these, or does not fit the data.
    """
    n = transactions.n_transactions
    most = n if n_components is None else n_components
    if isinstance(init, Mixture):
        if n_components is not None:
            require_components(init, n_components)
        most, init = init.n_components, init.labels(transactions)
    if not isinstance(init, str):
        labels = checked_labels(init, transactions, most)
        return lambda _: labels
    first = min(n, PROCESS_LABELS) if n_components is None else n_components
    if init == "random":
        return lambda rng: random_labels(n, first, rng)
    if init == "k-means++":
        return lambda rng: _seeded(transactions, first, rng)
    if init == "one":
        return lambda _: np.zeros(n, dtype=np.int64)
    raise InvalidInputError(
        f"expected init to be one of {list(METHODS)}, a Mixture or labels, got {init!r}; try 'random'"
    )


def _seeded(transactions: Transactions, n_components: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    return each_transaction(transactions, seeded_labels(transactions, n_components, rng))
