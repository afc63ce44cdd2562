"""The models that files hold, each by the arrays of its own kind: mixtures, also of trees, and itemsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix.core.sets import Sets
from itemix.errors import InvalidInputError
from itemix.files import corrections, mixture_files
from itemix.models.corrected import CorrectedMixture
from itemix.models.maxent import MaxEntropy
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.core.items import Items
    from itemix.files.container import Content
    from itemix.models.base import Model

Array = npt.NDArray[Any]
Parts = tuple[dict[str, Any], dict[str, Array]]


class Kind(NamedTuple):
    """How a kind of model is written and read.

    Attributes
    ----------
    cls : type
        The model's class.
    encode : callable
        Returns the fields of the header and the arrays of a model, but not those of its items.
    decode : callable
        Returns the model of a file's content and its items.
    """

    cls: type[Model]
    encode: Callable[[Any], Parts]
    decode: Callable[[Content, Items], Model]


def of_trees(trees: TreeMixture, prefix: str = "trees") -> dict[str, Array]:
    """Return the arrays of a mixture of trees without its items."""
    return {f"{prefix}.{name}": getattr(trees, name) for name in ("weights", "parents", "probs")}


def read_trees(content: Content, items: Items, prefix: str = "trees") -> TreeMixture:
    """Return the mixture of trees over some items."""
    weights = content.take(f"{prefix}.weights", np.float64, None)
    shape = len(weights), len(items)
    return TreeMixture(
        weights,
        content.take(f"{prefix}.parents", np.int32, *shape),
        content.take(f"{prefix}.probs", np.float64, *shape, 2),
        items,
    )


def _encode_mixture(mixture: Mixture) -> Parts:
    return {"n_components": mixture.n_components}, mixture_files.of_mixture(mixture)


def _encode_corrected(corrected: CorrectedMixture) -> Parts:
    header, tensors = corrections.encode(corrected)
    of_mixture = _encode_mixture(corrected.mixture)
    return {**of_mixture[0], **header}, {**of_mixture[1], **tensors}


def _decode_corrected(content: Content, items: Items) -> CorrectedMixture:
    corrected = corrections.decode(content, mixture_files.read_checked_mixture(content, items))
    if corrected is None:
        raise content.damaged("it has no array correction.shift")
    return corrected


def _encode_trees(trees: TreeMixture) -> Parts:
    return {"n_components": trees.n_components}, of_trees(trees)


def _decode_trees(content: Content, items: Items) -> TreeMixture:
    trees = read_trees(content, items)
    mixture_files.require_components(content, trees.n_components)
    return trees


def _encode_max_entropy(model: MaxEntropy) -> Parts:
    return {"n_itemsets": len(model.itemsets)}, {
        "frequencies": model.frequencies,
        "itemsets.offsets": model.itemsets.offsets,
        "itemsets.codes": model.itemsets.codes,
        "itemsets.supports": model.supports,
    }


def _decode_max_entropy(content: Content, items: Items) -> MaxEntropy:
    n = content.whole("n_itemsets")
    sets = Sets(
        content.take("itemsets.offsets", np.int64, n + 1),
        content.take("itemsets.codes", np.int32, None),
        items,
    )
    frequencies = content.take("frequencies", np.float64, len(items))
    return MaxEntropy(frequencies, sets, content.take("itemsets.supports", np.float64, n))


_KINDS = (
    Kind(Mixture, _encode_mixture, mixture_files.read_checked_mixture),
    Kind(CorrectedMixture, _encode_corrected, _decode_corrected),
    Kind(TreeMixture, _encode_trees, _decode_trees),
    Kind(MaxEntropy, _encode_max_entropy, _decode_max_entropy),
)
_KIND_OF_METHOD: dict[str, type[Model]] = {
    "chow-liu": TreeMixture,
    "chow-liu-mixture": TreeMixture,
    "maxent": MaxEntropy,
}


def encode(model: Model) -> Parts:
    """Return the header's fields and the arrays of a model, with those of its items.

    Raises
    ------
    InvalidInputError
        If it is of a kind that files do not hold.
    """
    kind = next((kind for kind in _KINDS if isinstance(model, kind.cls)), None)
    if kind is None:
        known = ", ".join(kind.cls.__name__ for kind in _KINDS)
        raise InvalidInputError(
            f"expected a model of a kind that files hold ({known}), got {type(model).__name__}; "
            "pickle it instead"
        )
    header, tensors = kind.encode(model)
    return {"n_items": model.n_items, **header}, {**mixture_files.of_items(model.items), **tensors}


def decode(content: Content) -> Model:
    """Return the model of a file: that of its kind, or the one which its method learns."""
    name = content.field(str, "kind")
    own = [kind for kind in _KINDS if kind.cls.__name__ == name]
    learned: type[Model] = Mixture if own else _KIND_OF_METHOD.get(content.field(str, "method"), Mixture)
    kind = own[0] if own else next(kind for kind in _KINDS if kind.cls is learned)
    return kind.decode(content, mixture_files.read_items(content))


def is_alone(content: Content) -> bool:
    """Whether a file holds a model alone, without the estimator that learned it."""
    return content.field(str, "kind") in {kind.cls.__name__ for kind in _KINDS}
