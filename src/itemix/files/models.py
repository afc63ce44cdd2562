"""The models that files hold, each by the arrays of its own kind: mixtures, also of trees, and itemsets."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from itemix._typing import Array
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.errors import InvalidInputError
from itemix.models.corrected import CorrectedMixture, Correction, Residuals, ResidualTrie
from itemix.models.maxent import MaxEntropy
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.correction import Choice
    from itemix.files.container import Content
    from itemix.models.base import Model


# Mixtures and item names in model files.


# Lone surrogates are legal in Python's strings, and come from file names and careless decoding.
_ENCODING = "utf-8", "surrogatepass"


def sizes_of(mixture: Mixture) -> dict[str, int]:
    """Return the header's numbers of components and items."""
    return {"n_components": mixture.n_components, "n_items": mixture.n_items}


def of_items(items: Items) -> dict[str, Array]:
    """Return item names as arrays: integers, or one text with the offset of each name."""
    if items.are_integers:
        return {"items.integers": items.labels}
    names = [name.encode(*_ENCODING) for name in items.labels]
    offsets = np.concatenate([[0], np.cumsum([len(name) for name in names])]).astype(np.int64)
    return {"items.offsets": offsets, "items.text": np.frombuffer(b"".join(names), dtype=np.uint8)}


def of_mixture(mixture: Mixture, prefix: str = "mixture") -> dict[str, Array]:
    """Return the arrays of a mixture without its items."""
    return {f"{prefix}.weights": mixture.weights, f"{prefix}.probs": mixture.probs}


def read_checked_mixture(content: Content, items: Items) -> Mixture:
    """Return the mixture of some items, of as many components as the header says."""
    mixture = read_mixture(content, items)
    require_components(content, mixture.n_components)
    return mixture


def require_components(content: Content, n_components: int) -> None:
    """Refuse a file whose model has another number of components than its header says."""
    if n_components != content.whole("n_components"):
        raise content.damaged(f"it has {n_components} components, not those of its header")


def read_mixture(content: Content, items: Items, prefix: str = "mixture") -> Mixture:
    """Return the mixture of some items."""
    weights = content.take(f"{prefix}.weights", np.float64, None)
    return Mixture(weights, content.take(f"{prefix}.probs", np.float64, len(weights), len(items)), items)


def read_items(content: Content) -> Items:
    """Return the items of a model file, as many as its header says."""
    n_items = content.whole("n_items")
    if "items.integers" in content:
        return Items(content.take("items.integers", np.int64, n_items))
    offsets = content.take("items.offsets", np.int64, n_items + 1)
    text = content.take("items.text", np.uint8, None).tobytes()
    if offsets[0] != 0 or offsets[-1] != len(text) or (np.diff(offsets) < 0).any():
        raise content.damaged("the offsets of its item names do not fit their text")
    try:
        names = [text[a:b].decode(*_ENCODING) for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError:
        raise content.damaged("an item name is no UTF-8") from None
    return Items(names)


# The correction of a mixture in a model file.


# Shifts of log-odds beyond this have no odds.
_MOST_SHIFT = 700.0


def encode_correction(corrected: CorrectedMixture | None) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header's fields and the arrays; none if nothing is corrected."""
    if corrected is None:
        return {}, {}
    correction = corrected.correction
    header = {
        "n_transactions": correction.n_transactions,
        "excess_variance": correction.excess_variance,
    }
    return {"correction": header}, {
        "correction.item_shift": correction.item_shift,
        "correction.first": correction.residuals.trie.first,
        "correction.item": correction.residuals.trie.item.astype(np.int64),
        "correction.shift": correction.residuals.shift,
    }


def decode_correction(content: Content, mixture: Mixture) -> CorrectedMixture | None:
    """Return the corrected mixture, None if the file holds no correction."""
    if "correction.shift" not in content:
        return None
    item_shift = content.take("correction.item_shift", np.float64, mixture.n_items)
    shift = content.take("correction.shift", np.float64, None)
    first = content.take("correction.first", np.int64, len(shift) + 1)
    item = content.take("correction.item", np.int64, len(shift))
    if not _is_trie(first, item, mixture.n_items):
        raise content.damaged("its correction is no trie of the model's items")
    if not (np.abs(item_shift) < _MOST_SHIFT).all() or (np.abs(shift) > _MOST_SHIFT).any():
        raise content.damaged("its correction shifts an item by too much")
    excess = content.field(float, "correction", "excess_variance")
    if not 0.0 <= excess < np.inf:
        raise content.damaged(f"correction.excess_variance in its header is {excess}")
    n_transactions = content.whole("correction", "n_transactions", low=1)
    residuals = Residuals(ResidualTrie(first, item.astype(np.int32)), shift)
    return CorrectedMixture(mixture, Correction(item_shift, residuals, n_transactions, excess))


def encode_choice(choice: Choice) -> dict[str, Array]:
    """Return the arrays of how a correction was chosen."""
    return {
        "choice.orders": np.array([way.order for way in choice.ways], dtype=np.int64),
        "choice.shrinkages": np.array([way.shrinkage for way in choice.ways], dtype=np.float64),
        "choice.errors": choice.errors,
        "choice.excess": choice.excess,
    }


def decode_choice(content: Content) -> Choice | None:
    """Return how the correction was chosen, None if the file does not say."""
    if "choice.orders" not in content:
        return None
    from itemix.correction import Choice, Way

    orders = content.take("choice.orders", np.int64, None)
    n = len(orders)
    shrinkages, errors, excess = (
        content.take(f"choice.{name}", np.float64, n) for name in ("shrinkages", "errors", "excess")
    )
    checked = orders, shrinkages, errors
    if n == 0 or not all((np.isfinite(values) & (values >= 0)).all() for values in checked):
        raise content.damaged("its choice of a correction is no such choice")
    ways = zip(orders.tolist(), shrinkages.tolist(), strict=True)
    return Choice(tuple(Way(*way) for way in ways), errors, excess)


def _is_trie(first: npt.NDArray[np.int64], item: npt.NDArray[np.int64], n_items: int) -> bool:
    """Whether nodes are numbered level by level, all items alone first, children ascending and below."""
    n = len(item)
    if n < n_items + 1 or first[0] != 1 or first[1] != n_items + 1 or first[-1] != n:
        return False
    if (np.diff(first) < 0).any() or (first[1:] <= np.arange(n)).any() or item[0] != -1:
        return False
    parent = np.repeat(np.arange(n), np.diff(first))
    own = item[1:]
    is_below = (parent == 0) | (own < item[parent])
    is_after = np.ones(n - 1, dtype=bool)
    is_after[1:] = (parent[1:] != parent[:-1]) | (own[1:] > own[:-1])
    in_order = np.array_equal(own[:n_items], np.arange(n_items))
    return bool(in_order and is_below.all() and is_after.all() and (own >= 0).all())


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
    return {"n_components": mixture.n_components}, of_mixture(mixture)


def _encode_corrected(corrected: CorrectedMixture) -> Parts:
    header, tensors = encode_correction(corrected)
    of_mixture = _encode_mixture(corrected.mixture)
    return {**of_mixture[0], **header}, {**of_mixture[1], **tensors}


def _decode_corrected(content: Content, items: Items) -> CorrectedMixture:
    corrected = decode_correction(content, read_checked_mixture(content, items))
    if corrected is None:
        raise content.damaged("it has no array correction.shift")
    return corrected


def _encode_trees(trees: TreeMixture) -> Parts:
    return {"n_components": trees.n_components}, of_trees(trees)


def _decode_trees(content: Content, items: Items) -> TreeMixture:
    trees = read_trees(content, items)
    require_components(content, trees.n_components)
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
    Kind(Mixture, _encode_mixture, read_checked_mixture),
    Kind(CorrectedMixture, _encode_corrected, _decode_corrected),
    Kind(TreeMixture, _encode_trees, _decode_trees),
    Kind(MaxEntropy, _encode_max_entropy, _decode_max_entropy),
)
_KIND_OF_METHOD: dict[str, type[Model]] = {
    "chow-liu": TreeMixture,
    "chow-liu-mixture": TreeMixture,
    "maxent": MaxEntropy,
}


def encode_model(model: Model) -> Parts:
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
    return {"n_items": model.n_items, **header}, {**of_items(model.items), **tensors}


def decode_model(content: Content) -> Model:
    """Return the model of a file: that of its kind, or the one which its method learns."""
    name = content.field(str, "kind")
    own = [kind for kind in _KINDS if kind.cls.__name__ == name]
    learned: type[Model] = Mixture if own else _KIND_OF_METHOD.get(content.field(str, "method"), Mixture)
    kind = own[0] if own else next(kind for kind in _KINDS if kind.cls is learned)
    return kind.decode(content, read_items(content))


def is_alone(content: Content) -> bool:
    """Whether a file holds a model alone, without the estimator that learned it."""
    return content.field(str, "kind") in {kind.cls.__name__ for kind in _KINDS}
