"""What EM and variational inference have learned: counts, from which a stream goes on, and the posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.files import training
from itemix.inference.priors import Prior, known_shares
from itemix.models.counts import Counts
from itemix.models.posterior import Posterior

if TYPE_CHECKING:
    from itemix.estimators.base import MixtureEstimator
    from itemix.files.container import Content
    from itemix.inference.priors import Weights
    from itemix.models.mixture import Mixture

Array = npt.NDArray[Any]


def encode(model: MixtureEstimator) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the fields of the training summary and the arrays."""
    totals = vars(model)["_totals"]
    header: dict[str, Any] = {"n_transactions": int(totals.n_transactions), "n_batches": model.n_batches_}
    tensors = {
        "counts.sizes": model.counts_.sizes,
        "counts.item_counts": model.counts_.item_counts,
        "item_totals": np.asarray(totals.item_totals, dtype=np.int64),
    }
    if model.counts_.squares is not None:
        tensors["counts.squares.sizes"] = model.counts_.squares.sizes
        tensors["counts.squares.item_counts"] = model.counts_.squares.item_counts
    for posterior in model.posteriors_:
        prior = vars(model)["prior_"]
        header |= training.of_prior(prior)
        tensors |= {f"posterior.{name}": getattr(posterior, name) for name in ("rho", "rest", "eta", "nu")}
        tensors |= {"prior.beta": prior.beta, "prior.gamma": prior.gamma}
    return header, tensors


def decode(content: Content, mixture: Mixture, cls: type[MixtureEstimator]) -> dict[str, Any]:
    """Return the learned attributes by name."""
    from itemix.estimators.bernoulli import BernoulliMixture
    from itemix.estimators.totals import Totals

    D = mixture.n_items
    item_totals = content.take("item_totals", np.int64, D)
    n_transactions = content.whole("training", "n_transactions", low=1)
    if item_totals.min(initial=0) < 0 or item_totals.max(initial=0) > n_transactions:
        raise content.damaged("its item_totals do not fit its number of transactions")
    counts = _read_counts(content, mixture)
    learned = {
        "counts_": counts,
        "n_batches_": content.whole("training", "n_batches", low=1),
        "_totals": Totals(item_totals, n_transactions),
        "posteriors_": (),
    }
    if cls is not BernoulliMixture:
        learned["posterior_"] = _read_posterior(content, mixture, counts)
        learned["posteriors_"] = (learned["posterior_"],)
        if "prior.beta" in content:
            learned["prior_"] = _read_prior(content, D, vars(cls)["_weights"])
    return learned


def _read_counts(content: Content, mixture: Mixture) -> Counts:
    def read(name: str, squares: Counts | None = None) -> Counts:
        K, D = mixture.n_components, mixture.n_items
        sizes = content.take(f"{name}.sizes", np.float64, K)
        return Counts(sizes, content.take(f"{name}.item_counts", np.float64, K, D), squares)

    return read("counts", read("counts.squares") if "counts.squares.sizes" in content else None)


def _read_prior(content: Content, n_items: int, weights: Weights) -> Prior:
    beta, gamma = (content.take(f"prior.{name}", np.float64, n_items) for name in ("beta", "gamma"))
    prior = Prior(content.field(float, "training", "alpha"), beta, gamma, weights)
    if not all(((values > 0) & np.isfinite(values)).all() for values in (np.array(prior.alpha), beta, gamma)):
        raise content.damaged("its hyperparameters are not all above 0")
    return prior


def read_posterior(content: Content, mixture: Mixture) -> Posterior:
    """Return the posterior of a variational method; the counts behind it are taken too."""
    return _read_posterior(content, mixture, _read_counts(content, mixture))


def _read_posterior(content: Content, mixture: Mixture, counts: Counts) -> Posterior:
    K, D = mixture.n_components, mixture.n_items
    shapes: dict[str, tuple[int, ...]] = {"rho": (K,), "rest": (K,), "eta": (K, D), "nu": (K, D)}
    arrays = {name: content.take(f"posterior.{name}", np.float64, *shape) for name, shape in shapes.items()}
    known = known_shares(counts, arrays["eta"], arrays["nu"])
    return Posterior(**arrays, items=mixture.items, known=known)
