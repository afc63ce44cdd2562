"""Questions that any model can answer: lift, rule measures, dependencies, recommendations, explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from itemix._checks import check_choice, check_whole
from itemix.core.compressed import each_transaction
from itemix.core.transactions import Transactions
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.mining import measures, pairs
from itemix.models.base import NEAR_THE_LEAST
from itemix.models.events import (
    Names,
    Sets,
    encode_sets,
    few_names,
    no_sets,
    require_consistent,
    require_same_items,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix.core.items import Label
    from itemix.models.base import Model
    from itemix.models.mixture import Mixture

Floats = npt.NDArray[np.float64]
Sign = pairs.Sign

_BASKETS_AT_A_TIME = 4096


class Dependency(NamedTuple):
    """Two items that occur together more often, or less often, than independent ones would.

    Attributes
    ----------
    item : str or int
        The name of one item.
    other : str or int
        The name of the other item.
    probability : float
        The probability of both together.
    expected : float
        The probability of both if they were independent.
    lift : float
        How many times as probable as expected they are.
    leverage : float
        By how much they are more probable than expected.
    information : float
        Their mutual information in bits.
    """

    item: Label
    other: Label
    probability: float
    expected: float
    lift: float
    leverage: float
    information: float


class Recommendation(NamedTuple):
    """An item that a basket may lack, by a model.

    Attributes
    ----------
    item : str or int
        The name of the item.
    probability : float
        The probability of the item given the basket.
    lift : float
        How many times as probable as overall it is.
    """

    item: Label
    probability: float
    lift: float


class Contribution(NamedTuple):
    """How much one item, present or absent, speaks for a component.

    Attributes
    ----------
    item : str or int
        The name of the item.
    present : bool
        Whether the basket holds it.
    evidence : float
        The logarithm of its probability in the component over that in the whole mixture.
    """

    item: Label
    present: bool
    evidence: float


class Explanation(NamedTuple):
    """Which component explains a basket, how surely, and which items say so.

    Attributes
    ----------
    component : int
        The most probable component given the basket.
    probability : float
        How probable it is.
    contributions : list of Contribution
        The items that speak most for it, the strongest first.
    responsibilities : array of float, shape (n_components,)
        The probability of each component given the basket.
    """

    component: int
    probability: float
    contributions: list[Contribution]
    responsibilities: Floats


def lift(model: Model, itemset: Names) -> float:
    """Return the probability of an itemset over that of its items if they were independent."""
    codes = model.items.codes(itemset)
    alone = model.item_probabilities[codes]
    impossible = codes[alone == 0]
    if len(impossible):
        raise InvalidInputError(
            f"expected items that the model allows, got {few_names(model.items.names(impossible))} of "
            "probability zero; leave out what it rules out"
        )
    independent = np.log(alone).sum()
    if independent > NEAR_THE_LEAST:
        return model.probability(model.items.names(codes)) / float(alone.prod())
    with np.errstate(over="ignore"):  # a lift above the largest number is infinite
        return float(np.exp(model.log_probability_of_codes(codes, codes[:0]) - independent))


def rule_measures(model: Model, antecedent: Names, consequent: Names) -> dict[str, float]:
    """Return all measures of the rule antecedent -> consequent, by mlxtend's names.

    Raises
    ------
    InvalidInputError
        If an item is on both sides.
    """
    sides = [model.items.codes(names) for names in (antecedent, consequent)]
    both = np.intersect1d(sides[0], sides[1])
    if len(both):
        raise InvalidInputError(
            f"expected different items on the two sides of a rule, got "
            f"{model.items[int(both[0])]!r} on both; "
            "leave it out of one"
        )
    left, right = (model.items.names(codes) for codes in sides)
    supports = model.probabilities([[*left, *right], left, right])
    columns = (supports[:1], supports[1:2], supports[2:])
    return {name: float(measures.compute(name, *columns, None)[0]) for name in measures.MLXTEND}


def dependencies(
    model: Model, n: int = 10, *, sign: Sign = "both", items: Names | None = None, among: Names | None = None
) -> list[Dependency]:
    """Return the n pairs of items that depend most on each other, by mutual information, strongest first.

    Parameters
    ----------
    model : Model
        The model.
    n : int
        How many pairs.
    sign : {"both", "positive", "negative"}
        Pairs that attract each other, avoid each other, or both.
    items : names, optional
        Only pairs with at least one of these.
    among : names, optional
        Only pairs of which both are among these.
    """
    check_choice("sign", sign, get_args(Sign))
    n = check_whole("n", n, 10, least=0)
    wanted, seen = (None if names is None else model.items.codes(names) for names in (items, among))
    found = pairs.strongest_pairs(model, n, sign=sign, wanted=wanted, among=seen)
    return [_dependency(model, *pair) for pair in found]


def _dependency(model: Model, information: float, item: int, other: int, joint: float) -> Dependency:
    expected = float(model.item_probabilities[item] * model.item_probabilities[other])
    ratio = joint / expected if expected else 1.0
    names = model.items[item], model.items[other]
    return Dependency(*names, joint, expected, ratio, joint - expected, information)


def recommend(model: Model, basket: Names, n: int = 5, *, absent: Names = ()) -> list[Recommendation]:
    """Return the n most probable items that a basket does not hold yet, most probable first.

    Items that are not named count as unknown; `absent` items are known not to be wanted.
    """
    n = check_whole("n", n, 5, least=0)
    held, missing = model.items.codes(basket), model.items.codes(absent)
    require_consistent(model.items, no_sets(0), no_sets(0), held, missing)
    found = model.items_given(held, missing).copy()
    known = np.union1d(held, missing)
    found[known] = -1.0
    order = np.argsort(-found, kind="stable")[: min(n, model.n_items - len(known))]
    overall = model.item_probabilities
    return [
        Recommendation(
            model.items[int(i)], float(found[i]), float(found[i] / overall[i]) if overall[i] else 1.0
        )
        for i in order
    ]


def recommend_many(
    model: Model, baskets: Transactions | Iterable[Names], n: int = 5
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Return the codes and probabilities of the n best items for each of many baskets, shape (m, n) each.

    Where a basket leaves fewer than n items, the last codes are -1 and their probabilities 0.
    """
    n = min(check_whole("n", n, 5, least=0), model.n_items)
    offsets, codes = _encode_baskets(model, baskets)
    m = len(offsets) - 1
    out = np.full((m, n), -1, dtype=np.int32), np.zeros((m, n))
    for first in range(0, m, _BASKETS_AT_A_TIME):
        last = min(first + _BASKETS_AT_A_TIME, m)
        own = codes[offsets[first] : offsets[last]]
        found = model.items_given_each(offsets[first : last + 1] - offsets[first], own)
        found[np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1])), own] = -1.0
        top = np.argsort(-found, axis=1, kind="stable")[:, :n]
        chance = np.take_along_axis(found, top, axis=1)
        out[0][first:last] = np.where(chance >= 0, top, -1)
        out[1][first:last] = np.maximum(chance, 0.0)
    return out


def _encode_baskets(model: Model, baskets: Transactions | Iterable[Names]) -> Sets:
    if isinstance(baskets, Transactions):
        require_same_items(model.items, baskets.items)
        rows = each_transaction(baskets, np.arange(baskets.n_rows))
        return csr.gather_rows(baskets.indptr, baskets.indices, rows)
    return encode_sets(model.items, baskets)


def explain(mixture: Mixture, basket: Names, n: int = 5, *, partial: bool = False) -> Explanation:
    """Return the component that explains a basket best, and the items that speak most for it.

    Parameters
    ----------
    mixture : Mixture
        The model.
    basket : names
        The items present.
    n : int
        How many items to name.
    partial : bool
        Whether items that are not named are unknown; by default they are absent.
    """
    n = check_whole("n", n, 5, least=0)
    held = mixture.items.codes(basket)
    everything = np.arange(mixture.n_items, dtype=np.int32)
    missing = everything[:0] if partial else np.setdiff1d(everything, held)
    conditional = mixture.condition(mixture.items.names(held), mixture.items.names(missing))
    component = int(conditional.weights.argmax())
    with np.errstate(divide="ignore", invalid="ignore"):
        present = np.log(mixture.probs[component]) - np.log(mixture.item_probabilities)
        absent = np.log1p(-mixture.probs[component]) - np.log1p(-mixture.item_probabilities)
    known = np.concatenate([held, missing]).astype(np.intp)
    evidence = np.nan_to_num(np.concatenate([present[held], absent[missing]]), nan=0.0)
    order = np.argsort(-evidence, kind="stable")[:n]
    contributions = [
        Contribution(mixture.items[int(known[j])], bool(j < len(held)), float(evidence[j])) for j in order
    ]
    return Explanation(component, float(conditional.weights[component]), contributions, conditional.weights)
