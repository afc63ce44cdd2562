"""How a fit by iterations went, and how its number of components was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.files.parameters import as_json_number
from itemix.inference.selection import Selection

if TYPE_CHECKING:
    from itemix.files.container import Content
    from itemix.inference.priors import Prior

Array = npt.NDArray[Any]


def encode(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:  # noqa: ANN401 - an estimator that iterates
    """Return the header's fields and the arrays."""
    header: dict[str, Any] = {
        "feature_names": hasattr(model, "feature_names_in_"),
        "training": {
            "n_iter": model.n_iter_,
            "converged": model.converged_,
            "lower_bound": as_json_number(model.lower_bound_),
        },
    }
    tensors = {"lower_bounds": model.lower_bounds_}
    if hasattr(model, "selection_"):
        header["criterion"] = model.selection_.criterion
        tensors["selection.candidates"] = np.asarray(model.selection_.candidates, dtype=np.int64)
        tensors["selection.scores"] = model.selection_.scores
    return header, tensors


def of_prior(prior: Prior) -> dict[str, float]:
    """Return the fields of the training summary that tell the prior in two numbers."""
    return {"alpha": prior.alpha, "strength": prior.strength}


def decode(content: Content) -> dict[str, Any]:
    """Return the learned attributes by name."""
    bounds = content.take("lower_bounds", np.float64, None)
    if len(bounds) == 0:
        raise content.damaged("its lower_bounds are empty")
    learned: dict[str, Any] = {
        "n_iter_": content.whole("training", "n_iter", low=1),
        "converged_": content.field(bool, "training", "converged"),
        "lower_bounds_": bounds,
        "lower_bound_": float(bounds[-1]),
    }
    if "selection.candidates" in content:
        learned["selection_"] = _read_selection(content)
    return learned


def _read_selection(content: Content) -> Selection:
    candidates = content.take("selection.candidates", np.int64, None)
    if len(candidates) == 0:
        raise content.damaged("its selection.candidates are empty")
    scores = content.take("selection.scores", np.float64, len(candidates))
    return Selection(content.field(str, "criterion"), candidates, scores)
