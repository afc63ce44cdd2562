"""The parameters of an estimator's constructor, in a header and arrays.

A number, a word or None is itself in the header. An array or a mixture lies in arrays that the header names:
``{"array": name}``, ``{"mixture": name}``, ``{"trees": name}``. Numbers that JSON does not have are
``{"number": "inf"}``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.errors import InvalidInputError
from itemix.files import mixture_files, models
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from itemix.core.items import Items
    from itemix.estimators.base import MixtureEstimator
    from itemix.files.container import Content

Array = npt.NDArray[Any]

_GENERATORS = np.random.Generator | np.random.RandomState | np.random.SeedSequence


class Encoded(NamedTuple):
    """Values for the header, and the arrays that they name."""

    header: dict[str, Any]
    tensors: dict[str, Array]


def encode(model: MixtureEstimator) -> Encoded:
    """Return the parameters of an estimator.

    Raises
    ------
    InvalidInputError
        If a parameter is neither a number, a word, an array, a mixture of the model's items nor None.
    """
    kept = Encoded({}, {})
    for name, value in model.get_params(deep=False).items():
        kept.header[name] = _encoded(model, name, value, kept.tensors)
    return kept


def decode(content: Content, cls: type[MixtureEstimator], items: Items) -> dict[str, Any]:
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
            mixture_files.of_mixture(value, place)
            if isinstance(value, Mixture)
            else models.of_trees(value, place)
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
        return mixture_files.read_mixture(content, items, place)
    if value == {"trees": place}:
        return models.read_trees(content, items, place)
    if value in ({"number": "inf"}, {"number": "-inf"}, {"number": "nan"}):
        return float(value["number"])
    raise content.damaged(f"its parameter {name!r} is of no known form")


def _place(name: str) -> str:
    return f"parameters.{name}"
