"""The correction of a mixture in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.models.corrected import CorrectedMixture, Correction
from itemix.models.residuals import Residuals, Trie

if TYPE_CHECKING:
    from itemix.correction import Choice
    from itemix.files.container import Content
    from itemix.models.mixture import Mixture

Array = npt.NDArray[Any]


def encode(corrected: CorrectedMixture | None) -> tuple[dict[str, Any], dict[str, Array]]:
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


def decode(content: Content, mixture: Mixture) -> CorrectedMixture | None:
    """Return the corrected mixture, None if the file holds no correction."""
    if "correction.shift" not in content:
        return None
    item_shift = content.take("correction.item_shift", np.float64, mixture.n_items)
    shift = content.take("correction.shift", np.float64, None)
    first = content.take("correction.first", np.int64, len(shift) + 1)
    item = content.take("correction.item", np.int64, len(shift))
    if not _is_trie(first, item, mixture.n_items) or not np.isfinite(item_shift).all():
        raise content.damaged("its correction is no trie of the model's items")
    excess = content.field(float, "correction", "excess_variance")
    if not 0.0 <= excess < np.inf:
        raise content.damaged(f"correction.excess_variance in its header is {excess}")
    n_transactions = content.whole("correction", "n_transactions", low=1)
    residuals = Residuals(Trie(first, item.astype(np.int32)), shift)
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
