"""What every fitted mixture estimator has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from itemix.files import corrections, mixture_files, training

if TYPE_CHECKING:
    from itemix.estimators.base import MixtureEstimator
    from itemix.files.container import Content
    from itemix.models.mixture import Mixture

Array = npt.NDArray[Any]


def encode(model: MixtureEstimator) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header's fields and the arrays."""
    mixture = model.mixture_
    header, tensors = training.encode(model)
    header |= mixture_files.sizes_of(mixture)
    tensors |= mixture_files.of_items(mixture.items) | mixture_files.of_mixture(mixture)
    correction = corrections.encode(model.corrected_)
    header |= correction[0]
    tensors |= correction[1]
    if hasattr(model, "correction_choice_"):
        tensors |= corrections.encode_choice(model.correction_choice_)
    return header, tensors


def decode(content: Content, mixture: Mixture) -> dict[str, Any]:
    """Return the learned attributes by name."""
    learned = {
        "mixture_": mixture,
        "n_components_": mixture.n_components,
        "n_features_in_": mixture.n_items,
        **training.decode(content),
    }
    learned["corrected_"] = corrections.decode(content, mixture)
    choice = corrections.decode_choice(content)
    if choice is not None:
        learned["correction_choice_"] = choice
    if content.field(bool, "feature_names"):
        learned["feature_names_in_"] = mixture.items.labels.copy()
    return learned
