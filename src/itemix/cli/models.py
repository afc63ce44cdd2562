"""Models that were saved, as the commands name and describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itemix.corrected import CorrectedMixture
    from itemix.storage.stored import StoredModel

SUFFIX = ".itemix"


def is_model(source: str) -> bool:
    """Whether a source is a file with a model, or is called like one."""
    from itemix.tensor_files import is_model_file

    return source.endswith(SUFFIX) or is_model_file(source)


def summary(model: StoredModel) -> str:
    """Say what a file holds."""
    from itemix.display import joined, plural

    n = model.training.get("n_transactions")
    parts = [
        "a model" if model.method is None else model.method,
        components(model.components.n_components, len(model.posteriors)),
        plural(model.value.n_items, "item"),
        correction(model.corrected),
        "" if n is None else f"fitted on {n:,} transactions",
    ]
    return f"{model.path.name}: {joined(parts)}"


def correction(corrected: CorrectedMixture | None) -> str:
    """Say by how much a model is corrected, nothing if it is not."""
    if corrected is None:
        return ""
    residuals = corrected.correction.residuals
    return f"corrected by {residuals.size:,} itemsets of up to {residuals.order} items"


def components(n_components: int, n_samples: int) -> str:
    """Say how many components a model has; the samples of a sampler have different numbers."""
    from itemix.display import plural

    found = plural(n_components, "component")
    return f"{found} in the last of {n_samples} samples" if n_samples > 1 else found
