"""Queries that any model can answer: lift, rule measures, dependencies, recommendations, explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from itemix._arrays import ranked_part
from itemix._checks import check_choice, check_flag, check_whole
from itemix._runtime import progress_of, still_wanted
from itemix.core import display
from itemix.core.results import NamedRows
from itemix.core.transactions import Transactions, each_transaction
from itemix.errors import InvalidInputError
from itemix.kernels import csr
from itemix.mining import measures
from itemix.models.base import (
    NEAR_THE_LEAST,
    Names,
    SetArrays,
    encode_sets,
    few_names,
    no_sets,
    one_set,
    require_consistent,
    require_same_items,
)
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture, sum_by_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from itemix._typing import Array, Codes, Floats, Ints
    from itemix.core.items import Items, Label
    from itemix.models.affinity import Affinity
    from itemix.models.base import Model
    from itemix.models.mixture import Labels

Sign = Literal["both", "positive", "negative"]

_BASKETS_AT_A_TIME = 4096
_CELLS_AT_A_TIME = 4_000_000
# The strongest pairs are looked for among this many items at a time, and first among a few promising ones.
_ITEMS_AT_A_TIME = 512
_PROMISING = 256
# With more items than this, it would take long to compare all pairs.
_MOST_COMPARED = 1_000
_ROUNDING = 1e-12


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
        The probability over the expected one.
    leverage : float
        The probability less the expected one.
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
    """An item that a model recommends for a basket.

    Attributes
    ----------
    item : str or int
        The name of the item.
    probability : float
        The probability of the item given the basket.
    lift : float
        That probability over the overall probability of the item.
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
        The logarithm of the ratio of its probability in the component to that in the whole mixture.
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

    def table(self) -> display.Table:
        """Return what speaks for the component as a table, for people."""
        rows = tuple(
            (
                f"{found.evidence:.3g}",
                "present" if found.present else "absent",
                display.format_name(found.item),
            )
            for found in self.contributions
        )
        title = f"Component {self.component}, of probability {display.format_number(self.probability)}"
        return display.Table(title, ("evidence", "it is", "item"), rows, words=frozenset({"it is"}))

    def _repr_html_(self) -> str:
        return self.table().as_html()


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
    with np.errstate(over="ignore"):  # a lift above the largest float is infinite
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

    Pairs of two values of one column of a table are left out: that they exclude each other is no news.

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
        Only pairs with both items among these.
    """
    check_choice("sign", sign, get_args(Sign))
    n = check_whole("n", n, 10, least=0)
    wanted, seen = (None if names is None else model.items.codes(names) for names in (items, among))
    found: NamedRows[Dependency] = NamedRows()
    for pair in strongest_pairs(model, n, sign=sign, wanted=wanted, among=seen):
        names = model.items[pair.item], model.items[pair.other]
        expected = float(model.item_probabilities[pair.item] * model.item_probabilities[pair.other])
        ratio = pair.joint / expected if expected else 1.0
        leverage = pair.joint - expected
        found.append(Dependency(*names, pair.joint, expected, ratio, leverage, pair.information))
    return found


def recommend(
    model: Model,
    basket: Names,
    n: int = 5,
    *,
    absent: Names = (),
    complete: bool = True,
    affinity: Affinity | None = None,
) -> list[Recommendation]:
    """Return the n most probable items that a basket does not hold yet, most probable first.

    If the basket already has a value of a column of a table, no other value of it is recommended.

    Parameters
    ----------
    model : Model
        The model.
    basket : names
        The items that the basket holds.
    n : int
        How many items.
    absent : names
        Items that are not wanted.
    complete : bool
        Whether the basket holds nothing else. The probability of an item is then that of the basket with it,
        against the basket without it. Otherwise items that are not named count as unknown, those of `absent`
        as known to be absent.
    affinity : Affinity, optional
        What was learned to recommend for complete baskets with this model.

    Raises
    ------
    InvalidInputError
        If the model rules the basket out, or an item is both in the basket and absent.
    """
    n = check_whole("n", n, 5, least=0)
    held, missing = model.items.codes(basket), model.items.codes(absent)
    require_consistent(model.items, no_sets(0), no_sets(0), held, missing)
    if complete:
        found = chances_of_items(model, *one_set(held), affinity=affinity)[0]
    else:
        found = model.items_given(held, missing).copy()
    known = np.unique(np.concatenate([held, missing, model.items.of_same_columns(held)]))
    found[known] = -1.0
    order = np.argsort(-found, kind="stable")[: min(n, model.n_items - len(known))]
    overall = model.item_probabilities
    return NamedRows(
        Recommendation(
            model.items[int(i)], float(found[i]), float(found[i] / overall[i]) if overall[i] else 1.0
        )
        for i in order
    )


def recommend_many(
    model: Model,
    baskets: Transactions | Iterable[Names],
    n: int = 5,
    *,
    complete: bool = True,
    affinity: Affinity | None = None,
    progress: bool = False,
) -> ManyOffers:
    """Return the codes and probabilities of the n best items for each of many baskets, shape (m, n) each.

    If a basket leaves fewer than n items, the last codes are -1 and their probabilities 0. See `recommend`
    for the parameters. `progress` says whether to show how far it is: on standard error, or in a notebook.
    """
    n = min(check_whole("n", n, 5, least=0), model.n_items)
    offsets, codes = _encode_baskets(model, baskets)
    m = len(offsets) - 1
    out = np.full((m, n), -1, dtype=np.int32), np.zeros((m, n))
    step = max(1, min(_BASKETS_AT_A_TIME, _CELLS_AT_A_TIME // max(model.n_items, 1)))
    with progress_of("recommending", shown=check_flag("progress", progress)) as shown:
        for first in range(0, m, step):
            still_wanted()
            if shown is not None:
                shown.tell(f"{first:,}/{m:,} baskets", first, m)
            last = min(first + step, m)
            own = codes[offsets[first] : offsets[last]]
            part = offsets[first : last + 1] - offsets[first]
            found = chances_of_items(model, part, own, complete=complete, affinity=affinity)
            ends, taken = model.items.taken_by_rows(part, own)
            found[np.repeat(np.arange(last - first), np.diff(ends)), taken] = -1.0
            top = best_columns(found, n)
            chance = np.take_along_axis(found, top, axis=1)
            out[0][first:last] = np.where(chance >= 0, top, -1)
            out[1][first:last] = np.maximum(chance, 0.0)
    return ManyOffers(*out, model.items, baskets.id_columns() if isinstance(baskets, Transactions) else None)


class ManyOffers(tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]):
    """The best items for many baskets: a pair of their codes and probabilities, shape (m, n) each.

    Attributes
    ----------
    items : Items
        The name of each code.
    """

    items: Items
    _ids: dict[str, Array | None]

    def __new__(
        cls, codes: Codes, probabilities: Floats, items: Items, ids: dict[str, Array | None] | None
    ) -> Self:
        """Keep the names of the items and the ids of the baskets beside the two arrays."""
        self = super().__new__(cls, (codes, probabilities))
        self.items = items
        self._ids = {"id": None} if ids is None else ids
        return self

    @property
    def ids(self) -> dict[str, Array]:
        """The ids of the baskets by column (see `Transactions.ids`); their positions if they have none."""
        positions = np.arange(len(self[0]))
        return {name: positions if ids is None else ids for name, ids in self._ids.items()}

    def table(self, n: int = display.ROWS_SHOWN) -> display.Table:
        """Return the offers for the first n baskets as a table, for people: a row for each basket."""
        n = min(check_whole("n", n, display.ROWS_SHOWN, least=0), len(self[0]))
        cells = {name: [display.format_name(value) for value in ids[:n]] for name, ids in self.ids.items()}
        offers = [
            ", ".join(
                f"{display.format_name(self.items[code])} {chance:.1%}"
                for code, chance in zip(*row, strict=True)
                if code >= 0
            )
            for row in zip(self[0][:n].tolist(), self[1][:n].tolist(), strict=True)
        ]
        return display.Table(
            title=f"Recommendations for {display.plural(len(self[0]), 'basket')}",
            headers=(*cells, "items"),
            rows=tuple(zip(*cells.values(), offers, strict=True)),
            footer=display.shown_of(n, len(self[0])),
        )

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each offer: the basket's id, the rank, item, probability."""
        import pandas as pd

        codes, probabilities = self
        basket, rank = np.nonzero(codes >= 0)
        return pd.DataFrame(
            {
                **{name: ids[basket] for name, ids in self.ids.items()},
                "rank": rank + 1,
                "item": self.items.labels[codes[basket, rank]],
                "probability": probabilities[basket, rank],
            }
        )


def chances_of_items(
    model: Model,
    offsets: Ints,
    codes: Codes,
    *,
    complete: bool = True,
    affinity: Affinity | None = None,
) -> Floats:
    """Return the probability of each item for each of some baskets, as compressed codes, shape (m, n_items).

    The correction of a mixture says nothing about whole transactions: for complete baskets its mixture
    answers.
    """
    if not complete:
        return model.items_given_each(offsets, codes)
    whole = model.whole if isinstance(model, CorrectedMixture) else model
    found = whole.items_completing_each(offsets, codes)
    return found if affinity is None else affinity.combine(found, offsets, codes)


def best_columns(scores: Floats, n: int) -> Ints:
    """Return the columns of the n largest scores of each row, largest first, ties by column, shape (m, n)."""
    m, D = scores.shape
    if 0 < n < D // 4:
        # Sorting all columns would take longer than the scores did. Ties with the n-th are looked at, too.
        least = np.partition(scores, D - n, axis=1)[:, D - n]
        width = int((scores >= least[:, None]).sum(axis=1).max(initial=n))
        if width <= D // 4:
            rows, columns = np.nonzero(scores >= least[:, None])
            rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
            few, where = np.full((m, width), -np.inf), np.zeros((m, width), dtype=np.int64)
            few[rows, rank], where[rows, rank] = scores[rows, columns], columns
            return np.take_along_axis(where, np.argsort(-few, axis=1, kind="stable")[:, :n], axis=1)
    return np.argsort(-scores, axis=1, kind="stable")[:, :n]


def _encode_baskets(model: Model, baskets: Transactions | Iterable[Names]) -> SetArrays:
    if isinstance(baskets, Transactions):
        require_same_items(model.items, baskets.items)
        rows = each_transaction(baskets, np.arange(baskets.n_rows))
        return csr.gather_rows(baskets.indptr, baskets.indices, rows)
    return encode_sets(model.items, baskets)


def explain(
    mixture: Mixture,
    basket: Names,
    n: int = 5,
    *,
    partial: bool = False,
    component_labels: Labels | None = None,
) -> Explanation:
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
    component_labels : array of int, shape (n_components,), optional
        Explain it by labels: all components with the same label are one.
    """
    n = check_whole("n", n, 5, least=0)
    held = mixture.items.codes(basket)
    everything = np.arange(mixture.n_items, dtype=np.int32)
    missing = everything[:0] if partial else np.setdiff1d(everything, held)
    conditional = mixture.condition(mixture.items.names(held), mixture.items.names(missing))
    responsibilities = sum_by_label(conditional.weights, component_labels)
    component = int(responsibilities.argmax())
    probs = (mixture if component_labels is None else mixture.merge(component_labels)).probs[component]
    with np.errstate(divide="ignore", invalid="ignore"):
        present = np.log(probs) - np.log(mixture.item_probabilities)
        absent = np.log1p(-probs) - np.log1p(-mixture.item_probabilities)
    known = np.concatenate([held, missing]).astype(np.intp)
    evidence = np.nan_to_num(np.concatenate([present[held], absent[missing]]), nan=0.0)
    order = np.argsort(-evidence, kind="stable")[:n]
    contributions = [
        Contribution(mixture.items[int(known[j])], bool(j < len(held)), float(evidence[j])) for j in order
    ]
    return Explanation(component, float(responsibilities[component]), contributions, responsibilities)


class Pair(NamedTuple):
    """Two items by their codes, their mutual information in bits, and the probability of both."""

    information: float
    item: int
    other: int
    joint: float


class Bounds(NamedTuple):
    """Bounds of the mutual information of two items: the lesser `alone`, and log2(1 + product of `together`).

    `alone` is the entropy of an item, in bits. Under a mixture two items depend on each other only through
    the component. Their covariance is that of their probabilities in the components, at most the product of
    the two standard deviations (Cauchy and Schwarz), and information is at most log2(1 + squared
    correlation). So `together` is the part of an item's variance that the component explains. Under other
    models it is 1.
    """

    alone: Floats
    together: Floats

    @classmethod
    def of(cls, model: Model) -> Bounds:
        """Return the bounds for a model, shape (n_items,) each."""
        p = model.item_probabilities
        if not isinstance(model, Mixture):
            return cls(_entropy(p), np.ones_like(p))
        explained = model.weights @ np.square(model.probs - p)
        variance = p * (1 - p)
        return cls(_entropy(p), np.divide(explained, variance, out=np.zeros_like(p), where=variance > 0))

    def of_any_pair(self) -> Floats:
        """Return the most information that each item can share with any other, shape (n_items,)."""
        most: Floats = np.minimum(self.alone, np.log2(1 + self.together * self.together.max(initial=0.0)))
        return most

    def reaching(self, least: float, rows: Codes, columns: Codes) -> Codes:
        """Return those columns that can share at least `least` with one of the rows."""
        most = np.log2(1 + self.together[rows].max() * self.together[columns])
        reached: Codes = columns[most >= least - _ROUNDING]
        return reached


def comparable_items(model: Model) -> Codes | None:
    """Return the most frequent items if it would take long to compare all; None if not.

    In a mixture the strongest pairs are found without comparing all, whatever the number of items.
    """
    if isinstance(model, Mixture) or model.n_items <= _MOST_COMPARED:
        return None
    order = np.argsort(-model.item_probabilities, kind="stable")
    return order[:_MOST_COMPARED].astype(np.int32)


def strongest_pairs(
    model: Model, n: int, *, sign: Sign = "both", wanted: Codes | None = None, among: Codes | None = None
) -> list[Pair]:
    """Return the n pairs with the most mutual information, the strongest first; a wanted item comes first.

    Items are looked at in the order of what they can share with any other. Pairs that cannot exceed the n-th
    found so far are skipped.

    Parameters
    ----------
    model : Model
        The model.
    n : int
        How many pairs.
    sign : {"both", "positive", "negative"}
        Pairs that attract each other, avoid each other, or both.
    wanted : array of int, optional
        Only pairs with at least one of these items.
    among : array of int, optional
        Only pairs with both items among these; all by default.
    """
    bounds = Bounds.of(model)
    most = bounds.of_any_pair()
    seen = np.arange(model.n_items, dtype=np.int32) if among is None else among
    order = seen[np.argsort(-most[seen], kind="stable")]
    is_wanted = np.full(model.n_items, wanted is None)
    is_wanted[[] if wanted is None else wanted] = True
    rows, others = order[is_wanted[order]], order[~is_wanted[order]]
    best: list[Pair] = []
    least = _surely_reached(model, bounds, rows, n, sign)
    for first in range(0, len(rows), _ITEMS_AT_A_TIME):
        still_wanted()
        block = rows[first : first + _ITEMS_AT_A_TIME]
        if len(best) >= max(n, 1):
            least = max(least, best[-1].information)
        if most[block[0]] + _ROUNDING < least:
            break
        # Each pair is looked at once: wanted items only with those that came before.
        before = bounds.reaching(least, block, np.concatenate([rows[:first], others]))
        own = bounds.reaching(least, block, block)
        found = [*_between(model, own, own, n, sign), *_between(model, block, before, n, sign)]
        best = sorted([*best, *found], key=_strongest_first)[: max(n, 0)]
    return [
        pair if is_wanted[pair.item] else pair._replace(item=pair.other, other=pair.item) for pair in best
    ]


def _strongest_first(pair: Pair) -> tuple[float, int, int]:
    return -pair.information, pair.item, pair.other


def _surely_reached(model: Model, bounds: Bounds, rows: Codes, n: int, sign: Sign) -> float:
    """Return what n pairs of a few promising items reach. Most other pairs can be skipped by it."""
    promising = rows[np.argsort(-(bounds.alone * bounds.together)[rows], kind="stable")[:_PROMISING]]
    found = _between(model, promising, promising, n, sign)
    return found[n - 1].information if 0 < n <= len(found) else -1.0


def _between(model: Model, rows: Codes, columns: Codes, n: int, sign: Sign) -> list[Pair]:
    """Return the best pairs of an item of the rows and one of the columns, each pair once."""
    p, q = model.item_probabilities[rows][:, None], model.item_probabilities[columns]
    joint = _joint(model, rows, columns)
    information = mutual_information(joint, p, q)
    if rows is columns:
        information[np.triu_indices(len(rows))] = -1.0
    column_of = model.items.column_of
    if column_of is not None:  # that two values of a column exclude each other is no news
        information[column_of[rows][:, None] == column_of[columns]] = -1.0
    if sign != "both":
        information[(joint <= p * q) if sign == "positive" else (joint >= p * q)] = -1.0
    top = ranked_part(information.ravel(), 0, max(n, 0), descending=True)
    found = []
    for row, column in zip(*np.unravel_index(top, information.shape), strict=True):
        if information[row, column] >= 0:
            item, other = sorted((int(rows[row]), int(columns[column])))
            found.append(Pair(float(information[row, column]), item, other, float(joint[row, column])))
    return found


def _joint(model: Model, rows: Codes, columns: Codes) -> Floats:
    if isinstance(model, Mixture):
        found: Floats = (model.probs[:, rows] * model.weights[:, None]).T @ model.probs[:, columns]
        return found
    if isinstance(model, CorrectedMixture):
        return model.blend(model.count_pairs(rows, columns), _joint(model.base, rows, columns))
    return model.pair_probabilities(rows)[:, columns]


def mutual_information(joint: Floats, p: Floats, q: Floats) -> Floats:
    """Return the mutual information in bits of pairs of items, from the probabilities of both and of each."""
    total = np.zeros_like(joint)
    for cell, expected in (
        (joint, p * q),
        (p - joint, p * (1 - q)),
        (q - joint, (1 - p) * q),
        (1 - p - q + joint, (1 - p) * (1 - q)),
    ):
        ratio = np.divide(cell, expected, out=np.ones_like(joint), where=(cell > 0) & (expected > 0))
        total += cell * np.log2(ratio)
    return np.maximum(total, 0.0)


def _entropy(p: Floats) -> Floats:
    """Return the entropy in bits of items with these probabilities."""
    total = np.zeros_like(p)
    for q in (p, 1 - p):
        held = q > 0
        total[held] -= q[held] * np.log2(q[held])
    return total
