"""What pictures ask of whatever is called a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itemix.core.itemsets import Itemsets
from itemix.errors import InvalidInputError
from itemix.mining.query import comparable_items, dependencies
from itemix.models.base import Model, as_model
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from itemix.mining.query import Dependency, Sign
    from itemix.models.base import Names
    from itemix.models.posterior import Posterior


_NOISE = 1e-9


def model_of(source: Any) -> Model:  # noqa: ANN401 - anything at all
    """Return the model that something is, or that it has learned.

    Raises
    ------
    InvalidInputError
        If it is no model, or an estimator that is not fitted.
    """
    if hasattr(source, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(source)
    model = as_model(source)
    if model is None:
        raise InvalidInputError(
            f"expected a fitted model, got {type(source).__name__}; try itemix.BayesianMixture().fit(data)"
        )
    return model


def components_of(source: Any) -> Mixture | None:  # noqa: ANN401 - a model or what has learned one
    """Return the components of a model, of the last sample where there are several; None if it has none.

    Of trees, they are the probabilities of the single items. Of a sample of the Dirichlet process, the last
    component is left out, which stands for all that hold no transactions yet.
    """
    posteriors: Sequence[Posterior] = getattr(source, "posteriors_", ())
    mixture = getattr(source, "mixture_", getattr(source, "mixture", as_model(source)))
    if posteriors:
        last, n = posteriors[-1].mixture(), source.counts_.n_components
        if n == last.n_components:
            return last
        weights = last.weights[:n]
        return Mixture(weights / weights.sum(), last.probs[:n], last.items)
    if isinstance(mixture, TreeMixture) and mixture.n_components > 1:
        return Mixture(mixture.weights, mixture.component_probabilities, mixture.items)
    return mixture if isinstance(mixture, Mixture) else None


def require_components(source: Any) -> Mixture:  # noqa: ANN401 - as above
    """Return the components of a model.

    Raises
    ------
    InvalidInputError
        If it has none.
    """
    model = model_of(source)
    components = components_of(source)
    if components is None:
        raise InvalidInputError(
            f"expected a model with components, got {type(model).__name__}; try itemix.BayesianMixture"
        )
    return components


def largest_components(components: Mixture, n: int) -> npt.NDArray[np.int64]:
    """Return the positions of the n largest components that hold anything, the largest first."""
    order = np.argsort(-components.weights, kind="stable")[: max(n, 1)]
    return order[components.weights[order] > 0]


def strongest_dependencies(
    model: Model, n: int, *, sign: Sign = "both", items: Names | None = None
) -> list[Dependency]:
    """Return the strongest pairs that are more than rounding.

    Of very many items, they are those of the most frequent ones where comparing all would take long.
    """
    compared = None if items is not None else comparable_items(model)
    among = None if compared is None else model.items.names(compared)
    found = dependencies(model, n, sign=sign, items=items, among=among)
    return [pair for pair in found if pair.information > _NOISE]


def require_pairs(n: int) -> None:
    """Check that there is a pair of items to draw.

    Raises
    ------
    InvalidInputError
        If there is none.
    """
    if n < 1:
        raise InvalidInputError(
            "expected at least one pair of items to draw, got none; ask for more items, or for sign='both'"
        )


def require_kind(value: object, kind: type, *, by: str) -> None:
    """Check that something is of the kind that a picture shows; `by` makes it.

    Raises
    ------
    InvalidInputError
        If it is of another kind.
    """
    if not isinstance(value, kind):
        raise InvalidInputError(f"expected {kind.__name__} to draw, got {type(value).__name__}; try {by}")


def require_itemsets(itemsets: Itemsets) -> None:
    """Check that there is an itemset to draw.

    Raises
    ------
    InvalidInputError
        If there is none, or it is something else.
    """
    require_kind(itemsets, Itemsets, by="itemix.mine(data, 0.01)")
    if len(itemsets) == 0:
        raise InvalidInputError(
            "expected at least one itemset to draw, got none; mine with a lower min_support, or ask for "
            "shorter ones"
        )
