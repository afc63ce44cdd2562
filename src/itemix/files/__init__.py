"""Fitted models in files: `save` writes one, `load` reads it back, and the model answers as before.

A file holds the parameters of the constructor and everything that the fit has learned; see
`itemix.files.container` for its form. Which class a file is of is looked up in a fixed table here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from itemix.errors import InvalidInputError
from itemix.files import container, fits, models
from itemix.models.base import Model
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    import os

    from itemix._files import Held
    from itemix.estimators.base import MixtureEstimator, ModelEstimator
    from itemix.files.container import Content

__all__ = ["load", "save"]


class _Method(NamedTuple):
    """A class with the inference by which it was fitted."""

    cls: type[MixtureEstimator | ModelEstimator]
    inference: str | None


def save(model: MixtureEstimator | ModelEstimator | Model, path: str | os.PathLike[str]) -> None:
    """Write a fitted model, or the model alone, to a file; an old file stays until the new one is complete.

    The same model gives the same bytes. A `random_state` that is a generator is not kept: the fit has used
    it up, and the loaded model has None. Of chains, the draws and traces are kept, not the labels.

    Parameters
    ----------
    model : fitted estimator, Mixture, CorrectedMixture, TreeMixture or MaxEntropy
        What to write.
    path : path
        Where to; by custom the name ends in .itemix.

    Raises
    ------
    InvalidInputError
        If it is no such model, a parameter cannot be kept, or the folder does not exist.
    OutputError
        If the file cannot be written.
    """
    if isinstance(model, Model):
        header, tensors = models.encode_model(model)
        container.write(path, {"kind": type(model).__name__, **header}, tensors)
        return
    name = _method_of(model)
    kept = fits.encode_parameters(model)
    header, tensors = _encode(model, name)
    container.write(
        path,
        {"kind": type(model).__name__, "method": name, "parameters": kept.header, **header},
        {**kept.tensors, **tensors},
    )


def load(path: str | os.PathLike[str] | Held) -> Any:  # noqa: ANN401 - an estimator or a Mixture, as the file says
    """Read a model that `save` has written; loading never runs code from the file.

    Parameters
    ----------
    path : path
        The file; "-" is standard input, and any other stream is read once, to its end.

    Returns
    -------
    fitted estimator, Mixture, CorrectedMixture, TreeMixture or MaxEntropy
        What was saved.

    Raises
    ------
    MissingFileError
        If there is no such file.
    ModelFileError
        If it is damaged, no model file, or of a newer version.
    """
    content = container.read(path)
    with content.blamed():
        model = _read(content)
    content.require_nothing_left()
    return model


def _read(content: Content) -> MixtureEstimator | ModelEstimator | Model:
    value = models.decode_model(content)
    if models.is_alone(content):
        return value
    kind, name = content.field(str, "kind"), content.field(str, "method")
    method = _methods().get(name)
    if method is None or method.cls.__name__ != kind:
        raise content.damaged(f"this version knows no {kind!r} by the method {name!r}")
    model = method.cls(**fits.decode_parameters(content, method.cls, value.items))
    if getattr(model, "inference", None) != method.inference:
        raise content.damaged(f"its parameters are not those of the method {name!r}")
    for attribute, learned in _decode(content, value, name, method.cls).items():
        setattr(model, attribute, learned)
    return model


def _encode(model: Any, name: str) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401 - an estimator
    """Return the header's fields and the arrays of what an estimator has learned."""
    if name in fits.ATTRIBUTE_OF:
        return fits.encode_single(model, name)
    header, tensors = fits.encode_shared(model)
    more = (fits.encode_sampled if _is_sampled(name) else fits.encode_batch)(model)
    return {**header, "training": {**header["training"], **more[0]}}, {**tensors, **more[1]}


def _decode(content: Content, value: Model, name: str, cls: Any) -> dict[str, Any]:  # noqa: ANN401 - a class
    """Return what an estimator has learned, by the names of its attributes."""
    if name in fits.ATTRIBUTE_OF or not isinstance(value, Mixture):
        return fits.decode_single(content, value, name)
    learned = fits.decode_shared(content, value)
    learned |= (fits.decode_sampled if _is_sampled(name) else fits.decode_batch)(content, value, cls)
    return learned


def _methods() -> dict[str, _Method]:
    from itemix import estimators
    from itemix.estimators import BayesianMixture, BernoulliMixture, DirichletProcessMixture

    return {
        "independent": _Method(estimators.IndependentModel, None),
        "chow-liu": _Method(estimators.ChowLiuTree, None),
        "chow-liu-mixture": _Method(estimators.ChowLiuMixture, None),
        "maxent": _Method(estimators.MaxEntropyModel, None),
        "nbm": _Method(BernoulliMixture, None),
        "vfbm": _Method(BayesianMixture, "variational"),
        "gsfbm": _Method(BayesianMixture, "gibbs"),
        "vdpm": _Method(DirichletProcessMixture, "variational"),
        "gsdpm": _Method(DirichletProcessMixture, "gibbs"),
    }


def _is_sampled(name: str) -> bool:
    return name.startswith("gs")


def _learned_by(name: str) -> str:
    """Return an attribute that only a fit by this method has set."""
    return "chains_" if _is_sampled(name) else fits.ATTRIBUTE_OF.get(name, "n_batches_")


def _method_of(model: MixtureEstimator | ModelEstimator) -> str:
    from sklearn.utils.validation import check_is_fitted

    methods = _methods()
    if type(model) not in {method.cls for method in methods.values()}:
        classes = ", ".join(sorted({method.cls.__name__ for method in methods.values()}))
        raise InvalidInputError(
            f"expected a Mixture or one of {classes}, got {type(model).__name__}; "
            "save its mixture_ if it has one"
        )
    check_is_fitted(model)
    inference = getattr(model, "inference", None)
    for name, method in methods.items():
        if (type(model), inference) == method and _learned_by(name) in vars(model):
            return name
    raise InvalidInputError(
        f"expected a model as it was fitted, got inference={inference!r}, which was set later; fit it again"
    )
