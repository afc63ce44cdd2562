"""Learning an `Affinity`: two regressions of each item on all others, how to weigh them, and a calibration.

The linear regression is the closed form of EASE (Steck, WWW 2019), with a ridge that is chosen. The logistic
one has terms for the same pairs, and is learned by AdaGrad. All settings, the weights of both and of the
model, and the calibration are chosen on baskets that the regressions have not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itemix._arrays import protected
from itemix._runtime import require_memory, still_wanted
from itemix.core.transactions import Transactions
from itemix.kernels.models import pairs
from itemix.models.affinity import Affinity, ScoreParts, flattened, linked, log_odds
from itemix.models.base import require_same_items
from itemix.models.calibration import Calibration, Examples, calibrate
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt
    from scipy import sparse

    from itemix._typing import Codes, Floats, Ints, Singles
    from itemix.models.base import Model

# The regression inverts a square matrix of the items. With this many that takes 200 MB and a few seconds.
MOST_ITEMS = 5_000
# Its settings are chosen with this many of the most frequent items.
_MOST_TUNED = 800
# This many terms of each item are kept, the strongest ones.
_MOST_TERMS = 300
# With fewer baskets of two items or more, there is too little to learn from.
_FEWEST = 200
_FEWEST_CASES = 50
_MOST_HELD_OUT = 5_000
# A model of more transactions knows each of them only a little, and may judge itself.
_MOST_MEMORABLE = 200_000
_MOST_REFITTED = 20_000
_STEPS_OF_EM = 60
_MOST_LEFT_OUT = 5
_MOST_CASES = 6_000
# Scores of cases times items at a time: 64 MB.
_CELLS = 8_000_000
_CELLS_OF_LIKELIHOOD = 1_500_000
# Probabilities are learned from this many baskets and cases, or more if there are few items.
_FEWEST_CALIBRATED = 500
_CASES_CALIBRATED = 2_000
_MOST_ABSENT = 2_000_000
_CELLS_OF_AN_EPOCH = 100_000_000
_MOST_PAIRS = 1_000_000_000
_EPOCHS = 3
_RATE = 0.3
_TOP = 10
# Log-odds are the scores themselves.
_UNCALIBRATED = Calibration(np.array([0.0, 1.0]), np.zeros(1), np.array([[0.0, 1.0]]))


class Ridge(NamedTuple):
    """How a regression of each item on all others is regularised.

    Attributes
    ----------
    strength : float
        What is added to the diagonal of the matrix of counts, as a part of its mean.
    dropout : float
        What is added to it as a part of each item's own count.
    by_size : float
        A basket counts as one over its size to this power.
    """

    strength: float
    dropout: float = 0.0
    by_size: float = 0.0


def regression(baskets: sparse.csr_array, ridge: Ridge) -> Floats:
    """Return the weights W of the linear regression of each item on all others, shape (D, D), zero diagonal.

    W[:, i] predicts item i. With C the inverse of the counts of pairs plus the ridge, W[j, i] is
    -C[j, i] / C[i, i] (Steck, WWW 2019, eq. 8).

    Raises
    ------
    NotEnoughMemoryError
        If there are too many items.
    """
    return _solved(_pair_counts(baskets, ridge.by_size), ridge)


def _pair_counts(baskets: sparse.csr_array, by_size: float) -> Floats:
    """Return how often each pair of items comes together, shape (D, D), baskets weighed by their size."""
    from scipy import sparse

    D = baskets.shape[1]
    require_memory(3 * 8.0 * D * D, f"a regression of {D:,} items", "keep only the frequent items")
    sizes = np.diff(baskets.indptr)
    weights = np.repeat(np.maximum(sizes, 1) ** (-by_size / 2), sizes)
    scaled = sparse.csr_array((weights, baskets.indices, baskets.indptr), shape=baskets.shape)
    counts: Floats = (scaled.T @ scaled).toarray(order="F")
    return counts


def _solved(counts: Floats, ridge: Ridge) -> Floats:
    """Return the weights of a regression, given the counts of pairs, which are written to."""
    from scipy.linalg import lapack

    own = counts.diagonal().copy()
    # Items that never occur must not make the matrix singular.
    counts[np.diag_indices(len(own))] += max(ridge.strength * own.mean(), 1e-6) + ridge.dropout * own
    inverse = lapack.dpotri(lapack.dpotrf(counts, lower=1, overwrite_a=1)[0], lower=1, overwrite_c=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    inverse /= -inverse.diagonal().copy()
    np.fill_diagonal(inverse, 0.0)
    return np.ascontiguousarray(inverse)


def frequent_items(baskets: sparse.csr_array, most: int = MOST_ITEMS) -> Codes:
    """Return the most frequent items, those that occur at least twice, most frequent first."""
    counts = np.bincount(baskets.indices, minlength=baskets.shape[1])
    order = np.argsort(-counts, kind="stable")[:most]
    return order[counts[order] > 1].astype(np.int32)


class Cases(NamedTuple):
    """Baskets from which an item was left out.

    Attributes
    ----------
    baskets : csr_array, shape (n, D)
        What is left of them.
    left_out : array of int, shape (n,)
        The item.
    basket : array of int, shape (n,)
        The basket that it was in, by its row.
    weights : array of float, shape (n,)
        One over the number of cases of the same basket.
    """

    baskets: sparse.csr_array
    left_out: Codes
    basket: Ints
    weights: Floats

    @classmethod
    def of(cls, baskets: sparse.csr_array, rng: np.random.Generator, most: int = _MOST_LEFT_OUT) -> Cases:
        """Leave out the items of each basket in turn, or some at random; baskets of one item give none."""
        sizes = np.diff(baskets.indptr)
        row_of = _rows_of(baskets)
        position = np.arange(len(row_of))
        if (sizes > most).any():
            position = np.lexsort((rng.random(len(row_of)), row_of))
        rank = np.arange(len(row_of)) - baskets.indptr[:-1][row_of]
        return cls.leaving_out(baskets, np.sort(position[(rank < most) & (sizes[row_of] > 1)]))

    @classmethod
    def leaving_out(cls, baskets: sparse.csr_array, chosen: Ints) -> Cases:
        """Leave out some items, each by its position among the items of all baskets."""
        from scipy import sparse

        sizes = np.diff(baskets.indptr)
        basket = _rows_of(baskets)[chosen]
        rest = baskets[basket]
        left_out = baskets.indices[chosen]
        kept = rest.indices != np.repeat(left_out, np.diff(rest.indptr))
        indptr = np.concatenate([[0], np.cumsum(sizes[basket] - 1)])
        rest = sparse.csr_array(
            (np.ones(int(kept.sum()), dtype=np.float32), rest.indices[kept], indptr), shape=rest.shape
        )
        return cls(rest, left_out.astype(np.int32), basket, 1.0 / np.bincount(basket)[basket])

    def among(self, items: Codes) -> Cases:
        """Return the cases that leave out one of some items, with these alone; codes are positions."""
        place = np.full(self.baskets.shape[1], -1, dtype=np.int32)
        place[items] = np.arange(len(items), dtype=np.int32)
        rows = np.flatnonzero(place[self.left_out] >= 0)
        return Cases(
            self.baskets[rows][:, items],
            place[self.left_out[rows]],
            self.basket[rows],
            self.weights[rows],
        )

    def take(self, rows: Ints) -> Cases:
        """Return some of the cases."""
        return Cases(self.baskets[rows], self.left_out[rows], self.basket[rows], self.weights[rows])

    def gain(self, scores: npt.NDArray[np.floating]) -> float:
        """Return the mean NDCG at 10 of scores (n, D): 1 / log2(1 + rank) of what was left out."""
        own = scores[np.arange(len(self.left_out)), self.left_out]
        held = _rows_of(self.baskets), self.baskets.indices
        among_held = np.zeros(len(own))
        np.add.at(among_held, held[0], scores[held] >= own[held[0]])
        better = (scores > own[:, None]).sum(axis=1)
        ties = (scores == own[:, None]).sum(axis=1) - 1
        rank = np.maximum(better + 0.5 * ties - among_held, 0)
        gains = np.where(rank < _TOP, 1 / np.log2(rank + 2), 0.0)
        return float(np.average(gains, weights=self.weights))


def _rows_of(matrix: sparse.csr_array) -> Ints:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def choose_ridge(baskets: sparse.csr_array, held_out: Cases, *, plain: bool = False) -> Ridge:
    """Return the ridge whose regression ranks best what was left out of other baskets.

    Parameters
    ----------
    baskets : csr_array
        What to learn from.
    held_out : Cases
        Other baskets of the same items.
    plain : bool
        Only choose the strength, as in the method's first publication.
    """
    items = frequent_items(baskets, _MOST_TUNED)
    part, cases = baskets[:, items], held_out.among(items)
    tried: dict[Ridge, float] = {}
    counts: dict[float, Floats] = {}

    def best(candidates: list[Ridge]) -> Ridge:
        for ridge in candidates:
            still_wanted()
            if ridge not in tried:
                if ridge.by_size not in counts:
                    counts[ridge.by_size] = _pair_counts(part, ridge.by_size)
                tried[ridge] = cases.gain(cases.baskets @ _solved(counts[ridge.by_size].copy("F"), ridge))
        return max(tried, key=lambda ridge: tried[ridge])

    start = Ridge(1.0) if plain else Ridge(1.0, dropout=0.3, by_size=0.5)
    if len(cases.left_out) == 0:  # of few baskets nothing can be left out that others have
        return start
    found = best([start._replace(strength=strength) for strength in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)])
    if plain:
        return found
    found = best([found._replace(by_size=by_size) for by_size in (0.0, 1.0)])
    found = best([found._replace(dropout=dropout) for dropout in (0.0, 1.0)])
    return best([found._replace(strength=found.strength * factor) for factor in (0.5, 2.0)])


class Terms(NamedTuple):
    """The terms of both regressions over some items, as they are learned."""

    linear: sparse.csr_array
    logistic: sparse.csr_array
    bias: Floats

    def parts(self, baskets: sparse.csr_array, flattening: float, model: Singles) -> ScoreParts:
        """Return the three scores of some baskets of the same items."""
        sizes = np.diff(baskets.indptr)
        logistic = flattened((baskets @ self.logistic).toarray(), sizes, flattening, self.bias)
        return ScoreParts((baskets @ self.linear).toarray(), logistic, model)


def _learn_linear(baskets: sparse.csr_array, ridge: Ridge) -> tuple[sparse.csr_array, Floats]:
    """Return the strongest terms of the linear regression, and for the logistic one where to start from.

    A term is as strong as it moves the score of its item over all baskets.
    """
    from scipy import sparse

    weights = regression(baskets, ridge)
    D = len(weights)
    share = (np.bincount(baskets.indices, minlength=D) + 0.5) / (baskets.shape[0] + 1)
    if D > _MOST_TERMS + 1:
        strength = np.abs(weights) * np.sqrt(share)[:, None]
        least = np.partition(strength, D - _MOST_TERMS, axis=0)[D - _MOST_TERMS]
        weights[strength < least] = 0.0
    rows, columns = np.nonzero(weights)
    values = weights[rows, columns]
    del weights
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=D))])
    linear = sparse.csr_array((_rounded(values), columns.astype(np.int32), offsets), shape=(D, D))
    usual = share[columns]
    return linear, np.clip(np.log((usual + np.maximum(values, -0.9 * usual)) / usual), -1.0, 5.0)


def _learn_logistic(
    baskets: sparse.csr_array,
    linear: sparse.csr_array,
    start: Floats,
    flattening: float,
    rng: np.random.Generator,
) -> Terms:
    """Return both regressions; the logistic one has terms where the linear one has, and begins at `start`."""
    from scipy import sparse

    n, D = baskets.shape
    share = (np.bincount(baskets.indices, minlength=D) + 0.5) / (n + 1)
    terms = pairs.PairTerms(
        linear.indptr.astype(np.int64),
        linear.indices.astype(np.int32),
        start.copy(),
        np.ones(len(start)),
        np.log(share) - np.log1p(-share),
        np.full(D, 10.0),
    )
    sizes = np.maximum(np.diff(baskets.indptr), 1)
    row_weights = 1 / np.sqrt(sizes)
    row_weights /= row_weights.mean()
    rows = protected(baskets.indptr.astype(np.int64)), protected(baskets.indices.astype(np.int32))
    n_rows = int(min(n, max(_CELLS_OF_AN_EPOCH // (D + _MOST_TERMS * sizes.mean()), 1)))
    for _ in range(_EPOCHS):
        still_wanted()
        order = rng.permutation(n)[:n_rows]
        pairs.learn_pair_terms(*rows, order, row_weights, terms, flattening, _RATE)
    logistic = sparse.csr_array((_rounded(terms.weights), linear.indices, linear.indptr), shape=(D, D))
    return Terms(linear, logistic, terms.bias)


def _rounded(values: Floats) -> Singles:
    """Return terms with the three digits that they are known to, so that a file holds each in two bytes."""
    rounded: Singles = values.astype(np.float16).astype(np.float32)
    return rounded


class Blend(NamedTuple):
    """How the three scores are put together."""

    flattening: float
    scale: float
    weights: tuple[float, float, float]


def _likeliest_weights(parts: ScoreParts, cases: Cases, scale: float) -> tuple[float, float, float]:
    """Return the weights that make what was left out most probable among all items that are not held."""
    from scipy.optimize import minimize

    n = len(cases.left_out)
    features = np.stack([linked(parts.linear, scale), parts.logistic, parts.model]).astype(np.float32)
    rows = np.arange(n)
    held = _rows_of(cases.baskets), cases.baskets.indices
    reached = features[:, rows, cases.left_out] @ cases.weights

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = np.tensordot(weights.astype(np.float32), features, axes=1)
        scores[held] = -np.inf
        top = scores.max(axis=1, keepdims=True)
        np.exp(scores - top, out=scores)
        total = scores.sum(axis=1, keepdims=True)
        value = (np.log(total) + top).ravel() @ cases.weights - weights @ reached
        scores *= cases.weights[:, None].astype(np.float32) / total
        slope = features.reshape(3, -1) @ scores.ravel() - reached
        return float(value) / n, slope.astype(np.float64) / n

    found = minimize(
        loss,
        np.array([0.5, 0.3, 0.3]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.05, 20.0)] + [(0.0, 20.0)] * 2,
        options={"maxiter": 30},
    ).x
    return float(found[0]), float(found[1]), float(found[2])


def _choose_blend(parts_of: dict[float, ScoreParts], cases: Cases) -> Blend:
    """Return the blend that ranks best what was left out.

    The likeliest weights care for all ranks, and we for the first ten. So the logistic and the model's score
    are also tried with less weight, down to where they only decide between items that are alike.
    """
    few = max(_CELLS_OF_LIKELIHOOD // cases.baskets.shape[1], 200)
    gains: dict[Blend, float] = {}
    for flattening, parts in parts_of.items():
        for scale in (0.01, 0.03, 0.1):
            still_wanted()
            weights = _likeliest_weights(
                ScoreParts(*(part[:few] for part in parts)),
                cases.take(np.arange(min(few, len(cases.left_out)))),
                scale,
            )
            linear = linked(parts.linear, scale) * weights[0]
            others = weights[1] * parts.logistic + weights[2] * parts.model
            for share in (1.0, 0.5, 0.25, 0.1, 0.03, 0.003):
                blend = Blend(flattening, scale, (weights[0], share * weights[1], share * weights[2]))
                gains[blend] = cases.gain(linear + share * others)
    return max(gains, key=lambda blend: gains[blend])


def learn_affinity(
    model: Model,
    transactions: Transactions,
    rng: np.random.Generator,
    refit: Callable[[Transactions], Model] | None = None,
) -> Affinity | None:
    """Learn to recommend items for complete baskets with a model; None if there are too few baskets.

    A fifth of the transactions, at most 5,000 of them, is held out to choose by; then all are learned from.
    Of more than 5,000 items, only the most frequent ones have terms; the model speaks for the others.

    Parameters
    ----------
    model : Model
        A model that was fitted to the transactions.
    transactions : Transactions
        The data.
    rng : Generator
        For what is held out, and for the order of learning.
    refit : function, optional
        Fits the same kind of model to other transactions. Such a model has not seen what is held out, and so
        shows how far to trust it. By default a mixture is refitted by a few steps of EM, and any other model
        is taken as it is; so are all of more than 200,000 transactions.
    """
    require_same_items(model.items, transactions.items)
    data = transactions.to_scipy().astype(np.float32)
    if (np.diff(data.indptr) > 1).sum() < _FEWEST:
        return None
    order = rng.permutation(data.shape[0])
    n_held = min(len(order) // 5, _MOST_HELD_OUT)
    held, rest = data[order[:n_held]], data[np.sort(order[n_held:])]
    items = frequent_items(rest)
    cases = Cases.of(held, rng)
    chosen = np.flatnonzero(np.isin(cases.left_out, items))
    if len(chosen) < _FEWEST_CASES:
        return None
    cases = cases.take(chosen[: min(_MOST_CASES, max(_CELLS // len(items), 500))])
    own, own_cases = rest[:, items], cases.among(items)
    ridge = choose_ridge(_few_pairs(own, rng), own_cases)
    linear, start = _learn_linear(_few_pairs(own, rng), ridge)
    if len(order) > _MOST_MEMORABLE:
        unseen = model
    elif refit is None:
        unseen = _refitted(model, rest, rng)
    else:
        unseen = refit(Transactions(rest.indptr, rest.indices, model.items))
        require_same_items(model.items, unseen.items)
    of_model = _log_odds_of_model(unseen, cases.baskets, items)
    learned = {flattening: _learn_logistic(own, linear, start, flattening, rng) for flattening in (0.0, 0.5)}
    blend = _choose_blend(
        {
            flattening: terms.parts(own_cases.baskets, flattening, of_model)
            for flattening, terms in learned.items()
        },
        own_cases,
    )
    terms = learned[blend.flattening]
    part = _affinity(terms, items, rest, blend, _UNCALIBRATED)
    linear, start = _learn_linear(_few_pairs(data[:, items], rng), ridge)
    terms = _learn_logistic(data[:, items], linear, start, blend.flattening, rng)
    calibration = _calibrated(part, unseen, held, rng)
    return None if calibration is None else _affinity(terms, items, data, blend, calibration)


def _few_pairs(baskets: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """Return as many baskets as can be counted pair by pair in a few seconds."""
    n_pairs = np.square(np.diff(baskets.indptr).astype(np.float64))
    if n_pairs.sum() <= _MOST_PAIRS:
        return baskets
    order = rng.permutation(baskets.shape[0])
    n = int(np.searchsorted(np.cumsum(n_pairs[order]), _MOST_PAIRS))
    return baskets[np.sort(order[: max(n, 1)])]


def _refitted(model: Model, baskets: sparse.csr_array, rng: np.random.Generator) -> Model:
    """Return a mixture of as many components, at most 100, that is fitted to some baskets by EM.

    A model knows the baskets that it was fitted to, those held out included, better than new ones. Trusted
    for that, it would get too much weight. Other models are taken as they are.
    """
    if not isinstance(model, Mixture):
        return model
    part = baskets[rng.permutation(baskets.shape[0])[:_MOST_REFITTED]]
    data = Transactions(part.indptr, part.indices, model.items)
    n, K = part.shape[0], min(model.n_components, 100)
    frequency = (np.bincount(part.indices, minlength=model.n_items) + 0.5) / (n + 1)
    shares = np.eye(K)[rng.integers(K, size=n)]
    for _ in range(_STEPS_OF_EM):
        still_wanted()
        sizes = shares.sum(axis=0)
        # The frequencies count as one transaction of each component, as in the paper's prior.
        probs = ((part.T @ shares).T + frequency) / (sizes[:, None] + 1)
        fitted = Mixture((sizes + 0.1) / (n + 0.1 * K), np.clip(probs, 0.0, 1.0), model.items)
        shares = fitted.responsibilities(data)
    return fitted


def _log_odds_of_model(model: Model, baskets: sparse.csr_array, items: Codes) -> Singles:
    """Return the log-odds of some items for complete baskets of all items, shape (n, len(items))."""
    out = np.empty((baskets.shape[0], len(items)), dtype=np.float32)
    step = max(1, _CELLS // (4 * model.n_items))
    for first in range(0, len(out), step):
        still_wanted()
        part = baskets[first : first + step]
        rows = protected(part.indptr.astype(np.int64)), protected(part.indices.astype(np.int32))
        out[first : first + step] = log_odds(model.items_completing_each(*rows)[:, items])
    return out


def _calibrated(
    affinity: Affinity, model: Model, held: sparse.csr_array, rng: np.random.Generator
) -> Calibration | None:
    """Return the calibration: items of held-out baskets given the rest, and absent items given all of it.

    Present items are drawn at random from all baskets, and of the absent ones every few are taken. If none is
    absent, because the baskets hold all items, there is nothing to learn from.
    """
    held = held[np.diff(held.indptr) > 0]
    held = held[: max(_CELLS // held.shape[1], _FEWEST_CALIBRATED)]
    n_each = max(_CELLS // held.shape[1], _CASES_CALIBRATED)
    in_pairs = np.flatnonzero(np.repeat(np.diff(held.indptr) > 1, np.diff(held.indptr)))
    chosen = np.sort(rng.permutation(in_pairs)[:n_each])
    cases = Cases.leaving_out(held, chosen)
    there = [
        scores[np.arange(len(scores)), cases.left_out[rows]]
        for rows, scores in _scored(affinity, model, cases.baskets)
    ]
    every = max(1, held.shape[0] * held.shape[1] // _MOST_ABSENT)
    others, sizes = [], []
    for rows, scores in _scored(affinity, model, held):
        part = held[rows]
        is_absent = np.add.outer(rows, np.arange(held.shape[1])) % every == 0
        is_absent[_rows_of(part), part.indices] = False
        others.append(scores[is_absent])
        sizes.append(np.repeat(np.diff(part.indptr), is_absent.sum(axis=1)))
    absent = np.concatenate(others)
    if len(absent) == 0:
        return None
    return calibrate(
        Examples(
            np.concatenate(there),
            np.diff(cases.baskets.indptr),
            np.full(len(chosen), len(in_pairs) / len(chosen)),
        ),
        Examples(absent, np.concatenate(sizes), np.full(len(absent), float(every))),
    )


def _scored(affinity: Affinity, model: Model, baskets: sparse.csr_array) -> Iterator[tuple[Ints, Floats]]:
    """Yield some rows at a time, and the scores of all items for them."""
    n = baskets.shape[0]
    step = max(1, _CELLS // (4 * model.n_items))
    for first in range(0, n, step):
        still_wanted()
        part = baskets[first : first + step]
        basket = protected(part.indptr.astype(np.int64)), protected(part.indices.astype(np.int32))
        yield (
            np.arange(first, first + part.shape[0]),
            affinity.scores(model.items_completing_each(*basket), *basket),
        )


def _affinity(
    terms: Terms,
    items: Codes,
    data: sparse.csr_array,
    blend: Blend,
    calibration: Calibration,
) -> Affinity:
    """Return the value, over all items; those without terms have their frequency in the bias."""
    n, D = data.shape
    share = (np.bincount(data.indices, minlength=D) + 0.5) / (n + 1)
    bias = np.log(share) - np.log1p(-share)
    bias[items] = terms.bias
    lengths = np.zeros(D, dtype=np.int64)
    lengths[items] = np.diff(terms.linear.indptr)
    by_code = np.argsort(items, kind="stable")
    linear, logistic = terms.linear[by_code], terms.logistic[by_code]
    return Affinity(
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        codes=items[linear.indices],
        linear=linear.data,
        logistic=logistic.data,
        bias=bias,
        flattening=blend.flattening,
        scale=blend.scale,
        weights=blend.weights,
        calibration=calibration,
    )
