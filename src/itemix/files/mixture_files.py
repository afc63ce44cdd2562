"""Mixtures and item names in model files."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.core.items import Items
from itemix.files import container
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    import os

    from itemix.files.container import Content

Array = npt.NDArray[Any]

KIND = "Mixture"
# Lone surrogates are legal in Python's strings, and come from file names and careless decoding.
_ENCODING = "utf-8", "surrogatepass"


def save_mixture(mixture: Mixture, path: str | os.PathLike[str]) -> None:
    """Write a mixture to a file of its own."""
    container.write(
        path, {"kind": KIND, **sizes_of(mixture)}, {**of_items(mixture.items), **of_mixture(mixture)}
    )


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
