"""What the estimators of other models than mixtures have learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.files import models, training
from itemix.models.maxent import MaxEntropy

if TYPE_CHECKING:
    from itemix.estimators.single import ModelEstimator
    from itemix.files.container import Content
    from itemix.models.base import Model

Array = npt.NDArray[Any]

# The attribute that holds the model, by the method's name.
ATTRIBUTE_OF = {
    "independent": "mixture_",
    "chow-liu": "trees_",
    "chow-liu-mixture": "trees_",
    "maxent": "max_entropy_",
}
_ITERATES = ("chow-liu-mixture",)


def encode(model: ModelEstimator, method: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header's fields and the arrays."""
    header, tensors = models.encode(model.model_)
    if method in _ITERATES:
        more = training.encode(model)
        header |= more[0]
        tensors |= more[1]
        header["training"]["pooling"] = vars(model)["pooling_"]
    else:
        header |= {"feature_names": hasattr(model, "feature_names_in_"), "training": {}}
    header["training"]["n_transactions"] = model.n_transactions_
    return header, tensors


def decode(content: Content, model: Model, method: str) -> dict[str, Any]:
    """Return the learned attributes by name."""
    learned: dict[str, Any] = {
        ATTRIBUTE_OF[method]: model,
        "n_transactions_": content.whole("training", "n_transactions", low=1),
        "n_features_in_": model.n_items,
    }
    if content.field(bool, "feature_names"):
        learned["feature_names_in_"] = model.items.labels.copy()
    if isinstance(model, MaxEntropy):
        learned["n_constraints_"] = len(model.itemsets)
    if method in _ITERATES:
        learned |= training.decode(content)
        learned["n_components_"] = content.whole("n_components", low=1)
        learned["pooling_"] = content.field(float, "training", "pooling")
        if not 0 <= learned["pooling_"] < np.inf:
            raise content.damaged(f"training.pooling in its header is {learned['pooling_']}")
    return learned
