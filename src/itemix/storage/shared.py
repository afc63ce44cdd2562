"""What every fitted mixture estimator has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix import mixture_files
from itemix.inference.selection import Selection
from itemix.storage import corrections
from itemix.storage.parameters import as_json_number

if TYPE_CHECKING:
    from itemix.estimators.base import MixtureEstimator
    from itemix.mixture import Mixture
    from itemix.tensor_files import Content

Array = npt.NDArray[Any]


def encode(model: MixtureEstimator) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header's fields and the arrays."""
    mixture = model.mixture_
    header = {
        **mixture_files.sizes_of(mixture),
        "feature_names": hasattr(model, "feature_names_in_"),
        "training": {
            "n_iter": model.n_iter_,
            "converged": model.converged_,
            "lower_bound": as_json_number(model.lower_bound_),
        },
    }
    tensors = {
        **mixture_files.of_items(mixture.items),
        **mixture_files.of_mixture(mixture),
        "lower_bounds": model.lower_bounds_,
    }
    correction = corrections.encode(model.corrected_)
    header |= correction[0]
    tensors |= correction[1]
    if hasattr(model, "selection_"):
        header["criterion"] = model.selection_.criterion
        tensors["selection.candidates"] = np.asarray(model.selection_.candidates, dtype=np.int64)
        tensors["selection.scores"] = model.selection_.scores
    return header, tensors


def decode(content: Content, mixture: Mixture) -> dict[str, Any]:
    """Return the learned attributes by name."""
    bounds = content.take("lower_bounds", np.float64, None)
    if len(bounds) == 0:
        raise content.damaged("its lower_bounds are empty")
    learned = {
        "mixture_": mixture,
        "n_components_": mixture.n_components,
        "n_features_in_": mixture.n_items,
        "n_iter_": content.whole("training", "n_iter", low=1),
        "converged_": content.field(bool, "training", "converged"),
        "lower_bounds_": bounds,
        "lower_bound_": float(bounds[-1]),
    }
    learned["corrected_"] = corrections.decode(content, mixture)
    if content.field(bool, "feature_names"):
        learned["feature_names_in_"] = mixture.items.labels.copy()
    if "selection.candidates" in content:
        learned["selection_"] = _read_selection(content)
    return learned


def _read_selection(content: Content) -> Selection:
    candidates = content.take("selection.candidates", np.int64, None)
    if len(candidates) == 0:
        raise content.damaged("its selection.candidates are empty")
    scores = content.take("selection.scores", np.float64, len(candidates))
    return Selection(content.field(str, "criterion"), candidates, scores)
