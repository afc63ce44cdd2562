"""Fitted models in files: `save` writes one, `load` reads it back, and the model answers as before.

A file holds the parameters of the constructor and everything that the fit has learned; see
`itemix.files.container` for its form. The table of methods says which class a file belongs to.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itemix._arrays import protected
from itemix._files import Held, is_standard_input, replacing
from itemix.errors import InvalidInputError
from itemix.files import container, models
from itemix.fitted import FittedModel, Training
from itemix.inference import METHODS
from itemix.inference.chains import Chain, Chains
from itemix.inference.gibbs import Draw
from itemix.inference.priors import DataTotals, Prior, known_shares
from itemix.inference.selection import Selection
from itemix.models.base import Model
from itemix.models.corrected import CorrectedMixture
from itemix.models.counts import Counts
from itemix.models.mixture import Mixture, are_labels
from itemix.models.posterior import Posterior
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemix._typing import Array, Floats, ModelLike
    from itemix.core.items import Items
    from itemix.estimators.base import MixtureEstimator, ModelEstimator
    from itemix.files.container import Content
    from itemix.files.models import Parts
    from itemix.inference import Method
    from itemix.inference.priors import Weights
    from itemix.models.mixture import Labels


__all__ = ["load", "read_fitted", "save"]


def save(model: MixtureEstimator | ModelEstimator | Model, path: str | os.PathLike[str]) -> None:
    """Write a fitted model, or the model alone, to a file; an old file stays until the new one is complete.

    The same model gives the same bytes. A `random_state` that is a generator is not kept: the fit has used
    it up, and the loaded model has None. Of chains, the draws and traces are kept, not the labels.

    Parameters
    ----------
    model : fitted estimator, Mixture, CorrectedMixture, TreeMixture, LatentTree or MaxEntropy
        What to write.
    path : path
        Where to; by custom the name ends in .itemix.

    Raises
    ------
    InvalidInputError
        If it is not such a model, a parameter cannot be kept, or the folder does not exist.
    OutputError
        If the file cannot be written.
    """
    if isinstance(model, Model):
        header, tensors = encode_fitted(FittedModel.of(model))
        container.write(path, {"kind": type(model).__name__, **header}, tensors)
        return
    _require_estimator(model)
    fitted = FittedModel.of(model)
    if fitted.method is None or not _is_as_fitted(model, fitted.method):
        inference = getattr(model, "inference", None)
        raise InvalidInputError(
            f"expected a model as it was fitted, got inference={inference!r}, which was set later; fit it "
            "again"
        )
    kept = encode_parameters(model)
    header, tensors = encode_fitted(fitted)
    container.write(
        path,
        {
            "kind": type(model).__name__,
            "method": fitted.method,
            "parameters": kept.header,
            "feature_names": hasattr(model, "feature_names_in_"),
            **header,
        },
        {**kept.tensors, **tensors},
    )


def load(path: str | os.PathLike[str] | Held) -> ModelLike:
    """Read a model that `save` has written; loading never runs code from the file.

    Parameters
    ----------
    path : path
        The file; "-" is standard input, and any other stream is read once, to its end.

    Returns
    -------
    fitted estimator, Mixture, CorrectedMixture, TreeMixture, LatentTree or MaxEntropy
        What was saved.

    Raises
    ------
    MissingFileError
        If there is no such file.
    ModelFileError
        If it is damaged, not a model file, or of a newer version.
    """
    content = container.read(path)
    with content.blamed():
        fitted = _with_names(decode_fitted(content), path)
        model = fitted.model if fitted.method is None else _estimator(content, fitted, fitted.method)
    content.require_nothing_left()
    return model


def read_fitted(path: str | os.PathLike[str] | Held) -> FittedModel:
    """Read the fitted model of a file without its estimator; that needs no scikit-learn, and is quick.

    Raises
    ------
    MissingFileError
        If there is no such file.
    ModelFileError
        If it is damaged, not a model file, or of a newer version.
    """
    content = container.read(path)
    with content.blamed():
        return _with_names(decode_fitted(content), path)


# Names that people give to components stand in a small file of JSON beside the model, which is not touched.
# They are known by a fingerprint of the components: those of another fit are not given them.

_NAMES_ENDING = ".names.json"
_KIND_OF_NAMES = "itemix names 1"


def names_path(path: str | os.PathLike[str]) -> Path:
    """Return the file with the names that people gave to the components of a model file."""
    return Path(f"{os.fspath(path)}{_NAMES_ENDING}")


def save_names(fitted: FittedModel, path: str | os.PathLike[str]) -> None:
    """Write the names of components beside a model file."""
    target = names_path(path)
    names = {str(k): name for k, name in sorted(fitted.names.items())}
    told = {"kind": _KIND_OF_NAMES, "components": _fingerprint(fitted), "names": names}
    with replacing(target) as temporary:
        temporary.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _with_names(fitted: FittedModel, path: str | os.PathLike[str] | Held) -> FittedModel:
    """Return a fitted model with the names that lie beside its file, if they are of its components."""
    if isinstance(path, Held) or is_standard_input(path):
        beside = Path(f"{path.name}{_NAMES_ENDING}") if isinstance(path, Held) else None
    else:
        beside = names_path(path)
    if beside is None or fitted.components is None or not beside.is_file():
        return fitted
    try:
        told = json.loads(beside.read_text(encoding="utf-8"))
        if told["kind"] != _KIND_OF_NAMES or told["components"] != _fingerprint(fitted):
            return fitted
        names = {int(k): str(name) for k, name in told["names"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return fitted  # what is no file of names is not ours
    K = fitted.components.n_components
    return replace(fitted, names={k: name for k, name in names.items() if 0 <= k < K and name})


def _fingerprint(fitted: FittedModel) -> str:
    """Return what tells the components of a fit from those of others."""
    assert fitted.components is not None  # noqa: S101 - asked only of a model that has some
    values = (fitted.components.weights, fitted.components.probs)
    rounded = b"".join(np.ascontiguousarray(part, dtype="<f4").tobytes() for part in values)
    return hashlib.sha256(rounded).hexdigest()


def _estimator(content: Content, fitted: FittedModel, method: str) -> MixtureEstimator | ModelEstimator:
    """Return the estimator of a file, fitted."""
    from itemix import estimators

    items = fitted.value.items
    cls = getattr(estimators, METHODS[method].estimator)
    model: MixtureEstimator | ModelEstimator = cls(**decode_parameters(content, cls, items))
    if not _is_as_fitted(model, method):
        raise content.damaged(f"its parameters are not those of the method {method!r}")
    model.fitted_ = fitted
    model.n_features_in_ = len(items)
    if content.field(bool, "feature_names"):
        model.feature_names_in_ = items.labels.copy()
    return model


def _is_as_fitted(model: MixtureEstimator | ModelEstimator, method: str) -> bool:
    """Whether an estimator still has the inference of a method."""
    return getattr(model, "inference", None) == METHODS[method].inference


def _require_estimator(model: object) -> None:
    """Refuse anything but an estimator of this library; subclasses of one are refused, too."""
    from itemix import estimators

    if type(model) not in [getattr(estimators, name) for name in estimators.__all__]:
        raise InvalidInputError(
            f"expected a Mixture or one of {', '.join(estimators.__all__)}, got {type(model).__name__}; "
            "save its mixture_ if it has one"
        )


# Parameters of a constructor. A number, a word or None stands in the header as it is. An array or a mixture
# lies in arrays that the header names: ``{"array": name}``, ``{"mixture": name}``, ``{"trees": name}``. A
# number that JSON does not have is ``{"number": "inf"}``.

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


def _encoded(model: MixtureEstimator, name: str, value: object, tensors: dict[str, Array]) -> object:
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
        if isinstance(value, Mixture):
            tensors |= models.encode_mixture(value, place)
            return {"mixture": place}
        tensors |= models.encode_trees(value, place)
        return {"trees": place}
    array = np.asarray(value)
    if isinstance(value, Mixture | TreeMixture) or array.ndim != 1 or array.dtype.kind not in "iuf":
        raise InvalidInputError(
            f"expected parameters that a file can hold, got {name}={type(value).__name__}; "
            f"change it with set_params({name}=...) before saving"
        )
    tensors[place] = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    return {"array": place}


def _decoded(content: Content, name: str, value: object, items: Items) -> object:
    if value is None or isinstance(value, bool | str | int | float):
        return value
    place = _place(name)
    if value == {"array": place}:
        return content.take(place, np.float64 if content.is_float(place) else np.int64, None)
    if value == {"mixture": place}:
        return models.decode_mixture(content, items, place)
    if value == {"trees": place}:
        return models.decode_trees(content, items, place)
    for number in ("inf", "-inf", "nan"):
        if value == {"number": number}:
            return float(number)
    raise content.damaged(f"its parameter {name!r} is of no known form")


def _place(name: str) -> str:
    return f"parameters.{name}"


# How a fit went. A method keeps draws, counts, only the climb, or nothing (see `itemix.inference`).
# Each has a pair of functions: one returns fields of the training summary and arrays, one reads them.


class Kept(NamedTuple):
    """The part of a fit that depends on what its method keeps: fields of `Training`, and the posterior."""

    training: dict[str, Any]
    posterior: Posterior | None = None


class Record(NamedTuple):
    """The pair of functions that write and read what a method keeps of a fit."""

    encode: Callable[[FittedModel, Training], Parts]
    decode: Callable[[Content, Items, Method], Kept]


def encode_fitted(fitted: FittedModel) -> Parts:
    """Return the header's fields and the arrays of a fitted model, or of a model alone."""
    header, tensors = models.encode_model(fitted.value)
    for fields, arrays in (
        models.encode_correction(fitted.corrected, follows=fitted.method is not None),
        models.encode_choice(fitted.choice),
        models.encode_affinity(fitted.affinity),
        models.encode_groups(fitted.groups),
    ):
        header |= fields
        tensors |= arrays
    training = fitted.training
    if fitted.method is None or training is None:
        return header, tensors
    summary: dict[str, Any] = {"n_transactions": training.n_transactions}
    for fields, arrays in (
        _encode_climb(training),
        _RECORDS[METHODS[fitted.method].keeps].encode(fitted, training),
    ):
        summary |= fields
        tensors |= arrays
    means = _mean_probs(training.chains, fitted.posterior)
    if means is not None and isinstance(fitted.value, Mixture) and np.array_equal(means, fitted.value.probs):
        del tensors["mixture.probs"]
    if fitted.component_labels is not None:
        tensors["component_labels"] = fitted.component_labels
    criterion, scores = _encode_selection(training.selection)
    return {**header, **criterion, "training": summary}, {**tensors, **scores}


def decode_fitted(content: Content) -> FittedModel:
    """Return the fitted model of a file; the parameters of its estimator are left in the content."""
    kind = content.field(str, "kind")
    if kind == CorrectedMixture.__name__:
        return FittedModel.of(models.decode_corrected(content))
    items = models.decode_items(content)
    if models.is_model(kind):
        return FittedModel(models.decode_model(content, kind, items))
    name = content.field(str, "method")
    method = METHODS.get(name)
    if method is None or method.estimator != kind:
        raise content.damaged(f"this version knows no {kind!r} by the method {name!r}")
    climb = {} if method.keeps == "nothing" else _decode_climb(content)
    kept = _RECORDS[method.keeps].decode(content, items, method)
    means = None if "mixture.probs" in content else _mean_probs(kept.training.get("chains"), kept.posterior)
    if means is not None:
        content.put("mixture.probs", means)
    value = models.decode_model(content, method.model, items)
    n_transactions = content.whole("training", "n_transactions", low=1)
    fitted = FittedModel(
        value,
        posterior=kept.posterior,
        method=name,
        training=Training(n_transactions, **climb, **kept.training),
        choice=models.decode_choice(content),
        kept_labels=_decode_labels(content, value),
        affinity=models.decode_affinity(content, value.n_items),
        groups=models.decode_groups(content, value),
    )
    if not models.is_corrected(content):
        return fitted
    return replace(fitted, corrected=models.decode_correction(content, fitted.of_itemsets, value))


def _mean_probs(chains: Chains | None, posterior: Posterior | None) -> Floats | None:
    """Return the item probabilities of a mixture that follow from its draws or its posterior, if any do."""
    if chains is None:
        return None if posterior is None else protected(posterior.mean_probs())
    draws = chains.draws
    ends = list(accumulate((draw.n_components_of_posterior for draw in draws), initial=0))
    means = np.empty((ends[-1], len(draws[0].items)))
    for draw, (start, end) in zip(draws, pairwise(ends), strict=True):
        draw.write_mean_probs(means[start:end])
    return protected(means)


def _decode_labels(content: Content, value: Model) -> Labels | None:
    """Return the labels of the components of a mixture; files of older versions have none."""
    if "component_labels" not in content or not isinstance(value, Mixture):
        return None
    labels = content.take("component_labels", np.int64, value.n_components)
    if not are_labels(labels, value.n_components):
        raise content.damaged("its component_labels are not 0, 1, 2 and so on")
    return labels


def _encode_climb(training: Training) -> Parts:
    if training.bounds is None or training.bound is None:
        return {}, {}
    summary = {
        "n_iter": training.n_iter,
        "converged": training.converged,
        "lower_bound": as_json_number(training.bound),
    }
    return summary, {"lower_bounds": training.bounds}


def _decode_climb(content: Content) -> dict[str, Any]:
    bounds = content.take("lower_bounds", np.float64, None)
    if len(bounds) == 0:
        raise content.damaged("its lower_bounds are empty")
    return {
        "n_iter": content.whole("training", "n_iter", low=1),
        "converged": content.field(bool, "training", "converged"),
        "bounds": bounds,
        "selection": _decode_selection(content),
    }


def _encode_selection(selection: Selection | None) -> Parts:
    """Return how the number of components was chosen, as a field of the header and arrays."""
    if selection is None:
        return {}, {}
    return {"criterion": selection.criterion}, {
        "selection.candidates": np.asarray(selection.candidates, dtype=np.int64),
        "selection.scores": selection.scores,
    }


def _decode_selection(content: Content) -> Selection | None:
    if "selection.candidates" not in content:
        return None
    candidates = content.take("selection.candidates", np.int64, None)
    if len(candidates) == 0:
        raise content.damaged("its selection.candidates are empty")
    scores = content.take("selection.scores", np.float64, len(candidates))
    return Selection(content.field(str, "criterion"), candidates, scores)


# Nothing is kept of a tree, of maximum entropy and of independent items.


def _encode_nothing(fitted: FittedModel, training: Training) -> Parts:
    return {}, {}


def _decode_nothing(content: Content, items: Items, method: Method) -> Kept:
    return Kept({})


# A climb has nothing besides; that of a mixture of trees has its pooling.


def _encode_pooling(fitted: FittedModel, training: Training) -> Parts:
    return ({} if training.pooling is None else {"pooling": training.pooling}), {}


def _decode_pooling(content: Content, items: Items, method: Method) -> Kept:
    if METHODS["chow-liu-mixture"] is not method:
        return Kept({})
    pooling = content.field(float, "training", "pooling")
    if not 0 <= pooling < np.inf:
        raise content.damaged(f"training.pooling in its header is {pooling}")
    return Kept({"pooling": pooling})


# The counts of EM and of variational inference, from which a stream goes on, and the posterior.


def _encode_counts(fitted: FittedModel, training: Training) -> Parts:
    counts, totals, prior = training.counts, training.totals, training.prior
    assert counts is not None and totals is not None  # noqa: S101, PT018 - these methods have both
    header: dict[str, Any] = {"n_batches": training.n_batches}
    tensors = {
        "counts.sizes": counts.sizes,
        "counts.item_counts": counts.item_counts,
        "item_totals": np.asarray(totals.item_totals, dtype=np.int64),
    }
    if counts.squares is not None:
        tensors["counts.squares.sizes"] = counts.squares.sizes
        tensors["counts.squares.item_counts"] = counts.squares.item_counts
    if prior is not None:
        header |= _summary_of_prior(prior)
        tensors |= {"prior.beta": prior.beta, "prior.gamma": prior.gamma}
    posterior = fitted.posterior
    if posterior is not None and (prior is None or posterior != prior.posterior(counts, posterior.items)):
        tensors |= {f"posterior.{name}": getattr(posterior, name) for name in ("rho", "rest", "eta", "nu")}
    return header, tensors


def _decode_counts(content: Content, items: Items, method: Method) -> Kept:
    item_totals = content.take("item_totals", np.int64, len(items))
    n_transactions = content.whole("training", "n_transactions", low=1)
    if item_totals.min(initial=0) < 0 or item_totals.max(initial=0) > n_transactions:
        raise content.damaged("its item_totals do not fit its number of transactions")
    counts = _read_counts(content, len(items))
    training = {
        "counts": counts,
        "n_batches": content.whole("training", "n_batches", low=1),
        "totals": DataTotals(item_totals, n_transactions),
    }
    if method.weights is None:
        return Kept(training)
    if "prior.beta" in content:  # older files have none
        training["prior"] = prior = _read_prior(content, len(items), method.weights)
        if "posterior.rho" not in content:
            return Kept(training, prior.posterior(counts, items))
    return Kept(training, _read_posterior(content, items, counts))


def _summary_of_prior(prior: Prior) -> dict[str, float]:
    """Return the prior in two numbers."""
    return {"alpha": prior.alpha, "strength": prior.strength}


def _read_counts(content: Content, n_items: int) -> Counts:
    K = content.whole("n_components", low=1)

    def read(name: str, squares: Counts | None = None) -> Counts:
        sizes = content.take(f"{name}.sizes", np.float64, K)
        return Counts(sizes, content.take(f"{name}.item_counts", np.float64, K, n_items), squares)

    return read("counts", read("counts.squares") if "counts.squares.sizes" in content else None)


def _read_prior(content: Content, n_items: int, weights: Weights) -> Prior:
    beta, gamma = (content.take(f"prior.{name}", np.float64, n_items) for name in ("beta", "gamma"))
    prior = Prior(content.field(float, "training", "alpha"), beta, gamma, weights)
    if not all(((values > 0) & np.isfinite(values)).all() for values in (np.array(prior.alpha), beta, gamma)):
        raise content.damaged("its hyperparameters are not all above 0")
    return prior


def _read_posterior(content: Content, items: Items, counts: Counts) -> Posterior:
    K, D = counts.n_components, len(items)
    shapes: dict[str, tuple[int, ...]] = {"rho": (K,), "rest": (K,), "eta": (K, D), "nu": (K, D)}
    arrays = {name: content.take(f"posterior.{name}", np.float64, *shape) for name, shape in shapes.items()}
    known = known_shares(counts, arrays["eta"], arrays["nu"])
    return Posterior(**arrays, items=items, known=known)


# The draws of Gibbs sampling, those of all chains one after the other, and the chains' traces.

# A table of counts in memory has at most this many times the size of its compressed rows in a file.
_MOST_TIMES_AS_LARGE = 256
_TRACES = {"log_joint": np.float64, "n_components": np.int64, "alpha": np.float64}


def _encode_draws(fitted: FittedModel, training: Training) -> Parts:
    chains = training.chains
    assert chains is not None  # noqa: S101 - these methods have them
    header = {
        "interrupted": chains.interrupted,
        "stopped": chains.stopped,
        **_summary_of_prior(chains.draws[-1].prior),
    }
    return header, {**_of_chains(chains.chains), **_of_draws(chains.draws)}


def _decode_draws(content: Content, items: Items, method: Method) -> Kept:
    assert method.weights is not None  # noqa: S101 - sampling is Bayesian
    draws = _read_draws(content, items, method.weights)
    if sum(draw.n_components_of_posterior for draw in draws) != content.whole("n_components"):
        raise content.damaged("its mixture is not that of its draws")
    counts = draws[-1].counts()
    if counts.n_transactions != content.whole("training", "n_transactions"):
        raise content.damaged("its draws do not fit its number of transactions")
    interrupted, stopped = (content.field(bool, "training", name) for name in ("interrupted", "stopped"))
    training = {
        "counts": counts,
        "prior": draws[-1].prior,
        "chains": Chains(_read_chains(content, draws), interrupted, stopped),
        "interrupted": interrupted,
        "stopped": stopped,
    }
    return Kept(training)


def _of_draws(draws: Sequence[Draw]) -> dict[str, Array]:
    return {
        "draws.n_components": np.array([draw.n_components for draw in draws], dtype=np.int64),
        "draws.sizes": np.concatenate([draw.sizes for draw in draws], dtype=np.int64),
        **_of_table(np.concatenate([draw.item_counts for draw in draws], dtype=np.int32)),
        "draws.alpha": np.array([draw.prior.alpha for draw in draws], dtype=np.float64),
        "draws.beta": np.array([draw.prior.beta for draw in draws], dtype=np.float64),
        "draws.gamma": np.array([draw.prior.gamma for draw in draws], dtype=np.float64),
    }


def _of_table(item_counts: Array) -> dict[str, Array]:
    """Return the counts of items, as compressed rows where that is smaller: most are 0 in wide models."""
    rows, item = np.nonzero(item_counts)
    first = np.searchsorted(rows, np.arange(len(item_counts) + 1))
    compressed: dict[str, Array] = {
        "draws.item_counts.first": first.astype(np.int64),
        "draws.item_counts.item": item.astype(np.int32),
        "draws.item_counts.count": item_counts[rows, item],
    }
    n_bytes = sum(array.nbytes for array in compressed.values())
    if n_bytes < item_counts.nbytes <= _MOST_TIMES_AS_LARGE * n_bytes:
        return compressed
    return {"draws.item_counts": item_counts}


def _read_table(content: Content, n_components: int, n_items: int) -> Array:
    """Return the counts of items, as a table; a small file does not ask for one beyond all bounds."""
    if "draws.item_counts" in content:
        return content.take("draws.item_counts", np.int32, n_components, n_items)
    first = content.take("draws.item_counts.first", np.int64, n_components + 1)
    item = content.take("draws.item_counts.item", np.int32, None)
    count = content.take("draws.item_counts.count", np.int32, len(item))
    if 4 * n_components * n_items > _MOST_TIMES_AS_LARGE * (first.nbytes + item.nbytes + count.nbytes):
        raise content.damaged(f"it has too few counts for {n_components:,} x {n_items:,} of them")
    if first[0] != 0 or first[-1] != len(item) or (np.diff(first) < 0).any():
        raise content.damaged("the rows of its counts do not fit them")
    cell = np.repeat(n_items * np.arange(n_components), np.diff(first)) + item
    if (item < 0).any() or (item >= n_items).any() or (np.diff(cell) <= 0).any():
        raise content.damaged("the items of its counts are not in order")
    table = np.zeros((n_components, n_items), dtype=np.int32)
    table.reshape(-1)[cell] = count
    return table


def _read_draws(content: Content, items: Items, weights: Weights) -> tuple[Draw, ...]:
    D = len(items)
    lengths = content.take("draws.n_components", np.int64, None)
    slices = _slices(content, "draws.n_components", lengths)
    S, total = len(slices), slices[-1].stop
    sizes = content.take("draws.sizes", np.int64, total)
    item_counts = protected(_read_table(content, total, D))
    alpha = content.take("draws.alpha", np.float64, S)
    beta, gamma = (content.take(f"draws.{name}", np.float64, S, D) for name in ("beta", "gamma"))
    if (item_counts > sizes[:, None]).any():
        raise content.damaged("a component of a draw holds an item more often than transactions")
    if item_counts.min(initial=0) < 0:
        raise content.damaged("a component of a draw holds an item less often than never")
    if not all(((values > 0) & np.isfinite(values)).all() for values in (alpha, beta, gamma)):
        raise content.damaged("the hyperparameters of its draws are not all above 0")
    return tuple(
        Draw(
            sizes[part],
            item_counts[part],
            Prior(float(alpha[s]), beta[s], gamma[s], weights),
            items,
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


_RECORDS = {
    "draws": Record(_encode_draws, _decode_draws),
    "counts": Record(_encode_counts, _decode_counts),
    "climb": Record(_encode_pooling, _decode_pooling),
    "nothing": Record(_encode_nothing, _decode_nothing),
}
