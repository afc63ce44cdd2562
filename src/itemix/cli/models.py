"""Models that were saved, as the commands name and describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from itemix.correction import Choice
    from itemix.files.stored import StoredModel
    from itemix.models.base import Model
    from itemix.models.corrected import CorrectedMixture
    from itemix.models.posterior import Posterior

SUFFIX = ".itemix"


def is_model(source: str) -> bool:
    """Whether a source is a file with a model, or is called like one."""
    from itemix.files.container import is_model_file

    return source.endswith(SUFFIX) or is_model_file(source)


def summary(model: StoredModel) -> str:
    """Say what a file holds."""
    from itemix.core.display import joined, plural

    n = model.training.get("n_transactions")
    n_components = n_holding(model) if hasattr(model.value, "n_components") else 0
    parts = [
        "a model" if model.method is None else model.method,
        components(n_components, len(model.posteriors)) if n_components else "",
        structure(model.value),
        plural(model.value.n_items, "item"),
        correction(model.corrected, model.choice),
        "" if n is None else f"fitted on {plural(n, 'transaction')}",
    ]
    return f"{model.path.name}: {joined(parts)}"


def prior(model: StoredModel) -> str:
    """Say what a Bayesian model assumes, given or learned."""
    alpha, strength = (model.training[name] for name in ("alpha", "strength"))
    transactions = "transaction" if strength == 1 else "transactions"
    return f"prior: alpha {alpha:.3g}, and the weight of {strength:.3g} {transactions} in each component"


def n_holding(model: StoredModel) -> int:
    """Return how many components hold transactions.

    The last component of a sample of the Dirichlet process stands for all that hold none yet.
    """
    return model.components.n_components - (model.method == "gsdpm")


def found(model: Any) -> str:  # noqa: ANN401 - an estimator that was fitted
    """Say what a fit has found: components, corrections, edges of trees, itemsets."""
    from itemix.core.display import joined

    posteriors: tuple[Posterior, ...] = getattr(model, "posteriors_", ())
    # Counts are of the components that hold transactions, in the last sample of a sampler.
    counts = getattr(model, "counts_", None)
    n_components = getattr(model, "n_components_", 0) if counts is None else counts.n_components
    parts = [components(n_components, len(posteriors)) if n_components else "", structure(model.model_)]
    chosen = correction(getattr(model, "corrected_", None), getattr(model, "correction_choice_", None))
    return joined([*parts, chosen])


def structure(model: Model) -> str:
    """Say what a model of another kind than a mixture of products has besides components."""
    from itemix.core.display import plural
    from itemix.models.maxent import MaxEntropy
    from itemix.models.trees import TreeMixture

    if isinstance(model, TreeMixture):
        return plural(model.n_edges, "edge")
    return plural(len(model.itemsets), "itemset") if isinstance(model, MaxEntropy) else ""


def correction(corrected: CorrectedMixture | None, choice: Choice | None) -> str:
    """Say by how much a model is corrected, or that no correction was chosen; nothing if none was wanted."""
    if corrected is None:
        return "" if choice is None else "no correction was found to be better"
    from itemix.core.display import plural

    residuals = corrected.correction.residuals
    return f"corrected by {plural(residuals.size, 'itemset')} of up to {residuals.order} items"


def components(n_components: int, n_samples: int) -> str:
    """Say how many components a model has; the samples of a sampler have different numbers."""
    from itemix.core.display import plural

    found = plural(n_components, "component")
    return f"{found} in the last of {n_samples} samples" if n_samples > 1 else found
