"""Models of which no more is known than what every model must say."""

from __future__ import annotations

import numpy as np

from itemix.models.base import Model
from itemix.models.mixture import Mixture


class OnlyProbabilities(Model):
    """A mixture that hides everything but what every model must say."""

    def __init__(self, mixture):
        self._mixture = mixture

    @property
    def items(self):
        """The items of the mixture."""
        return self._mixture.items

    @property
    def n_parameters(self):
        """Those of the mixture."""
        return self._mixture.n_parameters

    def probabilities_of_codes(self, *sets):
        """Ask the mixture."""
        return self._mixture.probabilities_of_codes(*sets)

    def log_likelihood(self, transactions):
        """Ask the mixture."""
        return self._mixture.log_likelihood(transactions)

    def sample(self, n, *, random_state=None):
        """Ask the mixture."""
        return self._mixture.sample(n, random_state=random_state)


def random_mixture(seed, n_components=4, n_items=9):
    """Return a mixture of items i0, i1, ... with probabilities near 0 and 1."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n_components))
    return Mixture(weights, rng.beta(0.6, 0.6, (n_components, n_items)), [f"i{i}" for i in range(n_items)])
