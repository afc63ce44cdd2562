"""Fitted models in files: `save` writes one, `load` reads it back, and the model answers as before.

A file holds the parameters of the constructor and everything that the fit has learned; see
`itemix.tensor_files` for its form. Which class a file is of is looked up in a fixed table here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from itemix import mixture_files, tensor_files
from itemix.errors import InvalidInputError
from itemix.mixture import Mixture
from itemix.storage import batch, parameters, sampled, shared

if TYPE_CHECKING:
    import os

    from itemix.estimators.base import MixtureEstimator
    from itemix.tensor_files import Content

__all__ = ["load", "save"]


class _Method(NamedTuple):
    """A class with the inference by which it was fitted."""

    cls: type[MixtureEstimator]
    inference: str | None


def save(model: MixtureEstimator | Mixture, path: str | os.PathLike[str]) -> None:
    """Write a fitted model, or a mixture, to a file; an old file stays until the new one is complete.

    The same model gives the same bytes. A `random_state` that is a generator is not kept: the fit has used
    it up, and the loaded model has None. Of chains, the draws and traces are kept, not the labels.

    Parameters
    ----------
    model : BernoulliMixture, BayesianMixture, DirichletProcessMixture or Mixture
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
    if isinstance(model, Mixture):
        mixture_files.save_mixture(model, path)
        return
    name = _method_of(model)
    kept = parameters.encode(model)
    header, tensors = (sampled if _is_sampled(name) else batch).encode(model)
    common_header, common_tensors = shared.encode(model)
    tensor_files.write(
        path,
        {
            "kind": type(model).__name__,
            "method": name,
            "parameters": kept.header,
            **common_header,
            "training": {**common_header["training"], **header},
        },
        {**kept.tensors, **common_tensors, **tensors},
    )


def load(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - an estimator or a Mixture, as the file says
    """Read a model that `save` has written; loading never runs code from the file.

    Returns
    -------
    BernoulliMixture, BayesianMixture, DirichletProcessMixture or Mixture
        What was saved.

    Raises
    ------
    MissingFileError
        If there is no such file.
    ModelFileError
        If it is damaged, no model file, or of a newer version.
    """
    content = tensor_files.read(path)
    try:
        model = _read(content)
    except InvalidInputError as error:
        raise content.damaged(str(error).partition(";")[0]) from None
    content.require_nothing_left()
    return model


def _read(content: Content) -> MixtureEstimator | Mixture:
    kind = content.field(str, "kind")
    mixture = mixture_files.read_main_mixture(content)
    if kind == mixture_files.KIND:
        return mixture
    name = content.field(str, "method")
    method = _methods().get(name)
    if method is None or method.cls.__name__ != kind:
        raise content.damaged(f"this version knows no {kind!r} by the method {name!r}")
    model = method.cls(**parameters.decode(content, method.cls, mixture.items))
    if getattr(model, "inference", None) != method.inference:
        raise content.damaged(f"its parameters are not those of the method {name!r}")
    learned = shared.decode(content, mixture)
    learned |= (sampled if _is_sampled(name) else batch).decode(content, mixture, method.cls)
    for attribute, value in learned.items():
        setattr(model, attribute, value)
    return model


def _methods() -> dict[str, _Method]:
    from itemix.estimators import BayesianMixture, BernoulliMixture, DirichletProcessMixture

    return {
        "nbm": _Method(BernoulliMixture, None),
        "vfbm": _Method(BayesianMixture, "variational"),
        "gsfbm": _Method(BayesianMixture, "gibbs"),
        "vdpm": _Method(DirichletProcessMixture, "variational"),
        "gsdpm": _Method(DirichletProcessMixture, "gibbs"),
    }


def _is_sampled(name: str) -> bool:
    return name.startswith("gs")


def _method_of(model: MixtureEstimator) -> str:
    from sklearn.utils.validation import check_is_fitted

    methods = _methods()
    if type(model) not in {method.cls for method in methods.values()}:
        classes = ", ".join(sorted({method.cls.__name__ for method in methods.values()}))
        raise InvalidInputError(
            f"expected a Mixture or one of {classes}, got {type(model).__name__}; "
            "save its mixture_ if it has one"
        )
    check_is_fitted(model, "mixture_")
    inference = getattr(model, "inference", None)
    for name, method in methods.items():
        learned_by = "chains_" if _is_sampled(name) else "n_batches_"
        if (type(model), inference) == method and learned_by in vars(model):
            return name
    raise InvalidInputError(
        f"expected a model as it was fitted, got inference={inference!r}, which was set later; fit it again"
    )
