"""Fitted models in files: `save` writes one, `load` reads it back, and the model answers as before.

A file holds the parameters of the constructor and everything that the fit has learned; see
`itemix.files.container` for its form. The table of methods says which class a file belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemix.errors import InvalidInputError
from itemix.files import container, fits
from itemix.fitted import FittedModel
from itemix.inference.methods import METHODS
from itemix.models.base import Model

if TYPE_CHECKING:
    import os

    from itemix._files import Held
    from itemix._typing import ModelLike
    from itemix.estimators.base import MixtureEstimator, ModelEstimator
    from itemix.files.container import Content

__all__ = ["load", "read_fitted", "save"]


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
        If it is not such a model, a parameter cannot be kept, or the folder does not exist.
    OutputError
        If the file cannot be written.
    """
    if isinstance(model, Model):
        header, tensors = fits.encode_fitted(FittedModel.of(model))
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
    kept = fits.encode_parameters(model)
    header, tensors = fits.encode_fitted(fitted)
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
    fitted estimator, Mixture, CorrectedMixture, TreeMixture or MaxEntropy
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
        fitted = fits.decode_fitted(content)
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
        return fits.decode_fitted(content)


def _estimator(content: Content, fitted: FittedModel, method: str) -> MixtureEstimator | ModelEstimator:
    """Return the estimator of a file, fitted."""
    from itemix import estimators

    items = fitted.value.items
    cls = getattr(estimators, METHODS[method].estimator)
    model: MixtureEstimator | ModelEstimator = cls(**fits.decode_parameters(content, cls, items))
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
