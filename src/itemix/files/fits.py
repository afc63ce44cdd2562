"""What Gibbs sampling has learned: the draws of all chains one after the other, and the chains' traces."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itemix.errors import InvalidInputError
from itemix.files import models
from itemix.inference.chains import Chain, Chains
from itemix.inference.gibbs import Draw
from itemix.inference.priors import Prior, known_shares
from itemix.inference.selection import Selection
from itemix.models.counts import Counts
from itemix.models.maxent import MaxEntropy
from itemix.models.mixture import Mixture
from itemix.models.posterior import Posterior
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix._typing import Array
    from itemix.core.items import Items
    from itemix.estimators.base import MixtureEstimator, ModelEstimator
    from itemix.files.container import Content
    from itemix.inference.priors import Weights
    from itemix.models.base import Model


# The parameters of an estimator's constructor, in a header and arrays.
#
# A number, a word or None is itself in the header. An array or a mixture lies in arrays that the header
# names: ``{"array": name}``, ``{"mixture": name}``, ``{"trees": name}``. Numbers that JSON does not have are
# ``{"number": "inf"}``.


_GENERATORS = np.random.Generator | np.random.RandomState | np.random.SeedSequence


class EncodedParameters(NamedTuple):
    """Values for the header, and the arrays that they name."""

    header: dict[str, Any]
    tensors: dict[str, Array]


def encode_parameters(model: MixtureEstimator) -> EncodedParameters:
    """Return the parameters of an estimator.

    Raises
    ------
    InvalidInputError
        If a parameter is neither a number, a word, an array, a mixture of the model's items nor None.
    """
    kept = EncodedParameters({}, {})
    for name, value in model.get_params(deep=False).items():
        kept.header[name] = _encoded(model, name, value, kept.tensors)
    return kept


def decode_parameters(content: Content, cls: type[MixtureEstimator], items: Items) -> dict[str, Any]:
    """Return the arguments of a constructor; those that a file of an older version lacks are left out."""
    values = content.field(dict, "parameters")
    for name in sorted(values.keys() - cls().get_params(deep=False).keys()):
        raise content.damaged(f"this version knows no parameter {name!r}")
    return {name: _decoded(content, name, value, items) for name, value in values.items()}


def as_json_number(value: float) -> float | dict[str, str]:
    """Return a number as JSON can hold it."""
    return value if math.isfinite(value) else {"number": str(float(value))}


def _encoded(model: MixtureEstimator, name: str, value: Any, tensors: dict[str, Array]) -> Any:  # noqa: ANN401
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return as_json_number(value)
    if isinstance(value, _GENERATORS):
        return None
    place = _place(name)
    if isinstance(value, Mixture | TreeMixture) and value.items == model.model_.items:
        tensors |= (
            models.of_mixture(value, place) if isinstance(value, Mixture) else models.of_trees(value, place)
        )
        return {"mixture" if isinstance(value, Mixture) else "trees": place}
    array = np.asarray(value)
    if isinstance(value, Mixture | TreeMixture) or array.ndim != 1 or array.dtype.kind not in "iuf":
        raise InvalidInputError(
            f"expected parameters that a file can hold, got {name}={type(value).__name__}; "
            f"change it with set_params({name}=...) before saving"
        )
    tensors[place] = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    return {"array": place}


def _decoded(content: Content, name: str, value: Any, items: Items) -> Any:  # noqa: ANN401 - as in __init__
    if value is None or isinstance(value, bool | str | int | float):
        return value
    place = _place(name)
    if value == {"array": place}:
        return content.take(place, np.float64 if content.is_float(place) else np.int64, None)
    if value == {"mixture": place}:
        return models.read_mixture(content, items, place)
    if value == {"trees": place}:
        return models.read_trees(content, items, place)
    if value in ({"number": "inf"}, {"number": "-inf"}, {"number": "nan"}):
        return float(value["number"])
    raise content.damaged(f"its parameter {name!r} is of no known form")


def _place(name: str) -> str:
    return f"parameters.{name}"


# How a fit by iterations went, and how its number of components was chosen.


def encode_training(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:  # noqa: ANN401 - an estimator that iterates
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


def decode_training(content: Content) -> dict[str, Any]:
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


# What every fitted mixture estimator has learned.


def encode_shared(model: MixtureEstimator) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header's fields and the arrays."""
    mixture = model.mixture_
    header, tensors = encode_training(model)
    header |= models.sizes_of(mixture)
    tensors |= models.of_items(mixture.items) | models.of_mixture(mixture)
    correction = models.encode_correction(model.corrected_)
    header |= correction[0]
    tensors |= correction[1]
    if hasattr(model, "correction_choice_"):
        tensors |= models.encode_choice(model.correction_choice_)
    return header, tensors


def decode_shared(content: Content, mixture: Mixture) -> dict[str, Any]:
    """Return the learned attributes by name."""
    learned = {
        "mixture_": mixture,
        "n_components_": mixture.n_components,
        "n_features_in_": mixture.n_items,
        **decode_training(content),
    }
    learned["corrected_"] = models.decode_correction(content, mixture)
    choice = models.decode_choice(content)
    if choice is not None:
        learned["correction_choice_"] = choice
    if content.field(bool, "feature_names"):
        learned["feature_names_in_"] = mixture.items.labels.copy()
    return learned


# What the estimators of other models than mixtures have learned.


# The attribute that holds the model, by the method's name.
ATTRIBUTE_OF = {
    "independent": "mixture_",
    "chow-liu": "trees_",
    "chow-liu-mixture": "trees_",
    "maxent": "max_entropy_",
}
_ITERATES = ("chow-liu-mixture",)


def encode_single(model: ModelEstimator, method: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header's fields and the arrays."""
    header, tensors = models.encode_model(model.model_)
    if method in _ITERATES:
        more = encode_training(model)
        header |= more[0]
        tensors |= more[1]
        header["training"]["pooling"] = vars(model)["pooling_"]
    else:
        header |= {"feature_names": hasattr(model, "feature_names_in_"), "training": {}}
    header["training"]["n_transactions"] = model.n_transactions_
    return header, tensors


def decode_single(content: Content, model: Model, method: str) -> dict[str, Any]:
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
        learned |= decode_training(content)
        learned["n_components_"] = content.whole("n_components", low=1)
        learned["pooling_"] = content.field(float, "training", "pooling")
        if not 0 <= learned["pooling_"] < np.inf:
            raise content.damaged(f"training.pooling in its header is {learned['pooling_']}")
    return learned


# What EM and variational inference have learned: counts, from which a stream goes on, and the posterior.


def encode_batch(model: MixtureEstimator) -> tuple[dict[str, Any], dict[str, Array]]:
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
        header |= of_prior(prior)
        tensors |= {f"posterior.{name}": getattr(posterior, name) for name in ("rho", "rest", "eta", "nu")}
        tensors |= {"prior.beta": prior.beta, "prior.gamma": prior.gamma}
    return header, tensors


def decode_batch(content: Content, mixture: Mixture, cls: type[MixtureEstimator]) -> dict[str, Any]:
    """Return the learned attributes by name."""
    from itemix.estimators.base import DataTotals
    from itemix.estimators.bernoulli import BernoulliMixture

    D = mixture.n_items
    item_totals = content.take("item_totals", np.int64, D)
    n_transactions = content.whole("training", "n_transactions", low=1)
    if item_totals.min(initial=0) < 0 or item_totals.max(initial=0) > n_transactions:
        raise content.damaged("its item_totals do not fit its number of transactions")
    counts = _read_counts(content, mixture)
    learned = {
        "counts_": counts,
        "n_batches_": content.whole("training", "n_batches", low=1),
        "_totals": DataTotals(item_totals, n_transactions),
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


_TRACES = {"log_joint": np.float64, "n_components": np.int64, "alpha": np.float64}


def encode_sampled(model: MixtureEstimator) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the fields of the training summary and the arrays."""
    chains: Chains = vars(model)["chains_"]
    header = {
        "n_transactions": int(model.counts_.n_transactions),
        "interrupted": chains.interrupted,
        "stopped": chains.stopped,
        **of_prior(chains.draws[-1].prior),
    }
    return header, {**_of_chains(chains.chains), **_of_draws(chains.draws)}


def decode_sampled(content: Content, mixture: Mixture, cls: type[MixtureEstimator]) -> dict[str, Any]:
    """Return the learned attributes by name."""
    draws = read_draws(content, mixture, weights=vars(cls)["_weights"])
    posteriors = tuple(draw.posterior() for draw in draws)
    if sum(posterior.n_components for posterior in posteriors) != mixture.n_components:
        raise content.damaged("its mixture is not that of its draws")
    counts = draws[-1].counts()
    if counts.n_transactions != content.whole("training", "n_transactions"):
        raise content.damaged("its draws do not fit its number of transactions")
    return {
        "chains_": Chains(
            _read_chains(content, draws),
            content.field(bool, "training", "interrupted"),
            content.field(bool, "training", "stopped"),
        ),
        "counts_": counts,
        "posterior_": posteriors[-1],
        "prior_": draws[-1].prior,
        "posteriors_": posteriors,
    }


def _of_draws(draws: Sequence[Draw]) -> dict[str, Array]:
    return {
        "draws.n_components": np.array([len(draw.sizes) for draw in draws], dtype=np.int64),
        "draws.sizes": np.concatenate([draw.sizes for draw in draws], dtype=np.int64),
        "draws.item_counts": np.concatenate([draw.item_counts for draw in draws], dtype=np.int32),
        "draws.alpha": np.array([draw.prior.alpha for draw in draws], dtype=np.float64),
        "draws.beta": np.array([draw.prior.beta for draw in draws], dtype=np.float64),
        "draws.gamma": np.array([draw.prior.gamma for draw in draws], dtype=np.float64),
    }


def read_draws(content: Content, mixture: Mixture, weights: Weights) -> tuple[Draw, ...]:
    """Return the draws of all chains, one after the other."""
    D = mixture.n_items
    lengths = content.take("draws.n_components", np.int64, None)
    slices = _slices(content, "draws.n_components", lengths)
    S, total = len(slices), slices[-1].stop
    sizes = content.take("draws.sizes", np.int64, total)
    item_counts = content.take("draws.item_counts", np.int32, total, D)
    alpha = content.take("draws.alpha", np.float64, S)
    beta, gamma = (content.take(f"draws.{name}", np.float64, S, D) for name in ("beta", "gamma"))
    if (item_counts > sizes[:, None]).any():
        raise content.damaged("a component of a draw holds an item more often than transactions")
    Counts(sizes, item_counts)  # refuses negative ones
    if not all(((values > 0) & np.isfinite(values)).all() for values in (alpha, beta, gamma)):
        raise content.damaged("the hyperparameters of its draws are not all above 0")
    return tuple(
        Draw(
            sizes[part],
            item_counts[part],
            Prior(float(alpha[s]), beta[s], gamma[s], weights),
            mixture.items,
        )
        for s, part in enumerate(slices)
    )


def _of_chains(chains: Sequence[Chain]) -> dict[str, Array]:
    traces = {
        f"chains.{name}": np.concatenate([getattr(chain, name) for chain in chains], dtype=dtype)
        for name, dtype in _TRACES.items()
    }
    return {
        **traces,
        "chains.n_iter": np.array([len(chain.log_joint) for chain in chains], dtype=np.int64),
        "chains.n_draws": np.array([len(chain.draws) for chain in chains], dtype=np.int64),
        "chains.n_burn": np.array([chain.n_burn for chain in chains], dtype=np.int64),
        "chains.converged": np.array([chain.converged for chain in chains], dtype=np.bool_),
    }


def _read_chains(content: Content, draws: tuple[Draw, ...]) -> tuple[Chain, ...]:
    n_iter = content.take("chains.n_iter", np.int64, None)
    C = len(n_iter)
    n_draws, n_burn = (content.take(f"chains.{name}", np.int64, C) for name in ("n_draws", "n_burn"))
    converged = content.take("chains.converged", np.bool_, C)
    trace_parts = _slices(content, "chains.n_iter", n_iter)
    draw_parts = _slices(content, "chains.n_draws", n_draws)
    if draw_parts[-1].stop != len(draws) or (n_burn < 0).any() or (n_burn > n_iter).any():
        raise content.damaged("its chains do not fit their draws and iterations")
    length = trace_parts[-1].stop
    traces = {name: content.take(f"chains.{name}", dtype, length) for name, dtype in _TRACES.items()}
    return tuple(
        Chain(
            state=None,
            draws=draws[draw_parts[c]],
            n_burn=int(n_burn[c]),
            converged=bool(converged[c]),
            **{name: values[trace_parts[c]] for name, values in traces.items()},
        )
        for c in range(C)
    )


def _slices(content: Content, name: str, lengths: Array) -> list[slice]:
    """Return where parts of these lengths lie one after the other; each has at least one element."""
    if len(lengths) == 0 or (lengths < 1).any():
        raise content.damaged(f"its {name} are not all 1 or more")
    return [slice(a, b) for a, b in pairwise(accumulate(lengths.tolist(), initial=0))]
