"""Rules for the parameters of the estimators, and the seeds made of `random_state`."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from itemix import _checks
from itemix.errors import InvalidInputError
from itemix.memory import require_memory

if TYPE_CHECKING:
    from itemix.inference.loop import Seed


def require_room(n_components: int, n_items: int, bytes_a_cell: float) -> None:
    """Refuse a model that would not fit into memory, before anything is allocated.

    Parameters
    ----------
    n_components, n_items : int
        The shape of the model.
    bytes_a_cell : float
        What a fit takes for each item of each component at its peak, as measured.

    Raises
    ------
    NotEnoughMemoryError
        If it takes more than this process may still take.
    """
    require_memory(
        bytes_a_cell * n_components * n_items,
        f"{n_components:,} components of {n_items:,} items",
        "lower n_components, or leave out rare items with select_items",
    )


def check_whole(name: str, value: object, low: int = 1) -> int:
    """Return a whole number of at least `low`, or raise InvalidInputError."""
    return _checks.check_whole(name, value, low, least=low)


def check_tol(value: object) -> float:
    """Return a tolerance of zero or more, or raise InvalidInputError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
        raise InvalidInputError(f"expected tol of zero or more, got {value!r}; try 1e-4")
    return float(value)


def check_amount(name: str, value: object) -> float:
    """Return a finite number of zero or more, or raise InvalidInputError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < float("inf"):
        raise InvalidInputError(f"expected {name} as a number of zero or more, got {value!r}; try 1.0")
    return float(value)


def check_components(value: object, n_transactions: int) -> int:
    """Return the number of components, at most that of the transactions, or raise InvalidInputError."""
    n_components = check_whole("n_components", value)
    if n_components > n_transactions:
        raise InvalidInputError(
            f"expected n_components of at most n_samples={n_transactions}, the transactions, got "
            f"{n_components}; ask for fewer components"
        )
    return n_components


def as_seed(random_state: object) -> Seed:
    """Return what `numpy.random` takes, of anything that scikit-learn takes as `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None or isinstance(random_state, np.random.Generator | np.random.SeedSequence):
        return random_state
    return check_whole("random_state", random_state, 0)
