"""The models that files hold: for each kind and each part, a function that encodes and one that decodes."""

from __future__ import annotations

import json
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itemix._typing import Array
from itemix.core.binning import Bins
from itemix.core.items import Items
from itemix.core.sets import Sets
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.models.affinity import Affinity
from itemix.models.calibration import Calibration
from itemix.models.causes import CauseMixture
from itemix.models.corrected import CorrectedMixture
from itemix.models.groups import GroupPrior, Groups
from itemix.models.latent import LatentTree
from itemix.models.maxent import MaxEntropy
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemix.correction import Choice
    from itemix.files.container import Content
    from itemix.models.base import Model

Parts = tuple[dict[str, Any], dict[str, Array]]
"""Fields of the header, and arrays by name."""

# Lone surrogates are legal in Python's strings, and come from file names and careless decoding.
_ENCODING = "utf-8", "surrogatepass"


def encode_items(items: Items, place: str = "items") -> dict[str, Array]:
    """Return item names as arrays: integers, or one text with the offset of each name; and their columns."""
    if items.are_integers:
        return {f"{place}.integers": items.labels}
    names = [name.encode(*_ENCODING) for name in items.labels]
    offsets = np.concatenate([[0], np.cumsum([len(name) for name in names])]).astype(np.int64)
    arrays: dict[str, Array] = {
        f"{place}.offsets": offsets,
        f"{place}.text": np.frombuffer(b"".join(names), dtype=np.uint8),
    }
    if items.bins is not None and items.column_of is not None:
        bins = json.dumps(items.bins.to_dict(), sort_keys=False).encode()
        arrays |= {"items.columns": items.column_of, "items.bins": np.frombuffer(bins, dtype=np.uint8)}
    return arrays


def decode_items(content: Content) -> Items:
    """Return the items, as many as the header says, and their columns if they come from a table."""
    items = _decode_names(content, content.whole("n_items"))
    if "items.bins" not in content:
        return items
    text = content.take("items.bins", np.uint8, None).tobytes()
    column_of = content.take("items.columns", np.int32, len(items))
    try:
        bins = Bins.from_dict(json.loads(text))
    except (ValueError, RecursionError):  # raised by JSON, UTF-8 or edges
        raise content.damaged("the bins of its table are no JSON, or not in order") from None
    if len(items) and not 0 <= column_of.min() <= column_of.max() < len(bins):
        raise content.damaged("the columns of its items are not in its table")
    return Items(items, bins=bins, column_of=column_of)


def _decode_names(content: Content, n_items: int, place: str = "items") -> Items:
    if f"{place}.integers" in content:
        return Items(content.take(f"{place}.integers", np.int64, n_items))
    offsets = content.take(f"{place}.offsets", np.int64, n_items + 1)
    text = content.take(f"{place}.text", np.uint8, None).tobytes()
    if offsets[0] != 0 or offsets[-1] != len(text) or (np.diff(offsets) < 0).any():
        raise content.damaged("the offsets of its item names do not fit their text")
    try:
        names = [text[a:b].decode(*_ENCODING) for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError:
        raise content.damaged("an item name is no UTF-8") from None
    return Items(names)


def encode_mixture(mixture: Mixture, place: str = "mixture") -> dict[str, Array]:
    """Return the arrays of a mixture without its items; their names begin with `place`."""
    return {f"{place}.weights": mixture.weights, f"{place}.probs": mixture.probs}


def decode_mixture(content: Content, items: Items, place: str = "mixture") -> Mixture:
    """Return the mixture of some items."""
    weights = content.take(f"{place}.weights", np.float64, None)
    return Mixture(weights, content.take(f"{place}.probs", np.float64, len(weights), len(items)), items)


def encode_trees(trees: TreeMixture, place: str = "trees") -> dict[str, Array]:
    """Return the arrays of a mixture of trees without its items; their names begin with `place`."""
    return {f"{place}.{name}": getattr(trees, name) for name in ("weights", "parents", "probs")}


def decode_trees(content: Content, items: Items, place: str = "trees") -> TreeMixture:
    """Return the mixture of trees over some items."""
    weights = content.take(f"{place}.weights", np.float64, None)
    shape = len(weights), len(items)
    return TreeMixture(
        weights,
        content.take(f"{place}.parents", np.int32, *shape),
        content.take(f"{place}.probs", np.float64, *shape, 2),
        items,
    )


def encode_max_entropy(model: MaxEntropy) -> dict[str, Array]:
    """Return the arrays of a model of maximum entropy without its items."""
    return {
        "frequencies": model.frequencies,
        "itemsets.offsets": model.itemsets.offsets,
        "itemsets.codes": model.itemsets.codes,
        "itemsets.supports": model.supports,
    }


def decode_max_entropy(content: Content, items: Items) -> MaxEntropy:
    """Return the model of maximum entropy of some items."""
    n = content.whole("n_itemsets")
    sets = Sets(
        content.take("itemsets.offsets", np.int64, n + 1),
        content.take("itemsets.codes", np.int32, None),
        items,
    )
    frequencies = content.take("frequencies", np.float64, len(items))
    return MaxEntropy(frequencies, sets, content.take("itemsets.supports", np.float64, n))


_CAUSES = ("baseline", "effects", "ties")


def encode_causes(model: CauseMixture) -> dict[str, Array]:
    """Return the arrays of a mixture of causes without its items."""
    return {f"causes.{name}": getattr(model, name) for name in _CAUSES}


def decode_causes(content: Content, items: Items) -> CauseMixture:
    """Return the mixture of causes over some items."""
    n_items, effects = len(items), content.take("causes.effects", np.float64, None, len(items))
    K = len(effects)
    baseline = content.take("causes.baseline", np.float64, n_items)
    return CauseMixture(baseline, effects, content.take("causes.ties", np.float64, K, K), items)


def encode_latent_tree(model: LatentTree) -> dict[str, Array]:
    """Return the arrays of a latent tree without its items."""
    return {f"latent.{name}": getattr(model, name) for name in ("parents", "transitions", "emissions")}


def decode_latent_tree(content: Content, items: Items) -> LatentTree:
    """Return the latent tree over some items."""
    emissions = content.take("latent.emissions", np.float64, len(items), None)
    S = emissions.shape[1]
    parents = content.take("latent.parents", np.int32, len(items))
    return LatentTree(
        parents, content.take("latent.transitions", np.float64, len(items), S, S), emissions, items
    )


class Kind(NamedTuple):
    """How a kind of model is written and read.

    Attributes
    ----------
    cls : type
        The model's class.
    size : str
        The field of the header that says how many components or itemsets it has.
    size_of : callable
        Returns that number of a model.
    encode : callable
        Returns the arrays of a model, but not those of its items.
    decode : callable
        Returns the model of a file's content and its items.
    """

    cls: type[Model]
    size: str
    size_of: Callable[[Any], int]
    encode: Callable[[Any], dict[str, Array]]
    decode: Callable[[Content, Items], Model]


_KINDS = (
    # Before Mixture, which it is too.
    Kind(CauseMixture, "n_causes", attrgetter("n_causes"), encode_causes, decode_causes),
    Kind(Mixture, "n_components", attrgetter("n_components"), encode_mixture, decode_mixture),
    Kind(TreeMixture, "n_components", attrgetter("n_components"), encode_trees, decode_trees),
    Kind(LatentTree, "n_states", attrgetter("n_states"), encode_latent_tree, decode_latent_tree),
    Kind(MaxEntropy, "n_itemsets", lambda m: len(m.itemsets), encode_max_entropy, decode_max_entropy),
)


def encode_model(model: Model) -> Parts:
    """Return the header's fields and the arrays of a model without a correction, with those of its items.

    Raises
    ------
    InvalidInputError
        If it is of a kind that files do not hold.
    """
    kind = next((kind for kind in _KINDS if isinstance(model, kind.cls)), None)
    if kind is None:
        known = ", ".join(kind.cls.__name__ for kind in _KINDS)
        raise InvalidInputError(
            f"expected a model of a kind that files hold ({known}), got {type(model).__name__}; pickle it "
            "instead"
        )
    header = {"n_items": model.n_items, kind.size: kind.size_of(model)}
    return header, {**encode_items(model.items), **kind.encode(model)}


def is_model(name: str) -> bool:
    """Whether files hold models of this kind."""
    return any(kind.cls.__name__ == name for kind in _KINDS)


def decode_model(content: Content, name: str, items: Items) -> Model:
    """Return the model of a file, of the kind of a name, over some items."""
    kind = next(kind for kind in _KINDS if kind.cls.__name__ == name)
    model = kind.decode(content, items)
    if kind.size_of(model) != content.whole(kind.size):
        raise content.damaged(f"it has {kind.size_of(model)} components, not those of its header")
    return model


# The arrays of an affinity: their type, whether there is a number for each item, and how many more.
_AFFINITY = {
    "offsets": (np.int64, True, 1),
    "codes": (np.int32, False, 0),
    "linear": (np.float32, False, 0),
    "logistic": (np.float32, False, 0),
    "bias": (np.float32, True, 0),
}
_CALIBRATION = {"scores": 1, "sizes": 1, "log_odds": 2}


_BASE = "correction.base"


def encode_correction(corrected: CorrectedMixture | None, *, follows: bool) -> Parts:
    """Return the header's fields and the arrays of a correction; none if there is none.

    What is corrected may follow from the rest of the file, and is then left out.
    """
    if corrected is None:
        return {}, {}
    data = corrected.transactions
    tensors: dict[str, Array] = {
        "correction.lengths": np.diff(data.indptr).astype(np.int32),
        "correction.codes": data.indices,
    }
    if data.multiplicities is not None:
        tensors["correction.multiplicities"] = data.multiplicities
    if not follows and corrected.base is not corrected.whole:
        if not isinstance(corrected.base, Mixture):
            raise InvalidInputError(
                f"expected a corrected Mixture, got a corrected {type(corrected.base).__name__} with another "
                "model of whole transactions; pickle it instead"
            )
        tensors |= encode_mixture(corrected.base, _BASE)
    return {"correction": {"worth": corrected.worth, "whole": type(corrected.whole).__name__}}, tensors


def is_corrected(content: Content) -> bool:
    """Whether a file holds a correction."""
    if "correction.shift" in content:
        raise content.damaged("it was corrected in a way that this version does not know; fit it again")
    return "correction.lengths" in content


def decode_correction(content: Content, base: Model, whole: Model | None = None) -> CorrectedMixture:
    """Return the corrected model; another one may be asked for whole transactions."""
    lengths = content.take("correction.lengths", np.int32, None)
    codes = content.take("correction.codes", np.int32, int(lengths.sum()) if (lengths >= 0).all() else -1)
    multiplicities = None
    if "correction.multiplicities" in content:
        multiplicities = content.take("correction.multiplicities", np.int64, len(lengths))
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    try:
        data = Transactions(ends, codes, base.items, multiplicities)
        return CorrectedMixture(base, data, content.field(float, "correction", "worth"), whole)
    except InvalidInputError as error:
        raise content.damaged(f"its correction is none: {error}") from None


def decode_corrected(content: Content) -> CorrectedMixture:
    """Return a corrected model that a file holds alone."""
    items = decode_items(content)
    if not is_corrected(content):
        raise content.damaged("it has no correction")
    kind = content.field(str, "correction", "whole")
    if not is_model(kind):
        raise content.damaged(f"this version knows no {kind!r}")
    whole = decode_model(content, kind, items)
    base = whole
    if f"{_BASE}.weights" in content:
        base = decode_mixture(content, items, _BASE)
    return decode_correction(content, base, whole)


def encode_affinity(affinity: Affinity | None) -> Parts:
    """Return the header's field and the arrays of what was learned to recommend; none if nothing was."""
    if affinity is None:
        return {}, {}
    header = {
        "weights": list(affinity.weights),
        "flattening": affinity.flattening,
        "scale": affinity.scale,
    }
    arrays = {f"affinity.{name}": getattr(affinity, name) for name in _AFFINITY}
    arrays |= {f"affinity.calibration.{name}": getattr(affinity.calibration, name) for name in _CALIBRATION}
    return {"affinity": header}, arrays


def decode_affinity(content: Content, n_items: int) -> Affinity | None:
    """Return what was learned to recommend, or None if the file holds no such thing."""
    if "affinity.bias" not in content:
        return None
    parts: dict[str, Any] = {
        name: content.take(f"affinity.{name}", dtype, n_items + extra if by_item else None)
        for name, (dtype, by_item, extra) in _AFFINITY.items()
    }
    parts |= {name: content.field(float, "affinity", name) for name in ("flattening", "scale")}
    weights = content.field(list, "affinity", "weights")
    if len(weights) != 3 or not all(type(value) is float for value in weights):
        raise content.damaged("affinity.weights in its header are not three numbers")
    calibration = Calibration(
        **{
            name: content.take(f"affinity.calibration.{name}", np.float64, *[None] * n_axes)
            for name, n_axes in _CALIBRATION.items()
        }
    )
    return Affinity(weights=tuple(weights), calibration=calibration, **parts)


_ROWS_OF_GROUPS = {"sizes": "n_components", "memory": "n_items"}


def encode_groups(groups: Groups | None) -> Parts:
    """Return the header's field and the arrays of what groups have of their own; none if there are none."""
    if groups is None:
        return {}, {}
    arrays = encode_items(groups.labels, "groups.labels")
    arrays["groups.n_transactions"], arrays["groups.loyalty"] = groups.n_transactions, groups.loyalty
    for name in _ROWS_OF_GROUPS:
        parts = zip(("offsets", "codes", "values"), getattr(groups, name), strict=True)
        arrays |= {f"groups.{name}.{part}": array for part, array in parts}
    return {"groups": {"n_groups": groups.n_groups, **groups.prior._asdict()}}, arrays


def decode_groups(content: Content, value: Model) -> Groups | None:
    """Return what groups have of their own, or None if the file holds no such thing."""
    if "groups.n_transactions" not in content:
        return None
    n_groups = content.whole("groups", "n_groups")
    rows: dict[str, Any] = {}
    for name, size in _ROWS_OF_GROUPS.items():
        rows[name] = (
            content.take(f"groups.{name}.offsets", np.int64, n_groups + 1),
            codes := content.take(f"groups.{name}.codes", np.int32, None),
            content.take(f"groups.{name}.values", np.float64, len(codes)),
        )
        if not 0 <= codes.min(initial=0) <= codes.max(initial=0) < getattr(value, size, 0):
            raise content.damaged(f"the codes of groups.{name} are not those of its model")
    prior = GroupPrior(*(content.field(float, "groups", name) for name in GroupPrior._fields))
    labels = _decode_names(content, n_groups, "groups.labels")
    n_transactions = content.take("groups.n_transactions", np.int64, n_groups)
    loyalty = content.take("groups.loyalty", np.float64, value.n_items)
    return Groups(labels, prior, loyalty, n_transactions=n_transactions, **rows)


def encode_choice(choice: Choice | None) -> Parts:
    """Return how a correction was chosen: fields of the header and arrays; none if it was not chosen."""
    if choice is None:
        return {}, {}
    return {"choice": {"n_errors": choice.n_errors}}, {
        "choice.worths": choice.worths,
        "choice.errors": choice.errors,
        "choice.standard_errors": choice.standard_errors,
    }


def decode_choice(content: Content) -> Choice | None:
    """Return how the correction was chosen, or None if the file does not say."""
    if "choice.worths" not in content:
        return None
    from itemix.correction import Choice

    worths = content.take("choice.worths", np.float64, None)
    errors, standard_errors = (
        content.take(f"choice.{name}", np.float64, len(worths)) for name in ("errors", "standard_errors")
    )
    found = worths, errors, standard_errors
    if len(worths) == 0 or not all(np.isfinite(values).all() for values in found) or (worths <= 0).any():
        raise content.damaged("its choice of a correction is no such choice")
    return Choice(*found, content.field(float, "choice", "n_errors"))
