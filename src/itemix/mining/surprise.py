"""Surprises: itemsets that are more or less frequent in data than a model allows; and unusual transactions.

A model that knows how sure it is says of each itemset how probable it is, with a mean and a variance. The
number of new transactions that hold it then has a beta-binomial distribution: chance, and what the model does
not know, together. The p value of an itemset is the chance of a count at least as far out.

Which itemsets are tested depends on the data: sets that are frequent in it, and sets that the model expects
to be. Many more could have become frequent by chance. They count as tests too, each as far as it could have
become a find (see docs/surprise.md).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from itemix._checks import as_generator, check_choice, check_number, check_whole
from itemix._runtime import still_wanted
from itemix.core.display import format_number, format_percent, joined, plural
from itemix.core.itemsets import Itemsets
from itemix.core.results import TestedResult
from itemix.core.sets import Sets
from itemix.core.tables import TableColumns
from itemix.core.transactions import Transactions, as_transactions
from itemix.errors import InvalidInputError, TooManyItemsetsError
from itemix.mining.counts import count
from itemix.mining.intervals import ErrorSource, ends, moments
from itemix.mining.mine import mine
from itemix.models.base import require_same_items

if TYPE_CHECKING:
    from itemix._typing import Codes, Floats, Ints, TransactionsLike
    from itemix.core.items import Items, Label
    from itemix.models.base import Model

# Terms of a tail are added one by one up to here, and by quadrature in panels beyond.
_TERMS = 256
_NODES = 16
_NEGLIGIBLE = 1e-12
_TERMS_AT_ONCE = 16
# A posterior stronger than this makes no difference to a count, and gamma functions would lose digits.
_STRONGEST = 1e9
_WEAKEST = 1e-9
# Sets are looked for below the threshold, as far as this many standard deviations of their count.
_DEVIATIONS = 3.0
_DISPERSION = 1.5
# This many of them are looked at, and stand for all.
_MOST_NEARLY = 20_000
_FEW = 200_000
# To see whether data is what was fitted, up to this many items are compared: those that are in enough
# transactions, and lack in enough.
_ITEMS_COMPARED = 300
_OFTEN_ENOUGH = 10
_TOO_WELL = 1e-6
# Up to this many items of an unusual transaction are named: those less probable than this, or missing ones
# more probable than that.
_ITEMS_TOLD = 3
_UNEXPECTED = 0.05
_MISSING = 0.5
_BASKETS_AT_ONCE = 500


class Counted(TestedResult):
    """Itemsets with their counts, and what a model expects."""

    __slots__ = ()

    @property
    def sets(self) -> Sets:
        """The itemsets."""
        return self._columns.sets("itemsets")

    @property
    def count(self) -> Ints:
        """The number of transactions that hold each set, shape (n,)."""
        return self._columns.numbers("count")

    @property
    def support(self) -> Floats:
        """The fraction of transactions that hold each set, shape (n,)."""
        return self._columns.numbers("support")

    @property
    def expected(self) -> Floats:
        """The support that the model expects; in a summary, once it knows the sets before, shape (n,)."""
        return self._columns.numbers("expected")

    @property
    def ratio(self) -> Floats:
        """How many times as frequent as expected each set is, shape (n,)."""
        return self._columns.numbers("ratio")

    @property
    def n_transactions(self) -> int:
        """The number of transactions that were tested."""
        return int(self._columns.facts["n_transactions"])

    @property
    def n_tested(self) -> int:
        """The number of itemsets that were tested."""
        return int(self._columns.facts["n_tested"])


class Surprises(Counted):
    """Itemsets that are more or less frequent in data than a model allows: an immutable, columnar value.

    The most significant come first. `to_pandas` and the files have a column for each property of the same
    name, and `sentence`, which says it in words.

    See Also
    --------
    itemix.surprises : test a model on data.
    """

    _kind = "surprises"
    _types: ClassVar = {
        "itemsets": "sets",
        "count": "int64",
        **dict.fromkeys(("support", "expected", "lower", "upper", "ratio", "p_value", "q_value"), "float64"),
        "sentence": "object",
    }
    _in_table = ("count", "support", "expected", "ratio", "q_value", "itemsets")
    _percents = frozenset(("support", "expected", "lower", "upper"))
    __slots__ = ()

    @property
    def lower(self) -> Floats:
        """The lower end of the 90% credible interval of the expected support, shape (n,)."""
        return self._columns.numbers("lower")

    @property
    def upper(self) -> Floats:
        """The upper end of the 90% credible interval of the expected support, shape (n,)."""
        return self._columns.numbers("upper")

    @property
    def n_fitted(self) -> int | None:
        """The number of transactions that the model was fitted to, if it is known."""
        n: int | None = self._columns.facts["n_fitted"]
        return n

    def sentences(self) -> list[str]:
        """Say each surprise in words."""
        return [str(text) for text in self._columns.numbers("sentence")]

    def more(self) -> Self:
        """Return the sets that are more frequent than the model allows."""
        return self.take(self.ratio > 1)

    def less(self) -> Self:
        """Return the sets that are less frequent than the model allows."""
        return self.take(self.ratio < 1)

    def _title(self) -> str:
        facts = self._columns.facts
        what = f"Surprises: {plural(len(self), 'itemset')} of {self.n_tested:,} that were tested"
        level = "" if facts["level"] >= 1 else f"q <= {format_percent(facts['level'])}"
        where = f"in {plural(self.n_transactions, 'transaction')}"
        if facts["is_divided"]:
            where += f", by a model of the other {self.n_fitted:,}"
        return joined([what, level, where, unknown_in_title(facts.get("n_unknown", 0))])


def aligned(data: TransactionsLike, items: Items) -> tuple[Transactions, int]:
    """Return data over the items of a model, and how many other items were left out of it.

    New data may well have an item that the model has never seen, and no set of known items changes if that
    is left out. But most of the data should be known.

    Raises
    ------
    InvalidInputError
        If it has mostly other items.
    """
    given = as_transactions(data)
    known = given.align_items(items, drop_unknown=True)
    n_items, n_known = (int(some.item_counts().sum()) for some in (given, known))
    if 2 * n_known < n_items:
        require_same_items(items, given.items)
    return known, int((given.item_counts() > 0).sum() - (known.item_counts() > 0).sum())


def unknown_in_title(n_unknown: int) -> str:
    """Say in a title how many items were left out, if any."""
    return f"without {plural(n_unknown, 'item')} that the model does not know" if n_unknown else ""


class Tails(NamedTuple):
    """The chance of a count at least as low, and of one at least as high, shape (n,) each."""

    lower: Floats
    upper: Floats


def tails(counts: Ints, n: int, mean: Floats, spread: Floats) -> Tails:
    """Return both tails of counts among n transactions.

    The probability of a set has a Beta distribution with this mean and relative variance, and its count given
    the probability is binomial.

    Parameters
    ----------
    counts : array of int, shape (m,)
        How many transactions hold each set.
    n : int
        The number of transactions.
    mean, spread : array of float, shape (m,)
        Expected probabilities and their relative variances, see `itemix.mining.intervals.moments`.
    """
    mean = np.clip(mean, np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).epsneg)
    with np.errstate(divide="ignore", over="ignore"):
        strength = (1 - mean) / mean / np.maximum(spread, 0.0) - 1
    strength = np.clip(strength, np.maximum(_WEAKEST, 1e-300 / mean), _STRONGEST)
    a, b = mean * strength, (1 - mean) * strength
    is_high = counts >= n * mean
    k = np.where(is_high, counts, n - counts).astype(np.float64)
    outward, first = _upper_tail(k, float(n), np.where(is_high, a, b), np.where(is_high, b, a))
    inward = np.clip(1 - outward + first, 0.0, 1.0)
    return Tails(np.where(is_high, inward, outward), np.where(is_high, outward, inward))


def _upper_tail(k: Floats, n: float, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the chance of k or more, and of k itself, for a beta-binomial count of n."""
    first = np.exp(_log_mass(k, n, a, b))
    total = np.ones_like(k)  # all in units of the first term, which may be too small for a float
    term = np.ones_like(k)
    left = np.flatnonzero(k < n)
    x, y, own_a, own_b = k[left], term[left], a[left], b[left]
    for step in range(_TERMS):
        if step % _TERMS_AT_ONCE == 0:
            still_wanted()
            ratio = _ratio(x, n, own_a, own_b)
            kept = (x < n) & ~((ratio < 1) & (y * ratio < _NEGLIGIBLE * (1 - ratio) * total[left]))
            left, x, y, own_a, own_b = left[kept], x[kept], y[kept], own_a[kept], own_b[kept]
            if not len(left):
                break
        y = y * _ratio(x, n, own_a, own_b)
        x = x + 1
        total[left] += y
    if len(left):
        total[left] += _far_tail(k[left], n, a[left], b[left], x + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.minimum(np.where(first > 0, first * total, 0.0), 1.0), first


def _ratio(k: Floats, n: float, a: Floats, b: Floats) -> Floats:
    """Return the chance of k + 1 over that of k; 0 beyond n."""
    found: Floats = np.maximum(n - k, 0.0) / (k + 1) * (k + a) / np.maximum(n - k - 1 + b, _WEAKEST)
    return found


def _far_tail(k: Floats, n: float, a: Floats, b: Floats, start: Floats) -> Floats:
    """Return the chance of `start` or more over that of k: sums over panels, by Gauss-Legendre quadrature.

    So far out the terms change slowly from one to the next, and a sum is an integral from half a step before
    the first to half a step after the last.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    found = np.zeros_like(k)
    left = np.flatnonzero(start <= n)
    begin, width = start - 0.5, float(_TERMS)
    first = _log_mass(k, n, a, b)
    while len(left):
        still_wanted()
        # Mass may pile up at the end, so panels become narrow again before it.
        rest = n + 0.5 - begin[left]
        end = begin[left] + np.minimum(rest, np.minimum(width, np.maximum(rest / 2, _TERMS)))
        half = (end - begin[left]) / 2
        x = begin[left][:, None] + half[:, None] * (nodes + 1)
        # The last half step beyond n has no mass of its own: it belongs to n.
        logs = _log_mass(np.minimum(x, n), n, a[left][:, None], b[left][:, None]) - first[left][:, None]
        own = half * (np.exp(logs) @ weights)
        found[left] += own
        begin[left] = end
        left = left[(end < n + 0.5) & (own > _NEGLIGIBLE * (1 + found[left]))]
        width *= 2
    return found


def _log_mass(k: Floats, n: float, a: Floats, b: Floats) -> Floats:
    """Return the logarithm of the chance of k among n if the probability is Beta(a, b)."""
    from scipy.special import betaln

    found: Floats = betaln(k + a, n - k + b) - betaln(a, b) - betaln(k + 1, n - k + 1) - np.log1p(n)
    return found


class SetsToTest(NamedTuple):
    """Itemsets to test, what the model says of them, and how far other sets could have been among them.

    Attributes
    ----------
    sets : Sets
        The sets that are frequent in the data, or are expected to be.
    counts : array of int, shape (n,)
        How many transactions hold each.
    mean, spread : array of float, shape (n,)
        The expected probability of each, and its relative variance.
    n_expected : int
        How many of them are expected to be frequent: these are tested whatever the data says.
    reach : array of float
        Of each set that is not expected to be frequent, the chance that it is all the same.
    """

    sets: Sets
    counts: Ints
    mean: Floats
    spread: Floats
    n_expected: int
    reach: Floats


def candidates(
    model: Model,
    source: ErrorSource,
    data: Transactions,
    min_count: int,
    side: str,
    *,
    min_len: int,
    max_len: int | None,
    n_jobs: int | None,
) -> SetsToTest:
    """Return the sets that data holds at least `min_count` times, and those that the model expects to.

    Parameters
    ----------
    model : Model
        What gives expected probabilities, over the items of the data.
    source : ErrorSource
        How sure these are.
    data : Transactions
        The data.
    min_count : int
        The least count.
    side : {"both", "more", "less"}
        What is looked for. Only sets that are expected to be frequent can be less frequent than that.
    min_len, max_len, n_jobs
        Options of the searches, as in `itemix.mine`.
    """
    bounds: Any = {"min_len": min_len, "max_len": max_len, "n_jobs": n_jobs}
    threshold = min_count / data.n_transactions
    if side == "less":
        sets, reach = mine(model, threshold, **bounds).sets, np.empty(0)
        counts, n_expected = count(sets, data), len(sets)
    else:
        seen = mine(data, min_count, **bounds)
        lower = _nearly(min_count) / data.n_transactions
        near = _expected(model, threshold, lower, max(4 * len(seen), _FEW), bounds)
        is_expected = near.support >= threshold
        new = near.sets.take(np.flatnonzero(is_expected & (seen.sets.find(near.sets) < 0)))
        sets, n_expected = Sets.concatenate([seen.sets, new]), int(is_expected.sum())
        counts = np.concatenate([np.asarray(seen.count), count(new, data)])
        reach = _reach(source, near.take(np.flatnonzero(~is_expected)), data.n_transactions, min_count)
    mean, spread = moments(source, _as_itemsets(sets))
    return SetsToTest(sets, counts, mean, spread, n_expected, reach)


def _nearly(min_count: int) -> float:
    """Return the expected count from which sets are likely enough to reach a count by chance."""
    deviations = _DEVIATIONS * np.sqrt(_DISPERSION)
    return float(((np.sqrt(deviations**2 + 4 * min_count) - deviations) / 2) ** 2)


def _expected(model: Model, threshold: float, lower: float, most: int, bounds: dict[str, Any]) -> Itemsets:
    """Return the sets that a model expects at a threshold, and below it as far as there are not too many."""
    low = lower
    while low < threshold:
        try:
            return mine(model, low, max_itemsets=most, **bounds)
        except TooManyItemsetsError:
            low = np.sqrt(low * threshold) if low < 0.95 * threshold else threshold
    return mine(model, threshold, **bounds)


def _reach(source: ErrorSource, below: Itemsets, n: int, min_count: int) -> Floats:
    """Return the chance of each set that it is frequent; if there are many, some stand for all."""
    order = np.argsort(-below.support, kind="stable")
    step = max(1, -(-len(order) // _MOST_NEARLY))
    mean, spread = moments(source, below.take(order[step // 2 :: step]))
    chance = tails(np.full(len(mean), min_count), n, mean, spread).upper
    return np.repeat(chance, step)[: len(order)]


def q_values(tail: Floats, found: SetsToTest, adjust: str) -> Floats:
    """Return the least false discovery rate at which each test on one side is a find, shape (n,).

    That is the method of Benjamini and Hochberg, or of Benjamini and Yekutieli, which holds under any
    dependence. Of sets that are expected to be frequent, each has a tail of t or less with at most the chance
    t. Any other has it only if it is frequent: with at most the chance min(t, r), where r is its `reach`.

    Parameters
    ----------
    tail : array of float, shape (n,)
        The p values of one side.
    found : SetsToTest
        What was tested.
    adjust : {"bh", "by"}
        The method.
    """
    n = len(tail)
    order = np.argsort(tail, kind="stable")
    t = tail[order]
    reach = np.sort(found.reach)
    sums = np.concatenate([[0.0], np.cumsum(reach)])
    below = np.searchsorted(reach, t)
    rates = (found.n_expected * t + sums[below] + (len(reach) - below) * t) / np.arange(1, n + 1)
    if adjust == "by":
        rates *= (1 / np.arange(1, n + 1)).sum()
    q = np.empty(n)
    q[order] = np.minimum(np.minimum.accumulate(rates[::-1])[::-1], 1.0)
    return q


def p_and_q_values(
    lower: Floats, upper: Floats, found: SetsToTest, side: str, adjust: str
) -> tuple[Floats, Floats]:
    """Return p and q values, shape (n,) each. On both sides, they are twice those of the likelier side.

    So the share of false finds is bounded among those that are more frequent, and among those that are less.
    """
    if side != "both":
        tail = upper if side == "more" else lower
        return tail, q_values(tail, found, adjust)
    is_more = upper <= lower
    p = np.where(is_more, upper, lower)
    q = np.where(is_more, q_values(upper, found, adjust), q_values(lower, found, adjust))
    return np.minimum(2 * p, 1.0), np.minimum(2 * q, 1.0)


def _as_itemsets(sets: Sets) -> Itemsets:
    return Itemsets(sets.offsets, sets.codes, np.zeros(len(sets)), sets.items, check=False)


# The credible intervals of expected supports.
_INTERVAL = 0.9
SIDES = ("both", "more", "less")
ADJUSTMENTS = ("bh", "by")


def check_test(level: object, side: object, adjust: object) -> tuple[float, str, str]:
    """Check the options of a test.

    Raises
    ------
    InvalidInputError
        If the level is not above 0 and up to 1, or a word is none of the choices.
    """
    return (
        check_false_share(level),
        check_choice("side", side, SIDES),
        check_choice("adjust", adjust, ADJUSTMENTS),
    )


def check_false_share(level: object) -> float:
    """Check the level of a test that has all its results at 1.

    Raises
    ------
    InvalidInputError
        If it is not above 0 and up to 1.
    """
    share = check_number("level", level, 0.05)
    if not 0 < share <= 1:
        raise InvalidInputError(f"expected a level above 0 and up to 1, got {level!r}; try 0.05")
    return share


def tested(
    found: SetsToTest, n: int, *, level: float, side: str, adjust: str, facts: dict[str, Any]
) -> Surprises:
    """Test candidates, and return those that are surprises at a level.

    Parameters
    ----------
    found : SetsToTest
        The sets, their counts, and what the model says of them.
    n : int
        The number of transactions.
    level, side, adjust
        As in `itemix.surprises`.
    facts : dict
        What else the result knows.
    """
    lower, upper = tails(found.counts, n, found.mean, found.spread)
    p, q = p_and_q_values(lower, upper, found, side, adjust)
    support = found.counts / n
    ratio = np.divide(support, found.mean, out=np.full(len(p), np.inf), where=found.mean > 0)
    kept = np.flatnonzero(q <= level)
    with np.errstate(divide="ignore"):
        order = kept[np.lexsort((-np.abs(np.log(ratio[kept])), p[kept]))]
    sets, mean = found.sets.take(order), found.mean[order]
    low, high = ends(mean, found.spread[order], _INTERVAL)
    values = {
        "itemsets": sets,
        "count": found.counts[order],
        "support": support[order],
        "expected": mean,
        "lower": low,
        "upper": high,
        "ratio": ratio[order],
        "p_value": p[order],
        "q_value": q[order],
    }
    numbers = zip(*(n * values[name] for name in ("support", "expected", "lower", "upper")), strict=True)
    texts = [_sentence(names, *own) for names, own in zip(sets, numbers, strict=True)]
    values["sentence"] = np.array(texts, dtype=object)
    known = {"n_transactions": n, "n_tested": len(p), "level": level, "side": side, "adjust": adjust}
    return Surprises(TableColumns("surprises", found.sets.items, values, {**known, **facts}))


def _sentence(names: tuple[Label, ...], seen: float, expected: float, lower: float, upper: float) -> str:
    how = f"{format_number(seen / expected)} times as often" if expected > 0 else "never expected"
    between = f"({_round(lower)} to {_round(upper)})"
    return f"{_listed(names)}: {seen:,.0f} where {_round(expected)} {between} are expected, {how}"


def _round(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _listed(names: tuple[Label, ...]) -> str:
    *others, last = map(str, names)
    return f"{', '.join(others)} and {last}" if others else last


def fit_too_well(items: Items, source: ErrorSource, data: Transactions) -> bool:
    """Whether items are so close to what is expected of them that the data must be what was fitted.

    The squares of their deviations, each in terms of its variance, sum up to about the number of items if
    the data is new, and to less if a large part of it is not. As items depend on each other, that sum varies
    as if there were fewer.

    Parameters
    ----------
    items : Items
        The items of the model and of the data.
    source : ErrorSource
        How sure the model is.
    data : Transactions
        The data.
    """
    from scipy.stats import chi2

    n = data.n_transactions
    counts = data.item_counts()
    order = np.argsort(-counts, kind="stable")[:_ITEMS_COMPARED].astype(np.int32)
    order = order[(counts[order] >= _OFTEN_ENOUGH) & (counts[order] <= n - _OFTEN_ENOUGH)]
    if len(order) == 0:
        return False
    mean, spread = moments(
        source, _as_itemsets(Sets.from_lengths(np.ones(len(order), np.int64), order, items))
    )
    own = mean * (1 - mean) / n
    total = float(((counts[order] / n - mean) ** 2 / (own + mean**2 * spread)).sum())
    rows = data.select_items(items.names(order)).to_scipy().astype(np.float64)
    weights = np.ones(rows.shape[0]) / rows.shape[0]
    frequency = rows.T @ weights
    joint = (rows.T @ rows).toarray() / rows.shape[0]
    covariance = joint - np.outer(frequency, frequency)
    scale = np.sqrt(np.maximum(np.diag(covariance), _NEGLIGIBLE))
    n_effective = len(order) ** 2 / float(((covariance / np.outer(scale, scale)) ** 2).sum())
    return bool(chi2.cdf(total / len(order) * n_effective, n_effective) < _TOO_WELL)


class Unusual(TestedResult):
    """Transactions and how unusual each is for a model, in their order: an immutable, columnar value.

    `to_pandas` and the files have a column for each property of the same name, `row`, the position of the
    transaction, and `id`, if transactions have ids.

    See Also
    --------
    itemix.fitted.FittedModel.unusual : ask a model.
    """

    _kind = "unusual"
    _types: ClassVar = {
        "row": "int64",
        "id": "object",
        "p_value": "float64",
        "q_value": "float64",
        "log_likelihood": "float64",
        "length": "int64",
        "unexpected": "sets",
        "missing": "sets",
    }
    _in_table = ("row", "id", "p_value", "log_likelihood", "length", "missing", "unexpected")
    __slots__ = ()

    @property
    def log_likelihood(self) -> Floats:
        """The log-probability of each transaction, shape (n,)."""
        return self._columns.numbers("log_likelihood")

    @property
    def unexpected(self) -> Sets:
        """Items that are there against all odds given the rest, the least probable first."""
        return self._columns.sets("unexpected")

    @property
    def missing(self) -> Sets:
        """Items that are not there but would be, given the rest, the most probable first."""
        return self._columns.sets("missing")

    def top(self, n: int = 10) -> Self:
        """Return the n most unusual transactions, the most unusual first."""
        n = check_whole("n", n, 10, least=0)
        return self.take(np.lexsort((self.log_likelihood, self.p_value))[:n])

    def _title(self) -> str:
        n = int(self._columns.facts["n_transactions"])
        shown = f"{len(self):,} of {plural(n, 'transaction')}" if len(self) < n else plural(n, "transaction")
        return joined([f"Unusual: {shown}", unknown_in_title(self._columns.facts.get("n_unknown", 0))])


def unusual(
    model: Model, given: TransactionsLike, *, level: float, n_simulated: int, random_state: object
) -> Unusual:
    """Return how unusual each transaction is; see `FittedModel.unusual`."""
    if not model.has_likelihood:
        raise InvalidInputError(
            "expected a model that tells how probable whole transactions are, got one that does not; fit a "
            "mixture"
        )
    data, n_unknown = aligned(given, model.items)
    rng = as_generator(random_state)
    simulated = model.sample(check_whole("n_simulated", n_simulated, 10_000, least=100), random_state=rng)
    ours = _oddities(model, simulated, simulated)
    theirs = _oddities(model, simulated, data)
    ranked = np.sort(ours.oddity)
    lower, upper = (np.searchsorted(ranked, theirs.oddity, side=side) for side in ("left", "right"))
    # Transactions that are alike share their p values among them, so that these are uniform.
    p = (1 + lower + np.floor(rng.random(len(lower)) * (upper - lower + 1))) / (len(ranked) + 1)
    p = np.minimum(p, 1.0)
    told = np.flatnonzero(p <= level)
    unexpected, missing = _telling_items(model, data[told], len(p), told)
    values: dict[str, Any] = {"row": np.arange(len(p), dtype=np.int64)}
    ids = {name: column for name, column in data.id_columns().items() if column is not None}
    if ids:
        rows = zip(*(map(str, column.tolist()) for column in ids.values()), strict=True)
        values["id"] = np.array([" / ".join(row) for row in rows], dtype=object)
    values |= {
        "p_value": p,
        "q_value": _benjamini_hochberg(p),
        "log_likelihood": theirs.log_likelihood,
        "length": theirs.lengths,
        "unexpected": unexpected,
        "missing": missing,
    }
    facts = {"n_transactions": len(p), "level": level, "n_unknown": n_unknown}
    return Unusual(TableColumns("unusual", data.items, values, facts))


class _Oddities(NamedTuple):
    oddity: Floats
    log_likelihood: Floats
    lengths: Ints


def _oddities(model: Model, simulated: Transactions, data: Transactions) -> _Oddities:
    """Return how odd transactions are, the lower the odder.

    Longer transactions are less probable. So the log-likelihood is compared with what it is on average for
    that length, in the model's own transactions, and in units of how much it varies. The rank of that among
    the latter is one oddity, the share of them that are as long is the other; the lower one counts.
    """
    logs, lengths = model.log_likelihood(simulated), simulated.lengths()
    basis, spread_basis = (np.column_stack(columns) for columns in _by_length(lengths))
    mean = np.linalg.lstsq(basis, logs, rcond=None)[0]
    deviation = np.linalg.lstsq(spread_basis, np.abs(logs - basis @ mean), rcond=None)[0]
    least = max(float(np.abs(logs - basis @ mean).mean()) / 10, _NEGLIGIBLE)

    def standardised(values: Floats, of_lengths: Ints) -> Floats:
        own, own_spread = (np.column_stack(columns) for columns in _by_length(of_lengths))
        found: Floats = (values - own @ mean) / np.maximum(own_spread @ deviation, least)
        return found

    ranked, longest = np.sort(standardised(logs, lengths)), np.sort(lengths)
    own_logs, own_lengths = model.log_likelihood(data), data.lengths()
    rank = np.searchsorted(ranked, standardised(own_logs, own_lengths), side="right")
    n_as_long = len(longest) - np.searchsorted(longest, own_lengths, side="left")
    oddity = np.minimum(rank, n_as_long).astype(np.float64)
    return _Oddities(oddity, own_logs, own_lengths)


def _by_length(lengths: Ints) -> tuple[list[Floats], list[Floats]]:
    """Return what the mean of a log-likelihood, and its deviation, may depend on."""
    one, root = np.ones(len(lengths)), np.sqrt(lengths)
    return [one, root, lengths.astype(np.float64)], [one, root]


def _telling_items(model: Model, data: Transactions, n: int, rows: Ints) -> tuple[Sets, Sets]:
    """Return the items of some of n transactions that are unexpected, and those that are missing."""
    unexpected: list[Codes] = [np.empty(0, dtype=np.int32)] * n
    missing = list(unexpected)
    for first in range(0, len(rows), _BASKETS_AT_ONCE):
        still_wanted()
        part = data[first : first + _BASKETS_AT_ONCE]
        matrix = part.to_scipy()
        chances = _chances_of_own(model, part)
        completing = model.items_completing_each(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        )
        for own, row in enumerate(rows[first : first + _BASKETS_AT_ONCE].tolist()):
            held = slice(*matrix.indptr[own : own + 2])
            odd = held.start + np.argsort(chances[held], kind="stable")[:_ITEMS_TOLD]
            unexpected[row] = matrix.indices[odd[chances[odd] < _UNEXPECTED]].astype(np.int32)
            left = completing[own]
            left[matrix.indices[held]] = 0.0
            best = np.argsort(-left, kind="stable")[:_ITEMS_TOLD]
            missing[row] = best[left[best] > _MISSING].astype(np.int32)
    families = []
    for codes in (unexpected, missing):
        lengths = np.array(list(map(len, codes)), dtype=np.int64)
        flat = np.concatenate([*codes, np.empty(0, dtype=np.int32)])
        families.append(Sets.from_lengths(lengths, flat, data.items))
    return families[0], families[1]


def _chances_of_own(model: Model, data: Transactions) -> Floats:
    """Return the probability of each item that is in a transaction, given all else, one after the other."""
    matrix = data.to_scipy()
    lengths = np.diff(matrix.indptr)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    # A row for each item of each transaction: all the others.
    rows = [np.delete(matrix.indices[i:j], k) for i, j in pairwise(matrix.indptr) for k in range(j - i)]
    indptr = np.concatenate([[0], np.cumsum(np.maximum(lengths[owner] - 1, 0))])
    flat = np.concatenate([*rows, np.empty(0, dtype=np.int32)]).astype(np.int32)
    without = model.log_likelihood(Transactions(indptr, flat, data.items))
    with np.errstate(over="ignore", invalid="ignore"):
        chances: Floats = 1 / (1 + np.exp(without - model.log_likelihood(data)[owner]))
    return np.nan_to_num(chances, nan=0.0)


def _benjamini_hochberg(p_values: Floats) -> Floats:
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p_values)) if len(p_values) else p_values
